//===- Alignment.h - Where tensors begin in memory --------------*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_DISPATCH_ALIGNMENT_H
#define XC_DISPATCH_ALIGNMENT_H

#include "compiler/Dialect/Plan/Transforms/SymbolicDims.h"

namespace xc::plan {

/// What the runtime guarantees for the address of every buffer it binds; views may have less.
inline constexpr int64_t kBufferAlignment = 16;

/// The largest power of two that divides `number`, which is above 0.
inline int64_t powerOfTwoIn(int64_t number) { return number & -number; }

/// Bytes that the tensor's address is surely a multiple of: it may be a view of a buffer, or what a
/// function captures of one.
int64_t getAlignment(mlir::Value tensor, SymbolicDims &dims);

/// True if rows of `tensor`, which may be a view or a part of another one, begin at multiples of
/// that many bytes of what is in memory, as far as slices with static offsets and sizes decide it.
bool hasAlignedRows(mlir::Value tensor);

} // namespace xc::plan

#endif // XC_DISPATCH_ALIGNMENT_H
