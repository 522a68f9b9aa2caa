//===- ImportOrder.cpp - StableHLO's sort ---------------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A comparator says that elements are ordered by one operand, or by several, of which a later one
// decides where all before it are equal:
//
//     lt(a) || (eq(a) && (lt(b) || (eq(b) && lt(c))))
//
// Its keys may first be brought to one zero and one NaN, as JAX does for floats. Several keys are
// sorted by the last one first: each sort keeps the order of what is equal.
//
//===----------------------------------------------------------------------===//

#include "compiler/Input/StableHLO/ImportStableHLO.h"

using namespace mlir;
using namespace xc::array;

namespace xc::stablehlo_import {

namespace shlo = stablehlo;

namespace {

struct Key {
  unsigned operand;
  bool isDescending;
  /// In IEEE's total order, which tells zeros and NaNs apart.
  bool isTotal;
};

/// One argument of a comparator, as it is compared.
struct Side {
  BlockArgument argument;
  bool hasOneZero = false, hasOneNan = false;
};

} // namespace

/// Looks through `select(x == 0, 0, x)` and `select(x != x, nan, x)`.
static std::optional<Side> matchSide(Value value) {
  Side side;
  while (auto select = value.getDefiningOp<shlo::SelectOp>()) {
    auto compare = select.getPred().getDefiningOp<shlo::CompareOp>();
    if (!compare)
      return std::nullopt;
    StringRef direction = compare.getComparisonDirection().getValue();
    auto constant = select.getOnTrue().getDefiningOp<shlo::ConstantOp>();
    auto elements = constant ? dyn_cast<DenseFPElementsAttr>(constant.getValue()) : nullptr;
    if (!elements || !elements.isSplat() || !isa<BlockArgument>(compare.getLhs()) ||
        (side.argument && side.argument != compare.getLhs()))
      return std::nullopt;
    side.argument = cast<BlockArgument>(compare.getLhs());
    APFloat number = elements.getSplatValue<APFloat>();
    auto zero = compare.getRhs().getDefiningOp<shlo::ConstantOp>();
    auto zeros = zero ? dyn_cast<DenseFPElementsAttr>(zero.getValue()) : nullptr;
    if (direction == "EQ" && number.isZero() && zeros && zeros.isSplat() &&
        zeros.getSplatValue<APFloat>().isZero())
      side.hasOneZero = true;
    else if (direction == "NE" && number.isNaN() && compare.getRhs() == compare.getLhs())
      side.hasOneNan = true;
    else
      return std::nullopt;
    value = select.getOnFalse();
  }
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument || (side.argument && side.argument != argument))
    return std::nullopt;
  side.argument = argument;
  return side;
}

/// A comparison of both elements of one operand; its direction as of the first and second.
static std::optional<Key> matchComparison(shlo::CompareOp compare, StringRef &direction) {
  std::optional<Side> lhs = matchSide(compare.getLhs()), rhs = matchSide(compare.getRhs());
  if (!lhs || !rhs || lhs->hasOneNan != rhs->hasOneNan || lhs->hasOneZero != rhs->hasOneZero)
    return std::nullopt;
  unsigned left = lhs->argument.getArgNumber(), right = rhs->argument.getArgNumber();
  if (left / 2 != right / 2 || left == right)
    return std::nullopt;
  direction = compare.getComparisonDirection().getValue();
  if (left > right) // (b, a)
    direction = direction == "LT" ? "GT" : direction == "GT" ? "LT" : direction;
  bool isTotal = compare.getCompareType() && compare.getCompareType()->getValue() == "TOTALORDER";
  return Key{left / 2, direction == "GT", isTotal && !(lhs->hasOneNan && lhs->hasOneZero)};
}

static std::optional<Key> matchOrder(Value value) {
  auto compare = value.getDefiningOp<shlo::CompareOp>();
  StringRef direction;
  std::optional<Key> key = compare ? matchComparison(compare, direction) : std::nullopt;
  return key && (direction == "LT" || direction == "GT") ? key : std::nullopt;
}

static bool isEquality(Value value, unsigned operand) {
  auto compare = value.getDefiningOp<shlo::CompareOp>();
  StringRef direction;
  std::optional<Key> key = compare ? matchComparison(compare, direction) : std::nullopt;
  return key && direction == "EQ" && key->operand == operand;
}

/// Keys of a comparator's result, the first one deciding first.
static std::optional<SmallVector<Key>> matchKeys(Value value) {
  SmallVector<Key> keys;
  while (true) {
    if (std::optional<Key> key = matchOrder(value)) {
      keys.push_back(*key);
      return keys;
    }
    // First key, whether it is equal, and what decides then.
    Value first, equal, next;
    if (auto either = value.getDefiningOp<shlo::OrOp>()) {
      auto both = either.getRhs().getDefiningOp<shlo::AndOp>();
      if (!both)
        return std::nullopt;
      first = either.getLhs();
      equal = both.getLhs();
      next = both.getRhs();
    } else if (auto select = value.getDefiningOp<shlo::SelectOp>()) {
      first = select.getOnFalse();
      equal = select.getPred();
      next = select.getOnTrue();
    } else {
      return std::nullopt;
    }
    std::optional<Key> key = matchOrder(first);
    if (!key || !isEquality(equal, key->operand))
      return std::nullopt;
    keys.push_back(*key);
    value = next;
  }
}

/// What array ops sort `value` by.
static Value toKey(ExpressionBuilder &e, Value value, const Key &key) {
  if (isTruth(value))
    return e.convert(value, getUnsigned(e, 8));
  return key.isTotal ? toTotalOrder(e, value) : value;
}

static Result convertSort(shlo::SortOp op, ExpressionBuilder &e) {
  std::optional<SmallVector<Key>> keys =
      matchKeys(op.getComparator().front().getTerminator()->getOperand(0));
  if (!keys)
    return Result::refuse("its comparator does not order by operands in ascending or descending "
                          "order");
  auto type = typeOf(op.getInputs().front());
  if (type.getRank() == 0)
    return Result(llvm::to_vector_of<Value>(op.getInputs()));
  uint64_t axis = op.getDimension() < 0 ? op.getDimension() + type.getRank() : op.getDimension();
  if (op.getInputs().size() == 1 && keys->size() == 1 && !keys->front().isTotal &&
      !isTruth(op.getInputs().front()))
    return e.make<SortOp>(op.getInputs().front(), axis, keys->front().isDescending);
  Type count = e.getBuilder().getIntegerType(type.getShape()[axis] > INT32_MAX ? 64 : 32);
  Value order;
  for (const Key &key : llvm::reverse(*keys)) {
    Value value = toKey(e, op.getInputs()[key.operand], key);
    if (order)
      value = e.make<TakeAlongAxisOp>(value, order, axis);
    Value next = e.make<ArgSortOp>(type.clone(count), value, axis, key.isDescending);
    order = order ? e.make<TakeAlongAxisOp>(order, next, axis) : next;
  }
  return Result(llvm::map_to_vector(op.getInputs(), [&](Value input) -> Value {
    return e.make<TakeAlongAxisOp>(input, order, axis);
  }));
}

Replacement convertOrder(Operation *op, ExpressionBuilder &e) {
  if (auto sort = dyn_cast<shlo::SortOp>(op))
    return convertSort(sort, e);
  return std::nullopt;
}

} // namespace xc::stablehlo_import
