//===- NarrowFloats.h - f32 elements as bf16 or f16 -----------*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_DIALECT_ARRAY_TRANSFORMS_NARROWFLOATS_H
#define XC_DIALECT_ARRAY_TRANSFORMS_NARROWFLOATS_H

#include "mlir/Support/LLVM.h"

#include <cstdint>
#include <string>

namespace xc::array {

enum class NarrowType { BF16, F16 };

/// Rounds `wide`, elements of f32 of any alignment, to nearest, ties to even. A number that would
/// become infinite is a problem, which `problem` then names; the result is empty.
llvm::SmallVector<uint16_t, 0> narrowFloats(llvm::ArrayRef<char> wide, NarrowType type,
                                            std::string &problem);

} // namespace xc::array

#endif // XC_DIALECT_ARRAY_TRANSFORMS_NARROWFLOATS_H
