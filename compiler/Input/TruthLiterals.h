//===- TruthLiterals.h - Truth values in hexadecimal literals ---*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Newer versions of MLIR than ours, which JAX has, print many truth values as `dense<"0x0001...">`
// with a byte for each. Ours has a bit for each.
//
//===----------------------------------------------------------------------===//

#ifndef XC_INPUT_TRUTHLITERALS_H
#define XC_INPUT_TRUTHLITERALS_H

#include "llvm/Support/MemoryBuffer.h"

#include <memory>

namespace xc {

/// `buffer`, or a copy of it where literals with a byte for each truth value have a bit for each.
/// All else stays at its line and column.
std::unique_ptr<llvm::MemoryBuffer> packTruthLiterals(std::unique_ptr<llvm::MemoryBuffer> buffer);

} // namespace xc

#endif // XC_INPUT_TRUTHLITERALS_H
