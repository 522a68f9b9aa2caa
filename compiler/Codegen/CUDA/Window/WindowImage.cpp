//===- WindowImage.cpp - Elements of an image under strips of windows -----===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Window/WindowImage.h"

#include "compiler/Codegen/CUDA/Common/CombineResults.h"
#include "compiler/Codegen/CUDA/Common/LaneOps.h"
#include "compiler/Dialect/Plan/IR/Products.h"

#include "mlir/Analysis/FlatLinearValueConstraints.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace xc::cuda {

//===----------------------------------------------------------------------===//
// Matching
//===----------------------------------------------------------------------===//

/// The one input that windows slide over; null if there are others.
static OpOperand *findSlid(linalg::LinalgOp op) {
  OpOperand *image = nullptr;
  for (OpOperand *input : op.getDpsInputOperands()) {
    if (op.getMatchingIndexingMap(input).isProjectedPermutation(/*allowZeroInResults=*/true))
      continue;
    if (image)
      return nullptr;
    image = input;
  }
  return image;
}

std::optional<WindowImage> matchWindowImage(linalg::LinalgOp op, unsigned channel,
                                            llvm::function_ref<bool(unsigned)> isPosition,
                                            std::string &reason) {
  OpOperand *operand = findSlid(op);
  if (!operand) {
    reason = "windows slide over no input, or over several";
    return std::nullopt;
  }
  AffineMap map = op.getMatchingIndexingMap(operand);
  if (map.getNumResults() < 2 ||
      map.getResults().back() != getAffineDimExpr(channel, op.getContext())) {
    reason = "channels are not innermost in the image and in results";
    return std::nullopt;
  }
  for (unsigned dim = map.getNumResults() - 1; dim-- > 0;) {
    SmallVector<int64_t> factors;
    if (failed(getFlattenedAffineExpr(map.getResult(dim), map.getNumDims(), 0, &factors)) ||
        factors.size() != map.getNumDims() + 1) {
      reason = "the image's indices are no sums of loops";
      return std::nullopt;
    }
    SmallVector<unsigned, 2> positions, taps;
    for (unsigned loop = 0; loop < map.getNumDims(); ++loop)
      if (factors[loop] != 0)
        (isPosition(loop) ? positions : taps).push_back(loop);
    if (positions.empty() || taps.empty())
      continue;
    if (positions.size() > 1 || taps.size() > 1 || factors[positions[0]] < 1) {
      reason = "the image's indices are not those of windows";
      return std::nullopt;
    }
    return WindowImage{
        operand,          dim,           positions[0], taps[0], factors[positions[0]],
        factors[taps[0]], factors.back()};
  }
  reason = "windows slide over no dim but the innermost one";
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

Value combineLeaf(PointEmitter &points, const Combiner &combiner, Value sum, Value leaf) {
  auto product = leaf.getDefiningOp<arith::MulFOp>();
  if (product && plan::matchProduct(combiner.getOp()))
    return math::FmaOp::create(points.builder, points.loc, product.getLhs(), product.getRhs(), sum);
  return combineInOrder(points.builder, points.loc, combiner, sum, leaf).front();
}

bool WindowLoader::isRagged() const {
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
  auto pad = tensor.getDefiningOp<tensor::PadOp>();
  if (getKnownPadding(pad))
    return emitPadded(pad, coords, column);
  return splatTo(points.builder, points.loc, points.emit(tensor, Point{coords, {}, lanes, {}}),
                 lanes);
}

} // namespace xc::cuda
