//===- MMAOutputs.cpp - Sums on their way to memory -----------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A thread has pairs of neighbours of 2 rows of each piece of 16 rows by 8 columns.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Matmul/MMAEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;

namespace xc::cuda {

void MMAEmitter::emitOutputs(ArrayRef<Value> sums) {
  if (isSwapped)
    return emitSwappedOutputs(sums);
  Value group = index.div(lane, 4), pair = index.mul(index.rem(lane, 4), 2);
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t half = 0; half < 2; ++half) {
      MatmulTile::RowParts parts = tile.startParts();
      Value inPiece = isDouble() && isPaired ? index.add(index.mul(group, 2), half)
                                             : index.add(group, half * 8);
      for (int64_t j = 0; j < columns; ++j) {
        Value row = index.add(index.add(tile.startM, index.mul(warpRow, warpM)),
                              index.add(inPiece, i * kMmaM));
        Value column = index.add(index.add(tile.startN, index.mul(warpColumn, warpN)),
                                 index.add(pair, j * kMmaN));
        Value values = fromLanes(builder, loc, sums.slice((i * columns + j) * 4 + half * 2, 2));
        tile.emitOutputs(row, column, values);
        addToParts(parts, row, column, values, j);
      }
    }
}

void MMAEmitter::emitSwappedOutputs(ArrayRef<Value> sums) {
  Value pair = index.mul(index.div(lane, 4), 2), line = index.mul(index.rem(lane, 4), 2);
  Value startM = index.add(tile.startM, getSecondStart()),
        startN = index.add(tile.startN, getFirstStart());
  for (int64_t j = 0; j < columns; ++j)
    for (int64_t next = 0; next < 2; ++next)
      for (int64_t i = 0; i < rows; ++i) {
        ArrayRef<Value> piece = sums.slice((i * columns + j) * 4, 4);
        tile.emitOutputs(index.add(startM, index.add(line, j * kMmaN + next)),
                         index.add(startN, index.add(pair, i * kMmaM)),
                         fromLanes(builder, loc, {piece[next], piece[2 + next]}));
      }
}

void MMAEmitter::addToParts(MatmulTile::RowParts &parts, Value row, Value column, Value values,
                            int64_t j) {
  tile.addToParts(parts, row, column, values);
  int64_t width = contraction.getPartColumns(), end = (j + 1) * kMmaN;
  if (parts.empty() || end % width != 0)
    return;
  Value start = index.add(tile.startN, index.mul(warpColumn, warpN));
  Value isStoring = index.isEqual(index.rem(lane, 4), index.constant(0));
  tile.storeParts(parts, row, index.add(start, end - width), {1, 2}, isStoring);
  parts = tile.startParts();
}

const MMAEmitter::Operand *MMAEmitter::getStagingRoom(int64_t &width) {
  // Of f64, four threads store whole sectors as they are.
  if (isDouble() || contraction.group.results.size() != 1)
    return nullptr;
  Type type = getElementTypeOrSelf(contraction.group.results.front().output.tensor);
  int64_t bytes = getElementBytes(type), chunks = warpN * bytes / kChunkBytes;
  if ((bytes != 2 && bytes != 4) || chunks > 32 || !llvm::isPowerOf2_64(chunks) ||
      tile.getOutputWidth(kChunkBytes / bytes) * bytes != kChunkBytes)
    return nullptr;
  width = kChunkBytes / bytes;
  const Operand &room = operands[config.getTileN() > config.getTileM()];
  int64_t available = config.getStages() * getTileElements(room) * elementBytes;
  return threads / 32 * kMmaM * warpN * bytes <= available ? &room : nullptr;
}

/// Each warp transposes 16 rows at a time: a thread holds pairs of many rows, and whole sectors of
/// memory want neighbours in one access. Chunks are permuted as in the operands' tiles.
void MMAEmitter::emitRowOutputs(ArrayRef<Value> sums, const Operand &room, int64_t width) {
  int64_t bytes = kChunkBytes / width, lineBytes = warpN * bytes;
  int64_t chunks = lineBytes / kChunkBytes, keys = std::min<int64_t>(chunks, 8);
  Type type = getElementTypeOrSelf(contraction.group.results.front().output.tensor);
  Value warp = index.div(thread, 32), none = index.constant(0);
  Value group = index.div(lane, 4), pair = index.mul(index.rem(lane, 4), 2);
  Value startM = index.add(tile.startM, index.mul(warpRow, warpM)),
        startN = index.add(tile.startN, index.mul(warpColumn, warpN));
  Value start = tile.getPointer(room.buffer, none);
  auto locate = [&](Value line, Value number, Value within) -> Value {
    Value row = chunks < 8 ? index.div(line, 8 / chunks) : line;
    // Pairs of four lanes take one chunk, or two.
    Value key = bytes == 2 ? index.rem(row, keys) : index.mul(index.rem(row, keys / 2), 2);
    Value place = index.mul(arith::XOrIOp::create(builder, loc, number, key), kChunkBytes);
    Value first = index.mul(index.add(index.mul(warp, kMmaM), line), lineBytes);
    Value offset = arith::IndexCastOp::create(builder, loc, builder.getI64Type(),
                                              index.add(index.add(first, place), within));
    return LLVM::GEPOp::create(builder, loc, start.getType(), builder.getI8Type(), start,
                               ArrayRef<LLVM::GEPArg>{offset});
  };
  auto syncWarp = [&] {
    Value all = arith::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(-1));
    NVVM::SyncWarpOp::create(builder, loc, all);
  };
  // All warps are done with the operands.
  frame.barrier();
  for (int64_t i = 0; i < warpM / kMmaM; ++i) {
    if (i > 0)
      syncWarp();
    for (int64_t half = 0; half < 2; ++half) {
      MatmulTile::RowParts parts = tile.startParts();
      for (int64_t j = 0; j < columns; ++j) {
        Value line = index.add(group, half * 8), column = index.add(pair, j * kMmaN);
        Value m = index.add(startM, index.add(line, i * kMmaM)), n = index.add(startN, column);
        Value accumulators =
            fromLanes(builder, loc, sums.slice((i * columns + j) * 4 + half * 2, 2));
        Value value = tile.emitOutput(m, n, accumulators);
        addToParts(parts, m, n, accumulators, j);
        Value inChunk = index.mul(index.rem(column, width), bytes);
        LLVM::StoreOp::create(builder, loc, value, locate(line, index.div(column, width), inChunk),
                              static_cast<unsigned>(2 * bytes));
      }
    }
    syncWarp();
    for (int64_t first = 0; first < kMmaM; first += 32 / chunks) {
      Value line = index.add(index.div(lane, chunks), first), number = index.rem(lane, chunks);
      Value values = LLVM::LoadOp::create(builder, loc, VectorType::get(width, type),
                                          locate(line, number, none), kChunkBytes);
      tile.storeOutput(index.add(startM, index.add(line, i * kMmaM)),
                       index.add(startN, index.mul(number, width)), values);
    }
  }
}

} // namespace xc::cuda
