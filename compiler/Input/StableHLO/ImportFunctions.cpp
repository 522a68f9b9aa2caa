//===- ImportFunctions.cpp - CHLO's functions of elements -----------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Input/StableHLO/ImportStableHLO.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace xc::array;

namespace xc::stablehlo_import {

//===----------------------------------------------------------------------===//
// erfc
//===----------------------------------------------------------------------===//

// erfc(x) * exp(x * x) * (2 + x) / 2 for x in [1, 30] as a polynomial in u, which goes from -1 to 1
// as t = 2 / (2 + x) goes from 1/16 to 2/3: interpolated at Chebyshev's points with 40 digits;
// relative errors are 8e-10 and 6e-19.
static constexpr double kErfcSingle[] = {0.42757351154349962,     0.16472906311501153,
                                         0.044148801456632855,    0.0059514236541294016,
                                         -0.00067602351222534374, -0.00038441802122352121,
                                         8.8092579761442448e-6,   0.000026283290931801467,
                                         -3.0592538313049204e-7,  -1.7811028991777415e-6};
static constexpr double kErfcDouble[] = {
    0.42757351130618925716,    0.16472906280068796181,     0.044148813381301257864,
    0.0059514393962989265894,  -0.00067612140484112804288, -0.00038454505128155736369,
    9.0992555663380522735e-6,  0.00002664578342913709135,  -6.8039750281162139234e-7,
    -2.2129671086505143575e-6, 2.1014381391543619897e-7,   1.9531741713468962686e-7,
    -4.6171718758984065245e-8, -1.4410500162501621926e-8,  7.8352149580746376468e-9,
    1.8626674618006240366e-10, -1.0243152261139646023e-9,  2.1272952580442154541e-10,
    8.5517649374620616917e-11, -4.6837084966091337508e-11, -3.4282184312482982233e-13,
    4.4192646199889960106e-12, -6.9336412817596413385e-13};

static Value evaluate(ExpressionBuilder &e, ArrayRef<double> coefficients, Value x) {
  Value sum = e.scalar(coefficients.back(), x);
  for (double coefficient : llvm::reverse(coefficients.drop_back()))
    sum = e.add(e.mul(sum, x), coefficient);
  return sum;
}

/// Relative to the result, exact to a few units where 1 - erf(x) has no digits left.
static Value makeErfc(ExpressionBuilder &e, Value x) {
  Value size = e.make<AbsOp>(x), one = e.scalar(1, x);
  Value t = e.div(e.scalar(2, x), e.add(size, 2.0));
  Value u = e.add(e.mul(t, 96.0 / 29), -35.0 / 29);
  ArrayRef<double> coefficients =
      elementOf(x).isF64() ? ArrayRef<double>(kErfcDouble) : ArrayRef<double>(kErfcSingle);
  // exp(-x * x), with what rounding x * x loses put back.
  Value square = e.mul(size, size), negative = e.make<NegOp>(square);
  Value lost = e.make<FmaOp>(size, size, negative);
  Value power = e.mul(e.make<ExpOp>(negative), e.sub(one, lost));
  Value isFar = e.compare(CompareDirection::Gt, size, e.scalar(30, x));
  Value tail = e.mul(e.mul(power, t), evaluate(e, coefficients, u));
  tail = e.select(isFar, e.scalar(0, x), tail);
  Value isNegative = e.compare(CompareDirection::Lt, x, e.scalar(0, x));
  tail = e.select(isNegative, e.sub(e.scalar(2, x), tail), tail);
  Value isNear = e.compare(CompareDirection::Lt, size, one);
  Value result = e.select(isNear, e.sub(one, e.make<ErfOp>(x)), tail);
  return e.select(e.make<IsNanOp>(x), x, result);
}

//===----------------------------------------------------------------------===//
// lgamma and digamma
//===----------------------------------------------------------------------===//

// C. Lanczos, A precision approximation of the gamma function (1964), for g = 7 and 9 terms.
static constexpr double kLanczos[] = {
    676.520368121885098567009190444019, -1259.13921672240287047156078755283,
    771.3234287776530788486528258894,   -176.61502916214059906584551354,
    12.507343278686904814458936853,     -0.13857109526572011689554707,
    9.984369578019570859563e-6,         1.50563273514931155834e-7};
static constexpr double kLanczosFirst = 0.99999999999980993227684700473478;
static constexpr double kLanczosG = 7;
static constexpr double kPi = 3.14159265358979323846;

static Value greater(ExpressionBuilder &e, Value x, double bound) {
  return e.compare(CompareDirection::Gt, x, e.scalar(bound, x));
}

static Value makeLgamma(ExpressionBuilder &e, Value x) {
  // Of 1 - x below 1/2, by the reflection formula; z is one less.
  Value one = e.scalar(1, x), half = e.scalar(0.5, x);
  Value isReflected = e.compare(CompareDirection::Lt, x, half);
  Value z = e.select(isReflected, e.make<NegOp>(x), e.sub(x, one));
  Value sum = e.scalar(kLanczosFirst, x);
  for (auto [index, coefficient] : llvm::enumerate(kLanczos))
    sum = e.add(sum, e.div(e.scalar(coefficient, x), e.add(z, index + 1.0)));
  // log(z + g + 1/2), so that z does not lose digits.
  double shift = kLanczosG + 0.5;
  Value t = e.add(z, shift);
  Value logT = e.add(e.make<Log1pOp>(e.div(z, e.scalar(shift, x))), std::log(shift));
  Value gamma = e.mul(e.sub(e.add(z, 0.5), e.div(t, logT)), logT);
  gamma = e.add(e.add(gamma, 0.5 * std::log(2 * kPi)), e.make<LogOp>(sum));
  // log(pi / |sin(pi x)|): only the distance to the nearest integer counts.
  Value size = e.make<AbsOp>(x), part = e.sub(size, e.make<FloorOp>(size));
  part = e.select(greater(e, part, 0.5), e.sub(one, part), part);
  Value logSine = e.make<LogOp>(e.make<SinOp>(e.mul(part, kPi)));
  Value reflected = e.sub(e.sub(e.scalar(std::log(kPi), x), logSine), gamma);
  Value result = e.select(isReflected, reflected, gamma);
  Value infinity = e.scalar(std::numeric_limits<double>::infinity(), x);
  return e.select(e.compare(CompareDirection::Eq, size, infinity), infinity, result);
}

Value makeDigamma(ExpressionBuilder &e, Value x) {
  Value one = e.scalar(1, x), half = e.scalar(0.5, x), zero = e.scalar(0, x);
  Value isReflected = e.compare(CompareDirection::Lt, x, half);
  Value z = e.select(isReflected, e.make<NegOp>(x), e.sub(x, one));
  Value sum = e.scalar(kLanczosFirst, x), slope = zero;
  for (auto [index, coefficient] : llvm::enumerate(kLanczos)) {
    Value place = e.add(z, index + 1.0);
    Value term = e.div(e.scalar(coefficient, x), place);
    sum = e.add(sum, term);
    slope = e.sub(slope, e.div(term, place));
  }
  double shift = kLanczosG + 0.5;
  Value t = e.add(z, shift);
  Value logT = e.add(e.make<Log1pOp>(e.div(z, e.scalar(shift, x))), std::log(shift));
  Value result = e.sub(e.add(logT, e.div(slope, sum)), e.div(e.scalar(kLanczosG, x), t));
  // cot(pi x) has the period 1.
  Value nearest = e.sub(x, e.make<FloorOp>(e.add(x, 0.5)));
  Value angle = e.mul(nearest, kPi);
  Value reflected = e.sub(result, e.div(e.mul(e.make<CosOp>(angle), kPi), e.make<SinOp>(angle)));
  result = e.select(isReflected, reflected, result);
  Value isPole = e.make<AndOp>(e.compare(CompareDirection::Le, x, zero),
                               e.compare(CompareDirection::Eq, x, e.make<FloorOp>(x)));
  return e.select(isPole, e.scalar(std::numeric_limits<double>::quiet_NaN(), x), result);
}

//===----------------------------------------------------------------------===//
// All functions
//===----------------------------------------------------------------------===//

template <typename ArrayOp> static Value plainFunction(ExpressionBuilder &e, Value x) {
  return e.make<ArrayOp>(x);
}

/// 16-bit floats are computed in f32.
static Value inWide(ExpressionBuilder &e, Value x, Value (*function)(ExpressionBuilder &, Value)) {
  return e.convert(function(e, e.widen(x)), elementOf(x));
}

static Value isInfinite(ExpressionBuilder &e, Value x, double infinity) {
  return e.compare(CompareDirection::Eq, x, e.scalar(infinity, x));
}

using Function = Value (*)(ExpressionBuilder &, Value);

static Function getFunction(Operation *op) {
  return llvm::TypeSwitch<Operation *, Function>(op)
      .Case([](chlo::AcosOp) { return plainFunction<AcosOp>; })
      .Case([](chlo::AcoshOp) { return plainFunction<AcoshOp>; })
      .Case([](chlo::AsinOp) { return plainFunction<AsinOp>; })
      .Case([](chlo::AsinhOp) { return plainFunction<AsinhOp>; })
      .Case([](chlo::AtanOp) { return plainFunction<AtanOp>; })
      .Case([](chlo::AtanhOp) { return plainFunction<AtanhOp>; })
      .Case([](chlo::CoshOp) { return plainFunction<CoshOp>; })
      .Case([](chlo::DigammaOp) { return makeDigamma; })
      .Case([](chlo::ErfInvOp) { return plainFunction<ErfInvOp>; })
      .Case([](chlo::ErfOp) { return plainFunction<ErfOp>; })
      .Case([](chlo::ErfcOp) { return makeErfc; })
      .Case([](chlo::LgammaOp) { return makeLgamma; })
      .Case([](chlo::SinhOp) { return plainFunction<SinhOp>; })
      .Case([](chlo::TanOp) { return plainFunction<TanOp>; })
      .Default([](Operation *) { return nullptr; });
}

Replacement convertFunctions(Operation *op, ExpressionBuilder &e) {
  if (!isa_and_present<chlo::CHLODialect>(op->getDialect()) || op->getNumOperands() == 0)
    return std::nullopt;
  Value x = op->getOperand(0);
  if (isa<chlo::SquareOp>(op) && !isTruth(x))
    return Result(e.mul(x, x));
  if (!isFloat(x))
    return std::nullopt;
  if (Function function = getFunction(op)) {
    bool isWide = isa<chlo::DigammaOp, chlo::ErfcOp, chlo::LgammaOp>(op);
    return Result(isWide ? inWide(e, x, function) : function(e, x));
  }
  double infinity = std::numeric_limits<double>::infinity();
  if (isa<chlo::ConjOp>(op))
    return Result(x);
  if (isa<chlo::IsInfOp>(op))
    return Result(isInfinite(e, e.make<AbsOp>(x), infinity));
  if (isa<chlo::IsPosInfOp>(op))
    return Result(isInfinite(e, x, infinity));
  if (isa<chlo::IsNegInfOp>(op))
    return Result(isInfinite(e, x, -infinity));
  if (auto next = dyn_cast<chlo::NextAfterOp>(op)) {
    if (next.getLhs().getType() != next.getRhs().getType())
      return Result::refuse("its operands differ in type");
    return Result(e.make<NextAfterOp>(next.getLhs(), next.getRhs()));
  }
  return std::nullopt;
}

} // namespace xc::stablehlo_import
