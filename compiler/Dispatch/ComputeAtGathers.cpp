//===- ComputeAtGathers.cpp - Compute only what a gather reads ------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A gather reads a tensor at computed places. Where an elementwise op makes that tensor, its body
// goes into the gather's, and the gather reads the op's inputs instead: of a log-softmax only the
// elements at the labels are computed, of a table in bf16 that is looked up in f32 only rows that
// are looked up are converted. So on, while elementwise ops make what the gather reads.
//
//   %t = generic ins(%x, %m) { sub }                 : [8192, 32000]
//   %y = generic ins(%label) { extract %t[%row, %label] }     : [8192]
// becomes
//   %y = generic ins(%label, %m) { sub (extract %x[%row, %label]), %m }
//
// What is read at the place of a loop, like %m, becomes an input, so that fusion sees it. A
// producer may be a gather itself: an image is resized along its rows and its columns in one op.
// Left as they are: producers that others need and of whose elements the gather reads many, since
// those would be computed twice; those of fewer elements than are read, unless they are cheap, or
// not much and few times, which they are too where neighbours on a GPU share; and what follows a
// product and is in memory for others, where the product itself need not be; and what narrows the
// results of a reduction of which many are read: its kernel then stores less.
//
//===----------------------------------------------------------------------===//

#include "compiler/Dispatch/ComputeAtGathers.h"

#include "compiler/Dialect/Array/IR/Sizes.h"
#include "compiler/Dialect/Plan/Transforms/SymbolicDims.h"
#include "compiler/Dispatch/BodyCost.h"
#include "compiler/Dispatch/ComputePlaces.h"
#include "compiler/Dispatch/DispatchTarget.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace xc::plan {

/// Of a tensor that others need too, one element in so many may be computed again.
static constexpr int64_t kFewOf = 8;
/// Instructions of a body that may be computed for an element as often as it is read.
static constexpr unsigned kCheapCost = 3;
/// And those that may be computed for an element a few times: to store it and to load it again
/// takes longer.
static constexpr unsigned kModerateCost = 24;
static constexpr int64_t kFewTimes = 4;
/// Instructions of a GPU that take as long as to store an element in f32 and to load it again.
static constexpr double kStoredCost = 48;
/// About how many neighbours a thread has that compute what they share once, and the longest period
/// of places where it has so many.
static constexpr int64_t kNeighbours = 8;

namespace {

/// A number of elements: the product of static sizes, and how many sizes are symbolic.
struct Count {
  int64_t known;
  unsigned symbolic;

  explicit Count(ArrayRef<int64_t> sizes)
      : known(array::multiplyKnown(sizes)), symbolic(llvm::count_if(sizes, ShapedType::isDynamic)) {
  }
  /// Symbolic sizes count as equal.
  bool isWithin(const Count &other, int64_t factor) const {
    return symbolic <= other.symbolic && known <= other.known / factor;
  }
  bool isWithinTimes(const Count &other, int64_t factor) const {
    return symbolic <= other.symbolic && known / factor <= other.known;
  }
};

class Gather {
public:
  Gather(linalg::GenericOp op, SymbolicDims &dims) : op(op), dims(dims) {}

  void run();

private:
  void readBeforeReshapes();
  linalg::GenericOp getProducer(tensor::ExtractOp extract);
  void inlineProducer(tensor::ExtractOp extract, linalg::GenericOp producer);
  FailureOr<FormulaAttr> getLoopSize(unsigned loop);
  std::optional<AffineMap> getPlainMap(tensor::ExtractOp extract);
  void readAtLoops();

  linalg::GenericOp op;
  SymbolicDims &dims;
};

} // namespace

/// True for an elementwise op whose body can be computed anywhere.
static bool isMovable(linalg::GenericOp op) {
  if (!op || !op.hasPureTensorSemantics() || op.getNumReductionLoops() > 0 ||
      op.getNumResults() != 1 || !op.getIndexingMapsArray().back().isPermutation() ||
      op.payloadUsesValueFromOperand(op.getDpsInitOperand(0)))
    return false;
  auto isPlain = [](AffineMap map) {
    return llvm::all_of(map.getResults(), [](AffineExpr expr) { return isa<AffineDimExpr>(expr); });
  };
  return llvm::all_of(op.getIndexingMapsArray(), isPlain) &&
         llvm::all_of(op.getBody()->without_terminator(), [](Operation &inner) {
           return isa<arith::ArithDialect, math::MathDialect>(inner.getDialect()) ||
                  isa<linalg::IndexOp, tensor::ExtractOp>(inner);
         });
}

static unsigned getElementBits(Value tensor) {
  return cast<RankedTensorType>(tensor.getType()).getElementTypeBitWidth();
}

/// Whether `op` makes something narrower of each result of a reduction, which nobody else needs.
static bool narrowsReduction(linalg::GenericOp op) {
  return llvm::any_of(op.getDpsInputOperands(), [&](OpOperand *use) {
    auto before = use->get().getDefiningOp<linalg::LinalgOp>();
    return before && before.getNumReductionLoops() > 0 && use->get().hasOneUse() &&
           op.getMatchingIndexingMap(use).isPermutation() &&
           getElementBits(op.getResult(0)) < getElementBits(use->get());
  });
}

/// Whether `op` follows a product, or another reduction, of as many elements, of which nobody else
/// needs the result, and there is nothing narrower in between.
static bool followsProduct(linalg::GenericOp op) {
  return llvm::any_of(op.getDpsInputOperands(), [&](OpOperand *use) {
    Value input = use->get();
    auto before = input.getDefiningOp<linalg::LinalgOp>();
    if (!before || !input.hasOneUse() || !op.getMatchingIndexingMap(use).isPermutation())
      return false;
    auto generic = dyn_cast<linalg::GenericOp>(before.getOperation());
    if (isMovable(generic))
      return getElementBits(op.getResult(0)) <= getElementBits(input) && followsProduct(generic);
    return before.getNumReductionLoops() > 0;
  });
}

/// The dims of what `expand` makes that are those of its source, in their order; nothing if it
/// splits one.
static std::optional<SmallVector<int64_t>> getSourceDims(tensor::ExpandShapeOp expand) {
  SmallVector<int64_t> dims;
  ArrayRef<int64_t> shape = expand.getResultType().getShape();
  for (const ReassociationIndices &group : expand.getReassociationIndices()) {
    SmallVector<int64_t> longer =
        llvm::filter_to_vector(group, [&](int64_t dim) { return shape[dim] != 1; });
    if (longer.size() > 1)
      return std::nullopt;
    dims.push_back(longer.empty() ? group.front() : longer.front());
  }
  return dims;
}

/// Dims of size 1 of what is read do not hide the op that makes it: an image alone is resized as
/// several are.
void Gather::readBeforeReshapes() {
  for (auto extract : op.getBody()->getOps<tensor::ExtractOp>()) {
    auto expand = extract.getTensor().getDefiningOp<tensor::ExpandShapeOp>();
    if (!expand || !isMovable(expand.getSrc().getDefiningOp<linalg::GenericOp>()))
      continue;
    std::optional<SmallVector<int64_t>> sourceDims = getSourceDims(expand);
    if (!sourceDims)
      continue;
    SmallVector<Value> places = llvm::map_to_vector(
        *sourceDims, [&](int64_t dim) -> Value { return extract.getIndices()[dim]; });
    extract.getTensorMutable().assign(expand.getSrc());
    extract.getIndicesMutable().assign(places);
    if (expand->use_empty())
      expand->erase();
  }
}

/// How often threads compute an element of what `extract` of `op` reads, if each has neighbours
/// that share; `reads` reads of the body are beside each other. Nothing if it cannot be told that
/// they share.
static std::optional<double> countSharedReads(linalg::GenericOp op, tensor::ExtractOp extract,
                                              unsigned reads) {
  if (!getDispatchTarget(op).computesPlaces())
    return std::nullopt;
  double times = 1;
  auto type = cast<RankedTensorType>(extract.getTensor().getType());
  for (auto [dim, index] : llvm::enumerate(extract.getIndices())) {
    if (index.getDefiningOp<linalg::IndexOp>())
      continue;
    std::optional<RegularPlace> place = findListedPlace(op, index, type.getDimSize(dim));
    if (!place || place->getPeriod() > kNeighbours)
      return std::nullopt;
    double places = static_cast<double>(kNeighbours * place->scale) / place->divisor;
    times *= (places + reads) / places;
  }
  return times;
}

/// The op that makes what `extract` reads, if the gather is to compute it.
linalg::GenericOp Gather::getProducer(tensor::ExtractOp extract) {
  auto producer = extract.getTensor().getDefiningOp<linalg::GenericOp>();
  if (!isMovable(producer) || producer->getBlock() != op->getBlock())
    return nullptr;
  unsigned cost = getBodyCost(producer);
  if (cost + getBodyCost(op) > kMaxFusedCost)
    return nullptr;
  Count reads(op.getStaticLoopRanges()), made(producer.getStaticLoopRanges());
  unsigned extracts =
      llvm::count_if(producer->getUsers(), [&](Operation *user) { return op->isAncestor(user); });
  reads.known *= extracts;
  if (narrowsReduction(producer) && !reads.isWithin(made, kFewOf))
    return nullptr;
  bool isOnlyGathered = llvm::all_of(producer->getUsers(),
                                     [](Operation *user) { return isa<tensor::ExtractOp>(user); });
  if (!isOnlyGathered)
    return reads.isWithin(made, kFewOf) && !followsProduct(producer) ? producer : nullptr;
  bool isWorthwhile = cost <= kCheapCost || reads.isWithin(made, 1) ||
                      (cost <= kModerateCost && reads.isWithinTimes(made, kFewTimes));
  if (!isWorthwhile)
    if (std::optional<double> times = countSharedReads(op, extract, extracts))
      isWorthwhile = (*times - 1) * cost <= kStoredCost;
  return isWorthwhile ? producer : nullptr;
}

void Gather::inlineProducer(tensor::ExtractOp extract, linalg::GenericOp producer) {
  OpBuilder builder(extract);
  Location loc = producer.getLoc();
  SmallVector<Value> loops(producer.getNumLoops());
  AffineMap made = producer.getIndexingMapsArray().back();
  for (auto [dim, place] : llvm::enumerate(extract.getIndices()))
    loops[made.getDimPosition(dim)] = place;
  IRMapping mapping;
  for (OpOperand *input : producer.getDpsInputOperands()) {
    BlockArgument argument = producer.getMatchingBlockArgument(input);
    if (!isa<RankedTensorType>(input->get().getType())) {
      mapping.map(argument, input->get());
    } else if (!argument.use_empty()) {
      SmallVector<Value> places;
      for (AffineExpr expr : producer.getMatchingIndexingMap(input).getResults())
        places.push_back(loops[cast<AffineDimExpr>(expr).getPosition()]);
      mapping.map(argument, tensor::ExtractOp::create(builder, loc, input->get(), places));
    }
  }
  for (Operation &inner : producer.getBody()->without_terminator()) {
    if (auto index = dyn_cast<linalg::IndexOp>(inner))
      mapping.map(index.getResult(), loops[index.getDim()]);
    else
      builder.clone(inner, mapping);
  }
  Value result = producer.getBody()->getTerminator()->getOperand(0);
  extract.replaceAllUsesWith(mapping.lookupOrDefault(result));
  extract.erase();
}

FailureOr<FormulaAttr> Gather::getLoopSize(unsigned loop) {
  AffineExpr wanted = getAffineDimExpr(loop, op.getContext());
  for (OpOperand &operand : op->getOpOperands()) {
    AffineMap map = op.getMatchingIndexingMap(&operand);
    if (std::optional<unsigned> dim = map.getResultPosition(wanted))
      return dims.getDim(operand.get(), *dim);
  }
  return failure();
}

/// The map by which `extract` reads if its places are different loops, each of which goes over all
/// of a dim: an input's.
std::optional<AffineMap> Gather::getPlainMap(tensor::ExtractOp extract) {
  SmallVector<AffineExpr> results;
  for (auto [dim, place] : llvm::enumerate(extract.getIndices())) {
    auto loop = place.getDefiningOp<linalg::IndexOp>();
    if (!loop || loop->getBlock() != op.getBody())
      return std::nullopt;
    FailureOr<FormulaAttr> size = dims.getDim(extract.getTensor(), dim),
                           loopSize = getLoopSize(loop.getDim());
    if (failed(size) || failed(loopSize) || *size != *loopSize)
      return std::nullopt;
    AffineExpr expr = getAffineDimExpr(loop.getDim(), op.getContext());
    if (llvm::is_contained(results, expr))
      return std::nullopt;
    results.push_back(expr);
  }
  return AffineMap::get(op.getNumLoops(), 0, results, op.getContext());
}

/// Makes inputs of what is read at the places of loops.
void Gather::readAtLoops() {
  SmallVector<Value> inputs(op.getInputs());
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  SmallVector<std::pair<tensor::ExtractOp, BlockArgument>> reads;
  for (auto extract : op.getBody()->getOps<tensor::ExtractOp>()) {
    std::optional<AffineMap> map = getPlainMap(extract);
    if (!map)
      continue;
    unsigned place = inputs.size();
    inputs.push_back(extract.getTensor());
    maps.insert(maps.begin() + place, *map);
    reads.push_back(
        {extract, op.getBody()->insertArgument(place, extract.getType(), extract.getLoc())});
  }
  if (reads.empty())
    return;
  for (auto [extract, argument] : reads) {
    extract.replaceAllUsesWith(argument);
    extract.erase();
  }
  OpBuilder builder(op);
  auto joined = linalg::GenericOp::create(builder, op.getLoc(), op.getResultTypes(), inputs,
                                          op.getOutputs(), maps, op.getIteratorTypesArray());
  joined.getRegion().takeBody(op.getRegion());
  joined->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  op->replaceAllUsesWith(joined);
  op->erase();
  op = joined;
}

void Gather::run() {
  auto findNext = [&]() -> std::pair<tensor::ExtractOp, linalg::GenericOp> {
    for (auto extract : op.getBody()->getOps<tensor::ExtractOp>())
      if (linalg::GenericOp producer = getProducer(extract))
        return {extract, producer};
    return {};
  };
  readBeforeReshapes();
  bool changed = false;
  for (auto next = findNext(); next.first; next = findNext()) {
    inlineProducer(next.first, next.second);
    changed = true;
  }
  if (changed)
    readAtLoops();
}

void computeAtGathers(func::FuncOp function) {
  SmallVector<linalg::GenericOp> gathers;
  for (auto op : function.getOps<linalg::GenericOp>())
    if (op.hasPureTensorSemantics() && !op.getBody()->getOps<tensor::ExtractOp>().empty())
      gathers.push_back(op);
  if (gathers.empty())
    return;
  SymbolicDims dims(function);
  for (linalg::GenericOp op : gathers) {
    Gather(op, dims).run();
    // Ops were erased, and others may lie where those were.
    dims.forgetValues();
  }
}

} // namespace xc::plan
