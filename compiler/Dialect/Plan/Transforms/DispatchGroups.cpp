//===- DispatchGroups.cpp - Which ops share a kernel ===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Plan/Transforms/DispatchGroups.h"

#include "compiler/Dialect/Kernel/IR/KernelOps.h"
#include "compiler/Dialect/Plan/IR/PlanOps.h"
#include "compiler/Dialect/Plan/IR/Products.h"
#include "compiler/Dialect/Plan/IR/Reductions.h"
#include "compiler/Dialect/Plan/Transforms/BodyCost.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace xc::plan {

/// Elements that one workgroup may have to go through alone when a group has no rows left.
static constexpr int64_t kMaxSerialElements = 16384;

/// Ops in a group; more make a kernel that spills and compiles slowly.
static constexpr unsigned kMaxGroupOps = 32;

/// Of all bodies of a group: a reduction with what feeds it and with what follows, each as long as
/// a fused body may be.
static constexpr unsigned kMaxGroupCost = 2 * kMaxFusedCost;

/// Different tensors that a kernel may bind.
static constexpr unsigned kMaxBindings = 24;

/// How often a product on tensor cores may use an element that is computed while it is loaded. Its
/// kernel does not copy that operand asynchronously then, and not by wgmma: at half the speed, 512
/// products take 2 ps longer than before, in which the element is written and read again.
static constexpr int64_t kMaxComputedUses = 512;

static unsigned getCost(ArrayRef<Operation *> ops) {
  unsigned cost = 0;
  for (Operation *op : ops)
    cost += getBodyCost(op);
  return cost;
}

/// Operands of `op`, and what its body uses from above (a gather reads a whole tensor there).
static SmallVector<Value> getUsedValues(Operation *op) {
  SmallVector<Value> values(op->getOperands());
  for (Region &region : op->getRegions())
    region.walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (!op->isAncestor(operand.getParentBlock()->getParentOp()))
          values.push_back(operand);
    });
  return values;
}

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

static bool isElementwise(Operation *op) {
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  return linalgOp && linalgOp.getNumParallelLoops() == linalgOp.getNumLoops();
}

/// True if one workgroup can well go through the op's whole iteration space alone, but for the
/// loops that `isShared` says are shared with others.
static bool isSmall(
    linalg::LinalgOp op,
    llvm::function_ref<bool(unsigned)> isShared = [](unsigned) { return false; }) {
  int64_t count = 1;
  for (auto [loop, size] : llvm::enumerate(op.getStaticLoopRanges())) {
    if (isShared(loop))
      continue;
    if (ShapedType::isDynamic(size))
      return false;
    count *= size;
  }
  return count <= kMaxSerialElements;
}

/// The same for all ops of a group, but for the rows that `isKept` says stay rows.
static bool isSmallBeside(const DispatchGroup &group, llvm::function_ref<bool(int)> isKept) {
  return llvm::all_of(group.ops, [&](Operation *op) {
    auto rows = group.rowOfLoop.find(op);
    return isSmall(cast<linalg::LinalgOp>(op), [&](unsigned loop) {
      return rows != group.rowOfLoop.end() && rows->second[loop] >= 0 && isKept(rows->second[loop]);
    });
  });
}

/// True if the dims that the op reduces are the last ones of its first input.
static bool reducesInnermost(linalg::LinalgOp op) {
  if (op.getNumDpsInputs() == 0)
    return false;
  AffineMap map = op.getMatchingIndexingMap(op.getDpsInputOperand(0));
  bool seenReduction = false;
  SmallVector<utils::IteratorType> iterators = op.getIteratorTypesArray();
  for (AffineExpr expr : map.getResults()) {
    auto loop = dyn_cast<AffineDimExpr>(expr);
    if (!loop)
      return false;
    bool isReduction = iterators[loop.getPosition()] == utils::IteratorType::reduction;
    if (seenReduction && !isReduction)
      return false;
    seenReduction |= isReduction;
  }
  return true;
}

/// The loop that dim `dim` of a map is, or -1 if it is anything but a plain loop.
static int getLoop(AffineMap map, unsigned dim) {
  auto expr = dyn_cast<AffineDimExpr>(map.getResult(dim));
  return expr ? static_cast<int>(expr.getPosition()) : -1;
}

DispatchGrouping::DispatchGrouping(Block &block, bool fuse)
    : fuse(fuse), isCUDA(isForCUDA(block.getParentOp())) {
  unsigned next = 0;
  for (Operation &op : block) {
    position[&op] = next++;
    if (onlyInitializes(&op))
      initialValues.insert(&op);
  }
  for (Operation &op : block)
    if (isCompute(&op))
      add(&op);
  if (fuse && isCUDA)
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
    return;
  }
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
  if (home)
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

std::optional<SmallVector<int>> DispatchGrouping::matchRows(DispatchGroup &group, Operation *op) {
  auto consumer = cast<linalg::LinalgOp>(op);
  // What a body reads at computed places must be complete before the kernel starts.
  for (Value value : llvm::drop_begin(getUsedValues(op), op->getNumOperands()))
    if (Operation *definition = value.getDefiningOp();
        definition && groupOf.lookup(definition) == &group)
      return std::nullopt;
  SmallVector<int> rows(consumer.getNumLoops(), -1);
  for (OpOperand &use : op->getOpOperands()) {
    Operation *definition = use.get().getDefiningOp();
    if (!definition || groupOf.lookup(definition) != &group)
      continue;
    auto producer = dyn_cast<linalg::LinalgOp>(definition);
    // What is left to sum up of rows is complete when all of the kernel is.
    if (!producer || definition->hasAttr(kPartialAttr) || consumer.isDpsInit(&use))
      return std::nullopt;
    AffineMap produced = producer.getMatchingIndexingMap(
        producer.getDpsInitOperand(cast<OpResult>(use.get()).getResultNumber()));
    AffineMap consumed = consumer.getMatchingIndexingMap(&use);
    unsigned found = 0;
    for (unsigned dim = 0; dim < produced.getNumResults(); ++dim) {
      int producerLoop = getLoop(produced, dim), consumerLoop = getLoop(consumed, dim);
      if (producerLoop < 0 || consumerLoop < 0)
        return std::nullopt;
      int row = group.rowOfLoop.lookup(definition)[producerLoop];
      if (row < 0)
        continue;
      ++found;
      if (rows[consumerLoop] != -1 && rows[consumerLoop] != row)
        return std::nullopt;
      rows[consumerLoop] = row;
    }
    if (found != group.numRows)
      return std::nullopt;
  }
  SmallVector<bool> taken(group.numRows, false);
  for (int row : rows) {
    if (row < 0)
      continue;
    if (taken[row])
      return std::nullopt;
    taken[row] = true;
  }
  if (!llvm::all_of(taken, [](bool isTaken) { return isTaken; }))
    return std::nullopt;
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
  llvm::SmallPtrSet<Operation *, 32> visited;
  SmallVector<Operation *> worklist;
  auto visitOperands = [&](Operation *op) {
    for (Value operand : getUsedValues(op))
      if (Operation *definition = operand.getDefiningOp())
        if (position.lookup(definition) >= first && visited.insert(definition).second)
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
    if (definition && !isInside(groupOf.lookup(definition)) && position.lookup(definition) >= first)
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

bool DispatchGrouping::tryJoin(DispatchGroup &group, Operation *op) {
  if (group.isClosed || group.ops.size() >= kMaxGroupOps || isContraction(op) ||
      isWindowReduction(op) || getCost(group.ops) + getBodyCost(op) > kMaxGroupCost)
    return false;
  auto linalgOp = cast<linalg::LinalgOp>(op);
  // A window's loops are in the order of its result, along which they are vectors.
  if (changesInnermostDim(linalgOp) && llvm::any_of(group.ops, isWindowReduction))
    return false;
  std::optional<SmallVector<int>> rows = matchRows(group, op);
  if (!rows)
    return false;
  bool isReduction = linalgOp.getNumReductionLoops() > 0;
  SmallVector<bool> keep(group.numRows, true);
  unsigned unassigned = 0;
  for (auto [loop, type] : llvm::enumerate(linalgOp.getIteratorTypesArray())) {
    int row = (*rows)[loop];
    bool isParallel = type == utils::IteratorType::parallel;
    if (row < 0)
      unassigned += isParallel;
    else if (!isParallel)
      keep[row] = false;
  }
  bool losesRows = llvm::is_contained(keep, false);
  // A row's threads hold what they reduced; what several rows gave, no strategy brings together.
  if (isCUDA && isReduction && losesRows && group.hasReduction)
    return false;
  // A sum over columns would leave its producers a workgroup for each column, which reads with
  // large strides.
  if (losesRows && !reducesInnermost(linalgOp) && !isSmall(linalgOp))
    return false;
  // A contraction's epilogue works on its result, element by element.
  if (group.hasContraction && (isReduction || losesRows || unassigned > 0))
    return false;
  // New inner loops are worth it only where they spread a reduction's result over the row that was
  // reduced.
  if (unassigned > 0 && (isReduction || !group.hasReduction))
    return false;
  if (losesRows && !llvm::is_contained(keep, true) && !isSmall(linalgOp))
    return false;
  // A reduction's result along a lost row is kept inside the kernel, and what is computed on the
  // way to it may be: memory of a fixed size.
  if (losesRows && group.hasReduction &&
      (!isSmall(linalgOp) || !isSmallBeside(group, [&](int row) { return keep[row]; })))
    return false;
  if (countBindings(group, {op}) > kMaxBindings || wouldMakeCycle(group, getUsedValues(op)))
    return false;
  for (auto [loop, type] : llvm::enumerate(linalgOp.getIteratorTypesArray()))
    if (type == utils::IteratorType::reduction)
      (*rows)[loop] = -1;
  DispatchGroup joined = group;
  joined.rowOfLoop[op] = *rows;
  // Rows that the new op reduces are rows no longer, for any op of the group.
  joined.ops.push_back(op);
  keepRows(joined, keep);
  joined.hasReduction |= isReduction;
  if (isCUDA && !sharesSpace(joined))
    return false;
  group = std::move(joined);
  groupOf[op] = &group;
  return true;
}

void DispatchGrouping::addTo(DispatchGroup &group, Operation *op, ArrayRef<int> rows) {
  group.rowOfLoop[op].assign(rows.begin(), rows.end());
  group.ops.push_back(op);
  groupOf[op] = &group;
}

bool DispatchGrouping::tryJoinPartial(DispatchGroup &group, Operation *op) {
  if (group.isClosed || group.hasContraction || !group.hasReduction ||
      group.ops.size() >= kMaxGroupOps)
    return false;
  std::optional<SmallVector<int>> rows = matchRows(group, op);
  if (!rows)
    return false;
  // It sums up all rows, of elements along which the group reduces each of them.
  for (auto [row, type] :
       llvm::zip_equal(*rows, cast<linalg::LinalgOp>(op).getIteratorTypesArray()))
    if ((row >= 0) != (type == utils::IteratorType::reduction))
      return false;
  if (!llvm::is_contained(*rows, -1) || countBindings(group, {op}) > kMaxBindings ||
      wouldMakeCycle(group, getUsedValues(op)))
    return false;
  addTo(group, op, *rows);
  return true;
}

bool DispatchGrouping::tryJoinRowPart(DispatchGroup &group, Operation *op) {
  if (group.isClosed || group.ops.size() >= kMaxGroupOps ||
      llvm::none_of(group.ops, isContraction) || llvm::any_of(group.ops, isWindowReduction) ||
      getCost(group.ops) + getBodyCost(op) > kMaxGroupCost)
    return false;
  std::optional<SmallVector<int>> rows = matchRows(group, op);
  if (!rows || countBindings(group, {op}) > kMaxBindings ||
      wouldMakeCycle(group, getUsedValues(op)))
    return false;
  addTo(group, op, *rows);
  return true;
}

/// True if both go over the same space in the same way and read an input at the same places.
static bool areSiblings(Operation *first, Operation *second) {
  auto a = cast<linalg::LinalgOp>(first), b = cast<linalg::LinalgOp>(second);
  if (a.getIteratorTypesArray() != b.getIteratorTypesArray() ||
      a.getStaticLoopRanges() != b.getStaticLoopRanges())
    return false;
  return llvm::any_of(a.getDpsInputOperands(), [&](OpOperand *use) {
    return llvm::any_of(b.getDpsInputOperands(), [&](OpOperand *other) {
      return use->get() == other->get() &&
             a.getMatchingIndexingMap(use) == b.getMatchingIndexingMap(other);
    });
  });
}

bool DispatchGrouping::tryJoinSibling(Operation *op) {
  for (const std::unique_ptr<DispatchGroup> &group : groups) {
    auto sibling = llvm::find_if(group->ops, [&](Operation *other) {
      return other->hasAttr(kPartialAttr) && areSiblings(other, op);
    });
    if (sibling == group->ops.end() || group->ops.size() >= kMaxGroupOps ||
        countBindings(*group, {op}) > kMaxBindings || wouldMakeCycle(*group, getUsedValues(op)))
      continue;
    // What the group computes itself, the op would have to read at its own places.
    if (llvm::any_of(getUsedValues(op), [&](Value value) {
          return value.getDefiningOp() && groupOf.lookup(value.getDefiningOp()) == group.get();
        }))
      continue;
    group->rowOfLoop[op] = SmallVector<int>(group->rowOfLoop[*sibling]);
    group->ops.push_back(op);
    groupOf[op] = group.get();
    return true;
  }
  return false;
}

void DispatchGrouping::absorbSiblings(DispatchGroup &group, Operation *op) {
  for (const std::unique_ptr<DispatchGroup> &other : groups) {
    bool fits = other.get() != &group && !other->ops.empty() &&
                llvm::all_of(other->ops, [&](Operation *sibling) {
                  return sibling->hasAttr(kPartialAttr) && areSiblings(sibling, op);
                });
    if (!fits || other->ops.size() + group.ops.size() > kMaxGroupOps ||
        countBindings(group, other->ops) > kMaxBindings)
      continue;
    SmallVector<Value> operands;
    for (DispatchGroup *both : {&group, other.get()})
      for (Operation *member : both->ops)
        llvm::append_range(operands, getUsedValues(member));
    if (wouldMakeCycle(group, operands, other.get()))
      continue;
    for (Operation *sibling : other->ops) {
      group.rowOfLoop[sibling] = SmallVector<int>(group.rowOfLoop[op]);
      groupOf[sibling] = &group;
    }
    group.ops.append(other->ops);
    llvm::sort(group.ops,
               [&](Operation *a, Operation *b) { return position.at(a) < position.at(b); });
    group.firstPosition = std::min(group.firstPosition, other->firstPosition);
    other->ops.clear();
  }
}

/// True if `producer` does not just move elements to other places.
static bool isComputed(Operation *producer) {
  return !producer->getRegion(0).front().without_terminator().empty();
}

/// A cheap elementwise op that only feeds this contraction is computed while operands are loaded.
bool DispatchGrouping::tryPrologue(DispatchGroup &group, Operation *contraction) {
  if (group.ops.size() != 1 || !isElementwise(group.ops.front()))
    return false;
  Operation *producer = group.ops.front();
  if (producer->getNumResults() != 1 || !producer->getResult(0).hasOneUse())
    return false;
  if (isWindowReduction(contraction) && changesInnermostDim(cast<linalg::LinalgOp>(producer)))
    return false;
  // Each element is loaded once for every tile of the other operand: only what costs a few
  // instructions.
  Block &body = producer->getRegion(0).front();
  if (body.getOperations().size() > 5 || llvm::any_of(body, [](Operation &op) {
        return isa<math::MathDialect>(op.getDialect()) || isa<tensor::ExtractOp>(op);
      }))
    return false;
  auto product = cast<linalg::LinalgOp>(contraction);
  if (isCUDA && isComputed(producer) && isTensorCoreProduct(product) &&
      countUses(product, producer->getResult(0)) > kMaxComputedUses)
    return false;
  DispatchGroup &home = *groupOf.at(contraction);
  if (wouldMakeCycle(group, getUsedValues(contraction), &home))
    return false;
  home.ops.insert(home.ops.begin(), producer);
  home.rowOfLoop[producer] = SmallVector<int>(cast<linalg::LinalgOp>(producer).getNumLoops(), -1);
  home.firstPosition = std::min(home.firstPosition, group.firstPosition);
  groupOf[producer] = &home;
  group.ops.clear();
  return true;
}

/// True if `op` reads memory that `tensor` is all or a part of.
static bool readsMemoryOf(Operation *op, Value tensor) {
  auto getRoot = [](Value value) {
    while (isa_and_nonnull<tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::CastOp,
                           tensor::ExtractSliceOp>(value.getDefiningOp()))
      value = value.getDefiningOp()->getOperand(0);
    return value;
  };
  return llvm::any_of(getUsedValues(op),
                      [&](Value value) { return getRoot(value) == getRoot(tensor); });
}

void DispatchGrouping::absorbProducers(DispatchGroup &group, Value tensor) {
  auto update = cast<kernel::UpdateOp>(group.ops.back());
  SmallVector<Operation *> reshapes;
  Operation *producer = tensor.getDefiningOp();
  for (; isa_and_nonnull<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(producer) &&
         producer->hasOneUse();
       producer = producer->getOperand(0).getDefiningOp())
    reshapes.push_back(producer);
  DispatchGroup *other = producer ? groupOf.lookup(producer) : nullptr;
  if (!other || other == &group || other->isClosed || other->hasContraction ||
      other->ops.size() + group.ops.size() > kMaxGroupOps ||
      getCost(other->ops) + getCost(group.ops) > kMaxGroupCost ||
      countBindings(group, other->ops) > kMaxBindings)
    return;
  Operation *reader = reshapes.empty() ? update.getOperation() : reshapes.back();
  SmallVector<Value> operands;
  for (Operation *op : other->ops) {
    // Threads would write boxes that others have yet to read.
    if (!isElementwise(op) || readsMemoryOf(op, update.getDest()) ||
        !llvm::all_of(op->getUsers(), [&](Operation *user) {
          return user == reader || llvm::is_contained(other->ops, user);
        }))
      return;
    llvm::append_range(operands, getUsedValues(op));
  }
  // The way by which the tensor itself gets here is inside.
  llvm::copy_if(getUsedValues(update), std::back_inserter(operands),
                [&](Value value) { return value != tensor; });
  if (wouldMakeCycle(group, operands, other))
    return;
  SmallVector<Operation *> taken = std::move(other->ops);
  taken.append(reshapes.rbegin(), reshapes.rend());
  for (Operation *op : taken)
    groupOf[op] = &group;
  group.ops.insert(group.ops.begin(), taken.begin(), taken.end());
  group.firstPosition = std::min(group.firstPosition, other->firstPosition);
  other->ops.clear();
}

static linalg::LinalgOp getOnlyReduction(const DispatchGroup &group) {
  linalg::LinalgOp only;
  for (Operation *op : group.ops) {
    auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
    if (!linalgOp || linalgOp.getNumReductionLoops() == 0)
      continue;
    if (only)
      return nullptr;
    only = linalgOp;
  }
  return only;
}

DispatchGroup *DispatchGrouping::getSplitGroup(const DispatchGroup &group) const {
  linalg::LinalgOp reduction = getOnlyReduction(group);
  if (group.isClosed || group.hasContraction || !reduction || reduction->hasAttr(kPartialAttr))
    return nullptr;
  DispatchGroup *split = nullptr;
  for (Operation *op : group.ops)
    for (Value value : getUsedValues(op)) {
      Operation *definition = value.getDefiningOp();
      DispatchGroup *from = definition ? groupOf.lookup(definition) : nullptr;
      if (!from || from == &group)
        continue;
      if (!definition->hasAttr(kPartialAttr) || op != reduction || (split && split != from))
        return nullptr;
      split = from;
    }
  return split;
}

void DispatchGrouping::mergeLastSteps() {
  llvm::MapVector<DispatchGroup *, SmallVector<DispatchGroup *>> lastSteps;
  for (const std::unique_ptr<DispatchGroup> &group : groups)
    if (DispatchGroup *split = group->ops.empty() ? nullptr : getSplitGroup(*group))
      lastSteps[split].push_back(group.get());
  auto haveOneSpace = [](DispatchGroup *first, DispatchGroup *second) {
    linalg::LinalgOp a = getOnlyReduction(*first), b = getOnlyReduction(*second);
    return a && b && first->numRows == second->numRows &&
           a.getIteratorTypesArray() == b.getIteratorTypesArray() &&
           a.getIndexingMapsArray() == b.getIndexingMapsArray() &&
           a.getStaticLoopRanges() == b.getStaticLoopRanges() &&
           !llvm::is_contained(a.getStaticLoopRanges(), ShapedType::kDynamic);
  };
  for (auto &[split, steps] : lastSteps)
    for (size_t i = 0; i < steps.size(); ++i) {
      DispatchGroup &into = *steps[i];
      // What is compared with is a group as it was before it took others in.
      DispatchGroup first = into;
      for (size_t j = i + 1; j < steps.size();) {
        DispatchGroup &other = *steps[j];
        SmallVector<Value> operands;
        for (DispatchGroup *group : {&into, &other})
          for (Operation *op : group->ops)
            llvm::append_range(operands, getUsedValues(op));
        if (!haveOneSpace(&first, &other) || into.ops.size() + other.ops.size() > kMaxGroupOps ||
            countBindings(into, other.ops) > kMaxBindings ||
            wouldMakeCycle(into, operands, &other)) {
          ++j;
          continue;
        }
        for (Operation *op : other.ops) {
          into.rowOfLoop[op] = other.rowOfLoop[op];
          groupOf[op] = &into;
        }
        into.ops.append(other.ops);
        into.firstPosition = std::min(into.firstPosition, other.firstPosition);
        other.ops.clear();
        steps.erase(steps.begin() + j);
      }
      llvm::sort(into.ops,
                 [&](Operation *a, Operation *b) { return position.at(a) < position.at(b); });
    }
}

/// `user`, already in `into`, also uses results of `other`: one kernel for all, where both have the
/// same rows.
bool DispatchGrouping::tryMergeGroups(DispatchGroup &into, DispatchGroup &other, Operation *user) {
  if (other.isClosed || other.hasContraction || into.hasContraction ||
      other.ops.size() + into.ops.size() > kMaxGroupOps ||
      getCost(other.ops) + getCost(into.ops) > kMaxGroupCost)
    return false;
  auto linalgUser = cast<linalg::LinalgOp>(user);
  std::optional<SmallVector<int>> rowsOfOther = matchRows(other, user);
  if (!rowsOfOther || other.numRows < into.numRows)
    return false;
  // Row of `other` -> row of `into`, through the user's loops; rows of `other` that `into` lacks
  // become inner loops.
  SmallVector<int> translation(other.numRows, -1);
  unsigned matched = 0;
  for (auto [rowInInto, rowInOther] : llvm::zip_equal(into.rowOfLoop[user], *rowsOfOther)) {
    if (rowInInto >= 0 && rowInOther < 0)
      return false;
    if (rowInInto >= 0) {
      translation[rowInOther] = rowInInto;
      ++matched;
    }
  }
  if (matched != into.numRows || (other.numRows != into.numRows && !into.hasReduction))
    return false;
  // As in tryJoin: what `other` reduces along a row that `into` lacks is kept inside the kernel.
  if (other.numRows != into.numRows && other.hasReduction &&
      (!isSmall(linalgUser) ||
       !isSmallBeside(other, [&](int row) { return translation[row] >= 0; })))
    return false;
  SmallVector<Value> operands;
  for (DispatchGroup *group : {&into, &other})
    for (Operation *op : group->ops)
      llvm::append_range(operands, getUsedValues(op));
  if (countBindings(into, other.ops) > kMaxBindings || wouldMakeCycle(into, operands, &other))
    return false;
  DispatchGroup merged = into;
  for (Operation *op : other.ops) {
    SmallVector<int> rows = other.rowOfLoop[op];
    for (int &row : rows)
      row = row < 0 ? -1 : translation[row];
    merged.rowOfLoop[op] = rows;
  }
  merged.ops.append(other.ops);
  llvm::sort(merged.ops,
             [&](Operation *a, Operation *b) { return position.at(a) < position.at(b); });
  merged.firstPosition = std::min(into.firstPosition, other.firstPosition);
  merged.hasReduction |= other.hasReduction;
  if (isCUDA && !sharesSpace(merged))
    return false;
  for (Operation *op : other.ops)
    groupOf[op] = &into;
  into = std::move(merged);
  other.ops.clear();
  return true;
}

} // namespace xc::plan
