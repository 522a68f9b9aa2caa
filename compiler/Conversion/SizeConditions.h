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

#include "compiler/Dialect/Array/IR/ArrayOps.h"
#include "compiler/Dialect/Plan/Transforms/SymbolicDims.h"

#include "mlir/IR/Builders.h"

namespace xc {

/// `condition`, a truth value of rank 0, as a formula over the symbols of `dims` that is 0 or 1;
/// null where something else than sizes and constants of 64 bits, or another op than sums,
/// differences, products, comparisons and logic, goes into it. No op is made.
plan::FormulaAttr findSizeCondition(mlir::Value condition, plan::SymbolicDims &dims,
                                    array::RuntimeSizes &runtimeSizes);

/// Whether `loop` may have a first iteration, likewise: 0 only where sizes alone make its first
/// condition false, and 1 elsewhere, of which something else may decide. A conjunction is false
/// where a part is. Integers of fewer bits count where the sizes that make the condition false are
/// numbers of theirs. Null also where the condition has effects.
plan::FormulaAttr findSizeGuard(array::WhileOp loop, plan::SymbolicDims &dims,
                                array::RuntimeSizes &runtimeSizes);

/// Whether the loop fills arrays that have no elements yet, as those over the blocks of an
/// attention do. Such an array is no result, and there is an iteration for each of its elements.
bool fillsArrays(array::WhileOp loop);

} // namespace xc

#endif // XC_CONVERSION_SIZECONDITIONS_H
