//===- ReductionPanels.cpp - Reductions of panels of columns --------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CPU/ReductionLowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;

namespace xc::cpu {

/// One nest over a panel of columns: row by row of what is reduced, so that memory is read in long
/// runs. The accumulators are rows on the stack: one for all of a sum, and one for a part where it
/// is summed up in parts.
class PanelNest {
public:
  PanelNest(ReductionLowering &lowering, StepNest &nest, ArrayRef<LaneIndex> kept, Range range)
      : lowering(lowering), nest(nest), range(range), loc(lowering.kernel.getLoc()),
        widths(getWidths(lowering.config.getLanes(), lowering.registerLanes, range.divisor)),
        point(kept), combiners(getPartCombiners(nest)) {
    point.resize(nest.steps[0]->dims.size());
  }

  void emit(OpBuilder &builder, Environment &environment);

private:
  /// A result of a reduction.
  struct Sum {
    Value result, init;
    Buffer total = {}, part = {};
  };

  ArrayRef<LaneIndex> getKept() { return ArrayRef(point).take_front(lowering.group.getNumKept()); }
  Buffer allocateRow(OpBuilder &builder, Value result);
  void overColumns(OpBuilder &builder, function_ref<void(OpBuilder &, int64_t)> body);
  void emitRows(OpBuilder &builder, Value begin, Value end, const Environment &environment);
  void emitPart(OpBuilder &builder, Value begin, Value end, const Environment &environment);

  ReductionLowering &lowering;
  StepNest &nest;
  Range range;
  Location loc;
  SmallVector<int64_t> widths;
  SmallVector<LaneIndex> point;
  SmallVector<Operation *> combiners; // of sums, where they go part by part
  std::vector<Sum> sums;
};

Buffer PanelNest::allocateRow(OpBuilder &builder, Value result) {
  Type element = cast<RankedTensorType>(result.getType()).getElementType();
  Value row =
      memref::AllocOp::create(builder, loc, MemRefType::get({lowering.config.getChunk()}, element));
  unsigned column = lowering.columns.dims.back();
  Buffer buffer{row, {column}, SmallVector<Value>(lowering.group.getNumKept())};
  buffer.origins[column] = range.begin;
  return buffer;
}

void PanelNest::overColumns(OpBuilder &builder, function_ref<void(OpBuilder &, int64_t)> body) {
  emitLaneLoops(builder, loc, range, widths, [&](OpBuilder &inner, Value index, int64_t lanes) {
    lowering.columns.setIndex(point, getColumn(index, lanes));
    body(inner, lanes);
  });
}

/// Adds rows |begin| to |end| to the parts.
void PanelNest::emitRows(OpBuilder &builder, Value begin, Value end,
                         const Environment &environment) {
  auto emitRow = [&](OpBuilder &row) {
    overColumns(row, [&](OpBuilder &inner, int64_t lanes) {
      Environment accumulating = environment;
      for (const Sum &sum : sums)
        accumulating.buffers[sum.result] = sum.part;
      PointEvaluator evaluator(inner, accumulating, lanes);
      SmallVector<Value> values;
      for (const Sum &sum : sums)
        values.push_back(evaluator.toLanes(loc, evaluator.evaluate(sum.result, getKept())));
      lowering.emitElements(inner, nest, point, lanes, environment, values);
      for (auto [value, sum] : llvm::zip_equal(values, sums))
        evaluator.store(loc, value, sum.part, getKept());
    });
  };
  if (nest.loops.empty())
    return emitRow(builder);
  emitLoop(builder, loc, {begin, end}, 1, [&](OpBuilder &inner, Location, Value linear) {
    setLinearIndex(inner, loc, linear, nest.loops, point);
    emitRow(inner);
  });
}

/// Adds rows |begin| to |end|, on their own, to the totals.
void PanelNest::emitPart(OpBuilder &builder, Value begin, Value end,
                         const Environment &environment) {
  overColumns(builder, [&](OpBuilder &inner, int64_t lanes) {
    PointEvaluator evaluator(inner, environment, lanes);
    for (auto [sum, combiner] : llvm::zip_equal(sums, combiners))
      evaluator.store(loc, splat(inner, loc, getStart(combiner), lanes), sum.part, getKept());
  });
  emitRows(builder, begin, end, environment);
  overColumns(builder, [&](OpBuilder &inner, int64_t lanes) {
    for (auto [sum, combiner] : llvm::zip_equal(sums, combiners)) {
      Environment totals, parts;
      totals.buffers[sum.result] = sum.total;
      parts.buffers[sum.result] = sum.part;
      PointEvaluator total(inner, totals, lanes), part(inner, parts, lanes);
      Value value = combine(inner, combiner, total.evaluate(sum.result, getKept()),
                            part.evaluate(sum.result, getKept()));
      total.store(loc, value, sum.total, getKept());
    }
  });
}

void PanelNest::emit(OpBuilder &builder, Environment &environment) {
  OpFoldResult rowCount = getProduct(builder, loc, nest.loops);
  std::optional<int64_t> number = getConstantIntValue(rowCount);
  bool hasParts = !combiners.empty() && (!number || *number > kPartSteps);
  for (Step *step : nest.steps)
    if (step->reduction)
      for (auto [result, init] :
           llvm::zip(step->reduction->getResults(), step->reduction.getDpsInits()))
        sums.push_back({result, init});
  for (Sum &sum : sums) {
    sum.total = allocateRow(builder, sum.result);
    sum.part = hasParts ? allocateRow(builder, sum.result) : sum.total;
  }
  if (!sums.empty())
    overColumns(builder, [&](OpBuilder &inner, int64_t lanes) {
      PointEvaluator evaluator(inner, environment, lanes);
      for (const Sum &sum : sums)
        evaluator.store(loc, evaluator.evaluate(sum.init, getKept()), sum.total, getKept());
    });
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  Value count = getValueOrCreateConstantIndexOp(builder, loc, rowCount);
  if (!hasParts)
    emitRows(builder, zero, count, environment);
  else
    emitLoop(builder, loc, {zero, count}, kPartSteps, [&](OpBuilder &inner, Location, Value begin) {
      Value size = arith::ConstantIndexOp::create(inner, loc, kPartSteps);
      Value next = arith::AddIOp::create(inner, loc, begin, size);
      emitPart(inner, begin, arith::MinUIOp::create(inner, loc, next, count), environment);
    });
  for (const Sum &sum : sums)
    environment.buffers[sum.result] = sum.total;
}

void ReductionLowering::emitPanel(OpBuilder &builder, ArrayRef<LaneIndex> kept, Range range) {
  Environment environment;
  emitPhases(environment, [&](StepNest &nest) {
    PanelNest(*this, nest, kept, range).emit(builder, environment);
  });
}

} // namespace xc::cpu
