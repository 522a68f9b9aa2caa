//===- TileSchedule.cpp - Rings and roles of kernels on wgmma -------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Common/TileSchedule.h"
#include "compiler/Dialect/Tile/IR/TileOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;

namespace xc::cuda {

RingState advanceRing(PointEmitter &points, RingState state, int64_t stages) {
  IndexBuilder &index = points.index;
  OpBuilder &builder = points.builder;
  Location loc = points.loc;
  Value zero = index.constant(0), one = index.constant(1);
  if (stages == 1)
    return {zero, arith::XOrIOp::create(builder, loc, state.phase, one)};
  Value next = index.add(state.stage, one);
  Value wraps = index.isEqual(next, index.constant(stages));
  Value flipped = arith::XOrIOp::create(builder, loc, state.phase, one);
  return {arith::SelectOp::create(builder, loc, wraps, zero, next),
          arith::SelectOp::create(builder, loc, wraps, flipped, state.phase)};
}

void emitElectedThread(PointEmitter &points, Value thread, llvm::function_ref<void()> body) {
  OpBuilder &builder = points.builder;
  IndexBuilder &index = points.index;
  Value isFirstWarp = index.isLess(thread, index.constant(tile::kWarpThreads));
  Value elected = NVVM::ElectSyncOp::create(builder, points.loc, builder.getI1Type(), Value());
  points.emitIf(index.both(isFirstWarp, elected), body);
}

void emitWarpgroupRoles(PointEmitter &points, int64_t warpgroups, ArrayRef<int64_t> registers,
                        int64_t cluster, llvm::function_ref<void()> load,
                        llvm::function_ref<void(Value)> compute) {
  OpBuilder &builder = points.builder;
  Location loc = points.loc;
  int64_t counts[] = {1, warpgroups};
  auto roles = tile::RolesOp::create(builder, loc, counts, registers, /*roles=*/2);
  auto fill = [&](unsigned number, llvm::function_ref<void(Value)> body) {
    OpBuilder::InsertionGuard guard(builder);
    Block *block =
        builder.createBlock(&roles.getRoles()[number], {}, {builder.getIndexType()}, {loc});
    PointEmitter::Scope scope(points);
    body(block->getArgument(0));
    // No block of a cluster ends while others send to it or release its stages.
    if (cluster > 1)
      tile::SyncBlocksOp::create(builder, loc);
    tile::YieldOp::create(builder, loc, ValueRange());
  };
  fill(0, [&](Value) { load(); });
  fill(1, compute);
}

} // namespace xc::cuda
