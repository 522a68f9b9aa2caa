//===- EmitSort.cpp - Sorting by bitonic networks -------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every comparison is of pairs of key and position, of which no two are equal, so whatever network
// sorts them gives the result of a stable sort. In stage s of the network, runs of 2^(s-1) places
// that are in order become runs of 2^s: the first step compares places that mirror each other, the
// further steps places 2^(s-2), ..., 1 apart. All comparisons go the same way, so that a place
// behind the end can be thought to hold something that comes last, and stay untouched.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Analysis/LineKernel.h"
#include "compiler/Codegen/CUDA/Emit/KernelFrame.h"
#include "compiler/Codegen/CUDA/IR/CUDAConfig.h"
#include "compiler/Codegen/CUDA/Passes.h"
#include "compiler/Dialect/Kernel/IR/Order.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace xc::cuda {

#define GEN_PASS_DEF_EMITSORT
#include "compiler/Codegen/CUDA/Passes.h.inc"

namespace {

/// What both strategies share.
class SortEmitter {
protected:
  SortEmitter(const KernelInfo &kernel, const LineKernel &lines, int64_t threads)
      : op(cast<kernel::SortOp>(lines.op)), values(lines.results[0]), indices(lines.results[1]),
        frame(kernel, threads), points(frame.points), index(points.index), builder(points.builder),
        loc(points.loc), shape(getLineShape(op, points)),
        indexType(cast<ShapedType>(op.getIndices().getType()).getElementType()) {}

  /// Compares and exchanges two places.
  using Exchange = function_ref<void(Value, Value)>;
  /// The steps of one stage; `half` is the length of a run, `pairs` the number of pairs that this
  /// thread and its fellows, `stride` of them, share from `thread` on.
  void emitStage(Value half, Value pairs, Value thread, int64_t stride, Exchange exchange);

  Value getKey(Value element) {
    return kernel::buildOrderKey(builder, loc, element, op.getUnsignedElements(),
                                 op.getDescending());
  }
  Value emitInput(Value position) {
    return points.emit(op.getKeys(), Point{{}, Coord::uniform(position), 1, {}});
  }
  void loop(Value from, Value to, int64_t step, function_ref<void(Value)> body) {
    points.emitLoop(from, to, index.constant(step), {}, [&](Value number, ValueRange) {
      body(number);
      return SmallVector<Value>();
    });
  }

  kernel::SortOp op;
  plan::BindingOp values, indices;
  KernelFrame frame;
  PointEmitter &points;
  IndexBuilder &index;
  OpBuilder &builder;
  Location loc;
  LineShape shape;
  Type indexType;
};

} // namespace

void SortEmitter::emitStage(Value half, Value pairs, Value thread, int64_t stride,
                            Exchange exchange) {
  Value one = index.constant(1);
  auto bitAnd = [&](Value x, Value y) -> Value {
    return arith::AndIOp::create(builder, loc, x, y);
  };
  auto half2 = [&](Value x) -> Value { return arith::ShRUIOp::create(builder, loc, x, one); };
  // Distances are powers of two, so masks find a pair's place in its run.
  loop(thread, pairs, stride, [&](Value pair) {
    Value low = bitAnd(pair, index.sub(half, one));
    Value base = index.mul(index.sub(pair, low), 2);
    Value mirrored = index.sub(index.sub(index.add(half, half), one), low);
    exchange(index.add(base, low), index.add(base, mirrored));
  });
  frame.barrier();
  auto steps = scf::WhileOp::create(builder, loc, TypeRange(builder.getIndexType()),
                                    ValueRange(half2(half)));
  OpBuilder::InsertionGuard guard(builder);
  Block *before =
      builder.createBlock(&steps.getBefore(), {}, TypeRange(builder.getIndexType()), loc);
  {
    PointEmitter::Scope scope(points);
    Value distance = before->getArgument(0);
    scf::ConditionOp::create(builder, loc, index.isAtLeast(distance, one), distance);
  }
  Block *after = builder.createBlock(&steps.getAfter(), {}, TypeRange(builder.getIndexType()), loc);
  {
    PointEmitter::Scope scope(points);
    Value distance = after->getArgument(0);
    loop(thread, pairs, stride, [&](Value pair) {
      Value low = bitAnd(pair, index.sub(distance, one));
      Value first = index.add(index.mul(index.sub(pair, low), 2), low);
      exchange(first, index.add(first, distance));
    });
    frame.barrier();
    scf::YieldOp::create(builder, loc, half2(distance));
  }
  builder.setInsertionPointAfter(steps);
}

//===----------------------------------------------------------------------===//
// In shared memory
//===----------------------------------------------------------------------===//

namespace {

class TileSortEmitter final : SortEmitter {
public:
  TileSortEmitter(const KernelInfo &kernel, const LineKernel &lines, SortAttr config)
      : SortEmitter(kernel, lines, config.getThreads()), config(config),
        keyType(kernel::getOrderKeyType(cast<ShapedType>(op.getKeys().getType()).getElementType())),
        positionType(builder.getI32Type()) {}

  LogicalResult run();

private:
  /// Fills the tile from place `place` on with the segment's elements from `from` on.
  void fill(Value place, Value from);
  void sortTile();
  void storeResults();
  Value load(Value buffer, Value place) {
    return memref::LoadOp::create(builder, loc, buffer, index.add(base, place));
  }
  void store(Value value, Value buffer, Value place) {
    memref::StoreOp::create(builder, loc, value, buffer, index.add(base, place));
  }
  /// The position of what is in no place of the line. Comes behind all that is.
  Value nowhere() { return points.constant(builder.getI32IntegerAttr(INT32_MAX)); }

  SortAttr config;
  Type keyType, positionType;
  int64_t fellows = 0; // threads that share a line
  Value keys, positions;
  Value base, thread, line, segment, begin, length;
};

} // namespace

void TileSortEmitter::fill(Value place, Value from) {
  loop(index.add(place, thread), index.constant(config.getTile()), fellows, [&](Value target) {
    Value position = index.add(from, index.sub(target, place));
    Value isThere = index.isLess(position, length);
    Value key = points.emitIf(
        isThere, keyType, 1,
        [&] {
          Value source = index.add(index.mul(line, shape.length), index.add(begin, position));
          return getKey(emitInput(source));
        },
        [&] { return points.constant(builder.getIntegerAttr(keyType, -1)); });
    Value narrow = arith::IndexCastOp::create(builder, loc, positionType, position);
    Value number = arith::SelectOp::create(builder, loc, isThere, narrow, nowhere());
    store(key, keys, target);
    store(number, positions, target);
  });
  frame.barrier();
}

void TileSortEmitter::sortTile() {
  Value pairs = index.constant(config.getTile() / 2), one = index.constant(1);
  Value stages = index.constant(llvm::Log2_64(config.getTile()));
  loop(index.constant(0), stages, 1, [&](Value stage) {
    Value half = arith::ShLIOp::create(builder, loc, one, stage);
    emitStage(half, pairs, thread, fellows, [&](Value first, Value second) {
      Value firstKey = load(keys, first), secondKey = load(keys, second);
      Value firstPosition = load(positions, first), secondPosition = load(positions, second);
      Value isWrong = kernel::buildComesBefore(builder, loc, secondKey, secondPosition, firstKey,
                                               firstPosition);
      points.emitIf(isWrong, [&] {
        store(secondKey, keys, first);
        store(firstKey, keys, second);
        store(secondPosition, positions, first);
        store(firstPosition, positions, second);
      });
    });
  });
}

void TileSortEmitter::storeResults() {
  int64_t keep = op.getKeep();
  Value size = points.getSizes(values).back(), count = length, target = begin;
  if (keep != 0) {
    Value kept = index.constant(keep);
    target = index.mul(segment, index.min(kept, shape.segment));
    if (op.getSegment() != 0)
      // A shorter segment keeps all of its elements.
      count = arith::SelectOp::create(builder, loc, index.isLess(length, shape.segment), length,
                                      index.min(kept, length));
    else
      // All of a result is written, also where the line is too short for it.
      count = arith::SelectOp::create(builder, loc, index.isLess(line, shape.outer), kept,
                                      index.constant(0));
  }
  loop(thread, count, fellows, [&](Value place) {
    Value position = load(positions, place);
    Value isThere =
        arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, position, nowhere());
    Value inLine = index.add(
        begin, arith::IndexCastOp::create(builder, loc, builder.getIndexType(), position));
    SmallVector<Value> found = points.emitIfOrZeros(isThere, [&]() -> SmallVector<Value> {
      Value source = index.add(index.mul(line, shape.length), inLine);
      Value number = arith::IndexCastOp::create(builder, loc, indexType, inLine);
      if (op.getPayload())
        number = points.emit(op.getPayload(), Point{{}, Coord::uniform(source), 1, {}});
      return {emitInput(source), number};
    });
    Value noIndex = points.constant(builder.getIntegerAttr(indexType, -1));
    Value number = arith::SelectOp::create(builder, loc, isThere, found[1], noIndex);
    Coord flat = Coord::uniform(index.add(index.mul(line, size), index.add(target, place)));
    points.store(values, flat, found[0], 1);
    points.store(indices, flat, number, 1);
  });
}

LogicalResult TileSortEmitter::run() {
  int64_t tile = config.getTile(), rows = config.getRows(), keep = op.getKeep();
  fellows = config.getThreads() / rows;
  keys = frame.allocateShared(keyType, rows * tile);
  positions = frame.allocateShared(positionType, rows * tile);
  Value lineCount = index.product({shape.outer, shape.segments}), zero = index.constant(0);
  Value slot = index.div(frame.getThreadId(), fellows);
  thread = index.rem(frame.getThreadId(), fellows);
  base = index.mul(slot, tile);
  Value number = index.add(index.mul(frame.getBlockId(), rows), slot);
  line = index.div(number, shape.segments);
  segment = index.rem(number, shape.segments);
  begin = index.mul(segment, shape.segment);
  length = index.min(shape.segment, index.sub(shape.length, begin));
  // A line that is not there is empty.
  length = arith::SelectOp::create(builder, loc, index.isLess(number, lineCount), length, zero);

  fill(zero, zero);
  sortTile();
  std::optional<int64_t> most = getConstantIntValue(shape.segment);
  if (!config.getBounded() && (!most || *most > tile)) {
    // What was kept stays in front; the next piece of the line comes behind it.
    if (keep == 0 || keep > tile / 2)
      return op.emitOpError("expected a line of at most ")
             << tile << " elements, or to keep at most half as many, for " << config;
    loop(index.constant(tile), shape.segment, tile - keep, [&](Value from) {
      fill(index.constant(keep), from);
      sortTile();
    });
  }
  storeResults();
  return frame.finish(index.ceilDiv(lineCount, index.constant(rows)));
}

//===----------------------------------------------------------------------===//
// In the results' memory
//===----------------------------------------------------------------------===//

namespace {

class InPlaceSortEmitter final : SortEmitter {
public:
  InPlaceSortEmitter(const KernelInfo &kernel, const LineKernel &lines, SortInPlaceAttr config)
      : SortEmitter(kernel, lines, config.getThreads()), threads(config.getThreads()) {}

  LogicalResult run();

private:
  void exchange(Value first, Value second);
  Coord at(Value place) { return Coord::uniform(index.add(base, place)); }

  int64_t threads;
  Value base;
};

} // namespace

void InPlaceSortEmitter::exchange(Value first, Value second) {
  points.emitIf(index.isLess(second, shape.length), [&] {
    Value firstValue = points.load(values, at(first), 1),
          secondValue = points.load(values, at(second), 1);
    Value firstPosition = points.load(indices, at(first), 1),
          secondPosition = points.load(indices, at(second), 1);
    Value isWrong = kernel::buildComesBefore(builder, loc, getKey(secondValue), secondPosition,
                                             getKey(firstValue), firstPosition);
    points.emitIf(isWrong, [&] {
      points.store(values, at(first), secondValue, 1);
      points.store(values, at(second), firstValue, 1);
      points.store(indices, at(first), secondPosition, 1);
      points.store(indices, at(second), firstPosition, 1);
    });
  });
}

LogicalResult InPlaceSortEmitter::run() {
  if (op.getKeep() != 0 || op.getSegment() != 0 || op.getPayload())
    return op.emitOpError("expected whole lines without a payload for #cuda.sort_in_place");
  Value thread = frame.getThreadId(), one = index.constant(1);
  base = index.mul(frame.getBlockId(), shape.length);
  loop(thread, shape.length, threads, [&](Value place) {
    points.store(values, at(place), emitInput(index.add(base, place)), 1);
    points.store(indices, at(place), arith::IndexCastOp::create(builder, loc, indexType, place), 1);
  });
  frame.barrier();
  auto stages = scf::WhileOp::create(builder, loc, TypeRange(builder.getIndexType()), one);
  OpBuilder::InsertionGuard guard(builder);
  Block *before =
      builder.createBlock(&stages.getBefore(), {}, TypeRange(builder.getIndexType()), loc);
  {
    PointEmitter::Scope scope(points);
    Value half = before->getArgument(0);
    scf::ConditionOp::create(builder, loc, index.isLess(half, shape.length), half);
  }
  Block *after =
      builder.createBlock(&stages.getAfter(), {}, TypeRange(builder.getIndexType()), loc);
  {
    PointEmitter::Scope scope(points);
    Value half = after->getArgument(0), run = index.add(half, half);
    // Pairs whose first place is in the line, and some behind them.
    Value pairs = index.mul(index.ceilDiv(shape.length, run), half);
    emitStage(half, pairs, thread, threads,
              [&](Value first, Value second) { exchange(first, second); });
    scf::YieldOp::create(builder, loc, run);
  }
  builder.setInsertionPointAfter(stages);
  return frame.finish(shape.outer);
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {

struct EmitSort final : impl::EmitSortBase<EmitSort> {
  void runOnOperation() override {
    Attribute config = getOperation()->getAttr(plan::kConfigAttr);
    if (!isa_and_nonnull<SortAttr, SortInPlaceAttr>(config))
      return;
    FailureOr<KernelInfo> kernel = analyzeKernel(getOperation());
    if (failed(kernel))
      return signalPassFailure();
    std::optional<LineKernel> lines = matchLineKernel(*kernel);
    if (!lines || !isa<kernel::SortOp>(lines->op)) {
      getOperation().emitOpError("expected two outputs, the results of kernel.sort, for ")
          << config;
      return signalPassFailure();
    }
    LogicalResult result = failure();
    if (auto tile = dyn_cast<SortAttr>(config))
      result = TileSortEmitter(*kernel, *lines, tile).run();
    else
      result = InPlaceSortEmitter(*kernel, *lines, cast<SortInPlaceAttr>(config)).run();
    if (failed(result))
      signalPassFailure();
  }
};

} // namespace

} // namespace xc::cuda
