//===- MergeDispatchGroups.cpp - What joins a group beside what feeds it -===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Parts of DispatchGrouping: reductions that read one input in the same way share a kernel, cheap
// elementwise ops go where a product loads or an update writes, and last steps of reductions that
// were split alike are one kernel.
//
//===----------------------------------------------------------------------===//

#include "compiler/Dispatch/DispatchGroupLimits.h"

#include "compiler/Dialect/Kernel/IR/KernelOps.h"
#include "compiler/Dialect/Plan/IR/PlanOps.h"
#include "compiler/Dialect/Plan/IR/Products.h"
#include "compiler/Dialect/Plan/IR/Reductions.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace xc::plan {

static constexpr StringLiteral kSameInput = "both reduce the same input, which is read once";

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
    reasons[{*sibling, op}] = kSameInput;
    group->rowOfLoop[op] = SmallVector<int>(group->rowOfLoop[*sibling]);
    group->ops.push_back(op);
    groupOf[op] = group.get();
    return true;
  }
  return false;
}

/// The number of loops of `type` that go over more than one element.
static int64_t countLongLoops(linalg::LinalgOp op, utils::IteratorType type) {
  return llvm::count_if(
      llvm::zip_equal(op.getStaticLoopRanges(), op.getIteratorTypesArray()),
      [&](auto loop) { return std::get<0>(loop) != 1 && std::get<1>(loop) == type; });
}

/// Whether `reader` sums up along the dims of `tensor`: its own results are of other rows then.
static bool reducesRowsOf(linalg::LinalgOp reader, Value tensor) {
  SmallVector<utils::IteratorType> iterators = reader.getIteratorTypesArray();
  return llvm::all_of(reader->getOpOperands(), [&](OpOperand &use) {
    return use.get() != tensor ||
           llvm::any_of(reader.getMatchingIndexingMap(&use).getResults(), [&](AffineExpr expr) {
             auto loop = dyn_cast<AffineDimExpr>(expr);
             return loop && iterators[loop.getPosition()] == utils::IteratorType::reduction;
           });
  });
}

/// True if `op` reduces rows, and what follows from the results within these rows has no more dims
/// than they have.
static bool onlyReducesRows(Operation *op) {
  auto reduction = dyn_cast<linalg::LinalgOp>(op);
  if (!reduction || reduction.getNumReductionLoops() == 0 || op->hasAttr(kPartialAttr) ||
      isContraction(op) || isWindowReduction(op) || getRowPart(reduction) ||
      !reducesInnermost(reduction))
    return false;
  int64_t rows = countLongLoops(reduction, utils::IteratorType::parallel);
  llvm::SetVector<Value> results(llvm::from_range, op->getResults());
  for (unsigned i = 0; i < results.size(); ++i)
    for (Operation *user : results[i].getUsers()) {
      auto follower = dyn_cast<linalg::LinalgOp>(user);
      if (follower && reducesRowsOf(follower, results[i]))
        continue;
      if (follower && countLongLoops(follower, utils::IteratorType::parallel) +
                              countLongLoops(follower, utils::IteratorType::reduction) >
                          rows)
        return false;
      results.insert_range(user->getResults());
    }
  return true;
}

bool DispatchGrouping::tryJoinRowSibling(Operation *op) {
  if (!onlyReducesRows(op))
    return false;
  for (const std::unique_ptr<DispatchGroup> &group : groups) {
    auto sibling = llvm::find_if(group->ops, [&](Operation *other) {
      return isa<linalg::LinalgOp>(other) && areSiblings(other, op) && onlyReducesRows(other);
    });
    if (sibling == group->ops.end() || group->isClosed || group->hasContraction ||
        group->ops.size() >= kMaxGroupOps ||
        getCost(group->ops) + getBodyCost(op) > kMaxGroupCost ||
        countBindings(*group, {op}) > kMaxBindings || wouldMakeCycle(*group, getUsedValues(op)))
      continue;
    // What the group computes itself, the op would have to read at its own places; and it has as
    // many rows as the group.
    ArrayRef<int> rows = group->rowOfLoop[*sibling];
    bool readsGroup = llvm::any_of(getUsedValues(op), [&](Value value) {
      return value.getDefiningOp() && groupOf.lookup(value.getDefiningOp()) == group.get();
    });
    if (readsGroup || llvm::count_if(rows, [](int row) { return row >= 0; }) !=
                          cast<linalg::LinalgOp>(op).getNumParallelLoops())
      continue;
    DispatchGroup joined = *group;
    joined.rowOfLoop[op] = SmallVector<int>(rows);
    joined.ops.push_back(op);
    if (!sharesSpace(joined))
      continue;
    reasons[{*sibling, op}] = kSameInput;
    *group = std::move(joined);
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
      reasons[{op, sibling}] = kSameInput;
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

/// Why a product cannot compute what `producer` makes while it loads it; empty if it can.
static StringRef findPrologueObstacle(Operation *producer, linalg::LinalgOp product,
                                      const DispatchTarget &target) {
  if (producer->getNumResults() != 1 || !producer->getResult(0).hasOneUse())
    return "other ops read it, too";
  if (isWindowReduction(product) && changesInnermostDim(cast<linalg::LinalgOp>(producer)))
    return "the window reads its image in the order in which it is";
  // Each element is loaded once for every tile of the other operand: only what costs a few
  // instructions.
  Block &body = producer->getRegion(0).front();
  if (body.getOperations().size() > 5 || llvm::any_of(body, [](Operation &op) {
        return isa<math::MathDialect>(op.getDialect()) || isa<tensor::ExtractOp>(op);
      }))
    return "the product would repeat more than a few instructions for each tile that reads it";
  if (isComputed(producer) && !target.mayComputeOperand(product, producer->getResult(0)))
    return "the product would lose the copies that feed its tensor cores";
  return {};
}

/// A cheap elementwise op that only feeds this contraction is computed while operands are loaded.
bool DispatchGrouping::tryPrologue(DispatchGroup &group, Operation *contraction) {
  if (group.ops.size() != 1 || !isElementwise(group.ops.front()))
    return refuse(group, contraction, "a product loads and computes one elementwise op at most");
  Operation *producer = group.ops.front();
  auto product = cast<linalg::LinalgOp>(contraction);
  if (StringRef obstacle = findPrologueObstacle(producer, product, target); !obstacle.empty())
    return refuse(group, contraction, obstacle);
  DispatchGroup &home = *groupOf.at(contraction);
  if (wouldMakeCycle(group, getUsedValues(contraction), &home))
    return refuse(group, contraction, kMakesCycle);
  note(group, contraction, "the product computes it as it loads it");
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
  Operation *root = group.ops.back();
  auto update = dyn_cast<kernel::UpdateOp>(root);
  SmallVector<Operation *> reshapes;
  Operation *producer = tensor.getDefiningOp();
  for (; isa_and_nonnull<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(producer) &&
         producer->hasOneUse();
       producer = producer->getOperand(0).getDefiningOp())
    reshapes.push_back(producer);
  DispatchGroup *other = producer ? groupOf.lookup(producer) : nullptr;
  if (!other || other == &group)
    return;
  if (other->isClosed || other->hasContraction)
    return note(*other, root, kTakesInNothing);
  if (other->ops.size() + group.ops.size() > kMaxGroupOps ||
      getCost(other->ops) + getCost(group.ops) > kMaxGroupCost)
    return note(*other, root, kTooLong);
  Operation *reader = reshapes.empty() ? root : reshapes.back();
  SmallVector<Value> operands;
  for (Operation *op : other->ops) {
    if (!isElementwise(op))
      return note(*other, root, "only elementwise ops can be computed where they are read");
    // Threads would write boxes that others have yet to read.
    if (update && readsMemoryOf(op, update.getDest()))
      return note(*other, root, "it is made of what is updated in place");
    if (!llvm::all_of(op->getUsers(), [&](Operation *user) {
          return user == reader || llvm::is_contained(other->ops, user);
        }))
      return note(*other, root, "other ops read it, too");
    llvm::append_range(operands, getUsedValues(op));
  }
  // The way by which the tensor itself gets here is inside.
  llvm::copy_if(getUsedValues(root), std::back_inserter(operands),
                [&](Value value) { return value != tensor; });
  if (StringRef conflict = findConflict(group, other->ops, operands, other); !conflict.empty())
    return note(*other, root, conflict);
  note(*other, root, "each element is computed where it is needed");
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
      // What follows the reduction may read what others have finished, too.
      bool isFinished = from && op != reduction && !definition->hasAttr(kPartialAttr);
      if (!from || from == &group || isFinished)
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
        auto rows = llvm::to_vector(llvm::seq<int>(0, into.numRows));
        if (!haveOneSpace(&first, &other) || !readsInSameRows(into, other, rows) ||
            !readsInSameRows(other, into, rows) ||
            into.ops.size() + other.ops.size() > kMaxGroupOps ||
            countBindings(into, other.ops) > kMaxBindings ||
            wouldMakeCycle(into, operands, &other)) {
          ++j;
          continue;
        }
        for (Operation *op : other.ops) {
          reasons[{into.ops.front(), op}] = "last steps of reductions that were split alike";
          into.rowOfLoop[op] = other.rowOfLoop[op];
          groupOf[op] = &into;
        }
        into.ops.append(other.ops);
        llvm::sort(into.ops,
                   [&](Operation *a, Operation *b) { return position.at(a) < position.at(b); });
        into.firstPosition = std::min(into.firstPosition, other.firstPosition);
        other.ops.clear();
        steps.erase(steps.begin() + j);
      }
    }
}

/// Whether each op of `into` that uses a result of `other` reads it in the row where it is made,
/// given the row of `into` for each row of `other`. One op may read the tensor along one dim and
/// another op along another one.
bool DispatchGrouping::readsInSameRows(const DispatchGroup &into, DispatchGroup &other,
                                       ArrayRef<int> translation) {
  return llvm::all_of(into.ops, [&](Operation *op) {
    if (llvm::none_of(getUsedValues(op), [&](Value value) {
          Operation *definition = value.getDefiningOp();
          return definition && groupOf.lookup(definition) == &other;
        }))
      return true;
    std::optional<SmallVector<int>> rows = matchRows(other, op);
    return rows && llvm::all_of(llvm::zip_equal(into.rowOfLoop.lookup(op), *rows), [&](auto pair) {
             auto [rowInInto, rowInOther] = pair;
             return rowInInto == (rowInOther < 0 ? -1 : translation[rowInOther]);
           });
  });
}

/// `user`, already in `into`, also uses results of `other`: one kernel for all, where both have the
/// same rows.
bool DispatchGrouping::tryMergeGroups(DispatchGroup &into, DispatchGroup &other, Operation *user) {
  if (other.hasContraction || into.hasContraction)
    return refuse(other, user, "a product's kernel takes in single ops, no other kernel");
  if (other.isClosed)
    return refuse(other, user, kTakesInNothing);
  if (other.ops.size() + into.ops.size() > kMaxGroupOps ||
      getCost(other.ops) + getCost(into.ops) > kMaxGroupCost)
    return refuse(other, user, kTooLong);
  auto linalgUser = cast<linalg::LinalgOp>(user);
  std::optional<SmallVector<int>> rowsOfOther = matchRows(other, user);
  if (!rowsOfOther)
    return false;
  constexpr StringLiteral otherRows = "the kernels that make its operands go over other rows";
  if (other.numRows < into.numRows)
    return refuse(other, user, otherRows);
  // Row of `other` -> row of `into`, through the user's loops; rows of `other` that `into` lacks
  // become inner loops.
  SmallVector<int> translation(other.numRows, -1);
  unsigned matched = 0;
  for (auto [rowInInto, rowInOther] : llvm::zip_equal(into.rowOfLoop[user], *rowsOfOther)) {
    if (rowInInto >= 0 && rowInOther < 0)
      return refuse(other, user, otherRows);
    if (rowInInto >= 0) {
      translation[rowInOther] = rowInInto;
      ++matched;
    }
  }
  if (matched != into.numRows || (other.numRows != into.numRows && !into.hasReduction) ||
      !readsInSameRows(into, other, translation))
    return refuse(other, user, otherRows);
  // As in tryJoin: what `other` reduces along a row that `into` lacks is kept inside the kernel.
  if (other.numRows != into.numRows && other.hasReduction &&
      (!isSmall(linalgUser) ||
       !isSmallBeside(other, [&](int row) { return translation[row] >= 0; })))
    return refuse(other, user, "what is reduced is too large for the memory of a workgroup");
  SmallVector<Value> operands;
  for (DispatchGroup *group : {&into, &other})
    for (Operation *op : group->ops)
      llvm::append_range(operands, getUsedValues(op));
  if (StringRef conflict = findConflict(into, other.ops, operands, &other); !conflict.empty())
    return refuse(other, user, conflict);
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
  if (!canHold(merged))
    return refuse(other, user, kOtherSpace);
  note(other, user, "its operands' kernels go over the same rows");
  for (Operation *op : other.ops)
    groupOf[op] = &into;
  into = std::move(merged);
  other.ops.clear();
  return true;
}

} // namespace xc::plan
