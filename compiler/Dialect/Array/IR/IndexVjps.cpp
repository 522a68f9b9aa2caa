//===- IndexVjps.cpp - Gradients of gather and scatter -===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Array/IR/ExpressionBuilder.h"
#include "compiler/Dialect/Array/IR/TensorTypes.h"

using namespace mlir;

namespace xc::array {

using Values = SmallVector<Value>;

/// The sizes of dims `axes` of `operand`, each less `distance`, as a vector of i64.
static Value sizesAlong(ExpressionBuilder &e, Value operand, ArrayRef<int64_t> axes,
                        int64_t distance) {
  Type i64 = e.getBuilder().getI64Type();
  RankedTensorType type = typeOf(operand);
  if (llvm::none_of(axes, [&](int64_t axis) { return type.isDynamicDim(axis); })) {
    auto numbers =
        llvm::map_to_vector(axes, [&](int64_t axis) { return type.getDimSize(axis) - distance; });
    auto vector = RankedTensorType::get(static_cast<int64_t>(axes.size()), i64);
    return e.make<ConstantOp>(
        cast<ElementsAttr>(DenseElementsAttr::get(vector, ArrayRef(numbers))));
  }
  Values sizes = llvm::map_to_vector(axes, [&](int64_t axis) {
    Value size = e.sizeLess(operand, axis, distance, i64);
    return e.make<ExpandDimsOp>(size, int64_t(0));
  });
  return sizes.size() == 1 ? sizes.front() : e.make<ConcatenateOp>(sizes, uint64_t(0));
}

/// What `gather(operand[indices] axes)` sends back to `operand`. The gather
/// clamps its indices, which a scatter would skip.
static Value scatterBack(ExpressionBuilder &e, Value g, Value operand, Value indices,
                         ArrayRef<int64_t> axes) {
  Type i64 = e.getBuilder().getI64Type();
  indices = e.convert(indices, i64);
  Value clamped =
      e.make<ClampOp>(e.scalar(0, indices), indices, sizesAlong(e, operand, axes, /*distance=*/1));
  return e.make<ScatterOp>(ScatterKind::Add, e.zerosLike(operand), clamped, g, axes,
                           /*unique=*/false);
}

FailureOr<Values> GatherOp::buildVjp(OpBuilder &builder, ValueRange cotangents) {
  if (!isFloat(getResult()))
    return failure();
  ExpressionBuilder e(builder, getLoc());
  Value back = scatterBack(e, cotangents.front(), getOperand(), getIndices(), getAxes());
  return Values{e.finish(back, getOperand().getType()), Value()};
}

FailureOr<Values> TakeOp::buildVjp(OpBuilder &builder, ValueRange cotangents) {
  if (!isFloat(getResult()))
    return failure();
  ExpressionBuilder e(builder, getLoc());
  int64_t axis = getAxis(), indexRank = getIndices().getType().getRank();
  // Updates have the dims of the indices first.
  SmallVector<int64_t> permutation;
  for (int64_t dim = 0; dim < indexRank; ++dim)
    permutation.push_back(axis + dim);
  for (int64_t dim = 0; dim < getType().getRank(); ++dim)
    if (dim < axis || dim >= axis + indexRank)
      permutation.push_back(dim);
  Value g = e.make<TransposeOp>(cotangents.front(), permutation);
  Value vectors = e.make<ExpandDimsOp>(getIndices(), indexRank);
  Value back = scatterBack(e, g, getOperand(), vectors, axis);
  return Values{e.finish(back, getOperand().getType()), Value()};
}

/// True where the index vectors of a scatter lie in its operand, with dims of size 1 for the
/// window.
static Value isInside(ExpressionBuilder &e, ScatterOp op) {
  Value indices = op.getIndices();
  Value wide = e.convert(indices, IntegerType::get(op.getContext(), 64));
  Value limit = sizesAlong(e, op.getOperand(), op.getAxes(), /*distance=*/0);
  Value inside = e.make<AndOp>(e.compare(CompareDirection::Ge, wide, e.scalar(0, wide)),
                               e.compare(CompareDirection::Lt, wide, limit));
  int64_t last = typeOf(indices).getRank() - 1;
  inside = e.reduce(ReduceKind::And, inside, last, /*keepdims=*/false);
  SmallVector<int64_t> window;
  for (int64_t dim = last; dim < op.getUpdates().getType().getRank(); ++dim)
    window.push_back(dim);
  return window.empty() ? inside : e.make<ExpandDimsOp>(inside, window);
}

namespace {

/// What a scatter's gradient is made of: rows of the operand, in the place of updates, and back.
struct ScatterSteps {
  ScatterSteps(ScatterOp op, OpBuilder &builder)
      : op(op), e(builder, op.getLoc()), inside(isInside(e, op)) {}

  /// What each update's place in `tensor` holds; 0 for updates that are skipped.
  Value gather(Value tensor) {
    Value gathered = e.make<GatherOp>(tensor, op.getIndices(), op.getAxes());
    return e.select(inside, gathered, e.scalar(0, tensor));
  }
  /// `updates` scattered into `tensor`.
  Value scatter(ScatterKind kind, Value tensor, Value updates) {
    return e.make<ScatterOp>(kind, tensor, op.getIndices(), updates, op.getAxes(), op.getUnique());
  }
  Values finish(Value operand, Value updates) {
    return {e.finish(operand, op.getOperand().getType()), Value(),
            e.finish(updates, op.getUpdates().getType())};
  }

  ScatterOp op;
  ExpressionBuilder e;
  Value inside;
};

} // namespace

/// Of max or min: all that attain the extremum share its gradient evenly.
static Values buildExtremumVjp(ScatterOp op, OpBuilder &builder, Value g) {
  ScatterSteps steps(op, builder);
  ExpressionBuilder &e = steps.e;
  auto attains = [&](Value value, Value result) {
    return e.compare(CompareDirection::Eq, value, result);
  };
  Value ofOperand = attains(op.getOperand(), op.getResult());
  Value ofUpdates = attains(op.getUpdates(), steps.gather(op.getResult()));
  ofUpdates = e.make<AndOp>(ofUpdates, steps.inside);
  // Counted in a type that holds any count.
  Type count = e.getBuilder().getI64Type();
  Value shares =
      steps.scatter(ScatterKind::Add, e.convert(ofOperand, count), e.convert(ofUpdates, count));
  Value wide = e.widen(g);
  // Where NaN came out nothing attains it.
  Value some = e.make<MaxOp>(shares, e.scalar(1, shares));
  Value share = e.div(wide, e.convert(some, typeOf(wide).getElementType()));
  Value zero = e.scalar(0, wide);
  return steps.finish(e.select(ofOperand, share, zero),
                      e.select(ofUpdates, steps.gather(share), zero));
}

/// Of mul: everything gets the product of all others at its place. Products leave zeros among the
/// updates out: with one, only that update gets something, with more, none does.
static Values buildProductVjp(ScatterOp op, OpBuilder &builder, Value g) {
  ScatterSteps steps(op, builder);
  ExpressionBuilder &e = steps.e;
  Value operand = e.widen(op.getOperand()), updates = e.widen(op.getUpdates()), wide = e.widen(g);
  Value zero = e.scalar(0, wide), one = e.scalar(1, wide);
  Value isZero = e.compare(CompareDirection::Eq, updates, zero);
  Value others = e.select(isZero, one, updates);
  Value ones = e.add(e.zerosLike(operand), one);
  Value product = steps.scatter(ScatterKind::Mul, ones, others);
  Type count = builder.getI64Type();
  Value none = e.zerosLike(e.convert(operand, count));
  Value zeros = steps.scatter(ScatterKind::Add, none, e.convert(isZero, count));
  auto hasZeros = [&](Value counts, double number) {
    return e.compare(CompareDirection::Eq, counts, e.scalar(number, counts));
  };
  Value toOperand = e.select(hasZeros(zeros, 0), e.mul(wide, product), zero);
  Value slope = steps.gather(e.mul(e.mul(wide, operand), product));
  Value zerosThere = steps.gather(zeros);
  Value toUpdates = e.select(isZero, e.select(hasZeros(zerosThere, 1), slope, zero),
                             e.select(hasZeros(zerosThere, 0), e.div(slope, others), zero));
  return steps.finish(toOperand, toUpdates);
}

FailureOr<Values> ScatterOp::buildVjp(OpBuilder &builder, ValueRange cotangents) {
  // Of competing updates that replace only the last one counts: no gather tells which that is.
  if (!isFloat(getResult()) || (getKind() == ScatterKind::Set && !getUnique()))
    return failure();
  Value g = cotangents.front();
  switch (getKind()) {
  case ScatterKind::Max:
  case ScatterKind::Min:
    return buildExtremumVjp(*this, builder, g);
  case ScatterKind::Mul:
    return buildProductVjp(*this, builder, g);
  case ScatterKind::Add:
  case ScatterKind::Set:
    break;
  }
  ScatterSteps steps(*this, builder);
  Value updates = steps.gather(g);
  Value operand = getKind() == ScatterKind::Add
                      ? g
                      : steps.scatter(ScatterKind::Set, g, steps.e.zerosLike(getUpdates()));
  return steps.finish(operand, updates);
}

} // namespace xc::array
