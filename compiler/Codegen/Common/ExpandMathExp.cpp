//===- ExpandMathExp.cpp - exp, exp2, expm1 and the hyperbolic functions --===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// All start from x = n ln(2) + r with |r| <= ln(2)/2 (Cody and Waite: ln(2) in
// two parts, the first short enough for n times it to be exact) and a
// polynomial for e^r - 1. 2^n is applied in two halves, so that results below
// the normal range are rounded once and overflow gives infinity.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/Common/MathBuilder.h"
#include "compiler/Codegen/Common/MathCoefficients.h"
#include "compiler/Codegen/Common/MathPieces.h"

using namespace mlir;

namespace xc::codegen {

namespace {
/// e^x = 2^n (1 + fraction), |fraction| < 0.42.
struct Reduced {
  MathBuilder::Rounded n;
  Value fraction;
};
} // namespace

static Value expFraction(MathBuilder &b, Value r) {
  Value tail = b.polynomial(r, b.pick(ArrayRef<double>(kExpF32), ArrayRef<double>(kExpF64)));
  return b.fma(b.mul(r, r), tail, r);
}

/// x must be clamped.
static Reduced reduce(MathBuilder &b, Value x) {
  MathBuilder::Rounded n = b.roundProduct(x, 1.4426950408889634);
  Value r = b.fma(n.value, b.constant(-b.pick(kLn2HeadF32, kLn2HeadF64)), x);
  r = b.fma(n.value, b.constant(-b.pick(kLn2TailF32, kLn2TailF64)), r);
  return {n, expFraction(b, r)};
}

/// 2^(n + adjust) (1 + fraction), for |n| up to twice the exponent range.
static Value scale(MathBuilder &b, Reduced reduced, int64_t adjust = 0) {
  Value half = b.roundProduct(reduced.n.value, 0.5).lowBits;
  Value rest = b.subInt(reduced.n.lowBits, half);
  if (adjust)
    rest = b.addInt(rest, b.integer(adjust));
  // Magic numbers cancel in `rest`, and shift out of `half`.
  Value result = b.add(b.constant(1.0), reduced.fraction);
  return b.mul(b.mul(result, b.exp2(half)), b.exp2(rest));
}

/// Beyond these, e^x is 0 or infinity, with room for e^x / 2.
static Value clampToRange(MathBuilder &b, Value x) {
  return b.clamp(x, b.pick(-105.0, -750.0), b.pick(100.0, 720.0));
}

/// e^x by the target's 2^x: x log2(e) = high + low, and 2^(high + low) = 2^high (1 + low ln(2)) as
/// closely as f32 can tell.
static Value expByExp2(MathBuilder &b, Value x) {
  constexpr double log2e = 1.4426950408889634, log2eTail = 1.9259629911266175e-8;
  if (b.options().fastMath)
    return b.exp2ByInstruction(b.mul(x, b.constant(log2e)), /*normal=*/true);
  // The upper bound is the first number whose power overflows. What is `low` there is positive:
  // added to infinity, a negative one would make NaN.
  x = b.clamp(x, -105.0, 0x1.62e43p+6);
  Value high = b.mul(x, b.constant(log2e));
  Value low = b.fma(x, b.constant(log2e), b.neg(high));
  low = b.fma(x, b.constant(log2eTail), low);
  Value power = b.exp2ByInstruction(high, /*normal=*/false);
  return b.fma(b.mul(power, b.constant(0.69314718055994531)), low, power);
}

Value expandExp(MathBuilder &b, Value x) {
  if (b.isF32() && b.options().hasExp2)
    return expByExp2(b, x);
  return scale(b, reduce(b, clampToRange(b, x)));
}

Value expandExp2(MathBuilder &b, Value x) {
  x = b.clamp(x, b.pick(-152.0, -1080.0), b.pick(130.0, 1030.0));
  MathBuilder::Rounded n = b.round(x);
  Value r = b.mul(b.sub(x, n.value), b.constant(0.69314718055994531));
  return scale(b, {n, expFraction(b, r)});
}

Value expandExpPair(MathBuilder &b, Pair x) {
  double bound = b.pick(110.0, 760.0);
  Value inRange = b.less(b.abs(x.hi), b.constant(bound));
  Value lo = b.select(inRange, x.lo, b.constant(0.0));
  Value hi = b.clamp(x.hi, -bound, bound);
  MathBuilder::Rounded n = b.roundProduct(hi, 1.4426950408889634);
  Value r = b.fma(n.value, b.constant(-b.pick(kLn2HeadF32, kLn2HeadF64)), hi);
  Value correction = b.fma(n.value, b.constant(-b.pick(kLn2TailF32, kLn2TailF64)), lo);
  return scale(b, {n, expFraction(b, b.add(r, correction))});
}

Value expandExpM1(MathBuilder &b, Value x) {
  // Below -40 the result is -1; above the upper bound it overflows, but 2^(n-1)
  // does not.
  Value clamped = b.clamp(x, -40.0, b.pick(88.9, 709.95));
  Reduced reduced = reduce(b, clamped);
  Value halfPower = b.exp2(b.subInt(reduced.n.lowBits, b.integer(1)));
  Value half = b.fma(halfPower, reduced.fraction, b.sub(halfPower, b.constant(0.5)));
  Value result = b.add(half, half);
  Value tiny = b.less(b.abs(x), b.constant(b.pick(0x1p-26, 0x1p-55)));
  return b.select(tiny, x, result);
}

Value expandSinh(MathBuilder &b, Value x) {
  Value magnitude = b.abs(x);
  Reduced reduced = reduce(b, clampToRange(b, magnitude));
  Value power = b.exp2(reduced.n.lowBits);
  Value m1 = b.fma(power, reduced.fraction, b.sub(power, b.constant(1.0)));
  Value quotient = b.quotient(m1, b.add(m1, b.constant(1.0)));
  Value small = b.mul(b.constant(0.5), b.add(m1, quotient));
  Value large = scale(b, reduced, /*adjust=*/-1);
  Value isSmall = b.less(magnitude, b.constant(b.pick(10.0, 22.0)));
  Value tiny = b.less(magnitude, b.constant(b.pick(0x1p-14, 0x1p-28)));
  return b.select(tiny, x, b.copysign(b.select(isSmall, small, large), x));
}

Value expandCosh(MathBuilder &b, Value x) {
  Value half = scale(b, reduce(b, clampToRange(b, b.abs(x))), /*adjust=*/-1);
  return b.add(half, b.roughQuotient(b.constant(0.25), half));
}

/// tanh(x) = 1 - 2 / (1 + e^(2 |x|)) by the target's 2^x, and near 0, where that cancels, an odd
/// polynomial. The argument is at most 14 where tanh is not 1, and what 2^x is wrong by counts for
/// less than half in the result.
static Value tanhByExp2(MathBuilder &b, Value x) {
  Value magnitude = b.abs(x), one = b.constant(1.0);
  Value power =
      b.exp2ByInstruction(b.mul(magnitude, b.constant(2 * 1.4426950408889634)), /*normal=*/true);
  Value large = b.sub(one, b.roughQuotient(b.constant(2.0), b.add(power, one)));
  Value square = b.mul(magnitude, magnitude);
  Value series = b.polynomial(square, kTanhF32);
  Value small = b.fma(b.mul(square, magnitude), series, magnitude);
  Value isSmall = b.less(magnitude, b.constant(0.55));
  return b.copysign(b.select(isSmall, small, large), x);
}

Value expandTanhOfLog1p(MathBuilder &b, Value x) {
  // ((1 + x)^2 - 1) / ((1 + x)^2 + 1). Beyond the bound it rounds to 1, and squares would overflow.
  double bound = b.pick(0x1p40, 0x1p300);
  Value inside = b.clamp(x, -bound, bound);
  Value numerator = b.fma(inside, inside, b.add(inside, inside));
  Value result = b.quotient(numerator, b.add(numerator, b.constant(2.0)));
  return b.select(b.less(x, b.constant(-1.0)), b.nan(), b.copysign(result, x));
}

Value expandTanh(MathBuilder &b, Value x) {
  if (b.isF32() && b.options().hasTanh && b.options().fastMath)
    return math::TanhOp::create(b.ops(), x, arith::FastMathFlags::afn);
  if (b.isF32() && b.options().hasExp2 && b.options().hasReciprocal)
    return tanhByExp2(b, x);
  Value magnitude = b.abs(x);
  // tanh rounds to 1 from here on.
  Value clamped = b.clamp(magnitude, 0.0, b.pick(10.0, 22.0));
  Reduced reduced = reduce(b, b.add(clamped, clamped));
  Value power = b.exp2(reduced.n.lowBits);
  Value m1 = b.fma(power, reduced.fraction, b.sub(power, b.constant(1.0)));
  Value result = b.copysign(b.div(m1, b.add(m1, b.constant(2.0))), x);
  Value tiny = b.less(magnitude, b.constant(b.pick(0x1p-14, 0x1p-28)));
  return b.select(tiny, x, result);
}

} // namespace xc::codegen
