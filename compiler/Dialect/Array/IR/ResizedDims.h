//===- ResizedDims.h - Shapes in which some dims have other sizes -===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_DIALECT_ARRAY_IR_RESIZEDDIMS_H
#define XC_DIALECT_ARRAY_IR_RESIZEDDIMS_H

#include "compiler/Dialect/Array/IR/ExpressionBuilder.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/PatternMatch.h"

namespace xc::array {

/// The type of `operand` with dims `axes` of `sizes`, which are `?` for each of `dynamicSizes`.
/// Nothing is made of dims that are known to be empty.
mlir::LogicalResult inferResized(const RuleContext &rule, mlir::Type operand,
                                 llvm::ArrayRef<int64_t> axes, llvm::ArrayRef<int64_t> sizes,
                                 mlir::ValueRange dynamicSizes,
                                 llvm::SmallVectorImpl<mlir::Type> &inferred);

/// The sizes of the result of `op`, whose type was inferred like that.
mlir::LogicalResult reifyResized(mlir::Operation *op, mlir::Value operand,
                                 llvm::ArrayRef<int64_t> axes,
                                 llvm::ArrayRef<mlir::OpFoldResult> sizes, SizeBuilder &sizeBuilder,
                                 mlir::ReifiedRankedShapedTypeDims &shapes);

/// Moves sizes of `op` that are constants into its attribute and result type; a cast keeps the type
/// that the users know.
template <typename OpTy>
mlir::LogicalResult refineResized(OpTy op, mlir::PatternRewriter &rewriter) {
  llvm::SmallVector<mlir::OpFoldResult> sizes =
      mlir::getMixedValues(op.getSizes(), op.getDynamicSizes(), rewriter);
  for (mlir::OpFoldResult &size : sizes)
    if (std::optional<int64_t> constant = mlir::getConstantIntValue(size); constant >= 0)
      size = rewriter.getIndexAttr(*constant);
  llvm::SmallVector<int64_t> known;
  llvm::SmallVector<mlir::Value> dynamic;
  mlir::dispatchIndexOpFoldResults(sizes, dynamic, known);
  if (dynamic.size() == op.getDynamicSizes().size())
    return rewriter.notifyMatchFailure(op, "no further size is known");
  mlir::RankedTensorType type = op.getType();
  Dims shape(type.getShape());
  for (auto [axis, size] : llvm::zip_equal(op.getAxes(), known))
    if (!mlir::ShapedType::isDynamic(size))
      shape[axis] = size;
  rewriter.modifyOpInPlace(op, [&] {
    op.getDynamicSizesMutable().assign(dynamic);
    op.setSizes(known);
    op.getResult().setType(type.clone(shape));
  });
  rewriter.setInsertionPointAfter(op);
  auto cast = mlir::tensor::CastOp::create(rewriter, op.getLoc(), type, op.getResult());
  rewriter.replaceAllUsesExcept(op.getResult(), cast, cast);
  return mlir::success();
}

} // namespace xc::array

#endif // XC_DIALECT_ARRAY_IR_RESIZEDDIMS_H
