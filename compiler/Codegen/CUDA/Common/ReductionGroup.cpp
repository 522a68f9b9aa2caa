//===- ReductionGroup.cpp - Reductions that share one iteration space -----===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Common/ReductionGroup.h"

#include "compiler/Codegen/CUDA/Common/OutputPlaces.h"
#include "compiler/Codegen/Common/Placement.h"
#include "compiler/Dialect/Plan/IR/Products.h"
#include "compiler/Dialect/Plan/IR/Reductions.h"

#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/AffineMap.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace xc::cuda {

using Exprs = SmallVector<AffineExpr>;

bool ReductionGroup::writesRows() const {
  return llvm::any_of(results,
                      [](const Result &result) { return result.kind == Result::Kind::Whole; });
}

int64_t countCombinedBytes(ArrayRef<ReductionGroup::Member> members, int64_t count) {
  int64_t bytes = 0;
  for (const ReductionGroup::Member &member : members)
    for (Type type : member.combiner.getOp()->getResultTypes())
      bytes += countSharedBytes(getElementTypeOrSelf(type), count);
  return bytes;
}

/// The one input of a window reduction whose elements are reduced, if there is just one: what
/// beside it says how large windows are has no elements of its own.
static OpOperand *getOnlyWindowInput(linalg::LinalgOp op) {
  if (!plan::isWindowReduction(op))
    return nullptr;
  OpOperand *only = nullptr;
  for (OpOperand *input : op.getDpsInputOperands())
    if (op.payloadUsesValueFromOperand(input)) {
      if (only)
        return nullptr;
      only = input;
    }
  return only;
}

/// The input by whose order in memory the dims of `op` are ordered; null where it has none.
static OpOperand *findOrderingInput(linalg::LinalgOp op) {
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  // Of operands with as many dims the first one counts; dims of one element make none larger.
  OpOperand *largest = nullptr;
  std::pair<unsigned, unsigned> most;
  for (OpOperand *input : op.getDpsInputOperands()) {
    std::pair<unsigned, unsigned> dims;
    for (AffineExpr expr : op.getMatchingIndexingMap(input).getResults())
      if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
        dims.first += ranges[dim.getPosition()] != 1;
        ++dims.second;
      }
    if (!largest || dims > most)
      std::tie(largest, most) = std::pair(input, dims);
  }
  return largest;
}

void orderDims(linalg::LinalgOp root, ReductionGroup &group) {
  SmallVector<utils::IteratorType> iterators = root.getIteratorTypesArray();
  SmallVector<int64_t> ranges = root.getStaticLoopRanges();
  // Windows lie where their elements do: of a sum, the window's place comes before that in it.
  OpOperand *slid = getOnlyWindowInput(root);
  OpOperand *largest = slid ? slid : findOrderingInput(root);
  // What reduces a constant reads nothing; its dims are in order as they are.
  SmallVector<unsigned> order;
  AffineMap map = largest
                      ? root.getMatchingIndexingMap(largest)
                      : AffineMap::getMultiDimIdentityMap(root.getNumLoops(), root.getContext());
  auto append = [&](AffineExpr expr) {
    if (auto dim = dyn_cast<AffineDimExpr>(expr);
        dim && !llvm::is_contained(order, dim.getPosition()))
      order.push_back(dim.getPosition());
  };
  for (AffineExpr expr : map.getResults()) {
    if (slid)
      expr.walk(append);
    else
      append(expr);
  }
  for (unsigned dim = 0; dim < root.getNumLoops(); ++dim)
    if (!llvm::is_contained(order, dim))
      order.insert(order.begin(), dim);
  group.reducesContiguousDim = true;
  for (unsigned dim : order) {
    bool reduces = iterators[dim] == utils::IteratorType::reduction;
    (reduces ? group.reductionDims : group.parallelDims).push_back(dim);
    if (ranges[dim] != 1)
      group.reducesContiguousDim = reduces;
  }
}

/// The dims of `dims` that are more than one iteration, in order.
static SmallVector<unsigned> getLongDims(ArrayRef<unsigned> dims, ArrayRef<int64_t> ranges) {
  SmallVector<unsigned> result;
  llvm::copy_if(dims, std::back_inserter(result), [&](unsigned dim) { return ranges[dim] != 1; });
  llvm::sort(result);
  return result;
}

/// Takes the reduction with most loops for the root; of several, one whose reduced elements are
/// neighbours in memory.
static void chooseRoot(ArrayRef<linalg::LinalgOp> reductions, ReductionGroup &group) {
  for (linalg::LinalgOp op : reductions) {
    ReductionGroup candidate;
    candidate.root = op;
    orderDims(op, candidate);
    unsigned loops = op.getNumLoops();
    if (!group.root || loops > group.root.getNumLoops() ||
        (loops == group.root.getNumLoops() && candidate.reducesContiguousDim &&
         !group.reducesContiguousDim))
      group = candidate;
  }
}

/// The reduction of a product's rows in parts; its result is found later.
static LogicalResult addRowPart(const Combiner &combiner, const Exprs &loops, int64_t columns,
                                ReductionGroup &group, std::string &reason) {
  linalg::LinalgOp op = combiner.getOp();
  if (combiner.getNumResults() != 1 || combiner.startsFromInit() ||
      llvm::any_of(op->getUsers(), llvm::IsaPred<linalg::LinalgOp>) ||
      !plan::matchProduct(group.root)) {
    reason = "a reduction of rows in parts, but not of a product's rows";
    return failure();
  }
  group.rowParts.push_back({{combiner, loops}, {}, columns});
  return success();
}

/// The reduction of a product's columns in parts, and what is computed of its results.
static LogicalResult addColumnPart(const Combiner &combiner, const Exprs &loops, int64_t rows,
                                   ReductionGroup &group, std::string &reason) {
  linalg::LinalgOp op = combiner.getOp();
  bool fits =
      combiner.getNumResults() == 1 && !combiner.startsFromInit() && plan::matchProduct(group.root);
  SmallVector<Value, 1> derived;
  for (Operation *user : op->getUsers())
    if (auto reader = dyn_cast<linalg::LinalgOp>(user)) {
      fits &= plan::getColumnPart(reader) == rows && reader.getNumReductionLoops() == 0;
      derived.push_back(reader->getResult(0));
    }
  if (!fits) {
    reason = "a reduction of columns in parts, but not of a product's columns";
    return failure();
  }
  group.columnParts.push_back({{combiner, loops}, {}, rows, derived});
  return success();
}

static LogicalResult addMember(linalg::LinalgOp op, const Exprs &loops, ReductionGroup &group,
                               std::string &reason) {
  FailureOr<Combiner> combiner = Combiner::match(op);
  if (failed(combiner)) {
    reason = "the body of a reduction is not known to be associative";
    return failure();
  }
  if (std::optional<int64_t> columns = plan::getRowPart(op))
    return addRowPart(*combiner, loops, *columns, group, reason);
  if (std::optional<int64_t> rows = plan::getColumnPart(op))
    return addColumnPart(*combiner, loops, *rows, group, reason);
  SmallVector<int64_t> ranges = group.root.getStaticLoopRanges();
  SmallVector<unsigned> reduced;
  for (auto [expr, iterator] : llvm::zip_equal(loops, op.getIteratorTypesArray()))
    if (auto dim = dyn_cast<AffineDimExpr>(expr); dim && iterator == utils::IteratorType::reduction)
      reduced.push_back(dim.getPosition());
  reduced = getLongDims(reduced, ranges);
  int64_t parts = plan::countCyclicParts(op);
  bool hasOneLoop = parts == 0 || reduced.size() == 1;
  if (reduced == getLongDims(group.reductionDims, ranges) && hasOneLoop &&
      !(parts > 0 && group.reducesContiguousDim)) {
    if (!group.members.empty() && group.partials.empty() && group.parts != parts) {
      reason = "reductions in different numbers of parts";
      return failure();
    }
    if (group.partials.empty())
      group.parts = parts;
    group.members.push_back({*combiner, loops});
    return success();
  }
  bool isPartial = group.reducesContiguousDim && parts > 0 && hasOneLoop &&
                   reduced == getLongDims(group.parallelDims, ranges) &&
                   (group.partials.empty() || group.parts == parts);
  bool isRead = llvm::any_of(op->getUsers(), llvm::IsaPred<linalg::LinalgOp>);
  if (!isPartial || isRead) {
    reason = "reductions over different dims";
    return failure();
  }
  group.parts = parts;
  group.partials.push_back({*combiner, loops});
  return success();
}

static LogicalResult addResult(const KernelOutput &output, const Exprs &coords,
                               ReductionGroup &group, std::string &reason) {
  using Kind = ReductionGroup::Result::Kind;
  for (ReductionGroup::RowPart &part : group.rowParts)
    if (output.tensor.getDefiningOp() == part.member.combiner.getOp()) {
      part.result = {output, coords, Kind::Partial};
      return success();
    }
  for (ReductionGroup::ColumnPart &part : group.columnParts)
    if (output.tensor.getDefiningOp() == part.member.combiner.getOp()) {
      part.result = {output, coords, Kind::Partial};
      return success();
    }
  SmallVector<int64_t> ranges = group.root.getStaticLoopRanges();
  auto uses = [&](unsigned dim) {
    return llvm::any_of(coords, [&](AffineExpr expr) { return expr.isFunctionOfDim(dim); });
  };
  // Its elements and the points that it is computed at match one to one.
  auto covers = [&](ArrayRef<unsigned> dims) {
    return llvm::all_of(dims, [&](unsigned dim) { return ranges[dim] == 1 || uses(dim); });
  };
  ArrayRef<unsigned> parallel = group.parallelDims;
  auto isOf = [&](ArrayRef<ReductionGroup::Member> members) {
    return llvm::any_of(members, [&](const ReductionGroup::Member &member) {
      return output.tensor.getDefiningOp() == member.combiner.getOp();
    });
  };
  Kind kind =
      llvm::any_of(group.reductionDims, uses) && !isOf(group.members) ? Kind::Whole : Kind::Reduced;
  if (isOf(group.partials)) {
    kind = Kind::Partial;
    parallel = {};
  }
  if (!covers(parallel) || (kind != Kind::Reduced && !covers(group.reductionDims))) {
    reason = "an output that has neither the shape of the reduction's input nor that of its result";
    return failure();
  }
  group.results.push_back({output, coords, kind});
  return success();
}

/// True if a reduction of the kernel needs `tensor`.
static bool isReduced(Value tensor, const KernelInfo &kernel) {
  return llvm::any_of(tensor.getUsers(), [&](Operation *user) {
    if (!llvm::is_contained(kernel.tensorOps, user))
      return false;
    auto op = dyn_cast<linalg::LinalgOp>(user);
    return (op && op.getNumReductionLoops() > 0) ||
           llvm::any_of(user->getResults(), [&](Value result) {
             return isa<RankedTensorType>(result.getType()) && isReduced(result, kernel);
           });
  });
}

FailureOr<ReductionGroup> matchReductionGroup(const KernelInfo &kernel, std::string &reason) {
  SmallVector<linalg::LinalgOp> reductions = kernel.getReductions();
  ReductionGroup group;
  chooseRoot(reductions, group);
  // An update only says where an output goes.
  SmallVector<Operation *> ops = llvm::filter_to_vector(
      kernel.tensorOps, [](Operation *op) { return !isa<kernel::UpdateOp>(op); });
  codegen::Placement placement(ops, group.root);
  if (failed(placement.run(reason)))
    return failure();
  for (linalg::LinalgOp op : reductions)
    if (failed(addMember(op, placement.getLoops(op), group, reason)))
      return failure();
  for (const KernelOutput &output : kernel.outputs) {
    if (!hasKnownPlace(output)) {
      reason = "an output whose place in its memory is data";
      return failure();
    }
    const Exprs *coords = placement.find(output.tensor);
    if (!coords) {
      reason = "an output outside the iteration space of the reduction";
      return failure();
    }
    if (failed(addResult(output, *coords, group, reason)))
      return failure();
  }
  SmallVector<int64_t> ranges = group.root.getStaticLoopRanges();
  auto countRead = [&](const Exprs &coords, ArrayRef<unsigned> dims) {
    return llvm::count_if(getLongDims(dims, ranges), [&](unsigned dim) {
      return llvm::any_of(coords, [&](AffineExpr expr) { return expr.isFunctionOfDim(dim); });
    });
  };
  auto add = [&](Value tensor, const Exprs &coords) {
    plan::BindingOp binding = getSourceBinding(tensor);
    long kept = countRead(coords, group.parallelDims);
    long reduced = countRead(coords, group.reductionDims);
    long rows = getLongDims(group.parallelDims, ranges).size();
    if (binding && reduced == 0 && kept == rows)
      group.reducedInputs.push_back({tensor, binding, coords});
    if (!binding || reduced != long(getLongDims(group.reductionDims, ranges).size()))
      return;
    // Of a single row everything is alike for all rows; what is reduced is the row.
    if (kept == rows && (rows > 0 || isReduced(tensor, kernel)))
      group.inputs.push_back({tensor, binding, coords});
    else if (kept == 0)
      group.vectors.push_back({tensor, binding, coords});
  };
  llvm::SmallSetVector<Value, 8> read;
  for (Operation *op : ops)
    read.insert(op->operand_begin(), op->operand_end());
  for (Value tensor : read)
    if (const Exprs *coords = placement.find(tensor))
      add(tensor, *coords);
  return group;
}

} // namespace xc::cuda
