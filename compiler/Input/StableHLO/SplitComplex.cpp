//===- SplitComplex.cpp - Functions of complex numbers --------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Real and imaginary parts as expressions of parts. Quotients and sizes are scaled, so that squares
// of parts do not leave the range of the element type.
//
//===----------------------------------------------------------------------===//

#include "compiler/Input/StableHLO/FloatValues.h"
#include "compiler/Input/StableHLO/SplitValues.h"

#include "llvm/ADT/TypeSwitch.h"

#include <complex>

using namespace mlir;
using namespace xc::array;

namespace xc::stablehlo_import {

namespace shlo = stablehlo;

using Values = SmallVector<Value>;

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

static Value zero(ExpressionBuilder &e, Value like) { return e.scalar(0, like); }
static Value square(ExpressionBuilder &e, Value x) { return e.mul(x, x); }
static Value negate(ExpressionBuilder &e, Value x) { return e.make<NegOp>(x); }
static Value isLess(ExpressionBuilder &e, Value lhs, Value rhs) {
  return e.compare(CompareDirection::Lt, lhs, rhs);
}
static Value isZero(ExpressionBuilder &e, Value x) {
  return e.compare(CompareDirection::Eq, x, zero(e, x));
}

static Complex add(ExpressionBuilder &e, Complex x, Complex y) {
  return {e.add(x.re, y.re), e.add(x.im, y.im)};
}
static Complex sub(ExpressionBuilder &e, Complex x, Complex y) {
  return {e.sub(x.re, y.re), e.sub(x.im, y.im)};
}
static Complex scale(ExpressionBuilder &e, Complex x, double factor) {
  return {e.mul(x.re, factor), e.mul(x.im, factor)};
}
/// `i x`
static Complex turn(ExpressionBuilder &e, Complex x) { return {negate(e, x.im), x.re}; }
/// `-i x`
static Complex turnBack(ExpressionBuilder &e, Complex x) { return {x.im, negate(e, x.re)}; }

static Complex addReal(ExpressionBuilder &e, Complex x, double number) {
  return {e.add(x.re, number), x.im};
}

static Complex select(ExpressionBuilder &e, Value predicate, Complex x, Complex y) {
  return {e.select(predicate, x.re, y.re), e.select(predicate, x.im, y.im)};
}

Complex multiply(ExpressionBuilder &e, Complex x, Complex y) {
  return {e.sub(e.mul(x.re, y.re), e.mul(x.im, y.im)), e.add(e.mul(x.re, y.im), e.mul(x.im, y.re))};
}

/// R. L. Smith, Algorithm 116 (1962): by the larger part of the divisor.
Complex divide(ExpressionBuilder &e, Complex x, Complex y) {
  Value isFirst = e.compare(CompareDirection::Ge, e.make<AbsOp>(y.re), e.make<AbsOp>(y.im));
  Value large = e.select(isFirst, y.re, y.im), small = e.select(isFirst, y.im, y.re);
  // Of infinite parts the ratio is no number, and so is the result.
  Value isNothing = isZero(e, large);
  Value ratio = e.select(isNothing, zero(e, large), e.div(small, large));
  Value divisor = e.add(large, e.mul(small, ratio));
  Value first = e.select(isFirst, x.re, x.im), second = e.select(isFirst, x.im, x.re);
  Value re = e.div(e.add(first, e.mul(second, ratio)), divisor);
  Value im = e.div(e.sub(second, e.mul(first, ratio)), divisor);
  return {re, e.select(isFirst, im, negate(e, im))};
}

/// The size of `x`.
static Value absolute(ExpressionBuilder &e, Complex x) {
  Value re = e.make<AbsOp>(x.re), im = e.make<AbsOp>(x.im);
  Value large = e.make<MaxOp>(re, im), small = e.make<MinOp>(re, im);
  Value infinity = e.scalar(std::numeric_limits<double>::infinity(), large);
  Value isPlain = e.make<OrOp>(isZero(e, large), e.compare(CompareDirection::Eq, large, infinity));
  Value ratio = e.div(small, e.select(isPlain, e.scalar(1, large), large));
  Value size = e.mul(large, e.make<SqrtOp>(e.add(square(e, ratio), 1.0)));
  return e.select(isPlain, large, size);
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

static Complex makeExp(ExpressionBuilder &e, Complex x) {
  Value size = e.make<ExpOp>(x.re);
  Value im = e.select(isZero(e, x.im), zero(e, x.im), e.mul(size, e.make<SinOp>(x.im)));
  return {e.mul(size, e.make<CosOp>(x.im)), im};
}

static Complex makeExpm1(ExpressionBuilder &e, Complex x) {
  Value half = square(e, e.make<SinOp>(e.mul(x.im, 0.5)));
  Value re = e.sub(e.mul(e.make<Expm1Op>(x.re), e.make<CosOp>(x.im)), e.mul(half, 2.0));
  return {re, e.mul(e.make<ExpOp>(x.re), e.make<SinOp>(x.im))};
}

/// The larger of two parts' sizes, and the other one as a part of it: at most 1 but for infinities.
struct Sizes {
  Value large, ratio;
};

static Sizes getSizes(ExpressionBuilder &e, Complex x) {
  Value re = e.make<AbsOp>(x.re), im = e.make<AbsOp>(x.im);
  Value large = e.make<MaxOp>(re, im), small = e.make<MinOp>(re, im);
  Value isPlain =
      e.make<OrOp>(isZero(e, large), e.compare(CompareDirection::Eq, large, infinity(e, large)));
  return {large, e.div(small, e.select(isPlain, e.scalar(1, large), large))};
}

static Complex makeLog(ExpressionBuilder &e, Complex x) {
  auto [large, ratio] = getSizes(e, x);
  Value far = e.add(e.make<LogOp>(large), e.mul(e.make<Log1pOp>(square(e, ratio)), 0.5));
  // Near 1 the distance of the size's square from 1 counts.
  Value small = e.make<MinOp>(e.make<AbsOp>(x.re), e.make<AbsOp>(x.im));
  Value distance = e.add(e.mul(e.add(large, -1.0), e.add(large, 1.0)), square(e, small));
  Value isNear =
      e.make<AndOp>(isLess(e, e.scalar(0.5, large), large), isLess(e, large, e.scalar(2, large)));
  Value near = e.mul(e.make<Log1pOp>(distance), 0.5);
  return {e.select(isNear, near, far), e.make<Atan2Op>(x.im, x.re)};
}

static Complex makeLog1p(ExpressionBuilder &e, Complex x) {
  Value distance = e.add(e.mul(x.re, e.add(x.re, 2.0)), square(e, x.im));
  // Near 0 the size's distance from 1 counts; elsewhere its square may leave the range.
  Value isNear =
      isLess(e, e.make<MaxOp>(e.make<AbsOp>(x.re), e.make<AbsOp>(x.im)), e.scalar(0.5, x.re));
  Complex far = makeLog(e, addReal(e, x, 1));
  return {e.select(isNear, e.mul(e.make<Log1pOp>(distance), 0.5), far.re), far.im};
}

static Complex makeSqrt(ExpressionBuilder &e, Complex number) {
  // A quarter of what is large has a size that is finite.
  Value isLarge = isLess(e, e.scalar(1, number.re), getSizes(e, number).large);
  Value factor = e.select(isLarge, e.scalar(0.25, number.re), e.scalar(1, number.re));
  Complex x = {e.mul(number.re, factor), e.mul(number.im, factor)};
  Value size = absolute(e, x),
        root = e.make<SqrtOp>(e.add(e.mul(e.make<AbsOp>(x.re), 0.5), e.mul(size, 0.5)));
  Value isNothing = isZero(e, root);
  Value other =
      e.div(e.make<AbsOp>(x.im), e.mul(e.select(isNothing, e.scalar(1, root), root), 2.0));
  Value isEndless = e.compare(CompareDirection::Eq, e.make<AbsOp>(x.im), infinity(e, x.im));
  other = e.select(isEndless, infinity(e, other), other);
  Value back = e.select(isLarge, e.scalar(2, root), e.scalar(1, root));
  root = e.mul(root, back);
  other = e.mul(other, back);
  Value isLeft = isLess(e, x.re, zero(e, x.re));
  // Of -0, too, which is below the cut along the negative numbers.
  Value isBelow = e.make<OrOp>(isLess(e, x.im, zero(e, x.im)),
                               isLess(e, e.div(e.scalar(1, x.im), x.im), zero(e, x.im)));
  Value im = e.select(isLeft, root, other);
  return {e.select(isLeft, other, root), e.select(isBelow, negate(e, im), im)};
}

static Complex makeOne(ExpressionBuilder &e, Complex like) {
  auto type = typeOf(like.re);
  Value one = e.scalar(1, like.re);
  return {broadcastTo(e, one, {}, type.getShape()), zeros(e, type)};
}

static Complex makeRsqrt(ExpressionBuilder &e, Complex x) {
  return divide(e, makeOne(e, x), makeSqrt(e, x));
}

static Complex makePower(ExpressionBuilder &e, Complex x, Complex y) {
  Complex power = makeExp(e, multiply(e, y, makeLog(e, x)));
  // Of 0: 1 to the power of 0, else 0.
  Value isBase = e.make<AndOp>(isZero(e, x.re), isZero(e, x.im));
  Value isExponent = e.make<AndOp>(isZero(e, y.re), isZero(e, y.im));
  Value re = e.select(isExponent, e.scalar(1, x.re), zero(e, x.re));
  return {e.select(isBase, re, power.re), e.select(isBase, zero(e, x.im), power.im)};
}

/// The angle of `x + i y`, where both are complex.
static Complex makeAtan2(ExpressionBuilder &e, Complex y, Complex x) {
  Complex size = makeSqrt(e, add(e, multiply(e, x, x), multiply(e, y, y)));
  return turnBack(e, makeLog(e, divide(e, add(e, x, turn(e, y)), size)));
}

/// The larger one by real parts; of equal ones by imaginary parts.
static Complex makeExtreme(ExpressionBuilder &e, Complex x, Complex y, bool isMax) {
  CompareDirection direction = isMax ? CompareDirection::Gt : CompareDirection::Lt;
  Value isEqual = e.compare(CompareDirection::Eq, x.re, y.re);
  Value isFirst =
      e.select(isEqual, e.compare(direction, x.im, y.im), e.compare(direction, x.re, y.re));
  return select(e, isFirst, x, y);
}

static Complex makeCbrt(ExpressionBuilder &e, Complex x) {
  Complex third = scale(e, makeLog(e, x), 1.0 / 3);
  Value isNothing = e.make<AndOp>(isZero(e, x.re), isZero(e, x.im));
  Complex root = makeExp(e, third);
  return {e.select(isNothing, zero(e, x.re), root.re), e.select(isNothing, zero(e, x.im), root.im)};
}

static Complex makeSquare(ExpressionBuilder &e, Complex x) {
  // A product of sum and difference: squares of parts may both be infinite, and so may the sum.
  Value product = e.mul(e.sub(x.re, x.im), e.add(x.re, x.im));
  Value isEqual = e.compare(CompareDirection::Eq, e.make<AbsOp>(x.re), e.make<AbsOp>(x.im));
  Value isNothing = e.make<AndOp>(isEqual, e.make<IsFiniteOp>(x.re));
  return {e.select(isNothing, zero(e, product), product), e.mul(e.mul(x.re, x.im), 2.0)};
}

static Complex makeSinh(ExpressionBuilder &e, Complex x) {
  return {e.mul(e.make<SinhOp>(x.re), e.make<CosOp>(x.im)),
          e.mul(e.make<CoshOp>(x.re), e.make<SinOp>(x.im))};
}

static Complex makeCosh(ExpressionBuilder &e, Complex x) {
  return {e.mul(e.make<CoshOp>(x.re), e.make<CosOp>(x.im)),
          e.mul(e.make<SinhOp>(x.re), e.make<SinOp>(x.im))};
}

static Complex makeTanh(ExpressionBuilder &e, Complex x) {
  // By tanh(re) and tan(im), which do not leave the range.
  Value h = e.make<TanhOp>(x.re), t = e.make<TanOp>(x.im);
  Value divisor = e.add(square(e, e.mul(h, t)), 1.0);
  Value re = e.mul(h, e.add(square(e, t), 1.0));
  Value cosh = e.make<CoshOp>(x.re);
  // 1 - h h without loss of digits.
  Value rest = e.div(e.scalar(1, cosh), square(e, cosh));
  return {e.div(re, divisor), e.div(e.mul(t, rest), divisor)};
}

static Complex makeSin(ExpressionBuilder &e, Complex x) {
  return turnBack(e, makeSinh(e, turn(e, x)));
}
static Complex makeCos(ExpressionBuilder &e, Complex x) { return makeCosh(e, turn(e, x)); }
static Complex makeTan(ExpressionBuilder &e, Complex x) {
  return turnBack(e, makeTanh(e, turn(e, x)));
}

/// Whether squares of a number whose larger part has the size `large` may leave the range, and 1
/// beside them has no digit.
static Value isFar(ExpressionBuilder &e, Value large) {
  return isLess(e, e.scalar(elementOf(large).isF64() ? 0x1p54 : 0x1p25, large), large);
}

/// `near`, or log(2 x) far from 0.
static Complex selectFar(ExpressionBuilder &e, Complex x, Complex near) {
  Complex far = addReal(e, makeLog(e, x), 0.69314718055994530942);
  return select(e, isFar(e, getSizes(e, x).large), far, near);
}

static Complex makeAsinh(ExpressionBuilder &e, Complex x) {
  Complex root = makeSqrt(e, addReal(e, multiply(e, x, x), 1));
  // Of the half plane where nothing cancels.
  Value isLeft = isLess(e, x.re, zero(e, x.re));
  Complex right = select(e, isLeft, scale(e, x, -1), x);
  Complex value = selectFar(e, right, makeLog(e, add(e, right, root)));
  return select(e, isLeft, scale(e, value, -1), value);
}

static Complex makeAtanh(ExpressionBuilder &e, Complex x) {
  Value re = e.make<AbsOp>(x.re), squared = square(e, x.im);
  Value rest = e.sub(e.scalar(1, re), re);
  Value nearRe =
      e.mul(e.make<Log1pOp>(e.div(e.mul(re, 4.0), e.add(square(e, rest), squared))), 0.25);
  Value nearIm =
      e.mul(e.make<Atan2Op>(e.mul(x.im, 2.0), e.sub(e.mul(rest, e.add(re, 1.0)), squared)), 0.5);
  // Far from 0 squares leave the range: there it is 1 / x, and a right angle.
  auto [large, ratio] = getSizes(e, x);
  Value beyond = isFar(e, large);
  Value isEndless = e.compare(CompareDirection::Eq, large, infinity(e, large));
  Value part = e.div(e.div(e.div(re, large), large), e.add(square(e, ratio), 1.0));
  Value farRe = e.select(isEndless, zero(e, part), part);
  Value angle = e.scalar(1.57079632679489661923, x.im);
  Value farIm = e.select(isLess(e, x.im, zero(e, x.im)), negate(e, angle), angle);
  Value size = e.select(beyond, farRe, nearRe);
  return {e.select(isLess(e, x.re, zero(e, x.re)), negate(e, size), size),
          e.select(beyond, farIm, nearIm)};
}

static Complex makeAcosh(ExpressionBuilder &e, Complex x) {
  Complex product = multiply(e, makeSqrt(e, addReal(e, x, 1)), makeSqrt(e, addReal(e, x, -1)));
  return selectFar(e, x, makeLog(e, add(e, x, product)));
}

static Complex makeAsin(ExpressionBuilder &e, Complex x) {
  return turnBack(e, makeAsinh(e, turn(e, x)));
}

static Complex makeAcos(ExpressionBuilder &e, Complex x) {
  return addReal(e, scale(e, makeAsin(e, x), -1), 1.57079632679489661923);
}

static Complex makeAtan(ExpressionBuilder &e, Complex x) {
  return turnBack(e, makeAtanh(e, turn(e, x)));
}

static Complex makeLogistic(ExpressionBuilder &e, Complex x) {
  return divide(e, makeOne(e, x), addReal(e, makeExp(e, scale(e, x, -1)), 1));
}

static Complex makeSign(ExpressionBuilder &e, Complex x) {
  Value size = absolute(e, x), isNothing = isZero(e, size);
  Value divisor = e.select(isNothing, e.scalar(1, size), size);
  return {e.div(x.re, divisor), e.div(x.im, divisor)};
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

using ComplexFunction = Complex (*)(ExpressionBuilder &, Complex);

static ComplexFunction getComplexFunction(Operation *op) {
  return llvm::TypeSwitch<Operation *, ComplexFunction>(op)
      .Case([](shlo::CbrtOp) { return makeCbrt; })
      .Case([](shlo::CosineOp) { return makeCos; })
      .Case([](shlo::ExpOp) { return makeExp; })
      .Case([](shlo::Expm1Op) { return makeExpm1; })
      .Case([](shlo::LogOp) { return makeLog; })
      .Case([](shlo::Log1pOp) { return makeLog1p; })
      .Case([](shlo::LogisticOp) { return makeLogistic; })
      .Case([](shlo::RsqrtOp) { return makeRsqrt; })
      .Case([](shlo::SignOp) { return makeSign; })
      .Case([](shlo::SineOp) { return makeSin; })
      .Case([](shlo::SqrtOp) { return makeSqrt; })
      .Case([](shlo::TanOp) { return makeTan; })
      .Case([](shlo::TanhOp) { return makeTanh; })
      .Case([](chlo::AcosOp) { return makeAcos; })
      .Case([](chlo::AcoshOp) { return makeAcosh; })
      .Case([](chlo::AsinOp) { return makeAsin; })
      .Case([](chlo::AsinhOp) { return makeAsinh; })
      .Case([](chlo::AtanOp) { return makeAtan; })
      .Case([](chlo::AtanhOp) { return makeAtanh; })
      .Case([](chlo::CoshOp) { return makeCosh; })
      .Case([](chlo::SinhOp) { return makeSinh; })
      .Case([](chlo::TanOp) { return makeTan; })
      .Default([](Operation *) { return nullptr; });
}

static Result asResult(Complex x) { return Result(Values{x.re, x.im}); }

/// A constant's parts.
static Replacement splitConstant(shlo::ConstantOp op, ExpressionBuilder &e) {
  auto dense = dyn_cast<DenseElementsAttr>(op.getValue());
  if (!dense)
    return Result::refuse("its complex elements are not in the text");
  SmallVector<APFloat> re, im;
  if (dense.isSplat()) {
    auto number = dense.getSplatValue<std::complex<APFloat>>();
    re.push_back(number.real());
    im.push_back(number.imag());
  } else {
    for (const std::complex<APFloat> &number : dense.getValues<std::complex<APFloat>>()) {
      re.push_back(number.real());
      im.push_back(number.imag());
    }
  }
  RankedTensorType type = getPartType(op.getResult().getType());
  auto make = [&](ArrayRef<APFloat> numbers) {
    return e.make<ConstantOp>(cast<ElementsAttr>(DenseElementsAttr::get(type, numbers)));
  };
  return Result(Values{make(re), make(im)});
}

static Replacement splitCompare(shlo::CompareOp op, ExpressionBuilder &e, Complex x, Complex y) {
  StringRef direction = op.getComparisonDirection().getValue();
  if (direction != "EQ" && direction != "NE")
    return Result::refuse("it compares complex numbers, which have no order");
  Value isEqual = e.make<AndOp>(e.compare(CompareDirection::Eq, x.re, y.re),
                                e.compare(CompareDirection::Eq, x.im, y.im));
  return Result(direction == "EQ" ? isEqual : e.make<LogicalNotOp>(isEqual));
}

/// Real parts alone where the result is real.
static Result splitConvert(shlo::ConvertOp op, ExpressionBuilder &e, Complex x) {
  Type type = op.getResult().getType();
  if (!isComplex(type))
    return Result(e.convert(x.re, cast<RankedTensorType>(type).getElementType()));
  RankedTensorType part = getPartType(type);
  Value im = x.im ? e.convert(x.im, part.getElementType()) : zeros(e, part);
  return Result(Values{e.convert(x.re, part.getElementType()), im});
}

/// Ops of one complex operand with results of their own kind.
static Replacement splitParts(Operation *op, ExpressionBuilder &e, Complex x) {
  return llvm::TypeSwitch<Operation *, Replacement>(op)
      .Case([&](shlo::AbsOp) { return Result(absolute(e, x)); })
      .Case([&](shlo::RealOp) { return Result(x.re); })
      .Case([&](shlo::ImagOp) { return Result(x.im); })
      .Case([&](shlo::NegOp) { return asResult({negate(e, x.re), negate(e, x.im)}); })
      .Case([&](chlo::ConjOp) { return asResult({x.re, negate(e, x.im)}); })
      .Case([&](chlo::SquareOp) { return asResult(makeSquare(e, x)); })
      .Case([&](shlo::IsFiniteOp) {
        return Result(e.make<AndOp>(e.make<IsFiniteOp>(x.re), e.make<IsFiniteOp>(x.im)));
      })
      .Default([](Operation *) { return std::nullopt; });
}

static Replacement splitBinary(Operation *op, ExpressionBuilder &e, Complex x, Complex y) {
  return llvm::TypeSwitch<Operation *, Replacement>(op)
      .Case([&](shlo::AddOp) { return asResult(add(e, x, y)); })
      .Case([&](shlo::SubtractOp) { return asResult(sub(e, x, y)); })
      .Case([&](shlo::MulOp) { return asResult(multiply(e, x, y)); })
      .Case([&](shlo::DivOp) { return asResult(divide(e, x, y)); })
      .Case([&](shlo::Atan2Op) { return asResult(makeAtan2(e, x, y)); })
      .Case([&](shlo::MaxOp) { return asResult(makeExtreme(e, x, y, /*isMax=*/true)); })
      .Case([&](shlo::MinOp) { return asResult(makeExtreme(e, x, y, /*isMax=*/false)); })
      .Case([&](shlo::PowOp) { return asResult(makePower(e, x, y)); })
      .Case([&](shlo::CompareOp compare) { return splitCompare(compare, e, x, y); })
      .Default([](Operation *) { return std::nullopt; });
}

Replacement computeComplex(Operation *op, ExpressionBuilder &e, ArrayRef<Complex> operands) {
  if (auto constant = dyn_cast<shlo::ConstantOp>(op))
    return splitConstant(constant, e);
  if (auto numbers = dyn_cast<shlo::IotaOp>(op)) {
    RankedTensorType type = getPartType(numbers.getType());
    return asResult({iota(e, type.getShape(), type.getElementType(), numbers.getIotaDimension()),
                     zeros(e, type)});
  }
  if (isa<shlo::ComplexOp>(op) && !operands[0].im && !operands[1].im)
    return Result(Values{operands[0].re, operands[1].re});
  if (auto convert = dyn_cast<shlo::ConvertOp>(op))
    return splitConvert(convert, e, operands.front());
  if (operands.empty() || !llvm::all_of(operands, [](Complex x) { return bool(x.im); }))
    return std::nullopt;
  if (ComplexFunction function = getComplexFunction(op))
    return asResult(function(e, operands.front()));
  if (operands.size() == 1)
    return splitParts(op, e, operands.front());
  return operands.size() == 2 ? splitBinary(op, e, operands[0], operands[1]) : std::nullopt;
}

} // namespace xc::stablehlo_import
