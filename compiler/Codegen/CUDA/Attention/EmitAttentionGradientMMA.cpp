//===- EmitAttentionGradientMMA.cpp - Attention's gradient on mma.sync ----===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The schedule from sm_80 on, where warps have no roles. A block does for its tile, with S stages
// of streamed operands:
//
//   copy its own operands to shared memory, where they stay
//   for each head of queries that the tile goes with:
//     start to copy the first S - 1 blocks of the streamed operands
//     for each block:
//       wait until it is there, in all threads
//       start to copy the block that is S - 1 further on      // to the stage of the one before
//       the block's arithmetic, which EmitAttentionGradient.cpp says
//   store
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Attention/AttentionGradientEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace xc::cuda {

/// Both operands of block `block`, or zeros where there is none.
void AttentionGradientEmitter::copyBlock(const Blocks &blocks, Value head, Value block, Value stage,
                                         SmallVectorImpl<Value> &tokens) {
  Value row = index.mul(block, config.getKeys());
  Value rows = arith::SelectOp::create(builder, loc, index.isLess(block, blocks.last),
                                       streamedLength, index.constant(0));
  for (const CopySource &source : streamedCopies)
    tokens.push_back(startCopy(source, head, row, rows, getSlot(source, stage)));
}

AttentionGradientEmitter::CopiedState
AttentionGradientEmitter::emitCopiedBlock(const Tile &tile, const Blocks &blocks, Value head,
                                          Value block, const CopiedState &given) {
  CopiedState next = given;
  SmallVector<Value> slots, tiles;
  for (const CopySource &source : streamedCopies)
    slots.push_back(getSlot(source, given.stage));
  tiles = awaitCopies(slots, ArrayRef(given.tokens).take_front(2));
  next.tokens.erase(next.tokens.begin(), next.tokens.begin() + 2);
  Value streamedHead = ofKeys ? head : index.div(head, group);
  copyBlock(blocks, streamedHead, index.add(block, config.getStages() - 1), given.filled,
            next.tokens);
  auto wait = [&](unsigned operand) { return tiles[operand]; };
  auto giveBack = [](unsigned, Value) {};
  next.sums = emitBlock(tile, head, block, given.sums, mayHide(blocks, block), {wait, giveBack});
  next.filled = given.stage;
  next.stage = nextStage(given.stage);
  return next;
}

SmallVector<Value> AttentionGradientEmitter::emitCopiedBlocks(const Tile &tile,
                                                              const Blocks &blocks, Value head,
                                                              ValueRange sums) {
  Value streamedHead = ofKeys ? head : index.div(head, group);
  CopiedState state{
      SmallVector<Value>(sums), index.constant(0), index.constant(config.getStages() - 1), {}};
  for (int64_t stage = 0; stage + 1 < config.getStages(); ++stage)
    copyBlock(blocks, streamedHead, index.add(blocks.first, stage), index.constant(stage),
              state.tokens);
  size_t count = sums.size();
  auto pack = [](const CopiedState &s) {
    SmallVector<Value> values(s.sums);
    llvm::append_values(values, s.stage, s.filled);
    llvm::append_range(values, s.tokens);
    return values;
  };
  auto unpack = [&](ValueRange v) -> CopiedState {
    return {SmallVector<Value>(v.take_front(count)), v[count], v[count + 1],
            SmallVector<Value>(v.drop_front(count + 2))};
  };
  state = unpack(points.emitLoop(blocks.first, blocks.last, index.constant(1), pack(state),
                                 [&](Value block, ValueRange carried) {
                                   return pack(
                                       emitCopiedBlock(tile, blocks, head, block, unpack(carried)));
                                 }));
  // No copy may be under way when its stage is taken for the next head, or when the block ends.
  SmallVector<Value> slots;
  Value stage = state.stage;
  for (size_t i = 0; i < state.tokens.size(); i += 2, stage = nextStage(stage))
    for (const CopySource &source : streamedCopies)
      slots.push_back(getSlot(source, stage));
  awaitCopies(slots, state.tokens);
  return state.sums;
}

void AttentionGradientEmitter::emitCopiedTile(const Tile &tile) {
  Blocks blocks = findBlocks(tile);
  SmallVector<Value> inits;
  for (Type type : sumTypes)
    inits.push_back(tile::SplatOp::create(builder, loc, type, f32(0)));
  SmallVector<Value> sums = points.emitIfOrKeep(
      index.isLess(blocks.first, blocks.last), inits, [&]() -> SmallVector<Value> {
        auto rows = tile::RowsType::get(builder.getContext(), builder.getF32Type(), false);
        if (!ofKeys)
          rowNumbers = loadNumbers(rows, tile.head, firstRow(tile));
        SmallVector<Value> slots, tokens;
        for (const CopySource &source : ownCopies) {
          slots.push_back(getSlot(source, index.constant(0)));
          tokens.push_back(
              startCopy(source, getOwnHead(tile), tile.first, ownLength, slots.back()));
        }
        llvm::copy(awaitCopies(slots, tokens), ownSlots);
        return forEachHead(tile, inits, [&](Value head, ValueRange carried) {
          return emitCopiedBlocks(tile, blocks, head, carried);
        });
      });
  store(tile, sums);
}

/// A block for each tile: the hardware gives them out in order, those of the most work first.
Value AttentionGradientEmitter::emitSynchronous() {
  SmallVector<Value> ownOperands = getOwnOperands();
  for (auto [operand, tensor] : llvm::enumerate(getStreamedOperands())) {
    if (operand < ownOperands.size())
      ownCopies.push_back(makeCopySource(ownOperands[operand],
                                         config.getWarpgroups() * tile::kWarpgroupRows,
                                         /*stages=*/1));
    streamedCopies.push_back(
        makeCopySource(tensor, config.getKeys(), isOfMask() ? 1 : config.getStages()));
  }
  warpgroup = index.div(frame.getThreadId(), tile::kWarpgroupThreads);
  if (op.getCausal())
    offset = loadOffset(op.getOffset(), window);
  if (isOfMask()) {
    emitMaskTiles({}, [&](const MaskTile &tile, ValueRange) {
      emitCopiedMaskTile(tile);
      return SmallVector<Value>();
    });
    return countMaskTiles();
  }
  emitTiles({}, [&](const Tile &tile, ValueRange) {
    emitCopiedTile(tile);
    return SmallVector<Value>();
  });
  return countTiles();
}

} // namespace xc::cuda
