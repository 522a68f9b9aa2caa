//===- AttentionSchedule.cpp - In which order tiles are computed ----------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Of a persistent kernel each block takes every 132nd tile, say. Where queries see only the keys
// before them, tiles have unequal work. If a wave is four heads of 33 tiles each, one block has the
// largest tile of every wave. So the work of each block is added up for several orders.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Attention/AttentionSchedule.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace mlir;

namespace xc::cuda {

/// Keys and values that the blocks of a wave had better find in L2.
static constexpr int64_t kCacheBytes = int64_t(32) << 20;
/// What tiles take longer where they do not (H200, causal: 896 us, now 987).
static constexpr double kCacheLoss = 1.1;
/// Fewer hundredths are not worth another order.
static constexpr double kLeastGain = 1.02;
/// Where there are more tiles, a wave is a small part of the work.
static constexpr int64_t kMostTiles = 1 << 16;

double countSeenPairs(int64_t queries, int64_t keys, bool causal, std::optional<uint64_t> window) {
  double pairs = static_cast<double>(queries) * static_cast<double>(keys);
  if (causal) {
    auto seen = static_cast<double>(std::min(queries, keys));
    pairs -= seen * seen / 2;
  }
  return window ? std::min(pairs, static_cast<double>(queries) * static_cast<double>(*window))
                : pairs;
}

double computeBalance(ArrayRef<int64_t> costs, int64_t heads, int64_t blocks,
                      AttentionSchedule schedule) {
  SmallVector<int64_t> loads(blocks, 0);
  int64_t number = 0;
  for (int64_t first = 0; first < heads; first += schedule.raster) {
    int64_t together = std::min(schedule.raster, heads - first);
    for (int64_t cost : costs)
      for (int64_t head = 0; head < together; ++head, ++number) {
        int64_t place = number % blocks;
        bool isBackwards = schedule.isSerpentine && number / blocks % 2 == 1;
        loads[isBackwards ? blocks - 1 - place : place] += cost;
      }
  }
  int64_t total = std::accumulate(loads.begin(), loads.end(), int64_t(0));
  return static_cast<double>(total) / static_cast<double>(blocks * *llvm::max_element(loads));
}

/// Blocks of keys that each tile of a causal head goes over, and one for what a tile takes besides;
/// the tile of the last queries first.
static SmallVector<int64_t> countBlocks(int64_t queries, int64_t keys, int64_t tileQueries,
                                        int64_t blockKeys) {
  SmallVector<int64_t> costs;
  for (int64_t end = llvm::alignTo(queries, tileQueries); end > 0; end -= tileQueries) {
    int64_t seen = std::min(end, queries) + keys - queries;
    costs.push_back(1 + llvm::divideCeil(std::clamp<int64_t>(seen, 0, keys), blockKeys));
  }
  return costs;
}

/// Heads whose keys and values L2 has room for; so do queries and cotangents of as many.
template <typename Op> static int64_t countCachedHeads(Op op) {
  ArrayRef<int64_t> key = op.getKeyType().getShape();
  int64_t length = key[key.size() - 2], vector = key.back() + op.getValueType().getShape().back();
  int64_t bytes = ShapedType::isDynamic(length) ? kCacheBytes / 8 : length * vector * 2;
  int64_t heads = kCacheBytes / std::max<int64_t>(bytes, 1) * op.getGroupSize();
  // A power of two, which registers need not be held to divide by.
  return llvm::bit_floor(static_cast<uint64_t>(std::clamp<int64_t>(heads, 1, 1024)));
}

/// The order of tiles of these costs, best as far as blocks end together; `cached` heads at a time
/// where that makes no difference.
static AttentionSchedule findSchedule(ArrayRef<int64_t> costs, int64_t heads, int64_t cached,
                                      const Target &target) {
  AttentionSchedule best{cached, false};
  int64_t tiles = heads * static_cast<int64_t>(costs.size());
  if (tiles == 0 || tiles > kMostTiles)
    return best;
  auto rate = [&](AttentionSchedule schedule) {
    return computeBalance(costs, heads, std::min<int64_t>(tiles, target.multiprocessors),
                          schedule) /
           (schedule.raster > cached ? kCacheLoss : 1);
  };
  double most = rate(best);
  for (int64_t raster = llvm::bit_ceil(static_cast<uint64_t>(heads)); raster > 0; raster /= 2)
    for (bool isSerpentine : {false, true})
      if (double rated = rate({raster, isSerpentine}); rated > most * kLeastGain) {
        best = {raster, isSerpentine};
        most = rated;
      }
  return best;
}

AttentionSchedule chooseAttentionSchedule(kernel::AttentionOp op, int64_t tileQueries,
                                          int64_t blockKeys, const Target &target) {
  if (!op.getCausal())
    return {};
  int64_t cached = countCachedHeads(op);
  AttentionSchedule best{cached, false};
  ArrayRef<int64_t> shape = op.getQueryType().getShape().drop_back();
  int64_t keys = op.getKeyType().getShape().drop_back().back();
  if (ShapedType::isDynamicShape(shape) || ShapedType::isDynamic(keys) || op.getWindow())
    return best;
  int64_t heads = computeProduct(shape.drop_back());
  return findSchedule(countBlocks(shape.back(), keys, tileQueries, blockKeys), heads, cached,
                      target);
}

AttentionSchedule chooseGradientSchedule(kernel::AttentionGradientOp op, int64_t tileRows,
                                         int64_t blockRows, int64_t rows, const Target &target) {
  if (!op.getCausal())
    return {};
  int64_t cached = countCachedHeads(op);
  ArrayRef<int64_t> query = op.getQueryType().getShape(), key = op.getKeyType().getShape();
  if (op.getWindow() || ShapedType::isDynamicShape(query) || ShapedType::isDynamicShape(key))
    return {cached, false};
  int64_t queries = query[query.size() - 2], keys = key[key.size() - 2];
  ArrayRef<int64_t> own = op.isOfKeys() ? key : query;
  int64_t heads = computeProduct(own.drop_back(2));
  if (!op.isOfKeys())
    return findSchedule(countBlocks(queries, keys, tileRows, blockRows), heads, cached, target);
  // The first keys are those that most queries see.
  SmallVector<int64_t> costs;
  for (int64_t first = 0; first < rows; first += tileRows) {
    int64_t hidden = std::clamp<int64_t>(first - (keys - queries), 0, queries);
    costs.push_back(1 + op.getGroupSize() * llvm::divideCeil(queries - hidden, blockRows));
  }
  return findSchedule(costs, heads, cached, target);
}

} // namespace xc::cuda
