//===- SpreadConv.cpp - Convolutions of spread inputs, phase by phase -----===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Array/IR/SpreadConv.h"

#include "compiler/Dialect/Array/IR/PassAttributes.h"
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
  dim.isPart = shift != 0 || places % spread != 0;
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
    bool isSymbolic = ShapedType::isDynamic(size) || ShapedType::isDynamic(places);
    if (size == 0 || places == 0 || window.size == 0)
      return std::nullopt;
    if (window.inputDilation == 1) {
      if (window.low < 0 || window.high < 0)
        return std::nullopt;
      int64_t positions = isSymbolic ? ShapedType::kDynamic : places;
      result.push_back({1, 0, window.size, positions, window.low, window.high, 0, 0});
      continue;
    }
    // What does not depend on the size is that of any large one.
    constexpr int64_t anySize = 1 << 20;
    if (isSymbolic) {
      size = anySize;
      places = countPlaces(size, window);
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
    if (isSymbolic)
      best.positions = ShapedType::kDynamic;
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

Value findReversed(ConvOp op) {
  auto reverse = op.getFilter().getDefiningOp<ReverseOp>();
  return reverse && llvm::equal(reverse.getAxes(), getSpatialDims(op)) ? reverse.getOperand()
                                                                       : Value();
}

} // namespace xc::array
