//===- LinePlaces.cpp - Where elements of tiles of whole lines are --------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Tile/LinePlaces.h"

#include "compiler/Codegen/CUDA/Common/Pointers.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace xc::cuda {

Line Line::split(Value line) {
  if (auto sum = line.getDefiningOp<arith::AddIOp>())
    if (std::optional<int64_t> known = getConstantIntValue(sum.getRhs()))
      return {sum.getLhs(), *known};
  return {line, 0};
}

Value LinePlaces::getThread() {
  if (!thread)
    thread = gpu::ThreadIdOp::create(builder, loc, gpu::Dimension::x);
  return thread;
}

Value LinePlaces::getKey(tile::SharedType tile, Value line) {
  constexpr int64_t kPeriod = 8;
  int64_t chunks = tile.getColumns() / tile.getChunkColumns();
  // Lines shorter than 128 bytes share the banks of one 128-byte row with their neighbours.
  Value row = chunks < kPeriod ? index.div(line, kPeriod / chunks) : line;
  int64_t keys = std::min(chunks, kPeriod);
  switch (tile.getSwizzle()) {
  case tile::Swizzle::Even:
    return index.mul(index.rem(row, keys / 2), 2);
  case tile::Swizzle::Pairs:
    return index.mul(index.rem(index.div(row, 2), keys / 2), 2);
  case tile::Swizzle::Halves:
    return index.mul(index.rem(row, keys / 4), 4);
  case tile::Swizzle::Patches:
    return index.rem(index.add(row, index.div(row, keys)), keys);
  case tile::Swizzle::Lines:
  case tile::Swizzle::Panels:
    return index.rem(row, keys);
  }
  llvm_unreachable("all swizzles are listed");
}

Value LinePlaces::getPlace(tile::SharedType tile, const Line &line, Value number, int64_t unit) {
  assert(!tile.hasPanels() && "lines of panels are not whole");
  int64_t length = tile.getColumns() * unit;
  // The permutation repeats after so many lines.
  int64_t period = tile.getSwizzle() == tile::Swizzle::Patches ? 64 : 8;
  if (line.offset != 0 && line.offset % period == 0)
    return index.add(getPlace(tile, {line.base, 0}, number, unit), line.offset * length);
  Value value = toValue(line);
  Value permuted = arith::XOrIOp::create(builder, loc, number, getKey(tile, value));
  return index.add(index.mul(value, length), index.mul(permuted, tile.getChunkColumns() * unit));
}

LinePlaces::Start LinePlaces::getStart(Value tile) {
  auto type = cast<tile::SharedType>(tile.getType());
  Value first = tile, skipped;
  if (auto slot = tile.getDefiningOp<tile::SlotOp>()) {
    first =
        tile::SlotOp::create(builder, loc, type, slot.getRing(), index.constant(0), slot.getTile());
    int64_t bytes = llvm::alignTo(type.getBytes(), type.getAlignment());
    skipped = index.mul(slot.getStage(), bytes / type.getElementBytes());
  }
  // Folds away when tiles become pointers.
  auto pointerType = LLVM::LLVMPointerType::get(builder.getContext(), 3);
  Value pointer =
      UnrealizedConversionCastOp::create(builder, loc, TypeRange(pointerType), first).getResult(0);
  return {pointer, skipped};
}

Value LinePlaces::getPointer(Value tile, Value place) {
  Type element = cast<tile::SharedType>(tile.getType()).getElementType();
  Start start = getStart(tile);
  Value pointer = offsetBy(builder, loc, element, start.pointer, place);
  return start.skipped ? offsetBy(builder, loc, element, pointer, start.skipped) : pointer;
}

Value LinePlaces::getElementPointer(Value tile, const Line &line, Value column) {
  auto type = cast<tile::SharedType>(tile.getType());
  Start start = getStart(tile);
  // What is no stage is addressed once, and not in a loop: the index is the offset in bytes.
  int64_t unit = start.skipped ? 1 : type.getElementBytes(), chunk = type.getChunkColumns();
  Type counted = start.skipped ? type.getElementType() : builder.getI8Type();
  Value place = getPlace(type, line, index.div(column, chunk), unit);
  if (start.skipped)
    place = index.add(start.skipped, place);
  place = index.add(place, index.mul(index.rem(column, chunk), unit));
  return offsetBy(builder, loc, counted, start.pointer, place);
}

} // namespace xc::cuda
