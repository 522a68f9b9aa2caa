//===- SupportedTypes.h - Types of elements that arrays may have -*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_INPUT_SUPPORTEDTYPES_H
#define XC_INPUT_SUPPORTEDTYPES_H

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/STLExtras.h"

namespace xc {

inline constexpr llvm::StringLiteral kSupportedElements =
    "i1, i8, i16, i32, i64, ui8, ui16, ui32, ui64, f16, bf16, f32 and f64";

inline bool isSupportedElement(mlir::Type type) {
  if (auto integer = mlir::dyn_cast<mlir::IntegerType>(type)) {
    if (integer.isSigned())
      return false;
    return integer.isSignlessInteger(1) ||
           llvm::is_contained({8u, 16u, 32u, 64u}, integer.getWidth());
  }
  return type.isF16() || type.isBF16() || type.isF32() || type.isF64();
}

} // namespace xc

#endif // XC_INPUT_SUPPORTEDTYPES_H
