//===- SizeConditions.h - Truth values that sizes decide -*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A comparison of sizes as data (`array.from_index`) is known to the host when inputs are bound.
// As a formula over sizes it is 1 or 0, a constant where the ranges of sizes leave one only.
//
//===----------------------------------------------------------------------===//

#ifndef XC_CONVERSION_SIZECONDITIONS_H
#define XC_CONVERSION_SIZECONDITIONS_H

#include "mlir/IR/Builders.h"

namespace xc {

/// `condition`, a truth value of rank 0, as an index that is 0 or 1, made at `builder`; null where
/// something else than sizes and constants of 64 bits, or another op than sums, differences,
/// products, comparisons and logic, goes into it.
mlir::OpFoldResult buildSizeCondition(mlir::Value condition, mlir::OpBuilder &builder);

/// As that, but 0 only where sizes alone make `condition` false, and 1 elsewhere, of which
/// something else may decide: a conjunction is false where a part is. Integers of fewer bits count
/// where the sizes that make the condition false are numbers of theirs.
mlir::OpFoldResult buildSizeGuard(mlir::Value condition, mlir::OpBuilder &builder);

} // namespace xc

#endif // XC_CONVERSION_SIZECONDITIONS_H
