//===- ExpandMath.h - Math functions as arithmetic ------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_CODEGEN_COMMON_EXPANDMATH_H
#define XC_CODEGEN_COMMON_EXPANDMATH_H

#include "mlir/IR/Value.h"

#include <functional>

namespace mlir {
class RewritePatternSet;
} // namespace mlir

namespace xc::codegen {

class MathBuilder;

/// What the expansions may assume about the target and the user's wishes.
struct MathExpansion {
  /// Trade accuracy for speed: denormal results may become zero, huge arguments
  /// of sin, cos and tan lose accuracy, pow has a relative error that grows
  /// with |y log x|.
  bool fastMath = false;
  /// The target has fused multiply-add instructions. Without them `math.fma`
  /// itself is expanded too.
  bool hasFma = true;
  /// The target computes `math.exp2` on f32 in an instruction with an error below 2 units in the
  /// last place; with `afn` it may take denormal numbers for zero. exp, and what is made of it, is
  /// built on that instruction then.
  bool hasExp2 = false;
  /// The target computes `math.log2` on f32 with `afn` in an instruction with an error of 2^-22,
  /// absolutely in (0.5, 2) and relatively elsewhere; it may take denormal numbers for zero.
  bool hasLog2 = false;
  /// The target computes `math.tanh` on f32 with `afn` in an instruction with a relative error
  /// below 2^-10; used under fastMath only.
  bool hasTanh = false;
  /// The target computes `arith.divf` of 1 by x on f32 with `afn` in an instruction with an error
  /// of 1 unit in the last place, where x and 1 / x are normal numbers (infinity gives 0), and
  /// `math.rsqrt` with `afn` in one with an error of 2, which may take denormal numbers for zero.
  /// Quotients within functions, and rsqrt, are built on those.
  bool hasReciprocal = false;
  /// arith.minimumf and arith.maximumf are one instruction each.
  bool hasMinMax = false;
  /// Ops for which this returns true are left alone: the target has something
  /// better.
  std::function<bool(mlir::Operation *)> keep;
};

/// Patterns that replace every `math` op on scalars and fixed vectors of f16,
/// bf16, f32 and f64 that is not an instruction of both targets (sqrt, floor,
/// ceil, trunc, roundeven, absf, copysign, fma, and the integer ops but ipowi),
/// and `arith.remf`, by arithmetic. No library call remains.
void populateExpandMathPatterns(mlir::RewritePatternSet &patterns, const MathExpansion &options);

/// Patterns that replace conversions to and from f16 and bf16 by integer
/// arithmetic, all roundings to nearest even and rounded once: bf16 always; f16
/// <-> f32 only if not `hasF16Conversion`; f16 <-> f64 always, through f32.
/// Arithmetic on these types must have been widened to f32 before.
void populateExpandSmallFloatPatterns(mlir::RewritePatternSet &patterns, bool hasF16Conversion);

//===----------------------------------------------------------------------===//
// The functions, for f32 and f64 (the builder knows which). Errors:
// docs/math-accuracy.md.
//===----------------------------------------------------------------------===//

mlir::Value expandExp(MathBuilder &b, mlir::Value x);
mlir::Value expandExp2(MathBuilder &b, mlir::Value x);
mlir::Value expandExpM1(MathBuilder &b, mlir::Value x);
mlir::Value expandSinh(MathBuilder &b, mlir::Value x);
mlir::Value expandCosh(MathBuilder &b, mlir::Value x);
mlir::Value expandTanh(MathBuilder &b, mlir::Value x);
/// tanh(log(1 + x)), rounded about as often as a quotient.
mlir::Value expandTanhOfLog1p(MathBuilder &b, mlir::Value x);

mlir::Value expandLog(MathBuilder &b, mlir::Value x);
mlir::Value expandLog1p(MathBuilder &b, mlir::Value x);
mlir::Value expandLog2(MathBuilder &b, mlir::Value x);
mlir::Value expandLog10(MathBuilder &b, mlir::Value x);
mlir::Value expandAsinh(MathBuilder &b, mlir::Value x);
mlir::Value expandAcosh(MathBuilder &b, mlir::Value x);
mlir::Value expandAtanh(MathBuilder &b, mlir::Value x);
mlir::Value expandPow(MathBuilder &b, mlir::Value x, mlir::Value y);

mlir::Value expandSin(MathBuilder &b, mlir::Value x);
mlir::Value expandCos(MathBuilder &b, mlir::Value x);
mlir::Value expandTan(MathBuilder &b, mlir::Value x);
std::pair<mlir::Value, mlir::Value> expandSinCos(MathBuilder &b, mlir::Value x);

mlir::Value expandAsin(MathBuilder &b, mlir::Value x);
mlir::Value expandAcos(MathBuilder &b, mlir::Value x);
mlir::Value expandAtan(MathBuilder &b, mlir::Value x);
mlir::Value expandAtan2(MathBuilder &b, mlir::Value y, mlir::Value x);

mlir::Value expandErf(MathBuilder &b, mlir::Value x);
mlir::Value expandErfc(MathBuilder &b, mlir::Value x);

mlir::Value expandCbrt(MathBuilder &b, mlir::Value x);
mlir::Value expandRsqrt(MathBuilder &b, mlir::Value x);
mlir::Value expandRound(MathBuilder &b, mlir::Value x);
/// The remainder of x / y with the sign of x, exact as C's fmod.
mlir::Value expandRem(MathBuilder &b, mlir::Value x, mlir::Value y);
/// Fused multiply-add for targets without: f64 is rounded once but for double
/// rounding in rare cases and for intermediate overflow, f32 is computed in
/// f64.
mlir::Value expandFma(MathBuilder &b, mlir::Value x, mlir::Value y, mlir::Value z);

/// `type`, a scalar or shaped, with elements of type `element`.
mlir::Type withElement(mlir::Type type, mlir::Type element);

} // namespace xc::codegen

#endif // XC_CODEGEN_COMMON_EXPANDMATH_H
