//===- ElementwiseScalars.cpp - Elementwise array ops on one element ------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/ArrayToLinalg.h"
#include "compiler/Dialect/Kernel/IR/Scan.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/TypeSwitch.h"

#include <cmath>

using namespace mlir;

namespace xc {

using arith::CmpFPredicate;
using arith::CmpIPredicate;

namespace {

/// Builds scalar operations on values of one element type.
class ScalarBuilder {
public:
  ScalarBuilder(OpBuilder &builder, Location loc, Type element)
      : b(loc, builder), element(element), isFloat(isa<FloatType>(element)),
        isUnsigned(element.isUnsignedInteger()) {}

  template <typename Op> Value unary(Value x) { return Op::create(b, x); }
  template <typename Op> Value binary(Value x, Value y) { return Op::create(b, x, y); }
  /// The op for floats, signed and unsigned integers.
  template <typename Float, typename Signed, typename Unsigned> Value pick(Value x, Value y) {
    return isFloat      ? binary<Float>(x, y)
           : isUnsigned ? binary<Unsigned>(x, y)
                        : binary<Signed>(x, y);
  }

  Value constant(Type type, int64_t value) { return scalarConstant(b, b.getLoc(), type, value); }
  Value constantLike(Value x, int64_t value) { return constant(x.getType(), value); }
  Value select(Value c, Value x, Value y) { return arith::SelectOp::create(b, c, x, y); }
  Value compare(CmpIPredicate predicate, Value x, Value y) {
    return arith::CmpIOp::create(b, predicate, x, y);
  }
  Value compare(CmpFPredicate predicate, Value x, Value y) {
    return arith::CmpFOp::create(b, predicate, x, y);
  }
  Value isZero(Value x) { return compare(CmpIPredicate::eq, x, constantLike(x, 0)); }
  Value isNegative(Value x) { return compare(CmpIPredicate::slt, x, constantLike(x, 0)); }

  Value abs(Value x);
  Value neg(Value x);
  Value sign(Value x);
  Value divide(Value x, Value y);
  Value remainder(Value x, Value y);
  Value power(Value x, Value y);
  Value compareAs(array::CompareDirection direction, Value x, Value y);
  /// The quotient rounded down, and the remainder with the divisor's sign.
  Value floorDivide(Value x, Value y);
  Value modulo(Value x, Value y);
  Value shiftLeft(Value x, Value y);
  Value shiftRight(Value x, Value y, bool arithmetic);

private:
  Value safeDivisor(Value x, Value y);
  Value needsStep(Value rest, Value y);

  ImplicitLocOpBuilder b;
  Type element;
  bool isFloat, isUnsigned;
};

} // namespace

Value ScalarBuilder::abs(Value x) {
  return isFloat ? unary<math::AbsFOp>(x) : isUnsigned ? x : unary<math::AbsIOp>(x);
}

Value ScalarBuilder::neg(Value x) {
  return isFloat ? unary<arith::NegFOp>(x) : binary<arith::SubIOp>(constantLike(x, 0), x);
}

Value ScalarBuilder::sign(Value x) {
  Value zero = constantLike(x, 0), one = constantLike(x, 1);
  if (isFloat) {
    // Zeros and NaN come out as they are.
    Value unit = binary<math::CopySignOp>(one, x);
    Value isPlain = compare(CmpFPredicate::ONE, x, zero);
    return select(isPlain, unit, x);
  }
  Value positive = select(isZero(x), zero, one);
  return isUnsigned ? positive : select(isNegative(x), constantLike(x, -1), positive);
}

/// y, or 1 where the division would trap.
Value ScalarBuilder::safeDivisor(Value x, Value y) {
  Value traps = isZero(y);
  if (!isUnsigned) {
    auto type = cast<IntegerType>(x.getType());
    Value lowest = arith::ConstantOp::create(
        b, b.getIntegerAttr(type, APInt::getSignedMinValue(type.getWidth())));
    Value overflows = binary<arith::AndIOp>(compare(CmpIPredicate::eq, x, lowest),
                                            compare(CmpIPredicate::eq, y, constantLike(y, -1)));
    traps = binary<arith::OrIOp>(traps, overflows);
  }
  return select(traps, constantLike(y, 1), y);
}

Value ScalarBuilder::divide(Value x, Value y) {
  if (isFloat)
    return binary<arith::DivFOp>(x, y);
  Value quotient = pick<arith::DivFOp, arith::DivSIOp, arith::DivUIOp>(x, safeDivisor(x, y));
  return select(isZero(y), constantLike(x, -1), quotient);
}

Value ScalarBuilder::remainder(Value x, Value y) {
  if (isFloat)
    return binary<arith::RemFOp>(x, y);
  Value rest = pick<arith::RemFOp, arith::RemSIOp, arith::RemUIOp>(x, safeDivisor(x, y));
  return select(isZero(y), x, rest);
}

/// i1: whether a remainder that rounds towards zero has the wrong sign for one that rounds down.
Value ScalarBuilder::needsStep(Value rest, Value y) {
  if (isFloat) {
    Value zero = constantLike(rest, 0);
    Value differ = binary<arith::XOrIOp>(compare(CmpFPredicate::OLT, rest, zero),
                                         compare(CmpFPredicate::OLT, y, zero));
    return binary<arith::AndIOp>(differ, compare(CmpFPredicate::ONE, rest, zero));
  }
  // With a divisor of zero nothing is moved.
  Value differ = isNegative(binary<arith::XOrIOp>(rest, y));
  Value isPlain = compare(CmpIPredicate::ne, rest, constantLike(rest, 0));
  Value divides = compare(CmpIPredicate::ne, y, constantLike(y, 0));
  return binary<arith::AndIOp>(differ, binary<arith::AndIOp>(isPlain, divides));
}

Value ScalarBuilder::modulo(Value x, Value y) {
  Value rest = remainder(x, y);
  if (isUnsigned)
    return rest;
  Value moved = pick<arith::AddFOp, arith::AddIOp, arith::AddIOp>(rest, y);
  Value result = select(needsStep(rest, y), moved, rest);
  if (!isFloat)
    return result;
  Value zero = constantLike(x, 0);
  return select(compare(CmpFPredicate::OEQ, result, zero), binary<math::CopySignOp>(zero, y),
                result);
}

Value ScalarBuilder::floorDivide(Value x, Value y) {
  if (isUnsigned)
    return divide(x, y);
  Value rest = remainder(x, y), one = constantLike(x, 1);
  if (!isFloat) {
    Value quotient = divide(x, y);
    return select(needsStep(rest, y), binary<arith::SubIOp>(quotient, one), quotient);
  }
  // What is left when the remainder is taken out divides almost exactly; rounding heals the rest.
  Value exact = binary<arith::DivFOp>(binary<arith::SubFOp>(x, rest), y);
  exact = select(needsStep(rest, y), binary<arith::SubFOp>(exact, one), exact);
  Value rounded = unary<math::RoundEvenOp>(exact);
  Value plain = binary<arith::DivFOp>(x, y), zero = constantLike(x, 0);
  Value signedZero = binary<math::CopySignOp>(zero, plain);
  rounded = select(compare(CmpFPredicate::OEQ, rounded, zero), signedZero, rounded);
  return select(compare(CmpFPredicate::OEQ, y, zero), plain, rounded);
}

// A shift by the count's low bits, of zero where the count is too large; as an unsigned number a
// negative count is. LLVM 22 makes a shift that is selected for counts below the width one
// instruction of PTX, whose count has 32 bits, and so forgets those above.

Value ScalarBuilder::shiftLeft(Value x, Value y) {
  int64_t bits = y.getType().getIntOrFloatBitWidth();
  Value fits = compare(CmpIPredicate::ult, y, constantLike(y, bits));
  return binary<arith::ShLIOp>(select(fits, x, constantLike(x, 0)),
                               binary<arith::AndIOp>(y, constantLike(y, bits - 1)));
}

Value ScalarBuilder::shiftRight(Value x, Value y, bool arithmetic) {
  int64_t bits = y.getType().getIntOrFloatBitWidth();
  Value fits = compare(CmpIPredicate::ult, y, constantLike(y, bits));
  if (arithmetic)
    return binary<arith::ShRSIOp>(x, select(fits, y, constantLike(y, bits - 1)));
  return binary<arith::ShRUIOp>(select(fits, x, constantLike(x, 0)),
                                binary<arith::AndIOp>(y, constantLike(y, bits - 1)));
}

Value ScalarBuilder::power(Value x, Value y) {
  if (isFloat)
    return binary<math::PowFOp>(x, y);
  if (!isUnsigned) {
    Value isPole = binary<arith::AndIOp>(isZero(x), isNegative(y));
    return select(isPole, constantLike(x, -1), binary<math::IPowIOp>(x, y));
  }
  // math.ipowi reads its exponent as signed: halve it, and multiply what is left over.
  Value one = constantLike(y, 1);
  Value root = binary<math::IPowIOp>(x, binary<arith::ShRUIOp>(y, one));
  Value isOdd = compare(CmpIPredicate::eq, binary<arith::AndIOp>(y, one), one);
  return binary<arith::MulIOp>(binary<arith::MulIOp>(root, root), select(isOdd, x, one));
}

Value ScalarBuilder::compareAs(array::CompareDirection direction, Value x, Value y) {
  using Direction = array::CompareDirection;
  struct Predicates {
    CmpFPredicate onFloat;
    CmpIPredicate onSigned, onUnsigned;
  };
  auto predicates = [&]() -> Predicates {
    switch (direction) {
    case Direction::Eq:
      return {CmpFPredicate::OEQ, CmpIPredicate::eq, CmpIPredicate::eq};
    case Direction::Ne:
      return {CmpFPredicate::UNE, CmpIPredicate::ne, CmpIPredicate::ne};
    case Direction::Lt:
      return {CmpFPredicate::OLT, CmpIPredicate::slt, CmpIPredicate::ult};
    case Direction::Le:
      return {CmpFPredicate::OLE, CmpIPredicate::sle, CmpIPredicate::ule};
    case Direction::Gt:
      return {CmpFPredicate::OGT, CmpIPredicate::sgt, CmpIPredicate::ugt};
    case Direction::Ge:
      return {CmpFPredicate::OGE, CmpIPredicate::sge, CmpIPredicate::uge};
    }
    llvm_unreachable("unknown direction");
  }();
  if (isFloat)
    return compare(predicates.onFloat, x, y);
  return compare(isUnsigned || element.isInteger(1) ? predicates.onUnsigned : predicates.onSigned,
                 x, y);
}

//===----------------------------------------------------------------------===//
// Conversion
//===----------------------------------------------------------------------===//

/// Rounds towards zero, saturates, and makes 0 of NaN.
static Value floatToInteger(OpBuilder &builder, Location loc, Value value, IntegerType to) {
  Type type = value.getType(), storage = storageElement(to);
  unsigned width = to.getWidth();
  bool isUnsigned = to.isUnsigned();
  ScalarBuilder b(builder, loc, type);
  auto floatConstant = [&](double x) -> Value {
    return arith::ConstantOp::create(builder, loc, builder.getFloatAttr(type, x));
  };
  auto integerConstant = [&](const APInt &x) -> Value {
    return arith::ConstantOp::create(builder, loc, builder.getIntegerAttr(storage, x));
  };
  // Both bounds are powers of two, so exact in any float; what reaches the conversion is in range.
  double below = isUnsigned ? 0.0 : -std::ldexp(1.0, width - 1);
  double above = std::ldexp(1.0, isUnsigned ? width : width - 1);
  APInt lowest = isUnsigned ? APInt::getZero(width) : APInt::getSignedMinValue(width);
  APInt highest = isUnsigned ? APInt::getMaxValue(width) : APInt::getSignedMaxValue(width);
  Value low = floatConstant(below);
  Value isInside =
      b.binary<arith::AndIOp>(b.compare(CmpFPredicate::OGT, value, low),
                              b.compare(CmpFPredicate::OLT, value, floatConstant(above)));
  Value inside = b.select(isInside, value, floatConstant(0.0));
  Value converted = isUnsigned ? Value(arith::FPToUIOp::create(builder, loc, storage, inside))
                               : Value(arith::FPToSIOp::create(builder, loc, storage, inside));
  Value isHigh = b.compare(CmpFPredicate::OGE, value, floatConstant(above));
  Value isLow = b.compare(CmpFPredicate::OLE, value, low);
  converted = b.select(isHigh, integerConstant(highest), converted);
  return b.select(isLow, integerConstant(lowest), converted);
}

static Value integerToFloat(OpBuilder &builder, Location loc, Value value, Type from, Type to) {
  bool isUnsigned = from.isUnsignedInteger() || from.isInteger(1);
  // 16-bit floats round once from a type that holds the integer exactly, as f64 does up to 2^53.
  Type wide = to;
  if (to.isF16() || to.isBF16())
    wide = value.getType().getIntOrFloatBitWidth() <= 16 ? Type(builder.getF32Type())
                                                         : builder.getF64Type();
  Value result = isUnsigned ? Value(arith::UIToFPOp::create(builder, loc, wide, value))
                            : Value(arith::SIToFPOp::create(builder, loc, wide, value));
  return wide == to ? result : Value(arith::TruncFOp::create(builder, loc, to, result));
}

Value convertScalar(OpBuilder &builder, Location loc, Value value, Type from, Type to) {
  ScalarBuilder b(builder, loc, from);
  bool fromFloat = isa<FloatType>(from), toFloat = isa<FloatType>(to);
  if (to.isInteger(1)) {
    Value isTrue = value;
    if (fromFloat)
      isTrue = b.compare(CmpFPredicate::UNE, value, b.constantLike(value, 0));
    else if (!from.isInteger(1))
      isTrue = b.compare(CmpIPredicate::ne, value, b.constantLike(value, 0));
    return storeScalar(builder, loc, isTrue, to);
  }
  if (fromFloat && toFloat) {
    unsigned valueWidth = value.getType().getIntOrFloatBitWidth(),
             toWidth = to.getIntOrFloatBitWidth();
    if (toWidth > valueWidth)
      return arith::ExtFOp::create(builder, loc, to, value);
    return value.getType() == to ? value : Value(arith::TruncFOp::create(builder, loc, to, value));
  }
  if (fromFloat)
    return floatToInteger(builder, loc, value, cast<IntegerType>(to));
  if (toFloat)
    return integerToFloat(builder, loc, value, from, to);
  Type storage = storageElement(to);
  unsigned valueWidth = value.getType().getIntOrFloatBitWidth(),
           toWidth = storage.getIntOrFloatBitWidth();
  if (toWidth < valueWidth)
    return arith::TruncIOp::create(builder, loc, storage, value);
  if (toWidth == valueWidth)
    return value;
  if (from.isUnsignedInteger() || from.isInteger(1))
    return arith::ExtUIOp::create(builder, loc, storage, value);
  return arith::ExtSIOp::create(builder, loc, storage, value);
}

//===----------------------------------------------------------------------===//
// All ops
//===----------------------------------------------------------------------===//

static Value buildUnary(ScalarBuilder &b, Operation *op, Value x) {
  return TypeSwitch<Operation *, Value>(op)
      .Case<array::AbsOp>([&](auto) { return b.abs(x); })
      .Case<array::NegOp>([&](auto) { return b.neg(x); })
      .Case<array::SignOp>([&](auto) { return b.sign(x); })
      .Case<array::SqrtOp>([&](auto) { return b.unary<math::SqrtOp>(x); })
      .Case<array::RsqrtOp>([&](auto) { return b.unary<math::RsqrtOp>(x); })
      .Case<array::ExpOp>([&](auto) { return b.unary<math::ExpOp>(x); })
      .Case<array::Exp2Op>([&](auto) { return b.unary<math::Exp2Op>(x); })
      .Case<array::Expm1Op>([&](auto) { return b.unary<math::ExpM1Op>(x); })
      .Case<array::LogOp>([&](auto) { return b.unary<math::LogOp>(x); })
      .Case<array::Log2Op>([&](auto) { return b.unary<math::Log2Op>(x); })
      .Case<array::Log1pOp>([&](auto) { return b.unary<math::Log1pOp>(x); })
      .Case<array::FloorOp>([&](auto) { return b.unary<math::FloorOp>(x); })
      .Case<array::CeilOp>([&](auto) { return b.unary<math::CeilOp>(x); })
      .Case<array::RoundOp>([&](auto) { return b.unary<math::RoundEvenOp>(x); })
      .Case<array::SinOp>([&](auto) { return b.unary<math::SinOp>(x); })
      .Case<array::CosOp>([&](auto) { return b.unary<math::CosOp>(x); })
      .Case<array::TanOp>([&](auto) { return b.unary<math::TanOp>(x); })
      .Case<array::TanhOp>([&](auto) { return b.unary<math::TanhOp>(x); })
      .Case<array::ErfOp>([&](auto) { return b.unary<math::ErfOp>(x); })
      .Case<array::AsinOp>([&](auto) { return b.unary<math::AsinOp>(x); })
      .Case<array::AcosOp>([&](auto) { return b.unary<math::AcosOp>(x); })
      .Case<array::AtanOp>([&](auto) { return b.unary<math::AtanOp>(x); })
      .Case<array::SinhOp>([&](auto) { return b.unary<math::SinhOp>(x); })
      .Case<array::CoshOp>([&](auto) { return b.unary<math::CoshOp>(x); })
      .Case<array::AsinhOp>([&](auto) { return b.unary<math::AsinhOp>(x); })
      .Case<array::AcoshOp>([&](auto) { return b.unary<math::AcoshOp>(x); })
      .Case<array::AtanhOp>([&](auto) { return b.unary<math::AtanhOp>(x); })
      .Case<array::CbrtOp>([&](auto) { return b.unary<math::CbrtOp>(x); })
      .Case<array::LogicalNotOp>(
          [&](auto) { return b.binary<arith::XOrIOp>(x, b.constantLike(x, 1)); })
      .Case<array::BitwiseNotOp>(
          [&](auto) { return b.binary<arith::XOrIOp>(x, b.constantLike(x, -1)); })
      .Case<array::IsNanOp>([&](auto) { return b.compare(CmpFPredicate::UNO, x, x); })
      .Case<array::IsFiniteOp>([&](auto) {
        // Infinity less infinity is NaN, as is NaN less NaN.
        Value difference = b.binary<arith::SubFOp>(x, x);
        return b.compare(CmpFPredicate::OEQ, difference, difference);
      })
      .Default([](Operation *) { return Value(); });
}

static Value buildBinary(ScalarBuilder &b, Operation *op, Value x, Value y) {
  return TypeSwitch<Operation *, Value>(op)
      .Case<array::AddOp>(
          [&](auto) { return b.pick<arith::AddFOp, arith::AddIOp, arith::AddIOp>(x, y); })
      .Case<array::SubOp>(
          [&](auto) { return b.pick<arith::SubFOp, arith::SubIOp, arith::SubIOp>(x, y); })
      .Case<array::MulOp>(
          [&](auto) { return b.pick<arith::MulFOp, arith::MulIOp, arith::MulIOp>(x, y); })
      .Case<array::MaxOp>(
          [&](auto) { return b.pick<arith::MaximumFOp, arith::MaxSIOp, arith::MaxUIOp>(x, y); })
      .Case<array::MinOp>(
          [&](auto) { return b.pick<arith::MinimumFOp, arith::MinSIOp, arith::MinUIOp>(x, y); })
      .Case<array::DivOp>([&](auto) { return b.divide(x, y); })
      .Case<array::RemOp>([&](auto) { return b.remainder(x, y); })
      .Case<array::PowOp>([&](auto) { return b.power(x, y); })
      .Case<array::FloorDivOp>([&](auto) { return b.floorDivide(x, y); })
      .Case<array::ModOp>([&](auto) { return b.modulo(x, y); })
      .Case<array::Atan2Op>([&](auto) { return b.binary<math::Atan2Op>(x, y); })
      .Case<array::ShiftLeftOp>([&](auto) { return b.shiftLeft(x, y); })
      .Case<array::ShiftRightLogicalOp>(
          [&](auto) { return b.shiftRight(x, y, /*arithmetic=*/false); })
      .Case<array::ShiftRightArithmeticOp>(
          [&](auto) { return b.shiftRight(x, y, /*arithmetic=*/true); })
      .Case<array::AndOp>([&](auto) { return b.binary<arith::AndIOp>(x, y); })
      .Case<array::OrOp>([&](auto) { return b.binary<arith::OrIOp>(x, y); })
      .Case<array::XorOp>([&](auto) { return b.binary<arith::XOrIOp>(x, y); })
      .Case<array::CompareOp>(
          [&](array::CompareOp compare) { return b.compareAs(compare.getDirection(), x, y); })
      .Default([](Operation *) { return Value(); });
}

FailureOr<Value> buildElementwiseScalar(OpBuilder &builder, Operation *op, ValueRange scalars) {
  Location loc = op->getLoc();
  Type element = getElementTypeOrSelf(op->getOperand(0).getType());
  Type resultElement = getElementTypeOrSelf(op->getResult(0).getType());
  if (isa<array::ConvertOp>(op))
    return convertScalar(builder, loc, scalars[0], element, resultElement);
  ScalarBuilder b(builder, loc, element);
  Value result;
  if (isa<array::SelectOp>(op))
    result = b.select(scalars[0], scalars[1], scalars[2]);
  else if (isa<array::FmaOp>(op))
    result = math::FmaOp::create(builder, loc, scalars[0], scalars[1], scalars[2]);
  else if (isa<array::ErfInvOp>(op))
    result = buildErfInv(builder, loc, scalars[0]);
  else if (isa<array::NextAfterOp>(op))
    result = buildNextAfter(builder, loc, scalars[0], scalars[1], cast<FloatType>(element));
  else if (isa<array::LogAddExpOp>(op))
    result = kernel::combineScan(builder, loc, kernel::ScanKind::LogAddExp, /*isUnsigned=*/false,
                                 scalars[0], scalars[1]);
  else if (scalars.size() == 1)
    result = buildUnary(b, op, scalars[0]);
  else if (scalars.size() == 2)
    result = buildBinary(b, op, scalars[0], scalars[1]);
  if (!result)
    return failure();
  return storeScalar(builder, loc, result, resultElement);
}

} // namespace xc
