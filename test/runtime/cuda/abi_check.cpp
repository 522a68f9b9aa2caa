//===- abi_check.cpp - Compares cuda_abi.h with the toolkit's cuda.h ------===//
//
// Licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compiled only where cuda.h (12.9 or newer) is found; compiling it is the
// test. Here is the shape of every call that cuda_abi.h and
// driver_symbols.inl declare. abi_values.cpp has the value of every
// enumerator, abi_structures.cpp the size of every type and the offset of
// every field.
//
//===----------------------------------------------------------------------===//

#include "cuda_abi/cuda_abi.h"

#include <cuda.h>

#include <cstddef>
#include <type_traits>

namespace {

template <typename T>
constexpr bool isScalar = std::is_integral<T>::value || std::is_enum<T>::value;

/// Size of a type that may be incomplete, a function or void.
template <typename T, typename = void> struct SizeOf {
  static constexpr size_t value = 0;
};
template <typename T>
struct SizeOf<T, std::enable_if_t<std::is_object<T>::value && (sizeof(T) != 0)>> {
  static constexpr size_t value = sizeof(T);
};

/// Two types that are passed alike: scalars of one size, or pointers to types
/// of one size and constness.
template <typename Ours, typename Theirs> constexpr bool passedAlike() {
  if constexpr (std::is_pointer<Ours>::value && std::is_pointer<Theirs>::value) {
    using OurPointee = std::remove_pointer_t<Ours>;
    using TheirPointee = std::remove_pointer_t<Theirs>;
    return std::is_const<OurPointee>::value == std::is_const<TheirPointee>::value &&
           std::is_pointer<OurPointee>::value == std::is_pointer<TheirPointee>::value &&
           SizeOf<OurPointee>::value == SizeOf<TheirPointee>::value;
  } else {
    return isScalar<Ours> && isScalar<Theirs> && sizeof(Ours) == sizeof(Theirs);
  }
}

template <typename Ours, typename Theirs> struct SameShape : std::false_type {};
template <typename R1, typename... A1, typename R2, typename... A2>
struct SameShape<R1(A1...), R2(A2...)> {
  static constexpr bool check() {
    if constexpr (sizeof...(A1) == sizeof...(A2))
      return passedAlike<R1, R2>() && (passedAlike<A1, A2>() && ...);
    else
      return false;
  }
  static constexpr bool value = check();
};

} // namespace

namespace xc {
#define XCR_CUDA_SYMBOL(name, symbol, params)                                                      \
  static_assert(SameShape<CUresult params, decltype(::symbol)>::value, #symbol);
#include "driver_symbols.inl"
} // namespace xc

int main() { return 0; }
