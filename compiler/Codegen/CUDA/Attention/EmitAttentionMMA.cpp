//===- EmitAttentionMMA.cpp - Attention in one kernel on mma.sync ---------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The schedule from sm_80 on, where warps have no roles. With S stages of keys and values, a block
// does for each of its tiles of queries:
//
//   start to copy its queries, then the first S - 1 blocks of keys and values
//   wait for the queries; read them into registers
//   for each block of keys:
//     wait until its keys and values are there, in all threads
//     start to copy the block that is S - 1 further on        // to the stage of the one before
//     scores; their softmax; scale the sums; sums of values
//   store
//
// At that wait all warps are done with the block before, which is why its stage may be overwritten.
// Past the last block, zeros are copied: as many copies are under way in every iteration. Which
// blocks there are, and what a tile's arithmetic is, EmitAttention.cpp and AttentionMath.cpp say.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Attention/AttentionEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace xc::cuda {

/// The longest values of f32 whose sums leave ptxas registers for all that it moves about.
static constexpr int64_t kWidestUnbroken = 128;

/// Keys and values of the `number`th block that the tile goes over, or zeros where there is none.
void AttentionEmitter::copyBlock(const Tile &tile, const Blocks &blocks, Value number, Value stage,
                                 SmallVectorImpl<Value> &tokens) {
  Value block = index.sub(index.sub(blocks.last, index.constant(1)), number);
  Value row = index.mul(block, config.getKeys());
  Value all = keys, zero = index.constant(0);
  // Places of pages that are not used yet may hold anything, which a weight of 0 would not make 0.
  if (op.isPaged())
    all = index.min(keys, index.add(offset, queries));
  Value rows = arith::SelectOp::create(builder, loc, index.isLess(number, blocks.count), all, zero);
  for (const CopySource &source : {keyCopies, valueCopies})
    tokens.push_back(
        startCopy(source, tile.sharedHead, row, rows, getSlot(source, stage), tile.sequence));
}

/// The tile's queries in shared memory, and in registers if the schedule holds them there.
void AttentionEmitter::awaitQueries(Value slot, Value token) {
  queryTile = awaitCopies(slot, token).front();
  if (!config.getHeldQueries())
    return;
  Type element = op.getQueryType().getElementType();
  auto type = tile::RegisterType::get(builder.getContext(), alignToStep(vector, element), element,
                                      tile::Layout::Operand);
  Value row = index.mul(warpgroup, tile::kWarpgroupRows);
  heldQueries = tile::ReadOp::create(builder, loc, type, queryTile, row);
}

AttentionEmitter::CopiedState AttentionEmitter::emitCopiedBlock(const Tile &tile,
                                                                const Blocks &blocks, Value number,
                                                                const CopiedState &given,
                                                                bool hidesKeys) {
  CopiedState next = given;
  SmallVector<Value> tiles =
      awaitCopies({getSlot(keyCopies, given.stage), getSlot(valueCopies, given.stage)},
                  ArrayRef(given.tokens).take_front(2));
  int64_t ahead = config.getStages() - 1;
  next.tokens.erase(next.tokens.begin(), next.tokens.begin() + 2);
  copyBlock(tile, blocks, index.add(number, index.constant(ahead)), given.filled, next.tokens);
  auto [startedScores, scoreToken] = startScores(tiles[0]);
  Value scores = capScores(op, tile::AwaitOp::create(builder, loc, startedScores, scoreToken));
  if (hidesKeys)
    scores = hideKeys(scores, tile, index.sub(index.sub(blocks.last, index.constant(1)), number),
                      /*masks=*/Value(), RingState());
  Value rescale;
  Value weights = emitSoftmax(scores, next.softmax, rescale);
  weights = tile::ConvertLayoutOp::create(builder, loc, weightType, weights);
  auto scale = [&] {
    Value scaled = map(outputType, {given.output, rescale}, [&](ValueRange arguments) {
      return arith::MulFOp::create(builder, loc, arguments[0], arguments[1]).getResult();
    });
    return SmallVector<Value>{scaled};
  };
  // Nothing has been summed up before the first block. The branch keeps ptxas from loading values
  // among the scores, for which it has no registers beside many sums.
  bool isWide = op.getQueryType().getElementType().isF32() && outputVector > kWidestUnbroken;
  Value output =
      isWide ? points.emitIfOrKeep(index.isLess(index.constant(0), number), given.output, scale)
                   .front()
             : scale().front();
  auto [startedOutput, outputToken] = startOutput(weights, output, tiles[1]);
  next.output = tile::AwaitOp::create(builder, loc, startedOutput, outputToken);
  next.filled = given.stage;
  next.stage = nextStage(given.stage);
  return next;
}

AttentionEmitter::CopiedState AttentionEmitter::loopOverCopies(const Tile &tile,
                                                               const Blocks &blocks,
                                                               const CopiedState &state, Value from,
                                                               Value to, bool hidesKeys) {
  auto pack = [](const CopiedState &s) {
    SmallVector<Value> values{s.output, s.softmax.maximum, s.softmax.sum, s.stage, s.filled};
    llvm::append_range(values, s.tokens);
    return values;
  };
  auto unpack = [](ValueRange v) -> CopiedState {
    return {v[0], {v[1], v[2]}, v[3], v[4], SmallVector<Value>(v.drop_front(5))};
  };
  return unpack(points.emitLoop(
      from, to, index.constant(1), pack(state), [&](Value number, ValueRange carried) {
        return pack(emitCopiedBlock(tile, blocks, number, unpack(carried), hidesKeys));
      }));
}

/// The sums and the softmax of a tile that sees some keys.
SmallVector<Value> AttentionEmitter::emitCopiedBlocks(const Tile &tile, const Blocks &blocks,
                                                      const State &none) {
  Value zero = index.constant(0);
  Value querySlot = getSlot(queryCopies, zero);
  Value queryToken = startCopy(queryCopies, tile.head, tile.firstQuery, queries, querySlot);
  CopiedState state{none.output, none.softmax, zero, index.constant(config.getStages() - 1), {}};
  for (int64_t stage = 0; stage + 1 < config.getStages(); ++stage)
    copyBlock(tile, blocks, index.constant(stage), index.constant(stage), state.tokens);
  awaitQueries(querySlot, queryToken);
  if (hidesLastKeys)
    state = loopOverCopies(tile, blocks, state, zero, blocks.open, /*hidesKeys=*/true);
  if (!scalesFirst)
    state = loopOverCopies(tile, blocks, state, blocks.open, blocks.closed, /*hidesKeys=*/false);
  if (op.getWindow() && !scalesFirst)
    state = loopOverCopies(tile, blocks, state, blocks.closed, blocks.count, /*hidesKeys=*/true);
  // No copy may be under way when its stage is taken for the next tile, or when the block ends.
  SmallVector<Value> slots;
  Value stage = state.stage;
  for (size_t i = 0; i < state.tokens.size(); i += 2, stage = nextStage(stage))
    llvm::append_values(slots, getSlot(keyCopies, stage), getSlot(valueCopies, stage));
  awaitCopies(slots, state.tokens);
  return {state.output, state.softmax.maximum, state.softmax.sum};
}

void AttentionEmitter::emitCopiedTile(const Tile &tile) {
  Blocks blocks = findBlocks(tile);
  State none = beginBlocks(tile, Blocks(), RingState(), RingState());
  SmallVector<Value> inits{none.output, none.softmax.maximum, none.softmax.sum};
  SmallVector<Value> results =
      points.emitIfOrKeep(index.isLess(index.constant(0), blocks.count), inits,
                          [&] { return emitCopiedBlocks(tile, blocks, none); });
  emitOutput(tile, results[0], {results[1], results[2]});
}

/// A block for each tile: the hardware gives them out in order, those of the most work first.
Value AttentionEmitter::emitSynchronous() {
  int64_t tileQueries = config.getWarpgroups() * tile::kWarpgroupRows;
  queryCopies = makeCopySource(op.getQuery(), tileQueries, /*stages=*/1);
  auto makeSource = [&](Value tensor) {
    return op.isPaged()
               ? makePagedSource(tensor, op.getTable(), config.getKeys(), config.getStages())
               : makeCopySource(tensor, config.getKeys(), config.getStages());
  };
  keyCopies = makeSource(op.getKey());
  valueCopies = makeSource(op.getValue());
  warpgroup = index.div(frame.getThreadId(), tile::kWarpgroupThreads);
  emitTiles({}, [&](const Tile &tile, ValueRange) {
    emitCopiedTile(tile);
    return SmallVector<Value>();
  });
  SmallVector<Value> sizes = points.getSizes(op.getQuery());
  return index.mul(index.product(ArrayRef(sizes).take_front(dim)),
                   index.ceilDiv(queries, index.constant(tileQueries)));
}

} // namespace xc::cuda
