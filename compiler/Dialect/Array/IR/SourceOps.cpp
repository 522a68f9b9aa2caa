//===- SourceOps.cpp - Constants, parameters and sizes as values -===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Array/IR/ArrayOps.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;

namespace xc::array {

//===----------------------------------------------------------------------===//
// Constant and parameter
//===----------------------------------------------------------------------===//

OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValue(); }

void ConstantOp::getAsmResultNames(OpAsmSetValueNameFn setName) { setName(getResult(), "cst"); }

void ParameterOp::getAsmResultNames(OpAsmSetValueNameFn setName) { setName(getResult(), "param"); }

//===----------------------------------------------------------------------===//
// Dim and from_index
//===----------------------------------------------------------------------===//

LogicalResult DimOp::verify() {
  return checkAxis({getLoc(), getOperationName()}, getAxis(), getOperand().getType().getRank());
}

OpFoldResult DimOp::fold(FoldAdaptor) {
  RankedTensorType type = getOperand().getType();
  if (!type.isDynamicDim(getAxis()))
    return IntegerAttr::get(IndexType::get(getContext()), type.getDimSize(getAxis()));
  return {};
}

LogicalResult DimOp::canonicalize(DimOp op, PatternRewriter &rewriter) {
  rewriter.replaceOpWithNewOp<tensor::DimOp>(op, op.getOperand(), op.getAxis());
  return success();
}

namespace {
/// Asks the array op that computes a tensor for a size of it, so that the tensor
/// itself need not be there.
struct ReifyDim : OpRewritePattern<tensor::DimOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tensor::DimOp op, PatternRewriter &rewriter) const override {
    auto result = dyn_cast<OpResult>(op.getSource());
    std::optional<int64_t> dim = op.getConstantIndex();
    if (!result || !dim || !isa_and_present<ArrayDialect>(result.getOwner()->getDialect()))
      return rewriter.notifyMatchFailure(op, "not a fixed dim of an array op's result");
    auto producer = dyn_cast<ReifyRankedShapedTypeOpInterface>(result.getOwner());
    auto type = dyn_cast<RankedTensorType>(result.getType());
    if (!producer || !type || *dim < 0 || *dim >= type.getRank())
      return rewriter.notifyMatchFailure(op, "the producer does not compute this size");
    FailureOr<OpFoldResult> size =
        producer.reifyDimOfResult(rewriter, result.getResultNumber(), *dim);
    if (failed(size) || !*size)
      return rewriter.notifyMatchFailure(op, "the size is not known");
    rewriter.replaceOp(op, SizeBuilder(rewriter, op.getLoc()).value(*size));
    return success();
  }
};
} // namespace

void ArrayDialect::getCanonicalizationPatterns(RewritePatternSet &patterns) const {
  patterns.add<ReifyDim>(getContext());
}

OpFoldResult FromIndexOp::fold(FoldAdaptor adaptor) {
  auto size = dyn_cast_if_present<IntegerAttr>(adaptor.getOperand());
  if (!size)
    return {};
  RankedTensorType type = getType();
  Type element = type.getElementType();
  if (auto integer = dyn_cast<IntegerType>(element))
    return DenseElementsAttr::get(
        type, IntegerAttr::get(integer, size.getValue().sextOrTrunc(integer.getWidth())));
  APFloat value(cast<FloatType>(element).getFloatSemantics());
  value.convertFromAPInt(size.getValue(), /*IsSigned=*/true, APFloat::rmNearestTiesToEven);
  return DenseElementsAttr::get(type, FloatAttr::get(element, value));
}

} // namespace xc::array
