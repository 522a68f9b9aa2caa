//===- FoldMovement.cpp - Shapes taken apart and put together -------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What exported models do to shapes besides arithmetic: Gather, Concat, Slice, Reshape and the
// like, on integers that are known while importing. Each op says where an element comes from.
//
//===----------------------------------------------------------------------===//

#include "compiler/Input/ONNX/FoldNumbers.h"

#include "compiler/Dialect/Array/IR/Sizes.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace xc::onnx {

/// From an index of a result to one of what it is taken from.
using IndexMap = llvm::function_ref<SmallVector<int64_t>(ArrayRef<int64_t>)>;

/// An array of `shape` whose elements are those of `from` at `map`.
static NumberArray takeNumbers(const NumberArray &from, ArrayRef<int64_t> shape, IndexMap map) {
  NumberArray result{{}, SmallVector<int64_t>(shape), from.element};
  SmallVector<int64_t> strides = computeStrides(shape), sources = computeStrides(from.shape);
  for (int64_t place = 0, count = computeProduct(shape); place < count; ++place)
    result.numbers.push_back(from.numbers[linearize(map(delinearize(place, strides)), sources)]);
  return result;
}

NumberArray broadcastNumbers(const NumberArray &from, ArrayRef<int64_t> shape) {
  return takeNumbers(from, shape, [&](ArrayRef<int64_t> index) {
    SmallVector<int64_t> source(index.take_back(from.shape.size()));
    for (auto [place, size] : llvm::zip_equal(source, from.shape))
      place = size == 1 ? 0 : place;
    return source;
  });
}

namespace {
/// The fold of one node. Methods return false where they know no answer.
struct Mover {
  NodeImport &n;
  ArrayRef<NumberArray> inputs;

  bool foldView();
  bool foldTranspose();
  bool foldGather();
  bool foldSlice();
  bool foldConcat();
  bool foldSplit();

private:
  const NumberArray &first() const { return inputs.front(); }
  int64_t rank() const { return first().shape.size(); }
  std::optional<SmallVector<int64_t>> integers(unsigned input, StringRef attribute) const;
  std::optional<SmallVector<int64_t>> findViewShape() const;
};
} // namespace

/// Constants that newer versions of an op have as an input, and older ones as an attribute.
std::optional<SmallVector<int64_t>> Mover::integers(unsigned input, StringRef attribute) const {
  if (input < inputs.size())
    return getConstantIntValues(inputs[input].numbers);
  return n.integerList(attribute);
}

/// The shape of a Squeeze, Unsqueeze, Reshape or Flatten.
std::optional<SmallVector<int64_t>> Mover::findViewShape() const {
  StringRef op = n.node.op;
  SmallVector<int64_t> shape = first().shape;
  if (op == "Flatten") {
    int64_t axis = n.integer("axis", 1);
    axis = std::clamp<int64_t>(axis < 0 ? axis + rank() : axis, 0, rank());
    return SmallVector<int64_t>{computeProduct(ArrayRef(shape).take_front(axis)),
                                computeProduct(ArrayRef(shape).drop_front(axis))};
  }
  std::optional<SmallVector<int64_t>> given = integers(1, op == "Reshape" ? "shape" : "axes");
  if (!given)
    return std::nullopt;
  if (op == "Reshape") {
    for (auto [dim, size] : llvm::enumerate(*given))
      if (size == 0 && dim < shape.size() && n.integer("allowzero", 0) == 0)
        size = shape[dim];
    auto *open = llvm::find(*given, -1);
    if (open != given->end()) {
      *open = 1;
      std::optional<int64_t> others = array::mulSizes(*given);
      if (!others || *others <= 0)
        return std::nullopt;
      *open = int64_t(first().numbers.size()) / *others;
    }
    return given;
  }
  if (op == "Unsqueeze") {
    SmallVector<int64_t> axes = n.normalizeAxes(*given, rank() + given->size());
    if (n.hasFailed())
      return std::nullopt;
    for (int64_t axis : axes)
      shape.insert(shape.begin() + axis, 1);
    return shape;
  }
  bool takesAll = inputs.size() < 2 && !n.hasAttribute("axes");
  SmallVector<int64_t> axes = n.normalizeAxes(*given, rank()), kept;
  for (auto [dim, size] : llvm::enumerate(shape))
    if (takesAll ? size != 1 : !llvm::is_contained(axes, int64_t(dim)))
      kept.push_back(size);
  return kept;
}

/// The same numbers under another shape.
bool Mover::foldView() {
  std::optional<SmallVector<int64_t>> shape = findViewShape();
  // Sizes below zero make no array, whatever their product.
  if (!shape || llvm::any_of(*shape, [](int64_t size) { return size < 0; }) ||
      array::mulSizes(*shape) != int64_t(first().numbers.size()))
    return false;
  return setKnown(n, 0, {first().numbers, *shape, first().element});
}

bool Mover::foldTranspose() {
  SmallVector<int64_t> reversed(llvm::reverse(llvm::seq<int64_t>(0, rank())));
  SmallVector<int64_t> permutation = n.integerList("perm", reversed);
  if (int64_t(permutation.size()) != rank() || !isPermutationVector(permutation))
    return false;
  return setKnown(n, 0,
                  takeNumbers(first(), applyPermutation(first().shape, permutation),
                              [&](ArrayRef<int64_t> index) {
                                return applyPermutation(index,
                                                        invertPermutationVector(permutation));
                              }));
}

bool Mover::foldGather() {
  if (inputs.size() != 2 || rank() == 0)
    return false;
  int64_t axis = n.axis("axis", 0, rank()), size = first().shape[axis];
  std::optional<SmallVector<int64_t>> indices = getConstantIntValues(inputs[1].numbers);
  if (!indices || n.hasFailed())
    return false;
  for (int64_t &index : *indices) {
    index = index < 0 ? index + size : index;
    if (index < 0 || index >= size)
      return false;
  }
  ArrayRef<int64_t> shape = first().shape, chosen = inputs[1].shape;
  SmallVector<int64_t> result(shape.take_front(axis)), strides = computeStrides(chosen);
  result.append(chosen.begin(), chosen.end());
  result.append(shape.begin() + axis + 1, shape.end());
  return setKnown(n, 0, takeNumbers(first(), result, [&](ArrayRef<int64_t> index) {
                    SmallVector<int64_t> source(index.take_front(axis));
                    source.push_back(
                        (*indices)[linearize(index.slice(axis, chosen.size()), strides)]);
                    llvm::append_range(source, index.drop_front(axis + chosen.size()));
                    return source;
                  }));
}

SlicedDim clampSlice(int64_t size, int64_t start, int64_t end, int64_t step) {
  // No array is as long; the negative of the smallest number would not fit.
  step = std::clamp(step, -array::kMostAmount, array::kMostAmount);
  bool countsDown = step < 0;
  int64_t high = countsDown ? std::max<int64_t>(size - 1, 0) : size;
  auto clamp = [&](int64_t place, int64_t low) {
    return std::clamp<int64_t>(place < 0 ? place + size : place, low, high);
  };
  int64_t first = clamp(start, 0), last = clamp(end, countsDown ? -1 : 0);
  int64_t distance = size == 0 ? 0 : countsDown ? first - last : last - first;
  return {first, distance > 0 ? (distance - 1) / std::abs(step) + 1 : 0, step};
}

bool Mover::foldSlice() {
  bool isOld = n.version < 10;
  std::optional<SmallVector<int64_t>> starts = integers(1, isOld ? "starts" : ""),
                                      ends = integers(2, isOld ? "ends" : ""),
                                      axes = integers(3, isOld ? "axes" : ""),
                                      steps = integers(4, "");
  if (!starts || !ends || !axes || !steps || (!isOld && inputs.size() < 3))
    return false;
  if (axes->empty())
    axes = llvm::to_vector(llvm::seq<int64_t>(0, starts->size()));
  steps->resize(std::max(steps->size(), steps->empty() ? starts->size() : 0), 1);
  if (starts->size() != ends->size() || starts->size() != axes->size() ||
      starts->size() != steps->size())
    return false;
  SmallVector<int64_t> shape = first().shape, offsets(rank(), 0), strides(rank(), 1);
  for (auto [start, end, at, step] : llvm::zip_equal(*starts, *ends, *axes, *steps)) {
    int64_t axis = n.normalizeAxis(at, rank());
    if (step == 0 || n.hasFailed())
      return false;
    SlicedDim sliced = clampSlice(first().shape[axis], start, end, step);
    offsets[axis] = sliced.first;
    strides[axis] = sliced.step;
    shape[axis] = sliced.count;
  }
  return setKnown(n, 0, takeNumbers(first(), shape, [&](ArrayRef<int64_t> index) {
                    SmallVector<int64_t> source;
                    for (auto [place, offset, stride] : llvm::zip_equal(index, offsets, strides))
                      source.push_back(offset + place * stride); // in range: within the array
                    return source;
                  }));
}

bool Mover::foldConcat() {
  if (rank() == 0)
    return false;
  int64_t axis = n.axis("axis", 0, rank());
  if (n.hasFailed())
    return false;
  NumberArray result{{}, first().shape, first().element};
  result.shape[axis] = 0;
  for (const NumberArray &part : inputs) {
    SmallVector<int64_t> shape = part.shape;
    if (int64_t(shape.size()) != rank() || part.element != first().element)
      return false;
    result.shape[axis] += shape[axis]; // in range: of arrays that are there
    shape[axis] = first().shape[axis];
    if (shape != first().shape)
      return false;
  }
  // Of each index in front of the axis, what every part has.
  int64_t rows = computeProduct(ArrayRef(result.shape).take_front(axis));
  for (int64_t row = 0; row < rows; ++row)
    for (const NumberArray &part : inputs) {
      size_t count = part.numbers.size() / rows;
      size_t begin = row * count; // in range: an element of the part
      llvm::append_range(result.numbers, ArrayRef(part.numbers).slice(begin, count));
    }
  return setKnown(n, 0, std::move(result));
}

bool Mover::foldSplit() {
  if (rank() == 0)
    return false;
  int64_t axis = n.axis("axis", 0, rank()), size = first().shape[axis];
  std::optional<SmallVector<int64_t>> parts = integers(1, "split");
  if (!parts || n.hasFailed())
    return false;
  int64_t count = n.node.outputs.size();
  if (parts->empty()) {
    int64_t part = llvm::divideCeil(size, std::max<int64_t>(count, 1));
    for (int64_t i = 0; i < count; ++i)
      parts->push_back(std::clamp<int64_t>(size - i * part, 0, part)); // in range: of a list
  }
  // What does not fit is for the importer to refuse.
  int64_t together = 0;
  for (int64_t part : *parts) {
    if (part < 0 || part > size - together)
      return false;
    together += part;
  }
  if (int64_t(parts->size()) != count || together != size)
    return false;
  int64_t offset = 0;
  for (auto [output, part] : llvm::enumerate(*parts)) {
    SmallVector<int64_t> shape = first().shape;
    shape[axis] = part;
    bool isSet = setKnown(n, output, takeNumbers(first(), shape, [&](ArrayRef<int64_t> index) {
                            SmallVector<int64_t> source(index);
                            source[axis] += offset;
                            return source;
                          }));
    if (!isSet)
      return false;
    offset += part;
  }
  return true;
}

bool foldMovement(NodeImport &n, ArrayRef<NumberArray> inputs) {
  using Fold = bool (Mover::*)();
  Fold fold = llvm::StringSwitch<Fold>(n.node.op)
                  .Cases({"Squeeze", "Unsqueeze", "Reshape", "Flatten"}, &Mover::foldView)
                  .Case("Transpose", &Mover::foldTranspose)
                  .Case("Gather", &Mover::foldGather)
                  .Case("Slice", &Mover::foldSlice)
                  .Case("Concat", &Mover::foldConcat)
                  .Case("Split", &Mover::foldSplit)
                  .Default(nullptr);
  Mover mover{n, inputs};
  return fold && (mover.*fold)();
}

} // namespace xc::onnx
