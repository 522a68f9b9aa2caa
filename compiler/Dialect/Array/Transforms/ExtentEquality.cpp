//===- ExtentEquality.cpp - Which extents are the same number -------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Array/Transforms/ExtentEquality.h"

#include "compiler/Dialect/Array/IR/ArrayOps.h"
#include "compiler/Dialect/Array/IR/AttributeNames.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace xc::array {

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

/// Looks through conversions that change no extent: those to types that hold the bound.
Value ExtentEquality::skipConversions(Value number) const {
  Value source = number;
  unsigned narrowest = 64;
  while (auto convert = source.getDefiningOp<ConvertOp>()) {
    auto type = dyn_cast<IntegerType>(convert.getType().getElementType());
    if (!type || !isa<IntegerType>(getElementTypeOrSelf(convert.getOperand().getType())))
      break;
    narrowest = std::min(narrowest, type.getWidth() - (type.isUnsigned() ? 0 : 1));
    source = convert.getOperand();
  }
  auto limit = limits.find(source);
  bool fits =
      narrowest >= 63 || (limit != limits.end() && limit->second < (int64_t(1) << narrowest));
  return fits ? source : number;
}

Value ExtentEquality::getExtentWithin(Value count, int64_t bound) const {
  Value source = skipConversions(count);
  auto limit = limits.find(source);
  return limit != limits.end() && limit->second <= bound ? source : Value();
}

/// True for the sizes of inputs' dims that have one name.
static bool haveOneName(Operation *lhs, Operation *rhs) {
  auto getName = [](Operation *op) -> StringAttr {
    auto dim = dyn_cast<tensor::DimOp>(op);
    auto argument = dim ? dyn_cast<BlockArgument>(dim.getSource()) : BlockArgument();
    std::optional<int64_t> place = dim ? dim.getConstantIndex() : std::nullopt;
    if (!argument || !place)
      return {};
    auto func = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp());
    if (!func || !argument.getOwner()->isEntryBlock())
      return {};
    auto names = func.getArgAttrOfType<ArrayAttr>(argument.getArgNumber(), kDimsAttr);
    return names ? dyn_cast<StringAttr>(names[*place]) : StringAttr();
  };
  StringAttr name = getName(lhs);
  return name && !name.empty() && name == getName(rhs);
}

/// A sum with a constant, as the value and the constant.
static std::pair<Value, int64_t> splitSum(Value value) {
  int64_t distance = 0;
  DenseIntElementsAttr constant;
  while (auto sum = value.getDefiningOp<AddOp>()) {
    if (!matchPattern(sum.getRhs(), m_Constant(&constant)) || !constant.isSplat())
      break;
    distance += constant.getSplatValue<APInt>().getSExtValue();
    value = sum.getLhs();
  }
  return {value, distance};
}

bool ExtentEquality::compareFormulas(Value lhs, Value rhs, unsigned depth, Premises &premises) {
  auto [left, leftDistance] = splitSum(lhs);
  auto [right, rightDistance] = splitSum(rhs);
  if (left != lhs && right != rhs && leftDistance == rightDistance)
    return compare(left, right, Nothing, depth + 1, premises);
  Operation *first = lhs.getDefiningOp(), *second = rhs.getDefiningOp();
  if (!first || !second || first->getNumRegions() > 0 || !isPure(first))
    return false;
  if (haveOneName(first, second))
    return true;
  return cast<OpResult>(lhs).getResultNumber() == cast<OpResult>(rhs).getResultNumber() &&
         OperationEquivalence::isEquivalentTo(
             first, second,
             [&](Value a, Value b) { return success(compare(a, b, Nothing, depth + 1, premises)); },
             /*markEquivalent=*/nullptr, OperationEquivalence::IgnoreLocations);
}

/// Bounds that are equal need not be looked at: what is kept within them are the numbers.
bool ExtentEquality::compareOrigins(Value lhs, Value rhs, unsigned depth, Premises &premises) {
  auto find = [&](Value extent) {
    auto known = origins.find(extent);
    return known == origins.end() ? Origin{Kind::Cut, {}, {}} : known->second;
  };
  Origin left = find(lhs), right = find(rhs);
  bool areAlike = left.number && right.number && left.kind == right.kind;
  if (areAlike &&
      (left.kind == Kind::Set ||
       compare(left.before, right.before, EqualBounds, depth, premises)) &&
      compare(left.number, right.number, Nothing, depth + 1, premises))
    return true;
  // What is an extent within this bound is not changed by it.
  auto isSetTo = [&](const Origin &origin, Value other) {
    return origin.number && origin.kind != Kind::Grown &&
           compare(skipConversions(origin.number), other, Nothing, depth + 1, premises) &&
           (origin.kind == Kind::Set ||
            compare(origin.before, other, EqualBounds, depth, premises));
  };
  return isSetTo(left, rhs) || isSetTo(right, lhs);
}

bool ExtentEquality::compare(Value lhs, Value rhs, Given given, unsigned depth,
                             Premises &premises) {
  if (lhs == rhs)
    return true;
  if (haveOneClass({lhs, rhs, given})) {
    premises.push_back({lhs, rhs, given});
    return true;
  }
  // What the program computes twice is one value by now; formulas of rules are not deep.
  constexpr unsigned kDeepest = 8;
  if (depth > kDeepest)
    return false;
  return (given == EqualBounds && compareOrigins(lhs, rhs, depth, premises)) ||
         compareFormulas(lhs, rhs, depth, premises);
}

bool ExtentEquality::areEqual(Operation *asker, Value lhs, Value rhs) {
  Premises premises;
  if (!compare(lhs, rhs, EqualBounds, /*depth=*/0, premises))
    return false;
  use(asker, premises);
  return true;
}

//===----------------------------------------------------------------------===//
// Values of loops and branches
//===----------------------------------------------------------------------===//

bool ExtentEquality::haveOneClass(const Premise &premise) const {
  auto left = leaders[premise.given].find(premise.lhs);
  auto right = leaders[premise.given].find(premise.rhs);
  return left != leaders[premise.given].end() && right != leaders[premise.given].end() &&
         left->second == right->second;
}

void ExtentEquality::use(Operation *asker, const Premises &premises) {
  for (const Premise &premise : premises) {
    uses.push_back({asker, premise});
    for (Value value : {premise.lhs, premise.rhs})
      if (auto known = reasons.find(value); known != reasons.end())
        for (const Premise &reason : known->second)
          uses.push_back({asker, reason});
  }
}

void ExtentEquality::classify(ValueRange values, Comparison compare) {
  for (Given given : {Nothing, EqualBounds}) {
    SmallVector<size_t> first;
    for (auto [number, value] : llvm::enumerate(values)) {
      Premises premises;
      auto isLike = [&, number = number](size_t other) {
        return compare(other, number, given, premises);
      };
      const auto *found = llvm::find_if(first, isLike);
      bool isNew = found == first.end();
      leaders[given][value] = isNew ? value : values[*found];
      if (isNew)
        first.push_back(number);
      else
        llvm::append_range(reasons[value], premises);
    }
  }
}

size_t ExtentEquality::assume(ValueRange arguments, ValueRange inits) {
  classify(arguments, [&](size_t a, size_t b, Given given, Premises &) {
    Premises premises;
    return compare(inits[a], inits[b], given, /*depth=*/0, premises);
  });
  return uses.size();
}

void ExtentEquality::refine(const Carried &carried) {
  ArrayRef<Value> arguments = carried.arguments;
  // A class that falls apart may take others with it.
  for (bool isStable = false; !isStable;) {
    isStable = true;
    llvm::DenseMap<Value, Value> refined[2];
    for (Given given : {Nothing, EqualBounds})
      for (auto [number, argument] : llvm::enumerate(arguments)) {
        Value leader = argument;
        for (size_t other = 0; other < number && leader == argument; ++other) {
          Premises premises;
          if (refined[given].lookup(arguments[other]) == arguments[other] &&
              haveOneClass({arguments[other], argument, given}) &&
              compare(carried.yielded[other], carried.yielded[number], given, /*depth=*/0,
                      premises))
            leader = arguments[other];
        }
        refined[given][argument] = leader;
        isStable &= leaders[given].lookup(argument) == leader;
      }
    for (Given given : {Nothing, EqualBounds})
      for (Value argument : arguments)
        leaders[given][argument] = refined[given][argument];
  }
}

LogicalResult ExtentEquality::settle(const Carried &carried, size_t first) {
  refine(carried);
  llvm::SmallDenseMap<Value, size_t> numbers;
  for (auto [number, argument] : llvm::enumerate(carried.arguments))
    numbers[argument] = number;
  // The classes of one loop rest on each other, so what they rest on outside of it they share.
  Premises all, outside;
  for (Given given : {Nothing, EqualBounds})
    for (auto [number, argument] : llvm::enumerate(carried.arguments)) {
      size_t leader = numbers.lookup(leaders[given].lookup(argument));
      compare(carried.inits[leader], carried.inits[number], given, /*depth=*/0, all);
      compare(carried.yielded[leader], carried.yielded[number], given, /*depth=*/0, all);
    }
  llvm::copy_if(all, std::back_inserter(outside),
                [&](const Premise &premise) { return !numbers.contains(premise.lhs); });
  for (Value argument : carried.arguments)
    reasons[argument] = outside;
  for (size_t place = first, end = uses.size(); place < end; ++place) {
    auto [asker, premise] = uses[place];
    if (!numbers.contains(premise.lhs))
      continue;
    if (!haveOneClass(premise)) {
      InFlightDiagnostic diagnostic =
          asker->emitOpError("has dims with runtime sizes in device memory that have to be equal, "
                             "but that a loop, which "
                             "carries them, changes one unlike the other");
      diagnostic.attachNote(premise.lhs.getLoc()) << "one begins as this";
      return failure();
    }
    use(asker, outside);
  }
  return success();
}

void ExtentEquality::follow(ValueRange values, ValueRange like) {
  classify(values, [&](size_t a, size_t b, Given given, Premises &) {
    return haveOneClass({like[a], like[b], given});
  });
  for (auto [value, other] : llvm::zip_equal(values, like))
    reasons[value] = reasons.lookup(other);
}

void ExtentEquality::join(ValueRange results, ValueRange first, ValueRange second) {
  classify(results, [&](size_t a, size_t b, Given given, Premises &premises) {
    return compare(first[a], first[b], given, /*depth=*/0, premises) &&
           compare(second[a], second[b], given, /*depth=*/0, premises);
  });
}

} // namespace xc::array
