//===- MovedRows.cpp - Rows that attention reads and stores elsewhere ------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernels of attention copy rows of their operands from wherever they are, and store rows of their
// results wherever they shall be. So an op that moves rows to them, or from them, is no launch, if
// it is theirs alone. In a training step it is not: attention and both kernels of its gradient read
// the same queries, keys and values, and the gradient's delta reads attention's result beside what
// its rows are moved for.
//
// - Each kernel gets an op of its own that moves an operand, where that reads memory. Behind an op
//   that computes it stays one: that op may store the rows where they are moved to.
// - Linalg ops that read attention's result read it behind the op that moves it.
//
//===----------------------------------------------------------------------===//

#include "compiler/Dispatch/MovedRows.h"

#include "compiler/Dialect/Kernel/IR/AttentionDecodeOp.h"
#include "compiler/Dialect/Kernel/IR/AttentionGradientOp.h"
#include "compiler/Dialect/Plan/IR/Copies.h"
#include "compiler/Dispatch/Alignment.h"

#include "mlir/Analysis/TopologicalSortUtils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;

namespace xc::plan {

bool movesRows(Operation *op) {
  auto generic = dyn_cast_or_null<linalg::GenericOp>(op);
  AffineMap map = generic ? getPermutationMap(generic) : AffineMap();
  return map && map.getNumResults() > 0 &&
         map.getResults().back() == getAffineDimExpr(map.getNumDims() - 1, op->getContext());
}

/// Whether each of `groups`, dims of `wide` that are one dim of the other side, has one dim that is
/// not 1 at most.
static bool movesOnesOnly(ArrayRef<ReassociationIndices> groups, RankedTensorType wide) {
  return llvm::all_of(groups, [&](ArrayRef<int64_t> dims) {
    return llvm::count_if(dims, [&](int64_t dim) { return wide.getDimSize(dim) != 1; }) <= 1;
  });
}

bool movesOnesOnly(tensor::ExpandShapeOp op) {
  return movesOnesOnly(op.getReassociationIndices(), op.getResultType());
}
bool movesOnesOnly(tensor::CollapseShapeOp op) {
  return movesOnesOnly(op.getReassociationIndices(), op.getSrcType());
}

SmallVector<Value> getRowOperands(Operation *op) {
  if (auto attention = dyn_cast<kernel::AttentionOp>(op))
    return {attention.getQuery(), attention.getKey(), attention.getValue()};
  if (auto decode = dyn_cast<kernel::AttentionDecodeOp>(op))
    return {decode.getQuery(), decode.getKey(), decode.getValue()};
  if (auto gradient = dyn_cast<kernel::AttentionGradientOp>(op))
    return {gradient.getQuery(), gradient.getKey(), gradient.getValue(), gradient.getCotangent()};
  return {};
}

Operation *getMoverOfRows(Value operand) {
  // A batch of one, which the op that moves rows has lost.
  if (auto expand = operand.getDefiningOp<tensor::ExpandShapeOp>(); expand && movesOnesOnly(expand))
    operand = expand.getSrc();
  Operation *mover = operand.getDefiningOp();
  return movesRows(mover) && hasAlignedRows(mover->getOperand(0)) ? mover : nullptr;
}

/// Gives `op` an op of its own that moves `operand`, if there is one that others use, too.
static void cloneMover(Operation *op, Value operand) {
  Operation *mover = getMoverOfRows(operand);
  if (!mover || isa_and_nonnull<linalg::LinalgOp>(mover->getOperand(0).getDefiningOp()))
    return;
  auto isAlone = [&](Value value) {
    return llvm::all_of(value.getUsers(), [&](Operation *user) { return user == op; });
  };
  Value moved = mover->getResult(0);
  if (isAlone(operand) && (operand == moved || moved.hasOneUse()))
    return;
  OpBuilder builder(op);
  IRMapping clones;
  builder.clone(*mover, clones);
  if (operand != moved)
    builder.clone(*operand.getDefiningOp(), clones);
  op->replaceUsesOfWith(operand, clones.lookup(operand));
}

/// Lets ops that read `result` beside one that moves its rows read what that makes.
static void readBehindMover(Value result) {
  if (result.hasOneUse())
    if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(*result.user_begin());
        collapse && movesOnesOnly(collapse))
      result = collapse.getResult();
  linalg::GenericOp mover;
  for (Operation *user : result.getUsers()) {
    if (!isa<linalg::GenericOp>(user) || (mover && movesRows(user)))
      return;
    if (movesRows(user))
      mover = cast<linalg::GenericOp>(user);
  }
  if (!mover || result.hasOneUse())
    return;
  // From elements of the result to those of what moves it.
  AffineMap read = mover.getMatchingIndexingMap(mover.getDpsInputOperand(0)),
            written = mover.getMatchingIndexingMap(mover.getDpsInitOperand(0));
  AffineMap moves = written.compose(inversePermutation(read));
  for (OpOperand &use : llvm::make_early_inc_range(result.getUses())) {
    auto reader = cast<linalg::GenericOp>(use.getOwner());
    if (reader == mover || reader.isDpsInit(&use))
      continue;
    SmallVector<AffineMap> maps = reader.getIndexingMapsArray();
    AffineMap &own = maps[use.getOperandNumber()];
    own = moves.compose(own);
    use.set(mover->getResult(0));
    reader.setIndexingMapsAttr(Builder(reader.getContext()).getAffineMapArrayAttr(maps));
  }
}

void splitMovedRows(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(block)) {
    for (Value operand : getRowOperands(&op))
      cloneMover(&op, operand);
    if (isa<kernel::AttentionOp>(op))
      readBehindMover(op.getResult(0));
  }
  // What reads the result may have been in front of the op that moves it.
  sortTopologically(&block);
}

} // namespace xc::plan
