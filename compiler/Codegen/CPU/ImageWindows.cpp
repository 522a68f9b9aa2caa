//===- ImageWindows.cpp - Windows that slide along the lanes --------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CPU/ImageWindows.h"

#include "compiler/Codegen/CPU/ReductionLowering.h"

#include "mlir/Analysis/FlatLinearValueConstraints.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace xc::cpu {

int64_t SlidingImage::getExtent(unsigned dim, int64_t rows, int64_t columns) const {
  const WindowReach &reach = dims[dim];
  size_t numKept = reach.factors.size();
  int64_t extent = 1 + reach.reach + reach.factors.back() * (columns - 1);
  return numKept < 2 ? extent : extent + reach.factors[numKept - 2] * (rows - 1);
}

SmallVector<unsigned> SlidingImage::getWideDims(int64_t rows, int64_t columns) const {
  SmallVector<unsigned> wide;
  for (unsigned dim = 0; dim < dims.size(); ++dim)
    if (dim + 1 == dims.size() || getExtent(dim, rows, columns) > 1)
      wide.push_back(dim);
  return wide;
}

SmallVector<int64_t> SlidingImage::getBandShape(int64_t rows, int64_t columns,
                                                int64_t lanes) const {
  SmallVector<int64_t> shape;
  for (unsigned dim : getWideDims(rows, columns))
    shape.push_back(getExtent(dim, rows, columns));
  int64_t step = getStep();
  // Where the first element is no multiple of a step, there is one more.
  shape.back() = llvm::alignTo(llvm::divideCeil(shape.back() + step - 1, step), lanes);
  if (step > 1)
    shape.insert(shape.end() - 1, step);
  return shape;
}

/// The factors of the dims of `expr`, and what it adds to them; nothing where it is not that.
static std::optional<SmallVector<int64_t>> getFactors(AffineExpr expr, unsigned numDims) {
  SmallVector<int64_t> factors;
  if (!expr || failed(getFlattenedAffineExpr(expr, numDims, 0, &factors)) ||
      factors.size() != numDims + 1)
    return std::nullopt;
  return factors;
}

static std::optional<WindowReach> getReach(const Step &step, unsigned numKept, AffineExpr expr) {
  std::optional<SmallVector<int64_t>> factors =
      getFactors(expr, linalg::GenericOp(step.reduction).getNumLoops());
  if (!factors)
    return std::nullopt;
  WindowReach reach{SmallVector<int64_t>(numKept), factors->back(), 0};
  for (auto [loop, dim] : llvm::enumerate(step.getInverse())) {
    if (dim < numKept) {
      reach.factors[dim] = (*factors)[loop];
      continue;
    }
    // In range: an index of the image.
    int64_t span = (*factors)[loop] * (*step.sizes[dim].asConstant() - 1);
    reach.least += std::min<int64_t>(span, 0);
    reach.reach += std::abs(span);
  }
  return reach;
}

/// Whether the elements that lanes along `lane` read are one, or side by side.
static bool isVector(const Access &access, unsigned lane, unsigned numDims) {
  if (access.indices.empty())
    return true;
  for (AffineExpr index : ArrayRef(access.indices).drop_back())
    if (!index || index.isFunctionOfDim(lane))
      return false;
  std::optional<SmallVector<int64_t>> factors = getFactors(access.indices.back(), numDims);
  return factors && ((*factors)[lane] == 0 || (*factors)[lane] == 1);
}

static bool hasVectors(const AccessSummary &summary, unsigned lane) {
  unsigned numDims = summary.guarded.size();
  return !summary.unsupported && !summary.guarded[lane] &&
         llvm::all_of(summary.accesses,
                      [&](const Access &access) { return isVector(access, lane, numDims); });
}

bool canReadVectors(Value tensor) {
  unsigned rank = cast<RankedTensorType>(tensor.getType()).getRank();
  SmallVector<AffineExpr> dims;
  for (unsigned dim = 0; dim < rank; ++dim)
    dims.push_back(getAffineDimExpr(dim, tensor.getContext()));
  AccessSummary summary(rank);
  summarize(tensor, dims, {}, summary);
  return hasVectors(summary, rank - 1);
}

/// Whether the group sums up windows of few taps, and computes nothing else than what each point
/// needs after that.
static bool reducesWindows(const ReductionGroup &group) {
  unsigned numKept = group.getNumKept();
  const Step &first = group.steps.front();
  if (!first.reduction || first.dims.size() == numKept || !group.keptValues.empty())
    return false;
  int64_t taps = 1;
  for (plan::FormulaAttr size : ArrayRef(first.sizes).drop_front(numKept)) {
    std::optional<int64_t> count = size.asConstant();
    if (!count || *count < 1 || *count > kPartSteps)
      return false;
    taps *= *count; // in range: stops at the first that is more
    if (taps > kPartSteps)
      return false;
  }
  bool gathers = linalg::GenericOp(first.reduction)
                     .getBody()
                     ->walk([](tensor::ExtractOp) { return WalkResult::interrupt(); })
                     .wasInterrupted();
  return !gathers && *first.sizes.back().asConstant() <= kUnrolledSteps &&
         llvm::all_of(ArrayRef(group.steps).drop_front(), [&](const Step &step) {
           return !step.reduction && step.phase > 0 && step.dims.size() == numKept &&
                  hasVectors(step.summary, numKept - 1);
         });
}

/// The operand as an image; fails where windows do not slide along the last dim of it alone.
static FailureOr<SlidingImage> matchImage(const Step &step, unsigned numKept, OpOperand &operand,
                                          AffineMap map) {
  SlidingImage image{&operand, {}};
  for (AffineExpr expr : map.getResults()) {
    std::optional<WindowReach> reach = getReach(step, numKept, expr);
    if (!reach)
      return failure();
    image.dims.push_back(std::move(*reach));
  }
  if (image.dims.empty())
    return failure();
  for (auto [dim, reach] : llvm::enumerate(image.dims)) {
    constexpr int64_t mostSteps = 16; // vectors are as many times as wide while they are copied
    bool isLast = dim + 1 == image.dims.size();
    ArrayRef<int64_t> outer = ArrayRef(reach.factors).drop_back();
    int64_t lane = reach.factors.back();
    if (isLast ? lane < 1 || lane > mostSteps ||
                     llvm::any_of(outer, [](int64_t factor) { return factor != 0; })
               : lane != 0 || (!outer.empty() && outer.back() < 0))
      return failure();
  }
  return image;
}

FailureOr<SmallVector<SlidingImage>> matchSlidingImages(const ReductionGroup &group) {
  unsigned numKept = group.getNumKept();
  if (numKept == 0 || group.keptSizes.back().asConstant() == 1 || !reducesWindows(group))
    return failure();
  const Step &step = group.steps.front();
  linalg::GenericOp op = step.reduction;
  SmallVector<unsigned> inverse = step.getInverse();
  SmallVector<AffineExpr> loops = llvm::map_to_vector(
      inverse, [&](unsigned position) { return getAffineDimExpr(position, op.getContext()); });
  SmallVector<SlidingImage> images;
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<ShapedType>(operand.get().getType()) ||
        (op.isDpsInput(&operand) && op.getMatchingBlockArgument(&operand).use_empty()))
      continue;
    AffineMap map = op.getMatchingIndexingMap(&operand);
    AccessSummary summary(step.dims.size());
    SmallVector<AffineExpr> indices = llvm::map_to_vector(
        map.getResults(), [&](AffineExpr expr) { return expr.replaceDims(loops); });
    summarize(operand.get(), indices, {}, summary);
    bool slides = !indices.empty() && indices.back().isFunctionOfDim(numKept - 1) &&
                  !isa<AffineDimExpr>(indices.back());
    if (!slides && hasVectors(summary, numKept - 1))
      continue;
    FailureOr<SlidingImage> image = matchImage(step, numKept, operand, map);
    if (failed(image) || op.isDpsInit(&operand))
      return failure();
    images.push_back(std::move(*image));
  }
  if (images.empty())
    return failure();
  return images;
}

} // namespace xc::cpu
