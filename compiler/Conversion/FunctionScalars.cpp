//===- FunctionScalars.cpp - Functions that the math dialect lacks --------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/ArrayToLinalg.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include <cmath>

using namespace mlir;
using arith::CmpFPredicate;
using arith::CmpIPredicate;

namespace xc {

//===----------------------------------------------------------------------===//
// erfinv
//===----------------------------------------------------------------------===//

namespace {

/// A quotient of polynomials, the coefficients of lowest power first.
struct Rational {
  double numerator[8], denominator[8];
};

} // namespace

// Wichura, "Algorithm AS 241: the percentage points of the normal distribution" (1988), PPND16:
// about the median; in the tails by sqrt(-log(p)) up to 5; beyond.
static constexpr Rational kCentral = {
    {3.3871328727963666080e0, 1.3314166789178437745e+2, 1.9715909503065514427e+3,
     1.3731693765509461125e+4, 4.5921953931549871457e+4, 6.7265770927008700853e+4,
     3.3430575583588128105e+4, 2.5090809287301226727e+3},
    {1.0, 4.2313330701600911252e+1, 6.8718700749205790830e+2, 5.3941960214247511077e+3,
     2.1213794301586595867e+4, 3.9307895800092710610e+4, 2.8729085735721942674e+4,
     5.2264952788528545610e+3}};
static constexpr Rational kTail = {
    {1.42343711074968357734e0, 4.63033784615654529590e0, 5.76949722146069140550e0,
     3.64784832476320460504e0, 1.27045825245236838258e0, 2.41780725177450611770e-1,
     2.27238449892691845833e-2, 7.74545014278341407640e-4},
    {1.0, 2.05319162663775882187e0, 1.67638483018380384940e0, 6.89767334985100004550e-1,
     1.48103976427480074590e-1, 1.51986665636164571966e-2, 5.47593808499534494600e-4,
     1.05075007164441684324e-9}};
static constexpr Rational kFarTail = {
    {6.65790464350110377720e0, 5.46378491116411436990e0, 1.78482653991729133580e0,
     2.96560571828504891230e-1, 2.65321895265761230930e-2, 1.24266094738807843860e-3,
     2.71155556874348757815e-5, 2.01033439929228813265e-7},
    {1.0, 5.99832206555887937690e-1, 1.36929880922735805310e-1, 1.48753612908506148525e-2,
     7.86869131145613259100e-4, 1.84631831751005468180e-5, 1.42151175831644588870e-7,
     2.04426310338993978564e-15}};

namespace {

/// Builds float arithmetic with constants.
struct FloatBuilder {
  OpBuilder &b;
  Location loc;
  FloatType type;

  Value constant(double value) {
    return arith::ConstantOp::create(b, loc, b.getFloatAttr(type, value));
  }
  Value add(Value x, double y) { return arith::AddFOp::create(b, loc, x, constant(y)); }
  Value mul(Value x, Value y) { return arith::MulFOp::create(b, loc, x, y); }
  Value mul(Value x, double y) { return mul(x, constant(y)); }
  Value fma(Value x, double y, double z) {
    return math::FmaOp::create(b, loc, x, constant(y), constant(z));
  }
  Value compare(CmpFPredicate predicate, Value x, double y) {
    return arith::CmpFOp::create(b, loc, predicate, x, constant(y));
  }
  Value select(Value c, Value x, Value y) { return arith::SelectOp::create(b, loc, c, x, y); }

  Value polynomial(ArrayRef<double> coefficients, Value x) {
    Value sum = constant(coefficients.back());
    for (double coefficient : llvm::reverse(coefficients.drop_back()))
      sum = math::FmaOp::create(b, loc, sum, x, constant(coefficient));
    return sum;
  }
  Value quotient(const Rational &rational, Value x) {
    return arith::DivFOp::create(b, loc, polynomial(rational.numerator, x),
                                 polynomial(rational.denominator, x));
  }
};

} // namespace

// Giles, "Approximating the erfinv function" (2010), single precision: by w = -log(1 - x^2), about
// 2.5 and, of its root, about 3; the coefficients of lowest power first. Within 2.6e-7 of the
// result, relatively. w only adds to it, so that targets may approximate logarithm and root.
static constexpr double kGilesCentral[] = {1.50140941,     0.246640727,   -0.00417768164,
                                           -0.00125372503, 0.00021858087, -4.39150654e-6,
                                           -3.5233877e-6,  3.43273939e-7, 2.81022636e-8};
static constexpr double kGilesTail[] = {2.83297682,    1.00167406,     0.00943887047,
                                        -0.0076224613, 0.00573950773,  -0.00367342844,
                                        0.00134934322, 0.000100950558, -0.000200214257};

/// Without a division, and of one logarithm and one root.
static Value buildErfInvF32(FloatBuilder &f, Value x) {
  constexpr auto approximate = arith::FastMathFlags::afn;
  Value above = f.add(x, 1.0), below = f.add(f.mul(x, -1.0), 1.0), rest = f.mul(above, below);
  // -w / log(2), and the root of its opposite.
  Value logarithm = math::Log2Op::create(f.b, f.loc, rest, approximate);
  Value root = math::SqrtOp::create(f.b, f.loc, f.mul(logarithm, -1.0), approximate);
  Value central = f.polynomial(kGilesCentral, f.fma(logarithm, -M_LN2, -2.5));
  Value tail = f.polynomial(kGilesTail, f.fma(root, std::sqrt(M_LN2), -3.0));
  tail = f.select(f.compare(CmpFPredicate::OEQ, rest, 0.0), f.constant(INFINITY), tail);
  Value isCentral = f.compare(CmpFPredicate::OGT, logarithm, -5.0 / M_LN2);
  return f.mul(f.select(isCentral, central, tail), x);
}

Value buildErfInv(OpBuilder &builder, Location loc, Value x) {
  if (x.getType().isF32()) {
    FloatBuilder f{builder, loc, builder.getF32Type()};
    return buildErfInvF32(f, x);
  }
  // The quantile of (1 + x) / 2, over sqrt(2).
  FloatBuilder f{builder, loc, cast<FloatType>(x.getType())};
  Value half = f.mul(x, 0.5), magnitude = math::AbsFOp::create(builder, loc, half);
  Value square = f.mul(half, half);
  Value nearCenter = f.add(f.mul(square, -1.0), 0.180625);
  Value central = f.mul(half, f.quotient(kCentral, nearCenter));
  // Exact, as both have one exponent or neighbouring ones.
  Value rest = f.add(f.mul(magnitude, -1.0), 0.5);
  Value logarithm = math::LogOp::create(builder, loc, rest);
  Value root = math::SqrtOp::create(builder, loc, f.mul(logarithm, -1.0));
  Value tail = f.quotient(kTail, f.add(root, -1.6));
  tail = f.select(f.compare(CmpFPredicate::OGT, root, 5.0), f.quotient(kFarTail, f.add(root, -5.0)),
                  tail);
  tail = f.select(f.compare(CmpFPredicate::OEQ, rest, 0.0), f.constant(INFINITY), tail);
  tail = math::CopySignOp::create(builder, loc, tail, x);
  Value isCentral = f.compare(CmpFPredicate::OLE, magnitude, 0.425);
  return f.mul(f.select(isCentral, central, tail), M_SQRT1_2);
}

//===----------------------------------------------------------------------===//
// nextafter
//===----------------------------------------------------------------------===//

Value buildNextAfter(OpBuilder &b, Location loc, Value x, Value y, FloatType element) {
  Type compute = x.getType(), bitsType = b.getIntegerType(element.getWidth());
  auto toBits = [&](Value value) -> Value {
    if (compute != element)
      value = arith::TruncFOp::create(b, loc, element, value);
    return arith::BitcastOp::create(b, loc, bitsType, value);
  };
  auto constant = [&](const APInt &number) -> Value {
    return arith::ConstantOp::create(b, loc, b.getIntegerAttr(bitsType, number));
  };
  unsigned width = element.getWidth();
  Value bits = toBits(x), zero = constant(APInt::getZero(width)), one = constant(APInt(width, 1));
  Value sign = constant(APInt::getSignMask(width));
  // Away from zero the bits count up, whatever the sign.
  Value isNegative = arith::CmpIOp::create(b, loc, CmpIPredicate::slt, bits, zero);
  Value isBelow = arith::CmpFOp::create(b, loc, CmpFPredicate::OLT, x, y);
  Value goesOut = arith::XOrIOp::create(b, loc, isBelow, isNegative);
  Value further = arith::AddIOp::create(b, loc, bits, one),
        closer = arith::SubIOp::create(b, loc, bits, one);
  Value next = arith::SelectOp::create(b, loc, goesOut, further, closer);
  // From zero to the smallest number on y's side.
  Value magnitude = arith::AndIOp::create(b, loc, bits, constant(APInt::getSignedMaxValue(width)));
  Value isZero = arith::CmpIOp::create(b, loc, CmpIPredicate::eq, magnitude, zero);
  Value side = arith::AndIOp::create(b, loc, toBits(y), sign);
  Value smallest = arith::OrIOp::create(b, loc, side, one);
  next = arith::SelectOp::create(b, loc, isZero, smallest, next);
  Value result = arith::BitcastOp::create(b, loc, element, next);
  if (compute != element)
    result = arith::ExtFOp::create(b, loc, compute, result);
  Value isEqual = arith::CmpFOp::create(b, loc, CmpFPredicate::OEQ, x, y);
  result = arith::SelectOp::create(b, loc, isEqual, y, result);
  Value isNan = arith::CmpFOp::create(b, loc, CmpFPredicate::UNO, x, y);
  Value nan = arith::AddFOp::create(b, loc, x, y);
  return arith::SelectOp::create(b, loc, isNan, nan, result);
}

} // namespace xc
