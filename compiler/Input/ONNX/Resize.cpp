//===- Resize.cpp - ONNX's Resize and Upsample ----------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Dim by dim. What array.resize computes becomes that op. Elsewhere sizes are static, and each
// element of the result is a sum of a few elements (taps) with weights, both computed here as
// ONNX's reference does: a gather for each tap.
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Array/IR/Sizes.h"
#include "compiler/Input/ONNX/NodeImport.h"

#include <cmath>

using namespace mlir;
using namespace xc::array;

namespace xc::onnx {

namespace {

/// How a node resizes, whatever version says it.
struct Settings {
  std::string mode = "nearest", coordinates = "half_pixel", nearest = "round_prefer_floor";
  double cubicCoefficient = -0.75, extrapolation = 0;
  bool excludeOutside = false, antialias = false;
};

/// One dim that changes.
struct ResizedDim {
  int64_t axis;
  int64_t in, out;
  double scale;
  double roiStart = 0, roiEnd = 1;
};

/// Where one element of the result comes from.
struct Taps {
  SmallVector<int64_t> indices;
  SmallVector<double> weights;
  bool isOutside = false;
};

} // namespace

/// The position in the operand of element `place` of the result.
static double findPosition(const Settings &settings, const ResizedDim &dim, int64_t place) {
  StringRef mode = settings.coordinates;
  double width = dim.scale * double(dim.in);
  if (mode == "align_corners")
    return width == 1 ? 0 : double(place) * double(dim.in - 1) / (width - 1);
  if (mode == "asymmetric")
    return double(place) / dim.scale;
  if (mode == "tf_crop_and_resize") {
    double range = double(dim.in - 1);
    // One element alone is from the middle.
    double part = width == 1 ? 0.5 : double(place) / (width - 1);
    return (dim.roiStart + part * (dim.roiEnd - dim.roiStart)) * range;
  }
  double position = (double(place) + 0.5) / dim.scale - 0.5;
  if (mode == "pytorch_half_pixel" && width == 1)
    return -0.5;
  if (mode == "half_pixel_symmetric")
    position += double(dim.in) / 2 * (1 - double(dim.out) / width);
  return position;
}

static double cubicWeight(double x, double a) {
  x = std::abs(x);
  if (x <= 1)
    return (a + 2) * x * x * x - (a + 3) * x * x + 1;
  return x < 2 ? a * x * x * x - 5 * a * x * x + 8 * a * x - 4 * a : 0;
}

/// The elements around `position`, before indices are clamped into the dim.
static Taps findTaps(const Settings &settings, const ResizedDim &dim, int64_t place) {
  double position = findPosition(settings, dim, place), floor = std::floor(position);
  int64_t first = int64_t(floor);
  double ratio = position - floor;
  Taps taps;
  taps.isOutside = position < 0 || position > double(dim.in - 1);
  auto add = [&](int64_t index, double weight) {
    taps.indices.push_back(index);
    taps.weights.push_back(weight);
  };
  if (settings.mode == "nearest") {
    bool isUp = ratio > 0 && (settings.nearest == "ceil" ||
                              (settings.nearest == "round_prefer_floor" && ratio > 0.5) ||
                              (settings.nearest == "round_prefer_ceil" && ratio >= 0.5));
    add(isUp ? first + 1 : first, 1);
    return taps;
  }
  bool isCubic = settings.mode == "cubic";
  double scale = settings.antialias ? std::min(dim.scale, 1.0) : 1.0, reach = isCubic ? 2 : 1;
  int64_t begin = int64_t(std::floor(-reach / scale)) + 1, end = 2 - begin;
  if (!isCubic)
    end = begin + (2 - 2 * begin);
  for (int64_t i = begin; i < end; ++i) {
    double distance = (double(i) - ratio) * scale;
    add(first + i, isCubic ? cubicWeight(distance, settings.cubicCoefficient)
                           : std::max(0.0, 1 - std::abs(distance)));
  }
  bool isNormalized = settings.antialias;
  if (settings.excludeOutside) {
    isNormalized = true;
    for (auto [index, weight] : llvm::zip_equal(taps.indices, taps.weights))
      if (index < 0 || index >= dim.in)
        weight = 0;
  }
  double sum = 0;
  for (double weight : taps.weights)
    sum += weight;
  if (isNormalized && sum != 0)
    for (double &weight : taps.weights)
      weight /= sum;
  return taps;
}

/// Larger dims, or more taps, would make the module large.
static constexpr int64_t kMostPositions = int64_t(1) << 20, kMostTaps = 64;

static Value resizeByTaps(NodeImport &n, Value x, const Settings &settings, const ResizedDim &dim) {
  if (dim.in < 1 || dim.out > kMostPositions) {
    n.error("resizing a dim of size " + Twine(dim.in) + " to " + Twine(dim.out) +
            " is not supported");
    return {};
  }
  SmallVector<Taps> all;
  size_t count = 0;
  for (int64_t place = 0; place < dim.out; ++place) {
    all.push_back(findTaps(settings, dim, place));
    count = std::max(count, all.back().indices.size());
  }
  if (count > kMostTaps) {
    n.error("resizing that takes " + Twine(count) + " elements for one is not supported");
    return {};
  }
  Type word = n.getBuilder().getI64Type(), element = n.elementOf(x);
  bool isSum = settings.mode != "nearest";
  if (isSum && !n.isFloat(x)) {
    // Interpolated as floats, and cut as a cast does.
    return n.convert(resizeByTaps(n, n.convert(x, n.getBuilder().getF32Type()), settings, dim),
                     element);
  }
  SmallVector<int64_t> shape(n.rankOf(x) - dim.axis, 1);
  shape[0] = dim.out;
  Value source = isSum ? n.widen(x) : x, sum;
  for (size_t tap = 0; tap < count; ++tap) {
    SmallVector<int64_t> indices;
    SmallVector<double> weights;
    for (const Taps &taps : all) {
      indices.push_back(std::clamp<int64_t>(taps.indices[tap], 0, dim.in - 1));
      weights.push_back(taps.weights[tap]);
    }
    if (isSum && llvm::all_of(weights, [](double weight) { return weight == 0; }))
      continue;
    Value part = n.make<TakeOp>(source, n.constant(indices, word), uint64_t(dim.axis));
    if (isSum)
      part = n.mul(part, n.constantFloats(weights, n.elementOf(source), ArrayRef<int64_t>(shape)));
    sum = sum ? n.add(sum, part) : part;
  }
  if (settings.coordinates == "tf_crop_and_resize") {
    SmallVector<int64_t> inside;
    for (const Taps &taps : all)
      inside.push_back(!taps.isOutside);
    Value mask = n.constant(inside, n.getBuilder().getI1Type(), ArrayRef<int64_t>(shape));
    sum = n.select(mask, sum, n.scalar(settings.extrapolation, sum));
  }
  return n.convert(sum, element);
}

/// Whether the array op computes the same, for dims of any size.
static std::optional<ResizeMode> findArrayMode(const Settings &settings, bool scalesFit) {
  if (settings.antialias || settings.excludeOutside || !scalesFit ||
      settings.coordinates != "half_pixel")
    return std::nullopt;
  if (settings.mode == "linear")
    return ResizeMode::Linear;
  if (settings.mode == "cubic" && settings.cubicCoefficient == -0.75)
    return ResizeMode::Cubic;
  if (settings.mode == "nearest" && settings.nearest == "round_prefer_ceil")
    return ResizeMode::Nearest;
  return std::nullopt;
}

/// Each element a whole number of times, along a dim of any size.
static std::optional<int64_t> findRepeats(const Settings &settings, double scale) {
  bool isWhole = scale >= 1 && scale == std::floor(scale) && scale < 65536;
  bool isFloor = settings.coordinates == "asymmetric" && settings.nearest == "floor";
  bool isHalf = settings.coordinates == "half_pixel" &&
                StringRef(settings.nearest).starts_with("round_prefer");
  if (settings.mode == "nearest" && isWhole && (isFloor || isHalf))
    return int64_t(scale);
  return std::nullopt;
}

/// Resizes to `sizes`, by `scales`; each follows from the other where it is not given.
static Results resize(NodeImport &n, Value x, const Settings &settings, ArrayRef<int64_t> axes,
                      ArrayRef<double> scales, ArrayRef<OpFoldResult> sizes, ArrayRef<double> roi) {
  size_t count = axes.size();
  if ((scales.empty() ? sizes.size() : scales.size()) != count)
    return n.error("expected a scale or a size for each of " + Twine(count) + " dims");
  for (auto [i, axis] : llvm::enumerate(axes)) {
    int64_t in = n.dimOf(x, axis);
    bool isCrop = settings.coordinates == "tf_crop_and_resize";
    if (ShapedType::isDynamic(in) || (scales.empty() && !getConstantIntValue(sizes[i]))) {
      if (!scales.empty() && scales[i] == 1.0)
        continue;
      std::optional<int64_t> repeats =
          scales.empty() ? std::nullopt : findRepeats(settings, scales[i]);
      std::optional<ResizeMode> mode = findArrayMode(settings, /*scalesFit=*/true);
      OpFoldResult size;
      if (repeats) {
        x = n.make<RepeatOp>(x, uint64_t(*repeats), uint64_t(axis));
        continue;
      }
      if (!scales.empty() && scales[i] == std::floor(scales[i]))
        size = n.sizes().mul(n.size(x, axis), n.index(int64_t(scales[i])));
      else if (scales.empty())
        size = sizes[i];
      if (!mode || !size)
        return n.error("resizing a dim of dynamic size this way (mode " + settings.mode +
                       ", coordinates " + settings.coordinates + ") is not supported");
      SmallVector<int64_t> known{getConstantIntValue(size).value_or(ShapedType::kDynamic)};
      SmallVector<Value> dynamic;
      if (ShapedType::isDynamic(known[0]))
        dynamic.push_back(cast<Value>(size));
      x = n.make<ResizeOp>(*mode, x, ValueRange(dynamic), ArrayRef<int64_t>(axis),
                           ArrayRef<int64_t>(known), /*align_corners=*/false);
      continue;
    }
    ResizedDim dim{axis, in, 0, 1.0};
    double exact =
        sizes.empty() ? std::floor(double(in) * scales[i]) : double(*getConstantIntValue(sizes[i]));
    dim.scale = scales.empty() ? exact / double(in) : scales[i];
    if (!(exact >= 0 && exact <= double(kMostElements)) || !(dim.scale > 0))
      return n.error("expected scales that are positive, and sizes that are not too large");
    dim.out = int64_t(exact);
    if (roi.size() == 2 * count) { // in range: the length of a list
      dim.roiStart = roi[i];
      dim.roiEnd = roi[count + i];
    }
    if (!isCrop && dim.scale == 1.0 && dim.out == in)
      continue;
    if (std::optional<int64_t> repeats = findRepeats(settings, dim.scale)) {
      x = n.make<RepeatOp>(x, uint64_t(*repeats), uint64_t(axis));
      continue;
    }
    bool scalesFit = double(dim.out) == dim.scale * double(in);
    std::optional<ResizeMode> mode = findArrayMode(settings, scalesFit);
    if (mode && (n.isFloat(x) || *mode == ResizeMode::Nearest) && dim.out > 0)
      x = n.make<ResizeOp>(*mode, x, ValueRange(), ArrayRef<int64_t>(axis),
                           ArrayRef<int64_t>(dim.out), /*align_corners=*/false);
    else
      x = resizeByTaps(n, x, settings, dim);
    if (n.hasFailed())
      return {};
  }
  return {x};
}

/// Sizes that keep the ratio of height to width, as `keep_aspect_ratio_policy` says. They are
/// rounded; what dims are scaled by is not.
static bool keepAspectRatio(NodeImport &n, Value x, ArrayRef<int64_t> axes, Numbers &sizes,
                            SmallVector<double> &scales) {
  std::string policy = n.text("keep_aspect_ratio_policy", "stretch");
  if (policy == "stretch")
    return true;
  if (policy != "not_larger" && policy != "not_smaller")
    return n.error("unknown keep_aspect_ratio_policy '" + policy + "'"), false;
  std::optional<SmallVector<int64_t>> known = getConstantIntValues(sizes);
  if (!known || !n.isStatic(x) || known->size() != axes.size())
    return n.error("keep_aspect_ratio_policy needs static sizes"), false;
  double scale = policy == "not_larger" ? std::numeric_limits<double>::infinity() : 0;
  for (auto [axis, size] : llvm::zip_equal(axes, *known)) {
    double one = double(size) / double(n.dimOf(x, axis));
    scale = policy == "not_larger" ? std::min(scale, one) : std::max(scale, one);
  }
  for (auto [axis, size] : llvm::zip_equal(axes, sizes))
    size = n.index(int64_t(std::floor(scale * double(n.dimOf(x, axis)) + 0.5)));
  scales.assign(axes.size(), scale);
  return true;
}

static SmallVector<int64_t> readResizeAxes(NodeImport &n, Value x) {
  SmallVector<int64_t> all = llvm::to_vector(llvm::seq<int64_t>(0, n.rankOf(x)));
  SmallVector<int64_t> axes = n.integerList("axes", all);
  for (int64_t &axis : axes)
    axis = n.normalizeAxis(axis, n.rankOf(x));
  return axes;
}

static Results importResize(NodeImport &n) {
  Value x = n.input(0);
  Settings settings;
  settings.mode = n.text("mode", "nearest");
  settings.coordinates = n.text("coordinate_transformation_mode", "half_pixel");
  settings.nearest = n.text("nearest_mode", "round_prefer_floor");
  settings.cubicCoefficient = n.number("cubic_coeff_a", -0.75);
  settings.extrapolation = n.number("extrapolation_value", 0);
  settings.excludeOutside = n.integer("exclude_outside", 0) != 0;
  settings.antialias = n.integer("antialias", 0) != 0;
  if (settings.mode != "nearest" && settings.mode != "linear" && settings.mode != "cubic")
    return n.error("unknown mode '" + settings.mode + "'");
  SmallVector<int64_t> axes = readResizeAxes(n, x);
  SmallVector<double> scales, roi;
  Numbers sizes;
  if (n.has(2))
    scales = n.needFloats(2, "the scales of Resize");
  if (scales.empty() && n.has(3)) {
    sizes = n.needNumbers(3, "the sizes of Resize");
    if (n.hasFailed() || !keepAspectRatio(n, x, axes, sizes, scales))
      return {};
  }
  if (n.has(1) && settings.coordinates == "tf_crop_and_resize")
    roi = n.needFloats(1, "the roi of Resize");
  if (n.hasFailed())
    return {};
  return resize(n, x, settings, axes, scales, sizes, roi);
}

/// Before version 11 there was one way.
static Settings getOldSettings(NodeImport &n) {
  Settings settings;
  settings.mode = n.text("mode", "nearest");
  if (settings.mode == "bilinear")
    settings.mode = "linear";
  settings.coordinates = "asymmetric";
  settings.nearest = "floor";
  return settings;
}

static Results importOldResize(NodeImport &n) {
  Value x = n.input(0);
  SmallVector<double> scales =
      n.hasAttribute("scales") ? n.numberList("scales") : n.needFloats(1, "the scales");
  if (n.hasFailed())
    return {};
  return resize(n, x, getOldSettings(n), llvm::to_vector(llvm::seq<int64_t>(0, n.rankOf(x))),
                scales, {}, {});
}

llvm::ArrayRef<OpEntry> getResizeOps() {
  static constexpr OpEntry kOps[] = {
      {"Resize", 10, importOldResize},
      {"Resize", 11, importResize},
      {"Upsample", 7, importOldResize},
  };
  return kOps;
}

} // namespace xc::onnx
