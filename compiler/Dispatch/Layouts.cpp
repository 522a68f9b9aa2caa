//===- Layouts.cpp - In which order tensors have their dims ---------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Dispatch/Layouts.h"

#include "compiler/Dialect/Array/IR/ArrayOps.h"
#include "compiler/Dialect/Array/IR/TensorTypes.h"
#include "compiler/Dialect/Plan/IR/Products.h"
#include "compiler/Dispatch/DispatchGroups.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;

namespace xc::plan {

/// What a size that is not known counts as.
static constexpr int64_t kAssumedSize = 32;

/// Channels that make a vector. A filter of fewer inputs is better laid along its outputs.
static constexpr int64_t kVectorChannels = 8;

bool isIdentity(ArrayRef<int64_t> order) {
  return llvm::equal(order, llvm::seq<int64_t>(0, order.size()));
}

static int64_t assumeSize(int64_t size) {
  return ShapedType::isDynamic(size) ? kAssumedSize : size;
}

static double countElements(ArrayRef<int64_t> shape) {
  double count = 1;
  for (int64_t size : shape)
    count *= assumeSize(size); // in range: a double
  return count;
}

using array::typeOf;

std::optional<unsigned> getParallelLoop(AffineExpr expr, linalg::LinalgOp op) {
  std::optional<unsigned> found;
  for (auto [loop, iterator] : llvm::enumerate(op.getIteratorTypesArray())) {
    if (iterator != utils::IteratorType::parallel || !expr.isFunctionOfDim(loop))
      continue;
    if (found)
      return std::nullopt;
    found = loop;
  }
  return found;
}

/// Constants and parameters are transposed once an instance, at most (HoistParameters).
static bool isMovedOnce(Value value) {
  Operation *producer = value.getDefiningOp();
  return producer &&
         (producer->hasTrait<OpTrait::ConstantLike>() || isa<array::ParameterOp>(producer));
}

bool isRemade(Value value) {
  if (auto fill = value.getDefiningOp<linalg::FillOp>())
    value = fill.getDpsInits().front();
  return value.getDefiningOp<tensor::EmptyOp>() != nullptr;
}

bool takesAnyOrder(Operation *op) {
  if (auto pad = dyn_cast<tensor::PadOp>(op))
    return pad.getConstantPaddingValue() != nullptr;
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op))
    return slice.getSourceType().getRank() == slice.getType().getRank();
  if (auto slice = dyn_cast<tensor::InsertSliceOp>(op))
    return slice.getSourceType().getRank() == slice.getType().getRank();
  if (auto cast = dyn_cast<tensor::CastOp>(op))
    return isa<RankedTensorType>(cast.getSource().getType()) &&
           isa<RankedTensorType>(cast.getType());
  return isa<linalg::GenericOp, linalg::FillOp, tensor::EmptyOp, tensor::ExpandShapeOp,
             tensor::CollapseShapeOp>(op);
}

//===----------------------------------------------------------------------===//
// What convolutions ask for
//===----------------------------------------------------------------------===//

namespace {

/// What a dim of an image, a filter or a result is, in the order in which it is best held.
enum class DimKind { Batch, Spatial, Group, Channel };

} // namespace

/// The dims of each kind after those of the kinds before, else in the order that they have.
template <typename Kind> static DimOrder orderByKind(ArrayRef<Kind> kinds) {
  DimOrder order = llvm::to_vector(llvm::seq<int64_t>(0, kinds.size()));
  llvm::sort(order,
             [&](int64_t a, int64_t b) { return std::pair(kinds[a], a) < std::pair(kinds[b], b); });
  return order;
}

/// The kinds of what `map` indexes; `spatial` are the loops of places in the image, `shared` those
/// that image, filter and result have (groups), `channels` those that count as channels.
static SmallVector<DimKind> classify(AffineMap map, linalg::LinalgOp op,
                                     const llvm::SmallBitVector &spatial,
                                     const llvm::SmallBitVector &shared,
                                     const llvm::SmallBitVector &channels) {
  return llvm::map_to_vector(map.getResults(), [&](AffineExpr expr) {
    auto loop = dyn_cast<AffineDimExpr>(expr);
    if (!loop)
      return isa<AffineConstantExpr>(expr) ? DimKind::Batch : DimKind::Spatial;
    unsigned position = loop.getPosition();
    return spatial[position]    ? DimKind::Spatial
           : shared[position]   ? DimKind::Group
           : channels[position] ? DimKind::Channel
                                : DimKind::Batch;
  });
}

/// True if rows of `size` elements of `type` are vectors that threads load at once.
static bool isWholeVectors(int64_t size, RankedTensorType type) {
  constexpr int64_t vectorBits = 128;
  int64_t bits = type.getElementTypeBitWidth();
  return !ShapedType::isDynamic(size) && bits >= 8 && size % (vectorBits / bits) == 0;
}

/// Channels, groups and features last in a filter, after the taps; as it is where its rows are
/// vectors already.
static DimOrder orderFilter(AffineMap map, linalg::LinalgOp op, ArrayRef<int64_t> shape,
                            const llvm::SmallBitVector &taps, const llvm::SmallBitVector &shared,
                            bool vectorizesResults) {
  // Taps, inputs, groups, outputs: as DimKind has them, with inputs in the place of Spatial.
  SmallVector<DimKind> kinds;
  std::optional<DimKind> innermost;
  int64_t innermostSize = 1;
  SmallVector<utils::IteratorType> iterators = op.getIteratorTypesArray();
  for (auto [expr, size] : llvm::zip_equal(map.getResults(), shape)) {
    auto loop = dyn_cast<AffineDimExpr>(expr);
    unsigned position = loop ? loop.getPosition() : 0;
    kinds.push_back(!loop || taps[position]                                 ? DimKind::Batch
                    : iterators[position] == utils::IteratorType::reduction ? DimKind::Spatial
                    : shared[position]                                      ? DimKind::Group
                                                                            : DimKind::Channel);
    if (size != 1) {
      innermost = kinds.back();
      innermostSize = size;
    }
  }
  // Threads beside each other have features of different groups, and each its own inputs.
  bool isNarrow = innermost == DimKind::Spatial && (vectorizesResults || shared.any()) &&
                  innermostSize < kVectorChannels;
  DimOrder order = orderByKind<DimKind>(kinds);
  if (innermost == DimKind::Batch || isNarrow)
    return order;
  return llvm::to_vector(llvm::seq<int64_t>(0, kinds.size()));
}

/// True for filters of one tap that step over every place: a product of matrices, whose rows are
/// the image's.
static bool isPointwise(linalg::GenericOp op, AffineMap imageMap, ArrayRef<int64_t> imageShape) {
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  for (auto [expr, size] : llvm::zip_equal(imageMap.getResults(), imageShape)) {
    std::optional<unsigned> place = getParallelLoop(expr, op);
    if (isa<AffineDimExpr, AffineConstantExpr>(expr))
      continue;
    if (!place || ranges[*place] != size)
      return false;
    for (unsigned loop = 0; loop < ranges.size(); ++loop)
      if (loop != *place && expr.isFunctionOfDim(loop) && ranges[loop] != 1)
        return false;
  }
  return true;
}

/// True if rows of both operands, which are whole vectors, run along dims of the result: what the
/// convolution sums up is outside of them.
static bool sumsPositions(linalg::GenericOp op) {
  return llvm::all_of(op.getDpsInputOperands(), [&](OpOperand *input) {
    AffineExpr innermost = op.getMatchingIndexingMap(input).getResults().back();
    auto type = cast<RankedTensorType>(input->get().getType());
    return isa<AffineDimExpr>(innermost) && getParallelLoop(innermost, op) &&
           isWholeVectors(type.getShape().back(), type);
  });
}

/// True if all that the convolution sums up are taps of windows.
static bool isDepthwise(linalg::GenericOp op, AffineMap imageMap) {
  SmallVector<utils::IteratorType> iterators = op.getIteratorTypesArray();
  return llvm::none_of(imageMap.getResults(), [&](AffineExpr expr) {
    auto loop = dyn_cast<AffineDimExpr>(expr);
    return loop && iterators[loop.getPosition()] == utils::IteratorType::reduction &&
           op.getStaticLoopRanges()[loop.getPosition()] != 1;
  });
}

/// The positions of windows, in all images of the batch.
static double countPlaces(linalg::GenericOp op, AffineMap imageMap) {
  AffineMap result = op.getIndexingMapsArray().back();
  double count = 1;
  for (auto [loop, size] : llvm::enumerate(op.getStaticLoopRanges()))
    if (imageMap.isFunctionOfDim(loop) && result.isFunctionOfDim(loop))
      count *= assumeSize(size); // in range: a double
  return count;
}

/// Says of `convolution` what it gains.
void LayoutChoice::estimate(Convolution &convolution, AffineMap imageMap, bool isGrouped) const {
  linalg::GenericOp op = convolution.op;
  RankedTensorType image = typeOf(convolution.image);
  ConvolutionLayout layout;
  layout.operations = countElements(op.getStaticLoopRanges());
  layout.isProduct = isContraction(op);
  layout.isTensorCoreProduct = isTensorCoreProduct(op);
  layout.isPointwise = isPointwise(op, imageMap, image.getShape());
  layout.sumsPositions = sumsPositions(op);
  layout.isAcross = convolution.isAcross;
  layout.isDepthwise = isDepthwise(op, imageMap);
  layout.movesGroupsOnly = isGrouped && isIdentity(convolution.imageOrder);
  layout.imageElements = countElements(image.getShape());
  if (isMovedOnce(convolution.filter))
    layout.fixedFilterElements = countElements(typeOf(convolution.filter).getShape());
  ArrayRef<int64_t> result = typeOf(convolution.result).getShape();
  if (!result.empty())
    layout.rowPlaces = std::max<int64_t>(assumeSize(result.back()), 1);
  layout.places = countPlaces(op, imageMap);
  int64_t channels = image.getDimSize(convolution.imageOrder.back());
  if (!ShapedType::isDynamic(channels))
    layout.channelBytes = channels * (image.getElementTypeBitWidth() / 8);
  bool isInOrder = isIdentity(convolution.imageOrder) && isIdentity(convolution.filterOrder);
  convolution.gain = isInOrder ? 0 : target.estimateLayoutGain(layout);
  convolution.resultGain =
      isIdentity(convolution.resultOrder) ? 0 : target.estimateResultGain(layout);
}

/// The number of the image among the inputs of a convolution: a window over it that a filter is
/// laid over. A pool has an operand for its window, too, which has no elements.
static std::optional<unsigned> findImage(linalg::GenericOp op) {
  if (op.getNumDpsInputs() != 2 || op.getNumDpsInits() != 1 || !isWindowReduction(op))
    return std::nullopt;
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  auto isPlain = [](AffineMap map) { return map.isProjectedPermutation(true); };
  if (isPlain(maps[0]) == isPlain(maps[1]) || !isPlain(maps[2]))
    return std::nullopt;
  unsigned image = isPlain(maps[0]) ? 1 : 0;
  if (op.getDpsInputs()[1 - image].getDefiningOp<tensor::EmptyOp>())
    return std::nullopt;
  return image;
}

/// True if pixels are packed, and the filter has their lines innermost: all is in the order that it
/// should have.
static bool hasPackedPixels(linalg::GenericOp op, unsigned image) {
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  std::optional<PackedLine> line = matchPackedLine(maps[image].getResults().back());
  auto isInnermost = [&](AffineExpr expr) {
    return maps[1 - image].getResults().back() == expr || maps.back().getResults().back() == expr;
  };
  return line && isInnermost(line->element) && !isInnermost(line->position);
}

/// The orders of a gradient to a filter: the result has the channels of the image and of what comes
/// back, each innermost in rows of whole vectors, and positions are summed up outside of them.
/// Nothing if `convolution` is another one, or has other channels.
static std::optional<std::pair<DimOrder, DimOrder>>
orderAcross(linalg::GenericOp op, unsigned image, const llvm::SmallBitVector &spatial,
            const llvm::SmallBitVector &taps, const llvm::SmallBitVector &shared) {
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  // What tells it from a convolution are sizes: of the image's loops, most are summed up.
  AffineMap imageMap = op.getMatchingIndexingMap(op.getDpsInputOperand(image));
  SmallVector<utils::IteratorType> iterators = op.getIteratorTypesArray();
  double places = 1, own = 1, positions = 1, summed = 1;
  for (auto [loop, range] : llvm::enumerate(ranges)) {
    double size = imageMap.isFunctionOfDim(loop) ? assumeSize(range) : 1;
    (iterators[loop] == utils::IteratorType::parallel ? own : summed) *= size;
    places *= spatial[loop] ? size : 1;
    positions *= taps[loop] ? size : 1;
  }
  if (positions <= places || summed <= own)
    return std::nullopt;
  auto order = [&](unsigned input) -> std::optional<DimOrder> {
    SmallVector<DimKind> kinds;
    auto type = cast<RankedTensorType>(op.getDpsInputs()[input].getType());
    int64_t channels = 1;
    for (auto [expr, size] :
         llvm::zip_equal(op.getMatchingIndexingMap(op.getDpsInputOperand(input)).getResults(),
                         type.getShape())) {
      auto loop = dyn_cast<AffineDimExpr>(expr);
      unsigned position = loop ? loop.getPosition() : 0;
      bool isParallel = loop && iterators[position] == utils::IteratorType::parallel;
      bool isPlace = !loop || spatial[position] || taps[position];
      kinds.push_back(isa<AffineConstantExpr>(expr)    ? DimKind::Batch
                      : isPlace                        ? DimKind::Spatial
                      : isParallel && shared[position] ? DimKind::Group
                      : isParallel                     ? DimKind::Channel
                                                       : DimKind::Batch);
      if (kinds.back() == DimKind::Channel)
        channels = size;
    }
    bool hasChannels = llvm::count(kinds, DimKind::Channel) == 1 && channels != 1;
    return hasChannels && isWholeVectors(channels, type)
               ? std::optional(orderByKind<DimKind>(kinds))
               : std::nullopt;
  };
  std::optional<DimOrder> imageOrder = order(image), otherOrder = order(1 - image);
  if (!imageOrder || !otherOrder)
    return std::nullopt;
  return std::pair(*imageOrder, *otherOrder);
}

std::optional<LayoutChoice::Convolution> LayoutChoice::analyze(linalg::GenericOp op) const {
  std::optional<unsigned> found = findImage(op);
  if (!found || hasPackedPixels(op, *found))
    return std::nullopt;
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  unsigned image = *found;
  AffineMap imageMap = maps[image], filterMap = maps[1 - image];
  llvm::SmallBitVector spatial(op.getNumLoops()), taps(op.getNumLoops()), shared(op.getNumLoops()),
      channels(op.getNumLoops());
  SmallVector<utils::IteratorType> iterators = op.getIteratorTypesArray();
  for (AffineExpr expr : imageMap.getResults())
    for (unsigned loop = 0; loop < op.getNumLoops() && !isa<AffineDimExpr>(expr); ++loop)
      if (expr.isFunctionOfDim(loop))
        (iterators[loop] == utils::IteratorType::parallel ? spatial : taps).set(loop);
  for (unsigned loop = 0; loop < op.getNumLoops(); ++loop) {
    bool isParallel = iterators[loop] == utils::IteratorType::parallel;
    bool inImage = imageMap.isFunctionOfDim(loop), inFilter = filterMap.isFunctionOfDim(loop);
    if (isParallel && inImage && inFilter)
      shared.set(loop);
    else if (!isParallel || inFilter)
      channels.set(loop);
  }
  Convolution result;
  result.op = op;
  result.image = op.getDpsInputs()[image];
  result.filter = op.getDpsInputs()[1 - image];
  result.init = op.getDpsInits().front();
  result.result = op.getResult(0);
  result.imageOrder = orderByKind<DimKind>(classify(imageMap, op, spatial, shared, channels));
  result.resultOrder = orderByKind<DimKind>(classify(maps[2], op, spatial, shared, channels));
  result.filterOrder = orderFilter(filterMap, op, typeOf(result.filter).getShape(), taps, shared,
                                   target.vectorizesResults());
  if (target.readsAcrossSums())
    if (auto across = orderAcross(op, image, spatial, taps, shared)) {
      std::tie(result.imageOrder, result.filterOrder) = *across;
      result.isAcross = true;
      result.resultOrder = llvm::to_vector(llvm::seq<int64_t>(0, maps[2].getNumResults()));
    }
  estimate(result, imageMap, /*isGrouped=*/shared.any());
  return result;
}

//===----------------------------------------------------------------------===//
// What follows for other tensors
//===----------------------------------------------------------------------===//

int64_t LayoutChoice::findRegion(Value value) const {
  int64_t region = regionOf.lookup(value);
  while (parents[region] != region)
    region = parents[region] = parents[parents[region]];
  return region;
}

/// Holds `to` in `order` if it has none yet; with that order it goes with `from`. False if it has
/// another one.
bool LayoutChoice::relate(Value from, Value to, DimOrder order) {
  if (from && to == from)
    return true;
  auto [entry, isNew] = orders.insert({to, order});
  if (isNew) {
    worklist.push_back(to);
    regionOf[to] = parents.size();
    parents.push_back(parents.size());
  } else if (entry->second != order) {
    return false;
  }
  if (from)
    parents[findRegion(to)] = findRegion(from);
  return true;
}

/// The same of tensors of an op that has them all in one order.
void LayoutChoice::follow(Value from, Value to, DimOrder order) {
  if (!relate(from, to, std::move(order)))
    borders.emplace_back(from, to);
}

/// The order of `to`, whose dims have the parallel loops `exprs`, that goes over them as `loops`
/// say; nothing where it does not have each of them once.
static std::optional<DimOrder> orderByLoops(AffineMap map, linalg::LinalgOp op,
                                            ArrayRef<unsigned> loops) {
  if (map.getNumResults() != loops.size())
    return std::nullopt;
  DimOrder order;
  for (unsigned loop : loops)
    for (auto [dim, expr] : llvm::enumerate(map.getResults()))
      if (getParallelLoop(expr, op) == loop)
        order.push_back(dim);
  if (order.size() != loops.size())
    return std::nullopt;
  return order;
}

void LayoutChoice::propagateThroughGeneric(linalg::GenericOp op, Value from) {
  // A convolution reads and writes what it likes; what sums up whole dims has other dims behind it.
  if (op.getNumReductionLoops() > 0 && (findImage(op) || !isWindowReduction(op)))
    return;
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  SmallVector<Value> values(op.getDpsInputs());
  llvm::append_range(values, op.getResults());
  auto place = llvm::find(values, from);
  if (place == values.end())
    return;
  SmallVector<unsigned> loops;
  for (int64_t dim : orders.lookup(from)) {
    std::optional<unsigned> loop = getParallelLoop(maps[place - values.begin()].getResult(dim), op);
    if (!loop || llvm::is_contained(loops, *loop))
      return;
    loops.push_back(*loop);
  }
  if (loops.size() != op.getNumParallelLoops())
    return;
  for (auto [value, map] : llvm::zip_equal(values, maps))
    if (std::optional<DimOrder> order = orderByLoops(map, op, loops))
      follow(from, value, *order);
}

std::optional<DimOrder> orderReshaped(ArrayRef<ReassociationIndices> groups,
                                      ArrayRef<int64_t> order, bool isSplit) {
  DimOrder result;
  if (isSplit) {
    for (int64_t dim : order)
      llvm::append_range(result, groups[dim]);
    return result;
  }
  for (size_t next = 0; next < order.size();) {
    auto group = llvm::find_if(groups, [&](const ReassociationIndices &indices) {
      return indices.front() == order[next];
    });
    if (group == groups.end() || next + group->size() > order.size() ||
        !llvm::equal(*group, order.slice(next, group->size())))
      return std::nullopt;
    result.push_back(group - groups.begin());
    next += group->size();
  }
  return result;
}

void LayoutChoice::propagateThrough(Operation *op, Value from) {
  if (!takesAnyOrder(op))
    return;
  if (auto generic = dyn_cast<linalg::GenericOp>(op))
    return propagateThroughGeneric(generic, from);
  DimOrder order = orders.lookup(from);
  auto relateReshape = [&](Value source, Value result, ArrayRef<ReassociationIndices> groups,
                           bool splits) {
    bool isForward = from == source;
    if (std::optional<DimOrder> other = orderReshaped(groups, order, isForward == splits))
      follow(from, isForward ? result : source, *other);
  };
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op))
    return relateReshape(expand.getSrc(), expand.getResult(), expand.getReassociationIndices(),
                         true);
  if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op))
    return relateReshape(collapse.getSrc(), collapse.getResult(),
                         collapse.getReassociationIndices(), false);
  if (isa<tensor::PadOp, tensor::ExtractSliceOp, tensor::CastOp>(op)) {
    follow(from, op->getOperand(0), order);
    follow(from, op->getResult(0), order);
  } else if (auto insert = dyn_cast<tensor::InsertSliceOp>(op)) {
    for (Value value : {insert.getSource(), insert.getDest(), insert.getResult()})
      if (!isRemade(value))
        follow(from, value, order);
  }
}

void LayoutChoice::propagate() {
  while (!worklist.empty()) {
    Value value = worklist.pop_back_val();
    if (Operation *producer = value.getDefiningOp())
      propagateThrough(producer, value);
    for (Operation *user : value.getUsers())
      propagateThrough(user, value);
  }
}

//===----------------------------------------------------------------------===//
// Whether it pays
//===----------------------------------------------------------------------===//

/// Elements that are moved because `value` is held in another order: where it is made, where it is
/// used, or both.
double LayoutChoice::countTransposed(Value value) const {
  Operation *producer = value.getDefiningOp();
  double count = 0, elements = countElements(typeOf(value).getShape());
  if (!isMovedOnce(value) && (!producer || !takesAnyOrder(producer)))
    count += elements;
  if (llvm::any_of(value.getUsers(), [](Operation *user) {
        return !takesAnyOrder(user) && !isa<tensor::DimOp>(user);
      }))
    count += elements;
  return count;
}

/// True if `value` would be held in `order` with the regions `dropped` as the program has them.
bool LayoutChoice::isHeld(Value value, ArrayRef<int64_t> order,
                          const llvm::DenseSet<int64_t> &dropped) const {
  if (isIdentity(order))
    return true;
  return ArrayRef(orders.lookup(value)) == order && !dropped.contains(findRegion(value));
}

/// What each region gains, less what is transposed at its borders.
llvm::DenseMap<int64_t, double>
LayoutChoice::weighRegions(ArrayRef<Convolution> convolutions,
                           const llvm::DenseSet<int64_t> &dropped) const {
  llvm::DenseMap<int64_t, double> balance;
  for (const Convolution &convolution : convolutions) {
    if (!isHeld(convolution.image, convolution.imageOrder, dropped))
      continue;
    balance[findRegion(convolution.image)] += convolution.gain;
    if (convolution.resultGain > 0 && isHeld(convolution.result, convolution.resultOrder, dropped))
      balance[findRegion(convolution.result)] += convolution.resultGain;
  }
  for (const auto &[value, order] : orders)
    if (!isIdentity(order))
      balance[findRegion(value)] -= countTransposed(value);
  for (auto [value, other] : borders)
    if (!isIdentity(orders.lookup(value)))
      balance[findRegion(value)] -= std::min(countElements(typeOf(value).getShape()),
                                             countElements(typeOf(other).getShape()));
  return balance;
}

void LayoutChoice::dropWhatDoesNotPay(ArrayRef<Convolution> convolutions) {
  // What one region gains may need another, so that each iteration drops those that lost it in the
  // last.
  llvm::DenseSet<int64_t> dropped;
  for (bool isDone = false; !isDone;) {
    isDone = true;
    for (const auto &[region, gain] : weighRegions(convolutions, dropped))
      if (gain <= 0 && dropped.insert(region).second)
        isDone = false;
  }
  orders.remove_if([&](const auto &entry) {
    return isIdentity(entry.second) || dropped.contains(findRegion(entry.first));
  });
}

LayoutChoice::LayoutChoice(func::FuncOp func, const DispatchTarget &target) : target(target) {
  SmallVector<Convolution> convolutions;
  for (auto op : func.getOps<linalg::GenericOp>())
    if (std::optional<Convolution> convolution = analyze(op))
      convolutions.push_back(std::move(*convolution));
  for (const Convolution &convolution : convolutions) {
    relate({}, convolution.image, convolution.imageOrder);
    // What single threads have goes anywhere; then it is worth as much as it gains.
    if (target.vectorizesResults())
      relate(convolution.image, convolution.result, convolution.resultOrder);
    else if (convolution.resultGain > 0)
      relate({}, convolution.result, convolution.resultOrder);
    if (orders.contains(convolution.result) && !isRemade(convolution.init))
      relate(convolution.result, convolution.init, convolution.resultOrder);
    relate(convolution.image, convolution.filter, convolution.filterOrder);
  }
  propagate();
  dropWhatDoesNotPay(convolutions);
  for (const Convolution &convolution : convolutions)
    numConvolutions += orders.contains(convolution.image) || orders.contains(convolution.filter);
}

} // namespace xc::plan
