//===- EmitMerge.cpp - Merging sorted runs --------------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The first d elements of the merged run are the first i of the left run and the first d - i of the
// right one; i is found by bisection, since it is the least number for which element i of the left
// run comes behind element d - i - 1 of the right one. Every thread does that for the first of its
// places, and merges the others one after the other. Neighbouring threads read neighbouring
// elements, from the cache mostly.
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

using namespace mlir;

namespace xc::cuda {

#define GEN_PASS_DEF_EMITMERGE
#include "compiler/Codegen/CUDA/Passes.h.inc"

namespace {

class MergeEmitter {
public:
  MergeEmitter(const KernelInfo &kernel, const LineKernel &lines, MergeAttr config)
      : op(cast<kernel::MergeOp>(lines.op)), values(lines.results[0]), indices(lines.results[1]),
        config(config), frame(kernel, config.getThreads()), points(frame.points),
        index(points.index), builder(points.builder), loc(points.loc),
        shape(getLineShape(op, points)) {
    auto bits = kernel.getFunction()->getAttrOfType<IntegerAttr>(kIndexBitsAttr);
    largest = bits && bits.getInt() == 32 ? INT32_MAX : INT64_MAX;
  }

  LogicalResult run();

private:
  /// Two runs, by row-major positions: [left, middle) and [middle, end).
  struct Runs {
    Value left, middle, end;
  };

  Value getKey(Value position) {
    Value element = points.emit(op.getKeys(), Point{{}, Coord::uniform(position), 1, {}});
    return kernel::buildOrderKey(builder, loc, element, op.getUnsignedElements(),
                                 op.getDescending());
  }
  /// i1: whether the left run's element comes first; of equals it does.
  Value isLeftFirst(Value left, Value right) {
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ule, getKey(left),
                                 getKey(right));
  }
  Value emitSearch(const Runs &runs, Value diagonal);
  void emitPlaces(Value first);
  void keepPlaces(Value block);

  kernel::MergeOp op;
  plan::BindingOp values, indices;
  MergeAttr config;
  KernelFrame frame;
  PointEmitter &points;
  IndexBuilder &index;
  OpBuilder &builder;
  Location loc;
  LineShape shape;
  int64_t largest; // index; lines are shorter
};

} // namespace

/// How many of the first `diagonal` elements come from the left run.
Value MergeEmitter::emitSearch(const Runs &runs, Value diagonal) {
  Value one = index.constant(1);
  Value low = index.max(index.sub(diagonal, index.sub(runs.end, runs.middle)), index.constant(0));
  Value high = index.min(diagonal, index.sub(runs.middle, runs.left));
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
    Value right = index.sub(index.sub(diagonal, one), middle);
    Value takesMore = isLeftFirst(index.add(runs.left, middle), index.add(runs.middle, right));
    Value next = index.add(middle, one);
    scf::YieldOp::create(builder, loc,
                         ValueRange{arith::SelectOp::create(builder, loc, takesMore, next, from),
                                    arith::SelectOp::create(builder, loc, takesMore, to, middle)});
  }
  builder.setInsertionPointAfter(search);
  return search.getResult(0);
}

/// The places from `first` of a line on; all of them lie in one pair of runs.
void MergeEmitter::emitPlaces(Value first) {
  Value chunks = index.ceilDiv(shape.length, index.constant(config.getItems()));
  Value line = index.mul(index.div(first, chunks), shape.length);
  Value place = index.mul(index.rem(first, chunks), config.getItems());
  int64_t run = op.getRun();
  Value pair =
      2 * run > largest ? index.constant(0) : index.mul(index.div(place, 2 * run), 2 * run);
  auto endOf = [&](int64_t count) {
    Value end = count > largest ? shape.length : index.min(index.add(pair, count), shape.length);
    return index.add(line, end);
  };
  Runs runs{index.add(line, pair), endOf(run), endOf(2 * run)};
  Value diagonal = index.sub(place, pair), taken = emitSearch(runs, diagonal);
  Value left = index.add(runs.left, taken),
        right = index.add(runs.middle, index.sub(diagonal, taken));
  Value from = index.add(line, place);
  Value to = index.min(index.add(from, config.getItems()), runs.end);
  points.emitLoop(
      from, to, index.constant(1), {left, right},
      [&](Value target, ValueRange sources) -> SmallVector<Value> {
        Value nextLeft = sources[0], nextRight = sources[1];
        Value hasLeft = index.isLess(nextLeft, runs.middle),
              hasRight = index.isLess(nextRight, runs.end);
        Value isBefore = points.emitIf(
            index.both(hasLeft, hasRight), builder.getI1Type(), 1,
            [&] { return isLeftFirst(nextLeft, nextRight); }, [&] { return hasLeft; });
        Value source = arith::SelectOp::create(builder, loc, isBefore, nextLeft, nextRight);
        Point point{{}, Coord::uniform(source), 1, {}};
        points.store(values, Coord::uniform(target), points.emit(op.getKeys(), point), 1);
        points.store(indices, Coord::uniform(target), points.emit(op.getPayload(), point), 1);
        return {
            arith::SelectOp::create(builder, loc, isBefore, index.add(nextLeft, 1), nextLeft),
            arith::SelectOp::create(builder, loc, isBefore, nextRight, index.add(nextRight, 1))};
      });
}

/// Copies this block's places of what the destinations were, unless that is nothing. Where they are
/// in the memory of the results, an element meets itself.
void MergeEmitter::keepPlaces(Value block) {
  int64_t places = config.getThreads() * config.getItems();
  Value from = index.mul(block, places);
  Value to = index.min(index.add(from, places), index.mul(shape.outer, shape.length));
  auto copy = [&](Value init, plan::BindingOp binding) {
    if (init.getDefiningOp<tensor::EmptyOp>())
      return;
    points.emitLoop(index.add(from, frame.getThreadId()), to, index.constant(config.getThreads()),
                    {}, [&](Value place, ValueRange) -> SmallVector<Value> {
                      Coord flat = Coord::uniform(place);
                      points.store(binding, flat, points.emit(init, Point{{}, flat, 1, {}}), 1);
                      return {};
                    });
  };
  copy(op.getValues(), values);
  copy(op.getIndices(), indices);
}

LogicalResult MergeEmitter::run() {
  if (op.getRun() % config.getItems() != 0)
    return op.emitOpError("expected runs of a multiple of ")
           << config.getItems() << " elements for " << config << ", got " << op.getRun();
  Value chunks = index.ceilDiv(shape.length, index.constant(config.getItems()));
  Value count = index.mul(shape.outer, chunks);
  Value number = index.add(index.mul(frame.getBlockId(), config.getThreads()), frame.getThreadId());
  auto merge = [&] { points.emitIf(index.isLess(number, count), [&] { emitPlaces(number); }); };
  std::optional<int64_t> above = op.getAbove();
  if (above && *above > largest) {
    keepPlaces(frame.getBlockId());
  } else if (above) {
    Value limit = index.constant(*above);
    points.emitIf(index.isLess(limit, shape.length), merge);
    points.emitIf(index.isAtLeast(limit, shape.length), [&] { keepPlaces(frame.getBlockId()); });
  } else {
    merge();
  }
  return frame.finish(index.ceilDiv(count, index.constant(config.getThreads())));
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
    std::optional<LineKernel> lines = matchLineKernel(*kernel);
    if (!lines || !isa<kernel::MergeOp>(lines->op)) {
      getOperation().emitOpError("expected two outputs, the results of kernel.merge, for ")
          << config;
      return signalPassFailure();
    }
    if (failed(MergeEmitter(*kernel, *lines, config).run()))
      signalPassFailure();
  }
};

} // namespace

} // namespace xc::cuda
