//===- MatmulModel.cpp - How long a matrix product on wgmma takes ---------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A step of a tile along k takes as long as the slower of two: multiplying it, or bringing its
// operands from L2, which all multiprocessors share. Beside tiles of usual widths there are, for
// each number of rows, the narrowest ones that do in so many rounds of all multiprocessors. A tile
// takes its steps and the time to store its outputs; the product takes as many tiles as the busiest
// multiprocessor has, but no less than memory needs for each byte once, and a part of the shorter
// of both times. Rates are those that an H200 showed, not the data sheet's.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Matmul/MatmulModel.h"

#include "compiler/Codegen/CUDA/IR/CUDAConfig.h"
#include "compiler/Dialect/Tile/IR/TileOps.h"

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
/// Nanoseconds from a copy's start to its arrival from memory where that is read at its rate: so
/// much has to be under way in all rings. A sum of 14336 for 8 x 4096 took 28 us with 14 MB under
/// way, and 38 to 43 us with 7 to 8 MB.
static constexpr double kMemoryLatency = 3200;
/// What reading takes longer where multiprocessors do not ask, times their share, and the
/// nanoseconds from when on: 34 us, not 30, where half of them do.
static constexpr double kIdleLoss = 0.4, kBurst = 5000;
/// How much a line counts that a tile has with its neighbour, which fetches the same.
static constexpr double kCutLineShare = 0.5;
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
/// The same where threads store rows of f32 that begin anywhere, a few elements at a time.
static constexpr double kScatteredBytesPerCycle = 3;
/// Instructions a cycle for what is fused behind the product: a warp waits for its own results.
static constexpr double kOutputOpsPerCycle = 110;
/// Cycles from a copy's start to its bytes' arrival under load.
static constexpr double kLatencyCycles = 2070;
/// What a step takes longer where so few stages at most are under way that one late copy delays it.
static constexpr int64_t kFewStages = 3;
static constexpr double kFewStagesLoss = 0.04;
/// Cycles that a cluster's barriers take for each of its blocks, and the bytes a cycle that they
/// exchange.
static constexpr double kClusterCycles = 680, kClusterBytesPerCycle = 14.3;
/// What a step takes longer where blocks fetch for each other, and the cycles until they have met.
static constexpr double kShareLoss = 0.05, kMeetCycles = 2500;
/// Nanoseconds until blocks begin that find no place beside those of the kernel before.
static constexpr double kLateStart = 1000;
/// What reading takes longer where a multiprocessor has room for two blocks of which there is one
/// for each: those that begin while the kernel before ends crowd where that ends first. In a chain
/// of products of 8 rows by 14336 x 4096 one took 34 us, and 28 where no two blocks fit.
static constexpr double kCrowdLoss = 0.2;
/// Large clusters leave one in so many multiprocessors idle: they do not cross the groups that
/// multiprocessors come in, whose sizes are no multiples of theirs.
static constexpr int64_t kLargeCluster = 4, kIdleShare = 11;
/// Cycles of a step whose operand B threads transpose, and those for each of the rows of the
/// operands.
static constexpr double kTurnCycles = 400, kReadRowCycles = 2.2, kTurnRowCycles = 6.5;
/// Cycles that the copy engine takes for each pixel of a column, in lines of up to 128 bytes.
static constexpr double kPixelCycles = 3.5;
/// Microseconds that a launch behind another kernel costs.
static constexpr double kLaunchTime = 0.4;

/// Steps under way that hide memory's latency. Where an operand is on its way while the kernel
/// before still runs, a ring may have more, up to so many bytes: over half of a multiprocessor's,
/// so that no second block crowds there, and room is left for a kernel that does not multiply.
static constexpr int64_t kMostStages = 12, kFixedRingBytes = 136 << 10;
/// Rows of one wgmma.
static constexpr int64_t kInstructionRows = 64;
static constexpr int64_t kTileAlignment = 1024, kLineBytes = 128;
/// What the distance of rows must be a multiple of for the copy engine.
static constexpr int64_t kRowBytes = 16;
static constexpr int64_t kSplitSums = 64;
/// Columns that are staged together, and bytes of a sum.
static constexpr int64_t kFragmentColumns = 16, kSumBytes = 4;
/// Columns of one wgmma, and the most rounds of tiles whose number is fitted to the
/// multiprocessors.
static constexpr int64_t kMostColumns = 256, kFittedRounds = 8;
/// The most rows that a box has.
static constexpr int64_t kMostBoxRows = 256;

int64_t getClusterRoom(const Target &target, int64_t cluster) {
  int64_t room = target.multiprocessors;
  if (cluster >= kLargeCluster)
    room -= room / kIdleShare;
  return room / cluster * cluster;
}

/// True if wgmma cannot read operand A from shared memory.
static bool isReadAcross(const MatmulProblem &problem) {
  return problem.elementBytes != 2 && !problem.isKContiguousA;
}

static WarpgroupRegisters getRegisters(const MatmulProblem &problem, int64_t tileN,
                                       int64_t warpgroups, int64_t blocks) {
  int64_t words = problem.turnsB ? countTurnedWords(tileN, problem.elementBytes) : 0;
  return getWarpgroupRegisters(warpgroups, blocks, words);
}

/// What a block may have so that as many as the plan wants fit a multiprocessor.
static int64_t getSharedRoom(const Target &target, int64_t blocks) {
  return std::min<int64_t>(target.sharedPerBlock,
                           target.sharedPerMultiprocessor / blocks - target.sharedReserved);
}

/// Lines of `elements` elements, as shared memory has them: 32, 64 or a multiple of 128 bytes.
static int64_t getLineBytes(int64_t elements, int64_t elementBytes) {
  int64_t bytes = elements * elementBytes;
  return bytes > kLineBytes / 2 ? llvm::alignTo(bytes, kLineBytes) : bytes;
}

static int64_t getStagingBytes(int64_t columns, int64_t outputBytes, int64_t warpgroups) {
  return warpgroups * kInstructionRows * getLineBytes(columns, outputBytes);
}

/// Columns that pass through shared memory at a time, if there is room for them.
static int64_t getWantedStagingColumns(int64_t columns, int64_t outputBytes) {
  if (columns % kFragmentColumns != 0 || (outputBytes != 2 && outputBytes != 4))
    return 0;
  int64_t panel = kLineBytes / outputBytes;
  return columns % (2 * panel) == 0 ? 2 * panel : std::min(columns, panel);
}

int64_t getStagingColumns(const Target &target, int64_t columns, int64_t outputBytes,
                          int64_t warpgroups, int64_t blocks, int64_t usedBytes) {
  int64_t staged = getWantedStagingColumns(columns, outputBytes);
  // Threads that store whole sectors themselves are not much slower.
  bool isOptional = outputBytes == 4;
  bool fits =
      usedBytes + getStagingBytes(staged, outputBytes, warpgroups) <= getSharedRoom(target, blocks);
  return isOptional && !fits ? 0 : staged;
}

/// Bytes of a block beside those that outputs pass through.
static int64_t getOperandBytes(const MatmulProblem &problem, const WGMMAPlan &plan) {
  int64_t bytes = problem.elementBytes, b = plan.tileN * plan.tileK * bytes;
  if (bytes == 2 && !problem.isKContiguousB)
    b = getLineBytes(plan.tileN, bytes) * plan.tileK;
  // Where operand A has no more than eight rows, those are all that is kept.
  bool isFew = problem.isKContiguousA && !problem.isGuess && plan.clusterN == 1 &&
               problem.m <= tile::kRepeatedRows;
  int64_t rows = isFew ? tile::kRepeatedRows : plan.tileM;
  int64_t stage =
      llvm::alignTo(rows * plan.tileK * bytes, kTileAlignment) + llvm::alignTo(b, kTileAlignment);
  int64_t scratch = plan.split > 1 ? plan.tileM * getLineBytes(plan.tileN, kSumBytes) : 0;
  return plan.stages * (stage + 16) + scratch;
}

/// All bytes of a block that stages its outputs where it can.
static int64_t getSharedBytes(const MatmulProblem &problem, const WGMMAPlan &plan) {
  int64_t columns =
      problem.isStaged ? getWantedStagingColumns(plan.tileN / plan.split, problem.outputBytes) : 0;
  return getOperandBytes(problem, plan) +
         getStagingBytes(columns, problem.outputBytes, plan.warpgroups);
}

/// Steps along k of all of a tile's sums: each is of one tap.
static int64_t countSteps(const MatmulProblem &problem, int64_t tileK) {
  return problem.taps * llvm::divideCeil(problem.k, tileK);
}

/// Fills in the number of stages; false if there is no room for two.
static bool fit(const Target &target, const MatmulProblem &problem, WGMMAPlan &plan) {
  int64_t room = getSharedRoom(target, plan.blocks);
  plan.stages = 1;
  int64_t steps = llvm::divideCeil(countSteps(problem, plan.tileK), plan.split) + 1;
  // More stages than steps, or than hide memory's latency, are of no use.
  while (plan.stages < std::max<int64_t>(steps, 2)) {
    WGMMAPlan more = plan;
    ++more.stages;
    int64_t bytes = getSharedBytes(problem, more);
    bool isEnough = more.stages > kMostStages && (!problem.isFixedB || bytes > kFixedRingBytes);
    if (isEnough || bytes > room)
      break;
    plan = more;
  }
  return plan.stages >= 2;
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
  double lines = isKContiguous
                     ? own * countLines(plan.tileK * bytes, problem.k * bytes) / sharers
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

/// What a tile has of the operand that columns of pixels are, along its own dim.
static int64_t getAcrossTile(const MatmulProblem &problem, const WGMMAPlan &plan) {
  return problem.across == MatmulProblem::Across::A ? plan.tileM : plan.tileN;
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

/// Cycles that bringing a step's operands takes where `blocks` blocks do it.
static double getFetchCycles(const Target &target, const MatmulProblem &problem,
                             const WGMMAPlan &plan, int64_t blocks, double together) {
  bool isAlone = blocks * 2 <= target.multiprocessors;
  double bytes = std::max(getFetchedBytes(problem, plan), getArrivingBytes(problem, plan));
  double fetch = bytes / (isAlone ? kAloneL2BytesPerCycle : kL2BytesPerCycle);
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
  // Of an operand that threads transpose one step is under way, and it passes through L1 and
  // registers.
  if (problem.turnsB)
    fetch =
        std::max(fetch, kTurnCycles + kReadRowCycles * plan.tileM + kTurnRowCycles * plan.tileN);
  // What is under way covers memory's latency, or does not.
  return std::max(fetch, kLatencyCycles / (plan.stages * together));
}

/// Blocks that have a tile, or a part of one's sums.
static int64_t countBlocks(const MatmulProblem &problem, const WGMMAPlan &plan) {
  int64_t rows = plan.tileM * plan.clusterM, columns = plan.tileN * plan.clusterN;
  return problem.batch * llvm::divideCeil(problem.m, rows) * llvm::divideCeil(problem.n, columns) *
         plan.clusterM * plan.clusterN * plan.split;
}

/// Nanoseconds that memory needs for every byte once, of which rings hold `underWay` at a time,
/// where a share of `idle` of the multiprocessors has none.
static double getMemoryTime(const MatmulProblem &problem, double underWay, double idle) {
  int64_t pixels = problem.isConvolution() ? problem.pixels : problem.m;
  double operands = problem.batch * problem.k * problem.elementBytes *
                    static_cast<double>(pixels + problem.taps * problem.n);
  if (problem.sharedElements > 0)
    operands = static_cast<double>(problem.sharedElements * problem.elementBytes);
  double results = static_cast<double>(problem.batch * problem.m * problem.n * problem.outputBytes);
  double late = std::max(0.0, operands - underWay) / underWay * kMemoryLatency;
  double read = (operands + results) / kMemoryRate;
  return std::max(read + kIdleLoss * idle * std::max(0.0, read - kBurst), late);
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
  double outputs = static_cast<double>(plan.tileM * plan.tileN / plan.split);
  double storeRate = problem.isScattered ? kScatteredBytesPerCycle : kStoreBytesPerCycle;
  double store = outputs * problem.outputBytes / storeRate +
                 outputs * problem.outputOps / kOutputOpsPerCycle + kTileCycles;
  double start = kFillCycles;
  if (plan.stages * together <= kFewStages)
    step *= 1 + kFewStagesLoss;
  if (cluster > 1) {
    step *= 1 + kShareLoss;
    start += kMeetCycles;
  }
  double cycles = start + busiest * (steps * step + store / together) + store * (1 - 1 / together);
  // Ping-pong warpgroups store while the other one multiplies; half as many threads store a tile.
  if (plan.pingPong)
    cycles = start + busiest * std::max(steps * step, (steps * step + 2 * store) / 2) + 2 * store;
  // The tensor cores are busy, everywhere and for long.
  bool isLoaded = problem.elementBytes == 2 && multiply > kBusyShare * fetch &&
                  blocks > 0.9 * target.multiprocessors && busiest * steps > 64;
  double clock = isLoaded ? getLoadedClock(plan) : kLightClock;
  // A cluster adds up its sums once all operands are there, whatever those waited for.
  double exchange = 0;
  if (plan.split > 1)
    exchange = busiest *
               (kClusterCycles * plan.split + plan.tileM * plan.tileN * 4 / kClusterBytesPerCycle);
  double rings = static_cast<double>(
      std::min<int64_t>(blocks, plan.blocks * static_cast<int64_t>(target.multiprocessors)));
  double underWay = rings * static_cast<double>(plan.stages) * getFetchedBytes(problem, plan);
  double idle = std::max(0.0, 1 - static_cast<double>(blocks) / target.multiprocessors);
  double busy = cycles / clock, read = getMemoryTime(problem, underWay, idle);
  // Where memory has less to do than the multiprocessors it may begin late.
  bool isLate = !problem.isFixedB && blocks * 2 > plan.blocks * target.multiprocessors;
  double late = isLate ? kLateStart * std::min(1.0, read / busy) : 0;
  if (plan.blocks > 1 && blocks <= target.multiprocessors)
    late += kCrowdLoss * read;
  return kLaunchTime + (kMemoryStart + late + std::max(busy, read) +
                        kOverlapLoss * std::min(busy, read) + exchange / clock) /
                           1000;
}

bool hasCopiedLines(int64_t bytes, bool canEndEarly) {
  bool isWhole = bytes % kLineBytes == 0 || bytes == 64 || bytes == 32;
  return isWhole || (canEndEarly && bytes > kLineBytes / 2 && bytes % kRowBytes == 0);
}

/// Rows of the boxes that bring operand A: the blocks of a cluster's row share them, and a
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
                      plan.tileM / plan.getWarpgroupsPerTile(), plan.tileN / plan.split);
}

std::string checkWGMMAPlan(const Target &target, const MatmulProblem &problem,
                           const WGMMAPlan &plan) {
  int64_t bytes = problem.elementBytes, stepBytes = plan.tileK * bytes;
  if ((plan.clusterN > 1 && problem.m == 1) || (plan.clusterM > 1 && problem.n == 1))
    return "blocks of a cluster cannot fetch parts of a vector for each other";
  if (getBoxRows(problem, plan) > kMostBoxRows)
    return "a box has at most " + std::to_string(kMostBoxRows) + " rows, not " +
           std::to_string(getBoxRows(problem, plan));
  bool reachesA = problem.isKContiguousA || hasCopiedLines(plan.tileM * bytes, false),
       reachesB = problem.isKContiguousB || problem.turnsB ||
                  hasCopiedLines(plan.tileN * bytes, bytes == 2);
  if (!reachesA || !reachesB)
    return "an operand that is not contiguous along k needs rows of 32, 64 or a multiple of 128 "
           "bytes (of 16 from 64 on, if it is operand B)";
  if (problem.isAcross() && plan.clusterM * plan.clusterN > 1)
    return "columns of pixels that do not run along k need blocks that fetch for themselves";
  if (problem.hasWholePanels && getAcrossTile(problem, plan) * bytes % kLineBytes != 0)
    return "taps and channels must be in tiles of multiples of 128 bytes";
  if (stepBytes % 32 != 0)
    return "steps along k must be multiples of 32 bytes";
  if (bytes == 1 && plan.tileN != 8 && plan.tileN != 24 && plan.tileN % 16 != 0)
    return "bytes need 8, 24 or a multiple of 16 columns";
  if (problem.turnsB && (stepBytes != 128 || plan.tileN % getTurnedRows(bytes) != 0))
    return "an operand B that threads transpose needs steps of 128 bytes along k, and multiples "
           "of " +
           std::to_string(getTurnedRows(bytes)) + " columns";
  if (isReadAcross(problem)) {
    int64_t sharers = plan.getWarpgroupsPerTile(), parts = plan.tileM / sharers / 64;
    int64_t available = getRegisters(problem, plan.tileN, plan.warpgroups, plan.blocks).consumer;
    if (plan.clusterM * plan.clusterN > 1 || stepBytes % 64 != 0 ||
        (parts != 2 && (parts != 1 || bytes != 4)) ||
        parts * (plan.tileN / 2 + 16) + 40 > available)
      return "an operand A that goes through registers needs blocks that fetch for themselves, "
             "128 rows for each warpgroup (or 64 of f32), multiples of 64 bytes along k, and sums "
             "that leave it room";
  }
  if (!fitsRowParts(problem, plan))
    return "parts of " + std::to_string(problem.partColumns) +
           " columns, in which rows are reduced, must not be in two warps";
  int64_t used =
      problem.outputBytes == 2 ? getSharedBytes(problem, plan) : getOperandBytes(problem, plan);
  if (used > target.sharedPerBlock)
    return "a block has " + std::to_string(target.sharedPerBlock) +
           " bytes of shared memory, not " + std::to_string(used);
  return {};
}

namespace {

struct Shape {
  int64_t tileM, tileN, warpgroups;
  bool pingPong = false;

  int64_t getWarpgroupsPerTile() const { return pingPong ? warpgroups / 2 : warpgroups; }
};

/// How many blocks split a tile's sums, and rows and columns of such that fetch for each other.
struct Group {
  int64_t split, clusterM = 1, clusterN = 1;
};

} // namespace

/// The narrowest tiles of `rows` rows that are no more than `rounds` rounds of all multiprocessors;
/// nothing if such are too wide.
static std::optional<int64_t> fitColumns(const Target &target, const MatmulProblem &problem,
                                         int64_t rows, const Group &group, int64_t rounds) {
  int64_t blocks = group.split * group.clusterM * group.clusterN;
  int64_t groupsM = problem.batch * llvm::divideCeil(problem.m, rows * group.clusterM);
  int64_t groupsN = rounds * (getClusterRoom(target, blocks) / blocks) / groupsM;
  if (groupsN == 0)
    return std::nullopt;
  bool hasPanels = problem.hasWholePanels && problem.across == MatmulProblem::Across::B;
  int64_t step =
      std::max(kFragmentColumns * group.split, hasPanels ? kLineBytes / problem.elementBytes : 0);
  int64_t columns = llvm::alignTo(llvm::divideCeil(problem.n, groupsN * group.clusterN), step);
  if (columns > kMostColumns)
    return std::nullopt;
  return columns;
}

static constexpr Group kGroups[] = {{1}, {2}, {4}, {8}, {1, 2}, {1, 1, 2}};
static constexpr Shape kShapes[] = {
    {128, 256, 2},       {256, 128, 2},       {192, 192, 3},      {128, 192, 2},
    {192, 128, 3},       {128, 128, 2},       {128, 96, 2},       {128, 64, 2},
    {64, 256, 1},        {64, 192, 1},        {64, 128, 1},       {64, 96, 1},
    {64, 64, 1},         {64, 32, 1},         {64, 16, 1},        {128, 128, 1},
    {128, 192, 2, true}, {128, 128, 2, true}, {128, 96, 2, true}, {64, 256, 2, true},
    {64, 128, 2, true},
};
/// Bytes that go through registers need 128 rows a warpgroup; others have narrow tiles above.
static constexpr Shape kTallShapes[] = {{128, 64, 1}, {128, 32, 1}, {128, 16, 1}};
/// Numbers of rows whose columns are fitted to the multiprocessors.
static constexpr Shape kFittedShapes[] = {{64, 0, 1},      {128, 0, 2}, {128, 0, 1},
                                          {192, 0, 3},     {256, 0, 2}, {128, 0, 2, true},
                                          {64, 0, 2, true}};

/// True if the registers of a block of such tiles hold its sums, and what goes with them.
static bool fitsRegisters(const MatmulProblem &problem, const Shape &shape, int64_t blocks,
                          int64_t split) {
  int64_t sharers = shape.getWarpgroupsPerTile(), parts = shape.tileM / sharers / 64;
  int64_t sums = parts * shape.tileN / 2;
  // Both halves of a step's operand A are in registers where wgmma cannot read it across k.
  bool inRegisters = isReadAcross(problem);
  int64_t fragments = inRegisters ? 16 * parts : 0;
  // Outputs that threads store themselves take places of their own, and so do sums that other
  // blocks send.
  int64_t others = (problem.isStaged ? 40 : 48) + (split > 1 ? 24 : 0);
  WarpgroupRegisters registers = getRegisters(problem, shape.tileN, shape.warpgroups, blocks);
  // Sums of two parts and those that other blocks send do not fit beside what turning takes.
  if (problem.turnsB && split > 1 && sums > kSplitSums)
    return false;
  // Two blocks a multiprocessor start with so few registers that all of a thread's sums must fit
  // them: ptxas spills otherwise, but where one warpgroup gets the other's in time.
  bool takesAll = sharers == 1 && !inRegisters;
  bool fitsStart = blocks == 1 || takesAll || sums + fragments + 28 <= registers.launched;
  return fitsStart && sums + fragments + others <= registers.consumer &&
         shape.tileN / 2 + 28 <= registers.launched;
}

/// True if `blocks` blocks a multiprocessor can share such tiles' work as `group` says, and none is
/// left without.
static bool canShareWork(const MatmulProblem &problem, const Shape &shape, int64_t tileK,
                         int64_t blocks, const Group &group) {
  int64_t split = group.split, cluster = group.clusterM * group.clusterN;
  // Columns of pixels that blocks fetch for each other were no faster: 22.1 us, not 22.3.
  if (cluster > 1 && (problem.isConvolution() || problem.isAcross()))
    return false;
  // Each block of a group needs a tile of its own.
  if (cluster > 1 && (blocks > 1 || problem.m <= shape.tileM * (group.clusterM - 1) ||
                      problem.n <= shape.tileN * (group.clusterN - 1)))
    return false;
  // Each block of a cluster needs a part of k and of the columns.
  int64_t steps = countSteps(problem, tileK);
  bool canSplit = split == 1 || (shape.tileN % (8 * split) == 0 &&
                                 (split - 1) * llvm::divideCeil(steps, split) < steps);
  // Rows beyond the product's are fetched and added up for nothing.
  bool wastesRows = shape.tileM > 64 && problem.m <= shape.tileM / 2;
  // Where pixels are what takes time, columns that are multiplied for nothing do not show in it.
  bool wastesColumns = problem.isConvolution() && problem.n <= shape.tileN / 2;
  // Ping-pong warpgroups of one multiprocessor do what two blocks would.
  bool isDouble = shape.pingPong && (blocks > 1 || split > 1);
  return canSplit && !wastesRows && !wastesColumns && !isDouble;
}

/// The plan of such tiles, if there is one.
static std::optional<WGMMAPlan> makePlan(const Target &target, const MatmulProblem &problem,
                                         const Shape &shape, int64_t tileK, int64_t blocks,
                                         const Group &group) {
  if (!canShareWork(problem, shape, tileK, blocks, group) ||
      !fitsRegisters(problem, shape, blocks, group.split))
    return std::nullopt;
  WGMMAPlan plan{};
  plan.tileM = shape.tileM;
  plan.tileN = shape.tileN;
  plan.tileK = tileK;
  plan.warpgroups = shape.warpgroups;
  plan.raster = 1;
  plan.blocks = blocks;
  plan.split = group.split;
  plan.pingPong = shape.pingPong;
  plan.clusterM = group.clusterM;
  plan.clusterN = group.clusterN;
  if (!fit(target, problem, plan) || !checkWGMMAPlan(target, problem, plan).empty())
    return std::nullopt;
  // Square groups of tiles are shared best.
  double rows = std::sqrt(target.multiprocessors / double(plan.clusterM * plan.clusterN) *
                          plan.tileN * plan.clusterN / (plan.tileM * plan.clusterM));
  plan.raster = std::max<int64_t>(1, std::lround(rows));
  plan.microseconds = estimateWGMMAPlan(target, problem, plan);
  return plan;
}

/// Shapes like `shape`, with such columns that no multiprocessor is idle in the last round, which
/// are not among `others`.
static llvm::SmallVector<Shape> fitShapes(const Target &target, const MatmulProblem &problem,
                                          const Shape &shape, const Group &group,
                                          llvm::ArrayRef<Shape> others) {
  auto isAmongOthers = [&](int64_t columns) {
    return llvm::any_of(others, [&](const Shape &other) {
      return other.tileN == columns && other.tileM == shape.tileM &&
             other.warpgroups == shape.warpgroups && other.pingPong == shape.pingPong;
    });
  };
  llvm::SmallVector<Shape> fitted;
  for (int64_t rounds = 1; rounds <= kFittedRounds; ++rounds) {
    // Ping-pong blocks have two tiles at a time.
    std::optional<int64_t> columns =
        fitColumns(target, problem, shape.tileM, group, shape.pingPong ? rounds * 2 : rounds);
    bool isKnown = columns && ((!fitted.empty() && fitted.back().tileN == *columns) ||
                               isAmongOthers(*columns));
    if (columns && !isKnown)
      fitted.push_back({shape.tileM, *columns, shape.warpgroups, shape.pingPong});
  }
  return fitted;
}

/// Elements of a step along k: lines of 128 bytes. Of few channels shorter ones, which have fewer
/// zeros behind the last channel.
static llvm::SmallVector<int64_t> getStepWidths(const MatmulProblem &problem) {
  llvm::SmallVector<int64_t> widths{kLineBytes / problem.elementBytes};
  for (int64_t bytes : {kLineBytes / 2, kLineBytes / 4}) {
    int64_t width = bytes / problem.elementBytes;
    auto round = [&](int64_t to) { return llvm::alignTo(problem.k, to); };
    if (problem.isConvolution() && width >= 16 && round(width) < round(widths.back()))
      widths.push_back(width);
  }
  return widths;
}

llvm::SmallVector<WGMMAPlan> rankWGMMAPlans(const Target &target, const MatmulProblem &problem) {
  llvm::SmallVector<Shape> shapes(std::begin(kShapes), std::end(kShapes));
  if (isReadAcross(problem))
    llvm::append_range(shapes, kTallShapes);
  llvm::SmallVector<WGMMAPlan> plans;
  llvm::SmallVector<int64_t> widths = getStepWidths(problem);
  auto consider = [&](const Shape &shape, int64_t blocks, const Group &group) {
    for (int64_t tileK : widths)
      if (std::optional<WGMMAPlan> plan = makePlan(target, problem, shape, tileK, blocks, group))
        plans.push_back(*plan);
  };
  for (const Shape &shape : shapes)
    for (int64_t blocks : {1, 2})
      for (const Group &group : kGroups)
        consider(shape, blocks, group);
  if (!problem.isGuess)
    for (const Shape &rows : kFittedShapes)
      for (const Group &group : kGroups)
        for (const Shape &shape : fitShapes(target, problem, rows, group, shapes)) {
          consider(shape, /*blocks=*/1, group);
          // One block on each multiprocessor may leave room for the kernel behind.
          for (int64_t tileK : widths) {
            std::optional<WGMMAPlan> plan =
                makePlan(target, problem, shape, tileK, /*blocks=*/2, group);
            if (plan && countBlocks(problem, *plan) <= target.multiprocessors)
              plans.push_back(*plan);
          }
        }
  llvm::stable_sort(plans, [](const WGMMAPlan &lhs, const WGMMAPlan &rhs) {
    return lhs.microseconds < rhs.microseconds;
  });
  return plans;
}

} // namespace xc::cuda
