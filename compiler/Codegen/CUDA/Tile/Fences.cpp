//===- Fences.cpp - What fences keep in order -----------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// wgmma and the Tensor Memory Accelerator access shared memory through the asynchronous proxy. They
// see what threads have stored there if the thread that stored it has passed `fence.proxy.async`
// since, in front of the op by which others learn of it (PTX ISA, "Async proxy"). So on every path
// from a store to a tile that they access:
//
//   tile.write ...          a store
//   ...
//   tile.fence_async        directly in front of the first op that other threads wait for, or of
//   the tile.sync_warpgroup     first asynchronous access, if that comes earlier
//
// `cp.async` stores when it is waited for, and `tile.await_copies` is the wait and the barrier: it
// is `fenced`, which puts the fence between the two. No other block of the cluster stores to a
// tile.
//
// Where a loop carries operands of f64 that its end has read for its next iteration,
// `tile.fence_reads` keeps LLVM from reading them at the beginning instead. `ldmatrix` stays where
// it is without that.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Tile/Fences.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace xc::cuda {

Value findMemory(Value tile) {
  while (Operation *op = tile.getDefiningOp()) {
    if (isa<tile::RingOp, tile::AllocOp>(op))
      return tile;
    if (auto slot = dyn_cast<tile::SlotOp>(op))
      tile = slot.getRing();
    else if (auto reuse = dyn_cast<tile::ReuseOp>(op))
      tile = reuse.getRing();
    else if (auto await = dyn_cast<tile::AwaitCopiesOp>(op))
      tile = await.getTiles()[cast<OpResult>(tile).getResultNumber()];
    else
      break;
  }
  return Value();
}

/// The tiles that `op` accesses through the asynchronous proxy.
static SmallVector<Value, 2> getAsyncTiles(Operation *op) {
  if (auto dot = dyn_cast<tile::DotOp>(op); dot && !dot.getSynchronous()) {
    if (isa<tile::SharedType>(dot.getA().getType()))
      return {dot.getA(), dot.getB()};
    return {dot.getB()};
  }
  if (auto load = dyn_cast<tile::LoadOp>(op))
    return {load.getSlot()};
  if (auto multicast = dyn_cast<tile::MulticastOp>(op))
    return {multicast.getSlot()};
  if (auto store = dyn_cast<tile::StoreOp>(op))
    return {store.getTile()};
  return {};
}

Value getStoredTile(Operation *op) {
  if (auto write = dyn_cast<tile::WriteOp>(op))
    return write.getTile();
  if (auto write = dyn_cast<tile::WriteFragmentOp>(op))
    return write.getTile();
  return Value();
}

bool isArrival(Operation *op) {
  return isa<gpu::BarrierOp, NVVM::SyncWarpOp, NVVM::BarrierOp, NVVM::Barrier0Op, tile::SyncWarpOp,
             tile::SyncWarpgroupOp, tile::SyncBlocksOp, tile::ArriveBlocksOp, tile::ReduceBlocksOp,
             tile::BarrierSyncOp, tile::BarrierArriveOp, tile::PublishOp, tile::ReleaseOp,
             tile::ReleaseInOp, tile::AwaitCopiesOp>(op);
}

namespace {

class AsyncFences {
public:
  explicit AsyncFences(Operation *root);
  void place();

private:
  bool isAccessed(Value tile) const;
  /// Whether stores may be without a fence behind `op`, if they are `open` in front of it.
  bool visit(Operation *op, bool open);
  bool visitRegions(Operation *op, bool open);
  bool visit(Region &region, bool open);

  Operation *root;
  /// What the asynchronous proxy accesses; null stands for what nobody knows.
  llvm::DenseSet<Value> accessed;
  /// The ops that need a fence in front of them.
  llvm::SetVector<Operation *> fenced;
};

} // namespace

AsyncFences::AsyncFences(Operation *root) : root(root) {
  root->walk([&](Operation *op) {
    for (Value tile : getAsyncTiles(op))
      accessed.insert(findMemory(tile));
  });
}

bool AsyncFences::isAccessed(Value tile) const {
  if (accessed.empty())
    return false;
  Value memory = findMemory(tile);
  return !memory || accessed.contains(memory) || accessed.contains(Value());
}

bool AsyncFences::visit(Operation *op, bool open) {
  if (isa<tile::FenceAsyncOp>(op))
    return false;
  if (op->getNumRegions() > 0)
    return visitRegions(op, open);
  if (open && (isArrival(op) || !getAsyncTiles(op).empty())) {
    fenced.insert(op);
    open = false;
  }
  Value stored = getStoredTile(op);
  return open || (stored && isAccessed(stored));
}

bool AsyncFences::visitRegions(Operation *op, bool open) {
  if (auto branch = dyn_cast<scf::IfOp>(op)) {
    bool then = visit(branch.getThenRegion(), open);
    return (branch.getElseRegion().empty() ? open : visit(branch.getElseRegion(), open)) || then;
  }
  // A loop, or what is not known: any number of times, each behind any other.
  bool before = open;
  do {
    before = open;
    for (Region &region : op->getRegions())
      open |= visit(region, before);
  } while (open != before);
  return open;
}

bool AsyncFences::visit(Region &region, bool open) {
  for (Block &block : region)
    for (Operation &op : block)
      open = visit(&op, open);
  return open;
}

void AsyncFences::place() {
  if (accessed.empty())
    return;
  visitRegions(root, /*open=*/false);
  // Whoever reads what copies bring reads what the wait returns.
  root->walk([&](tile::AwaitCopiesOp op) {
    for (auto [tile, result] : llvm::zip(op.getTiles(), op.getResults()))
      if (!result.use_empty() && isAccessed(tile))
        fenced.insert(op);
  });
  for (Operation *op : fenced) {
    if (auto await = dyn_cast<tile::AwaitCopiesOp>(op)) {
      await.setFenced(true);
      continue;
    }
    OpBuilder builder(op);
    tile::FenceAsyncOp::create(builder, op->getLoc());
  }
}

/// True if one of `values` is an operand of f64 that `block` reads.
static bool readsDoubles(ValueRange values, Block *block) {
  return llvm::any_of(values, [&](Value value) {
    auto read = value.getDefiningOp<tile::ReadOperandOp>();
    return read && read->getBlock() == block && read.getResult().getType().getElementType().isF64();
  });
}

static void placeReadFences(Operation *root) {
  root->walk([](scf::ForOp loop) {
    auto placeBefore = [](Operation *op) {
      OpBuilder builder(op);
      tile::FenceReadsOp::create(builder, op->getLoc());
    };
    if (readsDoubles(loop.getInitArgs(), loop->getBlock()))
      placeBefore(loop);
    Operation *yield = loop.getBody()->getTerminator();
    if (readsDoubles(yield->getOperands(), loop.getBody()))
      placeBefore(yield);
  });
}

void placeFences(Operation *root) {
  AsyncFences(root).place();
  placeReadFences(root);
}

} // namespace xc::cuda
