//===- MatmulLimits.cpp - What a block of a product on wgmma may have -----===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A plan is legal if its operands and outputs fit shared memory, its sums fit registers, and the
// copy engine and wgmma take its tiles. Model, choice and emission ask here.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Matmul/MatmulLimits.h"

#include "compiler/Dialect/Tile/IR/TileOps.h"

#include "llvm/Support/MathExtras.h"

namespace xc::cuda {

static constexpr int64_t kTileAlignment = 1024;
/// Bytes of a sum.
static constexpr int64_t kSumBytes = 4;
/// Registers of a thread beside the operands that it has under way.
static constexpr int64_t kFetchingRegisters = 40;
/// The most rows that a box has.
static constexpr int64_t kMostBoxRows = 256;

bool isReadAcross(const MatmulProblem &problem) {
  return problem.elementBytes != 2 && !problem.isKContiguousA;
}

int64_t countValues(const MatmulProblem &problem, int64_t tileM, int64_t tileN) {
  int64_t turned = problem.transposesB ? countTransposedWords(tileN, problem.elementBytes) : 0;
  return turned + countLoadedValues(tileM, problem.loadsA) +
         countLoadedValues(tileN, problem.loadsB);
}

int64_t getDepth(const MatmulProblem &problem, int64_t tileM, int64_t tileN) {
  return problem.loadsLines() ? getLoadDepth(countValues(problem, tileM, tileN)) : 1;
}

/// Those of all steps that are under way.
static int64_t countValuesUnderWay(const MatmulProblem &problem, int64_t tileM, int64_t tileN) {
  return countValues(problem, tileM, tileN) * getDepth(problem, tileM, tileN);
}

WarpgroupRegisters getRegisters(const MatmulProblem &problem, int64_t tileM, int64_t tileN,
                                int64_t warpgroups, int64_t blocks) {
  return getWarpgroupRegisters(warpgroups, blocks, countValuesUnderWay(problem, tileM, tileN));
}

int64_t getSharedRoom(const Target &target, int64_t blocks) {
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
                          int64_t warpgroups, int64_t blocks, int64_t usedBytes, bool isNeeded) {
  int64_t staged = getWantedStagingColumns(columns, outputBytes);
  // Threads that store whole sectors themselves are not much slower.
  bool isOptional = outputBytes == 4 && !isNeeded;
  bool fits =
      usedBytes + getStagingBytes(staged, outputBytes, warpgroups) <= getSharedRoom(target, blocks);
  return isOptional && !fits ? 0 : staged;
}

/// Rows of operand A that a stage has room for: where it has no more than eight, those are all.
static int64_t getSlotRows(const MatmulProblem &problem, const WGMMAPlan &plan) {
  bool isFew = problem.isKContiguousA && !problem.isGuess && plan.clusterN == 1 &&
               problem.m <= tile::kRepeatedRows;
  return isFew ? tile::kRepeatedRows : plan.tileM;
}

/// Bytes of a block beside those that outputs pass through.
static int64_t getOperandBytes(const MatmulProblem &problem, const WGMMAPlan &plan) {
  int64_t bytes = problem.elementBytes, b = plan.tileN * plan.tileK * bytes;
  if (bytes == 2 && !problem.isKContiguousB)
    b = getLineBytes(plan.tileN, bytes) * plan.tileK;
  int64_t stage = llvm::alignTo(getSlotRows(problem, plan) * plan.tileK * bytes, kTileAlignment) +
                  llvm::alignTo(b, kTileAlignment);
  int64_t scratch = plan.split > 1 ? plan.tileM * getLineBytes(plan.tileN, kSumBytes) : 0;
  return plan.stages * (stage + 16) + scratch;
}

int64_t getSharedBytes(const MatmulProblem &problem, const WGMMAPlan &plan) {
  int64_t columns =
      problem.isStaged ? getWantedStagingColumns(plan.tileN / plan.split, problem.outputBytes) : 0;
  return getOperandBytes(problem, plan) +
         getStagingBytes(columns, problem.outputBytes, plan.warpgroups);
}

int64_t countSteps(const MatmulProblem &problem, int64_t tileK) {
  return problem.taps * llvm::divideCeil(problem.k, tileK);
}

int64_t getSideStages(int64_t stages, bool pingPong) {
  // The other half of ping-pong warpgroups multiplies meanwhile, which takes so many at least.
  constexpr int64_t kStagesOfOthers = 3;
  return pingPong ? stages - kStagesOfOthers : stages;
}

int64_t countRingInputs(const MatmulProblem &problem, const WGMMAPlan &plan) {
  if (problem.sideInputs == 0 || getSlotRows(problem, plan) != plan.tileM)
    return 0;
  int64_t own = plan.tileN / plan.split;
  bool needsAll = plan.pingPong || plan.split > 1;
  int64_t columns = needsAll ? own : getWantedStagingColumns(own, problem.outputBytes);
  int64_t each = llvm::divideCeil(std::max(columns, int64_t{1}), plan.tileK);
  return std::min(problem.sideInputs,
                  std::max(int64_t{0}, getSideStages(plan.stages, plan.pingPong) / each));
}

int64_t countBlocks(const MatmulProblem &problem, const WGMMAPlan &plan) {
  int64_t rows = plan.tileM * plan.clusterM, columns = plan.tileN * plan.clusterN;
  return problem.batch * llvm::divideCeil(problem.m, rows) * llvm::divideCeil(problem.n, columns) *
         plan.clusterM * plan.clusterN * plan.split;
}

int64_t getAcrossTile(const MatmulProblem &problem, const WGMMAPlan &plan) {
  return problem.across == MatmulProblem::Across::A ? plan.tileM : plan.tileN;
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
  if (!problem.loadsA && getBoxRows(problem, plan) > kMostBoxRows)
    return "a box has at most " + std::to_string(kMostBoxRows) + " rows, not " +
           std::to_string(getBoxRows(problem, plan));
  bool reachesA = problem.isKContiguousA || hasCopiedLines(plan.tileM * bytes, false),
       reachesB = problem.isKContiguousB || problem.transposesB ||
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
  if (problem.transposesB && (stepBytes != 128 || plan.tileN % getTransposedRows(bytes) != 0))
    return "an operand B that threads transpose needs steps of 128 bytes along k, and multiples "
           "of " +
           std::to_string(getTransposedRows(bytes)) + " columns";
  if (problem.loadsLines()) {
    auto isWhole = [&](int64_t loads, bool isKContiguous, int64_t own) {
      return loads == 0 || isKContiguous || own * bytes % kLineBytes == 0;
    };
    int64_t needed = countValuesUnderWay(problem, plan.tileM, plan.tileN) + kFetchingRegisters;
    if (needed >
        getRegisters(problem, plan.tileM, plan.tileN, plan.warpgroups, plan.blocks).producer)
      return "what threads load of operands needs " + std::to_string(needed) + " registers of each";
    if (plan.clusterM * plan.clusterN > 1 || stepBytes != kLineBytes ||
        !isWhole(problem.loadsA, problem.isKContiguousA, plan.tileM) ||
        !isWhole(problem.loadsB, problem.isKContiguousB, plan.tileN))
      return "operands that threads load need blocks that fetch for themselves, steps of 128 bytes "
             "along k, and lines of 128 bytes";
  }
  if (isReadAcross(problem)) {
    int64_t sharers = plan.getWarpgroupsPerTile(), parts = plan.tileM / sharers / 64;
    int64_t available =
        getRegisters(problem, plan.tileM, plan.tileN, plan.warpgroups, plan.blocks).consumer;
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
  if (problem.hasColumnParts &&
      (!problem.isStaged || problem.isSwapped || isReadAcross(problem) ||
       getWantedStagingColumns(plan.tileN / plan.split, problem.outputBytes) == 0))
    return "columns are reduced of outputs that pass through shared memory";
  bool needsStaging = problem.outputBytes == 2 || problem.hasColumnParts;
  int64_t used = needsStaging ? getSharedBytes(problem, plan) : getOperandBytes(problem, plan);
  if (used > target.sharedPerBlock)
    return "a block has " + std::to_string(target.sharedPerBlock) +
           " bytes of shared memory, not " + std::to_string(used);
  return {};
}

} // namespace xc::cuda
