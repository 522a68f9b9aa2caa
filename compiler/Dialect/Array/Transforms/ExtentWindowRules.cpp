//===- ExtentWindowRules.cpp - Device-bounded dims and sliding windows ----===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Convolutions and reductions of windows. A dim that windows slide over ends at its extent: there
// the padding begins, and the result has as many places as that leaves. The size of a filter's
// window is refused: the smaller it is, the more places there are, so that its bound bounds no
// result.
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Array/Transforms/ExtentResolver.h"

using namespace mlir;

namespace xc::array {

/// How many places `window` has over `extent` elements, as countPlaces says of sizes.
static Value countPlaces(ExpressionBuilder &e, Value extent, const WindowDim &window) {
  Type element = getElementTypeOrSelf(extent.getType());
  auto atLeastZero = [&](Value number) { return e.make<MaxOp>(number, e.integer(0, element)); };
  auto add = [&](Value number, int64_t distance) {
    if (distance == 0)
      return number;
    Value sum = e.add(number, e.integer(distance, element));
    return distance < 0 ? atLeastZero(sum) : sum;
  };
  if (window.inputDilation != 1)
    extent = add(e.mul(extent, e.integer(window.inputDilation, element)), 1 - window.inputDilation);
  // Rounded down to whole steps, since what is negative before is 0.
  Value steps = add(extent, window.low + window.high - window.getExtent() + window.stride);
  return window.stride == 1 ? steps : e.div(steps, e.integer(window.stride, element));
}

/// `array` with `neutral` where places before the extent see what lies behind it.
Value ExtentResolver::fillPadding(Value array, int64_t dim, Value extent, const WindowDim &window,
                                  TypedAttr neutral) {
  return extent && window.high > 0 ? fillBehind(array, dim, extent, neutral) : array;
}

LogicalResult ExtentResolver::refuseGroups(ConvOp op, unsigned operand, int64_t dim) {
  if (!extentOf(op->getOperand(operand), dim))
    return success();
  uint64_t groups = std::max(op.getFeatureGroups(), op.getBatchGroups());
  return refuseDim(op, operand, dim,
                   "but is a part of " + Twine(groups) +
                       " groups, which begin at places that the host knows; "
                       "array.pad_to_bound makes it an array of its bound");
}

/// Checks the dims that the windows do not slide over, and masks the features that are summed.
LogicalResult ExtentResolver::prepareConv(ConvOp op, SmallVectorImpl<Value> &operands) {
  ConvDimsAttr dims = op.getDims();
  int64_t batch = dims.inputDim(ConvDimsAttr::kBatch),
          feature = dims.inputDim(ConvDimsAttr::kFeature),
          filterInput = dims.filterDim(ConvDimsAttr::kFilterInput),
          filterOutput = dims.filterDim(ConvDimsAttr::kFilterOutput);
  bool hasFeatureGroups = op.getFeatureGroups() != 1, hasBatchGroups = op.getBatchGroups() != 1;
  if ((hasBatchGroups && failed(refuseGroups(op, 0, batch))) ||
      (hasFeatureGroups &&
       (failed(refuseGroups(op, 0, feature)) || failed(refuseGroups(op, 1, filterInput)))) ||
      ((hasFeatureGroups || hasBatchGroups) && failed(refuseGroups(op, 1, filterOutput))))
    return failure();
  for (int64_t spatial = 0; spatial < dims.getSpatialRank(); ++spatial)
    if (extentOf(op.getFilter(), dims.filterDim(spatial)))
      return refuseDim(op, 1, dims.filterDim(spatial),
                       "but is the size of a window: the smaller that is, the more places it has, "
                       "so that no bound of the result is known; array.pad_to_bound with zeros "
                       "makes it a window of its bound");
  // Features of groups have sizes that the host knows.
  return hasFeatureGroups ? success() : maskContracted(op, {feature}, {filterInput}, operands);
}

LogicalResult ExtentResolver::resolveConv(ConvOp op) {
  SmallVector<Value> operands = arraysOf(op->getOperands());
  if (failed(prepareConv(op, operands)))
    return failure();
  ExpressionBuilder e = expressions(op);
  ConvDimsAttr dims = op.getDims();
  Extents extents(dims.getOutput().size());
  extents[dims.outputDim(ConvDimsAttr::kBatch)] =
      extentOf(op.getInput(), dims.inputDim(ConvDimsAttr::kBatch));
  extents[dims.outputDim(ConvDimsAttr::kFeature)] =
      extentOf(op.getFilter(), dims.filterDim(ConvDimsAttr::kFilterOutput));
  TypedAttr zero = builder.getZeroAttr(getElementTypeOrSelf(op.getInput().getType()));
  for (auto [spatial, window] : llvm::enumerate(op.getWindow())) {
    int64_t dim = dims.inputDim(spatial);
    Value extent = extentOf(op.getInput(), dim);
    if (!extent)
      continue;
    if (ShapedType::isDynamic(window.size))
      return refuseDim(op, 0, dim,
                       "and the window that slides over it has a size that is not known when the "
                       "module is compiled; array.pad_to_bound makes it an array of its bound");
    operands[0] = fillPadding(operands[0], dim, extent, window, zero);
    extents[dims.outputDim(spatial)] = countPlaces(e, extent, window);
  }
  defineAll(op, rebuild(op, operands), extents);
  return success();
}

LogicalResult ExtentResolver::resolveReduceWindow(ReduceWindowOp op) {
  ExpressionBuilder e = expressions(op);
  Value array = arrayOf(op.getOperand());
  TypedAttr neutral = getNeutral(op.getKind(), op.getType().getElementType());
  Extents extents = extentsOf(op.getOperand());
  for (auto [dim, window] : llvm::enumerate(op.getWindowDims())) {
    array = fillPadding(array, dim, extents[dim], window, neutral);
    if (extents[dim])
      extents[dim] = countPlaces(e, extents[dim], window);
  }
  defineAll(op, rebuild(op, array), extents);
  return success();
}

/// Places behind the extent may see elements before it: they give nothing.
LogicalResult ExtentResolver::resolveSelectAndScatter(SelectAndScatterOp op) {
  ExpressionBuilder e = expressions(op);
  Type element = op.getType().getElementType();
  Value array = arrayOf(op.getOperand()), source = arrayOf(op.getSource());
  TypedAttr neutral = getNeutral(op.getKind(), element);
  for (auto [dim, window] : llvm::enumerate(op.getWindowDims())) {
    Value own = extentOf(op.getOperand(), dim), given = extentOf(op.getSource(), dim);
    if (!own && !given)
      continue;
    if (!own || !given || !equality.areEqual(op, countPlaces(e, own, window), given))
      return refuseDim(op, own ? 0 : 1, dim,
                       Twine("and dim ") + Twine(dim) + " of operand #" + Twine(own ? 1 : 0) +
                           " is not known to have that of the places; array.reduce_window of the "
                           "operand has");
    array = fillPadding(array, dim, own, window, neutral);
    if (!window.isTrivial())
      source = fillBehind(source, dim, given, builder.getZeroAttr(element));
  }
  defineAll(op, rebuild(op, {array, source}), extentsOf(op.getOperand()));
  return success();
}

} // namespace xc::array
