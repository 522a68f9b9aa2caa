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

/// Instructions of warps that a multiprocessor issues in a cycle, those of a load with its address
/// and padding, and the microseconds until a block has added up its sums.
static constexpr double kIssued = 2.6, kLoadInstructions = 5, kExchange = 2;

static double estimateGradient(KernelQuery &query, const WindowGradient &gradient,
                               const GradientShape &shape) {
  const Target &target = query.getTarget();
  linalg::LinalgOp op = gradient.op;
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  auto taps = static_cast<double>(gradient.countTaps());
  double windowRows = taps / ranges[gradient.image.tap];
  double columns = double(shape.strip - 1) * gradient.image.stride + ranges[gradient.image.tap];
  double strips = double(gradient.countRows()) * ranges[gradient.image.along] / shape.strip;
  double threads = strips * ranges[gradient.channel] / shape.vector; // in range: a double
  double instructions = taps * shape.strip * shape.vector +
                        (windowRows * columns + shape.strip) * (shape.vector + kLoadInstructions);
  double issue =
      threads * instructions / (32 * kIssued * target.multiprocessors * target.rates.clock * 1000);
  return std::max(estimateMemoryTime(query.kernel).value_or(0), issue) + kExchange;
}

namespace {

struct WindowGradientStrategy final : Strategy {
  StringRef getName() const override { return "window-gradient"; }
  LogicalResult enumerate(KernelQuery &query, SmallVectorImpl<Choice> &choices) const override {
    SmallVector<linalg::LinalgOp> reductions = query.kernel.getReductions();
    if (reductions.size() != 1 || !plan::getPartialSums(reductions.front()))
      return success();
    std::string reason;
    std::optional<WindowGradient> gradient = matchWindowGradient(reductions.front(), reason);
    std::optional<GradientShape> shape = gradient ? chooseGradientShape(*gradient) : std::nullopt;
    if (!shape)
      return success();
    double time = estimateGradient(query, *gradient, *shape);
    std::string text =
        llvm::formatv("gradient to the filter, {0} taps of {1} channels a thread: {2} threads "
                      "share the strips of "
                      "{3} positions of {4} rows, {5} partial sums, {6}",
                      gradient->countTaps(), shape->vector, shape->workers, shape->strip,
                      plan::getPartialSums(reductions.front())->size,
                      plan::getPartialSums(reductions.front())->count, formatTime(time));
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
