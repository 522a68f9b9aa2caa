//===- AttentionGradientOp.cpp - array.attention_gradient -----------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Array/IR/AttentionGradientOp.h"
#include "compiler/Dialect/Array/IR/AttentionSteps.h"
#include "compiler/Dialect/Array/IR/AttributeNames.h"
#include "compiler/Dialect/Array/IR/ExpressionBuilder.h"
#include "compiler/Dialect/Array/IR/PassAttributes.h"

using namespace mlir;

#define GET_OP_CLASSES
#include "compiler/Dialect/Array/IR/ArrayAttentionGradientOp.cpp.inc"
#include "compiler/Dialect/Array/IR/Requirements.h"

namespace xc::array {

bool hasGradientOp(AttentionOp op) {
  Type element = op.getQuery().getType().getElementType();
  return !element.isF64();
}

/// The attention that `op` is the gradient of. Nobody else hears of it, so that it can go again.
static AttentionOp makeAttention(AttentionGradientOp op, OpBuilder &at) {
  OpBuilder builder(op.getContext());
  builder.setInsertionPoint(at.getInsertionBlock(), at.getInsertionPoint());
  auto attention = AttentionOp::create(
      builder, op.getLoc(), op.getQuery(), op.getKey(), op.getValue(), op.getMask(), op.getOffset(),
      op.getSinks(), op.getCausalAttr(), op.getWindowAttr(),
      /*with_logsumexp=*/UnitAttr(), op.getSoftcapAttr(), op.getScaleAttr());
  if (Attribute most = op->getAttr(kMaxScoresAttr))
    attention->setAttr(kMaxScoresAttr, most);
  return attention;
}

LogicalResult AttentionGradientOp::inferReturnTypes(MLIRContext *, std::optional<Location>,
                                                    Adaptor adaptor,
                                                    SmallVectorImpl<Type> &inferred) {
  for (Value operand : {adaptor.getQuery(), adaptor.getKey(), adaptor.getValue()})
    inferred.push_back(operand.getType());
  if (adaptor.getWithMask() && adaptor.getMask())
    inferred.push_back(adaptor.getMask().getType());
  if (adaptor.getWithSinks() && adaptor.getSinks())
    inferred.push_back(adaptor.getSinks().getType());
  return success();
}

LogicalResult AttentionGradientOp::reifySizes(SizeBuilder &sizes,
                                              ReifiedRankedShapedTypeDims &shapes) {
  SmallVector<Value> operands{getQuery(), getKey(), getValue()};
  if (getWithMask())
    operands.push_back(getMask());
  if (getWithSinks())
    operands.push_back(getSinks());
  for (auto [result, operand] : llvm::zip_equal(getResults(), operands))
    if (failed(
            reifyAs(cast<RankedTensorType>(result.getType()), sizes.sizes(operand), sizes, shapes)))
      return failure();
  return success();
}

LogicalResult AttentionGradientOp::verify() {
  FailureOr<Dims> shape = inferAttention({getLoc(), getOperationName()}, getQuery(), getKey(),
                                         getValue(), getMask(), getSinks());
  if (failed(shape) || failed(verifyAttention(*this, *this)))
    return failure();
  Type result = RankedTensorType::get(*shape, getQuery().getType().getElementType()),
       given = getCotangent().getType();
  if (!areCompatibleTypes(result, given))
    return emitOpError("expected the cotangent of a result of ") << result << ", got " << given;
  if (getWithMask() && (!getMask() || getMask().getType().getElementType().isInteger(1)))
    return emitOpError("expected a mask that is added beside 'to_mask'");
  if (getWithSinks() && !getSinks())
    return emitOpError("expected sinks beside 'to_sinks'");
  Type row =
      RankedTensorType::get(llvm::ArrayRef(*shape).drop_back(), Float32Type::get(getContext()));
  for (Value numbers : {Value(getLogsumexp()), Value(getDelta()), Value(getLogsumexpCotangent())}) {
    Type own = numbers ? numbers.getType() : row;
    if (!areCompatibleTypes(row, own))
      return emitOpError("expected rows of ") << row << ", got " << own;
  }
  return success();
}

void reifyRequirements(AttentionGradientOp op, RequirementBuilder &requirements) {
  requireAttention(op, requirements);
  // The cotangent is like the result.
  int64_t last = op.getQuery().getType().getRank() - 1;
  for (int64_t dim = 0; dim < last; ++dim)
    requirements.requireAgreement(op.getQuery(), dim, op.getCotangent(), dim);
  requirements.requireAgreement(op.getValue(), last, op.getCotangent(), last);
  for (int64_t dim = 0; dim < last && op.getLogsumexpCotangent(); ++dim)
    requirements.requireAgreement(op.getQuery(), dim, op.getLogsumexpCotangent(), dim);
  requirements.requireResultTypes();
}

FailureOr<SmallVector<Value>> AttentionGradientOp::decompose(OpBuilder &builder) {
  AttentionOp attention = makeAttention(*this, builder);
  SmallVector<Value> gradients =
      buildAttentionVjp(attention, builder, getCotangent(), getLogsumexpCotangent());
  attention.erase();
  Value toMask = getWithMask() ? gradients[3] : Value(),
        toSinks = getWithSinks() ? gradients.back() : Value();
  gradients.truncate(3);
  for (Value gradient : {toMask, toSinks})
    if (gradient)
      gradients.push_back(gradient);
  for (auto [gradient, result] : llvm::zip_equal(gradients, getResults()))
    gradient = ExpressionBuilder(builder, getLoc()).finish(gradient, result.getType());
  return gradients;
}

} // namespace xc::array
