//===- WindowStrategy.cpp - One thread for each window --------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One thread goes over a window where neighbours of the result share most of what they read, and
// there are enough of them that caches serve them better than an exchange between threads would.
// Threads share long windows of few results, as rows or columns; and of windows that many features
// read, tiles of a product may hold enough, however empty. The model of each says which is fastest.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Window/WindowStrategy.h"
#include "compiler/Codegen/CUDA/Elementwise/ElementwiseStrategy.h"
#include "compiler/Codegen/CUDA/IR/CUDAConfig.h"
#include "compiler/Codegen/CUDA/Window/WindowModel.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace xc::cuda {

/// Products with more rows and columns are not computed by threads alone: these would re-read
/// what their neighbours did.
static constexpr int64_t kDirectSide = 4;

/// Windows of at most this many elements may be those of one thread for each lane of the result.
static constexpr int64_t kMaxWindow = 1024;

void describeSharedWindows(const WindowQuery &windows, int64_t threads, double microseconds,
                           Choice &choice) {
  choice.microseconds = microseconds;
  choice.reason = llvm::formatv("windows of {0} elements, each shared by {1} threads, {2}; {3}",
                                windows.elements, threads, formatTime(microseconds), choice.reason);
}

namespace {

struct DirectWindowStrategy final : Strategy {
  StringRef getName() const override { return "direct-window"; }
  LogicalResult enumerate(KernelQuery &query, SmallVectorImpl<Choice> &choices) const override {
    const WindowQuery *windows = query.getWindows();
    if (!windows || windows->elements > kMaxWindow || windows->narrowSide.value_or(1) > kDirectSide)
      return success();
    Choice choice = chooseElementwise(query.kernel, query.sizes, /*isWindow=*/true);
    auto config = cast<ElementwiseAttr>(choice.config);
    double instructions = 0;
    for (linalg::LinalgOp op : query.kernel.getReductions())
      instructions = std::max(instructions, countElementInstructions(op));
    choice.microseconds = estimateDirectWindows(query.getTarget(), windows->problem,
                                                {countKnownBytes(query.kernel), instructions},
                                                config.getVector(), config.getUnroll());
    choice.reason =
        llvm::formatv("windows of {0} elements, each of one thread, {1}; {2}", windows->elements,
                      formatTime(*choice.microseconds), choice.reason);
    choices.push_back(choice);
    return success();
  }
  /// That of elementwise kernels.
  std::unique_ptr<Pass> createEmission() const override { return nullptr; }
};

} // namespace

const Strategy &getDirectWindowStrategy() {
  static const DirectWindowStrategy strategy;
  return strategy;
}

} // namespace xc::cuda
