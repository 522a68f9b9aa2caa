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

/// A number that sums and products of counts from a file make. It stays at its largest value where
/// they do not fit, so that a single check at the end sees every overflow on the way.
class CheckedCount {
public:
  CheckedCount() = default;
  explicit CheckedCount(uint64_t value) : value(value) {}

  CheckedCount &operator+=(uint64_t more) {
    if (addOverflows(value, more, &value))
      value = UINT64_MAX;
    return *this;
  }
  CheckedCount &operator+=(CheckedCount more) { return *this += more.value; }
  CheckedCount &operator*=(uint64_t factor) {
    if (multiplyOverflows(value, factor, &value))
      value = UINT64_MAX;
    return *this;
  }

  /// What the count is; UINT64_MAX where it does not fit.
  uint64_t get() const { return value; }
  /// False if the count is no 32-bit ordinal.
  bool to32(uint32_t *result) const {
    *result = static_cast<uint32_t>(value);
    return value < UINT32_MAX;
  }

private:
  uint64_t value = 0;
};

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
