//===- ExpandMathTrig.cpp - sin, cos, tan ---------------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// |x| is reduced to r in [-pi/4, pi/4] and a quadrant; polynomials give sin(r)
// and cos(r), and the quadrant says which of them, with which sign. The lower
// part of r enters as its first-order effect, as in fdlibm.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/Common/MathBuilder.h"
#include "compiler/Codegen/Common/MathCoefficients.h"
#include "compiler/Codegen/Common/MathPieces.h"

using namespace mlir;

namespace xc::codegen {

namespace {
/// sin and cos of a reduced argument.
struct SinCos {
  Value sin, cos;
};
} // namespace

static SinCos sinCosOfReduced(MathBuilder &b, Pair r) {
  Value z = b.mul(r.hi, r.hi);
  Value halfZ = b.mul(z, b.constant(0.5));
  Value sinSeries = b.polynomial(z, b.pick(ArrayRef<double>(kSinF32), ArrayRef<double>(kSinF64)));
  Value cosSeries = b.polynomial(z, b.pick(ArrayRef<double>(kCosF32), ArrayRef<double>(kCosF64)));
  Value cube = b.mul(z, r.hi);

  Value sinRest =
      r.lo ? b.fma(cube, sinSeries, b.sub(r.lo, b.mul(halfZ, r.lo))) : b.mul(cube, sinSeries);
  Value one = b.constant(1.0);
  Value head = b.sub(one, halfZ);
  Value cosRest = b.mul(b.mul(z, z), cosSeries);
  if (r.lo)
    cosRest = b.sub(cosRest, b.mul(r.hi, r.lo));
  cosRest = b.add(b.sub(b.sub(one, head), halfZ), cosRest);
  return {b.add(r.hi, sinRest), b.add(head, cosRest)};
}

/// Whether bit `bit` of the quadrant is set.
static Value quadrantBit(MathBuilder &b, Value quadrant, int64_t bit) {
  Value masked = b.andInt(quadrant, b.integer(bit));
  return arith::CmpIOp::create(b.ops(), arith::CmpIPredicate::ne, masked, b.integer(0));
}

/// sin(r + quadrant pi/2).
static Value sinOfQuadrant(MathBuilder &b, SinCos values, Value quadrant) {
  Value result = b.select(quadrantBit(b, quadrant, 1), values.cos, values.sin);
  return b.flipSign(result, b.shiftLeft(quadrant, b.pick(30, 62)));
}

/// sin(r + quadrant pi/2), of a reduced argument without a lower part. Both series are one
/// polynomial, whose coefficients are chosen while r is computed: sin is r + r z (0 z^3 + ...), cos
/// is 1 + z (c z^3 + ... - 1/2).
static Value sinOfShortReduced(MathBuilder &b, Value r, Value quadrant) {
  Value odd = quadrantBit(b, quadrant, 1), z = b.mul(r, r);
  auto choose = [&](double ofCos, double ofSin) {
    return b.select(odd, b.constant(ofCos), b.constant(ofSin));
  };
  // By halves, which wait for each other less than Horner's steps do.
  Value upper = b.fma(choose(kCosF32[2], 0.0), z, choose(kCosF32[1], kSinF32[2]));
  Value lower = b.fma(choose(kCosF32[0], kSinF32[1]), z, choose(-0.5, kSinF32[0]));
  Value series = b.fma(upper, b.mul(z, z), lower);
  Value first = b.select(odd, b.constant(1.0), r);
  Value result = b.fma(series, b.mul(first, z), first);
  return b.flipSign(result, b.shiftLeft(quadrant, 30));
}

static Value sinOfReduction(MathBuilder &b, const TrigReduction &reduction, Value quadrant) {
  if (!reduction.r.lo)
    return sinOfShortReduced(b, reduction.r.hi, quadrant);
  return sinOfQuadrant(b, sinCosOfReduced(b, reduction.r), quadrant);
}

std::pair<Value, Value> expandSinCos(MathBuilder &b, Value x) {
  auto build = [](MathBuilder &w, const TrigReduction &reduction) -> SmallVector<Value> {
    SinCos values = sinCosOfReduced(w, reduction.r);
    Value next = w.addInt(reduction.quadrant, w.integer(1));
    return {sinOfQuadrant(w, values, reduction.quadrant), sinOfQuadrant(w, values, next)};
  };
  SmallVector<Value> results = mapModuloHalfPi(b, b.abs(x), build);
  return {b.flipSign(results[0], b.bits(x)), results[1]};
}

Value expandSin(MathBuilder &b, Value x) {
  auto build = [](MathBuilder &w, const TrigReduction &reduction) -> SmallVector<Value> {
    return {sinOfReduction(w, reduction, reduction.quadrant)};
  };
  return b.flipSign(mapModuloHalfPi(b, b.abs(x), build).front(), b.bits(x));
}

Value expandCos(MathBuilder &b, Value x) {
  auto build = [](MathBuilder &w, const TrigReduction &reduction) -> SmallVector<Value> {
    return {sinOfReduction(w, reduction, w.addInt(reduction.quadrant, w.integer(1)))};
  };
  return mapModuloHalfPi(b, b.abs(x), build).front();
}

Value expandTan(MathBuilder &b, Value x) {
  auto build = [](MathBuilder &w, const TrigReduction &reduction) -> SmallVector<Value> {
    SinCos values = sinCosOfReduced(w, reduction.r);
    // tan(r + pi/2) = -cos(r) / sin(r).
    Value odd = quadrantBit(w, reduction.quadrant, 1);
    Value quotient =
        w.quotient(w.select(odd, values.cos, values.sin), w.select(odd, values.sin, values.cos));
    return {w.flipSign(quotient, w.shiftLeft(reduction.quadrant, w.pick(31, 63)))};
  };
  return b.flipSign(mapModuloHalfPi(b, b.abs(x), build).front(), b.bits(x));
}

} // namespace xc::codegen
