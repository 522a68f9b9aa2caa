//===- WGMMAProducts.cpp - The warpgroups that multiply -----------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A consumer warpgroup waits until a stage is full, starts the wgmma of its rows, waits for those
// of the step before and releases their stage. Operand A is read from shared memory, or where wgmma
// cannot read it there, from registers, one half of a step at a time. Behind the last step follow
// the sums of a cluster's other blocks (split-K), and the epilogue in WGMMAOutputs.cpp. With two
// consumer warpgroups in ping-pong, each starts its products when the other has started all of its
// own.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Matmul/WGMMAEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;

namespace xc::cuda {

void WGMMAEmitter::syncWarp() {
  Value all = arith::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(-1));
  NVVM::SyncWarpOp::create(builder, loc, all);
}

void WGMMAEmitter::release(Value stage, Value condition, ValueRange tokens) {
  // A thread for each sender: those of this block's row of the cluster, then of its column.
  if (cluster > 1) {
    int64_t columns = config.getClusterN();
    Value isOne = index.isLess(threadInWarpgroup, index.constant(countSenders()));
    points.emitIf(index.both(isOne, condition), [&] {
      Value inRow = index.add(index.mul(clusterRow, columns), threadInWarpgroup);
      Value row = index.sub(threadInWarpgroup, index.constant(columns));
      Value isBefore = index.isLess(row, clusterRow);
      row = arith::SelectOp::create(builder, loc, isBefore, row, index.add(row, 1));
      Value inColumn = index.add(index.mul(row, columns), clusterColumn);
      Value isInRow = index.isLess(threadInWarpgroup, index.constant(columns));
      Value block = arith::SelectOp::create(builder, loc, isInRow, inRow, inColumn);
      tile::ReleaseInOp::create(builder, loc, ring, stage, block, tokens);
    });
    return;
  }
  // One thread stands for the warpgroup: wgmma's completion is the warpgroup's. What threads read
  // themselves, each warp answers for.
  if (inRegisters)
    syncWarp();
  Value isLeader =
      index.isEqual(inRegisters ? index.rem(thread, 32) : threadInWarpgroup, index.constant(0));
  points.emitIf(index.both(isLeader, condition),
                [&] { tile::ReleaseOp::create(builder, loc, ring, stage, tokens); });
}

/// At its own barrier each half waits until it may use the ring. The barriers of a stage tell a
/// phase only from the one before it. So a half must not wait for a stage before the other one has
/// seen the stages in front of it.
void WGMMAEmitter::arrivePingPong(Value barrier) {
  tile::BarrierArriveOp::create(builder, loc, barrier,
                                config.getWarpgroups() * tile::kWarpgroupThreads);
}

/// The product of the tile at hand: rows of it by the warpgroup that is `place` in its half of the
/// consumers. When all of it is under way, the half that waits at barrier `other` may go on; null
/// if there is none.
RingState WGMMAEmitter::emitProduct(RingState state, Value place, SmallVector<Value> &sums,
                                    Value other) {
  auto type = tile::RegisterType::get(builder.getContext(), config.getTileN(),
                                      contraction.accumulatorType, tile::Layout::Accumulator);
  int64_t parts = rowsPerWarpgroup / tile::kWarpgroupRows;
  // Behind the state comes the stage before, which counts from the second step on; then the sums,
  // and the tokens of the products that read that stage last.
  SmallVector<Value> inits{state.stage, state.phase, state.stage};
  inits.append(parts, tile::UndefinedOp::create(builder, loc, type));
  inits.append(parts, tile::NothingOp::create(builder, loc, getTokenType()));
  Value row = index.mul(place, rowsPerWarpgroup);
  SmallVector<Value> results =
      points.emitLoop(firstStep, lastStep, index.constant(1), inits,
                      [&](Value step, ValueRange carried) -> SmallVector<Value> {
                        RingState current{carried[0], carried[1]};
                        tile::WaitFullOp::create(builder, loc, ring, current.stage, current.phase);
                        Value isLater = arith::CmpIOp::create(
                            builder, loc, arith::CmpIPredicate::ne, step, firstStep);
                        SmallVector<Value> values(carried.drop_front(2));
                        if (inRegisters)
                          emitFragmentStep(current, row, isLater, values);
                        else
                          emitStep(current, row, isLater, values);
                        RingState next = advance(current);
                        values.insert(values.begin(), {next.stage, next.phase});
                        return values;
                      });
  RingState next = placeSideInputs({results[0], results[1]});
  // The other half must not wait for a stage before this one has seen all of its own.
  if (other) {
    awaitSideInputs(0, ownColumns);
    arrivePingPong(other);
  }
  ArrayRef<Value> last = ArrayRef(results).drop_front(3), tokens = last.take_back(parts);
  auto done = tile::AwaitOp::create(builder, loc, last.take_front(parts), tokens);
  release(results[2], Value(), tokens);
  llvm::append_range(sums, done.getResults());
  return next;
}

SmallVector<Value> WGMMAEmitter::getSlots(Value stage) {
  SmallVector<Value> slots;
  for (auto [number, operand] : llvm::enumerate(operands))
    slots.push_back(tile::SlotOp::create(builder, loc, operand.type, ring, stage, number));
  return slots;
}

tile::TokenType WGMMAEmitter::getTokenType() const {
  return tile::TokenType::get(builder.getContext());
}

/// Starts a product that adds to `sum`, from a step's first one on if `condition`; returns its
/// token.
Value WGMMAEmitter::multiply(Value a, Value row, Value b, int64_t from, int64_t k, Value condition,
                             Value &sum) {
  bool isOfWords = operands[0].type.getElementType().isF32();
  auto dot = tile::DotOp::create(builder, loc, sum.getType(), getTokenType(), a, row, b, sum,
                                 condition, k, from, row && !operands[0].runsAlongK(),
                                 !operands[1].runsAlongK(), /*synchronous=*/false,
                                 /*tf32=*/isOfWords);
  sum = dot.getResult();
  return dot.getToken();
}

void WGMMAEmitter::emitStep(RingState current, Value row, Value isLater,
                            SmallVector<Value> &carried) {
  SmallVector<Value> slots = getSlots(current.stage);
  int64_t parts = (carried.size() - 1) / 2;
  MutableArrayRef<Value> sums = MutableArrayRef(carried).slice(1, parts),
                         tokens = MutableArrayRef(carried).take_back(parts);
  SmallVector<Value> started;
  for (int64_t part = 0; part < parts; ++part)
    started.push_back(multiply(slots[0], index.add(row, part * tile::kWarpgroupRows), slots[1], 0,
                               config.getTileK(), isLater, sums[part]));
  // The step before is done once only this one's products are under way.
  release(carried[0], isLater, tokens);
  llvm::copy(started, tokens.begin());
  carried[0] = current.stage;
}

void WGMMAEmitter::emitFragmentStep(RingState current, Value row, Value isLater,
                                    SmallVector<Value> &carried) {
  SmallVector<Value> slots = getSlots(current.stage);
  int64_t parts = (carried.size() - 1) / 2, half = config.getTileK() / 2;
  MutableArrayRef<Value> sums = MutableArrayRef(carried).slice(1, parts),
                         tokens = MutableArrayRef(carried).take_back(parts);
  SmallVector<Type> types(parts, tile::RegisterType::get(builder.getContext(), half,
                                                         operands[0].type.getElementType(),
                                                         tile::Layout::Operand));
  auto multiplyHalf = [&](int64_t k, Value condition) {
    auto fragments = tile::ReadFragmentsOp::create(builder, loc, types, slots[0], row, k);
    SmallVector<Value> started;
    for (auto [sum, fragment] : llvm::zip_equal(sums, fragments.getResults()))
      started.push_back(multiply(fragment, Value(), slots[1], k, half, condition, sum));
    return started;
  };
  SmallVector<Value> first = multiplyHalf(0, isLater);
  release(carried[0], isLater, tokens);
  SmallVector<Value> second = multiplyHalf(half, Value());
  // The next step reads its first half into the registers of this one's.
  tile::AwaitOp::create(builder, loc, ValueRange(), first);
  llvm::copy(second, tokens.begin());
  carried[0] = current.stage;
}

/// Adds up the sums of the cluster's blocks; this one keeps its columns.
void WGMMAEmitter::reduce(Value warpgroup, SmallVector<Value> &sums) {
  auto type = tile::RegisterType::get(builder.getContext(), ownColumns, contraction.accumulatorType,
                                      tile::Layout::Accumulator);
  int64_t parts = sums.size();
  for (auto [part, value] : llvm::enumerate(sums)) {
    Value place = index.add(index.mul(warpgroup, parts), index.constant(part));
    value =
        tile::ReduceBlocksOp::create(builder, loc, type, value, scratch, place, config.getSplit());
    tile::WaitBlocksOp::create(builder, loc);
  }
  startColumn = index.add(startColumn, index.mul(rank, ownColumns));
}

void WGMMAEmitter::emitConsumer(Value warpgroup) {
  // Each half of the consumers passes over the stages of the other half's tiles.
  Value zero = index.constant(0), half, own, other, place = warpgroup;
  RingState first{zero, zero};
  if (config.getPingPong()) {
    half = index.div(warpgroup, sharers);
    place = index.rem(warpgroup, sharers);
    first = skip(first, index.mul(half, index.add(lastStep, countSideStages(ownColumns))));
    // Barriers behind the block's and those of warpgroups.
    int64_t barriers = 1 + config.getWarpgroups();
    own = index.add(half, barriers);
    other = index.add(index.sub(index.constant(1), half), barriers);
    points.emitIf(index.isEqual(half, index.constant(1)), [&] { arrivePingPong(other); });
  }
  Value others = index.mul(index.add(lastStep, countSideStages(ownColumns)), config.getPingPong());
  emitTiles(half, {first.stage, first.phase}, [&](ValueRange state) -> SmallVector<Value> {
    SmallVector<Value> sums;
    startColumn = swapped ? tile.startM : tile.startN;
    loadColumnVectors();
    if (half)
      tile::BarrierSyncOp::create(builder, loc, own,
                                  config.getWarpgroups() * tile::kWarpgroupThreads);
    RingState next = emitProduct({state[0], state[1]}, place, sums, other);
    if (config.getSplit() > 1)
      reduce(warpgroup, sums);
    if (staging)
      storeStaged(warpgroup, place, sums);
    else
      storeDirectly(place, sums);
    if (half)
      next = skip(next, others);
    return {next.stage, next.phase};
  });
  // The block's shared memory must live until it has been read.
  if (output)
    points.emitIf(index.isEqual(threadInWarpgroup, index.constant(0)),
                  [&] { tile::WaitStoresOp::create(builder, loc, 0, /*read=*/false); });
}

} // namespace xc::cuda
