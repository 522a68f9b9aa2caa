//===- Reduction.cpp - Reductions of bulk copies --------------------------===//
//
// Part of the xcompile project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BulkCopy.h"
#include "Exec.h"
#include "Narrow.h"

#include <algorithm>

using namespace xc::ptxsim;

namespace {

/// Replaces what is at |at| by |combine| of it, in one step.
template <typename T, typename F> bool exchange(uint8_t *at, F combine) {
  auto *word = reinterpret_cast<T *>(at);
  T old = __atomic_load_n(word, __ATOMIC_SEQ_CST);
  while (!__atomic_compare_exchange_n(word, &old, combine(old), /*weak=*/true, __ATOMIC_SEQ_CST,
                                      __ATOMIC_SEQ_CST)) {
  }
  return true;
}

template <typename T> bool reduceInteger(Reduction reduction, uint8_t *at, const uint8_t *value) {
  T b;
  std::memcpy(&b, value, sizeof(b));
  return exchange<T>(at, [&](T a) -> T {
    switch (reduction) {
    case Reduction::Add:
      return static_cast<T>(static_cast<std::make_unsigned_t<T>>(a) +
                            static_cast<std::make_unsigned_t<T>>(b));
    case Reduction::Min:
      return std::min(a, b);
    case Reduction::Max:
      return std::max(a, b);
    case Reduction::Inc:
      return a >= b ? 0 : static_cast<T>(a + 1);
    case Reduction::Dec:
      return a == 0 || a > b ? b : static_cast<T>(a - 1);
    case Reduction::And:
      return a & b;
    case Reduction::Or:
      return a | b;
    case Reduction::Xor:
      return a ^ b;
    }
    return a;
  });
}

float flushed(float a) {
  uint32_t bits = bitCast<uint32_t>(a);
  return (bits & 0x7f800000u) == 0 ? bitCast<float>(bits & 0x80000000u) : a;
}

template <typename F> bool reduceHalf(Reduction reduction, uint8_t *at, const uint8_t *value) {
  uint16_t b;
  std::memcpy(&b, value, sizeof(b));
  return exchange<uint16_t>(at, [&](uint16_t a) {
    float x = F::decode(a), y = F::decode(b);
    if (reduction == Reduction::Add)
      return static_cast<uint16_t>(
          encodeFloat(addToOdd(static_cast<double>(x), static_cast<double>(y)), F::kFormat,
                      Rounding::NearestEven));
    if (x != x || y != y)
      return x != x && y != y ? static_cast<uint16_t>(F::kFormat.nan()) : x != x ? b : a;
    bool less = x < y || (x == y && (a & 0x8000));
    return less == (reduction == Reduction::Min) ? a : b;
  });
}

} // namespace

bool xc::ptxsim::reduceElement(Reduction reduction, Type type, uint8_t *at, const uint8_t *value) {
  bool bitwise = reduction >= Reduction::And;
  switch (type) {
  case Type::U32:
  case Type::B32:
    return reduceInteger<uint32_t>(reduction, at, value);
  case Type::S32:
    return reduceInteger<int32_t>(reduction, at, value);
  case Type::U64:
  case Type::B64:
    return reduceInteger<uint64_t>(reduction, at, value);
  case Type::S64:
    return reduceInteger<int64_t>(reduction, at, value);
  case Type::F16:
    return !bitwise && reduceHalf<HalfFormat>(reduction, at, value);
  case Type::BF16:
    return !bitwise && reduceHalf<BfloatFormat>(reduction, at, value);
  case Type::F32: {
    float b;
    std::memcpy(&b, value, sizeof(b));
    return reduction == Reduction::Add && exchange<uint32_t>(at, [&](uint32_t a) {
             float r = flushed(flushed(bitCast<float>(a)) + flushed(b));
             return r != r ? 0x7fffffffu : bitCast<uint32_t>(r);
           });
  }
  case Type::F64: {
    double b;
    std::memcpy(&b, value, sizeof(b));
    return reduction == Reduction::Add && exchange<uint64_t>(at, [&](uint64_t a) {
             return bitCast<uint64_t>(bitCast<double>(a) + b);
           });
  }
  default:
    return false;
  }
}
