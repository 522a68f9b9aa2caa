//===- Clamps.h - Minima and maxima as formulas -----------------*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Affine expressions have no maximum, but the floor of a difference of sizes by more than all of
// them is 0, or -1 where the difference is negative. So `e`, or 0 where `e` is negative, is
//
//   e * ((-e floordiv 2^62) * -1)
//
// Here such clamps are made, kept from nesting, and found again by those that want to know what
// follows for the value.
//
// A clamp names what it clamps twice. A clamp of a clamp beside which there are only constants is
// one clamp; of what else is long, SymbolicDims clamps the symbol.
//
//===----------------------------------------------------------------------===//

#ifndef XC_DIALECT_PLAN_TRANSFORMS_CLAMPS_H
#define XC_DIALECT_PLAN_TRANSFORMS_CLAMPS_H

#include "mlir/IR/AffineExpr.h"

#include <optional>

namespace xc::plan {

/// `expr`, or 0 where that is negative.
mlir::AffineExpr makeClamp(mlir::AffineExpr expr);

/// What `clamp` is unless that is negative; none where `clamp` has not the form of a clamp.
std::optional<mlir::AffineExpr> getClamped(mlir::AffineExpr clamp);

} // namespace xc::plan

#endif // XC_DIALECT_PLAN_TRANSFORMS_CLAMPS_H
