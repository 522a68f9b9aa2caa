//===- ExtentRules.cpp - Bounded dynamic dims of what computes ------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Elementwise ops, reductions, scans, sorts and products. What lies behind an extent is not
// specified and may be NaN: it is replaced wherever it would meet an element that counts.
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Array/Transforms/ExtentRules.h"

#include "compiler/Dialect/Array/IR/PassAttributes.h"

#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace xc::array {

static int64_t getRank(Value value) { return cast<RankedTensorType>(value.getType()).getRank(); }

//===----------------------------------------------------------------------===//
// Elementwise
//===----------------------------------------------------------------------===//

static LogicalResult resolveElementwise(BoundedValues &bounded, Operation *op) {
  int64_t rank = getRank(op->getResult(0));
  Extents extents;
  for (int64_t dim = 0; dim < rank; ++dim) {
    SmallVector<BoundedValues::OperandDim> aligned;
    for (OpOperand &operand : op->getOpOperands())
      if (int64_t own = dim - (rank - getRank(operand.get())); own >= 0)
        aligned.push_back({operand.getOperandNumber(), own});
    FailureOr<Value> extent = bounded.unify(op, aligned, /*broadcast=*/true);
    if (failed(extent))
      return failure();
    extents.push_back(*extent);
  }
  SmallVector<Value> arrays = bounded.arraysOf(op->getOperands());
  Operation *rebuilt = bounded.rebuild(op, arrays);
  if (!isa<InferTypeOpInterface>(op)) {
    // Conversions: one operand, whose shape is the result's.
    auto shape = cast<RankedTensorType>(arrays.front().getType()).getShape();
    for (Value result : rebuilt->getResults())
      result.setType(cast<RankedTensorType>(result.getType()).clone(shape));
  }
  bounded.defineAll(op, rebuilt, extents);
  return success();
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

/// What the elements of a dim leave when `axes` are reduced.
static Extents reduceExtents(Extents extents, ArrayRef<int64_t> axes, bool keepdims) {
  for (int64_t axis : llvm::reverse(axes)) {
    if (keepdims)
      extents[axis] = Value();
    else
      extents.erase(extents.begin() + axis);
  }
  return extents;
}

TypedAttr getNeutral(OpBuilder &builder, ReduceKind kind, Type element) {
  switch (kind) {
  case ReduceKind::Sum:
  case ReduceKind::Or:
    return builder.getZeroAttr(element);
  case ReduceKind::Prod:
    return builder.getOneAttr(element);
  case ReduceKind::Max:
    return getLowest(element);
  case ReduceKind::Min:
    return getHighest(element);
  case ReduceKind::And:
    return IntegerAttr::get(element, APInt::getAllOnes(element.getIntOrFloatBitWidth()));
  }
  llvm_unreachable("all kinds are listed");
}

static LogicalResult resolveReduce(BoundedValues &bounded, ReduceOp op) {
  Value array = bounded.arrayOf(op.getOperand());
  Extents extents = bounded.extentsOf(op.getOperand());
  TypedAttr neutral =
      getNeutral(bounded.builder, op.getKind(), getElementTypeOrSelf(op.getOperand().getType()));
  for (int64_t axis : op.getAxes())
    if (extents[axis])
      array = bounded.fillBehind(array, axis, extents[axis], neutral);
  Extents results = reduceExtents(extents, op.getAxes(), op.getKeepdims());
  for (int64_t axis : op.getAxes())
    extents[axis] = Value();
  bounded.defineAll(op, bounded.rebuild(op, bounded.mark(array, extents)), results);
  return success();
}

static LogicalResult resolveReduceWith(BoundedValues &bounded, ReduceWithOp op) {
  Extents extents;
  for (int64_t dim = 0; dim < getRank(op.getOperands().front()); ++dim) {
    SmallVector<BoundedValues::OperandDim> same;
    for (unsigned operand = 0; operand < op->getNumOperands(); ++operand)
      same.push_back({operand, dim});
    FailureOr<Value> extent = bounded.unify(op, same);
    if (failed(extent))
      return failure();
    extents.push_back(*extent);
  }
  SmallVector<Value> arrays = bounded.arraysOf(op.getOperands());
  for (auto [array, init] : llvm::zip_equal(arrays, op.getInit()))
    for (int64_t axis : op.getAxes())
      if (extents[axis])
        array = bounded.fillBehind(array, axis, extents[axis], cast<TypedAttr>(init));
  bounded.defineAll(op, bounded.rebuild(op, arrays),
                    reduceExtents(extents, op.getAxes(), op.getKeepdims()));
  return success();
}

/// Of equal elements the first is taken, so those that count come before what stands in for the
/// others.
static LogicalResult resolveArg(BoundedValues &bounded, Operation *op, int64_t axis, bool keepdims,
                                bool isMax) {
  Value operand = op->getOperand(0), array = bounded.arrayOf(operand);
  Type element = getElementTypeOrSelf(array.getType());
  Extents extents = bounded.extentsOf(operand);
  Extents results = reduceExtents(extents, axis, keepdims);
  if (Value extent = std::exchange(extents[axis], Value()))
    array =
        bounded.fillBehind(array, axis, extent, isMax ? getLowest(element) : getHighest(element));
  bounded.defineAll(op, bounded.rebuild(op, bounded.mark(array, extents)), results);
  return success();
}

//===----------------------------------------------------------------------===//
// Along a dim
//===----------------------------------------------------------------------===//

/// Forwards, what comes later does not matter.
static LogicalResult resolveScan(BoundedValues &bounded, Operation *op, int64_t axis, bool reverse,
                                 TypedAttr neutral) {
  Value operand = op->getOperand(0), array = bounded.arrayOf(operand);
  Extents extents = bounded.extentsOf(operand);
  if (reverse && extents[axis])
    array = bounded.fillBehind(array, axis, extents[axis], neutral);
  bounded.defineAll(op, bounded.rebuild(op, array), extents);
  return success();
}

/// What sorts last: NaN, which also comes behind numbers; forwards among equals.
static TypedAttr getLast(Type element, bool descending) {
  if (descending)
    return getLowest(element);
  if (auto floating = dyn_cast<FloatType>(element))
    return FloatAttr::get(element, APFloat::getNaN(floating.getFloatSemantics()));
  return getHighest(element);
}

static LogicalResult resolveSort(BoundedValues &bounded, Operation *op, int64_t axis,
                                 bool descending) {
  Value operand = op->getOperand(0), array = bounded.arrayOf(operand);
  Extents extents = bounded.extentsOf(operand);
  if (extents[axis])
    array = bounded.fillBehind(array, axis, extents[axis],
                               getLast(getElementTypeOrSelf(array.getType()), descending));
  bounded.defineAll(op, bounded.rebuild(op, array), extents);
  return success();
}

static LogicalResult resolveTopK(BoundedValues &bounded, TopKOp op) {
  Value array = bounded.arrayOf(op.getOperand());
  int64_t axis = op.getAxis();
  Extents extents = bounded.extentsOf(op.getOperand());
  Value extent = extents[axis];
  if (extent)
    array = bounded.fillBehind(array, axis, extent,
                               getLast(getElementTypeOrSelf(array.getType()), !op.getSmallest()));
  extents[axis] = Value();
  auto rebuilt = cast<TopKOp>(bounded.rebuild(op, array));
  bounded.define(op.getValues(), rebuilt.getValues(), extents);
  Value indices = rebuilt.getIndices();
  if (extent)
    indices = bounded.fillBehind(
        indices, axis, extent,
        bounded.builder.getIntegerAttr(getElementTypeOrSelf(indices.getType()), -1));
  bounded.define(op.getIndices(), indices, extents);
  bounded.eraseLater(op);
  return success();
}

static LogicalResult resolveSearchSorted(BoundedValues &bounded, SearchSortedOp op) {
  Value sorted = bounded.arrayOf(op.getSorted()), values = bounded.arrayOf(op.getValues());
  Value extent = bounded.extentOf(op.getSorted(), 0);
  if (extent)
    sorted = bounded.fillBehind(
        sorted, 0, extent, getLast(getElementTypeOrSelf(sorted.getType()), /*descending=*/false));
  Operation *rebuilt = bounded.rebuild(op, {sorted, values});
  Value places = rebuilt->getResult(0);
  if (extent) {
    ExpressionBuilder e = bounded.expressions(op);
    places = e.make<MinOp>(places, e.convert(extent, getElementTypeOrSelf(places.getType())));
  }
  bounded.define(op.getResult(), places, bounded.extentsOf(op.getValues()));
  bounded.eraseLater(op);
  return success();
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// Both factors, since 0 times what is not a number is not 0. Integers need one only.
LogicalResult maskContracted(BoundedValues &bounded, Operation *op, ArrayRef<int64_t> lhs,
                             ArrayRef<int64_t> rhs, SmallVectorImpl<Value> &operands) {
  Type element = getElementTypeOrSelf(operands.front().getType());
  for (auto [left, right] : llvm::zip_equal(lhs, rhs)) {
    FailureOr<Value> extent = bounded.unify(op, {{0, left}, {1, right}});
    if (failed(extent))
      return failure();
    if (!*extent)
      continue;
    operands[0] =
        bounded.fillBehind(operands[0], left, *extent, bounded.builder.getZeroAttr(element));
    if (isa<FloatType>(element))
      operands[1] =
          bounded.fillBehind(operands[1], right, *extent, bounded.builder.getZeroAttr(element));
  }
  return success();
}

static LogicalResult resolveMatMul(BoundedValues &bounded, MatMulOp op) {
  int64_t left = getRank(op.getLhs()), right = getRank(op.getRhs()), rank = getRank(op.getResult());
  int64_t row = op.getTransposeA() ? 1 : 2, inner = op.getTransposeB() ? 1 : 2;
  Extents extents;
  for (int64_t dim = 0; dim < rank - 2; ++dim) {
    SmallVector<BoundedValues::OperandDim> aligned;
    if (int64_t own = dim - (rank - left); own >= 0)
      aligned.push_back({0, own});
    if (int64_t own = dim - (rank - right); own >= 0)
      aligned.push_back({1, own});
    FailureOr<Value> extent = bounded.unify(op, aligned, /*broadcast=*/true);
    if (failed(extent))
      return failure();
    extents.push_back(*extent);
  }
  extents.push_back(bounded.extentOf(op.getLhs(), left - row));
  extents.push_back(bounded.extentOf(op.getRhs(), right - (3 - inner)));
  SmallVector<Value> operands = bounded.arraysOf(op->getOperands());
  if (failed(maskContracted(bounded, op, left - (3 - row), right - inner, operands)))
    return failure();
  bounded.defineAll(op, bounded.rebuild(op, operands), extents);
  return success();
}

static LogicalResult resolveDotGeneral(BoundedValues &bounded, DotGeneralOp op) {
  Extents extents;
  for (auto [left, right] : llvm::zip_equal(op.getLhsBatch(), op.getRhsBatch())) {
    FailureOr<Value> extent = bounded.unify(op, {{0, left}, {1, right}});
    if (failed(extent))
      return failure();
    extents.push_back(*extent);
  }
  for (int64_t dim : DotGeneralOp::getFreeDims(op.getLhs(), op.getLhsBatch(), op.getLhsContract()))
    extents.push_back(bounded.extentOf(op.getLhs(), dim));
  for (int64_t dim : DotGeneralOp::getFreeDims(op.getRhs(), op.getRhsBatch(), op.getRhsContract()))
    extents.push_back(bounded.extentOf(op.getRhs(), dim));
  SmallVector<Value> operands = bounded.arraysOf(op->getOperands());
  if (failed(maskContracted(bounded, op, op.getLhsContract(), op.getRhsContract(), operands)))
    return failure();
  bounded.defineAll(op, bounded.rebuild(op, operands), extents);
  return success();
}

/// Of attention that is left whole. The last query sees the keys before the extent, the one before
/// it one key fewer: that is an offset, since causal attention reads no key that no query sees.
static LogicalResult resolveAttention(BoundedValues &bounded, AttentionOp op) {
  int64_t length = getRank(op.getKey()) - 2;
  for (OpOperand &operand : op->getOpOperands()) {
    bool hasKeys = operand.get() == op.getKey() || operand.get() == op.getValue();
    for (auto [dim, extent] : llvm::enumerate(bounded.extentsOf(operand.get())))
      if (extent && !(hasKeys && static_cast<int64_t>(dim) == length))
        return bounded.refuse(op);
  }
  FailureOr<Value> extent = bounded.unify(op, {{1, length}, {2, length}});
  if (failed(extent))
    return failure();
  ExpressionBuilder e = bounded.expressions(op);
  int64_t queries = op.getQuery().getType().getDimSize(length);
  Value offset = e.sub(*extent, e.integer(queries, getElementTypeOrSelf(extent->getType())));
  OpBuilder &builder = bounded.builder;
  auto rebuilt = AttentionOp::create(
      builder, op.getLoc(), op->getResultTypes(), op.getQuery(), bounded.arrayOf(op.getKey()),
      bounded.arrayOf(op.getValue()), op.getMask(), offset, op.getSinks(), builder.getUnitAttr(),
      op.getWindowAttr(), op.getWithLogsumexpAttr(), op.getSoftcapAttr(), op.getScaleAttr());
  rebuilt->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  rebuilt->setAttr(kOpenEndAttr, builder.getUnitAttr());
  bounded.defineAll(op, rebuilt);
  return success();
}

//===----------------------------------------------------------------------===//
// Which op has which rule
//===----------------------------------------------------------------------===//

LogicalResult applyExtentRule(BoundedValues &bounded, Operation *op) {
  if (isa<ArrayElementwiseOpInterface>(op))
    return resolveElementwise(bounded, op);
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](ReduceOp reduce) { return resolveReduce(bounded, reduce); })
      .Case([&](ReduceWithOp reduce) { return resolveReduceWith(bounded, reduce); })
      .Case([&](ArgMaxOp arg) {
        return resolveArg(bounded, arg, arg.getAxis(), arg.getKeepdims(), true);
      })
      .Case([&](ArgMinOp arg) {
        return resolveArg(bounded, arg, arg.getAxis(), arg.getKeepdims(), false);
      })
      .Case<CumSumOp, CumProdOp, CumMaxOp, CumMinOp, LogCumSumExpOp>([&](auto scan) {
        Type element = scan.getType().getElementType();
        TypedAttr neutral = bounded.builder.getZeroAttr(element);
        if (isa<CumProdOp>(scan))
          neutral = bounded.builder.getOneAttr(element);
        if (isa<CumMaxOp, LogCumSumExpOp>(scan))
          neutral = getLowest(element);
        if (isa<CumMinOp>(scan))
          neutral = getHighest(element);
        return resolveScan(bounded, scan, scan.getAxis(), scan.getReverse(), neutral);
      })
      .Case<SortOp, ArgSortOp>([&](auto sort) {
        return resolveSort(bounded, sort, sort.getAxis(), sort.getDescending());
      })
      .Case([&](TopKOp topk) { return resolveTopK(bounded, topk); })
      .Case([&](SearchSortedOp search) { return resolveSearchSorted(bounded, search); })
      .Case([&](MatMulOp product) { return resolveMatMul(bounded, product); })
      .Case([&](DotGeneralOp product) { return resolveDotGeneral(bounded, product); })
      .Case([&](AttentionOp attention) { return resolveAttention(bounded, attention); })
      .Default([&](Operation *other) { return applyWindowRule(bounded, other); });
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

static TypedAttr getExtreme(Type type, bool lowest) {
  if (auto floating = dyn_cast<FloatType>(type))
    return FloatAttr::get(type, APFloat::getInf(floating.getFloatSemantics(), lowest));
  unsigned width = type.getIntOrFloatBitWidth();
  if (type.isUnsignedInteger() || width == 1)
    return IntegerAttr::get(type, lowest ? APInt::getMinValue(width) : APInt::getMaxValue(width));
  return IntegerAttr::get(type, lowest ? APInt::getSignedMinValue(width)
                                       : APInt::getSignedMaxValue(width));
}

TypedAttr getLowest(Type type) { return getExtreme(type, /*lowest=*/true); }
TypedAttr getHighest(Type type) { return getExtreme(type, /*lowest=*/false); }

} // namespace xc::array
