//===- SpreadConv.cpp - Convolutions of spread inputs, phase by phase -----===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Array/IR/SpreadConv.h"

#include "compiler/Dialect/Array/IR/PassAttributes.h"

#include "llvm/Support/MathExtras.h"

#include <numeric>

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

int64_t findDilatedPhase(const WindowDim &window, int64_t output) {
  // (D - 1 - r) * E = low - output, modulo D.
  int64_t spread = window.inputDilation;
  for (int64_t phase = 0; phase < spread; ++phase)
    if ((output - window.low + (spread - 1 - phase) * window.dilation) % spread == 0)
      return phase;
  llvm_unreachable("the spread and the dilation have a common divisor");
}

/// The spread dim of a dilated filter.
static SpreadDim describeDilated(const WindowDim &window, int64_t size, int64_t places) {
  int64_t spread = window.inputDilation;
  SpreadDim dim{spread, 0, 0, 0, 0, 0, 0, 0};
  dim.dilation = window.dilation;
  dim.isPart = true;
  dim.taps = llvm::divideCeil(window.size, spread);
  dim.after = spread * dim.taps - window.size;
  // Which elements the outputs of each phase begin with; further ones are as many elements further
  // as there are steps of the spread between them.
  int64_t least = 0, most = 0;
  for (int64_t output = 0; output < spread; ++output) {
    int64_t phase = findDilatedPhase(window, output);
    int64_t element = (output - window.low + (spread - 1 - phase) * window.dilation) / spread;
    least = output == 0 ? element : std::min(least, element);
    most = output == 0 ? element : std::max(most, element);
  }
  dim.low = -least;
  dim.spare = most - least;
  dim.positions = llvm::divideCeil(places, spread) + dim.spare;
  dim.high = dim.positions + (dim.taps - 1) * dim.dilation - size - dim.low;
  return dim;
}

std::optional<SmallVector<SpreadDim>> matchSpreadConv(ConvOp op) {
  ConvDimsAttr dims = op.getDims();
  int64_t features = op.getInput().getType().getDimSize(dims.inputDim(ConvDimsAttr::kFeature));
  bool hasOpenGroups = op.getFeatureGroups() != 1 && ShapedType::isDynamic(features);
  if (hasOpenGroups || op.getBatchGroups() != 1 || !isa<FloatType>(op.getType().getElementType()) ||
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
    bool isDilated = window.dilation != 1 && window.size != 1;
    if (window.stride != 1 || (isDilated && std::gcd(window.inputDilation, window.dilation) != 1))
      return std::nullopt;
    SpreadDim best =
        isDilated ? describeDilated(window, size, places) : describe(window, size, places, 0);
    // The shift under which phases have most taps in common.
    for (int64_t shift = 1; !isDilated && shift < window.inputDilation; ++shift)
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
