//===- ImportTosaInteger.cpp - TOSA ops on scaled integers ----------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Input/ImportTosa.h"

#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace xc::array;

namespace xc::tosa_import {

using Result = FailureOr<SmallVector<Value>>;

/// The product in the result's type; with a shift, in 64 bits and rounded.
static Result convertMul(tosa::MulOp op, ExpressionBuilder &e) {
  Type element = elementOf(op.getOutput());
  DenseIntElementsAttr shiftAttr;
  if (isa<FloatType>(element))
    return SmallVector<Value>{e.mul(op.getInput1(), op.getInput2())};
  if (!matchPattern(op.getShift(), m_Constant(&shiftAttr)))
    return op.emitError("'tosa.mul' has a computed shift; expected a constant");
  int64_t shift = (*shiftAttr.value_begin<APInt>()).getSExtValue();
  if (shift == 0)
    return SmallVector<Value>{
        e.mul(e.convert(op.getInput1(), element), e.convert(op.getInput2(), element))};
  Type wide = e.getBuilder().getI64Type();
  Value product = e.mul(e.convert(op.getInput1(), wide), e.convert(op.getInput2(), wide));
  product = e.add(product, e.integer(int64_t(1) << (shift - 1), elementOf(product)));
  product = e.make<ShiftRightArithmeticOp>(product, e.integer(shift, elementOf(product)));
  return SmallVector<Value>{e.convert(product, element)};
}

/// With `round`, the last bit that is shifted out is added.
static Value convertShift(tosa::ArithmeticRightShiftOp op, ExpressionBuilder &e) {
  Value value = op.getInput1(), shift = op.getInput2();
  Value shifted = e.make<ShiftRightArithmeticOp>(value, shift);
  if (!op.getRound())
    return shifted;
  Value zero = e.integer(0, elementOf(value)), one = e.integer(1, elementOf(value));
  // A shift by 0 has no such bit.
  Value before = e.make<MaxOp>(e.sub(shift, one), zero);
  Value last = e.make<AndOp>(e.make<ShiftRightArithmeticOp>(value, before), one);
  Value isShifted = e.compare(CompareDirection::Gt, shift, zero);
  return e.add(shifted, e.select(isShifted, last, zero));
}

/// Each element of an i8 picks one of 256 values; an i16 is a place between two of 513, in 128ths.
static Value convertTable(tosa::TableOp op, ExpressionBuilder &e) {
  Type i32 = e.getBuilder().getI32Type();
  Value index = e.convert(op.getInput1(), i32), table = op.getTable();
  if (elementOf(op.getInput1()).isInteger(8))
    return e.make<TakeOp>(table, e.add(index, 128.0), int64_t(0));
  table = e.convert(table, i32);
  Value cell = e.make<ShiftRightArithmeticOp>(index, e.scalar(7, index));
  Value fraction = e.make<AndOp>(index, e.scalar(127, index));
  Value base = e.make<TakeOp>(table, e.add(cell, 256.0), int64_t(0));
  Value next = e.make<TakeOp>(table, e.add(cell, 257.0), int64_t(0));
  return e.add(e.mul(base, 128.0), e.mul(e.sub(next, base), fraction));
}

/// One value for all elements, or one for each of the last dim.
static Value perChannel(ExpressionBuilder &e, Value values, bool isPerChannel, Type element) {
  values = e.convert(values, element);
  return isPerChannel ? values : reshapeTo(e, values, {});
}

/// value * multiplier >> shift, rounded: all in 64 bits.
static Value applyScale(ExpressionBuilder &e, Value value, Value multiplier, Value shift,
                        tosa::RoundingMode mode) {
  auto constant = [&](int64_t number) { return e.integer(number, elementOf(value)); };
  Value round = e.make<ShiftLeftOp>(constant(1), e.sub(shift, constant(1)));
  if (mode == tosa::RoundingMode::DOUBLE_ROUND) {
    // As if the product had been rounded to 31 bits before.
    Value half = e.select(e.compare(CompareDirection::Ge, value, constant(0)),
                          constant(int64_t(1) << 30), constant(-(int64_t(1) << 30)));
    Value isLong = e.compare(CompareDirection::Gt, shift, constant(31));
    round = e.add(round, e.select(isLong, half, constant(0)));
  }
  return e.make<ShiftRightArithmeticOp>(e.add(e.mul(value, multiplier), round), shift);
}

static Value convertApplyScale(tosa::ApplyScaleOp op, ExpressionBuilder &e) {
  Type i64 = e.getBuilder().getI64Type();
  Value scaled = applyScale(e, e.convert(op.getValue(), i64), e.convert(op.getMultiplier(), i64),
                            e.convert(op.getShift(), i64), op.getRoundingMode());
  return e.convert(scaled, elementOf(op.getOutput()));
}

/// (x - input_zp) * multiplier >> shift, rounded, + output_zp, saturated: all in 64 bits.
static Result convertRescale(tosa::RescaleOp op, ExpressionBuilder &e) {
  FailureOr<int64_t> from = op.getInputZeroPoint(), to = op.getOutputZeroPoint();
  if (failed(from) || failed(to))
    return op.emitError("'tosa.rescale' has zero points that are not constants");
  Type i64 = e.getBuilder().getI64Type();
  auto type = cast<IntegerType>(elementOf(op.getOutput()));
  Value value = op.getInput();
  if (op.getInputUnsigned()) {
    auto from = cast<IntegerType>(elementOf(value));
    auto bits = IntegerType::get(op.getContext(), from.getWidth(), IntegerType::Unsigned);
    value = e.make<BitcastOp>(cast<RankedTensorType>(value.getType()).clone(bits), value);
  }
  value = e.convert(value, i64);
  auto constant = [&](int64_t number) { return e.integer(number, elementOf(value)); };
  value = e.sub(value, constant(*from));
  Value multiplier = perChannel(e, op.getMultiplier(), op.getPerChannel(), i64);
  Value shift = perChannel(e, op.getShift(), op.getPerChannel(), i64);
  value = applyScale(e, value, multiplier, shift, op.getRoundingMode());
  // Integers that are converted wrap, so the bits come out right either way.
  int64_t count = int64_t(1) << type.getWidth(), lowest = op.getOutputUnsigned() ? 0 : -count / 2;
  value =
      e.make<ClampOp>(constant(lowest), e.add(value, constant(*to)), constant(lowest + count - 1));
  return SmallVector<Value>{e.convert(value, type)};
}

/// The number of zeros above the highest bit that is set, by bisection.
static Value convertClz(tosa::ClzOp op, ExpressionBuilder &e) {
  Value rest = op.getInput1();
  auto type = cast<IntegerType>(elementOf(rest));
  Value count = e.integer(type.getWidth(), elementOf(rest));
  for (int64_t half = type.getWidth() / 2; half > 0; half /= 2) {
    Value shift = e.integer(half, elementOf(rest));
    Value upper = e.make<ShiftRightLogicalOp>(rest, shift);
    Value isAbove = e.compare(CompareDirection::Ne, upper, e.integer(0, elementOf(rest)));
    count = e.select(isAbove, e.sub(count, shift), count);
    rest = e.select(isAbove, upper, rest);
  }
  // What is left is the highest bit, or 0.
  return e.sub(count, rest);
}

Replacement convertInteger(Operation *op, ExpressionBuilder &e) {
  if (auto clz = dyn_cast<tosa::ClzOp>(op))
    return SmallVector<Value>{convertClz(clz, e)};
  if (auto mul = dyn_cast<tosa::MulOp>(op))
    return convertMul(mul, e);
  if (auto shift = dyn_cast<tosa::ArithmeticRightShiftOp>(op))
    return SmallVector<Value>{convertShift(shift, e)};
  if (auto table = dyn_cast<tosa::TableOp>(op))
    return SmallVector<Value>{convertTable(table, e)};
  // On scalars it belongs into bodies of other ops.
  if (auto scale = dyn_cast<tosa::ApplyScaleOp>(op);
      scale && isa<RankedTensorType>(scale.getOutput().getType()))
    return SmallVector<Value>{convertApplyScale(scale, e)};
  if (auto rescale = dyn_cast<tosa::RescaleOp>(op))
    return convertRescale(rescale, e);
  return std::nullopt;
}

} // namespace xc::tosa_import
