//===- MathBuilder.h - Arithmetic on f32 or f64, scalar or vector ---------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The vocabulary in which the expansions of `math` ops are written: each method
// builds one operation, or a short exact idiom, on values of one shape. Nothing
// here carries fast-math flags, since the error-free transformations and the
// rounding by a magic number are only right as they are written.
//
//===----------------------------------------------------------------------===//

#ifndef XC_CODEGEN_COMMON_MATHBUILDER_H
#define XC_CODEGEN_COMMON_MATHBUILDER_H

#include "compiler/Codegen/Common/ExpandMath.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace xc::codegen {

/// An unevaluated sum hi + lo with |lo| <= ulp(hi) / 2: about twice the
/// precision of the type.
struct Pair {
  mlir::Value hi, lo;
};

class MathBuilder {
public:
  /// Builds at the insertion point of `builder`, for values of `type`: f32,
  /// f64, or a fixed vector of these.
  MathBuilder(mlir::OpBuilder &builder, mlir::Location loc, mlir::Type type,
              const MathExpansion &options);

  mlir::ImplicitLocOpBuilder &ops() { return builder; }
  const MathExpansion &options() const { return settings; }

  //===--- The type ---===//
  bool isF32() const { return f32; }
  mlir::Type floatType() const { return type; }
  mlir::Type intType() const { return integerType; }
  /// Bits of the significand that are stored.
  int mantissaBits() const { return f32 ? 23 : 52; }
  int exponentBias() const { return f32 ? 127 : 1023; }
  /// `forF32` or `forF64`, whichever this builder is for.
  template <typename T> T pick(T forF32, T forF64) const { return f32 ? forF32 : forF64; }
  /// The smallest normal number, and the largest finite one.
  double minNormal() const;
  double maxFinite() const;

  //===--- Constants, splat over vectors ---===//
  mlir::Value constant(double value);
  mlir::Value integer(int64_t value);
  mlir::Value infinity();
  mlir::Value nan();

  //===--- Floating point ---===//
  mlir::Value add(mlir::Value x, mlir::Value y) { return create<mlir::arith::AddFOp>(x, y); }
  mlir::Value sub(mlir::Value x, mlir::Value y) { return create<mlir::arith::SubFOp>(x, y); }
  mlir::Value mul(mlir::Value x, mlir::Value y) { return create<mlir::arith::MulFOp>(x, y); }
  mlir::Value div(mlir::Value x, mlir::Value y) { return create<mlir::arith::DivFOp>(x, y); }
  /// x / y within 1 unit in the last place, where y and 1 / y are normal and x / y does not
  /// overflow.
  mlir::Value quotient(mlir::Value x, mlir::Value y);
  /// x / y within 3 units, where 1 / y is normal, or y infinite and x not.
  mlir::Value roughQuotient(mlir::Value x, mlir::Value y);
  mlir::Value neg(mlir::Value x) { return create<mlir::arith::NegFOp>(x); }
  mlir::Value abs(mlir::Value x);
  mlir::Value sqrt(mlir::Value x);
  mlir::Value trunc(mlir::Value x);
  mlir::Value copysign(mlir::Value magnitude, mlir::Value sign);
  /// x * y + z: fused where the target fuses, else rounded twice.
  mlir::Value fma(mlir::Value x, mlir::Value y, mlir::Value z);
  /// The polynomial sum of coefficients[i] * x^i, by Horner's scheme.
  mlir::Value polynomial(mlir::Value x, llvm::ArrayRef<double> coefficients);

  //===--- Comparison (ordered: false where an operand is NaN) and choice
  //---===//
  mlir::Value less(mlir::Value x, mlir::Value y) {
    return compare(mlir::arith::CmpFPredicate::OLT, x, y);
  }
  mlir::Value lessEqual(mlir::Value x, mlir::Value y) {
    return compare(mlir::arith::CmpFPredicate::OLE, x, y);
  }
  mlir::Value greater(mlir::Value x, mlir::Value y) {
    return compare(mlir::arith::CmpFPredicate::OGT, x, y);
  }
  mlir::Value greaterEqual(mlir::Value x, mlir::Value y) {
    return compare(mlir::arith::CmpFPredicate::OGE, x, y);
  }
  mlir::Value equal(mlir::Value x, mlir::Value y) {
    return compare(mlir::arith::CmpFPredicate::OEQ, x, y);
  }
  mlir::Value isNan(mlir::Value x) { return compare(mlir::arith::CmpFPredicate::UNO, x, x); }
  mlir::Value compare(mlir::arith::CmpFPredicate predicate, mlir::Value x, mlir::Value y) {
    return mlir::arith::CmpFOp::create(builder, predicate, x, y);
  }
  mlir::Value select(mlir::Value condition, mlir::Value x, mlir::Value y) {
    return create<mlir::arith::SelectOp>(condition, x, y);
  }
  /// x limited to [low, high]; NaN stays NaN.
  mlir::Value clamp(mlir::Value x, double low, double high);

  //===--- Integers of the float's width, and bits ---===//
  mlir::Value bits(mlir::Value x);
  mlir::Value fromBits(mlir::Value x);
  mlir::Value addInt(mlir::Value x, mlir::Value y) { return create<mlir::arith::AddIOp>(x, y); }
  mlir::Value subInt(mlir::Value x, mlir::Value y) { return create<mlir::arith::SubIOp>(x, y); }
  mlir::Value mulInt(mlir::Value x, mlir::Value y) { return create<mlir::arith::MulIOp>(x, y); }
  mlir::Value andInt(mlir::Value x, mlir::Value y) { return create<mlir::arith::AndIOp>(x, y); }
  mlir::Value orInt(mlir::Value x, mlir::Value y) { return create<mlir::arith::OrIOp>(x, y); }
  mlir::Value xorInt(mlir::Value x, mlir::Value y) { return create<mlir::arith::XOrIOp>(x, y); }
  mlir::Value shiftLeft(mlir::Value x, int64_t amount);
  mlir::Value shiftRight(mlir::Value x, int64_t amount);
  /// x with its sign bit flipped where `sign` (an integer) has its sign bit
  /// set.
  mlir::Value flipSign(mlir::Value x, mlir::Value sign);
  /// The nearest integer to x (|x| < 2^22 or 2^51) as a float, and its low bits
  /// as an integer whose upper bits are of no use. One addition, and on vectors
  /// far cheaper than a conversion.
  struct Rounded {
    mlir::Value value, lowBits;
  };
  Rounded round(mlir::Value x);
  /// round(x * scale), with the product and the sum fused.
  Rounded roundProduct(mlir::Value x, double scale);
  /// 2^x for f32 by the target's instruction. With `normal`, neither x nor the result is denormal.
  mlir::Value exp2ByInstruction(mlir::Value x, bool normal);
  /// 2^n, for an integer whose low bits are those of n; 2^n must be normal.
  mlir::Value exp2(mlir::Value lowBits);
  /// An integer of intType, |x| < 2^22 or 2^51, as a float.
  mlir::Value toFloat(mlir::Value x);

  //===--- Error-free transformations, and pairs ---===//
  /// x + y exactly, where |x| >= |y| or x = 0.
  Pair fastTwoSum(mlir::Value x, mlir::Value y);
  /// x + y exactly.
  Pair twoSum(mlir::Value x, mlir::Value y);
  /// x * y exactly (barring underflow).
  Pair twoProduct(mlir::Value x, mlir::Value y);
  /// hi + lo; for f32, the nearest pair to hi alone.
  Pair constantPair(double hi, double lo);
  Pair addPair(Pair x, Pair y);
  Pair addPair(Pair x, mlir::Value y);
  Pair mulPair(Pair x, Pair y);
  Pair mulPair(Pair x, mlir::Value y);
  /// x / y for single x, where 1 / y is normal.
  Pair divPair(mlir::Value x, Pair y);

  //===--- Control, where a rare case is too dear to compute always ---===//
  /// Whether a condition holds in at least one lane, as an i1.
  mlir::Value anyLane(mlir::Value condition);

private:
  bool hasReciprocal() const { return f32 && settings.hasReciprocal; }
  /// 1 / x by the target's instruction.
  mlir::Value reciprocal(mlir::Value x);
  template <typename Op, typename... Args> mlir::Value create(Args... args) {
    return Op::create(builder, args...);
  }
  /// The upper half of x's significand: products of two such are exact.
  mlir::Value upperHalf(mlir::Value x);

  mlir::ImplicitLocOpBuilder builder;
  const MathExpansion &settings;
  mlir::Type type, integerType;
  bool f32;
};

} // namespace xc::codegen

#endif // XC_CODEGEN_COMMON_MATHBUILDER_H
