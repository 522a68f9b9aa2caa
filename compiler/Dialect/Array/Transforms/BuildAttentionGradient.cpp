//===- BuildAttentionGradient.cpp - Attention and its gradient for products -===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Array/IR/AttentionGradientOp.h"
#include "compiler/Dialect/Array/IR/TensorTypes.h"
#include "compiler/Dialect/Array/Transforms/AttentionGradientMatch.h"

using namespace mlir;

namespace xc::array {

static bool isBefore(Value value, Operation *place) {
  Operation *op = value.getDefiningOp();
  return !op || op->getBlock() != place->getBlock() || op->isBeforeInBlock(place);
}

/// The first of the products that are replaced; null where an operand comes later.
Operation *GradientMatch::findPlace() const {
  Operation *place = nullptr;
  for (const ProductUse *use : {toValue, toQuery, toKey})
    if (use && (!place || use->getOp()->isBeforeInBlock(place)))
      place = use->getOp();
  if (maskSum && maskSum.getDefiningOp()->isBeforeInBlock(place))
    place = maskSum.getDefiningOp();
  return isBefore(value, place) && isBefore(cotangent, place) ? place : nullptr;
}

/// Takes rows that are hidden throughout out of `toResult`; returns what `values` get of them.
Value GradientMatch::takeHiddenRows(Value &toResult, Value values) {
  int64_t last = typeOf(toResult).getRank() - 1, heads = last - 2;
  Value seen = e.reduce(ReduceKind::Or, operands->buildSeen(), last), zero = e.scalar(0, toResult);
  Value hidden = e.widen(e.select(seen, zero, toResult));
  toResult = e.select(seen, toResult, zero);
  // The mean over keys, of all queries and heads that share these.
  Value sums = e.reduce(ReduceKind::Sum, hidden, last - 1);
  SmallVector<int64_t> split(typeOf(sums).getShape());
  int64_t shared = typeOf(values).getDimSize(heads);
  if (split[heads] != shared) {
    split[heads] /= shared;
    split.insert(split.begin() + heads, shared);
    sums = e.make<ReshapeOp>(typeOf(sums).clone(split), sums, e.dynamicSizes(sums));
    sums = e.reduce(ReduceKind::Sum, sums, heads + 1, /*keepdims=*/false);
  }
  return e.div(sums, e.count(e.widen(values), last - 1));
}

Replacement GradientMatch::build(Operation *root) {
  Operation *place = findPlace();
  if (!place)
    return {};
  // The attention itself may come before what takes its operands for the gradient.
  bool isForwardFirst = forward && forward->getOp()->isBeforeInBlock(place);
  if (isForwardFirst && !isBefore(value, forward->getOp()))
    return {};
  OpBuilder &builder = e.getBuilder();
  builder.setInsertionPoint(isForwardFirst ? forward->getOp() : place);
  int querySide = operands->getQuerySide(), keySide = 1 - querySide;
  auto contract = scores->product.contract.front();
  double scale = scores->scale;
  auto take = [&](Value operand, bool isScaled) {
    if (isScaled)
      scale *= findScale(operand);
    return isScaled ? dropScale(operand, e) : operand;
  };
  Value query = operands->arrangeQueries(take(operands->getQuery(), isQueryScaled),
                                         operands->getDims(querySide), contract[querySide]);
  Value key = operands->arrangeKeys(take(operands->getKey(), isKeyScaled),
                                    operands->getDims(keySide), contract[keySide]);
  Value values = operands->arrangeKeys(value, valueDims, valueFeatures);
  Value mask = operands->buildMask();
  Replacement replacement;
  auto replace = [&](ProductUse *use, Value by) {
    if (!use)
      return;
    by = e.finish(by, use->result.getType());
    if (use->result.getDefiningOp() == root)
      replacement.results.push_back(by);
    else
      replacement.others.push_back({use->result, by});
  };
  auto buildAttention = [&] {
    Value attention = e.make<AttentionOp>(query, key, values, mask, /*offset=*/Value(),
                                          /*sinks=*/Value(), /*causal=*/false,
                                          /*window=*/IntegerAttr(), /*with_logsumexp=*/false,
                                          /*softcap=*/FloatAttr(), APFloat(scale));
    replace(forward, operands->restoreQueries(attention, forward->application.resultRoles));
  };
  if (isForwardFirst) {
    buildAttention();
    builder.setInsertionPoint(place);
  }
  Value toResult = operands->arrangeQueries(cotangent, cotangentDims, cotangentFeatures);
  Value toValues = hasHiddenRows ? takeHiddenRows(toResult, values) : Value();
  auto gradient = AttentionGradientOp::create(
      builder, root->getLoc(), query, key, values, toResult, mask, /*offset=*/Value(),
      /*sinks=*/Value(), /*logsumexp=*/Value(), /*delta=*/Value(),
      /*logsumexp_cotangent=*/Value(), /*causal=*/UnitAttr(),
      /*window=*/IntegerAttr(), /*softcap=*/FloatAttr(), builder.getF64FloatAttr(scale),
      maskSum ? builder.getUnitAttr() : UnitAttr(),
      /*with_sinks=*/UnitAttr());
  if (toQuery)
    replace(toQuery,
            operands->restoreQueries(gradient.getToQuery(), toQuery->application.resultRoles));
  if (toKey)
    replace(toKey, operands->restoreKeys(gradient.getToKey(), toKey->application.resultRoles));
  toValues = toValues ? e.finish(e.add(e.widen(gradient.getToValue()), toValues), values.getType())
                      : gradient.getToValue();
  if (toValue)
    replace(toValue, operands->restoreKeys(toValues, toValue->application.resultRoles));
  if (maskSum)
    replacement.others.push_back(
        {maskSum,
         e.finish(operands->restoreMask(gradient.getToMask(), maskRoles), maskSum.getType())});
  if (forward && !isForwardFirst) {
    builder.setInsertionPoint(forward->getOp());
    buildAttention();
  }
  return replacement;
}

Replacement GradientMatch::recognize(Operation *root) {
  return match(root) ? build(root) : Replacement();
}

} // namespace xc::array
