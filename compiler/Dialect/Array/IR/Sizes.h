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
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <limits>

namespace xc::array {

/// The most that a stride, a dilation or a padding may be.
inline constexpr int64_t kMostAmount = int64_t(1) << 31;
/// No tensor has as many elements, and no dim is as long.
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

/// The product of those numbers that are known, none of them negative; the largest number where
/// that does not fit: for costs, and for sizes of types, which have at most kMostElements.
inline int64_t multiplyKnown(llvm::ArrayRef<int64_t> sizes) {
  uint64_t product = 1;
  for (int64_t size : sizes)
    if (!mlir::ShapedType::isDynamic(size))
      product = llvm::SaturatingMultiply(product, static_cast<uint64_t>(size));
  return static_cast<int64_t>(std::min<uint64_t>(product, std::numeric_limits<int64_t>::max()));
}

/// The elements from the first to the last of `size`, `step` apart: (size - 1) * step + 1. What
/// would not fit is a size that no type may have, to which paddings can still be added.
inline int64_t spreadKnown(int64_t size, int64_t step) {
  constexpr int64_t most = int64_t(1) << 62;
  if (size == 0)
    return 0;
  return std::min(mulSizes(size - 1, step).value_or(most), most - 1) + 1;
}

} // namespace xc::array

#endif // XC_DIALECT_ARRAY_IR_SIZES_H
