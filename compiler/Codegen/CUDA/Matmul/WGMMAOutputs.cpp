//===- WGMMAOutputs.cpp - From sums of wgmma to outputs -------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Common/LaneOps.h"
#include "compiler/Codegen/CUDA/Matmul/WGMMAEmitter.h"

#include <numeric>

using namespace mlir;

namespace xc::cuda {

using Group = TiledAccess::Group;

static Value getPair(OpBuilder &builder, Location loc, Value sums, int64_t column, int64_t half) {
  auto type = cast<tile::RegisterType>(sums.getType());
  return tile::FragmentOp::create(builder, loc, VectorType::get(2, type.getElementType()), sums,
                                  column, half);
}

void WGMMAEmitter::storeDirectly(Value place, ArrayRef<Value> sums) {
  Value lane = index.rem(thread, 32), warp = index.div(threadInWarpgroup, 32);
  Value pair = index.mul(index.rem(lane, 4), 2);
  Value rowInPart = index.add(index.mul(warp, 16), index.div(lane, 4));
  Value first = index.add(getStartRow(), index.mul(place, rowsPerWarpgroup));
  if (inRegisters)
    return storeRows(first, sums);
  for (auto [part, values] : llvm::enumerate(sums))
    for (int64_t half = 0; half < 2; ++half) {
      MatmulTile::RowParts parts = tile.startParts();
      for (int64_t column = 0; column < ownColumns; column += 8) {
        Value m = index.add(index.add(first, rowInPart), part * tile::kWarpgroupRows + half * 8);
        Value n = index.add(index.add(startColumn, pair), column);
        Value accumulators = getPair(builder, loc, values, column, half);
        tile.emitOutputs(m, n, accumulators);
        addToParts(parts, m, n, accumulators, column + 8);
      }
    }
}

void WGMMAEmitter::addToParts(MatmulTile::RowParts &parts, Value m, Value n, Value accumulators,
                              int64_t end) {
  tile.addToParts(parts, m, n, accumulators);
  int64_t columns = contraction.getPartColumns();
  if (parts.empty() || end % columns != 0)
    return;
  Value isStoring = index.isEqual(index.rem(thread, 4), index.constant(0));
  tile.storeParts(parts, m, index.add(startColumn, end - columns), {1, 2}, isStoring);
  parts = tile.startParts();
}

/// As `storeDirectly`, where the rows of a thread are those that `tile.read_fragments` gave it:
/// neighbours, which are stored together where they are columns of the product.
void WGMMAEmitter::storeRows(Value first, ArrayRef<Value> sums) {
  Value lane = index.rem(thread, 32), warp = index.div(threadInWarpgroup, 32);
  Value group = index.div(lane, 4), pair = index.mul(index.rem(lane, 4), 2);
  auto bit = [&](Value value, int64_t place, int64_t worth) {
    return index.mul(index.rem(index.div(value, int64_t(1) << place), 2), worth);
  };
  Value row;
  if (operands[0].type.getElementBytes() == 1)
    row = index.add(index.mul(warp, 32), index.mul(group, 4));
  else if (sums.size() == 2)
    row = index.add(index.add(index.mul(warp, 32), bit(group, 0, 16)),
                    index.mul(index.div(group, 2), 4));
  else
    row = index.add(
        index.add(index.add(index.mul(index.div(warp, 2), 32), bit(group, 0, 16)), bit(warp, 0, 8)),
        index.add(bit(group, 2, 4), bit(group, 1, 2)));
  row = index.add(first, row);
  int64_t rows = sums.size() * 2; // of this thread, one behind the other
  SmallVector<MatmulTile::RowParts> parts(swapped ? 0 : rows, tile.startParts());
  for (int64_t column = 0; column < ownColumns; column += 8) {
    SmallVector<Value> pairs; // of each row
    for (Value values : sums)
      for (int64_t half = 0; half < 2; ++half)
        pairs.push_back(getPair(builder, loc, values, column, half));
    Value at = index.add(index.add(startColumn, pair), column);
    if (!swapped) {
      for (auto [number, values] : llvm::enumerate(pairs)) {
        tile.emitOutputs(index.add(row, number), at, values);
        addToParts(parts[number], index.add(row, number), at, values, column + 8);
      }
      continue;
    }
    for (int64_t side = 0; side < 2; ++side) {
      SmallVector<Value> lanes;
      for (Value values : pairs)
        lanes.push_back(getLane(builder, loc, values, side));
      Value m = index.add(at, side), accumulators = fromLanes(builder, loc, lanes);
      tile.emitOutputs(m, row, accumulators);
      MatmulTile::RowParts own = tile.startParts();
      tile.addToParts(own, m, row, accumulators);
      // A warp has 32 rows of the sums, which are columns of the product, and here a part of one of
      // its rows.
      if (!own.empty())
        tile.storeParts(own, m, index.add(first, index.mul(warp, 32)), {4, 8, 16},
                        index.isLess(lane, index.constant(4)));
    }
  }
}

/// True if `op` reads input `use` by its last loop alone.
static bool readsByColumn(linalg::LinalgOp op, OpOperand *use) {
  AffineMap map = op.getMatchingIndexingMap(use);
  return op.getNumReductionLoops() == 0 && map.getNumResults() == 1 &&
         map.getResult(0) == getAffineDimExpr(op.getNumLoops() - 1, op.getContext());
}

void WGMMAEmitter::loadColumnVectors() {
  std::optional<int64_t> columns = getConstantIntValue(tile.sizeN);
  constexpr int64_t fewColumns = 128;
  if (!staging || !columns || !tile.hasWholeTiles() || config.getSplit() > 1 ||
      ownColumns > fewColumns)
    return;
  // They are held all along the products, beside the sums, addresses and what outputs take for a
  // while: with any more, ptxas spills.
  constexpr int64_t others = 72, columnsPerPair = 8;
  int64_t sums = rowsPerWarpgroup / tile::kWarpgroupRows * config.getTileN() / 2;
  int64_t available = getThreadRegisters().consumer - sums - others;
  Value pair = index.mul(index.rem(index.rem(thread, 32), 4), 2);
  for (Operation *op : kernel.tensorOps) {
    auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
    if (!linalgOp)
      continue;
    for (OpOperand *use : linalgOp.getDpsInputOperands()) {
      auto type = dyn_cast<RankedTensorType>(use->get().getType());
      if (!type || !getSourceBinding(use->get()) || !readsByColumn(linalgOp, use) ||
          type.getShape() != ArrayRef(*columns))
        continue;
      int64_t words = llvm::divideCeil(2 * getElementBytes(type.getElementType()), 4) * ownColumns /
                      columnsPerPair;
      if (words > available)
        continue;
      available -= words;
      for (int64_t column = 0; column < ownColumns; column += 8) {
        Value n = index.add(index.add(startColumn, pair), column);
        points.emit(use->get(), Point{{Coord::consecutive(n)}, {}, 2, {}});
      }
    }
  }
}

void WGMMAEmitter::stage(Value row, int64_t column, ArrayRef<Value> pairs) {
  auto type = cast<tile::SharedType>(staging.getType());
  if (type.getElementBytes() == 2) {
    tile::WriteFragmentOp::create(builder, loc, pairs, staging, row, index.constant(column));
    return;
  }
  Value lane = index.rem(thread, 32);
  Value ownRow = index.add(row, index.div(lane, 4)), own = index.mul(index.rem(lane, 4), 2);
  for (auto [number, pair] : llvm::enumerate(pairs))
    tile::WriteOp::create(builder, loc, pair, staging, index.add(ownRow, number % 2 * 8),
                          index.add(own, column + number / 2 * 8));
}

void WGMMAEmitter::stageColumns(Value stagingRow, Value rowInTile, int64_t first, int64_t columns,
                                Value sums) {
  Value lane = index.rem(thread, 32), warp = index.div(threadInWarpgroup, 32);
  Value pair = index.mul(index.rem(lane, 4), 2);
  Value warpRow = index.add(stagingRow, index.mul(warp, 16));
  Value m = index.add(index.add(tile.startM, rowInTile),
                      index.add(index.mul(warp, 16), index.div(lane, 4)));
  SmallVector<MatmulTile::RowParts, 2> parts(2, tile.startParts()); // of each half
  for (int64_t column = 0; column < columns; column += 16) {
    SmallVector<Value> words;
    if (column == 0 || (first + column) % getSideType().getColumns() == 0)
      readSideInputs(rowInTile, first + column);
    for (int64_t right = 0; right < 16; right += 8)
      for (int64_t half = 0; half < 2; ++half) {
        int64_t at = first + column + right;
        Value n = index.add(index.add(startColumn, pair), at);
        Value row = index.add(m, half * 8);
        Value accumulators = getPair(builder, loc, sums, at, half);
        provideSideInputs(at, half);
        words.push_back(tile.emitOutput(row, n, accumulators));
        addToParts(parts[half], row, n, accumulators, at + 8);
      }
    stage(warpRow, column, words);
  }
}

void WGMMAEmitter::storeBoxes(Value stagingRow, Value startM, int64_t first, int64_t columns) {
  int64_t width = cast<tile::SharedType>(staging.getType()).getPanelColumns();
  for (int64_t column = 0; column < columns; column += width) {
    Value n = index.add(startColumn, first + column);
    Value map = columns - column < width ? outputTailMap : outputMap;
    SmallVector<Value> coords =
        getCoords(*output, {}, [&](Group group) { return group == Group::N ? n : startM; });
    tile::StoreOp::create(builder, loc, staging, stagingRow, column / width, map, coords);
  }
}

/// Neighbouring threads have neighbouring vectors of a row, whose lines memory then gets whole.
/// Some are read before any of them is stored: behind its guard each would wait for shared memory
/// by itself. A loop keeps the addresses of all others out of registers.
void WGMMAEmitter::storeVectors(Value stagingRow, Value startM, int64_t first, int64_t columns) {
  constexpr int64_t kBatch = 8;
  Type elementType = cast<tile::SharedType>(staging.getType()).getElementType();
  Type type = rowVector == 1 ? elementType : VectorType::get(rowVector, elementType);
  int64_t perRow = columns / rowVector;
  int64_t perThread = tile::kWarpgroupRows * perRow / tile::kWarpgroupThreads;
  int64_t batch = std::gcd(perThread, kBatch);
  auto storeBatch = [&](Value start) {
    SmallVector<std::pair<Value, Value>> places;
    SmallVector<Value> values;
    for (int64_t vector = 0; vector < batch; ++vector) {
      Value number = index.add(start, vector * tile::kWarpgroupThreads);
      auto [row, column] = places.emplace_back(index.div(number, perRow),
                                               index.mul(index.rem(number, perRow), rowVector));
      values.push_back(tile::ReadElementsOp::create(builder, loc, type, staging,
                                                    index.add(stagingRow, row), column));
    }
    for (auto [place, value] : llvm::zip_equal(places, values))
      tile.storeOutput(index.add(startM, place.first),
                       index.add(startColumn, index.add(place.second, first)), value);
  };
  points.emitLoop(index.constant(0), index.constant(perThread / batch), index.constant(1), {},
                  [&](Value number, ValueRange) -> SmallVector<Value> {
                    storeBatch(index.add(threadInWarpgroup,
                                         index.mul(number, batch * tile::kWarpgroupThreads)));
                    return {};
                  });
}

void WGMMAEmitter::storeStaged(Value warpgroup, Value place, ArrayRef<Value> sums) {
  int64_t width = cast<tile::SharedType>(staging.getType()).getColumns();
  Value isLeader = index.isEqual(threadInWarpgroup, index.constant(0));
  Value stagingRow = index.mul(warpgroup, tile::kWarpgroupRows);
  // What belongs to columns, a bias say, is read again for each part of the rows: it is in L1, and
  // kept beside the sums of the next part it would take registers that these need.
  for (int64_t first = 0; first < ownColumns; first += width) {
    int64_t columns = std::min(width, ownColumns - first);
    if (!config.getPingPong())
      awaitSideInputs(first, columns);
    for (auto [part, values] : llvm::enumerate(sums)) {
      Value rowInTile = index.add(index.mul(place, rowsPerWarpgroup), part * tile::kWarpgroupRows);
      Value startM = index.add(tile.startM, rowInTile);
      if (output)
        points.emitIf(isLeader,
                      [&] { tile::WaitStoresOp::create(builder, loc, 0, /*read=*/true); });
      tile::SyncWarpgroupOp::create(builder, loc, warpgroup);
      {
        PointEmitter::Scope scope(points);
        stageColumns(stagingRow, rowInTile, first, columns, values);
      }
      tile::SyncWarpgroupOp::create(builder, loc, warpgroup);
      if (output)
        points.emitIf(isLeader, [&] { storeBoxes(stagingRow, startM, first, columns); });
      else
        storeVectors(stagingRow, startM, first, columns);
      if (!contraction.group.columnParts.empty())
        storeColumnParts(stagingRow, startM, first, columns);
    }
    releaseSideInputs(first, columns);
  }
}

} // namespace xc::cuda
