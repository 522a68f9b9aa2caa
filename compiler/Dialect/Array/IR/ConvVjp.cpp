//===- ConvVjp.cpp - Gradients of convolutions ----------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Both gradients are convolutions. With y[o] = sum_k x[o * s + k * d - low] * w[k]:
//
//   dx: dy spread by s, padded, under the filter flipped and with its features swapped
//   dw: x (features as batch) under dy (batch as features) spread by s, stepping by d
//
// How far dy is padded depends on the size of the filter. Where that is not known, x and dy are
// spread and padded by a take. Where the number of places is not known there may be none: dw then
// is zeros, and dx what one place would make of them, as far as x goes.
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Array/IR/ExpressionBuilder.h"
#include "compiler/Dialect/Array/IR/PassAttributes.h"

using namespace mlir;

namespace xc::array {

using Values = SmallVector<Value>;

namespace {

/// Window attributes of a convolution to be built, spatial dim by spatial dim.
struct WindowLists {
  SmallVector<int64_t> strides, low, high, inputDilation, filterDilation;

  void add(int64_t stride, int64_t before, int64_t after, int64_t spreadInput,
           int64_t spreadFilter) {
    strides.push_back(stride);
    low.push_back(before);
    high.push_back(after);
    inputDilation.push_back(spreadInput);
    filterDilation.push_back(spreadFilter);
  }
};

class ConvGradients {
public:
  ConvGradients(ConvOp op, OpBuilder &builder, Value g)
      : op(op), builder(builder), e(builder, op.getLoc()), dims(op.getDims()), g(g) {}

  void analyze();
  Value buildInputGradient();
  Value buildFilterGradient();

private:
  Value cutTo(Value value, Value like);
  void takeFirstPlaces(ConvOp conv);
  OpFoldResult reachOf(OpFoldResult count, int64_t distance);
  Value takeSpread(Value value, int64_t dim, OpFoldResult length, Value first, int64_t distance);
  Value spreadPlaces(Value value, int64_t spatial, const WindowDim &window);
  Value spreadInput(Value value, int64_t spatial, const WindowDim &window);
  Value makeConv(Value input, Value filter, ConvDimsAttr convDims, const WindowLists &window,
                 int64_t featureGroups, int64_t batchGroups);

  ConvOp op;
  OpBuilder &builder;
  ExpressionBuilder e;
  ConvDimsAttr dims;
  Value g;
  WindowLists input, filter;
  /// Spatial dims of which the filter's size is not known, and of the others those of which the
  /// number of places is not.
  SmallVector<int64_t> open, counted;
  /// Whether the convolution that gives it has more places than it has elements.
  bool isInputLonger = false, isFilterLonger = false;
};

} // namespace

void ConvGradients::analyze() {
  for (auto [spatial, window] : llvm::enumerate(op.getWindow())) {
    int64_t size = op.getInput().getType().getDimSize(dims.inputDim(spatial));
    int64_t places = op.getType().getDimSize(dims.outputDim(spatial));
    if (ShapedType::isDynamic(window.size)) {
      open.push_back(spatial);
      isInputLonger = isFilterLonger = true;
      input.add(window.inputDilation, 0, 0, 1, window.dilation);
      filter.add(window.dilation, 0, 0, 1, window.stride);
      continue;
    }
    if (ShapedType::isDynamic(size) || ShapedType::isDynamic(places)) {
      // How much of the image a step leaves out at its end is not known, but is less than a step:
      // as much is added to both results, and what is too much cut off.
      int64_t around = window.getExtent() - 1, after = around - window.high + window.stride - 1;
      int64_t padding = window.low + window.high;
      bool mayFitNowhere = window.getExtent() > padding + window.stride;
      isInputLonger |= window.stride != 1 || after < 0 || mayFitNowhere;
      input.add(window.inputDilation, around - window.low, std::max<int64_t>(after, 0),
                window.stride, window.dilation);
      // Under a known number of places there are at least as many as the filter has elements.
      int64_t missing = places == 0 ? std::max<int64_t>(around - padding, 0) : 0;
      filter.add(window.dilation, window.low, window.high + missing, window.inputDilation,
                 window.stride);
      if (ShapedType::isDynamic(places))
        counted.push_back(spatial);
      else
        isFilterLonger |= window.stride != 1 || places == 0;
      continue;
    }
    int64_t spreadInput = size == 0 ? 0 : (size - 1) * window.inputDilation + 1;
    int64_t spreadOutput = places == 0 ? 0 : (places - 1) * window.stride + 1;
    int64_t before = window.getExtent() - 1 - window.low;
    int64_t after = spreadInput + window.getExtent() - 1 - spreadOutput - before;
    input.add(window.inputDilation, before, after, window.stride, window.dilation);
    int64_t excess = window.getExtent() + spreadOutput - 1 - window.low - spreadInput;
    filter.add(window.dilation, window.low, excess, window.inputDilation, window.stride);
  }
}

/// From the first of `count` elements that are `distance` apart to the last one; -1 for none.
OpFoldResult ConvGradients::reachOf(OpFoldResult count, int64_t distance) {
  SizeBuilder sizes(builder, op.getLoc());
  return sizes.sub(spreadSizeWithoutMax(sizes, count, distance), sizes.constant(1));
}

/// `value` spread by `distance` along dim `dim`, `length` elements from `first` on: element `t` is
/// `(t + first) / distance` of `value`, 0 where there is no such element.
Value ConvGradients::takeSpread(Value value, int64_t dim, OpFoldResult length, Value first,
                                int64_t distance) {
  Type i64 = builder.getI64Type();
  SizeBuilder sizes(builder, op.getLoc());
  // Of filters without elements.
  if (!getConstantIntValue(length))
    length = sizes.max(length, sizes.constant(0));
  Value position = e.add(e.iota(length, i64), first), stride = e.integer(distance, i64);
  Value index = e.div(position, stride), zero = e.integer(0, i64);
  Value count = e.number(sizes.size(value, dim), i64);
  Value isInside = e.make<AndOp>(e.compare(CompareDirection::Ge, position, zero),
                                 e.compare(CompareDirection::Lt, index, count));
  if (distance != 1)
    isInside = e.make<AndOp>(
        isInside, e.compare(CompareDirection::Eq, e.make<RemOp>(position, stride), zero));
  // A zero behind all elements is there to be taken even if there are none.
  SmallVector<int64_t> none(cast<RankedTensorType>(value.getType()).getRank(), 0), one(none);
  one[dim] = 1;
  Value padded = e.make<PadOp>(value, e.scalar(0, value), none, one, DenseI64ArrayAttr());
  return e.make<TakeOp>(padded, e.select(isInside, index, count), dim);
}

/// `value`, a cotangent of the places, as the flipped filter slides over it along dim `spatial`:
/// element `t` is that of place `(t + low - (k - 1) * d) / s` of a filter of `k` elements.
Value ConvGradients::spreadPlaces(Value value, int64_t spatial, const WindowDim &window) {
  Type i64 = builder.getI64Type();
  SizeBuilder sizes(builder, op.getLoc());
  OpFoldResult before =
      reachOf(sizes.size(op.getFilter(), dims.filterDim(spatial)), window.dilation);
  OpFoldResult elements =
      reachOf(sizes.size(op.getInput(), dims.inputDim(spatial)), window.inputDilation);
  OpFoldResult length = sizes.add(sizes.add(elements, before), sizes.constant(1));
  Value first = e.sub(e.integer(window.low, i64), e.number(before, i64));
  return takeSpread(value, dims.outputDim(spatial), length, first, window.stride);
}

/// `value`, the input, as its places slide over it along dim `spatial`: as far as they reach at all
/// elements of the filter.
Value ConvGradients::spreadInput(Value value, int64_t spatial, const WindowDim &window) {
  SizeBuilder sizes(builder, op.getLoc());
  OpFoldResult places = reachOf(sizes.size(g, dims.outputDim(spatial)), window.stride);
  OpFoldResult taps = reachOf(sizes.size(op.getFilter(), dims.filterDim(spatial)), window.dilation);
  OpFoldResult length = sizes.add(sizes.add(places, taps), sizes.constant(1));
  Value first = e.integer(-window.low, builder.getI64Type());
  return takeSpread(value, dims.inputDim(spatial), length, first, window.inputDilation);
}

Value ConvGradients::makeConv(Value x, Value w, ConvDimsAttr convDims, const WindowLists &window,
                              int64_t featureGroups, int64_t batchGroups) {
  auto list = [&](ArrayRef<int64_t> numbers) { return builder.getDenseI64ArrayAttr(numbers); };
  return e.make<ConvOp>(x, w, convDims, list(window.strides), list(window.low), list(window.high),
                        list(window.inputDilation), list(window.filterDilation), featureGroups,
                        batchGroups, op.getAllowTf32());
}

/// Splits dim `dim` of `value` into `groups` and the rest, moves the groups before dim `to`, and
/// merges them with it.
static Value moveGroups(ExpressionBuilder &e, Value value, int64_t dim, int64_t groups,
                        int64_t to) {
  Type element = cast<RankedTensorType>(value.getType()).getElementType();
  SizeBuilder sizeBuilder(e.getBuilder(), value.getLoc());
  auto reshape = [&](Value from, ArrayRef<OpFoldResult> sizes) {
    SmallVector<int64_t> shape;
    Values dynamic;
    dispatchIndexOpFoldResults(sizes, dynamic, shape);
    return e.make<ReshapeOp>(RankedTensorType::get(shape, element), from, dynamic);
  };
  OpFoldResult count = sizeBuilder.constant(groups);
  SmallVector<OpFoldResult> split = sizeBuilder.sizes(value);
  split[dim] = sizeBuilder.floorDiv(split[dim], count);
  split.insert(split.begin() + dim, count);
  // The groups leave place `dim`; what was dim `to` is then at `to`, before which they go.
  SmallVector<int64_t> permutation = llvm::to_vector(llvm::seq<int64_t>(0, split.size()));
  permutation.erase(permutation.begin() + dim);
  permutation.insert(permutation.begin() + to, dim);
  Value result = e.make<TransposeOp>(reshape(value, split), permutation);
  SmallVector<OpFoldResult> merged;
  for (int64_t from : permutation)
    merged.push_back(split[from]);
  merged.erase(merged.begin() + to);
  merged[to] = sizeBuilder.mul(merged[to], count);
  return reshape(result, merged);
}

/// The first elements of `value`, as many as `like` has.
Value ConvGradients::cutTo(Value value, Value like) {
  auto type = cast<RankedTensorType>(like.getType());
  SmallVector<Value> origin(type.getRank(), e.integer(0, builder.getI64Type()));
  Type element = cast<RankedTensorType>(value.getType()).getElementType();
  return e.make<DynamicSliceOp>(type.clone(element), value, origin, e.dynamicSizes(like));
}

Value ConvGradients::buildInputGradient() {
  Value w = op.getFilter();
  // The filter's roles swap: what it gave is what it takes. Within groups, the outputs of a group
  // are the inputs now, and the groups stand beside the inputs.
  if (op.getFeatureGroups() != 1)
    w = moveGroups(e, w, dims.filterDim(ConvDimsAttr::kFilterOutput), op.getFeatureGroups(),
                   dims.filterDim(ConvDimsAttr::kFilterInput));
  // Last, where who reads the filter finds it.
  SmallVector<int64_t> axes;
  for (int64_t spatial = 0; spatial < dims.getSpatialRank(); ++spatial)
    axes.push_back(dims.filterDim(spatial));
  llvm::sort(axes);
  if (!axes.empty())
    w = e.make<ReverseOp>(w, axes);
  SmallVector<int64_t> labels(dims.getFilter());
  std::swap(labels[dims.filterDim(ConvDimsAttr::kFilterInput)],
            labels[dims.filterDim(ConvDimsAttr::kFilterOutput)]);
  auto swapped = ConvDimsAttr::get(builder.getContext(), dims.getOutput(), labels, dims.getInput());
  Value places = g;
  SmallVector<WindowDim> window = op.getWindow();
  for (int64_t spatial : open)
    places = spreadPlaces(places, spatial, window[spatial]);
  Value result = makeConv(places, w, swapped, input, op.getFeatureGroups(), 1);
  return isInputLonger ? cutTo(result, op.getInput()) : result;
}

/// Lets `conv`, which gives the filter's gradient, have as many positions as the filter has
/// elements where that depends on the number of places.
void ConvGradients::takeFirstPlaces(ConvOp conv) {
  if (counted.empty())
    return;
  RankedTensorType type = conv.getType(), like = op.getFilter().getType();
  SmallVector<int64_t> shape(type.getShape());
  for (int64_t spatial : counted)
    shape[dims.filterDim(spatial)] = like.getDimSize(dims.filterDim(spatial));
  conv.getResult().setType(type.clone(shape));
  conv->setAttr(kFirstPlacesAttr, builder.getUnitAttr());
}

Value ConvGradients::buildFilterGradient() {
  auto relabel = [](ArrayRef<int64_t> from, int64_t batchAs, int64_t featureAs) {
    return llvm::map_to_vector(from, [&](int64_t label) {
      return label == ConvDimsAttr::kBatch || label == ConvDimsAttr::kFilterInput      ? batchAs
             : label == ConvDimsAttr::kFeature || label == ConvDimsAttr::kFilterOutput ? featureAs
                                                                                       : label;
    });
  };
  SmallVector<int64_t> inputLabels =
      relabel(dims.getInput(), ConvDimsAttr::kFeature, ConvDimsAttr::kBatch);
  SmallVector<int64_t> filterLabels =
      relabel(dims.getOutput(), ConvDimsAttr::kFilterInput, ConvDimsAttr::kFilterOutput);
  SmallVector<int64_t> outputLabels =
      relabel(dims.getFilter(), ConvDimsAttr::kBatch, ConvDimsAttr::kFeature);
  auto swapped = ConvDimsAttr::get(builder.getContext(), inputLabels, filterLabels, outputLabels);
  Value x = op.getInput();
  SmallVector<WindowDim> window = op.getWindow();
  for (int64_t spatial : open)
    x = spreadInput(x, spatial, window[spatial]);
  Value result = makeConv(x, g, swapped, filter, /*featureGroups=*/1, op.getFeatureGroups());
  takeFirstPlaces(result.getDefiningOp<ConvOp>());
  if (!isFilterLonger)
    return result;
  if (!open.empty())
    return cutTo(result, op.getFilter());
  // The batch and the features, whose sizes may be open, are as long as they should be.
  ArrayRef<int64_t> limits = op.getFilter().getType().getShape();
  SmallVector<int64_t> starts(limits.size(), 0), steps(limits.size(), 1);
  return e.make<SliceOp>(result, starts, limits, steps);
}

/// Groups of the batch may as well be groups of features, of which gradients are known.
static FailureOr<Values> buildBatchGroupVjp(ConvOp op, OpBuilder &builder, ValueRange cotangents) {
  ExpressionBuilder e(builder, op.getLoc());
  int64_t groups = op.getBatchGroups(), batch = op.getDims().inputDim(ConvDimsAttr::kBatch),
          features = op.getDims().inputDim(ConvDimsAttr::kFeature);
  Value input = moveGroups(e, op.getInput(), batch, groups, features);
  auto other = ConvOp::create(builder, op.getLoc(), input, op.getFilter(), op.getDims(),
                              op.getStridesAttr(), op.getLowAttr(), op.getHighAttr(),
                              op.getInputDilationAttr(), op.getFilterDilationAttr(), groups,
                              /*batch_groups=*/1, op.getAllowTf32());
  FailureOr<Values> back = other.buildVjp(builder, cotangents);
  other.erase();
  if (succeeded(back))
    back->front() =
        e.finish(moveGroups(e, back->front(), features, groups, batch), op.getInput().getType());
  return back;
}

FailureOr<Values> ConvOp::buildVjp(OpBuilder &builder, ValueRange cotangents) {
  if (getBatchGroups() != 1 && isa<FloatType>(getType().getElementType()))
    return buildBatchGroupVjp(*this, builder, cotangents);
  if (!isa<FloatType>(getType().getElementType()))
    return failure();
  ExpressionBuilder e(builder, getLoc());
  // Without places nothing flows back, and windows that reach them have no extent.
  if (llvm::is_contained(getType().getShape(), 0))
    return Values{e.zerosLike(getInput()), e.zerosLike(getFilter())};
  ConvGradients gradients(*this, builder,
                          e.convert(cotangents.front(), getInput().getType().getElementType()));
  gradients.analyze();
  Value input = gradients.buildInputGradient(), filter = gradients.buildFilterGradient();
  return Values{e.finish(input, getInput().getType()), e.finish(filter, getFilter().getType())};
}

} // namespace xc::array
