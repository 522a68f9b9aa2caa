//===- NormVjps.cpp - Group norm in simpler ops; gradients of norms -===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All norms but the batch norm of inference are `z * scale + bias` with `z` normalised over some
// axes; with h = g * scale, their gradient is `inverse * (h - mean(h) - z * mean(h * z))`.
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Array/IR/ExpressionBuilder.h"
#include "compiler/Dialect/Array/IR/TensorTypes.h"

using namespace mlir;

namespace xc::array {

using Values = SmallVector<Value>;

/// The axes [begin, end).
static SmallVector<int64_t> range(int64_t begin, int64_t end) {
  return llvm::to_vector(llvm::seq(begin, end));
}

namespace {

/// A value normalised over some axes, and what its gradient needs again.
struct Normalized {
  Value z, inverse;
  SmallVector<int64_t> axes;
  bool centered;

  static Normalized build(ExpressionBuilder &e, Value x, ArrayRef<int64_t> axes, bool centered,
                          const APFloat &epsilon) {
    Value distance = centered ? e.sub(x, e.mean(x, axes)) : x;
    Value variance = e.mean(e.mul(distance, distance), axes);
    Value inverse = e.make<RsqrtOp>(e.add(variance, epsilon.convertToDouble()));
    return {e.mul(distance, inverse), inverse, llvm::to_vector(axes), centered};
  }

  /// The cotangent of what was normalised, from that of `z`.
  Value pullBack(ExpressionBuilder &e, Value h) const {
    Value along = e.mul(z, e.mean(e.mul(h, z), axes));
    Value rest = centered ? e.sub(h, e.mean(h, axes)) : h;
    return e.mul(inverse, e.sub(rest, along));
  }
};

} // namespace

//===----------------------------------------------------------------------===//
// Layer and RMS norm
//===----------------------------------------------------------------------===//

/// The cotangents of operand, scale and bias, those of operands that are there.
static Values buildTrailingVjp(ExpressionBuilder &e, Value operand, Value scale, Value bias,
                               int64_t axis, bool centered, const APFloat &epsilon,
                               Value cotangent) {
  Value x = e.widen(operand), g = e.widen(cotangent);
  Normalized normalized =
      Normalized::build(e, x, range(axis, typeOf(x).getRank()), centered, epsilon);
  Value h = scale ? e.mul(g, e.widen(scale)) : g;
  Values results = {e.finish(normalized.pullBack(e, h), operand.getType())};
  SmallVector<int64_t> leading = range(0, axis);
  auto sum = [&](Value value, Value like) {
    Value reduced = e.reduce(ReduceKind::Sum, value, leading, /*keepdims=*/false);
    results.push_back(e.finish(reduced, like.getType()));
  };
  if (scale)
    sum(e.mul(g, normalized.z), scale);
  if (bias)
    sum(g, bias);
  return results;
}

FailureOr<Values> LayerNormOp::buildVjp(OpBuilder &builder, ValueRange cotangents) {
  ExpressionBuilder e(builder, getLoc());
  return buildTrailingVjp(e, getOperand(), getScale(), getBias(), getAxis(), /*centered=*/true,
                          getEpsilon(), cotangents.front());
}

FailureOr<Values> RmsNormOp::buildVjp(OpBuilder &builder, ValueRange cotangents) {
  ExpressionBuilder e(builder, getLoc());
  return buildTrailingVjp(e, getOperand(), getScale(), /*bias=*/Value(), getAxis(),
                          /*centered=*/false, getEpsilon(), cotangents.front());
}

//===----------------------------------------------------------------------===//
// Batch norm
//===----------------------------------------------------------------------===//

FailureOr<Values> BatchNormInferenceOp::buildVjp(OpBuilder &builder, ValueRange cotangents) {
  ExpressionBuilder e(builder, getLoc());
  Value x = e.widen(getOperand()), g = e.widen(cotangents.front());
  SmallVector<int64_t> others = otherAxes(x, getAxis());
  auto spread = [&](Value vector) { return e.make<ExpandDimsOp>(e.widen(vector), others); };
  auto sum = [&](Value value) {
    return e.reduce(ReduceKind::Sum, value, others, /*keepdims=*/false);
  };
  Value scale = e.widen(getScale());
  Value inverse = e.make<RsqrtOp>(e.add(e.widen(getVariance()), getEpsilon().convertToDouble()));
  Value factor = e.mul(scale, inverse);
  Value distance = e.sub(x, spread(getMean()));
  Value total = sum(g), along = sum(e.mul(g, distance));
  Value toVariance = e.mul(e.mul(along, e.mul(factor, e.mul(inverse, inverse))), -0.5);
  return Values{e.finish(e.mul(g, spread(factor)), getOperand().getType()),
                e.finish(e.mul(along, inverse), getScale().getType()),
                e.finish(total, getBias().getType()),
                e.finish(e.make<NegOp>(e.mul(total, factor)), getMean().getType()),
                e.finish(toVariance, getVariance().getType())};
}

FailureOr<Values> BatchNormTrainingOp::buildVjp(OpBuilder &builder, ValueRange cotangents) {
  ExpressionBuilder e(builder, getLoc());
  Value x = e.widen(getOperand());
  SmallVector<int64_t> others = otherAxes(x, getAxis());
  auto spread = [&](Value vector) { return e.make<ExpandDimsOp>(e.widen(vector), others); };
  Value operand, scale, bias;
  auto accumulate = [&](Value &sum, Value term) { sum = sum ? e.add(sum, term) : term; };
  if (Value cotangent = cotangents[0]) {
    Value g = e.widen(cotangent);
    Normalized normalized = Normalized::build(e, x, others, /*centered=*/true, getEpsilon());
    auto sum = [&](Value value, Value like) {
      Value reduced = e.reduce(ReduceKind::Sum, value, others, /*keepdims=*/false);
      return e.finish(reduced, like.getType());
    };
    operand = normalized.pullBack(e, e.mul(g, spread(getScale())));
    scale = sum(e.mul(g, normalized.z), getScale());
    bias = sum(g, getBias());
  }
  // The statistics are results too: the mean moves with each element by 1 / count, the variance by
  // 2 (x - mean) / count.
  Value count = e.count(x, others);
  if (Value mean = cotangents[1])
    accumulate(operand, e.broadcastLike(e.div(spread(mean), count), x));
  if (Value variance = cotangents[2]) {
    Value distance = e.sub(x, e.mean(x, others));
    accumulate(operand, e.mul(e.mul(distance, 2), e.div(spread(variance), count)));
  }
  return Values{e.finish(operand, getOperand().getType()), scale, bias};
}

//===----------------------------------------------------------------------===//
// Group norm
//===----------------------------------------------------------------------===//

namespace {

/// The operand of a group norm with its features split into groups, and the features of one.
struct GroupedFeatures {
  GroupedFeatures(ExpressionBuilder &e, GroupNormOp op) : e(e), op(op), axis(op.getAxis()) {
    RankedTensorType type = op.getOperand().getType();
    groups = op.getGroups();
    SizeBuilder sizes(e.getBuilder(), op.getLoc());
    size = sizes.floorDiv(sizes.size(op.getOperand(), axis), sizes.constant(groups));
    for (int64_t dim = 1; dim <= type.getRank(); ++dim)
      if (dim != axis)
        axes.push_back(dim);
  }
  Value split(Value value) {
    SizeBuilder sizeBuilder(e.getBuilder(), op.getLoc());
    SmallVector<OpFoldResult> sizes = sizeBuilder.sizes(value);
    sizes[axis] = sizeBuilder.constant(groups);
    sizes.insert(sizes.begin() + axis + 1, size);
    return reshape(value, sizes);
  }
  Value merge(Value value, Type like) {
    auto type = cast<RankedTensorType>(like).clone(typeOf(value).getElementType());
    Value merged = e.make<ReshapeOp>(type, value, e.dynamicSizes(op.getOperand()));
    return e.finish(merged, like);
  }
  /// A vector over the features as a factor of what was split.
  Value spread(Value vector) {
    SizeBuilder sizeBuilder(e.getBuilder(), op.getLoc());
    SmallVector<OpFoldResult> sizes(op.getOperand().getType().getRank() + 1,
                                    sizeBuilder.constant(1));
    sizes[axis] = sizeBuilder.constant(groups);
    sizes[axis + 1] = size;
    return reshape(e.widen(vector), sizes);
  }
  Value reshape(Value value, ArrayRef<OpFoldResult> sizes) {
    SmallVector<int64_t> shape;
    Values dynamic;
    dispatchIndexOpFoldResults(sizes, dynamic, shape);
    return e.make<ReshapeOp>(RankedTensorType::get(shape, typeOf(value).getElementType()), value,
                             dynamic);
  }

  ExpressionBuilder &e;
  GroupNormOp op;
  int64_t axis, groups;
  OpFoldResult size;         // of a group
  SmallVector<int64_t> axes; // over which is normalised, of what was split
};

} // namespace

FailureOr<Values> GroupNormOp::decompose(OpBuilder &builder) {
  ExpressionBuilder e(builder, getLoc());
  GroupedFeatures features(e, *this);
  Value x = features.split(e.widen(getOperand()));
  Value z = Normalized::build(e, x, features.axes, /*centered=*/true, getEpsilon()).z;
  Value y = e.add(e.mul(z, features.spread(getScale())), features.spread(getBias()));
  return Values{features.merge(y, getType())};
}

FailureOr<Values> GroupNormOp::buildVjp(OpBuilder &builder, ValueRange cotangents) {
  ExpressionBuilder e(builder, getLoc());
  GroupedFeatures features(e, *this);
  Value x = features.split(e.widen(getOperand()));
  Value g = features.split(e.widen(cotangents.front()));
  Normalized normalized = Normalized::build(e, x, features.axes, /*centered=*/true, getEpsilon());
  Value operand = normalized.pullBack(e, e.mul(g, features.spread(getScale())));
  SmallVector<int64_t> others;
  for (int64_t dim = 0; dim < typeOf(x).getRank(); ++dim)
    if (dim != features.axis && dim != features.axis + 1)
      others.push_back(dim);
  auto sum = [&](Value value, Value like) {
    Value reduced = e.reduce(ReduceKind::Sum, value, others, /*keepdims=*/false);
    auto type = cast<RankedTensorType>(like.getType()).clone(typeOf(reduced).getElementType());
    Value vector = e.make<ReshapeOp>(type, reduced, ValueRange());
    return e.finish(vector, like.getType());
  };
  return Values{features.merge(operand, getOperand().getType()),
                sum(e.mul(g, normalized.z), getScale()), sum(g, getBias())};
}

} // namespace xc::array
