//===- SplitReductions.cpp - Reduce in two steps where one is too narrow --===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Before kernels are formed:
//   -xc-cuda-reduce-products    products of a matrix and a vector are reductions
//   -xc-cuda-split-reductions   reductions with too few results for the GPU get two steps
//
// Splitting the loop of a column reduction splits the same loop of every op on the way to it that
// works row by row, and of what follows those: then one kernel can walk over the rows of one part,
// compute what each row needs of itself (a mean, a product with a vector, a gradient), and sum up
// on the way.
//
// Where no number of parts divides a loop, or its length is symbolic, the parts are what a fixed
// number of equal ones covers, and the iterations that are left over make one more reduction, of
// which one block takes care. A last step brings both together, in the order of the elements. So a
// symbolic length that is short is left to that one block, and the parts are empty.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Analysis/Contraction.h"
#include "compiler/Codegen/CUDA/Analysis/ReductionGroup.h"
#include "compiler/Codegen/CUDA/Passes.h"
#include "compiler/Codegen/CUDA/RecomputeInputs.h"
#include "compiler/Codegen/CUDA/ReductionSplit.h"
#include "compiler/Codegen/CUDA/SplitProducts.h"
#include "compiler/Dialect/Kernel/IR/KernelOps.h"
#include "compiler/Dialect/Plan/IR/Reductions.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace xc::cuda {

#define GEN_PASS_DEF_REDUCEPRODUCTS
#define GEN_PASS_DEF_SPLITREDUCTIONS
#include "compiler/Codegen/CUDA/Passes.h.inc"

/// Rows longer than this are not walked over with sums on the way (SelectStrategy.cpp).
static constexpr int64_t kLongestRow = 8192;
/// Ops that one split may carry along.
static constexpr unsigned kMostOps = 32;

static plan::TargetAttr getTarget(func::FuncOp function) {
  auto module = function->getParentOfType<ModuleOp>();
  return module ? module->getAttrOfType<plan::TargetAttr>(plan::kTargetAttr) : plan::TargetAttr();
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

namespace {

struct ReduceProducts final : impl::ReduceProductsBase<ReduceProducts> {
  void runOnOperation() override {
    plan::TargetAttr target = getTarget(getOperation());
    if (!target || !target.isCUDA())
      return;
    IRRewriter rewriter(&getContext());
    for (auto op : llvm::make_early_inc_range(getOperation().getOps<linalg::ContractOp>()))
      if (isMatrixTimesVector(op)) {
        rewriter.setInsertionPoint(op);
        (void)linalg::generalizeNamedOp(rewriter, op);
      }
  }

  /// One operand has no dim of its own that is longer than 1: memory sets the time, and no matrix
  /// unit would help.
  static bool isMatrixTimesVector(linalg::ContractOp op) {
    FailureOr<linalg::ContractionDimensions> dims = linalg::inferContractionDims(op);
    if (failed(dims))
      return false;
    SmallVector<int64_t> ranges = op.getStaticLoopRanges();
    auto isUnit = [&](ArrayRef<unsigned> own) {
      return llvm::all_of(own, [&](unsigned dim) { return ranges[dim] == 1; });
    };
    return isUnit(dims->m) || isUnit(dims->n);
  }
};

//===----------------------------------------------------------------------===//
// Splitting loops
//===----------------------------------------------------------------------===//

} // namespace

static bool hasStaticLoops(linalg::GenericOp op) {
  return llvm::none_of(op.getStaticLoopRanges(), ShapedType::isDynamic);
}

namespace {

class Splitter {
public:
  Splitter(const Split &split, const Combiner &combiner)
      : split(split), combiner(combiner), size(this->split.root.getStaticLoopRanges()[split.loop]) {
    if (!ShapedType::isDynamic(size))
      partSize = size / (split.parts * split.multiple) * split.multiple;
  }

  /// True if ops that work on the rows which the root sums up are split as well.
  bool carriesRowOps() {
    return split.isColumn && !split.hasRest && hasStaticLoops(split.root) && collectRowOps();
  }
  void run();

private:
  bool collectRowOps();
  bool collect(Value tensor, unsigned dim);
  RankedTensorType getExpandedType(Value tensor, unsigned dim);
  Value getExpanded(OpBuilder &builder, Value tensor, unsigned dim);
  Value getExpandedInit(OpBuilder &builder, Value tensor, unsigned dim);
  AffineMap splitDim(AffineMap map, unsigned loop);
  void splitOp(linalg::GenericOp op, unsigned loop);
  void splitRoot();
  OpFoldResult getSize(OpBuilder &builder, unsigned loop);
  OpFoldResult getScaledSize(OpBuilder &builder, int64_t factor);
  Value getSlice(OpBuilder &builder, Value tensor, unsigned dim, bool isRest);
  linalg::GenericOp reduceRest(OpBuilder &builder);
  Value makeEmpty(OpBuilder &builder, RankedTensorType whole, std::optional<int64_t> parts);
  SmallVector<Value> makeStarts(OpBuilder &builder, std::optional<int64_t> parts);
  SmallVector<Value> expandInputs(OpBuilder &builder, linalg::GenericOp op, unsigned loop);
  void fillBody(linalg::GenericOp from, linalg::GenericOp to, unsigned loop);
  linalg::GenericOp makeLastStep(OpBuilder &builder, ValueRange partial);
  linalg::GenericOp joinRest(OpBuilder &builder, ValueRange parts, ValueRange rest);

  Split split;
  const Combiner &combiner;
  int64_t size, partSize = ShapedType::kDynamic; // of the loop that is split, and of a part
  llvm::MapVector<Operation *, unsigned> loops;  // op -> its loop that goes over the rows
  llvm::DenseMap<std::pair<Value, unsigned>, Value> expanded;
};

} // namespace

/// The dim of a tensor that is read or written by `map` along `loop`; nothing if there is none.
static std::optional<unsigned> findDim(AffineMap map, unsigned loop) {
  for (auto [dim, expr] : llvm::enumerate(map.getResults()))
    if (auto read = dyn_cast<AffineDimExpr>(expr); read && read.getPosition() == loop)
      return dim;
  return std::nullopt;
}

static bool canSplit(linalg::GenericOp op) { return hasPlainMaps(op) && hasStaticLoops(op); }

static bool isParallel(linalg::GenericOp op, unsigned loop) {
  return op.getIteratorTypesArray()[loop] == utils::IteratorType::parallel;
}

/// The ops that compute `tensor` row by row join, where its dim `dim` counts the rows.
bool Splitter::collect(Value tensor, unsigned dim) {
  auto op = tensor.getDefiningOp<linalg::GenericOp>();
  if (!op || op->getBlock() != split.root->getBlock() || !canSplit(op))
    return true;
  if (chooseSplit(op))
    return false; // to be split along another loop
  AffineMap map = op.getIndexingMapMatchingResult(cast<OpResult>(tensor));
  unsigned loop = cast<AffineDimExpr>(map.getResult(dim)).getPosition();
  auto [known, isNew] = loops.insert({op, loop});
  if (!isNew)
    return known->second == loop;
  if (loops.size() > kMostOps)
    return false;
  for (OpOperand *input : op.getDpsInputOperands())
    if (std::optional<unsigned> read = findDim(op.getMatchingIndexingMap(input), loop))
      if (!collect(input->get(), *read))
        return false;
  // Results that others read row by row.
  for (OpResult result : op->getResults()) {
    std::optional<unsigned> written = findDim(op.getIndexingMapMatchingResult(result), loop);
    for (OpOperand &use : result.getUses()) {
      auto user = dyn_cast<linalg::GenericOp>(use.getOwner());
      if (!written || !user || user == split.root || user.isDpsInit(&use) || !canSplit(user))
        continue;
      auto read = dyn_cast<AffineDimExpr>(user.getMatchingIndexingMap(&use).getResult(*written));
      if (!read || !isParallel(user, read.getPosition()))
        continue;
      AffineMap map = user.getIndexingMapMatchingResult(user->getResult(0));
      std::optional<unsigned> theirs = findDim(map, read.getPosition());
      if (theirs && !collect(user.getResult(0), *theirs))
        return false;
    }
  }
  return true;
}

/// Finds the ops that work on the rows which the root sums up. False if none of them reduces a row:
/// then there is nothing to share but a load.
bool Splitter::collectRowOps() {
  for (OpOperand *input : split.root.getDpsInputOperands())
    if (std::optional<unsigned> read =
            findDim(split.root.getMatchingIndexingMap(input), split.loop))
      if (!collect(input->get(), *read))
        return false;
  bool reducesRows = false;
  for (auto [op, loop] : loops) {
    int64_t count = 1;
    for (int64_t range : cast<linalg::GenericOp>(op).getStaticLoopRanges())
      count *= range;
    if (count / size > kLongestRow)
      return false;
    reducesRows |= cast<linalg::GenericOp>(op).getNumReductionLoops() > 0;
  }
  return reducesRows;
}

/// For each dim of a tensor the dims that it becomes when dim `split` becomes two.
static SmallVector<ReassociationIndices> getReassociation(Value tensor, unsigned split) {
  SmallVector<ReassociationIndices> groups;
  unsigned rank = cast<RankedTensorType>(tensor.getType()).getRank();
  for (unsigned dim = 0, next = 0; dim < rank; ++dim) {
    groups.push_back({next++});
    if (dim == split)
      groups.back().push_back(next++);
  }
  return groups;
}

RankedTensorType Splitter::getExpandedType(Value tensor, unsigned dim) {
  auto type = cast<RankedTensorType>(tensor.getType());
  SmallVector<int64_t> shape(type.getShape());
  shape[dim] = partSize;
  shape.insert(shape.begin() + dim, split.parts);
  return RankedTensorType::get(shape, type.getElementType());
}

Value Splitter::getExpanded(OpBuilder &builder, Value tensor, unsigned dim) {
  Value &known = expanded[{tensor, dim}];
  if (known)
    return known;
  Location loc = tensor.getLoc();
  RankedTensorType type = getExpandedType(tensor, dim);
  if (split.hasRest) {
    Value covered = getSlice(builder, tensor, dim, /*isRest=*/false);
    SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, loc, tensor);
    sizes[dim] = getScaledSize(builder, split.multiple);
    sizes.insert(sizes.begin() + dim, builder.getIndexAttr(split.parts));
    return known = tensor::ExpandShapeOp::create(builder, loc, type, covered,
                                                 getReassociation(tensor, dim), sizes);
  }
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointAfterValue(tensor);
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, loc, tensor);
  sizes[dim] = builder.getIndexAttr(partSize);
  sizes.insert(sizes.begin() + dim, builder.getIndexAttr(split.parts));
  return known = tensor::ExpandShapeOp::create(builder, loc, type, tensor,
                                               getReassociation(tensor, dim), sizes);
}

/// The number of iterations of a loop of the root.
OpFoldResult Splitter::getSize(OpBuilder &builder, unsigned loop) {
  for (OpOperand &operand : split.root->getOpOperands())
    if (std::optional<unsigned> dim = findDim(split.root.getMatchingIndexingMap(&operand), loop))
      return tensor::getMixedSize(builder, split.root.getLoc(), operand.get(), *dim);
  llvm_unreachable("a loop that no operand is indexed by has no size");
}

/// A part has size / (parts * multiple) times `multiple` iterations; the same for other factors.
OpFoldResult Splitter::getScaledSize(OpBuilder &builder, int64_t factor) {
  AffineExpr count = builder.getAffineSymbolExpr(0).floorDiv(split.parts * split.multiple);
  return affine::makeComposedFoldedAffineApply(builder, split.root.getLoc(),
                                               AffineMap::get(0, 1, count * factor),
                                               {getSize(builder, split.loop)});
}

/// What the parts cover of `tensor`, whose dim `dim` is read along the loop, or what is left.
Value Splitter::getSlice(OpBuilder &builder, Value tensor, unsigned dim, bool isRest) {
  Location loc = tensor.getLoc();
  OpFoldResult covered = getScaledSize(builder, split.parts * split.multiple);
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, loc, tensor);
  SmallVector<OpFoldResult> offsets(sizes.size(), builder.getIndexAttr(0)),
      strides(sizes.size(), builder.getIndexAttr(1));
  sizes[dim] = covered;
  if (isRest) {
    offsets[dim] = covered;
    AffineExpr rest = builder.getAffineSymbolExpr(0) % (split.parts * split.multiple);
    sizes[dim] = affine::makeComposedFoldedAffineApply(builder, loc, AffineMap::get(0, 1, rest),
                                                       {getSize(builder, split.loop)});
  }
  return tensor::ExtractSliceOp::create(builder, loc, tensor, offsets, sizes, strides);
}

/// Initial values are made anew, since a reshaped one is no longer seen as such.
Value Splitter::getExpandedInit(OpBuilder &builder, Value tensor, unsigned dim) {
  auto fill = tensor.getDefiningOp<linalg::FillOp>();
  if (!fill && !tensor.getDefiningOp<tensor::EmptyOp>())
    return getExpanded(builder, tensor, dim);
  RankedTensorType type = getExpandedType(tensor, dim);
  Value empty =
      tensor::EmptyOp::create(builder, tensor.getLoc(), type.getShape(), type.getElementType());
  if (!fill)
    return empty;
  return linalg::FillOp::create(builder, tensor.getLoc(), fill.getInputs().front(), empty)
      .getResult(0);
}

/// `map` over the loops after `loop` was split in two.
AffineMap Splitter::splitDim(AffineMap map, unsigned loop) {
  SmallVector<AffineExpr> results;
  for (AffineExpr expr : map.getResults()) {
    unsigned dim = cast<AffineDimExpr>(expr).getPosition();
    results.push_back(getAffineDimExpr(dim > loop ? dim + 1 : dim, map.getContext()));
    if (dim == loop)
      results.push_back(getAffineDimExpr(dim + 1, map.getContext()));
  }
  return AffineMap::get(map.getNumDims() + 1, 0, results, map.getContext());
}

SmallVector<Value> Splitter::expandInputs(OpBuilder &builder, linalg::GenericOp op, unsigned loop) {
  SmallVector<Value> inputs;
  for (OpOperand *input : op.getDpsInputOperands()) {
    std::optional<unsigned> dim = findDim(op.getMatchingIndexingMap(input), loop);
    inputs.push_back(dim ? getExpanded(builder, input->get(), *dim) : input->get());
  }
  return inputs;
}

void Splitter::fillBody(linalg::GenericOp from, linalg::GenericOp to, unsigned loop) {
  IRMapping mapping;
  OpBuilder outside(to);
  Value rows;
  from.getRegion().cloneInto(&to.getRegion(), mapping);
  for (auto op : llvm::make_early_inc_range(to.getRegion().getOps<linalg::IndexOp>())) {
    if (op.getDim() < loop)
      continue;
    OpBuilder builder(op);
    if (op.getDim() > loop) {
      op.setDim(op.getDim() + 1);
      continue;
    }
    Value part = linalg::IndexOp::create(builder, op.getLoc(), loop);
    Value inPart = linalg::IndexOp::create(builder, op.getLoc(), loop + 1);
    if (!rows)
      rows = getValueOrCreateConstantIndexOp(outside, op.getLoc(),
                                             getScaledSize(outside, split.multiple));
    Value first = arith::MulIOp::create(builder, op.getLoc(), part, rows);
    op.replaceAllUsesWith(arith::AddIOp::create(builder, op.getLoc(), first, inPart).getResult());
    op.erase();
  }
}

void Splitter::splitOp(linalg::GenericOp op, unsigned loop) {
  OpBuilder builder(op);
  SmallVector<Value> inputs = expandInputs(builder, op, loop), inits;
  SmallVector<AffineMap> maps;
  for (AffineMap map : op.getIndexingMapsArray())
    maps.push_back(splitDim(map, loop));
  SmallVector<utils::IteratorType> iterators = op.getIteratorTypesArray();
  iterators.insert(iterators.begin() + loop, utils::IteratorType::parallel);
  for (OpOperand &init : op.getDpsInitsMutable()) {
    std::optional<unsigned> dim = findDim(op.getMatchingIndexingMap(&init), loop);
    inits.push_back(getExpandedInit(builder, init.get(), *dim));
  }
  auto result = linalg::GenericOp::create(builder, op.getLoc(), ValueRange(inits).getTypes(),
                                          inputs, inits, maps, iterators);
  fillBody(op, result, loop);
  for (auto [before, after] : llvm::zip_equal(op->getResults(), result->getResults()))
    expanded[{before, *findDim(op.getIndexingMapMatchingResult(before), loop)}] = after;
}

/// Combines the results of the parts, in their order.
linalg::GenericOp Splitter::makeLastStep(OpBuilder &builder, ValueRange partial) {
  linalg::GenericOp root = split.root;
  MLIRContext *context = builder.getContext();
  unsigned rank = cast<RankedTensorType>(root.getResult(0).getType()).getRank();
  SmallVector<AffineExpr> kept, all;
  for (unsigned dim = 0; dim < rank; ++dim)
    kept.push_back(getAffineDimExpr(dim, context));
  all = kept;
  // Parts of columns come before the columns, parts of rows behind the rows.
  all.insert(split.isColumn ? all.begin() : all.end(), getAffineDimExpr(rank, context));
  SmallVector<AffineMap> maps(partial.size(), AffineMap::get(rank + 1, 0, all, context));
  maps.append(partial.size(), AffineMap::get(rank + 1, 0, kept, context));
  SmallVector<utils::IteratorType> iterators(rank, utils::IteratorType::parallel);
  iterators.push_back(utils::IteratorType::reduction);
  auto last = linalg::GenericOp::create(
      builder, root.getLoc(), root.getResultTypes(), partial, root.getOutputs(), maps, iterators,
      [&](OpBuilder &body, Location loc, ValueRange arguments) {
        SmallVector<Value> parts(arguments.take_front(partial.size()));
        if (combiner.isGiven())
          for (auto [number, part] : llvm::enumerate(parts))
            part = kernel::ElementOp::create(body, loc, number, part);
        linalg::YieldOp::create(
            body, loc,
            combiner.combineInOrder(body, loc, arguments.drop_front(partial.size()), parts));
      });
  if (std::optional<unsigned> position = combiner.getPosition())
    last->setAttr(plan::kPositionAttr, builder.getI64IntegerAttr(*position));
  if (split.root->hasAttr(plan::kBreaksTiesAttr))
    last->setAttr(plan::kBreaksTiesAttr, builder.getUnitAttr());
  return last;
}

/// Combines what the parts and what the rest of the loop gave, element by element.
linalg::GenericOp Splitter::joinRest(OpBuilder &builder, ValueRange parts, ValueRange rest) {
  Location loc = split.root.getLoc();
  SmallVector<Value> inputs(parts), empties;
  llvm::append_range(inputs, rest);
  for (Value part : parts) {
    auto type = cast<RankedTensorType>(part.getType());
    empties.push_back(makeEmpty(builder, type, std::nullopt));
  }
  unsigned rank = cast<RankedTensorType>(parts.front().getType()).getRank();
  SmallVector<AffineMap> maps(3 * parts.size(), builder.getMultiDimIdentityMap(rank));
  SmallVector<utils::IteratorType> iterators(rank, utils::IteratorType::parallel);
  return linalg::GenericOp::create(
      builder, loc, parts.getTypes(), inputs, empties, maps, iterators,
      [&](OpBuilder &body, Location bodyLoc, ValueRange arguments) {
        linalg::YieldOp::create(
            body, bodyLoc,
            combiner.combineInOrder(body, bodyLoc, arguments.take_front(parts.size()),
                                    arguments.slice(parts.size(), rest.size())));
      });
}

/// What a part starts from: the neutral element, or the init's own value where there is none.
static TypedAttr getStart(const Combiner &combiner, unsigned result) {
  if (!combiner.startsFromInit())
    return combiner.getNeutral(result);
  auto op = cast<linalg::GenericOp>(combiner.getOp());
  auto fill = op.getDpsInitOperand(result)->get().getDefiningOp<linalg::FillOp>();
  TypedAttr value;
  if (fill)
    (void)matchPattern(fill.getInputs().front(), m_Constant(&value));
  return value;
}

/// An uninitialised tensor like the root's results, of each part or of one.
Value Splitter::makeEmpty(OpBuilder &builder, RankedTensorType whole,
                          std::optional<int64_t> parts) {
  AffineMap map = split.root.getIndexingMapMatchingResult(split.root->getResult(0));
  SmallVector<int64_t> shape(whole.getShape());
  SmallVector<Value> dynamicSizes;
  for (auto [size, expr] : llvm::zip_equal(shape, map.getResults()))
    if (ShapedType::isDynamic(size))
      dynamicSizes.push_back(getValueOrCreateConstantIndexOp(
          builder, split.root.getLoc(), getSize(builder, cast<AffineDimExpr>(expr).getPosition())));
  if (parts)
    shape.insert(split.isColumn ? shape.begin() : shape.end(), *parts);
  return tensor::EmptyOp::create(builder, split.root.getLoc(), shape, whole.getElementType(),
                                 dynamicSizes);
}

/// Tensors of what a reduction starts from: of each part, or of one.
SmallVector<Value> Splitter::makeStarts(OpBuilder &builder, std::optional<int64_t> parts) {
  Location loc = split.root.getLoc();
  SmallVector<Value> starts;
  for (auto [index, type] : llvm::enumerate(split.root.getResultTypes())) {
    Value empty = makeEmpty(builder, cast<RankedTensorType>(type), parts);
    Value start = arith::ConstantOp::create(builder, loc, getStart(combiner, index));
    starts.push_back(linalg::FillOp::create(builder, loc, start, empty).getResult(0));
  }
  return starts;
}

/// Reduces the iterations that the parts do not cover.
linalg::GenericOp Splitter::reduceRest(OpBuilder &builder) {
  linalg::GenericOp root = split.root;
  SmallVector<Value> inputs;
  for (OpOperand *input : root.getDpsInputOperands()) {
    std::optional<unsigned> dim = findDim(root.getMatchingIndexingMap(input), split.loop);
    inputs.push_back(dim ? getSlice(builder, input->get(), *dim, /*isRest=*/true) : input->get());
  }
  SmallVector<Value> starts = makeStarts(builder, std::nullopt);
  auto rest =
      linalg::GenericOp::create(builder, root.getLoc(), root.getResultTypes(), inputs, starts,
                                root.getIndexingMapsArray(), root.getIteratorTypesArray());
  IRMapping mapping;
  root.getRegion().cloneInto(&rest.getRegion(), mapping);
  OpBuilder outside(rest);
  for (auto op : llvm::make_early_inc_range(rest.getRegion().getOps<linalg::IndexOp>())) {
    if (op.getDim() != split.loop)
      continue;
    OpBuilder inside(op->getContext());
    inside.setInsertionPointAfter(op);
    Value first = getValueOrCreateConstantIndexOp(
        outside, op.getLoc(), getScaledSize(outside, split.parts * split.multiple));
    auto place = arith::AddIOp::create(inside, op.getLoc(), op.getResult(), first);
    op.getResult().replaceAllUsesExcept(place, place);
  }
  // It is none of the last step's ops, whose loops are others; it may go with other such rests.
  rest->setAttr(plan::kPartialAttr, builder.getUnitAttr());
  return rest;
}

void Splitter::splitRoot() {
  linalg::GenericOp root = split.root;
  unsigned loop = split.loop;
  OpBuilder builder(root);
  Location loc = root.getLoc();
  SmallVector<Value> inputs = expandInputs(builder, root, loop),
                     inits = makeStarts(builder, split.parts);
  AffineExpr part = builder.getAffineDimExpr(loop);
  SmallVector<AffineMap> maps;
  for (OpOperand &operand : root->getOpOperands()) {
    AffineMap map = splitDim(root.getMatchingIndexingMap(&operand), loop);
    maps.push_back(!root.isDpsInit(&operand)
                       ? map
                       : map.insertResult(part, split.isColumn ? 0 : map.getNumResults()));
  }
  SmallVector<utils::IteratorType> iterators = root.getIteratorTypesArray();
  iterators.insert(iterators.begin() + loop, utils::IteratorType::parallel);
  auto partial = linalg::GenericOp::create(builder, loc, ValueRange(inits).getTypes(), inputs,
                                           inits, maps, iterators);
  fillBody(root, partial, loop);
  if (split.isColumn)
    partial->setAttr(plan::kPartialAttr, builder.getUnitAttr());
  linalg::GenericOp rest = split.hasRest ? reduceRest(builder) : nullptr;
  linalg::GenericOp last = makeLastStep(builder, partial.getResults());
  if (rest)
    last = joinRest(builder, last.getResults(), rest.getResults());
  root->replaceAllUsesWith(last);
  root->erase();
}

void Splitter::run() {
  loops.clear();
  if (!carriesRowOps())
    loops.clear();
  SmallVector<linalg::GenericOp> rowOps;
  for (auto op : split.root->getBlock()->getOps<linalg::GenericOp>())
    if (loops.contains(op))
      rowOps.push_back(op);
  for (linalg::GenericOp op : rowOps)
    splitOp(op, loops[op]);
  splitRoot();
  // Whoever else reads what was split sees it in its old shape.
  for (linalg::GenericOp op : llvm::reverse(rowOps)) {
    OpBuilder builder(op);
    for (OpResult result : op->getResults()) {
      unsigned dim = *findDim(op.getIndexingMapMatchingResult(result), loops[op]);
      Value after = expanded[{result, dim}];
      result.replaceAllUsesWith(tensor::CollapseShapeOp::create(
          builder, op.getLoc(), result.getType(), after, getReassociation(result, dim)));
    }
    op->erase();
  }
}

/// How `reductions` are split: in the same parts where one of several over the same rows walks.
static SmallVector<Split> chooseSplits(ArrayRef<linalg::GenericOp> reductions) {
  auto getRanges = [](linalg::GenericOp op) {
    SmallVector<int64_t> ranges = op.getStaticLoopRanges();
    llvm::sort(ranges);
    return ranges;
  };
  SmallVector<SmallVector<int64_t>> walked;
  for (linalg::GenericOp op : reductions) {
    std::optional<Split> split = chooseSplit(op, /*walks=*/true);
    FailureOr<Combiner> combiner = Combiner::match(op);
    if (split && succeeded(combiner) && Splitter(*split, *combiner).carriesRowOps())
      walked.push_back(getRanges(op));
  }
  SmallVector<Split> splits;
  for (linalg::GenericOp op : reductions)
    if (std::optional<Split> split = chooseSplit(op, llvm::is_contained(walked, getRanges(op))))
      splits.push_back(*split);
  return splits;
}

namespace {

struct SplitReductions final : impl::SplitReductionsBase<SplitReductions> {
  void runOnOperation() override {
    plan::TargetAttr target = getTarget(getOperation());
    if (!target || !target.isCUDA())
      return;
    const Target *arch = findTarget(target.getArch());
    if (arch) {
      for (auto op : llvm::make_early_inc_range(getOperation().getOps<linalg::ContractOp>()))
        splitProduct(op, *arch);
      for (auto op : llvm::make_early_inc_range(getOperation().getOps<linalg::GenericOp>()))
        splitWindowProduct(op, *arch);
    }
    SmallVector<linalg::GenericOp> reductions;
    for (auto op : llvm::make_early_inc_range(getOperation().getOps<linalg::GenericOp>()))
      if (op.getNumReductionLoops() > 0)
        reductions.push_back(collapseReducedLoops(op));
    // All are chosen before the first one is split: that replaces ops which it carries along,
    // reductions of rows among them, and sums over the same rows are to have the same parts.
    if (arch)
      llvm::erase_if(reductions,
                     [&](linalg::GenericOp op) { return isStreamedProduct(op, *arch); });
    SmallVector<Split> splits = chooseSplits(reductions);
    for (linalg::GenericOp op : reductions)
      if (isWideColumnReduction(op) &&
          llvm::none_of(splits, [&](const Split &split) { return split.root == op; }))
        recomputeInputs(op);
    for (Split split : splits) {
      FailureOr<Combiner> combiner = Combiner::match(split.root);
      if (succeeded(combiner) && !Splitter(split, *combiner).carriesRowOps()) {
        split.root = recomputeInputs(split.root);
        combiner = Combiner::match(split.root);
      }
      bool hasStarts = succeeded(combiner);
      for (unsigned i = 0; hasStarts && i < combiner->getNumResults(); ++i)
        hasStarts = static_cast<bool>(getStart(*combiner, i));
      if (hasStarts)
        Splitter(split, *combiner).run();
    }
  }
};

} // namespace

} // namespace xc::cuda
