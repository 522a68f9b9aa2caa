//===- CompositeOps.cpp - Shapes of composite ops -===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What they compute is in Decompositions.cpp.
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Array/IR/ArrayOps.h"
#include "compiler/Dialect/Array/IR/Requirements.h"

using namespace mlir;

namespace xc::array {

static Type withoutEncoding(RankedTensorType type) {
  return RankedTensorType::get(type.getShape(), type.getElementType());
}

//===----------------------------------------------------------------------===//
// Softmax
//===----------------------------------------------------------------------===//

LogicalResult SoftmaxOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                          Adaptor adaptor, SmallVectorImpl<Type> &inferred) {
  auto type = cast<RankedTensorType>(adaptor.getOperand().getType());
  inferred.push_back(withoutEncoding(type));
  return checkAxis({location, getOperationName()}, adaptor.getAxis(), type.getRank());
}

LogicalResult SoftmaxOp::reifySizes(SizeBuilder &sizeBuilder, ReifiedRankedShapedTypeDims &shapes) {
  return reifyAs(getType(), sizeBuilder.sizes(getOperand()), sizeBuilder, shapes);
}

LogicalResult LogSoftmaxOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                             Adaptor adaptor, SmallVectorImpl<Type> &inferred) {
  auto type = cast<RankedTensorType>(adaptor.getOperand().getType());
  inferred.push_back(withoutEncoding(type));
  return checkAxis({location, getOperationName()}, adaptor.getAxis(), type.getRank());
}

LogicalResult LogSoftmaxOp::reifySizes(SizeBuilder &sizeBuilder,
                                       ReifiedRankedShapedTypeDims &shapes) {
  return reifyAs(getType(), sizeBuilder.sizes(getOperand()), sizeBuilder, shapes);
}

//===----------------------------------------------------------------------===//
// Layer and RMS norm
//===----------------------------------------------------------------------===//

/// Checks `axis`, and that each of `vectors` has the shape of the dims from it on.
static LogicalResult inferTrailingNorm(const RuleContext &rule, Value operand, int64_t axis,
                                       ValueRange vectors, SmallVectorImpl<Type> &inferred) {
  auto type = cast<RankedTensorType>(operand.getType());
  if (failed(checkAxis(rule, axis, type.getRank())))
    return failure();
  auto wanted = RankedTensorType::get(type.getShape().drop_front(axis), type.getElementType());
  for (Value vector : vectors)
    if (vector && !areCompatibleTypes(vector.getType(), wanted))
      return rule.error("expected scale and bias compatible with ", wanted, ", got ",
                        vector.getType());
  inferred.push_back(withoutEncoding(type));
  return success();
}

LogicalResult LayerNormOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                            Adaptor adaptor, SmallVectorImpl<Type> &inferred) {
  return inferTrailingNorm({location, getOperationName()}, adaptor.getOperand(), adaptor.getAxis(),
                           {adaptor.getScale(), adaptor.getBias()}, inferred);
}

LogicalResult LayerNormOp::reifySizes(SizeBuilder &sizeBuilder,
                                      ReifiedRankedShapedTypeDims &shapes) {
  return reifyAs(getType(), sizeBuilder.sizes(getOperand()), sizeBuilder, shapes);
}

LogicalResult RmsNormOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                          Adaptor adaptor, SmallVectorImpl<Type> &inferred) {
  return inferTrailingNorm({location, getOperationName()}, adaptor.getOperand(), adaptor.getAxis(),
                           adaptor.getScale(), inferred);
}

LogicalResult RmsNormOp::reifySizes(SizeBuilder &sizeBuilder, ReifiedRankedShapedTypeDims &shapes) {
  return reifyAs(getType(), sizeBuilder.sizes(getOperand()), sizeBuilder, shapes);
}

/// Requires that vectors are as long as what is normalised, and what the result's type says.
static void requireTrailing(Value operand, ValueRange vectors, RequirementBuilder &requirements) {
  SmallVector<Value> operands{operand};
  llvm::append_range(operands, vectors);
  requirements.requireBroadcastDims(operands, cast<RankedTensorType>(operand.getType()).getRank(),
                                    /*trailing=*/0, /*withResult=*/false);
  requirements.requireResultTypes();
}

void reifyRequirements(LayerNormOp op, RequirementBuilder &requirements) {
  requireTrailing(op.getOperand(), op->getOperands().drop_front(), requirements);
}

void reifyRequirements(RmsNormOp op, RequirementBuilder &requirements) {
  requireTrailing(op.getOperand(), op->getOperands().drop_front(), requirements);
}

//===----------------------------------------------------------------------===//
// Batch norm
//===----------------------------------------------------------------------===//

/// Checks `axis`, and that each of `vectors` is a vector over it; returns the
/// vectors' type.
static FailureOr<RankedTensorType> checkFeatures(const RuleContext &rule, Value operand,
                                                 int64_t axis, ValueRange vectors) {
  auto type = cast<RankedTensorType>(operand.getType());
  if (failed(checkAxis(rule, axis, type.getRank())))
    return failure();
  auto features = RankedTensorType::get({type.getDimSize(axis)}, type.getElementType());
  for (Value vector : vectors) {
    if (!areCompatibleTypes(vector.getType(), features))
      return rule.error("expected vectors compatible with ", features, ", got ", vector.getType());
    int64_t size = cast<RankedTensorType>(vector.getType()).getDimSize(0);
    features =
        RankedTensorType::get({mergeDims(features.getDimSize(0), size)}, type.getElementType());
  }
  return features;
}

LogicalResult BatchNormInferenceOp::inferReturnTypes(MLIRContext *,
                                                     std::optional<Location> location,
                                                     Adaptor adaptor,
                                                     SmallVectorImpl<Type> &inferred) {
  inferred.push_back(withoutEncoding(cast<RankedTensorType>(adaptor.getOperand().getType())));
  return checkFeatures({location, getOperationName()}, adaptor.getOperand(), adaptor.getAxis(),
                       adaptor.getOperands().drop_front());
}

LogicalResult BatchNormInferenceOp::reifySizes(SizeBuilder &sizeBuilder,
                                               ReifiedRankedShapedTypeDims &shapes) {
  return reifyAs(getType(), sizeBuilder.sizes(getOperand()), sizeBuilder, shapes);
}

LogicalResult BatchNormTrainingOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                                    Adaptor adaptor,
                                                    SmallVectorImpl<Type> &inferred) {
  FailureOr<RankedTensorType> features =
      checkFeatures({location, getOperationName()}, adaptor.getOperand(), adaptor.getAxis(),
                    adaptor.getOperands().drop_front());
  if (failed(features))
    return failure();
  inferred.push_back(withoutEncoding(cast<RankedTensorType>(adaptor.getOperand().getType())));
  inferred.append({*features, *features});
  return success();
}

LogicalResult BatchNormTrainingOp::reifySizes(SizeBuilder &sizeBuilder,
                                              ReifiedRankedShapedTypeDims &shapes) {
  SmallVector<OpFoldResult> features = {sizeBuilder.size(getOperand(), getAxis())};
  if (failed(
          reifyAs(getResult().getType(), sizeBuilder.sizes(getOperand()), sizeBuilder, shapes)) ||
      failed(reifyAs(getMean().getType(), features, sizeBuilder, shapes)))
    return failure();
  return reifyAs(getVariance().getType(), features, sizeBuilder, shapes);
}

//===----------------------------------------------------------------------===//
// Group norm
//===----------------------------------------------------------------------===//

LogicalResult GroupNormOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                            Adaptor adaptor, SmallVectorImpl<Type> &inferred) {
  RuleContext rule{location, getOperationName()};
  auto type = cast<RankedTensorType>(adaptor.getOperand().getType());
  int64_t axis = adaptor.getAxis(), groups = adaptor.getGroups();
  if (failed(checkFeatures(rule, adaptor.getOperand(), axis, adaptor.getOperands().drop_front())))
    return failure();
  if (axis == 0)
    return rule.error("expected the features in another dim than the batch, got axis 0");
  int64_t features = type.getDimSize(axis);
  if (groups < 1 || (!ShapedType::isDynamic(features) && features % groups != 0))
    return rule.error("expected a number of features that is a multiple of ", groups,
                      " groups, got ", formatDim(features));
  inferred.push_back(withoutEncoding(type));
  return success();
}

LogicalResult GroupNormOp::reifySizes(SizeBuilder &sizeBuilder,
                                      ReifiedRankedShapedTypeDims &shapes) {
  return reifyAs(getType(), sizeBuilder.sizes(getOperand()), sizeBuilder, shapes);
}

//===----------------------------------------------------------------------===//
// Requirements of norms over features
//===----------------------------------------------------------------------===//

/// Requires an element of each vector for each feature.
static void requireFeatures(Value operand, int64_t axis, ValueRange vectors,
                            RequirementBuilder &requirements) {
  for (Value vector : vectors)
    requirements.requireAgreement(operand, axis, vector, 0);
  requirements.requireResultTypes();
}

void reifyRequirements(BatchNormInferenceOp op, RequirementBuilder &requirements) {
  requireFeatures(op.getOperand(), op.getAxis(), op->getOperands().drop_front(), requirements);
}

void reifyRequirements(BatchNormTrainingOp op, RequirementBuilder &requirements) {
  requireFeatures(op.getOperand(), op.getAxis(), op->getOperands().drop_front(), requirements);
}

/// Features divide into groups, and scale and bias have one element for each.
void reifyRequirements(GroupNormOp op, RequirementBuilder &requirements) {
  SizeBuilder &sizes = requirements.getSizes();
  int64_t axis = op.getAxis();
  OpFoldResult groups = sizes.constant(op.getGroups()),
               size = sizes.floorDiv(sizes.size(op.getOperand(), axis), groups);
  SmallVector<OpFoldResult> split = sizes.sizes(op.getOperand());
  SmallVector<OpFoldResult> features(split.size() + 1, sizes.constant(1));
  split[axis] = features[axis] = groups;
  split.insert(split.begin() + axis + 1, size);
  features[axis + 1] = size;
  requirements.requireElementCount(op.getOperand(), split);
  requirements.requireElementCount(op.getScale(), features);
  requirements.requireElementCount(op.getBias(), features);
  requirements.requireResultTypes();
}

} // namespace xc::array
