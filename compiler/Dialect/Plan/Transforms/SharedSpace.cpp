//===- SharedSpace.cpp - Whether ops go over one space --------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Plan/Transforms/DispatchGroups.h"

#include "compiler/Dialect/Plan/IR/PlanOps.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace xc::plan {

namespace {

/// Loops and dims of tensors by number: rows of the group first, then the loops that are no rows.
class SpaceNumbering {
public:
  /// Of the ops that sum up rows, which have been found to fit, `partial` alone is looked at.
  explicit SpaceNumbering(const DispatchGroup &group, Operation *partial = nullptr);
  bool isShared();
  /// Whether all loops of `op` have numbers.
  bool numbers(linalg::LinalgOp op);

private:
  static constexpr int unknown = -1, unit = -2;
  using Numbers = SmallVector<int>;

  linalg::LinalgOp numberRoot();
  void spreadAll();
  bool spread(linalg::LinalgOp op);
  bool learn(linalg::LinalgOp op, Value tensor, AffineMap map);
  void publish(linalg::LinalgOp op, Value tensor, AffineMap map);
  bool dependsOnReduction(linalg::LinalgOp op);
  /// The numbers of the loops that `op` reduces.
  SmallVector<int> getReduced(linalg::LinalgOp op);

  SmallVector<linalg::LinalgOp> ops;
  llvm::DenseMap<Operation *, Numbers> loops;
  llvm::DenseMap<Value, Numbers> dims;
  int numRows;
};

} // namespace

SpaceNumbering::SpaceNumbering(const DispatchGroup &group, Operation *partial)
    : numRows(group.numRows) {
  for (Operation *op : group.ops) {
    if (op->hasAttr(kPartialAttr) && op != partial)
      continue;
    auto linalgOp = cast<linalg::LinalgOp>(op);
    Numbers numbers(group.rowOfLoop.lookup(op));
    for (auto [number, range] : llvm::zip_equal(numbers, linalgOp.getStaticLoopRanges()))
      if (number < 0)
        number = range == 1 ? unit : unknown;
    ops.push_back(linalgOp);
    loops[op] = std::move(numbers);
  }
}

/// Loops that are no rows get their numbers from the reduction that has most loops.
linalg::LinalgOp SpaceNumbering::numberRoot() {
  linalg::LinalgOp root;
  for (linalg::LinalgOp op : ops)
    if (op.getNumReductionLoops() > 0 && !op->hasAttr(kPartialAttr) &&
        (!root || op.getNumLoops() > root.getNumLoops()))
      root = op;
  int next = numRows;
  if (root)
    for (int &number : loops[root])
      if (number == unknown)
        number = next++;
  return root;
}

bool SpaceNumbering::learn(linalg::LinalgOp op, Value tensor, AffineMap map) {
  auto known = dims.find(tensor);
  if (known == dims.end())
    return false;
  bool changed = false;
  for (auto [number, expr] : llvm::zip_equal(known->second, map.getResults()))
    if (auto dim = dyn_cast<AffineDimExpr>(expr); dim && number >= 0)
      if (int &loop = loops[op][dim.getPosition()]; loop == unknown) {
        loop = number;
        changed = true;
      }
  return changed;
}

void SpaceNumbering::publish(linalg::LinalgOp op, Value tensor, AffineMap map) {
  dims.try_emplace(tensor, llvm::map_to_vector(map.getResults(), [&](AffineExpr expr) {
                     auto dim = dyn_cast<AffineDimExpr>(expr);
                     return dim ? loops[op][dim.getPosition()] : unknown;
                   }));
}

/// Learns from the tensors of `op`, and tells what it knows once that is all.
bool SpaceNumbering::spread(linalg::LinalgOp op) {
  bool changed = false;
  auto visit = [&](bool isComplete) {
    for (OpOperand &operand : op->getOpOperands())
      if (isa<RankedTensorType>(operand.get().getType()) &&
          !operand.get().getDefiningOp<tensor::EmptyOp>()) {
        AffineMap map = op.getMatchingIndexingMap(&operand);
        isComplete ? publish(op, operand.get(), map)
                   : void(changed |= learn(op, operand.get(), map));
      }
    for (OpResult result : op->getResults()) {
      AffineMap map = op.getIndexingMapMatchingResult(result);
      isComplete ? publish(op, result, map) : void(changed |= learn(op, result, map));
    }
  };
  visit(/*isComplete=*/false);
  if (!llvm::is_contained(loops[op], unknown))
    visit(/*isComplete=*/true);
  return changed;
}

bool SpaceNumbering::dependsOnReduction(linalg::LinalgOp op) {
  return op.getNumReductionLoops() > 0 || llvm::any_of(op->getOperands(), [&](Value operand) {
           auto producer = operand.getDefiningOp<linalg::LinalgOp>();
           return producer && loops.contains(producer) && dependsOnReduction(producer);
         });
}

SmallVector<int> SpaceNumbering::getReduced(linalg::LinalgOp op) {
  SmallVector<int> numbers;
  for (auto [number, type] : llvm::zip_equal(loops[op], op.getIteratorTypesArray()))
    if (type == utils::IteratorType::reduction && number != unit)
      numbers.push_back(number);
  llvm::sort(numbers);
  return numbers;
}

void SpaceNumbering::spreadAll() {
  for (bool changed = true; changed;) {
    changed = false;
    for (linalg::LinalgOp op : ops)
      changed |= spread(op);
  }
}

bool SpaceNumbering::numbers(linalg::LinalgOp op) {
  if (!numberRoot())
    return false;
  spreadAll();
  return !llvm::is_contained(loops[op], unknown);
}

bool SpaceNumbering::isShared() {
  linalg::LinalgOp root = numberRoot();
  if (!root)
    return true;
  spreadAll();
  return llvm::all_of(ops, [&](linalg::LinalgOp op) {
    return !dependsOnReduction(op) ||
           (!llvm::is_contained(loops[op], unknown) &&
            (op.getNumReductionLoops() == 0 || getReduced(op) == getReduced(root)));
  });
}

bool sharesSpace(const DispatchGroup &group) { return SpaceNumbering(group).isShared(); }

bool liesInSpace(const DispatchGroup &group, linalg::LinalgOp partial) {
  return SpaceNumbering(group, partial).numbers(partial);
}

} // namespace xc::plan
