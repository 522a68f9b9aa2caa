//===- Narrow.h - Floating-point formats below 32 bits ----------*- C++ -*-===//
//
// Part of the xcompile project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Values of all narrow formats are exact in double. Results are computed in
// double, rounded to odd where that is inexact (so that the second rounding
// cannot err), and encoded with one rounding.
//
//===----------------------------------------------------------------------===//

#ifndef PTXSIM_LIB_NARROW_H
#define PTXSIM_LIB_NARROW_H

#include "ExecFloat.h"

#include <cmath>
#include <cstdint>
#include <cstring>

#if defined(__F16C__)
#include <immintrin.h>
#endif

namespace xc::ptxsim {

/// Sign, exponent and mantissa widths of an IEEE-like format.
struct FloatFormat {
  unsigned exponentBits, mantissaBits;
  uint32_t infinity() const { return ((1u << exponentBits) - 1) << mantissaBits; }
  uint32_t signBit() const { return 1u << (exponentBits + mantissaBits); }
  uint32_t nan() const { return signBit() - 1; }
};

constexpr FloatFormat kF16Format = {5, 10};
constexpr FloatFormat kBf16Format = {8, 7};
constexpr FloatFormat kTf32Format = {8, 10};
constexpr FloatFormat kF32Format = {8, 23};
constexpr FloatFormat kE5m2Format = {5, 2};
constexpr FloatFormat kE4m3Format = {4, 3}; // no infinities; all ones is NaN

/// Encodes |value| with one rounding. |saturate| replaces overflow and infinity
/// by the largest finite value.
inline uint32_t encodeFloat(double value, FloatFormat format, Rounding rounding,
                            bool saturate = false) {
  uint64_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  uint32_t sign = bits >> 63 ? format.signBit() : 0;
  bool negative = sign != 0;
  bool noInfinity = format.exponentBits == 4;
  // The first magnitude that is not a finite number.
  uint32_t limit = noInfinity ? 0x7f : format.infinity();
  if (value != value)
    return format.nan();
  int biased = static_cast<int>(bits >> 52 & 0x7ff);
  uint64_t mantissa = bits & 0xfffffffffffffull;
  if (biased == 0x7ff)
    return sign | (saturate ? limit - 1 : limit);
  if (biased)
    mantissa |= 1ull << 52;
  else
    biased = 1;
  int exponent = biased - 1023;
  int smallest = 2 - (1 << (format.exponentBits - 1));
  int below = exponent < smallest ? smallest - exponent : 0;
  int shift = 52 - static_cast<int>(format.mantissaBits) + below;
  if (shift > 60) {
    mantissa = mantissa != 0; // far below the smallest: only its being non-zero counts
    shift = 60;
  }
  uint64_t kept = mantissa >> shift, rest = mantissa & ((1ull << shift) - 1);
  uint64_t half = 1ull << (shift - 1);
  bool up = false;
  switch (rounding) {
  case Rounding::NearestEven:
    up = rest > half || (rest == half && (kept & 1));
    break;
  case Rounding::NearestAway:
    up = rest >= half;
    break;
  case Rounding::Up:
    up = rest && !negative;
    break;
  case Rounding::Down:
    up = rest && negative;
    break;
  case Rounding::Zero:
    break;
  }
  kept += up;
  int field = exponent > smallest ? exponent - smallest : 0;
  uint64_t result = (static_cast<uint64_t>(field) << format.mantissaBits) + kept;
  if (result < limit)
    return sign | static_cast<uint32_t>(result);
  bool toInfinity = rounding == Rounding::NearestEven || rounding == Rounding::NearestAway ||
                    (rounding == Rounding::Up && !negative) ||
                    (rounding == Rounding::Down && negative);
  return sign | (saturate || !toInfinity ? limit - 1 : limit);
}

inline double decodeFloat(uint32_t bits, FloatFormat format) {
  double sign = bits & format.signBit() ? -1.0 : 1.0;
  uint32_t magnitude = bits & (format.signBit() - 1);
  bool noInfinity = format.exponentBits == 4;
  if (noInfinity ? magnitude == 0x7f : magnitude > format.infinity())
    return NAN;
  if (!noInfinity && magnitude == format.infinity())
    return sign * INFINITY;
  int field = static_cast<int>(magnitude >> format.mantissaBits);
  uint32_t mantissa = magnitude & ((1u << format.mantissaBits) - 1);
  int smallest = 2 - (1 << (format.exponentBits - 1));
  if (field)
    mantissa |= 1u << format.mantissaBits;
  else
    field = 1;
  return sign * std::ldexp(static_cast<double>(mantissa),
                           field - 1 + smallest - static_cast<int>(format.mantissaBits));
}

/// f16 to float: exact, and faster than the general way.
#if defined(__F16C__)
inline float halfToFloat(uint16_t h) { return _cvtsh_ss(h); }
#else
inline float halfToFloat(uint16_t h) {
  uint32_t sign = static_cast<uint32_t>(h & 0x8000) << 16, magnitude = h & 0x7fff, bits;
  if (magnitude >= 0x7c00)
    bits = 0x7f800000u | (magnitude & 0x3ff) << 13;
  else if (magnitude >= 0x400)
    bits = (magnitude << 13) + 0x38000000u;
  else {
    float subnormal = static_cast<float>(magnitude) * 0x1p-24f;
    std::memcpy(&bits, &subnormal, sizeof(bits));
  }
  bits |= sign;
  float result;
  std::memcpy(&result, &bits, sizeof(result));
  return result;
}
#endif

inline float bfloatToFloat(uint16_t b) {
  uint32_t bits = static_cast<uint32_t>(b) << 16;
  float result;
  std::memcpy(&result, &bits, sizeof(result));
  return result;
}

/// |a| + |b| rounded to odd: if inexact, the last bit of the result is one.
inline double addToOdd(double a, double b) {
  double sum = a + b;
  double part = sum - a;
  double error = (a - (sum - part)) + (b - part);
  if (!(error != 0.0) || !std::isfinite(sum))
    return sum;
  uint64_t bits;
  std::memcpy(&bits, &sum, sizeof(bits));
  if (!(bits & 1))
    bits += (error > 0.0) == (sum > 0.0) ? 1 : -1;
  std::memcpy(&sum, &bits, sizeof(sum));
  return sum;
}

/// The two 16-bit formats, as policies of templates.
struct HalfFormat {
  static constexpr FloatFormat kFormat = kF16Format;
  static float decode(uint16_t bits) { return halfToFloat(bits); }
};
struct BfloatFormat {
  static constexpr FloatFormat kFormat = kBf16Format;
  static float decode(uint16_t bits) { return bfloatToFloat(bits); }
};

} // namespace xc::ptxsim

#endif // PTXSIM_LIB_NARROW_H
