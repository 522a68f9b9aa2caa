#!/usr/bin/env python3
"""Fits the polynomials of compiler/Codegen/Common/MathCoefficients.h (needs python3-mpmath; run by hand).

Each fit is a minimax polynomial by the Remez exchange on a grid of Chebyshev points, of the weighted
error weight(x) * (p(x) - f(x)); the weight makes that error relative to the function that p is a part of.
Prints the header to standard output (to be formatted by clang-format) and the error of each fit to standard error.
"""
import sys
from mpmath import mp, mpf, matrix, lu_solve, cos, pi, exp, log, atanh, sin, asin, atan, erf, erfc, sqrt, cbrt, tanh

mp.dps = 45


def remez(f, weight, lo, hi, degree, points=700):
    lo, hi = mpf(lo), mpf(hi)
    grid = [(lo + hi) / 2 - (hi - lo) / 2 * cos(pi * (i + mpf(1) / 2) / points) for i in range(points)]
    values = [f(x) for x in grid]
    weights = [weight(x) for x in grid]
    n = degree + 2
    nodes = [min(points - 1, int((i + mpf(1) / 2) * points / n)) for i in range(n)]
    for _ in range(30):
        a, b = matrix(n, n), matrix(n, 1)
        for i, k in enumerate(nodes):
            power = weights[k]
            for j in range(n - 1):
                a[i, j] = power
                power *= grid[k]
            a[i, n - 1] = (-1) ** i
            b[i] = values[k] * weights[k]
        solution = lu_solve(a, b)
        coefficients = [solution[i] for i in range(n - 1)]
        errors = []
        for x, y, w in zip(grid, values, weights):
            p = mpf(0)
            for c in reversed(coefficients):
                p = p * x + c
            errors.append((p - y) * w)
        # One extremum for each run of errors of one sign; keep n of them that alternate.
        extrema, best = [], 0
        for i in range(1, points):
            if (errors[i] > 0) != (errors[best] > 0):
                extrema.append(best)
                best = i
            elif abs(errors[i]) > abs(errors[best]):
                best = i
        extrema.append(best)
        while len(extrema) > n:
            extrema.pop(0 if abs(errors[extrema[0]]) < abs(errors[extrema[-1]]) else -1)
        worst = max(abs(e) for e in errors)
        if len(extrema) < n or extrema == nodes:
            break
        nodes = extrema
        if worst < abs(solution[n - 1]) * mpf("1.001"):
            break
    return coefficients, worst


def taylor_guard(f, series, threshold):
    """f, or its Taylor series near 0, where the closed form cancels."""
    def g(x):
        if abs(x) > threshold:
            return f(x)
        return sum(c * x ** k for k, c in enumerate(series))
    return g


factorial = mp.factorial
exp_tail = taylor_guard(lambda r: (exp(r) - 1 - r) / r ** 2, [1 / factorial(k + 2) for k in range(12)], mpf("1e-4"))
log_tail = taylor_guard(lambda f: (mp.log1p(f) - f + f * f / 2) / f ** 3,
                        [mpf((-1) ** k) / (k + 3) for k in range(14)], mpf("1e-4"))
atanh2_tail = taylor_guard(lambda z: (2 * atanh(sqrt(z)) / sqrt(z) - 2) / z, [mpf(2) / (2 * k + 3) for k in range(12)], mpf("1e-4"))
atanh4_tail = taylor_guard(lambda z: ((2 * atanh(sqrt(z)) / sqrt(z) - 2) / z - mpf(2) / 3) / z,
                           [mpf(2) / (2 * k + 5) for k in range(12)], mpf("1e-4"))
sin_tail = taylor_guard(lambda z: (sin(sqrt(z)) / sqrt(z) - 1) / z, [(-1) ** (k + 1) / factorial(2 * k + 3) for k in range(10)], mpf("1e-4"))
cos_tail = taylor_guard(lambda z: (cos(sqrt(z)) - 1 + z / 2) / z ** 2, [(-1) ** k / factorial(2 * k + 4) for k in range(10)], mpf("1e-4"))
asin_tail = taylor_guard(lambda z: (asin(sqrt(z)) / sqrt(z) - 1) / z,
                         [factorial(2 * k) / (4 ** k * factorial(k) ** 2 * (2 * k + 1)) for k in range(1, 13)], mpf("1e-4"))
atan_tail = taylor_guard(lambda z: (atan(sqrt(z)) / sqrt(z) - 1) / z, [mpf((-1) ** (k + 1)) / (2 * k + 3) for k in range(12)], mpf("1e-4"))
erf_factor = taylor_guard(lambda z: erf(sqrt(z)) / sqrt(z) - 1,
                          [2 / sqrt(pi) * (-1) ** k / (factorial(k) * (2 * k + 1)) - (1 if k == 0 else 0) for k in range(12)], mpf("1e-4"))


def scaled_erfc(center):
    def f(q):
        x = center * (1 + q) / (1 - q)
        return (1 + 2 * x) * exp(x * x) * erfc(x)
    return f


tanh_tail = taylor_guard(lambda z: (tanh(sqrt(z)) / sqrt(z) - 1) / z,
                         [mpf(-1) / 3, mpf(2) / 15, mpf(-17) / 315, mpf(62) / 2835, mpf(-1382) / 155925], mpf("1e-6"))

half_ln2 = log(2) / 2 * mpf("1.01")
square = lambda x: x * x
quarter_pi2 = square(pi / 4 * mpf("1.01"))
tan_pi8_2 = square(mpf("0.4143"))
log_f64_z = square((sqrt(2) - 1) / (sqrt(2) + 1) * mpf("1.01"))
one = lambda x: mpf(1)
same = lambda x: x
third = mpf(1) / 3 * mpf("1.001")


def erfc_end(x, center):
    return (mpf(x) - center) / (mpf(x) + center)


FITS = [
    # name, comment, f32 (f, weight, lo, hi, degree), f64 (the same)
    ("Exp", "exp(r) = 1 + r + r^2 P(r), |r| <= ln(2)/2",
     (exp_tail, abs, -half_ln2, half_ln2, 5), (exp_tail, abs, -half_ln2, half_ln2, 10)),
    ("Log", "f32: log(1+f) = f - f^2/2 + f^3 P(f), |f| <= 1/3; f64: log(1+f) = 2s + s^3 P(s^2), s = f/(2+f)",
     (log_tail, square, -third, third, 7), (atanh2_tail, same, 0, log_f64_z, 6)),
    ("LogPair", "log(1+f) = 2s + 2/3 s^3 + s^5 P(s^2), s = f/(2+f), to twice the precision",
     (atanh4_tail, square, 0, log_f64_z, 2), (atanh4_tail, square, 0, log_f64_z, 7)),
    ("Sin", "sin(r) = r + r^3 P(r^2), |r| <= pi/4",
     (sin_tail, same, 0, quarter_pi2, 2), (sin_tail, same, 0, quarter_pi2, 5)),
    ("Cos", "cos(r) = 1 - r^2/2 + r^4 P(r^2), |r| <= pi/4",
     (cos_tail, square, 0, quarter_pi2, 2), (cos_tail, square, 0, quarter_pi2, 5)),
    ("Asin", "asin(x) = x + x^3 P(x^2), |x| <= 1/2",
     (asin_tail, same, 0, mpf("0.251"), 4), (asin_tail, same, 0, mpf("0.251"), 12)),
    ("Atan", "atan(t) = t + t^3 P(t^2), |t| <= tan(pi/8)",
     (atan_tail, same, 0, tan_pi8_2, 4), (atan_tail, same, 0, tan_pi8_2, 11)),
    ("Erf", "erf(x) = x + x P(x^2), |x| <= 1",
     (erf_factor, one, 0, mpf("1.001"), 6), (erf_factor, one, 0, mpf("1.001"), 11)),
    ("Erfc", "(1+2x) exp(x^2) erfc(x) = P(q), q = (x-c)/(x+c), 0 <= x; c = 2 (f32), 4 (f64)",
     (scaled_erfc(2), lambda q: 1 / scaled_erfc(2)(q), -1, erfc_end("10.2", 2), 11),
     (scaled_erfc(4), lambda q: 1 / scaled_erfc(4)(q), -1, erfc_end("27.3", 4), 23)),
    ("ErfTail", "f32: erf(x) = 1 - exp(-P(x)), 0.9 <= x <= 4",
     (lambda x: -log(erfc(x)), lambda x: erfc(x) / erf(x), mpf("0.9"), mpf("4.05"), 6)),
    ("Tanh", "f32: tanh(x) = x + x^3 P(x^2), |x| <= 0.55",
     (tanh_tail, lambda z: z * sqrt(z) / tanh(sqrt(z)), 0, mpf("0.304"), 4)),
    ("Cbrt", "cbrt(m) to about 8 bits, 1/4 < m < 2",
     (cbrt, lambda m: 1 / cbrt(m), mpf("0.25"), 2, 4), (cbrt, lambda m: 1 / cbrt(m), mpf("0.25"), 2, 4)),
]


def main():
    print("""//===- MathCoefficients.h - Minimax polynomials of the math functions -----===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Generated by scripts/fit-math-polynomials.py; lowest power first. Beside each is the largest error of the
// fit itself, relative to the function that the polynomial is a part of.
//
//===----------------------------------------------------------------------===//

#ifndef XC_CODEGEN_COMMON_MATHCOEFFICIENTS_H
#define XC_CODEGEN_COMMON_MATHCOEFFICIENTS_H

namespace xc::codegen {
""")
    for name, comment, *fits in FITS:
        print(f"// {comment}")
        for kind, (f, weight, lo, hi, degree) in zip(("F32", "F64"), fits):
            coefficients, worst = remez(f, weight, lo, hi, degree)
            bits = float(mp.log(worst, 2))
            print(f"{name}{kind} degree {degree}: 2^{bits:.1f}", file=sys.stderr)
            body = ",\n    ".join(mp.nstr(c, 20, min_fixed=0, max_fixed=0) for c in coefficients)
            print(f"inline constexpr double k{name}{kind}[] = {{ // 2^{bits:.1f}\n    {body}}};")
        print()
    print("} // namespace xc::codegen\n\n#endif // XC_CODEGEN_COMMON_MATHCOEFFICIENTS_H")


if __name__ == "__main__":
    main()
