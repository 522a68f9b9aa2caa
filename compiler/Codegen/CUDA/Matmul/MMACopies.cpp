//===- MMACopies.cpp - Tiles of operands on their way to shared memory ----===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A tile is copied by cp.async where the operand is memory whose rows are 4-byte aligned, by as
// many bytes at a time as they are, up to 16. Where it is computed by fused ops, or has other
// strides, threads load its elements into registers at the start of an iteration and store them to
// shared memory before its barrier: the loads are under way meanwhile.
//
// Tiles keep the operand's own order. Lines are k values of one row of A or column of B, or the
// other way round. Bytes are transposed on the way to shared memory, since nothing reads them
// across lines: threads load patches of 4 x 4 into registers, as what is computed, and store words
// along k. The swizzle is the one that what reads the tile wants: see `!tile.shared`. cp.async
// copies f64 that are not 16-byte aligned one by one.
//
// Copies of f64 whose bounds are checked are compared with the room that is left from the thread's
// first one on.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Matmul/MMAEmitter.h"

#include "compiler/Codegen/CUDA/Common/LaneOps.h"
#include "compiler/Codegen/CUDA/Matmul/MatmulTiles.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace xc::cuda {

MMAEmitter::Operand MMAEmitter::makeOperand(const Contraction::Side &side, int64_t own,
                                            Value start) {
  Operand operand{side, own, start};
  plan::BindingOp binding = side.getCopySource();
  operand.isTurned = elementBytes == 1 && !side.isKContiguous;
  operand.width = tile.getVectorWidth(side, operand.isTurned ? tile::kPatch : chunk);
  if (isDouble() && binding && binding.getAlignment() < kChunkBytes)
    operand.width = 1;
  int64_t bytes = operand.width * elementBytes;
  bool isAligned = binding && static_cast<int64_t>(binding.getAlignment()) >= bytes;
  bool isWide = isAligned && !operand.isTurned && bytes >= kFewestCopiedBytes;
  operand.isAsync = binding && (isDouble() || isWide);
  bool alongK = operand.hasLinesAlongK();
  operand.type =
      tile::SharedType::get(builder.getContext(), alongK ? own : config.getTileK(),
                            alongK ? config.getTileK() : own, elementType, getSwizzle(operand));
  int64_t taken = operand.isTurned ? tile::kPatch * tile::kPatch : operand.width;
  operand.shares = own * config.getTileK() / (threads * taken);
  return operand;
}

tile::Swizzle MMAEmitter::getSwizzle(const Operand &operand) const {
  if (operand.isTurned)
    return tile::Swizzle::Patches;
  if (isDouble())
    return !operand.hasLinesAlongK() ? tile::Swizzle::Pairs
           : isPaired                ? tile::Swizzle::Halves
                                     : tile::Swizzle::Even;
  bool areWordsRead = elementBytes == 4 && !operand.hasLinesAlongK();
  return areWordsRead ? tile::Swizzle::Even : tile::Swizzle::Lines;
}

MMAEmitter::Place MMAEmitter::getPlace(const Operand &operand, int64_t number) {
  int64_t length = operand.type.getColumns();
  std::optional<int64_t> lines;
  if (!operand.isTurned)
    lines = tile::ShareOp::getLines(length, operand.width, threads);
  int64_t built = lines ? 0 : number;
  // Tiles of equal rows have the same shares, and so what is computed of them is the same.
  auto type = TypeAttr::get(operand.type);
  Attribute key = operand.isTurned
                      ? builder.getArrayAttr({type, builder.getIndexAttr(number)})
                      : Attribute(builder.getI64ArrayAttr({built, length, operand.width}));
  IndexBuilder::Key lineKey(this, key.getAsOpaquePointer(), nullptr),
      alongKey(this, key.getAsOpaquePointer(), this);
  Value line = index.getTable().lookup(lineKey), along = index.getTable().lookup(alongKey);
  if (!line) {
    Operation *share =
        operand.isTurned
            ? tile::PatchOp::create(builder, loc, number, operand.type, threads).getOperation()
            : tile::ShareOp::create(builder, loc, built, length, operand.width, threads);
    line = share->getResult(0);
    along = share->getResult(1);
    index.getTable().insert(lineKey, line);
    index.getTable().insert(alongKey, along);
  }
  return {{line, lines ? number * *lines : 0}, along};
}

Value MMAEmitter::getSlot(const Operand &operand, Value slot) {
  return tile::SlotOp::create(builder, loc, operand.type, ring, slot, &operand - operands.data());
}

SmallVector<Value, 2> MMAEmitter::getSlots(Value slot) {
  return {getSlot(operands[0], slot), getSlot(operands[1], slot)};
}

Value MMAEmitter::getSlotAfter(Value slot) {
  Value isLast = index.isAtLeast(slot, index.constant(config.getStages() - 1));
  return arith::SelectOp::create(builder, loc, isLast, index.constant(0), index.add(slot, 1));
}

Value MMAEmitter::getSlotBefore(Value slot) {
  Value isFirst = index.isLess(slot, index.constant(1));
  return arith::SelectOp::create(builder, loc, isFirst, index.constant(config.getStages() - 1),
                                 index.add(slot, -1));
}

SmallVector<MMAEmitter::Share> MMAEmitter::getCopies() {
  SmallVector<Share> copies;
  for (const Operand &operand : operands)
    for (int64_t number = 0; operand.isAsync && number < operand.shares; ++number)
      copies.push_back({&operand, number});
  return copies;
}

void MMAEmitter::startCopy(const Share &share, Value step, Value steps, Value slot) {
  const Operand &operand = *share.first;
  Place place = getPlace(operand, share.second);
  const Line &line = place.line;
  Value along = place.along;
  bool alongOwn = operand.side.isKContiguous; // what lines count
  // Lines that are a known number apart are so many bytes apart: the address of the first serves
  // them all.
  int64_t apart = 0;
  Line first = line;
  if (std::optional<int64_t> stride = tile.getKnownStride(operand.side, /*alongK=*/!alongOwn)) {
    apart = line.offset * *stride;
    first.offset = 0;
  }
  Value k0 = index.add(tile.startK, index.mul(step, config.getTileK()));
  auto locate = [&](const Line &at) -> std::pair<Value, Value> {
    return {index.add(operand.start, alongOwn ? toValue(at) : along),
            index.add(k0, alongOwn ? along : toValue(at))};
  };
  // Past the last step, too, zeros are written: the number of groups under way stays equal.
  auto [firstOwn, firstK] = locate(first);
  auto [position, isElement] = tile.getPosition(operand.side, firstOwn, firstK);
  Value inside;
  if (isDouble() && apart != 0) {
    inside = tile.isInsideBehind(operand.side, firstOwn, firstK, line.offset, operand.own,
                                 config.getTileK());
  } else {
    auto [own, k] = locate(line);
    inside = tile.isInside(operand.side, own, k, operand.own, config.getTileK());
  }
  inside = index.both(index.isLess(step, steps), inside);
  inside = index.both(inside, isElement);
  tile::StartCopyOp::create(builder, loc, points.getMemory(operand.side.getCopySource()), position,
                            apart, inside, getSlot(operand, slot), toValue(line), along,
                            operand.width);
}

SmallVector<Value> MMAEmitter::startLoads(Value step, Value steps) {
  if (llvm::all_of(operands, [](const Operand &operand) { return operand.isAsync; }))
    return {};
  Value k0 = index.add(tile.startK, index.mul(step, config.getTileK()));
  return points.emitIfOrZeros(index.isLess(step, steps), [&] {
    SmallVector<Value> values;
    for (const Operand &operand : operands)
      for (int64_t number = 0; !operand.isAsync && number < operand.shares; ++number) {
        auto [line, along] = getPlace(operand, number);
        if (operand.isTurned) {
          startPatch(operand, {line, along}, k0, values);
          continue;
        }
        Value own = index.add(operand.start, operand.side.isKContiguous ? toValue(line) : along);
        Value k = index.add(k0, operand.side.isKContiguous ? along : toValue(line));
        Value inside = tile.isInside(operand.side, own, k, operand.own, config.getTileK());
        values.push_back(
            tile.emitFactors(operand.side, own, k, operand.width, inside, /*cast=*/false));
      }
    return values;
  });
}

void MMAEmitter::startPatch(const Operand &operand, const Place &place, Value k0,
                            SmallVector<Value> &values) {
  for (int64_t line = 0; line < tile::kPatch; ++line)
    for (int64_t first = 0; first < tile::kPatch; first += operand.width) {
      Value own = index.add(operand.start, index.add(place.line.base, first));
      Value k = index.add(k0, index.add(place.along, line));
      Value inside = tile.isInside(operand.side, own, k, operand.own, config.getTileK());
      values.push_back(
          tile.emitFactors(operand.side, own, k, operand.width, inside, /*cast=*/false));
    }
}

size_t MMAEmitter::finishPatch(const Operand &operand, const Place &place, ArrayRef<Value> values,
                               Value slot) {
  size_t perLine = tile::kPatch / operand.width;
  SmallVector<Value> lines;
  for (int64_t line = 0; line < tile::kPatch; ++line) {
    SmallVector<Value> lanes;
    for (Value value : values.slice(line * perLine, perLine))
      for (int64_t lane = 0; lane < operand.width; ++lane)
        lanes.push_back(getLane(builder, loc, value, lane));
    lines.push_back(perLine == 1 ? values[line] : fromLanes(builder, loc, lanes));
  }
  for (auto [row, transposed] : llvm::enumerate(transposeBytes(builder, loc, lines)))
    tile::WriteOp::create(builder, loc, transposed, getSlot(operand, slot),
                          index.add(place.line.base, row), place.along);
  return tile::kPatch * perLine;
}

void MMAEmitter::finishLoads(ArrayRef<Value> values, Value slot) {
  for (const Operand &operand : operands)
    for (int64_t number = 0; !operand.isAsync && number < operand.shares; ++number) {
      Place place = getPlace(operand, number);
      if (operand.isTurned) {
        values = values.drop_front(finishPatch(operand, place, values, slot));
        continue;
      }
      Value value = values.front();
      if (elementType.isF32())
        value = tile::RoundOp::create(builder, loc, value);
      tile::WriteOp::create(builder, loc, value, getSlot(operand, slot), toValue(place.line),
                            place.along);
      values = values.drop_front();
    }
}

} // namespace xc::cuda
