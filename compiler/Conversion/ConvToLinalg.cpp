//===- ConvToLinalg.cpp - Convolutions ------------------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A convolution is a linalg.generic that multiplies and adds, like a contraction, with indexing
// maps that say how the filter lies over the padded input:
//
//   y[n, o, f] += pad(x)[n, o * stride + k * dilation, i] * w[k, i, f]
//
// A filter that is reversed, as in gradients, is read as it was, and the input's window backwards.
//
// Its loops are the result's dims in order, then those that only the filter has. Groups are a loop
// of their own, before the features (of the batch) that they split.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/ArrayToLinalg.h"
#include "compiler/Conversion/ConvLoops.h"
#include "compiler/Dialect/Array/IR/PassAttributes.h"
#include "compiler/Dialect/Array/IR/SpreadConv.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace xc {

using array::ConvDimsAttr;

namespace {

struct ConvertConv : OpConversionPattern<array::ConvOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(array::ConvOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override;
};

/// Builds the generic for one convolution.
class ConvLowering : ConvLoops {
public:
  /// `isBackward`: the filter is to be reversed along its spatial dims, of known sizes.
  ConvLowering(OpBuilder &builder, array::ConvOp op, Value input, Value filter, bool isBackward)
      : ConvLoops(builder, op, input, filter, isBackward), sizes(builder, loc),
        groups(op.getFeatureGroups() * op.getBatchGroups()), extents(dims.getSpatialRank()) {}

  Value build();

private:
  void addLoops();
  Value splitDim(Value tensor, int64_t dim, int64_t rest);
  SmallVector<AffineExpr> mapInput();
  SmallVector<AffineExpr> mapFilter();
  Value padInput();

  array::SizeBuilder sizes;
  int64_t groups;
  AffineExpr batch, group, filterOutput;
  SmallVector<OpFoldResult> extents; // of the window along each spatial dim
};

} // namespace

void ConvLowering::addLoops() {
  SmallVector<array::WindowDim> window = op.getWindow();
  for (int64_t label : dims.getOutput()) {
    beginResultDim();
    if (label == ConvDimsAttr::kBatch) {
      OpFoldResult size = sizes.size(input, dims.inputDim(label));
      batch = addResultLoop(sizes.floorDiv(size, sizes.constant(op.getBatchGroups())));
    } else if (label == ConvDimsAttr::kFeature) {
      OpFoldResult size = sizes.size(filter, dims.filterDim(ConvDimsAttr::kFilterOutput));
      if (groups != 1)
        group = addResultLoop(sizes.constant(groups));
      OpFoldResult rest = sizes.floorDiv(size, sizes.constant(groups));
      if (groups == 1 || !isConstantIntValue(rest, 1))
        filterOutput = addResultLoop(rest);
    } else {
      OpFoldResult size = sizes.size(filter, dims.filterDim(label)),
                   count = array::countPlaces(sizes, sizes.size(input, dims.inputDim(label)), size,
                                              window[label]);
      positions[label] = addResultLoop(count);
      extents[label] = array::spreadSize(sizes, size, window[label].dilation);
    }
  }
  addFilterLoops();
}

/// `tensor` with dim `dim` split into the groups and the rest.
Value ConvLowering::splitDim(Value tensor, int64_t dim, int64_t rest) {
  auto type = cast<RankedTensorType>(tensor.getType());
  SmallVector<int64_t> shape(type.getShape());
  shape[dim] = groups;
  shape.insert(shape.begin() + dim + 1, rest);
  SmallVector<OpFoldResult> splitSizes = sizes.sizes(tensor);
  OpFoldResult restSize = sizes.floorDiv(splitSizes[dim], sizes.constant(groups));
  splitSizes[dim] = sizes.constant(groups);
  splitSizes.insert(splitSizes.begin() + dim + 1, restSize);
  SmallVector<ReassociationIndices> reassociation;
  int64_t next = 0;
  for (int64_t i = 0; i < type.getRank(); ++i) {
    reassociation.push_back({next++});
    if (i == dim)
      reassociation.back().push_back(next++);
  }
  return tensor::ExpandShapeOp::create(builder, loc, type.clone(shape), tensor, reassociation,
                                       splitSizes);
}

/// The number of elements of a dim in each group, where that is known.
static int64_t restOf(Value tensor, int64_t dim, int64_t groups) {
  int64_t size = cast<RankedTensorType>(tensor.getType()).getDimSize(dim);
  return ShapedType::isDynamic(size) ? size : size / groups;
}

SmallVector<AffineExpr> ConvLowering::mapInput() {
  SmallVector<array::WindowDim> window = op.getWindow();
  SmallVector<AffineExpr> exprs;
  auto addSplit = [&](int64_t label, AffineExpr loop, bool isSplit) {
    int64_t dim = dims.inputDim(label);
    exprs.push_back(isSplit ? group : loop);
    if (!isSplit || restOf(input, dim, groups) == 1)
      return;
    input = splitDim(input, exprs.size() - 1, restOf(input, dim, groups));
    exprs.push_back(loop);
  };
  for (int64_t label : dims.getInput()) {
    if (label == ConvDimsAttr::kBatch)
      addSplit(label, batch, op.getBatchGroups() != 1);
    else if (label == ConvDimsAttr::kFeature)
      addSplit(label, channel, op.getFeatureGroups() != 1);
    else {
      AffineExpr tap = getTap(label, window[label].size);
      exprs.push_back(positions[label] * window[label].stride + tap * window[label].dilation);
    }
  }
  return exprs;
}

SmallVector<AffineExpr> ConvLowering::mapFilter() {
  SmallVector<AffineExpr> exprs;
  for (int64_t label : dims.getFilter()) {
    if (label == ConvDimsAttr::kFilterInput) {
      exprs.push_back(channel);
    } else if (label != ConvDimsAttr::kFilterOutput) {
      exprs.push_back(taps[label]);
    } else {
      if (groups != 1)
        exprs.push_back(group);
      if (groups != 1 && filterOutput)
        filter = splitDim(filter, exprs.size() - 1, restOf(filter, dims.filterDim(label), groups));
      if (filterOutput)
        exprs.push_back(filterOutput);
    }
  }
  return exprs;
}

/// Pads the spatial dims, whose place the split of the others may have moved.
Value ConvLowering::padInput() {
  int64_t rank = cast<RankedTensorType>(input.getType()).getRank();
  SmallVector<int64_t> low(rank, 0), high(rank, 0), reached(rank, ShapedType::kDynamic);
  SmallVector<std::pair<int64_t, OpFoldResult>> open; // dims of which a symbolic size is reached
  SmallVector<array::WindowDim> window = op.getWindow();
  int64_t next = 0;
  for (int64_t label : dims.getInput()) {
    bool isGrouped = (label == ConvDimsAttr::kBatch && op.getBatchGroups() != 1) ||
                     (label == ConvDimsAttr::kFeature && op.getFeatureGroups() != 1);
    bool isSplit = isGrouped && rank > static_cast<int64_t>(dims.getInput().size());
    if (label >= 0) {
      low[next] = window[label].low;
      high[next] = window[label].high;
      bool isOnePlace = op.getType().getDimSize(dims.outputDim(label)) == 1;
      bool isCut = window[label].stride != 1 || op->hasAttr(array::kFirstPlacesAttr);
      if (isOnePlace && isCut) {
        if (ShapedType::isDynamic(window[label].size))
          open.push_back({next, extents[label]});
        else
          reached[next] = window[label].getExtent();
      }
    }
    next += isSplit ? 2 : 1;
  }
  Type element = getElementTypeOrSelf(input.getType());
  Value padded =
      padTensor(builder, loc, input, low, high, cast<TypedAttr>(builder.getZeroAttr(element)));
  Value cut = cutUnreached(builder, loc, padded, reached);
  if (open.empty())
    return cut;
  SmallVector<OpFoldResult> cutSizes = sizes.sizes(cut);
  for (auto [dim, size] : open)
    cutSizes[dim] = size;
  SmallVector<OpFoldResult> offsets(rank, sizes.constant(0)), steps(rank, sizes.constant(1));
  return tensor::ExtractSliceOp::create(builder, loc, cut, offsets, cutSizes, steps);
}

Value ConvLowering::build() {
  auto type = cast<RankedTensorType>(storageType(op.getType()));
  addLoops();
  // What the result's type knows.
  for (auto [dim, loops] : llvm::enumerate(resultDims))
    if (loops.size() == 1 && !type.isDynamicDim(dim))
      resultSizes[loops.front()] = sizes.constant(type.getDimSize(dim));
  Value result;
  auto isEmpty = [](Value tensor) {
    return llvm::is_contained(cast<RankedTensorType>(tensor.getType()).getShape(), 0);
  };
  if (llvm::any_of(resultSizes, isZeroInteger) || isEmpty(input) || isEmpty(filter)) {
    // A filter that is wider than its input would not verify, nor would slices of what has no
    // elements. Sums of no terms are zeros.
    result = filledTensor(builder, loc, resultSizes,
                          scalarConstant(builder, loc, type.getElementType(), 0));
  } else {
    SmallVector<AffineExpr> inputExprs = mapInput(), filterExprs = mapFilter();
    input = padInput();
    result = buildGeneric(filter, inputExprs, filterExprs);
    result = storeTensor(builder, loc, result, type.getElementType());
  }
  return castTo(builder, loc, joinResultDims(result), type);
}

LogicalResult ConvertConv::matchAndRewrite(array::ConvOp op, OpAdaptor adaptor,
                                           ConversionPatternRewriter &rewriter) const {
  for (const array::WindowDim &dim : op.getWindow())
    if (dim.inputDilation != 1 || dim.low < 0 || dim.high < 0)
      return rewriter.notifyMatchFailure(op, "not decomposed into padding and a convolution");
  Value reversed = array::findReversed(op);
  bool isBackward = reversed && llvm::none_of(op.getWindow(), [](const array::WindowDim &dim) {
                      return ShapedType::isDynamic(dim.size);
                    });
  Value filter = isBackward ? rewriter.getRemappedValue(reversed) : adaptor.getFilter();
  ConvLowering lowering(rewriter, op, adaptor.getInput(), filter, isBackward);
  rewriter.replaceOp(op, lowering.build());
  return success();
}

void populateConvPatterns(const TypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<ConvertConv>(converter, patterns.getContext());
}

} // namespace xc
