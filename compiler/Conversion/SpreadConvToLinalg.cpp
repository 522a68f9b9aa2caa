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
// Groups are one more loop, of images, filters and results. Of depthwise ones, each output is a sum
// of some taps of one channel.
//
// A gradient's filter is reversed. That is left out, and the input's elements are read backwards.
//
// Outputs i and phases r follow one another in memory: they are one dim of the result, of which the
// part that is asked for is a slice. Those of a dilated filter are taken from there in their order.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/SpreadConvToLinalg.h"
#include "compiler/Conversion/ArrayToLinalg.h"
#include "compiler/Conversion/ConvLoops.h"
#include "compiler/Dialect/Array/IR/SpreadConv.h"
#include "compiler/Dialect/Array/IR/Windows.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace xc {

using array::ConvDimsAttr;
using array::SpreadDim;

/// Features of a group that make rows of a tile.
static constexpr int64_t kWideGroup = 64;

namespace {

class SpreadConvLowering : ConvLoops {
public:
  SpreadConvLowering(OpBuilder &builder, array::ConvOp op, Value input, Value filter,
                     bool isBackward, ArrayRef<SpreadDim> spread)
      : ConvLoops(builder, op, input, filter, isBackward), sizes(builder, loc),
        groups(op.getFeatureGroups()), spread(spread), places(spread.size()), counts(spread.size()),
        high(spread.size()), phases(spread.size()), isPart(spread.size()) {}

  Value build();

private:
  void countPositions();
  void countOpenPositions(int64_t spatial);
  void addLoops();
  SmallVector<AffineExpr> mapInput();
  SmallVector<AffineExpr> mapFilter();
  int64_t getInputPlace(int64_t label) const;
  Value splitInput();
  Value padInput();
  int64_t countFilterRest() const;
  Value buildPhaseFilter(ArrayRef<AffineExpr> exprs);
  Value findFeature(OpBuilder &b, Location bodyLoc, Value inGroups, Value inGroup);
  Value findTap(OpBuilder &b, Location bodyLoc, const SpreadDim &dim, Value tap, Value phase);
  Value findOutput(OpBuilder &b, Location bodyLoc, const SpreadDim &dim,
                   const array::WindowDim &window, Value output);
  Value gather(Value result);
  Value cut(Value result);

  array::SizeBuilder sizes;
  int64_t groups;
  bool isInputSplit = false; // its features are two dims: groups, and those of each
  ArrayRef<SpreadDim> spread;
  // Of each spatial dim: outputs, positions, and what pads the input behind its end.
  SmallVector<OpFoldResult> places, counts, high;
  AffineExpr batch, group, feature; // no group if there is one, no feature if each has one
  SmallVector<AffineExpr> phases;   // of each spatial dim
  SmallVector<bool> isPart;         // of each spatial dim: there may be more outputs than places
};

} // namespace

void SpreadConvLowering::countPositions() {
  SmallVector<array::WindowDim> window = op.getWindow();
  for (auto [spatial, dim] : llvm::enumerate(spread)) {
    int64_t known = op.getType().getDimSize(dims.outputDim(spatial));
    places[spatial] =
        ShapedType::isDynamic(known)
            ? array::countPlaces(sizes, sizes.size(input, dims.inputDim(spatial)),
                                 sizes.constant(window[spatial].size), window[spatial])
            : sizes.constant(known);
    high[spatial] = sizes.constant(dim.high);
    bool isOpen = ShapedType::isDynamic(dim.positions);
    counts[spatial] = isOpen ? places[spatial] : sizes.constant(dim.positions);
    // A dim that is not spread has all of its places.
    if (dim.spread == 1)
      continue;
    if (isOpen)
      countOpenPositions(spatial);
    else
      isPart[spatial] = dim.positions * dim.spread != known;
  }
}

/// Those of a dim of symbolic size. Of no elements there may be places in the padding, but one
/// position less than any other size would suggest: one more is then made of padding.
void SpreadConvLowering::countOpenPositions(int64_t spatial) {
  const SpreadDim &dim = spread[spatial];
  array::WindowDim window = op.getWindow()[spatial], phase;
  phase.size = dim.taps;
  phase.dilation = dim.dilation;
  phase.low = dim.low;
  phase.high = dim.high;
  OpFoldResult size = sizes.size(input, dims.inputDim(spatial));
  counts[spatial] = array::countPlaces(sizes, size, sizes.constant(dim.taps), phase);
  int64_t placesOfNone = array::countPlaces(0, window),
          wanted = llvm::divideCeil(placesOfNone + dim.shift, dim.spread) + dim.spare,
          found = array::countPlaces(0, phase);
  isPart[spatial] = dim.isPart || std::max(wanted, found) * dim.spread != placesOfNone + dim.shift;
  if (wanted <= found)
    return;
  counts[spatial] = sizes.max(counts[spatial], sizes.constant(wanted));
  int64_t reached = (dim.taps - 1) * dim.dilation;
  high[spatial] = sizes.sub(sizes.add(counts[spatial], sizes.constant(reached - dim.low)), size);
}

/// Output features of each group; the filter's sizes are known.
int64_t SpreadConvLowering::countFilterRest() const {
  array::ConvOp conv = op; // MLIR's op handles are not const-correct
  return conv.getFilter().getType().getDimSize(dims.filterDim(ConvDimsAttr::kFilterOutput)) /
         groups;
}

/// The dim of the input, whose features may be two dims.
int64_t SpreadConvLowering::getInputPlace(int64_t label) const {
  int64_t place = dims.inputDim(label);
  return place + (isInputSplit && place > dims.inputDim(ConvDimsAttr::kFeature));
}

/// The input with features of each group as a dim of their own, if there are several.
Value SpreadConvLowering::splitInput() {
  auto type = cast<RankedTensorType>(input.getType());
  int64_t dim = dims.inputDim(ConvDimsAttr::kFeature), rest = type.getDimSize(dim) / groups;
  if (groups == 1 || rest == 1)
    return input;
  isInputSplit = true;
  SmallVector<int64_t> shape(type.getShape());
  SmallVector<OpFoldResult> splitSizes = sizes.sizes(input);
  SmallVector<ReassociationIndices> reassociation;
  for (int64_t i = 0; i < type.getRank(); ++i)
    reassociation.push_back({i + (i > dim)});
  reassociation[dim].push_back(dim + 1);
  shape[dim] = groups;
  shape.insert(shape.begin() + dim + 1, rest);
  splitSizes[dim] = sizes.constant(groups);
  splitSizes.insert(splitSizes.begin() + dim + 1, sizes.constant(rest));
  return tensor::ExpandShapeOp::create(builder, loc, type.clone(shape), input, reassociation,
                                       splitSizes);
}

void SpreadConvLowering::addLoops() {
  for (int64_t label : dims.getOutput()) {
    beginResultDim();
    if (label == ConvDimsAttr::kBatch) {
      batch = addResultLoop(sizes.size(input, dims.inputDim(label)));
    } else if (label == ConvDimsAttr::kFeature) {
      if (groups != 1)
        group = addResultLoop(sizes.constant(groups));
      if (int64_t rest = countFilterRest(); groups == 1 || rest != 1)
        feature = addResultLoop(sizes.constant(rest));
    } else {
      positions[label] = addResultLoop(counts[label]);
      if (spread[label].spread != 1)
        phases[label] = addResultLoop(sizes.constant(spread[label].spread));
    }
  }
  addFilterLoops();
}

SmallVector<AffineExpr> SpreadConvLowering::mapInput() {
  SmallVector<array::WindowDim> window = op.getWindow();
  SmallVector<AffineExpr> exprs;
  for (int64_t label : dims.getInput()) {
    if (label == ConvDimsAttr::kBatch) {
      exprs.push_back(batch);
      continue;
    }
    if (label == ConvDimsAttr::kFeature) {
      if (groups != 1)
        exprs.push_back(group);
      if (groups == 1 || isInputSplit)
        exprs.push_back(channel);
      continue;
    }
    AffineExpr tap = getTap(label, spread[label].taps);
    if (spread[label].spread != 1)
      exprs.push_back(positions[label] + tap * spread[label].dilation);
    else
      exprs.push_back(positions[label] * window[label].stride + tap * window[label].dilation);
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
      // Features of a group that are rows of tiles go on from phase to phase; of others, groups are
      // neighbours.
      bool isWide = group && countFilterRest() >= kWideGroup;
      if (isWide)
        exprs.push_back(group);
      llvm::copy_if(phases, std::back_inserter(exprs), [](AffineExpr phase) { return !!phase; });
      if (group && !isWide)
        exprs.push_back(group);
      if (feature)
        exprs.push_back(feature);
    }
  }
  return exprs;
}

Value SpreadConvLowering::padInput() {
  int64_t rank = cast<RankedTensorType>(input.getType()).getRank();
  SmallVector<OpFoldResult> before(rank, builder.getIndexAttr(0)), after(before);
  for (auto [spatial, dim] : llvm::enumerate(spread)) {
    before[getInputPlace(spatial)] = builder.getIndexAttr(dim.low);
    after[getInputPlace(spatial)] = high[spatial];
  }
  if (llvm::all_of(before, isZeroInteger) && llvm::all_of(after, isZeroInteger))
    return input;
  Type element = getElementTypeOrSelf(input.getType());
  Value zero = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(element));
  return tensor::PadOp::create(builder, loc, /*resultType=*/Type(), input, before, after, zero);
}

/// Which tap of the filter `tap` of a phase is; outside of the filter where it has none there.
Value SpreadConvLowering::findTap(OpBuilder &b, Location bodyLoc, const SpreadDim &dim, Value tap,
                                  Value phase) {
  auto number = [&](int64_t value) { return arith::ConstantIndexOp::create(b, bodyLoc, value); };
  Value first = arith::MulIOp::create(b, bodyLoc, tap, number(dim.spread));
  if (isBackward)
    return arith::AddIOp::create(b, bodyLoc, first,
                                 arith::AddIOp::create(b, bodyLoc, phase, number(-dim.after)));
  return arith::AddIOp::create(
      b, bodyLoc, first,
      arith::SubIOp::create(b, bodyLoc, number(dim.spread - 1 - dim.before), phase));
}

/// The number of an output feature; a group is null if there is one, and so is what is in it.
Value SpreadConvLowering::findFeature(OpBuilder &b, Location bodyLoc, Value inGroups,
                                      Value inGroup) {
  if (!inGroups || !inGroup)
    return inGroups ? inGroups : inGroup;
  Value rest = arith::ConstantIndexOp::create(b, bodyLoc, countFilterRest());
  return arith::AddIOp::create(b, bodyLoc, arith::MulIOp::create(b, bodyLoc, inGroups, rest),
                               inGroup);
}

/// The filter of all phases, whose dims are the loops `exprs`: of each phase its taps, and zeros
/// where others have more. It is stored in the order in which it is read.
Value SpreadConvLowering::buildPhaseFilter(ArrayRef<AffineExpr> exprs) {
  auto type = cast<RankedTensorType>(filter.getType());
  SmallVector<int64_t> shape(exprs.size());
  auto place = [&](AffineExpr loop) { return llvm::find(exprs, loop) - exprs.begin(); };
  for (auto [position, label] : llvm::enumerate(dims.getFilter())) {
    int64_t size = type.getDimSize(position);
    if (label == ConvDimsAttr::kFilterInput)
      shape[place(channel)] = size;
    else if (label == ConvDimsAttr::kFilterOutput) {
      if (group)
        shape[place(group)] = groups;
      if (feature)
        shape[place(feature)] = size / groups;
    } else
      shape[place(taps[label])] = spread[label].taps;
    if (label >= 0 && spread[label].spread != 1)
      shape[place(phases[label])] = spread[label].spread;
  }
  Value empty = tensor::EmptyOp::create(builder, loc, shape, type.getElementType());
  AffineMap identity = builder.getMultiDimIdentityMap(shape.size());
  SmallVector<utils::IteratorType> parallel(shape.size(), utils::IteratorType::parallel);
  auto generic = linalg::GenericOp::create(
      builder, loc, empty.getType(), ValueRange(), empty, identity, parallel,
      [&](OpBuilder &b, Location bodyLoc, ValueRange) {
        auto at = [&](AffineExpr loop) -> Value {
          return linalg::IndexOp::create(b, bodyLoc, place(loop));
        };
        Value zero = arith::ConstantIndexOp::create(b, bodyLoc, 0), inside;
        SmallVector<Value> indices;
        for (auto [position, label] : llvm::enumerate(dims.getFilter())) {
          bool isSpread = label >= 0 && spread[label].spread != 1;
          if (label == ConvDimsAttr::kFilterOutput)
            indices.push_back(findFeature(b, bodyLoc, group ? at(group) : Value(),
                                          feature ? at(feature) : Value()));
          else
            indices.push_back(at(label == ConvDimsAttr::kFilterInput ? channel : taps[label]));
          if (!isSpread)
            continue;
          Value size = arith::ConstantIndexOp::create(b, bodyLoc, type.getDimSize(position));
          Value tap = findTap(b, bodyLoc, spread[label], indices.back(), at(phases[label]));
          // Negative numbers are large ones without a sign.
          Value isTap = arith::CmpIOp::create(b, bodyLoc, arith::CmpIPredicate::ult, tap, size);
          inside = inside ? arith::AndIOp::create(b, bodyLoc, inside, isTap).getResult() : isTap;
          indices.back() = arith::SelectOp::create(b, bodyLoc, isTap, tap, zero);
        }
        Value element = tensor::ExtractOp::create(b, bodyLoc, filter, indices);
        Value none =
            arith::ConstantOp::create(b, bodyLoc, builder.getZeroAttr(type.getElementType()));
        Value value = arith::SelectOp::create(b, bodyLoc, inside, element, none);
        linalg::YieldOp::create(b, bodyLoc, value);
      });
  return generic.getResult(0);
}

/// Where output number `output` of a dilated filter is among the positions and phases that follow
/// one another.
Value SpreadConvLowering::findOutput(OpBuilder &b, Location bodyLoc, const SpreadDim &dim,
                                     const array::WindowDim &window, Value output) {
  auto number = [&](int64_t value) { return arith::ConstantIndexOp::create(b, bodyLoc, value); };
  auto add = [&](Value x, Value y) -> Value { return arith::AddIOp::create(b, bodyLoc, x, y); };
  auto multiply = [&](Value x, int64_t y) -> Value {
    return arith::MulIOp::create(b, bodyLoc, x, number(y));
  };
  // From one output to the next, phases are the same number of phases apart.
  int64_t first = array::findDilatedPhase(window, 0), second = array::findDilatedPhase(window, 1);
  int64_t step = (second - first + dim.spread) % dim.spread;
  Value phase = arith::RemUIOp::create(b, bodyLoc, add(multiply(output, step), number(first)),
                                       number(dim.spread));
  int64_t offset = (dim.spread - 1) * dim.dilation + dim.low * dim.spread - window.low;
  Value position = arith::DivUIOp::create(
      b, bodyLoc, add(add(output, number(offset)), multiply(phase, -dim.dilation)),
      number(dim.spread));
  return add(multiply(position, dim.spread), phase);
}

/// The outputs that are asked for, where those of a dilated filter are in another order.
Value SpreadConvLowering::gather(Value result) {
  SmallVector<array::WindowDim> window = op.getWindow();
  SmallVector<OpFoldResult> taken = tensor::getMixedSizes(builder, loc, result);
  for (auto [spatial, dim] : llvm::enumerate(spread))
    if (dim.spread != 1)
      taken[dims.outputDim(spatial)] = places[spatial];
  Value empty = tensor::EmptyOp::create(builder, loc, taken, getElementTypeOrSelf(result));
  SmallVector<utils::IteratorType> parallel(taken.size(), utils::IteratorType::parallel);
  auto generic = linalg::GenericOp::create(
      builder, loc, empty.getType(), ValueRange(), empty,
      builder.getMultiDimIdentityMap(taken.size()), parallel,
      [&](OpBuilder &b, Location bodyLoc, ValueRange) {
        SmallVector<Value> indices;
        for (size_t dim = 0; dim < taken.size(); ++dim)
          indices.push_back(linalg::IndexOp::create(b, bodyLoc, dim));
        for (auto [spatial, dim] : llvm::enumerate(spread)) {
          Value &at = indices[dims.outputDim(spatial)];
          if (dim.dilation != 1)
            at = findOutput(b, bodyLoc, dim, window[spatial], at);
          else if (dim.shift != 0)
            at = arith::AddIOp::create(b, bodyLoc, at,
                                       arith::ConstantIndexOp::create(b, bodyLoc, dim.shift));
        }
        Value element = tensor::ExtractOp::create(b, bodyLoc, result, indices);
        linalg::YieldOp::create(b, bodyLoc, element);
      });
  return generic.getResult(0);
}

/// The outputs that are asked for.
Value SpreadConvLowering::cut(Value result) {
  if (!llvm::is_contained(isPart, true))
    return result;
  if (llvm::any_of(spread, [](const SpreadDim &dim) { return dim.dilation != 1; }))
    return gather(result);
  int64_t rank = cast<RankedTensorType>(result.getType()).getRank();
  SmallVector<OpFoldResult> offsets(rank, builder.getIndexAttr(0)),
      ones(rank, builder.getIndexAttr(1)), taken = tensor::getMixedSizes(builder, loc, result);
  for (auto [spatial, dim] : llvm::enumerate(spread)) {
    if (dim.spread == 1)
      continue;
    offsets[dims.outputDim(spatial)] = builder.getIndexAttr(dim.shift);
    taken[dims.outputDim(spatial)] = places[spatial];
  }
  return tensor::ExtractSliceOp::create(builder, loc, result, offsets, taken, ones);
}

Value SpreadConvLowering::build() {
  countPositions();
  addLoops();
  input = splitInput();
  SmallVector<AffineExpr> inputExprs = mapInput(), filterExprs = mapFilter();
  input = padInput();
  Value result = buildGeneric(buildPhaseFilter(filterExprs), inputExprs, filterExprs);
  result = storeTensor(builder, loc, result, op.getType().getElementType());
  return castTo(builder, loc, cut(joinResultDims(result)), op.getType());
}

namespace {

struct ConvertSpreadConv : OpConversionPattern<array::ConvOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(array::ConvOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    std::optional<SmallVector<SpreadDim>> spread = array::matchSpreadConv(op);
    if (!spread)
      return rewriter.notifyMatchFailure(op, "the input is not spread, or not in phases");
    Value reversed = array::findReversed(op);
    Value filter = reversed ? rewriter.getRemappedValue(reversed) : adaptor.getFilter();
    rewriter.replaceOp(op, SpreadConvLowering(rewriter, op, adaptor.getInput(), filter,
                                              reversed != nullptr, *spread)
                               .build());
    return success();
  }
};

} // namespace

void populateSpreadConvPatterns(const TypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<ConvertSpreadConv>(converter, patterns.getContext());
}

} // namespace xc
