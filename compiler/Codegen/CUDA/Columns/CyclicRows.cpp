//===- CyclicRows.cpp - Rows that are reduced and summed up ---------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A sum over rows of what is computed from each row as a whole (a mean, a product with a vector, a
// gradient) needs no pass of its own. The ops on the way to it that work row by row are found, and
// those that follow them, by the loops that go over the rows. Where those are several loops, they
// become one in all these ops, since rows are counted: what others see keeps its shape.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Columns/CyclicRows.h"

#include "compiler/Codegen/CUDA/Common/ReductionSplit.h"
#include "compiler/Codegen/Common/Combiner.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace xc::cuda {

/// Ops that work on the rows of one sum.
static constexpr unsigned kMostOps = 32;

using Dims = SmallVector<unsigned>;

/// The dims of a tensor that is read or written by `map` along `loops`; nothing if it has some of
/// them and not others, none if it has none.
static std::optional<Dims> findDims(AffineMap map, ArrayRef<unsigned> loops) {
  Dims dims;
  for (unsigned loop : loops)
    for (auto [dim, expr] : llvm::enumerate(map.getResults()))
      if (expr == getAffineDimExpr(loop, map.getContext()))
        dims.push_back(dim);
  if (!dims.empty() && dims.size() != loops.size())
    return std::nullopt;
  return dims;
}

/// True if `dims` are neighbours in ascending order.
static bool isRun(ArrayRef<unsigned> dims) {
  return llvm::all_of(llvm::seq<size_t>(1, dims.size()),
                      [&](size_t i) { return dims[i] == dims[i - 1] + 1; });
}

namespace {

class RowOps {
public:
  RowOps(linalg::GenericOp root, const Target &target) : root(root), target(&target) {
    Dims reduced;
    root.getReductionDims(reduced);
    loops[root] = reduced;
  }

  /// Finds the ops that work on the rows which the root sums up. False if none of them reduces a
  /// row: then there is nothing to share but a load.
  bool collect();
  /// True if `sum` sums up the same rows of something that the ops found read or make.
  bool isSumOfSameRows(linalg::GenericOp sum) const;
  /// `sum` joins the ops found.
  void add(linalg::GenericOp sum) {
    Dims reduced;
    sum.getReductionDims(reduced);
    loops[sum] = reduced;
  }
  /// True if rows are counted by one loop, or their loops can become one.
  bool areCollapsible() const;
  /// Makes one loop of those over rows; `sums` become what replaces them.
  void collapse(SmallVectorImpl<linalg::GenericOp> &sums);

private:
  bool collectInputs(linalg::GenericOp op);
  bool collect(Value tensor, ArrayRef<unsigned> dims);
  linalg::GenericOp collapse(linalg::GenericOp op, ArrayRef<unsigned> opLoops);
  Value getCollapsed(OpBuilder &builder, Value tensor, ArrayRef<unsigned> dims);
  Value getCollapsedInit(OpBuilder &builder, Value tensor, ArrayRef<unsigned> dims);

  linalg::GenericOp root;
  const Target *target;
  llvm::MapVector<Operation *, Dims> loops; // op -> its loops over the rows, outermost first
  llvm::DenseMap<Value, Dims> rowDims;      // what is read of rows -> its dims that count them
  llvm::DenseMap<Value, Value> collapsed;
};

} // namespace

bool RowOps::collectInputs(linalg::GenericOp op) {
  for (OpOperand *input : op.getDpsInputOperands()) {
    std::optional<Dims> dims = findDims(op.getMatchingIndexingMap(input), loops[op]);
    if (!dims)
      return false;
    if (dims->empty())
      continue;
    if (!collect(input->get(), *dims))
      return false;
  }
  return true;
}

/// The ops that compute `tensor` row by row join, where its dims `dims` count the rows.
bool RowOps::collect(Value tensor, ArrayRef<unsigned> dims) {
  if (rowDims.try_emplace(tensor, dims).first->second != dims)
    return false;
  auto op = tensor.getDefiningOp<linalg::GenericOp>();
  if (!op || op->getBlock() != root->getBlock() || !hasPlainMaps(op) || multipliesMatrices(op))
    return true;
  if (chooseSplit(op))
    return false; // to be split along another loop
  AffineMap map = op.getIndexingMapMatchingResult(cast<OpResult>(tensor));
  Dims opLoops;
  for (unsigned dim : dims)
    opLoops.push_back(cast<AffineDimExpr>(map.getResult(dim)).getPosition());
  auto [known, isNew] = loops.insert({op, opLoops});
  if (!isNew)
    return known->second == opLoops;
  if (loops.size() > kMostOps || !collectInputs(op))
    return false;
  // Results that others read row by row.
  for (OpResult result : op->getResults()) {
    std::optional<Dims> written = findDims(op.getIndexingMapMatchingResult(result), opLoops);
    if (!written)
      return false;
    for (OpOperand &use : result.getUses()) {
      auto user = dyn_cast<linalg::GenericOp>(use.getOwner());
      if (written->empty() || !user || user == root || user.isDpsInit(&use) || !hasPlainMaps(user))
        continue;
      Dims read = llvm::map_to_vector(*written, [&](unsigned dim) {
        return cast<AffineDimExpr>(user.getMatchingIndexingMap(&use).getResult(dim)).getPosition();
      });
      std::optional<Dims> theirs =
          findDims(user.getIndexingMapMatchingResult(user->getResult(0)), read);
      if (theirs && !theirs->empty() && !collect(user.getResult(0), *theirs))
        return false;
    }
  }
  return true;
}

bool RowOps::collect() {
  if (!collectInputs(root))
    return false;
  bool reducesRows = false;
  for (auto &[op, opLoops] : loops) {
    auto generic = cast<linalg::GenericOp>(op);
    int64_t length = 1;
    for (auto [loop, range] : llvm::enumerate(generic.getStaticLoopRanges())) {
      if (llvm::is_contained(opLoops, loop))
        continue;
      if (ShapedType::isDynamic(range) || !countRowBlocks(length *= range, *target))
        return false;
    }
    reducesRows |= op != root && generic.getNumReductionLoops() > 0;
  }
  return reducesRows;
}

bool RowOps::isSumOfSameRows(linalg::GenericOp sum) const {
  Dims reduced;
  sum.getReductionDims(reduced);
  return llvm::any_of(sum.getDpsInputOperands(), [&](OpOperand *input) {
    auto known = rowDims.find(input->get());
    return known != rowDims.end() &&
           findDims(sum.getMatchingIndexingMap(input), reduced) == known->second;
  });
}

bool RowOps::areCollapsible() const {
  return llvm::all_of(loops, [&](const auto &entry) {
    if (entry.second.size() == 1)
      return true;
    auto op = cast<linalg::GenericOp>(entry.first);
    if (!isRun(entry.second) || op.hasIndexSemantics())
      return false;
    return llvm::all_of(op->getOpOperands(), [&](OpOperand &operand) {
      std::optional<Dims> dims = findDims(op.getMatchingIndexingMap(&operand), entry.second);
      return dims && isRun(*dims);
    });
  });
}

/// For each dim of a tensor of one dim for all of `dims` what it was before.
static SmallVector<ReassociationIndices> getReassociation(int64_t rank, ArrayRef<unsigned> dims) {
  SmallVector<ReassociationIndices> groups;
  for (int64_t dim = 0; dim < rank; ++dim)
    if (dim > dims.front() && dim <= dims.back())
      groups.back().push_back(dim);
    else
      groups.push_back({dim});
  return groups;
}

Value RowOps::getCollapsed(OpBuilder &builder, Value tensor, ArrayRef<unsigned> dims) {
  Value &known = collapsed[tensor];
  if (!known) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointAfterValue(tensor);
    int64_t rank = cast<RankedTensorType>(tensor.getType()).getRank();
    known = tensor::CollapseShapeOp::create(builder, tensor.getLoc(), tensor,
                                            getReassociation(rank, dims));
  }
  return known;
}

/// Initial values are made anew, since a reshaped one is no longer seen as such.
Value RowOps::getCollapsedInit(OpBuilder &builder, Value tensor, ArrayRef<unsigned> dims) {
  auto fill = tensor.getDefiningOp<linalg::FillOp>();
  if (!fill && !tensor.getDefiningOp<tensor::EmptyOp>())
    return getCollapsed(builder, tensor, dims);
  Location loc = tensor.getLoc();
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, loc, tensor), merged;
  for (const ReassociationIndices &group : getReassociation(sizes.size(), dims)) {
    AffineExpr product = builder.getAffineConstantExpr(1);
    for (unsigned i = 0; i < group.size(); ++i)
      product = product * builder.getAffineSymbolExpr(i);
    merged.push_back(affine::makeComposedFoldedAffineApply(
        builder, loc, AffineMap::get(0, group.size(), product),
        ArrayRef(sizes).slice(group.front(), group.size())));
  }
  Value empty =
      tensor::EmptyOp::create(builder, loc, merged, getElementTypeOrSelf(tensor.getType()));
  if (!fill)
    return empty;
  return linalg::FillOp::create(builder, loc, fill.getInputs().front(), empty).getResult(0);
}

linalg::GenericOp RowOps::collapse(linalg::GenericOp op, ArrayRef<unsigned> opLoops) {
  OpBuilder builder(op);
  MLIRContext *context = op.getContext();
  unsigned first = opLoops.front(), gone = opLoops.size() - 1;
  SmallVector<Value> inputs, inits;
  SmallVector<AffineMap> maps;
  for (OpOperand &operand : op->getOpOperands()) {
    AffineMap map = op.getMatchingIndexingMap(&operand);
    SmallVector<AffineExpr> exprs;
    for (AffineExpr expr : map.getResults()) {
      unsigned loop = cast<AffineDimExpr>(expr).getPosition();
      if (loop <= first || loop > opLoops.back())
        exprs.push_back(getAffineDimExpr(loop <= first ? loop : loop - gone, context));
    }
    maps.push_back(AffineMap::get(map.getNumDims() - gone, 0, exprs, context));
    Dims dims = *findDims(map, opLoops);
    bool isInit = op.isDpsInit(&operand);
    Value value = operand.get();
    if (!dims.empty())
      value = isInit ? getCollapsedInit(builder, value, dims) : getCollapsed(builder, value, dims);
    (isInit ? inits : inputs).push_back(value);
  }
  SmallVector<utils::IteratorType> iterators = op.getIteratorTypesArray();
  iterators.erase(iterators.begin() + first + 1, iterators.begin() + first + 1 + gone);
  auto result = linalg::GenericOp::create(builder, op.getLoc(), ValueRange(inits).getTypes(),
                                          inputs, inits, maps, iterators);
  result->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  IRMapping mapping;
  op.getRegion().cloneInto(&result.getRegion(), mapping);
  for (auto [before, after] : llvm::zip_equal(op->getResults(), result->getResults()))
    if (before.getType() != after.getType())
      collapsed[before] = after;
  return result;
}

void RowOps::collapse(SmallVectorImpl<linalg::GenericOp> &sums) {
  if (loops[root].size() == 1)
    return;
  SmallVector<linalg::GenericOp> before, after;
  for (auto op : root->getBlock()->getOps<linalg::GenericOp>())
    if (loops.contains(op))
      before.push_back(op);
  for (linalg::GenericOp op : before) {
    after.push_back(collapse(op, loops[op]));
    if (auto sum = llvm::find(sums, op); sum != sums.end())
      *sum = after.back();
  }
  // Whoever else reads the results sees them in their old shape.
  for (auto [op, replacement] : llvm::reverse(llvm::zip_equal(before, after))) {
    OpBuilder builder(op);
    for (auto [result, value] : llvm::zip_equal(op->getResults(), replacement->getResults())) {
      if (result.use_empty())
        continue;
      Value seen = value;
      if (result.getType() != value.getType()) {
        Dims dims = *findDims(op.getIndexingMapMatchingResult(result), loops[op]);
        Value init = op.getDpsInitOperand(result.getResultNumber())->get();
        seen = tensor::ExpandShapeOp::create(
            builder, op.getLoc(), result.getType(), value,
            getReassociation(cast<RankedTensorType>(result.getType()).getRank(), dims),
            tensor::getMixedSizes(builder, op.getLoc(), init));
      }
      result.replaceAllUsesWith(seen);
    }
    op->erase();
  }
}

/// Parts are no runs of rows, so the order of rows must not matter.
static bool isSum(linalg::GenericOp op) {
  FailureOr<codegen::Combiner> combiner = codegen::Combiner::match(op);
  return succeeded(combiner) && !combiner->startsFromInit() && !combiner->getPosition();
}

std::optional<CyclicRows> takeCyclicRows(Block &block, const Target &target,
                                         function_ref<bool(linalg::GenericOp)> isCandidate) {
  SmallVector<linalg::GenericOp> candidates;
  for (auto op : block.getOps<linalg::GenericOp>())
    if (isCandidate(op) && chooseCyclicParts(op, target) && isSum(op))
      candidates.push_back(op);
  for (linalg::GenericOp root : candidates) {
    RowOps ops(root, target);
    if (!ops.collect() || !ops.areCollapsible())
      continue;
    CyclicRows rows{{root}, *chooseCyclicParts(root, target)};
    for (linalg::GenericOp sum : candidates)
      if (sum != root && ops.isSumOfSameRows(sum)) {
        RowOps more = ops;
        more.add(sum);
        if (!more.areCollapsible())
          continue;
        ops = std::move(more);
        rows.sums.push_back(sum);
      }
    ops.collapse(rows.sums);
    return rows;
  }
  return std::nullopt;
}

} // namespace xc::cuda
