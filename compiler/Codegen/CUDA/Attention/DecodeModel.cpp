//===- DecodeModel.cpp - How long attention of few queries takes ----------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All that takes time is reading keys and values. As many blocks as there is room for read at a
// time, and each wave of them takes the longest of
//
//   steps    the latency of memory for each step of a warp, which has one under way
//   fetch    the bytes of the busiest multiprocessor, at what one alone is given
//   memory   the bytes of all blocks
//
// and more where two of them are close, as each step waits longer while memory is busy; and what a
// block takes to begin and to join its warps. So a head whose keys many blocks share ends sooner,
// but small blocks do little else than begin and end: 64 x 8 heads of 1024 keys took 118 us with
// eight blocks each, and 65 with one. The constants were fitted to an H200 (205 launches of 22
// workloads; the root mean square of the error is 11 %).
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Attention/DecodeModel.h"
#include "compiler/Codegen/CUDA/Matmul/MatmulModel.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cmath>

namespace xc::cuda {

/// What memory gives of the rate of a target's table if nothing else takes time, and what a
/// multiprocessor gets of its share of that while others ask for less.
static constexpr double kMemoryShare = 1.43, kLoneShare = 1.63;
/// Microseconds of a step of 16 keys and values from their loads on where memory is idle; of a
/// launch; of a block to begin and to end; more of it for each of its warps, and for each other
/// block of its cluster; of the launch that joins parts.
static constexpr double kStepTime = 0.92, kLaunchTime = 0.92, kBlockTime = 1.47, kWarpTime = 0.06,
                        kClusterTime = 0.017, kCombineTime = 3.97;
/// How times of what goes on side by side add up: the larger this is, the more the longest counts
/// alone.
static constexpr double kOverlapPower = 1.82;
/// What a plan of more blocks must gain.
static constexpr double kWorthwhile = 0.98;
/// Bytes of a key and a value together up to which a warp that has 16 of them under way leaves the
/// registers of one or of two others.
static constexpr int64_t kNarrow = 256, kMiddle = 512;
/// Warps of a multiprocessor up to which threads of middle width hold queries in registers.
static constexpr int64_t kMostHolders = 12;
/// Words of a step that are under way at a time, and that a thread holds of queries, of sums and of
/// steps before it runs out of registers.
static constexpr int64_t kUnderWay = 64, kMostHeld = 208;
/// Bytes of a key and a value, of which a thread loads a word in a step.
static constexpr int64_t kStepShare = 8;
/// Bytes of a query, of which a thread holds a word, and elements of a result, of which it holds a
/// sum, for each eight rows.
static constexpr int64_t kQueryShare = 16, kResultShare = 4;
/// Blocks of the largest cluster that any GPU launches.
static constexpr int64_t kMostCluster = 8;
/// Warps of a block in clusters of more than two: 8 heads of 8192 keys took 17.2 us in clusters of
/// eight blocks of 16 warps, and 15.4 in 32 parts.
static constexpr int64_t kPairs = 2, kClusteredWarps = 8;
/// Keys of a block at least; those of a part in memory, and the most of these.
static constexpr int64_t kFewestKeys = 64, kFewestSplitKeys = 256, kMostSplits = 128;
/// Keys that a cache is taken to have room for where that is not known.
static constexpr int64_t kUnknownKeys = 8192;

static int64_t getWidth(const DecodeSizes &sizes) {
  return (sizes.vector + sizes.result) * sizes.elementBytes;
}
static bool isTall(const DecodeSizes &sizes) { return sizes.blockRows > 8; }
static int64_t getKeys(const DecodeSizes &sizes) {
  return sizes.keys < 0 ? kUnknownKeys : sizes.keys;
}

/// Blocks that a multiprocessor has registers for. Those of many warps read the most, and so do
/// few large ones; small ones are shared out more evenly.
static llvm::ArrayRef<DecodePlan> getBlocks(const DecodeSizes &sizes) {
  static constexpr DecodePlan narrow[] = {{8, 2}, {4, 4}, {8, 1}, {16, 1}},
                              middle[] = {{4, 3}, {8, 2}, {4, 4}, {8, 1}, {16, 1}},
                              wide[] = {{4, 2}, {8, 1}};
  if (isTall(sizes) || getWidth(sizes) > kMiddle)
    return wide;
  return getWidth(sizes) <= kNarrow ? llvm::ArrayRef(narrow) : llvm::ArrayRef(middle);
}

bool runsOutOfRegisters(const Target &target, const DecodeSizes &sizes) {
  int64_t step = getWidth(sizes) / kStepShare;
  if (isTall(sizes) || target.hasClusters())
    step = std::min(step, kUnderWay);
  int64_t halves = sizes.blockRows / 8;
  int64_t query = sizes.vector * sizes.elementBytes / kQueryShare;
  return halves * (query + sizes.result / kResultShare) + step > kMostHeld;
}

bool keepsQueriesShared(const DecodeSizes &sizes, int64_t warps, int64_t blocks) {
  bool isSingle = sizes.elementBytes == 4;
  return isSingle || (getWidth(sizes) > kNarrow && warps * blocks > kMostHolders);
}

/// Shared memory of a block.
static int64_t getSharedBytes(const Target &target, const DecodeSizes &sizes,
                              const DecodePlan &plan) {
  constexpr int64_t floatBytes = 4, joined = 4;
  // In whole pieces of 16 bytes.
  auto result = static_cast<int64_t>(llvm::alignTo(sizes.result, 2 * kDecodeVectorStep));
  int64_t height = sizes.blockRows;
  int64_t bytes = plan.warps * height * (result + 2) * floatBytes;
  if (keepsQueriesShared(sizes, plan.warps, plan.blocks) || runsOutOfRegisters(target, sizes))
    bytes += getQueryBytes(sizes);
  int64_t share = llvm::divideCeil(height * result / joined, plan.cluster);
  if (plan.cluster > 1)
    bytes += plan.cluster * (share * joined + height) * floatBytes;
  return bytes;
}

/// Whether a block has shared memory. A multiprocessor then has as many as it has some for.
static bool fitShared(const Target &target, const DecodeSizes &sizes, DecodePlan &plan) {
  int64_t bytes = getSharedBytes(target, sizes, plan);
  auto taken =
      static_cast<int64_t>(llvm::alignTo(bytes, target.sharedUnit)) + target.sharedReserved;
  plan.blocks = std::clamp<int64_t>(target.sharedPerMultiprocessor / taken, 1, plan.blocks);
  return bytes <= target.sharedPerBlock;
}

double estimateDecodePlan(const Target &target, const DecodeSizes &sizes, const DecodePlan &plan) {
  int64_t shares = std::max(plan.cluster, plan.splits), blocks = sizes.heads * shares;
  int64_t room = getClusterRoom(target, plan.cluster);
  double keys = static_cast<double>(getKeys(sizes)) / static_cast<double>(shares);
  double bytes = keys * static_cast<double>(getWidth(sizes));
  double steps = std::ceil(keys / static_cast<double>(kDecodeKeys * plan.warps));
  double rate = target.rates.memory * kMemoryShare * 1e3; // bytes a microsecond
  auto getWaveTime = [&](int64_t count) {
    if (count == 0)
      return 0.0;
    auto busiest = static_cast<double>(llvm::divideCeil(count, room));
    double fetch = busiest * bytes * target.multiprocessors / (rate * kLoneShare), sum = 0;
    for (double time : {steps * kStepTime, fetch, static_cast<double>(count) * bytes / rate})
      sum += std::pow(time, kOverlapPower);
    return std::pow(sum, 1 / kOverlapPower) + kBlockTime +
           kWarpTime * static_cast<double>(plan.warps) +
           kClusterTime * static_cast<double>(plan.cluster - 1);
  };
  int64_t places = std::max<int64_t>(room * plan.blocks, plan.cluster);
  double combine = plan.splits > 1 ? kCombineTime : 0;
  return kLaunchTime + static_cast<double>(blocks / places) * getWaveTime(places) +
         getWaveTime(blocks % places) + combine;
}

DecodePlan chooseDecodePlan(const DecodeSizes &sizes, const Target &target,
                            std::optional<int64_t> splits) {
  std::optional<DecodePlan> best;
  auto consider = [&](int64_t cluster, int64_t parts) {
    for (DecodePlan plan : getBlocks(sizes)) {
      if (cluster > kPairs && plan.warps > kClusteredWarps)
        continue;
      plan.cluster = cluster;
      plan.splits = parts;
      // Blocks that have a multiprocessor each may have all of its registers.
      if (!sizes.isAnyBatch && sizes.heads * cluster * parts <= target.multiprocessors)
        plan.blocks = 1;
      if (!fitShared(target, sizes, plan))
        continue;
      plan.microseconds = estimateDecodePlan(target, sizes, plan);
      if (!best || plan.microseconds < kWorthwhile * best->microseconds)
        best = plan;
    }
  };
  int64_t keys = getKeys(sizes);
  if (splits.value_or(1) == 1) {
    consider(1, 1);
    for (int64_t cluster = 2; target.hasClusters() && cluster <= kMostCluster; cluster *= 2)
      if (cluster * kFewestKeys <= keys)
        consider(cluster, 1);
  } else {
    consider(1, *splits);
  }
  if (!splits)
    for (int64_t parts = 2; parts <= std::min(kMostSplits, keys / kFewestSplitKeys); ++parts)
      consider(1, parts);
  return *best;
}

} // namespace xc::cuda
