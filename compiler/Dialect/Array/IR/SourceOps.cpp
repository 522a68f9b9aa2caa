//===- SourceOps.cpp - Constants, parameters and sizes as values -===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Array/IR/ArrayOps.h"

#include "mlir/IR/PatternMatch.h"

using namespace mlir;

namespace xc::array {

//===----------------------------------------------------------------------===//
// Constant and parameter
//===----------------------------------------------------------------------===//

OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValue(); }

void ConstantOp::getAsmResultNames(OpAsmSetValueNameFn setName) { setName(getResult(), "cst"); }

void ParameterOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getResult(), "param");
}

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

namespace {
/// Asks the op that computes a tensor for the size, so that the tensor itself
/// need not be there.
struct ReifyDim : OpRewritePattern<DimOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(DimOp op, PatternRewriter &rewriter) const override {
    auto result = dyn_cast<OpResult>(op.getOperand());
    auto producer =
        dyn_cast_if_present<ReifyRankedShapedTypeOpInterface>(op.getOperand().getDefiningOp());
    if (!producer)
      return rewriter.notifyMatchFailure(op, "the operand's producer does not compute its shape");
    FailureOr<OpFoldResult> size =
        producer.reifyDimOfResult(rewriter, result.getResultNumber(), op.getAxis());
    if (failed(size) || !*size)
      return rewriter.notifyMatchFailure(op, "the size is not known");
    rewriter.replaceOp(op, SizeBuilder(rewriter, op.getLoc()).value(*size));
    return success();
  }
};
} // namespace

void DimOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<ReifyDim>(context);
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
