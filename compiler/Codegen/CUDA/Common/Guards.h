//===- Guards.h - What variants of a kernel rely on -----------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_CODEGEN_CUDA_COMMON_GUARDS_H
#define XC_CODEGEN_CUDA_COMMON_GUARDS_H

#include "compiler/Codegen/CUDA/Common/KernelInfo.h"

namespace xc::cuda {

/// True if every element number of bindings and loops is known to fit narrow indices.
bool fitsNarrowIndices(const KernelInfo &kernel);

/// True if a guard could make vectors of what may not be a multiple of their width.
bool hasSymbolicWidths(const KernelInfo &kernel);

/// Makes `kernel` rely on guards: on element counts that fit narrow indices, and on scalars that
/// are innermost sizes and multiples of the vector width. False if there is nothing to guard, or
/// some count is no formula.
bool addGuards(const KernelInfo &kernel, bool guardCounts, bool guardWidths);

/// Makes `kernel`, which relies on guards, rely on `value` being from `min` to `max`, too.
void addRangeGuard(const KernelInfo &kernel, mlir::AffineExpr value, int64_t min, int64_t max);

/// Makes `kernel`, which relies on guards, rely on scalar `ordinal` being a multiple of `divisor`,
/// too.
void addDivisorGuard(const KernelInfo &kernel, unsigned ordinal, int64_t divisor);

/// The least and the largest value that the guards of `function` let `value`, a formula over its
/// scalars, have.
std::pair<int64_t, int64_t> getGuardedRange(mlir::func::FuncOp function, mlir::AffineExpr value);

/// The largest value that `value`, a size that `function` knows, can have by itself or by its
/// guards; nothing if neither says.
std::optional<int64_t> getLargestSize(mlir::func::FuncOp function, mlir::OpFoldResult value);

/// Adds guards that no binding is empty: of an empty tensor there is no description for copies.
void addNonEmptyGuards(const KernelInfo &kernel);

} // namespace xc::cuda

#endif // XC_CODEGEN_CUDA_COMMON_GUARDS_H
