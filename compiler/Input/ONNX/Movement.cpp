//===- Movement.cpp - ONNX ops that move elements -------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Array/IR/Sizes.h"
#include "compiler/Input/ONNX/FoldNumbers.h"
#include "compiler/Input/ONNX/Windows.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace xc::array;

namespace xc::onnx {

//===----------------------------------------------------------------------===//
// Parts and joins
//===----------------------------------------------------------------------===//

static Results importConcat(NodeImport &n) {
  SmallVector<Value> parts;
  for (unsigned index = 0; index < n.getNumInputs(); ++index)
    parts.push_back(n.input(index));
  if (parts.empty())
    return n.error("expected at least one input");
  return {n.concatenate(parts, n.axis("axis", 0, n.rankOf(parts.front())))};
}

static Results importSplit(NodeImport &n) {
  Value x = n.input(0);
  int64_t axis = n.axis("axis", 0, n.rankOf(x)), size = n.dimOf(x, axis);
  int64_t count = n.node.outputs.size();
  SmallVector<int64_t> parts =
      n.has(1) ? n.needIntegers(1, "the sizes of parts") : n.integerList("split");
  if (n.hasFailed())
    return {};
  if (parts.empty()) {
    count = n.integer("num_outputs", count);
    if (ShapedType::isDynamic(size) || count < 1)
      return n.error("expected sizes of the parts, or a dim of static size");
    int64_t part = llvm::divideCeil(size, count);
    for (int64_t place = 0; place < size; place += part)
      parts.push_back(std::min(part, size - place));
    parts.resize(count, 0);
  }
  int64_t place = 0;
  Results results;
  for (int64_t part : parts) {
    if (part < 0 || (!ShapedType::isDynamic(size) && part > size - place))
      return n.error("a part of " + Twine(part) + " does not fit into a dim of size " +
                     Twine(size));
    results.push_back(n.slice(x, axis, place, place + part));
    place += part;
  }
  if (!ShapedType::isDynamic(size) && place != size)
    return n.error("parts of " + Twine(place) + " together are not all of a dim of size " +
                   Twine(size));
  return results;
}

namespace {
/// A slice of one dim as ONNX says it.
struct Range {
  OpFoldResult start, end;
  int64_t step;
};
} // namespace

/// Of a dim of static size, by constants.
static Value sliceStatic(NodeImport &n, Value x, int64_t axis, int64_t start, int64_t end,
                         int64_t step) {
  auto [first, count, stride] = clampSlice(n.dimOf(x, axis), start, end, step);
  if (count == 0)
    return n.slice(x, axis, 0, 0);
  int64_t last = first + (count - 1) * stride; // in range: within the dim
  if (stride > 0)
    return n.slice(x, axis, first, last + 1, stride);
  return n.reverse(n.slice(x, axis, last, first + 1, -stride), {axis});
}

/// The number whose negative `number` is; null where it is written otherwise.
static Value findNegated(OpFoldResult number) {
  auto difference = llvm::dyn_cast_if_present<Value>(number)
                        ? cast<Value>(number).getDefiningOp<arith::SubIOp>()
                        : arith::SubIOp();
  bool isNegative = difference && getConstantIntValue(getAsOpFoldResult(difference.getLhs())) == 0;
  return isNegative ? difference.getRhs() : Value();
}

/// Of a dim of dynamic size, or by ends that are computed from shapes.
static Value sliceDynamic(NodeImport &n, Value x, int64_t axis, const Range &range) {
  constexpr int64_t kFar = int64_t(1) << 30;
  std::optional<int64_t> start = getConstantIntValue(range.start),
                         end = getConstantIntValue(range.end);
  OpFoldResult size = n.size(x, axis);
  if (range.step == -1 && start == -1 && end && *end < -kFar)
    return n.reverse(x, {axis});
  if (range.step < 0) {
    n.error("a slice of a dim of dynamic size that counts down is not supported");
    return {};
  }
  if (start && *start >= 0 && end && *end >= kFar)
    return n.slice(x, axis, *start, std::nullopt, range.step);
  if (range.step != 1) {
    n.error("a slice of a dim of dynamic size by steps is not supported");
    return {};
  }
  array::SizeBuilder sizes = n.sizes();
  auto place = [&](OpFoldResult number) -> OpFoldResult {
    std::optional<int64_t> known = getConstantIntValue(number);
    if (known && *known >= kFar)
      return size;
    if (known && *known < 0)
      return *known < -kFar ? n.index(0) : sizes.max(sizes.sub(size, n.index(-*known)), n.index(0));
    if (known == 0)
      return number;
    if (Value back = findNegated(number)) {
      // As many from the end, but none is the beginning.
      if (OpFoldResult(back) == size)
        return n.index(0);
      OpFoldResult before = sizes.max(sizes.sub(size, back), n.index(0));
      return sizes.mul(before, sizes.min(back, n.index(1)));
    }
    if (findBounds(number).low >= 0)
      return sizes.min(number, size);
    // Below zero it counts from the end.
    OpFoldResult isNegative =
        sizes.min(sizes.max(sizes.sub(n.index(0), number), n.index(0)), n.index(1));
    OpFoldResult place = sizes.add(number, sizes.mul(size, isNegative));
    return sizes.max(sizes.min(place, size), n.index(0));
  };
  OpFoldResult first = place(range.start), last = place(range.end);
  OpFoldResult count =
      getConstantIntValue(first) == 0 ? last : sizes.max(sizes.sub(last, first), n.index(0));
  Type word = n.getBuilder().getI64Type();
  Numbers box = n.sizesOf(x);
  box[axis] = count;
  SmallVector<Value> starts(n.rankOf(x), n.scalar(0, word));
  starts[axis] = n.scalarOf(first, word);
  return n.dynamicSlice(x, starts, box);
}

static Results sliceAll(NodeImport &n, Value x, Numbers starts, Numbers ends,
                        SmallVector<int64_t> axes, SmallVector<int64_t> steps) {
  if (axes.empty())
    axes = llvm::to_vector(llvm::seq<int64_t>(0, starts.size()));
  if (steps.empty())
    steps.assign(starts.size(), 1);
  if (starts.size() != ends.size() || starts.size() != axes.size() || starts.size() != steps.size())
    return n.error("expected as many starts as ends, axes and steps");
  for (auto [start, end, axis, step] : llvm::zip_equal(starts, ends, axes, steps)) {
    if (step == 0)
      return n.error("expected a step that is not 0");
    int64_t dim = n.normalizeAxis(axis, n.rankOf(x));
    std::optional<int64_t> first = getConstantIntValue(start), last = getConstantIntValue(end);
    if (n.hasFailed() || !x)
      return {};
    if (first && last && !ShapedType::isDynamic(n.dimOf(x, dim)))
      x = sliceStatic(n, x, dim, *first, *last, step);
    else
      x = sliceDynamic(n, x, dim, {start, end, step});
  }
  return {x};
}

/// Ends are inputs.
static Results importSlice(NodeImport &n) {
  Value x = n.input(0);
  Numbers starts = n.needNumbers(1, "the starts of Slice"),
          ends = n.needNumbers(2, "the ends of Slice");
  SmallVector<int64_t> axes, steps;
  if (n.has(3))
    axes = n.needIntegers(3, "the axes of Slice");
  if (n.has(4))
    steps = n.needIntegers(4, "the steps of Slice");
  if (n.hasFailed())
    return {};
  return sliceAll(n, x, starts, ends, axes, steps);
}

/// Ends are attributes.
static Results importSlice1(NodeImport &n) {
  auto numbers = [&](StringRef name) {
    Numbers result;
    for (int64_t value : n.integerList(name))
      result.push_back(n.index(value));
    return result;
  };
  return sliceAll(n, n.input(0), numbers("starts"), numbers("ends"), n.integerList("axes"), {});
}

//===----------------------------------------------------------------------===//
// Padding
//===----------------------------------------------------------------------===//

/// Which element of a dim of `size` is at `place`, which may lie outside of it.
static int64_t getPaddedIndex(StringRef mode, int64_t place, int64_t size) {
  if (mode == "edge")
    return std::clamp<int64_t>(place, 0, size - 1);
  if (mode == "wrap")
    return ((place % size) + size) % size;
  // Reflected at the first and the last element, which are not repeated.
  int64_t period = std::max<int64_t>(2 * (size - 1), 1); // in range: a dim's size
  place = ((place % period) + period) % period;
  return place < size ? place : period - place;
}

/// Along a dim of dynamic size, by elements of both ends. The dim has to have more than `low` and
/// `high` elements, which a slice checks when inputs are bound.
static Value padDynamic(NodeImport &n, Value x, StringRef mode, int64_t dim, int64_t low,
                        int64_t high) {
  if (mode == "wrap" || low < 0 || high < 0) {
    n.error("padding of mode " + mode + ", or by negative pads, needs a dim of static size");
    return {};
  }
  bool isEdge = mode == "edge";
  auto repeat = [&](Value edge, int64_t count) {
    return n.make<RepeatOp>(edge, uint64_t(count), uint64_t(dim));
  };
  SmallVector<Value> parts;
  if (low > 0)
    parts.push_back(isEdge ? repeat(n.slice(x, dim, 0, 1), low)
                           : n.reverse(n.slice(x, dim, 1, 1 + low), {dim}));
  parts.push_back(x);
  if (high > 0) {
    Type word = n.getBuilder().getI64Type();
    int64_t count = isEdge ? 1 : high;
    Numbers box = n.sizesOf(x);
    SmallVector<Value> starts(n.rankOf(x), n.scalar(0, word));
    OpFoldResult start = n.sizes().sub(box[dim], n.index(isEdge ? 1 : count + 1));
    starts[dim] = n.scalarOf(start, word);
    box[dim] = n.index(count);
    Value end = n.dynamicSlice(x, starts, box);
    parts.push_back(isEdge ? repeat(end, high) : n.reverse(end, {dim}));
  }
  return n.concatenate(parts, dim);
}

static Value padByElements(NodeImport &n, Value x, StringRef mode, ArrayRef<int64_t> low,
                           ArrayRef<int64_t> high) {
  for (int64_t dim = 0; dim < n.rankOf(x); ++dim) {
    if (low[dim] == 0 && high[dim] == 0)
      continue;
    if (ShapedType::isDynamic(n.dimOf(x, dim))) {
      x = padDynamic(n, x, mode, dim, low[dim], high[dim]);
      continue;
    }
    int64_t size = n.dimOf(x, dim), count = size + low[dim] + high[dim];
    constexpr int64_t kMost = int64_t(1) << 24;
    if (size == 0 || count < 0 || count > kMost || low[dim] > kMost) {
      n.error("padding of mode " + mode +
              " needs a dim of static size, not empty and not too "
              "large");
      return {};
    }
    SmallVector<int64_t> indices;
    for (int64_t place = 0; place < count; ++place)
      indices.push_back(getPaddedIndex(mode, place - low[dim], size));
    x = n.make<TakeOp>(x, n.constant(indices, n.getBuilder().getI64Type()), uint64_t(dim));
  }
  return x;
}

static Results padWith(NodeImport &n, Value x, ArrayRef<int64_t> pads, ArrayRef<int64_t> axes,
                       Value with) {
  int64_t rank = n.rankOf(x), count = axes.size();
  if (int64_t(pads.size()) != 2 * count) // in range: the length of a list
    return n.error("expected two pads for each of " + Twine(count) + " dims, got " +
                   Twine(pads.size()));
  for (int64_t pad : pads)
    if (pad < -kMostAmount || pad > kMostAmount)
      return n.error("expected pads from " + Twine(-kMostAmount) + " to " + Twine(kMostAmount) +
                     ", got " + Twine(pad));
  SmallVector<int64_t> low(rank, 0), high(rank, 0);
  for (int64_t i = 0; i < count; ++i) {
    int64_t axis = n.normalizeAxis(axes[i], rank);
    if (n.hasFailed())
      return {};
    low[axis] = pads[i];
    high[axis] = pads[count + i];
  }
  std::string mode = n.text("mode", "constant");
  if (mode == "constant")
    return {n.pad(x, with, low, high)};
  if (mode == "reflect" || mode == "edge" || mode == "wrap")
    return {padByElements(n, x, mode, low, high)};
  return n.error("unknown mode of padding '" + mode + "'");
}

/// By amounts that depend on sizes: what is added is joined to the tensor. Amounts below zero,
/// which would cut, are refused when inputs are bound, as any negative size.
static Results padBySizes(NodeImport &n, Value x, const Numbers &pads, ArrayRef<int64_t> axes,
                          Value with) {
  if (n.text("mode", "constant") != "constant")
    return n.error("pads that depend on sizes are for the mode 'constant'");
  size_t count = axes.size();
  if (pads.size() != 2 * count) // in range: the length of a list
    return n.error("expected two pads for each of " + Twine(count) + " dims, got " +
                   Twine(pads.size()));
  for (size_t i = 0; i < count; ++i) {
    int64_t axis = n.normalizeAxis(axes[i], n.rankOf(x));
    if (n.hasFailed())
      return {};
    x = joinPads(n, x, axis, pads[i], pads[count + i], with);
  }
  return {x};
}

static Results importPad(NodeImport &n) {
  Value x = n.input(0);
  Numbers amounts = n.needNumbers(1, "the pads of Pad");
  SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(0, n.rankOf(x)));
  if (n.has(3))
    axes = n.needIntegers(3, "the axes of Pad");
  Value with = n.has(2) ? n.reshape(n.input(2), ArrayRef<int64_t>()) : n.scalar(0, x);
  if (n.hasFailed())
    return {};
  std::optional<SmallVector<int64_t>> pads = getConstantIntValues(amounts);
  return pads ? padWith(n, x, *pads, axes, with) : padBySizes(n, x, amounts, axes, with);
}

static Results importPad2(NodeImport &n) {
  Value x = n.input(0);
  SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(0, n.rankOf(x)));
  return padWith(n, x, n.integerList("pads"), axes, n.scalar(n.number("value", 0), x));
}

/// Cuts or pads each axis about its middle.
static Results importCenterCropPad(NodeImport &n) {
  Value x = n.input(0);
  int64_t rank = n.rankOf(x);
  SmallVector<int64_t> sizes = n.needIntegers(1, "the shape of CenterCropPad");
  SmallVector<int64_t> all = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  SmallVector<int64_t> axes = n.integerList("axes", all);
  if (sizes.size() != axes.size())
    return n.error("expected one size for each axis");
  SmallVector<int64_t> low(rank, 0), high(rank, 0);
  for (auto [axis, size] : llvm::zip_equal(axes, sizes)) {
    int64_t dim = n.normalizeAxis(axis, rank), present = n.dimOf(x, dim);
    if (n.hasFailed() || ShapedType::isDynamic(present))
      return n.error("expected dims of static size");
    int64_t difference = size - present;
    // What is odd is cut from the end, and added there.
    low[dim] = difference < 0 ? -(-difference / 2) : difference / 2;
    high[dim] = difference - low[dim];
  }
  return {n.pad(x, n.scalar(0, x), low, high)};
}

//===----------------------------------------------------------------------===//
// Depth and space
//===----------------------------------------------------------------------===//

/// What is wrong with the blocks that DepthToSpace and SpaceToDepth rearrange, if anything: a side
/// within bounds has a square that 63 bits hold.
static std::string describeBadBlock(NodeImport &n, Value x, int64_t side, StringRef mode) {
  if (n.rankOf(x) != 4)
    return "expected rank 4, got " + std::to_string(n.rankOf(x));
  if (side < 1 || side > kMostAmount)
    return "expected a blocksize of 1 to " + std::to_string(kMostAmount) + ", got " +
           std::to_string(side);
  if (mode != "DCR" && mode != "CRD")
    return ("expected mode DCR or CRD, got '" + mode + "'").str();
  return {};
}

static Results importDepthToSpace(NodeImport &n) {
  Value x = n.input(0);
  int64_t block = n.integer("blocksize", 0);
  std::string mode = n.text("mode", "DCR");
  if (std::string problem = describeBadBlock(n, x, block, mode); !problem.empty())
    return n.error(problem);
  Numbers s = n.sizesOf(x);
  OpFoldResult b = n.index(block);
  int64_t elements = block * block; // in range: describeBadBlock bounds it
  std::optional<int64_t> channels = getConstantIntValue(s[1]);
  if (channels && *channels % elements != 0)
    return n.error("expected channels that are a multiple of the blocksize squared, got " +
                   Twine(*channels));
  OpFoldResult depth = n.sizes().floorDiv(s[1], n.index(elements));
  bool isDepthLast = mode == "DCR";
  Value y = isDepthLast ? n.reshape(x, {s[0], b, b, depth, s[2], s[3]})
                        : n.reshape(x, {s[0], depth, b, b, s[2], s[3]});
  y = isDepthLast ? n.transpose(y, {0, 3, 4, 1, 5, 2}) : n.transpose(y, {0, 1, 4, 2, 5, 3});
  return {n.reshape(y, {s[0], depth, n.sizes().mul(s[2], b), n.sizes().mul(s[3], b)})};
}

static Results importSpaceToDepth(NodeImport &n) {
  Value x = n.input(0);
  int64_t block = n.integer("blocksize", 0);
  std::string mode = n.text("mode", "DCR");
  if (std::string problem = describeBadBlock(n, x, block, mode); !problem.empty())
    return n.error(problem);
  Numbers s = n.sizesOf(x);
  for (int64_t dim : {2, 3})
    if (std::optional<int64_t> size = getConstantIntValue(s[dim]); size && *size % block != 0)
      return n.error("expected sizes that are a multiple of the blocksize, got " + Twine(*size));
  OpFoldResult b = n.index(block), height = n.sizes().floorDiv(s[2], b),
               width = n.sizes().floorDiv(s[3], b);
  Value y = n.reshape(x, {s[0], s[1], height, b, width, b});
  y = mode == "DCR" ? n.transpose(y, {0, 3, 5, 1, 2, 4}) : n.transpose(y, {0, 1, 3, 5, 2, 4});
  int64_t elements = block * block; // in range: describeBadBlock bounds it
  return {n.reshape(y, {s[0], n.sizes().mul(s[1], n.index(elements)), height, width})};
}

/// Of each batch the first elements in reverse, as many as its length says.
static Results importReverseSequence(NodeImport &n) {
  Value x = n.input(0);
  int64_t rank = n.rankOf(x), batch = n.integer("batch_axis", 1), time = n.integer("time_axis", 0);
  if (rank < 2 || batch + time != 1 || batch < 0 || batch > 1)
    return n.error("expected rank 2 or more, and batch_axis and time_axis to be 0 and 1");
  Type word = n.getBuilder().getI64Type();
  Numbers sizes = n.sizesOf(x);
  Value place = n.iota(sizes, time, word);
  Value lengths = n.broadcastAlong(n.convert(n.input(1), word), sizes, {batch});
  Value reversed = n.sub(n.sub(lengths, n.scalar(1, word)), place);
  Value from = n.select(n.compare(CompareDirection::Lt, place, lengths), reversed, place);
  return {n.make<TakeAlongAxisOp>(x, from, uint64_t(time))};
}

llvm::ArrayRef<OpEntry> getMovementOps() {
  static constexpr OpEntry kOps[] = {
      {"CenterCropPad", 1, importCenterCropPad},
      {"Concat", 4, importConcat},
      {"DepthToSpace", 1, importDepthToSpace},
      {"Pad", 2, importPad2},
      {"Pad", 11, importPad},
      {"ReverseSequence", 1, importReverseSequence},
      {"Slice", 1, importSlice1},
      {"Slice", 10, importSlice},
      {"SpaceToDepth", 1, importSpaceToDepth},
      {"Split", 2, importSplit},
  };
  return kOps;
}

} // namespace xc::onnx
