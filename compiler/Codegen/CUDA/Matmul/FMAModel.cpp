//===- FMAModel.cpp - How long a matrix product on plain arithmetic takes -===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A multiprocessor runs the blocks that fall to it, as many at a time as fit. A step of these
// takes the longest of
//
//   issue     the instructions of all their warps, four a cycle, those that multiply longer for the
//             registers that they read, and the bytes of their tiles, from L2: these hide behind
//             those only in part
//   shared    the rows of 128 bytes that they read from shared memory, half a warp at a time, and
//             what copies there take, of single elements many times as long
//   alone     the instructions of one warp, which waits for its own loads and at barriers
//   arrival   the latency of memory, over the steps that are under way
//
// and the product what its busiest multiprocessor takes, or memory for reading all operands once.
// Where blocks of a cluster share a tile's sum, each has a part of the steps, and their exchange
// behind these.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Matmul/FMAModel.h"

#include "compiler/Codegen/CUDA/Common/Occupancy.h"
#include "compiler/Codegen/CUDA/Matmul/MatmulModel.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace xc::cuda {

/// GHz under load.
static constexpr double kClock = 1.98;
/// Cycles of a scheduler for an operation that multiplies: some read more registers than there is
/// room for.
static constexpr double kProductCycles = 1.14;
/// Schedulers of a multiprocessor, and the instructions that each issues in a cycle: of tiles that
/// pass through registers, whose values threads wait for, fewer than one.
static constexpr double kSchedulers = 4, kCopiedIssue = 1, kLoadedIssue = 0.95;
/// Instructions for a copy, or for a load, its address and its bounds; and those of a step beside.
static constexpr double kCopyOps = 2, kStepOps = 24;
/// Cycles of the memory system for a warp's copies of single elements.
static constexpr double kElementCopyCycles = 7.5;
/// Of the cycles that a warp could issue in by itself.
static constexpr double kAlone = 1 / 1.3;
/// Cycles until what is loaded from shared memory can be multiplied, and those of a barrier.
static constexpr double kSharedLatency = 38, kBarrierCycles = 68;
/// Cycles until a copy has arrived under load.
static constexpr double kCopyLatency = 1130;
/// Bytes a cycle from L2 to one multiprocessor, and to memory when blocks store their outputs.
static constexpr double kL2BytesPerCycle = 59, kStoreBytesPerCycle = 27;
/// Cycles of a block before its first step and behind its last one.
static constexpr double kBlockCycles = 2800;
/// Cycles in which blocks of a cluster meet, and the bytes a cycle that each sends to others.
static constexpr double kMeetCycles = 2500, kSentBytesPerCycle = 24;
/// Nanoseconds until memory is at its rate.
static constexpr double kMemoryStart = 1500;
/// What is left of the shorter one of both times.
static constexpr double kOverlapLoss = 0.05;
/// Microseconds of a launch behind another kernel.
static constexpr double kLaunchTime = 0.7;
/// Registers of a thread beside its sums and operands.
static constexpr int64_t kOtherRegisters = 32;
/// What lies between rows in shared memory: elements, but a whole vector where they are small.
static constexpr int64_t kPadding = 4;
static constexpr int64_t kWarp = 32, kLineBytes = 128, kVectorBytes = 16;
/// What a product takes longer whose blocks share sums: those of a cluster wait for places
/// together.
static constexpr double kShareLoss = 0.05;
/// Blocks that may share a tile's sum, and the fewest steps of each.
static constexpr int64_t kSplits[] = {1, 2, 4, 8}, kFewestSteps = 4;

/// Tiles of operands that are copied, and of such that pass through registers. Those for few rows
/// serve few columns, too, transposed.
static constexpr FMAPlan kCopiedPlans[] = {
    {128, 256, 16, 16, 8, 3, 0}, {128, 128, 16, 8, 8, 3, 0}, {128, 64, 16, 8, 8, 4, 0},
    {64, 128, 16, 8, 8, 4, 0},   {64, 64, 16, 8, 8, 4, 0},   {64, 64, 16, 8, 4, 4, 0},
    {64, 64, 16, 4, 4, 4, 0},    {32, 128, 16, 8, 8, 4, 0},  {32, 64, 16, 8, 4, 4, 0},
    {32, 32, 16, 4, 4, 5, 0},    {16, 256, 16, 8, 8, 4, 0},  {16, 128, 16, 8, 4, 5, 0},
    {8, 256, 16, 8, 4, 4, 0},    {8, 128, 16, 4, 4, 5, 0},
};
static constexpr FMAPlan kLoadedPlans[] = {
    {128, 128, 8, 8, 8, 2, 0}, {64, 64, 16, 4, 4, 2, 0}, {32, 32, 16, 2, 4, 2, 0},
    {16, 64, 32, 2, 4, 2, 0},  {16, 64, 16, 2, 4, 2, 0},
};
/// What a step of all tiles that are copied takes of k.
static constexpr int64_t kCopiedK = 16;
/// Of wide types all that a step multiplies must fit into registers.
static constexpr int64_t kMostWideSums = 16, kMostWideK = 16;

/// The most sums of a thread where strides of fused tensors take registers (FMAProblem::isRoomy).
static constexpr int64_t kMostCrampedSums = 16;

/// Registers of a sum or operand.
static int64_t countWords(const FMAProblem &problem) {
  return llvm::divideCeil(problem.elementBytes, 4);
}

static int64_t getThreads(const FMAPlan &plan) {
  return plan.tileM / plan.threadM * (plan.tileN / plan.threadN);
}

int64_t getFMARowLength(int64_t length, int64_t elementBytes) {
  return length + std::max(kPadding, kVectorBytes / elementBytes);
}

int64_t getSharedBytes(const FMAPlan &plan, int64_t elementBytes) {
  int64_t rows =
      getFMARowLength(plan.tileM, elementBytes) + getFMARowLength(plan.tileN, elementBytes);
  int64_t sums = plan.split > 1 ? plan.tileM * plan.tileN : 0;
  return (plan.stages * plan.tileK * rows + sums) * elementBytes;
}

FMAPlan toPlan(MatmulFMAAttr config) {
  FMAPlan plan{};
  plan.tileM = config.getTileM();
  plan.tileN = config.getTileN();
  plan.tileK = config.getTileK();
  plan.threadM = config.getThreadM();
  plan.threadN = config.getThreadN();
  plan.stages = config.getStages();
  plan.split = config.getSplit();
  return plan;
}

/// Copies, or loads, that a thread starts for each step.
static double countCopies(const FMAProblem &problem, const FMAPlan &plan) {
  return plan.tileK * (plan.tileM / double(problem.widthA) + plan.tileN / double(problem.widthB)) /
         getThreads(plan);
}

/// How many blocks run on a multiprocessor at a time; 0 if a block does not fit.
static int64_t countBlocks(const Target &target, const FMAProblem &problem, const FMAPlan &plan) {
  BlockNeeds needs;
  int64_t words = countWords(problem);
  needs.threads = getThreads(plan);
  needs.registers = llvm::alignTo(
      words * (plan.threadM * plan.threadN + 2 * (plan.threadM + plan.threadN)) + kOtherRegisters,
      8);
  needs.sharedBytes = getSharedBytes(plan, problem.elementBytes);
  return needs.sharedBytes > target.sharedPerBlock ? 0 : computeOccupancy(target, needs).blocks;
}

namespace {

/// What a step of one block takes of its multiprocessor, in cycles.
struct Step {
  double warps, issue, shared, alone, arrival, fetch; // `issue` of each warp, by its scheduler

  /// Of `blocks` blocks at a time; a scheduler has whole warps.
  double get(double blocks) const {
    double busiest = std::ceil(blocks * warps / kSchedulers);
    return std::max({busiest * issue + blocks * fetch, blocks * shared, alone, arrival});
  }
};

} // namespace

static Step getStep(const FMAProblem &problem, const FMAPlan &plan) {
  int64_t threads = getThreads(plan), words = countWords(problem);
  double warps = llvm::divideCeil(threads, kWarp);
  int64_t across = plan.tileN / plan.threadN, down = plan.tileM / plan.threadM;
  // A warp's threads lie in as square a patch as there is.
  bool isPatch = across % 8 == 0 && down % 4 == 0;
  int64_t lanesAcross = isPatch ? 8 : std::min<int64_t>(across, kWarp);
  int64_t lanesDown = isPatch ? 4 : llvm::divideCeil(kWarp, lanesAcross);
  auto countRows = [&](int64_t own, int64_t lanes) {
    double loads = llvm::divideCeil(own, 4) * words;
    return std::pair(loads, loads * std::max(2.0, lanes * kVectorBytes / double(kLineBytes)));
  };
  auto [loadsA, rowsA] = countRows(plan.threadM, lanesDown);
  auto [loadsB, rowsB] = countRows(plan.threadN, lanesAcross);
  double products = plan.threadM * plan.threadN * words;
  double copies = countCopies(problem, plan);
  double stores = problem.isCopied ? 0 : plan.tileK * (plan.tileM + plan.tileN) / double(threads);
  Step step;
  double perWarp = plan.tileK * (kProductCycles * products + loadsA + loadsB) + kCopyOps * copies +
                   stores + kStepOps;
  step.warps = warps;
  step.issue = perWarp / (problem.isCopied ? kCopiedIssue : kLoadedIssue);
  double bytes = plan.tileK * (plan.tileM + plan.tileN) * problem.elementBytes;
  auto getCopyCycles = [&](int64_t own, int64_t width) {
    double perThread = plan.tileK * own / double(width) / threads;
    double lines = width * problem.elementBytes * kWarp / double(kLineBytes);
    return perThread * (width == 1 ? kElementCopyCycles : 1 + lines);
  };
  step.shared = warps * (plan.tileK * (rowsA + rowsB) + getCopyCycles(plan.tileM, problem.widthA) +
                         getCopyCycles(plan.tileN, problem.widthB));
  // One k is read ahead where tiles are copied; ptxas reads several where a step has no barrier.
  step.alone = plan.tileK * std::max((kProductCycles * products + loadsA + loadsB) / kAlone,
                                     kSharedLatency) +
               kBarrierCycles;
  step.arrival = kCopyLatency / std::max<int64_t>(1, plan.stages - 1);
  step.fetch = bytes / kL2BytesPerCycle;
  return step;
}

static double estimate(const Target &target, const FMAProblem &problem, const FMAPlan &plan,
                       int64_t resident) {
  int64_t blocks = problem.batch * llvm::divideCeil(problem.m, plan.tileM) *
                   llvm::divideCeil(problem.n, plan.tileN) * plan.split;
  int64_t busiest = llvm::divideCeil(blocks, getClusterRoom(target, plan.split));
  double steps = llvm::divideCeil(llvm::divideCeil(problem.k, plan.tileK), plan.split);
  double bytes = plan.tileM * plan.tileN * problem.elementBytes;
  double store = bytes / kStoreBytesPerCycle / plan.split;
  if (plan.split > 1)
    store += kMeetCycles + bytes / kSentBytesPerCycle;
  Step step = getStep(problem, plan);
  auto getRound = [&](int64_t count) {
    return count == 0 ? 0 : steps * step.get(count) + count * store;
  };
  double cycles = llvm::divideCeil(busiest, resident) * kBlockCycles +
                  busiest / resident * getRound(resident) + getRound(busiest % resident);
  if (plan.split > 1)
    cycles *= 1 + kShareLoss;
  double factors = problem.k * static_cast<double>(problem.m + problem.n),
         sums = static_cast<double>(problem.m) * problem.n;
  double memory = problem.batch * (factors + sums) * problem.elementBytes / target.rates.memory;
  double busy = cycles / kClock, read = memory + kMemoryStart;
  return kLaunchTime + (std::max(busy, read) + kOverlapLoss * std::min(busy, read)) / 1000;
}

bool isCopiedAhead(const Target &target, int64_t k) { return target.hasAsyncCopy && k > kCopiedK; }

double estimateFMAPlan(const Target &target, const FMAProblem &problem, const FMAPlan &plan) {
  return estimate(target, problem, plan, std::max<int64_t>(1, countBlocks(target, problem, plan)));
}

/// True if clusters of blocks can share the sums of such tiles, and have some steps each.
static bool canSplit(const FMAProblem &problem, const FMAPlan &plan) {
  int64_t vectors = plan.threadM * plan.threadN / std::min<int64_t>(plan.threadN, 4);
  return problem.canShare && problem.isCopied && plan.stages > 2 && vectors % plan.split == 0 &&
         problem.k > (kFewestSteps * plan.split - 1) * plan.tileK;
}

FMAPlan chooseFMAPlan(const Target &target, const FMAProblem &problem, FMAPlan *second) {
  FMAPlan best{}, next{};
  best.microseconds = next.microseconds = std::numeric_limits<double>::infinity();
  auto consider = [&](FMAPlan plan) {
    bool isWide = problem.elementBytes > 4;
    if (isWide && (plan.threadM * plan.threadN > kMostWideSums || plan.tileK > kMostWideK))
      return;
    if (problem.isCopied && countCopies(problem, plan) > target.maxCopiesPerThread)
      return;
    int64_t mostSums = problem.isRoomy
                           ? target.maxSumsPerThread
                           : std::min<int64_t>(target.maxSumsPerThread, kMostCrampedSums);
    if (plan.threadM * plan.threadN > mostSums)
      return;
    // Short sums have no more tiles than are under way and one that is multiplied.
    if (problem.isCopied)
      plan.stages = std::min<int64_t>(plan.stages, llvm::divideCeil(problem.k, plan.tileK) + 1);
    for (int64_t split : kSplits) {
      plan.split = split;
      if (split > 1 && !canSplit(problem, plan))
        break;
      int64_t resident = countBlocks(target, problem, plan);
      if (resident == 0)
        break;
      plan.microseconds = estimate(target, problem, plan, resident);
      if (plan.microseconds < best.microseconds) {
        next = best;
        best = plan;
      } else if (plan.microseconds < next.microseconds) {
        next = plan;
      }
    }
  };
  for (const FMAPlan &plan : problem.isCopied ? llvm::ArrayRef<FMAPlan>(kCopiedPlans)
                                              : llvm::ArrayRef<FMAPlan>(kLoadedPlans)) {
    consider(plan);
    if (plan.tileM < 64 && plan.tileM != plan.tileN)
      consider({plan.tileN, plan.tileM, plan.tileK, plan.threadN, plan.threadM, plan.stages, 0});
  }
  if (second)
    *second = next;
  return best;
}

} // namespace xc::cuda
