//===- reference.c - Errors of math functions against long double ---------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// measure_math.py loads this. Errors are in units in the last place of the correctly rounded
// result, in the result's own type; where the C library's long double has 64 bits of significand or
// more, as on x86-64 and AArch64, its own error is below a thousandth of an f64's ulp.
//
//===----------------------------------------------------------------------===//

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

typedef long double real;
typedef real (*unary)(real);
typedef real (*binary)(real, real);

static real rsqrt_l(real x) { return 1 / sqrtl(x); }

static const struct {
  const char *name;
  unary one;
  binary two;
} kFunctions[] = {
    {"exp", expl, 0},     {"exp2", exp2l, 0},   {"expm1", expm1l, 0},  {"log", logl, 0},
    {"log2", log2l, 0},   {"log10", log10l, 0}, {"log1p", log1pl, 0},  {"sin", sinl, 0},
    {"cos", cosl, 0},     {"tan", tanl, 0},     {"asin", asinl, 0},    {"acos", acosl, 0},
    {"atan", atanl, 0},   {"sinh", sinhl, 0},   {"cosh", coshl, 0},    {"tanh", tanhl, 0},
    {"asinh", asinhl, 0}, {"acosh", acoshl, 0}, {"atanh", atanhl, 0},  {"erf", erfl, 0},
    {"erfc", erfcl, 0},   {"cbrt", cbrtl, 0},   {"rsqrt", rsqrt_l, 0}, {"round", roundl, 0},
    {"powf", 0, powl},    {"atan2", 0, atan2l}, {"remf", 0, fmodl},
};

/// The error of `got` in ulps of a type with the given precision and exponents; INFINITY where one
/// of the two is NaN, infinite or a zero of the wrong sign and the other is not.
static double ulps(real expected, double got, int digits, int minExponent, real overflow) {
  if (isnan(expected) || isnan(got))
    return isnan(expected) && isnan(got) ? 0 : INFINITY;
  if (isinf(got))
    return !signbit(expected) == !signbit(got) && fabsl(expected) >= overflow ? 0 : INFINITY;
  if (isinf(expected))
    return INFINITY;
  if (expected == 0 && got == 0)
    return !signbit(expected) == !signbit(got) ? 0 : INFINITY;
  int exponent = expected == 0 ? minExponent : ilogbl(expected);
  if (exponent < minExponent)
    exponent = minExponent;
  return (double)ldexpl(fabsl((real)got - expected), digits - 1 - exponent);
}

/// Returns the largest error of y[i] as `name`(x[i]) or `name`(x[i], z[i]), and its index; -1 for
/// an unknown name.
double measure(const char *name, int isF32, const void *x, const void *z, const void *y,
               int64_t count, int64_t *worst) {
  for (unsigned f = 0; f < sizeof kFunctions / sizeof *kFunctions; ++f) {
    if (strcmp(name, kFunctions[f].name) != 0)
      continue;
    double largest = -1;
    for (int64_t i = 0; i < count; ++i) {
      real a = isF32 ? (real)((const float *)x)[i] : (real)((const double *)x)[i];
      real b = !z ? 0 : isF32 ? (real)((const float *)z)[i] : (real)((const double *)z)[i];
      double got = isF32 ? (double)((const float *)y)[i] : ((const double *)y)[i];
      real expected = kFunctions[f].one ? kFunctions[f].one(a) : kFunctions[f].two(a, b);
      // Half an ulp beyond the largest finite number is where rounding gives infinity.
      double error =
          isF32 ? ulps(expected, got, FLT_MANT_DIG, FLT_MIN_EXP - 1, FLT_MAX * (1 - 0x1p-22L))
                : ulps(expected, got, DBL_MANT_DIG, DBL_MIN_EXP - 1, DBL_MAX * (1 - 0x1p-51L));
      if (error > largest) {
        largest = error;
        *worst = i;
      }
    }
    return largest;
  }
  return -1;
}
