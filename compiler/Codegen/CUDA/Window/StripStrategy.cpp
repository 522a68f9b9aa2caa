//===- StripStrategy.cpp - Which strips of windows a thread has -----------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Longer strips load fewer elements for each result, and more rows fewer rows of the image. Both
// take registers, and leave fewer threads, which have to hide the latency of memory. What takes
// time are memory, which needs bytes on their way, elements that come from L2 and L1, instructions,
// and waiting; the longest of them counts most. The constants were fitted to 440 configurations of
// seven windows on an H200, of which the chosen ones are within 6 % of the fastest.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Common/Accesses.h"
#include "compiler/Codegen/CUDA/IR/WindowConfig.h"
#include "compiler/Codegen/CUDA/Strategy.h"
#include "compiler/Codegen/CUDA/Window/WindowModel.h"
#include "compiler/Codegen/CUDA/Window/WindowStrips.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

#include <cmath>

using namespace mlir;

namespace xc::cuda {

/// Microseconds of a kernel beside its threads' work, and until the first row of the image, and
/// each further one, has come.
static constexpr double kStart = 1.6, kFirstRowWait = 0.33, kRowWait = 0.23;
/// Instructions of warps that a multiprocessor issues in a cycle, of all and of each warp, and how
/// much faster than memory L2 is.
static constexpr double kIssued = 2.8, kIssuedOfWarp = 0.4, kL2Speedup = 2.8;
/// Instructions beside those of lanes: of a load with its address, of a result, and of a thread.
static constexpr double kLoadInstructions = 3.6, kResultInstructions = 3.9,
                        kThreadInstructions = 27;
/// How much of a last short wave of blocks is lost.
static constexpr double kTail = 0.6;
/// KiB of a multiprocessor that are on their way where memory is about 70 % busy, and the most that
/// a warp has on its way.
static constexpr double kHalfBusy = 7.4, kMostOfWarp = 2.15;
/// Registers of a thread beside sums, elements and factors, and shares of those that it holds.
static constexpr double kOtherRegisters = 23, kAheadShare = 0.67, kFactorShare = 0.72,
                        kMostFactors = 16;
static constexpr int64_t kStripThreads = 128;
/// Registers of a strip's accumulators: more spill.
static constexpr int64_t kMostSums = 64;
/// Of threads whose rows share the image's: registers, of which more may spill, and products or
/// sums, all of which are unrolled.
static constexpr double kMostRegisters = 220;
static constexpr int64_t kMostUnrolled = 3200;

namespace {

struct Shape {
  int64_t vector, strip, rows;
};

/// What a thread does.
struct Work {
  double imageRows, loads, instructions, registers;
};

class StripChooser {
public:
  StripChooser(KernelQuery &query, const WindowStrips &strips)
      : query(query), strips(strips), ranges(strips.getOp().getStaticLoopRanges()),
        guess(guessResultSize(strips.getOp())), steps(countSteps(strips.combiner)) {}

  std::optional<Choice> choose() const;
  double estimate(const Shape &shape) const;

private:
  int64_t getVector() const;
  Work getWork(const Shape &shape) const;
  double countThreads(const Shape &shape) const;
  bool sharesRows(const Shape &shape) const { return strips.sharedRows && shape.rows > 1; }
  bool isPossible(const Shape &shape) const;
  int64_t getSize(unsigned loop) const {
    return ShapedType::isDynamic(ranges[loop]) ? guess : ranges[loop];
  }

  KernelQuery &query;
  const WindowStrips &strips;
  SmallVector<int64_t> ranges;
  int64_t guess; // of symbolic ones
  double steps;  // that combine an element of a lane
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
  }
  return fitVector(query.kernel, widest, channels);
}

Work StripChooser::getWork(const Shape &shape) const {
  auto elements = static_cast<double>(strips.countElements()), lanes = double(shape.vector);
  double windowRows = elements / strips.countTaps(),
         columns = static_cast<double>(strips.countColumns(shape.strip)),
         results = static_cast<double>(shape.strip * shape.rows);
  int64_t bytes = getElementBytes(getElementTypeOrSelf(strips.image.operand->get()));
  double words = lanes * static_cast<double>(bytes) / 4, widened = bytes < 4 ? lanes : 0;
  bool shares = sharesRows(shape), hasFactors = getReadInputs(strips.getOp()).size() > 1;
  int64_t stride = strips.sharedRows ? strips.sharedRows->stride : 1;
  Work work;
  work.imageRows = shares ? static_cast<double>((shape.rows - 1) * stride) + windowRows
                          : shape.rows * windowRows;
  work.loads = work.imageRows * columns;
  // Elements are widened and padding selected, factors widened, results narrowed.
  work.instructions = results * elements * lanes * steps +
                      work.loads * (widened + words + kLoadInstructions) +
                      results * (lanes / 2 + kResultInstructions) + kThreadInstructions;
  // Factors stay in registers if they are few, or are loaded again for each row of the image.
  if (hasFactors)
    work.instructions += elements * (lanes + 3) * (elements <= kUnrolledWindow ? 1 : 1.25);
  double sums =
      double(shape.strip) * lanes * strips.getOp()->getNumResults() *
      (shares ? std::min<double>(double(shape.rows), std::ceil(windowRows / double(stride))) : 1);
  double ahead = (std::min(windowRows, 3.0) + (shares ? 1 : 0)) * columns * words;
  double factors = hasFactors ? std::min(elements, kMostFactors) * lanes : 0;
  work.registers = kOtherRegisters + sums + kAheadShare * ahead + kFactorShare * factors;
  return work;
}

double StripChooser::countThreads(const Shape &shape) const {
  double threads = double(getSize(strips.channel)) / shape.vector *
                   llvm::divideCeil(getSize(strips.image.along), shape.strip);
  if (strips.rows)
    threads *= static_cast<double>(llvm::divideCeil(getSize(*strips.rows), shape.rows));
  for (unsigned loop : strips.outer)
    threads *= static_cast<double>(getSize(loop));
  return threads;
}

double StripChooser::estimate(const Shape &shape) const {
  const Target &target = query.getTarget();
  Work work = getWork(shape);
  double blocks = std::floor(target.registersPerMultiprocessor /
                             (std::min(work.registers, 255.0) * kStripThreads));
  double resident = std::max(1.0, blocks) * kStripThreads / 32, // warps of a multiprocessor
      warps = countThreads(shape) / 32 / target.multiprocessors, waves = warps / resident,
         present = resident * std::min(1.0, waves);
  int64_t bytes = getElementBytes(getElementTypeOrSelf(strips.image.operand->get()));
  double lineBytes = 32 * static_cast<double>(shape.vector * bytes);
  double cycles = target.rates.clock * 1000;
  double idle = waves > 1 ? kTail * (std::ceil(waves) / waves - 1) : 0;
  double issue = warps * work.instructions * (1 + idle) /
                 (cycles * std::min(kIssued, kIssuedOfWarp * present));
  // Rows of the image are fetched again by the threads above and below.
  int64_t stride = strips.sharedRows ? strips.sharedRows->stride : strips.image.stride;
  double windowRows = static_cast<double>(strips.countElements()) / strips.countTaps();
  auto height = static_cast<double>(shape.rows * stride);
  double again = (height + std::max(0.0, windowRows - static_cast<double>(stride))) / height;
  double memory = countKnownBytes(query.kernel) / target.rates.memory / 1000;
  double level2 = memory * again / kL2Speedup;
  double rowsAhead = sharesRows(shape) ? std::min(work.imageRows, 2.0) : windowRows;
  double ofWarp =
      rowsAhead * static_cast<double>(strips.countColumns(shape.strip)) * lineBytes / 1024;
  memory *= std::hypot(1.0, kHalfBusy / (present * std::min(ofWarp, kMostOfWarp)));
  double wait = std::max(1.0, waves) * (kFirstRowWait + kRowWait * work.imageRows);
  double sum = 0;
  for (double time : {memory, issue, level2, wait})
    sum += std::pow(time, 8);
  return kStart + std::pow(sum, 0.125);
}

bool StripChooser::isPossible(const Shape &shape) const {
  auto resultCount = static_cast<int64_t>(strips.getOp()->getNumResults());
  if (shape.strip * shape.vector * resultCount > kMostSums ||
      shape.strip > getSize(strips.image.along) ||
      (shape.rows > 1 && (!strips.rows || shape.rows > getSize(*strips.rows))))
    return false;
  if (!sharesRows(shape))
    return shape.strip > 1;
  return getWork(shape).registers <= kMostRegisters &&
         static_cast<double>(shape.vector * shape.strip * shape.rows * strips.countElements()) *
                 steps <=
             kMostUnrolled;
}

std::optional<Choice> StripChooser::choose() const {
  std::optional<Choice> best;
  int64_t widest = getVector();
  auto consider = [&](const Shape &shape) {
    if (!isPossible(shape))
      return;
    double time = estimate(shape);
    if (best && time >= *best->microseconds)
      return;
    std::string reason = llvm::formatv(
        "windows of {0} elements, in strips of {1} along a row, "
        "{2} row{3} a thread{4}, {5} channels at a time, {6}",
        strips.countElements(), shape.strip, shape.rows, shape.rows == 1 ? "" : "s",
        sharesRows(shape) ? " that share the image's" : "", shape.vector, formatTime(time));
    best = Choice{WindowStripsAttr::get(query.getContext(), kStripThreads, shape.vector,
                                        shape.strip, shape.rows),
                  reason, time};
  };
  for (int64_t vector = widest; vector >= std::min<int64_t>(widest, 2); vector /= 2)
    for (int64_t strip : {1, 2, 4, 7, 8})
      for (int64_t rows : {1, 2, 4, 7, 8})
        consider({vector, strip, rows});
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
    if (!strips || !strips->overlap())
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
