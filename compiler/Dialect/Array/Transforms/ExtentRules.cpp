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

#include "compiler/Dialect/Array/Transforms/ExtentResolver.h"

using namespace mlir;

namespace xc::array {

static int64_t getRank(Value value) { return cast<RankedTensorType>(value.getType()).getRank(); }

//===----------------------------------------------------------------------===//
// Elementwise
//===----------------------------------------------------------------------===//

LogicalResult ExtentResolver::resolveElementwise(Operation *op) {
  int64_t rank = getRank(op->getResult(0));
  Extents extents;
  for (int64_t dim = 0; dim < rank; ++dim) {
    SmallVector<OperandDim> aligned;
    for (OpOperand &operand : op->getOpOperands())
      if (int64_t own = dim - (rank - getRank(operand.get())); own >= 0)
        aligned.push_back({operand.getOperandNumber(), own});
    FailureOr<Value> extent = unify(op, aligned, /*broadcast=*/true);
    if (failed(extent))
      return failure();
    extents.push_back(*extent);
  }
  SmallVector<Value> arrays = arraysOf(op->getOperands());
  Operation *rebuilt = rebuild(op, arrays);
  if (!isa<InferTypeOpInterface>(op)) {
    // Conversions: one operand, whose shape is the result's.
    auto shape = cast<RankedTensorType>(arrays.front().getType()).getShape();
    for (Value result : rebuilt->getResults())
      result.setType(cast<RankedTensorType>(result.getType()).clone(shape));
  }
  defineAll(op, rebuilt, extents);
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

TypedAttr ExtentResolver::getNeutral(ReduceKind kind, Type element) {
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

LogicalResult ExtentResolver::resolveReduce(ReduceOp op) {
  Value array = arrayOf(op.getOperand());
  Extents extents = extentsOf(op.getOperand());
  TypedAttr neutral = getNeutral(op.getKind(), getElementTypeOrSelf(op.getOperand().getType()));
  for (int64_t axis : op.getAxes())
    if (extents[axis])
      array = fillBehind(array, axis, extents[axis], neutral);
  Extents results = reduceExtents(extents, op.getAxes(), op.getKeepdims());
  for (int64_t axis : op.getAxes())
    extents[axis] = Value();
  defineAll(op, rebuild(op, mark(array, extents)), results);
  return success();
}

LogicalResult ExtentResolver::resolveReduceWith(ReduceWithOp op) {
  Extents extents;
  for (int64_t dim = 0; dim < getRank(op.getOperands().front()); ++dim) {
    SmallVector<OperandDim> same;
    for (unsigned operand = 0; operand < op->getNumOperands(); ++operand)
      same.push_back({operand, dim});
    FailureOr<Value> extent = unify(op, same);
    if (failed(extent))
      return failure();
    extents.push_back(*extent);
  }
  SmallVector<Value> arrays = arraysOf(op.getOperands());
  for (auto [array, init] : llvm::zip_equal(arrays, op.getInit()))
    for (int64_t axis : op.getAxes())
      if (extents[axis])
        array = fillBehind(array, axis, extents[axis], cast<TypedAttr>(init));
  defineAll(op, rebuild(op, arrays), reduceExtents(extents, op.getAxes(), op.getKeepdims()));
  return success();
}

/// Of equal elements the first is taken, so those that count come before what stands in for the
/// others.
LogicalResult ExtentResolver::resolveArg(Operation *op, int64_t axis, bool keepdims, bool isMax) {
  Value operand = op->getOperand(0), array = arrayOf(operand);
  Type element = getElementTypeOrSelf(array.getType());
  Extents extents = extentsOf(operand);
  Extents results = reduceExtents(extents, axis, keepdims);
  if (Value extent = std::exchange(extents[axis], Value()))
    array = fillBehind(array, axis, extent, isMax ? getLowest(element) : getHighest(element));
  defineAll(op, rebuild(op, mark(array, extents)), results);
  return success();
}

//===----------------------------------------------------------------------===//
// Along a dim
//===----------------------------------------------------------------------===//

/// Forwards, what comes later does not matter.
LogicalResult ExtentResolver::resolveScan(Operation *op, int64_t axis, bool reverse,
                                          TypedAttr neutral) {
  Value operand = op->getOperand(0), array = arrayOf(operand);
  Extents extents = extentsOf(operand);
  if (reverse && extents[axis])
    array = fillBehind(array, axis, extents[axis], neutral);
  defineAll(op, rebuild(op, array), extents);
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

LogicalResult ExtentResolver::resolveSort(Operation *op, int64_t axis, bool descending) {
  Value operand = op->getOperand(0), array = arrayOf(operand);
  Extents extents = extentsOf(operand);
  if (extents[axis])
    array = fillBehind(array, axis, extents[axis],
                       getLast(getElementTypeOrSelf(array.getType()), descending));
  defineAll(op, rebuild(op, array), extents);
  return success();
}

LogicalResult ExtentResolver::resolveTopK(TopKOp op) {
  Value array = arrayOf(op.getOperand());
  int64_t axis = op.getAxis();
  Extents extents = extentsOf(op.getOperand());
  Value extent = extents[axis];
  if (extent)
    array = fillBehind(array, axis, extent,
                       getLast(getElementTypeOrSelf(array.getType()), !op.getSmallest()));
  extents[axis] = Value();
  auto rebuilt = cast<TopKOp>(rebuild(op, array));
  define(op.getValues(), rebuilt.getValues(), extents);
  Value indices = rebuilt.getIndices();
  if (extent)
    indices = fillBehind(indices, axis, extent,
                         builder.getIntegerAttr(getElementTypeOrSelf(indices.getType()), -1));
  define(op.getIndices(), indices, extents);
  replaced.push_back(op);
  return success();
}

LogicalResult ExtentResolver::resolveSearchSorted(SearchSortedOp op) {
  Value sorted = arrayOf(op.getSorted()), values = arrayOf(op.getValues());
  Value extent = extentOf(op.getSorted(), 0);
  if (extent)
    sorted = fillBehind(sorted, 0, extent,
                        getLast(getElementTypeOrSelf(sorted.getType()), /*descending=*/false));
  Operation *rebuilt = rebuild(op, {sorted, values});
  Value places = rebuilt->getResult(0);
  if (extent) {
    ExpressionBuilder e = expressions(op);
    places = e.make<MinOp>(places, e.convert(extent, getElementTypeOrSelf(places.getType())));
  }
  define(op.getResult(), places, extentsOf(op.getValues()));
  replaced.push_back(op);
  return success();
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// Both factors, since 0 times what is not a number is not 0. Integers need one only.
LogicalResult ExtentResolver::maskContracted(Operation *op, ArrayRef<int64_t> lhs,
                                             ArrayRef<int64_t> rhs,
                                             SmallVectorImpl<Value> &operands) {
  Type element = getElementTypeOrSelf(operands.front().getType());
  for (auto [left, right] : llvm::zip_equal(lhs, rhs)) {
    FailureOr<Value> extent = unify(op, {{0, left}, {1, right}});
    if (failed(extent))
      return failure();
    if (!*extent)
      continue;
    operands[0] = fillBehind(operands[0], left, *extent, builder.getZeroAttr(element));
    if (isa<FloatType>(element))
      operands[1] = fillBehind(operands[1], right, *extent, builder.getZeroAttr(element));
  }
  return success();
}

LogicalResult ExtentResolver::resolveMatMul(MatMulOp op) {
  int64_t left = getRank(op.getLhs()), right = getRank(op.getRhs()), rank = getRank(op.getResult());
  int64_t row = op.getTransposeA() ? 1 : 2, inner = op.getTransposeB() ? 1 : 2;
  Extents extents;
  for (int64_t dim = 0; dim < rank - 2; ++dim) {
    SmallVector<OperandDim> aligned;
    if (int64_t own = dim - (rank - left); own >= 0)
      aligned.push_back({0, own});
    if (int64_t own = dim - (rank - right); own >= 0)
      aligned.push_back({1, own});
    FailureOr<Value> extent = unify(op, aligned, /*broadcast=*/true);
    if (failed(extent))
      return failure();
    extents.push_back(*extent);
  }
  extents.push_back(extentOf(op.getLhs(), left - row));
  extents.push_back(extentOf(op.getRhs(), right - (3 - inner)));
  SmallVector<Value> operands = arraysOf(op->getOperands());
  if (failed(maskContracted(op, left - (3 - row), right - inner, operands)))
    return failure();
  defineAll(op, rebuild(op, operands), extents);
  return success();
}

LogicalResult ExtentResolver::resolveDotGeneral(DotGeneralOp op) {
  Extents extents;
  for (auto [left, right] : llvm::zip_equal(op.getLhsBatch(), op.getRhsBatch())) {
    FailureOr<Value> extent = unify(op, {{0, left}, {1, right}});
    if (failed(extent))
      return failure();
    extents.push_back(*extent);
  }
  for (int64_t dim : DotGeneralOp::getFreeDims(op.getLhs(), op.getLhsBatch(), op.getLhsContract()))
    extents.push_back(extentOf(op.getLhs(), dim));
  for (int64_t dim : DotGeneralOp::getFreeDims(op.getRhs(), op.getRhsBatch(), op.getRhsContract()))
    extents.push_back(extentOf(op.getRhs(), dim));
  SmallVector<Value> operands = arraysOf(op->getOperands());
  if (failed(maskContracted(op, op.getLhsContract(), op.getRhsContract(), operands)))
    return failure();
  defineAll(op, rebuild(op, operands), extents);
  return success();
}

} // namespace xc::array
