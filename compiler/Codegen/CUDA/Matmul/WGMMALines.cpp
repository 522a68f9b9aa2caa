//===- WGMMALines.cpp - Operands that threads load as they lie ------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Boxes are of rows that begin at multiples of 16 bytes. An operand whose rows do not, of which
// each byte is needed by few tiles, is not worth a copy to where they would. Threads load it by
// lines of 128 bytes, as the slot has them, of which each of a warp's lanes has a word. The warps
// take the lines in turn, so that a thread's loads are at known distances from each other. Lanes
// are neighbours in memory and, swizzled or not, in different banks.
//
// Elements of 16 bits whose rows begin at odd ones are loaded one by one, and stored in pairs.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Common/LaneOps.h"
#include "compiler/Codegen/CUDA/Common/Pointers.h"
#include "compiler/Codegen/CUDA/Common/TF32.h"
#include "compiler/Codegen/CUDA/Matmul/MatmulLimits.h"
#include "compiler/Codegen/CUDA/Matmul/WGMMAEmitter.h"

using namespace mlir;

namespace xc::cuda {

static constexpr int64_t kLineWarps = tile::kWarpgroupThreads / 32, kLaneBytes = 4;

LogicalResult WGMMAEmitter::addLoaded(const Contraction::Side &side, int64_t own) {
  Type elementType = getElementTypeOrSelf(side.operand->get());
  int64_t bytes = getElementBytes(elementType);
  auto refuse = [&](llvm::StringRef expected) {
    return kernel.getFunction().emitOpError("expected ")
           << expected << " for " << config << ", an operand of which threads load";
  };
  if (config.getTileK() * bytes != kLineBytes)
    return refuse("steps of 128 bytes along k");
  if (cluster > 1)
    return refuse("blocks that fetch for themselves");
  if (!side.isKContiguous && own * bytes % kLineBytes != 0)
    return refuse("rows of multiples of 128 bytes");
  if (!side.isKContiguous && bytes != 2) {
    if (!operands.empty())
      return refuse("an operand B that is contiguous along k");
    inRegisters = true;
  }
  auto [type, rows] = getLines(side, own);
  if (!side.isKContiguous) {
    type = tile::SharedType::get(builder.getContext(), config.getTileK(), own, elementType);
    rows = config.getTileK();
  }
  operands.push_back({side, TiledAccess(), type, rows});
  operands.back().loadsPerWord = tile.countLoadsPerWord(side);
  return success();
}

/// Panel by panel: those of an operand along k have one.
int64_t WGMMAEmitter::countLines(const Operand &operand) {
  return operand.rows * operand.type.getColumns() * operand.type.getElementBytes() / kLineBytes;
}

/// The row of the first warp's line `number`, and the column where the line's panel begins.
std::pair<int64_t, int64_t> WGMMAEmitter::getLineStart(const Operand &operand, int64_t number) {
  int64_t line = number * kLineWarps;
  // Rows that are not there are those of no other panel: an operand along k has one.
  if (operand.side.isKContiguous)
    return {line, 0};
  return {line % operand.rows, line / operand.rows * operand.type.getPanelColumns()};
}

std::pair<Value, Value> WGMMAEmitter::getLinePlace(const Operand &operand, int64_t number) {
  int64_t width = kLaneBytes / operand.type.getElementBytes();
  auto [row, column] = getLineStart(operand, number);
  Value lane = index.rem(threadInWarpgroup, 32), warp = index.div(threadInWarpgroup, 32);
  return {index.add(warp, row), index.add(index.mul(lane, width), column)};
}

/// This thread's word of a line of the tile from `k` on, in the elements that it is loaded by.
SmallVector<Value> WGMMAEmitter::loadLine(const Operand &operand, int64_t number, Value k) {
  bool alongK = operand.side.isKContiguous;
  Type elementType = operand.type.getElementType();
  int64_t width = kLaneBytes / operand.type.getElementBytes();
  int64_t lanes = width / operand.loadsPerWord;
  auto getPlace = [&](int64_t line) -> std::pair<Value, Value> {
    auto [row, column] = getLinePlace(operand, line);
    return {index.add(getStart(operand), alongK ? row : column),
            index.add(k, alongK ? column : row)};
  };
  auto [firstOwn, firstK] = getPlace(0);
  Value base = getPointer(builder, loc, points.getMemory(operand.side.getCopySource()),
                          tile.getPosition(operand.side, firstOwn, firstK).first);
  int64_t stride = *tile.getKnownStride(operand.side, /*alongK=*/!alongK);
  auto [row, column] = getLineStart(operand, number);
  int64_t offset = row * stride + column;
  auto [own, ownK] = getPlace(number);
  int64_t tileOwn = alongK ? operand.type.getRows() : operand.type.getColumns();
  Type type = lanes > 1 ? Type(VectorType::get(lanes, elementType)) : elementType;
  SmallVector<Value> values;
  for (int64_t i = 0; i < operand.loadsPerWord; ++i) {
    Value inside = tile.isInside(operand.side, alongK ? own : index.add(own, i),
                                 alongK ? index.add(ownK, i) : ownK, tileOwn, config.getTileK());
    values.push_back(loadOrZero(builder, loc, type, base,
                                (offset + i) * operand.type.getElementBytes(), inside));
  }
  return values;
}

void WGMMAEmitter::storeLine(const Operand &operand, int64_t number, ArrayRef<Value> values,
                             Value slot) {
  auto [row, column] = getLinePlace(operand, number);
  Value word = values.size() > 1 ? fromLanes(builder, loc, values) : values.front();
  if (operand.type.getElementType().isF32())
    word = roundedToTF32(builder, loc, word);
  tile::WriteOp::create(builder, loc, word, slot, row, column);
}

} // namespace xc::cuda
