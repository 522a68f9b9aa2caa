//===- SizeConditions.cpp - Truth values that sizes decide ----------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Formulas have no comparison and their quotients are those of numbers that are not negative. So a
// number is kept as a difference of two such, and one difference is less than another if what has
// been moved to either side is: `a < b` is `1 <= b / (a + 1)`, and `1 <= q` is `1 - 1 / (q + 1)`.
// Where no sizes that `array.dim_range` allows make it true, it is false; where all do, true.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/SizeConditions.h"
#include "compiler/Dialect/Array/IR/ArrayOps.h"
#include "compiler/Dialect/Array/IR/ShapeRules.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace xc {

namespace {

/// `plus - minus`, neither of which is negative.
struct Difference {
  OpFoldResult plus, minus;
};

/// The least and the largest value of a number that is not negative; the latter may be unknown.
struct Limits {
  int64_t least = 0;
  std::optional<int64_t> most;
};

class SizeConditionBuilder {
public:
  /// Arguments of the condition of `loop`, if that is not null, are what they are in its first
  /// iteration.
  SizeConditionBuilder(plan::SymbolicDims &dims, array::RuntimeSizes &runtimeSizes,
                       Location location, array::WhileOp loop = {})
      : sizes(dims, location), dims(dims), runtimeSizes(runtimeSizes), loop(loop) {}

  OpFoldResult getTruth(Value value);
  OpFoldResult getGuard(Value value);

private:
  using Number = std::optional<Difference>;

  Number getNumber(Value value, unsigned width = 64);
  Number getSize(Value index);
  Number getConstant(const APInt &value);
  Number combine(Operation *op, Number lhs, Number rhs);
  OpFoldResult compare(array::CompareOp op, unsigned width = 64);
  OpFoldResult isLess(const Difference &a, const Difference &b);
  OpFoldResult negate(OpFoldResult truth) { return sizes.sub(sizes.constant(1), truth); }
  OpFoldResult conjoin(OpFoldResult lhs, OpFoldResult rhs) { return sizes.mul(lhs, rhs); }
  OpFoldResult disjoin(OpFoldResult lhs, OpFoldResult rhs) {
    return negate(conjoin(negate(lhs), negate(rhs)));
  }

  Limits getLimits(OpFoldResult size);
  Value getFirst(Value value);

  array::SizeBuilder sizes;
  plan::SymbolicDims &dims;
  array::RuntimeSizes &runtimeSizes;
  array::WhileOp loop;
};

} // namespace

/// Of `size`, which is not negative.
Limits SizeConditionBuilder::getLimits(OpFoldResult size) {
  FailureOr<plan::FormulaAttr> formula = dims.getFormula(size);
  if (failed(formula))
    return {};
  plan::SizeRange range = dims.getRange(*formula);
  return {range.min, range.max < 0 ? std::nullopt : std::optional(range.max)};
}

/// What stands for `value` in the first iteration of the loop.
Value SizeConditionBuilder::getFirst(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  bool isOfCondition = argument && loop && argument.getParentRegion() == &loop.getCondition();
  return isOfCondition ? loop.getInits()[argument.getArgNumber()] : value;
}

SizeConditionBuilder::Number SizeConditionBuilder::getConstant(const APInt &value) {
  // The lowest number has no opposite.
  if (value.getSignificantBits() > 63)
    return std::nullopt;
  int64_t number = value.getSExtValue();
  OpFoldResult zero = sizes.constant(0);
  return number < 0 ? Difference{zero, sizes.constant(-number)}
                    : Difference{sizes.constant(number), zero};
}

SizeConditionBuilder::Number SizeConditionBuilder::combine(Operation *op, Number lhs, Number rhs) {
  if (!lhs || !rhs)
    return std::nullopt;
  if (isa<array::AddOp, arith::AddIOp>(op))
    return Difference{sizes.add(lhs->plus, rhs->plus), sizes.add(lhs->minus, rhs->minus)};
  if (isa<array::SubOp, arith::SubIOp>(op))
    return Difference{sizes.add(lhs->plus, rhs->minus), sizes.add(lhs->minus, rhs->plus)};
  return Difference{sizes.add(sizes.mul(lhs->plus, rhs->plus), sizes.mul(lhs->minus, rhs->minus)),
                    sizes.add(sizes.mul(lhs->plus, rhs->minus), sizes.mul(lhs->minus, rhs->plus))};
}

/// A number of type index.
SizeConditionBuilder::Number SizeConditionBuilder::getSize(Value index) {
  APInt constant;
  if (matchPattern(index, m_ConstantInt(&constant)))
    return getConstant(constant);
  Operation *op = index.getDefiningOp();
  if (runtimeSizes.containsIndex(index))
    return std::nullopt;
  if (isa_and_present<arith::AddIOp, arith::SubIOp, arith::MulIOp>(op))
    return combine(op, getSize(op->getOperand(0)), getSize(op->getOperand(1)));
  FailureOr<plan::FormulaAttr> formula = dims.getFormula(index);
  if (failed(formula) || dims.getRange(*formula).min < 0)
    return std::nullopt;
  return Difference{index, sizes.constant(0)};
}

/// A number of rank 0, of integers of `width` bits.
SizeConditionBuilder::Number SizeConditionBuilder::getNumber(Value value, unsigned width) {
  value = getFirst(value);
  auto type = cast<RankedTensorType>(value.getType());
  if (type.getRank() != 0 || !type.getElementType().isSignlessInteger(width))
    return std::nullopt;
  DenseElementsAttr constant;
  if (matchPattern(value, m_Constant(&constant)))
    return getConstant(*constant.value_begin<APInt>());
  Operation *definition = value.getDefiningOp();
  if (!definition)
    return std::nullopt;
  return llvm::TypeSwitch<Operation *, Number>(definition)
      .Case([&](array::FromIndexOp op) { return getSize(op.getOperand()); })
      .Case<array::AddOp, array::SubOp, array::MulOp>([&](auto op) {
        return combine(op, getNumber(op.getLhs(), width), getNumber(op.getRhs(), width));
      })
      .Default([](Operation *) { return std::nullopt; });
}

OpFoldResult SizeConditionBuilder::isLess(const Difference &a, const Difference &b) {
  OpFoldResult one = sizes.constant(1), lower = sizes.add(a.plus, b.minus),
               upper = sizes.add(b.plus, a.minus);
  Limits low = getLimits(lower), high = getLimits(upper);
  if (high.most && *high.most <= low.least)
    return sizes.constant(0);
  if (low.most && *low.most < high.least)
    return sizes.constant(1);
  // Of what is 0 or 1 itself: that, or the opposite.
  if (getConstantIntValue(lower) == 0 && high.most && *high.most == 1)
    return upper;
  if (getConstantIntValue(upper) == 1 && low.most && *low.most == 1)
    return negate(lower);
  OpFoldResult quotient = sizes.floorDiv(upper, sizes.add(lower, one));
  return negate(sizes.floorDiv(one, sizes.add(quotient, one)));
}

/// Whether numbers that do not compare so lie between constants: one of them is a constant, which
/// bounds the other one from above, and another constant from below.
static bool fitsWhereFalse(array::CompareDirection direction, const Difference &lhs,
                           const Difference &rhs) {
  auto isConstant = [](const Difference &number) {
    return getConstantIntValue(number.plus) && getConstantIntValue(number.minus);
  };
  auto bounds = [&](const Difference &above, const Difference &number) {
    return isConstant(above) && getConstantIntValue(number.minus);
  };
  switch (direction) {
  case array::CompareDirection::Lt:
  case array::CompareDirection::Le:
    return bounds(lhs, rhs);
  case array::CompareDirection::Gt:
  case array::CompareDirection::Ge:
    return bounds(rhs, lhs);
  case array::CompareDirection::Ne:
    return bounds(lhs, rhs) || bounds(rhs, lhs);
  case array::CompareDirection::Eq:
    return false;
  }
  llvm_unreachable("no direction of a comparison");
}

OpFoldResult SizeConditionBuilder::compare(array::CompareOp op, unsigned width) {
  Number lhs = getNumber(op.getLhs(), width), rhs = getNumber(op.getRhs(), width);
  if (!lhs || !rhs || (width < 64 && !fitsWhereFalse(op.getDirection(), *lhs, *rhs)))
    return {};
  switch (op.getDirection()) {
  case array::CompareDirection::Lt:
    return isLess(*lhs, *rhs);
  case array::CompareDirection::Gt:
    return isLess(*rhs, *lhs);
  case array::CompareDirection::Le:
    return negate(isLess(*rhs, *lhs));
  case array::CompareDirection::Ge:
    return negate(isLess(*lhs, *rhs));
  case array::CompareDirection::Ne:
    return sizes.add(isLess(*lhs, *rhs), isLess(*rhs, *lhs));
  case array::CompareDirection::Eq:
    return negate(sizes.add(isLess(*lhs, *rhs), isLess(*rhs, *lhs)));
  }
  llvm_unreachable("no direction of a comparison");
}

OpFoldResult SizeConditionBuilder::getTruth(Value value) {
  value = getFirst(value);
  auto type = cast<RankedTensorType>(value.getType());
  Operation *op = value.getDefiningOp();
  if (type.getRank() != 0 || !type.getElementType().isInteger(1) || !op)
    return {};
  DenseElementsAttr constant;
  if (matchPattern(value, m_Constant(&constant)))
    return sizes.constant(*constant.value_begin<bool>() ? 1 : 0);
  if (auto comparison = dyn_cast<array::CompareOp>(op))
    return compare(comparison);
  if (!isa<array::AndOp, array::OrOp, array::XorOp>(op))
    return {};
  OpFoldResult lhs = getTruth(op->getOperand(0)), rhs = getTruth(op->getOperand(1));
  if (!lhs || !rhs)
    return {};
  if (isa<array::AndOp>(op))
    return conjoin(lhs, rhs);
  if (isa<array::OrOp>(op))
    return disjoin(lhs, rhs);
  return sizes.add(sizes.mul(lhs, negate(rhs)), sizes.mul(negate(lhs), rhs));
}

OpFoldResult SizeConditionBuilder::getGuard(Value value) {
  value = getFirst(value);
  Operation *op = value.getDefiningOp();
  if (auto conjunction = dyn_cast_if_present<array::AndOp>(op))
    return conjoin(getGuard(conjunction.getLhs()), getGuard(conjunction.getRhs()));
  if (auto disjunction = dyn_cast_if_present<array::OrOp>(op))
    return disjoin(getGuard(disjunction.getLhs()), getGuard(disjunction.getRhs()));
  OpFoldResult truth = getTruth(value);
  auto comparison = dyn_cast_if_present<array::CompareOp>(op);
  if (!truth && comparison) {
    Type element = getElementTypeOrSelf(comparison.getLhs());
    if (auto integer = dyn_cast<IntegerType>(element); integer && integer.getWidth() > 1)
      truth = compare(comparison, integer.getWidth());
  }
  return truth ? truth : sizes.constant(1);
}

plan::FormulaAttr findSizeCondition(Value condition, plan::SymbolicDims &dims,
                                    array::RuntimeSizes &runtimeSizes) {
  SizeConditionBuilder builder(dims, runtimeSizes, condition.getLoc());
  return dims.getFormula(builder.getTruth(condition)).value_or(plan::FormulaAttr());
}

plan::FormulaAttr findSizeGuard(array::WhileOp loop, plan::SymbolicDims &dims,
                                array::RuntimeSizes &runtimeSizes) {
  Block &condition = loop.getCondition().front();
  if (!llvm::all_of(condition.without_terminator(),
                    [](Operation &op) { return isMemoryEffectFree(&op); }))
    return {};
  SizeConditionBuilder builder(dims, runtimeSizes, loop.getLoc(), loop);
  Value first = cast<array::YieldOp>(condition.getTerminator()).getValues().front();
  return dims.getFormula(builder.getGuard(first)).value_or(plan::FormulaAttr());
}

bool fillsArrays(array::WhileOp loop) {
  return llvm::any_of(loop.getInits(), [](Value init) {
    return isa_and_present<tensor::EmptyOp>(init.getDefiningOp());
  });
}

} // namespace xc
