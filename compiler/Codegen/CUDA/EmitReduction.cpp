//===- EmitReduction.cpp - Rows and columns reduced by many threads -------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Emits a group of reductions over one iteration space, with the ops that feed and follow them:
//   -xc-cuda-emit-row-reduction      the reduced elements are neighbours in memory
//   -xc-cuda-emit-column-reduction   the kept ones are
//
// Both do, for one reduction after the other: each thread combines its own share of the elements,
// the threads combine their partial results, and the result is a value that the code after it uses.
// What differs is which elements are a thread's share (`Share`), and how the partial results meet.
// If a row is short enough, its elements stay in registers from the first reduction to the stores:
// `RowEmitter` visits them by unrolled code over the same points, whose values the point emitter
// remembers. Else each visit is a loop over memory.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Analysis/ReductionGroup.h"
#include "compiler/Codegen/CUDA/Emit/KernelFrame.h"
#include "compiler/Codegen/CUDA/Emit/LaneOps.h"
#include "compiler/Codegen/CUDA/IR/CUDAConfig.h"
#include "compiler/Codegen/CUDA/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace xc::cuda {

#define GEN_PASS_DEF_EMITROWREDUCTION
#define GEN_PASS_DEF_EMITCOLUMNREDUCTION
#include "compiler/Codegen/CUDA/Passes.h.inc"

/// A thread has this many loads of one input in flight where it loops over memory.
static constexpr int64_t kLoopUnroll = 4;

namespace {

/// Places of the iteration space that one thread visits at once.
struct Place {
  SmallVector<Coord> coords; // one for each dim of the space
  Value mask;                // null: always inside
};

class ReductionEmitter {
public:
  ReductionEmitter(const KernelInfo &kernel, const ReductionGroup &group, int64_t threads,
                   int64_t lanes)
      : group(group), lanes(lanes), frame(kernel, threads), points(frame.points),
        index(points.index) {
    SmallVector<Value> sizes = points.getLoopSizes(group.root);
    for (unsigned dim : group.parallelDims)
      parallelSizes.push_back(sizes[dim]);
    for (unsigned dim : group.reductionDims)
      reductionSizes.push_back(sizes[dim]);
  }
  virtual ~ReductionEmitter() = default;

protected:
  /// Calls `body` for each place of this thread's share, with the values carried from the one
  /// before.
  using Visitor = llvm::function_ref<SmallVector<Value>(const Place &, ValueRange)>;
  virtual SmallVector<Value> visitShare(ValueRange inits, Visitor body) = 0;
  /// Combines what the threads of one row or column hold; all of them get the result.
  virtual SmallVector<Value> combineThreads(const Combiner &combiner,
                                            SmallVector<Value> partial) = 0;
  /// The place of this thread's reduced element, and the number of lanes it has.
  virtual Place getReducedPlace() = 0;
  virtual int64_t getReducedLanes() = 0;
  /// i1: true for the one thread that stores it.
  virtual Value isStoringThread() = 0;

  void emitMember(const ReductionGroup::Member &member);
  void emitResults();
  /// The place at `kept` of the parallel dims and `reduced` of the reduction dims, counted
  /// row-major.
  Place makePlace(const Coord &kept, const Coord &reduced, Value mask);
  Coord makeCoord(Value first, bool consecutive) {
    return consecutive && lanes > 1 ? Coord::consecutive(first) : Coord::uniform(first);
  }
  /// Visits `from`, `from + step`, ... below `to` by loops.
  SmallVector<Value> visitByLoops(Value from, Value to, int64_t step, ValueRange inits,
                                  llvm::function_ref<Place(Value)> toPlace, Visitor body);

  const ReductionGroup &group;
  int64_t lanes;
  KernelFrame frame;
  PointEmitter &points;
  IndexBuilder &index;
  SmallVector<Value> parallelSizes, reductionSizes;
};

} // namespace

Place ReductionEmitter::makePlace(const Coord &kept, const Coord &reduced, Value mask) {
  Place place;
  place.coords.assign(group.getRoot().getNumLoops(), Coord::uniform(index.constant(0)));
  for (auto [dim, coord] :
       llvm::zip_equal(group.parallelDims, points.delinearize(kept, parallelSizes, lanes)))
    place.coords[dim] = coord;
  for (auto [dim, coord] :
       llvm::zip_equal(group.reductionDims, points.delinearize(reduced, reductionSizes, lanes)))
    place.coords[dim] = coord;
  place.mask = mask;
  return place;
}

SmallVector<Value> ReductionEmitter::visitByLoops(Value from, Value to, int64_t step,
                                                  ValueRange inits,
                                                  llvm::function_ref<Place(Value)> toPlace,
                                                  Visitor body) {
  // A loop that visits several places at a time, so that their loads are in flight together, then
  // one for the places that are left.
  int64_t wide = step * kLoopUnroll;
  Value lastStart = index.sub(to, index.constant(wide - step));
  SmallVector<Value> carried = points.emitLoop(
      from, lastStart, index.constant(wide), inits, [&](Value position, ValueRange values) {
        SmallVector<Value> current(values);
        for (int64_t i = 0; i < kLoopUnroll; ++i)
          current = body(toPlace(index.add(position, i * step)), current);
        return current;
      });
  // The first loop made ceil((lastStart - from) / wide) rounds, none if that is negative.
  Value distance = index.max(index.sub(lastStart, from), index.constant(0));
  Value rest = index.add(from, index.mul(index.ceilDiv(distance, index.constant(wide)), wide));
  return points.emitLoop(
      rest, to, index.constant(step), carried,
      [&](Value position, ValueRange values) { return body(toPlace(position), values); });
}

/// True if combining with `init` changes nothing: it is the neutral element, or a zero that starts
/// a sum.
static bool isNeutralInit(Value init, TypedAttr neutral) {
  Attribute value;
  if (!neutral || !matchPattern(init, m_Constant(&value)))
    return false;
  if (value == neutral)
    return true;
  auto number = dyn_cast<FloatAttr>(value), other = dyn_cast<FloatAttr>(neutral);
  return number && other && number.getValue().isZero() && other.getValue().isZero();
}

void ReductionEmitter::emitMember(const ReductionGroup::Member &member) {
  const Combiner &combiner = member.combiner;
  linalg::LinalgOp op = combiner.getOp();
  OpBuilder &builder = points.builder;
  Location loc = points.loc;

  auto toLoops = [&](const Place &place) {
    return llvm::map_to_vector(
        member.loops, [&](AffineExpr expr) { return points.apply(expr, place.coords, lanes); });
  };
  // The init's value where the result goes.
  Place reduced = getReducedPlace();
  SmallVector<Value> inits;
  for (OpOperand &init : op.getDpsInitsMutable()) {
    Point point{{}, {}, getReducedLanes(), reduced.mask};
    SmallVector<Coord> loops = toLoops(reduced);
    for (AffineExpr expr : op.getMatchingIndexingMap(&init).getResults())
      point.coords.push_back(points.apply(expr, loops, lanes));
    if (point.coords.empty())
      point.flat = Coord::uniform(index.constant(0));
    inits.push_back(points.emit(init.get(), point));
  }

  SmallVector<Value> starts;
  for (unsigned i = 0; i < combiner.getNumResults(); ++i) {
    Value start = combiner.startsFromInit() ? inits[i] : points.constant(combiner.getNeutral(i));
    starts.push_back(splatTo(builder, loc, start, lanes));
  }
  SmallVector<Value> partial = visitShare(starts, [&](const Place &place, ValueRange carried) {
    SmallVector<Value> leaves = points.emitLeaves(combiner, toLoops(place), lanes, place.mask);
    for (Value &leaf : leaves)
      leaf = splatTo(builder, loc, leaf, lanes);
    SmallVector<Value> combined = combiner.combine(builder, loc, carried, leaves);
    if (place.mask)
      for (auto [value, before] : llvm::zip_equal(combined, carried))
        value = arith::SelectOp::create(builder, loc, place.mask, value, before);
    return combined;
  });

  SmallVector<Value> total = combineThreads(combiner, partial);
  bool initMatters = false;
  for (unsigned i = 0; i < combiner.getNumResults(); ++i)
    initMatters |= !combiner.startsFromInit() && !isNeutralInit(inits[i], combiner.getNeutral(i));
  if (initMatters) {
    for (Value &init : inits)
      init = splatTo(builder, loc, init, getReducedLanes());
    total = combiner.combine(builder, loc, inits, total);
  }
  for (auto [result, value] : llvm::zip_equal(op->getResults(), total))
    points.provide(result, value);
}

void ReductionEmitter::emitResults() {
  auto emitResult = [&](const ReductionGroup::Result &result, const Place &place,
                        int64_t pointLanes) {
    Point point{{}, {}, pointLanes, place.mask};
    for (AffineExpr expr : result.coords)
      point.coords.push_back(points.apply(expr, place.coords, pointLanes));
    if (point.coords.empty())
      point.flat = Coord::uniform(index.constant(0));
    Coord flat = points.getFlat(point, result.output.tensor);
    Value value = points.emit(result.output.tensor, point);
    points.store(result.output.binding, flat, value, pointLanes, place.mask);
  };
  if (llvm::any_of(group.results,
                   [](const ReductionGroup::Result &result) { return !result.isReduced; }))
    visitShare({}, [&](const Place &place, ValueRange) -> SmallVector<Value> {
      for (const ReductionGroup::Result &result : group.results)
        if (!result.isReduced)
          emitResult(result, place, lanes);
      return {};
    });
  if (llvm::any_of(group.results,
                   [](const ReductionGroup::Result &result) { return result.isReduced; })) {
    Place place = getReducedPlace();
    points.emitIf(index.both(isStoringThread(), place.mask), [&] {
      place.mask = {};
      for (const ReductionGroup::Result &result : group.results)
        if (result.isReduced)
          emitResult(result, place, getReducedLanes());
    });
  }
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

namespace {

class RowEmitter final : public ReductionEmitter {
public:
  RowEmitter(const KernelInfo &kernel, const ReductionGroup &group, RowReductionAttr config)
      : ReductionEmitter(kernel, group, config.getThreads() * config.getRows(), config.getVector()),
        config(config) {}

  LogicalResult run();

protected:
  SmallVector<Value> visitShare(ValueRange inits, Visitor body) override;
  SmallVector<Value> combineThreads(const Combiner &combiner, SmallVector<Value> partial) override;
  Place getReducedPlace() override {
    return makePlace(Coord::uniform(row), Coord::uniform(index.constant(0)), rowMask);
  }
  int64_t getReducedLanes() override { return 1; }
  Value isStoringThread() override { return index.isEqual(lane, index.constant(0)); }

private:
  void emitRow();
  SmallVector<Value> combineLanes(const Combiner &combiner, ArrayRef<Value> partial);
  SmallVector<Value> combineWarp(const Combiner &combiner, SmallVector<Value> values,
                                 int64_t width);

  RowReductionAttr config;
  Value row, rowMask, lane, count;
  SmallVector<Place> chunks;
};

} // namespace

SmallVector<Value> RowEmitter::visitShare(ValueRange inits, Visitor body) {
  if (config.getChunks() > 0) {
    SmallVector<Value> carried(inits);
    for (const Place &chunk : chunks)
      carried = body(chunk, carried);
    return carried;
  }
  auto toPlace = [&](Value position) {
    return makePlace(Coord::uniform(row), makeCoord(position, /*consecutive=*/true), rowMask);
  };
  return visitByLoops(index.mul(lane, lanes), count, config.getThreads() * lanes, inits, toPlace,
                      body);
}

SmallVector<Value> RowEmitter::combineLanes(const Combiner &combiner, ArrayRef<Value> partial) {
  auto getLanes = [&](int64_t i) {
    return llvm::map_to_vector(
        partial, [&](Value value) { return getLane(points.builder, points.loc, value, i); });
  };
  SmallVector<SmallVector<Value>> terms;
  for (int64_t i = 0; i < lanes; ++i)
    terms.push_back(getLanes(i));
  // A tree: its depth is the latency.
  for (size_t width = terms.size() / 2; width > 0; width /= 2)
    for (size_t i = 0; i < width; ++i)
      terms[i] = combiner.combine(points.builder, points.loc, terms[i], terms[i + width]);
  return terms.front();
}

SmallVector<Value> RowEmitter::combineWarp(const Combiner &combiner, SmallVector<Value> values,
                                           int64_t width) {
  for (int64_t distance = width / 2; distance > 0; distance /= 2) {
    SmallVector<Value> others =
        llvm::map_to_vector(values, [&](Value value) { return frame.shuffleXor(value, distance); });
    values = combiner.combine(points.builder, points.loc, values, others);
  }
  return values;
}

SmallVector<Value> RowEmitter::combineThreads(const Combiner &combiner,
                                              SmallVector<Value> partial) {
  OpBuilder &builder = points.builder;
  Location loc = points.loc;
  SmallVector<Value> values = combineLanes(combiner, partial);
  int64_t threads = config.getThreads();
  values = combineWarp(combiner, values, std::min<int64_t>(threads, 32));
  if (threads <= 32)
    return values;
  // Every warp leaves its result in shared memory, and every warp combines them all.
  int64_t warps = threads / 32;
  SmallVector<Value> buffers;
  Value isFirst = index.isEqual(index.rem(lane, 32), index.constant(0));
  for (Value value : values)
    buffers.push_back(frame.allocateShared(value.getType(), warps));
  points.emitIf(isFirst, [&] {
    for (auto [value, buffer] : llvm::zip_equal(values, buffers))
      memref::StoreOp::create(builder, loc, value, buffer, index.div(lane, 32));
  });
  frame.barrier();
  Value from = index.rem(lane, warps);
  for (auto [value, buffer] : llvm::zip_equal(values, buffers))
    value = memref::LoadOp::create(builder, loc, buffer, from);
  return combineWarp(combiner, values, warps);
}

void RowEmitter::emitRow() {
  int64_t perChunk = config.getThreads() * lanes;
  std::optional<int64_t> length = getConstantIntValue(count);
  for (int64_t chunk = 0; chunk < config.getChunks(); ++chunk) {
    Value column = index.add(index.mul(lane, lanes), chunk * perChunk);
    Value inside =
        length && (chunk + 1) * perChunk <= *length ? Value() : index.isLess(column, count);
    chunks.push_back(makePlace(Coord::uniform(row), makeCoord(column, /*consecutive=*/true),
                               index.both(inside, rowMask)));
  }
  for (const ReductionGroup::Member &member : group.members)
    emitMember(member);
  emitResults();
}

LogicalResult RowEmitter::run() {
  Value rows = index.product(parallelSizes);
  count = index.product(reductionSizes);
  int64_t perBlock = config.getRows();
  Value thread = frame.getThreadId();
  row = index.add(index.mul(frame.getBlockId(), perBlock),
                  perBlock == 1 ? index.constant(0) : index.div(thread, config.getThreads()));
  lane = perBlock == 1 ? thread : index.rem(thread, config.getThreads());
  std::optional<int64_t> number = getConstantIntValue(rows);
  if (perBlock == 1 || (number && *number % perBlock == 0)) {
    emitRow();
  } else if (config.getThreads() == 32) {
    // A warp without a row has nothing to do, and nobody waits for it.
    points.emitIf(index.isLess(row, rows), [&] { emitRow(); });
  } else {
    rowMask = index.isLess(row, rows);
    emitRow();
  }
  return frame.finish(index.ceilDiv(rows, index.constant(perBlock)));
}

//===----------------------------------------------------------------------===//
// Columns
//===----------------------------------------------------------------------===//

namespace {

class ColumnEmitter final : public ReductionEmitter {
public:
  ColumnEmitter(const KernelInfo &kernel, const ReductionGroup &group, ColumnReductionAttr config)
      : ReductionEmitter(kernel, group, config.getThreads() * config.getRows(), config.getVector()),
        config(config) {}

  LogicalResult run();

protected:
  SmallVector<Value> visitShare(ValueRange inits, Visitor body) override;
  SmallVector<Value> combineThreads(const Combiner &combiner, SmallVector<Value> partial) override;
  Place getReducedPlace() override {
    return makePlace(makeCoord(column, /*consecutive=*/true), Coord::uniform(index.constant(0)),
                     columnMask);
  }
  int64_t getReducedLanes() override { return lanes; }
  Value isStoringThread() override {
    return config.getRows() == 1 ? Value() : index.isEqual(down, index.constant(0));
  }

private:
  Value loadVector(Value buffer, Value position, Type type);
  void storeVector(Value buffer, Value position, Value value);

  ColumnReductionAttr config;
  Value column, columnMask, across, down, count;
};

} // namespace

SmallVector<Value> ColumnEmitter::visitShare(ValueRange inits, Visitor body) {
  auto toPlace = [&](Value position) {
    return makePlace(makeCoord(column, /*consecutive=*/true), Coord::uniform(position), columnMask);
  };
  return visitByLoops(down, count, config.getRows(), inits, toPlace, body);
}

Value ColumnEmitter::loadVector(Value buffer, Value position, Type type) {
  if (auto vectorType = dyn_cast<VectorType>(type))
    return vector::LoadOp::create(points.builder, points.loc, vectorType, buffer, position,
                                  /*nontemporal=*/false,
                                  llvm::MaybeAlign(std::min<int64_t>(
                                      16, lanes * getElementBytes(vectorType.getElementType()))));
  return memref::LoadOp::create(points.builder, points.loc, buffer, position);
}

void ColumnEmitter::storeVector(Value buffer, Value position, Value value) {
  if (auto vectorType = dyn_cast<VectorType>(value.getType()))
    vector::StoreOp::create(points.builder, points.loc, value, buffer, position,
                            /*nontemporal=*/false,
                            llvm::MaybeAlign(std::min<int64_t>(
                                16, lanes * getElementBytes(vectorType.getElementType()))));
  else
    memref::StoreOp::create(points.builder, points.loc, value, buffer, position);
}

SmallVector<Value> ColumnEmitter::combineThreads(const Combiner &combiner,
                                                 SmallVector<Value> partial) {
  if (config.getRows() == 1)
    return partial;
  int64_t width = config.getThreads() * lanes;
  SmallVector<Value> buffers;
  for (Value value : partial)
    buffers.push_back(frame.allocateShared(getElementTypeOrSelf(value), config.getRows() * width));
  auto position = [&](Value rowOfThreads) {
    return index.add(index.mul(rowOfThreads, width), index.mul(across, lanes));
  };
  auto store = [&](ValueRange values) {
    for (auto [value, buffer] : llvm::zip_equal(values, buffers))
      storeVector(buffer, position(down), value);
  };
  auto load = [&](Value rowOfThreads) {
    SmallVector<Value> values;
    for (auto [value, buffer] : llvm::zip_equal(partial, buffers))
      values.push_back(loadVector(buffer, position(rowOfThreads), value.getType()));
    return values;
  };
  // The upper half of the rows of threads leaves its results, the lower half takes them over, and
  // so on.
  store(partial);
  for (int64_t half = config.getRows() / 2; half > 0; half /= 2) {
    frame.barrier();
    points.emitIf(index.isLess(down, index.constant(half)), [&] {
      store(combiner.combine(points.builder, points.loc, load(down), load(index.add(down, half))));
    });
  }
  frame.barrier();
  return load(index.constant(0));
}

LogicalResult ColumnEmitter::run() {
  Value columns = index.product(parallelSizes);
  count = index.product(reductionSizes);
  int64_t perBlock = config.getThreads() * lanes;
  Value thread = frame.getThreadId();
  across = index.rem(thread, config.getThreads());
  down = config.getRows() == 1 ? index.constant(0) : index.div(thread, config.getThreads());
  column = index.add(index.mul(frame.getBlockId(), perBlock), index.mul(across, lanes));
  std::optional<int64_t> number = getConstantIntValue(columns);
  if (!number || *number % perBlock != 0)
    columnMask = index.isLess(column, columns);
  for (const ReductionGroup::Member &member : group.members)
    emitMember(member);
  emitResults();
  return frame.finish(index.ceilDiv(columns, index.constant(perBlock)));
}

//===----------------------------------------------------------------------===//
// Passes
//===----------------------------------------------------------------------===//

template <typename Emitter, typename Config>
static LogicalResult emitReduction(func::FuncOp function) {
  auto config = function->getAttrOfType<Config>(plan::kConfigAttr);
  if (!config)
    return success();
  FailureOr<KernelInfo> kernel = analyzeKernel(function);
  if (failed(kernel))
    return failure();
  std::string reason;
  if (kernel->getReductions().empty())
    return function.emitOpError("expected a reduction for ") << config;
  FailureOr<ReductionGroup> group = matchReductionGroup(*kernel, reason);
  if (failed(group))
    return function.emitOpError("expected a group of reductions for ") << config << ": " << reason;
  return Emitter(*kernel, *group, config).run();
}

namespace {

struct EmitRowReduction final : impl::EmitRowReductionBase<EmitRowReduction> {
  void runOnOperation() override {
    if (failed(emitReduction<RowEmitter, RowReductionAttr>(getOperation())))
      signalPassFailure();
  }
};

struct EmitColumnReduction final : impl::EmitColumnReductionBase<EmitColumnReduction> {
  void runOnOperation() override {
    if (failed(emitReduction<ColumnEmitter, ColumnReductionAttr>(getOperation())))
      signalPassFailure();
  }
};

} // namespace

} // namespace xc::cuda
