//===- Windows.cpp - ONNX's convolutions ----------------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Input/ONNX/Windows.h"

#include "compiler/Dialect/Array/IR/Sizes.h"
#include "compiler/Input/ONNX/Pools.h"

using namespace mlir;
using namespace xc::array;

namespace xc::onnx {

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

Value joinPads(NodeImport &n, Value x, int64_t axis, OpFoldResult low, OpFoldResult high,
               Value with) {
  auto make = [&](OpFoldResult amount) {
    Numbers sizes = n.sizesOf(x);
    sizes[axis] = amount;
    return n.broadcast(with, sizes);
  };
  SmallVector<Value> parts = {x};
  if (!isZeroInteger(low))
    parts.insert(parts.begin(), make(low));
  if (!isZeroInteger(high))
    parts.push_back(make(high));
  return parts.size() > 1 ? n.concatenate(parts, axis) : x;
}

/// The same pads along a dim of dynamic size, as elements of `input`.
static void padOpenDim(NodeImport &n, Value &input, const Window &window, int64_t dim, bool isUpper,
                       Value with) {
  array::SizeBuilder sizes = n.sizes();
  OpFoldResult size = n.size(input, dim + 2), stride = n.index(window.strides[dim]);
  // The last position is an element of the input.
  OpFoldResult last = sizes.mul(sizes.sub(sizes.ceilDiv(size, stride), n.index(1)), stride);
  OpFoldResult total =
      sizes.max(sizes.add(sizes.sub(last, size), n.index(window.spread(dim))), n.index(0));
  // Of one element there is no half.
  OpFoldResult less = window.spread(dim) <= 2 ? n.index(0) : sizes.floorDiv(total, n.index(2));
  OpFoldResult more = sizes.sub(total, less);
  input = joinPads(n, input, dim + 2, isUpper ? less : more, isUpper ? more : less, with);
}

/// Pads such that there are `ceil(size / stride)` positions.
static bool padToSame(NodeImport &n, Value &input, Window &window, bool isUpper, Value with) {
  for (int64_t dim = 0; dim < window.getRank(); ++dim) {
    int64_t size = n.dimOf(input, dim + 2), stride = window.strides[dim];
    if (ShapedType::isDynamic(size) && stride != 1 && with) {
      padOpenDim(n, input, window, dim, isUpper, with);
      continue;
    }
    int64_t total = window.spread(dim) - stride;
    if (!ShapedType::isDynamic(size))
      // The last position is an element of the input.
      total = int64_t(llvm::divideCeil(size, stride) - 1) * stride - // in range: below size
              size + window.spread(dim);
    else if (stride != 1)
      return n.error("auto_pad of a dim of dynamic size needs a stride of 1"), false;
    total = std::max<int64_t>(total, 0);
    window.low[dim] = isUpper ? total / 2 : total - total / 2;
    window.high[dim] = total - window.low[dim];
  }
  return true;
}

Window readWindow(NodeImport &n, Value &input, ArrayRef<int64_t> kernel, Value with) {
  size_t rank = kernel.size();
  SmallVector<int64_t> ones(rank, 1), zeros(2 * rank, 0);
  Window window;
  window.kernel.assign(kernel.begin(), kernel.end());
  window.strides = n.integerList("strides", ones);
  window.dilations = n.integerList("dilations", ones);
  SmallVector<int64_t> pads = n.integerList("pads", zeros);
  window.low.assign(rank, 0);
  window.high.assign(rank, 0);
  if (n.rankOf(input) != int64_t(rank) + 2) {
    n.error("expected an input of rank " + Twine(rank + 2) + " for a window of rank " +
            Twine(rank) + ", got rank " + Twine(n.rankOf(input)));
    return window;
  }
  if (window.strides.size() != rank || window.dilations.size() != rank || pads.size() != 2 * rank) {
    n.error("expected a stride, a dilation and two pads for each of " + Twine(rank) + " dims");
    window.strides = window.dilations = ones;
    return window;
  }
  auto isAmount = [](int64_t least) {
    return [least](int64_t value) { return value >= least && value <= kMostAmount; };
  };
  if (!llvm::all_of(window.kernel, isAmount(1)) || !llvm::all_of(window.strides, isAmount(1)) ||
      !llvm::all_of(window.dilations, isAmount(1)) || !llvm::all_of(pads, isAmount(-kMostAmount))) {
    n.error("expected sizes, strides and dilations of a window that are at least 1, and they and "
            "pads that are at most " +
            Twine(kMostAmount));
    window.kernel = window.strides = window.dilations = ones;
    return window;
  }
  for (int64_t dim = 0; dim < window.getRank(); ++dim)
    if (window.spread(dim) > kMostElements) {
      n.error("expected a window that spreads over at most " + Twine(kMostElements) + " elements");
      window.kernel = window.strides = window.dilations = ones;
      return window;
    }
  std::string mode = n.text("auto_pad", "NOTSET");
  if (mode == "SAME_UPPER" || mode == "SAME_LOWER") {
    padToSame(n, input, window, mode == "SAME_UPPER", with);
  } else if (mode == "NOTSET" || mode.empty()) {
    window.low.assign(pads.begin(), pads.begin() + rank);
    window.high.assign(pads.begin() + rank, pads.end());
  } else if (mode != "VALID") {
    n.error("unknown auto_pad '" + mode + "'");
  }
  return window;
}

//===----------------------------------------------------------------------===//
// Convolutions
//===----------------------------------------------------------------------===//

/// Batch, features, space; filters by output and input features.
static ConvDimsAttr getConvDims(NodeImport &n, int64_t spatialRank) {
  SmallVector<int64_t> input{ConvDimsAttr::kBatch, ConvDimsAttr::kFeature};
  SmallVector<int64_t> filter{ConvDimsAttr::kFilterOutput, ConvDimsAttr::kFilterInput};
  for (int64_t dim = 0; dim < spatialRank; ++dim) {
    input.push_back(dim);
    filter.push_back(dim);
  }
  return ConvDimsAttr::get(n.getContext(), input, filter, input);
}

static Value buildConv(NodeImport &n, Value input, Value filter, const Window &window,
                       ArrayRef<int64_t> inputDilation, int64_t groups, Type element) {
  OpBuilder &b = n.getBuilder();
  auto list = [&](ArrayRef<int64_t> values) { return b.getDenseI64ArrayAttr(values); };
  return n.makeAs<ConvOp>(element, input, filter, getConvDims(n, window.getRank()),
                          list(window.strides), list(window.low), list(window.high),
                          list(inputDilation), list(window.dilations), uint64_t(groups),
                          /*batch_groups=*/uint64_t(1), /*allow_tf32=*/false,
                          ConvAlgorithm::Direct);
}

Value alongFeatures(NodeImport &n, Value vector, int64_t spatialRank) {
  SmallVector<int64_t> axes;
  for (int64_t dim = 0; dim < spatialRank; ++dim)
    axes.push_back(1 + dim);
  return n.expandDims(vector, axes);
}

/// The kernel's size is the filter's; where the attribute says it too, both agree.
static bool checkFilter(NodeImport &n, Value input, Value filter) {
  if (!input || !filter)
    return false;
  if (n.rankOf(filter) < 3 || n.rankOf(filter) != n.rankOf(input)) {
    n.error("expected input and filter of one rank, 3 or more, got " + Twine(n.rankOf(input)) +
            " and " + Twine(n.rankOf(filter)));
    return false;
  }
  if (!n.isStatic(filter)) {
    n.error("expected a filter of static shape");
    return false;
  }
  SmallVector<int64_t> kernel(ArrayRef<int64_t>(n.shapeOf(filter)).drop_front(2));
  if (n.hasAttribute("kernel_shape") && n.integerList("kernel_shape") != kernel) {
    n.error("kernel_shape is not that of the filter, " + formatDims(n.shapeOf(filter)));
    return false;
  }
  return true;
}

Value convolve(NodeImport &n, Value input, Value filter, Type element) {
  if (!checkFilter(n, input, filter))
    return {};
  SmallVector<int64_t> kernel(ArrayRef<int64_t>(n.shapeOf(filter)).drop_front(2));
  Window window = readWindow(n, input, kernel, n.scalar(0, input));
  int64_t groups = n.integer("group", 1);
  if (groups < 1) {
    n.error("expected one group at least, got " + Twine(groups));
    return {};
  }
  if (n.hasFailed())
    return {};
  SmallVector<int64_t> ones(kernel.size(), 1);
  return buildConv(n, input, filter, window, ones, groups, element);
}

static Results importConv(NodeImport &n) {
  Value input = n.input(0), filter = n.input(1);
  Value result = convolve(n, input, filter, n.elementOf(input));
  if (n.has(2))
    result = n.add(result, alongFeatures(n, n.input(2), n.rankOf(input) - 2));
  return {result};
}

/// A convolution of the input spread by the strides, with the filter's features exchanged group by
/// group and its space reversed.
static Results importConvTranspose(NodeImport &n) {
  Value input = n.input(0), filter = n.input(1);
  if (!checkFilter(n, input, filter))
    return {};
  SmallVector<int64_t> shape = n.shapeOf(filter);
  SmallVector<int64_t> kernel(ArrayRef<int64_t>(shape).drop_front(2));
  int64_t rank = kernel.size(), groups = n.integer("group", 1);
  SmallVector<int64_t> ones(rank, 1), zeros(rank, 0);
  std::string mode = n.text("auto_pad", "NOTSET");
  Window window = readWindow(n, input, kernel);
  SmallVector<int64_t> extra = n.integerList("output_padding", zeros),
                       wanted = n.integerList("output_shape");
  if (groups < 1 || shape[0] % groups != 0)
    return n.error("expected the features to be a multiple of the groups");
  if (int64_t(extra.size()) != rank || (!wanted.empty() && int64_t(wanted.size()) < rank))
    return n.error("expected output_padding and output_shape to have a number for each dim");
  if (llvm::any_of(extra, [](int64_t pad) { return pad < -kMostAmount || pad > kMostAmount; }) ||
      llvm::any_of(wanted, [](int64_t size) { return size < 0 || size > kMostElements; }))
    return n.error("expected output_padding and output_shape that are not too large");
  if (n.hasFailed())
    return {};
  bool isSame = mode == "SAME_UPPER" || mode == "SAME_LOWER";
  // ONNX allows batch and features in front.
  if (int64_t(wanted.size()) > rank)
    wanted.erase(wanted.begin(), wanted.end() - rank);
  Window spread = window;
  spread.strides.assign(rank, 1);
  for (int64_t dim = 0; dim < rank; ++dim) {
    int64_t low = window.low[dim], high = window.high[dim];
    if (isSame || !wanted.empty()) {
      int64_t size = n.dimOf(input, dim + 2), stride = window.strides[dim];
      if (ShapedType::isDynamic(size))
        return n.error("output_shape and auto_pad need an input of static shape");
      std::optional<int64_t> all = mulSizes(size, stride);
      if (!all || *all > kMostElements)
        return n.error("a dim of size " + Twine(size) + " with a stride of " + Twine(stride) +
                       " is too large");
      // Each of these is at most kMostElements.
      int64_t result = wanted.empty() ? *all : wanted[dim];
      int64_t reach = *all - stride + window.spread(dim);
      int64_t total = std::max<int64_t>(reach + extra[dim] - result, 0);
      low = mode == "SAME_UPPER" ? total / 2 : total - total / 2;
      high = total - low;
      // A result that is wanted larger than windows reach is padded.
      if (!wanted.empty() && reach + extra[dim] < result)
        extra[dim] = result - reach;
    }
    spread.low[dim] = window.spread(dim) - 1 - low;
    spread.high[dim] = window.spread(dim) - 1 - high + extra[dim];
  }
  // [groups * C, M, ...] to [groups * M, C, ...].
  int64_t inputs = shape[0] / groups, outputs = shape[1];
  std::optional<int64_t> features = mulSizes(groups, outputs);
  if (!features)
    return n.error(Twine(groups) + " groups of " + Twine(outputs) + " features are too many");
  SmallVector<int64_t> split{groups, inputs, outputs}, whole{*features, inputs};
  SmallVector<int64_t> exchange{0, 2, 1}, axes;
  for (int64_t dim = 0; dim < rank; ++dim) {
    split.push_back(kernel[dim]);
    whole.push_back(kernel[dim]);
    exchange.push_back(dim + 3);
    axes.push_back(dim + 2);
  }
  filter = n.reshape(n.transpose(n.reshape(filter, split), exchange), whole);
  filter = n.reverse(filter, axes);
  Value result = buildConv(n, input, filter, spread, window.strides, groups, n.elementOf(input));
  if (n.has(2))
    result = n.add(result, alongFeatures(n, n.input(2), rank));
  return {result};
}

llvm::ArrayRef<OpEntry> getWindowOps() {
  static constexpr OpEntry kOps[] = {
      {"AveragePool", 1, importAveragePool},
      {"Conv", 1, importConv},
      {"ConvTranspose", 1, importConvTranspose},
      {"GlobalAveragePool", 1, importGlobalAveragePool},
      {"GlobalLpPool", 1, importGlobalLpPool},
      {"GlobalMaxPool", 1, importGlobalMaxPool},
      {"LpPool", 1, importLpPool},
      {"MaxPool", 1, importMaxPool},
      {"MaxUnpool", 1, importMaxUnpool},
  };
  return kOps;
}

} // namespace xc::onnx
