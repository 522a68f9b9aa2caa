//===- NarrowFormats.cpp - Numbers of few bits in wider ones --------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A float of few bits has sign, exponent and mantissa in the order that f32 has them. So its bits,
// moved to the place where f32 has its exponent, are the number but for a power of two. That holds
// for numbers below the smallest normal one, too, since f32 has such numbers itself.
//
//===----------------------------------------------------------------------===//

#include "compiler/Input/StableHLO/NarrowFormats.h"

#include "compiler/Input/StableHLO/FloatValues.h"

#include "mlir/Dialect/Quant/IR/QuantTypes.h"

#include <cmath>

using namespace mlir;
using namespace xc::array;

namespace xc::stablehlo_import {

static bool isNarrowInteger(Type element) {
  return element.isInteger() && llvm::is_contained({2u, 4u}, element.getIntOrFloatBitWidth());
}

static bool isNarrowFloat(Type element) {
  auto type = dyn_cast<FloatType>(element);
  return type && type.getWidth() <= 8;
}

bool isQuantized(Type element) { return isa<quant::QuantizedType>(element); }

bool isNarrow(Type element) {
  return isNarrowInteger(element) || isNarrowFloat(element) || isQuantized(element);
}

/// The storage type of quantized numbers, whose signedness is a flag of theirs.
static IntegerType getStorage(Type element) {
  auto type = cast<quant::QuantizedType>(element);
  unsigned width = type.getStorageTypeIntegralWidth();
  return IntegerType::get(element.getContext(), width <= 8 ? 8 : width,
                          type.isSigned() ? IntegerType::Signless : IntegerType::Unsigned);
}

Type getCarrier(Type element) {
  if (isQuantized(element))
    return getStorage(element);
  if (isNarrowFloat(element))
    return BFloat16Type::get(element.getContext());
  return IntegerType::get(element.getContext(), 8, cast<IntegerType>(element).getSignedness());
}

Type getArithmeticType(Type element) {
  if (isQuantized(element))
    return cast<quant::QuantizedType>(element).getExpressedType();
  return isNarrowFloat(element) ? Float32Type::get(element.getContext()) : getCarrier(element);
}

unsigned getWidth(Type element) {
  if (auto type = dyn_cast<quant::QuantizedType>(element))
    return type.getStorageTypeIntegralWidth();
  return element.getIntOrFloatBitWidth();
}

const char *whyNotNarrow(Type element) {
  if (!isQuantized(element))
    return nullptr;
  if (!isa<quant::UniformQuantizedType, quant::UniformQuantizedPerAxisType>(element))
    return "it works on quantized numbers that are neither uniform nor uniform for each axis";
  auto type = cast<quant::QuantizedType>(element);
  if (!isa<Float32Type, Float16Type, BFloat16Type, Float64Type>(type.getExpressedType()))
    return "it works on quantized numbers that stand for others than f16, bf16, f32 or f64";
  if (!llvm::is_contained({2u, 4u, 8u, 16u, 32u}, type.getStorageTypeIntegralWidth()))
    return "it works on quantized numbers that are not stored in 2, 4, 8, 16 or 32 bits";
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Quantized numbers
//===----------------------------------------------------------------------===//

/// `numbers` along the quantized dim of `like`, or the one number there is.
static Value makeParameters(ExpressionBuilder &e, ArrayRef<double> numbers, Type element,
                            Value like) {
  auto axes = dyn_cast<quant::UniformQuantizedPerAxisType>(element);
  if (!axes)
    return e.scalar(numbers.front(), like);
  SmallVector<int64_t> shape(typeOf(like).getRank(), 1);
  shape[axes.getQuantizedDimension()] = numbers.size();
  return e.constant(numbers, shape, like);
}

static SmallVector<double> getScales(Type element) {
  if (auto axes = dyn_cast<quant::UniformQuantizedPerAxisType>(element))
    return llvm::to_vector(axes.getScales());
  return {cast<quant::UniformQuantizedType>(element).getScale()};
}

static SmallVector<double> getZeroPoints(Type element) {
  if (auto axes = dyn_cast<quant::UniformQuantizedPerAxisType>(element))
    return llvm::map_to_vector(axes.getZeroPoints(),
                               [](int64_t point) { return static_cast<double>(point); });
  return {static_cast<double>(cast<quant::UniformQuantizedType>(element).getZeroPoint())};
}

static Value dequantize(ExpressionBuilder &e, Value stored, Type element) {
  Value value = e.convert(stored, getArithmeticType(element));
  value = e.sub(value, makeParameters(e, getZeroPoints(element), element, value));
  return e.mul(value, makeParameters(e, getScales(element), element, value));
}

static Value quantize(ExpressionBuilder &e, Value value, Type element) {
  auto type = cast<quant::QuantizedType>(element);
  value = e.convert(value, getArithmeticType(element));
  value = e.make<RoundOp>(e.div(value, makeParameters(e, getScales(element), element, value)));
  value = e.add(value, makeParameters(e, getZeroPoints(element), element, value));
  value = e.make<ClampOp>(e.scalar(type.getStorageTypeMin(), value), value,
                          e.scalar(type.getStorageTypeMax(), value));
  return e.convert(value, getStorage(element));
}

//===----------------------------------------------------------------------===//
// Floats
//===----------------------------------------------------------------------===//

namespace {

/// What is known of the format of a float.
struct Format {
  explicit Format(Type element) : semantics(cast<FloatType>(element).getFloatSemantics()) {}

  unsigned getDigits() const { return APFloat::semanticsPrecision(semantics) - 1; }
  int getLeastExponent() const { return APFloat::semanticsMinExponent(semantics); }
  double getLargest() const { return asDouble(APFloat::getLargest(semantics)); }
  double getSmallestNormal() const { return std::ldexp(1.0, getLeastExponent()); }
  unsigned getWidth() const { return APFloat::semanticsSizeInBits(semantics); }
  bool hasInfinity() const { return APFloat::semanticsHasInf(semantics); }
  bool hasNan() const { return APFloat::semanticsHasNaN(semantics); }
  bool hasSign() const { return APFloat::semanticsHasSignedRepr(semantics); }
  /// Of powers of two alone, without 0.
  bool hasZero() const { return APFloat::semanticsHasZero(semantics); }
  int64_t getInfinityBits() const { return bitsOf(APFloat::getInf(semantics)); }
  int64_t getNanBits() const { return bitsOf(APFloat::getNaN(semantics)); }
  int64_t getSignBit() const { return hasSign() ? int64_t(1) << (getWidth() - 1) : 0; }
  /// Whether the bits of -0 are those of what is no number.
  bool hasOneZero() const { return hasNan() && hasSign() && getNanBits() == getSignBit(); }
  /// What f32 numbers with the same bits in front are multiplied by.
  double getScale() const { return hasZero() ? std::ldexp(1.0, 126 + getLeastExponent()) : 1; }

private:
  static double asDouble(APFloat value) {
    bool isLossy = false;
    value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &isLossy);
    return value.convertToDouble();
  }
  static int64_t bitsOf(const APFloat &value) {
    return static_cast<int64_t>(value.bitcastToAPInt().getZExtValue());
  }

  const llvm::fltSemantics &semantics;
};

/// Bits of floats as unsigned integers of their width, and back.
struct BitBuilder {
  BitBuilder(ExpressionBuilder &e, Value like) : e(e), floats(typeOf(like)) {
    words = floats.clone(getUnsigned(e, floats.getElementTypeBitWidth()));
  }

  Value number(uint64_t value) {
    return e.integer(static_cast<int64_t>(value), words.getElementType());
  }
  Value toWords(Value value) { return e.make<BitcastOp>(words, value); }
  Value toFloats(Value value) { return e.make<BitcastOp>(floats, value); }
  Value andWith(Value value, uint64_t mask) { return e.make<AndOp>(value, number(mask)); }
  Value right(Value value, unsigned distance) {
    return e.make<ShiftRightLogicalOp>(value, number(distance));
  }
  Value left(Value value, unsigned distance) {
    return e.make<ShiftLeftOp>(value, number(distance));
  }

  ExpressionBuilder &e;
  RankedTensorType floats, words;
};

} // namespace

/// The nearest number with as many digits as `format` has, of numbers that are not negative.
static Value roundMagnitude(BitBuilder &b, Value magnitude, Value words, const Format &format) {
  ExpressionBuilder &e = b.e;
  auto type = cast<FloatType>(b.floats.getElementType());
  unsigned digits = type.getFPMantissaWidth() - 1, lost = digits - format.getDigits();
  // The only digit of powers of two is a 1 that is not stored.
  Value isOdd = format.getDigits() == 0 ? b.number(1) : b.andWith(b.right(words, lost), 1);
  // Half of what is lost, less 1: ties go up where the last digit that stays is odd.
  Value rounded = e.add(words, e.add(isOdd, b.number((uint64_t(1) << (lost - 1)) - 1)));
  rounded =
      b.toFloats(e.make<AndOp>(rounded, e.make<BitwiseNotOp>(b.number((uint64_t(1) << lost) - 1))));
  if (!format.hasZero())
    return rounded;
  // Below the smallest normal number the last digit stays where it is: that of this sum.
  double last = std::ldexp(1.0, format.getLeastExponent() - static_cast<int>(format.getDigits()) +
                                    static_cast<int>(digits));
  Value fixed = e.add(e.add(magnitude, last), e.scalar(-last, magnitude));
  Value isSmall =
      e.compare(CompareDirection::Lt, magnitude, e.scalar(format.getSmallestNormal(), magnitude));
  return e.select(isSmall, fixed, rounded);
}

/// The nearest numbers of `format`, in the type of `value`.
static Value roundTo(ExpressionBuilder &e, Value value, const Format &format) {
  BitBuilder b(e, value);
  unsigned width = b.floats.getElementTypeBitWidth();
  Value bits = b.toWords(value);
  Value words = b.andWith(bits, ~uint64_t(0) >> (65 - width));
  Value rounded = roundMagnitude(b, b.toFloats(words), words, format);
  Value largest = e.scalar(format.getLargest(), value);
  Value nan = e.scalar(std::numeric_limits<double>::quiet_NaN(), value);
  Value beyond = format.hasInfinity() ? e.scalar(std::numeric_limits<double>::infinity(), value)
                 : format.hasNan()    ? nan
                                      : largest;
  rounded = e.select(e.compare(CompareDirection::Gt, rounded, largest), beyond, rounded);
  if (!format.hasZero()) {
    // Powers of two from the smallest on; what is not above 0 is no number.
    Value least = e.scalar(format.getSmallestNormal(), value);
    rounded = e.select(e.compare(CompareDirection::Lt, rounded, least), least, rounded);
    return e.select(e.compare(CompareDirection::Gt, value, e.scalar(0, value)), rounded, nan);
  }
  Value sign = b.andWith(bits, uint64_t(1) << (width - 1));
  Value result = b.toFloats(e.make<OrOp>(b.toWords(rounded), sign));
  if (format.hasOneZero())
    result = e.select(isEqual(e, result, e.scalar(0, value)), e.scalar(0, value), result);
  // Formats without such a number have -0 in its place.
  Value none = format.hasNan() ? value : e.scalar(-0.0, value);
  return e.select(e.make<IsNanOp>(value), none, result);
}

static Value encode(ExpressionBuilder &e, Value carrier, const Format &format) {
  Value value = e.convert(carrier, e.getBuilder().getF32Type());
  BitBuilder b(e, value);
  Value words = b.toWords(value), sign = b.right(words, 31);
  Value scaled = e.mul(b.toFloats(b.andWith(words, 0x7fffffff)), 1 / format.getScale());
  Value bits = b.right(b.toWords(scaled), 23 - format.getDigits());
  if (format.hasInfinity()) {
    Value infinity = e.scalar(std::numeric_limits<double>::infinity(), value);
    bits = e.select(isEqual(e, e.make<AbsOp>(value), infinity), b.number(format.getInfinityBits()),
                    bits);
  }
  if (format.hasSign())
    bits = e.make<OrOp>(bits, b.left(sign, format.getWidth() - 1));
  if (format.hasNan())
    bits = e.select(e.make<IsNanOp>(value), b.number(format.getNanBits()), bits);
  return e.convert(bits, getUnsigned(e, 8));
}

static Value decode(ExpressionBuilder &e, Value bits, const Format &format) {
  Value like = e.convert(bits, e.getBuilder().getF32Type());
  BitBuilder b(e, like);
  Value words = e.convert(bits, b.words.getElementType());
  Value magnitude = format.hasSign() ? b.andWith(words, format.getSignBit() - 1) : words;
  Value value = b.toFloats(b.left(magnitude, 23 - format.getDigits()));
  value = format.hasZero() ? e.mul(value, format.getScale())
                           : e.select(isEqual(e, words, b.number(0)),
                                      e.scalar(format.getSmallestNormal(), value), value);
  Value nan = e.scalar(std::numeric_limits<double>::quiet_NaN(), value);
  if (format.hasInfinity()) {
    Value infinity = b.number(format.getInfinityBits());
    value = e.select(isEqual(e, magnitude, infinity),
                     e.scalar(std::numeric_limits<double>::infinity(), value), value);
    value = e.select(e.compare(CompareDirection::Gt, magnitude, infinity), nan, value);
  }
  if (format.hasSign()) {
    Value isNegative =
        e.compare(CompareDirection::Ne, b.andWith(words, format.getSignBit()), b.number(0));
    value = e.select(isNegative, e.make<NegOp>(value), value);
  }
  if (format.hasNan() && !format.hasInfinity()) {
    // One pattern, with either sign where that is not the one of -0.
    bool isSigned = format.hasSign() && !format.hasOneZero();
    Value pattern = isSigned ? magnitude : words;
    uint64_t mask = isSigned ? format.getSignBit() - 1 : ~uint64_t(0);
    value = e.select(isEqual(e, pattern, b.number(format.getNanBits() & mask)), nan, value);
  }
  return e.convert(value, e.getBuilder().getBF16Type());
}

//===----------------------------------------------------------------------===//
// All kinds
//===----------------------------------------------------------------------===//

Value widen(ExpressionBuilder &e, Value carrier, Type element) {
  if (isQuantized(element))
    return dequantize(e, carrier, element);
  return e.convert(carrier, getArithmeticType(element));
}

/// The lowest bits of integers, and copies of the sign bit above them.
static Value wrap(ExpressionBuilder &e, Value value, Type element) {
  Value rest = e.integer(8 - getWidth(element), elementOf(value));
  Value high = e.make<ShiftLeftOp>(value, rest);
  return element.isUnsignedInteger() ? e.make<ShiftRightLogicalOp>(high, rest)
                                     : e.make<ShiftRightArithmeticOp>(high, rest);
}

Value narrow(ExpressionBuilder &e, Value value, Type element) {
  if (isQuantized(element))
    return quantize(e, value, element);
  if (isNarrowFloat(element))
    return e.convert(roundTo(e, value, Format(element)), getCarrier(element));
  return wrap(e, value, element);
}

static Value as(ExpressionBuilder &e, Value value, Type element) {
  return elementOf(value) == element ? value
                                     : e.make<BitcastOp>(typeOf(value).clone(element), value);
}

Value toBits(ExpressionBuilder &e, Value carrier, Type element) {
  if (isNarrowFloat(element))
    return encode(e, carrier, Format(element));
  Type word = getUnsigned(e, getWidth(getCarrier(element)));
  Value bits = as(e, carrier, word);
  unsigned width = getWidth(element);
  return width >= 8 ? bits : e.make<AndOp>(bits, e.integer((1 << width) - 1, word));
}

Value fromBits(ExpressionBuilder &e, Value bits, Type element) {
  if (isNarrowFloat(element))
    return decode(e, bits, Format(element));
  Value carrier = as(e, bits, getCarrier(element));
  if (isNarrowInteger(element))
    return wrap(e, carrier, element);
  if (getWidth(element) >= 8)
    return carrier;
  auto storage = IntegerType::get(element.getContext(), getWidth(element),
                                  getStorage(element).getSignedness());
  return wrap(e, carrier, storage);
}

} // namespace xc::stablehlo_import
