//===- CutSum.h - Sums of products as tensor cores make them ----*- C++ -*-===//
//
// Part of the xcompile project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each term of a sum (the products, and the addend) is cut off so many bits below the
// leading digit that the greatest term may have: the greatest sum of the operands'
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

/// Bits below the leading digit that stay, by the width of the operands' type.
inline unsigned cutFraction(Type factors) { return typeBits(factors) == 8 ? 13 : 25; }

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

/// Four columns. Said in so many words, since Clang vectorises no loop under a rounding mode.
using Columns = double __attribute__((vector_size(32)));
using ColumnBits = int64_t __attribute__((vector_size(32)));
constexpr unsigned kColumnsWide = 4;

inline Columns loadColumns(const double *from) {
  Columns to;
  std::memcpy(&to, from, sizeof(to));
  return to;
}
inline void storeColumns(double *to, Columns from) { std::memcpy(to, &from, sizeof(from)); }
inline Columns allColumns(double value) { return Columns{value, value, value, value}; }
inline Columns greater(Columns a, Columns b) {
  ColumnBits isGreater = a > b;
  return bitCast<Columns>((bitCast<ColumnBits>(a) & isGreater) |
                          (bitCast<ColumnBits>(b) & ~isGreater));
}

/// The powers of two of the leading digits of |count| values, a multiple of four: |least| of those
/// below it, 0 of 0.
inline void powersOf(const double *values, double least, double *powers, size_t count) {
  const ColumnBits exponent = ColumnBits{} + 0x7ff0000000000000;
  const Columns zero = {}, atLeast = allColumns(least);
  for (size_t i = 0; i < count; i += kColumnsWide) {
    Columns value = loadColumns(values + i);
    Columns power = greater(bitCast<Columns>(bitCast<ColumnBits>(value) & exponent), atLeast);
    ColumnBits isZero = value == zero;
    storeColumns(powers + i, bitCast<Columns>(bitCast<ColumnBits>(power) & ~isZero));
  }
}

/// A term without what is below the unit of |cut|, a constant that is great beside it.
inline Columns cutOff(Columns term, Columns cut) {
  const ColumnBits sign = ColumnBits{} + INT64_MIN;
  ColumnBits bits = bitCast<ColumnBits>(term);
  Columns rest = (bitCast<Columns>(bits & ~sign) + cut) - cut;
  return bitCast<Columns>((bitCast<ColumnBits>(rest) & ~sign) | (bits & sign));
}

/// Operands and the powers of their leading digits: element (k, i) is at k * pitch + i.
struct Factors {
  const double *values, *powers;
  size_t pitch;
};

/// cutSum() of |kWide| times four columns, the sums in registers.
template <unsigned kWide>
void cutSumBlock(const Factors &a, const Factors &b, double *c, double leastOfC, unsigned depth,
                 double scale) {
  Columns cut[kWide], sums[kWide];
  alignas(32) double powers[kWide * kColumnsWide];
  powersOf(c, leastOfC, powers, kWide * kColumnsWide);
  for (unsigned v = 0; v < kWide; ++v)
    cut[v] = loadColumns(powers + v * kColumnsWide);
  for (unsigned k = 0; k < depth; ++k) {
    Columns power = allColumns(a.powers[k * a.pitch]);
    const double *row = b.powers + k * b.pitch;
    for (unsigned v = 0; v < kWide; ++v)
      cut[v] = greater(power * loadColumns(row + v * kColumnsWide), cut[v]);
  }
  for (unsigned v = 0; v < kWide; ++v) {
    cut[v] *= allColumns(scale);
    sums[v] = cutOff(loadColumns(c + v * kColumnsWide), cut[v]);
  }
  for (unsigned k = 0; k < depth; ++k) {
    Columns factor = allColumns(a.values[k * a.pitch]);
    const double *row = b.values + k * b.pitch;
    for (unsigned v = 0; v < kWide; ++v)
      sums[v] += cutOff(factor * loadColumns(row + v * kColumnsWide), cut[v]);
  }
  for (unsigned j = 0; j < kWide * kColumnsWide; ++j) {
    double sum = sums[j / kColumnsWide][j % kColumnsWide];
    if (sum == sum) {
      c[j] = sum;
      continue;
    }
    // Infinities and NaN have no digits to cut.
    for (unsigned k = 0; k < depth; ++k)
      c[j] += a.values[k * a.pitch] * b.values[k * b.pitch + j];
  }
}

/// c[j] += sum over k of a(k, 0) * b(k, j), for j below |count|, a multiple of eight. A term that
/// a great constant is added to loses what is below the constant's unit.
inline void cutSum(const Factors &a, const Factors &b, double *c, double leastOfC, unsigned count,
                   unsigned depth, unsigned fraction) {
  double scale = std::ldexp(1.0, 52 - static_cast<int>(fraction));
  unsigned j = 0;
  for (; j + 16 <= count; j += 16)
    cutSumBlock<4>(a, {b.values + j, b.powers + j, b.pitch}, c + j, leastOfC, depth, scale);
  for (; j < count; j += 8)
    cutSumBlock<2>(a, {b.values + j, b.powers + j, b.pitch}, c + j, leastOfC, depth, scale);
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
