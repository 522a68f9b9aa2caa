//===- EmitScan.cpp - Running totals --------------------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rows: the threads of a row take a vector each, iteration after iteration. A thread scans its
// vector; the totals are scanned across the warp by shuffles; beyond a warp, every thread adds up
// the totals of the warps before its own in shared memory, of which there are two sets, so that an
// iteration needs one barrier. What the iterations before combine to is the same value in all
// threads.
//
// Columns: lanes are neighbouring lines, so a thread's own running totals are all there is.
//
// Either way a line's elements are combined in an order that its size alone decides.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Common/KernelFrame.h"
#include "compiler/Codegen/CUDA/Common/LaneOps.h"
#include "compiler/Codegen/CUDA/Common/LineShape.h"
#include "compiler/Codegen/CUDA/IR/CUDAConfig.h"
#include "compiler/Codegen/CUDA/Passes.h"
#include "compiler/Dialect/Kernel/IR/Scan.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace xc::cuda {

#define GEN_PASS_DEF_EMITSCAN
#include "compiler/Codegen/CUDA/Passes.h.inc"

/// Rows of a column that are loaded before the first one is stored.
static constexpr int64_t kColumnUnroll = 4;

namespace {

/// What scans of rows and columns share.
class ScanEmitter {
protected:
  ScanEmitter(const KernelInfo &kernel, const LineKernel &lines, int64_t threads, int64_t lanes)
      : op(cast<kernel::ScanOp>(lines.op)), output(lines.results.front()), lanes(lanes),
        frame(kernel, threads), points(frame.points), index(points.index), builder(points.builder),
        loc(points.loc), shape(getLineShape(op, points)), compute(op.getComputeType()) {}

  Value combine(Value first, Value second) {
    return kernel::combineScan(builder, loc, op.getKind(), op.getUnsignedElements(), first, second);
  }
  Value getNeutral() {
    return points.constant(
        kernel::getScanNeutral(builder, op.getKind(), compute, op.getUnsignedElements()));
  }
  /// The input's element or elements at a row-major position, to compute with.
  Value loadInput(const Coord &position, Value mask);
  void storeResult(const Coord &position, Value value, Value mask);
  /// What segment number `segment` starts from; `toPosition` finds the carry's element.
  Value getStart(Value segment, int64_t startLanes, function_ref<Coord(Value)> toPosition);
  /// Where in memory the total of a segment lies.
  Value mirrorSegment(Value segment) {
    if (!op.getReverse())
      return segment;
    return index.sub(index.sub(shape.segments, index.constant(1)), segment);
  }
  Coord toCoord(Value first) {
    return lanes > 1 ? Coord::consecutive(first) : Coord::uniform(first);
  }

  kernel::ScanOp op;
  plan::BindingOp output;
  int64_t lanes;
  KernelFrame frame;
  PointEmitter &points;
  IndexBuilder &index;
  OpBuilder &builder;
  Location loc;
  LineShape shape;
  Type compute;
};

} // namespace

/// `type`, or a vector of as many as `like` has.
static Type withLanesOf(Type type, Value like) {
  auto vector = dyn_cast<VectorType>(like.getType());
  return vector ? Type(vector.clone(type)) : type;
}

Value ScanEmitter::loadInput(const Coord &position, Value mask) {
  Value value = points.emit(op.getInput(), Point{{}, position, lanes, mask});
  value = splatTo(builder, loc, value, lanes);
  if (getElementTypeOrSelf(value.getType()) != compute)
    value = arith::ExtFOp::create(builder, loc, withLanesOf(compute, value), value);
  return value;
}

void ScanEmitter::storeResult(const Coord &position, Value value, Value mask) {
  Type element = cast<ShapedType>(op.getInput().getType()).getElementType();
  if (element != compute)
    value = arith::TruncFOp::create(builder, loc, withLanesOf(element, value), value);
  points.store(output, position, value, lanes, mask);
}

Value ScanEmitter::getStart(Value segment, int64_t startLanes,
                            function_ref<Coord(Value)> toPosition) {
  Value neutral = splatTo(builder, loc, getNeutral(), startLanes);
  if (!op.getCarry())
    return neutral;
  Value isFirst = index.isEqual(segment, index.constant(0));
  return points.emitIf(
      isFirst, compute, startLanes, [&] { return neutral; },
      [&] {
        Value count = index.sub(shape.segments, index.constant(1));
        Value before = index.sub(segment, index.constant(1));
        Value place =
            op.getReverse() ? index.sub(index.sub(count, index.constant(1)), before) : before;
        return points.emit(op.getCarry(), Point{{}, toPosition(place), startLanes, {}});
      });
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

namespace {

class RowScanEmitter final : ScanEmitter {
public:
  RowScanEmitter(const KernelInfo &kernel, const LineKernel &lines, RowScanAttr config)
      : ScanEmitter(kernel, lines, config.getThreads() * config.getRows(), config.getVector()),
        config(config) {}

  LogicalResult run();

private:
  Value emitIteration(Value iteration, Value from, Value before);
  /// This thread's part: the running totals of its vector.
  SmallVector<Value> scanVector(Value vector);
  /// What the totals of the threads of the row before this one combine to, and those of all.
  std::pair<Value, Value> scanThreads(Value total, Value iteration);
  Value scanWarp(Value total, int64_t width);

  RowScanAttr config;
  Value row, line, rowMask, lane, begin, end, warpTotals;
};

} // namespace

SmallVector<Value> RowScanEmitter::scanVector(Value vector) {
  SmallVector<Value> totals{getLane(builder, loc, vector, op.getReverse() ? lanes - 1 : 0)};
  for (int64_t i = 1; i < lanes; ++i)
    totals.push_back(
        combine(totals.back(), getLane(builder, loc, vector, op.getReverse() ? lanes - 1 - i : i)));
  return totals;
}

/// The running totals of neighbouring threads, `width` of which belong together.
Value RowScanEmitter::scanWarp(Value total, int64_t width) {
  for (int64_t distance = 1; distance < width; distance *= 2) {
    Value other = frame.shuffleUp(total, distance);
    Value hasOther = index.isAtLeast(index.rem(lane, width), index.constant(distance));
    total = arith::SelectOp::create(builder, loc, hasOther, combine(other, total), total);
  }
  return total;
}

std::pair<Value, Value> RowScanEmitter::scanThreads(Value total, Value iteration) {
  int64_t threads = config.getThreads(), width = std::min<int64_t>(threads, 32);
  if (threads == 1)
    return {getNeutral(), total};
  Value running = scanWarp(total, width), inWarp = index.rem(lane, width);
  Value before = frame.shuffleUp(running, 1);
  before = arith::SelectOp::create(builder, loc, index.isAtLeast(inWarp, index.constant(1)), before,
                                   getNeutral());
  if (threads <= 32) {
    // The last thread of the row's part of the warp.
    Value own = index.rem(frame.getThreadId(), 32);
    Value last = index.add(index.sub(own, inWarp), width - 1);
    Value lastLane = arith::IndexCastOp::create(builder, loc, builder.getI32Type(), last);
    return {before, frame.shuffleFrom(running, lastLane)};
  }
  int64_t warps = threads / 32;
  if (!warpTotals)
    warpTotals = frame.allocateShared(compute, 2 * warps);
  Value set = index.mul(index.rem(iteration, 2), warps), warp = index.div(lane, 32);
  points.emitIf(index.isEqual(inWarp, index.constant(31)), [&] {
    memref::StoreOp::create(builder, loc, running, warpTotals, index.add(set, warp));
  });
  frame.barrier();
  Value all = getNeutral(), ofWarpsBefore = all;
  for (int64_t i = 0; i < warps; ++i) {
    ofWarpsBefore = arith::SelectOp::create(builder, loc, index.isEqual(warp, index.constant(i)),
                                            all, ofWarpsBefore);
    Value other = memref::LoadOp::create(builder, loc, warpTotals, index.add(set, i));
    all = combine(all, other);
  }
  return {combine(ofWarpsBefore, before), all};
}

/// The elements [from, from + threads * lanes) of the line, in the order of the scan; `before` is
/// what those in front of them combine to. Returns the same for the next iteration.
Value RowScanEmitter::emitIteration(Value iteration, Value from, Value before) {
  Value first = index.add(from, index.mul(lane, lanes));
  Value mask = index.both(rowMask, index.isLess(first, end));
  // Vectors are loaded as they lie in memory, which is backwards for a reverse scan.
  Value place =
      op.getReverse() ? index.sub(index.sub(shape.length, index.constant(lanes)), first) : first;
  Coord position = toCoord(index.add(index.mul(line, shape.length), place));
  Value loaded = loadInput(position, mask);
  Value neutral = splatTo(builder, loc, getNeutral(), lanes);
  loaded = arith::SelectOp::create(builder, loc, mask, loaded, neutral);
  SmallVector<Value> totals = scanVector(loaded);
  auto [ofThreadsBefore, all] = scanThreads(totals.back(), iteration);
  if (op.getTotals())
    return combine(before, all);
  Value start = combine(before, ofThreadsBefore);
  SmallVector<Value> results;
  if (op.getExclusive()) {
    results.push_back(start);
    totals.pop_back();
  }
  for (Value total : totals)
    results.push_back(combine(start, total));
  if (op.getReverse())
    std::reverse(results.begin(), results.end());
  storeResult(position, fromLanes(builder, loc, results), mask);
  return combine(before, all);
}

LogicalResult RowScanEmitter::run() {
  int64_t threads = config.getThreads(), perIteration = threads * lanes;
  Value thread = frame.getThreadId(), one = index.constant(1);
  lane = index.rem(thread, threads);
  row = index.add(index.mul(frame.getBlockId(), config.getRows()), index.div(thread, threads));
  Value rows = index.product({shape.outer, shape.segments});
  rowMask = index.isLess(row, rows);
  line = index.div(row, shape.segments);
  Value segment = index.rem(row, shape.segments);
  begin = index.mul(segment, shape.segment);
  end = index.min(index.add(begin, shape.segment), shape.length);
  // Threads of rows that are not there read nothing, and wait with the others.
  Value carrySegment =
      op.getCarry()
          ? Value(arith::SelectOp::create(builder, loc, rowMask, segment, index.constant(0)))
          : segment;
  Value start = getStart(carrySegment, 1, [&](Value place) {
    Value count = index.sub(shape.segments, one);
    return Coord::uniform(index.add(index.mul(line, count), place));
  });
  // All threads of a block run the same number of iterations.
  Value iterations = index.ceilDiv(shape.segment, index.constant(perIteration));
  Value total = points
                    .emitLoop(index.constant(0), iterations, one, start,
                              [&](Value iteration, ValueRange carried) -> SmallVector<Value> {
                                Value from = index.add(begin, index.mul(iteration, perIteration));
                                return {emitIteration(iteration, from, carried.front())};
                              })
                    .front();
  if (op.getTotals()) {
    Value storing = index.both(rowMask, index.isEqual(lane, index.constant(0)));
    Value place = index.add(index.mul(line, shape.segments), mirrorSegment(segment));
    points.store(output, Coord::uniform(place), total, 1, storing);
  }
  return frame.finish(index.ceilDiv(rows, index.constant(config.getRows())));
}

//===----------------------------------------------------------------------===//
// Columns
//===----------------------------------------------------------------------===//

namespace {

class ColumnScanEmitter final : ScanEmitter {
public:
  ColumnScanEmitter(const KernelInfo &kernel, const LineKernel &lines, ColumnScanAttr config)
      : ScanEmitter(kernel, lines, config.getThreads(), config.getVector()), config(config) {}

  LogicalResult run();

private:
  void emitColumns(Value number);
  /// Scans the rows `from`, `from + 1`, ... (`count` of them), whose loads come first.
  Value emitRows(Value from, int64_t count, Value before);
  Coord getPosition(Value number);

  ColumnScanAttr config;
  Value outer, column;
};

} // namespace

/// Of element `number` of the scan, in these columns.
Coord ColumnScanEmitter::getPosition(Value number) {
  Value place = number;
  if (op.getReverse())
    place = index.sub(index.sub(shape.length, index.constant(1)), number);
  Value above = index.add(index.mul(outer, shape.length), place);
  return toCoord(index.add(index.mul(above, shape.inner), column));
}

Value ColumnScanEmitter::emitRows(Value from, int64_t count, Value before) {
  SmallVector<Coord> positions;
  SmallVector<Value> loaded;
  for (int64_t i = 0; i < count; ++i) {
    positions.push_back(getPosition(index.add(from, i)));
    loaded.push_back(loadInput(positions.back(), {}));
  }
  for (auto [position, value] : llvm::zip_equal(positions, loaded)) {
    Value after = combine(before, value);
    if (!op.getTotals())
      storeResult(position, op.getExclusive() ? before : after, {});
    before = after;
  }
  return before;
}

void ColumnScanEmitter::emitColumns(Value number) {
  Value groups = index.div(shape.inner, lanes), one = index.constant(1);
  Value above = index.div(number, groups);
  column = index.mul(index.rem(number, groups), lanes);
  outer = index.div(above, shape.segments);
  Value segment = index.rem(above, shape.segments);
  Value begin = index.mul(segment, shape.segment);
  Value end = index.min(index.add(begin, shape.segment), shape.length);
  Value start = getStart(segment, lanes, [&](Value place) {
    Value count = index.sub(shape.segments, one);
    Value carried = index.add(index.mul(outer, count), place);
    return toCoord(index.add(index.mul(carried, shape.inner), column));
  });
  Value wide = index.constant(kColumnUnroll);
  Value whole = index.mul(index.div(index.sub(end, begin), wide), wide);
  Value middle = index.add(begin, whole);
  SmallVector<Value> carried =
      points.emitLoop(begin, middle, wide, start, [&](Value from, ValueRange values) {
        return SmallVector<Value>{emitRows(from, kColumnUnroll, values.front())};
      });
  carried = points.emitLoop(middle, end, one, carried, [&](Value from, ValueRange values) {
    return SmallVector<Value>{emitRows(from, 1, values.front())};
  });
  if (!op.getTotals())
    return;
  Value place = index.add(index.mul(outer, shape.segments), mirrorSegment(segment));
  points.store(output, toCoord(index.add(index.mul(place, shape.inner), column)), carried.front(),
               lanes);
}

LogicalResult ColumnScanEmitter::run() {
  Value groups = index.product({shape.outer, shape.segments, index.div(shape.inner, lanes)});
  Value number = index.add(index.mul(frame.getBlockId(), config.getThreads()), frame.getThreadId());
  points.emitIf(index.isLess(number, groups), [&] { emitColumns(number); });
  return frame.finish(index.ceilDiv(groups, index.constant(config.getThreads())));
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {

struct EmitScan final : impl::EmitScanBase<EmitScan> {
  void runOnOperation() override {
    Attribute config = getOperation()->getAttr(plan::kConfigAttr);
    if (!isa_and_nonnull<RowScanAttr, ColumnScanAttr>(config))
      return;
    FailureOr<KernelInfo> kernel = analyzeKernel(getOperation());
    if (failed(kernel))
      return signalPassFailure();
    FailureOr<LineKernel> lines =
        requireLineKernel<kernel::ScanOp>(*kernel, config, "one output, the result");
    if (failed(lines))
      return signalPassFailure();
    LogicalResult result = failure();
    if (auto rows = dyn_cast<RowScanAttr>(config))
      result = RowScanEmitter(*kernel, *lines, rows).run();
    else
      result = ColumnScanEmitter(*kernel, *lines, cast<ColumnScanAttr>(config)).run();
    if (failed(result))
      signalPassFailure();
  }
};

} // namespace

} // namespace xc::cuda
