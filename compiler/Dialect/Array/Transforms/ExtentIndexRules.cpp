//===- ExtentIndexRules.cpp - Bounded dynamic dims and positions as data --===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Indices are clamped to the extent rather than to the bound; what is taken of nothing is 0.
// Updates behind an extent are dropped.
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Array/Transforms/ExtentResolver.h"

#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace xc::array {

static RankedTensorType getType(Value value) { return cast<RankedTensorType>(value.getType()); }

LogicalResult ExtentResolver::applyIndexRule(Operation *op) {
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](TakeOp take) { return resolveTake(take); })
      .Case([&](TakeAlongAxisOp take) { return resolveTakeAlongAxis(take); })
      .Case([&](GatherOp gather) { return resolveGather(gather); })
      .Case([&](ScatterOp scatter) { return resolveScatter(scatter); })
      .Case([&](DynamicSliceOp slice) { return resolveDynamicSlice(slice); })
      .Case([&](DynamicUpdateSliceOp update) { return resolveDynamicUpdateSlice(update); })
      .Default([&](Operation *other) { return refuse(other); });
}

Value ExtentResolver::clampIndices(Value indices, Value extent) {
  ExpressionBuilder e(builder, indices.getLoc());
  Type element = builder.getI64Type();
  Value last = e.sub(extent, e.integer(1, element));
  // Unsigned numbers that i64 does not hold are beyond every extent as well.
  Value wide = indices;
  if (getElementTypeOrSelf(indices.getType()).isUnsignedInteger(64))
    wide = e.make<MinOp>(indices,
                         e.make<ConstantOp>(cast<ElementsAttr>(DenseElementsAttr::get(
                             RankedTensorType::get({}, getElementTypeOrSelf(indices.getType())),
                             APInt(64, INT64_MAX)))));
  Value low = e.make<MinOp>(e.convert(wide, element), last);
  return e.make<MaxOp>(low, e.integer(0, element));
}

Value ExtentResolver::zeroIfEmpty(Value value, ArrayRef<Value> extents) {
  ExpressionBuilder e(builder, value.getLoc());
  for (Value extent : extents) {
    Value any = e.compare(CompareDirection::Gt, extent, e.integer(0, builder.getI64Type()));
    Value zero = e.make<ConstantOp>(cast<ElementsAttr>(DenseElementsAttr::get(
        RankedTensorType::get({}, getElementTypeOrSelf(value.getType())),
        ArrayRef<Attribute>(builder.getZeroAttr(getElementTypeOrSelf(value.getType()))))));
    value = e.select(any, value, zero);
  }
  return value;
}

LogicalResult ExtentResolver::resolveTake(TakeOp op) {
  Value array = arrayOf(op.getOperand()), indices = arrayOf(op.getIndices());
  Extents extents = extentsOf(op.getOperand());
  Value extent = extents[op.getAxis()];
  if (extent)
    indices = clampIndices(indices, extent);
  Value taken = rebuild(op, {array, indices})->getResult(0);
  if (extent)
    taken = zeroIfEmpty(taken, extent);
  Extents own = extentsOf(op.getIndices());
  extents.erase(extents.begin() + op.getAxis());
  extents.insert(extents.begin() + op.getAxis(), own.begin(), own.end());
  define(op.getResult(), taken, extents);
  replaced.push_back(op);
  return success();
}

LogicalResult ExtentResolver::resolveTakeAlongAxis(TakeAlongAxisOp op) {
  int64_t axis = op.getAxis();
  Extents extents;
  for (int64_t dim = 0; dim < op.getType().getRank(); ++dim) {
    FailureOr<Value> extent = dim == axis ? FailureOr<Value>(extentOf(op.getIndices(), dim))
                                          : unify(op, {{0, dim}, {1, dim}});
    if (failed(extent))
      return failure();
    extents.push_back(*extent);
  }
  Value indices = arrayOf(op.getIndices()), extent = extentOf(op.getOperand(), axis);
  if (extent)
    indices = clampIndices(indices, extent);
  Value taken = rebuild(op, {arrayOf(op.getOperand()), indices})->getResult(0);
  if (extent)
    taken = zeroIfEmpty(taken, extent);
  define(op.getResult(), taken, extents);
  replaced.push_back(op);
  return success();
}

LogicalResult ExtentResolver::resolveGather(GatherOp op) {
  ExpressionBuilder e = expressions(op);
  Value indices = arrayOf(op.getIndices());
  Extents extents = extentsOf(op.getIndices()), from = extentsOf(op.getOperand());
  if (extents.back())
    return refuse(op);
  extents.pop_back();
  // One limit for each component of an index vector.
  SmallVector<Value> limits, reached;
  for (int64_t axis : op.getAxes()) {
    Value limit = from[axis] ? from[axis] : sizeAsData(arrayOf(op.getOperand()), axis);
    if (from[axis])
      reached.push_back(from[axis]);
    limits.push_back(e.make<ExpandDimsOp>(limit, int64_t(0)));
  }
  if (!reached.empty())
    indices = clampIndices(indices, limits.size() == 1
                                        ? limits.front()
                                        : e.make<ConcatenateOp>(limits, /*axis=*/int64_t(0)));
  Value taken = rebuild(op, {arrayOf(op.getOperand()), indices})->getResult(0);
  for (auto [dim, extent] : llvm::enumerate(from))
    if (!llvm::is_contained(op.getAxes(), static_cast<int64_t>(dim)))
      extents.push_back(extent);
  define(op.getResult(), zeroIfEmpty(taken, reached), extents);
  replaced.push_back(op);
  return success();
}

/// Behind the operand's own extents anything may be written.
LogicalResult ExtentResolver::resolveScatter(ScatterOp op) {
  Value indices = arrayOf(op.getIndices());
  int64_t vectors = getType(indices).getRank() - 1;
  if (extentOf(op.getIndices(), vectors))
    return refuse(op);
  SmallVector<std::pair<int64_t, Value>> dropped;
  for (int64_t dim = 0; dim < vectors; ++dim) {
    FailureOr<Value> extent = unify(op, {{1, dim}, {2, dim}});
    if (failed(extent))
      return failure();
    if (*extent)
      dropped.push_back({dim, *extent});
  }
  int64_t window = vectors;
  for (int64_t dim = 0; dim < op.getType().getRank(); ++dim)
    if (!llvm::is_contained(op.getAxes(), dim))
      if (failed(unify(op, {{0, dim}, {2, window++}})))
        return failure();
  if (!dropped.empty()) {
    // -1 is inside of no dim, which the largest number of a narrow type may be.
    indices = expressions(op).convert(indices, builder.getI64Type());
    for (auto [dim, extent] : dropped)
      indices = fillBehind(indices, dim, extent, builder.getI64IntegerAttr(-1));
  }
  Operation *rebuilt = rebuild(op, {arrayOf(op.getOperand()), indices, arrayOf(op.getUpdates())});
  defineAll(op, rebuilt, extentsOf(op.getOperand()));
  return success();
}

static bool isZero(Value value) {
  DenseIntElementsAttr elements;
  return matchPattern(value, m_Constant(&elements)) && elements.isSplat() &&
         elements.getSplatValue<APInt>().isZero();
}

/// Of a dim with an extent a box holds the first elements, 0 where there are none.
LogicalResult ExtentResolver::resolveDynamicSlice(DynamicSliceOp op) {
  FailureOr<ResultShape> shape = getResultShape(op);
  if (failed(shape))
    return failure();
  ExpressionBuilder e = expressions(op);
  SmallVector<Value> starts(op.getStarts());
  Value array = arrayOf(op.getOperand());
  for (auto [dim, start] : llvm::enumerate(starts)) {
    Value own = extentOf(op.getOperand(), dim), wanted = shape->extents[dim];
    if (!own && !wanted)
      continue;
    bool isWhole = own && wanted && equality.areEqual(op, own, wanted);
    if (!own || !wanted || !(isWhole || isZero(start))) {
      if (!own)
        return refuse(op);
      return refuseDim(op, 0, dim,
                       "which a box that does not begin at 0 has to have too, with "
                       "sizes(array.dim of it); array.take reads single indices");
    }
    if (!isWhole)
      array =
          fillBehind(array, dim, own, builder.getZeroAttr(getElementTypeOrSelf(array.getType())));
    start = e.integer(0, getElementTypeOrSelf(start.getType()));
  }
  Value box = e.make<DynamicSliceOp>(shape->type, array, starts, shape->sizes);
  define(op.getResult(), box, shape->extents);
  replaced.push_back(op);
  return success();
}

/// The box lies before the extent, as far as that has room for it.
LogicalResult ExtentResolver::resolveDynamicUpdateSlice(DynamicUpdateSliceOp op) {
  ExpressionBuilder e = expressions(op);
  SmallVector<Value> operands = arraysOf(op->getOperands());
  Value update = operands[1];
  for (int64_t dim = 0; dim < op.getType().getRank(); ++dim) {
    Value own = extentOf(op.getOperand(), dim), box = extentOf(op.getUpdate(), dim);
    Value &start = operands[2 + dim];
    if (box) {
      if (failed(unify(op, {{0, dim}, {1, dim}})))
        return failure();
      start = e.integer(0, getElementTypeOrSelf(start.getType()));
    } else if (own) {
      Value room = e.sub(own, sizeAsData(update, dim));
      start = clampIndices(start, e.add(room, e.integer(1, builder.getI64Type())));
    }
  }
  defineAll(op, rebuild(op, operands), extentsOf(op.getOperand()));
  return success();
}

} // namespace xc::array
