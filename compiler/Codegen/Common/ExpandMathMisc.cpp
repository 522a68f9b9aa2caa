//===- ExpandMathMisc.cpp - Roots, rounding, remainder, multiply-add ------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/Common/MathBuilder.h"
#include "compiler/Codegen/Common/MathCoefficients.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace xc::codegen {

Value expandRsqrt(MathBuilder &b, Value x) {
  if (b.isF32() && b.options().hasReciprocal) {
    // Denormals are scaled by a square.
    Value isDenormal = b.less(x, b.constant(b.minNormal())), one = b.constant(1.0);
    Value scaled = b.mul(x, b.select(isDenormal, b.constant(0x1p24), one));
    Value root = math::RsqrtOp::create(b.ops(), scaled, arith::FastMathFlags::afn);
    return b.mul(root, b.select(isDenormal, b.constant(0x1p12), one));
  }
  return b.div(b.constant(1.0), b.sqrt(x));
}

Value expandRound(MathBuilder &b, Value x) {
  // Halves go away from zero. The distance to the truncated value is exact;
  // adding 1/2 to x would not be.
  Value truncated = b.trunc(x);
  Value distance = b.abs(b.sub(x, truncated));
  Value step =
      b.select(b.greaterEqual(distance, b.constant(0.5)), b.constant(1.0), b.constant(0.0));
  return b.copysign(b.add(b.abs(truncated), step), x);
}

Value expandCbrt(MathBuilder &b, Value x) {
  Value magnitude = b.abs(x);
  // Denormals are scaled by a cube.
  Value denormal = b.less(magnitude, b.constant(b.minNormal()));
  Value scaled =
      b.select(denormal, b.mul(magnitude, b.constant(b.pick(0x1p24, 0x1p54))), magnitude);
  Value unscale = b.select(denormal, b.constant(b.pick(0x1p-8, 0x1p-18)), b.constant(1.0));

  // |x| = m 2^(3 third) with 1/4 < m < 2.
  Value exponent =
      b.subInt(b.shiftRight(b.bits(scaled), b.mantissaBits()), b.integer(b.exponentBias() - 1));
  MathBuilder::Rounded third = b.roundProduct(b.toFloat(exponent), 1.0 / 3);
  Value triple = b.mulInt(third.lowBits, b.integer(3));
  Value m = b.fromBits(b.subInt(b.bits(scaled), b.shiftLeft(triple, b.mantissaBits())));

  // Halley's step triples the number of correct bits.
  Value y = b.polynomial(m, b.pick(ArrayRef<double>(kCbrtF32), ArrayRef<double>(kCbrtF64)));
  for (int step = 0; step < b.pick(1, 2); ++step) {
    Value square = b.mul(y, y);
    Value residual = b.fma(square, y, b.neg(m));
    Value cube = b.mul(square, y);
    Value slope = b.add(b.add(cube, cube), m);
    y = b.sub(y, b.mul(y, b.roughQuotient(residual, slope)));
  }
  Value result = b.copysign(b.mul(b.mul(y, b.exp2(third.lowBits)), unscale), x);
  Value isSpecial = b.orInt(b.equal(magnitude, b.constant(0.0)),
                            b.compare(arith::CmpFPredicate::UGE, magnitude, b.infinity()));
  return b.select(isSpecial, x, result);
}

//===----------------------------------------------------------------------===//
// Remainder
//===----------------------------------------------------------------------===//

/// The biased exponent of x > 0, at most 0 for denormals.
static Value biasedExponent(MathBuilder &b, Value x) {
  Value denormal = b.less(x, b.constant(b.minNormal()));
  Value normalised = b.select(denormal, b.mul(x, b.constant(0x1p54)), x);
  Value field = b.shiftRight(b.bits(normalised), b.mantissaBits());
  return b.subInt(field, b.select(denormal, b.integer(54), b.integer(0)));
}

/// One step of long division in f64: r less a multiple of y, for r >= y > 0, so
/// that the quotient has 51 bits at most.
static Value remainderStep(MathBuilder &b, Value r, Value y) {
  Value excess = b.subInt(b.subInt(biasedExponent(b, r), biasedExponent(b, y)), b.integer(50));
  excess = arith::MaxSIOp::create(b.ops(), excess, b.integer(0));
  // 2^excess itself may overflow (it is up to 2^2048): apply it in four parts.
  Value quarter = b.shiftRight(excess, 2);
  Value rest = b.subInt(excess, b.mulInt(quarter, b.integer(2)));
  Value quarterPower = b.exp2(quarter);
  Value restHalf = b.shiftRight(rest, 1);
  Value shifted = b.mul(b.mul(y, quarterPower), quarterPower);
  shifted = b.mul(b.mul(shifted, b.exp2(restHalf)), b.exp2(b.subInt(rest, restHalf)));
  // Multiples of huge numbers overflow. The divisor is huge with r, so that both can be scaled
  // down.
  Value isHuge = b.greater(r, b.constant(0x1p900));
  Value one = b.constant(1.0);
  Value scale = b.select(isHuge, b.constant(0x1p-100), one);
  Value unscale = b.select(isHuge, b.constant(0x1p100), one);
  r = b.mul(r, scale);
  shifted = b.mul(shifted, scale);
  // The rounded quotient may be one too large.
  Value quotient = b.trunc(b.div(r, shifted));
  Pair product = b.twoProduct(quotient, shifted);
  Value remainder = b.sub(b.sub(r, product.hi), product.lo);
  Value isNegative = b.less(remainder, b.constant(0.0));
  return b.mul(b.select(isNegative, b.add(remainder, shifted), remainder), unscale);
}

static Value remF64(MathBuilder &b, Value x, Value y) {
  Value magnitude = b.abs(x), divisor = b.abs(y);
  Value zero = b.constant(0.0), infinity = b.infinity();
  auto isActive = [&](MathBuilder &w, Value r) {
    Value valid = w.andInt(w.greater(divisor, zero), w.less(r, infinity));
    return w.andInt(w.greaterEqual(r, divisor), valid);
  };
  // Usually one step; each removes 50 bits of the quotient.
  auto loop = scf::WhileOp::create(
      b.ops(), TypeRange(b.floatType()), ValueRange(magnitude),
      [&](OpBuilder &before, Location loc, ValueRange state) {
        MathBuilder w(before, loc, b.floatType(), b.options());
        scf::ConditionOp::create(w.ops(), w.anyLane(isActive(w, state[0])), state);
      },
      [&](OpBuilder &after, Location loc, ValueRange state) {
        MathBuilder w(after, loc, b.floatType(), b.options());
        Value next = w.select(isActive(w, state[0]), remainderStep(w, state[0], divisor), state[0]);
        scf::YieldOp::create(w.ops(), next);
      });
  Value result = b.copysign(loop.getResult(0), x);
  Value invalid = b.orInt(b.equal(divisor, zero), b.equal(magnitude, infinity));
  invalid = b.orInt(invalid, b.compare(arith::CmpFPredicate::UNO, x, y));
  return b.select(invalid, b.nan(), result);
}

/// Computes in f64 what is exact there for f32 operands.
static Value throughF64(MathBuilder &b, ValueRange operands,
                        llvm::function_ref<Value(MathBuilder &, ValueRange)> fn) {
  Type wide = b.ops().getF64Type();
  if (auto vector = dyn_cast<VectorType>(b.floatType()))
    wide = vector.clone(wide);
  MathBuilder w(b.ops(), b.ops().getLoc(), wide, b.options());
  SmallVector<Value> wideOperands;
  for (Value operand : operands)
    wideOperands.push_back(arith::ExtFOp::create(w.ops(), wide, operand));
  Value result = fn(w, wideOperands);
  return arith::TruncFOp::create(b.ops(), b.floatType(), result);
}

Value expandRem(MathBuilder &b, Value x, Value y) {
  if (!b.isF32())
    return remF64(b, x, y);
  return throughF64(b, {x, y},
                    [](MathBuilder &w, ValueRange xs) { return remF64(w, xs[0], xs[1]); });
}

Value expandFma(MathBuilder &b, Value x, Value y, Value z) {
  if (b.isF32())
    return throughF64(b, {x, y, z}, [](MathBuilder &w, ValueRange xs) {
      return w.add(w.mul(xs[0], xs[1]), xs[2]);
    });
  Pair product = b.twoProduct(x, y);
  Pair sum = b.twoSum(product.hi, z);
  Value result = b.add(sum.hi, b.add(sum.lo, product.lo));
  // Splitting overflows where the product itself may not; infinities and NaN
  // come from the plain operations.
  Value plain = b.add(b.mul(x, y), z);
  return b.select(b.less(b.abs(result), b.infinity()), result, plain);
}

} // namespace xc::codegen
