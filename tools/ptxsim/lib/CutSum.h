//===- CutSum.h - Sums of products as tensor cores make them ----*- C++ -*-===//
//
// Part of the xcompile project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each term of a sum (the products, and the addend) is cut off so many bits below the
// leading digit that the greatest term may have: the greatest sum of the factors'
// exponents, or the addend's exponent. Then the sum is exact, and is rounded once.
// This is documented nowhere; it is what an H200 does, bit for bit (see the forms "any
// exponent" of the vector suite).
//
//===----------------------------------------------------------------------===//

#ifndef PTXSIM_LIB_CUTSUM_H
#define PTXSIM_LIB_CUTSUM_H

#include "Exec.h"
#include "Narrow.h"

#include <cfenv>

namespace xc::ptxsim {

/// Bits below the leading digit that stay, by the width of the factors' type.
inline unsigned cutFraction(Type factors) { return typeBits(factors) == 8 ? 13 : 25; }

/// The power of two of a value's leading digit, |least| for those below; 0 of 0.
inline double powerOf(double value, double least) {
  double power = bitCast<double>(bitCast<uint64_t>(value) & 0x7ff0000000000000ull);
  return value == 0 ? 0 : power > least ? power : least;
}

/// The smallest normal number of a type.
inline double leastOf(Type type) {
  return type == Type::F16 || type == Type::E5M2 ? 0x1p-14 : type == Type::E4M3 ? 0x1p-6 : 0x1p-126;
}

/// Rounding towards zero, which cutSum() needs, for as long as this lives.
class RoundTowardsZero {
public:
  RoundTowardsZero() : before(std::fegetround()) { std::fesetround(FE_TOWARDZERO); }
  ~RoundTowardsZero() { std::fesetround(before); }
  RoundTowardsZero(const RoundTowardsZero &) = delete;
  RoundTowardsZero &operator=(const RoundTowardsZero &) = delete;

private:
  int before;
};

/// Factors and the powers of their leading digits: element (k, i) is at k * pitch + i.
struct Factors {
  const double *values, *powers;
  size_t pitch;
};

/// c[j] += sum over k of a(k, 0) * b(k, j), for j below |count|, at most kColumns (and
/// just so many if these are so few that the host's registers hold them). A term that a
/// great constant is added to loses what is below the constant's unit.
template <unsigned kColumns>
void cutSum(const Factors &a, const Factors &b, double *c, double leastOfC, unsigned count,
            unsigned depth, unsigned fraction) {
  const unsigned n = kColumns <= 8 ? kColumns : count;
  alignas(64) double cut[kColumns], sums[kColumns];
  for (unsigned j = 0; j < n; ++j)
    cut[j] = powerOf(c[j], leastOfC);
  for (unsigned k = 0; k < depth; ++k) {
    double power = a.powers[k * a.pitch];
    const double *powers = b.powers + k * b.pitch;
    PTXSIM_LANES
    for (unsigned j = 0; j < n; ++j)
      cut[j] = cut[j] > power * powers[j] ? cut[j] : power * powers[j];
  }
  double scale = std::ldexp(1.0, 52 - static_cast<int>(fraction));
  PTXSIM_LANES
  for (unsigned j = 0; j < n; ++j) {
    cut[j] *= scale;
    sums[j] = std::copysign((std::fabs(c[j]) + cut[j]) - cut[j], c[j]);
  }
  for (unsigned k = 0; k < depth; ++k) {
    double factor = a.values[k * a.pitch];
    const double *values = b.values + k * b.pitch;
    PTXSIM_LANES
    for (unsigned j = 0; j < n; ++j) {
      double term = factor * values[j];
      sums[j] += std::copysign((std::fabs(term) + cut[j]) - cut[j], term);
    }
  }
  for (unsigned j = 0; j < n; ++j) {
    if (sums[j] == sums[j]) {
      c[j] = sums[j];
      continue;
    }
    // Infinities and NaN have no digits to cut.
    for (unsigned k = 0; k < depth; ++k)
      c[j] += a.values[k * a.pitch] * b.values[k * b.pitch + j];
  }
}

/// The bits of a sum as a single, rounded towards zero; of products of bytes 14 bits of
/// the significand stay.
inline uint32_t encodeSum(double sum, Type factors) {
  if (sum != sum)
    return kF32Format.nan();
  if (std::fabs(sum) >= 0x1p128)
    return kF32Format.infinity() | (sum < 0 ? kF32Format.signBit() : 0);
  if (typeBits(factors) == 8)
    sum = bitCast<double>(bitCast<uint64_t>(sum) & ~0ull << (53 - 14));
  auto single = static_cast<float>(sum);
  uint32_t bits = bitCast<uint32_t>(single);
  return std::fabs(static_cast<double>(single)) > std::fabs(sum) ? bits - 1 : bits;
}

} // namespace xc::ptxsim

#endif // PTXSIM_LIB_CUTSUM_H
