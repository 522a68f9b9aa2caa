//===- MMAModel.cpp - How long a matrix product on mma.sync takes ---------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A multiprocessor runs the blocks that fall to it, as many at a time as fit. A step of these
// takes the longest of
//
//   multiply  the products of all their tiles at the rate of the tensor cores, or the rows of 128
//             bytes that warps read from shared memory and copy there, one a cycle, which hide
//             behind each other but for a part; and a barrier
//   fetch     the bytes of their tiles, from L2
//   arrival   the latency of memory, over the steps that are under way
//
// and the product what its busiest multiprocessor takes, or memory for reading all operands once.
// The constants were fitted to an H200 (84 kernels of bf16, TF32 and bytes for sm_90); what differs
// between GPUs beside is from their data sheets.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Matmul/MMAModel.h"

#include "compiler/Codegen/CUDA/Common/Occupancy.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>

namespace xc::cuda {

/// What is left of the rate of TF32, half that of 16-bit types, where values are rounded on their
/// way from shared memory.
static constexpr double kRoundedRate = 0.67;
/// Bytes a cycle of shared memory, and from L2 to one multiprocessor.
static constexpr double kSharedBytesPerCycle = 119, kL2BytesPerCycle = 54;
/// What is left of the shorter one of two times that hide behind each other.
static constexpr double kStepOverlapLoss = 0.07, kOverlapLoss = 0.05;
/// Cycles of a step's barrier, and of each of a thread's copies that is checked, of f32 and of
/// other types.
static constexpr double kBarrierCycles = 138, kCheckCycles = 35, kHalfCheckCycles = 24;
/// Cycles until a copy has arrived under load.
static constexpr double kCopyLatency = 1940;
/// Bytes of outputs that a multiprocessor stores in a cycle, and the cycles of a block before its
/// first step and behind its last one.
static constexpr double kStoreBytesPerCycle = 21, kBlockCycles = 1600;
/// What is stored of rows of odd length, element by element, on an H100.
static constexpr double kOddRowBytesPerMicrosecond = 4e5;
/// Nanoseconds until memory is at its rate, and microseconds of a launch behind another kernel.
static constexpr double kMemoryStart = 500, kLaunchTime = 0.4;
/// Registers of a thread beside its sums, and those for values that are rounded.
static constexpr int64_t kOtherRegisters = 60, kRoundingRegisters = 24, kMostRegisters = 255;
static constexpr int64_t kWarp = 32, kVectorBytes = 16;

static int64_t getStageBytes(const MMAProblem &problem, const MMAPlan &plan) {
  return (plan.tileM + plan.tileN) * plan.tileK * problem.elementBytes;
}

/// How many blocks run on a multiprocessor at a time, at least one.
static int64_t countBlocks(const Target &target, const MMAProblem &problem, const MMAPlan &plan) {
  BlockNeeds needs;
  needs.threads = kWarp * plan.warpsM * plan.warpsN;
  int64_t registers = plan.tileM * plan.tileN / needs.threads + kOtherRegisters +
                      (problem.elementBytes == 4 ? kRoundingRegisters : 0);
  needs.registers = std::min<int64_t>(llvm::alignTo(registers, 8), kMostRegisters);
  needs.sharedBytes = plan.stages * getStageBytes(problem, plan);
  return std::max<int64_t>(1, computeOccupancy(target, needs).blocks);
}

namespace {

/// What a step of one block takes of its multiprocessor, in cycles.
struct Step {
  double multiply, checks, fetch, arrival;

  /// Of `blocks` blocks at a time.
  double get(double blocks) const {
    return std::max({blocks * (multiply + checks) + kBarrierCycles, blocks * fetch, arrival});
  }
};

} // namespace

static Step getStep(const Target &target, const MMAProblem &problem, const MMAPlan &plan) {
  double bytes = getStageBytes(problem, plan), threads = kWarp * plan.warpsM * plan.warpsN;
  double rate = target.rates.products * 2 / problem.elementBytes;
  if (problem.elementBytes == 4)
    rate *= kRoundedRate;
  double products = plan.tileM * plan.tileN * plan.tileK / rate;
  // Warps of one row of warps read the same rows of operand A, those of a column the same
  // ones of the second.
  double read = (plan.tileM * plan.warpsN + plan.tileN * plan.warpsM) * plan.tileK *
                static_cast<double>(problem.elementBytes);
  double shared = (read + bytes) / kSharedBytesPerCycle;
  bool isRagged =
      problem.m % plan.tileM != 0 || problem.n % plan.tileN != 0 || problem.k % plan.tileK != 0;
  Step step;
  step.multiply = std::max(products, shared) + kStepOverlapLoss * std::min(products, shared);
  // Narrow copies take as long as checked ones, whether they are checked or not.
  bool isNarrow = problem.isCopied && problem.copyBytes < kVectorBytes;
  double copies = bytes / (isNarrow ? problem.copyBytes : kVectorBytes) / threads;
  double check = problem.elementBytes == 4 ? kCheckCycles : kHalfCheckCycles;
  step.checks = isRagged || isNarrow ? check * copies : 0;
  step.fetch = bytes / kL2BytesPerCycle;
  // Registers hold what is under way of one step only.
  step.arrival = kCopyLatency / (problem.isCopied ? std::max<int64_t>(1, plan.stages - 1) : 1);
  return step;
}

double estimateMMAPlan(const Target &target, const MMAProblem &problem, const MMAPlan &plan) {
  int64_t blocks = problem.batch * llvm::divideCeil(problem.m, plan.tileM) *
                   llvm::divideCeil(problem.n, plan.tileN);
  int64_t busiest = llvm::divideCeil(blocks, int64_t(target.multiprocessors));
  int64_t resident = countBlocks(target, problem, plan);
  double steps = llvm::divideCeil(problem.k, plan.tileK);
  double store = plan.tileM * plan.tileN * problem.outputBytes / kStoreBytesPerCycle;
  Step step = getStep(target, problem, plan);
  auto getRound = [&](int64_t count) {
    return count == 0 ? 0 : steps * step.get(count) + count * store;
  };
  double cycles = llvm::divideCeil(busiest, resident) * kBlockCycles +
                  busiest / resident * getRound(resident) + getRound(busiest % resident);
  double factors = problem.k * static_cast<double>(problem.m + problem.n) * problem.elementBytes,
         results = static_cast<double>(problem.m) * problem.n * problem.outputBytes;
  double scattered = problem.hasOddRows ? problem.batch * results / kOddRowBytesPerMicrosecond : 0;
  double busy = cycles / target.rates.clock,
         read = problem.batch * (factors + results) / target.rates.memory + kMemoryStart;
  return kLaunchTime + (std::max(busy, read) + kOverlapLoss * std::min(busy, read)) / 1000 +
         scattered;
}

} // namespace xc::cuda
