//===- WGMMACopies.cpp - Operands that threads bring to the ring ----------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where boxes cannot bring an operand, the warpgroup that fetches loads it into registers, a step
// ahead or two, and stores it to the ring:
//
//   load the first step's share
//   for each step along k
//     wait until the stage is empty; start the copies of the other operand, if boxes bring that
//     store what was loaded; signal the stage
//     load the share of the next step, or of the one behind it
//
// It takes rows that begin anywhere as they lie (WGMMALines.cpp). Or it transposes: wgmma takes an
// operand B of other than 16 bits only if its lines run along k, and boxes keep the order that
// memory has. Such an operand is stored by whole chunks of 16 bytes along k.
//
// A warp moves 32 rows at a time. Of elements of 4 bytes each lane has one row, and a load of the
// warp is 32 neighbours. Of bytes each lane loads words of 4 rows, whose 4 x 4 bytes it transposes
// for each chunk; 8 lanes are neighbours, and 4 take different chunks. Either way the chunks that 8
// lanes store at a time are in different banks after the swizzle.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Common/LaneOps.h"
#include "compiler/Codegen/CUDA/Common/Pointers.h"
#include "compiler/Codegen/CUDA/Common/TF32.h"
#include "compiler/Codegen/CUDA/Matmul/WGMMAEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace xc::cuda {

static constexpr int64_t kWarps = tile::kWarpgroupThreads / 32;
static constexpr int64_t kChunkBytes = 16, kLineChunks = 8, kWordBytes = 4, kUnitRows = 32;

LogicalResult WGMMAEmitter::addTransposed(const Contraction::Side &side, int64_t own) {
  Type elementType = getElementTypeOrSelf(side.operand->get());
  int64_t bytes = getElementBytes(elementType);
  auto refuse = [&](llvm::StringRef expected) {
    return kernel.getFunction().emitOpError("expected ")
           << expected << " for " << config << ", neither of whose operands is contiguous along k";
  };
  if (!tile.canTranspose(side))
    return refuse("an operand B in memory whose rows begin at words");
  if (config.getTileK() * bytes != kLineChunks * kChunkBytes)
    return refuse("steps of 128 bytes along k");
  if (own % getTransposedRows(bytes) != 0)
    return refuse("columns that four warps share by 32 rows");
  auto type = tile::SharedType::get(builder.getContext(), own, config.getTileK(), elementType);
  operands.push_back({side, TiledAccess(), type, own, Value()});
  operands.back().isTurned = true;
  return success();
}

/// Where in the tile this thread's part of unit `unit` begins: along the operand's own dim, and
/// along k.
std::pair<Value, Value> WGMMAEmitter::getTransposedPlace(const Operand &operand, int64_t unit) {
  int64_t bytes = operand.type.getElementBytes(), width = kWordBytes / bytes;
  int64_t unitsPerRows = kLineChunks / width; // that lie beside each other along k
  Value lane = index.rem(threadInWarpgroup, 32), warp = index.div(threadInWarpgroup, 32);
  Value rows, chunk;
  if (unitsPerRows <= kWarps) {
    rows = index.add(index.div(warp, unitsPerRows), unit * (kWarps / unitsPerRows));
    chunk = index.mul(index.rem(warp, unitsPerRows), width);
  } else {
    rows = index.constant(unit * kWarps / unitsPerRows);
    chunk = index.mul(index.add(warp, unit * kWarps % unitsPerRows), width);
  }
  Value row = lane;
  if (width > 1) {
    row = index.mul(index.add(index.rem(lane, 2), index.mul(index.div(lane, 8), 2)), width);
    chunk = index.add(chunk, index.rem(index.div(lane, 2), 4));
  }
  return {index.add(index.mul(rows, kUnitRows), row), index.mul(chunk, kChunkBytes / bytes)};
}

/// What this thread has of unit `unit` of the tile from `k` on: words for each k of a chunk.
SmallVector<Value> WGMMAEmitter::loadTransposed(const Operand &operand, int64_t unit, Value k) {
  int64_t bytes = operand.type.getElementBytes(), width = kWordBytes / bytes;
  auto [ownOffset, kOffset] = getTransposedPlace(operand, unit);
  Value own = index.add(getStart(operand), ownOffset);
  Value first = index.add(k, kOffset);
  Type elementType = operand.type.getElementType();
  Type type = width > 1 ? Type(VectorType::get(width, elementType)) : elementType;
  Value position = tile.getPosition(operand.side, own, first).first;
  Value pointer =
      getPointer(builder, loc, points.getMemory(operand.side.getCopySource()), position);
  int64_t stride = *tile.getKnownStride(operand.side, /*alongK=*/true);
  SmallVector<Value> words;
  for (int64_t i = 0; i < kChunkBytes / bytes; ++i) {
    Value inside = tile.isInside(operand.side, own, index.add(first, i), operand.type.getRows(),
                                 config.getTileK());
    words.push_back(loadOrZero(builder, loc, type, pointer, i * stride * bytes, inside));
  }
  return words;
}

/// The chunks of `words`, one for each row of them.
SmallVector<Value> WGMMAEmitter::transpose(const Operand &operand, ArrayRef<Value> words) {
  Type elementType = operand.type.getElementType();
  if (operand.type.getElementBytes() == kWordBytes) {
    SmallVector<Value> rounded;
    for (Value word : words)
      rounded.push_back(roundedToTF32(builder, loc, word));
    return {fromLanes(builder, loc, rounded)};
  }
  auto word = VectorType::get(1, builder.getI32Type());
  SmallVector<SmallVector<Value>> rows(kWordBytes);
  for (size_t first = 0; first < words.size(); first += kWordBytes)
    for (auto [row, transposed] :
         llvm::zip_equal(rows, transposeBytes(builder, loc, words.slice(first, kWordBytes)))) {
      Value bits = vector::BitCastOp::create(builder, loc, word, transposed);
      row.push_back(vector::ExtractOp::create(builder, loc, bits, ArrayRef<int64_t>{0}));
    }
  SmallVector<Value> chunks;
  for (ArrayRef<Value> row : rows)
    chunks.push_back(vector::BitCastOp::create(
        builder, loc, VectorType::get(kChunkBytes, elementType), fromLanes(builder, loc, row)));
  return chunks;
}

void WGMMAEmitter::storeTurned(const Operand &operand, int64_t unit, ArrayRef<Value> words,
                               Value slot) {
  auto [own, k] = getTransposedPlace(operand, unit);
  for (auto [row, chunk] : llvm::enumerate(transpose(operand, words)))
    tile::WriteOp::create(builder, loc, chunk, slot, index.add(own, row), k);
}

/// The parts of the operands that threads bring, in the order in which they are stored.
SmallVector<WGMMAEmitter::Unit> WGMMAEmitter::listUnits() {
  SmallVector<Unit> units;
  for (auto [slot, operand] : llvm::enumerate(operands)) {
    int64_t bytes = operand.type.getElementBytes(), count = 0, loads = operand.loadsPerWord;
    if (operand.loadsPerWord) {
      count = llvm::divideCeil(countLines(operand), kWarps);
    } else if (operand.isTurned) {
      loads = kChunkBytes / bytes;
      count = operand.type.getRows() * config.getTileK() * bytes /
              (tile::kWarpgroupThreads * loads * kWordBytes);
    }
    for (int64_t number = 0; number < count; ++number)
      units.push_back({&operand, static_cast<int64_t>(slot), number, loads});
  }
  return units;
}

SmallVector<Value> WGMMAEmitter::loadUnit(const Unit &unit, Value k) {
  return unit.operand->isTurned ? loadTransposed(*unit.operand, unit.number, k)
                                : loadLine(*unit.operand, unit.number, k);
}

void WGMMAEmitter::storeUnit(const Unit &unit, ArrayRef<Value> values, Value slot) {
  if (unit.operand->isTurned)
    storeTurned(*unit.operand, unit.number, values, slot);
  else
    storeLine(*unit.operand, unit.number, values, slot);
}

void WGMMAEmitter::emitLoadingProducer() {
  SmallVector<Unit> units = listUnits();
  int64_t depth = getDepth();
  Value isLeader = index.isEqual(thread, index.constant(0));
  Value isFirst = index.isEqual(index.rem(thread, 32), index.constant(0));
  Value steps = index.ceilDiv(tile.sumLength, index.constant(config.getTileK()));
  // Loads are always of some step, so that none needs a check.
  auto getK = [&](Value step) {
    Value last = index.sub(steps, index.constant(1));
    return index.add(tile.startK, index.mul(index.min(step, last), config.getTileK()));
  };
  // Loads that are checked stand behind the barrier that stores signal: ptxas would move them in
  // front of the stores, to other registers, and wait for them when it moves them back. Others are
  // better under way early: 2640 x 1479 x 4544 in TF32 took 183 us behind it, and 173.
  bool isChecked = loadsLines();
  auto emitStep = [&](Value step, RingState state, ValueRange values) -> SmallVector<Value> {
    tile::WaitEmptyOp::create(builder, loc, ring, state.stage, state.phase);
    points.emitIf(isLeader, [&] {
      publishBoxes(state.stage);
      fetchBoxes(state.stage, getStep(step), [](const Operand &) { return true; });
    });
    SmallVector<Value> slots = getSlots(state.stage), loaded;
    Value ahead = getK(index.add(step, depth));
    for (const Unit &unit : units) {
      storeUnit(unit, llvm::to_vector(values.take_front(unit.loads)), slots[unit.slot]);
      values = values.drop_front(unit.loads);
      if (!isChecked)
        llvm::append_range(loaded, loadUnit(unit, ahead));
    }
    syncWarp();
    points.emitIf(isFirst, [&] { tile::PublishOp::create(builder, loc, ring, state.stage, 0); });
    for (const Unit &unit : units)
      if (isChecked)
        llvm::append_range(loaded, loadUnit(unit, ahead));
    return loaded;
  };
  // Steps that are under way together have registers of their own, and nothing moves between them.
  auto emitSteps = [&](Value first, ValueRange carried) -> SmallVector<Value> {
    RingState state{carried[0], carried[1]};
    ValueRange values = carried.drop_front(2);
    size_t count = values.size() / depth;
    SmallVector<Value> next = emitStep(first, state, values.take_front(count));
    state = advance(state);
    for (int64_t number = 1; number < depth; ++number) {
      Value step = index.add(first, number);
      SmallVector<Value> kept{state.stage, state.phase};
      llvm::append_range(kept, values.slice(number * count, count));
      SmallVector<Value> after =
          points.emitIfOrKeep(index.isLess(step, lastStep), kept, [&]() -> SmallVector<Value> {
            SmallVector<Value> all = emitStep(step, state, ArrayRef(kept).drop_front(2));
            RingState behind = advance(state);
            all.insert(all.begin(), {behind.stage, behind.phase});
            return all;
          });
      state = {after[0], after[1]};
      llvm::append_range(next, ArrayRef(after).drop_front(2));
    }
    next.insert(next.begin(), {state.stage, state.phase});
    return next;
  };
  emitTiles(Value(), {index.constant(0), index.constant(0)},
            [&](ValueRange carried) -> SmallVector<Value> {
              SmallVector<Value> inits(carried);
              for (int64_t step = 0; step < depth; ++step)
                for (const Unit &unit : units)
                  llvm::append_range(inits, loadUnit(unit, getK(index.add(firstStep, step))));
              SmallVector<Value> results =
                  points.emitLoop(firstStep, lastStep, index.constant(depth), inits, emitSteps);
              return {results[0], results[1]};
            });
}

} // namespace xc::cuda
