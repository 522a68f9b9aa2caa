//===- EmitScatter.cpp - Updates in order, without atomics ----------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The result has to be the same on every run, so each element has one owner, which applies its
// updates in order: a thread owns one place of the window in each of `rows` rows of the
// destination, beside those of its neighbours and above those of the next threads. It copies its
// elements of the destination, then loops over all updates and applies those that go to its rows.
// All threads of a block look at the same index vector at the same time.
//
// Where a scatter is in place, only what it updates is touched: a thread owns an element of the
// updates. If its update is the first of its row, it applies all of that row's.
//
// Where the updates come sorted by row, a thread searches for the first one of its rows instead,
// and an element's updates are the run of those from there on that have its row. It may own a
// vector of places there.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Common/KernelFrame.h"
#include "compiler/Codegen/CUDA/Common/LaneOps.h"
#include "compiler/Codegen/CUDA/IR/CUDAConfig.h"
#include "compiler/Codegen/CUDA/Passes.h"
#include "compiler/Codegen/CUDA/Scatter/PointScatter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace xc::cuda {

#define GEN_PASS_DEF_EMITSCATTER
#include "compiler/Codegen/CUDA/Passes.h.inc"

namespace {

/// What a thread owns: a place of the window, of `lanes` elements, in some rows of the destination.
struct Share {
  template <typename Config>
  Share(kernel::ScatterOp op, KernelFrame &frame, Config config, int64_t lanes = 1)
      : points(frame.points), index(points.index), rows(op, points) {
    int64_t across = config.getThreads() / config.getDown(),
            rowsOfBlock = config.getRows() * config.getDown();
    window = index.ceilDiv(index.product(rows.windowSizes), index.constant(lanes));
    rowCount = index.product(rows.rowSizes);
    Value blocksAcross = index.ceilDiv(window, index.constant(across));
    Value block = frame.getBlockId(), thread = frame.getThreadId();
    Value firstOfBlock = index.mul(index.div(block, blocksAcross), rowsOfBlock);
    firstRow = index.add(firstOfBlock, index.mul(index.div(thread, across), config.getRows()));
    endRow = index.min(index.add(firstRow, config.getRows()), rowCount);
    place = index.add(index.mul(index.rem(block, blocksAcross), across), index.rem(thread, across));
    blocks = index.mul(blocksAcross, index.ceilDiv(rowCount, index.constant(rowsOfBlock)));
  }

  PointEmitter &points;
  IndexBuilder &index;
  ScatterRows rows;
  Value window, rowCount, firstRow, endRow, place, blocks;
};

} // namespace

static LogicalResult emitScatter(const KernelInfo &kernel, ScatterAttr config) {
  auto op = kernel.outputs.front().tensor.getDefiningOp<kernel::ScatterOp>();
  plan::BindingOp output = kernel.outputs.front().binding;
  KernelFrame frame(kernel, config.getThreads());
  Share share(op, frame, config);
  PointEmitter &points = frame.points;
  IndexBuilder &index = points.index;
  ScatterRows &rows = share.rows;
  SmallVector<Value> sizes = points.getSizes(output);
  Value firstRow = share.firstRow, endRow = share.endRow, place = share.place,
        window = share.window, one = index.constant(1);

  points.emitIf(index.isLess(place, window), [&] {
    SmallVector<Coord> windowCoords =
        points.delinearize(Coord::uniform(place), rows.windowSizes, 1);
    auto getPosition = [&](Value row) {
      SmallVector<Coord> coords =
          rows.joinCoords(index.delinearize(row, rows.rowSizes), windowCoords);
      return points.linearize(coords, sizes, 1);
    };
    points.emitLoop(firstRow, endRow, one, {}, [&](Value row, ValueRange) -> SmallVector<Value> {
      Point point{rows.joinCoords(index.delinearize(row, rows.rowSizes), windowCoords), {}, 1, {}};
      points.store(output, getPosition(row), points.emit(op.getDest(), point), 1);
      return {};
    });
    points.emitLoop(
        index.constant(0), index.product(rows.batchSizes), one, {},
        [&](Value update, ValueRange) -> SmallVector<Value> {
          std::pair<Value, Value> target = rows.getTarget(update);
          Value row = target.first, inside = target.second;
          Value mine = index.both(index.isAtLeast(row, firstRow), index.isLess(row, endRow));
          points.emitIf(index.both(inside, mine), [&] {
            Coord position = getPosition(row);
            Value old = points.load(output, position, 1);
            points.store(output, position,
                         rows.combine(old, rows.emitUpdate(update, windowCoords, 1)), 1);
          });
          return {};
        });
  });
  return frame.finish(share.blocks);
}

/// `while (condition) body` over values; both build on the carried ones.
static SmallVector<Value> emitWhile(PointEmitter &points, ValueRange inits,
                                    llvm::function_ref<Value(ValueRange)> condition,
                                    llvm::function_ref<SmallVector<Value>(ValueRange)> body) {
  OpBuilder &builder = points.builder;
  Location loc = points.loc;
  SmallVector<Type> types(inits.getTypes());
  SmallVector<Location> locs(types.size(), loc);
  auto loop = scf::WhileOp::create(builder, loc, types, inits);
  OpBuilder::InsertionGuard guard(builder);
  Block *before = builder.createBlock(&loop.getBefore(), {}, types, locs);
  {
    PointEmitter::Scope scope(points);
    scf::ConditionOp::create(builder, loc, condition(before->getArguments()),
                             before->getArguments());
  }
  Block *after = builder.createBlock(&loop.getAfter(), {}, types, locs);
  PointEmitter::Scope scope(points);
  scf::YieldOp::create(builder, loc, body(after->getArguments()));
  return SmallVector<Value>(loop.getResults());
}

/// The number of updates whose row is below `row`, which is where those of `row` begin.
static Value emitSearch(PointEmitter &points, kernel::ScatterOp op, Value row) {
  OpBuilder &builder = points.builder;
  Location loc = points.loc;
  IndexBuilder &index = points.index;
  Value count = points.getSizes(op.getRows()).front();
  SmallVector<Value> found = emitWhile(
      points, {index.constant(0), count},
      [&](ValueRange range) { return index.isLess(range[0], range[1]); },
      [&](ValueRange range) -> SmallVector<Value> {
        Value low = range[0], high = range[1];
        Value middle = index.div(index.add(low, high), 2);
        Value stored = points.emit(op.getRows(), Point{{}, Coord::uniform(middle), 1, {}});
        Value own = arith::IndexCastOp::create(builder, loc, builder.getIndexType(), stored);
        Value isBelow = index.isLess(own, row);
        return {arith::SelectOp::create(builder, loc, isBelow, index.add(middle, 1), low),
                arith::SelectOp::create(builder, loc, isBelow, high, middle)};
      });
  return found.front();
}

namespace {

/// So many updates of a row with more of them are loaded at a time.
constexpr int64_t kBatch = 16;

/// Applies the updates, which come sorted by row, to one row after the other.
class OrderedEmitter {
public:
  OrderedEmitter(ScatterRows &rows, ArrayRef<Coord> windowCoords, int64_t lanes)
      : rows(rows), points(rows.points), index(points.index), windowCoords(windowCoords),
        lanes(lanes) {}

  /// What is carried from row to row: the number of the next update and, where all of a row's
  /// count, its row and place among the updates, which so are at hand when it is its turn.
  SmallVector<Value> getState(Value cursor);
  /// The elements of `row`, which were `start`, and the state behind it.
  std::pair<Value, SmallVector<Value>> apply(Value row, Value start, ValueRange state) {
    return rows.op.getKind() == kernel::ScatterKind::Set ? applyLast(row, start, state.front())
                                                         : applyAll(row, start, state);
  }

private:
  Value load(Value tensor, Value position) {
    Value stored = points.emit(tensor, Point{{}, Coord::uniform(position), 1, {}});
    return arith::IndexCastOp::create(points.builder, points.loc, points.builder.getIndexType(),
                                      stored);
  }
  Value isThere(Value cursor) {
    return index.isLess(cursor, points.getSizes(rows.op.getRows()).front());
  }
  SmallVector<Value> applyOne(ValueRange carried);
  std::pair<Value, Value> applyBatches(Value row, Value start, Value cursor);
  std::pair<Value, SmallVector<Value>> applyAll(Value row, Value start, ValueRange state);
  std::pair<Value, SmallVector<Value>> applyLast(Value row, Value start, Value cursor);

  ScatterRows &rows;
  PointEmitter &points;
  IndexBuilder &index;
  ArrayRef<Coord> windowCoords;
  int64_t lanes;
};

} // namespace

SmallVector<Value> OrderedEmitter::getState(Value cursor) {
  SmallVector<Value> state{cursor};
  if (rows.op.getKind() != kernel::ScatterKind::Set)
    llvm::append_range(state, points.emitIfOrZeros(isThere(cursor), [&]() -> SmallVector<Value> {
      return {load(rows.op.getRows(), cursor), load(rows.op.getOrder(), cursor)};
    }));
  return state;
}

/// As many updates of `row` as there are whole batches of, from number `cursor` on: all of a batch
/// are on their way before the first is applied, and so are the places of the next batch's. The
/// elements, and the number of the next update.
std::pair<Value, Value> OrderedEmitter::applyBatches(Value row, Value start, Value cursor) {
  // They are sorted: if the last one is the row's, all are.
  auto isWhole = [&](Value first) {
    Value last = index.add(first, kBatch - 1);
    Value none = points.constant(points.builder.getBoolAttr(false));
    return points.emitIf(
        isThere(last), none.getType(), 1,
        [&] { return index.isEqual(load(rows.op.getRows(), last), row); }, [&] { return none; });
  };
  // Whether there is a batch, and where its updates are.
  auto find = [&](Value first) {
    Value whole = isWhole(first);
    SmallVector<Value> batch{whole};
    llvm::append_range(batch, points.emitIfOrZeros(whole, [&] {
      return llvm::map_to_vector(llvm::seq(kBatch), [&](int64_t i) {
        return load(rows.op.getOrder(), index.add(first, i));
      });
    }));
    return batch;
  };
  SmallVector<Value> carried{start, cursor};
  llvm::append_range(carried, find(cursor));
  SmallVector<Value> done = emitWhile(
      points, carried, [](ValueRange now) { return now[2]; },
      [&](ValueRange now) {
        auto updates = llvm::map_to_vector(now.drop_front(3), [&](Value place) {
          return rows.emitUpdate(place, windowCoords, lanes);
        });
        Value elements = now[0], behind = index.add(now[1], kBatch);
        SmallVector<Value> next = find(behind);
        for (Value update : updates)
          elements = rows.combine(elements, update);
        next.insert(next.begin(), {elements, behind});
        return next;
      });
  return {done[0], done[1]};
}

/// `carried`, elements of `row` and the state, with the update at hand applied.
SmallVector<Value> OrderedEmitter::applyOne(ValueRange carried) {
  SmallVector<Value> next = getState(index.add(carried[1], 1));
  next.insert(next.begin(),
              rows.combine(carried[0], rows.emitUpdate(carried[3], windowCoords, lanes)));
  return next;
}

std::pair<Value, SmallVector<Value>> OrderedEmitter::applyAll(Value row, Value start,
                                                              ValueRange state) {
  auto isMine = [&](ValueRange carried) {
    return index.both(isThere(carried[1]), index.isEqual(carried[2], row));
  };
  SmallVector<Value> carried{start};
  llvm::append_range(carried, state);
  // Most rows have one update or none: batches are looked for behind the first one.
  carried = points.emitIfOrKeep(isMine(carried), carried, [&] {
    SmallVector<Value> applied = applyOne(carried);
    return points.emitIfOrKeep(isMine(applied), applied, [&] {
      auto [elements, cursor] = applyBatches(row, applied[0], applied[1]);
      SmallVector<Value> next = getState(cursor);
      next.insert(next.begin(), elements);
      return next;
    });
  });
  carried = emitWhile(points, carried, isMine, [&](ValueRange now) { return applyOne(now); });
  return {carried.front(), SmallVector<Value>(llvm::drop_begin(carried))};
}

/// Where the last update is all that counts.
std::pair<Value, SmallVector<Value>> OrderedEmitter::applyLast(Value row, Value start,
                                                               Value cursor) {
  Value next = emitSearch(points, rows.op, index.add(row, 1));
  Value elements = points.emitIf(
      index.isLess(cursor, next), getElementTypeOrSelf(start), lanes,
      [&] {
        Value last = load(rows.op.getOrder(), index.sub(next, index.constant(1)));
        return rows.emitUpdate(last, windowCoords, lanes);
      },
      [&] { return start; });
  return {elements, {next}};
}

static LogicalResult emitOrderedScatter(const KernelInfo &kernel, OrderedScatterAttr config) {
  auto op = kernel.outputs.front().tensor.getDefiningOp<kernel::ScatterOp>();
  if (!op.getRows())
    return op.emitOpError("expected updates sorted by row for ") << config;
  plan::BindingOp output = kernel.outputs.front().binding;
  KernelFrame frame(kernel, config.getThreads());
  int64_t lanes = config.getVector();
  Share share(op, frame, config, lanes);
  PointEmitter &points = frame.points;
  IndexBuilder &index = points.index;
  SmallVector<Value> sizes = points.getSizes(output);
  points.emitIf(index.isLess(share.place, share.window), [&] {
    Value first = index.mul(share.place, lanes);
    SmallVector<Coord> windowCoords =
        points.delinearize(lanes == 1 ? Coord::uniform(first) : Coord::consecutive(first),
                           share.rows.windowSizes, lanes);
    OrderedEmitter emitter(share.rows, windowCoords, lanes);
    points.emitLoop(
        share.firstRow, share.endRow, index.constant(1),
        emitter.getState(emitSearch(points, op, share.firstRow)),
        [&](Value row, ValueRange carried) -> SmallVector<Value> {
          SmallVector<Coord> coords =
              share.rows.joinCoords(index.delinearize(row, share.rows.rowSizes), windowCoords);
          Value start = splatTo(points.builder, points.loc,
                                points.emit(op.getDest(), Point{coords, {}, lanes, {}}), lanes);
          auto applied = emitter.apply(row, start, carried);
          points.store(output, points.linearize(coords, sizes, lanes), applied.first, lanes);
          return applied.second;
        });
  });
  return frame.finish(share.blocks);
}

/// The element that all updates of `row`, from number `first` on, make of `old`.
static Value emitUpdatesOfRow(ScatterRows &rows, Value row, Value first, Value old,
                              ArrayRef<Coord> windowCoords) {
  PointEmitter &points = rows.points;
  IndexBuilder &index = points.index;
  return points
      .emitLoop(
          first, index.product(rows.batchSizes), index.constant(1), old,
          [&](Value update, ValueRange carried) -> SmallVector<Value> {
            auto [target, inside] = rows.getTarget(update);
            Value before = carried.front();
            return {points.emitIf(
                index.both(inside, index.isEqual(target, row)), before.getType(), 1,
                [&] { return rows.combine(before, rows.emitUpdate(update, windowCoords, 1)); },
                [&] { return before; })};
          })
      .front();
}

/// True (i1) if an update before number `end` goes to `row`.
static Value emitHasEarlierUpdate(ScatterRows &rows, Value row, Value end) {
  PointEmitter &points = rows.points;
  IndexBuilder &index = points.index;
  Value none = points.constant(points.builder.getBoolAttr(false));
  return points
      .emitLoop(index.constant(0), end, index.constant(1), none,
                [&](Value update, ValueRange carried) -> SmallVector<Value> {
                  auto [target, inside] = rows.getTarget(update);
                  Value hit = index.both(inside, index.isEqual(target, row));
                  return {arith::OrIOp::create(points.builder, points.loc, carried.front(), hit)};
                })
      .front();
}

static LogicalResult emitDirectScatter(const KernelInfo &kernel, DirectScatterAttr config) {
  auto op = kernel.outputs.front().tensor.getDefiningOp<kernel::ScatterOp>();
  if (!op.getInPlace())
    return op.emitOpError("expected a scatter in place for ") << config;
  plan::BindingOp output = kernel.outputs.front().binding;
  KernelFrame frame(kernel, config.getThreads());
  PointEmitter &points = frame.points;
  IndexBuilder &index = points.index;
  OpBuilder &builder = points.builder;
  ScatterRows rows(op, points);
  Value window = index.product(rows.windowSizes);
  Value count = index.mul(index.product(rows.batchSizes), window);
  Value element =
      index.add(index.mul(frame.getBlockId(), config.getThreads()), frame.getThreadId());
  points.emitIf(index.isLess(element, count), [&] {
    Value update = index.div(element, window);
    SmallVector<Coord> windowCoords =
        points.delinearize(Coord::uniform(index.rem(element, window)), rows.windowSizes, 1);
    auto [row, inside] = rows.getTarget(update);
    points.emitIf(inside, [&, row = row] {
      Value isFirst;
      if (!op.getUnique())
        isFirst =
            arith::XOrIOp::create(builder, points.loc, emitHasEarlierUpdate(rows, row, update),
                                  points.constant(builder.getBoolAttr(true)));
      points.emitIf(isFirst, [&] {
        SmallVector<Coord> coords =
            rows.joinCoords(index.delinearize(row, rows.rowSizes), windowCoords);
        Coord position = points.linearize(coords, points.getSizes(output), 1);
        Value old = points.load(output, position, 1);
        Value value = op.getUnique() ? rows.combine(old, rows.emitUpdate(update, windowCoords, 1))
                                     : emitUpdatesOfRow(rows, row, update, old, windowCoords);
        points.store(output, position, value, 1);
      });
    });
  });
  return frame.finish(index.ceilDiv(count, index.constant(config.getThreads())));
}

namespace {

struct EmitScatter final : impl::EmitScatterBase<EmitScatter> {
  void runOnOperation() override {
    Attribute config = getOperation()->getAttr(plan::kConfigAttr);
    if (!isa_and_nonnull<ScatterAttr, OrderedScatterAttr, DirectScatterAttr>(config))
      return;
    FailureOr<KernelInfo> kernel = analyzeKernel(getOperation());
    if (failed(kernel))
      return signalPassFailure();
    if (kernel->outputs.size() != 1 ||
        !kernel->outputs.front().tensor.getDefiningOp<kernel::ScatterOp>()) {
      getOperation().emitOpError("expected one output, the result of kernel.scatter, for ")
          << config;
      return signalPassFailure();
    }
    LogicalResult done = success();
    if (auto plain = dyn_cast<ScatterAttr>(config))
      done = emitScatter(*kernel, plain);
    else if (auto ordered = dyn_cast<OrderedScatterAttr>(config))
      done = emitOrderedScatter(*kernel, ordered);
    else
      done = emitDirectScatter(*kernel, cast<DirectScatterAttr>(config));
    if (failed(done))
      signalPassFailure();
  }
};

} // namespace

} // namespace xc::cuda
