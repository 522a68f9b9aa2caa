//===- LinearAlgebra.cpp - Factorizations as loops of array ops -----------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Input/StableHLO/LinearAlgebra.h"

#include "compiler/Input/StableHLO/MatrixBuilder.h"
#include "compiler/Input/StableHLO/Repeat.h"

using namespace mlir;
using namespace xc::array;

namespace xc::stablehlo_import {

using Values = SmallVector<Value>;

Cholesky factorCholesky(ExpressionBuilder &e, Value matrix) {
  MatrixBuilder m(e);
  auto type = typeOf(matrix);
  Type number = e.getBuilder().getI32Type();
  // Column j is what columns before it leave of the matrix; those from j on are still zeros.
  Values results =
      repeat(e, type.getDimSize(2), {zeros(e, type), m.zerosOf({type.getDimSize(0)}, number)},
             [&](Value j, ValueRange carried) -> Values {
               Value factor = carried[0];
               Value known = m.sumOverColumns(e.mul(factor, m.row(factor, j)));
               Value left = e.sub(m.column(matrix, j), known);
               Value diagonal = m.element(left, j, m.number(0));
               Value isGood = e.compare(CompareDirection::Gt, diagonal, e.scalar(0, diagonal));
               Value column = e.div(left, e.make<SqrtOp>(diagonal));
               column = e.select(e.compare(CompareDirection::Ge, m.rowNumbers(left), j), column,
                                 e.scalar(0, column));
               return {m.setColumn(factor, j, column),
                       m.note(carried[1], e.make<LogicalNotOp>(isGood), j)};
             });
  return {results[0], results[1]};
}

Lu factorLu(ExpressionBuilder &e, Value matrix) {
  MatrixBuilder m(e);
  auto type = typeOf(matrix);
  int64_t batch = type.getDimSize(0), columns = type.getDimSize(2);
  int64_t count = std::min(type.getDimSize(1), columns);
  Type number = e.getBuilder().getI32Type();
  auto countType = RankedTensorType::get({batch, 1, 1}, number);
  Values results = repeat(
      e, count, {matrix, m.zerosOf({batch, count}, number), m.zerosOf({batch}, number)},
      [&](Value j, ValueRange carried) -> Values {
        Value whole = carried[0], column = m.column(whole, j), ownRow = m.row(whole, j);
        Value rows = m.rowNumbers(whole);
        Value size = e.select(e.compare(CompareDirection::Ge, rows, j), e.make<AbsOp>(column),
                              e.scalar(-1, column));
        Value pivot = e.make<ArgMaxOp>(countType, size, /*axis=*/uint64_t(1), /*keepdims=*/true);
        Value pivotRow = e.make<TakeAlongAxisOp>(
            whole, broadcastTo(e, pivot, {0, 1, 2}, {batch, 1, columns}), uint64_t(1));
        Value divisor = m.element(pivotRow, m.number(0), j);
        auto exchange = [&](Value value, Value own, Value other) {
          return e.select(e.compare(CompareDirection::Eq, rows, j), other,
                          e.select(e.compare(CompareDirection::Eq, rows, pivot), own, value));
        };
        Value isZero = e.compare(CompareDirection::Eq, divisor, e.scalar(0, divisor));
        Value factors = e.div(exchange(column, m.element(ownRow, m.number(0), j), divisor),
                              e.select(isZero, e.scalar(1, divisor), divisor));
        Value exchanged = exchange(whole, ownRow, pivotRow);
        Value numbers = m.columnNumbers(whole);
        Value rest = e.select(
            e.compare(CompareDirection::Gt, numbers, j), e.sub(exchanged, e.mul(factors, pivotRow)),
            e.select(e.compare(CompareDirection::Eq, numbers, j), factors, exchanged));
        return {e.select(e.compare(CompareDirection::Gt, rows, j), rest, exchanged),
                m.setElement(carried[1], j, e.add(pivot, m.number(1))),
                m.note(carried[2], isZero, j)};
      });
  return {results[0], results[1], results[2]};
}

Qr factorQr(ExpressionBuilder &e, Value matrix) {
  MatrixBuilder m(e);
  auto type = typeOf(matrix);
  int64_t count = std::min(type.getDimSize(1), type.getDimSize(2));
  Values results = repeat(
      e, count, {matrix, m.zerosOf({type.getDimSize(0), count}, type.getElementType())},
      [&](Value j, ValueRange carried) -> Values {
        Value whole = carried[0], column = m.column(whole, j), rows = m.rowNumbers(whole);
        auto [vector, tau, beta] = m.makeReflection(column, j);
        Value own = e.select(e.compare(CompareDirection::Gt, rows, j), vector,
                             e.select(e.compare(CompareDirection::Eq, rows, j), beta, column));
        Value numbers = m.columnNumbers(whole);
        Value next =
            e.select(e.compare(CompareDirection::Gt, numbers, j), m.reflect(whole, vector, tau),
                     e.select(e.compare(CompareDirection::Eq, numbers, j), own, whole));
        return {next, m.setElement(carried[1], j, tau)};
      });
  return {results[0], results[1]};
}

Hessenberg factorHessenberg(ExpressionBuilder &e, Value matrix) {
  MatrixBuilder m(e);
  auto type = typeOf(matrix);
  int64_t batch = type.getDimSize(0), count = type.getDimSize(1) - 1;
  Values results = repeat(
      e, count, {matrix, m.zerosOf({batch, count}, type.getElementType())},
      [&](Value j, ValueRange carried) -> Values {
        // Column j below row j + 1 becomes zero, by a reflection from both sides.
        Value whole = carried[0], column = m.column(whole, j), row = e.add(j, m.number(1));
        auto [vector, tau, beta] = m.makeReflection(column, row);
        Value turned = m.reflect(whole, vector, tau);
        Value right = reshapeTo(e, vector, {batch, 1, type.getDimSize(1)});
        Value products = e.mul(m.sumOverColumns(e.mul(turned, right)), tau);
        turned = e.sub(turned, e.mul(products, right));
        Value rows = m.rowNumbers(whole);
        Value own = e.select(e.compare(CompareDirection::Gt, rows, row), vector,
                             e.select(e.compare(CompareDirection::Eq, rows, row), beta, column));
        // Columns before this one hold vectors.
        Value numbers = m.columnNumbers(whole);
        Value next = e.select(e.compare(CompareDirection::Gt, numbers, j), turned,
                              e.select(e.compare(CompareDirection::Eq, numbers, j), own, whole));
        return {next, m.setElement(carried[1], j, tau)};
      });
  return {results[0], results[1]};
}

Value multiplyReflections(ExpressionBuilder &e, Value vectors, Value taus) {
  MatrixBuilder m(e);
  auto type = typeOf(vectors);
  int64_t batch = type.getDimSize(0), count = typeOf(taus).getDimSize(1);
  Value isDiagonal =
      e.compare(CompareDirection::Eq, m.rowNumbers(vectors), m.columnNumbers(vectors));
  Value identity =
      broadcastTo(e, e.convert(isDiagonal, type.getElementType()), {0, 1, 2}, type.getShape());
  Value list = reshapeTo(e, taus, {batch, 1, count});
  return repeat(e, count, {identity},
                [&](Value step, ValueRange carried) -> Values {
                  Value j = e.sub(m.number(count - 1), step);
                  return {m.reflect(carried[0], m.vector(m.column(vectors, j), j),
                                    m.element(list, m.number(0), j))};
                })
      .front();
}

Value toPermutation(ExpressionBuilder &e, Value pivots, int64_t size) {
  MatrixBuilder m(e);
  int64_t batch = typeOf(pivots).getDimSize(0), count = typeOf(pivots).getDimSize(1);
  Type number = e.getBuilder().getI32Type();
  Value list = reshapeTo(e, pivots, {batch, 1, count});
  Value inOrder = iota(e, {batch, 1, size}, number, 2);
  Value permutation =
      repeat(e, count, {inOrder}, [&](Value j, ValueRange carried) -> Values {
        Value order = carried[0], places = m.columnNumbers(order);
        Value other = m.element(list, m.number(0), j);
        Value ownValue = m.element(order, m.number(0), j);
        Value otherValue = e.make<TakeAlongAxisOp>(order, other, uint64_t(2));
        Value exchanged = e.select(e.compare(CompareDirection::Eq, places, other), ownValue, order);
        return {e.select(e.compare(CompareDirection::Eq, places, j), otherValue, exchanged)};
      }).front();
  return reshapeTo(e, permutation, {batch, size});
}

Value solveTriangular(ExpressionBuilder &e, Triangle how, Value triangle, Value right) {
  // X A = B is A^T X^T = B^T.
  if (!how.isLeft) {
    Triangle left{how.isLower, how.isUnit, !how.isTransposed, /*isLeft=*/true};
    Value solution = solveTriangular(e, left, triangle, transpose(e, right, {0, 2, 1}));
    return transpose(e, solution, {0, 2, 1});
  }
  bool isLower = how.isLower != how.isTransposed;
  if (how.isTransposed)
    triangle = transpose(e, triangle, {0, 2, 1});
  MatrixBuilder m(e);
  int64_t batch = typeOf(right).getDimSize(0), size = typeOf(right).getDimSize(1);
  return repeat(e, size, {zeros(e, typeOf(right))},
                [&](Value step, ValueRange carried) -> Values {
                  Value solution = carried[0];
                  Value i = isLower ? step : e.sub(m.number(size - 1), step);
                  Value row = m.row(triangle, i);
                  // What is not read may be no number.
                  CompareDirection isKnown = isLower ? CompareDirection::Lt : CompareDirection::Gt;
                  Value factors = e.select(e.compare(isKnown, m.columnNumbers(triangle), i), row,
                                           e.scalar(0, row));
                  factors = reshapeTo(e, factors, {batch, size, 1});
                  Value left = e.sub(m.row(right, i), m.sumOverRows(e.mul(factors, solution)));
                  if (!how.isUnit)
                    left = e.div(left, m.element(row, m.number(0), i));
                  return {m.setRow(solution, i, left)};
                })
      .front();
}

Value solveTridiagonal(ExpressionBuilder &e, const Tridiagonal &matrix, Value right) {
  MatrixBuilder m(e);
  int64_t batch = typeOf(right).getDimSize(0), n = typeOf(right).getDimSize(1),
          columns = typeOf(right).getDimSize(2);
  // A row of what is eliminated is [main, above, second above, right...].
  auto asColumn = [&](Value list) { return reshapeTo(e, list, {batch, n, 1}); };
  Value none = m.zerosOf({batch, n, 1}, elementOf(right));
  Value rows = e.make<ConcatenateOp>(
      ValueRange{asColumn(matrix.main), asColumn(matrix.above), none, right}, int64_t(2));
  Value below = asColumn(matrix.below);
  auto part = [&](Value value, int64_t first, int64_t limit) {
    return slice(e, value, {0, 0, first}, {batch, 1, limit}, {1, 1, 1});
  };
  Value zero = m.zerosOf({batch, 1, 1}, elementOf(right));
  // A row moved one column to the left: the equation begins with the next unknown.
  auto moveLeft = [&](Value row) {
    return e.make<ConcatenateOp>(ValueRange{part(row, 1, 3), zero, part(row, 3, 3 + columns)},
                                 int64_t(2));
  };
  auto moveRight = [&](Value row, Value first) {
    return e.make<ConcatenateOp>(ValueRange{first, part(row, 0, 2), part(row, 3, 3 + columns)},
                                 int64_t(2));
  };
  Values forward = repeat(
      e, n - 1, {rows, m.row(rows, m.number(0))}, [&](Value i, ValueRange carried) -> Values {
        Value next = e.add(i, m.number(1)), own = carried[1];
        Value other = moveRight(m.row(rows, next), m.row(below, next));
        Value isFirst = e.compare(CompareDirection::Ge, e.make<AbsOp>(part(own, 0, 1)),
                                  e.make<AbsOp>(part(other, 0, 1)));
        Value pivot = e.select(isFirst, own, other), rest = e.select(isFirst, other, own);
        Value factor = e.div(part(rest, 0, 1), part(pivot, 0, 1));
        return {m.setRow(carried[0], i, pivot), moveLeft(e.sub(rest, e.mul(factor, pivot)))};
      });
  Value upper = m.setRow(forward[0], m.number(n - 1), forward[1]);
  // Backwards, with the two unknowns behind.
  Value nothing = m.zerosOf({batch, 1, columns}, elementOf(right));
  return repeat(e, n, {zeros(e, typeOf(right)), nothing, nothing},
                [&](Value step, ValueRange carried) -> Values {
                  Value i = e.sub(m.number(n - 1), step), row = m.row(upper, i);
                  Value known =
                      e.add(e.mul(part(row, 1, 2), carried[1]), e.mul(part(row, 2, 3), carried[2]));
                  Value x = e.div(e.sub(part(row, 3, 3 + columns), known), part(row, 0, 1));
                  return {m.setRow(carried[0], i, x), x, carried[1]};
                })
      .front();
}

} // namespace xc::stablehlo_import
