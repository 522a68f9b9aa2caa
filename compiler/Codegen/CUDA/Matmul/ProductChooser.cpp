//===- ProductChooser.cpp - Configurations of a matrix product ------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The models of the strategies rank the configurations of a product; a configuration that was given
// is checked by what it needs of the target and of the operands.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Matmul/ProductChooser.h"

#include "compiler/Codegen/CUDA/Matmul/ConvolutionKey.h"
#include "compiler/Codegen/CUDA/Matmul/MatmulLimits.h"
#include "compiler/Dialect/Plan/IR/Products.h"
#include "compiler/Dialect/Plan/IR/Reductions.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace xc::cuda {

/// Instructions that each element of the output takes; a function of mathematics is several.
static int64_t countOutputOps(const KernelInfo &kernel, const Contraction &contraction) {
  int64_t count = 0;
  kernel.getFunction().walk([&](linalg::LinalgOp op) {
    bool isPart = plan::getRowPart(op) || plan::getColumnPart(op);
    if (op == contraction.getOp() || (op.getNumReductionLoops() > 0) != isPart)
      return;
    for (Operation &inner : op.getBlock()->without_terminator())
      if (!isa<CastOpInterface>(inner))
        count += isa<math::MathDialect>(inner.getDialect()) && !isa<math::FmaOp>(inner)
                     ? kFunctionOps
                     : 1;
  });
  return count;
}

ProductChooser::ProductChooser(const Contraction &contraction, const KernelInfo &kernel,
                               KernelSizes &sizes, const SelectStrategyOptions &options,
                               const ProductTuning &tuning)
    : contraction(contraction), kernel(kernel), sizes(sizes), options(options), tuning(tuning),
      isTF32(contraction.hasSingleOperands() && contraction.getOp()->hasAttr(plan::kAllowTF32Attr)),
      outputOps(countOutputOps(kernel, contraction)),
      windows(hasWindows(contraction) ? describeWindows(contraction, windowRefusal) : std::nullopt),
      key(makeKey(/*isExpected=*/false)), noKeyReason(findNoKeyReason()) {
  problem = makeProblem();
}

WGMMAPlan toPlan(MatmulWGMMAAttr config) {
  return {config.getTileM(),    config.getTileN(),    config.getTileK(),    config.getWarpgroups(),
          config.getStages(),   config.getRaster(),   config.getBlocks(),   config.getSplit(),
          config.getPingPong(), config.getClusterM(), config.getClusterN(), 0};
}

static MatmulFMAAttr toConfig(MLIRContext *context, const FMAPlan &plan) {
  return MatmulFMAAttr::get(context, plan.tileM, plan.tileN, plan.tileK, plan.threadM, plan.threadN,
                            plan.stages, plan.split);
}

DoublePlan toDoublePlan(MatmulMMAAttr config) {
  DoublePlan plan{};
  plan.tileM = config.getTileM();
  plan.tileN = config.getTileN();
  plan.tileK = config.getTileK();
  plan.warpsM = config.getWarpsM();
  plan.warpsN = config.getWarpsN();
  plan.stages = config.getStages();
  return plan;
}

static MatmulWGMMAAttr toConfig(MLIRContext *context, const WGMMAPlan &plan) {
  return MatmulWGMMAAttr::get(context, plan.tileM, plan.tileN, plan.tileK, plan.warpgroups,
                              plan.stages, plan.raster, plan.blocks, plan.split, plan.pingPong,
                              plan.clusterM, plan.clusterN);
}

std::string ProductChooser::checkGiven(Attribute config) {
  if (contraction.partial)
    if (std::string wrong = checkPartialSums(*contraction.partial, config); !wrong.empty())
      return wrong;
  if (auto wgmma = dyn_cast<MatmulWGMMAAttr>(config))
    return problem ? checkWGMMAPlan(*kernel.target, *problem, toPlan(wgmma)) : refusal;
  auto fma = dyn_cast<MatmulFMAAttr>(config);
  if (fma && fma.getStages() > 2 &&
      !(kernel.target->hasAsyncCopy && contraction.hasCopiedFactors()))
    return "more than two stages are of operands in memory that are multiplied as they are, and "
           "for "
           "sm_80 or later";
  if (fma && fma.getSplit() > 1 && !canShareSums())
    return "blocks that share a sum are for sm_90 or later, and for sizes that are known to fit";
  if (fma) {
    int64_t bytes = getSharedBytes(toPlan(fma), getElementBytes(contraction.accumulatorType));
    if (bytes > kernel.target->sharedPerBlock)
      return llvm::formatv("a block has {0} bytes of shared memory, not {1}",
                           kernel.target->sharedPerBlock, bytes);
  }
  auto mma = dyn_cast<MatmulMMAAttr>(config);
  if (!mma)
    return contraction.group.hasParts() ? kReducesInParts.str() : "";
  if (contraction.hasDoubleOperands() && kernel.target->doubleMMA == DoubleMMA::None)
    return llvm::formatv("the tensor cores of {0} are not made for f64", kernel.target->arch);
  int64_t bytes = mma.getStages() * (mma.getTileM() + mma.getTileN()) * mma.getTileK() *
                  getElementBytes(getElementTypeOrSelf(contraction.a.operand->get()));
  if (bytes > kernel.target->sharedPerBlock)
    return llvm::formatv("a block has {0} bytes of shared memory, not {1}",
                         kernel.target->sharedPerBlock, bytes);
  return checkMMATiles(contraction, mma);
}

/// wgmma where boxes of both operands can be copied, or threads can transpose the second one; the
/// model says in which tiles.
std::optional<Choice> ProductChooser::chooseWGMMA() {
  if (!problem)
    return std::nullopt;
  SmallVector<WGMMAPlan> plans = rankWGMMAPlans(*kernel.target, *problem);
  if (plans.empty()) {
    refusal = "no tile fits";
    return std::nullopt;
  }
  MatmulWGMMAAttr config = toConfig(kernel.getFunction().getContext(), plans.front());
  if (plans.size() > 1) {
    MatmulWGMMAAttr second = toConfig(kernel.getFunction().getContext(), plans[1]);
    next = Choice{second, describe(second), predict(second)};
  }
  std::string reason = describe(config);
  if (convolution)
    if (std::optional<Choice> other = chooseMMA())
      reason += "; by mma.sync " + formatTime(predict(other->config));
  return Choice{config, reason};
}

bool ProductChooser::isFasterByMMA(const Choice &wgmma) {
  // Pixels were packed for wgmma, and the other model does not know what rows that overlap cost. Of
  // other products, operands that threads bring in both strategies.
  if (convolution ? convolution->image.hasPackedPixels() : !problem->loadsLines())
    return false;
  // Columns of pixels take as long for few channels as for a line of them. The model of mma.sync is
  // no closer than this.
  double worthwhile = convolution ? 0.75 : 1;
  std::optional<Choice> other = chooseMMA();
  return other && predict(other->config) < worthwhile * predict(wgmma.config);
}

std::optional<Choice> ProductChooser::chooseMMA() {
  if (!hasTensorCoreTypes())
    return std::nullopt;
  MatmulMMAAttr second, config = chooseMMATiles(kernel.getFunction().getContext(), *kernel.target,
                                                makeMMASize(), second);
  nextMMA =
      second ? std::optional(Choice{second, describe(second), predict(second)}) : std::nullopt;
  // No tile may do where both rows and columns are reduced in parts.
  return config ? std::optional(Choice{config, describe(config)}) : std::nullopt;
}

std::optional<Choice> ProductChooser::chooseDoubleMMA() {
  if (kernel.target->doubleMMA == DoubleMMA::None || !contraction.hasDoubleOperands())
    return std::nullopt;
  DoublePlan second, plan = chooseDoublePlan(*kernel.target, makeDoubleProblem(), &second);
  auto toConfig = [&](const DoublePlan &tiles) {
    return MatmulMMAAttr::get(kernel.getFunction().getContext(), tiles.tileM, tiles.tileN,
                              tiles.tileK, tiles.warpsM, tiles.warpsN, tiles.stages,
                              /*part_steps=*/0);
  };
  if (second.microseconds < std::numeric_limits<double>::infinity())
    nextMMA = Choice{toConfig(second), describe(toConfig(second)), second.microseconds};
  MatmulMMAAttr config = toConfig(plan);
  return Choice{config, describe(config)};
}

Choice ProductChooser::choosePlain() {
  FMAPlan second;
  FMAPlan plan = chooseFMAPlan(*kernel.target, makeFMAProblem(), &second);
  MLIRContext *context = kernel.getFunction().getContext();
  if (second.microseconds < std::numeric_limits<double>::infinity())
    next = Choice{toConfig(context, second), "", second.microseconds};
  MatmulFMAAttr config = toConfig(context, plan);
  return {config, describe(config), plan.microseconds};
}

double ProductChooser::predict(Attribute config) {
  const Target &target = *kernel.target;
  if (auto wgmma = dyn_cast<MatmulWGMMAAttr>(config))
    return estimateWGMMAPlan(target, *problem, toPlan(wgmma));
  auto mma = dyn_cast<MatmulMMAAttr>(config);
  if (mma && contraction.hasDoubleOperands())
    return estimateDoublePlan(target, makeDoubleProblem(), toDoublePlan(mma));
  if (mma) {
    ProductSize size = makeMMASize();
    size.k = getExpectedSum();
    return estimateMMATiles(target, size, mma);
  }
  return estimateFMAPlan(target, makeFMAProblem(), toPlan(cast<MatmulFMAAttr>(config)));
}

} // namespace xc::cuda
