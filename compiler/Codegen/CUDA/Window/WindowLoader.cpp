//===- WindowLoader.cpp - Loads of elements under strips of windows -------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Window/WindowLoader.h"

#include "compiler/Codegen/CUDA/Common/CombineResults.h"
#include "compiler/Codegen/CUDA/Common/LaneOps.h"
#include "compiler/Dialect/Plan/IR/Products.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace xc::cuda {

SmallVector<Value> combineElement(PointEmitter &points, const Combiner &combiner, ValueRange sums,
                                  ArrayRef<Coord> loops, int64_t lanes) {
  OpBuilder &builder = points.builder;
  SmallVector<Value> leaves;
  for (Value leaf : points.emitLeaves(combiner, loops, lanes, {}))
    leaves.push_back(splatTo(builder, points.loc, leaf, lanes));
  auto product = leaves.front().getDefiningOp<arith::MulFOp>();
  if (product && plan::matchProduct(combiner.getOp()))
    return {
        math::FmaOp::create(builder, points.loc, product.getLhs(), product.getRhs(), sums.front())};
  return combineInOrder(builder, points.loc, combiner, sums, leaves);
}

bool WindowLoader::isRagged() const {
  if (strip == 1)
    return false;
  std::optional<int64_t> count = getConstantIntValue(positions);
  return !count || *count % strip != 0;
}

/// The padding of `pad`, if it is a constant, of known extent.
static Attribute getKnownPadding(tensor::PadOp pad) {
  Attribute padding;
  if (!pad || llvm::is_contained(pad.getStaticLow(), ShapedType::kDynamic) ||
      llvm::is_contained(pad.getStaticHigh(), ShapedType::kDynamic))
    return {};
  Value value = pad.getConstantPaddingValue();
  if (!value || !matchPattern(value, m_Constant(&padding)))
    return {};
  return padding;
}

Value WindowLoader::emitIsRowInside(ArrayRef<Coord> loops) {
  auto pad = image.operand->get().getDefiningOp<tensor::PadOp>();
  Attribute padding = getKnownPadding(pad);
  if (!padding || !matchPattern(padding, m_AnyZeroFloat()))
    return {};
  IndexBuilder &index = points.index;
  SmallVector<Value> extents = points.getSizes(pad.getSource());
  AffineMap map = op.getMatchingIndexingMap(image.operand);
  Value inside;
  for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
    int64_t low = pad.getStaticLow()[dim];
    if (dim == image.dim || (low == 0 && pad.getStaticHigh()[dim] == 0))
      continue;
    Value place = index.add(points.apply(expr, loops, lanes).first(), -low);
    inside = index.both(inside, index.isAtLeast(place, index.constant(0)));
    inside = index.both(inside, index.isLess(place, extents[dim]));
  }
  isRowInside = static_cast<bool>(inside);
  return inside;
}

Value WindowLoader::emitHasElements() {
  auto pad = image.operand->get().getDefiningOp<tensor::PadOp>();
  if (!getKnownPadding(pad))
    return {};
  Value hasElements;
  for (auto [dim, extent] : llvm::enumerate(points.getSizes(pad.getSource()))) {
    bool isPadded = pad.getStaticLow()[dim] != 0 || pad.getStaticHigh()[dim] != 0;
    if (isPadded && !getConstantIntValue(extent))
      hasElements =
          points.index.both(hasElements, points.index.isAtLeast(extent, points.index.constant(1)));
  }
  return hasElements;
}

Value WindowLoader::emitPadded(tensor::PadOp pad, SmallVector<Coord> coords, int64_t column) {
  IndexBuilder &index = points.index;
  SmallVector<Value> extents = points.getSizes(pad.getSource());
  // Where the last strip begins, if that is known.
  std::optional<int64_t> count = getConstantIntValue(positions);
  std::optional<int64_t> last = count ? std::optional((*count - 1) / strip * strip) : std::nullopt;
  Value inside;
  for (auto [dim, coord] : llvm::enumerate(coords)) {
    int64_t low = pad.getStaticLow()[dim];
    if (low == 0 && pad.getStaticHigh()[dim] == 0)
      continue;
    Value place = index.add(coord.first(), -low), extent = extents[dim];
    bool isAlong = dim == image.dim;
    if (isRowInside && !isAlong) {
      coord = Coord::uniform(place);
      continue;
    }
    std::optional<int64_t> size = getConstantIntValue(extent);
    if (!isAlong || column < low) {
      inside = index.both(inside, index.isAtLeast(place, index.constant(0)));
      place = index.max(place, index.constant(0));
    }
    if (!isAlong || !last || !size || *last * image.stride + column - low >= *size) {
      inside = index.both(inside, index.isLess(place, extent));
      place = index.min(place, index.add(extent, -1));
    }
    coord = Coord::uniform(place);
  }
  Value value = splatTo(points.builder, points.loc,
                        points.emit(pad.getSource(), Point{coords, {}, lanes, {}}), lanes);
  if (!inside)
    return value;
  Value padding = splatTo(points.builder, points.loc,
                          points.constant(cast<TypedAttr>(getKnownPadding(pad))), lanes);
  return arith::SelectOp::create(points.builder, points.loc, inside, value, padding);
}

Value WindowLoader::emit(ArrayRef<Coord> loops, Value start, int64_t column) {
  IndexBuilder &index = points.index;
  Value tensor = image.operand->get();
  auto pad = tensor.getDefiningOp<tensor::PadOp>();
  Attribute padding = getKnownPadding(pad);
  if (padding && isEmpty)
    return splatTo(points.builder, points.loc, points.constant(cast<TypedAttr>(padding)), lanes);
  SmallVector<Coord> coords;
  for (auto [dim, expr] : llvm::enumerate(op.getMatchingIndexingMap(image.operand).getResults())) {
    if (dim != image.dim) {
      coords.push_back(points.apply(expr, loops, lanes));
      continue;
    }
    Value place = index.add(index.mul(start, image.stride), column);
    // Nobody needs what is read for positions beyond the last one, but it must be there.
    if (isRagged())
      place = index.min(place, index.add(points.getSizes(tensor)[dim], -1));
    coords.push_back(Coord::uniform(place));
  }
  if (padding)
    return emitPadded(pad, coords, column);
  return splatTo(points.builder, points.loc, points.emit(tensor, Point{coords, {}, lanes, {}}),
                 lanes);
}

} // namespace xc::cuda
