//===- EmitMerge.cpp - Merging sorted runs --------------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The first d elements of the merged run are the first i of the left run and the first d - i of the
// right one; i is found by bisection, since it is the least number for which element i of the left
// run comes behind element d - i - 1 of the right one. A block does that for the first of its
// places and for the one behind its last, and takes the keys between to shared memory. Half of its
// threads each search at once, so that a run is as many times shorter with each iteration; that is
// where a block waits. In shared memory every thread searches for the first of its
// places, and merges the others one after the other; which element belongs to a place goes through
// shared memory once more, so that neighbouring threads write to neighbouring places.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Common/KernelFrame.h"
#include "compiler/Codegen/CUDA/Common/LineShape.h"
#include "compiler/Codegen/CUDA/IR/CUDAConfig.h"
#include "compiler/Codegen/CUDA/Passes.h"
#include "compiler/Codegen/CUDA/Sort/SortEntries.h"
#include "compiler/Dialect/Kernel/IR/Order.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace xc::cuda {

#define GEN_PASS_DEF_EMITMERGE
#include "compiler/Codegen/CUDA/Passes.h.inc"

namespace {

class MergeEmitter {
public:
  MergeEmitter(const KernelInfo &kernel, const LineKernel &lines, MergeAttr config)
      : op(cast<kernel::MergeOp>(lines.op)), values(lines.results[0]), indices(lines.results[1]),
        config(config), threads(config.getThreads()), tile(threads * config.getItems()),
        frame(kernel, threads), points(frame.points), index(points.index), builder(points.builder),
        loc(points.loc), shape(getLineShape(op, points)),
        keyType(kernel::getOrderKeyType(cast<ShapedType>(op.getKeys().getType()).getElementType())),
        word(builder.getI32Type()), thread(frame.getThreadId()) {
    auto bits = kernel.getFunction()->getAttrOfType<IntegerAttr>(kIndexBitsAttr);
    largest = bits && bits.getInt() == 32 ? INT32_MAX : INT64_MAX;
  }

  LogicalResult run();

private:
  /// A block's share: `leftCount` elements of the left run from `left` on, and as many of the right
  /// one as make `count`, for the places from `target` on.
  struct Share {
    Value target, left, right, leftCount, count;
  };
  using GetKey = function_ref<Value(Value)>;

  Value getKey(Value position) {
    Value element = points.emit(op.getKeys(), Point{{}, Coord::uniform(position), 1, {}});
    return kernel::buildOrderKey(builder, loc, element, op.getUnsignedElements(),
                                 op.getDescending());
  }
  /// i1: whether the left run's element comes first; of equals it does.
  Value isLeftFirst(Value leftKey, Value rightKey) {
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ule, leftKey, rightKey);
  }
  Value select(Value condition, Value yes, Value no) {
    return arith::SelectOp::create(builder, loc, condition, yes, no);
  }
  Value padded(Value place, Type type) { return padPlace(points, place, type); }
  Value emitSearch(Value leftCount, Value rightCount, Value diagonal, GetKey left, GetKey right);
  Value emitGroupSearch(Value leftCount, Value rightCount, Value diagonal, GetKey left,
                        GetKey right);
  Share findShare(Value block);
  void loadKeys(const Share &share);
  void orderPlaces(const Share &share);
  void storeShare(const Share &share);
  void emitTile();
  void keepPlaces(Value block);

  kernel::MergeOp op;
  plan::BindingOp values, indices;
  MergeAttr config;
  int64_t threads, tile;
  KernelFrame frame;
  PointEmitter &points;
  IndexBuilder &index;
  OpBuilder &builder;
  Location loc;
  LineShape shape;
  Type keyType, word;
  Value thread;
  Value keys, order, bounds; // in shared memory
  int64_t largest;           // index; lines are shorter
};

} // namespace

/// How many of the first `diagonal` elements come from the left run.
Value MergeEmitter::emitSearch(Value leftCount, Value rightCount, Value diagonal, GetKey left,
                               GetKey right) {
  Value one = index.constant(1);
  Value low = index.max(index.sub(diagonal, rightCount), index.constant(0));
  Value high = index.min(diagonal, leftCount);
  SmallVector<Type> types(2, builder.getIndexType());
  auto search = scf::WhileOp::create(builder, loc, types, ValueRange{low, high});
  OpBuilder::InsertionGuard guard(builder);
  Block *before = builder.createBlock(&search.getBefore(), {}, types, {loc, loc});
  scf::ConditionOp::create(builder, loc,
                           arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt,
                                                 before->getArgument(0), before->getArgument(1)),
                           before->getArguments());
  Block *after = builder.createBlock(&search.getAfter(), {}, types, {loc, loc});
  {
    PointEmitter::Scope scope(points);
    Value from = after->getArgument(0), to = after->getArgument(1);
    Value middle = index.div(index.add(from, to), 2);
    Value other = index.sub(index.sub(diagonal, one), middle);
    Value takesMore = isLeftFirst(left(middle), right(other));
    scf::YieldOp::create(
        builder, loc,
        ValueRange{select(takesMore, index.add(middle, one), from), select(takesMore, to, middle)});
  }
  builder.setInsertionPointAfter(search);
  return search.getResult(0);
}

/// The same, by half of the block's threads each for its own diagonal. A thread looks at both ends
/// of an equal share of the range; the one between whose ends the answer changes tells the others.
Value MergeEmitter::emitGroupSearch(Value leftCount, Value rightCount, Value diagonal, GetKey left,
                                    GetKey right) {
  int64_t groupSize = threads / 2, range = op.getRun();
  Value one = index.constant(1), zero = index.constant(0);
  Value rank = index.rem(thread, groupSize), first = index.mul(index.div(thread, groupSize), 2);
  auto takesMore = [&](Value number) -> Value {
    Value other = index.sub(index.sub(diagonal, one), number);
    return isLeftFirst(left(number), right(other));
  };
  auto publish = [&](Value low, Value high) {
    Type wide = builder.getI64Type();
    for (auto [place, value] : {std::pair(first, low), {index.add(first, one), high}})
      memref::StoreOp::create(builder, loc, arith::IndexCastOp::create(builder, loc, wide, value),
                              bounds, place);
  };
  auto known = [&](Value place) -> Value {
    Value wide = memref::LoadOp::create(builder, loc, bounds, place);
    return arith::IndexCastOp::create(builder, loc, builder.getIndexType(), wide);
  };
  int64_t iterations = 0;
  for (; range > 0; range = llvm::divideCeil(range, groupSize) - 1)
    ++iterations;
  Value from = index.max(index.sub(diagonal, rightCount), zero);
  SmallVector<Value> found = points.emitLoop(
      zero, index.constant(iterations), one, {from, index.min(diagonal, leftCount)},
      [&](Value, ValueRange bound) -> SmallVector<Value> {
        Value low = bound[0], high = bound[1], no = points.constant(builder.getBoolAttr(false));
        Value step = index.ceilDiv(index.sub(high, low), index.constant(groupSize));
        Value start = index.add(low, index.mul(rank, step));
        Value end = index.min(index.add(start, step), high);
        auto asks = [&](Value number) {
          return points.emitIf(
              index.isLess(number, high), builder.getI1Type(), 1, [&] { return takesMore(number); },
              [&] { return no; });
        };
        Value atStart = asks(start), atEnd = asks(end);
        Value isHere =
            arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ugt, atStart, atEnd);
        points.emitIf(isHere, [&] { publish(index.add(start, one), end); });
        Value isLow = select(atStart, no, index.isEqual(rank, zero));
        points.emitIf(isLow, [&] { publish(low, low); });
        frame.barrier();
        SmallVector<Value> next{known(first), known(index.add(first, one))};
        frame.barrier();
        return next;
      });
  return found[0];
}

/// What the places of block `block` get; all of them lie in one pair of runs.
MergeEmitter::Share MergeEmitter::findShare(Value block) {
  Value chunks = index.ceilDiv(shape.length, index.constant(tile));
  Value line = index.mul(index.div(block, chunks), shape.length);
  Value place = index.mul(index.rem(block, chunks), tile);
  int64_t run = op.getRun();
  Value pair =
      2 * run > largest ? index.constant(0) : index.mul(index.div(place, 2 * run), 2 * run);
  auto endOf = [&](int64_t count) {
    return count > largest ? shape.length : index.min(index.add(pair, count), shape.length);
  };
  Value middle = endOf(run), end = endOf(2 * run);
  Value first = index.sub(place, pair);
  Value count = index.min(index.constant(tile), index.sub(end, place));
  Value left = index.add(line, pair), right = index.add(line, middle);

  int64_t half = threads / 2;
  Value isSecond = index.isAtLeast(thread, index.constant(half));
  Value diagonal = select(isSecond, index.add(first, count), first);
  Value taken = emitGroupSearch(
      index.sub(middle, pair), index.sub(end, middle), diagonal,
      [&](Value number) { return getKey(index.add(left, number)); },
      [&](Value number) { return getKey(index.add(right, number)); });
  points.emitIf(index.isEqual(index.rem(thread, half), index.constant(0)), [&] {
    Value wide = arith::IndexCastOp::create(builder, loc, builder.getI64Type(), taken);
    memref::StoreOp::create(builder, loc, wide, bounds, index.div(thread, half));
  });
  frame.barrier();
  auto bound = [&](int64_t number) -> Value {
    Value wide = memref::LoadOp::create(builder, loc, bounds, index.constant(number));
    return arith::IndexCastOp::create(builder, loc, builder.getIndexType(), wide);
  };
  Value from = bound(0), to = bound(1);
  return {index.add(line, place), index.add(left, from), index.add(right, index.sub(first, from)),
          index.sub(to, from), count};
}

/// The left run's keys, and then the right one's.
void MergeEmitter::loadKeys(const Share &share) {
  Value last = index.sub(share.count, index.constant(1));
  SmallVector<Value> places, loaded;
  for (int64_t number = 0; number < tile; number += threads) {
    places.push_back(index.add(thread, number));
    Value place = index.min(places.back(), last);
    Value ofRight = index.add(share.right, index.sub(place, share.leftCount));
    Value isLeft = index.isLess(place, share.leftCount);
    loaded.push_back(getKey(select(isLeft, index.add(share.left, place), ofRight)));
  }
  for (auto [place, key] : llvm::zip_equal(places, loaded))
    memref::StoreOp::create(builder, loc, key, keys, padded(place, keyType));
  frame.barrier();
}

/// Puts down for each of the thread's places which key belongs there.
void MergeEmitter::orderPlaces(const Share &share) {
  auto load = [&](Value place) -> Value {
    return memref::LoadOp::create(builder, loc, keys, padded(place, keyType));
  };
  Value first = index.min(index.mul(thread, config.getItems()), share.count);
  Value rightCount = index.sub(share.count, share.leftCount);
  Value taken = emitSearch(
      share.leftCount, rightCount, first, [&](Value number) { return load(number); },
      [&](Value number) { return load(index.add(share.leftCount, number)); });
  Value left = taken, right = index.add(share.leftCount, index.sub(first, taken));
  Value last = index.constant(tile - 1);
  // What is behind the end is not used.
  Value leftKey = load(index.min(left, last)), rightKey = load(index.min(right, last));
  for (int64_t number = 0; number < config.getItems(); ++number) {
    Value hasLeft = index.isLess(left, share.leftCount),
          hasRight = index.isLess(right, share.count);
    // left if there is one and either no right one, or one that does not come first
    Value isBefore = select(hasRight, isLeftFirst(leftKey, rightKey), hasLeft);
    Value takesLeft = index.both(hasLeft, isBefore);
    Value source = arith::IndexCastOp::create(builder, loc, word, select(takesLeft, left, right));
    Value place = index.add(index.mul(thread, config.getItems()), number);
    memref::StoreOp::create(builder, loc, source, order, padded(place, word));
    left = select(takesLeft, index.add(left, 1), left);
    right = select(takesLeft, right, index.add(right, 1));
    if (number + 1 == config.getItems())
      break;
    Value next = load(index.min(select(takesLeft, left, right), last));
    leftKey = select(takesLeft, next, leftKey);
    rightKey = select(takesLeft, rightKey, next);
  }
  frame.barrier();
}

void MergeEmitter::storeShare(const Share &share) {
  Value last = index.sub(share.count, index.constant(1));
  SmallVector<Value> places, found, payload;
  for (int64_t number = 0; number < tile; number += threads) {
    places.push_back(index.add(thread, number));
    Value place = index.min(places.back(), last);
    Value stored = memref::LoadOp::create(builder, loc, order, padded(place, word));
    Value key = arith::IndexCastOp::create(builder, loc, builder.getIndexType(), stored);
    Value ofRight = index.add(share.right, index.sub(key, share.leftCount));
    Value isLeft = index.isLess(key, share.leftCount);
    Value source = select(isLeft, index.add(share.left, key), ofRight);
    Point point{{}, Coord::uniform(source), 1, {}};
    found.push_back(points.emit(op.getKeys(), point));
    payload.push_back(points.emit(op.getPayload(), point));
  }
  for (auto [place, value, belonging] : llvm::zip_equal(places, found, payload)) {
    Value isThere = index.isLess(place, share.count);
    Coord target = Coord::uniform(index.add(share.target, place));
    points.store(values, target, value, 1, isThere);
    points.store(indices, target, belonging, 1, isThere);
  }
}

void MergeEmitter::emitTile() {
  Share share = findShare(frame.getBlockId());
  loadKeys(share);
  orderPlaces(share);
  storeShare(share);
}

/// Copies this block's places of what the destinations were, unless that is nothing. Where they are
/// in the memory of the results, an element meets itself.
void MergeEmitter::keepPlaces(Value block) {
  Value from = index.mul(block, tile);
  Value to = index.min(index.add(from, tile), index.mul(shape.outer, shape.length));
  auto copy = [&](Value init, plan::BindingOp binding) {
    if (init.getDefiningOp<tensor::EmptyOp>())
      return;
    points.emitLoop(index.add(from, thread), to, index.constant(threads), {},
                    [&](Value place, ValueRange) -> SmallVector<Value> {
                      Coord flat = Coord::uniform(place);
                      points.store(binding, flat, points.emit(init, Point{{}, flat, 1, {}}), 1);
                      return {};
                    });
  };
  copy(op.getValues(), values);
  copy(op.getIndices(), indices);
}

LogicalResult MergeEmitter::run() {
  if (op.getRun() % tile != 0)
    return op.emitOpError("expected runs of a multiple of ")
           << tile << " elements for " << config << ", got " << op.getRun();
  keys = frame.allocateShared(keyType, padCount(tile, keyType));
  order = frame.allocateShared(word, padCount(tile, word));
  bounds = frame.allocateShared(builder.getI64Type(), 4);
  std::optional<int64_t> above = op.getAbove();
  if (above && *above > largest) {
    keepPlaces(frame.getBlockId());
  } else if (above) {
    // All threads of a block agree, so they may meet inside.
    Value limit = index.constant(*above);
    points.emitIf(index.isLess(limit, shape.length), [&] { emitTile(); });
    points.emitIf(index.isAtLeast(limit, shape.length), [&] { keepPlaces(frame.getBlockId()); });
  } else {
    emitTile();
  }
  Value chunks = index.ceilDiv(shape.length, index.constant(tile));
  return frame.finish(index.mul(shape.outer, chunks));
}

namespace {

struct EmitMerge final : impl::EmitMergeBase<EmitMerge> {
  void runOnOperation() override {
    auto config = getOperation()->getAttrOfType<MergeAttr>(plan::kConfigAttr);
    if (!config)
      return;
    FailureOr<KernelInfo> kernel = analyzeKernel(getOperation());
    if (failed(kernel))
      return signalPassFailure();
    FailureOr<LineKernel> lines =
        requireLineKernel<kernel::MergeOp>(*kernel, config, "two outputs, the results");
    if (failed(lines))
      return signalPassFailure();
    if (failed(MergeEmitter(*kernel, *lines, config).run()))
      signalPassFailure();
  }
};

} // namespace

} // namespace xc::cuda
