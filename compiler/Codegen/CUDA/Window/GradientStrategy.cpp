//===- GradientStrategy.cpp - Gradients to filters of single channels -----===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Takes the partial sums that splitWindowGradient makes, which no other strategy does. The time is
// that of memory, or of instructions, whichever takes longer.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Common/MemoryTime.h"
#include "compiler/Codegen/CUDA/IR/WindowConfig.h"
#include "compiler/Codegen/CUDA/Strategy.h"
#include "compiler/Codegen/CUDA/Window/WindowGradient.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace xc::cuda {

/// The microseconds until blocks have added up their sums.
static constexpr double kExchange = 3;

namespace {

struct WindowGradientStrategy final : Strategy {
  StringRef getName() const override { return "window-gradient"; }
  LogicalResult enumerate(KernelQuery &query, SmallVectorImpl<Choice> &choices) const override {
    SmallVector<linalg::LinalgOp> reductions = query.kernel.getReductions();
    if (reductions.size() != 1 || !query.kernel.storesWholes() ||
        !plan::getPartialSums(reductions.front()))
      return success();
    std::string reason;
    std::optional<WindowGradient> gradient = matchWindowGradient(reductions.front(), reason);
    std::optional<GradientShape> shape =
        gradient ? chooseGradientShape(*gradient, query.getTarget()) : std::nullopt;
    if (!shape)
      return success();
    double time = std::max(estimateMemoryTime(query.kernel).value_or(0),
                           estimateGradient(*gradient, *shape, query.getTarget())) +
                  kExchange;
    plan::PartialSums sums = *plan::getPartialSums(reductions.front());
    std::string text = llvm::formatv(
        "gradient to the filter, {0} taps of {1} channels a thread: {2} threads share "
        "the strips of {3} positions of {4} rows, {5} partial sums, {6}",
        gradient->countTaps() / gradient->countWindowRows(), shape->vector, shape->workers,
        shape->strip, sums.areShares() ? "?" : std::to_string(sums.size), sums.count,
        formatTime(time));
    choices.push_back({WindowGradientAttr::get(query.getContext(), shape->vector, shape->chunks,
                                               shape->workers, shape->strip),
                       text, time});
    return success();
  }
  std::unique_ptr<Pass> createEmission() const override { return createEmitWindowGradient(); }
};

} // namespace

const Strategy &getWindowGradientStrategy() {
  static const WindowGradientStrategy strategy;
  return strategy;
}

} // namespace xc::cuda
