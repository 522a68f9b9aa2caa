//===- Shapes.cpp - ONNX ops that make up or change shapes ----------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Input/ONNX/GraphImport.h"
#include "compiler/Input/ONNX/NodeImport.h"

#include <cmath>

using namespace mlir;
using namespace xc::array;

namespace xc::onnx {

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

/// The size of the dim that is -1: what is left of `from` without what `to` names already. Equal
/// sizes cancel out, so that no quotient of dynamic sizes is left where there need be none.
static OpFoldResult inferSize(NodeImport &n, ArrayRef<OpFoldResult> from, ArrayRef<OpFoldResult> to,
                              size_t unknown) {
  Numbers dividend(from), divisor;
  for (auto [dim, size] : llvm::enumerate(to)) {
    if (dim == unknown)
      continue;
    auto *equal = llvm::find(dividend, size);
    if (equal != dividend.end() && getConstantIntValue(size) != 0)
      dividend.erase(equal);
    else
      divisor.push_back(size);
  }
  auto product = [&](ArrayRef<OpFoldResult> sizes) {
    OpFoldResult result = n.index(1);
    for (OpFoldResult size : sizes)
      result = n.sizes().mul(result, size);
    return result;
  };
  OpFoldResult elements = product(dividend), others = product(divisor);
  std::optional<int64_t> known = getConstantIntValue(elements), by = getConstantIntValue(others);
  if (by == 0) {
    n.error("a dim of -1 beside one of 0 has no size");
    return n.index(0);
  }
  if (known && by && *known % *by != 0)
    n.error(Twine(*known) + " elements cannot be divided by " + Twine(*by));
  if (by == 1)
    return elements;
  return n.sizes().floorDiv(elements, others);
}

static Results importReshape(NodeImport &n) {
  Value x = n.input(0);
  Numbers wanted = n.needNumbers(1, "the shape of Reshape"), from = n.sizesOf(x), to;
  if (n.hasFailed())
    return {};
  std::optional<size_t> unknown;
  for (auto [dim, number] : llvm::enumerate(wanted)) {
    std::optional<int64_t> known = getConstantIntValue(number);
    if (known == 0 && n.integer("allowzero", 0) == 0) {
      if (dim >= from.size())
        return n.error("dim " + Twine(dim) +
                       " of the shape is 0, which copies a dim that a tensor "
                       "of rank " +
                       Twine(from.size()) + " does not have");
      number = from[dim];
    }
    if (known == -1) {
      if (unknown)
        return n.error("expected one -1 in the shape, got several");
      unknown = dim;
    }
    to.push_back(number);
  }
  if (unknown)
    to[*unknown] = inferSize(n, from, to, *unknown);
  return {n.reshape(x, to)};
}

static Results importFlatten(NodeImport &n) {
  Value x = n.input(0);
  int64_t rank = n.rankOf(x), axis = n.integer("axis", 1);
  if (axis < 0)
    axis += rank;
  if (axis < 0 || axis > rank)
    return n.error("axis " + Twine(axis) + " does not cut a tensor of rank " + Twine(rank));
  OpFoldResult rows = n.index(1), columns = n.index(1);
  for (int64_t dim = 0; dim < rank; ++dim)
    (dim < axis ? rows : columns) = n.sizes().mul(dim < axis ? rows : columns, n.size(x, dim));
  return {n.reshape(x, {rows, columns})};
}

/// Axes are an attribute, or as of version 13 an input.
static SmallVector<int64_t> readAxes(NodeImport &n) {
  return n.has(1) ? n.needIntegers(1, "axes") : n.integerList("axes");
}

static Results importSqueeze(NodeImport &n) {
  Value x = n.input(0);
  SmallVector<int64_t> axes = n.normalizeAxes(readAxes(n), n.rankOf(x));
  if (axes.empty() && !n.has(1) && !n.hasAttribute("axes"))
    for (auto [dim, size] : llvm::enumerate(n.shapeOf(x))) {
      if (ShapedType::isDynamic(size)) {
        // The rank of the result would be data.
        std::string name = n.graph.getDimName(x, dim);
        return n.error("expected axes, since dim " + Twine(dim) + " may have size 1 or not" +
                       ": --fix-dim=" + (name.empty() ? "NAME" : name) + "=1 says that it has");
      }
      if (size == 1)
        axes.push_back(dim);
    }
  return {n.squeeze(x, axes)};
}

static Results importUnsqueeze(NodeImport &n) {
  Value x = n.input(0);
  SmallVector<int64_t> axes = readAxes(n);
  return {n.expandDims(x, n.normalizeAxes(axes, n.rankOf(x) + axes.size()))};
}

static Results importTranspose(NodeImport &n) {
  Value x = n.input(0);
  int64_t rank = n.rankOf(x);
  SmallVector<int64_t> reversed(llvm::reverse(llvm::seq<int64_t>(0, rank)));
  SmallVector<int64_t> permutation = n.integerList("perm", reversed);
  SmallVector<int64_t> sorted = permutation;
  llvm::sort(sorted);
  if (!llvm::equal(sorted, llvm::seq<int64_t>(0, rank)))
    return n.error("expected perm to be a permutation of the " + Twine(rank) + " dims");
  return {n.transpose(x, permutation)};
}

//===----------------------------------------------------------------------===//
// Sources
//===----------------------------------------------------------------------===//

static Results importConstant(NodeImport &n) {
  if (const Tensor *tensor = n.tensor("value")) {
    std::string problem;
    Value value = n.graph.makeWeight(
        *tensor, n.node.outputs.empty() ? llvm::StringRef() : llvm::StringRef(n.node.outputs[0]),
        n.getLoc(), problem);
    return value ? Results{value} : n.error("its value " + problem);
  }
  OpBuilder &builder = n.getBuilder();
  ArrayRef<int64_t> isScalar;
  if (n.hasAttribute("value_float"))
    return {n.constantFloats(n.number("value_float", 0), builder.getF32Type(), isScalar)};
  if (n.hasAttribute("value_int"))
    return {n.constant(n.integer("value_int", 0), builder.getI64Type(), isScalar)};
  if (n.hasAttribute("value_floats"))
    return {n.constantFloats(n.numberList("value_floats"), builder.getF32Type())};
  if (n.hasAttribute("value_ints"))
    return {n.constant(n.integerList("value_ints"), builder.getI64Type())};
  return n.error("strings and sparse values are not supported");
}

static Results importConstantOfShape(NodeImport &n) {
  Numbers sizes = n.needNumbers(0, "the shape of ConstantOfShape");
  Value value = n.scalar(0, Type(n.getBuilder().getF32Type()));
  if (const Tensor *tensor = n.tensor("value")) {
    std::string problem;
    value = n.graph.makeConstant(*tensor, n.getLoc(), problem);
    if (!value)
      return n.error("its value " + problem);
    value = n.reshape(value, ArrayRef<int64_t>());
  }
  return {n.broadcast(value, sizes)};
}

static Results importShape(NodeImport &n) {
  // Folded where it is known as numbers, which is always.
  return n.error("the shape of '" + Twine(n.node.inputs.empty() ? "" : n.node.inputs[0]) +
                 "' is not known");
}

/// A whole number that the host knows, also of a float that is one converted: exporters count
/// places of an image in floats, and end at its size.
static std::optional<OpFoldResult> findWholeNumber(NodeImport &n, unsigned index) {
  if (std::optional<Numbers> numbers = n.numbers(index))
    return numbers->size() == 1 ? std::optional(numbers->front()) : std::nullopt;
  if (std::optional<SmallVector<double>> known = n.floats(index)) {
    constexpr double kExact = 1 << 24; // f32 has all whole numbers up to it
    bool isWhole = known->size() == 1 && std::abs(known->front()) <= kExact &&
                   std::trunc(known->front()) == known->front();
    return isWhole ? std::optional(n.index(int64_t(known->front()))) : std::nullopt;
  }
  Value value = n.input(index);
  while (value && value.getDefiningOp() && isa<ConvertOp, ReshapeOp>(value.getDefiningOp()))
    value = value.getDefiningOp()->getOperand(0);
  auto number = value ? value.getDefiningOp<FromIndexOp>() : FromIndexOp();
  return number ? std::optional<OpFoldResult>(number.getOperand()) : std::nullopt;
}

/// As many places as whole numbers say, of which some are sizes; null where they are not known.
static Value countBySizes(NodeImport &n, Type element) {
  std::optional<OpFoldResult> first = findWholeNumber(n, 0), limit = findWholeNumber(n, 1),
                              step = findWholeNumber(n, 2);
  if (!first || !limit || !step || getConstantIntValue(*step).value_or(0) < 1)
    return {};
  OpFoldResult distance = n.sizes().max(n.sizes().sub(*limit, *first), n.index(0));
  Value place = n.iota({n.sizes().ceilDiv(distance, *step)}, 0, element);
  return n.add(n.mul(place, n.scalarOf(*step, element)), n.scalarOf(*first, element));
}

static Results importRange(NodeImport &n) {
  Value start = n.input(0);
  Type element = n.elementOf(start);
  if (isa<FloatType>(element)) {
    if (!n.floats(1))
      if (Value places = countBySizes(n, element))
        return {places};
    double bounds[3];
    for (unsigned i = 0; i < 3; ++i) {
      SmallVector<double> bound = n.needFloats(i, "a bound of Range");
      if (bound.size() != 1)
        return n.error("expected bounds of one number");
      bounds[i] = bound.front();
    }
    double count = std::ceil((bounds[1] - bounds[0]) / bounds[2]);
    if (!(count <= double(int64_t(1) << 31)))
      return n.error("expected bounds and a step that end");
    Value place = n.iota({n.index(std::max<int64_t>(int64_t(count), 0))}, 0, element);
    return {n.add(n.mul(place, n.scalar(bounds[2], element)), n.scalar(bounds[0], element))};
  }
  Numbers bounds;
  for (unsigned i = 0; i < 3; ++i) {
    Numbers bound = n.needNumbers(i, "a bound of Range");
    if (bound.size() != 1)
      return n.error("expected bounds of one number");
    bounds.push_back(bound.front());
  }
  std::optional<int64_t> first = getConstantIntValue(bounds[0]),
                         limit = getConstantIntValue(bounds[1]),
                         step = getConstantIntValue(bounds[2]);
  if (!step || *step == 0)
    return n.error("expected a step that is a constant and not 0");
  OpFoldResult count;
  if (first && limit) {
    int64_t distance = *step > 0 ? *limit - *first : *first - *limit;
    count = n.index(std::max<int64_t>(llvm::divideCeilSigned(distance, std::abs(*step)), 0));
  } else if (*step > 0) {
    OpFoldResult distance = first == 0 ? bounds[1] : n.sizes().sub(bounds[1], bounds[0]);
    if (first != 0)
      distance = n.sizes().max(distance, n.index(0));
    count = *step == 1 ? distance : n.sizes().ceilDiv(distance, bounds[2]);
  } else {
    return n.error("a range of dynamic size that counts down is not supported");
  }
  Value place = n.iota({count}, 0, element);
  if (*step != 1)
    place = n.mul(place, n.scalarOf(bounds[2], element));
  return {first == 0 ? place : n.add(place, n.scalarOf(bounds[0], element))};
}

static Results importEyeLike(NodeImport &n) {
  Value x = n.input(0);
  Type word = n.getBuilder().getI64Type();
  Type element = n.hasAttribute("dtype") ? n.elementType(n.integer("dtype", 0)) : n.elementOf(x);
  if (n.rankOf(x) != 2)
    return n.error("expected a matrix, got rank " + Twine(n.rankOf(x)));
  Numbers sizes = n.sizesOf(x);
  Value row = n.iota(sizes, 0, word), column = n.iota(sizes, 1, word);
  row = n.add(row, n.scalarOf(n.index(n.integer("k", 0)), word));
  return {n.convert(n.compare(CompareDirection::Eq, row, column), element)};
}

//===----------------------------------------------------------------------===//
// Broadcasts
//===----------------------------------------------------------------------===//

static Results importExpand(NodeImport &n) {
  Value x = n.input(0);
  Numbers wanted = n.needNumbers(1, "the shape of Expand"), from = n.sizesOf(x);
  if (n.hasFailed())
    return {};
  // Both are aligned at the last dim; either may have the 1.
  size_t rank = std::max(wanted.size(), from.size());
  Numbers to;
  for (size_t dim = 0; dim < rank; ++dim) {
    auto at = [&](const Numbers &numbers) {
      size_t added = rank - numbers.size();
      return dim < added ? n.index(1) : numbers[dim - added];
    };
    OpFoldResult mine = at(from), theirs = at(wanted);
    std::optional<int64_t> size = getConstantIntValue(mine), other = getConstantIntValue(theirs);
    if (other == 1 || mine == theirs)
      to.push_back(mine);
    else if (size == 1 || other)
      to.push_back(theirs);
    else if (size)
      to.push_back(mine);
    else
      to.push_back(n.sizes().max(mine, theirs));
    if (size && other && *size != 1 && *other != 1 && *size != *other)
      return n.error("a dim of size " + Twine(*size) + " cannot be expanded to " + Twine(*other));
  }
  return {n.broadcast(x, to)};
}

static Results importTile(NodeImport &n) {
  Value x = n.input(0);
  Numbers repeats = n.needNumbers(1, "the repeats of Tile");
  if (n.hasFailed())
    return {};
  if (int64_t(repeats.size()) != n.rankOf(x))
    return n.error("expected one repeat for each dim, got " + Twine(repeats.size()));
  // A dim of copies before each dim, then both as one.
  Numbers spread, whole;
  SmallVector<int64_t> axes;
  for (auto [repeat, size] : llvm::zip_equal(repeats, n.sizesOf(x))) {
    std::optional<int64_t> known = getConstantIntValue(repeat);
    if (known && *known < 0)
      return n.error("expected repeats that are not negative, got " + Twine(*known));
    spread.append({repeat, size});
    whole.push_back(n.sizes().mul(repeat, size));
    axes.push_back(spread.size() - 1);
  }
  return {n.reshape(n.broadcastAlong(x, spread, axes), whole)};
}

template <typename OpTy> static Value triangle(NodeImport &n, Value x, int64_t offset) {
  return n.make<OpTy>(x, offset);
}

static Results importTrilu(NodeImport &n) {
  Value x = n.input(0);
  int64_t offset = n.has(1) ? n.needInteger(1, "k of Trilu") : 0;
  if (n.integer("upper", 1) != 0)
    return {triangle<TriuOp>(n, x, offset)};
  return {triangle<TrilOp>(n, x, offset)};
}

llvm::ArrayRef<OpEntry> getShapeOps() {
  static constexpr OpEntry kOps[] = {
      {"Constant", 1, importConstant}, {"ConstantOfShape", 1, importConstantOfShape},
      {"Expand", 1, importExpand},     {"EyeLike", 1, importEyeLike},
      {"Flatten", 1, importFlatten},   {"Range", 1, importRange},
      {"Reshape", 5, importReshape},   {"Shape", 1, importShape},
      {"Size", 1, importShape},        {"Squeeze", 1, importSqueeze},
      {"Tile", 6, importTile},         {"Transpose", 1, importTranspose},
      {"Trilu", 1, importTrilu},       {"Unsqueeze", 1, importUnsqueeze},
  };
  return kOps;
}

} // namespace xc::onnx
