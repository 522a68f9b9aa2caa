//===- ScalarInterpreter.cpp - What an op on scalars computes -------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The same numbers, to the last bit, as the code that both targets generate for the op.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/ScalarInterpreter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/TypeSwitch.h"

#include <cmath>

using namespace mlir;

namespace xc {

static unsigned widthOf(Type type) { return type.isIndex() ? 64 : type.getIntOrFloatBitWidth(); }

static APInt integerOf(Type type, uint64_t bits) {
  return APInt(widthOf(type), bits, /*isSigned=*/false, /*implicitTrunc=*/true);
}

static APFloat floatOf(Type type, uint64_t bits) {
  return APFloat(cast<FloatType>(type).getFloatSemantics(), integerOf(type, bits));
}

static uint64_t bitsOf(const APInt &value) { return value.getZExtValue(); }
static uint64_t bitsOf(const APFloat &value) { return value.bitcastToAPInt().getZExtValue(); }

std::optional<uint64_t> bitsOfScalar(Attribute value) {
  if (auto integer = dyn_cast<IntegerAttr>(value))
    return bitsOf(integer.getValue());
  if (auto number = dyn_cast<FloatAttr>(value))
    return bitsOf(number.getValue());
  return std::nullopt;
}

bool roundsFloats(Operation *op) {
  return isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::DivFOp, arith::RemFOp, math::FmaOp,
             math::SqrtOp>(op);
}

//===----------------------------------------------------------------------===//
// Floats
//===----------------------------------------------------------------------===//

static APFloat rounded(APFloat x, APFloat::roundingMode mode) {
  x.roundToIntegral(mode);
  return x;
}

static APFloat quotient(APFloat x, const APFloat &y) {
  x.divide(y, APFloat::rmNearestTiesToEven);
  return x;
}

static APFloat remainder(APFloat x, const APFloat &y) {
  x.mod(y);
  return x;
}

static APFloat fused(APFloat x, const APFloat &y, const APFloat &z) {
  x.fusedMultiplyAdd(y, z, APFloat::rmNearestTiesToEven);
  return x;
}

/// IEEE 754 defines the last bit. No kernel computes it in 16 bits.
static std::optional<APFloat> squareRoot(const APFloat &x) {
  if (&x.getSemantics() == &APFloat::IEEEdouble())
    return APFloat(std::sqrt(x.convertToDouble()));
  if (&x.getSemantics() == &APFloat::IEEEsingle())
    return APFloat(std::sqrt(x.convertToFloat()));
  return std::nullopt;
}

static std::optional<APFloat> evaluateFloat(Operation *op, ArrayRef<APFloat> x) {
  using Result = std::optional<APFloat>;
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case([&](arith::AddFOp) -> Result { return x[0] + x[1]; })
      .Case([&](arith::SubFOp) -> Result { return x[0] - x[1]; })
      .Case([&](arith::MulFOp) -> Result { return x[0] * x[1]; })
      .Case([&](arith::DivFOp) -> Result { return quotient(x[0], x[1]); })
      .Case([&](arith::RemFOp) -> Result { return remainder(x[0], x[1]); })
      .Case([&](arith::NegFOp) -> Result { return -x[0]; })
      .Case([&](arith::MaximumFOp) -> Result { return llvm::maximum(x[0], x[1]); })
      .Case([&](arith::MinimumFOp) -> Result { return llvm::minimum(x[0], x[1]); })
      .Case([&](math::AbsFOp) -> Result { return llvm::abs(x[0]); })
      .Case([&](math::CopySignOp) -> Result { return APFloat::copySign(x[0], x[1]); })
      .Case([&](math::FmaOp) -> Result { return fused(x[0], x[1], x[2]); })
      .Case([&](math::SqrtOp) -> Result { return squareRoot(x[0]); })
      .Case([&](math::FloorOp) -> Result { return rounded(x[0], APFloat::rmTowardNegative); })
      .Case([&](math::CeilOp) -> Result { return rounded(x[0], APFloat::rmTowardPositive); })
      .Case(
          [&](math::RoundEvenOp) -> Result { return rounded(x[0], APFloat::rmNearestTiesToEven); })
      .Default([](Operation *) -> Result { return std::nullopt; });
}

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

/// `base` to the power `exponent`, which is signed.
static APInt power(APInt base, APInt exponent) {
  unsigned width = base.getBitWidth();
  APInt result(width, 1);
  if (exponent.isNegative()) {
    if (base.isOne() || (base.isAllOnes() && !exponent[0]))
      return result;
    return base.isAllOnes() ? base : APInt::getZero(width);
  }
  for (; !exponent.isZero(); exponent.lshrInPlace(1)) {
    if (exponent[0])
      result *= base;
    base *= base;
  }
  return result;
}

/// Quotients and remainders, which trap where the code would.
static std::optional<APInt> evaluateDivision(Operation *op, const APInt &x, const APInt &y) {
  using Result = std::optional<APInt>;
  bool isSigned = isa<arith::DivSIOp, arith::RemSIOp, arith::CeilDivSIOp, arith::FloorDivSIOp>(op);
  if (y.isZero() || (isSigned && x.isMinSignedValue() && y.isAllOnes()))
    return std::nullopt;
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case([&](arith::DivSIOp) -> Result { return x.sdiv(y); })
      .Case([&](arith::DivUIOp) -> Result { return x.udiv(y); })
      .Case([&](arith::RemSIOp) -> Result { return x.srem(y); })
      .Case([&](arith::RemUIOp) -> Result { return x.urem(y); })
      .Case([&](arith::CeilDivSIOp) -> Result {
        return llvm::APIntOps::RoundingSDiv(x, y, APInt::Rounding::UP);
      })
      .Case([&](arith::FloorDivSIOp) -> Result {
        return llvm::APIntOps::RoundingSDiv(x, y, APInt::Rounding::DOWN);
      })
      .Default([](Operation *) -> Result { return std::nullopt; });
}

static std::optional<APInt> evaluateInteger(Operation *op, ArrayRef<APInt> x) {
  using Result = std::optional<APInt>;
  unsigned width = x[0].getBitWidth();
  // A shift by more than the width is undefined; bodies choose another value there.
  if (isa<arith::ShLIOp, arith::ShRSIOp, arith::ShRUIOp>(op) && x[1].uge(width))
    return std::nullopt;
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case([&](arith::AddIOp) -> Result { return x[0] + x[1]; })
      .Case([&](arith::SubIOp) -> Result { return x[0] - x[1]; })
      .Case([&](arith::MulIOp) -> Result { return x[0] * x[1]; })
      .Case([&](arith::AndIOp) -> Result { return x[0] & x[1]; })
      .Case([&](arith::OrIOp) -> Result { return x[0] | x[1]; })
      .Case([&](arith::XOrIOp) -> Result { return x[0] ^ x[1]; })
      .Case([&](arith::ShLIOp) -> Result { return x[0].shl(x[1]); })
      .Case([&](arith::ShRSIOp) -> Result { return x[0].ashr(x[1]); })
      .Case([&](arith::ShRUIOp) -> Result { return x[0].lshr(x[1]); })
      .Case([&](arith::MaxSIOp) -> Result { return llvm::APIntOps::smax(x[0], x[1]); })
      .Case([&](arith::MaxUIOp) -> Result { return llvm::APIntOps::umax(x[0], x[1]); })
      .Case([&](arith::MinSIOp) -> Result { return llvm::APIntOps::smin(x[0], x[1]); })
      .Case([&](arith::MinUIOp) -> Result { return llvm::APIntOps::umin(x[0], x[1]); })
      .Case([&](math::AbsIOp) -> Result { return x[0].abs(); })
      .Case([&](math::IPowIOp) -> Result { return power(x[0], x[1]); })
      .Case<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp, arith::CeilDivSIOp,
            arith::FloorDivSIOp>(
          [&](Operation *division) { return evaluateDivision(division, x[0], x[1]); })
      .Default([](Operation *) -> Result { return std::nullopt; });
}

//===----------------------------------------------------------------------===//
// Casts
//===----------------------------------------------------------------------===//

static APFloat toFloat(Type type, const APInt &value, bool isSigned) {
  APFloat result(cast<FloatType>(type).getFloatSemantics());
  result.convertFromAPInt(value, isSigned, APFloat::rmNearestTiesToEven);
  return result;
}

static APInt toInteger(Type type, const APFloat &value, bool isSigned) {
  APSInt result(widthOf(type), !isSigned);
  bool isExact;
  value.convertToInteger(result, APFloat::rmTowardZero, &isExact);
  return result;
}

static APFloat toOtherFloat(Type type, APFloat value) {
  bool losesInfo;
  value.convert(cast<FloatType>(type).getFloatSemantics(), APFloat::rmNearestTiesToEven,
                &losesInfo);
  return value;
}

static std::optional<uint64_t> evaluateCast(Operation *op, Type from, Type to, uint64_t bits) {
  using Result = std::optional<uint64_t>;
  auto integer = [&] { return integerOf(from, bits); };
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case([&](arith::BitcastOp) -> Result { return bits; })
      .Case<arith::ExtSIOp, arith::IndexCastOp>(
          [&](Operation *) -> Result { return bitsOf(integer().sextOrTrunc(widthOf(to))); })
      .Case<arith::ExtUIOp, arith::TruncIOp, arith::IndexCastUIOp>(
          [&](Operation *) -> Result { return bitsOf(integer().zextOrTrunc(widthOf(to))); })
      .Case([&](arith::SIToFPOp) -> Result { return bitsOf(toFloat(to, integer(), true)); })
      .Case([&](arith::UIToFPOp) -> Result { return bitsOf(toFloat(to, integer(), false)); })
      .Case([&](arith::FPToSIOp) -> Result {
        return bitsOf(toInteger(to, floatOf(from, bits), true));
      })
      .Case([&](arith::FPToUIOp) -> Result {
        return bitsOf(toInteger(to, floatOf(from, bits), false));
      })
      .Case<arith::ExtFOp, arith::TruncFOp>(
          [&](Operation *) -> Result { return bitsOf(toOtherFloat(to, floatOf(from, bits))); })
      .Default([](Operation *) -> Result { return std::nullopt; });
}

std::optional<uint64_t> evaluateScalarOp(Operation *op, ArrayRef<uint64_t> operands) {
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return bitsOfScalar(constant.getValue());
  if (op->getNumResults() != 1 || operands.empty())
    return std::nullopt;
  Type from = op->getOperand(0).getType(), to = op->getResult(0).getType();
  if (!from.isIntOrIndexOrFloat() || !to.isIntOrIndexOrFloat())
    return std::nullopt;
  if (isa<arith::SelectOp>(op))
    return operands[0] ? operands[1] : operands[2];
  if (isa<CastOpInterface>(op))
    return evaluateCast(op, from, to, operands[0]);
  if (auto floatType = dyn_cast<FloatType>(from)) {
    auto x = llvm::map_to_vector(operands, [&](uint64_t bits) { return floatOf(from, bits); });
    if (auto compare = dyn_cast<arith::CmpFOp>(op))
      return arith::applyCmpPredicate(compare.getPredicate(), x[0], x[1]);
    std::optional<APFloat> result = evaluateFloat(op, x);
    return result ? std::optional(bitsOf(*result)) : std::nullopt;
  }
  SmallVector<APInt> x;
  for (auto [type, bits] : llvm::zip_equal(op->getOperandTypes(), operands))
    x.push_back(integerOf(type, bits));
  if (auto compare = dyn_cast<arith::CmpIOp>(op))
    return arith::applyCmpPredicate(compare.getPredicate(), x[0], x[1]);
  std::optional<APInt> result = evaluateInteger(op, x);
  return result ? std::optional(bitsOf(*result)) : std::nullopt;
}

} // namespace xc
