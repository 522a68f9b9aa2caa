//===- Random.h - Repeatable operands of the vector suite -------*- C++ -*-===//
//
// Part of the xcompile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_TEST_PTXSIM_VECTORS_RANDOM_H
#define XC_TEST_PTXSIM_VECTORS_RANDOM_H

#include <cstddef>
#include <cstdint>

namespace xc::vectors {

/// A small generator with a fixed sequence on every host.
struct Random {
  uint64_t state;
  uint64_t next() {
    state += 0x9e3779b97f4a7c15ull;
    uint64_t z = state;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
  }
  /// Uniform in [-1, 1), with few bits, so that it is exact in narrow formats.
  double small() { return static_cast<double>(static_cast<int64_t>(next() >> 56) - 128) / 128.0; }
};

constexpr uint64_t kFnvSeed = 0xcbf29ce484222325ull;

inline uint64_t fnv(const void *data, size_t size, uint64_t hash = kFnvSeed) {
  const auto *bytes = static_cast<const uint8_t *>(data);
  for (size_t i = 0; i < size; ++i)
    hash = (hash ^ bytes[i]) * 0x100000001b3ull;
  return hash;
}

} // namespace xc::vectors

#endif // XC_TEST_PTXSIM_VECTORS_RANDOM_H
