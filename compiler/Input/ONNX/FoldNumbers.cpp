//===- FoldNumbers.cpp - Arithmetic on shapes, done while importing -------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Exported models compute shapes by nodes: Shape, Gather, Concat, Reshape. Here such integers are
// followed as lists, each a constant or an `index` made of dims, so that ops which need a shape
// find one that the host knows. Lists have rank 0 or 1 and the types i64, i32 or i1. What is not
// expressible that way is left to the importer of the op.
//
//===----------------------------------------------------------------------===//

#include "compiler/Input/ONNX/GraphImport.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/CheckedArithmetic.h"

using namespace mlir;

namespace xc::onnx {

namespace {

/// Integers that are known, with their rank and type.
struct List {
  Numbers numbers;
  bool isScalar;
  Type element;
};

using Number = std::optional<OpFoldResult>;

/// The fold of one node. Methods return false where they know no answer.
struct Folder {
  NodeImport &n;
  SmallVector<List> inputs;

  bool run();

private:
  bool readInputs();
  bool set(Numbers numbers, bool isScalar, Type element);
  bool foldSizes();
  bool foldBinary();
  bool foldSelection();
  bool foldReduction();
  bool foldView();
  bool foldGather();
  bool foldSlice();
  bool foldConcat();
  bool foldWhere();
  bool foldRange();
  bool foldConstantOfShape();
  Number combine(StringRef op, OpFoldResult a, OpFoldResult b);
  Number compare(StringRef op, OpFoldResult a, OpFoldResult b);
};

} // namespace

static bool isNumberType(Type type) {
  return type.isInteger(64) || type.isInteger(32) || type.isInteger(1);
}

bool Folder::readInputs() {
  for (unsigned index = 0; index < n.getNumInputs(); ++index) {
    GraphValue *value = n.has(index) ? n.graph.find(n.node.inputs[index]) : nullptr;
    std::optional<Numbers> numbers = value ? n.numbers(index) : std::nullopt;
    if (!numbers)
      return false;
    Type element = value->numbers ? value->element : n.elementOf(value->tensor);
    bool isScalar = value->numbers ? value->isScalar : n.rankOf(value->tensor) == 0;
    if (!isNumberType(element))
      return false;
    inputs.push_back({*numbers, isScalar, element});
  }
  return !inputs.empty();
}

bool Folder::set(Numbers numbers, bool isScalar, Type element) {
  // A number that is too large for its type would wrap.
  for (OpFoldResult number : numbers)
    if (std::optional<int64_t> known = getConstantIntValue(number))
      if (element.isInteger(32) && int32_t(*known) != *known)
        return false;
  n.setNumbers(0, std::move(numbers), isScalar, element);
  return true;
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
    return set({product}, true, word);
  }
  int64_t rank = sizes.size();
  auto clamp = [&](int64_t place) {
    return std::clamp<int64_t>(place < 0 ? place + rank : place, 0, rank);
  };
  int64_t start = clamp(n.integer("start", 0)), end = clamp(n.integer("end", rank));
  return set(Numbers(ArrayRef(sizes).slice(start, std::max<int64_t>(end - start, 0))), false, word);
}

/// Whether a number is surely 0 or more: sizes are, and what is made of such without subtraction.
static bool isNonNegative(OpFoldResult number) {
  constexpr unsigned kMostSteps = 64;
  SmallVector<OpFoldResult> worklist = {number};
  for (unsigned steps = 0; !worklist.empty(); ++steps) {
    OpFoldResult next = worklist.pop_back_val();
    if (std::optional<int64_t> known = getConstantIntValue(next)) {
      if (*known < 0)
        return false;
      continue;
    }
    Operation *op = cast<Value>(next).getDefiningOp();
    if (!op || steps == kMostSteps)
      return false;
    if (isa<array::DimOp>(op))
      continue;
    if (isa<arith::MaxSIOp>(op) && llvm::any_of(op->getOperands(), [](Value operand) {
          std::optional<int64_t> known = getConstantIntValue(operand);
          return known && *known >= 0;
        }))
      continue;
    if (!isa<arith::AddIOp, arith::MulIOp, arith::MaxSIOp, arith::MinSIOp, arith::DivUIOp,
             arith::CeilDivUIOp>(op))
      return false;
    for (Value operand : op->getOperands())
      worklist.push_back(getAsOpFoldResult(operand));
  }
  return true;
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
  bool isSize = y && *y > 0 && isNonNegative(a);
  if (op == "Div" && isSize)
    return sizes.floorDiv(a, b);
  if (op == "Mod" && isSize)
    return sizes.sub(a, sizes.mul(sizes.floorDiv(a, b), b));
  return std::nullopt;
}

Number Folder::compare(StringRef op, OpFoldResult a, OpFoldResult b) {
  std::optional<int64_t> x = getConstantIntValue(a), y = getConstantIntValue(b);
  auto truth = [&](bool value) -> Number { return n.index(value); };
  auto isSize = [](OpFoldResult value) {
    return isa<Value>(value) && cast<Value>(value).getDefiningOp<array::DimOp>();
  };
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
  // No size is negative, as exports of `expand` ask.
  if (op == "Equal" && ((x && *x < 0 && isSize(b)) || (y && *y < 0 && isSize(a))))
    return truth(false);
  if (op == "Equal" && a == b)
    return truth(true);
  return std::nullopt;
}

bool Folder::foldBinary() {
  if (inputs.size() != 2)
    return false;
  StringRef op = n.node.op;
  bool isComparison =
      llvm::StringSwitch<bool>(op)
          .Cases({"Equal", "Less", "Greater", "LessOrEqual", "GreaterOrEqual", "And", "Or"}, true)
          .Default(false);
  const Numbers &a = inputs[0].numbers, &b = inputs[1].numbers;
  if (a.size() != b.size() && a.size() != 1 && b.size() != 1)
    return false;
  // Truth values of arithmetic are no integers.
  if (!isComparison && (inputs[0].element != inputs[1].element || inputs[0].element.isInteger(1)))
    return false;
  if (op == "Mod" && n.integer("fmod", 0) != 0)
    return false;
  size_t count = a.size() == 1 ? b.size() : a.size();
  Numbers results;
  for (size_t i = 0; i < count; ++i) {
    OpFoldResult x = a[a.size() == 1 ? 0 : i], y = b[b.size() == 1 ? 0 : i];
    Number result = isComparison ? compare(op, x, y) : combine(op, x, y);
    if (!result)
      return false;
    results.push_back(*result);
  }
  Type element = isComparison ? n.getBuilder().getI1Type() : inputs[0].element;
  return set(results, inputs[0].isScalar && inputs[1].isScalar, element);
}

bool Folder::foldReduction() {
  StringRef op = llvm::StringSwitch<StringRef>(n.node.op)
                     .Case("ReduceProd", "Mul")
                     .Case("ReduceSum", "Add")
                     .Case("ReduceMax", "Max")
                     .Case("ReduceMin", "Min")
                     .Default("");
  const List &list = inputs[0];
  bool isAll = inputs.size() == 1 || inputs[1].numbers.size() == 1;
  if (list.isScalar || list.numbers.empty() || !isAll || list.element.isInteger(1) ||
      n.integer("noop_with_empty_axes", 0) != 0)
    return false;
  OpFoldResult result = list.numbers.front();
  for (OpFoldResult number : ArrayRef(list.numbers).drop_front()) {
    Number next = combine(op, result, number);
    if (!next)
      return false;
    result = *next;
  }
  return set({result}, n.integer("keepdims", 1) == 0, list.element);
}

/// Squeeze, Unsqueeze, Reshape, Flatten and the like: the same numbers under another rank.
bool Folder::foldView() {
  StringRef op = n.node.op;
  const List &list = inputs[0];
  if (op == "Identity")
    return set(list.numbers, list.isScalar, list.element);
  if (op == "Cast") {
    std::optional<Type> element = n.graph.getElementType(n.integer("to", 0));
    if (!element || !isNumberType(*element) || element->isInteger(1) != list.element.isInteger(1))
      return false;
    return set(list.numbers, list.isScalar, *element);
  }
  if (op == "Squeeze")
    return list.numbers.size() == 1 && set(list.numbers, true, list.element);
  if (op == "Unsqueeze") {
    bool isOne =
        inputs.size() == 2 ? inputs[1].numbers.size() == 1 : n.integerList("axes").size() == 1;
    return list.isScalar && isOne && set(list.numbers, false, list.element);
  }
  if (op != "Reshape" || inputs.size() != 2 || inputs[1].isScalar)
    return false;
  // To a vector, or to rank 0.
  if (inputs[1].numbers.empty())
    return list.numbers.size() == 1 && set(list.numbers, true, list.element);
  std::optional<int64_t> size = getConstantIntValue(inputs[1].numbers.front());
  if (inputs[1].numbers.size() != 1 || !size ||
      (*size != -1 && *size != int64_t(list.numbers.size())))
    return false;
  return set(list.numbers, false, list.element);
}

bool Folder::foldGather() {
  if (inputs.size() != 2 || inputs[0].isScalar || n.integer("axis", 0) > 0)
    return false;
  Numbers results;
  int64_t count = inputs[0].numbers.size();
  for (OpFoldResult index : inputs[1].numbers) {
    std::optional<int64_t> place = getConstantIntValue(index);
    if (!place || *place < -count || *place >= count)
      return false;
    results.push_back(inputs[0].numbers[*place < 0 ? *place + count : *place]);
  }
  return set(results, inputs[1].isScalar, inputs[0].element);
}

bool Folder::foldSlice() {
  auto get = [&](unsigned input, StringRef name) -> std::optional<int64_t> {
    if (n.version < 10) {
      SmallVector<int64_t> values = n.integerList(name);
      return values.size() == 1 ? std::optional(values.front()) : std::nullopt;
    }
    if (input >= inputs.size())
      return std::nullopt;
    std::optional<SmallVector<int64_t>> values = getConstantIntValues(inputs[input].numbers);
    return values && values->size() == 1 ? std::optional(values->front()) : std::nullopt;
  };
  std::optional<int64_t> start = get(1, "starts"), end = get(2, "ends");
  int64_t step = inputs.size() > 4 ? get(4, "").value_or(0) : 1;
  if (!start || !end || step == 0 || inputs[0].isScalar)
    return false;
  int64_t count = inputs[0].numbers.size();
  int64_t low = step < 0 ? -1 : 0, high = step < 0 ? count - 1 : count;
  auto clamp = [&](int64_t place) {
    return std::clamp<int64_t>(place < 0 ? place + count : place, low, high);
  };
  Numbers results;
  int64_t last = clamp(*end);
  for (int64_t place = clamp(*start); step < 0 ? place > last : place < last; place += step)
    results.push_back(inputs[0].numbers[place]);
  return set(results, false, inputs[0].element);
}

bool Folder::foldConcat() {
  Numbers results;
  for (const List &list : inputs) {
    if (list.isScalar || list.element != inputs[0].element)
      return false;
    results.append(list.numbers);
  }
  return set(results, false, inputs[0].element);
}

bool Folder::foldWhere() {
  if (inputs.size() != 3)
    return false;
  size_t count = 1;
  for (const List &list : inputs)
    if (list.numbers.size() != 1)
      count = list.numbers.size();
  Numbers results;
  for (size_t i = 0; i < count; ++i) {
    auto at = [&](const List &list) -> Number {
      if (list.numbers.size() == 1)
        return list.numbers[0];
      return list.numbers.size() == count ? Number(list.numbers[i]) : std::nullopt;
    };
    Number which = at(inputs[0]), yes = at(inputs[1]), no = at(inputs[2]);
    std::optional<int64_t> truth = which ? getConstantIntValue(*which) : std::nullopt;
    if (!truth || !yes || !no)
      return false;
    results.push_back(*truth ? *yes : *no);
  }
  return set(results, llvm::all_of(inputs, [](const List &list) { return list.isScalar; }),
             inputs[1].element);
}

/// More numbers than that are data, not a shape.
static constexpr int64_t kMostRange = 64;

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
    if (results.size() >= kMostRange)
      return false;
    results.push_back(n.index(place));
  }
  return set(results, false, inputs[0].element);
}

bool Folder::foldConstantOfShape() {
  const Tensor *value = n.tensor("value");
  std::optional<SmallVector<int64_t>> shape = getConstantIntValues(inputs[0].numbers);
  if (!value || value->dataType != kInt64 || value->bytes.size() != sizeof(int64_t) || !shape ||
      shape->size() > 1 ||
      (shape->size() == 1 && (shape->front() < 0 || shape->front() > kMostRange)))
    return false;
  int64_t element;
  memcpy(&element, value->bytes.data(), sizeof(element));
  return set(Numbers(shape->empty() ? 1 : shape->front(), n.index(element)), shape->empty(),
             n.getBuilder().getI64Type());
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
          .Cases({"Identity", "Cast", "Squeeze", "Unsqueeze", "Reshape"}, &Folder::foldView)
          .Case("Gather", &Folder::foldGather)
          .Case("Slice", &Folder::foldSlice)
          .Case("Concat", &Folder::foldConcat)
          .Case("Where", &Folder::foldWhere)
          .Case("Range", &Folder::foldRange)
          .Case("ConstantOfShape", &Folder::foldConstantOfShape)
          .Default(nullptr);
  return fold && readInputs() && (this->*fold)() && !n.hasFailed();
}

bool foldNumbers(NodeImport &n) { return Folder{n, {}}.run(); }

} // namespace xc::onnx
