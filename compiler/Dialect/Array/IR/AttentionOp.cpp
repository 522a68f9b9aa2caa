//===- AttentionOp.cpp - Attention: shapes, and the steps of its value -----===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Array/IR/AttentionSteps.h"
#include "compiler/Dialect/Array/IR/Requirements.h"
#include "compiler/Dialect/Array/IR/TensorTypes.h"

using namespace mlir;

namespace xc::array {

using Values = SmallVector<Value>;

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

/// Checks that `mask` broadcasts to the scores' shape.
static LogicalResult checkMask(const RuleContext &rule, Value mask, ArrayRef<int64_t> scores) {
  ArrayRef<int64_t> shape = typeOf(mask).getShape();
  bool fits = shape.size() <= scores.size() &&
              llvm::all_of(llvm::zip(llvm::reverse(shape), llvm::reverse(scores)), [](auto pair) {
                auto [size, whole] = pair;
                return size == 1 || areCompatibleDims(size, whole);
              });
  if (fits)
    return success();
  return rule.error("expected a mask that broadcasts to ", formatDims(scores), ", got ",
                    mask.getType());
}

/// The type that scores of `element`s are computed in.
static Type sumType(Type element) {
  return element.isF64() ? element : Float32Type::get(element.getContext());
}

LogicalResult checkHeads(const RuleContext &rule, int64_t heads, int64_t groups) {
  if (!ShapedType::isDynamic(heads) && !ShapedType::isDynamic(groups) && groups != 0 &&
      heads % groups == 0)
    return success();
  return rule.error("expected a number of query heads that is a multiple of the key heads, got ",
                    formatDim(heads), " and ", formatDim(groups));
}

FailureOr<Dims> inferAttention(const RuleContext &rule, Value queryValue, Value keyValue,
                               Value valueValue, Value mask, Value sinks) {
  RankedTensorType query = typeOf(queryValue), key = typeOf(keyValue), value = typeOf(valueValue);
  if (failed(checkSameElementType(rule, {queryValue, keyValue, valueValue})))
    return failure();
  int64_t rank = query.getRank(), batch = rank - 3;
  if (rank < 3 || key.getRank() != rank || value.getRank() != rank)
    return rule.error("expected query, key and value of one rank of at least 3, got ", query, ", ",
                      key, " and ", value);
  Dims shape;
  for (int64_t dim = 0; dim < batch; ++dim) {
    int64_t size = mergeDims(query.getDimSize(dim), key.getDimSize(dim));
    if (!areCompatibleDims(query.getDimSize(dim), key.getDimSize(dim)) ||
        !areCompatibleDims(size, value.getDimSize(dim)))
      return rule.error("expected equal batch dims, got ", query, ", ", key, " and ", value);
    shape.push_back(mergeDims(size, value.getDimSize(dim)));
  }
  int64_t heads = query.getDimSize(batch), groups = key.getDimSize(batch);
  if (!areCompatibleDims(groups, value.getDimSize(batch)) ||
      !areCompatibleDims(key.getDimSize(batch + 1), value.getDimSize(batch + 1)))
    return rule.error("expected as many heads and keys in key as in value, got ", key, " and ",
                      value);
  if (!areCompatibleDims(query.getDimSize(rank - 1), key.getDimSize(rank - 1)))
    return rule.error("expected vectors of one length in query and key, got ", query, " and ", key);
  if (failed(checkHeads(rule, heads, groups)))
    return failure();
  shape.append({heads, query.getDimSize(rank - 2), value.getDimSize(rank - 1)});
  Dims scores(llvm::ArrayRef(shape).drop_back());
  scores.push_back(mergeDims(key.getDimSize(batch + 1), value.getDimSize(batch + 1)));
  if (mask && failed(checkMask(rule, mask, scores)))
    return failure();
  if (sinks &&
      (typeOf(sinks).getRank() != 1 || !areCompatibleDims(typeOf(sinks).getDimSize(0), heads)))
    return rule.error("expected a sink for each of ", heads, " query heads, got ", sinks.getType());
  return shape;
}

LogicalResult AttentionOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                            Adaptor adaptor, SmallVectorImpl<Type> &inferred) {
  RuleContext rule{location, getOperationName()};
  FailureOr<Dims> shape = inferAttention(rule, adaptor.getQuery(), adaptor.getKey(),
                                         adaptor.getValue(), adaptor.getMask(), adaptor.getSinks());
  if (failed(shape))
    return failure();
  Type element = typeOf(adaptor.getQuery()).getElementType();
  inferred.push_back(RankedTensorType::get(*shape, element));
  if (adaptor.getWithLogsumexp())
    inferred.push_back(RankedTensorType::get(llvm::ArrayRef(*shape).drop_back(), sumType(element)));
  return success();
}

LogicalResult AttentionOp::reifySizes(SizeBuilder &sizes, ReifiedRankedShapedTypeDims &shapes) {
  SmallVector<OpFoldResult> result = sizes.sizes(getQuery());
  result.back() = sizes.size(getValue(), getResult().getType().getRank() - 1);
  if (failed(reifyAs(getResult().getType(), result, sizes, shapes)))
    return failure();
  result.pop_back();
  return getLogsumexp() ? reifyAs(getLogsumexp().getType(), std::move(result), sizes, shapes)
                        : success();
}

LogicalResult verifyAttention(Operation *op, const AttentionInputs &inputs) {
  if (inputs.offset && !inputs.isCausal)
    return op->emitOpError("expected 'causal' beside an offset");
  if (inputs.window && !inputs.isCausal)
    return op->emitOpError("expected 'causal' beside a window");
  if (inputs.window && *inputs.window < 1)
    return op->emitOpError("expected a window of at least 1 key, got ") << *inputs.window;
  Type element = inputs.getQueryType().getElementType();
  if (inputs.sinks) {
    Type sink = getElementTypeOrSelf(inputs.sinks);
    if (sink != element && !sink.isF32())
      return op->emitOpError("expected sinks of f32 or ") << element << ", got " << sink;
  }
  if (!inputs.mask)
    return success();
  Type mask = getElementTypeOrSelf(inputs.mask);
  if (!mask.isInteger(1) && mask != element && !mask.isF32())
    return op->emitOpError("expected a mask of i1, f32 or ") << element << ", got " << mask;
  return success();
}

LogicalResult AttentionOp::verify() { return verifyAttention(*this, *this); }

void requireAttention(const AttentionInputs &inputs, RequirementBuilder &requirements) {
  Value query = inputs.query, key = inputs.key, mask = inputs.mask;
  int64_t rank = typeOf(query).getRank(), heads = rank - 3, length = rank - 2, last = rank - 1;
  for (int64_t dim = 0; dim < heads; ++dim)
    for (Value other : {key, inputs.value})
      requirements.requireAgreement(query, dim, other, dim);
  requirements.requireAgreement(query, last, key, last);
  for (int64_t dim : {heads, length})
    requirements.requireAgreement(key, dim, inputs.value, dim);
  // As scores, which have queries and keys as their last dims.
  int64_t lead = mask ? rank - typeOf(mask).getRank() : rank;
  for (int64_t dim = lead; dim < rank; ++dim)
    if (typeOf(mask).getDimSize(dim - lead) != 1)
      requirements.requireAgreement(dim == last ? key : query, dim == last ? length : dim, mask,
                                    dim - lead);
  SizeBuilder &sizes = requirements.getSizes();
  if (inputs.sinks)
    requirements.requireElementCount(
        inputs.sinks, {sizes.size(query, heads), sizes.constant(1), sizes.constant(1)});
}

void reifyRequirements(AttentionOp op, RequirementBuilder &requirements) {
  requireAttention(op, requirements);
  requirements.requireResultTypes();
}

//===----------------------------------------------------------------------===//
// In simpler ops
//===----------------------------------------------------------------------===//

Value AttentionSteps::split(Value value) {
  RankedTensorType type = typeOf(value);
  // A mask may be broadcast along the heads, or lack them.
  int64_t dim = type.getRank() - 3;
  if (!isGrouped() || dim < 0)
    return value;
  SmallVector<int64_t> shape(type.getShape());
  bool broadcast = shape[dim] == 1;
  if (ShapedType::isDynamic(shape[dim])) {
    shape[dim] = heads;
    value = e.finish(value, type.clone(shape));
  }
  shape[dim] = broadcast ? 1 : groups;
  shape.insert(shape.begin() + dim + 1, broadcast ? 1 : heads / groups);
  return e.make<ReshapeOp>(RankedTensorType::get(shape, type.getElementType()), value,
                           e.dynamicSizes(value));
}

Value AttentionSteps::merge(Value value) {
  RankedTensorType type = typeOf(value);
  if (!isGrouped())
    return value;
  SmallVector<int64_t> shape(type.getShape());
  shape.erase(shape.begin() + batch + 1);
  shape[batch] = heads;
  return e.make<ReshapeOp>(RankedTensorType::get(shape, type.getElementType()), value,
                           e.dynamicSizes(value));
}

/// A product in the type that is accumulated in.
Value AttentionSteps::product(Value lhs, Value rhs, bool transposeA, bool transposeB) {
  Value narrow = e.make<MatMulOp>(lhs, rhs, transposeA, transposeB, /*allowTf32=*/false);
  RankedTensorType type = typeOf(narrow);
  Type element = type.getElementType();
  if (!element.isF16() && !element.isBF16())
    return narrow;
  narrow.setType(type.clone(Float32Type::get(element.getContext())));
  return narrow;
}

/// i1 [Q, K]: which keys a query sees.
Value AttentionSteps::buildCausalMask() {
  OpBuilder &builder = e.getBuilder();
  SizeBuilder sizes(builder, location);
  auto positions = [&](Value like, bool isColumn) {
    int64_t dim = batch + 1, size = typeOf(like).getDimSize(dim);
    SmallVector<int64_t> shape =
        isColumn ? SmallVector<int64_t>{size, 1} : SmallVector<int64_t>{size};
    Values dynamic;
    if (ShapedType::isDynamic(size))
      dynamic.push_back(sizes.value(sizes.size(like, dim)));
    return e.make<IotaOp>(RankedTensorType::get(shape, builder.getI64Type()), dynamic, /*axis=*/0);
  };
  Value query = positions(in.query, /*isColumn=*/true);
  Value key = positions(in.key, /*isColumn=*/false);
  Value offset;
  if (in.offset) {
    offset = e.convert(in.offset, builder.getI64Type());
  } else {
    // Data, since sizes are not negative: there may be fewer keys than queries.
    Type element = builder.getI64Type();
    int64_t queries = typeOf(in.query).getDimSize(batch + 1);
    offset = ShapedType::isDynamic(queries) ? e.sub(e.sizeLess(in.key, batch + 1, 0, element),
                                                    e.sizeLess(in.query, batch + 1, 0, element))
                                            : e.sizeLess(in.key, batch + 1, queries, element);
  }
  Value latest = e.add(query, offset);
  Value isSeen = e.compare(CompareDirection::Le, key, latest);
  if (in.firstKey)
    isSeen = e.make<AndOp>(isSeen, e.compare(CompareDirection::Ge, key, in.firstKey));
  if (!in.window)
    return isSeen;
  Value outside = e.sub(latest, e.integer(*in.window, builder.getI64Type()));
  return e.make<AndOp>(isSeen, e.compare(CompareDirection::Gt, key, outside));
}

Value AttentionSteps::buildSinkScores(Type element) {
  Value sinks = e.convert(in.sinks, element);
  return split(
      e.make<ReshapeOp>(RankedTensorType::get({heads, 1, 1}, element), sinks, ValueRange()));
}

Value AttentionSteps::buildScores() {
  Value scores = product(split(in.query), share(in.key), false, true);
  if (in.softcap) {
    capped = e.make<TanhOp>(e.mul(scores, in.scale / *in.softcap));
    scores = e.mul(capped, *in.softcap);
  } else {
    scores = e.mul(scores, in.scale);
  }
  Value lowest = e.scalar(-std::numeric_limits<double>::infinity(), scores);
  if (Value mask = in.mask) {
    bool hides = typeOf(mask).getElementType().isInteger(1);
    mask = split(mask);
    scores = hides ? e.select(mask, scores, lowest)
                   : e.add(scores, e.convert(mask, typeOf(scores).getElementType()));
  }
  if (in.isCausal)
    scores = e.select(buildCausalMask(), scores, lowest);
  return scores;
}

Value AttentionSteps::flowToProducts(Value toScores) {
  if (capped)
    toScores = e.mul(toScores, e.sub(e.scalar(1, capped), e.mul(capped, capped)));
  return e.mul(toScores, in.scale);
}

AttentionSteps::Weights AttentionSteps::buildWeights() {
  Value scores = buildScores();
  Value lowest = e.scalar(-std::numeric_limits<double>::infinity(), scores);
  int64_t axis = typeOf(scores).getRank() - 1;
  Value maximum = e.reduce(ReduceKind::Max, scores, axis), sink;
  if (in.sinks) {
    sink = buildSinkScores(typeOf(scores).getElementType());
    maximum = e.make<MaxOp>(maximum, sink);
  }
  // Where no key is seen: an infinity must not be subtracted from itself.
  Value isNone = e.compare(CompareDirection::Eq, maximum, lowest);
  maximum = e.select(isNone, e.scalar(0, scores), maximum);
  Value weights = e.make<ExpOp>(e.sub(scores, maximum));
  Value sums = e.reduce(ReduceKind::Sum, weights, axis);
  if (sink) {
    sink = e.make<ExpOp>(e.sub(sink, maximum));
    sums = e.add(sums, sink);
  }
  return {weights, maximum, sink, sums};
}

SmallVector<Value> AttentionSteps::buildResults() {
  Weights weights = buildWeights();
  Type element = in.getQueryType().getElementType();
  Value narrow = e.convert(weights.exponentials, element);
  Value result = product(narrow, share(in.value), false, false);
  result = merge(e.div(result, makeDivisor(weights.sums)));
  Values results = {e.convert(result, element)};
  if (in.hasLogsumexp) {
    Value logarithm = merge(e.add(e.make<LogOp>(weights.sums), weights.maximum));
    results.push_back(e.make<SqueezeOp>(logarithm, typeOf(logarithm).getRank() - 1));
  }
  return results;
}

} // namespace xc::array
