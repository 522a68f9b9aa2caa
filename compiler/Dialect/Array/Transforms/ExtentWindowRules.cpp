//===- ExtentWindowRules.cpp - Bounded dynamic dims and sliding windows ---===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Convolutions and reductions of windows. A dim that windows slide over ends at its extent: there
// the padding begins, and the result has as many positions as that leaves. The smaller the window
// of a filter is, the more places there are. Where it ends at an extent, the result's type or what
// is used of it may say how many there are; else there is room for those of a window without
// elements. There is as much padding at the end as they need.
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Array/Transforms/ExtentRules.h"

#include "compiler/Dialect/Array/IR/PassAttributes.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/TypeSwitch.h"

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
static Value fillPadding(BoundedValues &bounded, Value array, int64_t dim, Value extent,
                         const WindowDim &window, TypedAttr neutral) {
  return extent && window.high > 0 ? bounded.fillBehind(array, dim, extent, neutral) : array;
}

static LogicalResult refuseGroups(BoundedValues &bounded, ConvOp op, unsigned operand,
                                  int64_t dim) {
  if (!bounded.extentOf(op->getOperand(operand), dim))
    return success();
  uint64_t groups = std::max(op.getFeatureGroups(), op.getBatchGroups());
  return bounded.refuseDim(op, operand, dim,
                           "but is a part of " + Twine(groups) +
                               " groups, which begin at places that the host knows; "
                               "array.pad_to_bound makes it an array of its bound");
}

/// Checks the dims that the windows do not slide over, and masks the features that are summed.
static LogicalResult prepareConv(BoundedValues &bounded, ConvOp op,
                                 SmallVectorImpl<Value> &operands) {
  ConvDimsAttr dims = op.getDims();
  int64_t batch = dims.inputDim(ConvDimsAttr::kBatch),
          feature = dims.inputDim(ConvDimsAttr::kFeature),
          filterInput = dims.filterDim(ConvDimsAttr::kFilterInput),
          filterOutput = dims.filterDim(ConvDimsAttr::kFilterOutput);
  bool hasFeatureGroups = op.getFeatureGroups() != 1, hasBatchGroups = op.getBatchGroups() != 1;
  if ((hasBatchGroups && failed(refuseGroups(bounded, op, 0, batch))) ||
      (hasFeatureGroups && (failed(refuseGroups(bounded, op, 0, feature)) ||
                            failed(refuseGroups(bounded, op, 1, filterInput)))) ||
      ((hasFeatureGroups || hasBatchGroups) && failed(refuseGroups(bounded, op, 1, filterOutput))))
    return failure();
  // Features of groups have sizes that the host knows.
  return hasFeatureGroups ? success()
                          : maskContracted(bounded, op, {feature}, {filterInput}, operands);
}

/// How many places along dim `dim` the type of `op` says that it has, or all that use it take.
static std::optional<int64_t> getStatedPlaces(ConvOp op, int64_t dim) {
  if (int64_t size = op.getType().getDimSize(dim); !ShapedType::isDynamic(size))
    return size;
  std::optional<int64_t> places;
  for (Operation *user : op->getUsers()) {
    int64_t taken = ShapedType::kDynamic;
    if (auto slice = dyn_cast<SliceOp>(user);
        slice && slice.getStarts()[dim] == 0 && slice.getStrides()[dim] == 1)
      taken = slice.getLimits()[dim];
    else if (auto cast = dyn_cast<tensor::CastOp>(user); cast && cast.getType().hasRank())
      taken = mlir::cast<RankedTensorType>(cast.getType()).getDimSize(dim);
    if (ShapedType::isDynamic(taken) || (places && *places != taken))
      return std::nullopt;
    places = taken;
  }
  return places;
}

/// How many places a window of `op` has along dim `spatial`, where its size is an extent, or known
/// when inputs are bound.
static Value countPlacesUnder(BoundedValues &bounded, ConvOp op, int64_t spatial) {
  ExpressionBuilder e = bounded.expressions(op);
  ConvDimsAttr dims = op.getDims();
  Type i64 = bounded.builder.getI64Type();
  auto spread = [&](Value operand, int64_t dim, int64_t distance) {
    Value extent = bounded.extentOf(operand, dim);
    Value count = extent ? extent : bounded.sizeAsData(bounded.arrayOf(operand), dim);
    if (distance == 1)
      return count;
    Value elements = e.mul(count, e.integer(distance, i64));
    return e.make<MaxOp>(e.sub(elements, e.integer(distance - 1, i64)), e.integer(0, i64));
  };
  WindowDim window = op.getWindow()[spatial];
  Value room = e.add(spread(op.getInput(), dims.inputDim(spatial), window.inputDilation),
                     e.integer(window.low + window.high + window.stride, i64));
  room = e.sub(room, spread(op.getFilter(), dims.filterDim(spatial), window.dilation));
  room = e.make<MaxOp>(room, e.integer(0, i64));
  return window.stride == 1 ? room : e.div(room, e.integer(window.stride, i64));
}

/// `values` with `value` for element `index`.
static SmallVector<int64_t> replaceAt(SmallVector<int64_t> values, int64_t index, int64_t value) {
  values[index] = value;
  return values;
}

/// Lets `op` have the places along dim `spatial`, over which a window slides that ends at an
/// extent, that are stated, or else as many as the smallest window has.
static LogicalResult endWindow(BoundedValues &bounded, ConvOp op, int64_t spatial,
                               SmallVectorImpl<Value> &operands, Extents &extents) {
  ConvDimsAttr dims = op.getDims();
  int64_t inputDim = dims.inputDim(spatial), filterDim = dims.filterDim(spatial);
  std::optional<int64_t> places = getStatedPlaces(op, dims.outputDim(spatial));
  WindowDim window = op.getWindow()[spatial];
  window.size = cast<RankedTensorType>(operands[1].getType()).getDimSize(filterDim);
  if (!places && ShapedType::isDynamic(window.size))
    return bounded.refuseDim(
        op, 1, filterDim,
        "but is the size of a window whose bound is not known when the module is compiled: the "
        "smaller it is, the more places it has; a result with a static size says how many there "
        "are, array.pad_to_bound with zeros makes it a window of its bound");
  TypedAttr zero = bounded.builder.getZeroAttr(getElementTypeOrSelf(op.getInput().getType()));
  if (Value extent = bounded.extentOf(op.getInput(), inputDim))
    operands[0] = bounded.fillBehind(operands[0], inputDim, extent, zero);
  operands[1] =
      bounded.fillBehind(operands[1], filterDim, bounded.extentOf(op.getFilter(), filterDim), zero);
  SmallVector<int64_t> high = llvm::map_to_vector(
      op.getWindow(), [](const WindowDim &other) -> int64_t { return other.high; });
  if (!places) {
    extents[dims.outputDim(spatial)] = countPlacesUnder(bounded, op, spatial);
    op.setHigh(replaceAt(high, spatial, window.high + window.getExtent()));
    return success();
  }
  int64_t size = cast<RankedTensorType>(operands[0].getType()).getDimSize(inputDim);
  // With bounds that the host knows there are as many positions as stated, or more.
  if (ShapedType::isDynamic(size) || ShapedType::isDynamic(window.size))
    return success();
  int64_t spread = size == 0 ? 0 : (size - 1) * window.inputDilation + 1;
  op.setHigh(replaceAt(high, spatial,
                       (*places - 1) * window.stride + window.getExtent() - window.low - spread));
  return success();
}

/// `type` with those sizes that `stated` alone knows.
static RankedTensorType stateSizes(RankedTensorType type, RankedTensorType stated) {
  SmallVector<int64_t> shape;
  for (auto [size, known] : llvm::zip_equal(type.getShape(), stated.getShape()))
    shape.push_back(ShapedType::isDynamic(size) ? known : size);
  return type.clone(shape);
}

static LogicalResult resolveConv(BoundedValues &bounded, ConvOp op) {
  SmallVector<Value> operands = bounded.arraysOf(op->getOperands());
  if (failed(prepareConv(bounded, op, operands)))
    return failure();
  ExpressionBuilder e = bounded.expressions(op);
  ConvDimsAttr dims = op.getDims();
  Extents extents(dims.getOutput().size());
  extents[dims.outputDim(ConvDimsAttr::kBatch)] =
      bounded.extentOf(op.getInput(), dims.inputDim(ConvDimsAttr::kBatch));
  extents[dims.outputDim(ConvDimsAttr::kFeature)] =
      bounded.extentOf(op.getFilter(), dims.filterDim(ConvDimsAttr::kFilterOutput));
  TypedAttr zero = bounded.builder.getZeroAttr(getElementTypeOrSelf(op.getInput().getType()));
  for (auto [spatial, window] : llvm::enumerate(op.getWindow())) {
    int64_t dim = dims.inputDim(spatial);
    Value extent = bounded.extentOf(op.getInput(), dim);
    if (bounded.extentOf(op.getFilter(), dims.filterDim(spatial))) {
      if (failed(endWindow(bounded, op, spatial, operands, extents)))
        return failure();
      continue;
    }
    if (!extent)
      continue;
    operands[0] = fillPadding(bounded, operands[0], dim, extent, window, zero);
    extents[dims.outputDim(spatial)] = ShapedType::isDynamic(window.size)
                                           ? countPlacesUnder(bounded, op, spatial)
                                           : countPlaces(e, extent, window);
  }
  auto rebuilt = cast<ConvOp>(bounded.rebuild(op, operands));
  if (op->hasAttr(kFirstPlacesAttr))
    rebuilt.getResult().setType(stateSizes(rebuilt.getType(), op.getType()));
  bounded.defineAll(op, rebuilt, extents);
  return success();
}

static LogicalResult resolveReduceWindow(BoundedValues &bounded, ReduceWindowOp op) {
  ExpressionBuilder e = bounded.expressions(op);
  Value array = bounded.arrayOf(op.getOperand());
  TypedAttr neutral = getNeutral(bounded.builder, op.getKind(), op.getType().getElementType());
  Extents extents = bounded.extentsOf(op.getOperand());
  for (auto [dim, window] : llvm::enumerate(op.getWindowDims())) {
    array = fillPadding(bounded, array, dim, extents[dim], window, neutral);
    if (extents[dim])
      extents[dim] = countPlaces(e, extents[dim], window);
  }
  bounded.defineAll(op, bounded.rebuild(op, array), extents);
  return success();
}

/// Places behind the extent may see elements before it: they give nothing.
static LogicalResult resolveSelectAndScatter(BoundedValues &bounded, SelectAndScatterOp op) {
  ExpressionBuilder e = bounded.expressions(op);
  Type element = op.getType().getElementType();
  Value array = bounded.arrayOf(op.getOperand()), source = bounded.arrayOf(op.getSource());
  TypedAttr neutral = getNeutral(bounded.builder, op.getKind(), element);
  for (auto [dim, window] : llvm::enumerate(op.getWindowDims())) {
    Value own = bounded.extentOf(op.getOperand(), dim),
          given = bounded.extentOf(op.getSource(), dim);
    if (!own && !given)
      continue;
    if (!own || !given || !bounded.equality.areEqual(op, countPlaces(e, own, window), given))
      return bounded.refuseDim(
          op, own ? 0 : 1, dim,
          Twine("and dim ") + Twine(dim) + " of operand #" + Twine(own ? 1 : 0) +
              " is not known to have that of the places; array.reduce_window of the "
              "operand has");
    array = fillPadding(bounded, array, dim, own, window, neutral);
    if (!window.isTrivial())
      source = bounded.fillBehind(source, dim, given, bounded.builder.getZeroAttr(element));
  }
  bounded.defineAll(op, bounded.rebuild(op, {array, source}), bounded.extentsOf(op.getOperand()));
  return success();
}

LogicalResult applyWindowRule(BoundedValues &bounded, Operation *op) {
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](ConvOp conv) { return resolveConv(bounded, conv); })
      .Case([&](ReduceWindowOp pool) { return resolveReduceWindow(bounded, pool); })
      .Case([&](SelectAndScatterOp scatter) { return resolveSelectAndScatter(bounded, scatter); })
      .Default([&](Operation *other) { return applyShapeRule(bounded, other); });
}

} // namespace xc::array
