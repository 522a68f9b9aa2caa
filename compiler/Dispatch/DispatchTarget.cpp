//===- DispatchTarget.cpp - How kernels of CPUs and NVIDIA GPUs work ------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Dispatch/DispatchTarget.h"

#include "compiler/Dialect/Kernel/IR/KernelOps.h"
#include "compiler/Dialect/Plan/IR/PlanOps.h"
#include "compiler/Dialect/Plan/IR/Products.h"
#include "compiler/Dispatch/DispatchGroupLimits.h"

using namespace mlir;

namespace xc::plan {

namespace {

/// A workgroup is one thread, which goes through its rows alone and vectorizes its innermost loop.
class CPUDispatchTarget final : public DispatchTarget {
public:
  bool appliesUpdatesInOrder() const override { return true; }
  bool vectorizesResults() const override { return true; }
  bool attendsInBlocks(kernel::AttentionOp op) const override;
  ScoreCosts getScoreCosts(StringRef arch) const override;

  bool storesTransposed(linalg::LinalgOp window) const override;
  double estimateLayoutGain(const ConvolutionLayout &layout) const override;
};

/// The threads of a block share its rows.
class CUDADispatchTarget final : public DispatchTarget {
public:
  bool threadsHoldRows() const override { return true; }
  bool joinsReductions() const override { return true; }
  bool sortsUpdates() const override { return true; }
  bool storesBoxes(Operation *op) const override { return isa<linalg::LinalgOp>(op); }
  bool storesApart() const override { return true; }
  bool mergesProducts() const override { return true; }
  bool readsAcrossSums() const override { return true; }
  bool loadsBeforeWaiting() const override { return true; }
  bool computesPlaces() const override { return true; }
  bool mayComputeOperand(linalg::LinalgOp product, Value operand) const override;
  double estimateLayoutGain(const ConvolutionLayout &layout) const override;
  double estimateResultGain(const ConvolutionLayout &layout) const override;
};

} // namespace

bool DispatchTarget::storesBoxes(Operation *op) const { return isElementwise(op); }

bool DispatchTarget::attendsInBlocks(kernel::AttentionOp) const { return false; }

/// An H200 does 30e12 ops and moves 4.8e12 bytes in a second; a launch takes 2 us. Where threads
/// load a mask, attention of 64 elements takes as long as for 20 more ops a score; boxes of it come
/// beside the arithmetic (AttentionProblem.cpp). The code for all scores that a thread holds has no
/// loop.
DispatchTarget::ScoreCosts DispatchTarget::getScoreCosts(StringRef arch) const {
  return {/*perByte=*/6,
          /*perCopiedByte=*/3,
          /*perRead=*/20,
          /*perGather=*/12,
          /*perLaunch=*/6e7,
          /*mostOps=*/64,
          /*copiesMasks=*/arch == "sm_90a"};
}

/// A thread has 16 lanes twice in a cycle and 4 bytes, and a launch takes 2 us. The queries of a
/// block are lanes, so elements of a mask, or a table, are loaded one by one.
DispatchTarget::ScoreCosts CPUDispatchTarget::getScoreCosts(StringRef) const {
  return {/*perByte=*/8,        /*perCopiedByte=*/8, /*perRead=*/32,
          /*perGather=*/32,     /*perLaunch=*/4e5,   /*mostOps=*/256,
          /*copiesMasks=*/false};
}

bool CPUDispatchTarget::storesTransposed(linalg::LinalgOp window) const {
  // Columns of a product, which are transposed square by square.
  constexpr int64_t fewestColumns = 16;
  std::optional<ProductLoops> loops = matchProduct(window);
  SmallVector<int64_t> ranges = window.getStaticLoopRanges();
  return loops && !loops->m.empty() && loops->n.size() == 1 &&
         ranges[loops->n[0]] >= fewestColumns &&
         llvm::all_of(loops->batch, [&](unsigned loop) { return ranges[loop] == 1; });
}

/// Measured on AVX-512, where two threads transpose five elements in a nanosecond.
double CPUDispatchTarget::estimateLayoutGain(const ConvolutionLayout &layout) const {
  if (layout.isDepthwise) {
    // Both are as fast, but for the lanes past the end of a row, and a copy of the image.
    constexpr int64_t lanes = 16;
    constexpr double time = 0.045, copyTime = 0.03;
    double rest = llvm::alignTo(layout.rowPlaces, lanes) / double(layout.rowPlaces) - 1;
    return layout.operations * rest * time + layout.imageElements * copyTime;
  }
  if (layout.isPointwise) {
    // Both are products. With channels first each call packs the filter, and the image twice.
    constexpr double fewestPlaces = 16, filterTime = 0.6, imageTime = 0.2;
    return layout.places < fewestPlaces
               ? 0
               : layout.fixedFilterElements * filterTime + layout.imageElements * imageTime;
  }
  // With its channels first it is not vectorized (2.5 GFLOP/s instead of 45 to 130).
  constexpr double gain = 1.5;
  return layout.operations * gain;
}

bool CPUDispatchTarget::attendsInBlocks(kernel::AttentionOp op) const {
  // Those of one block of queries are in scratch memory; longer vectors are rare.
  constexpr int64_t mostElements = 512;
  auto isVector = [](int64_t size) {
    return !ShapedType::isDynamic(size) && size > 0 && size <= mostElements;
  };
  return isVector(op.getQueryType().getShape().back()) &&
         isVector(op.getValueType().getShape().back());
}

bool CUDADispatchTarget::mayComputeOperand(linalg::LinalgOp product, Value operand) const {
  // How often a product on tensor cores may use an element that is computed while it is loaded, and
  // how many terms its sums may have. Its kernel does not copy that operand asynchronously then,
  // and not by wgmma: at half the speed, 512 products take 2 ps longer than before, in which the
  // element is written and re-read; and each 32 terms wait for memory anew, 0.3 to 0.9 us on an
  // H200, where a kernel that computes all of the operand begins in 2.
  constexpr int64_t mostUses = 512, mostTerms = 128;
  return !isTensorCoreProduct(product) ||
         (countUses(product, operand) <= mostUses && countTerms(product) <= mostTerms);
}

/// True where the channels of a pixel are whole vectors, and tensor cores do not take them anyway.
static bool gainsVectors(const ConvolutionLayout &layout) {
  constexpr int64_t vectorBytes = 16;
  return layout.isProduct && !layout.sumsPositions && layout.channelBytes &&
         *layout.channelBytes % vectorBytes == 0;
}

double CUDADispatchTarget::estimateLayoutGain(const ConvolutionLayout &layout) const {
  // With channels first, tiles are loaded element by element instead of in 16 bytes; an estimate.
  // Those of a filter of one tap are loaded in vectors of places. Plain arithmetic takes so long
  // that it hardly waits for them: by its model, 9 % of a convolution, and 1 % of a gradient to a
  // filter.
  constexpr double tensorCoreGain = 1.0 / 256, pointwiseGain = 1.0 / 512, plainGain = 1.0 / 512,
                   plainAcrossGain = 1.0 / 3072;
  if (layout.isPointwise)
    return gainsVectors(layout) && layout.isTensorCoreProduct ? layout.operations * pointwiseGain
                                                              : 0;
  // A filter of groups alone: what is small beside the rest, and then read in vectors.
  bool gains = !layout.sumsPositions && (layout.movesGroupsOnly || gainsVectors(layout));
  if (!gains)
    return 0;
  return layout.operations * (layout.isTensorCoreProduct || layout.movesGroupsOnly ? tensorCoreGain
                              : layout.isAcross                                    ? plainAcrossGain
                                                                                   : plainGain);
}

double CUDADispatchTarget::estimateResultGain(const ConvolutionLayout &layout) const {
  // wgmma instead of mma.sync: by the models of both, convolutions of ResNet-50 then take 5 to 30
  // us less; a transpose moves a million 16-bit elements in 1.3.
  constexpr double gain = 1.0 / 512;
  return gainsVectors(layout) && layout.isTensorCoreProduct ? layout.operations * gain : 0;
}

const DispatchTarget &getDispatchTarget(Operation *op) {
  static const DispatchTarget unknown;
  static const CPUDispatchTarget cpu;
  static const CUDADispatchTarget cuda;
  TargetAttr target = getTarget(op);
  if (!target)
    return unknown;
  return target.isCUDA() ? static_cast<const DispatchTarget &>(cuda) : cpu;
}

} // namespace xc::plan
