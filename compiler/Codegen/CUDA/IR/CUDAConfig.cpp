//===- CUDAConfig.cpp - Registration of the strategies' attributes --------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/IR/AttentionConfig.h"
#include "compiler/Codegen/CUDA/IR/StripsConfig.h"
#include "compiler/Codegen/CUDA/IR/WindowConfig.h"

#include "compiler/Dialect/Tile/IR/TileOps.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

#include "compiler/Codegen/CUDA/IR/CUDAConfigDialect.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "compiler/Codegen/CUDA/IR/AllConfigsAttrs.cpp.inc"

namespace xc::cuda {

void CUDADialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "compiler/Codegen/CUDA/IR/AllConfigsAttrs.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// Verifiers
//===----------------------------------------------------------------------===//

using EmitError = llvm::function_ref<InFlightDiagnostic()>;

static constexpr int64_t kMostThreads = 1024, kMostLanes = 16, kWarpThreads = 32;
/// Blocks of a cluster that every GPU with clusters runs.
static constexpr int64_t kMostPortableBlocks = 8;
/// Sides of tiles and stages beyond these have no place in shared memory; within them no product of
/// theirs overflows. Groups of more rows are as wide as any product.
static constexpr int64_t kMostSide = 4096, kMostStages = 128, kMostRaster = 1 << 20;

static LogicalResult verifyPositive(EmitError emitError, llvm::StringRef name, int64_t value) {
  if (value >= 1)
    return success();
  return emitError() << "expected " << name << " to be positive, got " << value;
}

static LogicalResult verifyPowerOf2(EmitError emitError, llvm::StringRef name, int64_t value) {
  if (value >= 1 && llvm::isPowerOf2_64(value))
    return success();
  return emitError() << "expected " << name << " to be a power of two, got " << value;
}

static LogicalResult verifyThreads(EmitError emitError, int64_t threads) {
  if (threads >= 1 && threads <= kMostThreads)
    return success();
  return emitError() << "expected 1 to " << kMostThreads << " threads, got " << threads;
}

/// A block of `threads` x `rows` threads.
static LogicalResult verifyThreads(EmitError emitError, int64_t threads, int64_t rows) {
  if (threads >= 1 && rows >= 1 && threads <= kMostThreads && rows <= kMostThreads / threads)
    return success();
  return emitError() << "expected 1 to " << kMostThreads << " threads, got " << threads << " x "
                     << rows;
}

/// Positions of a thread, all of which it has in registers.
static LogicalResult verifyTile(EmitError emitError, int64_t strip, int64_t rows) {
  constexpr int64_t mostPositions = 64;
  if (strip >= 1 && rows >= 1 && strip <= mostPositions && rows <= mostPositions / strip)
    return success();
  return emitError() << "expected strips of 1 to " << mostPositions << " positions, got " << strip
                     << " x " << rows;
}

static LogicalResult verifyVector(EmitError emitError, int64_t vector) {
  if (vector >= 1 && vector <= kMostLanes && llvm::isPowerOf2_64(vector))
    return success();
  return emitError() << "expected a vector of 1, 2, 4, 8 or 16 elements, got " << vector;
}

LogicalResult ElementwiseAttr::verify(EmitError emitError, int64_t threads, int64_t vector,
                                      int64_t unroll) {
  return success(succeeded(verifyThreads(emitError, threads)) &&
                 succeeded(verifyVector(emitError, vector)) &&
                 succeeded(verifyPositive(emitError, "unroll", unroll)));
}

LogicalResult ElementwiseStripsAttr::verify(EmitError emitError, int64_t threads, int64_t vector,
                                            int64_t strip, int64_t rows) {
  return success(succeeded(verifyThreads(emitError, threads)) &&
                 succeeded(verifyVector(emitError, vector)) &&
                 succeeded(verifyTile(emitError, strip, rows)));
}

LogicalResult PointwiseAttr::verify(EmitError emitError, int64_t threads) {
  return verifyThreads(emitError, threads);
}

LogicalResult TransposeAttr::verify(EmitError emitError, int64_t threads, int64_t tile,
                                    int64_t vector) {
  if (failed(verifyThreads(emitError, threads)) || failed(verifyVector(emitError, vector)))
    return failure();
  int64_t across = tile / vector; // threads
  if (tile < 1 || tile % vector != 0 || threads % across != 0 || tile % (threads / across) != 0)
    return emitError() << "expected a tile that " << threads << " threads with vectors of "
                       << vector << " cover by whole rows, got " << tile;
  return success();
}

LogicalResult RowReductionAttr::verify(EmitError emitError, int64_t threads, int64_t rows,
                                       int64_t vector, int64_t chunks, int64_t shared,
                                       int64_t unroll, int64_t cluster, bool shifted) {
  if (failed(verifyThreads(emitError, threads, rows)) ||
      failed(verifyPowerOf2(emitError, "threads", threads)) ||
      failed(verifyPowerOf2(emitError, "rows", rows)) || failed(verifyVector(emitError, vector)))
    return failure();
  if (chunks < 0 || shared < 0 || (chunks == 0 && shared > 0))
    return emitError() << "expected shared memory to hold what registers do not, got " << chunks
                       << " chunks in registers and " << shared << " in shared memory";
  if (cluster < 1 || cluster > kMostPortableBlocks || !llvm::isPowerOf2_64(cluster))
    return emitError() << "expected a cluster of 1, 2, 4 or 8 blocks, got " << cluster;
  if (cluster > 1 && (rows > 1 || threads <= kWarpThreads))
    return emitError()
           << "expected one row and more than a warp for it in a block of a cluster, got " << rows
           << " rows of " << threads << " threads";
  if (shifted && (vector == 1 || chunks < (shared > 0 ? 2 : 1)))
    return emitError() << "expected registers to hold the first and the last vectors of a shifted "
                          "row, got "
                       << chunks << " chunks of vectors of " << vector;
  return verifyPositive(emitError, "unroll", unroll);
}

LogicalResult ColumnReductionAttr::verify(EmitError emitError, int64_t threads, int64_t rows,
                                          int64_t vector, int64_t held) {
  if (held < 0)
    return emitError() << "expected held vectors not to be negative, got " << held;
  return success(succeeded(verifyThreads(emitError, threads, rows)) &&
                 succeeded(verifyPowerOf2(emitError, "rows", rows)) &&
                 succeeded(verifyVector(emitError, vector)));
}

LogicalResult WindowStripsAttr::verify(EmitError emitError, int64_t threads, int64_t vector,
                                       int64_t strip, int64_t rows) {
  return success(succeeded(verifyThreads(emitError, threads)) &&
                 succeeded(verifyVector(emitError, vector)) &&
                 succeeded(verifyPositive(emitError, "strip", strip)) &&
                 succeeded(verifyPositive(emitError, "rows", rows)));
}

LogicalResult WindowGradientAttr::verify(EmitError emitError, int64_t vector, int64_t chunks,
                                         int64_t workers, int64_t strip) {
  return success(succeeded(verifyThreads(emitError, chunks, workers)) &&
                 succeeded(verifyVector(emitError, vector)) &&
                 succeeded(verifyPositive(emitError, "strip", strip)));
}

LogicalResult ScatterAttr::verify(EmitError emitError, int64_t threads, int64_t rows,
                                  int64_t down) {
  if (down < 1 || threads % down != 0)
    return emitError() << "expected a number of threads below each other that divides " << threads
                       << ", got " << down;
  return success(succeeded(verifyThreads(emitError, threads)) &&
                 succeeded(verifyPositive(emitError, "rows", rows)));
}

LogicalResult OrderedScatterAttr::verify(EmitError emitError, int64_t threads, int64_t rows,
                                         int64_t down, int64_t vector) {
  return success(succeeded(ScatterAttr::verify(emitError, threads, rows, down)) &&
                 succeeded(verifyVector(emitError, vector)));
}

LogicalResult DirectScatterAttr::verify(EmitError emitError, int64_t threads) {
  return verifyThreads(emitError, threads);
}

LogicalResult RowScanAttr::verify(EmitError emitError, int64_t threads, int64_t rows,
                                  int64_t vector) {
  if (failed(verifyThreads(emitError, threads, rows)) ||
      failed(verifyPowerOf2(emitError, "threads", threads)) ||
      failed(verifyVector(emitError, vector)))
    return failure();
  if (threads > 32 && rows != 1)
    return emitError() << "expected one row for each block of more than 32 threads, got " << rows
                       << " of " << threads << " threads each";
  return success();
}

LogicalResult ColumnScanAttr::verify(EmitError emitError, int64_t threads, int64_t vector) {
  return success(succeeded(verifyThreads(emitError, threads)) &&
                 succeeded(verifyVector(emitError, vector)));
}

LogicalResult SortAttr::verify(EmitError emitError, int64_t threads, int64_t rows, int64_t tile,
                               bool) {
  if (failed(verifyThreads(emitError, threads)))
    return failure();
  if (rows < 1 || threads % rows != 0)
    return emitError() << "expected rows that share " << threads << " threads evenly, got " << rows;
  if (tile < 2)
    return emitError() << "expected a tile of at least 2 elements, got " << tile;
  if (failed(verifyPowerOf2(emitError, "tile", tile)))
    return failure();
  int64_t items = tile / (threads / rows);
  if (items < 2 || items > 32 || !llvm::isPowerOf2_64(threads / rows))
    return emitError() << "expected 2, 4, 8, 16 or 32 elements of the tile for each thread, got "
                       << tile << " for " << threads / rows << " threads";
  return success();
}

LogicalResult SelectAttr::verify(EmitError emitError, int64_t threads, int64_t items,
                                 int64_t groups, int64_t vector) {
  if (failed(verifyThreads(emitError, threads)) ||
      failed(verifyPowerOf2(emitError, "threads", threads)) ||
      failed(verifyPowerOf2(emitError, "groups", groups)) ||
      failed(verifyVector(emitError, vector)))
    return failure();
  if (threads < 32 || groups > threads || threads / groups > 32)
    return emitError() << "expected groups of 1 to 32 of at least 32 threads, got " << groups
                       << " groups of " << threads << " threads";
  if (items < vector || items % vector != 0)
    return emitError() << "expected items to be a multiple of the vector's " << vector << ", got "
                       << items;
  return success();
}

LogicalResult SortInPlaceAttr::verify(EmitError emitError, int64_t threads) {
  return verifyThreads(emitError, threads);
}

LogicalResult MergeAttr::verify(EmitError emitError, int64_t threads, int64_t items) {
  return success(succeeded(verifyThreads(emitError, threads)) &&
                 succeeded(verifyPositive(emitError, "items", items)));
}

/// Threads and items of a tile whose elements have digits.
static LogicalResult verifyDigitTile(EmitError emitError, int64_t threads, int64_t items) {
  // A digit has 256 values, each of which some thread looks after; a place has 16 bits.
  constexpr int64_t kDigits = 256, kMostPlaces = 1 << 16;
  if (failed(verifyThreads(emitError, threads)))
    return failure();
  if (threads < kDigits || threads % 32 != 0)
    return emitError() << "expected at least " << kDigits << " threads in whole warps, got "
                       << threads;
  if (items < 1 || items > kMostPlaces / threads)
    return emitError() << "expected 1 to " << kMostPlaces / threads << " items for " << threads
                       << " threads, got " << items;
  return success();
}

LogicalResult CountDigitsAttr::verify(EmitError emitError, int64_t threads, int64_t items) {
  return verifyDigitTile(emitError, threads, items);
}

LogicalResult SortDigitAttr::verify(EmitError emitError, int64_t threads, int64_t items) {
  return verifyDigitTile(emitError, threads, items);
}

LogicalResult MatmulFMAAttr::verify(EmitError emitError, int64_t tileM, int64_t tileN,
                                    int64_t tileK, int64_t threadM, int64_t threadN, int64_t stages,
                                    int64_t split) {
  constexpr int64_t kMostSums = 256, kMostStages = 16, kMostBlocks = 8, kVector = 4;
  for (auto [name, side] : {std::pair("tile_m", tileM), {"tile_n", tileN}, {"tile_k", tileK}})
    if (side < 1 || side > kMostSide)
      return emitError() << "expected " << name << " to be 1 to " << kMostSide << ", got " << side;
  for (auto [name, tile, own] :
       {std::tuple("thread_m", tileM, threadM), {"thread_n", tileN, threadN}})
    if (own < 1 || (own > 2 && own % 4 != 0) || tile % own != 0)
      return emitError() << "expected " << name
                         << " to be 1, 2 or a multiple of 4 that divides the tile's " << tile
                         << ", got " << own;
  if (stages < 2 || stages > kMostStages)
    return emitError() << "expected 2 to " << kMostStages << " stages, got " << stages;
  if (threadM * threadN > kMostSums)
    return emitError() << "expected at most " << kMostSums << " sums for each thread, got "
                       << threadM << " x " << threadN;
  int64_t vectors = threadM * threadN / std::min(threadN, kVector);
  if (split < 1 || split > kMostBlocks || !llvm::isPowerOf2_64(split) || vectors % split != 0)
    return emitError() << "expected a power of two up to " << kMostBlocks
                       << " that divides a thread's " << vectors
                       << " vectors of sums for split, got " << split;
  if (split > 1 && stages == 2)
    return emitError() << "expected more than 2 stages where blocks share a sum, got split "
                       << split;
  if (failed(verifyThreads(emitError, tileM / threadM, tileN / threadN)))
    return failure();
  int64_t threads = tileM / threadM * (tileN / threadN);
  for (auto [name, tile] : {std::pair("tile_m", tileM), {"tile_n", tileN}})
    if (tile * tileK % threads != 0)
      return emitError() << "expected " << name << " x tile_k to be a multiple of the " << threads
                         << " threads that copy it, got " << tile << " x " << tileK;
  return success();
}

LogicalResult MatmulMMAAttr::verify(EmitError emitError, int64_t tileM, int64_t tileN,
                                    int64_t tileK, int64_t warpsM, int64_t warpsN, int64_t stages,
                                    int64_t partSteps) {
  if (partSteps < 0)
    return emitError() << "expected part_steps not to be negative, got " << partSteps;
  if (warpsM < 1 || warpsN < 1 || warpsM > 32 || warpsN > 32 || warpsM * warpsN > 32)
    return emitError() << "expected 1 to 32 warps, got " << warpsM << " x " << warpsN;
  if (stages < 2 || stages > kMostStages)
    return emitError() << "expected 2 to " << kMostStages << " stages, got " << stages;
  for (auto [name, side] : {std::pair("tile_m", tileM), {"tile_n", tileN}, {"tile_k", tileK}})
    if (side > kMostSide)
      return emitError() << "expected " << name << " to be at most " << kMostSide << ", got "
                         << side;
  if (tileK < 16 || tileK % 16 != 0)
    return emitError() << "expected tile_k to be a multiple of 16, got " << tileK;
  for (auto [name, tile, warps] : {std::tuple("tile_m", tileM, warpsM), {"tile_n", tileN, warpsN}})
    if (tile < 16 || tile % (16 * warps) != 0)
      return emitError() << "expected " << name << " to be a multiple of 16 for each of " << warps
                         << " warps, got " << tile;
  int64_t vector = 8 * 32 * warpsM * warpsN; // elements that all threads move in one access
  for (auto [name, tile] : {std::pair("tile_m", tileM), {"tile_n", tileN}})
    if (tile * tileK % vector != 0)
      return emitError() << "expected " << name << " x tile_k to be a multiple of the " << vector
                         << " elements that the threads copy at once, got " << tile << " x "
                         << tileK;
  for (auto [name, tile] : {std::pair("tile_m", tileM), {"tile_n", tileN}, {"tile_k", tileK}})
    if (tile % 64 != 0 && !llvm::isPowerOf2_64(static_cast<uint64_t>(tile)))
      return emitError() << "expected " << name << " to be a power of two or a multiple of 64, got "
                         << tile;
  return success();
}

/// Registers of a multiprocessor.
static constexpr int64_t kRegisters = 65536;
/// Registers of a thread: sums, and what addresses and loops take beside them.
static constexpr int64_t kOtherRegisters = 40;

WarpgroupRegisters getWarpgroupRegisters(int64_t warpgroups, int64_t blocks, int64_t words) {
  constexpr int64_t kMost = 248;
  // More than they need is taken from those that multiply: 4096^3 in TF32 took 567 us with 80 for
  // 32 words, 523 with 72.
  int64_t fetching = words == 0 ? 32 : words <= 32 ? 72 : words + 48;
  int64_t groups = 1 + warpgroups;
  int64_t launched =
      std::min(kRegisters / (tile::kWarpgroupThreads * groups * blocks) / 8 * 8, kMost);
  int64_t consumer = std::min((launched * groups - fetching) / warpgroups / 8 * 8, kMost);
  if (consumer <= launched)
    return {launched, launched, launched};
  return {launched, launched * groups - consumer * warpgroups, consumer};
}

/// Registers of a wgmma beside its sums, as ptxas counts them.
static constexpr int64_t kOperandRegisters = 28;

LogicalResult MatmulWGMMAAttr::verify(EmitError emitError, int64_t tileM, int64_t tileN,
                                      int64_t tileK, int64_t warpgroups, int64_t stages,
                                      int64_t raster, int64_t blocks, int64_t split,
                                      int64_t pingPong, int64_t clusterM, int64_t clusterN) {
  if (pingPong != 0 && pingPong != 1)
    return emitError() << "expected ping_pong to be 0 or 1, got " << pingPong;
  if (pingPong && (warpgroups % 2 != 0 || split > 1))
    return emitError()
           << "expected ping-pong of an even number of warpgroups, in blocks that share "
              "no tiles, got "
           << warpgroups << " warpgroups and a split of " << split;
  int64_t sharers = pingPong ? warpgroups / 2 : warpgroups; // of a tile
  if (warpgroups < 1 || warpgroups > 3 || tileM < 1 || tileM > kMostSide ||
      tileM % (64 * sharers) != 0)
    return emitError() << "expected 1 to 3 warpgroups and a multiple of 64 rows for each, up to "
                       << kMostSide << " in all, got " << sharers << " for " << tileM << " rows";
  if (tileN < 8 || tileN > 256 || tileN % 8 != 0)
    return emitError() << "expected 8 to 256 columns, a multiple of 8, got " << tileN;
  if (tileK < 16 || tileK > 256 || (tileK > 64 ? tileK % 64 : tileK & (tileK - 1)) != 0)
    return emitError() << "expected k in steps of 16, 32, or a multiple of 64 up to 256, got "
                       << tileK;
  if (stages < 2 || stages > kMostStages)
    return emitError() << "expected 2 to " << kMostStages << " stages, got " << stages;
  if (raster < 1 || raster > kMostRaster)
    return emitError() << "expected 1 to " << kMostRaster << " rows in a group, got " << raster;
  // ptxas wants the operands of one wgmma, of 8 columns at least, to fit what threads start with.
  int64_t mostBlocks =
      kRegisters / (tile::kWarpgroupThreads * (1 + warpgroups) * (kOperandRegisters + 4));
  if (blocks < 1 || blocks > mostBlocks)
    return emitError() << "expected 1 to " << mostBlocks << " blocks of " << warpgroups
                       << " warpgroups on a multiprocessor, got " << blocks;
  if (split < 1 || split > 8 || (split & (split - 1)) != 0 || tileN % (8 * split) != 0)
    return emitError()
           << "expected 1, 2, 4 or 8 blocks that share a multiple of 8 columns each, got " << split
           << " for " << tileN << " columns";
  auto isSide = [](int64_t count) { return count == 1 || count == 2 || count == 4; };
  if (!isSide(clusterM) || !isSide(clusterN) || (split > 1 && clusterM * clusterN > 1))
    return emitError()
           << "expected 1, 2 or 4 rows and columns of blocks in a cluster, and one where "
              "blocks share tiles, got "
           << clusterM << " x " << clusterN << " with a split of " << split;
  // Parts of an operand are whole groups of eight lines, which the swizzle works on.
  if (tileM % (8 * clusterN) != 0 || tileN % (8 * clusterM) != 0 ||
      (clusterM * clusterN > 1 && tileK % (8 * std::max(clusterM, clusterN)) != 0))
    return emitError() << "expected a multiple of 8 lines of each operand for each block of a "
                          "cluster's side, got tiles of "
                       << tileM << " x " << tileN << " x " << tileK << " for " << clusterM << " x "
                       << clusterN << " blocks";
  int64_t available = getWarpgroupRegisters(warpgroups, blocks).consumer;
  if (tileN / 2 + kOperandRegisters > getWarpgroupRegisters(warpgroups, blocks).launched)
    return emitError() << "expected at most "
                       << (getWarpgroupRegisters(warpgroups, blocks).launched - kOperandRegisters) *
                              2
                       << " columns for " << blocks << " blocks of " << warpgroups
                       << " warpgroups, got " << tileN;
  int64_t sums = tileM / (64 * sharers) * tileN / 2;
  if (sums + kOtherRegisters > available)
    return emitError() << "expected sums that leave " << kOtherRegisters << " of " << available
                       << " registers, got " << sums;
  return success();
}

LogicalResult AttentionAttr::verify(EmitError emitError, int64_t warpgroups, int64_t keys,
                                    int64_t stages, int64_t queryStages, int64_t raster,
                                    int64_t pingPong, int64_t cluster, int64_t serpentine,
                                    int64_t maskStages, int64_t columnLoads) {
  if (warpgroups < 2 || warpgroups > 3)
    return emitError() << "expected 2 or 3 warpgroups, got " << warpgroups;
  if (keys < 16 || keys > 256 || keys % 16 != 0)
    return emitError() << "expected 16 to 256 keys in a block, a multiple of 16, got " << keys;
  if (stages < 2 || stages > kMostStages)
    return emitError() << "expected 2 to " << kMostStages << " stages, got " << stages;
  if (queryStages < 1 || queryStages > 2)
    return emitError() << "expected 1 or 2 stages of queries, got " << queryStages;
  if (raster < 1 || raster > kMostRaster)
    return emitError() << "expected 1 to " << kMostRaster << " heads in a group, got " << raster;
  if (pingPong != 0 && pingPong != 1)
    return emitError() << "expected 0 or 1 for 'ping_pong', got " << pingPong;
  if (cluster != 1 && cluster != 2 && cluster != 4)
    return emitError() << "expected clusters of 1, 2 or 4 blocks, got " << cluster;
  if (keys % (8 * cluster) != 0)
    return emitError() << "expected a multiple of 8 keys for each block of a cluster, got " << keys
                       << " for " << cluster;
  if (serpentine != 0 && serpentine != 1)
    return emitError() << "expected 0 or 1 for 'serpentine', got " << serpentine;
  if (maskStages != 0 && maskStages != 1 && maskStages != stages)
    return emitError() << "expected 0 or 1 stages of a mask, or as many as of keys, got "
                       << maskStages;
  if (maskStages == 1 && stages != 2)
    return emitError() << "expected two stages of keys beside one of a mask, got " << stages;
  if (columnLoads != 0 && columnLoads != 1)
    return emitError() << "expected 0 or 1 for 'column_loads', got " << columnLoads;
  return success();
}

LogicalResult AttentionMMAAttr::verify(EmitError emitError, int64_t warpgroups, int64_t keys,
                                       int64_t stages, int64_t heldQueries, int64_t raster) {
  if (warpgroups < 1 || warpgroups > 2)
    return emitError() << "expected 1 or 2 times four warps, got " << warpgroups;
  if (keys < 16 || keys > 128 || keys % 16 != 0)
    return emitError() << "expected 16 to 128 keys in a block, a multiple of 16, got " << keys;
  if (stages < 2 || stages > kMostStages)
    return emitError() << "expected 2 to " << kMostStages << " stages, got " << stages;
  if (heldQueries != 0 && heldQueries != 1)
    return emitError() << "expected 0 or 1 for 'held_queries', got " << heldQueries;
  if (raster < 1 || raster > kMostRaster)
    return emitError() << "expected 1 to " << kMostRaster << " heads in a group, got " << raster;
  return success();
}

LogicalResult AttentionDecodeAttr::verify(EmitError emitError, int64_t warps, int64_t cluster,
                                          int64_t blocks) {
  if (warps < 1 || warps > 16)
    return emitError() << "expected 1 to 16 warps, got " << warps;
  if (cluster != 1 && cluster != 2 && cluster != 4 && cluster != 8)
    return emitError() << "expected clusters of 1, 2, 4 or 8 blocks, got " << cluster;
  if (blocks < 1 || blocks * warps > 16)
    return emitError() << "expected blocks of at most 16 warps together, got " << blocks << " of "
                       << warps;
  return success();
}

LogicalResult AttentionCombineAttr::verify(EmitError emitError, int64_t threads) {
  return verifyThreads(emitError, threads);
}

LogicalResult AttentionRowsAttr::verify(EmitError emitError, int64_t threads) {
  return verifyThreads(emitError, threads);
}

} // namespace xc::cuda
