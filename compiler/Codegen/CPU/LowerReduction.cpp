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

#include "compiler/Codegen/CPU/Arch.h"
#include "compiler/Codegen/CPU/CPUDialect.h"
#include "compiler/Codegen/CPU/LoopEmitter.h"
#include "compiler/Codegen/CPU/Passes.h"
#include "compiler/Codegen/CPU/ReductionGroup.h"

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

/// Steps that a float accumulator takes one after the other.
static constexpr int64_t kPartSteps = 256;

/// Steps of an innermost loop, lanes being columns, that are written out: what they read of the
/// same vector is loaded once.
static constexpr int64_t kUnrolledSteps = 16;

namespace {

/// Steps of one phase over the same space: they share their loops.
struct StepNest {
  SmallVector<Step *> steps;
  SmallVector<LoopDim> loops; // over the steps' own dims
};

/// Accumulators of a nest: one list for each width that its innermost loop runs with.
using Accumulators = SmallVector<SmallVector<Value>>;

class PanelNest;

class ReductionLowering {
public:
  ReductionLowering(func::FuncOp kernel, ReductionAttr config, const Arch &arch)
      : kernel(kernel), config(config), byPanels(config.getDirection() == "panels"),
        byColumns(config.getDirection() != "rows"),
        registerLanes(arch.vectorBytes / getElementBytes(kernel)),
        builder(kernel.getBody().front().getTerminator()) {}

  LogicalResult run();

private:
  friend class PanelNest;

  void allocateKeptValues();
  void addKeptAccesses(ArrayRef<Access> computed, SmallVectorImpl<Access> &accesses);
  void planLoops();
  LogicalResult planGrid();
  void emitPhases(Environment &environment, function_ref<void(StepNest &)> emit);
  void emitPoint(OpBuilder &builder, SmallVector<LaneIndex> kept, int64_t lanes);
  void emitPanel(OpBuilder &builder, ArrayRef<LaneIndex> kept, Range range);
  void emitNest(OpBuilder &builder, StepNest &nest, ArrayRef<LaneIndex> kept, int64_t lanes,
                Environment &environment);
  void emitElements(OpBuilder &builder, StepNest &nest, MutableArrayRef<LaneIndex> point,
                    int64_t lanes, const Environment &environment,
                    MutableArrayRef<Value> accumulators);
  void emitInnerLoops(OpBuilder &builder, StepNest &nest, MutableArrayRef<LaneIndex> point,
                      ArrayRef<int64_t> widths, const Environment &environment,
                      Accumulators &accumulators);
  Accumulators initialize(OpBuilder &builder, StepNest &nest, ArrayRef<LaneIndex> kept,
                          ArrayRef<int64_t> widths, const Environment &environment);
  void finish(OpBuilder &builder, StepNest &nest, ArrayRef<LaneIndex> kept,
              ArrayRef<int64_t> widths, Accumulators &accumulators, Environment &environment);

  func::FuncOp kernel;
  ReductionAttr config;
  bool byPanels;  // lanes are kept points, and accumulators are in memory
  bool byColumns; // lanes are kept points
  int64_t registerLanes;
  OpBuilder builder;
  ReductionGroup group;
  std::vector<std::vector<StepNest>> phases;
  SmallVector<LoopDim> rows;
  LoopDim columns;
  Spread grid;
  SmallVector<Buffer> keptBuffers; // for each of group.keptValues
};

} // namespace

/// The columns from |index| on, one a lane. Workgroups begin at multiples of the widest vectors, so
/// that each vector begins at a multiple of its width.
static LaneIndex getColumn(Value index, int64_t lanes) {
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
    ArrayRef<OpFoldResult> sizes = ArrayRef(step.sizes).drop_front(numKept);
    auto &nests = phases[step.phase];
    auto nest = llvm::find_if(nests, [&](StepNest &other) {
      return isEqualConstantIntOrValueArray(ArrayRef(other.steps[0]->sizes).drop_front(numKept),
                                            sizes);
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
      llvm::SmallBitVector mergeable =
          findMergeableDims(builder, nest.steps[0]->sizes, numKept, summaries);
      nest.loops = mergeDims(builder, loc, llvm::to_vector(llvm::seq(numKept, numDims)),
                             nest.steps[0]->sizes, mergeable);
      for (unsigned dim = 0; dim < numKept; ++dim)
        keptMerge[dim] = keptMerge[dim] && mergeable[dim];
    }
  }
  rows = mergeDims(builder, loc, llvm::to_vector(llvm::seq(numKept)), group.keptSizes, keptMerge);
  if (byColumns)
    columns = rows.pop_back_val();
}

LogicalResult ReductionLowering::planGrid() {
  Location loc = kernel.getLoc();
  OpFoldResult work = builder.getIndexAttr(1);
  for (Step &step : group.steps) {
    SmallVector<LoopDim> own;
    for (OpFoldResult size : ArrayRef(step.sizes).drop_front(group.getNumKept()))
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
// Accumulators
//===----------------------------------------------------------------------===//

static Value splat(OpBuilder &builder, Location loc, TypedAttr element, int64_t lanes) {
  if (lanes == 1)
    return arith::ConstantOp::create(builder, loc, element);
  auto type = VectorType::get({lanes}, element.getType());
  return arith::ConstantOp::create(builder, loc, DenseElementsAttr::get(type, element));
}

/// What a lane that combines by |combiner| starts from: exactly neutral, since the reduction's init
/// joins the lanes at the end. So sums start from -0: -0 + x is x for every x.
static TypedAttr getStart(Operation *combiner) {
  TypedAttr neutral = *arith::getNeutralElement(combiner);
  auto type = dyn_cast<FloatType>(neutral.getType());
  if (isa<arith::AddFOp>(combiner))
    return FloatAttr::get(type, -0.0);
  bool isMax = isa<arith::MaximumFOp, arith::MaxNumFOp>(combiner);
  if (!isMax && !isa<arith::MinimumFOp, arith::MinNumFOp>(combiner))
    return neutral;
  return FloatAttr::get(type, APFloat::getInf(type.getFloatSemantics(), /*Negative=*/isMax));
}

/// |combiner| on other operands.
static Value combine(OpBuilder &builder, Operation *combiner, Value lhs, Value rhs) {
  OperationState state(combiner->getLoc(), combiner->getName(), {lhs, rhs}, {lhs.getType()},
                       combiner->getAttrs());
  return builder.create(state)->getResult(0);
}

/// Folds a vector to |lanes| lanes (1: a scalar) by combining its halves.
static Value fold(OpBuilder &builder, Operation *combiner, Value vector, int64_t lanes) {
  Location loc = combiner->getLoc();
  int64_t width = cast<VectorType>(vector.getType()).getNumElements();
  for (; width > lanes; width /= 2) {
    if (width == 1)
      break;
    SmallVector<int64_t> low = llvm::to_vector(llvm::seq<int64_t>(0, width / 2));
    SmallVector<int64_t> high = llvm::to_vector(llvm::seq<int64_t>(width / 2, width));
    vector =
        combine(builder, combiner, vector::ShuffleOp::create(builder, loc, vector, vector, low),
                vector::ShuffleOp::create(builder, loc, vector, vector, high));
  }
  return lanes == 1 ? Value(vector::ExtractOp::create(builder, loc, vector, 0)) : vector;
}

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

/// What the accumulators start with: the narrowest ones with what the kernel says, the others with
/// a neutral element.
Accumulators ReductionLowering::initialize(OpBuilder &builder, StepNest &nest,
                                           ArrayRef<LaneIndex> kept, ArrayRef<int64_t> widths,
                                           const Environment &environment) {
  Accumulators result(widths.size());
  PointEvaluator evaluator(builder, environment, byColumns ? widths.back() : 1);
  for (Step *step : nest.steps) {
    if (!step->reduction)
      continue;
    for (auto [index, init] : llvm::enumerate(step->reduction.getDpsInits())) {
      Location loc = step->reduction.getLoc();
      // The indices of a reduction's result are the kept point.
      Value start = evaluator.evaluate(init, kept);
      if (byColumns) {
        result[0].push_back(evaluator.toLanes(loc, start));
        continue;
      }
      for (auto [list, width] : llvm::zip(result, widths))
        list.push_back(width == 1 ? start
                                  : splat(builder, loc,
                                          getStart(step->combiner->getCombiningOp(index)), width));
    }
  }
  return result;
}

/// Folds the accumulators of all widths into one value for each result.
void ReductionLowering::finish(OpBuilder &builder, StepNest &nest, ArrayRef<LaneIndex> kept,
                               ArrayRef<int64_t> widths, Accumulators &accumulators,
                               Environment &environment) {
  unsigned next = 0;
  for (Step *step : nest.steps) {
    if (!step->reduction)
      continue;
    for (auto [index, result] : llvm::enumerate(step->reduction->getResults())) {
      Value value = accumulators[0][next];
      Operation *combiner = step->isOrdered() ? nullptr : step->combiner->getCombiningOp(index);
      for (size_t i = 1; i < widths.size(); ++i)
        value = combine(builder, combiner, accumulators[i][next],
                        fold(builder, combiner, value, widths[i]));
      if (!byColumns && widths.back() != 1) {
        Value start = PointEvaluator(builder, environment, 1)
                          .evaluate(step->reduction.getDpsInits()[index], kept);
        value = combine(builder, combiner, start, fold(builder, combiner, value, 1));
      }
      environment.values[result] = value;
      ++next;
    }
  }
}

/// What combines each accumulator of |nest| with another one, in their order; empty where they need
/// not be combined in parts, or cannot be.
static SmallVector<Operation *> getPartCombiners(const StepNest &nest) {
  SmallVector<Operation *> combiners;
  for (Step *step : nest.steps) {
    if (!step->reduction)
      continue;
    if (step->isOrdered())
      return {};
    for (unsigned index = 0; index < step->reduction->getNumResults(); ++index)
      combiners.push_back(step->combiner->getCombiningOp(index));
  }
  bool rounds = llvm::any_of(combiners, llvm::IsaPred<arith::AddFOp, arith::MulFOp>);
  return rounds ? combiners : SmallVector<Operation *>();
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

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
// Panels
//===----------------------------------------------------------------------===//

namespace {

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

} // namespace

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

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

LogicalResult ReductionLowering::run() {
  std::string why;
  FailureOr<ReductionGroup> analyzed = analyzeReductions(kernel, builder, why);
  if (failed(analyzed))
    return kernel.emitError("the reduction strategy does not fit kernel '")
           << kernel.getName() << "': " << why;
  group = std::move(*analyzed);
  if (byColumns && group.getNumKept() == 0)
    return kernel.emitError("the reduction strategy with columns needs a kept dim, and kernel '")
           << kernel.getName() << "' keeps none";
  allocateKeptValues();
  planLoops();
  if (failed(planGrid()))
    return failure();
  Location loc = kernel.getLoc();
  Range rowRange = grid.getRows(builder, loc, grid.gridX);
  SmallVector<LaneIndex> point(group.getNumKept());
  if (!byColumns) {
    emitLinearLoop(builder, loc, rowRange, rows, point,
                   [&](OpBuilder &inner) { emitPoint(inner, point, 1); });
  } else {
    Range columnRange = grid.getColumns(builder, loc, grid.gridY);
    SmallVector<int64_t> widths = getWidths(config.getLanes(), registerLanes, columnRange.divisor);
    emitLinearLoop(builder, loc, rowRange, rows, point, [&](OpBuilder &rowBuilder) {
      if (byPanels)
        return emitPanel(rowBuilder, point, columnRange);
      emitLaneLoops(rowBuilder, loc, columnRange, widths,
                    [&](OpBuilder &inner, Value index, int64_t lanes) {
                      columns.setIndex(point, getColumn(index, lanes));
                      emitPoint(inner, point, lanes);
                    });
    });
  }
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
