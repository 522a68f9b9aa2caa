//===- FoldNumbers.cpp - Arithmetic on shapes, done while importing -------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Exported models compute shapes by nodes: Shape, Gather, Concat, Reshape. Here such integers are
// followed as small arrays, each number a constant or an `index` made of dims, so that ops which
// need a shape find one that the host knows. Their types are i64, i32 and i1. What is not
// expressible that way is left to the importer of the op.
//
//===----------------------------------------------------------------------===//

#include "compiler/Input/ONNX/FoldNumbers.h"

#include "compiler/Dialect/Array/IR/Sizes.h"
#include "compiler/Input/ONNX/GraphImport.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Traits.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/CheckedArithmetic.h"

using namespace mlir;

namespace xc::onnx {

namespace {

using Number = std::optional<OpFoldResult>;

/// The fold of one node. Methods return false where they know no answer.
struct Folder {
  NodeImport &n;
  SmallVector<NumberArray> inputs;

  bool run();

private:
  bool readInputs();
  bool foldSizes();
  bool foldBinary();
  bool foldNegation();
  bool foldReduction();
  bool foldSame();
  bool foldWhere();
  bool foldRange();
  bool foldConstantOfShape();
  std::optional<SmallVector<int64_t>> broadcastInputs();
  bool foldNot();
  bool setTruths(Numbers truths, ArrayRef<int64_t> shape);
  OpFoldResult negate(OpFoldResult truth) { return n.sizes().sub(n.index(1), truth); }
  Number combine(StringRef op, OpFoldResult a, OpFoldResult b);
  Number compare(StringRef op, OpFoldResult a, OpFoldResult b);
  OpFoldResult compareOpen(StringRef op, OpFoldResult a, OpFoldResult b);
};

} // namespace

static bool isNumberType(Type type) {
  return type.isInteger(64) || type.isInteger(32) || type.isInteger(1);
}

bool Folder::readInputs() {
  for (unsigned index = 0; index < n.getNumInputs(); ++index) {
    std::optional<NumberArray> known = n.numberArray(index);
    if (!known || !isNumberType(known->element))
      return false;
    inputs.push_back(std::move(*known));
  }
  return !inputs.empty();
}

bool setKnown(NodeImport &n, unsigned output, NumberArray known) {
  for (OpFoldResult number : known.numbers)
    if (std::optional<int64_t> constant = getConstantIntValue(number))
      if (known.element.isInteger(32) && int32_t(*constant) != *constant)
        return false;
  n.setNumbers(output, std::move(known));
  return true;
}

/// Broadcasts all inputs to one shape, and returns it.
std::optional<SmallVector<int64_t>> Folder::broadcastInputs() {
  SmallVector<int64_t> shape;
  for (const NumberArray &input : inputs) {
    SmallVector<int64_t> merged;
    if (!OpTrait::util::getBroadcastedShape(shape, input.shape, merged))
      return std::nullopt;
    shape = std::move(merged);
  }
  std::optional<int64_t> count = array::mulSizes(shape);
  // A list may be as long as one that is given; what is made of several is a shape.
  if (!count || (shape.size() > 1 && *count > kMostKnown))
    return std::nullopt;
  for (NumberArray &input : inputs)
    input = broadcastNumbers(input, shape);
  return shape;
}

bool Folder::foldSizes() {
  Value operand = n.input(0);
  if (!operand)
    return false;
  Type word = n.getBuilder().getI64Type();
  Numbers sizes = n.sizesOf(operand);
  if (n.node.op == "Size") {
    OpFoldResult product = n.index(1);
    for (OpFoldResult size : sizes)
      product = n.sizes().mul(product, size);
    return setKnown(n, 0, {{product}, {}, word});
  }
  int64_t rank = sizes.size();
  auto clamp = [&](int64_t place) {
    return std::clamp<int64_t>(place < 0 ? place + rank : place, 0, rank);
  };
  int64_t start = clamp(n.integer("start", 0)), end = clamp(n.integer("end", rank));
  int64_t count = std::max<int64_t>(end - start, 0);
  return setKnown(n, 0, {Numbers(ArrayRef(sizes).slice(start, count)), {count}, word});
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

static Bounds findBounds(OpFoldResult number, unsigned &steps);

static int64_t limit(std::optional<int64_t> value, int64_t otherwise) {
  return std::clamp(value.value_or(otherwise), -Bounds::kUnbounded, Bounds::kUnbounded);
}

/// Of `x - (x / c) * c`, which is what is left of a division: null for other differences.
static std::optional<int64_t> findDivisor(arith::SubIOp op) {
  auto product = op.getRhs().getDefiningOp<arith::MulIOp>();
  auto quotient = product ? product.getLhs().getDefiningOp<arith::DivUIOp>() : arith::DivUIOp();
  if (!quotient || quotient.getLhs() != op.getLhs())
    return std::nullopt;
  std::optional<int64_t> divisor = getConstantIntValue(getAsOpFoldResult(quotient.getRhs()));
  bool isSame = divisor == getConstantIntValue(getAsOpFoldResult(product.getRhs()));
  return isSame ? divisor : std::nullopt;
}

static Bounds findBoundsOfOp(Operation *op, unsigned &steps) {
  using Two = std::pair<Bounds, Bounds>;
  auto both = [&]() -> Two {
    Bounds a = findBounds(getAsOpFoldResult(op->getOperand(0)), steps);
    return {a, findBounds(getAsOpFoldResult(op->getOperand(1)), steps)};
  };
  constexpr int64_t kMost = Bounds::kUnbounded;
  return llvm::TypeSwitch<Operation *, Bounds>(op)
      .Case([&](array::DimOp) { return Bounds{0, array::kMostElements}; })
      .Case([&](arith::AddIOp) {
        auto [a, b] = both();
        return Bounds{limit(llvm::checkedAdd(a.low, b.low), -kMost),
                      limit(llvm::checkedAdd(a.high, b.high), kMost)};
      })
      .Case([&](arith::SubIOp sub) {
        if (std::optional<int64_t> divisor = findDivisor(sub); divisor && *divisor > 0)
          return Bounds{0, *divisor - 1};
        auto [a, b] = both();
        return Bounds{limit(llvm::checkedSub(a.low, b.high), -kMost),
                      limit(llvm::checkedSub(a.high, b.low), kMost)};
      })
      .Case([&](arith::MulIOp) {
        auto [a, b] = both();
        if (a.low < 0 || b.low < 0)
          return Bounds();
        return Bounds{limit(llvm::checkedMul(a.low, b.low), kMost),
                      limit(llvm::checkedMul(a.high, b.high), kMost)};
      })
      .Case([&](arith::MaxSIOp) {
        auto [a, b] = both();
        return Bounds{std::max(a.low, b.low), std::max(a.high, b.high)};
      })
      .Case([&](arith::MinSIOp) {
        auto [a, b] = both();
        return Bounds{std::min(a.low, b.low), std::min(a.high, b.high)};
      })
      .Case<arith::DivUIOp, arith::CeilDivUIOp>([&](Operation *) {
        // Made of numbers that are not negative only.
        auto [a, b] = both();
        return Bounds{0, a.high};
      })
      .Default([](Operation *) { return Bounds(); });
}

static Bounds findBounds(OpFoldResult number, unsigned &steps) {
  constexpr unsigned kMostSteps = 64;
  if (std::optional<int64_t> known = getConstantIntValue(number))
    return {limit(*known, 0), limit(*known, 0)};
  Operation *op = cast<Value>(number).getDefiningOp();
  return op && steps++ < kMostSteps ? findBoundsOfOp(op, steps) : Bounds();
}

Bounds findBounds(OpFoldResult number) {
  unsigned steps = 0;
  return findBounds(number, steps);
}

Number Folder::combine(StringRef op, OpFoldResult a, OpFoldResult b) {
  std::optional<int64_t> x = getConstantIntValue(a), y = getConstantIntValue(b);
  auto known = [&](std::optional<int64_t> value) -> Number {
    return value ? Number(n.index(*value)) : std::nullopt;
  };
  if (x && y) {
    if (op == "Add")
      return known(llvm::checkedAdd(*x, *y));
    if (op == "Sub")
      return known(llvm::checkedSub(*x, *y));
    if (op == "Mul")
      return known(llvm::checkedMul(*x, *y));
    if (op == "Max")
      return known(std::max(*x, *y));
    if (op == "Min")
      return known(std::min(*x, *y));
    if (*y == 0 || *y == -1)
      return std::nullopt;
    if (op == "Div")
      return known(*x / *y);
    if (op == "Mod")
      return known(*x % *y + (*x % *y != 0 && (*x < 0) != (*y < 0) ? *y : 0));
    return std::nullopt;
  }
  array::SizeBuilder sizes = n.sizes();
  if (op == "Add")
    return sizes.add(a, b);
  if (op == "Sub")
    return sizes.sub(a, b);
  if (op == "Mul")
    return sizes.mul(a, b);
  if (op == "Max")
    return sizes.max(a, b);
  if (op == "Min")
    return sizes.min(a, b);
  // Sizes are not negative, differences of them may be.
  bool isSize = y && *y > 0 && findBounds(a).low >= 0;
  if (op == "Div" && isSize)
    return sizes.floorDiv(a, b);
  if (op == "Mod" && isSize)
    return sizes.sub(a, sizes.mul(sizes.floorDiv(a, b), b));
  return std::nullopt;
}

Number Folder::compare(StringRef op, OpFoldResult a, OpFoldResult b) {
  std::optional<int64_t> x = getConstantIntValue(a), y = getConstantIntValue(b);
  auto truth = [&](bool value) -> Number { return n.index(value); };
  if (x && y) {
    if (op == "Equal")
      return truth(*x == *y);
    if (op == "Less")
      return truth(*x < *y);
    if (op == "Greater")
      return truth(*x > *y);
    if (op == "LessOrEqual")
      return truth(*x <= *y);
    if (op == "GreaterOrEqual")
      return truth(*x >= *y);
    if (op == "And")
      return truth(*x && *y);
    if (op == "Or")
      return truth(*x || *y);
    return std::nullopt;
  }
  if (op == "Equal" && a == b)
    return truth(true);
  if (op == "And" || op == "Or")
    return op == "And" ? n.sizes().mul(a, b) : n.sizes().max(a, b);
  // No size is negative, as exports of `expand` ask.
  Bounds left = findBounds(a), right = findBounds(b);
  if (op == "Greater" || op == "GreaterOrEqual")
    std::swap(left, right);
  if (op == "Equal")
    return left.high < right.low || right.high < left.low ? truth(false) : compareOpen(op, a, b);
  bool isStrict = op == "Less" || op == "Greater";
  if (left.high < right.low + !isStrict && left.high < Bounds::kUnbounded)
    return truth(true);
  if (right.high < left.low + isStrict && right.high < Bounds::kUnbounded)
    return truth(false);
  return compareOpen(op, a, b);
}

/// What sizes decide when they are known: 1 where it is true, or else 0.
OpFoldResult Folder::compareOpen(StringRef op, OpFoldResult a, OpFoldResult b) {
  array::SizeBuilder sizes = n.sizes();
  auto isLess = [&](OpFoldResult x, OpFoldResult y) {
    return sizes.min(sizes.max(sizes.sub(y, x), n.index(0)), n.index(1));
  };
  if (op == "Equal")
    return negate(sizes.min(sizes.max(sizes.sub(a, b), sizes.sub(b, a)), n.index(1)));
  if (op == "Less" || op == "GreaterOrEqual")
    return op == "Less" ? isLess(a, b) : negate(isLess(a, b));
  return op == "Greater" ? isLess(b, a) : negate(isLess(b, a));
}

/// Binds truth values. Those that sizes decide stay ops as well, which choices look at.
bool Folder::setTruths(Numbers truths, ArrayRef<int64_t> shape) {
  bool areKnown = getConstantIntValues(truths).has_value();
  n.setNumbers(0, {std::move(truths), SmallVector<int64_t>(shape), n.getBuilder().getI1Type()});
  return areKnown;
}

/// Whether truth values are not known before sizes are.
static bool areOpen(const NumberArray &known) {
  return known.element.isInteger(1) && !getConstantIntValues(known.numbers);
}

bool Folder::foldNot() {
  if (!inputs[0].element.isInteger(1))
    return false;
  Numbers truths =
      llvm::map_to_vector(inputs[0].numbers, [&](OpFoldResult truth) { return negate(truth); });
  return setTruths(truths, inputs[0].shape);
}

bool Folder::foldBinary() {
  if (inputs.size() != 2)
    return false;
  StringRef op = n.node.op;
  bool isComparison =
      llvm::StringSwitch<bool>(op)
          .Cases({"Equal", "Less", "Greater", "LessOrEqual", "GreaterOrEqual", "And", "Or"}, true)
          .Default(false);
  // Truth values of arithmetic are no integers.
  if (!isComparison && (inputs[0].element != inputs[1].element || inputs[0].element.isInteger(1)))
    return false;
  if (op == "Mod" && n.integer("fmod", 0) != 0)
    return false;
  std::optional<SmallVector<int64_t>> shape = broadcastInputs();
  if (!shape)
    return false;
  Numbers results;
  for (auto [x, y] : llvm::zip_equal(inputs[0].numbers, inputs[1].numbers)) {
    Number result = isComparison ? compare(op, x, y) : combine(op, x, y);
    if (!result)
      return false;
    results.push_back(*result);
  }
  return isComparison ? setTruths(results, *shape)
                      : setKnown(n, 0, {results, *shape, inputs[0].element});
}

bool Folder::foldNegation() {
  NumberArray &known = inputs.front();
  if (known.element.isInteger(1))
    return false;
  for (OpFoldResult &number : known.numbers) {
    Number negated = combine("Sub", n.index(0), number);
    if (!negated)
      return false;
    number = *negated;
  }
  return setKnown(n, 0, known);
}

bool Folder::foldReduction() {
  StringRef op = llvm::StringSwitch<StringRef>(n.node.op)
                     .Case("ReduceProd", "Mul")
                     .Case("ReduceSum", "Add")
                     .Case("ReduceMax", "Max")
                     .Case("ReduceMin", "Min")
                     .Default("");
  const NumberArray &list = inputs[0];
  bool isAll = inputs.size() == 1 || inputs[1].numbers.size() == 1;
  if (list.shape.size() != 1 || list.numbers.empty() || !isAll || list.element.isInteger(1) ||
      n.integer("noop_with_empty_axes", 0) != 0)
    return false;
  OpFoldResult result = list.numbers.front();
  for (OpFoldResult number : ArrayRef(list.numbers).drop_front()) {
    Number next = combine(op, result, number);
    if (!next)
      return false;
    result = *next;
  }
  SmallVector<int64_t> shape(n.integer("keepdims", 1) == 0 ? 0 : 1, 1);
  return setKnown(n, 0, {{result}, shape, list.element});
}

/// Identity, and Cast to another type of integers.
bool Folder::foldSame() {
  NumberArray &known = inputs.front();
  if (n.node.op == "Identity")
    return !areOpen(known) && setKnown(n, 0, known);
  std::optional<Type> element = n.graph.getElementType(n.integer("to", 0));
  bool isTruth = element && element->isInteger(1);
  if (!element || !isNumberType(*element) ||
      (isTruth && (areOpen(known) || !known.element.isInteger(1))))
    return false;
  return setKnown(n, 0, {known.numbers, known.shape, *element});
}

bool Folder::foldWhere() {
  if (inputs.size() != 3)
    return false;
  std::optional<SmallVector<int64_t>> shape = broadcastInputs();
  if (!shape)
    return false;
  Numbers results;
  for (auto [which, yes, no] :
       llvm::zip_equal(inputs[0].numbers, inputs[1].numbers, inputs[2].numbers)) {
    if (std::optional<int64_t> truth = getConstantIntValue(which)) {
      results.push_back(*truth ? yes : no);
      continue;
    }
    if (inputs[1].element.isInteger(1))
      return false;
    array::SizeBuilder sizes = n.sizes();
    results.push_back(sizes.add(sizes.mul(which, yes), sizes.mul(negate(which), no)));
  }
  return setKnown(n, 0, {results, *shape, inputs[1].element});
}

bool Folder::foldRange() {
  if (inputs.size() != 3)
    return false;
  std::optional<int64_t> bounds[3];
  for (auto [bound, list] : llvm::zip(bounds, inputs))
    bound = list.numbers.size() == 1 ? getConstantIntValue(list.numbers[0]) : std::nullopt;
  auto [start, limit, step] = bounds;
  if (!start || !limit || !step || *step == 0)
    return false;
  Numbers results;
  for (int64_t place = *start; *step < 0 ? place > *limit : place < *limit; place += *step) {
    if (results.size() >= kMostKnown)
      return false;
    results.push_back(n.index(place));
  }
  int64_t count = results.size();
  return setKnown(n, 0, {std::move(results), {count}, inputs[0].element});
}

bool Folder::foldConstantOfShape() {
  const Tensor *value = n.tensor("value");
  std::optional<SmallVector<int64_t>> shape = getConstantIntValues(inputs[0].numbers);
  std::optional<int64_t> count = shape ? array::mulSizes(*shape) : std::nullopt;
  if (!value || value->dataType != kInt64 || value->bytes.size() != sizeof(int64_t) || !count ||
      *count > kMostKnown || llvm::any_of(*shape, [](int64_t size) { return size < 0; }))
    return false;
  int64_t element;
  memcpy(&element, value->bytes.data(), sizeof(element));
  return setKnown(n, 0, {Numbers(*count, n.index(element)), *shape, n.getBuilder().getI64Type()});
}

bool Folder::run() {
  StringRef op = n.node.op;
  if (!n.node.domain.empty() || !n.wants(0))
    return false;
  if (op == "Shape" || op == "Size")
    return foldSizes();
  using Fold = bool (Folder::*)();
  Fold fold =
      llvm::StringSwitch<Fold>(op)
          .Cases({"Add", "Sub", "Mul", "Div", "Mod", "Max", "Min"}, &Folder::foldBinary)
          .Cases({"Equal", "Less", "Greater", "LessOrEqual", "GreaterOrEqual"}, &Folder::foldBinary)
          .Cases({"And", "Or"}, &Folder::foldBinary)
          .Cases({"ReduceProd", "ReduceSum", "ReduceMax", "ReduceMin"}, &Folder::foldReduction)
          .Cases({"Identity", "Cast"}, &Folder::foldSame)
          .Case("Neg", &Folder::foldNegation)
          .Case("Not", &Folder::foldNot)
          .Case("Where", &Folder::foldWhere)
          .Case("Range", &Folder::foldRange)
          .Case("ConstantOfShape", &Folder::foldConstantOfShape)
          .Default(nullptr);
  if (!readInputs())
    return false;
  bool isFolded = fold                            ? (this->*fold)()
                  : llvm::any_of(inputs, areOpen) ? false
                                                  : foldMovement(n, inputs);
  return isFolded && !n.hasFailed();
}

bool foldNumbers(NodeImport &n) { return Folder{n, {}}.run(); }

} // namespace xc::onnx
