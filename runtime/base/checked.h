//===- checked.h - Arithmetic that reports overflow ----------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_RUNTIME_BASE_CHECKED_H
#define XC_RUNTIME_BASE_CHECKED_H

#include <cstddef>
#include <cstdint>

namespace xc {

/// The arithmetic builtins return true on overflow; these names say so.
template <typename T> bool addOverflows(T a, T b, T *result) {
  return __builtin_add_overflow(a, b, result);
}
template <typename T> bool multiplyOverflows(T a, T b, T *result) {
  return __builtin_mul_overflow(a, b, result);
}

/// Whether [begin, begin + count) lies within [0, size).
inline bool rangeFits(uint64_t begin, uint64_t count, uint64_t size) {
  return begin <= size && count <= size - begin;
}

inline bool isPowerOfTwo(uint64_t value) { return value != 0 && (value & (value - 1)) == 0; }

/// \p alignment is a power of two; false if the result does not fit.
inline bool alignUp(uint64_t value, uint64_t alignment, uint64_t *result) {
  if (addOverflows<uint64_t>(value, alignment - 1, result))
    return false;
  *result &= ~(alignment - 1);
  return true;
}

/// Elements of a shape; false on overflow or a negative dim.
inline bool countElements(const int64_t *shape, size_t rank, uint64_t *result) {
  uint64_t count = 1;
  bool isEmpty = false, overflows = false;
  for (size_t i = 0; i < rank; ++i) {
    if (shape[i] < 0)
      return false;
    isEmpty |= shape[i] == 0;
    overflows |= multiplyOverflows(count, static_cast<uint64_t>(shape[i]), &count);
  }
  // A zero anywhere makes the whole shape empty, whatever the others are.
  *result = isEmpty ? 0 : count;
  return isEmpty || !overflows;
}

} // namespace xc

#endif // XC_RUNTIME_BASE_CHECKED_H
