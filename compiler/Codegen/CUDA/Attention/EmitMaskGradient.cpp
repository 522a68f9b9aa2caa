//===- EmitMaskGradient.cpp - The gradient of attention's mask -------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What is added to scores gets their gradient, summed over the heads and batch dims along which it
// is broadcast. A block has tiles of queries and a block of keys of the mask's gradient, and goes
// over those heads in order:
//
//   for each tile
//     for each head whose scores it is added to
//       scores: queries times keys; what flows to weights: cotangents times values
//       add exp(scores - logsumexp) * (what flows to them - delta) to sums in registers
//     store
//
// A tile in which all keys are hidden is zeros. On wgmma a warpgroup loads what the others need
// next. On mma.sync all threads copy before they compute: other blocks of a multiprocessor compute
// meanwhile.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Attention/AttentionGradientEmitter.h"
#include "compiler/Codegen/CUDA/Common/LaneOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace xc::cuda {

//===----------------------------------------------------------------------===//
// Tiles and heads
//===----------------------------------------------------------------------===//

void AttentionGradientEmitter::findMaskHeads() {
  ArrayRef<int64_t> mask = cast<ShapedType>(op.getMask().getType()).getShape().drop_back(2);
  int64_t missing = dim - static_cast<int64_t>(mask.size());
  SmallVector<Value> sizes = points.getSizes(op.getQuery());
  for (int64_t i = 0; i < dim; ++i) {
    isOfMaskDim.push_back(i >= missing && mask[i - missing] != 1);
    (isOfMaskDim.back() ? maskSizes : otherSizes).push_back(sizes[i]);
  }
}

/// The head whose place in dims that the mask has is `number`, and `other` in the others.
Value AttentionGradientEmitter::getMaskHead(Value number, Value other) {
  SmallVector<Value> ofMask = index.delinearize(number, maskSizes),
                     ofOthers = index.delinearize(other, otherSizes), place;
  size_t nextOfMask = 0, nextOther = 0;
  for (bool isOfMask : isOfMaskDim)
    place.push_back(isOfMask ? ofMask[nextOfMask++] : ofOthers[nextOther++]);
  SmallVector<Value> sizes = points.getSizes(op.getQuery());
  return index.linearize(place, ArrayRef(sizes).take_front(dim));
}

Value AttentionGradientEmitter::countMaskTiles() {
  Value rows = index.constant(config.getWarpgroups() * tile::kWarpgroupRows);
  return index.product({index.product(maskSizes), index.ceilDiv(queries, rows),
                        index.ceilDiv(keys, index.constant(config.getKeys()))});
}

SmallVector<Value> AttentionGradientEmitter::emitMaskTiles(
    ValueRange inits, llvm::function_ref<SmallVector<Value>(const MaskTile &, ValueRange)> body) {
  int64_t rows = config.getWarpgroups() * tile::kWarpgroupRows;
  Value tiles = index.ceilDiv(queries, index.constant(rows)),
        blocks = index.ceilDiv(keys, index.constant(config.getKeys()));
  auto loop = tile::PersistentOp::create(builder, loc, inits.getTypes(), tiles, blocks,
                                         index.product(maskSizes), config.getRaster(), /*share=*/1,
                                         /*first=*/Value(), /*every=*/1, inits,
                                         /*serpentine=*/false);
  SmallVector<Type> arguments(3, builder.getIndexType());
  llvm::append_range(arguments, inits.getTypes());
  fill(loop.getBody(), arguments, [&](Block &block) {
    MaskTile tile;
    tile.rows.first = index.mul(block.getArgument(0), rows);
    tile.rows.end = index.min(index.add(tile.rows.first, rows), queries);
    tile.block = block.getArgument(1);
    tile.number = block.getArgument(2);
    tile::YieldOp::create(builder, loc, body(tile, ValueRange(block.getArguments()).drop_front(3)));
  });
  return SmallVector<Value>(loop.getResults());
}

SmallVector<Value> AttentionGradientEmitter::forEachMaskHead(
    const MaskTile &tile, ValueRange inits,
    llvm::function_ref<SmallVector<Value>(Value, ValueRange)> body) {
  Blocks blocks = findBlocks(tile.rows);
  Value isSeen =
      index.both(index.isAtLeast(tile.block, blocks.first), index.isLess(tile.block, blocks.last));
  Value none = index.constant(0), count = index.product(otherSizes);
  Value end = arith::SelectOp::create(builder, loc, isSeen, count, none);
  return points.emitLoop(none, end, index.constant(1), inits, [&](Value other, ValueRange carried) {
    return body(getMaskHead(tile.number, other), carried);
  });
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

Value AttentionGradientEmitter::addToMask(const MaskTile &tile, Value head, Value sums,
                                          ArrayRef<Value> streamedSlots,
                                          llvm::function_ref<void(unsigned, Value)> release) {
  auto rows = tile::RowsType::get(builder.getContext(), builder.getF32Type(), false);
  Numbers numbers = loadNumbers(rows, head, firstRow(tile.rows));
  auto [startedScores, scoresDone] = startScores(0, streamedSlots[0]);
  auto [startedFlow, flowDone] = startScores(1, streamedSlots[1]);
  release(0, scoresDone);
  Value scores = capScores(op, tile::AwaitOp::create(builder, loc, startedScores, scoresDone));
  Value hides = mayHide(findBlocks(tile.rows), tile.block);
  Value weights = emitWeights(tile.rows, head, scores, numbers.logsumexp,
                              index.mul(tile.block, config.getKeys()), hides);
  release(1, flowDone);
  Value flow = tile::AwaitOp::create(builder, loc, startedFlow, flowDone);
  return map(scoreType, {sums, weights, flow, numbers.delta}, [&](ValueRange arguments) {
    Value change = arith::SubFOp::create(builder, loc, arguments[2], arguments[3]);
    Value more = arith::MulFOp::create(builder, loc, arguments[1], change);
    return arith::AddFOp::create(builder, loc, arguments[0], more).getResult();
  });
}

void AttentionGradientEmitter::storeMask(const MaskTile &tile, Value sums) {
  plan::BindingOp binding = kernel.outputs.front().binding;
  Type element = cast<MemRefType>(binding.getMemory().getType()).getElementType();
  constexpr int64_t width = 2;
  auto each = tile::EachOp::create(builder, loc, sums, firstRow(tile.rows),
                                   index.mul(tile.block, config.getKeys()), width);
  Type wide = builder.getF32Type(), index1 = builder.getIndexType();
  fill(each.getBody(), {VectorType::get(width, wide), index1, index1}, [&](Block &block) {
    Value row = block.getArgument(1);
    Value line = index.add(index.mul(tile.number, queries), row);
    for (int64_t lane = 0; lane < width; ++lane) {
      Value column = index.add(block.getArgument(2), lane);
      Value isInside = index.both(index.isLess(row, queries), index.isLess(column, keys));
      points.emitIf(isInside, [&] {
        Value sum = getLane(builder, loc, block.getArgument(0), lane);
        if (!element.isF32())
          sum = arith::TruncFOp::create(builder, loc, element, sum);
        Value place = index.add(index.mul(line, keys), column);
        points.store(binding, Coord::uniform(place), sum, 1);
      });
    }
    tile::YieldOp::create(builder, loc, ValueRange());
  });
}

//===----------------------------------------------------------------------===//
// On wgmma
//===----------------------------------------------------------------------===//

SmallVector<Value> AttentionGradientEmitter::emitMaskLoads(const MaskTile &tile,
                                                           ValueRange states) {
  return forEachMaskHead(tile, states, [&](Value head, ValueRange carried) -> SmallVector<Value> {
    RingState ownState{carried[0], carried[1]}, state{carried[2], carried[3]};
    Value streamedHead = index.div(head, group), row = index.mul(tile.block, config.getKeys());
    for (unsigned operand : {0, 1}) {
      fetch(own[operand], ownState, head, tile.rows.first);
      fetch(streamed[operand], state, streamedHead, row);
    }
    ownState = advance(ownState, config.getQueryStages());
    state = advance(state, config.getStages());
    return {ownState.stage, ownState.phase, state.stage, state.phase};
  });
}

SmallVector<Value> AttentionGradientEmitter::emitMaskTile(const MaskTile &tile, ValueRange states) {
  SmallVector<Value> inits{tile::SplatOp::create(builder, loc, scoreType, f32(0))};
  llvm::append_range(inits, states);
  SmallVector<Value> results =
      forEachMaskHead(tile, inits, [&](Value head, ValueRange carried) -> SmallVector<Value> {
        RingState ownState{carried[1], carried[2]}, state{carried[3], carried[4]};
        SmallVector<Value> slots;
        for (unsigned operand : {0, 1}) {
          waitFull(own[operand], ownState);
          ownSlots[operand] = getSlot(own[operand], ownState);
          waitFull(streamed[operand], state);
          slots.push_back(getSlot(streamed[operand], state));
        }
        Value sums = addToMask(tile, head, carried[0], slots, [&](unsigned operand, Value token) {
          release(own[operand], ownState, token);
          release(streamed[operand], state, token);
        });
        ownState = advance(ownState, config.getQueryStages());
        state = advance(state, config.getStages());
        return {sums, ownState.stage, ownState.phase, state.stage, state.phase};
      });
  storeMask(tile, results.front());
  return SmallVector<Value>(ArrayRef(results).drop_front());
}

//===----------------------------------------------------------------------===//
// On mma.sync
//===----------------------------------------------------------------------===//

void AttentionGradientEmitter::emitCopiedMaskTile(const MaskTile &tile) {
  Value none = tile::SplatOp::create(builder, loc, scoreType, f32(0)), stage = index.constant(0);
  SmallVector<Value> results =
      forEachMaskHead(tile, none, [&](Value head, ValueRange carried) -> SmallVector<Value> {
        Value streamedHead = index.div(head, group), row = index.mul(tile.block, config.getKeys());
        SmallVector<Value> slots, tokens;
        for (const CopySource &source : ownCopies) {
          slots.push_back(getSlot(source, stage));
          tokens.push_back(startCopy(source, head, tile.rows.first, queries, slots.back()));
        }
        for (const CopySource &source : streamedCopies) {
          slots.push_back(getSlot(source, stage));
          tokens.push_back(startCopy(source, streamedHead, row, keys, slots.back()));
        }
        SmallVector<Value> tiles = awaitCopies(slots, tokens);
        llvm::copy(ArrayRef(tiles).take_front(2), ownSlots);
        Value sums = addToMask(tile, head, carried.front(), ArrayRef(tiles).drop_front(2),
                               [](unsigned, Value) {});
        // All threads are done with the tiles before the next ones take their place.
        frame.barrier();
        return {sums};
      });
  storeMask(tile, results.front());
}

} // namespace xc::cuda
