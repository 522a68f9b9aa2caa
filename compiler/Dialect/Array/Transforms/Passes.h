//===- Passes.h - Passes over the array dialect -*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_DIALECT_ARRAY_TRANSFORMS_PASSES_H
#define XC_DIALECT_ARRAY_TRANSFORMS_PASSES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace xc::array {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "compiler/Dialect/Array/Transforms/Passes.h.inc"

/// Attention of fewer queries reads keys faster than tiles of queries could.
inline constexpr int64_t kFewQueries = 16;

/// What `Differentiate` calls the gradient of `function`.
std::string getGradientName(llvm::StringRef function);

/// Makes the passes known by name.
inline void registerPasses() { registerArrayPasses(); }

} // namespace xc::array

#endif // XC_DIALECT_ARRAY_TRANSFORMS_PASSES_H
