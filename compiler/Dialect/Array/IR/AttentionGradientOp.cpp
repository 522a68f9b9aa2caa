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
  RankedTensorType query = getQuery().getType(), key = getKey().getType(),
                   value = getValue().getType(), cotangent = getCotangent().getType();
  int64_t rank = query.getRank();
  if (rank < 3 || key.getRank() != rank || value.getRank() != rank || cotangent.getRank() != rank)
    return emitOpError("expected query, key, value and cotangent of one rank of at least 3, got ")
           << query << ", " << key << ", " << value << " and " << cotangent;
  SmallVector<int64_t> shape(query.getShape());
  shape.back() = value.getShape().back();
  Type result = RankedTensorType::get(shape, query.getElementType()), given = cotangent;
  if (!areCompatibleTypes(result, given))
    return emitOpError("expected the cotangent of a result of ") << result << ", got " << given;
  if ((getOffset() || getWindow()) && !getCausal())
    return emitOpError("expected 'causal' beside an offset or a window");
  if (getWithMask() && (!getMask() || getMask().getType().getElementType().isInteger(1)))
    return emitOpError("expected a mask that is added beside 'to_mask'");
  if (getWithSinks() && !getSinks())
    return emitOpError("expected sinks beside 'to_sinks'");
  if (getSinks()) {
    RankedTensorType sinks = getSinks().getType();
    Type element = sinks.getElementType();
    bool isOfHeads =
        sinks.getRank() == 1 && areCompatibleDims(sinks.getDimSize(0), shape[rank - 3]);
    if (!isOfHeads || (element != query.getElementType() && !element.isF32()))
      return emitOpError("expected a sink for each of ")
             << shape[rank - 3] << " query heads, of f32 or the queries' type, got " << sinks;
  }
  shape.pop_back();
  Type row = RankedTensorType::get(shape, Float32Type::get(getContext()));
  for (Value numbers : {Value(getLogsumexp()), Value(getDelta()), Value(getLogsumexpCotangent())}) {
    Type own = numbers ? numbers.getType() : row;
    if (!areCompatibleTypes(row, own))
      return emitOpError("expected rows of ") << row << ", got " << own;
  }
  return success();
}

void reifyRequirements(AttentionGradientOp op, RequirementBuilder &requirements) {
  requireAttention(op.getQuery(), op.getKey(), op.getValue(), op.getMask(), op.getSinks(),
                   requirements);
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
