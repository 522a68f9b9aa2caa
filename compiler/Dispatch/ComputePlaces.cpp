//===- ComputePlaces.cpp - Compute places instead of looking them up ------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A resize of known sizes reads at places that constants list. On a target where a thread has a few
// elements, each load of a place is a load that others wait for, and nobody can tell which results
// read the same elements. Where the listed places go up evenly, they become arithmetic on the index
// of their loop (RegularPlaces.h).
//
// How steep they are is guessed from the sizes: those of a resize by centers or by corners. Then
// each entry bounds the offset, and any offset within all bounds gives exactly the listed places.
//
//===----------------------------------------------------------------------===//

#include "compiler/Dispatch/ComputePlaces.h"

#include "compiler/Dispatch/DispatchTarget.h"
#include "compiler/Dispatch/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/Support/MathExtras.h"

#include <limits>
#include <numeric>

namespace xc::plan {
#define GEN_PASS_DEF_COMPUTEPLACES
#include "compiler/Dispatch/Passes.h.inc"
} // namespace xc::plan

using namespace mlir;

namespace xc::plan {

namespace {

/// Places along a dim of `size` elements, one for each index of a loop.
struct ListedPlaces {
  unsigned loop;
  int64_t size;
  SmallVector<int64_t> places;
};

} // namespace

/// What `index` of a body is for each entry of a constant list, if it is one of its numbers, moved
/// into some range.
static std::optional<ListedPlaces> getListedPlaces(linalg::GenericOp op, Value index) {
  SmallVector<Operation *> chain;
  auto argument = dyn_cast<BlockArgument>(index);
  while (!argument) {
    Operation *moving = index.getDefiningOp();
    APInt limit;
    bool isLimit = isa<arith::MinSIOp, arith::MaxSIOp>(moving) &&
                   matchPattern(moving->getOperand(1), m_ConstantInt(&limit));
    if (!isLimit && !isa<arith::IndexCastOp>(moving))
      return std::nullopt;
    chain.push_back(moving);
    index = moving->getOperand(0);
    argument = dyn_cast<BlockArgument>(index);
  }
  if (argument.getOwner() != op.getBody())
    return std::nullopt;
  OpOperand *operand = op.getMatchingOpOperand(argument);
  DenseIntElementsAttr list;
  AffineMap map = op.getMatchingIndexingMap(operand);
  if (!op.isDpsInput(operand) || map.getNumResults() != 1 ||
      !isa<AffineDimExpr>(map.getResult(0)) || !matchPattern(operand->get(), m_Constant(&list)))
    return std::nullopt;
  ListedPlaces listed{map.getDimPosition(0), 0, {}};
  for (const APInt &entry : list) {
    int64_t place = entry.getSExtValue();
    for (Operation *moving : llvm::reverse(chain)) {
      APInt limit;
      if (isa<arith::IndexCastOp>(moving))
        continue;
      matchPattern(moving->getOperand(1), m_ConstantInt(&limit));
      place = isa<arith::MinSIOp>(moving) ? std::min(place, limit.getSExtValue())
                                          : std::max(place, limit.getSExtValue());
    }
    listed.places.push_back(place);
  }
  return listed;
}

/// The listed places as those that go up by scale / divisor each; `wanted` are offsets to prefer.
static std::optional<RegularPlace> fitPlaces(const ListedPlaces &listed, int64_t scale,
                                             int64_t divisor, ArrayRef<int64_t> wanted) {
  if (scale < 1 || divisor < 1)
    return std::nullopt;
  int64_t common = std::gcd(scale, divisor), last = listed.size - 1;
  scale /= common;
  divisor /= common;
  auto count = static_cast<int64_t>(listed.places.size());
  int64_t low = -count * scale - 2 * divisor; // in range: sizes are at most kMostPlaces
  int64_t high = (last + 2) * divisor;        // in range, as above
  // place * divisor <= i * scale + offset < (place + 1) * divisor; the first place stands for all
  // below it, and the last one for those beyond.
  for (auto [i, place] : llvm::enumerate(listed.places)) {
    int64_t at = static_cast<int64_t>(i) * scale;
    if (place > 0)
      low = std::max(low, place * divisor - at);
    if (place < last)
      high = std::min(high, (place + 1) * divisor - 1 - at);
  }
  if (low > high)
    return std::nullopt;
  int64_t offset = low;
  for (int64_t each : wanted) {
    // The nearest one that differs by whole places.
    int64_t own = llvm::divideFloorSigned(each, common);
    int64_t moved = own + llvm::divideCeilSigned(low - own, divisor) * divisor;
    if (moved <= high) {
      offset = moved;
      break;
    }
  }
  RegularPlace place{};
  place.loop = listed.loop;
  place.scale = scale;
  place.divisor = divisor;
  place.shift = llvm::divideFloorSigned(offset, divisor);
  place.offset = offset - place.shift * divisor;
  // Of all places of the dim, so that those which meet are the same value whichever list they are
  // of; limits that never matter are dropped where indices are known.
  place.lowest = 0;
  place.highest = last;
  // Indices may have 32 bits.
  if ((count - 1) * scale + place.offset > std::numeric_limits<int32_t>::max())
    return std::nullopt;
  for (auto [i, each] : llvm::enumerate(listed.places))
    if (place.evaluate(static_cast<int64_t>(i)) != each)
      return std::nullopt;
  return place;
}

/// The largest sizes of which products fit.
static constexpr int64_t kMostPlaces = int64_t(1) << 24;

static std::optional<RegularPlace> findPlaces(const ListedPlaces &listed) {
  auto count = static_cast<int64_t>(listed.places.size());
  int64_t size = listed.size;
  if (count < 2 || size < 1 || count > kMostPlaces || size > kMostPlaces)
    return std::nullopt;
  // By centers: ((2 i + 1) size - count) / (2 count), and half a place more
  // for the nearest one.
  int64_t scale = 2 * size, divisor = 2 * count; // in range: both are at most kMostPlaces
  auto byCenters = fitPlaces(listed, scale, divisor, {size - count, size, 0});
  auto byCorners = fitPlaces(listed, size - 1, count - 1, {0});
  // Short lists may be both. More of the neighbours are told apart by constants the shorter one.
  if (!byCenters || (byCorners && byCorners->getPeriod() < byCenters->getPeriod()))
    return byCorners;
  return byCenters;
}

std::optional<RegularPlace> findListedPlace(linalg::GenericOp op, Value index, int64_t size) {
  std::optional<ListedPlaces> listed = getListedPlaces(op, index);
  if (!listed || ShapedType::isDynamic(size))
    return std::nullopt;
  listed->size = size;
  return findPlaces(*listed);
}

static bool computePlaces(linalg::GenericOp op) {
  SmallVector<tensor::ExtractOp> extracts;
  op.getBody()->walk([&](tensor::ExtractOp extract) { extracts.push_back(extract); });
  bool changed = false;
  llvm::DenseMap<Value, Value> computed;
  for (tensor::ExtractOp extract : extracts)
    for (OpOperand &index : extract.getIndicesMutable()) {
      Value &found = computed[index.get()];
      unsigned dim = index.getOperandNumber() - 1;
      auto type = cast<RankedTensorType>(extract.getTensor().getType());
      if (!found) {
        std::optional<RegularPlace> place = findListedPlace(op, index.get(), type.getDimSize(dim));
        if (!place)
          continue;
        auto builder = OpBuilder::atBlockBegin(op.getBody());
        found = buildPlace(builder, extract.getLoc(), *place);
      }
      index.set(found);
      changed = true;
    }
  return changed;
}

namespace {

struct ComputePlaces final : impl::ComputePlacesBase<ComputePlaces> {
  void runOnOperation() override {
    if (!getDispatchTarget(getOperation()).computesPlaces())
      return;
    bool changed = false;
    getOperation().walk([&](linalg::GenericOp op) { changed |= computePlaces(op); });
    if (!changed)
      return;
    // The lists are not read any more.
    RewritePatternSet patterns(&getContext());
    linalg::populateEraseUnusedOperandsAndResultsPatterns(patterns);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace

} // namespace xc::plan
