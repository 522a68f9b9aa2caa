//===- EmitRowReduction.cpp - Rows reduced by many threads --------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `threads` threads of each of `cluster` blocks share a row. For softmax:
//
//   place:     find out which row this thread works on, and the chunks that it has of it
//   load:      chunks to registers; what does not fit, to shared memory
//   for each reduction of the group, in order (maximum, then sum):
//     share:   combine this thread's elements
//     combine: lanes, then the warp by shuffles, then warps and blocks through shared memory
//   results:   compute what is written for each element from registers, and for each row; store it
//
// ReductionEmitter, the base class, drives the loop over reductions and calls back for share
// (`visitShare`) and combine (`combineThreads`); columns (EmitColumnReduction.cpp) differ in these.
// This file has the outline. The parts of it:
//
//   RowElements.cpp   chunks, registers, shared memory
//   RowExchange.cpp   how threads combine
//   RowPartials.cpp   rows whose elements are also summed up over several rows
//   RowLimits.h       how much a thread has room for
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Common/WorkLimits.h"
#include "compiler/Codegen/CUDA/Passes.h"
#include "compiler/Codegen/CUDA/Rows/RowEmitter.h"
#include "compiler/Dialect/Tile/IR/TileOps.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace xc::cuda {

#define GEN_PASS_DEF_EMITROWREDUCTION
#include "compiler/Codegen/CUDA/Passes.h.inc"

LogicalResult RowEmitter::run() {
  count = index.product(reductionSizes);
  std::optional<int64_t> length = getConstantIntValue(count);
  int64_t shared = config.getShared();
  if (config.getShifted() && shared > 0 && (!length || *length < (shared + 1) * across * lanes))
    return group.getRoot()->emitOpError("expected shifted rows of which shared memory holds none "
                                        "of the last vectors, got ")
           << config;
  int64_t perBlock = config.getRows(), cluster = config.getCluster();
  Value thread = frame.getThreadId(), block = frame.getBlockId();
  threadGroup = perBlock == 1 ? index.constant(0) : index.div(thread, config.getThreads());
  ownLane = perBlock == 1 ? thread : index.rem(thread, config.getThreads());
  lane = cluster == 1
             ? ownLane
             : index.add(index.mul(index.rem(block, cluster), config.getThreads()), thread);
  if (!group.partials.empty())
    return runWithPartials();
  Value rows = index.product(parallelSizes);
  Value firstRow = index.mul(index.div(block, cluster), perBlock);
  row = index.add(firstRow, threadGroup);
  if (cluster > 1) {
    // While the threads of one block wait for other blocks, those of another one do not.
    int64_t threads =
        config.getShifted() ? RowLimits::kShiftedThreads : RowLimits::kClusterBlockThreads;
    frame.setFewestBlocks(std::max<int64_t>(1, threads / config.getThreads()));
    tile::ArriveBlocksOp::create(points.builder, points.loc, /*relaxed=*/true);
  }
  if (cluster == 1 && needsRegisters())
    frame.setFewestBlocks(std::max<int64_t>(1, RowLimits::kShiftedThreads / config.getThreads()));
  // Blocks that share a row meet whether it is needed or not.
  Value needed = cluster == 1 ? isNeeded(firstRow, perBlock, rows) : Value();
  auto emitRows = [&] { emitIfNeeded(points, needed, [&] { emitRow(); }, [&] { emitZeroRow(); }); };
  std::optional<int64_t> number = getConstantIntValue(rows);
  if (perBlock == 1 || (number && *number % perBlock == 0)) {
    emitRows();
  } else if (config.getThreads() == 32) {
    // A warp without a row has nothing to do, and nobody waits for it.
    points.emitIf(index.isLess(row, rows), emitRows);
  } else {
    rowMask = index.isLess(row, rows);
    row = index.min(row, index.sub(rows, index.constant(1)));
    emitRows();
  }
  return frame.finish(index.mul(index.ceilDiv(rows, index.constant(perBlock)), cluster), cluster);
}

void RowEmitter::emitRow(ValueRange loaded) {
  makeChunks();
  held.assign(loaded.begin(), loaded.end());
  if (config.getShared() > 0 && group.reusesRows())
    fillShared();
  if (held.empty() && holdsInputs())
    held = loadInputs();
  provideInputs();
  provideVectors();
  provideReducedInputs();
  emitMembers();
  emitResults();
}

void RowEmitter::emitZeroRow() {
  makeChunks();
  emitZeros();
}

namespace {

struct EmitRowReduction final : impl::EmitRowReductionBase<EmitRowReduction> {
  /// Barriers of a part of a block are NVVM's.
  void getDependentDialects(DialectRegistry &registry) const override {
    EmitRowReductionBase::getDependentDialects(registry);
    registry.insert<NVVM::NVVMDialect>();
  }

  void runOnOperation() override {
    if (failed(emitReduction<RowEmitter, RowReductionAttr>(getOperation())))
      signalPassFailure();
  }
};

} // namespace

} // namespace xc::cuda
