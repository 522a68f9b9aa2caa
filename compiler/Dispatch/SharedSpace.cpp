//===- SharedSpace.cpp - Whether ops go over one space --------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Dispatch/DispatchGroups.h"

#include "compiler/Dialect/Plan/IR/PlanOps.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace xc::plan {

namespace {

/// Loops and dims of tensors by number: rows of the group first, then the loops that are no rows.
/// Loops of one op have different numbers: two that shared one would go over a diagonal of what the
/// op computes. Where sizes are equal nothing else tells such loops apart.
class SpaceNumbering {
public:
  /// Of the ops that sum up rows, which have been found to fit, `partial` alone is looked at.
  explicit SpaceNumbering(const DispatchGroup &group, Operation *partial = nullptr);
  bool isShared();
  /// Whether all loops of `op` have numbers.
  bool numbers(linalg::LinalgOp op);
  const LoopNumbers &getLoops() const { return loops; }

private:
  static constexpr int unknown = -1, unit = -2;
  using Numbers = SmallVector<int>;

  linalg::LinalgOp numberRoot();
  void spreadAll();
  bool spread(linalg::LinalgOp op);
  bool learn(linalg::LinalgOp op, Value tensor, AffineMap map);
  void publish(linalg::LinalgOp op, Value tensor, AffineMap map);
  bool dependsOnReduction(linalg::LinalgOp op);
  bool dependsOnReduction(Value tensor);
  /// True if `op` reads the elements of its own point wherever a reduction feeds what it reads.
  bool readsOwnElements(linalg::LinalgOp op);
  /// The numbers of the loops that `op` reduces.
  SmallVector<int> getReduced(linalg::LinalgOp op);

  SmallVector<linalg::LinalgOp> ops;
  LoopNumbers loops;
  llvm::DenseMap<Value, Numbers> dims;
  llvm::DenseMap<Operation *, bool> isDependent;
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
      if (int &loop = loops[op][dim.getPosition()];
          loop == unknown && !llvm::is_contained(loops[op], number)) {
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
  SmallVector<std::pair<Value, AffineMap>> tensors;
  for (OpOperand &operand : op->getOpOperands())
    if (isa<RankedTensorType>(operand.get().getType()) &&
        !operand.get().getDefiningOp<tensor::EmptyOp>())
      tensors.emplace_back(operand.get(), op.getMatchingIndexingMap(&operand));
  for (OpResult result : op->getResults())
    tensors.emplace_back(result, op.getIndexingMapMatchingResult(result));
  // What a reduction feeds is held at one point; anything else can be read at several.
  bool changed = false;
  for (bool isFed : {true, false})
    for (auto [tensor, map] : tensors)
      if (dependsOnReduction(tensor) == isFed)
        changed |= learn(op, tensor, map);
  if (!llvm::is_contained(loops[op], unknown))
    for (auto [tensor, map] : tensors)
      publish(op, tensor, map);
  return changed;
}

bool SpaceNumbering::dependsOnReduction(linalg::LinalgOp op) {
  if (auto known = isDependent.find(op); known != isDependent.end())
    return known->second;
  bool result =
      op.getNumReductionLoops() > 0 ||
      llvm::any_of(op->getOperands(), [&](Value operand) { return dependsOnReduction(operand); });
  return isDependent[op] = result;
}

bool SpaceNumbering::dependsOnReduction(Value tensor) {
  auto producer = tensor.getDefiningOp<linalg::LinalgOp>();
  return producer && loops.contains(producer) && dependsOnReduction(producer);
}

bool SpaceNumbering::readsOwnElements(linalg::LinalgOp op) {
  return llvm::all_of(op->getOpOperands(), [&](OpOperand &operand) {
    if (!dependsOnReduction(operand.get()))
      return true;
    auto held = dims.find(operand.get());
    return held == dims.end() ||
           llvm::all_of(
               llvm::zip_equal(held->second, op.getMatchingIndexingMap(&operand).getResults()),
               [&](auto pair) {
                 auto [number, expr] = pair;
                 auto dim = dyn_cast<AffineDimExpr>(expr);
                 return !dim || number < 0 || loops[op][dim.getPosition()] < 0 ||
                        loops[op][dim.getPosition()] == number;
               });
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
           (!llvm::is_contained(loops[op], unknown) && readsOwnElements(op) &&
            (op.getNumReductionLoops() == 0 || getReduced(op) == getReduced(root)));
  });
}

bool sharesSpace(const DispatchGroup &group) { return SpaceNumbering(group).isShared(); }

bool liesInSpace(const DispatchGroup &group, linalg::LinalgOp partial) {
  return SpaceNumbering(group, partial).numbers(partial);
}

LoopNumbers numberLoops(const DispatchGroup &group) {
  SpaceNumbering space(group);
  space.isShared();
  LoopNumbers numbers = space.getLoops();
  for (Operation *op : group.ops)
    if (op->hasAttr(kPartialAttr)) {
      SpaceNumbering ofPartial(group, op);
      ofPartial.numbers(cast<linalg::LinalgOp>(op));
      numbers[op] = ofPartial.getLoops().lookup(op);
    }
  return numbers;
}

} // namespace xc::plan
