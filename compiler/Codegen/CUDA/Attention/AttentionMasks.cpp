//===- AttentionMasks.cpp - Which keys queries see, and masks -------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A mask with a number for each query and key is as large as the scores. A thread has two
// neighbours of each eight keys: where each loads its own, a warp looks up eight lines for 256
// bytes, and that takes longer than the products. So the warp that loads brings boxes of the mask,
// too, in a ring that goes with that of keys. What is computed, or shared by all queries, threads
// load themselves.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Attention/AttentionEmitter.h"
#include "compiler/Codegen/CUDA/Attention/FloatOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace xc::cuda {

//===----------------------------------------------------------------------===//
// Masks
//===----------------------------------------------------------------------===//

void AttentionEmitter::makeMaskSource() {
  tile::SharedType type = makeMaskTile(op, config.getWarpgroups(), config.getKeys());
  maskSource = makeSource(op.getMask(), type, config.getMaskStages(), /*sharers=*/1);
}

/// Each block of keys has its part of the mask. A ring of one stage is emptied for each block: of
/// two stages of keys, which one comes next is the parity of blocks so far.
RingState AttentionEmitter::getMaskState(RingState keys) {
  if (config.getMaskStages() == config.getStages())
    return keys;
  return {index.constant(0), keys.stage};
}

void AttentionEmitter::fetchMasks(const Tile &tile, RingState keys, Value firstKey) {
  if (!config.getMaskStages())
    return;
  // The mask's own head: of dims that it has, and 0 where all share it.
  SmallVector<Value> sizes = points.getSizes(op.getMask()),
                     querySizes = points.getSizes(op.getQuery());
  SmallVector<Value> place = index.delinearize(tile.head, ArrayRef(querySizes).drop_back(2));
  sizes.truncate(sizes.size() - 2);
  place = SmallVector<Value>(ArrayRef(place).take_back(sizes.size()));
  for (auto [coord, size] : llvm::zip_equal(place, sizes))
    if (getConstantIntValue(size) == std::optional<int64_t>(1))
      coord = index.constant(0);
  fetch(maskSource, getMaskState(keys), index.linearize(place, sizes), tile.firstQuery, firstKey);
}

/// What a mask has for a block of keys, in registers.
tile::RegisterType AttentionEmitter::getMaskType() {
  return tile::RegisterType::get(builder.getContext(), config.getKeys(),
                                 getElementTypeOrSelf(op.getMask()), tile::Layout::Accumulator);
}

/// Registers of a thread for scores, sums, weights and what a mask has, beside a few others.
static constexpr int64_t kRegistersWithMasks = 200;

/// From global memory, by each thread what it needs.
Value AttentionEmitter::loadPlainMasks(const Tile &tile, Value block) {
  int64_t width = countMaskNeighbours(op.getMask());
  return mapAt(
      getMaskType(), {}, firstRow(tile), index.mul(block, config.getKeys()),
      [&](ValueRange place) {
        return loadMask(op.getMask(), op.getQuery(), tile.head, place[0], place[1], width);
      },
      width);
}

/// From shared memory.
Value AttentionEmitter::readMasks(RingState keys) {
  RingState state = getMaskState(keys);
  waitFull(maskSource, state);
  Value slot = getSlot(maskSource, state);
  auto pair = VectorType::get(2, getMaskType().getElementType());
  Value row = index.mul(warpgroup, tile::kWarpgroupRows);
  Value masks = mapAt(
      getMaskType(), {}, row, index.constant(0),
      [&](ValueRange place) -> Value {
        return tile::ReadElementsOp::create(builder, loc, pair, slot, place[0], place[1]);
      },
      /*width=*/2);
  // One thread stands for all when all have read. Ping-pong has the barriers from 1 on.
  tile::BarrierSyncOp::create(builder, loc, index.add(warpgroup, config.getWarpgroups() + 1),
                              tile::kWarpgroupThreads);
  release(maskSource, state, Value());
  return masks;
}

Value AttentionEmitter::loadMasks(const Tile &tile, Value block, RingState keys) {
  return config.getMaskStages() ? readMasks(keys) : loadPlainMasks(tile, block);
}

Value AttentionEmitter::loadMasksEarly(const Tile &tile, Value block, RingState keys) {
  // Scores, what the mask has, weights of half a register, and sums: two rows of a quarter each.
  int64_t scores = config.getKeys() / 2;
  bool hasRoom = 2 * scores + scores / 2 + outputVector / 2 <= kRegistersWithMasks;
  return op.getMask() && hasRoom ? loadMasks(tile, block, keys) : Value();
}

/// A score with what the mask has at its place.
Value AttentionEmitter::emitMaskedScore(Value score, Value mask) {
  if (isa<FloatType>(mask.getType())) {
    if (!mask.getType().isF32())
      mask = arith::ExtFOp::create(builder, loc, builder.getF32Type(), mask);
    return math::FmaOp::create(builder, loc, mask, f32(kLog2E), score);
  }
  Value zero = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(mask.getType()));
  Value seen = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, mask, zero);
  return arith::SelectOp::create(builder, loc, seen, score,
                                 f32(-std::numeric_limits<double>::infinity()));
}

//===----------------------------------------------------------------------===//
// Scores
//===----------------------------------------------------------------------===//

/// i1: whether the key at `column` is there, and the query at `row` sees it.
Value AttentionEmitter::isVisible(Value row, Value column) {
  if (!op.isBounded())
    return index.isLess(column, keys);
  Value latest = index.add(row, offset);
  Value visible = index.isLess(column, index.min(keys, index.add(latest, 1)));
  if (!op.getWindow())
    return visible;
  Value before = index.sub(latest, index.constant(static_cast<int64_t>(*op.getWindow())));
  return index.both(visible, index.isLess(before, column));
}

/// The scores of the block of keys, scaled if that comes first, with what hides keys.
Value AttentionEmitter::hideKeys(Value scores, const Tile &tile, Value block, Value masks,
                                 RingState keys) {
  Value column = index.mul(block, config.getKeys());
  SmallVector<Value> inputs{scores};
  if (op.getMask())
    inputs.push_back(masks ? masks : loadMasks(tile, block, keys));
  return mapAt(scoreType, inputs, firstRow(tile), column, [&](ValueRange arguments) {
    Value score = arguments[0], row = arguments[arguments.size() - 2], key = arguments.back();
    if (scalesFirst)
      score = arith::MulFOp::create(builder, loc, score, f32(scoreScale * kLog2E));
    if (op.getMask())
      score = emitMaskedScore(score, arguments[1]);
    if (!hidesPlaces)
      return score;
    return arith::SelectOp::create(builder, loc, isVisible(row, key), score,
                                   f32(-std::numeric_limits<double>::infinity()))
        .getResult();
  });
}

} // namespace xc::cuda
