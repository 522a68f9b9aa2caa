//===- Strategy.cpp - What strategies ask about a kernel ------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Strategy.h"
#include "compiler/Codegen/CUDA/Attention/AttentionGradient.h"
#include "compiler/Codegen/CUDA/Attention/AttentionProblem.h"
#include "compiler/Codegen/CUDA/Matmul/ProductStrategy.h"
#include "compiler/Codegen/CUDA/Window/WindowModel.h"
#include "compiler/Dialect/Kernel/IR/AttentionDecodeOp.h"

#include "compiler/Dialect/Array/IR/Sizes.h"
#include "compiler/Dialect/Plan/IR/PartialSums.h"
#include "compiler/Dialect/Plan/IR/Products.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace xc::cuda {

/// Sides of at most so many rows or columns leave a tile of a product so empty that a reduction of
/// windows may be faster.
static constexpr int64_t kNarrowSide = 16;

/// Windows of fewer elements are not worth sharing among threads.
static constexpr int64_t kFewestShared = 16;

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

std::string formatTime(double microseconds) {
  return llvm::formatv("{0:F1} us expected", microseconds);
}

std::optional<int64_t> getStaticCount(const KernelInfo &kernel, plan::BindingOp binding) {
  ShapedType type = kernel.getAccessedType(binding);
  if (!type.hasStaticShape())
    return std::nullopt;
  return type.getNumElements();
}

int64_t getVectorWidth(const KernelInfo &kernel) {
  int64_t largest = 0, narrowest = kVectorBytes;
  for (plan::BindingOp binding : kernel.bindings)
    largest = std::max(largest, getStaticCount(kernel, binding).value_or(INT64_MAX));
  for (plan::BindingOp binding : kernel.bindings)
    if (getStaticCount(kernel, binding).value_or(INT64_MAX) >= largest / 2)
      narrowest = std::min(
          narrowest,
          getElementBytes(cast<MemRefType>(binding.getMemory().getType()).getElementType()));
  // Bytes beside wider types: more than 8 lanes would cost more registers than they save
  // instructions.
  bool onlyBytes = llvm::all_of(kernel.bindings, [](plan::BindingOp binding) {
    return getElementBytes(cast<MemRefType>(binding.getMemory().getType()).getElementType()) == 1;
  });
  return std::min<int64_t>(kVectorBytes / narrowest, onlyBytes ? 16 : 8);
}

std::optional<int64_t> getStaticProduct(linalg::LinalgOp op, ArrayRef<unsigned> dims) {
  int64_t product = 1;
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  for (unsigned dim : dims) {
    if (ShapedType::isDynamic(ranges[dim]))
      return std::nullopt;
    product = array::multiplyKnown({product, ranges[dim]});
  }
  return product;
}

int64_t getInnermostDivisor(KernelSizes &sizes, const ReductionGroup &group,
                            ArrayRef<unsigned> dims) {
  SmallVector<plan::FormulaAttr> loops = sizes.getLoopSizes(group.root);
  for (unsigned dim : llvm::reverse(dims))
    if (loops[dim].asConstant() != 1)
      return sizes.getDivisor(loops[dim]);
  return 1;
}

std::string describeSize(std::optional<int64_t> size) {
  return size ? std::to_string(*size) : std::string("a symbolic number of");
}

std::optional<TuningKey> getTuningKey(KernelQuery &query) {
  for (const Strategy *strategy : getStrategies())
    if (std::optional<TuningKey> key = strategy->getKey(query))
      return key;
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Queries
//===----------------------------------------------------------------------===//

/// True if `op` reduces a window that slides, or reads at computed places for each element of one.
static bool isWindow(linalg::LinalgOp op) {
  if (plan::isWindowReduction(op))
    return true;
  bool gathers = false;
  op.getBlock()->walk([&](tensor::ExtractOp) { gathers = true; });
  return gathers;
}

/// The smaller side of a convolution as a matrix product; nothing if it is symbolic.
static std::optional<int64_t> getNarrowSide(const Contraction &contraction) {
  linalg::LinalgOp op = contraction.getOp();
  int64_t side = std::min(getStaticProduct(op, contraction.m).value_or(INT64_MAX),
                          getStaticProduct(op, contraction.n).value_or(INT64_MAX));
  return side == INT64_MAX ? std::nullopt : std::optional(side);
}

KernelQuery::KernelQuery(const KernelInfo &kernel, const SelectStrategyOptions &options,
                         const ProductTuning &tuning, std::optional<int64_t> rowBound)
    : kernel(kernel), sizes(makeSizes(kernel)), options(options), tuning(tuning),
      rowBound(rowBound), lines(matchLineKernel(kernel)) {
  if (kernel.outputs.size() == 1)
    scatter = kernel.outputs.front().tensor.getDefiningOp<kernel::ScatterOp>();
  attention = matchAttention(kernel);
  attentionGradient = matchAttentionGradient(kernel);
  isPlain =
      !lines && !attention && !attentionGradient &&
      llvm::none_of(
          kernel.tensorOps,
          llvm::IsaPred<kernel::ScatterOp, kernel::AttentionDecodeOp, kernel::AttentionCombineOp>);
}

const Contraction *KernelQuery::getContraction() {
  if (!contraction) {
    std::string reason;
    contraction = failure();
    if (isReduction())
      contraction = matchContraction(kernel, reason);
  }
  return succeeded(*contraction) ? &**contraction : nullptr;
}

bool KernelQuery::isStreamed() {
  const Contraction *product = getContraction();
  return product && isStreamedProduct(product->getOp(), *kernel.target);
}

const WindowQuery *KernelQuery::getWindows() {
  if (windows)
    return *windows ? &**windows : nullptr;
  windows.emplace();
  const Contraction *product = isStreamed() ? nullptr : getContraction();
  std::optional<int64_t> side = product ? getNarrowSide(*product) : std::nullopt;
  bool isTiled = product && (!plan::isWindowReduction(product->getOp()) || !side ||
                             *side > kNarrowSide || product->group.hasParts());
  if (!isReduction() || isTiled)
    return nullptr;
  linalg::LinalgOp longest;
  int64_t largest = -1;
  for (linalg::LinalgOp op : kernel.getReductions()) {
    if (plan::getPartialSums(op))
      return nullptr;
    SmallVector<unsigned> dims;
    op.getReductionDims(dims);
    std::optional<int64_t> size = getStaticProduct(op, dims);
    if (!size || !isWindow(op))
      return nullptr;
    if (*size > largest)
      std::tie(longest, largest) = std::pair(op, *size);
  }
  *windows = WindowQuery{describeWindows(longest, largest), largest, side};
  return &**windows;
}

const ReductionGroup *KernelQuery::getReductionGroup() {
  if (!group) {
    group = failure();
    const WindowQuery *overWindows = getWindows();
    if (!isReduction())
      refusal = "nothing is reduced";
    else if (llvm::any_of(kernel.getReductions(),
                          [](linalg::LinalgOp op) { return plan::getPartialSums(op).has_value(); }))
      refusal = "results are partial sums";
    else if (getContraction() && isStreamed() && canUseWGMMA(*this))
      refusal = "the matrix is streamed through wgmma";
    else if (getContraction() && !isStreamed() && !overWindows)
      refusal = "it is a product of matrices";
    else if (overWindows && overWindows->elements < kFewestShared)
      refusal = "windows are short";
    else
      group = matchReductionGroup(kernel, refusal);
  }
  return succeeded(*group) ? &**group : nullptr;
}

} // namespace xc::cuda
