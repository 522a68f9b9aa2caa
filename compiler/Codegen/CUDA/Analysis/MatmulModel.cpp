//===- MatmulModel.cpp - How long a matrix product on wgmma takes ---------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A step of a tile along k takes as long as the slower of two: multiplying it, or bringing its
// operands from L2, which all multiprocessors share. A tile takes its steps and the time to store
// its outputs; the product takes as many tiles as the busiest multiprocessor has, but no less than
// memory needs for each byte once, and a part of the shorter of both times. Rates are those that an
// H200 showed, not the data sheet's.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Analysis/MatmulModel.h"

#include "compiler/Codegen/CUDA/IR/CUDAConfig.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace xc::cuda {

/// Multiplications a cycle of one multiprocessor for 16-bit operands; half and double for 4 and 1
/// bytes.
static constexpr double kProductsPerCycle = 2048;
/// Bytes of operands that wgmma reads from shared memory, and that arrive there, in a cycle.
static constexpr double kSharedBytesPerCycle = 170;
/// GHz under full load of the tensor cores by 16-bit types, and otherwise.
static constexpr double kLoadedClock = 1.65, kLightClock = 1.75;
/// Bytes a cycle from L2 to one multiprocessor when all ask; and to one that asks while the other
/// one of its pair, which shares its way to L2, does not.
static constexpr double kL2BytesPerCycle = 55, kAloneL2BytesPerCycle = 110;
/// Bytes a nanosecond from memory, and the nanoseconds until it is at that rate.
static constexpr double kMemoryRate = 4390, kMemoryStart = 670;
/// What is left of the shorter one of the times of memory and of the busiest multiprocessor.
static constexpr double kOverlapLoss = 0.19;
/// Cycles until the first operands are there, and until a step's products are, beyond its share.
static constexpr double kFillCycles = 210, kStepCycles = 20;
/// Cycles that a step waits for its first factor on the way to registers, where no other warpgroup
/// multiplies meanwhile.
static constexpr double kReadCycles = 100;
/// Bytes of outputs that a multiprocessor converts and stores in a cycle, and the cycles of a tile
/// beside.
static constexpr double kStoreBytesPerCycle = 26, kTileCycles = 360;
/// Instructions a cycle for what is fused behind the product: a warp waits for its own results.
static constexpr double kOutputOpsPerCycle = 110;
/// Cycles from a copy's start to its bytes' arrival under load.
static constexpr double kLatencyCycles = 2070;
/// Cycles that a cluster's barriers take for each of its blocks, and the bytes a cycle that they
/// exchange.
static constexpr double kClusterCycles = 680, kClusterBytesPerCycle = 14.3;
/// What a step takes longer where blocks fetch for each other, and the cycles until they have met.
static constexpr double kShareLoss = 0.05, kMeetCycles = 2500;
/// Large clusters leave one in so many multiprocessors idle: they do not cross the groups that
/// multiprocessors come in, whose sizes are no multiples of theirs.
static constexpr int64_t kLargeCluster = 4, kIdleShare = 11;
/// Cycles of a step whose second factor threads turn, and those for each of the rows of the
/// factors.
static constexpr double kTurnCycles = 400, kReadRowCycles = 2.2, kTurnRowCycles = 6.5;
/// Microseconds that a launch behind another kernel costs.
static constexpr double kLaunchTime = 0.7;

/// Rows of one wgmma.
static constexpr int64_t kInstructionRows = 64;
static constexpr int64_t kTileAlignment = 1024, kLineBytes = 128;
/// What the distance of rows must be a multiple of for the copy engine.
static constexpr int64_t kRowBytes = 16;
static constexpr int64_t kSplitSums = 64;
/// The most rows that a box has.
static constexpr int64_t kMostBoxRows = 256;

int64_t getClusterRoom(const Target &target, int64_t cluster) {
  int64_t room = target.multiprocessors;
  if (cluster >= kLargeCluster)
    room -= room / kIdleShare;
  return room / cluster * cluster;
}

/// True if wgmma cannot read the first factor from shared memory.
static bool isReadAcross(const MatmulProblem &problem) {
  return problem.elementBytes != 2 && !problem.isKContiguousA;
}

static WarpgroupRegisters getRegisters(const MatmulProblem &problem, int64_t tileN,
                                       int64_t warpgroups, int64_t blocks) {
  int64_t words = problem.turnsB ? countTurnedWords(tileN, problem.elementBytes) : 0;
  return getWarpgroupRegisters(warpgroups, blocks, words);
}

static int64_t getSharedBytes(const MatmulProblem &problem, const WGMMAPlan &plan) {
  int64_t stage = llvm::alignTo(plan.tileM * plan.tileK * problem.elementBytes, kTileAlignment) +
                  llvm::alignTo(plan.tileN * plan.tileK * problem.elementBytes, kTileAlignment);
  int64_t staging = 0;
  if (problem.storesBoxes)
    for (int64_t columns : {128, 64, 32, 16})
      if (plan.tileN / plan.split % columns == 0) {
        staging = plan.warpgroups * 64 * columns * problem.outputBytes;
        break;
      }
  if (plan.split > 1)
    staging += plan.tileM * plan.tileN * 4;
  return plan.stages * (stage + 16) + staging;
}

/// Fills in the number of stages; false if there is no room for two.
static bool fit(const Target &target, const MatmulProblem &problem, WGMMAPlan &plan) {
  int64_t room =
      std::min<int64_t>(target.sharedPerBlock, target.sharedPerMultiprocessor / plan.blocks - 1024);
  plan.stages = 1;
  int64_t steps = llvm::divideCeil(problem.k, plan.tileK * plan.split) + 1;
  // More stages than steps, or than hide memory's latency, are of no use.
  while (plan.stages < 12 && plan.stages < std::max<int64_t>(steps, 2)) {
    WGMMAPlan more = plan;
    ++more.stages;
    if (getSharedBytes(problem, more) > room)
      break;
    plan = more;
  }
  return plan.stages >= 2;
}

/// Lines of the cache that those of a tile's operand lie in, for each of its own: more than one
/// where the rows in memory, of `elements` elements, do not begin with one. Those that cannot be
/// copied so are moved to where they do.
static double countLines(int64_t elements, int64_t elementBytes) {
  int64_t bytes = elements * elementBytes;
  return bytes % kRowBytes ? 1 : 2 - std::gcd(bytes, kLineBytes) / double(kLineBytes);
}

/// Bytes that a block fetches from L2 for a step.
static double getFetchedBytes(const MatmulProblem &problem, const WGMMAPlan &plan) {
  double a = countLines(problem.isKContiguousA ? problem.k : problem.m, problem.elementBytes),
         b = countLines(problem.isKContiguousB ? problem.k : problem.n, problem.elementBytes);
  return (std::min(plan.tileM, problem.m) * a / plan.clusterN +
          std::min(plan.tileN, problem.n) * b / plan.clusterM) *
         plan.tileK * problem.elementBytes;
}

/// Cycles that multiplying a step's operands takes, of `together` blocks of a multiprocessor.
static double getMultiplyCycles(const MatmulProblem &problem, const WGMMAPlan &plan,
                                double together) {
  double products =
      plan.tileM * plan.tileN * plan.tileK * problem.elementBytes / (kProductsPerCycle * 2);
  // Columns are read again for each 64 rows: of small tiles that takes longer than the products.
  int64_t read = plan.tileM + plan.tileM / kInstructionRows * plan.tileN,
          written = std::min(plan.tileM, problem.m) + std::min(plan.tileN, problem.n);
  double shared = (read + written) * plan.tileK * problem.elementBytes / kSharedBytesPerCycle;
  double cycles = std::max(products, shared) + kStepCycles / together;
  if (isReadAcross(problem) && plan.warpgroups == plan.turns)
    cycles += kReadCycles / together;
  return cycles;
}

/// Cycles that bringing a step's operands takes where `blocks` blocks do it.
static double getFetchCycles(const Target &target, const MatmulProblem &problem,
                             const WGMMAPlan &plan, int64_t blocks, double together) {
  bool isAlone = blocks * 2 <= target.multiprocessors;
  double fetch =
      getFetchedBytes(problem, plan) / (isAlone ? kAloneL2BytesPerCycle : kL2BytesPerCycle);
  // Of a factor that threads turn one step is under way, and it passes through L1 and registers.
  if (problem.turnsB)
    fetch =
        std::max(fetch, kTurnCycles + kReadRowCycles * plan.tileM + kTurnRowCycles * plan.tileN);
  // What is under way covers memory's latency, or does not.
  return std::max(fetch, kLatencyCycles / (plan.stages * together));
}

/// Nanoseconds that memory needs for every byte once.
static double getMemoryTime(const MatmulProblem &problem) {
  double operands =
      problem.batch * problem.k * problem.elementBytes * static_cast<double>(problem.m + problem.n);
  double results = static_cast<double>(problem.batch * problem.m * problem.n * problem.outputBytes);
  return (operands + results) / kMemoryRate;
}

double estimateWGMMAPlan(const Target &target, const MatmulProblem &problem,
                         const WGMMAPlan &plan) {
  int64_t cluster = plan.clusterM * plan.clusterN;
  int64_t blocks = problem.batch * llvm::divideCeil(problem.m, plan.tileM * plan.clusterM) *
                   llvm::divideCeil(problem.n, plan.tileN * plan.clusterN) * cluster * plan.split;
  int64_t steps = llvm::divideCeil(llvm::divideCeil(problem.k, plan.tileK), plan.split);
  int64_t busiest = llvm::divideCeil(blocks, getClusterRoom(target, plan.split * cluster));
  // Blocks of one multiprocessor take turns: one stores while the other one multiplies.
  double together = std::min<double>(plan.blocks, busiest);
  double multiply = getMultiplyCycles(problem, plan, together),
         fetch = getFetchCycles(target, problem, plan, blocks, together);
  double step = std::max(multiply, fetch);
  double outputs = static_cast<double>(plan.tileM * plan.tileN / plan.split);
  double store = outputs * problem.outputBytes / kStoreBytesPerCycle +
                 outputs * problem.outputOps / kOutputOpsPerCycle + kTileCycles;
  double start = kFillCycles;
  if (cluster > 1) {
    step *= 1 + kShareLoss;
    start += kMeetCycles;
  }
  double cycles = start + busiest * (steps * step + store / together) + store * (1 - 1 / together);
  // Teams that take turns store while the other one multiplies; half as many threads store a tile.
  if (plan.turns > 1)
    cycles = start + busiest * std::max(steps * step, (steps * step + 2 * store) / 2) + 2 * store;
  // The tensor cores are busy, everywhere and for long.
  bool isLoaded = problem.elementBytes == 2 && multiply > fetch &&
                  blocks > 0.9 * target.multiprocessors && busiest * steps > 64;
  double clock = isLoaded ? kLoadedClock : kLightClock;
  // A cluster adds up its sums once all operands are there, whatever those waited for.
  double exchange = 0;
  if (plan.split > 1)
    exchange = busiest *
               (kClusterCycles * plan.split + plan.tileM * plan.tileN * 4 / kClusterBytesPerCycle);
  double busy = cycles / clock, read = getMemoryTime(problem);
  return kLaunchTime + (kMemoryStart + std::max(busy, read) + kOverlapLoss * std::min(busy, read) +
                        exchange / clock) /
                           1000;
}

/// True if the operand's lines can be copied: along its own dim they hold 32 or 64 bytes, or whole
/// 128.
static bool hasWholeLines(int64_t own, bool isKContiguous, const MatmulProblem &problem) {
  int64_t bytes = own * problem.elementBytes;
  return isKContiguous || bytes % 128 == 0 || bytes == 64 || bytes == 32;
}

/// Rows of the boxes that bring the first factor: the blocks of a cluster's row share them, and a
/// block alone fetches no more than there are.
static int64_t getBoxRows(const MatmulProblem &problem, const WGMMAPlan &plan) {
  int64_t rows = (problem.isKContiguousA ? plan.tileM : plan.tileK) / plan.clusterN;
  return plan.clusterN == 1 && problem.isKContiguousA ? std::min(rows, problem.m) : rows;
}

bool fitsRowParts(int64_t columns, bool isSwapped, int64_t elementBytes, int64_t rows,
                  int64_t ownColumns) {
  if (columns == 1 || !isSwapped)
    return ownColumns % columns == 0;
  // A warp has 32 neighbouring rows where fragments are read across lines: always of bytes, of
  // words if its warpgroup has two parts.
  return columns == 32 && (elementBytes == 1 || rows == 128);
}

static bool fitsRowParts(const MatmulProblem &problem, const WGMMAPlan &plan) {
  return fitsRowParts(problem.partColumns, problem.isSwapped, problem.elementBytes,
                      plan.tileM / (plan.warpgroups / plan.turns), plan.tileN / plan.split);
}

std::string checkWGMMAPlan(const Target &target, const MatmulProblem &problem,
                           const WGMMAPlan &plan) {
  int64_t bytes = problem.elementBytes, stepBytes = plan.tileK * bytes;
  if (getBoxRows(problem, plan) > kMostBoxRows)
    return "a box has at most " + std::to_string(kMostBoxRows) + " rows, not " +
           std::to_string(getBoxRows(problem, plan));
  if (!hasWholeLines(plan.tileM, problem.isKContiguousA, problem) ||
      (!problem.turnsB && !hasWholeLines(plan.tileN, problem.isKContiguousB, problem)))
    return "an operand that is not contiguous along k needs lines of 32, 64 or a multiple of 128 "
           "bytes";
  if (stepBytes % 32 != 0)
    return "steps along k must be multiples of 32 bytes";
  if (bytes == 1 && plan.tileN != 8 && plan.tileN != 24 && plan.tileN % 16 != 0)
    return "bytes need 8, 24 or a multiple of 16 columns";
  if (problem.turnsB && (stepBytes != 128 || plan.tileN % getTurnedRows(bytes) != 0))
    return "a second factor that threads turn needs steps of 128 bytes along k, and multiples of " +
           std::to_string(getTurnedRows(bytes)) + " columns";
  if (isReadAcross(problem)) {
    int64_t team = plan.warpgroups / plan.turns, parts = plan.tileM / team / 64;
    int64_t available = getRegisters(problem, plan.tileN, plan.warpgroups, plan.blocks).consumer;
    if (plan.clusterM * plan.clusterN > 1 || stepBytes % 64 != 0 ||
        (parts != 2 && (parts != 1 || bytes != 4)) ||
        parts * (plan.tileN / 2 + 16) + 40 > available)
      return "a first factor that goes through registers needs blocks that fetch for themselves, "
             "128 rows for each warpgroup (or 64 of f32), multiples of 64 bytes along k, and sums "
             "that leave it room";
  }
  if (!fitsRowParts(problem, plan))
    return "parts of " + std::to_string(problem.partColumns) +
           " columns, in which rows are reduced, must not be in two warps";
  if (getSharedBytes(problem, plan) > target.sharedPerBlock)
    return "a block has " + std::to_string(target.sharedPerBlock) +
           " bytes of shared memory, not " + std::to_string(getSharedBytes(problem, plan));
  return {};
}

llvm::SmallVector<WGMMAPlan> rankWGMMAPlans(const Target &target, const MatmulProblem &problem) {
  struct Shape {
    int64_t tileM, tileN, warpgroups, turns = 1;
  };
  // How many blocks split a tile's sums, and rows and columns of such that fetch for each other.
  struct Group {
    int64_t split, clusterM = 1, clusterN = 1;
  };
  static constexpr Group groups[] = {{1}, {2}, {4}, {8}, {1, 2}, {1, 1, 2}};
  static constexpr Shape shapes[] = {
      {128, 256, 2},   {256, 128, 2},    {192, 192, 3},    {128, 192, 2},   {192, 128, 3},
      {128, 128, 2},   {128, 96, 2},     {128, 64, 2},     {64, 256, 1},    {64, 192, 1},
      {64, 128, 1},    {64, 96, 1},      {64, 64, 1},      {64, 32, 1},     {64, 16, 1},
      {128, 128, 1},   {128, 192, 2, 2}, {128, 128, 2, 2}, {128, 96, 2, 2}, {64, 256, 2, 2},
      {64, 128, 2, 2},
  };
  // Bytes that go through registers need 128 rows a warpgroup; others have narrow tiles above.
  static constexpr Shape tallShapes[] = {{128, 64, 1}, {128, 32, 1}, {128, 16, 1}};
  llvm::SmallVector<Shape> candidates(std::begin(shapes), std::end(shapes));
  if (isReadAcross(problem))
    llvm::append_range(candidates, tallShapes);
  llvm::SmallVector<WGMMAPlan> plans;
  auto consider = [&](const Shape &shape, int64_t blocks, const Group &group) {
    int64_t split = group.split, cluster = group.clusterM * group.clusterN;
    // Each block of a group needs a tile of its own.
    if (cluster > 1 && (blocks > 1 || problem.m <= shape.tileM * (group.clusterM - 1) ||
                        problem.n <= shape.tileN * (group.clusterN - 1)))
      return;
    int64_t team = shape.warpgroups / shape.turns, parts = shape.tileM / team / 64;
    int64_t sums = parts * shape.tileN / 2;
    // Both halves of a step's first factor are in registers where wgmma cannot read it across k.
    bool inRegisters = isReadAcross(problem);
    int64_t fragments = inRegisters ? 16 * parts : 0;
    // Outputs that threads store themselves take places of their own.
    int64_t others = problem.storesBoxes ? 40 : 48;
    WarpgroupRegisters registers = getRegisters(problem, shape.tileN, shape.warpgroups, blocks);
    // Sums of two parts and those that other blocks send do not fit beside what turning takes.
    if (problem.turnsB && split > 1 && sums > kSplitSums)
      return;
    int64_t steps = llvm::divideCeil(problem.k, 128 / problem.elementBytes);
    // Each block of a cluster needs a part of k and of the columns.
    bool canSplit = split == 1 || (shape.tileN % (8 * split) == 0 &&
                                   (split - 1) * llvm::divideCeil(steps, split) < steps);
    // Two blocks a multiprocessor start with so few registers that all of a thread's sums must fit
    // them: ptxas spills otherwise, but where one warpgroup gets the other's in time.
    bool takesAll = team == 1 && !inRegisters;
    bool fitsStart = blocks == 1 || takesAll || sums + fragments + 28 <= registers.launched;
    // Rows beyond the product's are fetched and added up for nothing.
    bool wastesRows = shape.tileM > 64 && problem.m <= shape.tileM / 2;
    // Teams that take turns on one multiprocessor do what two blocks would.
    bool isDouble = shape.turns > 1 && (blocks > 1 || split > 1);
    if (!canSplit || wastesRows || !fitsStart || isDouble ||
        sums + fragments + others > registers.consumer || shape.tileN / 2 + 28 > registers.launched)
      return;
    WGMMAPlan plan{shape.tileM,
                   shape.tileN,
                   128 / problem.elementBytes,
                   shape.warpgroups,
                   0,
                   1,
                   blocks,
                   split,
                   shape.turns,
                   group.clusterM,
                   group.clusterN,
                   0};
    if (!fit(target, problem, plan) || !checkWGMMAPlan(target, problem, plan).empty())
      return;
    // Square groups of tiles are shared best.
    double rows = std::sqrt(target.multiprocessors / double(cluster) * plan.tileN * plan.clusterN /
                            (plan.tileM * plan.clusterM));
    plan.raster = std::max<int64_t>(1, std::lround(rows));
    plan.microseconds = estimateWGMMAPlan(target, problem, plan);
    plans.push_back(plan);
  };
  for (const Shape &shape : candidates)
    for (int64_t blocks : {1, 2})
      for (const Group &group : groups)
        consider(shape, blocks, group);
  llvm::stable_sort(plans, [](const WGMMAPlan &lhs, const WGMMAPlan &rhs) {
    return lhs.microseconds < rhs.microseconds;
  });
  return plans;
}

} // namespace xc::cuda
