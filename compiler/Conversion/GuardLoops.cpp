//===- GuardLoops.cpp - Guards of loops that may have no iteration --------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a loop's body demands of sizes, it demands before the loop begins: that there is an element
// to take, say. A loop over the elements of nothing has no first iteration, and nothing to demand.
// If that is to be seen from sizes, the loop goes into an if that sizes decide, whose regions
// demand only where they are chosen.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/ArrayToLinalg.h"
#include "compiler/Conversion/Passes.h"
#include "compiler/Conversion/SizeConditions.h"
#include "compiler/Dialect/Array/IR/ArrayOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace xc {
#define GEN_PASS_DEF_GUARDLOOPS
#include "compiler/Conversion/Passes.h.inc"

/// The condition of the first iteration, computed before the loop; null if that has effects.
static Value cloneFirstCondition(array::WhileOp op, OpBuilder &builder) {
  Block &condition = op.getCondition().front();
  if (!llvm::all_of(condition.without_terminator(),
                    [](Operation &inner) { return isMemoryEffectFree(&inner); }))
    return {};
  IRMapping mapping;
  mapping.map(condition.getArguments(), op.getInits());
  for (Operation &inner : condition.without_terminator())
    builder.clone(inner, mapping);
  auto yield = cast<array::YieldOp>(condition.getTerminator());
  return mapping.lookupOrDefault(yield.getValues().front());
}

/// Whether there may be a first iteration, as a truth value that sizes decide; null if there may be
/// one whatever they are, or none.
static Value buildGuard(array::WhileOp op, OpBuilder &builder) {
  Value first = cloneFirstCondition(op, builder);
  OpFoldResult guard = first ? buildSizeGuard(first, builder) : OpFoldResult();
  if (!guard || getConstantIntValue(guard))
    return {};
  Location loc = op.getLoc();
  auto type = RankedTensorType::get({}, builder.getI64Type());
  Value number = array::FromIndexOp::create(builder, loc, type, cast<Value>(guard));
  Value zero = array::ConstantOp::create(
      builder, loc, DenseElementsAttr::get(type, builder.getI64IntegerAttr(0).getValue()));
  return array::CompareOp::create(builder, loc, RankedTensorType::get({}, builder.getI1Type()),
                                  array::CompareDirection::Gt, number, zero);
}

/// Moves `op` into an if on `guard`, which results in the loop's initial values where there is no
/// iteration.
static void moveIntoIf(array::WhileOp op, Value guard, OpBuilder &builder) {
  Location loc = op.getLoc();
  auto guarded = array::IfOp::create(builder, loc, op.getResultTypes(), guard);
  op->replaceAllUsesWith(guarded);
  builder.setInsertionPointToEnd(&guarded.getThenRegion().emplaceBlock());
  auto yield = array::YieldOp::create(builder, loc, op.getResults());
  op->moveBefore(yield);
  builder.setInsertionPointToEnd(&guarded.getElseRegion().emplaceBlock());
  SmallVector<Value> inits;
  for (auto [init, type] : llvm::zip_equal(op.getInits(), op.getResultTypes()))
    inits.push_back(castTo(builder, loc, init, type));
  array::YieldOp::create(builder, loc, inits);
}

static void guardLoop(array::WhileOp op) {
  if (fillsArrays(op))
    return;
  OpBuilder builder(op);
  Operation *before = op->getPrevNode(), *last = op;
  if (Value guard = buildGuard(op, builder)) {
    moveIntoIf(op, guard, builder);
    last = guard.getDefiningOp()->getNextNode();
  }
  // Not all that was tried is used.
  while (Operation *tried = last->getPrevNode()) {
    if (tried == before)
      break;
    if (isOpTriviallyDead(tried))
      tried->erase();
    else
      last = tried;
  }
}

namespace {

struct GuardLoops final : impl::GuardLoopsBase<GuardLoops> {
  void runOnOperation() override {
    SmallVector<array::WhileOp> loops;
    getOperation().walk([&](array::WhileOp op) { loops.push_back(op); });
    llvm::for_each(loops, guardLoop);
  }
};

} // namespace

} // namespace xc
