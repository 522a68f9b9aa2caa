//===- ExpandMathInverseTrig.cpp - asin, acos, atan, atan2 ----------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/Common/MathBuilder.h"
#include "compiler/Codegen/Common/MathCoefficients.h"
#include "compiler/Codegen/Common/MathPieces.h"

using namespace mlir;

namespace xc::codegen {

namespace {
/// asin on the upper half is pi/2 - 2 asin(sqrt((1 - |x|) / 2)): what asin and
/// acos share.
struct AsinParts {
  Value isSmall; // |x| <= 1/2
  Value asin;    // asin(|x|) where small, else asin(sqrt((1 - |x|) / 2))
};
} // namespace

static AsinParts asinParts(MathBuilder &b, Value magnitude) {
  Value half = b.constant(0.5);
  Value isSmall = b.lessEqual(magnitude, half);
  // (1 - |x|) / 2 is exact.
  Value complement = b.mul(b.sub(b.constant(1.0), magnitude), half);
  Value z = b.select(isSmall, b.mul(magnitude, magnitude), complement);
  Value root = b.select(isSmall, magnitude, b.sqrt(complement));
  Value series = b.polynomial(z, b.pick(ArrayRef<double>(kAsinF32), ArrayRef<double>(kAsinF64)));
  return {isSmall, b.fma(b.mul(root, z), series, root)};
}

Value expandAsin(MathBuilder &b, Value x) {
  AsinParts parts = asinParts(b, b.abs(x));
  Pair halfPi = b.constantPair(kHalfPiHi, kHalfPiLo);
  Value twice = b.add(parts.asin, parts.asin);
  Value large = b.sub(halfPi.hi, b.sub(twice, halfPi.lo));
  return b.copysign(b.select(parts.isSmall, parts.asin, large), x);
}

Value expandAcos(MathBuilder &b, Value x) {
  AsinParts parts = asinParts(b, b.abs(x));
  Pair halfPi = b.constantPair(kHalfPiHi, kHalfPiLo);
  Value signedAsin = b.copysign(parts.asin, x);
  Value small = b.sub(halfPi.hi, b.sub(signedAsin, halfPi.lo));
  Value twice = b.add(parts.asin, parts.asin);
  Value two = b.constant(2.0);
  Value negative = b.sub(b.mul(halfPi.hi, two), b.sub(twice, b.mul(halfPi.lo, two)));
  Value large = b.select(b.less(x, b.constant(0.0)), negative, twice);
  return b.select(parts.isSmall, small, large);
}

/// atan(numerator / denominator) + offset for a quotient of at most tan(pi/8).
static Value atanOfQuotient(MathBuilder &b, Value numerator, Value denominator, Pair offset) {
  Value t = b.div(numerator, denominator);
  Value z = b.mul(t, t);
  Value series = b.polynomial(z, b.pick(ArrayRef<double>(kAtanF32), ArrayRef<double>(kAtanF64)));
  Value rest = b.fma(b.mul(t, z), series, offset.lo);
  return b.add(offset.hi, b.add(t, rest));
}

static constexpr double kTanPi8 = 0.41421356237309503;

Value expandAtan(MathBuilder &b, Value x) {
  // atan(x) = pi/4 + atan((x - 1) / (x + 1)) = pi/2 + atan(-1 / x).
  Value magnitude = b.abs(x);
  Value zero = b.constant(0.0), one = b.constant(1.0);
  Value isMedium = b.greater(magnitude, b.constant(kTanPi8));
  Value isLarge = b.greater(magnitude, b.constant(1.0 / kTanPi8));
  Value numerator = b.select(isMedium, b.sub(magnitude, one), magnitude);
  numerator = b.select(isLarge, b.constant(-1.0), numerator);
  Value denominator = b.select(isMedium, b.add(magnitude, one), one);
  denominator = b.select(isLarge, magnitude, denominator);
  Pair halfPi = b.constantPair(kHalfPiHi, kHalfPiLo),
       quarterPi = b.constantPair(kHalfPiHi / 2, kHalfPiLo / 2);
  Pair offset = {b.select(isLarge, halfPi.hi, b.select(isMedium, quarterPi.hi, zero)),
                 b.select(isLarge, halfPi.lo, b.select(isMedium, quarterPi.lo, zero))};
  return b.copysign(atanOfQuotient(b, numerator, denominator, offset), x);
}

Value expandAtan2(MathBuilder &b, Value y, Value x) {
  Value absX = b.abs(x), absY = b.abs(y);
  Value zero = b.constant(0.0);
  Value isSteep = b.greater(absY, absX);
  Value larger = b.select(isSteep, absY, absX), smaller = b.select(isSteep, absX, absY);
  // Keep the sum of both finite; a denormal that this loses is as good as zero beside such a
  // number. And keep the bound between the two intervals exact where both are denormal.
  Value isHuge = b.greater(larger, b.constant(b.maxFinite() / 4));
  Value isTiny = b.less(larger, b.constant(b.pick(0x1p-100, 0x1p-900)));
  Value scale = b.select(isTiny, b.constant(b.pick(0x1p50, 0x1p100)), b.constant(1.0));
  scale = b.select(isHuge, b.constant(0.25), scale);
  larger = b.mul(larger, scale);
  smaller = b.mul(smaller, scale);

  // Equal operands, infinity among them, give pi/4 exactly; 0 / 0 is 0 here.
  Value isZero = b.equal(larger, zero);
  Value isEqual = b.andInt(b.equal(smaller, larger), b.greater(larger, zero));
  Value isMedium = b.orInt(isEqual, b.greater(smaller, b.mul(larger, b.constant(kTanPi8))));
  Value numerator = b.select(isMedium, b.sub(smaller, larger), smaller);
  Value denominator = b.select(isMedium, b.add(smaller, larger), larger);
  numerator = b.select(isEqual, zero, numerator);
  denominator = b.select(isZero, b.constant(1.0), denominator);
  Pair quarterPi = b.constantPair(kHalfPiHi / 2, kHalfPiLo / 2);
  Pair offset = {b.select(isMedium, quarterPi.hi, zero), b.select(isMedium, quarterPi.lo, zero)};
  Value angle = atanOfQuotient(b, numerator, denominator, offset);

  Pair halfPi = b.constantPair(kHalfPiHi, kHalfPiLo);
  angle = b.select(isSteep, b.sub(halfPi.hi, b.sub(angle, halfPi.lo)), angle);
  Value two = b.constant(2.0);
  Value reflected = b.sub(b.mul(halfPi.hi, two), b.sub(angle, b.mul(halfPi.lo, two)));
  Value xIsNegative =
      arith::CmpIOp::create(b.ops(), arith::CmpIPredicate::slt, b.bits(x), b.integer(0));
  angle = b.copysign(b.select(xIsNegative, reflected, angle), y);
  return b.select(b.compare(arith::CmpFPredicate::UNO, x, y), b.nan(), angle);
}

} // namespace xc::codegen
