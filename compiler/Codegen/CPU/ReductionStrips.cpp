//===- ReductionStrips.cpp - Windows of neighbouring points ---------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Windows of neighbouring points share most of what they read. So a strip of points along the last
// row loop is summed up at a time, each point in registers of its own:
//
//   while (i < end)
//     if all points of the strip are in one row, and their windows inside of the image
//       for each row of the window: for each point, for each tap: accumulate
//       for each point: what follows
//       i += strip
//     else one point, ++i
//
// A vector that several points read at the same place is loaded once, as is one of a filter, since
// no branch of padding parts the loads. Points are summed up in the order that they have alone.
//
// Left alone: kernels with more than one reduction, with values that are kept in memory between
// phases, and windows whose innermost loop is not written out.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CPU/ReductionStrips.h"

#include "mlir/Analysis/FlatLinearValueConstraints.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace xc::cpu {

bool StripNest::isPossible() const {
  if (lowering.config.getStrip() < 2 || !lowering.byColumns || lowering.byPanels ||
      lowering.byImages || lowering.rows.empty() || lowering.rows.back().dims.size() != 1 ||
      !lowering.group.keptValues.empty() || lowering.phases.front().size() != 1)
    return false;
  const StepNest &nest = lowering.phases.front().front();
  if (nest.steps.size() != 1 || !nest.steps.front()->reduction || nest.loops.empty())
    return false;
  int64_t steps = 1;
  for (const LoopDim &loop : nest.loops) {
    std::optional<int64_t> count = getConstantIntValue(loop.size);
    if (!count || *count < 1)
      return false;
    steps *= *count;
  }
  bool isLong = *getConstantIntValue(nest.loops.back().size) > kUnrolledSteps || steps > kPartSteps;
  return !isLong && llvm::all_of(ArrayRef(lowering.phases).drop_front(), [](const auto &nests) {
    return llvm::all_of(nests, [](const StepNest &later) {
      return later.loops.empty() && llvm::none_of(later.steps, [](const Step *step) {
               return static_cast<bool>(step->reduction);
             });
    });
  });
}

/// The value of `expr` at the first point of the strip, with `shift` added; `isLast`: what is
/// largest, at the last point, else what is smallest.
Value StripNest::emitReached(OpBuilder &builder, AffineExpr expr, bool isLast) {
  const Step &step = getStep();
  linalg::GenericOp op = step.reduction;
  SmallVector<unsigned> inverse = step.getInverse();
  SmallVector<int64_t> factors, ranges = op.getStaticLoopRanges();
  if (failed(getFlattenedAffineExpr(expr, op.getNumLoops(), 0, &factors)) ||
      factors.size() != op.getNumLoops() + 1)
    return nullptr;
  int64_t constant = factors.back();
  Value sum;
  for (unsigned loop = 0; loop < op.getNumLoops(); ++loop) {
    int64_t factor = factors[loop];
    unsigned dim = inverse[loop];
    if (factor == 0)
      continue;
    if (dim >= lowering.group.getNumKept()) {
      if ((factor > 0) == isLast)
        constant += factor * (ranges[loop] - 1); // in range: an index of the padded image
      continue;
    }
    const LaneIndex &index = first[dim];
    if (!index.isUniform() || !index.base)
      return nullptr;
    if (dim == lowering.rows.back().dims.front() && (factor > 0) == isLast)
      constant += factor * (lowering.config.getStrip() - 1);
    Value scaled = arith::MulIOp::create(builder, loc, index.base, constantIndex(builder, factor));
    sum = sum ? arith::AddIOp::create(builder, loc, sum, scaled).getResult() : scaled;
  }
  Value last = constantIndex(builder, constant);
  return sum ? arith::AddIOp::create(builder, loc, sum, last).getResult() : last;
}

/// Whether all windows of the strip lie in the image that `pad` has padding around; null where that
/// cannot be told.
Value StripNest::emitInside(OpBuilder &builder, tensor::PadOp pad, AffineMap map) {
  Value inside;
  for (auto [dim, low, high] : llvm::enumerate(pad.getMixedLowPad(), pad.getMixedHighPad())) {
    if (isZeroInteger(low) && isZeroInteger(high))
      continue;
    Value from = emitReached(builder, map.getResult(dim), /*isLast=*/false),
          to = emitReached(builder, map.getResult(dim), /*isLast=*/true);
    if (!from || !to)
      return nullptr;
    Value begin = getValueOrCreateConstantIndexOp(builder, loc, low);
    Value size =
        getValueOrCreateConstantIndexOp(builder, loc, getSizes(builder, pad.getSource())[dim]);
    Value end = arith::AddIOp::create(builder, loc, begin, size);
    inside = both(builder, inside, isLess(builder, to, end));
    inside = both(builder, inside,
                  arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sge, from, begin));
  }
  return inside;
}

Value StripNest::emitFits(OpBuilder &builder, Value linear, Value end) {
  const LoopDim &row = lowering.rows.back();
  Value strip = constantIndex(builder, lowering.config.getStrip());
  Value size = getValueOrCreateConstantIndexOp(builder, loc, row.size);
  auto fits = [&](Value from, Value limit) {
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sle,
                                 arith::AddIOp::create(builder, loc, from, strip), limit);
  };
  Value all = both(builder, fits(first[row.dims.front()].base, size), fits(linear, end));
  linalg::GenericOp op = getStep().reduction;
  for (OpOperand *input : op.getDpsInputOperands()) {
    auto pad = input->get().getDefiningOp<tensor::PadOp>();
    if (!pad)
      continue;
    if (Value inside = emitInside(builder, pad, op.getMatchingIndexingMap(input))) {
      all = both(builder, all, inside);
      knownInside.insidePads.insert(pad);
    }
  }
  return all;
}

/// One row of the window at `place`: what its taps read of each point.
void StripNest::emitTaps(PointEvaluator &evaluator, ArrayRef<SmallVector<LaneIndex>> points,
                         MutableArrayRef<LaneIndex> place, MutableArrayRef<Value> sums) {
  const LoopDim &taps = lowering.phases.front().front().loops.back();
  linalg::GenericOp op = getStep().reduction;
  SmallVector<unsigned> inverse = getStep().getInverse();
  for (int64_t tap = 0; tap < *getConstantIntValue(taps.size); ++tap) {
    taps.setIndex(place, {constantIndex(evaluator.getBuilder(), tap)});
    for (auto [number, point] : llvm::enumerate(points)) {
      llvm::copy(point, place.begin());
      SmallVector<LaneIndex> indices =
          llvm::map_to_vector(inverse, [&](unsigned position) { return place[position]; });
      MutableArrayRef<Value> own = sums.slice(number * op.getNumResults(), op.getNumResults());
      SmallVector<Value> results = evaluator.evaluateBody(op, indices, own);
      for (auto [sum, value] : llvm::zip_equal(own, results))
        sum = evaluator.toLanes(loc, value);
    }
  }
}

/// The sums of all points, point after point. By images, points are in different rows of windows,
/// which share what they read once rows are written out, too.
SmallVector<Value> StripNest::emitSums(OpBuilder &builder, ArrayRef<SmallVector<LaneIndex>> points,
                                       const Environment &known, int64_t lanes) {
  constexpr int64_t mostSteps = 256; // of all points, that are written out
  StepNest &nest = lowering.phases.front().front();
  linalg::GenericOp op = getStep().reduction;
  SmallVector<Value> sums;
  PointEvaluator start(builder, known, lanes);
  for (ArrayRef<LaneIndex> point : points)
    for (Value init : op.getDpsInits())
      sums.push_back(start.toLanes(loc, start.evaluate(init, point)));
  SmallVector<LaneIndex> place(nest.steps.front()->dims.size());
  ArrayRef<LoopDim> outer = ArrayRef(nest.loops).drop_back();
  int64_t rows = *getConstantIntValue(getProduct(builder, loc, outer));
  int64_t steps = rows * *getConstantIntValue(nest.loops.back().size) * points.size();
  if (outer.empty() || (lowering.byImages && steps <= mostSteps)) {
    for (int64_t row = 0; row < rows; ++row) {
      setLinearIndex(builder, loc, constantIndex(builder, row), outer, place);
      emitTaps(start, points, place, sums);
    }
    return sums;
  }
  auto loop = scf::ForOp::create(builder, loc, constantIndex(builder, 0),
                                 constantIndex(builder, rows), constantIndex(builder, 1), sums);
  OpBuilder inner = OpBuilder::atBlockBegin(loop.getBody());
  SmallVector<Value> carried(loop.getRegionIterArgs());
  setLinearIndex(inner, loc, loop.getInductionVar(), outer, place);
  PointEvaluator evaluator(inner, known, lanes);
  emitTaps(evaluator, points, place, carried);
  scf::YieldOp::create(inner, loc, carried);
  return SmallVector<Value>(loop.getResults());
}

/// What follows the sums of one point.
void StripNest::emitStores(OpBuilder &builder, ArrayRef<SmallVector<LaneIndex>> points,
                           ArrayRef<Value> sums, const Environment &known, int64_t lanes) {
  linalg::GenericOp op = getStep().reduction;
  std::vector<Environment> environments(points.size());
  for (auto [number, environment] : llvm::enumerate(environments)) {
    environment.mask = known.mask;
    for (auto [index, result] : llvm::enumerate(op->getResults()))
      environment.values[result] = sums[number * op.getNumResults() + index];
  }
  // All loads before all stores: a result may be in the memory of an input.
  struct Store {
    Step *step;
    size_t point;
    SmallVector<LaneIndex> indices;
    Value value;
  };
  std::vector<Store> stores;
  for (auto &nests : lowering.phases)
    for (StepNest &nest : nests)
      for (Step *step : nest.steps)
        for (size_t number = 0; number < points.size() && !step->reduction; ++number) {
          SmallVector<LaneIndex> indices = llvm::map_to_vector(
              step->getInverse(), [&](unsigned position) { return points[number][position]; });
          PointEvaluator evaluator(builder, environments[number], lanes);
          Value value = evaluator.evaluate(step->root.value, indices);
          stores.push_back({step, number, indices, value});
        }
  for (const Store &store : stores)
    PointEvaluator(builder, environments[store.point], lanes)
        .store(store.step->root.op.getLoc(), store.value, Buffer{store.step->root.memory},
               store.indices);
}

SmallVector<SmallVector<LaneIndex>> StripNest::getNeighbours(OpBuilder &builder,
                                                             ArrayRef<LaneIndex> from,
                                                             int64_t count,
                                                             const LaneIndex &column) {
  SmallVector<SmallVector<LaneIndex>> points;
  for (int64_t number = 0; number < count; ++number) {
    SmallVector<LaneIndex> &point = points.emplace_back(from);
    lowering.columns.setIndex(point, column);
    if (lowering.rows.empty())
      continue;
    const LoopDim &row = lowering.rows.back();
    Value base = from[row.dims.back()].base;
    row.setIndex(point,
                 {builder.createOrFold<arith::AddIOp>(loc, base, constantIndex(builder, number))});
  }
  return points;
}

void StripNest::emitPoints(OpBuilder &builder, ArrayRef<SmallVector<LaneIndex>> points,
                           const Environment &known, int64_t lanes) {
  SmallVector<Value> sums = emitSums(builder, points, known, lanes);
  emitStores(builder, points, sums, known, lanes);
}

void StripNest::emitStrip(OpBuilder &builder, const LaneIndex &column, int64_t lanes) {
  emitPoints(builder, getNeighbours(builder, first, lowering.config.getStrip(), column),
             knownInside, lanes);
}

void StripNest::emit(OpBuilder &builder, Range range,
                     function_ref<void(OpBuilder &, ArrayRef<LaneIndex>)> emitOne,
                     function_ref<void(OpBuilder &, StripNest &)> emitAll) {
  Type index = builder.getIndexType();
  auto loop = scf::WhileOp::create(builder, loc, TypeRange(index), ValueRange(range.begin));
  OpBuilder::InsertionGuard guard(builder);
  Block *before = builder.createBlock(&loop.getBefore(), {}, index, loc);
  scf::ConditionOp::create(builder, loc, isLess(builder, before->getArgument(0), range.end),
                           before->getArguments());
  Block *after = builder.createBlock(&loop.getAfter(), {}, index, loc);
  Value linear = after->getArgument(0);
  first.assign(lowering.group.getNumKept(), LaneIndex());
  setLinearIndex(builder, loc, linear, lowering.rows, first);
  auto choice = scf::IfOp::create(builder, loc, TypeRange(index),
                                  emitFits(builder, linear, range.end), /*withElseRegion=*/true);
  auto yieldNext = [&](OpBuilder &inner, int64_t step) {
    Value next = arith::AddIOp::create(inner, loc, linear, constantIndex(inner, step));
    scf::YieldOp::create(inner, loc, next);
  };
  OpBuilder strip = choice.getThenBodyBuilder(), single = choice.getElseBodyBuilder();
  emitAll(strip, *this);
  yieldNext(strip, lowering.config.getStrip());
  emitOne(single, first);
  yieldNext(single, 1);
  builder.setInsertionPointToEnd(after);
  scf::YieldOp::create(builder, loc, choice.getResults());
}

Value StripNest::constantIndex(OpBuilder &builder, int64_t value) {
  return arith::ConstantIndexOp::create(builder, loc, value);
}

Value StripNest::isLess(OpBuilder &builder, Value lhs, Value rhs) {
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, lhs, rhs);
}

Value StripNest::both(OpBuilder &builder, Value lhs, Value rhs) {
  return lhs ? arith::AndIOp::create(builder, loc, lhs, rhs).getResult() : rhs;
}

} // namespace xc::cpu
