//===- AdaptivePoolOp.cpp - Pools with a number of windows -===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Windows of several dims are products of windows of one, so dims are pooled one after the other. A
// table says which elements each window of a dim holds; gathers by it make the windows a dim of
// their own, which is reduced. The gradient goes the same way back, with the table of the windows
// that hold each element: gathers and sums again.
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Array/IR/ExpressionBuilder.h"
#include "compiler/Dialect/Array/IR/ResizedDims.h"
#include "compiler/Dialect/Array/IR/TensorTypes.h"

using namespace mlir;

namespace xc::array {

using Values = SmallVector<Value>;

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

LogicalResult AdaptivePoolOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                               Adaptor adaptor, SmallVectorImpl<Type> &inferred) {
  return inferResized({location, getOperationName()}, adaptor.getOperand().getType(),
                      adaptor.getAxes(), adaptor.getSizes(), adaptor.getDynamicSizes(), inferred);
}

LogicalResult AdaptivePoolOp::reifySizes(SizeBuilder &sizeBuilder,
                                         ReifiedRankedShapedTypeDims &shapes) {
  return reifyResized(getOperation(), getOperand(), getAxes(),
                      getMixedValues(getSizes(), getDynamicSizes(), getContext()), sizeBuilder,
                      shapes);
}

LogicalResult AdaptivePoolOp::canonicalize(AdaptivePoolOp op, PatternRewriter &rewriter) {
  return refineResized(op, rewriter);
}

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

namespace {

/// For each of `count` places of a dim a range of another one, `[begin, end)`, not empty.
struct Ranges {
  SmallVector<int64_t> begin, end;

  int64_t getCount() const { return begin.size(); }
  int64_t getWidth() const {
    int64_t width = 1;
    for (auto [first, last] : llvm::zip_equal(begin, end))
      width = std::max(width, last - first);
    return width;
  }
  /// The sizes of all ranges.
  SmallVector<double> getSizes() const {
    SmallVector<double> sizes;
    for (auto [first, last] : llvm::zip_equal(begin, end))
      sizes.push_back(static_cast<double>(last - first));
    return sizes;
  }
};

} // namespace

/// The elements that each of `places` windows holds of `size`.
static Ranges windowsOf(int64_t size, int64_t places) {
  Ranges ranges;
  for (int64_t place = 0; place < places; ++place) {
    ranges.begin.push_back(place * size / places); // in range: tables are small
    ranges.end.push_back(llvm::divideCeil((place + 1) * size, places)); // in range: likewise
  }
  return ranges;
}

/// The windows that hold each of the elements: their neighbours, since both ends only grow.
static Ranges holdersOf(const Ranges &windows, int64_t size) {
  Ranges ranges;
  int64_t begin = 0, end = 0;
  for (int64_t element = 0; element < size; ++element) {
    while (windows.end[begin] <= element)
      ++begin;
    while (end < windows.getCount() && windows.begin[end] <= element)
      ++end;
    ranges.begin.push_back(begin);
    ranges.end.push_back(end);
  }
  return ranges;
}

/// `x` with dim `axis` replaced by two: one place for each range, and the range's elements, filled
/// up to the longest with `fill`.
static Value gatherRanges(ExpressionBuilder &e, Value x, int64_t axis, const Ranges &ranges,
                          double fill) {
  int64_t width = ranges.getWidth(), rank = typeOf(x).getRank();
  SmallVector<int32_t> places;
  SmallVector<bool> isInside;
  for (auto [begin, end] : llvm::zip_equal(ranges.begin, ranges.end))
    for (int64_t i = 0; i < width; ++i) {
      places.push_back(static_cast<int32_t>(std::min(begin + i, end - 1)));
      isInside.push_back(begin + i < end);
    }
  OpBuilder &builder = e.getBuilder();
  auto table = RankedTensorType::get({ranges.getCount(), width}, builder.getI32Type());
  Value index =
      e.make<ConstantOp>(cast<ElementsAttr>(DenseElementsAttr::get(table, ArrayRef(places))));
  Value gathered = e.make<TakeOp>(x, index, uint64_t(axis));
  if (llvm::all_of(isInside, [](bool inside) { return inside; }))
    return gathered;
  // The dims behind `axis` are as many ones.
  SmallVector<int64_t> shape(rank - axis + 1, 1);
  shape[0] = ranges.getCount();
  shape[1] = width;
  auto maskType = RankedTensorType::get(shape, builder.getI1Type());
  Value mask =
      e.make<ConstantOp>(cast<ElementsAttr>(DenseElementsAttr::get(maskType, ArrayRef(isInside))));
  return e.select(mask, gathered, e.scalar(fill, gathered));
}

/// How many elements each range has, along dim `axis` of a tensor of `rank`.
static Value countRanges(ExpressionBuilder &e, const Ranges &ranges, int64_t axis, Value like) {
  SmallVector<int64_t> shape(typeOf(like).getRank() - axis, 1);
  shape[0] = ranges.getCount();
  return e.constant(ranges.getSizes(), shape, like);
}

static constexpr double kLowest = -std::numeric_limits<double>::infinity();

static Value poolAxis(ExpressionBuilder &e, Value x, int64_t axis, const Ranges &windows,
                      PoolKind kind) {
  bool isMax = kind == PoolKind::Max;
  Value gathered = gatherRanges(e, x, axis, windows, isMax ? kLowest : 0);
  Value pooled = e.reduce(isMax ? ReduceKind::Max : ReduceKind::Sum, gathered, axis + 1,
                          /*keepdims=*/false);
  return isMax ? pooled : e.div(pooled, countRanges(e, windows, axis, pooled));
}

/// `values` of one number for each window as a tensor of the rank that is left from `axis` on.
static Value alongAxis(ExpressionBuilder &e, Value values, int64_t rank) {
  SmallVector<int64_t> shape(rank, 1);
  shape[0] = typeOf(values).getDimSize(0);
  auto type = RankedTensorType::get(shape, typeOf(values).getElementType());
  return e.make<ReshapeOp>(type, values, e.dynamicSizes(values));
}

/// The most elements that one of `count` windows holds: both ends of a window may lie within
/// elements that it shares with its neighbours.
static OpFoldResult widestWindow(SizeBuilder &sizes, OpFoldResult size, OpFoldResult count) {
  OpFoldResult one = sizes.constant(1);
  return sizes.add(sizes.ceilDiv(size, sizes.max(count, one)), one);
}

/// Pools a dim where its size or the number of windows is known when inputs are bound. A single
/// window is the whole dim.
static Value poolOpenAxis(ExpressionBuilder &e, Value x, int64_t axis, OpFoldResult count,
                          PoolKind kind) {
  bool isMax = kind == PoolKind::Max;
  if (getConstantIntValue(count) == 1)
    return isMax ? e.reduce(ReduceKind::Max, x, axis) : e.mean(x, axis);
  OpBuilder &builder = e.getBuilder();
  SizeBuilder sizes(builder, x.getLoc());
  Type i64 = builder.getI64Type();
  auto one = e.integer(1, i64);
  OpFoldResult inner = sizes.size(x, axis);
  Value size = e.number(inner, i64), windows = e.number(count, i64);
  Value window = e.iota(count, i64, /*ones=*/1);
  Value begin = e.div(e.mul(window, size), windows);
  Value next = e.mul(e.add(window, one), size);
  Value end = e.div(e.add(next, e.sub(windows, one)), windows);
  Value width = sizes.value(widestWindow(sizes, inner, count));
  Value step = e.make<IotaOp>(RankedTensorType::get({1, ShapedType::kDynamic}, i64),
                              ValueRange(width), uint64_t(1));
  Value place = e.add(begin, step);
  // An element behind all others is there to be taken even if there are none.
  SmallVector<int64_t> none(typeOf(x).getRank(), 0), behind(none);
  behind[axis] = typeOf(x).isDynamicDim(axis) || typeOf(x).getDimSize(axis) == 0;
  Value padded = e.make<PadOp>(x, e.scalar(0, x), none, behind, DenseI64ArrayAttr());
  Value gathered = e.make<TakeOp>(padded, e.make<MinOp>(place, e.sub(end, one)), uint64_t(axis));
  SmallVector<int64_t> shape(typeOf(x).getRank() - axis + 1, 1);
  shape[0] = typeOf(window).getDimSize(0);
  shape[1] = ShapedType::kDynamic;
  Value isInside = e.compare(CompareDirection::Lt, place, end);
  isInside = e.make<ReshapeOp>(RankedTensorType::get(shape, builder.getI1Type()), isInside,
                               e.dynamicSizes(isInside));
  Value filled = e.select(isInside, gathered, e.scalar(isMax ? kLowest : 0, gathered));
  Value pooled = e.reduce(isMax ? ReduceKind::Max : ReduceKind::Sum, filled, axis + 1,
                          /*keepdims=*/false);
  if (isMax)
    return pooled;
  Value counts = e.convert(e.sub(end, begin), typeOf(pooled).getElementType());
  return e.div(pooled, alongAxis(e, counts, typeOf(pooled).getRank() - axis));
}

//===----------------------------------------------------------------------===//
// In simpler ops
//===----------------------------------------------------------------------===//

/// Whether the windows of `size` parts of dim `axis` are known, and hold something.
static bool isKnownAxis(RankedTensorType type, int64_t axis, int64_t size) {
  return type.getDimSize(axis) > 0 && !ShapedType::isDynamic(size);
}

/// Whether tables of all windows' elements are small enough to be constants. Kernels compute the
/// positions of larger ones, as where sizes are not known.
static bool hasTables(RankedTensorType type, int64_t axis, int64_t size) {
  constexpr int64_t most = int64_t(1) << 20;
  return isKnownAxis(type, axis, size) && type.getDimSize(axis) <= most && size <= most;
}

FailureOr<Values> AdaptivePoolOp::decompose(OpBuilder &builder) {
  ExpressionBuilder e(builder, getLoc());
  RankedTensorType type = getOperand().getType();
  bool isMax = getKind() == PoolKind::Max;
  if (llvm::is_contained(getSizes(), 0)) {
    Value zero = e.scalar(0, getOperand());
    ReifiedRankedShapedTypeDims shapes;
    SizeBuilder sizeBuilder(builder, getLoc());
    if (failed(reifySizes(sizeBuilder, shapes)))
      return failure();
    SmallVector<int64_t> known;
    Values sizes;
    dispatchIndexOpFoldResults(shapes.front(), sizes, known);
    auto empty = RankedTensorType::get(known, type.getElementType());
    return Values{
        e.finish(e.make<BroadcastInDimOp>(empty, zero, sizes, ArrayRef<int64_t>()), getType())};
  }
  SmallVector<int64_t> window(type.getRank(), 1);
  for (auto [axis, size] : llvm::zip_equal(getAxes(), getSizes()))
    window[axis] = isKnownAxis(type, axis, size) && type.getDimSize(axis) % size == 0
                       ? type.getDimSize(axis) / size
                       : 0;
  if (!llvm::is_contained(window, 0)) {
    auto windowAttr = builder.getDenseI64ArrayAttr(window);
    auto none = DenseI64ArrayAttr();
    Value pooled = isMax
                       ? e.make<ReduceWindowOp>(ReduceKind::Max, getOperand(), windowAttr,
                                                windowAttr, none, none, none)
                       : e.make<AvgPoolOp>(getOperand(), windowAttr, windowAttr, none, none, none);
    return Values{e.finish(pooled, getType())};
  }
  Value x = e.widen(getOperand());
  SmallVector<OpFoldResult> mixed = getMixedValues(getSizes(), getDynamicSizes(), builder);
  for (auto [axis, size, value] : llvm::zip_equal(getAxes(), getSizes(), mixed))
    x = hasTables(type, axis, size)
            ? poolAxis(e, x, axis, windowsOf(type.getDimSize(axis), size), getKind())
            : poolOpenAxis(e, x, axis, value, getKind());
  return Values{e.finish(x, getType())};
}

/// What each element of `x` gets of `g`, the cotangent of `pooled`, its pool along `axis`.
static Value spreadAxis(ExpressionBuilder &e, Value g, Value x, Value pooled, int64_t axis,
                        const Ranges &windows, PoolKind kind) {
  Ranges holders = holdersOf(windows, typeOf(x).getDimSize(axis));
  if (kind == PoolKind::Avg) {
    Value share = e.div(g, countRanges(e, windows, axis, g));
    return e.reduce(ReduceKind::Sum, gatherRanges(e, share, axis, holders, 0), axis + 1,
                    /*keepdims=*/false);
  }
  // Elements that attain a window's maximum share what it gets.
  Value maximum = e.make<ExpandDimsOp>(pooled, axis + 1);
  Value attains =
      e.compare(CompareDirection::Eq, gatherRanges(e, x, axis, windows, kLowest), maximum);
  Value count = e.reduce(ReduceKind::Sum, e.convert(attains, typeOf(g).getElementType()), axis + 1,
                         /*keepdims=*/false);
  Value share = e.div(g, count);
  Value element = e.make<ExpandDimsOp>(x, axis + 1);
  Value isMaximum = e.compare(CompareDirection::Eq,
                              gatherRanges(e, pooled, axis, holders, std::nan("")), element);
  Value shares = gatherRanges(e, share, axis, holders, 0);
  return e.reduce(ReduceKind::Sum, e.select(isMaximum, shares, e.scalar(0, shares)), axis + 1,
                  /*keepdims=*/false);
}

FailureOr<Values> AdaptivePoolOp::buildVjp(OpBuilder &builder, ValueRange cotangents) {
  ExpressionBuilder e(builder, getLoc());
  RankedTensorType type = getOperand().getType();
  // Of windows without tables, or of none, the decomposition has a gradient.
  for (auto [axis, size] : llvm::zip_equal(getAxes(), getSizes()))
    if (size == 0 || !hasTables(type, axis, size))
      return failure();
  SmallVector<Value> stages = {e.widen(getOperand())};
  SmallVector<Ranges> windows;
  for (auto [axis, size] : llvm::zip_equal(getAxes(), getSizes())) {
    windows.push_back(windowsOf(type.getDimSize(axis), size));
    stages.push_back(poolAxis(e, stages.back(), axis, windows.back(), getKind()));
  }
  Value g = e.widen(cotangents.front());
  for (int64_t stage = getAxes().size() - 1; stage >= 0; --stage)
    g = spreadAxis(e, g, stages[stage], stages[stage + 1], getAxes()[stage], windows[stage],
                   getKind());
  return Values{e.finish(g, type)};
}

} // namespace xc::array
