//===- WindowStrips.cpp - Windows of neighbours that share their elements -===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Window/WindowStrips.h"

#include "compiler/Codegen/CUDA/Common/OutputPlaces.h"
#include "compiler/Dialect/Plan/IR/Reductions.h"

using namespace mlir;

namespace xc::cuda {

static int64_t getRange(linalg::LinalgOp op, unsigned loop) {
  return op.getStaticLoopRanges()[loop];
}

int64_t WindowStrips::countTaps() const { return getRange(getOp(), image.tap); }

int64_t WindowStrips::countElements() const {
  int64_t count = countTaps();
  for (unsigned loop : outerTaps)
    count *= getRange(getOp(), loop);
  return count;
}

int64_t WindowStrips::countColumns(int64_t positions) const {
  return (positions - 1) * image.stride + (countTaps() - 1) * std::abs(image.dilation) + 1;
}

namespace {

class StripMatcher {
public:
  StripMatcher(const KernelInfo &kernel, std::string &reason) : kernel(kernel), reason(reason) {}

  std::optional<WindowStrips> match();

private:
  bool refuse(const Twine &why) {
    reason = why.str();
    return false;
  }
  bool followsElementwise(linalg::LinalgOp op);
  void sortLoops(WindowStrips &strips);
  bool checkOthers(const WindowStrips &strips);
  std::optional<WindowDim> matchSharedRows(const WindowStrips &strips);

  const KernelInfo &kernel;
  std::string &reason;
};

} // namespace

/// True if all that reads the result of `op` does so element by element, and nothing else is
/// stored.
bool StripMatcher::followsElementwise(linalg::LinalgOp op) {
  llvm::SmallPtrSet<Operation *, 8> following{op};
  for (Operation *other : kernel.tensorOps) {
    // It only says where an output goes.
    if (isa<kernel::UpdateOp>(other))
      continue;
    auto linalgOp = dyn_cast<linalg::LinalgOp>(other);
    bool follows = false;
    for (OpOperand &operand : other->getOpOperands()) {
      if (!following.contains(operand.get().getDefiningOp()))
        continue;
      if (!linalgOp || linalgOp.getNumReductionLoops() > 0 ||
          !linalgOp.getMatchingIndexingMap(&operand).isIdentity())
        return refuse("what follows is not element by element");
      follows = true;
    }
    if (!follows)
      continue;
    for (AffineMap map : linalgOp.getIndexingMapsArray())
      if (map.getNumDims() != linalgOp.getNumParallelLoops())
        return refuse("what follows is not element by element");
    for (OpOperand &init : linalgOp.getDpsInitsMutable())
      if (!linalgOp.getMatchingIndexingMap(&init).isIdentity())
        return refuse("results are stored in another order");
    following.insert(other);
  }
  for (const KernelOutput &output : kernel.outputs)
    if (output.spread || !hasKnownPlace(output) ||
        !following.contains(output.tensor.getDefiningOp()))
      return refuse("it has other results");
  return true;
}

void StripMatcher::sortLoops(WindowStrips &strips) {
  linalg::LinalgOp op = strips.getOp();
  AffineMap result = op.getIndexingMapMatchingResult(op->getResult(0)),
            map = op.getMatchingIndexingMap(strips.image.operand);
  for (AffineExpr expr : llvm::drop_end(result.getResults()))
    if (unsigned loop = cast<AffineDimExpr>(expr).getPosition(); loop != strips.image.along)
      strips.outer.push_back(loop);
  // Rows of the image are what windows slide over, too.
  bool isWindowed = !strips.outer.empty() && llvm::any_of(map.getResults(), [&](AffineExpr expr) {
    return !isa<AffineDimExpr>(expr) && expr.isFunctionOfDim(strips.outer.back());
  });
  if (isWindowed)
    strips.rows = strips.outer.pop_back_val();
  SmallVector<unsigned> reduced;
  op.getReductionDims(reduced);
  for (unsigned loop : reduced)
    if (loop != strips.image.tap)
      strips.outerTaps.push_back(loop);
}

/// What else is read is the same for all positions of a strip.
bool StripMatcher::checkOthers(const WindowStrips &strips) {
  linalg::LinalgOp op = strips.getOp();
  for (OpOperand *input : op.getDpsInputOperands())
    if (input != strips.image.operand &&
        op.getMatchingIndexingMap(input).isFunctionOfDim(strips.image.along))
      return refuse("positions of a strip differ in more than the image");
  return true;
}

static bool isPositionOf(linalg::LinalgOp op, unsigned loop) {
  return op.getIteratorTypesArray()[loop] == utils::IteratorType::parallel;
}

std::optional<WindowDim> StripMatcher::matchSharedRows(const WindowStrips &strips) {
  linalg::LinalgOp op = strips.getOp();
  bool startFilled = llvm::all_of(op.getDpsInits(), [](Value init) {
    return static_cast<bool>(init.getDefiningOp<linalg::FillOp>());
  });
  if (!strips.rows || strips.outerTaps.size() != 1 || !startFilled)
    return std::nullopt;
  for (OpOperand *input : op.getDpsInputOperands())
    if (input != strips.image.operand &&
        op.getMatchingIndexingMap(input).isFunctionOfDim(*strips.rows))
      return std::nullopt;
  AffineMap map = op.getMatchingIndexingMap(strips.image.operand);
  for (unsigned dim = 0; dim < map.getNumResults(); ++dim) {
    std::string unused;
    std::optional<WindowDim> found =
        matchWindowDim(map, dim, [&](unsigned loop) { return isPositionOf(op, loop); }, unused);
    if (!found || found->along != *strips.rows || found->tap != strips.outerTaps.front())
      continue;
    // Windows of neighbours overlap, and each row of the image is a tap of all that reach it.
    bool isShared = std::abs(found->dilation) == 1 && found->stride < getRange(op, found->tap);
    return isShared ? found : std::nullopt;
  }
  return std::nullopt;
}

std::optional<WindowStrips> StripMatcher::match() {
  SmallVector<linalg::LinalgOp> reductions = kernel.getReductions();
  if (reductions.size() != 1) {
    refuse("there is more than one reduction");
    return std::nullopt;
  }
  linalg::LinalgOp op = reductions.front();
  AffineMap result = op.getIndexingMapMatchingResult(op->getResult(0));
  FailureOr<Combiner> combiner = Combiner::match(op);
  SmallVector<unsigned> reduced;
  op.getReductionDims(reduced);
  bool isPlain = succeeded(combiner) && plan::countCyclicParts(op) == 0 && !plan::getRowPart(op) &&
                 !plan::getColumnPart(op) && result.isProjectedPermutation() &&
                 result.getNumResults() >= 2 &&
                 result.getNumResults() == op.getNumParallelLoops() &&
                 llvm::all_of(op->getResults(), [&](OpResult other) {
                   return op.getIndexingMapMatchingResult(other) == result;
                 });
  if (!isPlain || llvm::any_of(reduced, [&](unsigned loop) {
        return ShapedType::isDynamic(getRange(op, loop));
      })) {
    refuse("it is no reduction of windows of known size");
    return std::nullopt;
  }
  unsigned channel = cast<AffineDimExpr>(result.getResults().back()).getPosition();
  if (ShapedType::isDynamic(getRange(op, channel))) {
    refuse("the number of channels is not known");
    return std::nullopt;
  }
  std::optional<WindowImage> image =
      matchWindowImage(op, channel, [&](unsigned loop) { return isPositionOf(op, loop); }, reason);
  if (!image)
    return std::nullopt;
  WindowStrips strips{*combiner, *image, channel, {}, {}, {}, {}};
  sortLoops(strips);
  strips.sharedRows = matchSharedRows(strips);
  if (strips.countTaps() > kLongestRow) {
    refuse("windows are long");
    return std::nullopt;
  }
  if (!checkOthers(strips) || !followsElementwise(op))
    return std::nullopt;
  return strips;
}

std::optional<WindowStrips> matchWindowStrips(const KernelInfo &kernel, std::string &reason) {
  return StripMatcher(kernel, reason).match();
}

} // namespace xc::cuda
