//===- Indices.cpp - ONNX ops at positions that are data ------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Input/ONNX/NodeImport.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace xc::array;

namespace xc::onnx {

using Dir = CompareDirection;

/// How far values are followed back.
static constexpr unsigned kMostSteps = 16;

/// Whether indices are constants that count from the front, or positions.
static bool areKnownPositive(NodeImport &n, Value indices, unsigned steps = 0) {
  DenseElementsAttr elements;
  if (!indices || n.isUnsigned(indices))
    return true;
  if (matchPattern(indices, m_Constant(&elements)))
    return llvm::none_of(elements.getValues<APInt>(),
                         [](const APInt &index) { return index.isNegative(); });
  Operation *op = indices.getDefiningOp();
  if (isa_and_present<IotaOp>(op))
    return true;
  bool moves = isa_and_present<ConcatenateOp, BroadcastInDimOp, ReshapeOp, ExpandDimsOp, SqueezeOp,
                               TransposeOp, SliceOp>(op);
  return moves && steps < kMostSteps &&
         llvm::all_of(
             op->getOperands(),
             [&](Value operand) {
               return !isa<RankedTensorType>(operand.getType()) ||
                      areKnownPositive(n, operand, steps + 1);
             });
}

/// The dim of the result that dim `dim` of a reshape's operand is, where only dims of size 1 come
/// and go.
static std::optional<int64_t> findReshapedDim(NodeImport &n, Value from, Value to, int64_t dim) {
  SmallVector<int64_t> mine = n.shapeOf(from), theirs = n.shapeOf(to), place;
  if (mine[dim] == 1 || llvm::count_if(mine, ShapedType::isDynamic) > 1)
    return std::nullopt;
  auto isLong = [](int64_t size) { return size != 1; };
  for (auto [index, size] : llvm::enumerate(theirs))
    if (isLong(size))
      place.push_back(index);
  int64_t before = llvm::count_if(ArrayRef(mine).take_front(dim), isLong);
  if (!llvm::equal(llvm::make_filter_range(mine, isLong), llvm::make_filter_range(theirs, isLong)))
    return std::nullopt;
  return place[before];
}

/// The dim along which the elements of `value` are 0, 1, 2, ...; they are the same along others.
static std::optional<int64_t> findCountedDim(NodeImport &n, Value value, unsigned steps = 0) {
  DenseElementsAttr elements;
  if (matchPattern(value, m_Constant(&elements))) {
    SmallVector<int64_t> shape = n.shapeOf(value);
    auto *dim = llvm::find_if(shape, [](int64_t size) { return size != 1; });
    if (dim == shape.end() || *dim != elements.getNumElements())
      return std::nullopt;
    for (auto [index, element] : llvm::enumerate(elements.getValues<APInt>()))
      if (element != index)
        return std::nullopt;
    return dim - shape.begin();
  }
  Operation *op = value.getDefiningOp();
  if (auto iota = dyn_cast_if_present<IotaOp>(op))
    return iota.getAxis();
  auto broadcast = dyn_cast_if_present<BroadcastInDimOp>(op);
  if (steps == kMostSteps ||
      !(broadcast || isa_and_present<ReshapeOp, ExpandDimsOp, SqueezeOp>(op)))
    return std::nullopt;
  std::optional<int64_t> dim = findCountedDim(n, op->getOperand(0), steps + 1);
  if (!dim || !broadcast)
    return dim ? findReshapedDim(n, op->getOperand(0), value, *dim) : std::nullopt;
  // An iota of one element is broadcast where the result has more.
  int64_t axis = broadcast.getAxes()[*dim];
  bool isWhole = n.size(op->getOperand(0), *dim) == n.size(value, axis);
  return isWhole ? std::optional(axis) : std::nullopt;
}

/// What a gather of `x` at every position along dims is: `x` itself, broadcast to the other dims of
/// the index vectors. Masks are read so. Null where indices are others.
static Value readAlongDims(NodeImport &n, Value x, Value indices) {
  auto joined = indices ? indices.getDefiningOp<ConcatenateOp>() : ConcatenateOp();
  int64_t last = n.rankOf(indices) - 1;
  if (!joined || int64_t(joined.getAxis()) != last)
    return {};
  SmallVector<int64_t> axes;
  Numbers sizes = n.sizesOf(indices), box = n.sizesOf(x);
  sizes.pop_back();
  for (auto [component, part] : llvm::enumerate(joined.getOperands())) {
    std::optional<int64_t> dim = findCountedDim(n, part);
    if (!dim || *dim >= last || n.dimOf(part, last) != 1 || (!axes.empty() && axes.back() >= *dim))
      return {};
    axes.push_back(*dim);
    box[component] = sizes[*dim];
  }
  for (int64_t dim = axes.size(); dim < n.rankOf(x); ++dim) {
    axes.push_back(sizes.size());
    sizes.push_back(box[dim]);
  }
  // As much of it as there are positions.
  if (box != n.sizesOf(x)) {
    Type word = n.getBuilder().getI64Type();
    x = n.dynamicSlice(x, SmallVector<Value>(n.rankOf(x), n.scalar(0, word)), box);
  }
  return n.broadcastAlong(x, sizes, axes);
}

/// Indices that are negative count from the end of the dim.
static Value wrapIndices(NodeImport &n, Value indices, Value x, int64_t axis) {
  if (areKnownPositive(n, indices))
    return indices;
  Type element = n.elementOf(indices);
  Value fromEnd = n.add(indices, n.scalarOf(n.size(x, axis), element));
  return n.select(n.compare(Dir::Lt, indices, n.scalar(0, indices)), fromEnd, indices);
}

/// The same for index vectors along the last dim, whose components are of dims `axes` of `x`.
static Value wrapVectors(NodeImport &n, Value indices, Value x, ArrayRef<int64_t> axes) {
  if (areKnownPositive(n, indices))
    return indices;
  Type element = n.elementOf(indices);
  SmallVector<Value> sizes;
  for (int64_t axis : axes)
    sizes.push_back(n.reshape(n.scalarOf(n.size(x, axis), element), ArrayRef<int64_t>(1)));
  if (sizes.empty())
    return indices;
  Value fromEnd = n.add(indices, n.concatenate(sizes, 0));
  return n.select(n.compare(Dir::Lt, indices, n.scalar(0, indices)), fromEnd, indices);
}

//===----------------------------------------------------------------------===//
// Gathers
//===----------------------------------------------------------------------===//

static Results importGather(NodeImport &n) {
  Value x = n.input(0), indices = n.input(1);
  int64_t axis = n.axis("axis", 0, n.rankOf(x));
  return {n.make<TakeOp>(x, wrapIndices(n, indices, x, axis), uint64_t(axis))};
}

static Results importGatherElements(NodeImport &n) {
  Value x = n.input(0), indices = n.input(1);
  int64_t axis = n.axis("axis", 0, n.rankOf(x));
  if (n.rankOf(x) != n.rankOf(indices))
    return n.error("expected indices of the rank of the data, " + Twine(n.rankOf(x)) + ", got " +
                   Twine(n.rankOf(indices)));
  indices = wrapIndices(n, indices, x, axis);
  // Other dims of the indices may be smaller than those of the data.
  for (int64_t dim = 0; dim < n.rankOf(x); ++dim) {
    int64_t size = n.dimOf(indices, dim);
    if (dim != axis && !ShapedType::isDynamic(size) && size < n.dimOf(x, dim))
      x = n.slice(x, dim, 0, size);
  }
  return {n.make<TakeAlongAxisOp>(x, indices, uint64_t(axis))};
}

static Results importGatherND(NodeImport &n) {
  Value x = n.input(0), indices = n.input(1);
  int64_t batch = n.integer("batch_dims", 0), rank = n.rankOf(indices);
  int64_t components = n.dimOf(indices, rank - 1);
  if (rank < 1 || ShapedType::isDynamic(components) || batch < 0 || batch >= rank ||
      batch + components > n.rankOf(x))
    return n.error("expected index vectors of static size, for dims that the data has");
  SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(0, batch + components));
  if (Value whole = batch == 0 ? readAlongDims(n, x, indices) : Value())
    return {whole};
  indices = wrapVectors(n, indices, x, ArrayRef<int64_t>(axes).drop_front(batch));
  // Batch dims are components as well, which count.
  SmallVector<Value> parts;
  Numbers sizes = n.sizesOf(indices);
  if (!sizes.empty())
    sizes.back() = n.index(1);
  for (int64_t dim = 0; dim < batch; ++dim)
    parts.push_back(n.iota(sizes, dim, n.elementOf(indices)));
  parts.push_back(indices);
  return {n.make<GatherOp>(x, n.concatenate(parts, rank - 1), ArrayRef<int64_t>(axes))};
}

/// Along the last dim. The result has as many rows as the data, a vector counts as one row.
static Results importArrayFeatureExtractor(NodeImport &n) {
  Value x = n.input(0), indices = n.input(1);
  OpFoldResult count = n.index(1);
  for (OpFoldResult size : n.sizesOf(indices))
    count = n.sizes().mul(count, size);
  if (n.rankOf(x) == 1)
    x = n.expandDims(x, {0});
  if (n.rankOf(x) < 1)
    return n.error("expected data of rank 1 or more");
  return {n.make<TakeOp>(x, n.reshape(indices, {count}), uint64_t(n.rankOf(x) - 1))};
}

static Results importCompress(NodeImport &n) {
  Value x = n.input(0);
  SmallVector<int64_t> condition = n.needIntegers(1, "the condition of Compress");
  OpFoldResult elements = n.index(1);
  if (!n.hasAttribute("axis")) {
    for (OpFoldResult size : n.sizesOf(x))
      elements = n.sizes().mul(elements, size);
    x = n.reshape(x, {elements});
  }
  int64_t axis = n.axis("axis", 0, n.rankOf(x));
  SmallVector<int64_t> indices;
  for (auto [index, flag] : llvm::enumerate(condition))
    if (flag)
      indices.push_back(index);
  return {n.make<TakeOp>(x, n.constant(indices, n.getBuilder().getI64Type()), uint64_t(axis))};
}

//===----------------------------------------------------------------------===//
// Scatters
//===----------------------------------------------------------------------===//

static std::optional<ScatterKind> readKind(NodeImport &n) {
  std::string name = n.text("reduction", "none");
  if (name == "none")
    return ScatterKind::Set;
  if (name == "add")
    return ScatterKind::Add;
  if (name == "mul")
    return ScatterKind::Mul;
  if (name == "max")
    return ScatterKind::Max;
  if (name == "min")
    return ScatterKind::Min;
  n.error("unknown reduction '" + name + "'");
  return std::nullopt;
}

static Results importScatterND(NodeImport &n) {
  Value x = n.input(0), indices = n.input(1), updates = n.input(2);
  int64_t components = n.dimOf(indices, n.rankOf(indices) - 1);
  std::optional<ScatterKind> kind = readKind(n);
  if (n.rankOf(indices) < 1 || ShapedType::isDynamic(components) || components > n.rankOf(x) ||
      !kind)
    return n.error("expected index vectors of static size, for dims that the data has");
  SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(0, components));
  indices = wrapVectors(n, indices, x, axes);
  return {n.make<ScatterOp>(*kind, x, indices, updates, ArrayRef<int64_t>(axes),
                            /*unique=*/false)};
}

static Results importScatterElements(NodeImport &n) {
  Value x = n.input(0), indices = n.input(1), updates = n.input(2);
  int64_t rank = n.rankOf(x), axis = n.axis("axis", 0, rank);
  std::optional<ScatterKind> kind = readKind(n);
  if (n.rankOf(indices) != rank || !kind)
    return n.error("expected indices of the rank of the data, " + Twine(rank) + ", got " +
                   Twine(n.rankOf(indices)));
  indices = wrapIndices(n, indices, x, axis);
  Numbers sizes = n.sizesOf(indices);
  SmallVector<Value> components;
  SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  for (int64_t dim = 0; dim < rank; ++dim)
    components.push_back(
        n.expandDims(dim == axis ? indices : n.iota(sizes, dim, n.elementOf(indices)), {rank}));
  return {n.make<ScatterOp>(*kind, x, n.concatenate(components, rank), updates,
                            ArrayRef<int64_t>(axes), /*unique=*/false)};
}

/// Each batch's update goes to a place of its own along `axis`.
static Results importTensorScatter(NodeImport &n) {
  Value past = n.input(0), update = n.input(1);
  int64_t rank = n.rankOf(past), axis = n.axis("axis", -2, rank);
  std::string mode = n.text("mode", "linear");
  if (n.hasFailed() || axis == 0 || n.rankOf(update) != rank ||
      (mode != "linear" && mode != "circular"))
    return n.error("expected an update of the cache's rank, an axis behind the batch, and mode "
                   "linear or circular");
  Type word = n.getBuilder().getI64Type();
  Numbers sizes{n.size(update, 0), n.size(update, axis)};
  Value place = n.iota(sizes, 1, word);
  if (n.has(2))
    place = n.add(place, n.expandDims(n.convert(n.input(2), word), {1}));
  int64_t length = n.dimOf(update, axis), room = n.dimOf(past, axis);
  bool isUnique = true;
  if (mode == "circular") {
    place = n.make<ModOp>(place, n.scalarOf(n.size(past, axis), word));
    isUnique = !ShapedType::isDynamic(length) && !ShapedType::isDynamic(room) && length <= room;
  }
  Value indices =
      n.concatenate({n.expandDims(n.iota(sizes, 0, word), {2}), n.expandDims(place, {2})}, 2);
  SmallVector<int64_t> permutation{0, axis};
  for (int64_t dim = 1; dim < rank; ++dim)
    if (dim != axis)
      permutation.push_back(dim);
  return {n.make<ScatterOp>(ScatterKind::Set, past, indices, n.transpose(update, permutation),
                            ArrayRef<int64_t>({0, axis}), isUnique)};
}

static Results importOneHot(NodeImport &n) {
  Value indices = n.input(0), values = n.input(2);
  int64_t rank = n.rankOf(indices), axis = n.axis("axis", -1, rank + 1);
  Numbers depths;
  if (std::optional<SmallVector<double>> depth = n.floats(1); depth && depth->size() == 1)
    depths.push_back(n.index(int64_t(depth->front())));
  else
    depths = n.needNumbers(1, "the depth of OneHot");
  if (depths.size() != 1 || n.rankOf(values) != 1 || n.dimOf(values, 0) != 2)
    return n.error("expected one depth and two values");
  Type word = n.getBuilder().getI64Type();
  indices = n.convert(indices, word);
  Value depth = n.scalarOf(depths.front(), word);
  indices =
      n.select(n.compare(Dir::Lt, indices, n.scalar(0, indices)), n.add(indices, depth), indices);
  Value wide = n.expandDims(indices, {axis});
  Numbers sizes = n.sizesOf(wide);
  sizes[axis] = depths.front();
  Value isHot = n.compare(Dir::Eq, n.iota(sizes, axis, word), wide);
  Value off = n.squeeze(n.slice(values, 0, 0, 1), {0}),
        on = n.squeeze(n.slice(values, 0, 1, 2), {0});
  return {n.select(isHot, on, off)};
}

llvm::ArrayRef<OpEntry> getIndexOps() {
  static constexpr OpEntry kOps[] = {
      {"Compress", 1, importCompress},
      {"Gather", 1, importGather},
      {"GatherElements", 1, importGatherElements},
      {"GatherND", 1, importGatherND},
      {"OneHot", 1, importOneHot},
      {"Scatter", 1, importScatterElements},
      {"ScatterElements", 1, importScatterElements},
      {"ScatterND", 1, importScatterND},
      {"TensorScatter", 24, importTensorScatter},
      {"ArrayFeatureExtractor", 1, importArrayFeatureExtractor, "ai.onnx.ml"},
  };
  return kOps;
}

} // namespace xc::onnx
