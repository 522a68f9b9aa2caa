//===- HoistLoads.cpp - Have several loads in flight ----------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Code comes out point by point: load, compute, load, compute. A GPU hides the latency of memory by
// having many loads under way, so within each block the loads are gathered before the arithmetic
// that does not feed their addresses. The order of loads among each other stays.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Passes.h"
#include "compiler/Dialect/Plan/IR/PlanOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include "compiler/Codegen/CUDA/IR/CUDAConfig.h"

using namespace mlir;

namespace xc::cuda {

#define GEN_PASS_DEF_HOISTLOADS
#include "compiler/Codegen/CUDA/Passes.h.inc"

static bool isGlobalLoad(Operation &op) {
  return isa<memref::LoadOp, vector::LoadOp>(op) &&
         op.getOperand(0).getDefiningOp<plan::BindingOp>();
}

/// Moves what `op` needs, and then `op`, right behind `anchor` (or to the start of the block, if
/// null).
static void moveBehind(Operation *op, Operation *&anchor) {
  for (Value operand : op->getOperands()) {
    Operation *definition = operand.getDefiningOp();
    if (definition && definition->getBlock() == op->getBlock() &&
        (!anchor || anchor->isBeforeInBlock(definition)))
      moveBehind(definition, anchor);
  }
  if (anchor)
    op->moveAfter(anchor);
  else
    op->moveBefore(&op->getBlock()->front());
  anchor = op;
}

/// True if all that `op` needs from behind `anchor` is arithmetic without effects and without
/// loads.
static bool dependsOnlyOnPureOps(Operation *op, Operation *anchor) {
  return llvm::all_of(op->getOperands(), [&](Value operand) {
    Operation *definition = operand.getDefiningOp();
    if (!definition || definition->getBlock() != op->getBlock() ||
        (anchor && !anchor->isBeforeInBlock(definition)))
      return true;
    return isPure(definition) && definition->getNumRegions() == 0 &&
           dependsOnlyOnPureOps(definition, anchor);
  });
}

static void hoistLoads(Block &block) {
  // Everything up to the anchor stays where it is.
  Operation *anchor = nullptr;
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (isGlobalLoad(op)) {
      // An address that itself comes from memory (a gather) cannot move above that load.
      if (dependsOnlyOnPureOps(&op, anchor))
        moveBehind(&op, anchor);
      else
        anchor = &op;
    } else if (!isPure(&op)) {
      anchor = &op;
    }
  }
}

namespace {

struct HoistLoads final : impl::HoistLoadsBase<HoistLoads> {
  void runOnOperation() override {
    getOperation()->walk([](Block *block) { hoistLoads(*block); });
  }
};

} // namespace

} // namespace xc::cuda
