//===- ImportSpecialFunctions.cpp - zeta, polygamma, bessel_i1e, mulhi ----===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Input/StableHLO/FloatValues.h"
#include "compiler/Input/StableHLO/ImportStableHLO.h"

using namespace mlir;
using namespace xc::array;

namespace xc::stablehlo_import {

static Value isLess(ExpressionBuilder &e, Value x, double bound) {
  return e.compare(CompareDirection::Lt, x, e.scalar(bound, x));
}
static Value isWhole(ExpressionBuilder &e, Value x) { return isEqual(e, x, e.make<FloorOp>(x)); }
static Value notANumber(ExpressionBuilder &e, Value x) {
  return e.scalar(std::numeric_limits<double>::quiet_NaN(), x);
}

//===----------------------------------------------------------------------===//
// zeta and polygamma
//===----------------------------------------------------------------------===//

/// (2 k)! / B(2 k), with B(n) the numbers of Bernoulli.
static constexpr double kBernoulli[] = {12,
                                        -720,
                                        30240,
                                        -1209600,
                                        47900160,
                                        -1.8924375803183791606e9,
                                        7.47242496e10,
                                        -2.950130727918164224e12,
                                        1.1646782814350067249e14,
                                        -4.5979787224074726105e15,
                                        1.8152105401943546773e17,
                                        -7.1661652561756670113e18};
static constexpr int kTerms = 10;

/// The sum of (q + k)^-x for k >= 0, of which the first terms are added up; the sum formula of
/// Euler and Maclaurin has the others.
static Value makeZeta(ExpressionBuilder &e, Value x, Value q) {
  Value negative = e.make<NegOp>(x), sum, place = q;
  for (int term = 0; term < kTerms; ++term) {
    Value power = e.make<PowOp>(place, negative);
    sum = sum ? e.add(sum, power) : power;
    place = e.add(place, 1.0);
  }
  Value power = e.make<PowOp>(place, negative);
  sum = e.add(sum, e.div(e.mul(power, place), e.add(x, -1.0)));
  sum = e.add(sum, e.mul(power, 0.5));
  Value square = e.mul(place, place), factor = e.div(e.mul(power, x), place);
  Value rest;
  for (auto [index, number] : llvm::enumerate(kBernoulli)) {
    Value term = e.mul(factor, 1 / number);
    rest = rest ? e.add(rest, term) : term;
    double next = 2.0 * index + 1;
    factor = e.div(e.mul(e.mul(factor, e.add(x, next)), e.add(x, next + 1)), square);
  }
  // Where powers vanish or overflow, so does the rest.
  sum = e.add(sum, e.select(e.make<IsFiniteOp>(rest), rest, e.scalar(0, rest)));
  // A pole of q: both signs of its neighbours only where the exponent is even.
  Value isPole = e.make<AndOp>(e.compare(CompareDirection::Le, q, e.scalar(0, q)), isWhole(e, q));
  Value isEven = isWhole(e, e.mul(x, 0.5));
  sum = e.select(isPole, e.select(isEven, infinity(e, x), notANumber(e, x)), sum);
  Value isUndefined = e.make<AndOp>(isLess(e, q, 0), e.make<LogicalNotOp>(isWhole(e, x)));
  isUndefined = e.make<OrOp>(isUndefined, isLess(e, x, 1));
  sum = e.select(isUndefined, notANumber(e, x), sum);
  return e.select(isEqual(e, x, e.scalar(1, x)), infinity(e, x), sum);
}

/// The factorial of whole numbers, as a product: up to 170, above which it is infinite.
static Value makeFactorial(ExpressionBuilder &e, Value n) {
  auto scalar = [&](double number) { return e.scalar(number, n); };
  double most = elementOf(n).isF64() ? 170 : 34;
  // Stirling's series of (n + 10)!, divided by the ten factors that are too many.
  Value place = e.add(n, 11.0), inverse = e.div(scalar(1), place);
  Value square = e.mul(inverse, inverse);
  Value series = e.add(e.mul(square, -1.0 / 1680), 1.0 / 1260);
  series = e.add(e.mul(series, square), -1.0 / 360);
  series = e.mul(e.add(e.mul(series, square), 1.0 / 12), inverse);
  Value log = e.sub(e.mul(e.add(place, -0.5), e.make<LogOp>(place)), place);
  log = e.add(e.add(log, 0.91893853320467274178), series);
  Value product = scalar(1);
  for (int factor = 1; factor <= 10; ++factor)
    product = e.mul(product, e.add(n, static_cast<double>(factor)));
  Value result = e.make<ExpOp>(e.sub(log, e.make<LogOp>(product)));
  // Whole numbers up to 2^24 are exact.
  result = e.select(isLess(e, n, 11), e.make<RoundOp>(result), result);
  return e.select(e.compare(CompareDirection::Gt, n, scalar(most)), infinity(e, n), result);
}

/// (-1)^(n + 1) n! zeta(n + 1, x) for n from 1 on.
static Value makePolygamma(ExpressionBuilder &e, Value n, Value x, Value digamma) {
  Value isValid = e.make<AndOp>(isWhole(e, n), e.make<LogicalNotOp>(isLess(e, n, 0)));
  Value isEven = isWhole(e, e.mul(n, 0.5));
  Value size = e.mul(makeFactorial(e, n), makeZeta(e, e.add(n, 1.0), x));
  Value result = e.select(isEven, e.make<NegOp>(size), size);
  result = e.select(isEqual(e, n, e.scalar(0, n)), digamma, result);
  return e.select(isValid, result, notANumber(e, x));
}

//===----------------------------------------------------------------------===//
// bessel_i1e
//===----------------------------------------------------------------------===//

// exp(-x) I1(x) / x by Chebyshev's polynomials of x / 4 - 1 for x in [0, 8], and
// exp(-x) I1(x) sqrt(x) by those of 16 / x - 1 above. 18 and 8 terms are right to 3e-8, all of them
// to 2e-14.
static constexpr double kNear[] = {
    0.12629359322181682,     -0.17641651835783398,   0.10264365868984712,
    -0.05294598120809499,    0.024726449030626547,   -0.01056408489462623,
    0.004156422944312938,    -0.001513572450631328,  0.000512285956168681,
    -0.00016176081582601416, 4.7815651075646774e-05, -1.3273163656184816e-05,
    3.4702513083016246e-06,  -8.568720266253163e-07, 2.003294755247641e-07,
    -4.445059146119715e-08,  9.38153758592553e-09,   -1.8872499585768716e-09,
    3.625592705679217e-10,   -6.663514497546956e-11, 1.1736475076315317e-11,
    -1.984273534542878e-12,  3.2272519635152486e-13, -5.076665314812878e-14};
static constexpr double kFar[] = {
    0.38928811750914005,    -0.009761097491361484,   -0.0001105889387626207,
    -3.882564808884402e-06, -2.5122362376008667e-07, -2.631468847998461e-08,
    -3.835380328885645e-09, -5.589743481538727e-10,  -1.8974820450922047e-11,
    3.252602593404644e-11,  1.412605852431642e-11,   2.035626138100369e-12,
    -7.195958047299597e-13, -4.083575581017507e-13,  -2.0764440270710324e-14,
    4.2711293571545436e-14, 1.0737610624624783e-14,  -3.820093353213553e-15};
static constexpr size_t kSingleNear = 18, kSingleFar = 8;

/// C. W. Clenshaw (1955).
static Value sumChebyshev(ExpressionBuilder &e, ArrayRef<double> terms, Value x) {
  Value twice = e.mul(x, 2.0), last = e.scalar(0, x), before = last;
  for (double term : llvm::reverse(terms.drop_front())) {
    Value next = e.add(e.sub(e.mul(twice, last), before), term);
    before = last;
    last = next;
  }
  return e.add(e.sub(e.mul(x, last), before), terms.front());
}

static Value makeBesselI1e(ExpressionBuilder &e, Value x) {
  ArrayRef<double> near = kNear, far = kFar;
  if (!elementOf(x).isF64()) {
    near = near.take_front(kSingleNear);
    far = far.take_front(kSingleFar);
  }
  Value size = e.make<AbsOp>(x), isNear = isLess(e, size, 8);
  Value inner = e.mul(sumChebyshev(e, near, e.add(e.mul(size, 0.25), -1.0)), x);
  Value outer = e.select(isNear, e.scalar(8, x), size);
  Value place = e.add(e.div(e.scalar(16, x), outer), -1.0);
  Value tail = e.mul(sumChebyshev(e, far, place), e.make<RsqrtOp>(outer));
  tail = e.select(isLess(e, x, 0), e.make<NegOp>(tail), tail);
  return e.select(isNear, inner, tail);
}

//===----------------------------------------------------------------------===//
// mulhi
//===----------------------------------------------------------------------===//

/// Of 64 bits, by four products of halves.
static Value makeWideMulhi(ExpressionBuilder &e, Value lhs, Value rhs) {
  Type given = elementOf(lhs), bits = getUnsigned(e, 64);
  auto number = [&](int64_t value) { return e.integer(value, bits); };
  auto as = [&](Value value, Type element) {
    return elementOf(value) == element ? value
                                       : e.make<BitcastOp>(typeOf(value).clone(element), value);
  };
  auto high = [&](Value value) { return e.make<ShiftRightLogicalOp>(value, number(32)); };
  auto low = [&](Value value) { return e.make<AndOp>(value, number(0xffffffff)); };
  Value a = as(lhs, bits), b = as(rhs, bits);
  Value middle = e.add(e.mul(high(a), low(b)), high(e.mul(low(a), low(b))));
  Value other = e.add(e.mul(low(a), high(b)), low(middle));
  Value result = e.add(e.add(e.mul(high(a), high(b)), high(middle)), high(other));
  if (given.isUnsignedInteger())
    return result;
  // As a sign bit counts -2^63 and not 2^63.
  auto where = [&](Value sign, Value value) {
    Value isNegative = e.compare(CompareDirection::Lt, sign, e.integer(0, given));
    return e.select(isNegative, value, e.integer(0, bits));
  };
  return as(e.sub(e.sub(result, where(lhs, b)), where(rhs, a)), given);
}

/// The high word of a product, through words twice as wide.
static Result makeMulhi(ExpressionBuilder &e, Value lhs, Value rhs) {
  auto type = dyn_cast<IntegerType>(elementOf(lhs));
  if (!type || type.getWidth() == 1 || lhs.getType() != rhs.getType())
    return Result::refuse("it works on what are no integers of one type");
  unsigned width = type.getWidth();
  if (width > 32)
    return makeWideMulhi(e, lhs, rhs);
  Builder &builder = e.getBuilder();
  Type wide = type.isUnsigned() ? getUnsigned(e, 2 * width) : builder.getIntegerType(2 * width);
  Value product = e.mul(e.convert(lhs, wide), e.convert(rhs, wide));
  return e.convert(e.make<ShiftRightLogicalOp>(product, e.integer(width, wide)), type);
}

Replacement convertSpecialFunctions(Operation *op, ExpressionBuilder &e) {
  if (auto bessel = dyn_cast<chlo::BesselI1eOp>(op)) {
    Value x = bessel.getOperand();
    if (!isFloat(x))
      return Result::refuse("it works on what are no floats");
    return Result(e.convert(makeBesselI1e(e, e.widen(x)), elementOf(x)));
  }
  if (auto high = dyn_cast<chlo::MulhiOp>(op))
    return makeMulhi(e, high.getLhs(), high.getRhs());
  if (!isa<chlo::ZetaOp, chlo::PolygammaOp>(op))
    return std::nullopt;
  Value first = op->getOperand(0), second = op->getOperand(1);
  if (!isFloat(first) || first.getType() != second.getType())
    return Result::refuse("its operands are no floats of one type");
  Value x = e.widen(first), y = e.widen(second);
  Value value =
      isa<chlo::ZetaOp>(op) ? makeZeta(e, x, y) : makePolygamma(e, x, y, makeDigamma(e, y));
  return Result(e.convert(value, elementOf(first)));
}

} // namespace xc::stablehlo_import
