//===- RegularPlaces.cpp - Places that follow from loops ------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Plan/IR/RegularPlaces.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Matchers.h"

#include <numeric>

using namespace mlir;

namespace xc::plan {

int64_t RegularPlace::evaluate(int64_t i) const {
  int64_t place = (i * scale + offset) / divisor + shift;
  if (lowest)
    place = std::max(place, *lowest);
  return highest ? std::min(place, *highest) : place;
}

int64_t RegularPlace::getPeriod() const { return divisor / std::gcd(scale, divisor); }

Value buildPlace(OpBuilder &builder, Location loc, const RegularPlace &place) {
  auto constant = [&](int64_t number) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, number);
  };
  constexpr auto nsw = arith::IntegerOverflowFlags::nsw;
  Value value = linalg::IndexOp::create(builder, loc, place.loop);
  if (place.scale != 1)
    value = arith::MulIOp::create(builder, loc, value, constant(place.scale), nsw);
  if (place.offset != 0)
    value = arith::AddIOp::create(builder, loc, value, constant(place.offset), nsw);
  if (place.divisor != 1)
    value = arith::DivUIOp::create(builder, loc, value, constant(place.divisor));
  if (place.shift != 0)
    value = arith::AddIOp::create(builder, loc, value, constant(place.shift), nsw);
  if (place.lowest)
    value = arith::MaxSIOp::create(builder, loc, value, constant(*place.lowest));
  if (place.highest)
    value = arith::MinSIOp::create(builder, loc, value, constant(*place.highest));
  return value;
}

/// If `value` is an `Op` with a constant, takes it to the other operand and gives the constant.
template <typename Op> static std::optional<int64_t> strip(Value &value) {
  auto op = value.getDefiningOp<Op>();
  APInt number;
  if (!op || !matchPattern(op->getOperand(1), m_ConstantInt(&number)))
    return std::nullopt;
  if constexpr (std::is_same_v<Op, arith::AddIOp> || std::is_same_v<Op, arith::MulIOp>)
    if (!bitEnumContainsAll(op.getOverflowFlags(), arith::IntegerOverflowFlags::nsw))
      return std::nullopt;
  value = op->getOperand(0);
  return number.getSExtValue();
}

std::optional<RegularPlace> matchPlace(Value value) {
  if (!value.getType().isIndex())
    return std::nullopt;
  RegularPlace place;
  place.highest = strip<arith::MinSIOp>(value);
  place.lowest = strip<arith::MaxSIOp>(value);
  place.shift = strip<arith::AddIOp>(value).value_or(0);
  if (std::optional<int64_t> divisor = strip<arith::DivUIOp>(value)) {
    place.divisor = *divisor;
    place.offset = strip<arith::AddIOp>(value).value_or(0);
  }
  place.scale = strip<arith::MulIOp>(value).value_or(1);
  auto index = value.getDefiningOp<linalg::IndexOp>();
  if (!index || place.scale < 1 || place.divisor < 1 || place.offset < 0)
    return std::nullopt;
  place.loop = index.getDim();
  return place;
}

} // namespace xc::plan
