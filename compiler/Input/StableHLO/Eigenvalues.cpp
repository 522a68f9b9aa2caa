//===- Eigenvalues.cpp - Eigenvalues and singular values by rotations -----===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Jacobi's method, with all columns paired in each round: column i of the first half with column i
// of the second. A round rotates all pairs at once and then moves columns on, as players of a
// tournament: the first stays, the others go round. After a sweep of n - 1 rounds every pair has
// met and all columns are where they were.
//
//===----------------------------------------------------------------------===//

#include "compiler/Input/StableHLO/ImportStableHLO.h"
#include "compiler/Input/StableHLO/LinearAlgebra.h"
#include "compiler/Input/StableHLO/Repeat.h"

using namespace mlir;
using namespace xc::array;

namespace xc::stablehlo_import {

using Values = SmallVector<Value>;

/// Errors become their square in each sweep, once they are small; more than enough for matrices
/// that a loop is meant for.
static constexpr int64_t kSweepsDouble = 14, kSweepsSingle = 11;

/// How many rounds all sweeps over `size` columns have.
static int64_t countRounds(Value matrix, int64_t size) {
  int64_t sweeps = elementOf(matrix).isF64() ? kSweepsDouble : kSweepsSingle;
  return sweeps * (size - 1); // in range: `size` is that of a dim whose square is
}

namespace {

/// Rotations of pairs of columns, or rows, of [batch, rows, columns].
class Rotator {
public:
  Rotator(ExpressionBuilder &e, int64_t size) : e(e), half(size / 2) {}

  Value part(Value value, int64_t axis, int64_t first, int64_t limit) {
    ArrayRef<int64_t> shape = typeOf(value).getShape();
    SmallVector<int64_t> starts(shape.size(), 0), limits(shape), strides(shape.size(), 1);
    starts[axis] = first;
    limits[axis] = limit;
    return slice(e, value, starts, limits, strides);
  }
  Value top(Value value, int64_t axis) { return part(value, axis, 0, half); }
  Value bottom(Value value, int64_t axis) { return part(value, axis, half, 2 * half); }
  Value join(ValueRange parts, int64_t axis) {
    return parts.size() == 1 ? parts.front() : e.make<ConcatenateOp>(parts, axis);
  }

  /// Numbers for each pair, [batch, half], along dim `axis` of three.
  Value spread(Value numbers, int64_t axis) {
    SmallVector<int64_t> shape{typeOf(numbers).getDimSize(0), 1, 1};
    shape[axis] = half;
    return reshapeTo(e, numbers, shape);
  }

  /// The cosine and sine of each pair, [batch, half], which make `product` zero, where the matrix
  /// of a pair is [[first, product], [product, second]].
  std::pair<Value, Value> solve(Value first, Value second, Value product) {
    Value zero = e.scalar(0, product), one = e.scalar(1, product);
    Value isDone = e.compare(CompareDirection::Eq, product, zero);
    Value slope = e.div(e.sub(second, first), e.mul(e.select(isDone, one, product), 2.0));
    // 1 / (|slope| + sqrt(1 + slope^2)): slope^2 may be infinite.
    Value tangent =
        e.div(one, e.add(e.make<AbsOp>(slope), e.make<SqrtOp>(e.add(e.mul(slope, slope), 1.0))));
    Value isNegative = e.compare(CompareDirection::Lt, slope, zero);
    tangent = e.select(isNegative, e.make<NegOp>(tangent), tangent);
    tangent = e.select(isDone, zero, tangent);
    Value cosine = e.make<RsqrtOp>(e.add(e.mul(tangent, tangent), 1.0));
    return {cosine, e.mul(cosine, tangent)};
  }

  Value rotate(Value value, int64_t axis, Value cosine, Value sine) {
    Value c = spread(cosine, axis), s = spread(sine, axis);
    Value first = top(value, axis), second = bottom(value, axis);
    return moveOn(e.sub(e.mul(first, c), e.mul(second, s)),
                  e.add(e.mul(first, s), e.mul(second, c)), axis);
  }

private:
  /// The next round's halves: [f0 s0 f1 ...] and [s1 ... f(last)].
  Value moveOn(Value first, Value second, int64_t axis) {
    if (half == 1)
      return join({first, second}, axis);
    return join({part(first, axis, 0, 1), part(second, axis, 0, 1), part(first, axis, 1, half - 1),
                 part(second, axis, 1, half), part(first, axis, half - 1, half)},
                axis);
  }

  ExpressionBuilder &e;
  int64_t half;
};

} // namespace

static Value makeIdentity(ExpressionBuilder &e, ArrayRef<int64_t> shape, Type element) {
  Type number = e.getBuilder().getI32Type();
  Value isDiagonal = e.compare(CompareDirection::Eq, iota(e, {1, shape[1], 1}, number, 1),
                               iota(e, {1, 1, shape[2]}, number, 2));
  return broadcastTo(e, e.convert(isDiagonal, element), {0, 1, 2}, shape);
}

/// `value` with zeros behind up to `size` along the dims `axes`.
static Value padTo(ExpressionBuilder &e, Value value, ArrayRef<int64_t> axes, int64_t size) {
  SmallVector<int64_t> none(3, 0), after(3, 0);
  for (int64_t axis : axes)
    after[axis] = size - typeOf(value).getDimSize(axis);
  return padAndCut(e, value, e.scalar(0, value), none, after, none);
}

/// Columns of `matrix`, [batch, rows, n], in the order that `order`, [batch, n], says.
static Value orderColumns(ExpressionBuilder &e, Value matrix, Value order) {
  ArrayRef<int64_t> shape = typeOf(matrix).getShape();
  Value indices = broadcastTo(e, order, {0, 2}, shape);
  return e.make<TakeAlongAxisOp>(matrix, indices, uint64_t(2));
}

/// The diagonal of matrices, [batch, n].
static Value takeDiagonal(ExpressionBuilder &e, Value matrix) {
  auto type = typeOf(matrix);
  Value picked = e.mul(matrix, makeIdentity(e, type.getShape(), type.getElementType()));
  return e.reduce(ReduceKind::Sum, picked, {2}, /*keepdims=*/false);
}

Eigen factorSymmetric(ExpressionBuilder &e, Value matrix, bool isLower) {
  auto type = typeOf(matrix);
  int64_t batch = type.getDimSize(0), n = type.getDimSize(1),
          size = std::max<int64_t>(n + n % 2, 2);
  Type number = e.getBuilder().getI32Type();
  // The other triangle is not read.
  Value isRead = e.compare(isLower ? CompareDirection::Ge : CompareDirection::Le,
                           iota(e, {1, n, 1}, number, 1), iota(e, {1, 1, n}, number, 2));
  matrix = e.select(isRead, matrix, transpose(e, matrix, {0, 2, 1}));
  Value start = padTo(e, matrix, {1, 2}, size);
  Rotator r(e, size);
  // The diagonal of one of the four quarters.
  auto pairs = [&](Value value, bool isSecondRow, bool isSecondColumn) {
    Value rows = isSecondRow ? r.bottom(value, 1) : r.top(value, 1);
    return takeDiagonal(e, isSecondColumn ? r.bottom(rows, 2) : r.top(rows, 2));
  };
  Values results = repeat(e, countRounds(matrix, size),
                          {start, makeIdentity(e, {batch, size, size}, type.getElementType())},
                          [&](Value, ValueRange carried) -> Values {
                            Value current = carried[0];
                            auto [cosine, sine] =
                                r.solve(pairs(current, false, false), pairs(current, true, true),
                                        pairs(current, false, true));
                            current = r.rotate(r.rotate(current, 1, cosine, sine), 2, cosine, sine);
                            return {current, r.rotate(carried[1], 2, cosine, sine)};
                          });
  Value values = r.part(takeDiagonal(e, results[0]), 1, 0, n);
  Value vectors = r.part(r.part(results[1], 1, 0, n), 2, 0, n);
  Value order = e.make<ArgSortOp>(values, uint64_t(1), /*descending=*/false);
  return {orderColumns(e, vectors, order), e.make<TakeAlongAxisOp>(values, order, uint64_t(1))};
}

/// Signs of `value`, 1 where it is 0.
static Value signOf(ExpressionBuilder &e, Value value) {
  Value isNegative = e.compare(CompareDirection::Lt, value, e.scalar(0, value));
  return e.select(isNegative, e.scalar(-1, value), e.scalar(1, value));
}

/// `count` orthonormal columns, which begin with those of `columns`; what is zero there is chosen.
static Value completeColumns(ExpressionBuilder &e, Value columns, int64_t count) {
  auto type = typeOf(columns);
  int64_t n = type.getDimSize(2);
  Qr qr = factorQr(e, columns);
  Value product = multiplyReflections(e, padTo(e, qr.factors, {2}, std::max(n, count)), qr.taus);
  // R is diagonal, of 1 and -1.
  Value diagonal = takeDiagonal(e, Rotator(e, 2).part(qr.factors, 1, 0, n));
  Value signs = reshapeTo(e, signOf(e, diagonal), {type.getDimSize(0), 1, n});
  Value own = e.mul(Rotator(e, 2).part(product, 2, 0, n), signs);
  if (count <= n)
    return own;
  return e.make<ConcatenateOp>(ValueRange{own, Rotator(e, 2).part(product, 2, n, count)},
                               int64_t(2));
}

Singular factorSingular(ExpressionBuilder &e, Value matrix, bool isFull) {
  auto type = typeOf(matrix);
  int64_t batch = type.getDimSize(0), rows = type.getDimSize(1), n = type.getDimSize(2);
  if (rows < n) {
    Singular result = factorSingular(e, transpose(e, matrix, {0, 2, 1}), isFull);
    return {result.values, transpose(e, result.right, {0, 2, 1}),
            transpose(e, result.left, {0, 2, 1})};
  }
  int64_t size = std::max<int64_t>(n + n % 2, 2);
  // Squares of what is divided by the largest size neither overflow nor vanish.
  Value largest = e.reduce(ReduceKind::Max, e.make<AbsOp>(matrix), {1, 2});
  Value isZero = e.compare(CompareDirection::Eq, largest, e.scalar(0, largest));
  largest = e.select(isZero, e.scalar(1, largest), largest);
  Rotator r(e, size);
  auto sum = [&](Value lhs, Value rhs) {
    return e.reduce(ReduceKind::Sum, e.mul(lhs, rhs), {1}, /*keepdims=*/false);
  };
  // Rotations of columns until all are orthogonal to each other.
  Values results = repeat(
      e, countRounds(matrix, size),
      {padTo(e, e.div(matrix, largest), {2}, size),
       makeIdentity(e, {batch, size, size}, type.getElementType())},
      [&](Value, ValueRange carried) -> Values {
        Value first = r.top(carried[0], 2), second = r.bottom(carried[0], 2);
        auto [cosine, sine] = r.solve(sum(first, first), sum(second, second), sum(first, second));
        return {r.rotate(carried[0], 2, cosine, sine), r.rotate(carried[1], 2, cosine, sine)};
      });
  Value columns = r.part(results[0], 2, 0, n);
  Value right = r.part(r.part(results[1], 1, 0, n), 2, 0, n);
  Value values = e.make<SqrtOp>(sum(columns, columns));
  Value order = e.make<ArgSortOp>(values, uint64_t(1), /*descending=*/true);
  values = e.make<TakeAlongAxisOp>(values, order, uint64_t(1));
  columns = orderColumns(e, columns, order);
  right = orderColumns(e, right, order);
  // Columns that rounding left of zeros have no direction.
  Value sizes = reshapeTo(e, values, {batch, 1, n});
  double unit = type.getElementType().isF64() ? 0x1p-52 : 0x1p-23;
  Value least = e.mul(e.reduce(ReduceKind::Max, sizes, {2}), unit * static_cast<double>(n));
  Value isNothing = e.compare(CompareDirection::Le, sizes, least);
  Value left = e.select(isNothing, e.scalar(0, columns),
                        e.div(columns, e.select(isNothing, e.scalar(1, sizes), sizes)));
  left = completeColumns(e, left, isFull ? rows : n);
  return {e.mul(values, reshapeTo(e, largest, {batch, 1})), left, transpose(e, right, {0, 2, 1})};
}

} // namespace xc::stablehlo_import
