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

#include "compiler/Codegen/CUDA/Common/LineKernel.h"
#include "compiler/Codegen/CUDA/Common/Targets.h"
#include "compiler/Codegen/CUDA/IR/CUDAConfig.h"
#include "compiler/Codegen/CUDA/Passes.h"
#include "compiler/Codegen/CUDA/Sort/SortEntries.h"
#include "compiler/Codegen/CUDA/Sort/SortFrame.h"
#include "compiler/Dialect/Kernel/IR/Order.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace xc::cuda {

#define GEN_PASS_DEF_EMITSORT
#include "compiler/Codegen/CUDA/Passes.h.inc"

/// Elements that a thread takes to its registers, at most.
static constexpr int64_t kMostItems = 32;

//===----------------------------------------------------------------------===//
// In shared memory
//===----------------------------------------------------------------------===//

namespace {

class TileSortEmitter final : SortFrame {
public:
  TileSortEmitter(const KernelInfo &kernel, const LineKernel &lines, SortAttr config)
      : SortFrame(kernel, lines, config.getThreads()), config(config),
        groupSize(config.getThreads() / config.getRows()), thread(getRank()),
        entries(frame, elementType, countPositionBits()),
        sorter(entries, frame, config.getTile(), groupSize, thread, config.getRows(), getSlot()) {}

  LogicalResult run();

private:
  Value getSlot() { return index.div(frame.getThreadId(), groupSize); }
  Value getRank() { return index.rem(frame.getThreadId(), groupSize); }
  bool isInTile() {
    std::optional<int64_t> most = getConstantIntValue(shape.segment);
    return config.getBounded() || (most && *most <= config.getTile());
  }
  /// Where the tile holds all of a line, positions are places of it.
  unsigned countPositionBits() { return isInTile() ? llvm::Log2_64(config.getTile()) : 31; }
  /// Fills the tile's places `targets` with the line's elements from position `from` on.
  void fill(ArrayRef<Value> targets, Value place, Value from);
  void fillFrom(Value place, Value from);
  void storeTile();

  SortAttr config;
  int64_t groupSize; // threads that share a line
  Value thread;
  EntryBuilder entries;
  TileSorter sorter;
  SortLine line;
};

} // namespace

void TileSortEmitter::fill(ArrayRef<Value> targets, Value place, Value from) {
  SmallVector<Value> positions;
  for (Value target : targets)
    positions.push_back(index.add(from, index.sub(target, place)));
  SmallVector<Value> keys = loadKeys(line, positions, /*lanes=*/1, /*isInside=*/false);
  // What is behind the end keeps its position, which no other place has.
  for (auto [target, position, key] : llvm::zip_equal(targets, positions, keys)) {
    Value isThere = index.isLess(position, line.length);
    Value there = arith::SelectOp::create(builder, loc, isThere, key, entries.getLastKey());
    sorter.store(entries.make(there, toWord(position)), target);
  }
}

/// Fills the tile from `place` on.
void TileSortEmitter::fillFrom(Value place, Value from) {
  Value tile = index.constant(config.getTile());
  if (getConstantIntValue(place) == std::optional<int64_t>(0)) {
    SmallVector<Value> targets;
    for (int64_t first = 0; first < config.getTile(); first += groupSize)
      targets.push_back(index.add(thread, first));
    fill(targets, place, from);
  } else {
    loop(index.add(place, thread), tile, groupSize,
         [&](Value target) { fill(target, place, from); });
  }
  frame.barrier();
}

void TileSortEmitter::storeTile() {
  auto store = [&](ArrayRef<Value> places) {
    SmallVector<Value> positions;
    for (Value place : places)
      positions.push_back(entries.getPosition(sorter.load(place)));
    storeResults(line, places, positions);
  };
  if (op.getKeep() != 0)
    return loop(thread, countResults(line), groupSize, [&](Value place) { store(place); });
  SmallVector<Value> places;
  for (int64_t first = 0; first < config.getTile(); first += groupSize)
    places.push_back(index.add(thread, first));
  store(places);
}

LogicalResult TileSortEmitter::run() {
  int64_t tile = config.getTile(), rows = config.getRows(), keep = op.getKeep();
  if (groupSize > tile / 2 || tile / groupSize > kMostItems)
    return op.emitOpError("expected threads that sort 2 to ")
           << kMostItems << " elements each, for " << config;
  if (!frame.fitsShared(0))
    return emitError(loc) << "expected a k of which twice as many elements and indices fit a "
                             "block's "
                          << findTarget(op)->sharedPerBlock << " bytes of shared memory on "
                          << findTarget(op)->arch << ", got " << keep;
  line = getLine(index.add(index.mul(frame.getBlockId(), rows), getSlot()));
  Value zero = index.constant(0);
  fillFrom(zero, zero);
  sorter.sort();
  if (!isInTile()) {
    // What was kept stays in front; the next piece of the line comes behind it.
    if (keep == 0 || keep > tile / 2)
      return op.emitOpError("expected a line of at most ")
             << tile << " elements, or to keep at most half as many, for " << config;
    loop(index.constant(tile), shape.segment, tile - keep, [&](Value from) {
      fillFrom(index.constant(keep), from);
      sorter.sort();
    });
  }
  storeTile();
  return frame.finish(index.ceilDiv(countLines(), index.constant(rows)));
}

//===----------------------------------------------------------------------===//
// In the results' memory
//===----------------------------------------------------------------------===//

namespace {

class InPlaceSortEmitter final : SortFrame {
public:
  InPlaceSortEmitter(const KernelInfo &kernel, const LineKernel &lines, SortInPlaceAttr config)
      : SortFrame(kernel, lines, config.getThreads()), threads(config.getThreads()) {}

  LogicalResult run();

private:
  /// Compares and exchanges two places.
  using Exchange = function_ref<void(Value, Value)>;
  /// The steps of one stage; `half` is the length of a run, `pairs` the number of pairs that this
  /// group of threads, `stride` of them, share from `thread` on.
  void emitStage(Value half, Value pairs, Value thread, int64_t stride, Exchange exchange);
  void exchange(Value first, Value second);
  Coord at(Value place) { return Coord::uniform(index.add(base, place)); }

  int64_t threads;
  Value base;
};

} // namespace

void InPlaceSortEmitter::emitStage(Value half, Value pairs, Value thread, int64_t stride,
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
    FailureOr<LineKernel> lines =
        requireLineKernel<kernel::SortOp>(*kernel, config, "two outputs, the results");
    if (failed(lines))
      return signalPassFailure();
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
