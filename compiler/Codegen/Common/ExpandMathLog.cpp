//===- ExpandMathLog.cpp - Logarithms, inverse hyperbolic functions, pow --===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// x = 2^k (1 + f) with f around 0. log and log1p evaluate log(1 + f) in working
// precision, by a polynomial in f (f32) or in s = f / (2 + f) as fdlibm does
// (f64). log2, log10 and pow need more than the type holds and evaluate the
// series of 2 atanh(s) on pairs.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/Common/MathBuilder.h"
#include "compiler/Codegen/Common/MathCoefficients.h"
#include "compiler/Codegen/Common/MathPieces.h"

#include "mlir/IR/Matchers.h"
#include "llvm/ADT/bit.h"

#include <limits>

using namespace mlir;

namespace xc::codegen {

namespace {
/// x = 2^k (1 + f).
struct Split {
  Value k, f;
};
} // namespace

/// k, an integer, for normal x = 2^k m > 0 with m in [lowest, 2 lowest).
static Value exponentAbove(MathBuilder &b, Value x, double lowest) {
  int64_t lowestBits = b.isF32() ? int64_t(llvm::bit_cast<uint32_t>(static_cast<float>(lowest)))
                                 : llvm::bit_cast<int64_t>(lowest);
  // The bias keeps the difference positive.
  int64_t bias = int64_t(b.exponentBias()) << b.mantissaBits();
  Value biased = b.shiftRight(b.addInt(b.bits(x), b.integer(bias - lowestBits)), b.mantissaBits());
  return b.subInt(biased, b.integer(b.exponentBias()));
}

/// For finite x > 0; 1 + f is in [lowest, 2 lowest).
static Split splitExponent(MathBuilder &b, Value x, double lowest) {
  Value denormal = b.less(x, b.constant(b.minNormal()));
  double scale = b.pick(0x1p25, 0x1p54);
  x = b.select(denormal, b.mul(x, b.constant(scale)), x);
  Value exponent = exponentAbove(b, x, lowest);
  Value k = b.toFloat(exponent);
  k = b.sub(k, b.select(denormal, b.constant(b.pick(25.0, 54.0)), b.constant(0.0)));
  Value significand = b.fromBits(b.subInt(b.bits(x), b.shiftLeft(exponent, b.mantissaBits())));
  return {k, b.sub(significand, b.constant(1.0))};
}

static double lowestForLog(MathBuilder &b) { return b.pick(0.6666667, 0.70710678118654757); }

/// k ln(2) + log(1 + f) + low.
static Value logOfSplit(MathBuilder &b, Split split, Value low = {}) {
  Value f = split.f;
  Value head = b.mul(split.k, b.constant(b.pick(kLn2HeadF32, kLn2HeadF64)));
  Value tail = b.mul(split.k, b.constant(b.pick(kLn2TailF32, kLn2TailF64)));
  if (low)
    tail = b.add(tail, low);
  Value square = b.mul(f, f);
  Value halfSquare = b.mul(square, b.constant(0.5));
  if (b.isF32()) {
    Value series = b.polynomial(f, kLogF32);
    Value rest = b.fma(b.mul(square, f), series, b.sub(tail, halfSquare));
    return b.add(head, b.add(f, rest));
  }
  Value s = b.div(f, b.add(f, b.constant(2.0)));
  Value z = b.mul(s, s);
  Value series = b.mul(z, b.polynomial(z, kLogF64));
  Value rest = b.add(b.mul(s, b.add(halfSquare, series)), tail);
  return b.sub(head, b.sub(b.sub(halfSquare, rest), f));
}

/// `result` where x is positive and finite; the limits of a logarithm
/// elsewhere.
static Value withLogLimits(MathBuilder &b, Value x, Value result, double pole) {
  Value infinity = b.infinity();
  result = b.select(b.equal(x, infinity), infinity, result);
  Value atPole = b.constant(-std::numeric_limits<double>::infinity());
  Value poleValue = b.constant(pole);
  Value outside = b.select(b.equal(x, poleValue), atPole, b.nan());
  return b.select(b.greater(x, poleValue), result, outside);
}

Value expandLog(MathBuilder &b, Value x) {
  Value result = logOfSplit(b, splitExponent(b, x, lowestForLog(b)));
  return withLogLimits(b, x, result, 0.0);
}

Value expandLog1p(MathBuilder &b, Value x) {
  // 1 + x = 2^k (1 + f), where f is the sum of x 2^-k and 2^-k - 1; the exponent of 1 + x rounded
  // will do for k. 2^-k may be denormal, four times as much is not; x is normal unless k is 0.
  Value one = b.constant(1.0);
  Value exponent = exponentAbove(b, b.add(one, x), lowestForLog(b));
  Value shifted = b.shiftLeft(exponent, b.mantissaBits());
  Value scaled = b.fromBits(b.subInt(b.bits(x), shifted));
  Value fourth = b.fromBits(b.subInt(b.bits(b.constant(4.0)), shifted));
  // Where k is 1, most of the logarithm cancels: what the sum rounds off counts.
  Pair f = b.fastTwoSum(b.sub(b.mul(fourth, b.constant(0.25)), one), scaled);
  Value result = b.copysign(logOfSplit(b, {b.toFloat(exponent), f.hi}, f.lo), x);
  return withLogLimits(b, x, result, -1.0);
}

/// log(1 + f).
static Pair logPairOfFraction(MathBuilder &b, Value f) {
  Pair s = b.divPair(f, b.fastTwoSum(b.constant(2.0), f));
  Pair z = b.mulPair(s, s);
  Value series =
      b.polynomial(z.hi, b.pick(ArrayRef<double>(kLogPairF32), ArrayRef<double>(kLogPairF64)));
  Pair factor =
      b.addPair(b.constantPair(0.66666666666666663, 3.7007434154171886e-17), b.mul(z.hi, series));
  Pair rest = b.mulPair(b.mulPair(s, z), factor);
  return b.addPair({b.add(s.hi, s.hi), b.add(s.lo, s.lo)}, rest);
}

static Pair logPair(MathBuilder &b, Value x) {
  Split split = splitExponent(b, x, 0.70710678118654757);
  Pair ln2 = b.constantPair(0.69314718055994529, 2.3190468138462996e-17);
  return b.addPair(b.mulPair(ln2, split.k), logPairOfFraction(b, split.f));
}

Value expandLog2(MathBuilder &b, Value x) {
  Split split = splitExponent(b, x, 0.70710678118654757);
  Pair log2e = b.constantPair(1.4426950408889634, 2.0355273740931033e-17);
  Pair fraction = b.mulPair(logPairOfFraction(b, split.f), log2e);
  return withLogLimits(b, x, b.addPair(fraction, split.k).hi, 0.0);
}

Value expandLog10(MathBuilder &b, Value x) {
  Pair log10e = b.constantPair(0.43429448190325182, 1.0983196502167651e-17);
  return withLogLimits(b, x, b.mulPair(logPair(b, x), log10e).hi, 0.0);
}

Value expandAsinh(MathBuilder &b, Value x) {
  // log1p(x + x^2 / (1 + sqrt(1 + x^2))), or ln(2) + log(x) where the square
  // would overflow.
  Value magnitude = b.abs(x);
  Value one = b.constant(1.0);
  Value square = b.mul(magnitude, magnitude);
  Value root = b.sqrt(b.add(square, one));
  Value argument = b.add(magnitude, b.quotient(square, b.add(one, root)));
  Value isLarge = b.greater(magnitude, b.constant(b.pick(0x1p13, 0x1p28)));
  argument = b.select(isLarge, b.sub(magnitude, one), argument);
  Value offset = b.select(isLarge, b.constant(0.69314718055994531), b.constant(0.0));
  return b.copysign(b.add(expandLog1p(b, argument), offset), x);
}

Value expandAcosh(MathBuilder &b, Value x) {
  // log1p(t + sqrt(2t + t^2)) for t = x - 1.
  Value t = b.sub(x, b.constant(1.0));
  Value root = b.sqrt(b.mul(t, b.add(t, b.constant(2.0))));
  Value isLarge = b.greater(x, b.constant(b.pick(0x1p13, 0x1p28)));
  Value argument = b.select(isLarge, t, b.add(t, root));
  Value offset = b.select(isLarge, b.constant(0.69314718055994531), b.constant(0.0));
  Value result = b.add(expandLog1p(b, argument), offset);
  return b.select(b.greaterEqual(x, b.constant(1.0)), result, b.nan());
}

Value expandAtanh(MathBuilder &b, Value x) {
  // log1p(2x / (1 - x)) / 2; below 1/2 the argument is split to keep its error
  // small.
  Value magnitude = b.abs(x);
  Value twice = b.add(magnitude, magnitude);
  Value isSmall = b.less(magnitude, b.constant(0.5));
  Value numerator = b.select(isSmall, b.mul(twice, magnitude), twice);
  Value quotient = b.div(numerator, b.sub(b.constant(1.0), magnitude));
  Value argument = b.select(isSmall, b.add(twice, quotient), quotient);
  return b.copysign(b.mul(b.constant(0.5), expandLog1p(b, argument)), x);
}

//===----------------------------------------------------------------------===//
// pow
//===----------------------------------------------------------------------===//

/// |x|^y for |x| positive and finite, y not NaN.
static Value powOfPositive(MathBuilder &b, Value magnitude, Value y) {
  if (b.options().fastMath)
    return expandExp(b, b.mul(y, expandLog(b, magnitude)));
  // |log| is at least 2^-24 (2^-53) unless 0: beyond these bounds y only says
  // whether to overflow.
  double bound = b.pick(0x1p33, 0x1p65);
  return expandExpPair(b, b.mulPair(logPair(b, magnitude), b.clamp(y, -bound, bound)));
}

/// The exact cheap cases of a constant exponent, or null.
static Value powOfConstant(MathBuilder &b, Value x, Value y) {
  FloatAttr exponent;
  Attribute attribute;
  if (!matchPattern(y, m_Constant(&attribute)))
    return {};
  if (auto splat = dyn_cast<SplatElementsAttr>(attribute))
    attribute = splat.getSplatValue<Attribute>();
  exponent = dyn_cast<FloatAttr>(attribute);
  if (!exponent)
    return {};
  double value = exponent.getValueAsDouble();
  if (value == 1.0)
    return x;
  if (value == 2.0)
    return b.mul(x, x);
  if (value == -1.0)
    return b.div(b.constant(1.0), x);
  return {};
}

Value expandPow(MathBuilder &b, Value x, Value y) {
  if (Value simple = powOfConstant(b, x, y))
    return simple;
  Value magnitude = b.abs(x);
  Value zero = b.constant(0.0), one = b.constant(1.0), infinity = b.infinity();
  Value result = powOfPositive(b, magnitude, y);

  Value isZero = b.equal(magnitude, zero), isInfinite = b.equal(magnitude, infinity);
  Value growing = b.select(isZero, zero, infinity), shrinking = b.select(isZero, infinity, zero);
  Value limit = b.select(b.less(y, zero), shrinking, growing);
  result = b.select(b.orInt(isZero, isInfinite), limit, result);

  // Every float of magnitude 2^53 (2^24) or more is an even integer.
  Value isInteger = b.equal(b.trunc(y), y);
  Value half = b.mul(y, b.constant(0.5));
  Value isOdd = b.andInt(isInteger, b.compare(arith::CmpFPredicate::ONE, b.trunc(half), half));
  result = b.flipSign(result, b.select(isOdd, b.bits(x), b.integer(0)));

  Value isNegative = b.andInt(b.less(x, zero), b.less(magnitude, infinity));
  result = b.select(b.andInt(isNegative, b.compare(arith::CmpFPredicate::UNE, b.trunc(y), y)),
                    b.nan(), result);
  result = b.select(b.compare(arith::CmpFPredicate::UNO, x, y), b.nan(), result);
  return b.select(b.orInt(b.equal(y, zero), b.equal(x, one)), one, result);
}

} // namespace xc::codegen
