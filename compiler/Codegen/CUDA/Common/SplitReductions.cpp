//===- SplitReductions.cpp - Reduce in two steps where one is too narrow --===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Before kernels are formed, reductions with too few results for the GPU get two steps.
//
// Where other ops reduce each row of what a column reduction sums up, the partial sums interleave
// rows, and there are as many as there may be: one kernel loops over the rows of a part, computes
// what each row needs of itself (a mean, a product with a vector, a gradient), and sums up on the
// way (CyclicRows.cpp).
//
// So do parts of columns of symbolic length, where the order of elements does not matter.
// Otherwise, where no number of parts divides a loop, or its length is symbolic, the parts are what
// a fixed number of equal ones covers, and the iterations that are left over make one more
// reduction, of which one block takes care. A last step brings both together, in the order of the
// elements. So a symbolic length that is short is left to that one block, and the parts are empty.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Columns/CyclicRows.h"
#include "compiler/Codegen/CUDA/Common/RecomputeInputs.h"
#include "compiler/Codegen/CUDA/Common/ReductionGroup.h"
#include "compiler/Codegen/CUDA/Common/ReductionSplit.h"
#include "compiler/Codegen/CUDA/Common/SplitDependentReductions.h"
#include "compiler/Codegen/CUDA/IR/CUDAConfig.h"
#include "compiler/Codegen/CUDA/Matmul/Contraction.h"
#include "compiler/Codegen/CUDA/Matmul/ReduceColumnsInParts.h"
#include "compiler/Codegen/CUDA/Matmul/SplitProducts.h"
#include "compiler/Codegen/CUDA/Passes.h"
#include "compiler/Codegen/CUDA/Window/WindowGradient.h"
#include "compiler/Dialect/Array/IR/Sizes.h"
#include "compiler/Dialect/Kernel/IR/KernelOps.h"
#include "compiler/Dialect/Plan/IR/Reductions.h"

#include "compiler/Codegen/CUDA/Common/CombineResults.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace xc::cuda {

#define GEN_PASS_DEF_SPLITREDUCTIONS
#include "compiler/Codegen/CUDA/Passes.h.inc"

//===----------------------------------------------------------------------===//
// Splitting loops
//===----------------------------------------------------------------------===//

namespace {

class Splitter {
public:
  Splitter(const Split &split, const Combiner &combiner)
      : split(split), combiner(combiner), size(this->split.root.getStaticLoopRanges()[split.loop]) {
    if (!ShapedType::isDynamic(size))
      partSize = size / (split.parts * split.multiple) * split.multiple;
  }

  /// Returns the last step.
  linalg::GenericOp run();

private:
  RankedTensorType getExpandedType(Value tensor, unsigned dim);
  Value getExpanded(OpBuilder &builder, Value tensor, unsigned dim);
  AffineMap splitDim(AffineMap map, unsigned loop);
  linalg::GenericOp makeParts(OpBuilder &builder);
  linalg::GenericOp makeCyclicParts(OpBuilder &builder);
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
};

} // namespace

/// The dim of a tensor that is read or written by `map` along `loop`; nothing if there is none.
static std::optional<unsigned> findDim(AffineMap map, unsigned loop) {
  for (auto [dim, expr] : llvm::enumerate(map.getResults()))
    if (auto read = dyn_cast<AffineDimExpr>(expr); read && read.getPosition() == loop)
      return dim;
  return std::nullopt;
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
  Location loc = tensor.getLoc();
  RankedTensorType type = getExpandedType(tensor, dim);
  if (split.hasRest) {
    Value covered = getSlice(builder, tensor, dim, /*isRest=*/false);
    SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, loc, tensor);
    sizes[dim] = getScaledSize(builder, split.multiple);
    sizes.insert(sizes.begin() + dim, builder.getIndexAttr(split.parts));
    return tensor::ExpandShapeOp::create(builder, loc, type, covered, getReassociation(tensor, dim),
                                         sizes);
  }
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointAfterValue(tensor);
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, loc, tensor);
  sizes[dim] = builder.getIndexAttr(partSize);
  sizes.insert(sizes.begin() + dim, builder.getIndexAttr(split.parts));
  return tensor::ExpandShapeOp::create(builder, loc, type, tensor, getReassociation(tensor, dim),
                                       sizes);
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

/// True if iterations of a loop of symbolic length had better go to parts in turn, which leaves
/// none over: their order does not matter, and each reads lines of memory of its own.
static bool isBetterInTurn(const Split &split, const Combiner &combiner) {
  constexpr int64_t lineBytes = 128;
  linalg::GenericOp root = split.root;
  SmallVector<int64_t> ranges = root.getStaticLoopRanges();
  if (!split.isColumn || !split.hasRest || root.getNumReductionLoops() != 1 ||
      !ShapedType::isDynamic(ranges[split.loop]) || root.hasIndexSemantics() ||
      combiner.isGiven() || combiner.getPosition())
    return false;
  int64_t columns = 1;
  for (auto [loop, range] : llvm::enumerate(ranges))
    if (loop != split.loop)
      columns = ShapedType::isDynamic(range) ? 0 : array::multiplyKnown({columns, range});
  return llvm::any_of(root.getInputs(), [&](Value input) {
    return columns * getElementBytes(getElementTypeOrSelf(input)) >= lineBytes;
  });
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
            combineInOrder(body, loc, combiner, arguments.drop_front(partial.size()), parts));
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
        linalg::YieldOp::create(body, bodyLoc,
                                combineInOrder(body, bodyLoc, combiner,
                                               arguments.take_front(parts.size()),
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
  rest->setAttr(plan::kPartialAttr,
                plan::PartialAttr::get(builder.getContext(), plan::Split::Rest, 0));
  return rest;
}

/// The parts' own results: along the outermost dim for columns, along the innermost for rows.
linalg::GenericOp Splitter::makeParts(OpBuilder &builder) {
  linalg::GenericOp root = split.root;
  unsigned loop = split.loop;
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
  auto partial = linalg::GenericOp::create(builder, root.getLoc(), ValueRange(inits).getTypes(),
                                           inputs, inits, maps, iterators);
  fillBody(root, partial, loop);
  return partial;
}

/// The same where rows interleave: the loop stays as it is, and ops that go over the same
/// rows still do.
linalg::GenericOp Splitter::makeCyclicParts(OpBuilder &builder) {
  linalg::GenericOp root = split.root;
  SmallVector<Value> inputs = root.getInputs(), inits = makeStarts(builder, split.parts);
  AffineExpr part = builder.getAffineDimExpr(split.loop) % split.parts;
  SmallVector<AffineMap> maps;
  for (OpOperand &operand : root->getOpOperands()) {
    AffineMap map = root.getMatchingIndexingMap(&operand);
    maps.push_back(root.isDpsInit(&operand) ? map.insertResult(part, 0) : map);
  }
  auto partial = linalg::GenericOp::create(builder, root.getLoc(), ValueRange(inits).getTypes(),
                                           inputs, inits, maps, root.getIteratorTypesArray());
  IRMapping mapping;
  root.getRegion().cloneInto(&partial.getRegion(), mapping);
  return partial;
}

linalg::GenericOp Splitter::run() {
  OpBuilder builder(split.root);
  linalg::GenericOp partial = split.isCyclic ? makeCyclicParts(builder) : makeParts(builder);
  if (split.isColumn)
    partial->setAttr(
        plan::kPartialAttr,
        split.isCyclic
            ? plan::PartialAttr::get(builder.getContext(), plan::Split::Cyclic, split.parts)
            : plan::PartialAttr::get(builder.getContext(), plan::Split::Slices, 0));
  linalg::GenericOp rest = split.hasRest ? reduceRest(builder) : nullptr;
  linalg::GenericOp last = makeLastStep(builder, partial.getResults());
  linalg::GenericOp result = rest ? joinRest(builder, last.getResults(), rest.getResults()) : last;
  split.root->replaceAllUsesWith(result);
  split.root->erase();
  return last;
}

namespace {

struct SplitReductions final : impl::SplitReductionsBase<SplitReductions> {
  using SplitReductionsBase::SplitReductionsBase;

  void runOnOperation() override {
    const Target *arch = findTarget(getOperation());
    if (!arch)
      return;
    for (auto op : llvm::make_early_inc_range(getOperation().getOps<linalg::ContractOp>()))
      if (!splitPositions(op, *arch))
        splitProduct(op, *arch);
    for (auto op : llvm::make_early_inc_range(getOperation().getOps<linalg::GenericOp>()))
      if (!splitPositions(op, *arch) && !splitWindowGradient(op, *arch))
        splitWindowProduct(op, *arch);
    if (columnParts)
      reduceColumnsInParts(getOperation(), *arch);
    llvm::SmallPtrSet<Operation *, 8> done;
    splitCyclicRows(*arch, done);
    splitDependentReductions(getOperation(), *arch);
    SmallVector<linalg::GenericOp> reductions;
    for (auto op : llvm::make_early_inc_range(getOperation().getOps<linalg::GenericOp>()))
      if (op.getNumReductionLoops() > 0 && !done.contains(op) && !op->hasAttr(kInPartsAttr))
        reductions.push_back(collapseReducedLoops(op));
    llvm::erase_if(reductions, [&](linalg::GenericOp op) { return isStreamedProduct(op, *arch); });
    SmallVector<Split> splits;
    for (linalg::GenericOp op : reductions)
      if (std::optional<Split> split = chooseSplit(op))
        splits.push_back(*split);
    llvm::erase_if(reductions, [&](linalg::GenericOp op) {
      return !isWideColumnReduction(op) ||
             llvm::any_of(splits, [&](const Split &split) { return split.root == op; });
    });
    recomputeSharedInputs(reductions);
    for (Split split : splits) {
      split.root = recomputeInputs(split.root);
      FailureOr<Combiner> combiner = Combiner::match(split.root);
      bool hasStarts = succeeded(combiner);
      for (unsigned i = 0; hasStarts && i < combiner->getNumResults(); ++i)
        hasStarts = static_cast<bool>(getStart(*combiner, i));
      if (hasStarts && isBetterInTurn(split, *combiner)) {
        split.hasRest = false;
        split.isCyclic = true;
      }
      if (hasStarts)
        Splitter(split, *combiner).run();
    }
    // What only tells how long loops are is an initial value, and so is a part of it.
    RewritePatternSet patterns(&getContext());
    tensor::populateFoldTensorEmptyPatterns(patterns);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }

  /// Elementwise ops that `op` is computed of, by such ops only.
  static void collectProducers(linalg::GenericOp op, llvm::SetVector<Operation *> &producers) {
    for (Value input : op.getInputs()) {
      auto producer = input.getDefiningOp<linalg::GenericOp>();
      if (producer && producer->getBlock() == op->getBlock() &&
          producer.getNumParallelLoops() == producer.getNumLoops() && producers.insert(producer))
        collectProducers(producer, producers);
    }
  }

  /// What several ops read of which all but one, an elementwise op, compute it themselves by now,
  /// that one does too: it may join a kernel that all of them make. What only one op reads from the
  /// start is apart from that for a reason.
  static void recomputeSharedInputs(ArrayRef<linalg::GenericOp> reductions) {
    llvm::SetVector<Operation *> producers;
    for (linalg::GenericOp op : reductions)
      collectProducers(op, producers);
    SmallVector<Operation *> shared = producers.takeVector();
    llvm::erase_if(shared, [](Operation *producer) { return producer->hasOneUse(); });
    for (linalg::GenericOp op : reductions)
      recomputeInputs(op);
    // The last one first: a user that is replaced is none of those to come.
    llvm::sort(shared, [](Operation *a, Operation *b) { return b->isBeforeInBlock(a); });
    for (Operation *producer : shared)
      if (isOpTriviallyDead(producer))
        producer->erase();
      else
        fuseIntoLastUser(producer);
  }

  /// Sums over rows that are reduced too, and what is `done` with that.
  void splitCyclicRows(const Target &arch, llvm::SmallPtrSetImpl<Operation *> &done) {
    auto isCandidate = [&](linalg::GenericOp op) {
      return !done.contains(op) && !op->hasAttr(kInPartsAttr) && !isStreamedProduct(op, arch);
    };
    Block &block = getOperation().getBody().front();
    while (std::optional<CyclicRows> rows = takeCyclicRows(block, arch, isCandidate))
      for (linalg::GenericOp sum : rows->sums) {
        SmallVector<unsigned> reduced;
        sum.getReductionDims(reduced);
        Split split{sum, reduced.front(), rows->parts, /*isColumn=*/true};
        split.isCyclic = true;
        FailureOr<Combiner> combiner = Combiner::match(sum);
        linalg::GenericOp last = Splitter(split, *combiner).run();
        done.insert(last);
        done.insert(last.getInputs().front().getDefiningOp());
      }
  }
};

} // namespace

} // namespace xc::cuda
