//===- TileWaits.cpp - Who has waited for what fills a tile ---------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tokens and stages go round loops. Each is followed to all values that it may be, and to the op
// that passes each of them on.
//
// A tile or a token that comes from elsewhere may be the right one, and so may a copy to a stage
// that is not a constant: what a text leaves open is not refused. Of a loop, the stages of the
// first iteration are often constants.
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Tile/IR/TileWaits.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace xc::tile {

//===----------------------------------------------------------------------===//
// Values that loops and branches pass on
//===----------------------------------------------------------------------===//

namespace {

/// A value, and the op that passes it on.
using Incoming = std::pair<Value, Operation *>;

} // namespace

static void addIncoming(RegionBranchOpInterface op, RegionBranchPoint point, Value value,
                        SmallVectorImpl<Incoming> &incoming) {
  SmallVector<RegionSuccessor> successors;
  op.getSuccessorRegions(point, successors);
  Operation *from = point.isParent() ? op.getOperation() : point.getTerminatorPredecessorOrNull();
  for (const RegionSuccessor &successor : successors) {
    ValueRange inputs = successor.getSuccessorInputs();
    auto found = llvm::find(inputs, value);
    if (found == inputs.end())
      continue;
    OperandRange operands =
        point.isParent()
            ? op.getEntrySuccessorOperands(successor)
            : cast<RegionBranchTerminatorOpInterface>(from).getSuccessorOperands(successor);
    auto number = static_cast<size_t>(std::distance(inputs.begin(), found));
    // The loop itself has not been verified yet.
    if (number < operands.size())
      incoming.push_back({operands[number], from});
  }
}

/// What `value` may be, if a loop or a branch passes it on; otherwise nothing.
static SmallVector<Incoming> getIncoming(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  Operation *owner = argument ? argument.getOwner()->getParentOp() : value.getDefiningOp();
  SmallVector<Incoming> incoming;
  if (auto loop = dyn_cast_or_null<PersistentOp>(owner)) {
    unsigned number = argument ? argument.getArgNumber() : cast<OpResult>(value).getResultNumber();
    constexpr unsigned kPlace = 3; // arguments in front of what is carried
    if (argument && number < kPlace)
      return {};
    number -= argument ? kPlace : 0;
    Operation *yield = loop.getBody().front().getTerminator();
    return {{loop.getInits()[number], loop}, {yield->getOperand(number), yield}};
  }
  if (auto op = dyn_cast_or_null<RegionBranchOpInterface>(owner))
    for (RegionBranchPoint point : op.getAllRegionBranchPoints())
      addIncoming(op, point, value, incoming);
  return incoming;
}

static std::optional<int64_t> getConstant(Value value) {
  APInt number;
  if (!matchPattern(value, m_ConstantInt(&number)))
    return std::nullopt;
  return number.getSExtValue();
}

//===----------------------------------------------------------------------===//
// Stages that barriers tell of
//===----------------------------------------------------------------------===//

/// True if `first`, or an op with it in a region, comes before `second`; also where blocks do not
/// say.
static bool comesBefore(Operation *first, Operation *second) {
  for (Operation *at = second; at && at->getParentRegion(); at = at->getParentOp()) {
    Operation *other = at->getParentRegion()->findAncestorOpInRegion(*first);
    if (other)
      return other != at && (other->getBlock() != at->getBlock() || other->isBeforeInBlock(at));
  }
  return false;
}

/// True if both are computed alike.
static bool isSameNumber(Value value, Value other) {
  if (value == other)
    return true;
  Operation *op = value.getDefiningOp(), *otherOp = other.getDefiningOp();
  return op && otherOp && isPure(op) && op->getNumRegions() == 0 &&
         cast<OpResult>(value).getResultNumber() == cast<OpResult>(other).getResultNumber() &&
         OperationEquivalence::isEquivalentTo(
             op, otherOp,
             [](Value operand, Value of) { return success(isSameNumber(operand, of)); },
             /*markEquivalent=*/nullptr, OperationEquivalence::IgnoreLocations);
}

namespace {

/// The waits for the stages of one ring.
class FullStages {
public:
  explicit FullStages(RingOp ring) {
    for (Operation *user : ring.getRing().getUsers())
      if (auto wait = dyn_cast<WaitFullOp>(user))
        waits.push_back(wait);
  }

  /// True if `stage` may have been waited for before `at`.
  bool contains(Value stage, Operation *at);

private:
  SmallVector<WaitFullOp> waits;
  llvm::DenseSet<Value> visited;
};

} // namespace

bool FullStages::contains(Value stage, Operation *at) {
  for (WaitFullOp wait : waits)
    if (isSameNumber(wait.getStage(), stage) && comesBefore(wait, at))
      return true;
  // Of branches between blocks it is not known what they pass on.
  auto argument = dyn_cast<BlockArgument>(stage);
  if (argument && !argument.getOwner()->isEntryBlock())
    return true;
  // Round a loop it is what it was before.
  if (!visited.insert(stage).second)
    return true;
  SmallVector<Incoming> incoming = getIncoming(stage);
  return !incoming.empty() && llvm::all_of(incoming, [&](const Incoming &each) {
    return contains(each.first, each.second);
  });
}

LogicalResult verifyAwaited(Operation *reader, Value tile) {
  auto slot = tile.getDefiningOp<SlotOp>();
  auto ring = slot ? slot.getRing().getDefiningOp<RingOp>() : RingOp();
  if (!ring || (ring.hasBarriers() && FullStages(ring).contains(slot.getStage(), reader)))
    return success();
  InFlightDiagnostic diag =
      ring.hasBarriers()
          ? reader->emitOpError("expected a tile.wait_full of its stage before it reads tile ")
                << slot.getTile() << " of " << ring.getRing().getType()
          : reader->emitOpError(
                "expected a stage that tile.await_copies returns, since copies fill the ring");
  diag.attachNote(slot.getLoc()) << "the stage";
  return diag;
}

//===----------------------------------------------------------------------===//
// Tiles that tokens tell of
//===----------------------------------------------------------------------===//

/// The ring or the tile in shared memory that `tile` is of; null if it comes from elsewhere.
static Operation *getMemory(Value tile) {
  auto slot = tile.getDefiningOp<SlotOp>();
  if (slot)
    return slot.getRing().getDefiningOp<RingOp>();
  return tile.getDefiningOp<AllocOp>();
}

/// Whether both are one tile, as far as anybody knows.
static bool mayBeSame(Value tile, Value other) {
  Operation *memory = getMemory(tile), *otherMemory = getMemory(other);
  if (!memory || !otherMemory)
    return true;
  auto slot = tile.getDefiningOp<SlotOp>(), otherSlot = other.getDefiningOp<SlotOp>();
  if (memory != otherMemory || !slot)
    return memory == otherMemory;
  std::optional<int64_t> stage = getConstant(slot.getStage()),
                         otherStage = getConstant(otherSlot.getStage());
  return slot.getTile() == otherSlot.getTile() && (!stage || !otherStage || *stage == *otherStage);
}

/// Says which tile `tile` is.
static void describe(InFlightDiagnostic &diag, Value tile) {
  auto slot = tile.getDefiningOp<SlotOp>();
  if (!slot) {
    diag << tile.getType();
    return;
  }
  diag << "tile " << slot.getTile();
  if (std::optional<int64_t> stage = getConstant(slot.getStage()))
    diag << " of stage " << *stage;
  diag << " of " << slot.getRing().getType();
}

namespace {

/// What values are in the first iteration of loops.
class FirstIteration {
public:
  /// Follows `value`, if it is carried by a loop, to what it is at first.
  Value follow(Value value);
  std::optional<int64_t> evaluate(Value value) const;

private:
  llvm::DenseMap<Value, Value> inits;
};

} // namespace

Value FirstIteration::follow(Value value) {
  while (auto argument = dyn_cast<BlockArgument>(value)) {
    auto loop = dyn_cast_or_null<LoopLikeOpInterface>(argument.getOwner()->getParentOp());
    std::optional<SmallVector<Value>> numbers = loop ? loop.getLoopInductionVars() : std::nullopt;
    std::optional<SmallVector<OpFoldResult>> lower =
        loop ? loop.getLoopLowerBounds() : std::nullopt;
    ValueRange carried = loop ? ValueRange(loop.getRegionIterArgs()) : ValueRange();
    if (!numbers || !lower || loop.getInits().size() != carried.size() ||
        !llvm::is_contained(carried, value))
      return value;
    for (auto [number, from] : llvm::zip(*numbers, *lower))
      if (auto first = dyn_cast<Value>(from))
        inits[number] = first;
    for (auto [each, init] : llvm::zip_equal(carried, loop.getInits()))
      inits[each] = init;
    value = inits[value];
  }
  return value;
}

std::optional<int64_t> FirstIteration::evaluate(Value value) const {
  if (Value init = inits.lookup(value))
    return evaluate(init);
  if (std::optional<int64_t> number = getConstant(value))
    return number;
  Operation *op = value.getDefiningOp();
  if (auto select = dyn_cast_or_null<arith::SelectOp>(op)) {
    std::optional<int64_t> condition = evaluate(select.getCondition());
    if (!condition)
      return std::nullopt;
    return evaluate(*condition ? select.getTrueValue() : select.getFalseValue());
  }
  if (!isa_and_nonnull<arith::AddIOp, arith::RemUIOp, arith::CmpIOp>(op))
    return std::nullopt;
  std::optional<int64_t> lhs = evaluate(op->getOperand(0)), rhs = evaluate(op->getOperand(1));
  // Numbers of stages and of steps along a loop.
  constexpr int64_t most = int64_t(1) << 32;
  if (!lhs || !rhs || *lhs < 0 || *rhs < 0 || *lhs > most || *rhs > most)
    return std::nullopt;
  if (isa<arith::AddIOp>(op))
    return *lhs + *rhs;
  if (auto compare = dyn_cast<arith::CmpIOp>(op))
    return arith::applyCmpPredicate(compare.getPredicate(), APInt(64, *lhs), APInt(64, *rhs));
  if (*rhs == 0)
    return std::nullopt;
  return *lhs % *rhs;
}

/// Checks that a loop begins with the token of the stage that it waits for.
static LogicalResult verifyFirstStage(AwaitCopiesOp wait, Value tile, Value token) {
  // In a branch, another iteration may be the first one.
  auto argument = dyn_cast<BlockArgument>(token);
  if (!argument || argument.getOwner() != wait->getBlock())
    return success();
  FirstIteration first;
  auto copy = first.follow(token).getDefiningOp<CopyOp>();
  auto slot = tile.getDefiningOp<SlotOp>();
  auto copied = copy ? copy.getTile().getDefiningOp<SlotOp>() : SlotOp();
  if (!slot || !copied || slot.getRing() != copied.getRing())
    return success();
  std::optional<int64_t> stage = first.evaluate(slot.getStage()),
                         copiedStage = first.evaluate(copied.getStage());
  if (!stage || !copiedStage || *stage == *copiedStage)
    return success();
  InFlightDiagnostic diag = wait.emitOpError("expected the token of a copy to stage ")
                            << *stage << " of " << slot.getRing().getType()
                            << " in the loop's first iteration, got that of a copy to stage "
                            << *copiedStage;
  diag.attachNote(copy.getLoc()) << "the token is made here";
  return diag;
}

LogicalResult verifyToken(AwaitCopiesOp wait, Value tile, Value token) {
  llvm::SetVector<Value> tokens;
  tokens.insert(token);
  for (size_t i = 0; i < tokens.size(); ++i) {
    SmallVector<Incoming> incoming = getIncoming(tokens[i]);
    for (const Incoming &each : incoming)
      tokens.insert(each.first);
    Operation *source = tokens[i].getDefiningOp();
    auto copy = dyn_cast_or_null<CopyOp>(source);
    // A group of copies does not say to which tiles they are.
    if (!source || !incoming.empty() || isa<CommitCopiesOp>(source) ||
        (copy && mayBeSame(tile, copy.getTile())))
      continue;
    InFlightDiagnostic diag = wait.emitOpError("expected the token of a copy to ");
    describe(diag, tile);
    diag << ", got that of ";
    if (copy) {
      bool isElsewhere = getMemory(tile) != getMemory(copy.getTile());
      diag << "a copy to " << (isElsewhere ? "another, " : "");
      describe(diag, copy.getTile());
    } else {
      diag << "'" << source->getName() << "'";
    }
    diag.attachNote(source->getLoc()) << "the token is made here";
    return diag;
  }
  return verifyFirstStage(wait, tile, token);
}

} // namespace xc::tile
