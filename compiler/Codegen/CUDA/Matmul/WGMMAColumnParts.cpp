//===- WGMMAColumnParts.cpp - Columns of staged outputs, reduced ----------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A warpgroup stages 64 rows of outputs at a time, which are those of a part. Each of its warps
// reads 16 columns of all of them: a thread two columns of 16 rows,
//
//   lane / 8 says which two rows of every eight, lane % 8 which columns
//
// so that the four rows that a warp reads at a time are in four pairs of chunks of the swizzle (of
// 32-bit outputs two rows in two groups of four chunks), and nothing but two shuffles is left to
// do. What is reduced is what is stored, rounded as it is. The tile is only read, as boxes or
// vectors of it leave; the barrier before the next one is written covers both.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Matmul/WGMMAEmitter.h"

using namespace mlir;

namespace xc::cuda {

/// Columns of a warp, and of a thread; warps of a warpgroup.
static constexpr int64_t kWarpColumns = 16, kThreadColumns = 2,
                         kReducingWarps = tile::kWarpgroupThreads / 32;
/// Rows that are read before any of them is added up.
static constexpr int64_t kRowsAtATime = 8;

LogicalResult WGMMAEmitter::checkColumnParts() {
  bool isOne = getConstantIntValue(tile.batches) == std::optional<int64_t>(1);
  if (contraction.group.columnParts.empty() || (staging && isOne))
    return success();
  return kernel.getFunction().emitOpError(
             "expected outputs of one product, that pass through shared memory, where columns are "
             "reduced, for ")
         << config;
}

void WGMMAEmitter::storeColumnParts(Value stagingRow, Value startM, int64_t first,
                                    int64_t columns) {
  Value warp = index.div(threadInWarpgroup, 32), lane = index.rem(thread, 32);
  int64_t units = columns / kWarpColumns;
  for (int64_t unit = 0; unit < units; unit += kReducingWarps) {
    Value own = index.add(warp, unit);
    Value isThere =
        unit + kReducingWarps <= units ? Value() : index.isLess(own, index.constant(units));
    points.emitIf(isThere, [&] {
      PointEmitter::Scope scope(points);
      Value column =
          index.add(index.mul(own, kWarpColumns), index.mul(index.rem(lane, 8), kThreadColumns));
      storeColumnParts(stagingRow, startM, index.add(index.add(startColumn, first), column),
                       column);
    });
  }
}

/// The first of two rows of every eight that a thread reads.
Value WGMMAEmitter::getFirstPairOfRows(Value lane) {
  Value number = index.div(lane, 8);
  if (cast<tile::SharedType>(staging.getType()).getElementBytes() == 2)
    return index.mul(number, 2);
  // Half a warp reads at a time.
  return index.add(index.mul(index.rem(number, 2), 4), index.mul(index.div(number, 2), 2));
}

void WGMMAEmitter::storeColumnParts(Value stagingRow, Value startM, Value n, Value column) {
  Value lane = index.rem(thread, 32), firstRow = getFirstPairOfRows(lane);
  Type elementType = cast<tile::SharedType>(staging.getType()).getElementType();
  Type pairType = VectorType::get(kThreadColumns, elementType);
  auto addRows = [&](const ReductionGroup::ColumnPart &part, Value start, ValueRange carried) {
    SmallVector<Value> rows, values;
    for (int64_t row = 0; row < kRowsAtATime; ++row) {
      rows.push_back(index.add(index.add(firstRow, start), row / 2 * 8 + row % 2));
      values.push_back(tile::ReadElementsOp::create(builder, loc, pairType, staging,
                                                    index.add(stagingRow, rows.back()), column));
    }
    MatmulTile::ColumnPart sums(carried);
    for (auto [row, pair] : llvm::zip_equal(rows, values))
      tile.addToColumnPart(part, sums, index.add(startM, row), n, pair, /*areOutputs=*/true);
    return sums;
  };
  for (const ReductionGroup::ColumnPart &part : contraction.group.columnParts) {
    // Every thread has two rows of each eight.
    constexpr int64_t kRows = kRowsAtATime / 2 * 8;
    MatmulTile::ColumnPart sums = points.emitLoop(
        index.constant(0), index.constant(tile::kWarpgroupRows), index.constant(kRows),
        tile.startColumnPart(part, kThreadColumns),
        [&](Value start, ValueRange carried) { return addRows(part, start, carried); });
    tile.combineColumnPart(part, sums, {8, 16});
    tile.storeColumnPart(part, sums, startM, n, index.isLess(lane, index.constant(8)));
  }
  tile.withdrawColumnParts();
}

} // namespace xc::cuda
