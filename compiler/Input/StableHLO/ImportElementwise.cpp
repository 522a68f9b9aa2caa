//===- ImportElementwise.cpp - StableHLO ops on elements ------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Input/StableHLO/ImportStableHLO.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace xc::array;

namespace xc::stablehlo_import {

namespace shlo = stablehlo;

/// One array op on the same operands.
template <typename ArrayOp> static Result plain(Operation *op, ExpressionBuilder &e) {
  if constexpr (ArrayOp::template hasTrait<OpTrait::OneOperand>())
    return Result(e.make<ArrayOp>(op->getOperand(0)));
  else
    return Result(e.make<ArrayOp>(op->getOperand(0), op->getOperand(1)));
}

/// The same for numbers, and another op for truth values.
template <typename ArrayOp, typename TruthOp>
static Result onTruth(Operation *op, ExpressionBuilder &e) {
  return isTruth(op->getOperand(0)) ? plain<TruthOp>(op, e) : plain<ArrayOp>(op, e);
}

/// Floats only: the array op would be refused by its own verifier.
template <typename ArrayOp> static Result onFloats(Operation *op, ExpressionBuilder &e) {
  for (Value operand : op->getOperands())
    if (!isFloat(operand))
      return Result::refuse("it works on " + Twine(operand.getType().isInteger()
                                                       ? "integers"
                                                       : "what are no floats"));
  return plain<ArrayOp>(op, e);
}

/// Integers only, truth values excluded.
static bool isInteger(Value value) { return isa<IntegerType>(elementOf(value)) && !isTruth(value); }

template <typename ArrayOp> static Result onIntegers(Operation *op, ExpressionBuilder &e) {
  if (!isInteger(op->getOperand(0)))
    return Result::refuse("it works on what are no integers");
  return plain<ArrayOp>(op, e);
}

template <typename ArrayOp> static Result onNumbers(Operation *op, ExpressionBuilder &e) {
  if (isTruth(op->getOperand(0)))
    return Result::refuse("it works on truth values");
  return plain<ArrayOp>(op, e);
}

static Result convertCompare(shlo::CompareOp op, ExpressionBuilder &e) {
  auto direction =
      llvm::StringSwitch<std::optional<CompareDirection>>(op.getComparisonDirection().getValue())
          .Case("EQ", CompareDirection::Eq)
          .Case("NE", CompareDirection::Ne)
          .Case("LT", CompareDirection::Lt)
          .Case("LE", CompareDirection::Le)
          .Case("GT", CompareDirection::Gt)
          .Case("GE", CompareDirection::Ge)
          .Default(std::nullopt);
  if (!direction)
    return Result::refuse("its direction is not known");
  Value lhs = op.getLhs(), rhs = op.getRhs();
  if (op.getCompareType() && op.getCompareType()->getValue() == "TOTALORDER") {
    lhs = toTotalOrder(e, lhs);
    rhs = toTotalOrder(e, rhs);
  }
  return e.compare(*direction, lhs, rhs);
}

/// The nearest integer; halves away from zero.
static Result convertRoundAway(Value operand, ExpressionBuilder &e) {
  if (!isFloat(operand))
    return Result::refuse("it works on what are no floats");
  Value size = e.make<AbsOp>(operand), whole = e.make<FloorOp>(size);
  Value isUp = e.compare(CompareDirection::Ge, e.sub(size, whole), e.scalar(0.5, size));
  Value rounded = e.select(isUp, e.add(whole, 1.0), whole);
  return e.mul(e.make<SignOp>(operand), rounded);
}

/// Counts ones: of pairs of bits, then of four, then of bytes, which a product sums up.
static Value countOnes(ExpressionBuilder &e, Value bits) {
  unsigned width = elementOf(bits).getIntOrFloatBitWidth();
  auto number = [&](uint64_t value) {
    return e.integer(APInt(64, value).trunc(width).sext(64).getSExtValue(), elementOf(bits));
  };
  auto right = [&](Value value, unsigned distance) {
    return e.make<ShiftRightLogicalOp>(value, number(distance));
  };
  Value odd = number(0x5555555555555555), pairs = number(0x3333333333333333),
        fours = number(0x0f0f0f0f0f0f0f0f), bytes = number(0x0101010101010101);
  bits = e.sub(bits, e.make<AndOp>(right(bits, 1), odd));
  bits = e.add(e.make<AndOp>(bits, pairs), e.make<AndOp>(right(bits, 2), pairs));
  bits = e.make<AndOp>(e.add(bits, right(bits, 4)), fours);
  return right(e.mul(bits, bytes), width - 8);
}

static Result convertBitCount(Value operand, ExpressionBuilder &e, bool isLeadingZeros) {
  if (!isInteger(operand))
    return Result::refuse("it works on what are no integers");
  unsigned width = elementOf(operand).getIntOrFloatBitWidth();
  Type type = elementOf(operand);
  auto as = [&](Value value, Type element) {
    return elementOf(value) == element ? value
                                       : e.make<BitcastOp>(typeOf(value).clone(element), value);
  };
  Value bits = as(operand, getUnsigned(e, width));
  if (isLeadingZeros) {
    for (unsigned distance = 1; distance < width; distance *= 2)
      bits = e.make<OrOp>(bits,
                          e.make<ShiftRightLogicalOp>(bits, e.integer(distance, elementOf(bits))));
    bits = e.make<BitwiseNotOp>(bits);
  }
  return as(countOnes(e, bits), type);
}

/// The bits of `operand` with fewer bits of mantissa and exponent: the nearest number, ties to
/// even; what is too large is infinite, what is too small is zero.
static Value reduceBits(ExpressionBuilder &e, Value operand, unsigned exponent, unsigned mantissa) {
  auto floats = cast<FloatType>(elementOf(operand));
  unsigned width = floats.getWidth(), digits = floats.getFPMantissaWidth() - 1,
           exponents = width - 1 - digits;
  auto type = typeOf(operand).clone(getUnsigned(e, width));
  auto number = [&](uint64_t value) {
    return e.integer(static_cast<int64_t>(value), type.getElementType());
  };
  Value bits = e.make<BitcastOp>(type, operand);
  if (mantissa < digits) {
    unsigned lost = digits - mantissa;
    Value isOdd = e.make<AndOp>(e.make<ShiftRightLogicalOp>(bits, number(lost)), number(1));
    // Half of what is lost, less 1: ties go up where the last bit that stays is 1.
    Value rounded = e.add(bits, e.add(isOdd, number((uint64_t(1) << (lost - 1)) - 1)));
    bits = e.make<AndOp>(rounded, e.make<BitwiseNotOp>(number((uint64_t(1) << lost) - 1)));
  }
  if (exponent < exponents) {
    uint64_t bias = (uint64_t(1) << (exponents - 1)) - 1,
             reduced = (uint64_t(1) << (exponent - 1)) - 1;
    Value all = number(((uint64_t(1) << exponents) - 1) << digits);
    Value size = e.make<AndOp>(bits, all);
    Value sign = e.make<AndOp>(bits, e.make<ShiftLeftOp>(number(1), number(width - 1)));
    Value isLarge = e.compare(CompareDirection::Gt, size, number((bias + reduced) << digits));
    Value isSmall = e.compare(CompareDirection::Le, size, number((bias - reduced) << digits));
    bits = e.select(isLarge, e.make<OrOp>(sign, all), bits);
    bits = e.select(isSmall, sign, bits);
  }
  // Without a mantissa there is nothing but infinity.
  Value other = mantissa > 0 ? operand : e.scalar(std::numeric_limits<double>::infinity(), operand);
  return e.select(e.make<IsNanOp>(operand), other, e.make<BitcastOp>(typeOf(operand), bits));
}

static Result convertReducePrecision(shlo::ReducePrecisionOp op, ExpressionBuilder &e) {
  Value operand = op.getOperand();
  if (!isFloat(operand))
    return Result::refuse("it works on what are no floats");
  uint32_t exponent = op.getExponentBits(), mantissa = op.getMantissaBits();
  if (exponent < 1)
    return Result::refuse("its format has no bits of exponent");
  auto type = cast<FloatType>(elementOf(operand));
  // A conversion, which later passes know.
  if (type.isF32() && exponent == 8 && mantissa == 7)
    return e.convert(e.convert(operand, e.getBuilder().getBF16Type()), type);
  return reduceBits(e, operand, exponent, mantissa);
}

/// Between element types of different widths: what is wide is split into a last dim, the lowest
/// bits first.
static Result convertBitcast(shlo::BitcastConvertOp op, ExpressionBuilder &e) {
  Value operand = op.getOperand();
  auto from = typeOf(operand), to = typeOf(op.getResult());
  if (from == to)
    return operand;
  unsigned width = from.getElementTypeBitWidth(), target = to.getElementTypeBitWidth();
  // A truth value is one bit, held in 8.
  auto as = [&](Value value, Type element) -> Value {
    if (isTruth(value) || element.isInteger(1))
      return e.convert(value, element);
    return elementOf(value) == element ? value
                                       : e.make<BitcastOp>(typeOf(value).clone(element), value);
  };
  if (width == target) {
    if (from.getShape() != to.getShape())
      return Result::refuse("its result has another shape than its operand");
    return as(operand, to.getElementType());
  }
  RankedTensorType split = width < target ? from : to, whole = width < target ? to : from;
  unsigned narrow = std::min(width, target), wide = std::max(width, target);
  int64_t parts = wide / narrow, rank = whole.getRank();
  if (split.getRank() != rank + 1 || split.getShape().back() != parts ||
      split.getShape().drop_back() != whole.getShape())
    return Result::refuse("its shapes do not differ by a last dim of size " + Twine(parts));
  Type word = getUnsigned(e, wide), part = getUnsigned(e, std::max(8u, narrow));
  SmallVector<int64_t> ones(rank, 1);
  ones.push_back(parts);
  Value shifts = e.mul(iota(e, ones, word, rank), e.integer(narrow, word));
  if (width > target) {
    SmallVector<int64_t> shape(whole.getShape());
    shape.push_back(1);
    Value bits = reshapeTo(e, as(operand, word), shape);
    bits = e.make<ShiftRightLogicalOp>(bits, shifts);
    if (narrow < 8)
      bits = e.make<AndOp>(bits, e.integer((1 << narrow) - 1, word));
    return as(e.convert(bits, part), to.getElementType());
  }
  Value bits = e.convert(as(operand, part), word);
  bits = e.reduce(ReduceKind::Sum, e.make<ShiftLeftOp>(bits, shifts), rank, /*keepdims=*/false);
  return as(bits, to.getElementType());
}

static Result convertNot(Operation *op, ExpressionBuilder &e) {
  return isTruth(op->getOperand(0)) ? plain<LogicalNotOp>(op, e) : onIntegers<BitwiseNotOp>(op, e);
}

template <typename ArrayOp> static Result onLogical(Operation *op, ExpressionBuilder &e) {
  if (isFloat(op->getOperand(0)))
    return Result::refuse("it works on floats");
  return plain<ArrayOp>(op, e);
}

static Result convertUnary(Operation *op, ExpressionBuilder &e, bool &isKnown) {
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case<shlo::AbsOp>([&](auto) { return onNumbers<AbsOp>(op, e); })
      .Case<shlo::CbrtOp>([&](auto) { return onFloats<CbrtOp>(op, e); })
      .Case<shlo::CeilOp>([&](auto) { return onFloats<CeilOp>(op, e); })
      .Case<shlo::ConvertOp>([&](shlo::ConvertOp o) {
        return Result(e.convert(o.getOperand(), elementOf(o.getResult())));
      })
      .Case<shlo::CosineOp>([&](auto) { return onFloats<CosOp>(op, e); })
      .Case<shlo::CountLeadingZerosOp>(
          [&](auto o) { return convertBitCount(o.getOperand(), e, /*isLeadingZeros=*/true); })
      .Case<shlo::ExpOp>([&](auto) { return onFloats<ExpOp>(op, e); })
      .Case<shlo::Expm1Op>([&](auto) { return onFloats<Expm1Op>(op, e); })
      .Case<shlo::FloorOp>([&](auto) { return onFloats<FloorOp>(op, e); })
      .Case<shlo::ImagOp>([&](auto o) { return Result(zeros(e, typeOf(o.getOperand()))); })
      .Case<shlo::IsFiniteOp>([&](auto) { return onFloats<IsFiniteOp>(op, e); })
      .Case<shlo::LogOp>([&](auto) { return onFloats<LogOp>(op, e); })
      .Case<shlo::Log1pOp>([&](auto) { return onFloats<Log1pOp>(op, e); })
      .Case<shlo::LogisticOp>([&](auto) { return onFloats<SigmoidOp>(op, e); })
      .Case<shlo::NegOp>([&](auto) { return onNumbers<NegOp>(op, e); })
      .Case<shlo::NotOp>([&](auto) { return convertNot(op, e); })
      .Case<shlo::PopulationCountOp>(
          [&](auto o) { return convertBitCount(o.getOperand(), e, /*isLeadingZeros=*/false); })
      .Case<shlo::RealOp>([&](auto o) { return Result(o.getOperand()); })
      .Case<shlo::RoundAwayOp>([&](auto o) { return convertRoundAway(o.getOperand(), e); })
      .Case<shlo::RoundEvenOp>([&](auto) { return onFloats<RoundOp>(op, e); })
      .Case<shlo::RsqrtOp>([&](auto) { return onFloats<RsqrtOp>(op, e); })
      .Case<shlo::SignOp>([&](auto) { return onNumbers<SignOp>(op, e); })
      .Case<shlo::SineOp>([&](auto) { return onFloats<SinOp>(op, e); })
      .Case<shlo::SqrtOp>([&](auto) { return onFloats<SqrtOp>(op, e); })
      .Case<shlo::TanOp>([&](auto) { return onFloats<TanOp>(op, e); })
      .Case<shlo::TanhOp>([&](auto) { return onFloats<TanhOp>(op, e); })
      .Default([&](Operation *) {
        isKnown = false;
        return Result::refuse("");
      });
}

static Result convertBinary(Operation *op, ExpressionBuilder &e, bool &isKnown) {
  return llvm::TypeSwitch<Operation *, Result>(op)
      // Sums and products of truth values do not wrap.
      .Case<shlo::AddOp>([&](auto) { return onTruth<AddOp, OrOp>(op, e); })
      .Case<shlo::MulOp>([&](auto) { return onTruth<MulOp, AndOp>(op, e); })
      .Case<shlo::MaxOp>([&](auto) { return onTruth<MaxOp, OrOp>(op, e); })
      .Case<shlo::MinOp>([&](auto) { return onTruth<MinOp, AndOp>(op, e); })
      .Case<shlo::AndOp>([&](auto) { return onLogical<AndOp>(op, e); })
      .Case<shlo::OrOp>([&](auto) { return onLogical<OrOp>(op, e); })
      .Case<shlo::XorOp>([&](auto) { return onLogical<XorOp>(op, e); })
      .Case<shlo::Atan2Op>([&](auto) { return onFloats<Atan2Op>(op, e); })
      .Case<shlo::DivOp>([&](auto) { return onNumbers<DivOp>(op, e); })
      .Case<shlo::PowOp>([&](auto) { return onNumbers<PowOp>(op, e); })
      .Case<shlo::RemOp>([&](auto) { return onNumbers<RemOp>(op, e); })
      .Case<shlo::SubtractOp>([&](auto) { return onNumbers<SubOp>(op, e); })
      .Case<shlo::ShiftLeftOp>([&](auto) { return onIntegers<ShiftLeftOp>(op, e); })
      .Case<shlo::ShiftRightArithmeticOp>(
          [&](auto) { return onIntegers<ShiftRightArithmeticOp>(op, e); })
      .Case<shlo::ShiftRightLogicalOp>([&](auto) { return onIntegers<ShiftRightLogicalOp>(op, e); })
      .Default([&](Operation *) {
        isKnown = false;
        return Result::refuse("");
      });
}

static Result convertOthers(Operation *op, ExpressionBuilder &e, bool &isKnown) {
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case<shlo::BitcastConvertOp>([&](auto o) { return convertBitcast(o, e); })
      .Case<shlo::ClampOp>([&](shlo::ClampOp o) {
        if (isTruth(o.getOperand()))
          return Result::refuse("it works on truth values");
        return Result(e.make<ClampOp>(o.getMin(), o.getOperand(), o.getMax()));
      })
      .Case<shlo::CompareOp>([&](auto o) { return convertCompare(o, e); })
      .Case<shlo::ReducePrecisionOp>([&](auto o) { return convertReducePrecision(o, e); })
      .Case<shlo::SelectOp>([&](shlo::SelectOp o) {
        return Result(e.select(o.getPred(), o.getOnTrue(), o.getOnFalse()));
      })
      .Case<shlo::MapOp>([&](shlo::MapOp o) {
        auto values = applyBody(e, o.getComputation(), o.getInputs());
        return values && values->size() == 1 ? Result(*values)
                                             : Result::refuse("its body is not elementwise");
      })
      .Default([&](Operation *) {
        isKnown = false;
        return Result::refuse("");
      });
}

Replacement convertElementwise(Operation *op, ExpressionBuilder &e) {
  for (auto family : {convertUnary, convertBinary, convertOthers}) {
    bool isKnown = true;
    Result result = family(op, e, isKnown);
    if (isKnown)
      return result;
  }
  return std::nullopt;
}

} // namespace xc::stablehlo_import
