//===- ReductionGroup.cpp - Reductions that run point by point ------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CPU/ReductionGroup.h"

#include "compiler/Dialect/Array/IR/Sizes.h"
#include "compiler/Dialect/Plan/IR/PlanOps.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace xc::cpu {

/// Rows of intermediate values up to this size are kept on the stack.
static constexpr int64_t kMaxStackRowBytes = 16384;

SmallVector<unsigned> Step::getInverse() const {
  SmallVector<unsigned> inverse(dims.size());
  for (auto [position, dim] : llvm::enumerate(dims))
    inverse[dim] = position;
  return inverse;
}

SmallVector<OpFoldResult> Step::buildSizes(OpBuilder &builder) const {
  SmallVector<OpFoldResult> all =
      reduction ? getLoopSizes(builder, reduction) : getSizes(builder, root.memory);
  return llvm::map_to_vector(dims, [&](unsigned dim) { return all[dim]; });
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

static SmallVector<AffineExpr> getDimExprs(ArrayRef<unsigned> positions, MLIRContext *context) {
  return llvm::map_to_vector(
      positions, [&](unsigned position) { return getAffineDimExpr(position, context); });
}

namespace {

class Analyzer {
public:
  Analyzer(func::FuncOp kernel, std::string &why) : kernel(kernel), sizesOf(kernel), why(why) {}

  FailureOr<ReductionGroup> run();

private:
  LogicalResult addReduction(linalg::GenericOp op);
  LogicalResult addStore(const Root &root);
  FailureOr<SmallVector<unsigned>> findKeptDims(const Root &root);
  LogicalResult finishStep(Step &step);
  void moveContiguousDimLast(Step &step);
  void summarizeStep(Step &step);
  void assignPhases();
  void chooseKeptValues();
  LogicalResult fail(const Twine &reason) {
    why = reason.str();
    return failure();
  }

  func::FuncOp kernel;
  codegen::KernelSizes sizesOf;
  std::string &why;
  ReductionGroup group;
  llvm::DenseSet<Value> reduced;
};

} // namespace

void Analyzer::summarizeStep(Step &step) {
  step.summary = AccessSummary(step.dims.size());
  SmallVector<AffineExpr> exprs = getDimExprs(step.getInverse(), kernel.getContext());
  if (step.reduction) {
    summarizeBody(step.reduction, exprs, reduced, step.summary);
    return;
  }
  summarize(step.root.value, exprs, reduced, step.summary);
  step.summary.accesses.push_back({step.root.memory, exprs});
}

/// The innermost loop is the vectorised one: make it that of the dim that most accesses step
/// through contiguously.
void Analyzer::moveContiguousDimLast(Step &step) {
  unsigned numKept = group.getNumKept(), numDims = step.dims.size();
  if (numDims < numKept + 2)
    return;
  SmallVector<unsigned> votes(numDims);
  for (const Access &access : step.summary.accesses)
    if (!access.indices.empty())
      if (auto dim = dyn_cast_or_null<AffineDimExpr>(access.indices.back()))
        votes[dim.getPosition()] += access.indices.size();
  unsigned best = numDims - 1;
  for (unsigned dim = numKept; dim < numDims; ++dim)
    if (votes[dim] > votes[best])
      best = dim;
  if (best == numDims - 1)
    return;
  std::rotate(step.dims.begin() + best, step.dims.begin() + best + 1, step.dims.end());
  std::rotate(step.sizes.begin() + best, step.sizes.begin() + best + 1, step.sizes.end());
  summarizeStep(step);
}

LogicalResult Analyzer::finishStep(Step &step) {
  summarizeStep(step);
  if (Operation *op = step.summary.unsupported)
    return fail(llvm::formatv("a reduction strategy does not take {0}", op->getName()));
  moveContiguousDimLast(step);
  SmallVector<AffineExpr> kept;
  for (unsigned dim = 0; dim < group.getNumKept(); ++dim)
    kept.push_back(getAffineDimExpr(dim, kernel.getContext()));
  for (const Access &stop : step.summary.stops)
    if (stop.indices != kept)
      return fail("a reduced value is used at another point than the one it belongs to");
  group.steps.push_back(std::move(step));
  return success();
}

LogicalResult Analyzer::addReduction(linalg::GenericOp op) {
  Step step;
  step.reduction = op;
  FailureOr<codegen::Combiner> combiner =
      codegen::Combiner::match(op, codegen::Combiner::Constants::Leaves);
  if (succeeded(combiner) && !combiner->startsFromInit())
    step.combiner = *combiner;
  AffineMap map = op.getIndexingMapMatchingResult(op->getResult(0));
  for (Value result : op->getResults())
    if (op.getIndexingMapMatchingResult(cast<OpResult>(result)) != map)
      return fail("a reduction has results of different layouts");
  llvm::SmallBitVector kept(op.getNumLoops());
  for (AffineExpr expr : map.getResults()) {
    auto dim = dyn_cast<AffineDimExpr>(expr);
    if (!dim)
      return fail("a reduction has a result whose indices are not loops");
    kept.set(dim.getPosition());
    step.dims.push_back(dim.getPosition());
  }
  for (unsigned loop = 0; loop < op.getNumLoops(); ++loop)
    if (!kept[loop])
      step.dims.push_back(loop);
  SmallVector<plan::FormulaAttr> sizes = sizesOf.getLoopSizes(op);
  for (unsigned loop : step.dims) {
    if (!sizes[loop])
      return fail("a reduction has a loop whose size no operand tells");
    step.sizes.push_back(sizes[loop]);
  }
  SmallVector<plan::FormulaAttr> keptSizes(ArrayRef(step.sizes).take_front(map.getNumResults()));
  if (reduced.empty())
    group.keptSizes = keptSizes;
  else if (group.keptSizes != keptSizes)
    return fail("its reductions keep different dims");
  if (failed(finishStep(step)))
    return failure();
  reduced.insert_range(op->getResults());
  return success();
}

/// Dims of |root| that are the group's, found by how the root uses reduced values.
FailureOr<SmallVector<unsigned>> Analyzer::findKeptDims(const Root &root) {
  unsigned rank = cast<MemRefType>(root.memory.getType()).getRank();
  SmallVector<unsigned> identity = llvm::to_vector(llvm::seq(rank));
  AccessSummary probe(rank);
  summarize(root.value, getDimExprs(identity, kernel.getContext()), reduced, probe);
  SmallVector<unsigned> dims;
  for (const Access &stop : probe.stops) {
    SmallVector<unsigned> used;
    for (AffineExpr index : stop.indices) {
      auto dim = dyn_cast_or_null<AffineDimExpr>(index);
      if (!dim || llvm::is_contained(used, dim.getPosition()))
        return fail("a result uses a reduced value at points that are not dims of the result");
      used.push_back(dim.getPosition());
    }
    if (!dims.empty() && dims != used)
      return fail("a result uses reduced values at different points");
    dims = used;
  }
  if (!dims.empty() || group.keptSizes.empty())
    return dims;
  // Independent of all reductions: any assignment of equal sizes will do.
  SmallVector<plan::FormulaAttr> sizes = sizesOf.getSizes(root.memory);
  unsigned next = 0;
  for (plan::FormulaAttr kept : group.keptSizes) {
    while (next < rank && sizes[next] != kept)
      ++next;
    if (next == rank)
      return fail("a result does not have the dims that the reductions keep");
    dims.push_back(next++);
  }
  return dims;
}

LogicalResult Analyzer::addStore(const Root &root) {
  FailureOr<SmallVector<unsigned>> kept = findKeptDims(root);
  if (failed(kept))
    return failure();
  Step step;
  step.root = root;
  step.dims = *kept;
  SmallVector<plan::FormulaAttr> sizes = sizesOf.getSizes(root.memory);
  for (unsigned dim = 0; dim < sizes.size(); ++dim)
    if (!llvm::is_contained(*kept, dim))
      step.dims.push_back(dim);
  for (unsigned dim : step.dims)
    step.sizes.push_back(sizes[dim]);
  return finishStep(step);
}

//===----------------------------------------------------------------------===//
// Phases
//===----------------------------------------------------------------------===//

static bool mayAlias(Value memory) {
  while (Operation *op = memory.getDefiningOp()) {
    if (auto binding = dyn_cast<plan::BindingOp>(op))
      return binding.getMayAlias();
    memory = op->getOperand(0);
  }
  return true;
}

/// A step runs as soon as the reductions it reads are done.
void Analyzer::assignPhases() {
  DenseMap<Value, unsigned> phaseOf;
  for (Step &step : group.steps) {
    step.phase = 0;
    for (const Access &stop : step.summary.stops)
      step.phase = std::max(step.phase, phaseOf.lookup(stop.tensor) + 1);
    if (step.reduction)
      for (Value result : step.reduction->getResults())
        phaseOf[result] = step.phase;
    group.numPhases = std::max(group.numPhases, step.phase + 1);
  }
  // A result that may be in an input's memory is written when nothing else is read any more.
  bool lastReduces = llvm::any_of(group.steps, [&](const Step &step) {
    return step.reduction && step.phase + 1 == group.numPhases;
  });
  for (Step &step : group.steps)
    if (!step.reduction && mayAlias(step.root.memory))
      step.phase = lastReduces ? group.numPhases : group.numPhases - 1;
  for (const Step &step : group.steps)
    group.numPhases = std::max(group.numPhases, step.phase + 1);
  std::vector<Step> sorted;
  for (unsigned phase = 0; phase < group.numPhases; ++phase)
    for (Step &step : group.steps)
      if (step.phase == phase)
        sorted.push_back(step);
  group.steps = std::move(sorted);
}

static bool arePlainDistinctDims(ArrayRef<AffineExpr> indices) {
  llvm::DenseSet<AffineExpr> seen;
  return llvm::all_of(indices, [&](AffineExpr index) {
    return index && isa<AffineDimExpr>(index) && seen.insert(index).second;
  });
}

void Analyzer::chooseKeptValues() {
  unsigned numKept = group.getNumKept();
  llvm::DenseSet<Value> taken; // roots' memory, each for one value
  for (auto op : kernel.getOps<linalg::GenericOp>()) {
    if (op.getNumReductionLoops() != 0 || op->getNumResults() != 1)
      continue;
    Value value = op->getResult(0);
    bool isDear = llvm::any_of(op.getBody()->without_terminator(), [](Operation &inner) {
      return inner.getName().getDialectNamespace() == "math";
    });
    // Where it is computed, phase by phase.
    SmallVector<std::pair<Step *, const Access *>> uses;
    for (Step &step : group.steps)
      for (const Access &access : step.summary.computed)
        if (access.tensor == value)
          uses.push_back({&step, &access});
    if (!isDear || uses.size() < 2 || uses.front().first->phase == uses.back().first->phase)
      continue;
    Step &first = *uses.front().first;
    bool simple = llvm::all_of(uses, [&](auto use) {
      return use.second->indices.size() == use.first->dims.size() &&
             arePlainDistinctDims(use.second->indices);
    });
    // Each element has to be stored once: one step of the first phase computes it, over the whole
    // of its space.
    if (!simple ||
        llvm::count_if(uses, [&](auto use) { return use.first->phase == first.phase; }) != 1)
      continue;
    KeptValue kept{value, first.phase, {}, {}};
    auto [last, lastAccess] = uses.back();
    auto type = cast<RankedTensorType>(value.getType());
    bool fitsRoot =
        !last->reduction && uses.size() == 2 && !mayAlias(last->root.memory) &&
        !taken.contains(last->root.memory) &&
        cast<MemRefType>(last->root.memory.getType()).getElementType() == type.getElementType() &&
        lastAccess->indices == last->summary.accesses.back().indices;
    if (fitsRoot) {
      kept.memory = last->root.memory;
      taken.insert(kept.memory);
      group.keptValues.push_back(kept);
      continue;
    }
    int64_t bytes = type.getElementType().getIntOrFloatBitWidth() / 8;
    for (auto [dim, index] : llvm::enumerate(uses.front().second->indices)) {
      if (cast<AffineDimExpr>(index).getPosition() < numKept)
        continue;
      kept.dims.push_back(dim);
      bytes = type.isDynamicDim(dim) ? kMaxStackRowBytes + 1
                                     : array::multiplyKnown({bytes, type.getDimSize(dim)});
    }
    if (bytes <= kMaxStackRowBytes && !kept.dims.empty())
      group.keptValues.push_back(kept);
  }
}

FailureOr<ReductionGroup> Analyzer::run() {
  for (auto op : kernel.getOps<linalg::GenericOp>())
    if (op.getNumReductionLoops() != 0 && failed(addReduction(op)))
      return failure();
  if (group.steps.empty())
    return fail("it reduces nothing");
  for (const Root &root : collectRoots(kernel))
    if (failed(addStore(root)))
      return failure();
  assignPhases();
  chooseKeptValues();
  return std::move(group);
}

FailureOr<ReductionGroup> analyzeReductions(func::FuncOp kernel, std::string &why) {
  return Analyzer(kernel, why).run();
}

} // namespace xc::cpu
