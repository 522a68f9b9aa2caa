//===- JoinDecodeAttention.cpp - Join what was seen of parts of the keys --===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Warps leave in shared memory what they have seen: of each row the largest score, the sum of
// exponentials relative to it and the sums of values. Threads join four elements of a row each.
// Blocks of a cluster then give each other the results of their parts, with the logarithms of their
// sums: block r joins the r-th share of the elements. Other blocks store results of parts in
// memory, which a kernel of its own joins. The order of parts is always the same.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Attention/DecodeEmitter.h"
#include "compiler/Codegen/CUDA/Attention/FloatOps.h"
#include "compiler/Codegen/CUDA/Common/LaneOps.h"

#include "compiler/Dialect/Tile/IR/TileOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace xc::cuda {

/// Elements of a row that a thread joins; bytes of them in f32.
static constexpr int64_t kJoined = 4, kJoinedBytes = 16;

//===----------------------------------------------------------------------===//
// Warps
//===----------------------------------------------------------------------===//

void DecodeEmitter::leaveWarp(const State &state) {
  Type f32 = builder.getF32Type();
  int64_t warps = config.getWarps(), height = halves * 8;
  outputBuffer = frame.allocateShared(f32, warps * height * result);
  maximumBuffer = frame.allocateShared(f32, warps * height);
  sumBuffer = frame.allocateShared(f32, warps * height);
  Value first = index.mul(warp, height);
  for (int64_t half = 0; half < halves; ++half) {
    Value sum = state.sums[half];
    for (int64_t distance : {1, 2})
      sum = math.add(sum, frame.shuffleXor(sum, distance));
    Value place = index.add(index.add(first, quad), half * 8);
    points.emitIf(index.isEqual(inQuad, index.constant(0)), [&] {
      memref::StoreOp::create(builder, loc, state.maxima[half], maximumBuffer, place);
      memref::StoreOp::create(builder, loc, sum, sumBuffer, place);
    });
  }
  auto store = [&](Value row, Value column, ArrayRef<Value> values) {
    Value place = index.add(index.mul(index.add(first, row), result), column);
    for (int64_t part = 0; part < chunk; part += kJoined)
      vector::StoreOp::create(builder, loc, fromLanes(builder, loc, values.slice(part, kJoined)),
                              outputBuffer, index.add(place, part), /*nontemporal=*/false,
                              llvm::MaybeAlign(kJoinedBytes));
  };
  for (int64_t step = 0; step < valueSteps; ++step) {
    Value column = index.add(index.mul(quad, chunk), step * valueStep);
    Value isThere =
        (step + 1) * valueStep <= result ? Value() : index.isLess(column, index.constant(result));
    points.emitIf(isThere, [&] {
      for (int64_t half = 0; half < halves; ++half)
        for (int64_t next = 0; next < 2; ++next) {
          Values own;
          for (int64_t tile = 0; tile < tilesOfStep; ++tile)
            for (int64_t i : {next, next + 2})
              own.push_back(state.outputs[((step * tilesOfStep + tile) * halves + half) * 4 + i]);
          store(index.add(index.mul(inQuad, 2), half * 8 + next), column, own);
        }
    });
  }
}

Value DecodeEmitter::loadShared(Value buffer, Value place) {
  return memref::LoadOp::create(builder, loc, buffer, place);
}

DecodeEmitter::Values DecodeEmitter::loadShared4(Value buffer, Value place) {
  Value loaded = vector::LoadOp::create(
      builder, loc, VectorType::get(kJoined, builder.getF32Type()), buffer, place,
      /*nontemporal=*/false, llvm::MaybeAlign(kJoinedBytes));
  Values values;
  for (int64_t i = 0; i < kJoined; ++i)
    values.push_back(getLane(builder, loc, loaded, i));
  return values;
}

void DecodeEmitter::forEachVector(Value count, Value first,
                                  llvm::function_ref<void(Value, Value, Value)> body) {
  int64_t perRow = result / kJoined;
  points.emitLoop(
      thread, count, index.constant(32 * config.getWarps()), {}, [&](Value number, ValueRange) {
        Value whole = index.add(first, number);
        Value row = index.div(whole, perRow), column = index.mul(index.rem(whole, perRow), kJoined);
        Value isRow = index.both(index.isLess(row, index.constant(halves * 8)),
                                 index.isLess(index.add(firstRow, row), index.constant(rows)));
        points.emitIf(isRow, [&] { body(number, row, column); });
        return Values();
      });
}

/// The sum of what parts hold, times their scales, over the sum of exponentials.
static SmallVector<Value> average(DecodeMath &math, const DecodeMath::Sums &joined,
                                  llvm::function_ref<SmallVector<Value>(int64_t)> load) {
  SmallVector<Value> values(kJoined, math.f32(0));
  for (auto [number, scale] : llvm::enumerate(joined.scales))
    for (auto [value, more] : llvm::zip_equal(values, load(number)))
      value = math::FmaOp::create(math.builder, math.loc, more, scale, value);
  Value inverse =
      arith::DivFOp::create(math.builder, math.loc, math.f32(1), math.nonZero(joined.sum, 1));
  for (Value &value : values)
    value = math.mul(value, inverse);
  return values;
}

/// The logarithm to base 2 of a sum of exponentials; minus infinity of none.
static Value takeLogarithm(DecodeMath &math, const DecodeMath::Sums &joined) {
  Value logarithm = math::Log2Op::create(math.builder, math.loc, joined.sum);
  return math.add(logarithm, joined.base);
}

void DecodeEmitter::joinWarps() {
  Type f32 = builder.getF32Type();
  int64_t cluster = config.getCluster(), height = halves * 8, warps = config.getWarps();
  int64_t vectors = height * result / kJoined, share = llvm::divideCeil(vectors, cluster);
  if (cluster > 1) {
    partBuffer = frame.allocateShared(f32, cluster * share * kJoined);
    logarithmBuffer = frame.allocateShared(f32, cluster * height);
    tile::WaitBlocksOp::create(builder, loc);
  }
  Value none = index.constant(0);
  forEachVector(index.constant(vectors), none, [&](Value number, Value row, Value column) {
    Values maxima, sums;
    for (int64_t other = 0; other < warps; ++other) {
      Value place = index.add(row, other * height);
      maxima.push_back(loadShared(maximumBuffer, place));
      sums.push_back(loadShared(sumBuffer, place));
    }
    DecodeMath::Sums joined = math.join(maxima, sums);
    Values values = average(math, joined, [&](int64_t other) {
      Value place = index.add(index.mul(index.add(row, other * height), result), column);
      return loadShared4(outputBuffer, place);
    });
    Value isFirst = index.isEqual(column, none);
    if (cluster == 1) {
      Row own = makeRow(index.add(firstRow, row));
      storeResult(own, column, values);
      points.emitIf(isFirst, [&] { storeLogarithm(own, takeLogarithm(math, joined)); });
      return;
    }
    Value owner = index.div(number, share);
    Value place = index.mul(index.add(index.mul(part, share), index.rem(number, share)), kJoined);
    for (auto [i, value] : llvm::enumerate(values))
      tile::StoreInOp::create(builder, loc, value, partBuffer,
                              index.add(place, static_cast<int64_t>(i)), owner);
    points.emitIf(isFirst, [&] {
      Value logarithm = takeLogarithm(math, joined);
      for (int64_t block = 0; block < cluster; ++block)
        tile::StoreInOp::create(builder, loc, logarithm, logarithmBuffer,
                                index.add(index.mul(part, height), row), index.constant(block));
    });
  });
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

void DecodeEmitter::joinBlocks() {
  tile::ArriveBlocksOp::create(builder, loc, /*relaxed=*/false);
  tile::WaitBlocksOp::create(builder, loc);
  int64_t cluster = config.getCluster(), height = halves * 8;
  int64_t share = llvm::divideCeil(height * result / kJoined, cluster);
  Value first = index.mul(part, share);
  forEachVector(index.constant(share), first, [&](Value number, Value row, Value column) {
    Values maxima;
    for (int64_t block = 0; block < cluster; ++block)
      maxima.push_back(loadShared(logarithmBuffer, index.add(row, block * height)));
    DecodeMath::Sums joined = math.join(maxima, {});
    Values values = average(math, joined, [&](int64_t block) {
      return loadShared4(partBuffer, index.mul(index.add(number, block * share), kJoined));
    });
    Row own = makeRow(index.add(firstRow, row));
    storeResult(own, column, values);
    points.emitIf(index.isEqual(column, index.constant(0)),
                  [&] { storeLogarithm(own, takeLogarithm(math, joined)); });
  });
}

/// Of what the last two pieces of a value overlap in, the former one's is stored.
void DecodeEmitter::storeResult(const Row &row, Value column, Values values) {
  int64_t twice = result - columns;
  if (twice == 0)
    return storeColumns(row, column, values);
  Value isBefore = index.isLess(column, index.constant(result - chunk));
  Value isNew = index.isAtLeast(column, index.constant(result - chunk + twice));
  points.emitIf(isBefore, [&] { storeColumns(row, column, values); });
  points.emitIf(isNew, [&] {
    storeColumns(row, index.mul(index.sub(index.div(column, twice), index.constant(1)), twice),
                 values);
  });
}

void DecodeEmitter::storeColumns(const Row &row, Value column, Values values) {
  plan::BindingOp binding = kernel.outputs.front().binding;
  Value place = index.add(index.mul(head, rows), row.number);
  if (op.getSplits() > 1)
    place = index.add(index.mul(place, op.getSplits()), part);
  Value joined = fromLanes(builder, loc, values);
  Type type = cast<MemRefType>(binding.getMemory().getType()).getElementType();
  if (!type.isF32())
    joined = arith::TruncFOp::create(builder, loc, VectorType::get(kJoined, type), joined);
  points.store(binding, Coord::consecutive(index.add(index.mul(place, columns), column)), joined,
               kJoined);
}

/// `logarithm` is to base 2, what is stored to base e.
void DecodeEmitter::storeLogarithm(const Row &row, Value logarithm) {
  if (!op.hasLogsumexp() || kernel.outputs.size() < 2)
    return; // or nobody needs it
  Value place = index.add(index.mul(head, rows), row.number);
  if (op.getSplits() > 1)
    place = index.add(index.mul(place, op.getSplits()), part);
  points.store(kernel.outputs[1].binding, Coord::uniform(place),
               math.mul(logarithm, math.f32(kLog2)), 1);
}

//===----------------------------------------------------------------------===//
// Parts in memory
//===----------------------------------------------------------------------===//

namespace {

/// Joins four elements of a row, some parts at a time: loads of several are under way at once.
class CombineEmitter {
public:
  CombineEmitter(const KernelInfo &kernel, kernel::AttentionCombineOp op,
                 AttentionCombineAttr config)
      : kernel(kernel), op(op), config(config), frame(kernel, config.getThreads()),
        points(frame.points), index(points.index), math{points.builder, points.loc} {}

  LogicalResult run();

private:
  static constexpr int64_t kTogether = 16;

  SmallVector<Value> addParts(Value first, Value row, Value column, ValueRange carried);
  void emitVector(Value number);

  const KernelInfo &kernel;
  kernel::AttentionCombineOp op;
  AttentionCombineAttr config;
  KernelFrame frame;
  PointEmitter &points;
  IndexBuilder &index;
  DecodeMath math;
};

} // namespace

/// Adds `kTogether` parts, from `first` on, to what is carried: the largest exponent of 2, the sum
/// relative to it, and four sums of elements.
SmallVector<Value> CombineEmitter::addParts(Value first, Value row, Value column,
                                            ValueRange carried) {
  int64_t splits = op.getSplits();
  Value lowest = math.f32(-std::numeric_limits<double>::infinity());
  Value firstOfRow = index.mul(row, splits), last = index.constant(splits - 1);
  SmallVector<Value> maxima{carried.front()}, loaded;
  for (int64_t i = 0; i < kTogether; ++i) {
    Value part = index.add(first, i);
    // Beyond the last one, that is loaded again, and counts nothing.
    Value place = index.add(firstOfRow, index.min(part, last));
    Point point{{}, Coord::uniform(place), 1, {}};
    Value logarithm = math.mul(points.emit(op.getLogsumexps(), point), math.f32(kLog2E));
    maxima.push_back(math.select(index.isLess(part, index.constant(splits)), logarithm, lowest));
    Value start = index.add(index.mul(place, op.getVectorSize()), column);
    loaded.push_back(
        points.emit(op.getPartials(), Point{{}, Coord::consecutive(start), kJoined, {}}));
  }
  SmallVector<Value> sums(maxima.size(), math.f32(1));
  sums.front() = carried[1];
  DecodeMath::Sums joined = math.join(maxima, sums);
  Value largest = maxima.front();
  for (Value maximum : ArrayRef(maxima).drop_front())
    largest = math.max(largest, maximum);
  SmallVector<Value> results{largest, joined.sum};
  for (int64_t element = 0; element < kJoined; ++element) {
    Value value = math.mul(carried[2 + element], joined.scales.front());
    for (auto [scale, part] : llvm::zip_equal(ArrayRef(joined.scales).drop_front(), loaded))
      value = math::FmaOp::create(math.builder, math.loc,
                                  getLane(math.builder, math.loc, part, element), scale, value);
    results.push_back(value);
  }
  return results;
}

void CombineEmitter::emitVector(Value number) {
  int64_t perRow = op.getVectorSize() / kJoined;
  Value row = index.div(number, perRow), column = index.mul(index.rem(number, perRow), kJoined);
  Value zero = math.f32(0);
  SmallVector<Value> carried(2 + kJoined, zero);
  carried.front() = math.f32(-std::numeric_limits<double>::infinity());
  carried = points.emitLoop(
      index.constant(0), index.constant(op.getSplits()), index.constant(kTogether), carried,
      [&](Value first, ValueRange inner) { return addParts(first, row, column, inner); });
  DecodeMath::Sums joined{math.finite(carried[0]), carried[1], {math.f32(1)}};
  SmallVector<Value> values = average(
      math, joined, [&](int64_t) { return SmallVector<Value>(ArrayRef(carried).drop_front(2)); });
  plan::BindingOp binding = kernel.outputs.front().binding;
  Value result = fromLanes(math.builder, math.loc, values);
  Type type = cast<MemRefType>(binding.getMemory().getType()).getElementType();
  if (type.getIntOrFloatBitWidth() < 32)
    result =
        arith::TruncFOp::create(math.builder, math.loc, VectorType::get(kJoined, type), result);
  points.store(binding, Coord::consecutive(index.mul(number, kJoined)), result, kJoined);
  if (op.getDests().size() < 2 || kernel.outputs.size() < 2)
    return;
  points.emitIf(index.isEqual(column, index.constant(0)), [&] {
    points.store(kernel.outputs[1].binding, Coord::uniform(row),
                 math.mul(takeLogarithm(math, joined), math.f32(kLog2)), 1);
  });
}

LogicalResult CombineEmitter::run() {
  SmallVector<Value> sizes = points.getSizes(op.getLogsumexps());
  Value count = index.mul(index.product(ArrayRef(sizes).drop_back()), op.getVectorSize() / kJoined);
  Value number = index.add(index.mul(frame.getBlockId(), config.getThreads()), frame.getThreadId());
  points.emitIf(index.isLess(number, count), [&] { emitVector(number); });
  return frame.finish(index.ceilDiv(count, index.constant(config.getThreads())));
}

LogicalResult emitCombineAttention(const KernelInfo &kernel, kernel::AttentionCombineOp op,
                                   AttentionCombineAttr config) {
  if (op.getVectorSize() % kJoined != 0)
    return op.emitOpError("expected vectors of a multiple of ")
           << kJoined << " elements, got " << op.getVectorSize();
  return CombineEmitter(kernel, op, config).run();
}

} // namespace xc::cuda
