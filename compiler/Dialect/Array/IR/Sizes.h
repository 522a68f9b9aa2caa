//===- Sizes.h - Arithmetic on sizes that are known -*- C++ -*-------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sizes, offsets, pads and strides come from programs, which may write any number of 64 bits. So
// sums and products of them are checked; scripts/lint.py (raw-size-products) sees that they are.
//
//===----------------------------------------------------------------------===//

#ifndef XC_DIALECT_ARRAY_IR_SIZES_H
#define XC_DIALECT_ARRAY_IR_SIZES_H

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/Support/CheckedArithmetic.h"

namespace xc::array {

/// The most that a stride, a dilation or a padding may be.
inline constexpr int64_t kMostAmount = int64_t(1) << 31;
/// No tensor has as many elements, and no dim as many places.
inline constexpr int64_t kMostElements = int64_t(1) << 48;

/// The sum of two numbers; nothing where one is dynamic or the sum does not fit into 63 bits.
inline std::optional<int64_t> addSizes(int64_t a, int64_t b) {
  if (mlir::ShapedType::isDynamic(a) || mlir::ShapedType::isDynamic(b))
    return std::nullopt;
  return llvm::checkedAdd(a, b);
}

/// The product of two numbers, likewise.
inline std::optional<int64_t> mulSizes(int64_t a, int64_t b) {
  if (mlir::ShapedType::isDynamic(a) || mlir::ShapedType::isDynamic(b))
    return std::nullopt;
  return llvm::checkedMul(a, b);
}

/// The product of all numbers, likewise.
inline std::optional<int64_t> mulSizes(llvm::ArrayRef<int64_t> sizes) {
  std::optional<int64_t> product = 1;
  for (int64_t size : sizes)
    product = product ? mulSizes(*product, size) : std::nullopt;
  return product;
}

} // namespace xc::array

#endif // XC_DIALECT_ARRAY_IR_SIZES_H
