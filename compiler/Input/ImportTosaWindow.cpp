//===- ImportTosaWindow.cpp - TOSA convolutions, pools and resizing -------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Images stay as TOSA has them, with channels last: array.conv says of every dim what it is.
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Array/IR/Sizes.h"
#include "compiler/Input/ImportTosa.h"

#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace xc::array;

namespace xc::tosa_import {

using Result = FailureOr<SmallVector<Value>>;

/// Every second number of `pad`: [top, bottom, left, right] as low and high.
static SmallVector<int64_t> everySecond(ArrayRef<int64_t> pad, size_t first) {
  SmallVector<int64_t> numbers;
  for (size_t i = first; i < pad.size(); i += 2)
    numbers.push_back(pad[i]);
  return numbers;
}

namespace {

/// A convolution in the making: what differs between TOSA's ops.
struct Convolution {
  Value input, filter;
  SmallVector<int64_t> filterDims; ///< labels of the filter's dims
  SmallVector<int64_t> strides, low, high, inputDilation, filterDilation;
  int64_t groups = 1;
};

} // namespace

/// `input` and `filter` less their zero points, in one type.
template <typename OpTy>
static LogicalResult takeOperands(OpTy op, ExpressionBuilder &e, Convolution &conv) {
  FailureOr<int64_t> input = op.getInputZeroPoint(), weight = op.getWeightZeroPoint();
  if (failed(input) || failed(weight))
    return op.emitError() << "'" << op->getName() << "' has zero points that are not constants";
  conv.input = subtractZeroPoint(e, op.getInput(), *input);
  conv.filter = subtractZeroPoint(e, op.getWeight(), *weight);
  Type wider = elementOf(conv.input).isInteger(8) ? elementOf(conv.filter) : elementOf(conv.input);
  conv.input = e.convert(conv.input, wider);
  conv.filter = e.convert(conv.filter, wider);
  return success();
}

/// The sum with the bias, which has one element for each channel or for all.
template <typename OpTy>
static Value makeConvolution(OpTy op, ExpressionBuilder &e, const Convolution &conv) {
  auto type = cast<RankedTensorType>(op.getType());
  Builder &builder = e.getBuilder();
  auto list = [&](ArrayRef<int64_t> numbers) {
    return numbers.empty() ? DenseI64ArrayAttr() : builder.getDenseI64ArrayAttr(numbers);
  };
  SmallVector<int64_t> image = {ConvDimsAttr::kBatch};
  for (int64_t dim = 0; dim < type.getRank() - 2; ++dim)
    image.push_back(dim);
  image.push_back(ConvDimsAttr::kFeature);
  auto dims = ConvDimsAttr::get(builder.getContext(), image, conv.filterDims, image);
  // 16-bit floats and integers accumulate in more, which the bias is added in.
  Type element = elementOf(conv.input);
  Type sum = isa<FloatType>(element) ? (element.isF64() ? element : builder.getF32Type())
                                     : elementOf(op.getOutput());
  Value result = e.make<ConvOp>(Type(type.clone(sum)), conv.input, conv.filter, dims,
                                list(conv.strides), list(conv.low), list(conv.high),
                                list(conv.inputDilation), list(conv.filterDilation),
                                uint64_t(conv.groups), uint64_t(1), /*allow_tf32=*/false);
  return e.add(result, e.convert(op.getBias(), sum));
}

/// The ops whose filter is moved over the image as it is: filters are O x spatial x I.
template <typename OpTy> static Result convertConv(OpTy op, ExpressionBuilder &e) {
  Convolution conv;
  if (failed(takeOperands(op, e, conv)))
    return failure();
  conv.filterDims = {ConvDimsAttr::kFilterOutput};
  for (int64_t dim = 0; dim < static_cast<int64_t>(op.getStride().size()); ++dim)
    conv.filterDims.push_back(dim);
  conv.filterDims.push_back(ConvDimsAttr::kFilterInput);
  conv.strides = llvm::to_vector(op.getStride());
  conv.filterDilation = llvm::to_vector(op.getDilation());
  conv.low = everySecond(op.getPad(), 0);
  conv.high = everySecond(op.getPad(), 1);
  return SmallVector<Value>{makeConvolution(op, e, conv)};
}

/// Filters are H x W x C x M, one group for each of the C channels.
static Result convertDepthwise(tosa::DepthwiseConv2DOp op, ExpressionBuilder &e) {
  Convolution conv;
  if (failed(takeOperands(op, e, conv)))
    return failure();
  ArrayRef<int64_t> shape = cast<RankedTensorType>(op.getWeight().getType()).getShape();
  if (llvm::any_of(shape, ShapedType::isDynamic))
    return op.emitError("'tosa.depthwise_conv2d' has a filter of unknown size, ")
           << op.getWeight().getType();
  conv.filter =
      reshapeTo(e, conv.filter, {shape[0], shape[1], 1, multiplyKnown(shape.drop_front(2))});
  conv.filterDims = {0, 1, ConvDimsAttr::kFilterInput, ConvDimsAttr::kFilterOutput};
  conv.strides = llvm::to_vector(op.getStride());
  conv.filterDilation = llvm::to_vector(op.getDilation());
  conv.low = everySecond(op.getPad(), 0);
  conv.high = everySecond(op.getPad(), 1);
  conv.groups = shape[2];
  return SmallVector<Value>{makeConvolution(op, e, conv)};
}

/// Every input element is spread by the filter: a convolution of the dilated image with the filter
/// flipped.
static Result convertTransposed(tosa::TransposeConv2DOp op, ExpressionBuilder &e) {
  Convolution conv;
  if (failed(takeOperands(op, e, conv)))
    return failure();
  ArrayRef<int64_t> shape = cast<RankedTensorType>(op.getWeight().getType()).getShape();
  if (ShapedType::isDynamic(shape[1]) || ShapedType::isDynamic(shape[2]))
    return op.emitError("'tosa.transpose_conv2d' has a filter of unknown size, ")
           << op.getWeight().getType();
  conv.filter = e.make<ReverseOp>(conv.filter, ArrayRef<int64_t>{1, 2});
  conv.filterDims = {ConvDimsAttr::kFilterOutput, 0, 1, ConvDimsAttr::kFilterInput};
  conv.inputDilation = llvm::to_vector(op.getStride());
  ArrayRef<int64_t> pad = op.getOutPad();
  conv.low = {shape[1] - 1 + pad[0], shape[2] - 1 + pad[2]};
  conv.high = {shape[1] - 1 + pad[1], shape[2] - 1 + pad[3]};
  return SmallVector<Value>{makeConvolution(op, e, conv)};
}

/// A list for images: 1 or 0 for batch and channels.
static SmallVector<int64_t> around(ArrayRef<int64_t> spatial, int64_t outside) {
  return {outside, spatial[0], spatial[1], outside};
}

static Value convertMaxPool(tosa::MaxPool2dOp op, ExpressionBuilder &e) {
  Value input = op.getInput();
  if (op.getNanMode() == tosa::NanPropagationMode::IGNORE && isFloat(input))
    input = replaceNans(e, input, e.scalar(-std::numeric_limits<double>::infinity(), input));
  auto list = [&](ArrayRef<int64_t> numbers) {
    return e.getBuilder().getDenseI64ArrayAttr(numbers);
  };
  return e.make<ReduceWindowOp>(ReduceKind::Max, input, around(op.getKernel(), 1),
                                list(around(op.getStride(), 1)),
                                list(around(everySecond(op.getPad(), 0), 0)),
                                list(around(everySecond(op.getPad(), 1), 0)), DenseI64ArrayAttr());
}

/// How many places of dim `dim` of the image each window holds.
static SmallVector<int64_t> countInWindows(tosa::AvgPool2dOp op, int64_t dim) {
  int64_t size = cast<RankedTensorType>(op.getInput().getType()).getDimSize(dim + 1);
  int64_t kernel = op.getKernel()[dim], stride = op.getStride()[dim], low = op.getPad()[2 * dim],
          high = op.getPad()[2 * dim + 1];
  SmallVector<int64_t> counts;
  for (int64_t begin = -low; begin + kernel <= size + high; begin += stride)
    counts.push_back(std::min(begin + kernel, size) - std::max<int64_t>(begin, 0));
  return counts;
}

/// TOSA's mean of integers: a sum in i32, times a reciprocal that is rounded to 31 bits.
static Result convertIntegerAvgPool(tosa::AvgPool2dOp op, ExpressionBuilder &e) {
  FailureOr<int64_t> from = op.getInputZeroPoint(), to = op.getOutputZeroPoint();
  if (failed(from) || failed(to))
    return op.emitError("'tosa.avg_pool2d' has zero points that are not constants");
  auto type = cast<RankedTensorType>(op.getInput().getType());
  if (type.isDynamicDim(1) || type.isDynamicDim(2))
    return op.emitError("'tosa.avg_pool2d' of integers has an image of unknown height or width, ")
           << type;
  auto list = [&](ArrayRef<int64_t> numbers) {
    return e.getBuilder().getDenseI64ArrayAttr(numbers);
  };
  Type i32 = e.getBuilder().getI32Type(), i64 = e.getBuilder().getI64Type();
  Value input = e.convert(subtractZeroPoint(e, op.getInput(), *from), i32);
  Value sum = e.make<ReduceWindowOp>(
      ReduceKind::Sum, input, around(op.getKernel(), 1), list(around(op.getStride(), 1)),
      list(around(everySecond(op.getPad(), 0), 0)), list(around(everySecond(op.getPad(), 1), 0)),
      DenseI64ArrayAttr());
  SmallVector<int64_t> rows = countInWindows(op, 0), columns = countInWindows(op, 1);
  SmallVector<int64_t> multipliers, shifts;
  for (int64_t row : rows)
    for (int64_t column : columns) {
      int64_t count = row * column, k = llvm::Log2_64_Ceil(count);
      multipliers.push_back((((int64_t(1) << 30) + 1) << k) / count);
      shifts.push_back(30 + k);
    }
  auto table = RankedTensorType::get(
      {static_cast<int64_t>(rows.size()), static_cast<int64_t>(columns.size()), 1}, i64);
  auto constant = [&](ArrayRef<int64_t> values) {
    return e.make<ConstantOp>(cast<ElementsAttr>(DenseElementsAttr::get(table, values)));
  };
  Value shift = constant(shifts), one = e.integer(1, i64);
  Value round = e.make<ShiftLeftOp>(one, e.sub(shift, one));
  Value product = e.add(e.mul(e.convert(sum, i64), constant(multipliers)), round);
  Value mean = e.add(e.make<ShiftRightArithmeticOp>(product, shift), e.integer(*to, i64));
  int64_t limit = int64_t(1) << (type.getElementTypeBitWidth() - 1);
  mean = e.make<ClampOp>(e.integer(-limit, i64), mean, e.integer(limit - 1, i64));
  return SmallVector<Value>{e.convert(mean, type.getElementType())};
}

static Result convertAvgPool(tosa::AvgPool2dOp op, ExpressionBuilder &e) {
  if (!isFloat(op.getInput()))
    return convertIntegerAvgPool(op, e);
  auto list = [&](ArrayRef<int64_t> numbers) {
    return e.getBuilder().getDenseI64ArrayAttr(numbers);
  };
  return SmallVector<Value>{e.make<AvgPoolOp>(
      op.getInput(), list(around(op.getKernel(), 1)), list(around(op.getStride(), 1)),
      list(around(everySecond(op.getPad(), 0), 0)), list(around(everySecond(op.getPad(), 1), 0)),
      DenseI64ArrayAttr())};
}

//===----------------------------------------------------------------------===//
// Resizing
//===----------------------------------------------------------------------===//

namespace {

/// Which elements of one dim a result's element lies between, and how far from the first, in parts
/// of `scale`.
struct Samples {
  SmallVector<double> first, second, distance;
  int64_t scale;
};

} // namespace

/// Rows or columns of a result: where each lies becomes a constant of the program.
static constexpr int64_t kMostSamples = int64_t(1) << 22;
/// TOSA itself allows less of a scale, an offset and a border.
static constexpr int64_t kMostResizeNumber = int64_t(1) << 24;

/// How many rows or columns the result has, one of which lies at each `denominator` of the
/// `numerator` parts of an element; an error where those are too many, or none.
static FailureOr<int64_t> countSamples(tosa::ResizeOp op, int64_t size, int64_t numerator,
                                       int64_t denominator, int64_t offset, int64_t border) {
  for (int64_t number : {numerator, denominator, offset, border})
    if (number > kMostResizeNumber || number < -kMostResizeNumber)
      return op.emitError("'tosa.resize' expected scales, offsets and borders of at most ")
             << kMostResizeNumber << ", got " << number;
  if (numerator < 1 || denominator < 1)
    return op.emitError("'tosa.resize' expected scales of at least 1, got ")
           << numerator << " and " << denominator;
  std::optional<int64_t> parts = mulSizes(size - 1, numerator);
  int64_t count = parts ? (*parts - offset + border) / denominator + 1 : kMostSamples + 1;
  if (count >= 1 && count <= kMostSamples)
    return count;
  return op.emitError("'tosa.resize' expected a result of 1 to ")
         << kMostSamples << " rows and columns, got size " << size << ", scale " << numerator
         << " / " << denominator << ", offset " << offset << " and border " << border;
}

/// TOSA's rule: element i lies at (i * denominator + offset) / numerator.
static Samples sample(int64_t count, int64_t size, int64_t numerator, int64_t denominator,
                      int64_t offset) {
  Samples samples;
  samples.scale = numerator;
  for (int64_t i = 0; i < count; ++i) {
    int64_t place = i * denominator + offset;
    int64_t cell = llvm::divideFloorSigned(place, numerator);
    samples.distance.push_back(place - cell * numerator);
    samples.first.push_back(std::clamp<int64_t>(cell, 0, size - 1));
    samples.second.push_back(std::clamp<int64_t>(cell + 1, 0, size - 1));
  }
  return samples;
}

static Value takeAt(ExpressionBuilder &e, Value image, ArrayRef<double> places, int64_t axis) {
  auto type =
      RankedTensorType::get(static_cast<int64_t>(places.size()), e.getBuilder().getI32Type());
  SmallVector<int32_t> numbers(places.begin(), places.end());
  Value index =
      e.make<ConstantOp>(cast<ElementsAttr>(DenseElementsAttr::get(type, ArrayRef(numbers))));
  return e.make<TakeOp>(image, index, uint64_t(axis));
}

/// One dim of the image; integers are scaled up by `samples.scale` where they are interpolated.
static Value resizeDim(ExpressionBuilder &e, Value image, const Samples &samples, int64_t axis,
                       bool isBilinear) {
  if (!isBilinear) {
    SmallVector<double> nearest;
    for (auto [first, second, distance] :
         llvm::zip_equal(samples.first, samples.second, samples.distance))
      nearest.push_back(2 * distance >= samples.scale ? second : first);
    return takeAt(e, image, nearest, axis);
  }
  SmallVector<int64_t> shape(4 - axis, 1);
  shape[0] = samples.distance.size();
  SmallVector<double> near, far;
  double unit = isFloat(image) ? samples.scale : 1;
  for (double distance : samples.distance) {
    near.push_back((samples.scale - distance) / unit);
    far.push_back(distance / unit);
  }
  Value first = takeAt(e, image, samples.first, axis);
  Value second = takeAt(e, image, samples.second, axis);
  return e.add(e.mul(first, e.constant(near, shape, image)),
               e.mul(second, e.constant(far, shape, image)));
}

static Result convertResize(tosa::ResizeOp op, ExpressionBuilder &e) {
  FailureOr<SmallVector<int64_t>> scale = getConstants(op, e, op.getScale(), "scale"),
                                  offset = getConstants(op, e, op.getOffset(), "offset"),
                                  border = getConstants(op, e, op.getBorder(), "border");
  if (failed(scale) || failed(offset) || failed(border))
    return failure();
  auto type = cast<RankedTensorType>(op.getInput().getType());
  if (type.isDynamicDim(1) || type.isDynamicDim(2))
    return op.emitError("'tosa.resize' has an image of unknown height or width, ") << type;
  bool isBilinear = op.getMode() == tosa::ResizeMode::BILINEAR;
  Value image = e.widen(op.getInput());
  if (isBilinear && !isFloat(image))
    image = e.convert(image, elementOf(op.getOutput()));
  for (int64_t dim : {0, 1}) {
    int64_t size = type.getDimSize(dim + 1), numerator = (*scale)[2 * dim],
            denominator = (*scale)[2 * dim + 1];
    FailureOr<int64_t> count =
        countSamples(op, size, numerator, denominator, (*offset)[dim], (*border)[dim]);
    if (failed(count))
      return failure();
    Samples samples = sample(*count, size, numerator, denominator, (*offset)[dim]);
    image = resizeDim(e, image, samples, dim + 1, isBilinear);
  }
  return SmallVector<Value>{image};
}

Replacement convertWindow(Operation *op, ExpressionBuilder &e) {
  bool isKnown = true;
  Result result =
      llvm::TypeSwitch<Operation *, Result>(op)
          .Case<tosa::Conv2DOp, tosa::Conv3DOp>([&](auto o) { return convertConv(o, e); })
          .Case([&](tosa::DepthwiseConv2DOp o) { return convertDepthwise(o, e); })
          .Case([&](tosa::TransposeConv2DOp o) { return convertTransposed(o, e); })
          .Case([&](tosa::MaxPool2dOp o) { return SmallVector<Value>{convertMaxPool(o, e)}; })
          .Case([&](tosa::AvgPool2dOp o) { return convertAvgPool(o, e); })
          .Case([&](tosa::ResizeOp o) { return convertResize(o, e); })
          .Default([&](Operation *) {
            isKnown = false;
            return failure();
          });
  return isKnown ? Replacement(std::move(result)) : std::nullopt;
}

} // namespace xc::tosa_import
