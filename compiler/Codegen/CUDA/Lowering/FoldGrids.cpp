//===- FoldGrids.cpp - Keep grids within what hardware launches -----------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All grids are one-dimensional: x has room for 2^31 - 1 blocks, y and z only for 65535. With n
// blocks and a limit of L, every block loops over the numbers from its own on in steps of
// ceil(n / (n / L + 1)), which is the grid: at most L, and a formula without a minimum, since
// n < L * (n / L + 1).
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/IR/CUDAConfig.h"
#include "compiler/Codegen/CUDA/Passes.h"
#include "compiler/Dialect/Plan/IR/FormulaValues.h"
#include "compiler/Dialect/Tile/IR/TileOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace xc::cuda {

#define GEN_PASS_DEF_FOLDGRIDS
#include "compiler/Codegen/CUDA/Passes.h.inc"

namespace {

struct FoldGrids final : impl::FoldGridsBase<FoldGrids> {
  using FoldGridsBase::FoldGridsBase;

  void runOnOperation() override;

private:
  bool mayExceed(plan::FormulaAttr blocks);
};

} // namespace

bool FoldGrids::mayExceed(plan::FormulaAttr blocks) {
  if (std::optional<int64_t> number = blocks.asConstant())
    return *number > limit;
  // What makes do with narrow indices has fewer elements than a whole grid has blocks.
  auto bits = getOperation()->getAttrOfType<IntegerAttr>(kIndexBitsAttr);
  return limit < INT32_MAX || !bits || bits.getInt() > 32;
}

/// The value of `formula`, whose symbols are the scalars of the kernel.
static Value emitFormula(OpBuilder &builder, Location loc, plan::FormulaAttr formula) {
  return plan::emitFormula(builder, loc, formula, /*symbols=*/{}, [&](unsigned ordinal) -> Value {
    return plan::ScalarOp::create(builder, loc, builder.getIndexType(), ordinal, IntegerAttr());
  });
}

/// Makes the ops of `body` from the first one on that knows where its thread is those of a loop
/// over block numbers. Buffers in shared memory are the same in all iterations.
static void makeLoop(Block &body, plan::FormulaAttr blocks, plan::FormulaAttr grid) {
  auto isPlaced = [](Operation &op) { return isa<plan::WorkgroupIdOp, gpu::ThreadIdOp>(op); };
  Operation *first = &*llvm::find_if(body, isPlaced);
  SmallVector<Operation *> moved;
  for (Operation &op : llvm::make_range(first->getIterator(), body.without_terminator().end()))
    if (op.getNumOperands() > 0 || !isa<memref::AllocOp, plan::ScalarOp, arith::ConstantOp>(op))
      moved.push_back(&op);
  bool isShared = llvm::any_of(body, llvm::IsaPred<memref::AllocOp, tile::RingOp, tile::AllocOp>);

  OpBuilder builder(body.getTerminator());
  Location loc = first->getLoc();
  Value from = plan::WorkgroupIdOp::create(builder, loc, plan::Axis::X);
  Value to = emitFormula(builder, loc, blocks);
  Value step = emitFormula(builder, loc, grid);
  auto loop = scf::ForOp::create(builder, loc, from, to, step);
  Operation *end = loop.getBody()->getTerminator();
  for (Operation *op : moved)
    op->moveBefore(end);
  loop.walk([&](plan::WorkgroupIdOp op) { op.replaceAllUsesWith(loop.getInductionVar()); });
  if (isShared) {
    // What this iteration left there must have been read before the next one writes.
    builder.setInsertionPoint(end);
    gpu::BarrierOp::create(builder, loc);
  }
}

void FoldGrids::runOnOperation() {
  func::FuncOp function = getOperation();
  auto launch = function->getAttrOfType<plan::LaunchAttr>(plan::kLaunchAttr);
  if (!launch)
    return;
  plan::FormulaAttr blocks = launch.getGrid().front();
  if (!mayExceed(blocks))
    return;
  if (llvm::any_of(launch.getCluster(), [](int64_t size) { return size != 1; })) {
    if (!blocks.isConstant())
      return; // the guards of variants with clusters bound their sizes
    function.emitOpError("expected at most ")
        << limit << " blocks in clusters, got " << *blocks.asConstant();
    return signalPassFailure();
  }
  plan::FormulaAttr grid = blocks.ceilDiv(blocks.floorDiv(limit) + 1),
                    one = plan::FormulaAttr::getConstant(&getContext(), 1);
  makeLoop(function.getBody().front(), blocks, grid);
  function->setAttr(plan::kLaunchAttr,
                    plan::LaunchAttr::get(&getContext(), {grid, one, one}, launch.getBlock(),
                                          launch.getCluster(), launch.getShared(),
                                          launch.getScratch()));
}

} // namespace xc::cuda
