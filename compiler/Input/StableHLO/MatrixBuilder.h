//===- MatrixBuilder.h - Rows, columns and elements at computed places -*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_INPUT_STABLEHLO_MATRIXBUILDER_H
#define XC_INPUT_STABLEHLO_MATRIXBUILDER_H

#include "compiler/Input/StableHLO/ImportStableHLO.h"

#include <tuple>

namespace xc::stablehlo_import {

/// Parts of [batch, rows, columns] at positions that are data.
class MatrixBuilder {
public:
  explicit MatrixBuilder(array::ExpressionBuilder &e) : e(e) {}

  mlir::Value number(int64_t value) { return e.integer(value, e.getBuilder().getI32Type()); }

  mlir::Value column(mlir::Value matrix, mlir::Value at) {
    llvm::ArrayRef<int64_t> shape = typeOf(matrix).getShape();
    return box(matrix, {shape[0], shape[1], 1}, {number(0), number(0), at});
  }
  mlir::Value row(mlir::Value matrix, mlir::Value at) {
    llvm::ArrayRef<int64_t> shape = typeOf(matrix).getShape();
    return box(matrix, {shape[0], 1, shape[2]}, {number(0), at, number(0)});
  }
  mlir::Value element(mlir::Value matrix, mlir::Value row, mlir::Value column) {
    return box(matrix, {typeOf(matrix).getDimSize(0), 1, 1}, {number(0), row, column});
  }
  mlir::Value setColumn(mlir::Value matrix, mlir::Value at, mlir::Value column) {
    return e.make<array::DynamicUpdateSliceOp>(
        matrix, column, llvm::SmallVector<mlir::Value>{number(0), number(0), at});
  }
  mlir::Value setRow(mlir::Value matrix, mlir::Value at, mlir::Value row) {
    return e.make<array::DynamicUpdateSliceOp>(
        matrix, row, llvm::SmallVector<mlir::Value>{number(0), at, number(0)});
  }
  /// `list` is [batch, size], `value` [batch, 1, 1].
  mlir::Value setElement(mlir::Value list, mlir::Value at, mlir::Value value) {
    return e.make<array::DynamicUpdateSliceOp>(list,
                                               reshapeTo(e, value, {typeOf(list).getDimSize(0), 1}),
                                               llvm::SmallVector<mlir::Value>{number(0), at});
  }

  mlir::Value rowNumbers(mlir::Value matrix) {
    return numbers({1, typeOf(matrix).getDimSize(1), 1}, 1);
  }
  mlir::Value columnNumbers(mlir::Value matrix) {
    return numbers({1, 1, typeOf(matrix).getDimSize(2)}, 2);
  }

  mlir::Value zerosOf(llvm::ArrayRef<int64_t> shape, mlir::Type type) {
    return zeros(e, mlir::RankedTensorType::get(shape, type));
  }
  mlir::Value sumOverRows(mlir::Value value) {
    return e.reduce(array::ReduceKind::Sum, value, {1});
  }
  mlir::Value sumOverColumns(mlir::Value value) {
    return e.reduce(array::ReduceKind::Sum, value, {2});
  }

  /// `info` is [batch]; a column's number from 1 where `isBad`, [batch, 1, 1], for the first time.
  mlir::Value note(mlir::Value info, mlir::Value isBad, mlir::Value column) {
    mlir::Value isFirst =
        e.make<array::AndOp>(reshapeTo(e, isBad, typeOf(info).getShape()),
                             e.compare(array::CompareDirection::Eq, info, number(0)));
    return e.select(isFirst, e.add(column, number(1)), info);
  }

  /// A reflection's vector of a column [batch, m, 1]: 0 before row `at`, 1 there, then the column.
  mlir::Value vector(mlir::Value column, mlir::Value at) {
    mlir::Value rows = rowNumbers(column);
    return e.select(e.compare(array::CompareDirection::Gt, rows, at), column,
                    e.select(e.compare(array::CompareDirection::Eq, rows, at), e.scalar(1, column),
                             e.scalar(0, column)));
  }
  /// The vector and factor of the reflection that makes a column zero below row `at`, and what is
  /// there then.
  std::tuple<mlir::Value, mlir::Value, mlir::Value> makeReflection(mlir::Value column,
                                                                   mlir::Value at) {
    mlir::Value rows = rowNumbers(column), zero = e.scalar(0, column), one = e.scalar(1, column);
    mlir::Value alpha = element(column, at, number(0));
    mlir::Value isBelow = e.compare(array::CompareDirection::Gt, rows, at);
    // Squares of what is divided by the largest size neither overflow nor vanish.
    mlir::Value sizes = e.select(e.compare(array::CompareDirection::Ge, rows, at),
                                 e.make<array::AbsOp>(column), zero);
    mlir::Value largest = e.reduce(array::ReduceKind::Max, sizes, {1});
    largest = e.select(e.compare(array::CompareDirection::Eq, largest, zero), one, largest);
    mlir::Value squares = sumOverRows(e.make<array::SquareOp>(e.div(sizes, largest)));
    mlir::Value norm = e.mul(e.make<array::SqrtOp>(squares), largest);
    mlir::Value below = e.reduce(array::ReduceKind::Max, e.select(isBelow, sizes, zero), {1});
    // There is nothing to reflect where all below is 0.
    mlir::Value isDone = e.compare(array::CompareDirection::Eq, below, zero);
    mlir::Value beta = e.select(e.compare(array::CompareDirection::Ge, alpha, zero),
                                e.make<array::NegOp>(norm), norm);
    mlir::Value tau = e.select(isDone, zero, e.div(e.sub(beta, alpha), beta));
    mlir::Value divisor = e.select(isDone, one, e.sub(alpha, beta));
    return {vector(e.div(column, divisor), at), tau, e.select(isDone, alpha, beta)};
  }
  /// `matrix - tau v (v^T matrix)`.
  mlir::Value reflect(mlir::Value matrix, mlir::Value vector, mlir::Value tau) {
    mlir::Value products = e.mul(sumOverRows(e.mul(vector, matrix)), tau);
    return e.sub(matrix, e.mul(vector, products));
  }

private:
  mlir::Value box(mlir::Value value, llvm::ArrayRef<int64_t> shape,
                  llvm::SmallVector<mlir::Value> starts) {
    return e.make<array::DynamicSliceOp>(typeOf(value).clone(shape), value, starts,
                                         mlir::ValueRange());
  }
  mlir::Value numbers(llvm::ArrayRef<int64_t> shape, int64_t axis) {
    return iota(e, shape, e.getBuilder().getI32Type(), axis);
  }

  array::ExpressionBuilder &e;
};

} // namespace xc::stablehlo_import

#endif // XC_INPUT_STABLEHLO_MATRIXBUILDER_H
