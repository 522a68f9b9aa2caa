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

using namespace mlir;

namespace xc::array {

using Values = SmallVector<Value>;

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

LogicalResult AdaptivePoolOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                               Adaptor adaptor, SmallVectorImpl<Type> &inferred) {
  return inferResized({location, getOperationName()}, adaptor.getOperand().getType(),
                      adaptor.getAxes(), adaptor.getSizes(), /*least=*/1,
                      "expected sizes of at least 1", inferred);
}

LogicalResult AdaptivePoolOp::reifyResultShapes(OpBuilder &builder,
                                                ReifiedRankedShapedTypeDims &shapes) {
  return reifyResized(getOperation(), getOperand(), getAxes(), getSizes(), builder, shapes);
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
    ranges.begin.push_back(place * size / places);
    ranges.end.push_back(llvm::divideCeil((place + 1) * size, places));
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

//===----------------------------------------------------------------------===//
// In simpler ops
//===----------------------------------------------------------------------===//

FailureOr<Values> AdaptivePoolOp::decompose(OpBuilder &builder) {
  ExpressionBuilder e(builder, getLoc());
  RankedTensorType type = getOperand().getType();
  bool isMax = getKind() == PoolKind::Max;
  SmallVector<int64_t> window(type.getRank(), 1);
  for (auto [axis, size] : llvm::zip_equal(getAxes(), getSizes()))
    window[axis] = type.getDimSize(axis) % size == 0 ? type.getDimSize(axis) / size : 0;
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
  for (auto [axis, size] : llvm::zip_equal(getAxes(), getSizes()))
    x = poolAxis(e, x, axis, windowsOf(type.getDimSize(axis), size), getKind());
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
