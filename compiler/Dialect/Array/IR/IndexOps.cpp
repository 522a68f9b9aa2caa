//===- IndexOps.cpp - Elements at positions that are data -===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Array/IR/ArrayOps.h"
#include "compiler/Dialect/Array/IR/Requirements.h"

using namespace mlir;

namespace xc::array {

//===----------------------------------------------------------------------===//
// Take
//===----------------------------------------------------------------------===//

/// An index is clamped into the dim, which an empty one does not allow. Whether a `?` number of
/// indices is 0 shows when the program runs.
static LogicalResult checkNotEmpty(const RuleContext &rule, RankedTensorType type, int64_t axis,
                                   RankedTensorType indices) {
  bool mustIndex = llvm::none_of(
      indices.getShape(), [](int64_t size) { return size == 0 || ShapedType::isDynamic(size); });
  if (type.getDimSize(axis) == 0 && mustIndex)
    return rule.error("expected dim ", axis, " of the operand not to be empty, got ", type);
  return success();
}

LogicalResult TakeOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                       Adaptor adaptor, SmallVectorImpl<Type> &inferred) {
  RuleContext rule{location, getOperationName()};
  auto type = cast<RankedTensorType>(adaptor.getOperand().getType());
  auto indices = cast<RankedTensorType>(adaptor.getIndices().getType());
  int64_t axis = adaptor.getAxis();
  if (failed(checkAxis(rule, axis, type.getRank())) ||
      failed(checkNotEmpty(rule, type, axis, indices)))
    return failure();
  Dims shape(type.getShape().take_front(axis));
  llvm::append_range(shape, indices.getShape());
  llvm::append_range(shape, type.getShape().drop_front(axis + 1));
  inferred.push_back(RankedTensorType::get(shape, type.getElementType()));
  return success();
}

/// The sizes of an operand with those of the indices in place of one.
static SmallVector<OpFoldResult> takenSizes(TakeOp op, SizeBuilder &sizeBuilder) {
  SmallVector<OpFoldResult> sizes = sizeBuilder.sizes(op.getOperand());
  SmallVector<OpFoldResult> indexSizes = sizeBuilder.sizes(op.getIndices());
  auto *position = sizes.erase(sizes.begin() + op.getAxis());
  sizes.insert(position, indexSizes.begin(), indexSizes.end());
  return sizes;
}

LogicalResult TakeOp::reifySizes(SizeBuilder &sizeBuilder, ReifiedRankedShapedTypeDims &shapes) {
  return reifyAs(getType(), takenSizes(*this, sizeBuilder), sizeBuilder, shapes);
}

/// Requires an element along each of `axes` where the result has any.
template <typename Op>
static void requireElements(Op op, ArrayRef<int64_t> axes, RequirementBuilder &requirements) {
  ReifiedRankedShapedTypeDims shapes;
  (void)op.reifySizes(requirements.getSizes(), shapes);
  for (int64_t axis : axes)
    requirements.requireElement(shapes.front(), op.getOperand(), axis, ", to take");
}

void reifyRequirements(TakeOp op, RequirementBuilder &requirements) {
  int64_t axis = op.getAxis();
  requireElements(op, axis, requirements);
  requirements.requireResultSizes(takenSizes(op, requirements.getSizes()));
}

LogicalResult TakeAlongAxisOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                                Adaptor adaptor, SmallVectorImpl<Type> &inferred) {
  RuleContext rule{location, getOperationName()};
  auto type = cast<RankedTensorType>(adaptor.getOperand().getType());
  auto indices = cast<RankedTensorType>(adaptor.getIndices().getType());
  int64_t axis = adaptor.getAxis();
  if (failed(checkAxis(rule, axis, type.getRank())))
    return failure();
  if (indices.getRank() != type.getRank())
    return rule.error("expected indices of rank ", type.getRank(), ", got ", indices);
  Dims shape(indices.getShape());
  for (auto [dim, size] : llvm::enumerate(type.getShape())) {
    if (static_cast<int64_t>(dim) == axis)
      continue;
    if (!areCompatibleDims(shape[dim], size))
      return rule.error("expected operand and indices equal in all dims but ", axis, ", got ", type,
                        " and ", indices);
    shape[dim] = mergeDims(shape[dim], size);
  }
  inferred.push_back(RankedTensorType::get(shape, type.getElementType()));
  return checkNotEmpty(rule, type, axis, indices);
}

LogicalResult TakeAlongAxisOp::reifySizes(SizeBuilder &sizeBuilder,
                                          ReifiedRankedShapedTypeDims &shapes) {
  return reifyAs(getType(), sizeBuilder.sizes(getIndices()), sizeBuilder, shapes);
}

void reifyRequirements(TakeAlongAxisOp op, RequirementBuilder &requirements) {
  int64_t axis = op.getAxis();
  for (int64_t dim = 0, rank = op.getType().getRank(); dim < rank; ++dim)
    if (dim != axis)
      requirements.requireEqualDims(op.getIndices(), dim, op.getOperand(), dim);
  requireElements(op, axis, requirements);
  requirements.requireShapeOfResult(op.getIndices());
}

//===----------------------------------------------------------------------===//
// Gather and scatter
//===----------------------------------------------------------------------===//

/// The shape that `operand[indices]` has along `axes`.
static FailureOr<Dims> gatherShape(const RuleContext &rule, RankedTensorType operand,
                                   RankedTensorType indices, ArrayRef<int64_t> axes) {
  if (failed(checkAxes(rule, axes, operand.getRank())))
    return failure();
  int64_t components = axes.size();
  if (indices.getRank() == 0 || !areCompatibleDims(indices.getShape().back(), components))
    return rule.error("expected index vectors of ", components,
                      " components in the last dim of the indices, got ", indices);
  Dims shape(indices.getShape().drop_back());
  llvm::append_range(shape, reducedShape(operand.getShape(), axes, /*keepdims=*/false));
  return shape;
}

/// Requires index vectors of as many components as there are axes.
static void requireComponents(Value indices, int64_t components, RequirementBuilder &requirements) {
  SizeBuilder &sizes = requirements.getSizes();
  int64_t last = cast<RankedTensorType>(indices.getType()).getRank() - 1;
  requirements.require(sizes.size(indices, last), plan::Comparison::Equal,
                       sizes.constant(components),
                       "expected index vectors of " + Twine(components) + " components");
}

LogicalResult GatherOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                         Adaptor adaptor, SmallVectorImpl<Type> &inferred) {
  RuleContext rule{location, getOperationName()};
  auto type = cast<RankedTensorType>(adaptor.getOperand().getType());
  auto indices = cast<RankedTensorType>(adaptor.getIndices().getType());
  FailureOr<Dims> shape = gatherShape(rule, type, indices, adaptor.getAxes());
  if (failed(shape))
    return failure();
  inferred.push_back(RankedTensorType::get(*shape, type.getElementType()));
  for (int64_t axis : adaptor.getAxes())
    if (failed(checkNotEmpty(rule, type, axis, indices)))
      return failure();
  return success();
}

/// The sizes of the indices but their components, then those of the operand that they leave.
static SmallVector<OpFoldResult> gatheredSizes(GatherOp op, SizeBuilder &sizeBuilder) {
  SmallVector<OpFoldResult> sizes = sizeBuilder.sizes(op.getIndices());
  sizes.pop_back();
  for (int64_t dim = 0; dim < op.getOperand().getType().getRank(); ++dim)
    if (!llvm::is_contained(op.getAxes(), dim))
      sizes.push_back(sizeBuilder.size(op.getOperand(), dim));
  return sizes;
}

LogicalResult GatherOp::reifySizes(SizeBuilder &sizeBuilder, ReifiedRankedShapedTypeDims &shapes) {
  return reifyAs(getType(), gatheredSizes(*this, sizeBuilder), sizeBuilder, shapes);
}

void reifyRequirements(GatherOp op, RequirementBuilder &requirements) {
  requireComponents(op.getIndices(), op.getAxes().size(), requirements);
  requireElements(op, op.getAxes(), requirements);
  requirements.requireResultSizes(gatheredSizes(op, requirements.getSizes()));
}

LogicalResult ScatterOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                          Adaptor adaptor, SmallVectorImpl<Type> &inferred) {
  RuleContext rule{location, getOperationName()};
  auto type = cast<RankedTensorType>(adaptor.getOperand().getType());
  auto indices = cast<RankedTensorType>(adaptor.getIndices().getType());
  auto updates = cast<RankedTensorType>(adaptor.getUpdates().getType());
  if (failed(checkSameElementType(rule, {adaptor.getOperand(), adaptor.getUpdates()})))
    return failure();
  FailureOr<Dims> shape = gatherShape(rule, type, indices, adaptor.getAxes());
  if (failed(shape))
    return failure();
  if (failed(verifyCompatibleShape(*shape, updates.getShape())))
    return rule.error("expected updates of shape ", formatDims(*shape), ", got ", updates);
  inferred.push_back(RankedTensorType::get(type.getShape(), type.getElementType()));
  return success();
}

LogicalResult ScatterOp::reifySizes(SizeBuilder &sizeBuilder, ReifiedRankedShapedTypeDims &shapes) {
  return reifyAs(getType(), sizeBuilder.sizes(getOperand()), sizeBuilder, shapes);
}

void reifyRequirements(ScatterOp op, RequirementBuilder &requirements) {
  requireComponents(op.getIndices(), op.getAxes().size(), requirements);
  int64_t batchRank = op.getIndices().getType().getRank() - 1;
  for (int64_t dim = 0; dim < batchRank; ++dim)
    requirements.requireEqualDims(op.getUpdates(), dim, op.getIndices(), dim);
  for (int64_t dim = 0, window = batchRank, rank = op.getType().getRank(); dim < rank; ++dim)
    if (!llvm::is_contained(op.getAxes(), dim))
      requirements.requireEqualDims(op.getUpdates(), window++, op.getOperand(), dim);
  requirements.requireShapeOfResult(op.getOperand());
}

LogicalResult ScatterOp::verify() {
  Type element = getOperand().getType().getElementType();
  if (getKind() != ScatterKind::Set && element.isSignlessInteger(1))
    return emitOpError("expected numbers to scatter with ")
           << stringifyScatterKind(getKind()) << ", got " << element;
  return success();
}

//===----------------------------------------------------------------------===//
// One hot
//===----------------------------------------------------------------------===//

LogicalResult OneHotOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location,
                                         Adaptor adaptor, SmallVectorImpl<Type> &inferred) {
  RuleContext rule{location, getOperationName()};
  int64_t depth = adaptor.getDepth();
  if (depth < 0)
    return rule.error("expected a depth that is not negative, got ", depth);
  Dims shape(cast<RankedTensorType>(adaptor.getIndices().getType()).getShape());
  shape.push_back(depth);
  // The element type is the result's to choose; f32 where nobody does.
  inferred.push_back(RankedTensorType::get(shape, Float32Type::get(context)));
  return success();
}

LogicalResult OneHotOp::reifySizes(SizeBuilder &sizeBuilder, ReifiedRankedShapedTypeDims &shapes) {
  SmallVector<OpFoldResult> sizes = sizeBuilder.sizes(getIndices());
  sizes.push_back(sizeBuilder.constant(getDepth()));
  return reifyAs(getType(), std::move(sizes), sizeBuilder, shapes);
}

} // namespace xc::array
