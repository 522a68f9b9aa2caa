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

#include "compiler/Dialect/Array/Transforms/ExtentRules.h"

#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace xc::array {

static RankedTensorType getType(Value value) { return cast<RankedTensorType>(value.getType()); }

static Value clampIndices(BoundedValues &bounded, Value indices, Value extent) {
  ExpressionBuilder e(bounded.builder, indices.getLoc());
  Type element = bounded.builder.getI64Type();
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

static Value zeroIfEmpty(BoundedValues &bounded, Value value, ArrayRef<Value> extents) {
  ExpressionBuilder e(bounded.builder, value.getLoc());
  for (Value extent : extents) {
    Value any = e.compare(CompareDirection::Gt, extent, e.integer(0, bounded.builder.getI64Type()));
    Value zero = e.make<ConstantOp>(cast<ElementsAttr>(DenseElementsAttr::get(
        RankedTensorType::get({}, getElementTypeOrSelf(value.getType())),
        ArrayRef<Attribute>(bounded.builder.getZeroAttr(getElementTypeOrSelf(value.getType()))))));
    value = e.select(any, value, zero);
  }
  return value;
}

static LogicalResult resolveTake(BoundedValues &bounded, TakeOp op) {
  Value array = bounded.arrayOf(op.getOperand()), indices = bounded.arrayOf(op.getIndices());
  Extents extents = bounded.extentsOf(op.getOperand());
  Value extent = extents[op.getAxis()];
  if (extent)
    indices = clampIndices(bounded, indices, extent);
  Value taken = bounded.rebuild(op, {array, indices})->getResult(0);
  if (extent)
    taken = zeroIfEmpty(bounded, taken, extent);
  Extents own = bounded.extentsOf(op.getIndices());
  extents.erase(extents.begin() + op.getAxis());
  extents.insert(extents.begin() + op.getAxis(), own.begin(), own.end());
  bounded.define(op.getResult(), taken, extents);
  bounded.eraseLater(op);
  return success();
}

static LogicalResult resolveTakeAlongAxis(BoundedValues &bounded, TakeAlongAxisOp op) {
  int64_t axis = op.getAxis();
  Extents extents;
  for (int64_t dim = 0; dim < op.getType().getRank(); ++dim) {
    FailureOr<Value> extent = dim == axis ? FailureOr<Value>(bounded.extentOf(op.getIndices(), dim))
                                          : bounded.unify(op, {{0, dim}, {1, dim}});
    if (failed(extent))
      return failure();
    extents.push_back(*extent);
  }
  Value indices = bounded.arrayOf(op.getIndices()),
        extent = bounded.extentOf(op.getOperand(), axis);
  if (extent)
    indices = clampIndices(bounded, indices, extent);
  Value taken = bounded.rebuild(op, {bounded.arrayOf(op.getOperand()), indices})->getResult(0);
  if (extent)
    taken = zeroIfEmpty(bounded, taken, extent);
  bounded.define(op.getResult(), taken, extents);
  bounded.eraseLater(op);
  return success();
}

static LogicalResult resolveGather(BoundedValues &bounded, GatherOp op) {
  ExpressionBuilder e = bounded.expressions(op);
  Value indices = bounded.arrayOf(op.getIndices());
  Extents extents = bounded.extentsOf(op.getIndices()), from = bounded.extentsOf(op.getOperand());
  if (extents.back())
    return bounded.refuse(op);
  extents.pop_back();
  // One limit for each component of an index vector.
  SmallVector<Value> limits, reached;
  for (int64_t axis : op.getAxes()) {
    Value limit =
        from[axis] ? from[axis] : bounded.sizeAsData(bounded.arrayOf(op.getOperand()), axis);
    if (from[axis])
      reached.push_back(from[axis]);
    limits.push_back(e.make<ExpandDimsOp>(limit, int64_t(0)));
  }
  if (!reached.empty())
    indices = clampIndices(bounded, indices,
                           limits.size() == 1 ? limits.front()
                                              : e.make<ConcatenateOp>(limits, /*axis=*/int64_t(0)));
  Value taken = bounded.rebuild(op, {bounded.arrayOf(op.getOperand()), indices})->getResult(0);
  for (auto [dim, extent] : llvm::enumerate(from))
    if (!llvm::is_contained(op.getAxes(), static_cast<int64_t>(dim)))
      extents.push_back(extent);
  bounded.define(op.getResult(), zeroIfEmpty(bounded, taken, reached), extents);
  bounded.eraseLater(op);
  return success();
}

/// Behind the operand's own extents anything may be written.
static LogicalResult resolveScatter(BoundedValues &bounded, ScatterOp op) {
  Value indices = bounded.arrayOf(op.getIndices());
  int64_t vectors = getType(indices).getRank() - 1;
  if (bounded.extentOf(op.getIndices(), vectors))
    return bounded.refuse(op);
  SmallVector<std::pair<int64_t, Value>> dropped;
  for (int64_t dim = 0; dim < vectors; ++dim) {
    FailureOr<Value> extent = bounded.unify(op, {{1, dim}, {2, dim}});
    if (failed(extent))
      return failure();
    if (*extent)
      dropped.push_back({dim, *extent});
  }
  int64_t window = vectors;
  for (int64_t dim = 0; dim < op.getType().getRank(); ++dim)
    if (!llvm::is_contained(op.getAxes(), dim))
      if (failed(bounded.unify(op, {{0, dim}, {2, window++}})))
        return failure();
  if (!dropped.empty()) {
    // -1 is inside of no dim, which the largest number of a narrow type may be.
    indices = bounded.expressions(op).convert(indices, bounded.builder.getI64Type());
    for (auto [dim, extent] : dropped)
      indices = bounded.fillBehind(indices, dim, extent, bounded.builder.getI64IntegerAttr(-1));
  }
  Operation *rebuilt = bounded.rebuild(
      op, {bounded.arrayOf(op.getOperand()), indices, bounded.arrayOf(op.getUpdates())});
  bounded.defineAll(op, rebuilt, bounded.extentsOf(op.getOperand()));
  return success();
}

static bool isZero(Value value) {
  DenseIntElementsAttr elements;
  return matchPattern(value, m_Constant(&elements)) && elements.isSplat() &&
         elements.getSplatValue<APInt>().isZero();
}

/// Of a dim with an extent a box holds the first elements, 0 where there are none.
static LogicalResult resolveDynamicSlice(BoundedValues &bounded, DynamicSliceOp op) {
  FailureOr<ResultShape> shape = getResultShape(bounded, op);
  if (failed(shape))
    return failure();
  ExpressionBuilder e = bounded.expressions(op);
  SmallVector<Value> starts(op.getStarts());
  Value array = bounded.arrayOf(op.getOperand());
  for (auto [dim, start] : llvm::enumerate(starts)) {
    Value own = bounded.extentOf(op.getOperand(), dim), wanted = shape->extents[dim];
    if (!own && !wanted)
      continue;
    bool isWhole = own && wanted && bounded.equality.areEqual(op, own, wanted);
    if (!own || !wanted || !(isWhole || isZero(start))) {
      if (!own)
        return bounded.refuse(op);
      return bounded.refuseDim(op, 0, dim,
                               "which a box that does not begin at 0 has to have too, with "
                               "sizes(array.dim of it); array.take reads single indices");
    }
    if (!isWhole)
      array = bounded.fillBehind(
          array, dim, own, bounded.builder.getZeroAttr(getElementTypeOrSelf(array.getType())));
    start = e.integer(0, getElementTypeOrSelf(start.getType()));
  }
  Value box = e.make<DynamicSliceOp>(shape->type, array, starts, shape->sizes);
  bounded.define(op.getResult(), box, shape->extents);
  bounded.eraseLater(op);
  return success();
}

/// The box lies before the extent, as far as that has room for it.
static LogicalResult resolveDynamicUpdateSlice(BoundedValues &bounded, DynamicUpdateSliceOp op) {
  ExpressionBuilder e = bounded.expressions(op);
  SmallVector<Value> operands = bounded.arraysOf(op->getOperands());
  Value update = operands[1];
  for (int64_t dim = 0; dim < op.getType().getRank(); ++dim) {
    Value own = bounded.extentOf(op.getOperand(), dim), box = bounded.extentOf(op.getUpdate(), dim);
    Value &start = operands[2 + dim];
    if (box) {
      if (failed(bounded.unify(op, {{0, dim}, {1, dim}})))
        return failure();
      start = e.integer(0, getElementTypeOrSelf(start.getType()));
    } else if (own) {
      Value room = e.sub(own, bounded.sizeAsData(update, dim));
      start = clampIndices(bounded, start, e.add(room, e.integer(1, bounded.builder.getI64Type())));
    }
  }
  bounded.defineAll(op, bounded.rebuild(op, operands), bounded.extentsOf(op.getOperand()));
  return success();
}

//===----------------------------------------------------------------------===//
// Which op has which rule
//===----------------------------------------------------------------------===//

LogicalResult applyIndexRule(BoundedValues &bounded, Operation *op) {
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](TakeOp take) { return resolveTake(bounded, take); })
      .Case([&](TakeAlongAxisOp take) { return resolveTakeAlongAxis(bounded, take); })
      .Case([&](GatherOp gather) { return resolveGather(bounded, gather); })
      .Case([&](ScatterOp scatter) { return resolveScatter(bounded, scatter); })
      .Case([&](DynamicSliceOp slice) { return resolveDynamicSlice(bounded, slice); })
      .Case([&](DynamicUpdateSliceOp update) { return resolveDynamicUpdateSlice(bounded, update); })
      .Default([&](Operation *other) { return bounded.refuse(other); });
}

} // namespace xc::array
