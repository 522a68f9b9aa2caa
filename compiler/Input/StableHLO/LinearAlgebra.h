//===- LinearAlgebra.h - Factorizations as loops of array ops ---*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each is one `array.while` over columns or rows, all matrices of a batch together. Matrices are
// values of shape [batch, rows, columns] with 32-bit or 64-bit floats, and have elements.
//
//===----------------------------------------------------------------------===//

#ifndef XC_INPUT_STABLEHLO_LINEARALGEBRA_H
#define XC_INPUT_STABLEHLO_LINEARALGEBRA_H

#include "compiler/Dialect/Array/IR/ExpressionBuilder.h"

namespace xc::stablehlo_import {

/// What a factorization gives besides its matrix; `info` is [batch] of i32: 0, or the number from 1
/// of the first column that stopped it, or could not be divided by.
struct Cholesky {
  mlir::Value factor, info;
};
/// L without its diagonal of ones below, U above; `pivots` are [batch, min(m, n)] of i32, from 1.
struct Lu {
  mlir::Value factors, pivots, info;
};
/// R and below it the reflections' vectors, without their ones; their factors [batch, min(m, n)].
struct Qr {
  mlir::Value factors, taus;
};

/// Vectors [batch, n, n] along columns, and values [batch, n], ascending.
struct Eigen {
  mlir::Value vectors, values;
};
/// Values [batch, min(m, n)], descending; vectors along columns of `left`, and along rows of
/// `right`.
struct Singular {
  mlir::Value values, left, right;
};
/// A matrix of Hessenberg's form and below it the reflections' vectors; their factors [batch, n -
/// 1].
struct Hessenberg {
  mlir::Value factors, taus;
};
/// Diagonals of a tridiagonal matrix, [batch, n]: below, on and above the main one. The first of
/// those below and the last of those above are not read.
struct Tridiagonal {
  mlir::Value below, main, above;
};

/// The lower factor, with zeros above it. The upper triangle is not read.
Cholesky factorCholesky(array::ExpressionBuilder &e, mlir::Value matrix);

/// With rows exchanged: the pivot is the first of the largest elements.
Lu factorLu(array::ExpressionBuilder &e, mlir::Value matrix);

/// Householder's reflections.
Qr factorQr(array::ExpressionBuilder &e, mlir::Value matrix);

/// The first columns of the product of reflections, as many as `vectors` has.
mlir::Value multiplyReflections(array::ExpressionBuilder &e, mlir::Value vectors, mlir::Value taus);

/// `pivots` are [batch, k], from 0; what they make of [0, ..., size - 1], one exchange after the
/// other.
mlir::Value toPermutation(array::ExpressionBuilder &e, mlir::Value pivots, int64_t size);

/// Of symmetric matrices, of which one triangle is read.
Eigen factorSymmetric(array::ExpressionBuilder &e, mlir::Value matrix, bool isLower);

/// With as many vectors as the matrix has rows and columns where `isFull`, else as it has values.
Singular factorSingular(array::ExpressionBuilder &e, mlir::Value matrix, bool isFull);

/// Of square matrices with two rows or more.
Hessenberg factorHessenberg(array::ExpressionBuilder &e, mlir::Value matrix);

/// X of `matrix X = right`, [batch, n, k], with rows exchanged.
mlir::Value solveTridiagonal(array::ExpressionBuilder &e, const Tridiagonal &matrix,
                             mlir::Value right);

/// How a triangular matrix stands in an equation.
struct Triangle {
  bool isLower, isUnit, isTransposed, isLeft;
};

/// X of `triangle X = right`, or of `X triangle = right` where it is not left. The other triangle
/// is not read.
mlir::Value solveTriangular(array::ExpressionBuilder &e, Triangle how, mlir::Value triangle,
                            mlir::Value right);

} // namespace xc::stablehlo_import

#endif // XC_INPUT_STABLEHLO_LINEARALGEBRA_H
