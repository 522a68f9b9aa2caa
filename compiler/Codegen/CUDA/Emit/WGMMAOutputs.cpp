//===- WGMMAOutputs.cpp - From sums of wgmma to outputs -------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Emit/LaneOps.h"
#include "compiler/Codegen/CUDA/Emit/WGMMAEmitter.h"

using namespace mlir;

namespace xc::cuda {

using Group = TiledAccess::Group;

static Value getPair(OpBuilder &builder, Location loc, Value sums, int64_t column, int64_t half) {
  auto type = cast<tile::AccumulatorType>(sums.getType());
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
    for (int64_t half = 0; half < 2; ++half)
      for (int64_t column = 0; column < ownColumns; column += 8) {
        Value m = index.add(index.add(first, rowInPart), part * tile::kWarpgroupRows + half * 8);
        Value n = index.add(index.add(startColumn, pair), column);
        tile.emitOutputs(m, n, getPair(builder, loc, values, column, half));
      }
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
  for (int64_t column = 0; column < ownColumns; column += 8) {
    SmallVector<Value> pairs; // of each row
    for (Value values : sums)
      for (int64_t half = 0; half < 2; ++half)
        pairs.push_back(getPair(builder, loc, values, column, half));
    Value at = index.add(index.add(startColumn, pair), column);
    if (!swapped) {
      for (auto [number, values] : llvm::enumerate(pairs))
        tile.emitOutputs(index.add(row, number), at, values);
      continue;
    }
    for (int64_t side = 0; side < 2; ++side) {
      SmallVector<Value> lanes;
      for (Value values : pairs)
        lanes.push_back(getLane(builder, loc, values, side));
      tile.emitOutputs(index.add(at, side), row, fromLanes(builder, loc, lanes));
    }
  }
}

void WGMMAEmitter::storeBoxes(Value warpgroup, Value place, ArrayRef<Value> sums) {
  auto type = cast<tile::SharedType>(staging.getType());
  Value lane = index.rem(thread, 32), warp = index.div(threadInWarpgroup, 32);
  Value pair = index.mul(index.rem(lane, 4), 2);
  Value isLeader = index.isEqual(threadInWarpgroup, index.constant(0));
  Value stagingRow = index.mul(warpgroup, tile::kWarpgroupRows);
  Value warpRow = index.add(stagingRow, index.mul(warp, 16));
  // What belongs to columns, a bias say, is read once for all parts of these rows and then let go.
  for (int64_t first = 0; first < ownColumns; first += type.getColumns())
    for (auto [part, values] : llvm::enumerate(sums)) {
      Value startM = index.add(index.add(tile.startM, index.mul(place, rowsPerWarpgroup)),
                               part * tile::kWarpgroupRows);
      Value m = index.add(startM, index.add(index.mul(warp, 16), index.div(lane, 4)));
      points.emitIf(isLeader, [&] { tile::WaitStoresOp::create(builder, loc, 0, /*read=*/true); });
      tile::SyncWarpgroupOp::create(builder, loc, warpgroup);
      for (int64_t column = 0; column < type.getColumns(); column += 16) {
        SmallVector<Value> words;
        for (int64_t right = 0; right < 16; right += 8)
          for (int64_t half = 0; half < 2; ++half) {
            int64_t at = first + column + right;
            Value n = index.add(index.add(startColumn, pair), at);
            words.push_back(tile.emitOutput(index.add(m, half * 8), n,
                                            getPair(builder, loc, values, at, half)));
          }
        tile::WriteFragmentOp::create(builder, loc, words, staging, warpRow,
                                      index.constant(column));
      }
      tile::FenceAsyncOp::create(builder, loc);
      tile::SyncWarpgroupOp::create(builder, loc, warpgroup);
      points.emitIf(isLeader, [&] {
        for (int64_t panel = 0; panel < type.getPanels(); ++panel) {
          Value n = index.add(startColumn, first + panel * type.getPanelColumns());
          SmallVector<Value> coords =
              getCoords(*output, [&](Group group) { return group == Group::N ? n : startM; });
          tile::StoreOp::create(builder, loc, staging, stagingRow, panel, outputMap, coords);
        }
      });
    }
}

} // namespace xc::cuda
