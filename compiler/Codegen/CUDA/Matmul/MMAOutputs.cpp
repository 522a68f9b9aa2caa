//===- MMAOutputs.cpp - Sums on their way to memory -----------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A thread has pairs of neighbours of 2 rows of each piece of 16 rows by 8 columns: see
// `!tile.warp`.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Matmul/MMAEmitter.h"

#include "compiler/Codegen/CUDA/Common/LaneOps.h"

using namespace mlir;

namespace xc::cuda {

Value MMAEmitter::getPair(Value sums, int64_t j, int64_t half) {
  return tile::FragmentOp::create(builder, loc, VectorType::get(2, sumType.getElementType()), sums,
                                  j * kMmaN, half);
}

void MMAEmitter::emitOutputs(ArrayRef<Value> sums) {
  if (isSwapped)
    return emitSwappedOutputs(sums);
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t half = 0; half < 2; ++half) {
      MatmulTile::RowParts parts = tile.startParts();
      Value inPiece = index.add(pairRow, half * sumType.getRowDistance());
      for (int64_t j = 0; j < columns; ++j) {
        Value row = index.add(index.add(tile.startM, index.mul(warpRow, warpM)),
                              index.add(inPiece, i * kMmaM));
        Value column = index.add(index.add(tile.startN, index.mul(warpColumn, warpN)),
                                 index.add(pairColumn, j * kMmaN));
        Value values = getPair(sums[i], j, half);
        tile.emitOutputs(row, column, values);
        addToParts(parts, row, column, values, j);
      }
    }
}

/// What the sums have as neighbours in a column is neighbours of a row.
void MMAEmitter::emitSwappedOutputs(ArrayRef<Value> sums) {
  Value startM = index.add(tile.startM, getSecondStart()),
        startN = index.add(tile.startN, getFirstStart());
  for (int64_t j = 0; j < columns; ++j)
    for (int64_t next = 0; next < 2; ++next)
      for (int64_t i = 0; i < rows; ++i) {
        SmallVector<Value> neighbours;
        for (int64_t half = 0; half < 2; ++half)
          neighbours.push_back(getLane(builder, loc, getPair(sums[i], j, half), next));
        tile.emitOutputs(index.add(startM, index.add(pairColumn, j * kMmaN + next)),
                         index.add(startN, index.add(pairRow, i * kMmaM)),
                         fromLanes(builder, loc, neighbours));
      }
}

void MMAEmitter::addToParts(MatmulTile::RowParts &parts, Value row, Value column, Value values,
                            int64_t j) {
  tile.addToParts(parts, row, column, values);
  int64_t width = contraction.getPartColumns(), end = (j + 1) * kMmaN;
  if (parts.empty() || end % width != 0)
    return;
  Value start = index.add(tile.startN, index.mul(warpColumn, warpN));
  Value isStoring = index.isEqual(pairColumn, index.constant(0));
  tile.storeParts(parts, row, index.add(start, end - width), {1, 2}, isStoring);
  parts = tile.startParts();
}

void MMAEmitter::emitColumnParts(ArrayRef<Value> sums) {
  constexpr int64_t kLanes = 2;
  Value isStoring = index.isEqual(pairRow, index.constant(0));
  for (int64_t firstRow = 0; firstRow < warpM; firstRow += kPartRows)
    for (int64_t j = 0; j < columns; ++j) {
      PointEmitter::Scope scope(points);
      Value start = index.add(index.add(tile.startM, index.mul(warpRow, warpM)), firstRow);
      Value column = index.add(index.add(tile.startN, index.mul(warpColumn, warpN)),
                               index.add(pairColumn, j * kMmaN));
      for (const ReductionGroup::ColumnPart &part : contraction.group.columnParts) {
        MatmulTile::ColumnPart own = tile.startColumnPart(part, kLanes);
        for (int64_t row = 0; row < kPartRows; row += kMmaM)
          for (int64_t half = 0; half < 2; ++half) {
            Value inPiece = index.add(pairRow, half * sumType.getRowDistance());
            tile.addToColumnPart(part, own, index.add(start, index.add(inPiece, row)), column,
                                 getPair(sums[(firstRow + row) / kMmaM], j, half),
                                 /*areOutputs=*/false);
          }
        // Four lanes have the columns of a row of pairs.
        tile.combineColumnPart(part, own, {4, 8, 16});
        tile.storeColumnPart(part, own, start, column, isStoring);
      }
      tile.withdrawColumnParts();
    }
}

std::optional<int64_t> MMAEmitter::getStagingRoom(int64_t &width) {
  // Of f64, four threads store whole sectors as they are.
  if (isDouble() || contraction.group.results.size() != 1)
    return std::nullopt;
  Type type = getElementTypeOrSelf(contraction.group.results.front().output.tensor);
  int64_t bytes = getElementBytes(type), chunks = warpN * bytes / kChunkBytes;
  if ((bytes != 2 && bytes != 4) || chunks > 32 || !llvm::isPowerOf2_64(chunks) ||
      tile.getOutputWidth(kChunkBytes / bytes) * bytes != kChunkBytes)
    return std::nullopt;
  width = kChunkBytes / bytes;
  int64_t room = config.getTileN() > config.getTileM();
  int64_t available = config.getStages() * operands[room].type.getBytes();
  if (threads / tile::kWarpThreads * kMmaM * warpN * bytes > available)
    return std::nullopt;
  return room;
}

/// Each warp transposes 16 rows at a time: a thread holds pairs of many rows, and whole sectors of
/// memory want neighbours in one access.
void MMAEmitter::emitRowOutputs(ArrayRef<Value> sums, int64_t room, int64_t width) {
  Type type = getElementTypeOrSelf(contraction.group.results.front().output.tensor);
  // Pairs of four lanes take one chunk of 16-bit elements, or two of 32-bit ones.
  tile::Swizzle swizzle = getElementBytes(type) == 2 ? tile::Swizzle::Lines : tile::Swizzle::Even;
  auto stagingType = tile::SharedType::get(
      builder.getContext(), threads / tile::kWarpThreads * kMmaM, warpN, type, swizzle);
  Value staging = tile::ReuseOp::create(builder, loc, stagingType, ring, room);
  Value warp = tile::WarpPlaceOp::create(builder, loc, /*columns=*/1).getRow();
  Value own = index.mul(warp, kMmaM);
  int64_t lines = *tile::ShareOp::getLines(warpN, width, tile::kWarpThreads);
  Value startM = index.add(tile.startM, index.mul(warpRow, warpM)),
        startN = index.add(tile.startN, index.mul(warpColumn, warpN));
  // All warps are done with the operands.
  frame.barrier();
  for (int64_t i = 0; i < warpM / kMmaM; ++i) {
    if (i > 0)
      tile::SyncWarpOp::create(builder, loc);
    for (int64_t half = 0; half < 2; ++half) {
      MatmulTile::RowParts parts = tile.startParts();
      for (int64_t j = 0; j < columns; ++j) {
        Value line = index.add(pairRow, half * sumType.getRowDistance()),
              column = index.add(pairColumn, j * kMmaN);
        Value m = index.add(startM, index.add(line, i * kMmaM)), n = index.add(startN, column);
        Value accumulators = getPair(sums[i], j, half);
        Value value = tile.emitOutput(m, n, accumulators);
        addToParts(parts, m, n, accumulators, j);
        tile::WriteOp::create(builder, loc, value, staging, index.add(own, line), column);
      }
    }
    tile::SyncWarpOp::create(builder, loc);
    auto share = tile::ShareOp::create(builder, loc, 0, warpN, width, tile::kWarpThreads);
    for (int64_t first = 0; first < kMmaM; first += lines) {
      Value line = index.add(share.getLine(), first);
      Value values = tile::ReadElementsOp::create(builder, loc, VectorType::get(width, type),
                                                  staging, index.add(own, line), share.getColumn());
      tile.storeOutput(index.add(startM, index.add(line, i * kMmaM)),
                       index.add(startN, share.getColumn()), values);
    }
  }
}

} // namespace xc::cuda
