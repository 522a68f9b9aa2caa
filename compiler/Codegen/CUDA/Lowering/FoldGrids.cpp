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

#include "mlir/Dialect/Affine/IR/AffineOps.h"
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
  bool mayExceed(AffineExpr blocks);
};

} // namespace

bool FoldGrids::mayExceed(AffineExpr blocks) {
  if (auto number = dyn_cast<AffineConstantExpr>(blocks))
    return number.getValue() > limit;
  // What makes do with narrow indices has fewer elements than a whole grid has blocks.
  auto bits = getOperation()->getAttrOfType<IntegerAttr>(kIndexBitsAttr);
  return limit < INT32_MAX || !bits || bits.getInt() > 32;
}

/// The value of `formula`, whose symbols are the scalars of the kernel.
static Value emitFormula(OpBuilder &builder, Location loc, AffineExpr formula, unsigned scalars) {
  SmallVector<OpFoldResult> symbols;
  for (unsigned ordinal = 0; ordinal < scalars; ++ordinal)
    symbols.push_back(formula.isFunctionOfSymbol(ordinal)
                          ? OpFoldResult(plan::ScalarOp::create(
                                builder, loc, builder.getIndexType(), ordinal, IntegerAttr()))
                          : builder.getIndexAttr(0));
  OpFoldResult value = affine::makeComposedFoldedAffineApply(
      builder, loc, AffineMap::get(0, scalars, formula), symbols);
  return getValueOrCreateConstantIndexOp(builder, loc, value);
}

/// Makes the ops of `body` from the first one on that knows where its thread is those of a loop
/// over block numbers. Buffers in shared memory are the same in all rounds.
static void makeLoop(Block &body, AffineExpr blocks, AffineExpr grid, unsigned scalars) {
  auto isPlaced = [](Operation &op) { return isa<plan::WorkgroupIdOp, gpu::ThreadIdOp>(op); };
  Operation *first = &*llvm::find_if(body, isPlaced);
  SmallVector<Operation *> moved;
  bool isShared = false;
  for (Operation &op : llvm::make_range(first->getIterator(), body.without_terminator().end())) {
    isShared |= isa<memref::AllocOp>(op);
    if (op.getNumOperands() > 0 || !isa<memref::AllocOp, plan::ScalarOp, arith::ConstantOp>(op))
      moved.push_back(&op);
  }
  for (Operation &op : body)
    isShared |= isa<memref::AllocOp>(op);

  OpBuilder builder(body.getTerminator());
  Location loc = first->getLoc();
  Value from = plan::WorkgroupIdOp::create(builder, loc, plan::Axis::X);
  Value to = emitFormula(builder, loc, blocks, scalars);
  Value step = emitFormula(builder, loc, grid, scalars);
  auto loop = scf::ForOp::create(builder, loc, from, to, step);
  Operation *end = loop.getBody()->getTerminator();
  for (Operation *op : moved)
    op->moveBefore(end);
  loop.walk([&](plan::WorkgroupIdOp op) { op.replaceAllUsesWith(loop.getInductionVar()); });
  if (isShared) {
    // What this round left there must have been read before the next one writes.
    builder.setInsertionPoint(end);
    gpu::BarrierOp::create(builder, loc);
  }
}

void FoldGrids::runOnOperation() {
  func::FuncOp function = getOperation();
  auto launch = function->getAttrOfType<plan::LaunchAttr>(plan::kLaunchAttr);
  if (!launch)
    return;
  AffineMap map = launch.getGrid().getValue();
  AffineExpr blocks = map.getResult(0);
  if (!mayExceed(blocks))
    return;
  if (llvm::any_of(launch.getCluster(), [](int64_t size) { return size != 1; })) {
    if (!isa<AffineConstantExpr>(blocks))
      return; // the guards of variants with clusters bound their sizes
    function.emitOpError("expected at most ")
        << limit << " blocks in clusters, got " << cast<AffineConstantExpr>(blocks).getValue();
    return signalPassFailure();
  }
  AffineExpr grid = blocks.ceilDiv(blocks.floorDiv(limit) + 1);
  if (auto number = dyn_cast<AffineConstantExpr>(blocks))
    grid = getAffineConstantExpr(llvm::divideCeil(number.getValue(), number.getValue() / limit + 1),
                                 &getContext());
  makeLoop(function.getBody().front(), blocks, grid, map.getNumSymbols());
  AffineExpr one = getAffineConstantExpr(1, &getContext());
  map = AffineMap::get(0, map.getNumSymbols(), {grid, one, one}, &getContext());
  function->setAttr(plan::kLaunchAttr,
                    plan::LaunchAttr::get(&getContext(), AffineMapAttr::get(map), launch.getBlock(),
                                          launch.getCluster(), launch.getShared(),
                                          launch.getScratch()));
}

} // namespace xc::cuda
