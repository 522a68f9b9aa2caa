//===- DispatchGroups.cpp - Which ops share a kernel ===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Dispatch/DispatchGroups.h"

#include "compiler/Dialect/Array/IR/Sizes.h"
#include "compiler/Dialect/Kernel/IR/AttentionGradientOp.h"
#include "compiler/Dialect/Plan/IR/Copies.h"
#include "compiler/Dialect/Plan/IR/PlanOps.h"
#include "compiler/Dialect/Plan/IR/Products.h"
#include "compiler/Dialect/Plan/IR/Reductions.h"
#include "compiler/Dispatch/Alignment.h"
#include "compiler/Dispatch/DispatchGroupLimits.h"
#include "compiler/Dispatch/MaskProducers.h"
#include "compiler/Dispatch/MovedRows.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace xc::plan {

/// True for a tensor.empty, and for a fill that only initialises: looks at all of its uses.
static bool onlyInitializes(Operation *op) {
  if (isa<tensor::EmptyOp>(op))
    return true;
  auto fill = dyn_cast<linalg::FillOp>(op);
  if (!fill)
    return false;
  return llvm::all_of(op->getUses(), [](OpOperand &use) {
    auto destination = dyn_cast<DestinationStyleOpInterface>(use.getOwner());
    return destination && destination.isDpsInit(&use) && !kernel::writesPart(use.getOwner());
  });
}

bool DispatchGrouping::isCompute(Operation *op) {
  if (onlyInitializes(op) || isPaddingOfWindows(op))
    return false;
  return isa<linalg::LinalgOp, tensor::InsertSliceOp, tensor::PadOp>(op) ||
         (isa<DestinationStyleOpInterface>(op) && op->getNumResults() > 0);
}

void eraseDeadOps(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (isOpTriviallyDead(&op))
      op.erase();
}

bool isContraction(Operation *op) {
  if (isa<linalg::ContractOp>(op))
    return true;
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  std::optional<ProductLoops> loops = linalgOp ? matchProduct(linalgOp) : std::nullopt;
  return loops && !loops->m.empty() && !loops->n.empty();
}

/// The loop that dim `dim` of a map is, or -1 if it is anything but a plain loop.
static int getLoop(AffineMap map, unsigned dim) {
  auto expr = dyn_cast<AffineDimExpr>(map.getResult(dim));
  return expr ? static_cast<int>(expr.getPosition()) : -1;
}

DispatchGrouping::DispatchGrouping(Block &block, bool fuse, llvm::DenseSet<Operation *> maskOps)
    : fuse(fuse), target(getDispatchTarget(block.getParentOp())), maskOps(std::move(maskOps)) {
  unsigned next = 0;
  for (Operation &op : block) {
    position[&op] = next++;
    if (onlyInitializes(&op))
      initialValues.insert(&op);
  }
  for (Operation &op : block)
    if (isCompute(&op))
      add(&op);
  if (fuse && target.joinsReductions())
    mergeLastSteps();
}

SmallVector<DispatchGroup *> DispatchGrouping::getGroups() const {
  SmallVector<DispatchGroup *> result;
  for (const std::unique_ptr<DispatchGroup> &group : groups)
    if (!group->ops.empty())
      result.push_back(group.get());
  llvm::sort(result, [&](DispatchGroup *a, DispatchGroup *b) {
    return position.at(a->ops.back()) < position.at(b->ops.back());
  });
  return result;
}

Operation *DispatchGrouping::findOrigin(Value tensor) {
  Operation *producer = tensor.getDefiningOp();
  while (isa_and_nonnull<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(producer))
    producer = producer->getOperand(0).getDefiningOp();
  return producer;
}

/// The group that makes `tensor`, or what it is a reshape of.
DispatchGroup *DispatchGrouping::findProducer(Value tensor) const {
  Operation *producer = findOrigin(tensor);
  return producer ? groupOf.lookup(producer) : nullptr;
}

Value DispatchGroup::getStored(Value result) const {
  while (isClosed && result.hasOneUse()) {
    Operation *user = *result.user_begin();
    if (!isa<tensor::CollapseShapeOp>(user) && !movesRows(user))
      break;
    auto *own = llvm::find(ops, result.getDefiningOp());
    if (std::find(own, ops.end(), user) == ops.end())
      break;
    result = user->getResult(0);
  }
  return result;
}

/// Operands that are moved are read from where they were, if their rows can be copied from there.
void DispatchGrouping::absorbOperands(DispatchGroup &group, ArrayRef<Value> operands) {
  for (Value operand : operands)
    if (Operation *mover = getMoverOfRows(operand))
      if (DispatchGroup *other = groupOf.lookup(mover); other && other->ops.size() == 1)
        absorbProducers(group, operand);
}

/// Nothing but the group's op uses what makes its mask there, so no other group comes between.
void DispatchGrouping::absorbMask(DispatchGroup &group, Value mask) {
  llvm::SetVector<Operation *> taken;
  SmallVector<Value> left{mask};
  Operation *reader = group.ops.back();
  while (!left.empty()) {
    Value value = left.pop_back_val();
    Operation *op = value.getDefiningOp();
    if (!op || !maskOps.contains(op) || !taken.insert(op))
      continue;
    llvm::append_range(left, op->getOperands());
  }
  auto isTaken = [&](Operation *op) { return op == reader || taken.contains(op); };
  auto explain = [&](Operation *op, Value operand) {
    Operation *origin = findOrigin(operand);
    if (!isElementwise(origin) || !groupOf.lookup(origin))
      return;
    reasons[{origin, op}] = isTaken(origin)
                                ? "each score's element is computed in its kernel"
                                : "a mask's element takes longer to compute than to read";
  };
  explain(reader, mask);
  for (Operation *op : taken)
    for (Value operand : op->getOperands())
      explain(op, operand);
  SmallVector<Operation *> inOrder = taken.takeVector();
  llvm::sort(inOrder, [&](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  for (Operation *op : inOrder) {
    if (DispatchGroup *own = groupOf.lookup(op)) {
      own->ops.clear();
      group.firstPosition = std::min(group.firstPosition, own->firstPosition);
    }
    groupOf[op] = &group;
  }
  group.ops.insert(group.ops.begin(), inOrder.begin(), inOrder.end());
}

/// Whether kernels of the op can store the rows of `result` elsewhere: attention those of its first
/// result, its gradient all but those of a mask.
static bool storesRows(Value result) {
  if (auto gradient = result.getDefiningOp<kernel::AttentionGradientOp>())
    return !gradient.getOnlyMask();
  return result.getDefiningOp<kernel::AttentionOp>() &&
         cast<OpResult>(result).getResultNumber() == 0;
}

bool DispatchGrouping::tryStoreMoved(Operation *op) {
  if (!movesRows(op))
    return false;
  Value result = op->getOperand(0);
  if (!result.hasOneUse())
    return false;
  // A batch of one, which the op that moves rows has lost.
  auto collapse = result.getDefiningOp<tensor::CollapseShapeOp>();
  if (collapse && !(movesOnesOnly(collapse) && collapse.getSrc().hasOneUse()))
    return false;
  Value stored = collapse ? collapse.getSrc() : result;
  DispatchGroup *group = storesRows(stored) ? groupOf.lookup(stored.getDefiningOp()) : nullptr;
  if (!group)
    return false;
  note(*group, op, "attention stores its rows where they are moved to");
  if (collapse)
    group->ops.push_back(collapse);
  group->ops.push_back(op);
  groupOf[op] = group;
  return true;
}

DispatchGroup *DispatchGrouping::createGroup(Operation *op) {
  groups.push_back(std::make_unique<DispatchGroup>());
  DispatchGroup &group = *groups.back();
  group.ops.push_back(op);
  group.firstPosition = position.at(op);
  groupOf[op] = &group;
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  group.isClosed = !linalgOp;
  if (!linalgOp)
    return &group;
  SmallVector<int> rows(linalgOp.getNumLoops(), -1);
  for (auto [loop, type] : llvm::enumerate(linalgOp.getIteratorTypesArray()))
    if (type == utils::IteratorType::parallel)
      rows[loop] = group.numRows++;
  group.rowOfLoop[op] = rows;
  group.hasContraction = isContraction(op) || isWindowReduction(op);
  group.hasReduction = linalgOp.getNumReductionLoops() > 0;
  return &group;
}

void DispatchGrouping::add(Operation *op) {
  // A chain of insertions writes one tensor, so it is one kernel.
  if (auto insert = dyn_cast<tensor::InsertSliceOp>(op)) {
    auto previous = insert.getDest().getDefiningOp<tensor::InsertSliceOp>();
    if (previous && insert.getDest().hasOneUse()) {
      DispatchGroup *group = groupOf.at(previous);
      if (group->ops.size() < kMaxBindings && !wouldMakeCycle(*group, getUsedValues(op))) {
        note(*group, op, "insertions write one tensor");
        group->ops.push_back(op);
        groupOf[op] = group;
        return;
      }
    }
  }
  if (!fuse || !isa<linalg::LinalgOp>(op)) {
    DispatchGroup *group = createGroup(op);
    if (auto update = dyn_cast<kernel::UpdateOp>(op); update && fuse)
      for (Value operand : op->getOperands().drop_back())
        absorbProducers(*group, operand);
    if (fuse)
      absorbOperands(*group, getRowOperands(op));
    if (Value mask = getMaskOfScores(op); mask && fuse)
      absorbMask(*group, mask);
    return;
  }
  if (maskOps.contains(op)) {
    createGroup(op);
    return;
  }
  if (tryStoreMoved(op))
    return;
  llvm::SetVector<DispatchGroup *> producers;
  for (Value operand : op->getOperands())
    if (Operation *definition = operand.getDefiningOp())
      if (DispatchGroup *group = groupOf.lookup(definition))
        producers.insert(group);
  SmallVector<DispatchGroup *> candidates(producers.begin(), producers.end());
  // The latest producer first: the others are more likely to be ready without it than it without
  // them.
  llvm::sort(candidates, [&](DispatchGroup *a, DispatchGroup *b) {
    return position.at(a->ops.back()) > position.at(b->ops.back());
  });
  if (getRowPart(cast<linalg::LinalgOp>(op))) {
    if (llvm::none_of(candidates, [&](DispatchGroup *group) { return tryJoinRowPart(*group, op); }))
      createGroup(op);
    return;
  }
  if (getColumnPart(cast<linalg::LinalgOp>(op))) {
    if (llvm::none_of(candidates,
                      [&](DispatchGroup *group) { return tryJoinColumnPart(*group, op); }))
      createGroup(op);
    return;
  }
  if (op->hasAttr(kPartialAttr)) {
    for (DispatchGroup *candidate : candidates)
      if (tryJoinPartial(*candidate, op))
        return absorbSiblings(*candidate, op);
    if (!tryJoinSibling(op))
      createGroup(op);
    return;
  }
  DispatchGroup *home = nullptr;
  for (DispatchGroup *candidate : candidates) {
    if (!home && tryJoin(*candidate, op))
      home = candidate;
    else if (home)
      tryMergeGroups(*home, *candidate, op);
  }
  if (home || (target.joinsReductions() && tryJoinRowSibling(op)))
    return;
  home = createGroup(op);
  if (isContraction(op))
    for (DispatchGroup *candidate : candidates)
      tryPrologue(*candidate, op);
}

unsigned DispatchGrouping::countBindings(const DispatchGroup &group,
                                         ArrayRef<Operation *> more) const {
  llvm::SmallPtrSet<Operation *, 16> inside(group.ops.begin(), group.ops.end());
  inside.insert(more.begin(), more.end());
  llvm::SmallPtrSet<void *, 16> bound;
  for (Operation *op : inside) {
    for (Value operand : getUsedValues(op))
      if (isa<RankedTensorType>(operand.getType()) &&
          !(operand.getDefiningOp() &&
            (inside.contains(operand.getDefiningOp()) || isInitialValue(operand.getDefiningOp()))))
        bound.insert(operand.getAsOpaquePointer());
    for (Value result : op->getResults())
      if (llvm::any_of(result.getUsers(), [&](Operation *user) { return !inside.contains(user); }))
        bound.insert(result.getAsOpaquePointer());
  }
  return bound.size();
}

StringRef DispatchGrouping::findConflict(DispatchGroup &group, ArrayRef<Operation *> more,
                                         ValueRange operands, DispatchGroup *alsoInside) {
  if (countBindings(group, more) > kMaxBindings)
    return "the kernel would bind too many tensors";
  if (wouldMakeCycle(group, operands, alsoInside))
    return kMakesCycle;
  return {};
}

void DispatchGrouping::note(DispatchGroup &group, Operation *op, StringRef why) {
  for (Value value : getUsedValues(op)) {
    Operation *origin = findOrigin(value);
    if (origin && groupOf.lookup(origin) == &group)
      reasons[{origin, op}] = why;
  }
}

std::optional<SmallVector<int>> DispatchGrouping::matchRows(DispatchGroup &group, Operation *op) {
  constexpr StringLiteral otherRows = "it is made in other rows than it is read in";
  auto fail = [&](StringRef why) {
    note(group, op, why);
    return std::nullopt;
  };
  auto consumer = cast<linalg::LinalgOp>(op);
  // What a body reads at computed places must be complete before the kernel starts.
  // A name of its own: the range of a temporary would outlive it.
  SmallVector<Value> used = getUsedValues(op);
  for (Value value : ArrayRef(used).drop_front(op->getNumOperands()))
    if (Operation *definition = value.getDefiningOp();
        definition && groupOf.lookup(definition) == &group)
      return fail("it is read at computed places, so all of it has to be there");
  SmallVector<int> rows(consumer.getNumLoops(), -1);
  for (OpOperand &use : op->getOpOperands()) {
    Operation *definition = use.get().getDefiningOp();
    if (!definition || groupOf.lookup(definition) != &group)
      continue;
    auto producer = dyn_cast<linalg::LinalgOp>(definition);
    // What is left to sum up of rows is complete when all of the kernel is.
    if (!producer || consumer.isDpsInit(&use))
      return fail("it is updated in place");
    // A tile of the product has all of a part of a column.
    if (getColumnPart(producer) && getColumnPart(producer) == getColumnPart(consumer))
      continue;
    if (definition->hasAttr(kPartialAttr))
      return fail("its partial sums are complete when all of the kernel is");
    AffineMap produced = producer.getMatchingIndexingMap(
        producer.getDpsInitOperand(cast<OpResult>(use.get()).getResultNumber()));
    AffineMap consumed = consumer.getMatchingIndexingMap(&use);
    unsigned found = 0;
    for (unsigned dim = 0; dim < produced.getNumResults(); ++dim) {
      int producerLoop = getLoop(produced, dim), consumerLoop = getLoop(consumed, dim);
      if (producerLoop < 0 || consumerLoop < 0)
        return fail(otherRows);
      int row = group.rowOfLoop.lookup(definition)[producerLoop];
      if (row < 0)
        continue;
      ++found;
      if (rows[consumerLoop] != -1 && rows[consumerLoop] != row)
        return fail(otherRows);
      rows[consumerLoop] = row;
    }
    if (found != group.numRows)
      return fail(otherRows);
  }
  SmallVector<bool> taken(group.numRows, false);
  for (int row : rows) {
    if (row < 0)
      continue;
    if (taken[row])
      return fail(otherRows);
    taken[row] = true;
  }
  if (!llvm::all_of(taken, [](bool isTaken) { return isTaken; }))
    return fail(otherRows);
  return rows;
}

/// True if a value that `operands` depend on, by a way that leaves the group, comes from the group.
bool DispatchGrouping::wouldMakeCycle(DispatchGroup &group, ValueRange operands,
                                      DispatchGroup *alsoInside) {
  unsigned first =
      alsoInside ? std::min(group.firstPosition, alsoInside->firstPosition) : group.firstPosition;
  auto isInside = [&](DispatchGroup *other) {
    return other == &group || (alsoInside && other == alsoInside);
  };
  // Ops before the group need it only by way of a group that begins before it and ends behind it,
  // so the search goes back to where there is none.
  for (bool hasMoved = true; hasMoved;) {
    hasMoved = false;
    for (const std::unique_ptr<DispatchGroup> &other : llvm::reverse(groups))
      if (!other->ops.empty() && other->firstPosition < first &&
          position.at(other->ops.back()) >= first) {
        first = other->firstPosition;
        hasMoved = true;
      }
  }
  auto mayFollow = [&](Operation *op) { return position.lookup(op) >= first; };
  llvm::SmallPtrSet<Operation *, 32> visited;
  SmallVector<Operation *> worklist;
  auto visitOperands = [&](Operation *op) {
    for (Value operand : getUsedValues(op))
      if (Operation *definition = operand.getDefiningOp())
        if (mayFollow(definition) && visited.insert(definition).second)
          worklist.push_back(definition);
  };
  auto visitUnit = [&](Operation *op) {
    if (DispatchGroup *unit = groupOf.lookup(op))
      for (Operation *member : unit->ops)
        visitOperands(member);
    else
      visitOperands(op);
  };
  for (Value operand : operands) {
    Operation *definition = operand.getDefiningOp();
    if (definition && !isInside(groupOf.lookup(definition)) && mayFollow(definition))
      visitUnit(definition);
  }
  while (!worklist.empty()) {
    Operation *op = worklist.pop_back_val();
    if (isInside(groupOf.lookup(op)))
      return true;
    visitUnit(op);
  }
  return false;
}

void DispatchGrouping::keepRows(DispatchGroup &group, ArrayRef<bool> keep) {
  SmallVector<int> renumbered;
  unsigned next = 0;
  for (bool isKept : keep)
    renumbered.push_back(isKept ? static_cast<int>(next++) : -1);
  group.numRows = next;
  for (auto &entry : group.rowOfLoop)
    for (int &row : entry.second)
      if (row >= 0)
        row = renumbered[row];
}

/// Why `op`, whose loops go over these rows of the group, of which it leaves those to `keep`,
/// cannot be computed beside the group's ops; empty if it can.
StringRef DispatchGrouping::findObstacle(const DispatchGroup &group, linalg::LinalgOp op,
                                         ArrayRef<int> rows, ArrayRef<bool> keep) const {
  bool isReduction = op.getNumReductionLoops() > 0, losesRows = llvm::is_contained(keep, false);
  unsigned unassigned = 0;
  for (auto [row, type] : llvm::zip_equal(rows, op.getIteratorTypesArray()))
    unassigned += row < 0 && type == utils::IteratorType::parallel;
  // A contraction's epilogue works on its result, element by element.
  if (group.hasContraction && (isReduction || losesRows))
    return "a tile of the product does not hold all that is reduced";
  if (group.hasContraction && unassigned > 0)
    return "what follows a product works on its elements, one by one";
  // A row's threads hold what they reduced; what several rows gave, no strategy brings together.
  if (target.threadsHoldRows() && isReduction && losesRows && group.hasReduction)
    return "no thread has the results of several rows";
  // A sum over columns would leave its producers a workgroup for each column, which reads with
  // large strides.
  if (losesRows && !reducesInnermost(op) && !isSmall(op))
    return "a reduction of columns would read it with large strides";
  // New inner loops are worth it only where they spread a reduction's result over the row that was
  // reduced.
  if (unassigned > 0 && (isReduction || !group.hasReduction))
    return "it would be computed anew along another loop";
  if (losesRows && !llvm::is_contained(keep, true) && !isSmall(op))
    return "one workgroup would have to reduce all of it";
  // A reduction's result along a lost row is kept inside the kernel, and what is computed on the
  // way to it may be: memory of a fixed size.
  if (losesRows && group.hasReduction &&
      (!isSmall(op) || !isSmallBeside(group, [&](int row) { return keep[row]; })))
    return "what is reduced twice is too large for the memory of a workgroup";
  return {};
}

bool DispatchGrouping::tryJoin(DispatchGroup &group, Operation *op) {
  if (group.isClosed)
    return refuse(group, op, kTakesInNothing);
  if (isContraction(op) || isWindowReduction(op))
    return refuse(group, op, "a product or a window begins a kernel");
  if (group.ops.size() >= kMaxGroupOps || getCost(group.ops) + getBodyCost(op) > kMaxGroupCost)
    return refuse(group, op, kTooLong);
  auto linalgOp = cast<linalg::LinalgOp>(op);
  // A window's loops are in the order of its result, along which they are vectors.
  if (changesInnermostDim(linalgOp) && llvm::any_of(group.ops, [&](Operation *member) {
        return isWindowReduction(member) &&
               !target.storesTransposed(cast<linalg::LinalgOp>(member));
      }))
    return refuse(group, op, "the window's kernel does not store transposes");
  std::optional<SmallVector<int>> rows = matchRows(group, op);
  if (!rows)
    return false;
  SmallVector<bool> keep(group.numRows, true);
  for (auto [row, type] : llvm::zip_equal(*rows, linalgOp.getIteratorTypesArray()))
    if (row >= 0 && type == utils::IteratorType::reduction)
      keep[row] = false;
  if (StringRef obstacle = findObstacle(group, linalgOp, *rows, keep); !obstacle.empty())
    return refuse(group, op, obstacle);
  if (StringRef conflict = findConflict(group, {op}, getUsedValues(op)); !conflict.empty())
    return refuse(group, op, conflict);
  for (auto [loop, type] : llvm::enumerate(linalgOp.getIteratorTypesArray()))
    if (type == utils::IteratorType::reduction)
      (*rows)[loop] = -1;
  DispatchGroup joined = group;
  joined.rowOfLoop[op] = *rows;
  // Rows that the new op reduces are rows no longer, for any op of the group.
  joined.ops.push_back(op);
  keepRows(joined, keep);
  joined.hasReduction |= linalgOp.getNumReductionLoops() > 0;
  if (!canHold(joined))
    return refuse(group, op, kOtherSpace);
  note(group, op,
       group.hasContraction                  ? "the product's epilogue computes it"
       : linalgOp.getNumReductionLoops() > 0 ? "the kernel has the rows that are reduced"
                                             : "the kernel has the rows that are read");
  group = std::move(joined);
  groupOf[op] = &group;
  return true;
}

bool DispatchGrouping::tryAdd(DispatchGroup &group, Operation *op, ArrayRef<int> rows,
                              StringRef why) {
  if (StringRef conflict = findConflict(group, {op}, getUsedValues(op)); !conflict.empty())
    return refuse(group, op, conflict);
  note(group, op, why);
  group.rowOfLoop[op].assign(rows.begin(), rows.end());
  group.ops.push_back(op);
  groupOf[op] = &group;
  return true;
}

bool DispatchGrouping::tryJoinPartial(DispatchGroup &group, Operation *op) {
  if (group.isClosed || group.hasContraction || !group.hasReduction ||
      group.ops.size() >= kMaxGroupOps)
    return refuse(group, op, "its kernel does not go over rows, one by one, that can be summed up");
  std::optional<SmallVector<int>> rows = matchRows(group, op);
  if (!rows)
    return false;
  // It sums up all rows, of elements along which the group reduces each of them.
  for (auto [row, type] :
       llvm::zip_equal(*rows, cast<linalg::LinalgOp>(op).getIteratorTypesArray()))
    if ((row >= 0) != (type == utils::IteratorType::reduction))
      return refuse(group, op, "its partial sums are of other rows");
  if (!llvm::is_contained(*rows, -1))
    return refuse(group, op, "its partial sums are of other rows");
  if (StringRef conflict = findConflict(group, {op}, getUsedValues(op)); !conflict.empty())
    return refuse(group, op, conflict);
  DispatchGroup joined = group;
  joined.rowOfLoop[op] = *rows;
  joined.ops.push_back(op);
  if (!liesInSpace(joined, cast<linalg::LinalgOp>(op)))
    return refuse(group, op, kOtherSpace);
  note(group, op, "the kernel has each row that is summed up");
  group = std::move(joined);
  groupOf[op] = &group;
  return true;
}

bool DispatchGrouping::tryJoinRowPart(DispatchGroup &group, Operation *op) {
  if (group.isClosed || group.ops.size() >= kMaxGroupOps ||
      llvm::none_of(group.ops, isContraction) || llvm::any_of(group.ops, isWindowReduction) ||
      getCost(group.ops) + getBodyCost(op) > kMaxGroupCost)
    return refuse(group, op, "its kernel does not make parts of rows");
  std::optional<SmallVector<int>> rows = matchRows(group, op);
  return rows && tryAdd(group, op, *rows, "the product reduces parts of its rows");
}

bool DispatchGrouping::tryJoinColumnPart(DispatchGroup &group, Operation *op) {
  if (group.isClosed || group.ops.size() >= kMaxGroupOps ||
      llvm::none_of(group.ops, isContraction) ||
      getCost(group.ops) + getBodyCost(op) > kMaxGroupCost)
    return refuse(group, op, "its kernel does not make parts of columns");
  auto linalgOp = cast<linalg::LinalgOp>(op);
  // What is computed of partial results has loops over parts, none of the group's rows.
  std::optional<SmallVector<int>> rows;
  if (linalgOp.getNumReductionLoops() == 0)
    rows = SmallVector<int>(linalgOp.getNumLoops(), -1);
  else
    rows = matchRows(group, op);
  return rows && tryAdd(group, op, *rows, "the product reduces parts of its columns");
}

} // namespace xc::plan
