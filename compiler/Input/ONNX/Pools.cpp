//===- Pools.cpp - ONNX's pools -------------------------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// With `ceil_mode` a last window may lie partly behind the padded input. What is there counts as
// nothing, also where padding counts.
//
//===----------------------------------------------------------------------===//

#include "compiler/Input/ONNX/Pools.h"

#include "compiler/Dialect/Array/IR/Sizes.h"
#include "compiler/Input/ONNX/Windows.h"

#include <cmath>

using namespace mlir;
using namespace xc::array;

namespace xc::onnx {

namespace {
/// A pool's window, with what `ceil_mode` adds behind the padding.
struct Pool {
  Value input;
  Window window;
  SmallVector<int64_t> beyond;
};
} // namespace

/// Where pads become elements of the input, they are `neutral`, or the least number of its type.
static Pool readPool(NodeImport &n, std::optional<double> neutral) {
  Pool pool;
  pool.input = n.input(0);
  Value with;
  if (neutral || n.isFloat(pool.input))
    with = n.scalar(neutral.value_or(-std::numeric_limits<double>::infinity()), pool.input);
  SmallVector<int64_t> kernel = n.integerList("kernel_shape");
  if (kernel.empty())
    n.error("expected kernel_shape");
  pool.window = readWindow(n, pool.input, kernel, with);
  pool.beyond.assign(kernel.size(), 0);
  std::string mode = n.text("auto_pad", "NOTSET");
  if (n.hasFailed() || n.integer("ceil_mode", 0) == 0 || (mode != "NOTSET" && mode != ""))
    return pool;
  for (int64_t dim = 0; dim < pool.window.getRank(); ++dim) {
    const Window &w = pool.window;
    int64_t size = n.dimOf(pool.input, dim + 2), stride = w.strides[dim];
    if (ShapedType::isDynamic(size)) {
      if (stride != 1)
        n.error("ceil_mode of a dim of dynamic size is not supported");
      continue;
    }
    int64_t room = size + w.low[dim] + w.high[dim] - w.spread(dim);
    int64_t positions = llvm::divideCeilSigned(room, stride) + 1;
    int64_t last = (positions - 1) * stride; // in range: less than a stride from the room
    // A window has to begin within the input or the padding before it.
    if (last >= size + w.low[dim])
      last -= stride;
    pool.beyond[dim] = std::max<int64_t>(last - room, 0);
  }
  return pool;
}

/// The lists of an array op's window: 1 and 0 for batch and features.
static SmallVector<int64_t> withFront(int64_t front, ArrayRef<int64_t> values) {
  SmallVector<int64_t> result{front, front};
  result.append(values.begin(), values.end());
  return result;
}

static SmallVector<int64_t> addBeyond(const Pool &pool) {
  SmallVector<int64_t> high;
  for (auto [pad, beyond] : llvm::zip_equal(pool.window.high, pool.beyond))
    high.push_back(pad + beyond);
  return high;
}

static Value reduceWindow(NodeImport &n, ReduceKind kind, Value input, const Window &window,
                          ArrayRef<int64_t> low, ArrayRef<int64_t> high) {
  OpBuilder &b = n.getBuilder();
  return n.make<ReduceWindowOp>(kind, input, ArrayRef<int64_t>(withFront(1, window.kernel)),
                                b.getDenseI64ArrayAttr(withFront(1, window.strides)),
                                b.getDenseI64ArrayAttr(withFront(0, low)),
                                b.getDenseI64ArrayAttr(withFront(0, high)),
                                b.getDenseI64ArrayAttr(withFront(1, window.dilations)));
}

/// The mean over elements that are no pads, where pads are elements of the input.
static Value averageBetweenPads(NodeImport &n, const Pool &pool) {
  Value x = n.input(0);
  Numbers sizes = n.sizesOf(x);
  sizes[0] = sizes[1] = n.index(1);
  Value zero = n.scalar(0, n.widen(x)), ones = n.broadcast(n.scalar(1, zero), sizes);
  readWindow(n, ones, pool.window.kernel, zero); // padded like the input
  auto sum = [&](Value value) {
    return reduceWindow(n, ReduceKind::Sum, value, pool.window, pool.window.low, addBeyond(pool));
  };
  return n.convert(n.div(sum(n.widen(pool.input)), sum(ones)), n.elementOf(x));
}

Results importAveragePool(NodeImport &n) {
  Pool pool = readPool(n, 0);
  if (n.hasFailed())
    return {};
  if (pool.input != n.input(0) && n.integer("count_include_pad", 0) == 0)
    return {averageBetweenPads(n, pool)};
  OpBuilder &b = n.getBuilder();
  Value input = pool.input;
  SmallVector<int64_t> low = pool.window.low, high = addBeyond(pool);
  bool countsPads = n.integer("count_include_pad", 0) != 0;
  bool isWhole = llvm::all_of(pool.beyond, [](int64_t size) { return size == 0; });
  if (countsPads && !isWhole) {
    // Padding becomes elements; what lies beyond it does not count.
    input = n.pad(input, n.scalar(0, input), withFront(0, low), withFront(0, pool.window.high));
    low.assign(low.size(), 0);
    high = pool.beyond;
    countsPads = false;
  }
  return {n.make<AvgPoolOp>(
      input, ArrayRef<int64_t>(withFront(1, pool.window.kernel)),
      b.getDenseI64ArrayAttr(withFront(1, pool.window.strides)),
      b.getDenseI64ArrayAttr(withFront(0, low)), b.getDenseI64ArrayAttr(withFront(0, high)),
      b.getDenseI64ArrayAttr(withFront(1, pool.window.dilations)), countsPads)};
}

Results importLpPool(NodeImport &n) {
  Pool pool = readPool(n, 0);
  double p = double(n.integer("p", 2));
  if (n.hasFailed())
    return {};
  Value x = n.make<AbsOp>(pool.input);
  Value powers = n.make<PowOp>(x, n.scalar(p, x));
  Value sum =
      reduceWindow(n, ReduceKind::Sum, powers, pool.window, pool.window.low, addBeyond(pool));
  return {n.make<PowOp>(sum, n.scalar(1 / p, sum))};
}

//===----------------------------------------------------------------------===//
// Maxima and where they are
//===----------------------------------------------------------------------===//

/// The windows more than this many elements have are not laid out one beside the other.
static constexpr int64_t kMostPoolTaps = 256;

/// The maxima's positions, counted over all of the input. The elements of windows, one after the
/// other along a new last dim, have their maximum at a place that says how far it is from the
/// window's first element.
static Value findPositions(NodeImport &n, const Pool &pool) {
  const Window &w = pool.window;
  int64_t rank = w.getRank(), taps = mulSizes(w.kernel).value_or(kMostElements);
  if (n.hasFailed())
    return {};
  if (!n.isStatic(pool.input) || taps > kMostPoolTaps || !n.isFloat(pool.input)) {
    n.error("indices of maxima need floats, an input of static shape and windows of at most " +
            Twine(kMostPoolTaps) + " elements");
    return {};
  }
  SmallVector<int64_t> shape = n.shapeOf(pool.input);
  SmallVector<int64_t> high = addBeyond(pool), positions, distances(rank);
  Value padded = n.pad(pool.input, n.scalar(-std::numeric_limits<double>::infinity(), pool.input),
                       withFront(0, w.low), withFront(0, high));
  bool isColumnMajor = n.integer("storage_order", 0) != 0;
  // A distance between elements of the input; sums of them stay in range.
  auto times = [&](int64_t places, int64_t distance) -> int64_t {
    std::optional<int64_t> product = mulSizes(places, distance);
    if (product && std::abs(*product) <= kMostElements)
      return *product;
    n.error("indices of maxima reach further than " + Twine(kMostElements) + " elements");
    return 0;
  };
  int64_t distance = 1;
  for (int64_t i = 0; i < rank; ++i) {
    int64_t dim = isColumnMajor ? i : rank - 1 - i;
    distances[dim] = distance;
    distance = times(shape[dim + 2], distance);
  }
  for (int64_t dim = 0; dim < rank; ++dim)
    positions.push_back((shape[dim + 2] + w.low[dim] + high[dim] - w.spread(dim)) / w.strides[dim] +
                        1);
  SmallVector<Value> parts;
  SmallVector<int64_t> offsets;
  for (int64_t tap = 0; tap < taps; ++tap) {
    Value part = padded;
    int64_t rest = tap, offset = 0;
    for (int64_t dim = rank; dim-- > 0;) {
      int64_t place = rest % w.kernel[dim] * w.dilations[dim];
      rest /= w.kernel[dim];
      offset += times(place, distances[dim]);
      part = n.slice(part, dim + 2, place, place + (positions[dim] - 1) * w.strides[dim] + 1,
                     w.strides[dim]);
    }
    parts.push_back(n.expandDims(part, {rank + 2}));
    offsets.push_back(offset);
  }
  Type word = n.getBuilder().getI64Type();
  Value best = n.makeAs<ArgMaxOp>(word, n.concatenate(parts, rank + 2), uint64_t(rank + 2),
                                  /*keepdims=*/false);
  Value position = n.make<TakeOp>(n.constant(offsets, word), best, uint64_t(0));
  // The window's first element, in the input; batch and features in front of it.
  Numbers sizes = n.sizesOf(position);
  for (int64_t dim = 0; dim < rank; ++dim) {
    Value first =
        n.mul(n.iota(sizes, dim + 2, word),
              n.constant(times(w.strides[dim], distances[dim]), word, ArrayRef<int64_t>()));
    position = n.add(position, first);
    position =
        n.sub(position, n.constant(times(w.low[dim], distances[dim]), word, ArrayRef<int64_t>()));
  }
  for (int64_t dim : {1, 0}) {
    int64_t step = dim == 1 ? distance : times(shape[1], distance);
    position = n.add(position,
                     n.mul(n.iota(sizes, dim, word), n.constant(step, word, ArrayRef<int64_t>())));
  }
  return position;
}

Results importMaxPool(NodeImport &n) {
  Pool pool = readPool(n, std::nullopt);
  if (n.hasFailed())
    return {};
  Results results{
      reduceWindow(n, ReduceKind::Max, pool.input, pool.window, pool.window.low, addBeyond(pool))};
  if (n.wants(1))
    results.push_back(findPositions(n, pool));
  return results;
}

/// Writes maxima to where MaxPool has found them, and zeros elsewhere. Positions count over the
/// smallest input of such a pool; what `output_shape` adds comes behind it.
Results importMaxUnpool(NodeImport &n) {
  Value x = n.input(0), positions = n.input(1);
  SmallVector<int64_t> kernel = n.integerList("kernel_shape");
  size_t rank = kernel.size();
  SmallVector<int64_t> strides = n.integerList("strides", SmallVector<int64_t>(rank, 1)),
                       pads = n.integerList("pads", SmallVector<int64_t>(2 * rank, 0));
  if (n.hasFailed() || rank < 1 || n.rankOf(x) != int64_t(rank) + 2 || !n.isStatic(x) ||
      strides.size() != rank || pads.size() != 2 * rank)
    return n.error("expected an input of static shape, kernel_shape, and a stride and two pads for "
                   "each spatial dim");
  SmallVector<int64_t> shape{n.dimOf(x, 0), n.dimOf(x, 1)};
  for (size_t dim = 0; dim < rank; ++dim) {
    auto isAmount = [](int64_t value) { return value >= 0 && value <= kMostAmount; };
    if (!isAmount(kernel[dim]) || !isAmount(strides[dim]) || !isAmount(pads[dim]) ||
        !isAmount(pads[rank + dim]) || n.dimOf(x, dim + 2) > kMostAmount)
      return n.error("expected sizes from 0 to " + Twine(kMostAmount));
    int64_t reach = (n.dimOf(x, dim + 2) - 1) * strides[dim]; // in range: factors below 2^32
    int64_t size = reach + kernel[dim] - pads[dim] - pads[rank + dim];
    if (size < 0)
      return n.error("the pads of dim " + Twine(dim + 2) + " are larger than its windows");
    shape.push_back(size);
  }
  std::optional<int64_t> elements = mulSizes(shape), count = mulSizes(n.shapeOf(x));
  if (!elements || !count || *elements > kMostElements)
    return n.error("an output of shape " + formatDims(shape) + " is too large");
  Value flat = n.broadcast(n.scalar(0, x), {n.index(*elements)});
  flat = n.make<ScatterOp>(ScatterKind::Set, flat, n.reshape(positions, {*count, 1}),
                           n.reshape(x, {*count}), ArrayRef<int64_t>(0), /*unique=*/false);
  Value y = n.reshape(flat, shape);
  if (!n.has(2))
    return {y};
  SmallVector<int64_t> wanted = n.needIntegers(2, "the output_shape of MaxUnpool"), high;
  if (wanted.size() != shape.size())
    return n.error("expected an output_shape of " + Twine(shape.size()) + " sizes");
  for (auto [size, present] : llvm::zip_equal(wanted, shape)) {
    if (size < present || size > kMostElements)
      return n.error("expected an output_shape of at least " + formatDims(shape) + ", got " +
                     formatDims(wanted));
    high.push_back(size - present);
  }
  return {n.pad(y, n.scalar(0, y), SmallVector<int64_t>(high.size(), 0), high)};
}

//===----------------------------------------------------------------------===//
// Over all of space
//===----------------------------------------------------------------------===//

static SmallVector<int64_t> spatialAxes(NodeImport &n, Value input) {
  if (n.rankOf(input) < 2)
    n.error("expected rank 2 or more, got " + Twine(n.rankOf(input)));
  SmallVector<int64_t> axes;
  for (int64_t dim = 2; dim < n.rankOf(input); ++dim)
    axes.push_back(dim);
  return axes;
}

Results importGlobalAveragePool(NodeImport &n) {
  Value x = n.input(0);
  SmallVector<int64_t> axes = spatialAxes(n, x);
  return {axes.empty() ? x : n.make<MeanOp>(x, ArrayRef<int64_t>(axes), /*keepdims=*/true)};
}

Results importGlobalMaxPool(NodeImport &n) {
  Value x = n.input(0);
  return {n.reduce(ReduceKind::Max, x, spatialAxes(n, x), /*keepdims=*/true)};
}

Results importGlobalLpPool(NodeImport &n) {
  Value x = n.input(0), magnitude = n.make<AbsOp>(x);
  double p = double(n.integer("p", 2));
  Value sum = n.reduce(ReduceKind::Sum, n.make<PowOp>(magnitude, n.scalar(p, x)), spatialAxes(n, x),
                       /*keepdims=*/true);
  return {n.make<PowOp>(sum, n.scalar(1 / p, x))};
}

} // namespace xc::onnx
