//===- LowerSchedule.cpp - Roles and persistent loops become branches and loops ===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `tile.roles` becomes scf.ifs on the warpgroup's number: setmaxnreg takes effect only where roles
// are the branches of a single if/else. `tile.persistent` becomes a loop over tile numbers, from
// the block's own in steps of the grid, with the arithmetic that turns a number into a tile's
// place.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Passes.h"
#include "compiler/Dialect/Plan/IR/PlanOps.h"
#include "compiler/Dialect/Tile/IR/TileOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace xc::cuda {

#define GEN_PASS_DEF_LOWERSCHEDULE
#include "compiler/Codegen/CUDA/Passes.h.inc"

/// Roles in order: the first warpgroups have the first, those that no branch has taken the last.
static void lowerRoles(tile::RolesOp op) {
  IRRewriter rewriter(op);
  Location loc = op.getLoc();
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(rewriter, loc, value);
  };
  ArrayRef<int64_t> registers = op.getRegisters().value_or(ArrayRef<int64_t>());
  int64_t threads = 0, starting = 0;
  for (auto [count, own] : llvm::zip(op.getCounts(), registers)) {
    threads += count;
    starting += count * own;
  }
  starting /= std::max<int64_t>(threads, 1);
  Value thread = gpu::ThreadIdOp::create(rewriter, loc, gpu::Dimension::x);
  Value warpgroup =
      arith::DivUIOp::create(rewriter, loc, thread, constant(tile::kWarpgroupThreads));
  int64_t first = 0;
  for (auto [number, region] : llvm::enumerate(op.getRoles())) {
    int64_t count = op.getCounts()[number];
    bool isLast = number + 1 == op.getRoles().size();
    Block *block = rewriter.getInsertionBlock();
    Block::iterator end = rewriter.getInsertionPoint();
    if (!isLast) {
      Value isOwn = arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::ult, warpgroup,
                                          constant(first + count));
      auto branch = scf::IfOp::create(rewriter, loc, isOwn, /*withElseRegion=*/true);
      rewriter.setInsertionPoint(branch.elseBlock()->getTerminator());
      block = branch.thenBlock();
      end = block->getTerminator()->getIterator();
    }
    OpBuilder::InsertPoint next = rewriter.saveInsertionPoint();
    rewriter.setInsertionPoint(block, end);
    if (!registers.empty())
      NVVM::SetMaxRegisterOp::create(rewriter, loc, registers[number],
                                     registers[number] < starting
                                         ? NVVM::SetMaxRegisterAction::decrease
                                         : NVVM::SetMaxRegisterAction::increase);
    Value own = first ? arith::SubIOp::create(rewriter, loc, warpgroup, constant(first)).getResult()
                      : warpgroup;
    Block &body = region.front();
    rewriter.eraseOp(body.getTerminator());
    rewriter.inlineBlockBefore(&body, block, end, own);
    rewriter.restoreInsertionPoint(next);
    first += count;
  }
  rewriter.eraseOp(op);
}

/// Row, column and batch of tile `number`.
static SmallVector<Value> placeTile(OpBuilder &builder, tile::PersistentOp op, Value number,
                                    Value perBatch) {
  Location loc = op.getLoc();
  auto div = [&](Value lhs, Value rhs) -> Value {
    return arith::DivUIOp::create(builder, loc, lhs, rhs);
  };
  auto rem = [&](Value lhs, Value rhs) -> Value {
    return arith::RemUIOp::create(builder, loc, lhs, rhs);
  };
  auto mul = [&](Value lhs, Value rhs) -> Value {
    return arith::MulIOp::create(builder, loc, lhs, rhs, arith::IntegerOverflowFlags::nsw);
  };
  Value batch = div(number, perBatch), inBatch = rem(number, perBatch);
  Value raster = arith::ConstantIndexOp::create(builder, loc, op.getRaster());
  Value perGroup = mul(op.getTilesN(), raster);
  Value firstRow = mul(div(inBatch, perGroup), raster), inGroup = rem(inBatch, perGroup);
  // The last group may have fewer rows.
  Value left = arith::SubIOp::create(builder, loc, op.getTilesM(), firstRow);
  Value rows = arith::MinUIOp::create(builder, loc, left, raster);
  Value row = arith::AddIOp::create(builder, loc, firstRow, rem(inGroup, rows),
                                    arith::IntegerOverflowFlags::nsw);
  return {row, div(inGroup, rows), batch};
}

/// The loop of a serpentine: from each tile to the next one it is as far as to the wave's end and
/// back, alternately at either end.
static scf::WhileOp makeSerpentine(OpBuilder &builder, tile::PersistentOp op, Value first,
                                   Value count, Value step) {
  Location loc = op.getLoc();
  auto flags = arith::IntegerOverflowFlags::nsw;
  Value one = arith::ConstantIndexOp::create(builder, loc, 1);
  auto makeHop = [&](Value tilesBetween) -> Value {
    Value twice = arith::AddIOp::create(builder, loc, tilesBetween, tilesBetween, flags);
    return arith::AddIOp::create(builder, loc, twice, one, flags);
  };
  Value last = arith::SubIOp::create(builder, loc, step, one, flags);
  SmallVector<Value> inits = {
      first, makeHop(arith::SubIOp::create(builder, loc, last, first, flags)), makeHop(first)};
  llvm::append_range(inits, op.getInits());
  auto loop = scf::WhileOp::create(builder, loc, ValueRange(inits).getTypes(), inits);
  SmallVector<Location> locations(inits.size(), loc);
  OpBuilder::InsertionGuard guard(builder);
  Block *before =
      builder.createBlock(&loop.getBefore(), {}, ValueRange(inits).getTypes(), locations);
  Value isLeft =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, before->getArgument(0), count);
  scf::ConditionOp::create(builder, loc, isLeft, before->getArguments());
  builder.createBlock(&loop.getAfter(), {}, ValueRange(inits).getTypes(), locations);
  return loop;
}

static void lowerSerpentine(IRRewriter &rewriter, tile::PersistentOp op, Value first, Value count,
                            Value step, Value perBatch) {
  Location loc = op.getLoc();
  scf::WhileOp loop = makeSerpentine(rewriter, op, first, count, step);
  Block &body = op.getBody().front(), *after = loop.getAfterBody();
  Value number = after->getArgument(0), hop = after->getArgument(1), back = after->getArgument(2);
  rewriter.setInsertionPointToStart(after);
  SmallVector<Value> arguments = placeTile(rewriter, op, number, perBatch);
  llvm::append_range(arguments, after->getArguments().drop_front(3));
  auto yield = cast<tile::YieldOp>(body.getTerminator());
  rewriter.setInsertionPoint(yield);
  SmallVector<Value> next = {
      arith::AddIOp::create(rewriter, loc, number, hop, arith::IntegerOverflowFlags::nsw), back,
      hop};
  llvm::append_range(next, yield.getValues());
  scf::YieldOp::create(rewriter, loc, next);
  rewriter.eraseOp(yield);
  rewriter.inlineBlockBefore(&body, after, after->end(), arguments);
  rewriter.replaceOp(op, loop.getResults().drop_front(3));
}

static void lowerPersistent(tile::PersistentOp op) {
  IRRewriter rewriter(op);
  Location loc = op.getLoc();
  Value perBatch = arith::MulIOp::create(rewriter, loc, op.getTilesM(), op.getTilesN(),
                                         arith::IntegerOverflowFlags::nsw);
  Value count = arith::MulIOp::create(rewriter, loc, perBatch, op.getBatches(),
                                      arith::IntegerOverflowFlags::nsw);
  Value first = plan::WorkgroupIdOp::create(rewriter, loc, plan::Axis::X);
  Value step = gpu::GridDimOp::create(rewriter, loc, gpu::Dimension::x);
  if (op.getShare() > 1) {
    Value share = arith::ConstantIndexOp::create(rewriter, loc, op.getShare());
    first = arith::DivUIOp::create(rewriter, loc, first, share);
    step = arith::DivUIOp::create(rewriter, loc, step, share);
  }
  if (op.getEvery() > 1) {
    Value every = arith::ConstantIndexOp::create(rewriter, loc, op.getEvery());
    auto flags = arith::IntegerOverflowFlags::nsw;
    Value skipped = arith::MulIOp::create(rewriter, loc, op.getFirst(), step, flags);
    first = arith::AddIOp::create(rewriter, loc, first, skipped, flags);
    step = arith::MulIOp::create(rewriter, loc, step, every, flags);
  }
  if (op.getSerpentine())
    return lowerSerpentine(rewriter, op, first, count, step, perBatch);
  auto loop = scf::ForOp::create(rewriter, loc, first, count, step, op.getInits());
  Block &body = op.getBody().front();
  auto yield = cast<tile::YieldOp>(body.getTerminator());
  rewriter.setInsertionPoint(yield);
  scf::YieldOp::create(rewriter, loc, yield.getValues());
  rewriter.eraseOp(yield);
  if (op.getInits().empty())
    rewriter.eraseOp(loop.getBody()->getTerminator());
  rewriter.setInsertionPointToStart(loop.getBody());
  SmallVector<Value> arguments = placeTile(rewriter, op, loop.getInductionVar(), perBatch);
  llvm::append_range(arguments, loop.getRegionIterArgs());
  rewriter.inlineBlockBefore(&body, loop.getBody(), loop.getBody()->end(), arguments);
  rewriter.replaceOp(op, loop.getResults());
}

namespace {

struct LowerSchedule final : impl::LowerScheduleBase<LowerSchedule> {
  void runOnOperation() override {
    // Inner ops first: a persistent loop lies in a role.
    getOperation().walk([](tile::PersistentOp op) { lowerPersistent(op); });
    getOperation().walk([](tile::RolesOp op) { lowerRoles(op); });
  }
};

} // namespace

} // namespace xc::cuda
