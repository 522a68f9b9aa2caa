//===- LowerReduction.cpp - Reductions to vector loops --------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Softmax over rows, say, becomes
//
//   for row in this workgroup's rows:
//     max = for j, 32 at a time: maximumf(acc, x[row, j])            phase 0
//     sum = for j: e = exp(x[row, j] - max); y[row, j] = e; acc + e  phase 1: e is kept in y
//     for j: y[row, j] = y[row, j] / sum                             phase 2
//
// With direction "columns" the lanes are kept points: the same loops run for 32 columns at once,
// and no accumulator has to be folded at the end. The order in which elements are combined depends
// on sizes and configuration only.
//
// Sums and products of floats go part by part, each of kPartSteps steps: a long sum of one element
// after the other would lose what is small beside it.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CPU/Passes.h"
#include "compiler/Codegen/CPU/ReductionImages.h"
#include "compiler/Codegen/CPU/ReductionStrips.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace xc::cpu {
#define GEN_PASS_DEF_LOWERREDUCTION
#include "compiler/Codegen/CPU/Passes.h.inc"

LaneIndex getColumn(Value index, int64_t lanes) {
  LaneIndex column{index, lanes == 1 ? 0 : 1};
  column.divisor = lanes;
  return column;
}

//===----------------------------------------------------------------------===//
// Planning
//===----------------------------------------------------------------------===//

/// What is kept in memory is stored and loaded there, in an order of its own.
void ReductionLowering::addKeptAccesses(ArrayRef<Access> computed,
                                        SmallVectorImpl<Access> &accesses) {
  for (const Access &access : computed) {
    for (auto [kept, buffer] : llvm::zip_equal(group.keptValues, keptBuffers)) {
      if (kept.value != access.tensor)
        continue;
      SmallVector<AffineExpr> indices = access.indices;
      if (!buffer.dims.empty())
        indices =
            llvm::map_to_vector(buffer.dims, [&](unsigned dim) { return access.indices[dim]; });
      accesses.push_back({buffer.memref, indices});
    }
  }
}

/// Merges dims, kept ones and those of each step, and puts steps of equal space into one nest.
void ReductionLowering::planLoops() {
  unsigned numKept = group.getNumKept();
  Location loc = kernel.getLoc();
  llvm::SmallBitVector keptMerge(numKept, true);
  phases.resize(group.numPhases);
  for (Step &step : group.steps) {
    ArrayRef<plan::FormulaAttr> sizes = ArrayRef(step.sizes).drop_front(numKept);
    auto &nests = phases[step.phase];
    auto nest = llvm::find_if(nests, [&](StepNest &other) {
      return ArrayRef(other.steps[0]->sizes).drop_front(numKept) == sizes;
    });
    if (nest == nests.end())
      nest = nests.emplace(nest);
    nest->steps.push_back(&step);
  }
  for (auto &nests : phases) {
    for (StepNest &nest : nests) {
      unsigned numDims = nest.steps[0]->dims.size();
      std::vector<AccessSummary> summaries;
      for (Step *step : nest.steps) {
        AccessSummary &summary = summaries.emplace_back(step->summary);
        addKeptAccesses(step->summary.computed, summary.accesses);
      }
      SmallVector<OpFoldResult> sizes = nest.steps[0]->buildSizes(builder);
      llvm::SmallBitVector mergeable = findMergeableDims(builder, sizes, numKept, summaries);
      nest.loops =
          mergeDims(builder, loc, llvm::to_vector(llvm::seq(numKept, numDims)), sizes, mergeable);
      for (unsigned dim = 0; dim < numKept; ++dim)
        keptMerge[dim] = keptMerge[dim] && mergeable[dim];
    }
  }
  SmallVector<OpFoldResult> keptSizes = group.steps.front().buildSizes(builder);
  keptSizes.truncate(numKept);
  rows = mergeDims(builder, loc, llvm::to_vector(llvm::seq(numKept)), keptSizes, keptMerge);
  if (byColumns)
    columns = rows.pop_back_val();
}

LogicalResult ReductionLowering::planGrid() {
  Location loc = kernel.getLoc();
  OpFoldResult work = builder.getIndexAttr(1);
  for (Step &step : group.steps) {
    SmallVector<LoopDim> own;
    SmallVector<OpFoldResult> sizes = step.buildSizes(builder);
    for (OpFoldResult size : ArrayRef(sizes).drop_front(group.getNumKept()))
      own.push_back({{0}, size});
    OpFoldResult product = getProduct(builder, loc, own);
    // The largest space is what counts; a dynamic one stands for itself.
    if (!getConstantIntValue(product) ||
        (getConstantIntValue(work) && *getConstantIntValue(product) > *getConstantIntValue(work)))
      work = product;
  }
  OpFoldResult columnCount = byColumns ? columns.size : OpFoldResult(builder.getIndexAttr(1));
  Operation *op = group.steps.back().root.op;
  FailureOr<Spread> result =
      spread(op, getProduct(builder, loc, rows), columnCount, work, config.getChunk(),
             config.getTile(), byColumns ? config.getLanes() : 1);
  if (failed(result))
    return failure();
  grid = *result;
  return success();
}

/// Workgroups share bands.
LogicalResult ReductionLowering::planBands(const ImageNest &nest) {
  OpFoldResult bands = getProduct(builder, kernel.getLoc(), nest.getLoops(builder));
  FailureOr<Spread> result = spread(group.steps.back().root.op, bands, builder.getIndexAttr(1),
                                    builder.getIndexAttr(nest.getWork()), /*chunk=*/1,
                                    config.getTile(), /*columnAlignment=*/1);
  if (failed(result))
    return failure();
  grid = *result;
  return success();
}

void ReductionLowering::allocateKeptValues() {
  for (const KeptValue &kept : group.keptValues) {
    if (kept.memory) {
      keptBuffers.push_back(Buffer{kept.memory});
      continue;
    }
    auto type = cast<RankedTensorType>(kept.value.getType());
    SmallVector<int64_t> shape =
        llvm::map_to_vector(kept.dims, [&](unsigned dim) { return type.getDimSize(dim); });
    Value memory = memref::AllocOp::create(builder, kept.value.getLoc(),
                                           MemRefType::get(shape, type.getElementType()));
    keptBuffers.push_back(Buffer{memory, kept.dims});
  }
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

static SmallVector<Value> flatten(const Accumulators &accumulators) {
  SmallVector<Value> values;
  for (const SmallVector<Value> &list : accumulators)
    llvm::append_range(values, list);
  return values;
}

/// Puts |values| where flatten took them from.
static void unflatten(ArrayRef<Value> values, Accumulators &accumulators) {
  for (SmallVector<Value> &list : accumulators) {
    llvm::copy(values.take_front(list.size()), list.begin());
    values = values.drop_front(list.size());
  }
}

/// What all steps of |nest| do at |point|.
void ReductionLowering::emitElements(OpBuilder &builder, StepNest &nest,
                                     MutableArrayRef<LaneIndex> point, int64_t lanes,
                                     const Environment &environment,
                                     MutableArrayRef<Value> accumulators) {
  PointEvaluator evaluator(builder, environment, lanes);
  SmallVector<std::pair<Step *, Value>> stores;
  unsigned next = 0;
  for (Step *step : nest.steps) {
    SmallVector<LaneIndex> indices =
        llvm::map_to_vector(step->getInverse(), [&](unsigned position) { return point[position]; });
    if (!step->reduction) {
      stores.push_back({step, evaluator.evaluate(step->root.value, indices)});
      continue;
    }
    MutableArrayRef<Value> own = accumulators.slice(next, step->reduction->getNumResults());
    next += own.size();
    SmallVector<Value> results = evaluator.evaluateBody(step->reduction, indices, own);
    for (auto [accumulator, value] : llvm::zip(own, results))
      accumulator = isa<VectorType>(accumulator.getType())
                        ? evaluator.toLanes(step->reduction.getLoc(), value)
                        : value;
  }
  // All loads before all stores: a result may be in the memory of an input.
  for (auto [step, value] : stores) {
    SmallVector<LaneIndex> indices =
        llvm::map_to_vector(step->getInverse(), [&](unsigned position) { return point[position]; });
    evaluator.store(step->root.op.getLoc(), value, Buffer{step->root.memory}, indices);
  }
}

/// for (i = begin; i < end; i += step) values = body(i, values).
static void emitCarryingLoop(OpBuilder &builder, Location loc, Value begin, Value end, int64_t step,
                             MutableArrayRef<Value> values,
                             function_ref<void(OpBuilder &, Value, MutableArrayRef<Value>)> body) {
  Value stepValue = arith::ConstantIndexOp::create(builder, loc, step);
  auto loop = scf::ForOp::create(builder, loc, begin, end, stepValue, values);
  // A loop that carries nothing comes with its terminator.
  OpBuilder inner = OpBuilder::atBlockBegin(loop.getBody());
  SmallVector<Value> carried(loop.getRegionIterArgs());
  body(inner, loop.getInductionVar(), carried);
  if (!carried.empty())
    scf::YieldOp::create(inner, loc, carried);
  llvm::copy(loop.getResults(), values.begin());
}

/// emitCarryingLoop for the accumulators of |nest|, in parts where sums are long. |values| are
/// those of one width or of several.
static void emitReducingLoop(OpBuilder &builder, Location loc, const StepNest &nest, Value begin,
                             Value end, int64_t step, MutableArrayRef<Value> values,
                             function_ref<void(OpBuilder &, Value, MutableArrayRef<Value>)> body) {
  SmallVector<Operation *> combiners = getPartCombiners(nest);
  std::optional<int64_t> first = getConstantIntValue(begin), last = getConstantIntValue(end);
  int64_t part = kPartSteps * step;
  if (values.empty() || combiners.empty() || (first && last && *last - *first <= part))
    return emitCarryingLoop(builder, loc, begin, end, step, values, body);
  emitCarryingLoop(
      builder, loc, begin, end, part, values,
      [&](OpBuilder &outer, Value start, MutableArrayRef<Value> totals) {
        Value size = arith::ConstantIndexOp::create(outer, loc, part);
        Value next = arith::AddIOp::create(outer, loc, start, size);
        Value stop = arith::MinUIOp::create(outer, loc, next, end);
        SmallVector<Value> sums;
        for (auto [index, total] : llvm::enumerate(totals)) {
          auto vector = dyn_cast<VectorType>(total.getType());
          sums.push_back(splat(outer, loc, getStart(combiners[index % combiners.size()]),
                               vector ? vector.getNumElements() : 1));
        }
        emitCarryingLoop(outer, loc, start, stop, step, sums, body);
        for (auto [index, total] : llvm::enumerate(totals))
          total = combine(outer, combiners[index % combiners.size()], total, sums[index]);
      });
}

/// The innermost loop of |nest|: in vectors of each of |widths| in turn, or element by element
/// where lanes are columns.
void ReductionLowering::emitInnerLoops(OpBuilder &builder, StepNest &nest,
                                       MutableArrayRef<LaneIndex> point, ArrayRef<int64_t> widths,
                                       const Environment &environment, Accumulators &accumulators) {
  Location loc = kernel.getLoc();
  const LoopDim &loop = nest.loops.back();
  std::optional<int64_t> count = getConstantIntValue(loop.size);
  if (byColumns && count && *count <= kUnrolledSteps) {
    for (int64_t step = 0; step < *count; ++step) {
      loop.setIndex(point, {arith::ConstantIndexOp::create(builder, loc, step)});
      emitElements(builder, nest, point, widths[0], environment, accumulators[0]);
    }
    return;
  }
  Value begin = arith::ConstantIndexOp::create(builder, loc, 0);
  Value size = getValueOrCreateConstantIndexOp(builder, loc, loop.size);
  for (auto [index, width] : llvm::enumerate(widths)) {
    int64_t step = byColumns ? 1 : width;
    Value end = size;
    if (index + 1 != widths.size()) {
      Value length = arith::SubIOp::create(builder, loc, size, begin);
      Value rest = arith::RemUIOp::create(builder, loc, length,
                                          arith::ConstantIndexOp::create(builder, loc, step));
      end = builder.createOrFold<arith::SubIOp>(loc, size, rest);
    }
    emitReducingLoop(
        builder, loc, nest, begin, end, step, accumulators[index],
        [&, width = width](OpBuilder &inner, Value position, MutableArrayRef<Value> values) {
          loop.setIndex(point, {position, byColumns || width == 1 ? 0 : 1});
          emitElements(inner, nest, point, width, environment, values);
        });
    begin = end;
  }
}

void ReductionLowering::emitNest(OpBuilder &builder, StepNest &nest, ArrayRef<LaneIndex> kept,
                                 int64_t lanes, Environment &environment) {
  Location loc = kernel.getLoc();
  SmallVector<LaneIndex> point(kept);
  point.resize(nest.steps[0]->dims.size());
  SmallVector<int64_t> widths = {lanes};
  if (!byColumns && !nest.loops.empty()) {
    std::optional<int64_t> size = getConstantIntValue(nest.loops.back().size);
    bool ordered = llvm::any_of(nest.steps, std::mem_fn(&Step::isOrdered));
    widths =
        getWidths(ordered ? 1 : config.getLanes(), registerLanes, size && *size != 0 ? *size : 1);
    while (widths.size() > 1 && size && widths.front() > *size)
      widths.erase(widths.begin());
  }
  Accumulators accumulators = initialize(builder, nest, kept, widths, environment);
  if (nest.loops.empty()) {
    emitElements(builder, nest, point, lanes, environment, accumulators[0]);
  } else if (nest.loops.size() == 1) {
    emitInnerLoops(builder, nest, point, widths, environment, accumulators);
  } else {
    // The outer loops run as one, and carry the accumulators of all widths.
    SmallVector<Value> all = flatten(accumulators);
    ArrayRef<LoopDim> outer = ArrayRef(nest.loops).drop_back();
    Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
    Value count = getValueOrCreateConstantIndexOp(builder, loc, getProduct(builder, loc, outer));
    emitReducingLoop(builder, loc, nest, zero, count, 1, all,
                     [&](OpBuilder &inner, Value linear, MutableArrayRef<Value> values) {
                       setLinearIndex(inner, loc, linear, outer, point);
                       unflatten(values, accumulators);
                       emitInnerLoops(inner, nest, point, widths, environment, accumulators);
                       llvm::copy(flatten(accumulators), values.begin());
                     });
    unflatten(all, accumulators);
  }
  finish(builder, nest, kept, widths, accumulators, environment);
}

/// Runs |emit| for every nest, and keeps account of what is in memory.
void ReductionLowering::emitPhases(Environment &environment, function_ref<void(StepNest &)> emit) {
  for (auto [phase, nests] : llvm::enumerate(phases)) {
    environment.keep.clear();
    for (auto [value, buffer] : llvm::zip(group.keptValues, keptBuffers))
      if (value.phase == phase && (value.memory || !byColumns))
        environment.keep[value.value] = buffer;
    for (StepNest &nest : nests)
      emit(nest);
    for (auto &[value, buffer] : environment.keep)
      environment.buffers[value] = buffer;
  }
}

/// Everything that happens to one kept point, or to |lanes| of them.
void ReductionLowering::emitPoint(OpBuilder &builder, SmallVector<LaneIndex> kept, int64_t lanes) {
  Environment environment;
  emitPhases(environment,
             [&](StepNest &nest) { emitNest(builder, nest, kept, lanes, environment); });
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

/// All rows in `rowRange`, with lanes along columns.
void ReductionLowering::emitColumns(OpBuilder &builder, Range rowRange) {
  Location loc = kernel.getLoc();
  Range columnRange = grid.getColumns(builder, loc, grid.gridY);
  SmallVector<int64_t> widths = getWidths(config.getLanes(), registerLanes, columnRange.divisor);
  auto emitRow = [&](OpBuilder &rowBuilder, ArrayRef<LaneIndex> row) {
    SmallVector<LaneIndex> point(row);
    if (byPanels)
      return emitPanel(rowBuilder, point, columnRange);
    emitLaneLoops(rowBuilder, loc, columnRange, widths,
                  [&](OpBuilder &inner, Value index, int64_t lanes) {
                    columns.setIndex(point, getColumn(index, lanes));
                    emitPoint(inner, point, lanes);
                  });
  };
  StripNest strips(*this);
  SmallVector<int64_t> stripWidths =
      getWidths(std::min(config.getLanes(), stripLanes), registerLanes, columnRange.divisor);
  if (strips.isPossible())
    return strips.emit(builder, rowRange, emitRow, [&](OpBuilder &strip, StripNest &nest) {
      emitLaneLoops(strip, loc, columnRange, stripWidths,
                    [&](OpBuilder &inner, Value index, int64_t lanes) {
                      nest.emitStrip(inner, getColumn(index, lanes), lanes);
                    });
    });
  SmallVector<LaneIndex> point(group.getNumKept());
  emitLinearLoop(builder, loc, rowRange, rows, point,
                 [&](OpBuilder &inner) { emitRow(inner, point); });
}

LogicalResult ReductionLowering::run() {
  std::string why;
  FailureOr<ReductionGroup> analyzed = analyzeReductions(kernel, why);
  if (failed(analyzed))
    return kernel.emitError("the reduction strategy does not fit kernel '")
           << kernel.getName() << "': " << why;
  group = std::move(*analyzed);
  if (byColumns && group.getNumKept() == 0)
    return kernel.emitError("the reduction strategy with columns needs a kept dim, and kernel '")
           << kernel.getName() << "' keeps none";
  FailureOr<SmallVector<SlidingImage>> images = SmallVector<SlidingImage>();
  if (byImages && failed(images = matchSlidingImages(group)))
    return kernel.emitError("the reduction strategy with images needs windows that slide along "
                            "the last kept dim, and all else along it, unlike kernel '")
           << kernel.getName() << "'";
  allocateKeptValues();
  planLoops();
  ImageNest nest(*this, *images);
  if (failed(byImages ? planBands(nest) : planGrid()))
    return failure();
  Location loc = kernel.getLoc();
  Range rowRange = grid.getRows(builder, loc, grid.gridX);
  SmallVector<LaneIndex> point(group.getNumKept());
  if (byImages)
    nest.emit(builder, rowRange);
  else if (byColumns)
    emitColumns(builder, rowRange);
  else
    emitLinearLoop(builder, loc, rowRange, rows, point,
                   [&](OpBuilder &inner) { emitPoint(inner, point, 1); });
  for (Step &step : group.steps)
    if (!step.reduction)
      step.root.op.erase();
  setLaunch(kernel, {grid.gridX, grid.gridY});
  return success();
}

namespace {

struct LowerReduction final : impl::LowerReductionBase<LowerReduction> {
  using LowerReductionBase::LowerReductionBase;

  void runOnOperation() override {
    FailureOr<Arch> arch = getKernelArch(getOperation(), this->arch);
    if (failed(arch))
      return signalPassFailure();
    for (auto kernel : getOperation().getOps<func::FuncOp>())
      if (auto config = dyn_cast_or_null<ReductionAttr>(kernel->getAttr(plan::kConfigAttr)))
        if (failed(verifyKernelFunction(kernel)) ||
            failed(ReductionLowering(kernel, config, *arch).run()))
          return signalPassFailure();
  }
};

} // namespace
} // namespace xc::cpu
