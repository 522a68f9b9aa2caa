//===- ReduceColumnsInParts.cpp - Reduce columns where a product has them -===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The statistics of a batch norm in training reduce each feature of a convolution's result over all
// positions, and so does the gradient of a bias. A kernel of their own reads all of the result
// again. Instead the kernel that computes it reduces each part of kPartRows rows, of the elements
// as it stores them:
//
//   %s = sum(%y : [M, N]) : [N], %m = f(%s), %v = sum((%y - %m)^2) : [N]
// becomes
//   %sp = sum(%y) : [ceil(M / 64), N], %cp = %sp / rows, %vp = sum((%y - %cp)^2)
//   %s = sum(%sp), %m = f(%s), %v = sum(%vp + rows (%cp - %m)^2)
//
// where the last part may have fewer rows than others (SplitDependentReductions.cpp has the
// identity), and any size that rows are counted by may be symbolic. The ops of the first line are
// marked as `#plan.partial<rows, 64>`. They go over the product's results, so that they join its
// kernel; parts do not depend on its tiles, so that all variants of it agree in what they write.
//
// Left alone is what gains nothing: short columns that one kernel holds with what follows, and a
// result that something else would read for its columns all the same. So is a result of which the
// kernel would store more than one form: outputs then do not pass through shared memory.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Matmul/ReduceColumnsInParts.h"

#include "compiler/Codegen/CUDA/Common/CombineResults.h"
#include "compiler/Codegen/CUDA/Common/ReductionSplit.h"
#include "compiler/Codegen/CUDA/Common/SplitDependentReductions.h"
#include "compiler/Codegen/CUDA/IR/CUDAConfig.h"
#include "compiler/Codegen/CUDA/Matmul/Contraction.h"
#include "compiler/Codegen/CUDA/Matmul/ProductFollowers.h"
#include "compiler/Dialect/Array/IR/Sizes.h"
#include "compiler/Dialect/Plan/IR/Products.h"
#include "compiler/Dialect/Plan/IR/Reductions.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace xc::cuda {

/// Features that a product has at least, where it could be windows of a few as well.
static constexpr int64_t kFewestFeatures = 32;
/// Rows that a symbolic number of them is taken for.
static constexpr int64_t kManyColumnRows = 4096;
/// Memory traffic that parts must save where they save no launch.
static constexpr int64_t kFewestSavedBytes = 512 << 10;
/// How far before its result a product is looked for.
static constexpr unsigned kMostEpilogueSteps = 8;

//===----------------------------------------------------------------------===//
// What a product's kernel can reduce
//===----------------------------------------------------------------------===//

/// The product of whose elements alone `rows` is computed by its epilogue, each at its own place.
static linalg::LinalgOp findColumnProduct(Value rows, unsigned steps = 0) {
  auto op = rows.getDefiningOp<linalg::LinalgOp>();
  std::optional<plan::ProductLoops> loops = op ? plan::matchProduct(op) : std::nullopt;
  if (loops && !loops->m.empty() && !loops->n.empty())
    return op;
  auto generic = rows.getDefiningOp<linalg::GenericOp>();
  if (steps == kMostEpilogueSteps || !isElementwise(generic))
    return nullptr;
  for (OpOperand *input : generic.getDpsInputOperands())
    if (generic.getMatchingIndexingMap(input).isIdentity() && input->get().hasOneUse())
      if (linalg::LinalgOp product = findColumnProduct(input->get(), steps + 1))
        return product;
  return nullptr;
}

/// The dims of `map` that are among `loops`, and not of size 1, are neighbours.
static bool areNeighbours(AffineMap map, ArrayRef<unsigned> loops, ArrayRef<int64_t> ranges) {
  int runs = 0;
  bool isRun = false;
  for (AffineExpr expr : map.getResults()) {
    auto dim = dyn_cast<AffineDimExpr>(expr);
    if (!dim || ranges[dim.getPosition()] == 1)
      continue;
    bool isOwn = llvm::is_contained(loops, dim.getPosition());
    runs += isOwn && !isRun;
    isRun = isOwn;
  }
  return runs == 1;
}

/// True if both factors of the product run along loops of the sum, `k`.
static bool runAlongSums(linalg::LinalgOp op, ArrayRef<unsigned> k) {
  return llvm::all_of(op.getDpsInputOperands(), [&](OpOperand *factor) {
    auto inner = dyn_cast<AffineDimExpr>(op.getMatchingIndexingMap(factor).getResults().back());
    return inner && llvm::is_contained(k, inner.getPosition());
  });
}

/// True if tiles of the product on tensor cores have rows of its result as they lie in memory, and
/// its innermost dim for columns.
static bool hasColumnsInTiles(linalg::LinalgOp op, const Target &target) {
  std::optional<plan::ProductLoops> loops = plan::matchProduct(op);
  AffineMap written = op.getIndexingMapMatchingResult(op->getResult(0));
  Type lhs = getElementTypeOrSelf(op.getDpsInputOperand(0)->get()),
       rhs = getElementTypeOrSelf(op.getDpsInputOperand(1)->get());
  if (!loops || !plan::isTensorCoreProduct(op) || !written.isProjectedPermutation() || lhs != rhs ||
      !isa<FloatType>(lhs) || !getElementTypeOrSelf(op->getResult(0)).isF32() ||
      plan::getPartialSums(op))
    return false;
  // Parts must not keep the product from wgmma, where what is read across a sum in TF32 gives
  // outputs that do not pass through shared memory.
  if (lhs.isF32() && target.hasWGMMA && !runAlongSums(op, loops->k))
    return false;
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  auto isLong = [&](unsigned loop) { return ranges[loop] != 1; };
  unsigned column = cast<AffineDimExpr>(written.getResults().back()).getPosition();
  bool isSecond = llvm::is_contained(loops->n, column);
  ArrayRef<unsigned> columns = isSecond ? loops->n : loops->m,
                     rows = isSecond ? loops->m : loops->n;
  if (llvm::count_if(columns, isLong) != 1 || !llvm::is_contained(columns, column) ||
      llvm::any_of(loops->batch, isLong) || llvm::none_of(rows, isLong))
    return false;
  if (plan::isWindowReduction(op) &&
      (ShapedType::isDynamic(ranges[column]) || ranges[column] < kFewestFeatures))
    return false;
  // Rows are counted as the operand has them.
  AffineMap read = op.getMatchingIndexingMap(op.getDpsInputOperand(isSecond ? 0 : 1));
  SmallVector<unsigned> inResult;
  for (AffineExpr expr : written.getResults().drop_back())
    if (unsigned loop = cast<AffineDimExpr>(expr).getPosition(); isLong(loop))
      inResult.push_back(loop);
  SmallVector<unsigned> inOperand = llvm::filter_to_vector(plan::orderByUse(rows, read), isLong);
  return inResult == inOperand &&
         (!read.isProjectedPermutation() || areNeighbours(read, rows, ranges));
}

static bool isHalfOrSingle(Value tensor) {
  Type type = getElementTypeOrSelf(tensor);
  return type.isF16() || type.isBF16() || type.isF32();
}

/// True if `op` reduces `rows` along all dims but the last one, and reads nothing else of as many
/// elements.
static bool reducesColumnsOf(Operation *user, Value rows) {
  auto op = dyn_cast<linalg::GenericOp>(user);
  if (!op || !op.hasPureTensorSemantics() || op.getNumDpsInits() != 1 || op.getNumLoops() < 2 ||
      op->hasAttr(plan::kPartialAttr) || op.getNumReductionLoops() + 1 != op.getNumLoops() ||
      op.hasIndexSemantics() ||
      op.getIteratorTypesArray().back() != utils::IteratorType::parallel ||
      !getElementTypeOrSelf(op->getResult(0)).isF32())
    return false;
  AffineMap kept =
      AffineMap::get(op.getNumLoops(), 0, getAffineDimExpr(op.getNumLoops() - 1, op.getContext()));
  return op.getIndexingMapMatchingResult(op->getResult(0)) == kept &&
         llvm::all_of(op.getDpsInputOperands(), [&](OpOperand *input) {
           AffineMap map = op.getMatchingIndexingMap(input);
           return input->get() == rows ? map.isIdentity() : map == kept;
         });
}

namespace {

/// A product's result and all that reduces its columns.
class ColumnReducer {
public:
  explicit ColumnReducer(Value rows) : rows(rows) {}

  /// Changes nothing but where reductions compute their inputs if that is not worth it.
  void run();

private:
  SmallVector<Operation *> getReductions();
  bool isWorthwhile();
  bool matchReductions();
  bool isAlone(linalg::GenericOp op);
  linalg::GenericOp makeParts(linalg::GenericOp op, const DependentPair::Shift *shift,
                              Value center);
  Value makeCenters(Value sums);
  Value countRows(OpBuilder &body, Location loc, unsigned loop);
  void replace(linalg::GenericOp op, ValueRange inputs, ArrayRef<bool> areParts,
               llvm::function_ref<Value(OpBuilder &, Location, ValueRange)> getElement);
  void splitAlone(linalg::GenericOp op);
  void splitPair(const DependentPair &pair);

  Value rows;
  std::string note;
  SmallVector<linalg::GenericOp> alone;
  SmallVector<DependentPair> pairs;
  OpFoldResult positions, count; // rows, and parts of them
  Value positionsValue;          // of a symbolic number
};

} // namespace

/// True if `op` would be one kernel with what goes over its columns again.
static bool isHeldWithUsers(linalg::GenericOp op) {
  llvm::SetVector<Operation *> users;
  collectFollowers(op, users);
  return llvm::any_of(users, [&](Operation *user) {
    auto linalgOp = dyn_cast<linalg::LinalgOp>(user);
    return linalgOp && linalgOp.getStaticLoopRanges() == op.getStaticLoopRanges();
  });
}

/// What reduces the columns of the rows, in the order of the block.
SmallVector<Operation *> ColumnReducer::getReductions() {
  llvm::SetVector<Operation *> reductions;
  for (Operation *user : rows.getUsers())
    if (reducesColumnsOf(user, rows))
      reductions.insert(user);
  SmallVector<Operation *> ordered = reductions.takeVector();
  llvm::sort(ordered, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  return ordered;
}

/// Whether parts save a launch, or enough of memory traffic; with a note that says which.
bool ColumnReducer::isWorthwhile() {
  auto type = cast<RankedTensorType>(rows.getType());
  SmallVector<Operation *> reductions = getReductions();
  llvm::SetVector<Operation *> users;
  for (Operation *op : reductions)
    collectFollowers(op, users);
  // Something needs the rows in memory; and nothing has two forms of them there, or reads them for
  // their columns, that is none of these.
  bool isStored = false;
  for (Operation *user : rows.getUsers()) {
    if (llvm::is_contained(reductions, user) || isa<tensor::DimOp>(user))
      continue;
    isStored = true;
    auto op = dyn_cast<linalg::LinalgOp>(user);
    if (op && !users.contains(user) &&
        (op.getNumReductionLoops() == 0 ||
         op.getIteratorTypesArray().back() == utils::IteratorType::parallel) &&
        !plan::matchProduct(op))
      return false;
  }
  int64_t elementBytes = type.getElementTypeBitWidth() / 8;
  int64_t bytes = array::multiplyKnown(type.getShape()) * elementBytes;
  int64_t known = array::multiplyKnown(type.getShape().drop_back());
  if (llvm::any_of(type.getShape().drop_back(), ShapedType::isDynamic))
    bytes = std::max(bytes,
                     array::multiplyKnown({kManyColumnRows, type.getShape().back(), elementBytes}));
  else if (known < 2 * kPartRows)
    return false;
  bool areSplit = llvm::all_of(reductions, [](Operation *op) {
    return chooseSplit(cast<linalg::GenericOp>(op)).has_value();
  });
  bool areHeld = llvm::any_of(
      reductions, [](Operation *op) { return isHeldWithUsers(cast<linalg::GenericOp>(op)); });
  note = llvm::formatv("reduces its columns in parts of {0} rows, so that {1} bytes are not read "
                       "again",
                       kPartRows, bytes);
  return isStored && !reductions.empty() && (areSplit || (!areHeld && bytes >= kFewestSavedBytes));
}

/// True if `op` needs no other reduction of the same columns.
bool ColumnReducer::isAlone(linalg::GenericOp op) {
  FailureOr<Combiner> combiner = Combiner::match(op);
  if (failed(combiner) || combiner->isGiven() || combiner->startsFromInit() ||
      combiner->getPosition())
    return false;
  llvm::SetVector<Operation *> users;
  collectFollowers(rows.getDefiningOp(), users);
  return llvm::all_of(op.getInputs(), [&](Value input) {
    return input == rows || !users.contains(input.getDefiningOp());
  });
}

/// Sorts the reductions into those that are alone and pairs.
bool ColumnReducer::matchReductions() {
  llvm::SmallPtrSet<Operation *, 4> done;
  for (Operation *user : getReductions()) {
    auto op = cast<linalg::GenericOp>(user);
    if (done.contains(user) || isAlone(op))
      continue;
    std::optional<DependentPair> pair = matchDependentPair(op);
    if (!pair || pair->shift.form != DependentPair::Shift::Form::Square ||
        !reducesColumnsOf(pair->first, rows) || !reducesColumnsOf(pair->second, rows) ||
        !isAlone(pair->first) || !done.insert(pair->first).second)
      return false;
    done.insert(pair->second);
    pairs.push_back(*pair);
  }
  for (Operation *user : getReductions())
    if (!done.contains(user)) {
      if (!isAlone(cast<linalg::GenericOp>(user)))
        return false;
      alone.push_back(cast<linalg::GenericOp>(user));
    }
  return true;
}

//===----------------------------------------------------------------------===//
// Two steps
//===----------------------------------------------------------------------===//

/// What `op` gives of each part; with `center` in place of its `shift`, where it has one.
linalg::GenericOp ColumnReducer::makeParts(linalg::GenericOp op, const DependentPair::Shift *shift,
                                           Value center) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  unsigned last = op.getNumLoops() - 1;
  AffineExpr part = plan::getColumnPartIndex(op.getStaticLoopRanges(), kPartRows, op.getContext());
  AffineMap ofParts =
      AffineMap::get(last + 1, 0, {part, builder.getAffineDimExpr(last)}, op.getContext());
  SmallVector<Value> inputs(op.getInputs());
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  if (shift) {
    // All that it is computed of; one input is enough for the center.
    for (OpOperand *input : shift->inputs) {
      inputs[input->getOperandNumber()] = center;
      maps[input->getOperandNumber()] = ofParts;
    }
  }
  maps.back() = ofParts;
  Type element = getElementTypeOrSelf(op->getResult(0));
  OpFoldResult columns = builder.getIndexAttr(op.getStaticLoopRanges().back());
  Value empty = tensor::EmptyOp::create(builder, loc, {count, columns}, element);
  Value start = arith::ConstantOp::create(builder, loc, Combiner::match(op)->getNeutral(0));
  Value filled = linalg::FillOp::create(builder, loc, start, empty).getResult(0);
  auto parts = linalg::GenericOp::create(builder, loc, filled.getType(), inputs, filled, maps,
                                         op.getIteratorTypesArray());
  IRMapping mapping;
  op.getRegion().cloneInto(&parts.getRegion(), mapping);
  if (shift)
    shift->replace(parts, mapping);
  parts->setAttr(plan::kPartialAttr,
                 plan::PartialAttr::get(op.getContext(), plan::Split::Rows, kPartRows));
  parts->setAttr(kInPartsAttr, builder.getUnitAttr());
  if (!note.empty())
    parts->setAttr(plan::kNoteAttr, builder.getStringAttr(note));
  note.clear();
  return parts;
}

/// How many rows a part has, whose number is the index of `loop`; as a float.
Value ColumnReducer::countRows(OpBuilder &body, Location loc, unsigned loop) {
  std::optional<int64_t> known = getConstantIntValue(positions);
  Type type = body.getF32Type();
  if (known && *known % kPartRows == 0)
    return arith::ConstantOp::create(body, loc, body.getFloatAttr(type, kPartRows));
  Value size = arith::ConstantIndexOp::create(body, loc, kPartRows);
  Value all =
      known ? arith::ConstantIndexOp::create(body, loc, *known).getResult() : positionsValue;
  Value first = arith::MulIOp::create(body, loc, linalg::IndexOp::create(body, loc, loop), size);
  Value left = arith::SubIOp::create(body, loc, all, first);
  Value number = arith::MinSIOp::create(body, loc, left, size);
  Value integer = arith::IndexCastOp::create(body, loc, body.getI32Type(), number);
  return arith::SIToFPOp::create(body, loc, type, integer);
}

/// The means of the parts whose sums are given.
Value ColumnReducer::makeCenters(Value sums) {
  OpBuilder builder(sums.getContext());
  builder.setInsertionPointAfterValue(sums);
  Location loc = sums.getLoc();
  auto type = cast<RankedTensorType>(sums.getType());
  // A dim of the sums would be resolved by their map, as the quotient of the number of rows.
  OpFoldResult columns = builder.getIndexAttr(type.getDimSize(1));
  Value empty = tensor::EmptyOp::create(builder, loc, {count, columns}, type.getElementType());
  SmallVector<AffineMap> maps(2, builder.getMultiDimIdentityMap(2));
  SmallVector<utils::IteratorType> iterators(2, utils::IteratorType::parallel);
  auto centers =
      linalg::GenericOp::create(builder, loc, type, sums, empty, maps, iterators,
                                [&](OpBuilder &body, Location bodyLoc, ValueRange arguments) {
                                  Value mean =
                                      arith::DivFOp::create(body, bodyLoc, arguments.front(),
                                                            countRows(body, bodyLoc, /*loop=*/0));
                                  linalg::YieldOp::create(body, bodyLoc, mean);
                                });
  centers->setAttr(plan::kPartialAttr,
                   plan::PartialAttr::get(builder.getContext(), plan::Split::Rows, kPartRows));
  return centers.getResult(0);
}

/// Replaces `op` by the reduction of `getElement` of `inputs`, which have an element of each part
/// or one of each column, from where `op` starts.
void ColumnReducer::replace(
    linalg::GenericOp op, ValueRange inputs, ArrayRef<bool> areParts,
    llvm::function_ref<Value(OpBuilder &, Location, ValueRange)> getElement) {
  OpBuilder builder(op);
  MLIRContext *context = op.getContext();
  AffineMap all = AffineMap::getMultiDimIdentityMap(2, context),
            one = AffineMap::get(2, 0, getAffineDimExpr(1, context));
  SmallVector<AffineMap> maps =
      llvm::map_to_vector(areParts, [&](bool isPart) { return isPart ? all : one; });
  maps.push_back(one);
  Combiner combiner = *Combiner::match(op);
  auto last = linalg::GenericOp::create(
      builder, op.getLoc(), op.getResultTypes(), inputs, op.getOutputs(), maps,
      ArrayRef{utils::IteratorType::reduction, utils::IteratorType::parallel},
      [&](OpBuilder &body, Location loc, ValueRange arguments) {
        Value element = getElement(body, loc, arguments.drop_back());
        linalg::YieldOp::create(body, loc,
                                combineInOrder(body, loc, combiner, arguments.back(), element));
      });
  last->setAttr(kInPartsAttr, builder.getUnitAttr());
  op->replaceAllUsesWith(last);
  op->erase();
}

static Value getFirst(OpBuilder &, Location, ValueRange values) { return values.front(); }

void ColumnReducer::splitAlone(linalg::GenericOp op) {
  linalg::GenericOp parts = makeParts(op, nullptr, {});
  replace(op, parts->getResults(), {true}, getFirst);
}

void ColumnReducer::splitPair(const DependentPair &pair) {
  linalg::GenericOp first = pair.first, second = pair.second;
  const DependentPair::Shift &shift = pair.shift;
  linalg::GenericOp sums = makeParts(first, nullptr, {});
  Value centers = makeCenters(sums->getResult(0));
  linalg::GenericOp squares = makeParts(second, &shift, centers);
  SmallVector<Value> inputs = {squares->getResult(0), sums->getResult(0)};
  SmallVector<bool> areParts = {true, true};
  for (OpOperand *input : shift.inputs) {
    inputs.push_back(input->get());
    areParts.push_back(false);
  }
  replace(second, inputs, areParts, [&](OpBuilder &body, Location loc, ValueRange in) -> Value {
    Value moved = shift.clone(body, second, in.drop_front(2));
    Value number = countRows(body, loc, /*loop=*/0);
    Value mean = arith::DivFOp::create(body, loc, in[1], number);
    return moveSquares(body, loc, in[0], mean, moved, number);
  });
  replace(first, sums->getResults(), {true}, getFirst);
}

/// The product of sizes, of which any may be symbolic.
static OpFoldResult multiplySizes(OpBuilder &builder, Location loc, ArrayRef<OpFoldResult> sizes) {
  AffineExpr factor = builder.getAffineSymbolExpr(0);
  OpFoldResult product = sizes.front();
  for (OpFoldResult size : sizes.drop_front()) {
    std::optional<int64_t> known = getConstantIntValue(size);
    if (!known && !getConstantIntValue(product))
      product =
          arith::MulIOp::create(builder, loc, cast<Value>(product), cast<Value>(size)).getResult();
    else
      product = affine::makeComposedFoldedAffineApply(
          builder, loc, factor * (known ? *known : *getConstantIntValue(product)),
          {known ? product : size});
  }
  return product;
}

void ColumnReducer::run() {
  if (!isWorthwhile() || !matchReductions())
    return;
  OpBuilder builder(rows.getContext());
  builder.setInsertionPointAfterValue(rows);
  Location loc = rows.getLoc();
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, loc, rows);
  positions = multiplySizes(builder, loc, ArrayRef(sizes).drop_back());
  count = affine::makeComposedFoldedAffineApply(
      builder, loc, builder.getAffineSymbolExpr(0).ceilDiv(kPartRows), {positions});
  if (!getConstantIntValue(positions))
    positionsValue = cast<Value>(positions);
  for (linalg::GenericOp op : alone)
    splitAlone(op);
  for (const DependentPair &pair : pairs)
    splitPair(pair);
}

void reduceColumnsInParts(func::FuncOp function, const Target &target) {
  if (!target.hasMMA16816)
    return;
  llvm::SetVector<Value> candidates;
  for (auto op : function.getOps<linalg::GenericOp>())
    for (Value input : op.getInputs())
      if (isHalfOrSingle(input) && reducesColumnsOf(op, input))
        candidates.insert(input);
  for (Value rows : candidates) {
    linalg::LinalgOp product = findColumnProduct(rows);
    bool areKnown = ShapedType::isStatic(cast<RankedTensorType>(rows.getType()).getShape().back());
    if (product && areKnown && hasColumnsInTiles(product, target))
      ColumnReducer(rows).run();
  }
}

} // namespace xc::cuda
