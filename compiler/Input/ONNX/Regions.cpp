//===- Regions.cpp - ONNX's pooling over regions of interest --------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A region is cut into output_height by output_width bins, each with samples on a grid. A sample is
// interpolated from the four elements around it, the taps.
//
//===----------------------------------------------------------------------===//

#include "compiler/Input/ONNX/NodeImport.h"

using namespace mlir;
using namespace xc::array;

namespace xc::onnx {

using Dir = CompareDirection;

namespace {
/// Samples along one dim, each [regions, samples]: the elements around them, by index, the weight
/// of the second one, and whether the sample is within the image.
struct Samples {
  Value low, high;
  Value weight;
  Value isInside;
};

struct RegionPool {
  int64_t grid; // samples of a bin along a dim
  bool isHalfPixel;
  double scale;
};
} // namespace

/// Samples from `start` to `end`, [regions, 1] both, of `bins` bins along a dim of `size` elements.
static Samples placeSamples(NodeImport &n, const RegionPool &pool, Value start, Value end,
                            int64_t bins, int64_t size) {
  auto scalar = [&](double value) { return n.scalar(value, start); };
  auto toImage = [&](Value x) {
    x = n.mul(x, scalar(pool.scale));
    return pool.isHalfPixel ? n.sub(x, scalar(0.5)) : x;
  };
  start = toImage(start);
  Value extent = n.sub(toImage(end), start);
  if (!pool.isHalfPixel)
    extent = n.make<MaxOp>(extent, scalar(1));
  double samples = double(bins) * double(pool.grid); // both are small
  Value place = n.iota({n.index(1), n.index(bins * pool.grid)}, 1, n.elementOf(start));
  place = n.mul(n.add(place, scalar(0.5)), scalar(1 / samples));
  Value position = n.add(start, n.mul(extent, place));
  Samples result;
  result.isInside = n.make<AndOp>(n.compare(Dir::Ge, position, scalar(-1)),
                                  n.compare(Dir::Le, position, scalar(double(size))));
  position = n.make<MaxOp>(position, scalar(0));
  Value last = scalar(double(size - 1));
  Value low = n.make<MinOp>(n.make<FloorOp>(position), last);
  Value high = n.make<MinOp>(n.add(low, scalar(1)), last);
  // Behind the last element there is nothing to interpolate with.
  result.weight = n.select(n.compare(Dir::Ge, low, last), scalar(0), n.sub(position, low));
  Type word = n.getBuilder().getI64Type();
  result.low = n.convert(low, word);
  result.high = n.convert(high, word);
  return result;
}

/// The weighted elements of \p x, [N, C, H, W], at one tap of each sample:
/// [regions, rows, columns, C].
static Value takeTap(NodeImport &n, Value x, Value batch, const Samples &rows,
                     const Samples &columns, bool isHighRow, bool isHighColumn) {
  Type word = n.getBuilder().getI64Type();
  Numbers sizes{n.size(rows.low, 0), n.size(rows.low, 1), n.size(columns.low, 1), n.index(1)};
  Value row = isHighRow ? rows.high : rows.low, column = isHighColumn ? columns.high : columns.low;
  Value indices =
      n.concatenate({n.broadcast(n.convert(n.expandDims(batch, {1, 2, 3}), word), sizes),
                     n.broadcast(n.expandDims(row, {2, 3}), sizes),
                     n.broadcast(n.expandDims(column, {1, 3}), sizes)},
                    3);
  auto share = [&](const Samples &samples, bool isHigh) {
    Value weight = isHigh ? samples.weight : n.sub(n.scalar(1, samples.weight), samples.weight);
    return n.select(samples.isInside, weight, n.scalar(0, weight));
  };
  Value weight = n.mul(n.expandDims(share(rows, isHighRow), {2, 3}),
                       n.expandDims(share(columns, isHighColumn), {1, 3}));
  Value taken = n.make<GatherOp>(x, indices, ArrayRef<int64_t>({0, 2, 3}));
  return n.mul(taken, weight);
}

static Results importRoiAlign(NodeImport &n) {
  Value x = n.input(0), regions = n.input(1), batch = n.input(2);
  int64_t height = n.integer("output_height", 1), width = n.integer("output_width", 1);
  RegionPool pool;
  pool.grid = n.integer("sampling_ratio", 0);
  pool.scale = n.number("spatial_scale", 1);
  std::string mode = n.text("mode", "avg");
  // Before version 16 there was no shift by half a pixel.
  pool.isHalfPixel = n.text("coordinate_transformation_mode",
                            n.version < 16 ? "output_half_pixel" : "half_pixel") == "half_pixel";
  constexpr int64_t kMost = 1024;
  if (n.rankOf(x) != 4 || ShapedType::isDynamic(n.dimOf(x, 2)) || n.dimOf(x, 2) < 1 ||
      ShapedType::isDynamic(n.dimOf(x, 3)) || n.dimOf(x, 3) < 1 || !n.isFloat(x) ||
      n.rankOf(regions) != 2 || n.dimOf(regions, 1) != 4 || n.rankOf(batch) != 1)
    return n.error("expected images [N, C, H, W] of static height and width, regions [R, 4] and "
                   "batch_indices [R]");
  if (pool.grid == 0)
    return n.error(
        "sampling_ratio 0 makes the number of samples depend on data; expected a number");
  if (height < 1 || height > kMost || width < 1 || width > kMost || pool.grid < 1 ||
      pool.grid > kMost || (mode != "avg" && mode != "max"))
    return n.error("expected mode avg or max, and sizes and a sampling_ratio of 1 to " +
                   Twine(kMost));
  Type element = n.elementOf(x);
  x = n.widen(x);
  regions = n.convert(regions, n.elementOf(x));
  auto corner = [&](int64_t which) { return n.slice(regions, 1, which, which + 1); };
  Samples columns = placeSamples(n, pool, corner(0), corner(2), width, n.dimOf(x, 3)),
          rows = placeSamples(n, pool, corner(1), corner(3), height, n.dimOf(x, 2));
  bool isMax = mode == "max";
  Value sampled;
  for (int64_t tap = 0; tap < 4; ++tap) {
    Value part = takeTap(n, x, batch, rows, columns, tap / 2 != 0, tap % 2 != 0);
    if (!sampled)
      sampled = part;
    else
      sampled = isMax ? n.make<MaxOp>(sampled, part) : n.add(sampled, part);
  }
  if (n.hasFailed())
    return {};
  sampled = n.reshape(sampled, {n.size(sampled, 0), n.index(height), n.index(pool.grid),
                                n.index(width), n.index(pool.grid), n.size(sampled, 3)});
  SmallVector<int64_t> grids{2, 4};
  Value pooled = isMax ? n.reduce(ReduceKind::Max, sampled, grids, /*keepdims=*/false)
                       : n.make<MeanOp>(sampled, ArrayRef<int64_t>(grids), /*keepdims=*/false);
  return {n.convert(n.transpose(pooled, {0, 3, 1, 2}), element)};
}

llvm::ArrayRef<OpEntry> getRegionOps() {
  static constexpr OpEntry kOps[] = {{"RoiAlign", 10, importRoiAlign}};
  return kOps;
}

} // namespace xc::onnx
