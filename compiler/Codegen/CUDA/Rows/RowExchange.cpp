//===- RowExchange.cpp - How the threads of a row combine ---------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Lanes of a vector first, as a tree. Then the threads of a warp, by shuffles. Then, where a row
// has several warps, each leaves its result in shared memory, in that of all blocks of a cluster,
// and after a barrier every warp combines the results of all. So all threads get the same result,
// by the same order of additions.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Common/LaneOps.h"
#include "compiler/Codegen/CUDA/Rows/RowEmitter.h"
#include "compiler/Dialect/Tile/IR/TileOps.h"

#include "compiler/Codegen/CUDA/Common/CombineResults.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;

namespace xc::cuda {

SmallVector<Value> RowEmitter::combineLanes(const Combiner &combiner, ArrayRef<Value> partial) {
  auto getLanes = [&](int64_t i) {
    return llvm::map_to_vector(
        partial, [&](Value value) { return getLane(points.builder, points.loc, value, i); });
  };
  SmallVector<SmallVector<Value>> terms;
  for (int64_t i = 0; i < lanes; ++i)
    terms.push_back(getLanes(i));
  // A tree: its depth is the latency.
  for (size_t width = terms.size() / 2; width > 0; width /= 2)
    for (size_t i = 0; i < width; ++i)
      terms[i] = combineResults(points.builder, points.loc, combiner, terms[i], terms[i + width]);
  return terms.front();
}

SmallVector<Value> RowEmitter::combineWarp(const Combiner &combiner, SmallVector<Value> values,
                                           int64_t width) {
  for (int64_t distance = width / 2; distance > 0; distance /= 2) {
    SmallVector<Value> others =
        llvm::map_to_vector(values, [&](Value value) { return frame.shuffleXor(value, distance); });
    values = combineResults(points.builder, points.loc, combiner, values, others);
  }
  return values;
}

RowEmitter::MemberValues RowEmitter::combineThreads(Members members, MemberValues values) {
  OpBuilder &builder = points.builder;
  Location loc = points.loc;
  int64_t threads = config.getThreads();
  for (auto [member, own] : llvm::zip_equal(members, values))
    own = combineWarp(member.combiner, combineLanes(member.combiner, own),
                      std::min<int64_t>(threads, 32));
  if (threads <= 32)
    return values;
  // Every warp leaves its results in shared memory, and every warp of the row combines them all.
  int64_t warps = across / 32, width = std::min<int64_t>(warps, 32);
  MemberValues buffers(members.size());
  for (auto [own, to] : llvm::zip_equal(values, buffers))
    for (Value value : own)
      to.push_back(frame.allocateShared(value.getType(), warps * config.getRows()));
  exchange(values, buffers);
  Value first = index.add(index.mul(threadGroup, warps), index.rem(lane, width));
  auto load = [&](ArrayRef<Value> memory, int64_t number) {
    Value from = index.add(first, number);
    return llvm::map_to_vector(memory, [&](Value buffer) -> Value {
      return memref::LoadOp::create(builder, loc, buffer, from);
    });
  };
  for (auto [member, own, memory] : llvm::zip_equal(members, values, buffers)) {
    own = load(memory, 0);
    for (int64_t number = width; number < warps; number += width)
      own = combineResults(builder, loc, member.combiner, own, load(memory, number));
    own = combineWarp(member.combiner, own, width);
  }
  return values;
}

void RowEmitter::exchange(const MemberValues &values, const MemberValues &buffers) {
  ++numExchanges;
  OpBuilder &builder = points.builder;
  Location loc = points.loc;
  int64_t cluster = config.getCluster();
  Value place = index.add(index.mul(threadGroup, across / 32), index.div(lane, 32));
  Value inWarp = index.rem(ownLane, 32);
  auto store = [&](llvm::function_ref<void(Value, Value)> emitStore) {
    for (auto [own, memory] : llvm::zip_equal(values, buffers))
      for (auto [value, buffer] : llvm::zip_equal(own, memory))
        emitStore(value, buffer);
  };
  if (cluster == 1) {
    points.emitIf(index.isEqual(inWarp, index.constant(0)), [&] {
      store([&](Value value, Value buffer) {
        memref::StoreOp::create(builder, loc, value, buffer, place);
      });
    });
    return meetRow();
  }
  if (!hasMetBlocks)
    tile::WaitBlocksOp::create(builder, loc);
  hasMetBlocks = true;
  // What loops compute ahead of this condition has to be known of every thread.
  Value rank = group.partials.empty() ? inWarp : index.rem(inWarp, cluster);
  points.emitIf(index.isLess(inWarp, index.constant(cluster)), [&] {
    store([&](Value value, Value buffer) {
      tile::StoreInOp::create(builder, loc, value, buffer, place, rank);
    });
  });
  meetRow();
}

void RowEmitter::meetRow() {
  if (config.getCluster() > 1) {
    tile::ArriveBlocksOp::create(points.builder, points.loc, /*relaxed=*/false);
    tile::WaitBlocksOp::create(points.builder, points.loc);
    return;
  }
  bool hasThreadGroups = config.getRows() > 1 && config.getRows() <= KernelFrame::kMostThreadGroups;
  if (hasThreadGroups)
    frame.barrier(threadGroup, config.getThreads());
  else
    frame.barrier();
}

} // namespace xc::cuda
