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

#include "compiler/Codegen/CUDA/Matmul/MatmulModel.h"

#include "compiler/Codegen/CUDA/Matmul/MatmulLimits.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <numeric>

namespace xc::cuda {

/// Multiplications a cycle of one multiprocessor for 16-bit operands; half and double for 4 and 1
/// bytes.
static constexpr double kProductsPerCycle = 2048;
/// Bytes of operands that wgmma reads from shared memory, and that arrive there, in a cycle.
static constexpr double kSharedBytesPerCycle = 170;
/// GHz under full load of the tensor cores by 16-bit types in tiles of 128 x 256, and otherwise;
/// and what the former loses by the rows and columns that are moved for a product.
static constexpr double kLoadedClock = 1.65, kLightClock = 1.75, kMovedShare = 26;
/// Tensor cores are busy that multiply for this share of the time that fetching takes.
static constexpr double kBusyShare = 0.93;
/// Bytes a cycle from L2 to one multiprocessor when all ask; and to one that asks while the other
/// one of its pair, which shares its way to L2, does not.
static constexpr double kL2BytesPerCycle = 55, kAloneL2BytesPerCycle = 110;
/// Bytes a nanosecond from memory, and the nanoseconds until it is at that rate.
static constexpr double kMemoryRate = 4390, kMemoryStart = 670;
/// The same of bytes that are written, in rows of any length, and bytes of a row that each costs
/// beside its own: 6536 x 11936 of 16 bits took 53 us in rows of 512 bytes, and 62 in such of 256.
static constexpr double kWriteRate = 3300, kWriteRowBytes = 64;
/// Nanoseconds from a copy's start to its arrival from memory where that is read at its rate: so
/// much has to be under way in all rings. A sum of 14336 for 8 x 4096 took 28 us with 14 MB under
/// way, and 38 to 43 us with 7 to 8 MB.
static constexpr double kMemoryLatency = 3200;
/// What reading takes longer where multiprocessors do not ask, times their share, and the
/// nanoseconds from when on: 34 us, not 30, where half of them do.
static constexpr double kIdleLoss = 0.4, kBurst = 5000;
/// How much a line counts that a tile has with its neighbour, which fetches the same; and the
/// second one of those that a copied line lies in, of which few sectors are read.
static constexpr double kCutLineShare = 0.5, kSecondLineShare = 0.5;
/// Cycles that the copy engine takes for each row of a box, of up to 128 bytes.
static constexpr double kBoxRowCycles = 2.1;
/// What is left of the shorter one of the times of memory and of the busiest multiprocessor.
static constexpr double kOverlapLoss = 0.19;
/// Cycles until the first operands are there, and until a step's products are, beyond its share.
static constexpr double kFillCycles = 210, kStepCycles = 20;
/// Cycles that a step waits for operand A on its way to registers, where no other warpgroup
/// multiplies meanwhile.
static constexpr double kReadCycles = 100;
/// Bytes of outputs that a multiprocessor converts and stores in a cycle, and the cycles of a tile
/// beside.
static constexpr double kStoreBytesPerCycle = 26, kTileCycles = 360;
/// The same where threads store rows of f32 that begin anywhere, a few elements at a time: from
/// where they computed them, or from shared memory.
static constexpr double kScatteredBytesPerCycle = 4, kOddBytesPerCycle = 10;
/// Instructions a cycle for what is fused behind the product: a warp waits for its own results.
static constexpr double kOutputOpsPerCycle = 110;
/// Bytes a cycle that threads load for themselves of what each output has an element of: a residual
/// of 128 x 28 x 28 x 128 took 5 us longer so than through the ring.
static constexpr double kLoadedBytesPerCycle = 16;
/// Cycles from the start of a copy to its arrival, beside those that its bytes take.
static constexpr double kLatencyCycles = 900;
/// What a step takes longer where so few stages at most are under way that one late copy delays it.
static constexpr int64_t kFewStages = 3;
static constexpr double kFewStagesLoss = 0.04;
/// Cycles that a cluster's barriers take for each of its blocks, and the bytes a cycle that they
/// exchange.
static constexpr double kClusterCycles = 300, kClusterBytesPerCycle = 28;
/// How much longer they take for those whose columns of pixels lie across k: 22 partial sums by
/// pairs of blocks took 24.6 us, where 44 of single ones took 21.2.
static constexpr double kAcrossExchange = 2;
/// What a step takes longer where blocks fetch for each other, and the cycles until they have met.
static constexpr double kShareLoss = 0.05, kMeetCycles = 1100;
/// Nanoseconds until blocks begin that find no place beside those of the kernel before.
static constexpr double kLateStart = 1000;
/// What reading takes longer where a multiprocessor has room for two blocks of which there is one
/// for each: those that begin while the kernel before ends crowd where that ends first. In a chain
/// of products of 8 rows by 14336 x 4096 one took 34 us, and 28 where no two blocks fit.
static constexpr double kCrowdLoss = 0.2;
/// Large clusters leave one in so many multiprocessors idle: they do not cross the groups that
/// multiprocessors come in, whose sizes are no multiples of theirs.
static constexpr int64_t kLargeCluster = 4, kIdleShare = 11;
/// Cycles of a step of which threads bring an operand, and those for each of the rows of one that
/// boxes bring, and of one that is transposed.
static constexpr double kTransposeCycles = 400, kReadRowCycles = 2.2, kTransposeRowCycles = 6.5;
/// Where threads load an operand as it lies, a step waits for what it has loaded, unless that was
/// two steps ahead; and each line takes so long, once for each load of a word of it.
static constexpr double kLoadStartCycles = 1000, kLoadLineCycles = 5.5;
/// Cycles that the copy engine takes for each pixel of a column, in lines of up to 128 bytes.
static constexpr double kPixelCycles = 3.5;
/// Microseconds that a launch behind another kernel costs.
static constexpr double kLaunchTime = 0.4;

int64_t getClusterRoom(const Target &target, int64_t cluster) {
  int64_t room = target.multiprocessors;
  if (cluster >= kLargeCluster)
    room -= room / kIdleShare;
  return room / cluster * cluster;
}

/// Lines of the cache that a tile's `bytes` bytes of a row lie in, for each of its own where rows
/// of `rowBytes` do not begin with lines: each copied line is then in two. Rows that cannot be
/// copied so are moved to where they begin with lines.
static double countLines(int64_t bytes, int64_t rowBytes) {
  int64_t step = rowBytes % kRowBytes ? kLineBytes : std::gcd(rowBytes, kLineBytes);
  return bytes / double(kLineBytes) * (2 - step / double(kLineBytes));
}

/// As many more where tiles do not begin with lines, or their last line ends early.
static double countCutLines(int64_t bytes, int64_t rowBytes) {
  int64_t step = std::gcd(std::gcd(bytes, rowBytes % kRowBytes ? 0 : rowBytes), kLineBytes);
  int64_t whole = bytes / kLineBytes, tail = bytes % kLineBytes;
  double line = kLineBytes, touched = whole * (2 - step / line);
  if (tail)
    touched += 1 + std::max<int64_t>(0, tail - step) / line;
  return std::max(0.0, touched - countLines(bytes, rowBytes));
}

/// Bytes of L2's lines that a step of one operand's tile, of `own` rows or columns of `size`, takes
/// where `sharers` blocks fetch it together; what tiles cut is no less for each of them.
static double getFetchedBytes(const MatmulProblem &problem, const WGMMAPlan &plan, int64_t own,
                              int64_t size, bool isKContiguous, int64_t sharers) {
  int64_t bytes = problem.elementBytes;
  own = std::min(own, size);
  double step = static_cast<double>(plan.tileK * bytes) / kLineBytes;
  double second = countLines(plan.tileK * bytes, problem.k * bytes) - step;
  double lines = isKContiguous
                     ? own * (step + kSecondLineShare * second) / sharers
                     : plan.tileK * (countLines(own * bytes, size * bytes) / sharers +
                                     kCutLineShare * countCutLines(own * bytes, size * bytes));
  return lines * kLineBytes;
}

/// Bytes of a step that arrive at a multiprocessor, whoever has asked for them.
static double getArrivingBytes(const MatmulProblem &problem, const WGMMAPlan &plan) {
  int64_t lines = std::min(plan.tileM, problem.m) + std::min(plan.tileN, problem.n);
  return static_cast<double>(lines * plan.tileK * problem.elementBytes);
}

/// Bytes that a block fetches from L2 for a step.
static double getFetchedBytes(const MatmulProblem &problem, const WGMMAPlan &plan) {
  return getFetchedBytes(problem, plan, plan.tileM, problem.m, problem.isKContiguousA,
                         plan.clusterN) +
         getFetchedBytes(problem, plan, plan.tileN, problem.n, problem.isKContiguousB,
                         plan.clusterM);
}

/// GHz where the tensor cores are busy everywhere and for long: power limits it, of which narrow
/// tiles take more, as their operands are moved more often.
static double getLoadedClock(const WGMMAPlan &plan) {
  constexpr double kBest = 1.0 / 128 + 1.0 / 256;
  double moved = 1.0 / plan.tileM + 1.0 / plan.tileN;
  return kLoadedClock / (1 + kMovedShare * std::max(0.0, moved - kBest));
}

/// Cycles that multiplying a step's operands takes, of `together` blocks of a multiprocessor.
static double getMultiplyCycles(const MatmulProblem &problem, const WGMMAPlan &plan,
                                double together) {
  double products =
      plan.tileM * plan.tileN * plan.tileK * problem.elementBytes / (kProductsPerCycle * 2);
  // Columns are re-read for each 64 rows: of small tiles that takes longer than the products.
  int64_t read = plan.tileM + plan.tileM / kInstructionRows * plan.tileN,
          written = std::min(plan.tileM, problem.m) + std::min(plan.tileN, problem.n);
  double shared = (read + written) * plan.tileK * problem.elementBytes / kSharedBytesPerCycle;
  double cycles = std::max(products, shared) + kStepCycles / together;
  if (isReadAcross(problem) && plan.getWarpgroupsPerTile() == 1)
    cycles += kReadCycles / together;
  return cycles;
}

/// Cycles that a step's pixels take, of which each panel of the tile has a column, and beside it
/// the boxes of the other operand.
static double getAcrossCycles(const MatmulProblem &problem, const WGMMAPlan &plan) {
  bool isA = problem.across == MatmulProblem::Across::A;
  int64_t own = getAcrossTile(problem, plan), bytes = problem.elementBytes;
  double lines = countLines(kLineBytes, problem.channels * bytes);
  double pixels = static_cast<double>(plan.tileK * llvm::divideCeil(own * bytes, kLineBytes));
  double other = isA ? getFetchedBytes(problem, plan, plan.tileN, problem.n, problem.isKContiguousB,
                                       plan.clusterM)
                     : getFetchedBytes(problem, plan, plan.tileM, problem.m, problem.isKContiguousA,
                                       plan.clusterN);
  return kPixelCycles * lines * pixels + other / kL2BytesPerCycle;
}

/// Rows of boxes that a block fetches of one operand for a step.
static double countBoxRows(const MatmulProblem &problem, const WGMMAPlan &plan, int64_t own,
                           bool isKContiguous, int64_t sharers) {
  int64_t bytes = problem.elementBytes;
  int64_t rows = isKContiguous ? own * llvm::divideCeil(plan.tileK * bytes, kLineBytes)
                               : plan.tileK * llvm::divideCeil(own * bytes, kLineBytes);
  return static_cast<double>(rows) / static_cast<double>(sharers);
}

/// Cycles that the copy engine takes for the boxes of a step's operands.
static double getBoxCycles(const MatmulProblem &problem, const WGMMAPlan &plan) {
  double rows = 0;
  if (!problem.loadsA)
    rows += countBoxRows(problem, plan, std::min(plan.tileM, problem.m), problem.isKContiguousA,
                         plan.clusterN);
  if (!problem.transposesB && !problem.loadsB)
    rows += countBoxRows(problem, plan, std::min(plan.tileN, problem.n), problem.isKContiguousB,
                         plan.clusterM);
  return kBoxRowCycles * rows;
}

/// The same where threads bring one: a step is under way, and passes through L1 and registers.
static double getThreadCycles(const MatmulProblem &problem, const WGMMAPlan &plan) {
  auto getLineCycles = [](int64_t loads) {
    return loads ? kLoadLineCycles * static_cast<double>(loads) : kReadRowCycles;
  };
  double a = getLineCycles(problem.loadsA);
  double b = problem.transposesB ? kTransposeRowCycles : getLineCycles(problem.loadsB);
  // Lines behind the last one are not loaded.
  int64_t rowsA = problem.loadsA ? std::min(plan.tileM, problem.m) : plan.tileM,
          rowsB = problem.loadsB ? std::min(plan.tileN, problem.n) : plan.tileN;
  auto depth = static_cast<double>(getDepth(problem, plan.tileM, plan.tileN));
  double start = problem.loadsLines() ? kLoadStartCycles / depth : kTransposeCycles;
  return start + a * static_cast<double>(rowsA) + b * static_cast<double>(rowsB);
}

/// Cycles that bringing a step's operands takes where `blocks` blocks do it.
static double getFetchCycles(const Target &target, const MatmulProblem &problem,
                             const WGMMAPlan &plan, int64_t blocks, double together) {
  bool isAlone = blocks * 2 <= target.multiprocessors;
  double bytes = std::max(getFetchedBytes(problem, plan), getArrivingBytes(problem, plan));
  double fetch = bytes / (isAlone ? kAloneL2BytesPerCycle : kL2BytesPerCycle);
  if (!problem.isConvolution() && !problem.isAcross())
    fetch = std::max(fetch, getBoxCycles(problem, plan));
  // The engine looks for each pixel of a column by itself, and for more lines where pixels do not
  // begin with one; the filter's boxes come beside.
  if (problem.isConvolution()) {
    double pixels = static_cast<double>(std::min(plan.tileM, problem.m)) / plan.clusterN;
    double lines = countLines(kLineBytes, problem.k * problem.elementBytes);
    double filter = getFetchedBytes(problem, plan, plan.tileN, problem.n, problem.isKContiguousB,
                                    plan.clusterM);
    fetch = std::max(fetch, kPixelCycles * lines * pixels + filter / kL2BytesPerCycle);
  }
  if (problem.isAcross())
    fetch = std::max(fetch, getAcrossCycles(problem, plan));
  if (problem.isByThreads())
    fetch = std::max(fetch, getThreadCycles(problem, plan));
  // One stage is multiplied while those behind it are under way, and arrive one after another.
  double waits = (kLatencyCycles + fetch) / (static_cast<double>(plan.stages - 1) * together);
  return std::max(fetch, waits);
}

/// Nanoseconds that memory needs for every byte once, of which rings hold `underWay` at a time,
/// where a share of `idle` of the multiprocessors has none.
static double getMemoryTime(const MatmulProblem &problem, const WGMMAPlan &plan, double underWay,
                            double idle) {
  int64_t pixels = problem.isConvolution() ? problem.pixels : problem.m;
  double operands = problem.batch * problem.k * problem.elementBytes *
                    static_cast<double>(pixels + problem.taps * problem.n);
  if (problem.sharedElements > 0)
    operands = static_cast<double>(problem.sharedElements * problem.elementBytes);
  double outputs = static_cast<double>(problem.batch * problem.m * problem.n);
  operands += outputs * static_cast<double>(problem.sideBytes);
  double results = outputs * static_cast<double>(problem.outputBytes * problem.outputPlaces);
  // Whole rows lie behind each other.
  auto [columns, all] = problem.isSwapped ? std::pair(plan.tileM * plan.clusterM, problem.m)
                                          : std::pair(plan.tileN * plan.clusterN, problem.n);
  if (problem.outputBytes > 0 && columns < all)
    results *= 1 + kWriteRowBytes / static_cast<double>(columns * problem.outputBytes);
  double late = std::max(0.0, operands - underWay) / underWay * kMemoryLatency;
  double read = operands / kMemoryRate + results / kWriteRate;
  return std::max(read + kIdleLoss * idle * std::max(0.0, read - kBurst), late);
}

/// Cycles of a tile in which its side inputs come through the ring, behind its steps.
static double getSideCycles(const Target &target, const MatmulProblem &problem,
                            const WGMMAPlan &plan, int64_t blocks) {
  bool isAlone = blocks * 2 <= target.multiprocessors;
  double bytes = static_cast<double>(countRingInputs(problem, plan) * problem.elementBytes *
                                     plan.tileM * (plan.tileN / plan.split));
  return bytes / (isAlone ? kAloneL2BytesPerCycle : kL2BytesPerCycle);
}

/// Cycles that threads take for a tile's outputs once their sums are there.
static double getStoreCycles(const MatmulProblem &problem, const WGMMAPlan &plan) {
  double outputs = static_cast<double>(plan.tileM * plan.tileN / plan.split);
  double storeRate = !problem.hasOddRows ? kStoreBytesPerCycle
                     : problem.isStaged  ? kOddBytesPerCycle
                                         : kScatteredBytesPerCycle;
  auto loaded = static_cast<double>(problem.sideBytes -
                                    countRingInputs(problem, plan) * problem.elementBytes);
  return outputs * static_cast<double>(problem.outputBytes * problem.outputPlaces) / storeRate +
         outputs * static_cast<double>(problem.outputOps) / kOutputOpsPerCycle +
         outputs * loaded / kLoadedBytesPerCycle + kTileCycles;
}

double estimateWGMMAPlan(const Target &target, const MatmulProblem &problem,
                         const WGMMAPlan &plan) {
  int64_t cluster = plan.clusterM * plan.clusterN;
  int64_t blocks = countBlocks(problem, plan);
  int64_t steps = llvm::divideCeil(countSteps(problem, plan.tileK), plan.split);
  int64_t busiest = llvm::divideCeil(blocks, getClusterRoom(target, plan.split * cluster));
  // Blocks of one multiprocessor overlap: one stores while the other one multiplies.
  double together = std::min<double>(plan.blocks, busiest);
  double multiply = getMultiplyCycles(problem, plan, together),
         fetch = getFetchCycles(target, problem, plan, blocks, together);
  double step = std::max(multiply, fetch);
  double store = getStoreCycles(problem, plan), start = kFillCycles;
  if (plan.stages * together <= kFewStages)
    step *= 1 + kFewStagesLoss;
  if (cluster > 1) {
    step *= 1 + kShareLoss;
    start += kMeetCycles;
  }
  double work = steps * step + getSideCycles(target, problem, plan, blocks);
  double cycles = start + busiest * (work + store / together) + store * (1 - 1 / together);
  // Ping-pong warpgroups store while the other one multiplies; half as many threads store a tile.
  if (plan.pingPong)
    cycles = start + busiest * std::max(work, (work + 2 * store) / 2) + 2 * store;
  // The tensor cores are busy, everywhere and for long.
  bool isLoaded = problem.elementBytes == 2 && multiply > kBusyShare * fetch &&
                  blocks > 0.9 * target.multiprocessors && busiest * steps > 64;
  double clock = isLoaded ? getLoadedClock(plan) : kLightClock;
  // A cluster adds up its sums once all operands are there, whatever those waited for.
  double exchange = 0;
  if (plan.split > 1)
    exchange = busiest *
               (kClusterCycles * plan.split + plan.tileM * plan.tileN * 4 / kClusterBytesPerCycle);
  if (problem.isAcross())
    exchange *= kAcrossExchange;
  double rings = static_cast<double>(
      std::min<int64_t>(blocks, plan.blocks * static_cast<int64_t>(target.multiprocessors)));
  double underWay = rings * static_cast<double>(plan.stages) * getFetchedBytes(problem, plan);
  double idle = std::max(0.0, 1 - static_cast<double>(blocks) / target.multiprocessors);
  double busy = cycles / clock, read = getMemoryTime(problem, plan, underWay, idle);
  // Where memory has less to do than the multiprocessors it may begin late.
  bool isLate = !problem.isFixedB && blocks * 2 > plan.blocks * target.multiprocessors;
  double late = isLate ? kLateStart * std::min(1.0, read / busy) : 0;
  if (plan.blocks > 1 && blocks <= target.multiprocessors)
    late += kCrowdLoss * read;
  return kLaunchTime + (kMemoryStart + late + std::max(busy, read) +
                        kOverlapLoss * std::min(busy, read) + exchange / clock) /
                           1000;
}

} // namespace xc::cuda
