//===- MatmulTiles.cpp - Which tiles a matrix product gets ----------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Matmul/MatmulTiles.h"

#include "compiler/Codegen/CUDA/Matmul/MMAModel.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <limits>

using namespace mlir;

namespace xc::cuda {

namespace {

struct MMATile {
  int64_t m, n, warpsM, warpsN;
  int64_t registers; // of a thread, rounded up to what hardware gives
  bool isTight;      // leaves no registers for loads under way, or for more addresses
  bool isCrowded;    // the same for a thread with twice as many copies
};

} // namespace

// Of equals the first one is taken: 256 x 128 is 1 to 3 % faster than 128 x 256 on an H200.
static constexpr MMATile kTiles[] = {
    {256, 128, 4, 2, 256, true, false}, {128, 256, 2, 4, 256, true, false},
    {128, 128, 2, 2, 256, true, true},  {128, 128, 2, 4, 168, false, false},
    {64, 128, 2, 2, 168, false, false}, {128, 64, 2, 2, 168, false, false},
    {64, 64, 2, 2, 128, false, false},
};

static int64_t countBlocks(const MMATile &tile, const ProductSize &size) {
  return size.batch * llvm::divideCeil(size.m, tile.m) * llvm::divideCeil(size.n, tile.n);
}

/// True if a thread has the registers for what the product needs beside its sums.
static bool fits(const MMATile &tile, const ProductSize &size) {
  // Fragments of f32 need more addresses, and so do checks.
  bool isLarge = !size.isCopied || size.hasNarrowCopies() || size.isDemanding ||
                 (size.isRagged && size.elementBytes == 4);
  return !(tile.isTight && isLarge) && !(tile.isCrowded && size.elementBytes == 4) &&
         tile.n / tile.warpsN % size.partColumns == 0 && tile.m / tile.warpsM % size.partRows == 0;
}

static double estimateTiles(const Target &target, const ProductSize &size, const MMAPlan &plan) {
  constexpr int64_t kGuess = 1024;
  return estimateMMAPlan(target,
                         {size.batch, size.m, size.n, size.k.value_or(kGuess), size.elementBytes,
                          size.outputBytes, size.isCopied, size.copyBytes, size.hasOddRows},
                         plan);
}

double estimateMMATiles(const Target &target, const ProductSize &size, MatmulMMAAttr config) {
  return estimateTiles(target, size,
                       {config.getTileM(), config.getTileN(), config.getTileK(), config.getWarpsM(),
                        config.getWarpsN(), config.getStages()});
}

/// The shortest step: one product of bytes, two of TF32.
static int64_t getFewestK(int64_t elementBytes) { return elementBytes == 1 ? 32 : 16; }

/// As many stages as leave room for the blocks that share a multiprocessor; shorter steps where not
/// even two fit.
static MMAPlan stage(const Target &target, const ProductSize &size, const MMATile &tile) {
  int64_t threads = 32 * tile.warpsM * tile.warpsN;
  int64_t resident = target.registersPerMultiprocessor / (threads * tile.registers);
  resident = std::min<int64_t>(resident,
                               llvm::divideCeil(countBlocks(tile, size), target.multiprocessors));
  int64_t room = std::min<int64_t>(target.sharedPerBlock,
                                   target.sharedPerMultiprocessor / std::max<int64_t>(resident, 1));
  // Of bytes that are loaded one by one no more than of wider elements.
  int64_t fewest = getFewestK(size.elementBytes);
  int64_t tileK = (size.isCopied && !size.hasNarrowCopies() ? 128 : 64) / size.elementBytes;
  if (size.elementBytes == 1 && size.isScattered)
    tileK = fewest;
  auto stageBytes = [&] { return (tile.m + tile.n) * tileK * size.elementBytes; };
  if (size.isWide && !size.isCopied)
    tileK = fewest; // few elements under way, each of which has an address of two registers
  while (tileK > fewest && (2 * stageBytes() > room || (size.k && tileK / 2 >= *size.k)))
    tileK /= 2;
  int64_t most = size.hasNarrowCopies() ? 6 : 4;
  int64_t stages = std::clamp<int64_t>(room / stageBytes(), 2, most);
  // Behind the one that is multiplied, no more than there are.
  if (size.k)
    stages = std::clamp<int64_t>(llvm::divideCeil(*size.k, tileK) + 1, 2, stages);
  return {tile.m, tile.n, tileK, tile.warpsM, tile.warpsN, stages};
}

/// Tiles, and the time that is predicted for them.
using TimedPlan = std::optional<std::pair<MMAPlan, double>>;

/// The tiles with the least predicted time, if any fit; `second` becomes those next to them.
static TimedPlan chooseTiles(const Target &target, const ProductSize &size, TimedPlan &second) {
  TimedPlan best;
  for (const MMATile &tile : kTiles) {
    if (!fits(tile, size))
      continue;
    MMAPlan plan = stage(target, size, tile);
    // Times are not told apart any better.
    constexpr double kSame = 0.99;
    TimedPlan other = {{plan, estimateTiles(target, size, plan)}};
    if (!best || other->second < kSame * best->second)
      std::swap(best, other);
    if (other && (!second || other->second < second->second))
      second = other;
  }
  return best;
}

static MatmulMMAAttr toConfig(MLIRContext *context, const TimedPlan &timed) {
  if (!timed)
    return nullptr;
  const MMAPlan &plan = timed->first;
  return MatmulMMAAttr::get(context, plan.tileM, plan.tileN, plan.tileK, plan.warpsM, plan.warpsN,
                            plan.stages, /*part_steps=*/0);
}

MatmulMMAAttr chooseMMATiles(MLIRContext *context, const Target &target, const ProductSize &size,
                             MatmulMMAAttr &second) {
  TimedPlan next, best = chooseTiles(target, size, next);
  second = toConfig(context, next);
  return toConfig(context, best);
}

double estimateBestMMATiles(const Target &target, const ProductSize &size) {
  TimedPlan next, best = chooseTiles(target, size, next);
  return best ? best->second : std::numeric_limits<double>::infinity();
}

std::string checkMMATiles(const Contraction &contraction, MatmulMMAAttr config) {
  constexpr int64_t kChunk = 16, kTransposedUnit = 32;
  if (int64_t columns = contraction.getPartColumns(), own = config.getTileN() / config.getWarpsN();
      own % columns != 0)
    return llvm::formatv(
        "expected the columns of a warp to be a multiple of the {0} of a part that "
        "rows are reduced in, got {1}",
        columns, own);
  if (int64_t rows = contraction.getPartRows(), own = config.getTileM() / config.getWarpsM();
      own % rows != 0)
    return llvm::formatv("expected the rows of a warp to be a multiple of the {0} of a part that "
                         "columns are reduced in, got {1}",
                         rows, own);
  if (!contraction.hasByteOperands())
    return {};
  if (config.getTileK() % getFewestK(1) != 0)
    return llvm::formatv("expected tile_k to be a multiple of {0} bytes, got {1}", getFewestK(1),
                         config.getTileK());
  int64_t threads = 32 * config.getWarpsM() * config.getWarpsN();
  struct Tile {
    StringRef name;
    int64_t size;
    const Contraction::Side &side;
  };
  for (const Tile &tile : {Tile{"tile_m", config.getTileM(), contraction.a},
                           Tile{"tile_n", config.getTileN(), contraction.b}}) {
    if (tile.size * config.getTileK() % (kChunk * threads) != 0)
      return llvm::formatv("expected {0} x tile_k to be a multiple of the {1} bytes that the "
                           "threads copy at once, got {2} x {3}",
                           tile.name, kChunk * threads, tile.size, config.getTileK());
    if (!tile.side.isKContiguous && tile.size % kTransposedUnit != 0)
      return llvm::formatv("expected {0} to be a multiple of {1} where the operand's bytes are not "
                           "contiguous along k, got {2}",
                           tile.name, kTransposedUnit, tile.size);
  }
  return {};
}

} // namespace xc::cuda
