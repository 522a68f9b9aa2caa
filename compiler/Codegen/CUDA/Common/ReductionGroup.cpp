//===- ReductionGroup.cpp - Reductions that share one iteration space -----===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Common/ReductionGroup.h"

#include "compiler/Dialect/Plan/IR/Products.h"
#include "compiler/Dialect/Plan/IR/Reductions.h"

#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/AffineMap.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace xc::cuda {

using Exprs = SmallVector<AffineExpr>;

namespace {

/// Spreads what is known of the indices of some tensors to all others, forwards and backwards.
class Placement {
public:
  Placement(const KernelInfo &kernel, linalg::LinalgOp root) : kernel(kernel), root(root) {
    context = root.getContext();
    Exprs dims;
    for (unsigned dim = 0; dim < root.getNumLoops(); ++dim)
      dims.push_back(getAffineDimExpr(dim, context));
    placeOp(root, dims);
  }

  LogicalResult run(std::string &reason);
  const Exprs *find(Value tensor) const {
    auto found = tensors.find(tensor);
    return found == tensors.end() ? nullptr : &found->second;
  }
  const Exprs &getLoops(linalg::LinalgOp op) const { return loops.find(op)->second; }

private:
  bool place(Value tensor, Exprs coords) {
    for (AffineExpr &coord : coords)
      coord = simplifyAffineExpr(coord, root.getNumLoops(), 0);
    return tensors.try_emplace(tensor, std::move(coords)).second;
  }
  void placeOp(linalg::LinalgOp op, Exprs opLoops);
  bool visit(linalg::LinalgOp op);
  /// Gives the root's loops to a reduction of the same form that no tensor ties to what is placed.
  bool placeBesideRoot();
  bool visit(tensor::ExpandShapeOp op);
  bool visit(tensor::CollapseShapeOp op);
  bool dependsOnReduction(Value tensor);
  /// True if wherever `op` reads a tensor that a reduction feeds, it reads the element of its own
  /// place.
  bool isConsistent(linalg::LinalgOp op);

  const KernelInfo &kernel;
  linalg::LinalgOp root;
  MLIRContext *context;
  llvm::DenseMap<Value, Exprs> tensors;
  llvm::DenseMap<Operation *, Exprs> loops;
  llvm::DenseMap<Value, bool> dependent;
};

} // namespace

void Placement::placeOp(linalg::LinalgOp op, Exprs opLoops) {
  for (OpOperand &operand : op->getOpOperands())
    if (isa<RankedTensorType>(operand.get().getType()))
      place(operand.get(),
            llvm::map_to_vector(op.getMatchingIndexingMap(&operand).getResults(),
                                [&](AffineExpr expr) { return expr.replaceDims(opLoops); }));
  for (OpResult result : op->getResults())
    place(result, llvm::map_to_vector(op.getIndexingMapMatchingResult(result).getResults(),
                                      [&](AffineExpr expr) { return expr.replaceDims(opLoops); }));
  loops[op] = std::move(opLoops);
}

bool Placement::visit(linalg::LinalgOp op) {
  if (loops.contains(op))
    return false;
  Exprs opLoops(op.getNumLoops());
  auto learn = [&](Value tensor, AffineMap map) {
    if (const Exprs *coords = find(tensor))
      for (auto [coord, expr] : llvm::zip_equal(*coords, map.getResults()))
        if (auto dim = dyn_cast<AffineDimExpr>(expr))
          // Two loops of one index would go over a diagonal of what the op computes.
          if (!opLoops[dim.getPosition()] &&
              (isa<AffineConstantExpr>(coord) || !llvm::is_contained(opLoops, coord)))
            opLoops[dim.getPosition()] = coord;
  };
  for (OpResult result : op->getResults())
    learn(result, op.getIndexingMapMatchingResult(result));
  // What a reduction feeds has one place; an input may be read at several: x + x * w of squares.
  for (bool isFed : {true, false})
    for (OpOperand &operand : op->getOpOperands())
      // An empty tensor may initialise ops of different places.
      if (isa<RankedTensorType>(operand.get().getType()) &&
          !operand.get().getDefiningOp<tensor::EmptyOp>() &&
          dependsOnReduction(operand.get()) == isFed)
        learn(operand.get(), op.getMatchingIndexingMap(&operand));
  // A loop of one iteration has but one index.
  for (auto [loop, range] : llvm::zip_equal(opLoops, op.getStaticLoopRanges()))
    if (!loop && range == 1)
      loop = getAffineConstantExpr(0, context);
  if (llvm::is_contained(opLoops, AffineExpr()))
    return false;
  placeOp(op, std::move(opLoops));
  return true;
}

/// Row-major position of `coords` in `shape`, whose sizes but the first have to be static; null if
/// not.
static AffineExpr linearize(ArrayRef<AffineExpr> coords, ArrayRef<int64_t> shape,
                            MLIRContext *context) {
  AffineExpr position = getAffineConstantExpr(0, context);
  for (auto [index, coord] : llvm::enumerate(coords)) {
    if (index > 0 && ShapedType::isDynamic(shape[index]))
      return nullptr;
    position = (index > 0 ? position * shape[index] : position) + coord;
  }
  return position;
}

static bool delinearize(AffineExpr position, ArrayRef<int64_t> shape, Exprs &coords) {
  size_t start = coords.size();
  coords.resize(start + shape.size());
  for (size_t i = shape.size(); i > 0; --i) {
    if (i > 1 && ShapedType::isDynamic(shape[i - 1]))
      return false;
    coords[start + i - 1] = i > 1 ? position % shape[i - 1] : position;
    if (i > 1)
      position = position.floorDiv(shape[i - 1]);
  }
  // A leading dim of size 1 has index 0 whatever its expression says.
  for (auto [coord, size] : llvm::zip_equal(MutableArrayRef(coords).drop_front(start), shape))
    if (size == 1)
      coord = getAffineConstantExpr(0, position.getContext());
  return true;
}

static Exprs collapse(ArrayRef<AffineExpr> coords, ArrayRef<int64_t> shape,
                      ArrayRef<ReassociationIndices> groups, MLIRContext *context) {
  Exprs result;
  for (const ReassociationIndices &group : groups) {
    AffineExpr position = linearize(coords.slice(group.front(), group.size()),
                                    shape.slice(group.front(), group.size()), context);
    if (!position)
      return {};
    result.push_back(position);
  }
  return result;
}

static Exprs expand(ArrayRef<AffineExpr> coords, ArrayRef<int64_t> shape,
                    ArrayRef<ReassociationIndices> groups) {
  Exprs result;
  for (auto [coord, group] : llvm::zip_equal(coords, groups)) {
    // Where only one size is not 1, that dim is the whole group, whatever its size.
    SmallVector<int64_t> sizes(shape.slice(group.front(), group.size()));
    if (llvm::count_if(sizes, [](int64_t size) { return size != 1; }) == 1) {
      for (int64_t size : sizes)
        result.push_back(size == 1 ? getAffineConstantExpr(0, coord.getContext()) : coord);
    } else if (!delinearize(coord, sizes, result)) {
      return {};
    }
  }
  return result;
}

bool Placement::placeBesideRoot() {
  for (Operation *op : kernel.tensorOps) {
    auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
    if (!linalgOp || linalgOp.getNumReductionLoops() == 0 || loops.contains(op) ||
        linalgOp.getIteratorTypesArray() != root.getIteratorTypesArray() ||
        linalgOp.getIndexingMapsArray() != root.getIndexingMapsArray() ||
        linalgOp.getStaticLoopRanges() != root.getStaticLoopRanges() ||
        llvm::is_contained(root.getStaticLoopRanges(), ShapedType::kDynamic))
      continue;
    placeOp(linalgOp, loops[root]);
    return true;
  }
  return false;
}

bool Placement::visit(tensor::ExpandShapeOp op) {
  ArrayRef<int64_t> shape = op.getResultType().getShape();
  SmallVector<ReassociationIndices> groups = op.getReassociationIndices();
  if (groups.empty())
    return false;
  if (const Exprs *source = find(op.getSrc()); source && !find(op.getResult()))
    if (Exprs coords = expand(*source, shape, groups); !coords.empty())
      return place(op.getResult(), coords);
  if (const Exprs *result = find(op.getResult()); result && !find(op.getSrc()))
    if (Exprs coords = collapse(*result, shape, groups, context); !coords.empty())
      return place(op.getSrc(), coords);
  return false;
}

bool Placement::visit(tensor::CollapseShapeOp op) {
  ArrayRef<int64_t> shape = op.getSrcType().getShape();
  SmallVector<ReassociationIndices> groups = op.getReassociationIndices();
  if (groups.empty())
    return false;
  if (const Exprs *source = find(op.getSrc()); source && !find(op.getResult()))
    if (Exprs coords = collapse(*source, shape, groups, context); !coords.empty())
      return place(op.getResult(), coords);
  if (const Exprs *result = find(op.getResult()); result && !find(op.getSrc()))
    if (Exprs coords = expand(*result, shape, groups); !coords.empty())
      return place(op.getSrc(), coords);
  return false;
}

bool Placement::dependsOnReduction(Value tensor) {
  if (auto known = dependent.find(tensor); known != dependent.end())
    return known->second;
  Operation *op = tensor.getDefiningOp();
  auto linalgOp = dyn_cast_or_null<linalg::LinalgOp>(op);
  bool result = linalgOp && linalgOp.getNumReductionLoops() > 0;
  if (op && !result)
    op->walk([&](Operation *nested) {
      for (Value operand : nested->getOperands())
        if (isa<RankedTensorType>(operand.getType()))
          result |= dependsOnReduction(operand);
    });
  return dependent[tensor] = result;
}

bool Placement::isConsistent(linalg::LinalgOp op) {
  auto agrees = [&](Value tensor, AffineMap map) {
    const Exprs *coords = find(tensor);
    return coords && llvm::all_of(llvm::zip_equal(*coords, map.getResults()), [&](auto pair) {
             auto [coord, expr] = pair;
             return coord == simplifyAffineExpr(expr.replaceDims(loops[op]), root.getNumLoops(), 0);
           });
  };
  bool gathers = false;
  op.getBlock()->walk(
      [&](tensor::ExtractOp extract) { gathers |= dependsOnReduction(extract.getTensor()); });
  if (gathers)
    return false;
  for (OpResult result : op->getResults())
    if (dependsOnReduction(result) && !agrees(result, op.getIndexingMapMatchingResult(result)))
      return false;
  return llvm::all_of(op->getOpOperands(), [&](OpOperand &operand) {
    return !isa<RankedTensorType>(operand.get().getType()) || !dependsOnReduction(operand.get()) ||
           agrees(operand.get(), op.getMatchingIndexingMap(&operand));
  });
}

LogicalResult Placement::run(std::string &reason) {
  for (bool changed = true; changed;) {
    changed = false;
    for (Operation *op : kernel.tensorOps) {
      if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
        changed |= visit(linalgOp);
      else if (auto expandOp = dyn_cast<tensor::ExpandShapeOp>(op))
        changed |= visit(expandOp);
      else if (auto collapseOp = dyn_cast<tensor::CollapseShapeOp>(op))
        changed |= visit(collapseOp);
    }
    changed = changed || placeBesideRoot();
  }
  for (Operation *op : kernel.tensorOps) {
    if (op->getNumResults() == 0 || !dependsOnReduction(op->getResult(0)))
      continue;
    auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
    bool isView = isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op) && find(op->getResult(0));
    if (!isView && (!linalgOp || !loops.contains(op) || !isConsistent(linalgOp))) {
      reason = ("'" + op->getName().getStringRef() +
                "' does not fit the iteration space of the reduction")
                   .str();
      return failure();
    }
  }
  return success();
}

bool ReductionGroup::writesRows() const {
  return llvm::any_of(results,
                      [](const Result &result) { return result.kind == Result::Kind::Whole; });
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

static LogicalResult addMember(linalg::LinalgOp op, const Exprs &loops, ReductionGroup &group,
                               std::string &reason) {
  FailureOr<Combiner> combiner = Combiner::match(op);
  if (failed(combiner)) {
    reason = "the body of a reduction is not known to be associative";
    return failure();
  }
  if (std::optional<int64_t> columns = plan::getRowPart(op))
    return addRowPart(*combiner, loops, *columns, group, reason);
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
  Placement placement(kernel, group.root);
  if (failed(placement.run(reason)))
    return failure();
  for (linalg::LinalgOp op : reductions)
    if (failed(addMember(op, placement.getLoops(op), group, reason)))
      return failure();
  for (const KernelOutput &output : kernel.outputs) {
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
  for (Operation *op : kernel.tensorOps)
    read.insert(op->operand_begin(), op->operand_end());
  for (Value tensor : read)
    if (const Exprs *coords = placement.find(tensor))
      add(tensor, *coords);
  return group;
}

} // namespace xc::cuda
