//===- LineOps.cpp - Sorting and searching lines -===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Array/IR/ExpressionBuilder.h"
#include "compiler/Dialect/Array/IR/PassAttributes.h"
#include "compiler/Dialect/Array/IR/Requirements.h"

using namespace mlir;

namespace xc::array {

static RankedTensorType countsLike(ArrayRef<int64_t> shape, MLIRContext *context) {
  // The count's type is the result's to choose; i64 where nobody does.
  return RankedTensorType::get(shape, IntegerType::get(context, 64));
}

//===----------------------------------------------------------------------===//
// Argsort
//===----------------------------------------------------------------------===//

LogicalResult ArgSortOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location,
                                          Adaptor adaptor, SmallVectorImpl<Type> &inferred) {
  auto type = cast<RankedTensorType>(adaptor.getOperand().getType());
  inferred.push_back(countsLike(type.getShape(), context));
  return checkAxis({location, getOperationName()}, adaptor.getAxis(), type.getRank());
}

LogicalResult ArgSortOp::reifySizes(SizeBuilder &sizeBuilder, ReifiedRankedShapedTypeDims &shapes) {
  return reifyAs(getType(), sizeBuilder.sizes(getOperand()), sizeBuilder, shapes);
}

void reifyRequirements(ArgSortOp op, RequirementBuilder &requirements) {
  requirements.requireCounted(requirements.getSizes().size(op.getOperand(), op.getAxis()),
                              op.getType().getElementType());
  requirements.requireShapeOfResult(op.getOperand());
}

//===----------------------------------------------------------------------===//
// Topk
//===----------------------------------------------------------------------===//

LogicalResult TopKOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location,
                                       Adaptor adaptor, SmallVectorImpl<Type> &inferred) {
  RuleContext rule{location, getOperationName()};
  auto type = cast<RankedTensorType>(adaptor.getOperand().getType());
  int64_t axis = adaptor.getAxis(), k = adaptor.getK();
  if (failed(checkAxis(rule, axis, type.getRank())))
    return failure();
  Dims shape(type.getShape());
  if (k < 0 || (!ShapedType::isDynamic(shape[axis]) && k > shape[axis]))
    return rule.error("expected k between 0 and the ", formatDim(shape[axis]), " elements of dim ",
                      axis, ", got ", k);
  shape[axis] = k;
  inferred.push_back(RankedTensorType::get(shape, type.getElementType()));
  inferred.push_back(countsLike(shape, context));
  return success();
}

LogicalResult TopKOp::reifySizes(SizeBuilder &sizeBuilder, ReifiedRankedShapedTypeDims &shapes) {
  SmallVector<OpFoldResult> sizes = sizeBuilder.sizes(getOperand());
  sizes[getAxis()] = sizeBuilder.constant(getK());
  if (failed(reifyAs(getValues().getType(), sizes, sizeBuilder, shapes)))
    return failure();
  return reifyAs(getIndices().getType(), sizes, sizeBuilder, shapes);
}

void reifyRequirements(TopKOp op, RequirementBuilder &requirements) {
  int64_t axis = op.getAxis();
  requirements.requireLength(op.getOperand(), axis, op.getK());
  requirements.requireCounted(requirements.getSizes().size(op.getOperand(), axis),
                              op.getIndices().getType().getElementType());
  for (int64_t dim = 0, rank = op.getOperand().getType().getRank(); dim < rank; ++dim)
    for (int64_t number : {0, 1})
      if (dim != axis)
        requirements.requireAgreementWithResult(op.getOperand(), dim, dim, number);
}

LogicalResult TopKOp::verify() {
  Type from = getOperand().getType().getElementType(), to = getValues().getType().getElementType();
  if (from != to)
    return emitOpError("expected values of the operand's element type ") << from << ", got " << to;
  return success();
}

//===----------------------------------------------------------------------===//
// Partition
//===----------------------------------------------------------------------===//

LogicalResult PartitionOp::verify() {
  int64_t size = getOperand().getType().getDimSize(getAxis()), kth = getKth();
  if (kth < 0 || (!ShapedType::isDynamic(size) && kth >= size))
    return emitOpError("expected kth in [0, ") << formatDim(size) << "), got " << kth;
  return success();
}

void reifyRequirements(PartitionOp op, RequirementBuilder &requirements) {
  requirements.requireLength(op.getOperand(), op.getAxis(), op.getKth() + 1);
  requirements.requireResultTypes();
}

FailureOr<SmallVector<Value>> PartitionOp::decompose(OpBuilder &builder) {
  ExpressionBuilder e(builder, getLoc());
  Value sorted = e.make<SortOp>(getOperand(), getAxis(), /*descending=*/false);
  if (getOperand().getType().isDynamicDim(getAxis()))
    sorted.getDefiningOp()->setAttr(kLeastSizeAttr, builder.getI64IntegerAttr(getKth() + 1));
  return SmallVector<Value>{e.finish(sorted, getType())};
}

//===----------------------------------------------------------------------===//
// Searchsorted
//===----------------------------------------------------------------------===//

LogicalResult SearchSortedOp::inferReturnTypes(MLIRContext *context,
                                               std::optional<Location> location, Adaptor adaptor,
                                               SmallVectorImpl<Type> &inferred) {
  RuleContext rule{location, getOperationName()};
  auto sorted = cast<RankedTensorType>(adaptor.getSorted().getType());
  auto values = cast<RankedTensorType>(adaptor.getValues().getType());
  if (sorted.getRank() != 1)
    return rule.error("expected a sorted vector, got ", sorted);
  inferred.push_back(countsLike(values.getShape(), context));
  return checkSameElementType(rule, {adaptor.getSorted(), adaptor.getValues()});
}

LogicalResult SearchSortedOp::reifySizes(SizeBuilder &sizeBuilder,
                                         ReifiedRankedShapedTypeDims &shapes) {
  return reifyAs(getType(), sizeBuilder.sizes(getValues()), sizeBuilder, shapes);
}

void reifyRequirements(SearchSortedOp op, RequirementBuilder &requirements) {
  requirements.requireCounted(requirements.getSizes().size(op.getSorted(), 0),
                              op.getType().getElementType());
  requirements.requireShapeOfResult(op.getValues());
}

} // namespace xc::array
