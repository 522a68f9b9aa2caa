//===- DoubleMMAModel.cpp - How long an f64 product on tensor cores takes -===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A multiprocessor runs the blocks that fall to it, as many at a time as fit. A step of these
// takes a barrier, and the longest of
//
//   products  those of the busiest of its four tensor cores
//   shared    the rows of 128 bytes that warps read of shared memory, and those that are copied
//   there arrival   the latency of memory, over the steps that are under way fetch     the tiles'
//   bytes, from L2
//
// A block's beginning and end hide behind the steps of the blocks beside it. The product takes what
// its busiest multiprocessor does, or memory for reading all operands once.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Matmul/DoubleMMAModel.h"

#include "compiler/Codegen/CUDA/Common/Occupancy.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <limits>

namespace xc::cuda {

/// GHz under load.
static constexpr double kClock = 1.95;
/// Tensor cores of a multiprocessor.
static constexpr double kTensorCores = 4;
/// Cycles of a step in which nothing is multiplied: around its barrier.
static constexpr double kBarrierCycles = 190;
/// Cycles until a copy has arrived under load.
static constexpr double kCopyLatency = 1000;
/// Bytes a cycle from L2 to one multiprocessor, and to memory when blocks store their outputs.
static constexpr double kL2BytesPerCycle = 66, kStoreBytesPerCycle = 30;
/// Cycles of a block before its first step and behind its last one.
static constexpr double kBlockCycles = 2500;
/// Nanoseconds until memory is at its rate.
static constexpr double kMemoryStart = 1500;
/// What is left of the shorter one of both times.
static constexpr double kOverlapLoss = 0.05;
/// Microseconds of a launch behind another kernel.
static constexpr double kLaunchTime = 0.7;
/// Registers of a thread beside its sums and fragments, and the most that it can have.
static constexpr int64_t kOtherRegisters = 40, kMostRegisters = 256;
static constexpr int64_t kWarp = 32, kElementBytes = 8, kLineBytes = 128, kProductK = 8;
static constexpr int64_t kMostStages = 6;

/// Tiles; `stages` are what fits. A warp has more rows than columns where it has many of both: rows
/// are loaded when registers of other rows are free.
static constexpr DoublePlan kPlans[] = {
    {128, 128, 32, 2, 4, 0, 0}, {128, 128, 16, 2, 4, 0, 0}, {128, 64, 16, 2, 2, 0, 0},
    {64, 64, 16, 2, 2, 0, 0},   {32, 64, 32, 2, 2, 0, 0},   {64, 32, 32, 2, 2, 0, 0},
    {32, 32, 32, 2, 2, 0, 0},   {32, 64, 64, 2, 4, 0, 0},   {64, 32, 64, 4, 2, 0, 0},
    {16, 64, 64, 1, 4, 0, 0},   {64, 16, 64, 4, 1, 0, 0},   {16, 32, 64, 1, 2, 0, 0},
    {32, 16, 64, 2, 1, 0, 0},
};

static int64_t getWarps(const DoublePlan &plan) { return plan.warpsM * plan.warpsN; }

/// Rows and columns of a warp.
static int64_t getSides(const DoublePlan &plan) {
  return plan.tileM / plan.warpsM + plan.tileN / plan.warpsN;
}

/// Products of a warp for each k.
static int64_t getArea(const DoublePlan &plan) { return plan.tileM * plan.tileN / getWarps(plan); }

static int64_t getStageBytes(const DoublePlan &plan) {
  return (plan.tileM + plan.tileN) * plan.tileK * kElementBytes;
}

/// Registers of a thread: sums, two fragments of each side, and others.
static int64_t getRegisters(const DoublePlan &plan) {
  int64_t sums = getArea(plan) / kWarp, fragments = 2 * getSides(plan) * kProductK / kWarp;
  return std::min<int64_t>(llvm::alignTo(2 * (sums + fragments) + kOtherRegisters, 8),
                           kMostRegisters);
}

static int64_t countBlocks(const DoubleProblem &problem, const DoublePlan &plan) {
  return problem.batch * llvm::divideCeil(problem.m, plan.tileM) *
         llvm::divideCeil(problem.n, plan.tileN);
}

/// How many blocks run on a multiprocessor at a time as far as registers say, and gives `plan` as
/// many stages as leave room for them. 0 if not even two stages of one fit.
static int64_t placeBlocks(const Target &target, const DoubleProblem &problem, DoublePlan &plan) {
  BlockNeeds needs;
  needs.threads = getWarps(plan) * kWarp;
  needs.registers = getRegisters(plan);
  int64_t busiest = llvm::divideCeil(countBlocks(problem, plan), int64_t(target.multiprocessors));
  int64_t most = std::min<int64_t>(computeOccupancy(target, needs).blocks, busiest);
  int64_t steps = llvm::divideCeil(problem.k, plan.tileK);
  for (int64_t blocks = std::max<int64_t>(most, 1); blocks > 0; --blocks) {
    int64_t room = std::min<int64_t>(
        target.sharedPerBlock, target.sharedPerMultiprocessor / blocks - target.sharedReserved);
    int64_t stages =
        std::min({room / getStageBytes(plan), kMostStages, std::max<int64_t>(steps + 1, 2)});
    // Two stages for one more block hide less than three do without it.
    if (stages > 2 || (blocks == 1 && stages == 2) || stages > steps) {
      plan.stages = std::max<int64_t>(stages, 2);
      return blocks;
    }
  }
  return 0;
}

/// Cycles of a step of `blocks` blocks at a time.
static double getStep(const Target &target, const DoublePlan &plan, int64_t blocks) {
  double warps = static_cast<double>(getWarps(plan)),
         bytes = static_cast<double>(getStageBytes(plan));
  double products = getArea(plan) * plan.tileK / target.rates.doubles *
                    std::max(1.0, blocks * warps / kTensorCores);
  double read = warps * getSides(plan) * plan.tileK * kElementBytes;
  return kBarrierCycles +
         std::max({products, blocks * (read + bytes) / kLineBytes,
                   blocks * bytes / kL2BytesPerCycle, kCopyLatency / (plan.stages - 1)});
}

static double estimate(const Target &target, const DoubleProblem &problem, const DoublePlan &plan,
                       int64_t resident) {
  int64_t busiest = llvm::divideCeil(countBlocks(problem, plan), int64_t(target.multiprocessors));
  double steps = llvm::divideCeil(problem.k, plan.tileK);
  double store = plan.tileM * plan.tileN * kElementBytes / kStoreBytesPerCycle;
  auto getRound = [&](int64_t blocks) {
    if (blocks == 0)
      return 0.0;
    return steps * getStep(target, plan, blocks) + kBlockCycles / blocks + store;
  };
  double cycles = busiest / resident * getRound(resident) + getRound(busiest % resident);
  double factors = problem.k * static_cast<double>(problem.m + problem.n),
         sums = static_cast<double>(problem.m) * problem.n;
  double memory = problem.batch * (factors + sums) * kElementBytes / target.rates.memory;
  double busy = cycles / kClock, read = memory + kMemoryStart;
  return kLaunchTime + (std::max(busy, read) + kOverlapLoss * std::min(busy, read)) / 1000;
}

double estimateDoublePlan(const Target &target, const DoubleProblem &problem, DoublePlan plan) {
  return estimate(target, problem, plan, std::max<int64_t>(1, placeBlocks(target, problem, plan)));
}

DoublePlan chooseDoublePlan(const Target &target, const DoubleProblem &problem,
                            DoublePlan *second) {
  DoublePlan best{}, next{};
  best.microseconds = next.microseconds = std::numeric_limits<double>::infinity();
  for (DoublePlan plan : kPlans) {
    if (problem.isSwapped) {
      std::swap(plan.tileM, plan.tileN);
      std::swap(plan.warpsM, plan.warpsN);
    }
    if (!problem.isRoomy && getRegisters(plan) == kMostRegisters)
      continue;
    int64_t resident = placeBlocks(target, problem, plan);
    if (resident == 0)
      continue;
    plan.microseconds = estimate(target, problem, plan, resident);
    if (plan.microseconds < best.microseconds)
      std::swap(best, plan);
    if (plan.microseconds < next.microseconds)
      next = plan;
  }
  if (second)
    *second = next;
  return best;
}

} // namespace xc::cuda
