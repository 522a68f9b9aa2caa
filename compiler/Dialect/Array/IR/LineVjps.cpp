//===- LineVjps.cpp - Gradients of scans, sorts and indexing along lines -===//
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

/// The position of each element of `like` along `axis`.
static Value positionsAlong(ExpressionBuilder &e, Value like, int64_t axis, Type element) {
  return e.make<IotaOp>(typeOf(like).clone(element), e.dynamicSizes(like), uint64_t(axis));
}

/// The sum of those elements of `g` that came from each place of `like`, by `indices` along
/// `axis`; those outside of it count nowhere.
static Value scatterAlongAxis(ExpressionBuilder &e, Value g, Value indices, Value like,
                              int64_t axis) {
  Type i64 = e.getBuilder().getI64Type();
  int64_t rank = typeOf(like).getRank();
  indices = e.convert(indices, i64);
  Values components;
  SmallVector<int64_t> axes;
  for (int64_t dim = 0; dim < rank; ++dim) {
    Value component = dim == axis ? indices : positionsAlong(e, indices, dim, i64);
    components.push_back(e.make<ExpandDimsOp>(component, rank));
    axes.push_back(dim);
  }
  Value vectors = rank == 1 ? components[0] : e.make<ConcatenateOp>(components, uint64_t(rank));
  return e.make<ScatterOp>(ScatterKind::Add, e.zerosLike(like), vectors, g, axes,
                           /*unique=*/false);
}

//===----------------------------------------------------------------------===//
// Scans
//===----------------------------------------------------------------------===//

FailureOr<Values> CumSumOp::buildVjp(OpBuilder &builder, ValueRange cotangents) {
  if (!isFloat(getResult()))
    return failure();
  ExpressionBuilder e(builder, getLoc());
  // An element counts in all sums that come after it, so these run backwards.
  Value sum = e.make<CumSumOp>(cotangents.front(), getAxis(), getExclusive(), !getReverse());
  return Values{e.finish(sum, getOperand().getType())};
}

FailureOr<Values> CumProdOp::buildVjp(OpBuilder &builder, ValueRange cotangents) {
  if (!isFloat(getResult()))
    return failure();
  ExpressionBuilder e(builder, getLoc());
  // A product changes with an element by the product of the others. Where that element is not 0 it
  // is the product divided by it; where it is, the product of what is not 0, provided that no other
  // element is. So products leave zeros out, and count them.
  Value x = e.widen(getOperand()), g = e.widen(cotangents.front());
  Value zero = e.scalar(0, x), one = e.scalar(1, x);
  Value isZero = e.compare(CompareDirection::Eq, x, zero);
  Value others = e.select(isZero, one, x);
  Value zeros = e.convert(isZero, builder.getI64Type());
  Value before = e.make<CumSumOp>(zeros, getAxis(), /*exclusive=*/true, getReverse());
  Value count = getExclusive() ? before : e.add(before, zeros);
  Value product = e.mul(g, e.make<CumProdOp>(others, getAxis(), getExclusive(), getReverse()));
  auto sumWhere = [&](int64_t wanted) {
    Value hit =
        e.compare(CompareDirection::Eq, count, e.scalar(static_cast<double>(wanted), count));
    return e.make<CumSumOp>(e.select(hit, product, zero), getAxis(), getExclusive(), !getReverse());
  };
  Value isFirst = e.compare(CompareDirection::Eq, before, e.scalar(0, before));
  Value atZero = e.select(isFirst, sumWhere(1), zero);
  return Values{
      e.finish(e.select(isZero, atZero, e.div(sumWhere(0), others)), getOperand().getType())};
}

/// The first element that attains the extremum so far gets what that gets.
template <typename OpTy>
static FailureOr<Values> runningExtremumVjp(OpTy op, OpBuilder &builder, Value g,
                                            CompareDirection exceeds) {
  if (!isFloat(op.getResult()))
    return failure();
  ExpressionBuilder e(builder, op.getLoc());
  Value x = op.getOperand();
  Type i64 = builder.getI64Type();
  uint64_t axis = op.getAxis();
  Value before = e.make<OpTy>(x, axis, /*exclusive=*/true, op.getReverse());
  Value isNew = e.compare(exceeds, x, before);
  Value positions = positionsAlong(e, x, axis, i64);
  // The latest position of a new extremum; the scan's first one where there was none. Without an
  // element before, an exclusive scan gives a position that is not in the line.
  Value origin = op.getReverse() ? e.lastIndex(x, axis, i64) : e.scalar(0, positions);
  Value candidates = e.select(isNew, positions, origin);
  Value where = op.getReverse()
                    ? e.make<CumMinOp>(candidates, axis, op.getExclusive(), /*reverse=*/true)
                    : e.make<CumMaxOp>(candidates, axis, op.getExclusive(), /*reverse=*/false);
  return Values{e.finish(scatterAlongAxis(e, g, where, x, axis), x.getType())};
}

FailureOr<Values> CumMaxOp::buildVjp(OpBuilder &builder, ValueRange cotangents) {
  return runningExtremumVjp(*this, builder, cotangents.front(), CompareDirection::Gt);
}

FailureOr<Values> CumMinOp::buildVjp(OpBuilder &builder, ValueRange cotangents) {
  return runningExtremumVjp(*this, builder, cotangents.front(), CompareDirection::Lt);
}

FailureOr<Values> LogCumSumExpOp::buildVjp(OpBuilder &builder, ValueRange cotangents) {
  ExpressionBuilder e(builder, getLoc());
  // The sum of g exp(x - y) over all y that x counts in: as a logarithm, so that nothing
  // overflows, the positive and the negative g each on its own.
  Value x = e.widen(getOperand()), y = e.widen(getResult()), g = e.widen(cotangents.front());
  Value zero = e.scalar(0, x);
  Value nothing = e.scalar(-std::numeric_limits<double>::infinity(), x);
  Value isEmpty = e.compare(CompareDirection::Eq, y, nothing);
  auto share = [&](Value part) {
    Value logs = e.sub(e.make<LogOp>(e.make<MaxOp>(part, zero)), y);
    Value sums = e.make<LogCumSumExpOp>(e.select(isEmpty, nothing, logs), getAxis(), getExclusive(),
                                        !getReverse());
    return e.make<ExpOp>(e.add(x, sums));
  };
  return Values{e.finish(e.sub(share(g), share(e.make<NegOp>(g))), getOperand().getType())};
}

//===----------------------------------------------------------------------===//
// Sorts
//===----------------------------------------------------------------------===//

/// Which place each element of `operand` has among those of its line, sorted.
static Value ranksAlong(ExpressionBuilder &e, Value operand, int64_t axis, bool descending) {
  RankedTensorType type = typeOf(operand);
  OpBuilder &builder = e.getBuilder();
  int64_t size = type.getDimSize(axis);
  bool fits = !ShapedType::isDynamic(size) && size <= std::numeric_limits<int32_t>::max();
  Type indices = type.clone(fits ? builder.getI32Type() : builder.getI64Type());
  Value order = e.make<ArgSortOp>(indices, operand, uint64_t(axis), descending);
  // The inverse of a permutation is what sorts it.
  return e.make<ArgSortOp>(indices, order, uint64_t(axis), /*descending=*/false);
}

FailureOr<Values> SortOp::buildVjp(OpBuilder &builder, ValueRange cotangents) {
  if (!isFloat(getResult()))
    return failure();
  ExpressionBuilder e(builder, getLoc());
  Value ranks = ranksAlong(e, getOperand(), getAxis(), getDescending());
  Value back = e.make<TakeAlongAxisOp>(cotangents.front(), ranks, getAxis());
  return Values{e.finish(back, getOperand().getType())};
}

FailureOr<Values> TopKOp::buildVjp(OpBuilder &builder, ValueRange cotangents) {
  if (!isFloat(getValues()))
    return failure();
  // Nothing flows through where the values came from.
  Value g = cotangents.front();
  if (!g)
    return Values{Value()};
  ExpressionBuilder e(builder, getLoc());
  if (getK() == 0)
    return Values{e.zerosLike(getOperand())};
  Value ranks = ranksAlong(e, getOperand(), getAxis(), !getSmallest());
  Value isChosen =
      e.compare(CompareDirection::Lt, ranks, e.scalar(static_cast<double>(getK()), ranks));
  // Indices beyond the last are clamped.
  Value taken = e.select(isChosen, e.make<TakeAlongAxisOp>(g, ranks, getAxis()), e.scalar(0, g));
  return Values{e.finish(taken, getOperand().getType())};
}

//===----------------------------------------------------------------------===//
// Indices
//===----------------------------------------------------------------------===//

FailureOr<Values> TakeAlongAxisOp::buildVjp(OpBuilder &builder, ValueRange cotangents) {
  if (!isFloat(getResult()))
    return failure();
  ExpressionBuilder e(builder, getLoc());
  RankedTensorType type = getOperand().getType();
  int64_t axis = getAxis();
  Value g = cotangents.front();
  Value indices = e.convert(getIndices(), builder.getI64Type());
  Value last = e.lastIndex(getOperand(), axis, builder.getI64Type());
  Value clamped = e.make<ClampOp>(e.scalar(0, indices), indices, last);
  if (typeOf(indices).getDimSize(axis) != 1)
    return Values{e.finish(scatterAlongAxis(e, g, clamped, getOperand(), axis), type), Value()};
  // One element per line, as in a loss over labels: a comparison finds it.
  Value positions = positionsAlong(e, getOperand(), axis, builder.getI64Type());
  Value hit = e.compare(CompareDirection::Eq, clamped, positions);
  return Values{e.finish(e.select(hit, g, e.scalar(0, g)), type), Value()};
}

} // namespace xc::array
