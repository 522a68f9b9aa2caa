//===- SplitReductions.cpp - Reduce in two steps where one is too narrow --===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two passes before kernels are formed:
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
#include "compiler/Codegen/CUDA/SplitProducts.h"

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

/// Parts of a column reduction: enough blocks for the GPU, few enough for their results to cost
/// little. From kWideColumns on fewer.
static constexpr int64_t kMostColumnParts = 256, kMostWideColumnParts = 128, kWideColumns = 2048;
/// From this many columns on, blocks are enough without parts.
static constexpr int64_t kEnoughColumns = 32768;
/// Elements below which a second kernel costs more than it brings.
static constexpr int64_t kFewElements = 1 << 18;
/// Fewest rows of a part of a column reduction.
static constexpr int64_t kFewestRows = 8;
/// Rows longer than this are not walked over with sums on the way (SelectStrategy.cpp).
static constexpr int64_t kLongestRow = 8192;
/// Results of a row reduction from which on blocks are enough, and elements of a row that one block
/// reduces as fast as two kernels do; more where the row is needed again after its reduction.
static constexpr int64_t kEnoughRows = 66, kShortRow = 32768, kShortReusedRow = 131072;
static constexpr int64_t kMostRowParts = 1024, kFewestPartElements = 1024;
/// Parts of a loop of symbolic length: of rows, which are as many blocks, and of columns, of which
/// each part has as many blocks as the columns need.
static constexpr int64_t kSymbolicRowParts = 512, kSymbolicColumnParts = 128;
/// Results of all parts of a column reduction of symbolic length.
static constexpr int64_t kPartialResults = 65536;
/// The length of a part is a multiple of this, so that its elements are read by wide accesses.
static constexpr int64_t kPartMultiple = 8;
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
    for (Value operand : op->getOperands())
      if (!isa<FloatType>(getElementTypeOrSelf(operand)))
        return false;
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

/// A reduction, one of its loops, and in how many parts that one is split. Parts have a multiple of
/// `multiple` iterations; they cover the loop, unless iterations are left over.
struct Split {
  linalg::GenericOp root;
  unsigned loop;
  int64_t parts;
  bool isColumn;
  bool hasRest = false;
  int64_t multiple = 1;
};

class Splitter {
public:
  Splitter(const Split &split, const Combiner &combiner)
      : split(split), combiner(combiner), size(this->split.root.getStaticLoopRanges()[split.loop]) {
    if (!ShapedType::isDynamic(size))
      partSize = size / (split.parts * split.multiple) * split.multiple;
  }

  /// True if ops that work on the rows which the root sums up are split as well.
  bool carriesRowOps() { return split.isColumn && !split.hasRest && collectRowOps(); }
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
  OpFoldResult getSize(OpBuilder &builder);
  OpFoldResult getScaledSize(OpBuilder &builder, int64_t factor);
  Value getSlice(OpBuilder &builder, Value tensor, unsigned dim, bool isRest);
  linalg::GenericOp reduceRest(OpBuilder &builder);
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

static bool hasPlainMaps(linalg::GenericOp op) {
  return op.hasPureTensorSemantics() && llvm::all_of(op.getIndexingMapsArray(), [](AffineMap map) {
           return map.isProjectedPermutation();
         });
}

static bool canSplit(linalg::GenericOp op) {
  return hasPlainMaps(op) && llvm::none_of(op.getStaticLoopRanges(), ShapedType::isDynamic);
}

static std::optional<Split> chooseSplit(linalg::GenericOp op);

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
  return known = tensor::ExpandShapeOp::create(builder, loc, type, tensor,
                                               getReassociation(tensor, dim));
}

/// The number of iterations of the loop.
OpFoldResult Splitter::getSize(OpBuilder &builder) {
  for (OpOperand *input : split.root.getDpsInputOperands())
    if (std::optional<unsigned> dim = findDim(split.root.getMatchingIndexingMap(input), split.loop))
      return tensor::getMixedSize(builder, split.root.getLoc(), input->get(), *dim);
  llvm_unreachable("a loop that no input is read along is not split");
}

/// A part has size / (parts * multiple) times `multiple` iterations; the same for other factors.
OpFoldResult Splitter::getScaledSize(OpBuilder &builder, int64_t factor) {
  AffineExpr count = builder.getAffineSymbolExpr(0).floorDiv(split.parts * split.multiple);
  return affine::makeComposedFoldedAffineApply(
      builder, split.root.getLoc(), AffineMap::get(0, 1, count * factor), {getSize(builder)});
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
                                                       {getSize(builder)});
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
        ValueRange parts = arguments.take_front(partial.size());
        linalg::YieldOp::create(
            body, loc,
            combiner.combineInOrder(body, loc, arguments.drop_front(partial.size()), parts));
      });
  if (std::optional<unsigned> position = combiner.getPosition())
    last->setAttr(plan::kPositionAttr, builder.getI64IntegerAttr(*position));
  return last;
}

/// Combines what the parts and what the rest of the loop gave, element by element.
linalg::GenericOp Splitter::joinRest(OpBuilder &builder, ValueRange parts, ValueRange rest) {
  Location loc = split.root.getLoc();
  SmallVector<Value> inputs(parts), empties;
  llvm::append_range(inputs, rest);
  for (Value part : parts) {
    auto type = cast<RankedTensorType>(part.getType());
    empties.push_back(
        tensor::EmptyOp::create(builder, loc, type.getShape(), type.getElementType()));
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

/// Tensors of what a reduction starts from: of each part, or of one.
SmallVector<Value> Splitter::makeStarts(OpBuilder &builder, std::optional<int64_t> parts) {
  Location loc = split.root.getLoc();
  SmallVector<Value> starts;
  for (auto [index, type] : llvm::enumerate(split.root.getResultTypes())) {
    auto whole = cast<RankedTensorType>(type);
    SmallVector<int64_t> shape(whole.getShape());
    if (parts)
      shape.insert(split.isColumn ? shape.begin() : shape.end(), *parts);
    Value empty = tensor::EmptyOp::create(builder, loc, shape, whole.getElementType());
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

//===----------------------------------------------------------------------===//
// What is split
//===----------------------------------------------------------------------===//

/// The most parts up to `limit` of a loop of `size` iterations whose parts are equal, have at least
/// `fewest` iterations, and a multiple of `multiple`; 1 if there are none.
static int64_t getParts(int64_t size, int64_t limit, int64_t fewest, int64_t multiple) {
  for (int64_t parts = std::min(limit, size / fewest); parts > 1; --parts)
    if (size % parts == 0 && size / parts % multiple == 0)
      return parts;
  return 1;
}

/// The most parts that leave few iterations over, of those between three quarters of `limit` and
/// `limit`.
static int64_t getUnevenParts(int64_t size, int64_t limit, int64_t multiple) {
  int64_t best = limit;
  for (int64_t parts = limit; parts > std::max<int64_t>(limit * 3 / 4, 1); --parts)
    if (size % (parts * multiple) < size % (best * multiple))
      best = parts;
  return best;
}

/// The product of the ranges of `dims`, dynamic if one of them is.
static int64_t getCount(ArrayRef<int64_t> ranges, ArrayRef<unsigned> dims) {
  int64_t count = 1;
  for (unsigned dim : dims) {
    if (ShapedType::isDynamic(ranges[dim]))
      return ShapedType::kDynamic;
    count *= ranges[dim];
  }
  return count;
}

/// True if `isWanted` holds for an op that follows `op`, near or far.
static bool isFollowedBy(linalg::GenericOp op, llvm::function_ref<bool(linalg::GenericOp)> isWanted,
                         unsigned depth = 0) {
  return depth < 8 && llvm::any_of(
                          op->getUsers(),
                          [&](Operation *user) {
                            auto next = dyn_cast<linalg::GenericOp>(user);
                            return next &&
                                   (isWanted(next) || isFollowedBy(next, isWanted, depth + 1));
                          });
}

/// True if an op that follows `op` goes over its whole space again.
static bool isNeededAgain(linalg::GenericOp op, int64_t kept) {
  return isFollowedBy(op, [&](linalg::GenericOp next) {
    int64_t count = 1;
    for (int64_t range : next.getStaticLoopRanges())
      count *= ShapedType::isDynamic(range) ? 1 : range;
    return count > kept;
  });
}

/// True if an op that follows `op` computes something for all of a space of symbolic size: then one
/// kernel had better hold what `op` reduces.
static bool feedsSymbolicSpace(linalg::GenericOp op) {
  return isFollowedBy(op, [](linalg::GenericOp next) {
    return next.getNumReductionLoops() == 0 &&
           llvm::any_of(next.getStaticLoopRanges(), ShapedType::isDynamic);
  });
}

static std::optional<Split> chooseColumnSplit(linalg::GenericOp op, const ReductionGroup &group) {
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  int64_t kept = getCount(ranges, group.parallelDims),
          reduced = getCount(ranges, group.reductionDims);
  if (kept >= kEnoughColumns)
    return std::nullopt;
  if (ShapedType::isDynamic(reduced)) {
    unsigned loop = *llvm::find_if(
        group.reductionDims, [&](unsigned dim) { return ShapedType::isDynamic(ranges[dim]); });
    int64_t parts = std::min(kSymbolicColumnParts, kPartialResults / kept);
    if (parts < 4)
      return std::nullopt;
    return Split{op, loop, parts, /*isColumn=*/true, /*hasRest=*/true};
  }
  if (kept * reduced < kFewElements)
    return std::nullopt;
  // Along the outermost dim that gives most parts; a few would not fill the GPU either.
  constexpr int64_t few = 15;
  int64_t limit = kept < kWideColumns ? kMostColumnParts : kMostWideColumnParts;
  auto getFewest = [&](unsigned dim) {
    return std::max<int64_t>(1, kFewestRows * ranges[dim] / reduced);
  };
  std::optional<Split> best;
  for (unsigned dim : group.reductionDims)
    if (int64_t parts = getParts(ranges[dim], limit, getFewest(dim), 1);
        parts > (best ? best->parts : few))
      best = Split{op, dim, parts, /*isColumn=*/true};
  if (best)
    return best;
  unsigned longest = *llvm::max_element(
      group.reductionDims, [&](unsigned a, unsigned b) { return ranges[a] < ranges[b]; });
  limit = std::min(limit, ranges[longest] / getFewest(longest));
  if (limit <= few)
    return std::nullopt;
  return Split{op, longest, getUnevenParts(ranges[longest], limit, 1), /*isColumn=*/true,
               /*hasRest=*/true};
}

static std::optional<Split> chooseRowSplit(linalg::GenericOp op, const ReductionGroup &group) {
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  int64_t kept = getCount(ranges, group.parallelDims),
          reduced = getCount(ranges, group.reductionDims);
  unsigned loop = group.reductionDims.front();
  int64_t inner = getCount(ranges, ArrayRef(group.reductionDims).drop_front());
  int64_t multiple = inner == 1 ? kPartMultiple : 1;
  if (kept >= kEnoughRows)
    return std::nullopt;
  if (ShapedType::isDynamic(reduced)) {
    if (!ShapedType::isDynamic(ranges[loop]) || feedsSymbolicSpace(op))
      return std::nullopt;
    return Split{op,      loop, kSymbolicRowParts / kept, /*isColumn=*/false, /*hasRest=*/true,
                 multiple};
  }
  if (reduced < (isNeededAgain(op, kept) ? kShortReusedRow : kShortRow))
    return std::nullopt;
  constexpr int64_t few = 4;
  int64_t limit = kMostRowParts / kept, fewest = std::max<int64_t>(1, kFewestPartElements / inner);
  if (int64_t parts = getParts(ranges[loop], limit, fewest, multiple); parts >= few)
    return Split{op, loop, parts, /*isColumn=*/false};
  limit = std::min(limit, ranges[loop] / fewest);
  if (limit < few)
    return std::nullopt;
  return Split{op,   loop,    getUnevenParts(ranges[loop], limit, multiple), /*isColumn=*/false,
               true, multiple};
}

static std::optional<Split> chooseSplit(linalg::GenericOp op) {
  if (op.getNumReductionLoops() == 0 || !hasPlainMaps(op) || op.getNumDpsInputs() == 0)
    return std::nullopt;
  for (OpResult result : op->getResults())
    if (op.getIndexingMapMatchingResult(result) !=
        op.getIndexingMapMatchingResult(op->getResult(0)))
      return std::nullopt;
  ReductionGroup group;
  orderDims(op, group);
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  int64_t kept = getCount(ranges, group.parallelDims);
  // Where the number of results is symbolic, they are expected to be enough.
  if (ShapedType::isDynamic(kept) || kept == 0 || llvm::is_contained(ranges, 0))
    return std::nullopt;
  return group.reducesContiguousDim ? chooseRowSplit(op, group) : chooseColumnSplit(op, group);
}

/// Makes one loop of neighbouring ones that are reduced together, where no number of equal parts of
/// one of them would do: a long loop can be cut anywhere. Returns the op that is left.
static linalg::GenericOp collapseReducedLoops(linalg::GenericOp op) {
  SmallVector<unsigned> dims;
  op.getReductionDims(dims);
  bool isRun = dims.size() > 1 && dims.back() - dims.front() + 1 == dims.size();
  if (!isRun || !hasPlainMaps(op) || op.hasIndexSemantics())
    return op;
  std::optional<Split> split = chooseSplit(op);
  int64_t reduced = getCount(op.getStaticLoopRanges(), dims);
  bool isLong = ShapedType::isDynamic(reduced) ? !feedsSymbolicSpace(op) : reduced >= kShortRow;
  if (split ? !split->hasRest : !isLong)
    return op;
  SmallVector<ReassociationIndices> folded(1);
  llvm::append_range(folded.front(), dims);
  if (!linalg::areDimSequencesPreserved(op.getIndexingMapsArray(), folded))
    return op;
  IRRewriter rewriter(op);
  FailureOr<linalg::CollapseResult> collapsed =
      linalg::collapseOpIterationDims(op, folded, rewriter);
  if (failed(collapsed))
    return op;
  rewriter.replaceOp(op, collapsed->results);
  return cast<linalg::GenericOp>(collapsed->collapsedOp);
}

namespace {

struct SplitReductions final : impl::SplitReductionsBase<SplitReductions> {
  void runOnOperation() override {
    plan::TargetAttr target = getTarget(getOperation());
    if (!target || !target.isCUDA())
      return;
    if (const Target *arch = findTarget(target.getArch().getValue()))
      for (auto op : llvm::make_early_inc_range(getOperation().getOps<linalg::ContractOp>()))
        splitProduct(op, *arch);
    SmallVector<linalg::GenericOp> reductions;
    for (auto op : llvm::make_early_inc_range(getOperation().getOps<linalg::GenericOp>()))
      if (op.getNumReductionLoops() > 0)
        reductions.push_back(collapseReducedLoops(op));
    // All are chosen before the first one is split: that replaces ops which it carries along,
    // reductions of rows among them, and sums over the same rows are to have the same parts.
    SmallVector<Split> splits;
    const Target *arch = findTarget(target.getArch());
    for (linalg::GenericOp op : reductions) {
      if (arch && isStreamedProduct(op, *arch))
        continue;
      if (std::optional<Split> split = chooseSplit(op))
        splits.push_back(*split);
    }
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
