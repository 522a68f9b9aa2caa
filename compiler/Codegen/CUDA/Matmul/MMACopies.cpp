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
// Tiles keep the operand's own order. Lines are k values (in chunks of 16 bytes) of one row of A or
// column of B, or the other way round; ldmatrix transposes the latter (.trans), but 16-bit
// elements only: threads load the words of TF32 fragments one by one then. Bytes are transposed on
// the way to shared memory: threads load patches of 4 x 4 into registers, as what is computed, and
// store words along k. The chunks of a line are permuted by an exclusive or with the line's number,
// so that the 8 lines of a matrix that ldmatrix reads, or the 4 lines by 8 words of one load of
// words, lie in different banks.
//
// Copies whose bounds are checked are compared with the room that is left from the thread's first
// one on, and LLVM does not see how their addresses come about: it would keep one of each.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Matmul/MMAEmitter.h"
#include "compiler/Codegen/CUDA/Matmul/MatmulTiles.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace xc::cuda {

MMAEmitter::Operand MMAEmitter::makeOperand(const Contraction::Side &side, int64_t own,
                                            Value start) {
  Operand operand{side, own, start};
  plan::BindingOp binding = side.getCopySource();
  operand.isTurned = elementBytes == 1 && !side.isKContiguous;
  operand.width = tile.getVectorWidth(side, operand.isTurned ? kPatch : chunk);
  if (isDouble() && binding && binding.getAlignment() < kChunkBytes)
    operand.width = 1;
  int64_t bytes = operand.width * elementBytes;
  bool isAligned = binding && static_cast<int64_t>(binding.getAlignment()) >= bytes;
  bool isWide = isAligned && !operand.isTurned && bytes >= kFewestCopiedBytes;
  operand.isAsync = binding && (isDouble() || isWide);
  operand.iterations =
      getTileElements(operand) / (threads * (operand.isTurned ? kPatch * kPatch : operand.width));
  operand.buffer = frame.allocateShared(elementType, config.getStages() * getTileElements(operand));
  return operand;
}

Value MMAEmitter::getPlace(const Operand &operand, const Line &line, Value number) {
  int64_t length = getLineLength(operand), chunks = length / chunk;
  // The permutation repeats after so many lines.
  int64_t period = operand.isTurned ? 64 : 8;
  if (line.offset != 0 && line.offset % period == 0)
    return index.add(getPlace(operand, {line.base, 0}, number), line.offset * length);
  Value value = toValue(line);
  if (isDouble()) {
    // Eight threads load four chunks of each of two lines, or two of every other one of eight;
    // sixteen load halves of chunks, two of each of four lines.
    Value key = !operand.hasLinesAlongK() ? index.mul(index.rem(index.div(value, 2), 4), 2)
                : isPaired                ? index.mul(index.rem(value, 2), 4)
                                          : index.mul(index.rem(value, 4), 2);
    Value permuted = arith::XOrIOp::create(builder, loc, number, key);
    return index.add(index.mul(value, length), index.mul(permuted, chunk));
  }
  // Lines shorter than 128 bytes share the banks of one 128-byte row with their neighbours.
  Value row = chunks < 8 ? index.div(value, 8 / chunks) : value;
  int64_t keys = std::min<int64_t>(chunks, 8);
  // Words of patches go to every fourth line.
  if (operand.isTurned)
    row = index.add(row, index.div(row, keys));
  // A load of words takes two neighbouring chunks of each line.
  Value key =
      needsWordLoads(operand) ? index.mul(index.rem(row, keys / 2), 2) : index.rem(row, keys);
  Value permuted = arith::XOrIOp::create(builder, loc, number, key);
  return index.add(index.mul(value, length), index.mul(permuted, chunk));
}

std::pair<MMAEmitter::Line, Value> MMAEmitter::getShare(const Operand &operand, int64_t iteration) {
  int64_t perLine = getLineLength(operand) / operand.width;
  if (threads % perLine == 0)
    return {{index.div(thread, perLine), iteration * (threads / perLine)},
            index.mul(index.rem(thread, perLine), operand.width)};
  Value number = index.add(thread, iteration * threads);
  return {{index.div(number, perLine), 0}, index.mul(index.rem(number, perLine), operand.width)};
}

/// Eight lanes have neighbouring patches, and four those of a chunk.
std::pair<Value, Value> MMAEmitter::getPatch(const Operand &operand, int64_t iteration) {
  constexpr int64_t kNeighbours = 8, kPerChunk = kChunkBytes / kPatch;
  int64_t across = operand.own / (kNeighbours * kPatch);
  Value unit = index.add(index.div(thread, 32), iteration * (threads / 32));
  Value own = index.add(index.mul(index.rem(unit, across), kNeighbours * kPatch),
                        index.mul(index.rem(lane, kNeighbours), kPatch));
  Value k = index.add(index.mul(index.div(unit, across), kChunkBytes),
                      index.mul(index.rem(index.div(lane, kNeighbours), kPerChunk), kPatch));
  return {own, k};
}

Value MMAEmitter::getBuffer(const Operand &operand, Value slot) {
  return index.mul(slot, getTileElements(operand));
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

Value MMAEmitter::offsetBy(Value pointer, Value elements) {
  Value offset = arith::IndexCastOp::create(builder, loc, builder.getI64Type(), elements);
  return LLVM::GEPOp::create(builder, loc, pointer.getType(), elementType, pointer,
                             ArrayRef<LLVM::GEPArg>{offset});
}

SmallVector<MMAEmitter::Share> MMAEmitter::getCopies() {
  SmallVector<Share> copies;
  for (const Operand &operand : operands)
    for (int64_t iteration = 0; operand.isAsync && iteration < operand.iterations; ++iteration)
      copies.push_back({&operand, iteration});
  return copies;
}

void MMAEmitter::startCopy(const Share &share, Value step, Value steps, Value slot) {
  const Operand &operand = *share.first;
  std::pair<Line, Value> vector = getShare(operand, share.second);
  const Line &line = vector.first;
  Value along = vector.second;
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
  // Past the last step, too, zeros are written: the number of groups under way stays equal. A copy
  // of no bytes reads nothing, wherever its source points.
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
  auto most = static_cast<int32_t>(operand.width * elementBytes);
  Value bytes = arith::SelectOp::create(builder, loc, inside,
                                        points.constant(builder.getI32IntegerAttr(most)),
                                        points.constant(builder.getI32IntegerAttr(0)));
  Value place = getPlace(operand, line, index.div(along, chunk));
  if (operand.width < chunk)
    place = index.add(place, index.rem(along, chunk));
  Value to = offsetBy(tile.getPointer(operand.buffer, place), getBuffer(operand, slot));
  Value source = points.getMemory(operand.side.getCopySource());
  Value from = tile.getPointer(source, position);
  if (isDouble()) {
    Value &known = sources[{source, position}];
    if (!known)
      known = tile.hideOrigin(from);
    from = known;
  }
  auto modifier =
      most == kChunkBytes ? NVVM::LoadCacheModifierKind::CG : NVVM::LoadCacheModifierKind::CA;
  NVVM::CpAsyncOp::create(builder, loc, to, offsetBy(from, index.constant(apart)), most, modifier,
                          bytes);
}

SmallVector<Value> MMAEmitter::startLoads(Value step, Value steps) {
  if (llvm::all_of(operands, [](const Operand &operand) { return operand.isAsync; }))
    return {};
  Value k0 = index.add(tile.startK, index.mul(step, config.getTileK()));
  return points.emitIfOrZeros(index.isLess(step, steps), [&] {
    SmallVector<Value> values;
    for (const Operand &operand : operands)
      for (int64_t iteration = 0; !operand.isAsync && iteration < operand.iterations; ++iteration) {
        if (operand.isTurned) {
          startPatch(operand, iteration, k0, values);
          continue;
        }
        auto [line, along] = getShare(operand, iteration);
        Value own = index.add(operand.start, operand.side.isKContiguous ? toValue(line) : along);
        Value k = index.add(k0, operand.side.isKContiguous ? along : toValue(line));
        Value inside = tile.isInside(operand.side, own, k, operand.own, config.getTileK());
        values.push_back(
            tile.emitFactors(operand.side, own, k, operand.width, inside, /*cast=*/false));
      }
    return values;
  });
}

void MMAEmitter::startPatch(const Operand &operand, int64_t iteration, Value k0,
                            SmallVector<Value> &values) {
  auto [ownOffset, kOffset] = getPatch(operand, iteration);
  for (int64_t line = 0; line < kPatch; ++line)
    for (int64_t first = 0; first < kPatch; first += operand.width) {
      Value own = index.add(operand.start, index.add(ownOffset, first));
      Value k = index.add(k0, index.add(kOffset, line));
      Value inside = tile.isInside(operand.side, own, k, operand.own, config.getTileK());
      values.push_back(
          tile.emitFactors(operand.side, own, k, operand.width, inside, /*cast=*/false));
    }
}

Value MMAEmitter::roundToTF32(Value value) {
  SmallVector<Value> rounded;
  for (int64_t lane = 0, lanes = countLanes(value); lane < lanes; ++lane)
    rounded.push_back(NVVM::ConvertFloatToTF32Op::create(builder, loc, builder.getI32Type(),
                                                         getLane(builder, loc, value, lane),
                                                         NVVM::FPRoundingMode::RNA));
  return fromLanes(builder, loc, rounded);
}

void MMAEmitter::store(const Operand &operand, const Line &line, Value along, Value slot,
                       Value values) {
  Value place = getPlace(operand, line, index.div(along, chunk));
  Value to = index.add(index.add(getBuffer(operand, slot), place), index.rem(along, chunk));
  int64_t lanes = countLanes(values);
  if (lanes == 1)
    memref::StoreOp::create(builder, loc, values, operand.buffer, to);
  else
    vector::StoreOp::create(builder, loc, values, operand.buffer, to, /*nontemporal=*/false,
                            llvm::MaybeAlign(lanes * elementBytes));
}

size_t MMAEmitter::finishPatch(const Operand &operand, int64_t iteration, ArrayRef<Value> values,
                               Value slot) {
  size_t perLine = kPatch / operand.width;
  SmallVector<Value> lines;
  for (int64_t line = 0; line < kPatch; ++line) {
    SmallVector<Value> lanes;
    for (Value value : values.slice(line * perLine, perLine))
      for (int64_t lane = 0; lane < operand.width; ++lane)
        lanes.push_back(getLane(builder, loc, value, lane));
    lines.push_back(perLine == 1 ? values[line] : fromLanes(builder, loc, lanes));
  }
  auto [own, k] = getPatch(operand, iteration);
  for (auto [row, transposed] : llvm::enumerate(transposeBytes(builder, loc, lines)))
    store(operand, {index.add(own, row), 0}, k, slot, transposed);
  return kPatch * perLine;
}

void MMAEmitter::finishLoads(ArrayRef<Value> values, Value slot) {
  for (const Operand &operand : operands)
    for (int64_t iteration = 0; !operand.isAsync && iteration < operand.iterations; ++iteration) {
      if (operand.isTurned) {
        values = values.drop_front(finishPatch(operand, iteration, values, slot));
        continue;
      }
      auto [line, along] = getShare(operand, iteration);
      Value value = values.front();
      if (elementBytes == 4) {
        Type type = value.getType();
        value = arith::BitcastOp::create(builder, loc, type, roundToTF32(value));
      }
      store(operand, line, along, slot, value);
      values = values.drop_front();
    }
}

void MMAEmitter::awaitTile() {
  NVVM::CpAsyncWaitGroupOp::create(builder, loc, static_cast<uint32_t>(config.getStages() - 2));
  frame.barrier();
}

} // namespace xc::cuda
