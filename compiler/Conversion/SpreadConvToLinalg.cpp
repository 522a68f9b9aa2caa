//===- SpreadConvToLinalg.cpp - Convolutions of spread inputs -------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A convolution of a spread input is a transposed one, or the gradient of a strided one to its
// input. Its phases are computed together, by one linalg.generic that reads no zeros between
// elements (see array::SpreadDim):
//
//   y[n, i, r, f] += pad(x)[n, i + a, c] * w'[a, c, r, f]
//
// Outputs i and phases r follow one another in memory: they are one dim of the result, of which the
// part that is asked for is a slice.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/SpreadConvToLinalg.h"
#include "compiler/Conversion/ArrayToLinalg.h"
#include "compiler/Dialect/Array/IR/SpreadConv.h"
#include "compiler/Dialect/Array/IR/Windows.h"
#include "compiler/Dialect/Plan/IR/Products.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace xc {

using array::ConvDimsAttr;
using array::SpreadDim;

namespace {

class SpreadConvLowering {
public:
  SpreadConvLowering(OpBuilder &builder, array::ConvOp op, Value input, ArrayRef<SpreadDim> spread)
      : builder(builder), op(op), loc(op.getLoc()), dims(op.getDims()), spread(spread),
        input(input), positions(spread.size()), phases(spread.size()), taps(spread.size()) {}

  Value build();

private:
  AffineExpr addLoop(utils::IteratorType type) {
    iterators.push_back(type);
    return builder.getAffineDimExpr(iterators.size() - 1);
  }
  void addLoops();
  SmallVector<AffineExpr> mapInput();
  SmallVector<AffineExpr> mapFilter();
  Value padInput();
  Value buildGeneric(ArrayRef<AffineExpr> inputExprs, ArrayRef<AffineExpr> filterExprs);
  Value cut(Value result);

  OpBuilder &builder;
  array::ConvOp op;
  Location loc;
  ConvDimsAttr dims;
  ArrayRef<SpreadDim> spread;
  Value input;
  SmallVector<utils::IteratorType> iterators;
  AffineExpr batch, feature, channel;
  SmallVector<AffineExpr> positions, phases, taps; // of each spatial dim
  SmallVector<AffineExpr> resultExprs;
  SmallVector<OpFoldResult> resultSizes;
  SmallVector<ReassociationIndices> resultDims; // loops that make a dim of the result
};

} // namespace

void SpreadConvLowering::addLoops() {
  array::SizeBuilder sizes(builder, loc);
  auto addResultDim = [&](OpFoldResult size) {
    AffineExpr loop = addLoop(utils::IteratorType::parallel);
    resultDims.back().push_back(resultExprs.size());
    resultExprs.push_back(loop);
    resultSizes.push_back(size);
    return loop;
  };
  for (int64_t label : dims.getOutput()) {
    resultDims.emplace_back();
    if (label == ConvDimsAttr::kBatch) {
      batch = addResultDim(sizes.size(input, dims.inputDim(label)));
    } else if (label == ConvDimsAttr::kFeature) {
      feature =
          addResultDim(sizes.size(op.getFilter(), dims.filterDim(ConvDimsAttr::kFilterOutput)));
    } else {
      positions[label] = addResultDim(sizes.constant(spread[label].positions));
      if (spread[label].spread != 1)
        phases[label] = addResultDim(sizes.constant(spread[label].spread));
    }
  }
  for (int64_t label : dims.getFilter()) {
    if (label == ConvDimsAttr::kFilterInput)
      channel = addLoop(utils::IteratorType::reduction);
    else if (label != ConvDimsAttr::kFilterOutput)
      taps[label] = addLoop(utils::IteratorType::reduction);
  }
}

SmallVector<AffineExpr> SpreadConvLowering::mapInput() {
  SmallVector<array::WindowDim> window = op.getWindow();
  SmallVector<AffineExpr> exprs;
  for (int64_t label : dims.getInput()) {
    if (label == ConvDimsAttr::kBatch)
      exprs.push_back(batch);
    else if (label == ConvDimsAttr::kFeature)
      exprs.push_back(channel);
    else if (spread[label].spread != 1)
      exprs.push_back(positions[label] + taps[label]);
    else
      exprs.push_back(positions[label] * window[label].stride +
                      taps[label] * window[label].dilation);
  }
  return exprs;
}

SmallVector<AffineExpr> SpreadConvLowering::mapFilter() {
  SmallVector<AffineExpr> exprs;
  for (int64_t label : dims.getFilter()) {
    if (label == ConvDimsAttr::kFilterInput) {
      exprs.push_back(channel);
    } else if (label != ConvDimsAttr::kFilterOutput) {
      exprs.push_back(taps[label]);
    } else {
      llvm::copy_if(phases, std::back_inserter(exprs), [](AffineExpr phase) { return !!phase; });
      exprs.push_back(feature);
    }
  }
  return exprs;
}

Value SpreadConvLowering::padInput() {
  int64_t rank = cast<RankedTensorType>(input.getType()).getRank();
  SmallVector<int64_t> low(rank, 0), high(rank, 0);
  for (auto [spatial, dim] : llvm::enumerate(spread)) {
    low[dims.inputDim(spatial)] = dim.low;
    high[dims.inputDim(spatial)] = dim.high;
  }
  Type element = getElementTypeOrSelf(input.getType());
  return padTensor(builder, loc, input, low, high, cast<TypedAttr>(builder.getZeroAttr(element)));
}

Value SpreadConvLowering::buildGeneric(ArrayRef<AffineExpr> inputExprs,
                                       ArrayRef<AffineExpr> filterExprs) {
  Value filter = array::buildPhaseFilter(op, builder, spread);
  Type accumulator = computeElement(storageElement(getElementTypeOrSelf(op.getType())));
  Value init =
      filledTensor(builder, loc, resultSizes, scalarConstant(builder, loc, accumulator, 0));
  auto map = [&](ArrayRef<AffineExpr> exprs) {
    return AffineMap::get(iterators.size(), 0, exprs, builder.getContext());
  };
  auto widen = [&](OpBuilder &b, Value value) -> Value {
    return value.getType() == accumulator ? value
                                          : arith::ExtFOp::create(b, loc, accumulator, value);
  };
  auto generic = linalg::GenericOp::create(
      builder, loc, init.getType(), ValueRange{input, filter}, init,
      {map(inputExprs), map(filterExprs), map(resultExprs)}, iterators,
      [&](OpBuilder &b, Location bodyLoc, ValueRange args) {
        Value product = arith::MulFOp::create(b, bodyLoc, widen(b, args[0]), widen(b, args[1]));
        Value sum = arith::AddFOp::create(b, bodyLoc, args[2], product);
        linalg::YieldOp::create(b, bodyLoc, sum);
      });
  if (op.getAllowTf32())
    generic->setAttr(plan::kAllowTF32Attr, builder.getUnitAttr());
  return generic.getResult(0);
}

/// The outputs that are asked for.
Value SpreadConvLowering::cut(Value result) {
  auto type = cast<RankedTensorType>(result.getType());
  SmallVector<OpFoldResult> offsets(type.getRank(), builder.getIndexAttr(0)),
      ones(type.getRank(), builder.getIndexAttr(1)),
      sizes = tensor::getMixedSizes(builder, loc, result);
  bool isPart = false;
  for (auto [spatial, dim] : llvm::enumerate(spread)) {
    int64_t position = dims.outputDim(spatial), places = op.getType().getDimSize(position);
    isPart |= type.getDimSize(position) != places;
    offsets[position] = builder.getIndexAttr(dim.shift);
    sizes[position] = builder.getIndexAttr(places);
  }
  if (!isPart)
    return result;
  return tensor::ExtractSliceOp::create(builder, loc, result, offsets, sizes, ones);
}

Value SpreadConvLowering::build() {
  addLoops();
  SmallVector<AffineExpr> inputExprs = mapInput(), filterExprs = mapFilter();
  input = padInput();
  Value result = buildGeneric(inputExprs, filterExprs);
  result = storeTensor(builder, loc, result, op.getType().getElementType());
  if (resultExprs.size() != resultDims.size())
    result = tensor::CollapseShapeOp::create(builder, loc, result, resultDims);
  return castTo(builder, loc, cut(result), op.getType());
}

namespace {

struct ConvertSpreadConv : OpConversionPattern<array::ConvOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(array::ConvOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    std::optional<SmallVector<SpreadDim>> spread = array::matchSpreadConv(op);
    if (!spread)
      return rewriter.notifyMatchFailure(op, "the input is not spread, or not in phases");
    rewriter.replaceOp(op, SpreadConvLowering(rewriter, op, adaptor.getInput(), *spread).build());
    return success();
  }
};

} // namespace

void populateSpreadConvPatterns(const TypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<ConvertSpreadConv>(converter, patterns.getContext());
}

} // namespace xc
