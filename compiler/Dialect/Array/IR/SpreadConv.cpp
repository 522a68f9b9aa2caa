//===- SpreadConv.cpp - Convolutions of spread inputs, phase by phase -----===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Array/IR/SpreadConv.h"

#include "compiler/Dialect/Array/IR/Demands.h"
#include "compiler/Dialect/Array/IR/ExpressionBuilder.h"
#include "compiler/Dialect/Array/IR/Windows.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace xc::array {

/// The spread dim where outputs are numbered from `shift` on.
static SpreadDim describe(const WindowDim &window, int64_t size, int64_t places, int64_t shift) {
  int64_t spread = window.inputDilation, low = window.low + shift;
  // Output i * D + r reads element i + a at tap D * a - r + low.
  int64_t first = -llvm::divideFloorSigned(low, spread),
          last = llvm::divideFloorSigned(window.size - 1 - low + spread - 1, spread);
  SpreadDim dim{spread, shift, last - first + 1, 0, -first, 0, 0, 0};
  dim.positions = llvm::divideCeil(places + shift, spread);
  dim.high = dim.positions + dim.taps - 1 - size - dim.low;
  dim.before = -(spread * first - (spread - 1) + low);
  dim.after = spread * dim.taps - dim.before - window.size;
  return dim;
}

std::optional<SmallVector<SpreadDim>> matchSpreadConv(ConvOp op) {
  ConvDimsAttr dims = op.getDims();
  if (op.getFeatureGroups() != 1 || op.getBatchGroups() != 1 ||
      !isa<FloatType>(op.getType().getElementType()) ||
      op.getAlgorithm() == ConvAlgorithm::Winograd || !op.getFilter().getType().hasStaticShape() ||
      op->hasAttr(kFirstPlacesAttr))
    return std::nullopt;
  SmallVector<SpreadDim> result;
  bool isSpread = false;
  for (auto [spatial, window] : llvm::enumerate(op.getWindow())) {
    int64_t size = op.getInput().getType().getDimSize(dims.inputDim(spatial)),
            places = op.getType().getDimSize(dims.outputDim(spatial));
    if (ShapedType::isDynamic(size) || ShapedType::isDynamic(places) || size == 0 || places == 0 ||
        window.size == 0)
      return std::nullopt;
    if (window.inputDilation == 1) {
      if (window.low < 0 || window.high < 0)
        return std::nullopt;
      result.push_back({1, 0, window.size, places, window.low, window.high, 0, 0});
      continue;
    }
    isSpread = true;
    if (window.stride != 1 || (window.dilation != 1 && window.size != 1))
      return std::nullopt;
    // The shift under which phases have most taps in common.
    SpreadDim best = describe(window, size, places, 0);
    for (int64_t shift = 1; shift < window.inputDilation; ++shift)
      if (SpreadDim other = describe(window, size, places, shift); other.taps < best.taps)
        best = other;
    if (best.low < 0 || best.high < 0)
      return std::nullopt;
    result.push_back(best);
  }
  return isSpread ? std::optional(result) : std::nullopt;
}

/// The filter's, in its order.
static SmallVector<int64_t> getSpatialDims(ConvOp op) {
  SmallVector<int64_t> positions;
  for (int64_t spatial = 0; spatial < op.getDims().getSpatialRank(); ++spatial)
    positions.push_back(op.getDims().filterDim(spatial));
  llvm::sort(positions);
  return positions;
}

/// What the filter is the reverse of along all spatial dims; null if it is not reversed so.
static Value findReversed(ConvOp op) {
  auto reverse = op.getFilter().getDefiningOp<ReverseOp>();
  return reverse && llvm::equal(reverse.getAxes(), getSpatialDims(op)) ? reverse.getOperand()
                                                                       : Value();
}

Value buildPhaseFilter(ConvOp op, OpBuilder &builder, ArrayRef<SpreadDim> spread) {
  ExpressionBuilder e(builder, op.getLoc());
  ConvDimsAttr dims = op.getDims();
  // A gradient's filter is reversed already: reversed as a whole its phases are in order, and its
  // taps are not.
  Value w = op.getFilter();
  Value origin = findReversed(op);
  if (origin)
    w = origin;
  int64_t rank = op.getFilter().getType().getRank();
  SmallVector<int64_t> low(rank, 0), high(rank, 0);
  // Where each dim of the filter, and its phases, come after they are split.
  SmallVector<int64_t> shape, places(rank), phasePlaces(rank, -1);
  for (auto [spatial, dim] : llvm::enumerate(spread)) {
    low[dims.filterDim(spatial)] = origin ? dim.after : dim.before;
    high[dims.filterDim(spatial)] = origin ? dim.before : dim.after;
  }
  for (int64_t position = 0; position < rank; ++position) {
    places[position] = shape.size();
    const SpreadDim *dim = nullptr;
    for (auto [spatial, candidate] : llvm::enumerate(spread))
      if (dims.filterDim(spatial) == position && candidate.spread != 1)
        dim = &candidate;
    if (!dim) {
      shape.push_back(op.getFilter().getType().getDimSize(position));
      continue;
    }
    shape.push_back(dim->taps);
    phasePlaces[position] = shape.size();
    shape.push_back(dim->spread);
  }
  Type element = op.getFilter().getType().getElementType();
  w = e.make<PadOp>(w, e.scalar(0, w), low, high, DenseI64ArrayAttr());
  w = e.make<ReshapeOp>(RankedTensorType::get(shape, element), w, ValueRange());
  SmallVector<int64_t> permutation;
  for (int64_t position = 0; position < rank; ++position) {
    if (position == dims.filterDim(ConvDimsAttr::kFilterOutput))
      for (size_t spatial = 0; spatial < spread.size(); ++spatial)
        if (int64_t place = phasePlaces[dims.filterDim(spatial)]; place >= 0)
          permutation.push_back(place);
    permutation.push_back(places[position]);
  }
  if (!llvm::is_sorted(permutation))
    w = e.make<TransposeOp>(w, permutation);
  // Last, so that the filter is in memory as its convolution reads it: a transpose alone is not.
  SmallVector<int64_t> parts(phasePlaces), reversed;
  if (origin)
    parts = llvm::map_to_vector(getSpatialDims(op), [&](int64_t dim) { return places[dim]; });
  for (auto [position, place] : llvm::enumerate(permutation))
    if (llvm::is_contained(parts, place))
      reversed.push_back(position);
  return e.make<ReverseOp>(w, reversed);
}

} // namespace xc::array
