//===- Sampling.cpp - ONNX's sampling at computed positions ---------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A sample is a sum of taps: for each, its indices, which padding moves or hides, and its weight.
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Array/IR/Sizes.h"
#include "compiler/Input/ONNX/Contractions.h"
#include "compiler/Input/ONNX/Windows.h"

using namespace mlir;
using namespace xc::array;

namespace xc::onnx {

using Dir = CompareDirection;

namespace {
/// One spatial dim of a grid sample, with positions for all samples.
struct SampledDim {
  Value position; // f32 or wider, of the samples' shape
  int64_t size;
  double low, high; // where reflection turns around
};

struct Sampling {
  std::string mode, padding;
  bool alignCorners;
};
} // namespace

/// Mirrored at `low` and `high` until it is between them.
static Value reflect(NodeImport &n, Value x, double low, double high) {
  double range = high - low;
  if (range <= 0)
    return n.broadcast(n.scalar(low, x), n.sizesOf(x));
  // A triangle wave of period twice the range.
  Value place = n.make<ModOp>(n.sub(x, n.scalar(low, x)), n.scalar(2 * range, x));
  Value mirrored = n.sub(n.scalar(2 * range, x), place);
  return n.add(n.make<MinOp>(place, mirrored), n.scalar(low, x));
}

/// The positions that are outside of the border, brought in as the padding says.
static Value padPosition(NodeImport &n, Value x, const SampledDim &dim, const Sampling &sampling) {
  Value isOutside = n.make<OrOp>(n.compare(Dir::Lt, x, n.scalar(dim.low, x)),
                                 n.compare(Dir::Gt, x, n.scalar(dim.high, x)));
  if (sampling.padding == "border")
    return n.select(isOutside,
                    n.make<ClampOp>(n.scalar(0, x), x, n.scalar(double(dim.size - 1), x)), x);
  if (sampling.padding == "reflection")
    return n.select(isOutside, reflect(n, x, dim.low, dim.high), x);
  return x;
}

namespace {
/// One element along a dim that a sample is made of.
struct Tap {
  Value index;    // i64
  Value weight;   // null: 1
  Value isInside; // null: always
};
} // namespace

/// A whole position as an index, and whether it is one.
static Tap makeTap(NodeImport &n, Value place, Value weight, const SampledDim &dim,
                   const Sampling &sampling) {
  Tap tap;
  tap.weight = weight;
  Value last = n.scalar(double(dim.size - 1), place), zero = n.scalar(0, place);
  if (sampling.padding == "zeros")
    tap.isInside = n.make<AndOp>(n.compare(Dir::Ge, place, zero), n.compare(Dir::Le, place, last));
  else if (sampling.padding == "reflection")
    place = padPosition(n, place, dim, sampling);
  tap.index = n.convert(n.make<ClampOp>(zero, place, last), n.getBuilder().getI64Type());
  return tap;
}

static Value cubic(NodeImport &n, Value x, double a) {
  auto scalar = [&](double value) { return n.scalar(value, x); };
  x = n.make<AbsOp>(x);
  Value square = n.mul(x, x), cube = n.mul(square, x);
  Value near = n.add(n.sub(n.mul(cube, scalar(a + 2)), n.mul(square, scalar(a + 3))), scalar(1));
  Value far = n.sub(
      n.add(n.sub(n.mul(cube, scalar(a)), n.mul(square, scalar(5 * a))), n.mul(x, scalar(8 * a))),
      scalar(4 * a));
  return n.select(n.compare(Dir::Le, x, scalar(1)), near, far);
}

static SmallVector<Tap> findTaps(NodeImport &n, const SampledDim &dim, const Sampling &sampling) {
  SmallVector<Tap> taps;
  if (sampling.mode == "nearest") {
    Value place = padPosition(n, n.make<RoundOp>(dim.position), dim, sampling);
    taps.push_back(makeTap(n, n.make<FloorOp>(place), {}, dim, sampling));
    return taps;
  }
  Value position = padPosition(n, dim.position, dim, sampling);
  Value first = n.make<FloorOp>(position), ratio = n.sub(position, first);
  bool isCubic = sampling.mode == "cubic";
  for (int64_t i = isCubic ? -1 : 0; i <= (isCubic ? 2 : 1); ++i) {
    Value distance = n.sub(ratio, n.scalar(double(i), ratio));
    Value weight =
        isCubic ? cubic(n, distance, -0.75) : n.sub(n.scalar(1, ratio), n.make<AbsOp>(distance));
    taps.push_back(makeTap(n, n.add(first, n.scalar(double(i), first)), weight, dim, sampling));
  }
  return taps;
}

/// The elements of `x` [N, C, ...] at one tap for each dim, times their weights: [N, ..., C].
static Value takeTap(NodeImport &n, Value x, ArrayRef<Tap> taps) {
  Type word = n.getBuilder().getI64Type();
  SmallVector<Value> components;
  Value weight, isInside;
  int64_t last = n.rankOf(taps.front().index);
  components.push_back(n.expandDims(n.iota(n.sizesOf(taps.front().index), 0, word), {last}));
  SmallVector<int64_t> axes{0};
  for (auto [dim, tap] : llvm::enumerate(taps)) {
    components.push_back(n.expandDims(tap.index, {last}));
    axes.push_back(int64_t(dim) + 2);
    if (tap.weight)
      weight = weight ? n.mul(weight, tap.weight) : tap.weight;
    if (tap.isInside)
      isInside = isInside ? n.make<AndOp>(isInside, tap.isInside) : tap.isInside;
  }
  Value part = n.make<GatherOp>(x, n.concatenate(components, last), ArrayRef<int64_t>(axes));
  if (isInside)
    part = n.select(n.expandDims(isInside, {last}), part, n.scalar(0, part));
  return weight ? n.mul(part, n.expandDims(weight, {last})) : part;
}

static Results importGridSample(NodeImport &n) {
  Value x = n.input(0), grid = n.input(1);
  int64_t rank = n.rankOf(x) - 2;
  Sampling sampling{n.text("mode", "linear"), n.text("padding_mode", "zeros"),
                    n.integer("align_corners", 0) != 0};
  if (sampling.mode == "bilinear")
    sampling.mode = "linear";
  if (sampling.mode == "bicubic")
    sampling.mode = "cubic";
  if (rank < 1 || rank > 3 || n.rankOf(grid) != rank + 2 || n.dimOf(grid, rank + 1) != rank ||
      !n.isFloat(x))
    return n.error("expected floats [N, C, ...] and a grid [N, ..., " + Twine(rank) + "]");
  if ((sampling.mode != "linear" && sampling.mode != "nearest" && sampling.mode != "cubic") ||
      (sampling.padding != "zeros" && sampling.padding != "border" &&
       sampling.padding != "reflection"))
    return n.error("unknown mode '" + sampling.mode + "' or padding_mode '" + sampling.padding +
                   "'");
  Type element = n.elementOf(x);
  grid = n.convert(n.widen(grid), n.elementOf(n.widen(x)));
  SmallVector<SmallVector<Tap>> taps;
  for (int64_t dim = 0; dim < rank; ++dim) {
    int64_t size = n.dimOf(x, dim + 2);
    if (ShapedType::isDynamic(size) || size < 1)
      return n.error("expected spatial dims of static size, not empty");
    // Coordinates come with the last dim first, from -1 to 1.
    int64_t which = rank - 1 - dim;
    Value g = n.squeeze(n.slice(grid, rank + 1, which, which + 1), {rank + 1});
    SampledDim sampled{{}, size, 0, double(size - 1)};
    g = n.add(g, n.scalar(1, g));
    if (sampling.alignCorners) {
      sampled.position = n.mul(g, n.scalar(double(size - 1) / 2, g));
    } else {
      sampled.position = n.sub(n.mul(g, n.scalar(double(size) / 2, g)), n.scalar(0.5, g));
      sampled.low = -0.5;
      sampled.high = double(size) - 0.5;
    }
    taps.push_back(findTaps(n, sampled, sampling));
  }
  // Every combination of one tap for each dim.
  size_t count = 1;
  for (const SmallVector<Tap> &list : taps)
    count *= list.size();
  Value sum, source = n.widen(x);
  for (size_t i = 0; i < count && !n.hasFailed(); ++i) {
    SmallVector<Tap> chosen;
    size_t rest = i;
    for (const SmallVector<Tap> &list : taps) {
      chosen.push_back(list[rest % list.size()]);
      rest /= list.size();
    }
    Value part = takeTap(n, source, chosen);
    sum = sum ? n.add(sum, part) : part;
  }
  SmallVector<int64_t> permutation{0, rank + 1};
  for (int64_t dim = 0; dim < rank; ++dim)
    permutation.push_back(dim + 1);
  return {n.convert(n.transpose(sum, permutation), element)};
}

//===----------------------------------------------------------------------===//
// Convolutions at computed positions
//===----------------------------------------------------------------------===//

namespace {
/// A convolution of images whose taps are moved by offsets, which are data.
struct Deformable {
  Value x, filter, offset, mask; // the mask may be null
  Window window;
  int64_t groups, offsetGroups, taps;
  int64_t features; // of `x`
  int64_t rows, columns;
};
} // namespace

static Deformable readDeformable(NodeImport &n) {
  Deformable d;
  d.x = n.widen(n.input(0)), d.filter = n.widen(n.input(1)), d.offset = n.widen(n.input(2));
  d.mask = n.has(4) ? n.widen(n.input(4)) : Value();
  d.groups = n.integer("group", 1), d.offsetGroups = n.integer("offset_group", 1);
  if (n.rankOf(d.x) != 4 || n.rankOf(d.filter) != 4 || n.rankOf(d.offset) != 4 || !n.isFloat(d.x)) {
    n.error("expected images of floats [N, C, H, W], filters and offsets of rank 4");
    return d;
  }
  SmallVector<int64_t> kernel(ArrayRef(n.shapeOf(d.filter)).drop_front(2));
  d.window = readWindow(n, d.x, n.integerList("kernel_shape", kernel));
  d.features = n.dimOf(d.x, 1), d.rows = n.dimOf(d.offset, 2), d.columns = n.dimOf(d.offset, 3);
  SmallVector<int64_t> known{d.features, n.dimOf(d.x, 2), n.dimOf(d.x, 3), d.rows, d.columns};
  if (llvm::any_of(known, [](int64_t size) { return size < 1; }) || !n.isStatic(d.filter) ||
      d.window.kernel != kernel) {
    n.error("expected static sizes of features, images, filters and offsets, none of them 0");
    return d;
  }
  d.taps = mulSizes(kernel).value_or(0);
  for (int64_t dim = 0; dim < 2; ++dim) {
    int64_t size = n.dimOf(d.x, dim + 2) + d.window.low[dim] + d.window.high[dim];
    int64_t count = (size - d.window.spread(dim)) / d.window.strides[dim] + 1;
    if (size < d.window.spread(dim) || count != n.dimOf(d.offset, dim + 2))
      n.error("expected offsets for " + Twine(count) + " positions along dim " + Twine(dim) +
              " of the image, got " + Twine(n.dimOf(d.offset, dim + 2)));
  }
  auto divides = [](int64_t parts, int64_t whole) { return parts > 0 && whole % parts == 0; };
  if (d.taps < 1 || d.taps > 4096 || !divides(d.groups, d.features) ||
      !divides(d.groups, n.dimOf(d.filter, 0)) || !divides(d.offsetGroups, d.features) ||
      n.dimOf(d.filter, 1) != d.features / d.groups ||
      n.dimOf(d.offset, 1) != mulSizes({d.offsetGroups, d.taps, 2}) ||
      (d.mask && n.dimOf(d.mask, 1) != mulSizes(d.offsetGroups, d.taps)))
    n.error("features, filters, offsets and mask do not fit group and offset_group");
  return d;
}

/// Where the taps are along spatial dim `dim`: [N * offset groups, taps, rows, columns].
static SampledDim findTapPositions(NodeImport &n, const Deformable &d, Value offset, int64_t dim) {
  Type element = n.elementOf(offset);
  SmallVector<double> taps;
  for (int64_t tap = 0; tap < d.taps; ++tap) {
    int64_t place = dim == 0 ? tap / d.window.kernel[1] : tap % d.window.kernel[1];
    taps.push_back(double(place) * double(d.window.dilations[dim]) - double(d.window.low[dim]));
  }
  Numbers plane{n.index(1), n.index(d.rows), n.index(d.columns)};
  Value base = n.iota(plane, dim + 1, element);
  base = n.mul(base, n.scalar(double(d.window.strides[dim]), base));
  base = n.add(base, n.constantFloats(taps, element, ArrayRef<int64_t>{d.taps, 1, 1}));
  Value moved = n.squeeze(n.slice(offset, 2, dim, dim + 1), {2});
  int64_t size = n.dimOf(d.x, dim + 2);
  return {n.add(moved, base), size, 0, double(size - 1)};
}

/// Bilinear samples for each tap and output position, then a product with the filters.
static Results importDeformConv(NodeImport &n) {
  Deformable d = readDeformable(n);
  if (n.hasFailed())
    return {};
  OpFoldResult batch = n.size(d.x, 0), images = n.sizes().mul(batch, n.index(d.offsetGroups));
  OpFoldResult rows = n.index(d.rows), columns = n.index(d.columns), taps = n.index(d.taps);
  int64_t height = n.dimOf(d.x, 2), width = n.dimOf(d.x, 3),
          positions = d.rows * d.columns; // in range: of a tensor
  Value offset = n.reshape(d.offset, {images, taps, n.index(2), rows, columns});
  OpFoldResult part = n.index(d.features / d.offsetGroups);
  Value x = n.reshape(d.x, {images, part, n.index(height), n.index(width)});
  Sampling sampling{"linear", "zeros", false};
  SmallVector<SmallVector<Tap>> near;
  for (int64_t dim = 0; dim < 2; ++dim)
    near.push_back(findTaps(n, findTapPositions(n, d, offset, dim), sampling));
  Value sum;
  for (const Tap &down : near[0])
    for (const Tap &across : near[1]) {
      Value sample = takeTap(n, x, {down, across});
      sum = sum ? n.add(sum, sample) : sample;
    }
  if (d.mask)
    sum = n.mul(sum, n.reshape(d.mask, {images, taps, rows, columns, n.index(1)}));
  // [N, offset groups, taps, positions, features of a group] to [N, groups, K, positions].
  OpFoldResult groups = n.index(d.groups), place = n.index(positions);
  int64_t filters = n.dimOf(d.filter, 0),
          depth = d.features / d.groups * d.taps; // in range: of a filter
  sum = n.reshape(sum, {batch, n.index(d.offsetGroups), taps, place, part});
  sum = n.reshape(n.transpose(sum, {0, 1, 4, 2, 3}), {batch, groups, n.index(depth), place});
  Value filter = n.reshape(d.filter, {groups, n.index(filters / d.groups), n.index(depth)});
  Value y = n.reshape(multiplyMatrices(n, filter, sum), {batch, n.index(filters), rows, columns});
  if (n.has(3))
    y = n.add(y, alongFeatures(n, n.widen(n.input(3)), 2));
  return {n.convert(y, n.elementOf(n.input(0)))};
}

/// The grid of an affine map: base coordinates, from -1 to 1, times its matrix.
static Results importAffineGrid(NodeImport &n) {
  Value theta = n.input(0);
  SmallVector<int64_t> sizes = n.needIntegers(1, "the size of AffineGrid");
  bool alignCorners = n.integer("align_corners", 0) != 0;
  int64_t rank = int64_t(sizes.size()) - 2;
  if (n.hasFailed() || rank < 1 || n.rankOf(theta) != 3 || n.dimOf(theta, 1) != rank ||
      n.dimOf(theta, 2) != rank + 1)
    return n.error("expected matrices [N, D, D + 1] and a size of D + 2 dims");
  ArrayRef<int64_t> space = ArrayRef(sizes).drop_front(2);
  int64_t count = 1;
  constexpr int64_t kMost = int64_t(1) << 22;
  for (int64_t size : space) {
    count = size < 1 || size > kMost ? kMost + 1 : count * size; // in range: each at most kMost
    if (count > kMost)
      return n.error("expected a size that is not empty and not too large");
  }
  Numbers shape;
  for (int64_t size : space)
    shape.push_back(n.index(size));
  Numbers wide = shape;
  wide.push_back(n.index(1));
  Type element = n.elementOf(theta);
  SmallVector<Value> parts;
  for (int64_t dim = rank; dim-- > 0;) {
    double size = double(space[dim]);
    Value place = n.iota(wide, dim, element);
    double step = alignCorners ? (size > 1 ? 2 / (size - 1) : 0) : 2 / size;
    double start = alignCorners ? (size > 1 ? -1 : 0) : -1 + 1 / size;
    parts.push_back(n.add(n.mul(place, n.scalar(step, place)), n.scalar(start, place)));
  }
  parts.push_back(n.broadcast(n.scalar(1, element), wide));
  Value base = n.concatenate(parts, rank); // [..., D + 1]
  // [N, D, D + 1] x [..., D + 1] gives [N, D, ...].
  Value grid =
      n.makeAs<DotGeneralOp>(element, theta, base, ArrayRef<int64_t>(), ArrayRef<int64_t>(),
                             ArrayRef<int64_t>(2), ArrayRef<int64_t>(rank), /*allow_tf32=*/false);
  SmallVector<int64_t> permutation{0};
  for (int64_t dim = 0; dim < rank; ++dim)
    permutation.push_back(dim + 2);
  permutation.push_back(1);
  return {n.transpose(grid, permutation)};
}

/// Adds columns of windows up where they were taken from.
static Results importCol2Im(NodeImport &n) {
  Value x = n.input(0);
  SmallVector<int64_t> image = n.needIntegers(1, "the image_shape of Col2Im"),
                       block = n.needIntegers(2, "the block_shape of Col2Im");
  size_t rank = image.size();
  SmallVector<int64_t> ones(rank, 1), zeros(2 * rank, 0);
  SmallVector<int64_t> strides = n.integerList("strides", ones),
                       dilations = n.integerList("dilations", ones),
                       pads = n.integerList("pads", zeros);
  int64_t features = n.dimOf(x, 1), taps = 1;
  if (n.hasFailed() || n.rankOf(x) != 3 || block.size() != rank || strides.size() != rank ||
      dilations.size() != rank || pads.size() != 2 * rank)
    return n.error("expected [N, C * taps, L], and a stride, a dilation and two pads for each dim");
  Numbers split{n.size(x, 0), n.index(0)};
  SmallVector<int64_t> counts;
  constexpr int64_t kMostTaps = 4096;
  for (size_t dim = 0; dim < rank; ++dim) {
    if (block[dim] < 1 || block[dim] > 64 || strides[dim] < 1 || strides[dim] > kMostAmount ||
        dilations[dim] < 1 || pads[dim] < 0 || pads[rank + dim] < 0 || image[dim] < 1 ||
        image[dim] > kMostAmount || pads[dim] > kMostAmount || pads[rank + dim] > kMostAmount ||
        dilations[dim] > kMostAmount)
      return n.error("expected sizes of windows that are positive and not too large");
    int64_t room =
        image[dim] + pads[dim] + pads[rank + dim] - spreadKnown(block[dim], dilations[dim]);
    if (room < 0)
      return n.error("a window is larger than the image");
    counts.push_back(room / strides[dim] + 1);
    split.push_back(n.index(block[dim]));
    taps = std::min(taps * block[dim], kMostTaps + 1); // in range: a block is at most 64
  }
  if (ShapedType::isDynamic(features) || taps > kMostTaps || features % taps != 0)
    return n.error("expected features that are a multiple of the window's elements");
  split[1] = n.index(features / taps);
  for (int64_t count : counts)
    split.push_back(n.index(count));
  x = n.reshape(x, split);
  OpBuilder &b = n.getBuilder();
  Value sum;
  for (int64_t tap = 0; tap < taps && !n.hasFailed(); ++tap) {
    Value part = x;
    SmallVector<int64_t> low{0, 0}, high{0, 0}, interior{0, 0}, axes, places(rank);
    int64_t rest = tap;
    for (size_t dim = rank; dim-- > 0; rest /= block[dim])
      places[dim] = rest % block[dim];
    for (size_t dim = 0; dim < rank; ++dim) {
      part = n.slice(part, 2 + dim, places[dim], places[dim] + 1);
      axes.push_back(2 + dim);
      int64_t size = image[dim] + pads[dim] + pads[rank + dim];
      int64_t spread = spreadKnown(counts[dim], strides[dim]);
      low.push_back(places[dim] * dilations[dim]); // in range: below 64 * kMostAmount
      high.push_back(size - low.back() - spread);
      interior.push_back(strides[dim] - 1);
    }
    part = n.squeeze(part, axes);
    part = n.make<PadOp>(part, n.scalar(0, part), ArrayRef<int64_t>(low), ArrayRef<int64_t>(high),
                         b.getDenseI64ArrayAttr(interior));
    sum = sum ? n.add(sum, part) : part;
  }
  for (size_t dim = 0; dim < rank; ++dim)
    sum = n.slice(sum, 2 + dim, pads[dim], pads[dim] + image[dim]);
  return {sum};
}

llvm::ArrayRef<OpEntry> getSamplingOps() {
  static constexpr OpEntry kOps[] = {
      {"AffineGrid", 1, importAffineGrid},
      {"Col2Im", 1, importCol2Im},
      {"DeformConv", 19, importDeformConv},
      {"GridSample", 1, importGridSample},
  };
  return kOps;
}

} // namespace xc::onnx
