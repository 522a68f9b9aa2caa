//===- ElementwiseStripStrategy.cpp - Which neighbours a thread has -------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// More neighbours share more of what they load and compute. They leave fewer threads, with more
// registers each, which have to hide the latency of memory. Memory and instructions overlap, but
// not wholly: on an H200, linear resizes of 8 x 64 x 64 x 320 elements to twice the size took 40 us
// where memory alone takes 26 and 22 instructions for each element 37, and 62 where they take 53
// and 38.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Elementwise/ElementwiseStripStrategy.h"

#include "compiler/Codegen/CUDA/Common/Accesses.h"
#include "compiler/Codegen/CUDA/Common/MemoryTime.h"
#include "compiler/Codegen/CUDA/IR/StripsConfig.h"
#include "compiler/Codegen/CUDA/Strategy.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

#include <cmath>

using namespace mlir;

namespace xc::cuda {

/// Instructions of warps that a multiprocessor issues in a cycle.
static constexpr double kIssued = 3.4;
/// How well memory and instructions overlap: the powers of their times add up.
static constexpr double kOverlap = 3;
/// Instructions beside those of lanes: of a load with its address, of a store, of an index that
/// differs by a constant from another, of other ones, and of a thread.
static constexpr double kLoad = 4, kStore = 2, kSharedPlace = 1, kPlace = 4, kThread = 30;
/// Threads that keep a multiprocessor busy, and registers of a thread beside what it loads and what
/// it stores. Of those it holds a part at a time, and most where it has several rows, which ptxas
/// computes side by side: linear and cubic resizes took 56 to 117 in strips of 8, and 155 in two.
static constexpr double kBusyThreads = 512, kOtherRegisters = 40, kHeldShare = 0.4,
                        kHeldShareOfRows = 0.8;
static constexpr int64_t kStripThreads = 128;
/// What a symbolic size is taken for.
static constexpr int64_t kGuessedSize = 64;
/// Registers of what a thread loads and of its results: more spill.
static constexpr double kMostRegisters = 160;
/// The time of another strategy has to be longer by a part of so much.
static constexpr double kGain = 1.03;
/// The same of fewer positions for each thread.
static constexpr double kGainOfMore = 1.01;

static int64_t countElements(const StripShape &shape) {
  return shape.vector * shape.strip * shape.rows;
}

/// Bytes of an element of each output.
static int64_t countOutputBytes(const KernelInfo &kernel) {
  int64_t bytes = 0;
  for (const KernelOutput &output : kernel.outputs)
    bytes += getElementBytes(getElementTypeOrSelf(output.tensor));
  return bytes;
}

/// The microseconds that memory takes.
static double estimateMemory(const KernelInfo &kernel) {
  if (std::optional<double> known = estimateMemoryTime(kernel))
    return *known;
  double bytes = 0;
  for (plan::BindingOp binding : kernel.bindings) {
    ShapedType type = kernel.getAccessedType(binding);
    auto size = static_cast<double>(getElementBytes(type.getElementType()));
    for (int64_t extent : type.getShape())
      size *= static_cast<double>(ShapedType::isDynamic(extent) ? kGuessedSize : extent);
    bytes += size;
  }
  return bytes / kernel.target->rates.memory / 1000;
}

static double countInstructions(const StripWork &work, int64_t stores) {
  return work.lanes + static_cast<double>(work.vectorLoads + work.loads) * kLoad +
         static_cast<double>(work.sharedPlaces) * kSharedPlace +
         static_cast<double>(work.places) * kPlace + static_cast<double>(stores) * kStore;
}

double estimateStrips(const KernelInfo &kernel, const ElementwiseStrips &strips,
                      const StripShape &shape) {
  const Target &target = *kernel.target;
  StripWork work = countStripWork(strips, shape);
  auto outputs = static_cast<int64_t>(kernel.outputs.size());
  double instructions = countInstructions(work, shape.strip * shape.rows * outputs) + kThread;
  double threads = 1, filled = 1;
  for (auto [size, extent] : llvm::zip_equal(strips.getShape(), strips.getExtents(shape))) {
    int64_t known = ShapedType::isDynamic(size) ? kGuessedSize : size;
    int64_t whole = known / extent;
    auto all = static_cast<double>(llvm::divideCeil(known, extent));
    threads *= all;
    filled *= static_cast<double>(whole) / all;
  }
  // Those whose strips end beyond the last position compute what is inside one by one.
  if (filled < 1) {
    StripWork one = countStripWork(strips, {shape.vector, 1, 1});
    instructions += (1 - filled) * static_cast<double>(shape.strip * shape.rows) *
                    countInstructions(one, outputs);
  }
  double held = shape.rows > 1 ? kHeldShareOfRows : kHeldShare;
  double registers =
      kOtherRegisters + held *
                            (work.loadedBytes +
                             static_cast<double>(countElements(shape) * countOutputBytes(kernel))) /
                            4;
  double resident =
      kStripThreads *
      std::max(1.0, std::floor(target.registersPerMultiprocessor / (registers * kStripThreads)));
  double each = threads / target.multiprocessors;
  double busy = std::min(1.0, std::min(resident, each) / kBusyThreads);
  double issue = each * instructions / (32 * kIssued * busy * target.rates.clock * 1000);
  double memory = estimateMemory(kernel);
  return std::pow(std::pow(memory, kOverlap) + std::pow(issue, kOverlap), 1 / kOverlap);
}

static std::optional<Choice> chooseStrips(const KernelInfo &kernel,
                                          const ElementwiseStrips &strips) {
  StripShape best{fitVector(kernel, getVectorWidth(kernel), strips.getShape()[strips.channel]), 1,
                  1};
  double alone = estimateStrips(kernel, strips, best), least = alone;
  ArrayRef<int64_t> shape = strips.getShape();
  auto isWithin = [&](unsigned dim, int64_t extent) {
    return extent == 1 || ShapedType::isDynamic(shape[dim]) || extent <= shape[dim];
  };
  auto isWhole = [&](unsigned dim, int64_t extent) { return shape[dim] % extent == 0; };
  for (int64_t strip : {1, 2, 3, 4, 5, 6, 8})
    for (int64_t rows : {1, 2, 3, 4}) {
      StripShape own{best.vector, strip, rows};
      bool fits = isWithin(strips.along, strip) &&
                  (rows == 1 || (strips.rows && isWithin(*strips.rows, rows))) &&
                  static_cast<double>(countElements(own) * countOutputBytes(kernel)) / 4 <=
                      kMostRegisters / 2;
      if (!fits)
        continue;
      double time = estimateStrips(kernel, strips, own);
      // Code for what is left of a strip has to pay, too.
      if (!isWhole(strips.along, strip) || (strips.rows && !isWhole(*strips.rows, rows)))
        time *= kGain;
      // More positions for next to nothing only take more registers.
      bool isLarger = countElements(own) > countElements(best);
      if (time * (isLarger ? kGainOfMore : 1) < least) {
        least = time;
        best = own;
      }
    }
  if (least * kGain > alone)
    return std::nullopt;
  std::string positions = llvm::formatv("{0} along dim {1}", best.strip, strips.along);
  if (best.rows > 1)
    positions += llvm::formatv(" x {0} along dim {1}", best.rows, *strips.rows);
  std::string reason = llvm::formatv("neighbours read the same elements: a thread has {0}, {1} "
                                     "elements at a time, {2}",
                                     positions, best.vector, formatTime(least));
  return Choice{ElementwiseStripsAttr::get(kernel.getFunction().getContext(), kStripThreads,
                                           best.vector, best.strip, best.rows),
                reason, least};
}

namespace {

struct ElementwiseStripsStrategy final : Strategy {
  StringRef getName() const override { return "elementwise-strips"; }
  LogicalResult enumerate(KernelQuery &query, SmallVectorImpl<Choice> &choices) const override {
    std::string reason;
    if (!query.isElementwise())
      return success();
    std::optional<ElementwiseStrips> strips = matchElementwiseStrips(query.kernel, reason);
    if (!strips)
      return success();
    if (std::optional<Choice> choice = chooseStrips(query.kernel, *strips))
      choices.push_back(*choice);
    return success();
  }
  std::unique_ptr<Pass> createEmission() const override { return createEmitElementwiseStrips(); }
};

} // namespace

const Strategy &getElementwiseStripsStrategy() {
  static const ElementwiseStripsStrategy strategy;
  return strategy;
}

} // namespace xc::cuda
