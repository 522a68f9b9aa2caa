//===- PlaceWaits.cpp - When to wait for which product --------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Products of a warpgroup are done in the order in which they are started, and `wgmma.wait_group N`
// waits for all but the last N. So in each block of ops:
//
//   1. A `tile.await` moves down to the first op that reads its result, or that gives away what its
//      product reads (`tile.release ... after`), alone or in a region. Where no barriers of a ring
//      guard that, it stays in front of what stores to tiles, or tells others that they may.
//   2. Such a release that no await comes before gets one.
//   3. Products started since are pending. The operands in registers of all that the wait retires
//      are kept up to there.
//
// Where there is no wgmma, products are synchronous (mma.sync): their waits go. Waits for copies
// stay where they are, since they are barriers, too; CopyWaits.cpp counts what they leave.
// Fences.cpp says where fences go.
//
// Refuses a product that its own block does not wait for: nobody behind the block could tell how
// many have been started since.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Common/Targets.h"
#include "compiler/Codegen/CUDA/Passes.h"
#include "compiler/Codegen/CUDA/Tile/CopyWaits.h"
#include "compiler/Codegen/CUDA/Tile/Fences.h"
#include "compiler/Dialect/Tile/IR/TileOps.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace xc::cuda {

#define GEN_PASS_DEF_PLACEWAITS
#include "compiler/Codegen/CUDA/Passes.h.inc"

/// The first op of `block` that uses one of `values` itself or in a region, other than `skipped`;
/// null if there is none.
static Operation *findFirstUser(Block &block, ValueRange values, Operation *skipped) {
  Operation *first = nullptr;
  for (Value value : values)
    for (Operation *user : value.getUsers()) {
      Operation *own = block.findAncestorOpInBlock(*user);
      if (own && own != skipped && (!first || own->isBeforeInBlock(first)))
        first = own;
    }
  return first;
}

/// True if `dot` reads shared memory that barriers of a ring do not guard, so that nobody gives it
/// away.
static bool readsUnguarded(tile::DotOp dot) {
  return llvm::any_of(ValueRange{dot.getA(), dot.getB()}, [](Value operand) {
    if (!isa<tile::SharedType>(operand.getType()))
      return false;
    Value memory = findMemory(operand);
    auto ring = memory ? memory.getDefiningOp<tile::RingOp>() : tile::RingOp();
    return memory && !(ring && ring.hasBarriers());
  });
}

/// The first op behind `await` and before `end` by which a thread may overwrite what others read.
static Operation *findOverwriter(tile::AwaitOp await, Operation *end) {
  auto overwrites = [](Operation *op) {
    bool stores = isa<tile::CopyOp, tile::StartCopyOp>(op) || getStoredTile(op);
    return stores || isArrival(op) ? WalkResult::interrupt() : WalkResult::advance();
  };
  for (Operation *op = await->getNextNode(); op && op != end; op = op->getNextNode())
    if (op->walk(overwrites).wasInterrupted())
      return op;
  return nullptr;
}

static tile::AwaitOp findAwait(tile::DotOp dot) {
  for (Operation *user : dot.getToken().getUsers())
    if (auto await = dyn_cast<tile::AwaitOp>(user))
      return await;
  return nullptr;
}

namespace {

/// The products and waits of one block, in order.
class BlockWaits {
public:
  explicit BlockWaits(Block &block) : block(block) {
    for (tile::DotOp dot : block.getOps<tile::DotOp>())
      if (!dot.getSynchronous())
        dots.push_back(dot);
  }

  LogicalResult run() {
    for (tile::DotOp dot : dots)
      if (failed(place(dot)))
        return failure();
    count();
    return success();
  }

private:
  LogicalResult place(tile::DotOp dot);
  void count();

  Block &block;
  SmallVector<tile::DotOp> dots;
};

} // namespace

LogicalResult BlockWaits::place(tile::DotOp dot) {
  tile::AwaitOp await = findAwait(dot);
  if (await && await->getBlock() != &block)
    return await.emitOpError("expected to be in the block of the product that it waits for");
  Operation *reader = findFirstUser(block, dot.getToken(), await);
  if (!await) {
    // Sums of a later product, which is waited for, need no wait of their own.
    if (!reader && !dot.getResult().use_empty())
      return success();
    if (!reader)
      return dot.emitOpError("expected its block to wait for it");
    OpBuilder builder(reader);
    tile::AwaitOp::create(builder, dot.getLoc(), dot.getResult(), dot.getToken());
    return success();
  }
  Operation *user = findFirstUser(block, await.getResult(), nullptr);
  if (reader && (!user || reader->isBeforeInBlock(user)))
    user = reader;
  if (user && readsUnguarded(dot))
    if (Operation *overwriter = findOverwriter(await, user))
      user = overwriter;
  if (user)
    await->moveBefore(user);
  return success();
}

void BlockWaits::count() {
  llvm::SetVector<Operation *> running;
  for (Operation &op : block) {
    if (auto dot = dyn_cast<tile::DotOp>(op); dot && !dot.getSynchronous())
      running.insert(&op);
    auto await = dyn_cast<tile::AwaitOp>(op);
    if (!await)
      continue;
    auto dot = await.getToken().getDefiningOp<tile::DotOp>();
    // In order: what was started before the product is done with it.
    int64_t pending = 0;
    bool isLater = false;
    SmallVector<Value> kept;
    for (Operation *other : running) {
      pending += isLater;
      Value a = cast<tile::DotOp>(other).getA();
      if (!isLater && isa<tile::RegisterType>(a.getType()))
        kept.push_back(a);
      isLater |= other == dot;
    }
    // Nothing but what came later is left; a wait for one that is done changes nothing.
    if (!isLater)
      pending = static_cast<int64_t>(running.size());
    await.setPendingAttr(OpBuilder(await).getI64IntegerAttr(pending));
    await.getKeptMutable().assign(kept);
    while (isLater && !running.empty()) {
      Operation *front = running.front();
      running.remove(front);
      isLater = front != dot;
    }
  }
}

/// Drops the waits for a product that is done when its op is.
static void dropWaits(tile::DotOp dot) {
  dot.setSynchronous(true);
  for (Operation *user : llvm::make_early_inc_range(dot.getToken().getUsers()))
    if (auto await = dyn_cast<tile::AwaitOp>(user)) {
      await.replaceAllUsesWith(dot.getResult());
      await.erase();
    }
}

namespace {

struct PlaceWaits final : impl::PlaceWaitsBase<PlaceWaits> {
  void runOnOperation() override {
    if (failed(placeCopyWaits(getOperation())))
      return signalPassFailure();
    const Target *target = findTarget(getOperation());
    llvm::SetVector<Block *> blocks;
    SmallVector<tile::DotOp> synchronous;
    getOperation().walk([&](tile::DotOp dot) {
      if (dot.getSynchronous() || (target && !target->hasWGMMA))
        synchronous.push_back(dot);
      else
        blocks.insert(dot->getBlock());
    });
    llvm::for_each(synchronous, dropWaits);
    for (Block *block : blocks)
      if (failed(BlockWaits(*block).run()))
        return signalPassFailure();
    placeFences(getOperation());
    // Waits are where releases need them.
    getOperation().walk([](tile::ReleaseOp op) { op.getTokenMutable().clear(); });
    getOperation().walk([](tile::ReleaseInOp op) { op.getTokenMutable().clear(); });
  }
};

} // namespace

} // namespace xc::cuda
