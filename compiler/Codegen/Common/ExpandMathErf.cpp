//===- ExpandMathErf.cpp - erf and erfc -----------------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// erfc(x) = exp(-x^2) P(q) / (1 + 2x) for x >= 0 and q = (x - c) / (x + c): one
// polynomial for the whole half line, after M. M. Shepherd and J. G.
// Laframboise, "Chebyshev approximation of (1 + 2x) exp(x^2) erfc(x)" (1981).
// Below 1 erf is an odd polynomial.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/Common/MathBuilder.h"
#include "compiler/Codegen/Common/MathCoefficients.h"
#include "compiler/Codegen/Common/MathPieces.h"

using namespace mlir;

namespace xc::codegen {

/// erfc(x) for x >= 0.
static Value erfcOfPositive(MathBuilder &b, Value x) {
  // From here on the result is 0, and the square stays small.
  x = b.clamp(x, 0.0, b.pick(10.2, 27.3));
  Value center = b.constant(b.pick(2.0, 4.0));
  Value q = b.quotient(b.sub(x, center), b.add(x, center));
  Value series = b.polynomial(q, b.pick(ArrayRef<double>(kErfcF32), ArrayRef<double>(kErfcF64)));
  Value one = b.constant(1.0);
  Value factor = b.quotient(series, b.add(b.add(x, x), one));
  Pair square = b.twoProduct(x, x);
  Value decay = expandExpPair(b, {b.neg(square.hi), b.neg(square.lo)});
  return b.mul(decay, factor);
}

/// erf(x) for 0 <= x <= 1; for larger x anything, infinity and NaN too.
static Value erfOfSmall(MathBuilder &b, Value x) {
  Value series =
      b.polynomial(b.mul(x, x), b.pick(ArrayRef<double>(kErfF32), ArrayRef<double>(kErfF64)));
  return b.fma(x, series, x);
}

Value expandErfc(MathBuilder &b, Value x) {
  Value magnitude = b.abs(x);
  Value one = b.constant(1.0);
  Value tail = erfcOfPositive(b, magnitude);
  Value large = b.select(b.less(x, b.constant(0.0)), b.sub(b.constant(2.0), tail), tail);
  // Near 0 the difference is the more accurate form.
  Value small = b.sub(one, b.copysign(erfOfSmall(b, magnitude), x));
  return b.select(b.less(magnitude, b.constant(0.75)), small, large);
}

Value expandErf(MathBuilder &b, Value x) {
  Value magnitude = b.abs(x);
  Value one = b.constant(1.0);
  Value tail;
  if (b.isF32()) {
    // erf rounds to 1 beyond 4.
    Value exponent = b.polynomial(b.clamp(magnitude, 0.9, 4.0), kErfTailF32);
    // The exponent is at most 17, and the tail is small beside 1: a plain product is enough.
    tail =
        b.options().hasExp2
            ? b.exp2ByInstruction(b.mul(exponent, b.constant(-1.4426950408889634)), /*normal=*/true)
            : expandExp(b, b.neg(exponent));
  } else {
    tail = erfcOfPositive(b, magnitude);
  }
  Value result = b.select(b.less(magnitude, one), erfOfSmall(b, magnitude), b.sub(one, tail));
  return b.copysign(result, x);
}

} // namespace xc::codegen
