//===- MathBuilder.cpp - Arithmetic on f32 or f64, scalar or vector -------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The error-free transformations are those of Knuth, Dekker and Veltkamp; the
// arithmetic on pairs follows Joldes, Muller and Popescu, "Tight and rigorous
// error bounds for basic building blocks of double-word arithmetic" (2017).
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/Common/MathBuilder.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/bit.h"

#include <cfloat>
#include <limits>

using namespace mlir;

namespace xc::codegen {

MathBuilder::MathBuilder(OpBuilder &opBuilder, Location loc, Type type,
                         const MathExpansion &options)
    : builder(loc, opBuilder), settings(options), type(type),
      f32(getElementTypeOrSelf(type).isF32()) {
  assert((f32 || getElementTypeOrSelf(type).isF64()) && "math is expanded on f32 and f64 only");
  Type element = builder.getIntegerType(f32 ? 32 : 64);
  auto vector = dyn_cast<VectorType>(type);
  integerType = vector ? Type(vector.clone(element)) : element;
}

double MathBuilder::minNormal() const { return f32 ? FLT_MIN : DBL_MIN; }
double MathBuilder::maxFinite() const { return f32 ? FLT_MAX : DBL_MAX; }

static Value splat(ImplicitLocOpBuilder &builder, Type type, TypedAttr element) {
  if (auto vector = dyn_cast<VectorType>(type))
    return arith::ConstantOp::create(builder, DenseElementsAttr::get(vector, element));
  return arith::ConstantOp::create(builder, element);
}

Value MathBuilder::constant(double value) {
  return splat(builder, type, builder.getFloatAttr(getElementTypeOrSelf(type), value));
}

Value MathBuilder::integer(int64_t value) {
  return splat(builder, integerType,
               builder.getIntegerAttr(getElementTypeOrSelf(integerType), value));
}

Value MathBuilder::infinity() { return constant(std::numeric_limits<double>::infinity()); }
Value MathBuilder::nan() { return constant(std::numeric_limits<double>::quiet_NaN()); }

Value MathBuilder::abs(Value x) { return create<math::AbsFOp>(x); }
Value MathBuilder::sqrt(Value x) { return create<math::SqrtOp>(x); }
Value MathBuilder::trunc(Value x) { return create<math::TruncOp>(x); }
Value MathBuilder::copysign(Value magnitude, Value sign) {
  return create<math::CopySignOp>(magnitude, sign);
}

Value MathBuilder::fma(Value x, Value y, Value z) {
  if (settings.hasFma)
    return create<math::FmaOp>(x, y, z);
  return add(mul(x, y), z);
}

Value MathBuilder::reciprocal(Value x) {
  return create<arith::DivFOp>(constant(1.0), x, arith::FastMathFlags::afn);
}

Value MathBuilder::quotient(Value x, Value y) {
  if (!hasReciprocal())
    return div(x, y);
  Value factor = reciprocal(y), rough = mul(x, factor);
  return fma(fma(neg(rough), y, x), factor, rough);
}

Value MathBuilder::roughQuotient(Value x, Value y) {
  return hasReciprocal() ? mul(x, reciprocal(y)) : div(x, y);
}

Value MathBuilder::polynomial(Value x, ArrayRef<double> coefficients) {
  Value result = constant(coefficients.back());
  for (double coefficient : llvm::reverse(coefficients.drop_back()))
    result = fma(result, x, constant(coefficient));
  return result;
}

Value MathBuilder::clamp(Value x, double low, double high) {
  Value lowest = constant(low), highest = constant(high);
  if (settings.hasMinMax)
    return create<arith::MinimumFOp>(create<arith::MaximumFOp>(x, lowest), highest);
  x = select(less(x, lowest), lowest, x);
  return select(greater(x, highest), highest, x);
}

Value MathBuilder::bits(Value x) { return arith::BitcastOp::create(builder, integerType, x); }
Value MathBuilder::fromBits(Value x) { return arith::BitcastOp::create(builder, type, x); }

Value MathBuilder::shiftLeft(Value x, int64_t amount) {
  return create<arith::ShLIOp>(x, integer(amount));
}
Value MathBuilder::shiftRight(Value x, int64_t amount) {
  return create<arith::ShRUIOp>(x, integer(amount));
}

Value MathBuilder::flipSign(Value x, Value sign) {
  Value signBit = integer(f32 ? INT32_MIN : INT64_MIN);
  return fromBits(xorInt(bits(x), andInt(sign, signBit)));
}

MathBuilder::Rounded MathBuilder::round(Value x) { return roundProduct(x, 1.0); }

MathBuilder::Rounded MathBuilder::roundProduct(Value x, double scale) {
  // 1.5 * 2^mantissa has an ulp of 1: the sum's low bits are the rounded
  // integer, in two's complement.
  Value magic = constant(pick(12582912.0, 6755399441055744.0));
  Value sum = scale == 1.0 ? add(x, magic) : fma(x, constant(scale), magic);
  return {sub(sum, magic), bits(sum)};
}

Value MathBuilder::exp2ByInstruction(Value x, bool normal) {
  return create<math::Exp2Op>(x, normal ? arith::FastMathFlags::afn : arith::FastMathFlags::none);
}
Value MathBuilder::exp2(Value lowBits) {
  return fromBits(shiftLeft(addInt(lowBits, integer(exponentBias())), mantissaBits()));
}

Value MathBuilder::toFloat(Value x) {
  if (f32)
    return arith::SIToFPOp::create(builder, type, x);
  // Few vector units convert 64-bit integers: place the integer below the magic
  // number's ulp of 1.
  double magic = 6755399441055744.0;
  return sub(fromBits(addInt(x, integer(llvm::bit_cast<int64_t>(magic)))), constant(magic));
}

Pair MathBuilder::fastTwoSum(Value x, Value y) {
  Value sum = add(x, y);
  return {sum, sub(y, sub(sum, x))};
}

Pair MathBuilder::twoSum(Value x, Value y) {
  Value sum = add(x, y);
  Value xPart = sub(sum, y);
  Value yPart = sub(sum, xPart);
  return {sum, add(sub(x, xPart), sub(y, yPart))};
}

Value MathBuilder::upperHalf(Value x) {
  Value scaled = mul(x, constant(pick(4097.0, 134217729.0)));
  return sub(scaled, sub(scaled, x));
}

Pair MathBuilder::twoProduct(Value x, Value y) {
  Value product = mul(x, y);
  if (settings.hasFma)
    return {product, fma(x, y, neg(product))};
  Value xHigh = upperHalf(x), yHigh = upperHalf(y);
  Value xLow = sub(x, xHigh), yLow = sub(y, yHigh);
  Value error = sub(mul(xHigh, yHigh), product);
  error = add(error, mul(xHigh, yLow));
  error = add(error, mul(xLow, yHigh));
  return {product, add(error, mul(xLow, yLow))};
}

Pair MathBuilder::constantPair(double hi, double lo) {
  if (!f32)
    return {constant(hi), constant(lo)};
  double head = static_cast<float>(hi);
  return {constant(head), constant(hi - head)};
}

Pair MathBuilder::addPair(Pair x, Pair y) {
  Pair high = twoSum(x.hi, y.hi), low = twoSum(x.lo, y.lo);
  Pair sum = fastTwoSum(high.hi, add(high.lo, low.hi));
  return fastTwoSum(sum.hi, add(sum.lo, low.lo));
}

Pair MathBuilder::addPair(Pair x, Value y) {
  Pair sum = twoSum(x.hi, y);
  return fastTwoSum(sum.hi, add(sum.lo, x.lo));
}

Pair MathBuilder::mulPair(Pair x, Pair y) {
  Pair product = twoProduct(x.hi, y.hi);
  Value cross = fma(x.lo, y.hi, mul(x.hi, y.lo));
  return fastTwoSum(product.hi, add(product.lo, cross));
}

Pair MathBuilder::mulPair(Pair x, Value y) {
  Pair product = twoProduct(x.hi, y);
  return fastTwoSum(product.hi, fma(x.lo, y, product.lo));
}

Pair MathBuilder::divPair(Value x, Pair y) {
  Value head = roughQuotient(x, y.hi);
  Pair product = twoProduct(head, y.hi);
  Value remainder = sub(sub(x, product.hi), product.lo);
  remainder = sub(remainder, mul(head, y.lo));
  return fastTwoSum(head, roughQuotient(remainder, y.hi));
}

Value MathBuilder::anyLane(Value condition) {
  auto vector = dyn_cast<VectorType>(condition.getType());
  if (!vector)
    return condition;
  if (vector.getRank() == 0)
    return vector::ExtractOp::create(builder, condition, ArrayRef<int64_t>{});
  if (vector.getRank() > 1)
    condition = vector::ShapeCastOp::create(
        builder, VectorType::get({vector.getNumElements()}, vector.getElementType()), condition);
  return vector::ReductionOp::create(builder, vector::CombiningKind::OR, condition);
}

} // namespace xc::codegen
