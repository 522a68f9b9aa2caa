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
//   1. A `tile.await` moves down to the first op that reads a result of it, or that gives away what
//      its products read (`tile.release ... after`), alone or in a region. Where no barriers of a
//      ring guard that, it stays in front of what stores to tiles, or tells others that they may.
//   2. Such a release that no await comes before gets one.
//   3. Products started since are pending. The operands in registers of all that the wait retires
//      are kept up to there.
//
// A loop may carry a token, and the block of its next iteration waits. Operands in registers of the
// product are carried beside it, and TokenPaths.cpp says how many products are started until then:
//
//   scf.for ... iter_args(%before = %none, %kept = %undefined)
//     %sums, %done = tile.dot %operand, ...
//     tile.await after %before keep %kept pending 1
//     tile.release %ring[%last]
//     scf.yield %done, %operand
//
// Where there is no wgmma, products are synchronous (mma.sync): their waits go. Waits for copies
// stay where they are, since they are barriers, too; CopyWaits.cpp counts what they leave.
// Fences.cpp says where fences go.
//
// Refuses a product that neither its own block nor the next iteration waits for: nobody behind the
// block could tell how many have been started since.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Common/Targets.h"
#include "compiler/Codegen/CUDA/Passes.h"
#include "compiler/Codegen/CUDA/Tile/CopyWaits.h"
#include "compiler/Codegen/CUDA/Tile/Fences.h"
#include "compiler/Codegen/CUDA/Tile/TokenPaths.h"
#include "compiler/Dialect/Tile/IR/TileOps.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace xc::cuda {

#define GEN_PASS_DEF_PLACEWAITS
#include "compiler/Codegen/CUDA/Passes.h.inc"

static bool isRelease(Operation *op) { return isa<tile::ReleaseOp, tile::ReleaseInOp>(op); }

static bool isAsynchronous(Operation *op) {
  auto dot = dyn_cast<tile::DotOp>(op);
  return dot && !dot.getSynchronous();
}

/// The first op of `block` that uses one of `values`, alone or in a region, by an op for which
/// `isUse` is true; null if there is none.
static Operation *findFirstUser(Block &block, ValueRange values,
                                llvm::function_ref<bool(Operation *)> isUse) {
  Operation *first = nullptr;
  for (Value value : values)
    for (Operation *user : value.getUsers()) {
      Operation *own = isUse(user) ? block.findAncestorOpInBlock(*user) : nullptr;
      if (own && (!first || own->isBeforeInBlock(first)))
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

static tile::AwaitOp findAwait(Value token) {
  for (Operation *user : token.getUsers())
    if (auto await = dyn_cast<tile::AwaitOp>(user))
      return await;
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Tokens that loops carry
//===----------------------------------------------------------------------===//

namespace {

/// What the tokens of a function are of.
class ProductTokens {
public:
  /// Carries operands in registers beside the tokens of their products.
  explicit ProductTokens(Operation *root);

  /// The products that `token` may be of.
  SmallVector<tile::DotOp> getDots(Value token) const;
  /// The operand in registers that the product of `token` reads; null if it reads none.
  Value getOperand(Value token) const;
  /// All of them, in order.
  ArrayRef<Value> getTokens() const { return tokens.getArrayRef(); }
  /// True if a loop passes `token` on.
  static bool isCarried(Value token) {
    return llvm::any_of(token.getUsers(), llvm::IsaPred<scf::ForOp, scf::YieldOp>);
  }

private:
  void carryOperands(scf::ForOp loop);

  /// Of tokens that loops carry.
  llvm::DenseMap<Value, Value> operands;
  llvm::SetVector<Value> tokens;
};

} // namespace

ProductTokens::ProductTokens(Operation *root) {
  // Inner loops first: what they return, outer ones may pass on.
  SmallVector<scf::ForOp> loops;
  root->walk([&](scf::ForOp loop) { loops.push_back(loop); });
  llvm::for_each(loops, [&](scf::ForOp loop) { carryOperands(loop); });
  root->walk([&](Operation *op) {
    if (isAsynchronous(op))
      tokens.insert(cast<tile::DotOp>(op).getToken());
  });
  for (size_t i = 0; i < tokens.size(); ++i)
    for (OpOperand &use : tokens[i].getUses()) {
      Operation *owner = use.getOwner();
      bool isYield = isa<scf::YieldOp>(owner);
      auto loop = dyn_cast<scf::ForOp>(isYield ? owner->getParentOp() : owner);
      if (!loop)
        continue;
      unsigned number = use.getOperandNumber() - (isYield ? 0 : loop.getNumControlOperands());
      tokens.insert(loop.getRegionIterArg(number));
      tokens.insert(loop.getResult(number));
    }
}

Value ProductTokens::getOperand(Value token) const {
  auto dot = token.getDefiningOp<tile::DotOp>();
  if (!dot)
    return operands.lookup(token);
  return isa<tile::RegisterType>(dot.getA().getType()) ? dot.getA() : Value();
}

/// Has `loop` carry the operands of the products whose tokens it yields, behind all else.
void ProductTokens::carryOperands(scf::ForOp loop) {
  SmallVector<unsigned> numbers;
  for (auto [number, yielded] : llvm::enumerate(loop.getBody()->getTerminator()->getOperands()))
    if (isa<tile::TokenType>(yielded.getType()) && getOperand(yielded))
      numbers.push_back(number);
  if (numbers.empty())
    return;
  IRRewriter rewriter(loop);
  Operation *yield = loop.getBody()->getTerminator();
  SmallVector<Value> inits, yielded;
  for (unsigned number : numbers) {
    yielded.push_back(getOperand(yield->getOperand(number)));
    Value init = getOperand(loop.getInitArgs()[number]);
    if (!init || init.getType() != yielded.back().getType())
      init = tile::UndefinedOp::create(rewriter, loop.getLoc(), yielded.back().getType());
    inits.push_back(init);
  }
  unsigned first = loop.getNumResults();
  auto getYielded = [&](OpBuilder &, Location, ArrayRef<BlockArgument>) { return yielded; };
  auto wider = cast<scf::ForOp>(*loop.replaceWithAdditionalYields(
      rewriter, inits, /*replaceInitOperandUsesInLoop=*/false, getYielded));
  for (auto [i, number] : llvm::enumerate(numbers)) {
    operands[wider.getRegionIterArg(number)] = wider.getRegionIterArg(first + i);
    operands[wider.getResult(number)] = wider.getResult(first + i);
  }
}

SmallVector<tile::DotOp> ProductTokens::getDots(Value token) const {
  llvm::SetVector<Value> sources;
  sources.insert(token);
  SmallVector<tile::DotOp> dots;
  for (size_t i = 0; i < sources.size(); ++i) {
    Value source = sources[i];
    if (auto dot = source.getDefiningOp<tile::DotOp>()) {
      dots.push_back(dot);
      continue;
    }
    auto argument = dyn_cast<BlockArgument>(source);
    auto loop = dyn_cast_or_null<scf::ForOp>(argument ? argument.getOwner()->getParentOp()
                                                      : source.getDefiningOp());
    if (!loop)
      continue;
    unsigned number =
        argument ? argument.getArgNumber() - 1 : cast<OpResult>(source).getResultNumber();
    sources.insert(loop.getInitArgs()[number]);
    sources.insert(loop.getBody()->getTerminator()->getOperand(number));
  }
  return dots;
}

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

/// Has releases wait for `token`, for which there is no wait yet.
static LogicalResult addAwait(Value token) {
  Block &block = *token.getParentBlock();
  if (Operation *reader = findFirstUser(block, token, isRelease)) {
    // One op waits for all tokens of a release.
    auto last = dyn_cast_or_null<tile::AwaitOp>(reader->getPrevNode());
    if (last && last.getValues().empty()) {
      last.getTokensMutable().append(token);
      return success();
    }
    OpBuilder builder(reader);
    tile::AwaitOp::create(builder, token.getLoc(), ValueRange(), token);
    return success();
  }
  // Sums of a later product, which is waited for, need no wait of their own.
  auto dot = token.getDefiningOp<tile::DotOp>();
  if (ProductTokens::isCarried(token) || isa<BlockArgument>(token) ||
      (dot && !dot.getResult().use_empty()))
    return success();
  return token.getDefiningOp()->emitOpError("expected its block to wait for it");
}

/// Moves `await` to who needs it first. What is released before the last of several products has
/// been started, an op of its own waits for.
static void moveDown(tile::AwaitOp await, const ProductTokens &tokens) {
  Block &block = *await->getBlock();
  Operation *user = findFirstUser(block, await.getResults(), [](Operation *) { return true; });
  for (Value token : await.getTokens()) {
    Operation *reader = findFirstUser(block, token, isRelease);
    if (reader && await.getTokens().size() > 1 && reader->isBeforeInBlock(await)) {
      OpBuilder builder(reader);
      tile::AwaitOp::create(builder, token.getLoc(), ValueRange(), token);
      continue;
    }
    if (reader && (!user || reader->isBeforeInBlock(user)))
      user = reader;
  }
  auto isUnguarded = [&](Value token) {
    return llvm::any_of(tokens.getDots(token), readsUnguarded);
  };
  if (user && llvm::any_of(await.getTokens(), isUnguarded))
    if (Operation *overwriter = findOverwriter(await, user))
      user = overwriter;
  if (user)
    await->moveBefore(user);
}

namespace {

/// Counts what the waits of one block leave pending.
class BlockWaits {
public:
  BlockWaits(Block &block, const ProductTokens &tokens) : block(block), tokens(tokens) {
    for (BlockArgument argument : block.getArguments())
      if (Value operand =
              isa<tile::TokenType>(argument.getType()) ? tokens.getOperand(argument) : Value())
        before.insert(operand);
  }

  LogicalResult run();

private:
  std::optional<int64_t> countPending(tile::AwaitOp await, Value token) const;
  LogicalResult count(tile::AwaitOp await);

  Block &block;
  const ProductTokens &tokens;
  /// The products that are under way, in order; and the operands of those from the iteration
  /// before.
  llvm::SetVector<Operation *> running;
  llvm::SetVector<Value> before;
};

} // namespace

/// Nothing if it is not known of what op `token` is.
std::optional<int64_t> BlockWaits::countPending(tile::AwaitOp await, Value token) const {
  auto dot = token.getDefiningOp<tile::DotOp>();
  if (!dot)
    return countStarted(token, await, isAsynchronous);
  // In order: what was started before the product is done with it. A wait for one that is done
  // changes nothing.
  auto found = llvm::find(running, dot.getOperation());
  auto after = static_cast<int64_t>(std::distance(found, running.end()));
  return after == 0 ? static_cast<int64_t>(running.size()) : after - 1;
}

LogicalResult BlockWaits::count(tile::AwaitOp await) {
  int64_t pending = kManyStarted;
  SmallVector<Value> kept;
  auto keep = [&](Value operand) {
    if (operand)
      kept.push_back(operand);
  };
  bool isOfBlock = false;
  for (Value token : await.getTokens()) {
    std::optional<int64_t> own = countPending(await, token);
    if (!own)
      return await.emitOpError("expected tokens of products that come by loops alone");
    pending = std::min(pending, *own);
    isOfBlock |= running.contains(token.getDefiningOp());
    if (Value operand = tokens.getOperand(token); operand && !token.getDefiningOp<tile::DotOp>()) {
      before.remove(operand);
      keep(operand);
    }
  }
  if (isOfBlock)
    llvm::for_each(before.takeVector(), keep);
  while (static_cast<int64_t>(running.size()) > pending) {
    auto dot = cast<tile::DotOp>(running.front());
    running.remove(dot);
    keep(tokens.getOperand(dot.getToken()));
  }
  await.setPendingAttr(OpBuilder(await).getI64IntegerAttr(pending));
  await.getKeptMutable().assign(kept);
  return success();
}

LogicalResult BlockWaits::run() {
  for (Operation &op : block) {
    if (isAsynchronous(&op))
      running.insert(&op);
    auto await = dyn_cast<tile::AwaitOp>(op);
    if (await && failed(count(await)))
      return failure();
  }
  // What nobody carries, the next iteration cannot keep.
  for (Operation *op : running) {
    auto dot = cast<tile::DotOp>(op);
    if (tokens.getOperand(dot.getToken()) && !ProductTokens::isCarried(dot.getToken()))
      return dot.emitOpError("expected its block to wait for it, or to pass its token on, since "
                             "it reads an operand in registers");
  }
  return success();
}

/// Drops the waits for products that are done when their ops are, and for none.
static void dropWaits(Operation *root, bool areAllDone) {
  root->walk([&](tile::AwaitOp await) {
    auto isDone = [](Value token) {
      auto dot = token.getDefiningOp<tile::DotOp>();
      return token.getDefiningOp<tile::NothingOp>() || (dot && dot.getSynchronous());
    };
    if (!areAllDone && !llvm::all_of(await.getTokens(), isDone))
      return;
    await.getResults().replaceAllUsesWith(await.getValues());
    await.erase();
  });
}

namespace {

struct PlaceWaits final : impl::PlaceWaitsBase<PlaceWaits> {
  void runOnOperation() override {
    if (failed(placeCopyWaits(getOperation())))
      return signalPassFailure();
    const Target *target = findTarget(getOperation());
    bool areAllDone = target && !target->hasWGMMA;
    if (areAllDone)
      getOperation().walk([](tile::DotOp dot) { dot.setSynchronous(true); });
    dropWaits(getOperation(), areAllDone);
    if (failed(placeProductWaits()))
      return signalPassFailure();
    placeFences(getOperation());
    // Waits are where releases need them.
    getOperation().walk([](tile::ReleaseOp op) { op.getTokensMutable().clear(); });
    getOperation().walk([](tile::ReleaseInOp op) { op.getTokensMutable().clear(); });
  }

private:
  LogicalResult placeProductWaits() {
    ProductTokens tokens(getOperation());
    llvm::SetVector<Operation *> moved;
    for (Value token : tokens.getTokens()) {
      tile::AwaitOp await = findAwait(token);
      if (!await && failed(addAwait(token)))
        return failure();
      if (!await || !moved.insert(await))
        continue;
      if (await->getBlock() != token.getParentBlock())
        return await.emitOpError("expected to be in the block of the product that it waits for");
      moveDown(await, tokens);
    }
    llvm::SetVector<Block *> blocks;
    getOperation().walk([&](Operation *op) {
      if (isa<tile::AwaitOp>(op) || isAsynchronous(op))
        blocks.insert(op->getBlock());
    });
    for (Block *block : blocks)
      if (failed(BlockWaits(*block, tokens).run()))
        return failure();
    return success();
  }
};

} // namespace

} // namespace xc::cuda
