//===- StripStrategy.cpp - Which strips of windows a thread has -----------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Longer strips load fewer elements for each result, and more rows fewer rows of the image from L2.
// Both leave fewer threads, which have to hide the latency of memory. The time is that of what
// takes longest: memory, the elements that come from L2 and L1, instructions, or waiting.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Common/MemoryTime.h"
#include "compiler/Codegen/CUDA/IR/WindowConfig.h"
#include "compiler/Codegen/CUDA/Strategy.h"
#include "compiler/Codegen/CUDA/Window/WindowModel.h"
#include "compiler/Codegen/CUDA/Window/WindowStrips.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

#include <cmath>

using namespace mlir;

namespace xc::cuda {

/// Microseconds of a kernel beside its threads' work, and until what the first row of a window, and
/// each further one, reads has come.
static constexpr double kStart = 1, kFirstRowWait = 0.7, kRowWait = 0.25;
/// Instructions of warps that a multiprocessor issues in a cycle, and bytes that L1 delivers.
static constexpr double kIssued = 2.6, kL1BytesPerCycle = 100;
/// Instructions beside those of lanes: of a load with its address and padding, and of a row.
static constexpr double kLoadInstructions = 5, kRowInstructions = 40;
/// Threads that keep a multiprocessor busy, and registers of a thread beside sums and elements, of
/// which about three quarters are loaded ahead.
static constexpr double kBusyThreads = 512, kOtherRegisters = 40, kAheadShare = 0.75;
static constexpr int64_t kStripThreads = 128;
/// Registers of a thread's accumulators: more spill.
static constexpr int64_t kMostSums = 64;

namespace {

struct Shape {
  int64_t vector, strip, rows;
};

class StripChooser {
public:
  StripChooser(KernelQuery &query, const WindowStrips &strips)
      : query(query), strips(strips), ranges(strips.getOp().getStaticLoopRanges()),
        guess(guessResultSize(strips.getOp())) {}

  std::optional<Choice> choose() const;
  double estimate(const Shape &shape) const;

private:
  int64_t getVector() const;
  double countBytes() const;
  double countResident(const Shape &shape) const;
  int64_t getSize(unsigned loop) const {
    return ShapedType::isDynamic(ranges[loop]) ? guess : ranges[loop];
  }

  KernelQuery &query;
  const WindowStrips &strips;
  SmallVector<int64_t> ranges;
  int64_t guess; // of symbolic ones
};

} // namespace

/// Channels that are one access of each tensor.
int64_t StripChooser::getVector() const {
  int64_t channels = ranges[strips.channel];
  if (ShapedType::isDynamic(channels))
    return 1;
  int64_t widest = 8;
  for (plan::BindingOp binding : query.kernel.bindings) {
    int64_t bytes =
        getElementBytes(cast<MemRefType>(binding.getMemory().getType()).getElementType());
    widest = std::min(widest, std::max<int64_t>(1, kVectorBytes / bytes));
    if (binding.getAlignment() < kVectorBytes)
      widest = std::min<int64_t>(widest, std::max<int64_t>(1, binding.getAlignment() / bytes));
  }
  while (channels % widest != 0)
    widest /= 2;
  return widest;
}

/// Bytes of all tensors of known size.
double StripChooser::countBytes() const {
  double bytes = 0;
  for (plan::BindingOp binding : query.kernel.bindings)
    if (std::optional<int64_t> count = getStaticCount(query.kernel, binding))
      bytes += static_cast<double>(*count) *
               getElementBytes(cast<MemRefType>(binding.getMemory().getType()).getElementType());
  return bytes;
}

/// Threads of a multiprocessor that registers leave room for.
double StripChooser::countResident(const Shape &shape) const {
  bool isUnrolled = strips.countElements() <= kUnrolledWindow;
  int64_t rows = isUnrolled ? strips.countElements() / strips.countTaps() : 1;
  double loaded = kAheadShare * static_cast<double>(rows * strips.countColumns(shape.strip));
  if (strips.getOp().getNumDpsInputs() > 1)
    loaded += static_cast<double>(rows * strips.countTaps());
  int64_t bytes = getElementBytes(getElementTypeOrSelf(strips.image.operand->get()));
  double registers = kOtherRegisters + static_cast<double>(shape.strip * shape.vector) +
                     loaded * static_cast<double>(shape.vector * bytes) / 4;
  return kStripThreads * std::max(1.0, std::floor(query.getTarget().registersPerMultiprocessor /
                                                  (registers * kStripThreads)));
}

double StripChooser::estimate(const Shape &shape) const {
  const Target &target = query.getTarget();
  linalg::LinalgOp op = strips.getOp();
  auto elements = static_cast<double>(strips.countElements());
  double windowRows = elements / strips.countTaps();
  auto columns = static_cast<double>(strips.countColumns(shape.strip));
  double rowsOfThread = strips.rows ? std::min(shape.rows, getSize(*strips.rows)) : 1;
  double threads = double(getSize(strips.channel)) / shape.vector *
                   llvm::divideCeil(getSize(strips.image.along), shape.strip);
  if (strips.rows)
    threads *= static_cast<double>(llvm::divideCeil(getSize(*strips.rows), shape.rows));
  for (unsigned loop : strips.outer)
    threads *= static_cast<double>(getSize(loop));
  int64_t bytes = getElementBytes(getElementTypeOrSelf(strips.image.operand->get()));
  bool hasFactors = op.getNumDpsInputs() > 1;
  double factors = hasFactors ? elements : 0;
  double loads =
      windowRows * columns + (elements <= kUnrolledWindow ? factors / rowsOfThread : factors);
  double instructions = shape.strip * elements * shape.vector +
                        loads * (shape.vector + kLoadInstructions) +
                        2.0 * shape.strip * shape.vector + kRowInstructions;
  double work = threads * rowsOfThread / (target.multiprocessors * target.rates.clock * 1000);
  // Registers leave room for so many threads, and the last wave of them may be short.
  double resident = countResident(shape), waves = threads / (target.multiprocessors * resident);
  double busy = std::min(1.0, resident * std::min(1.0, waves) / kBusyThreads);
  double issue =
      work * instructions / (32 * kIssued * busy) * (waves > 1 ? std::ceil(waves) / waves : 1);
  double level1 = work * loads * static_cast<double>(shape.vector * bytes) / kL1BytesPerCycle;
  // Rows of the image are fetched again by the threads above and below.
  double height = rowsOfThread * strips.image.stride;
  double again = (height + std::max(0.0, windowRows - strips.image.stride)) / height;
  auto type = cast<RankedTensorType>(strips.image.operand->get().getType());
  double memory = countBytes() / target.rates.memory / 1000;
  double level2 =
      type.hasStaticShape() ? estimateCacheTime(target, type.getNumElements() * bytes) * again : 0;
  double wait = std::max(1.0, waves) * rowsOfThread *
                (kFirstRowWait + (elements <= kUnrolledWindow ? 0 : kRowWait * (windowRows - 1)));
  return kStart + std::max({memory, issue, level1, level2, wait});
}

std::optional<Choice> StripChooser::choose() const {
  std::optional<Choice> best;
  int64_t widest = getVector();
  auto consider = [&](int64_t vector, int64_t strip, int64_t rows) {
    if (strip * vector > kMostSums || strip > getSize(strips.image.along) ||
        (rows > 1 && (!strips.rows || rows > getSize(*strips.rows))))
      return;
    double time = estimate({vector, strip, rows});
    if (best && time >= *best->microseconds)
      return;
    std::string reason = llvm::formatv("windows of {0} elements, in strips of {1} along a row, "
                                       "{2} row{3} a thread, {4} channels "
                                       "at a time, {5}",
                                       strips.countElements(), strip, rows, rows == 1 ? "" : "s",
                                       vector, formatTime(time));
    best = Choice{WindowStripsAttr::get(query.getContext(), kStripThreads, vector, strip, rows),
                  reason, time};
  };
  for (int64_t vector = widest; vector >= std::min<int64_t>(widest, 2); vector /= 2)
    for (int64_t strip : {1, 2, 4, 7, 8})
      for (int64_t rows : {1, 2, 4, 8})
        consider(vector, strip, rows);
  return best;
}

namespace {

struct WindowStripsStrategy final : Strategy {
  StringRef getName() const override { return "window-strips"; }
  LogicalResult enumerate(KernelQuery &query, SmallVectorImpl<Choice> &choices) const override {
    std::string reason;
    if (!query.getWindows() || query.getContraction())
      return success();
    std::optional<WindowStrips> strips = matchWindowStrips(query.kernel, reason);
    if (!strips)
      return success();
    if (std::optional<Choice> choice = StripChooser(query, *strips).choose())
      choices.push_back(*choice);
    return success();
  }
  std::unique_ptr<Pass> createEmission() const override { return createEmitWindowStrips(); }
};

} // namespace

const Strategy &getWindowStripsStrategy() {
  static const WindowStripsStrategy strategy;
  return strategy;
}

} // namespace xc::cuda
