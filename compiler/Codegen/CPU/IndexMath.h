//===- IndexMath.h - Indices and sizes of loops ----------------*- C++ -*--===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_CODEGEN_CPU_INDEXMATH_H
#define XC_CODEGEN_CPU_INDEXMATH_H

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace xc::cpu {

/// An index of `value`.
inline mlir::Value constant(mlir::OpBuilder &builder, mlir::Location loc, int64_t value) {
  return mlir::arith::ConstantIndexOp::create(builder, loc, value);
}

/// The product of two sizes, a number where both are.
inline mlir::OpFoldResult multiply(mlir::OpBuilder &builder, mlir::Location loc,
                                   mlir::OpFoldResult lhs, mlir::OpFoldResult rhs) {
  mlir::AffineExpr product = builder.getAffineSymbolExpr(0) * builder.getAffineSymbolExpr(1);
  return mlir::affine::makeComposedFoldedAffineApply(
      builder, loc, mlir::AffineMap::get(0, 2, product), {lhs, rhs});
}

/// `low` <= `index` < `low` + `size`.
inline mlir::Value isInside(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value index,
                            mlir::Value low, mlir::Value size) {
  mlir::Value shifted = builder.createOrFold<mlir::arith::SubIOp>(loc, index, low);
  // Unsigned: what is below `low` wraps to a large number.
  return mlir::arith::CmpIOp::create(builder, loc, mlir::arith::CmpIPredicate::ult, shifted, size);
}

} // namespace xc::cpu

#endif // XC_CODEGEN_CPU_INDEXMATH_H
