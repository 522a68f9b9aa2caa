//===- GuardLoops.cpp - Guards of loops that may have no iteration --------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a loop's body requires of sizes, it requires before the loop begins: that there is an
// element to take, say. A loop over the elements of nothing has no first iteration, and requires
// nothing. If sizes show that there may be none, the loop goes into an if that they decide: its
// regions require only where they are chosen. Whether they show it is asked in formulas, and only a
// guard that is used becomes ops.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/ArrayToLinalg.h"
#include "compiler/Conversion/Passes.h"
#include "compiler/Conversion/SizeConditions.h"
#include "compiler/Dialect/Array/IR/ArrayOps.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace xc {
#define GEN_PASS_DEF_GUARDLOOPS
#include "compiler/Conversion/Passes.h.inc"

/// `guard`, which is 0 or 1, as a truth value.
static Value buildTruth(plan::FormulaAttr guard, plan::SymbolicDims &dims, OpBuilder &builder,
                        Location loc) {
  auto type = RankedTensorType::get({}, builder.getI64Type());
  Value number =
      array::FromIndexOp::create(builder, loc, type, dims.materialize(builder, loc, guard));
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

static void guardLoops(func::FuncOp func) {
  SmallVector<array::WhileOp> loops;
  func.walk([&](array::WhileOp op) {
    if (!fillsArrays(op))
      loops.push_back(op);
  });
  if (loops.empty())
    return;
  array::RuntimeSizes runtimeSizes(func.getContext());
  plan::SymbolicDims dims(func, plan::UnifySizes::No, &runtimeSizes);
  // All are asked for before the function changes.
  SmallVector<std::pair<array::WhileOp, plan::FormulaAttr>> guards;
  for (array::WhileOp op : loops)
    if (plan::FormulaAttr guard = findSizeGuard(op, dims, runtimeSizes);
        guard && !guard.isConstant())
      guards.push_back({op, guard});
  for (auto [op, guard] : guards) {
    OpBuilder builder(op);
    moveIntoIf(op, buildTruth(guard, dims, builder, op.getLoc()), builder);
  }
}

namespace {

struct GuardLoops final : impl::GuardLoopsBase<GuardLoops> {
  void runOnOperation() override {
    getOperation().walk([](func::FuncOp func) {
      if (!func.isExternal())
        guardLoops(func);
    });
  }
};

} // namespace

} // namespace xc
