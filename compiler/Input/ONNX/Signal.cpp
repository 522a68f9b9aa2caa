//===- Signal.cpp - ONNX's windows and Fourier transforms -----------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A transform is two products with matrices of cosines and sines, which are constants.
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Array/IR/Sizes.h"
#include "compiler/Input/ONNX/NodeImport.h"

#include <cmath>

using namespace mlir;
using namespace xc::array;

namespace xc::onnx {

static constexpr double kTurn = 6.283185307179586;
/// A window has no more elements, and a transform's matrix no more rows.
static constexpr int64_t kMostWindow = int64_t(1) << 20, kMostLength = 2048;

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

/// `a0 - a1 cos(t) + a2 cos(2 t)`.
static Results makeWindow(NodeImport &n, double a0, double a1, double a2) {
  int64_t size = n.needInteger(0, "the size of a window");
  Type element = n.elementType(n.integer("output_datatype", kFloat));
  if (n.hasFailed() || size < 0 || size > kMostWindow || !isa<FloatType>(element))
    return n.error("expected a size that is not too large, and a float type");
  double length = double(n.integer("periodic", 1) != 0 ? size : size - 1);
  SmallVector<double> values;
  for (int64_t place = 0; place < size; ++place) {
    double angle = kTurn * double(place) / length;
    values.push_back(a0 - a1 * std::cos(angle) + a2 * std::cos(2 * angle));
  }
  return {n.constantFloats(values, element)};
}

static Results importHannWindow(NodeImport &n) { return makeWindow(n, 0.5, 0.5, 0); }

static Results importHammingWindow(NodeImport &n) { return makeWindow(n, 25.0 / 46, 21.0 / 46, 0); }

static Results importBlackmanWindow(NodeImport &n) { return makeWindow(n, 0.42, 0.5, 0.08); }

//===----------------------------------------------------------------------===//
// Fourier transforms
//===----------------------------------------------------------------------===//

namespace {
/// A transform along the last dim but one of parts of numbers.
struct Transform {
  int64_t length; // of the transform
  bool isInverse, isOneSided;
};
} // namespace

/// `cos` or `sin` of `2 pi k t / length`, as a matrix of `rows` by `columns`. The angle is reduced
/// in integers.
static Value makeMatrix(NodeImport &n, int64_t rows, int64_t columns, const Transform &transform,
                        bool isSine, Type element) {
  SmallVector<double> values;
  int64_t length = transform.length;
  bool isHalf = transform.isInverse && transform.isOneSided;
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t column = 0; column < columns; ++column) {
      double angle = kTurn * double(row * column % length) / double(length);
      double value = isSine ? std::sin(angle) : std::cos(angle);
      // Of a half of the frequencies each counts twice, for its mirror image.
      if (isHalf && row != 0 && 2 * row != length)
        value *= 2;
      values.push_back(transform.isInverse ? value / double(length) : value);
    }
  return n.constantFloats(values, element, ArrayRef<int64_t>({rows, columns}));
}

static Value multiplyLast(NodeImport &n, Value x, Value matrix) {
  int64_t last = n.rankOf(x) - 1;
  return n.makeAs<DotGeneralOp>(n.elementOf(x), x, matrix, ArrayRef<int64_t>(), ArrayRef<int64_t>(),
                                ArrayRef<int64_t>(last), ArrayRef<int64_t>(0),
                                /*allow_tf32=*/false);
}

/// The parts have the dim that is transformed last.
static Results transformParts(NodeImport &n, Value real, Value imaginary,
                              const Transform &transform) {
  int64_t rows = n.dimOf(real, n.rankOf(real) - 1), columns = transform.length;
  if (transform.isOneSided && !transform.isInverse)
    columns = transform.length / 2 + 1;
  // In f64: sums of terms of both signs cancel.
  Type element = n.getBuilder().getF64Type(), narrow = n.elementOf(real);
  real = n.convert(real, element);
  if (imaginary)
    imaginary = n.convert(imaginary, element);
  Value cosines = makeMatrix(n, rows, columns, transform, false, element),
        sines = makeMatrix(n, rows, columns, transform, true, element);
  double sign = transform.isInverse ? -1 : 1;
  auto signedSines = [&](Value x, double factor) {
    Value product = multiplyLast(n, x, sines);
    return factor < 0 ? n.make<NegOp>(product) : product;
  };
  // e^(-i t) of what goes forward, e^(i t) of what goes back.
  Value re = multiplyLast(n, real, cosines), im = signedSines(real, -sign);
  if (imaginary) {
    re = n.add(re, signedSines(imaginary, sign));
    im = n.add(im, multiplyLast(n, imaginary, cosines));
  }
  return {n.convert(re, narrow), n.convert(im, narrow)};
}

/// Transforms dim \p axis of \p x, whose last dim has one or two parts, the real one first. A half
/// of the frequencies becomes real numbers, one part; everything else two parts.
static Value transformAlong(NodeImport &n, Value x, int64_t axis, const Transform &transform) {
  int64_t rank = n.rankOf(x);
  SmallVector<int64_t> permutation, back;
  for (int64_t dim = 0; dim + 1 < rank; ++dim)
    if (dim != axis)
      permutation.push_back(dim);
  permutation.push_back(axis);
  back.resize(rank - 1);
  for (auto [to, from] : llvm::enumerate(permutation))
    back[from] = to;
  auto part = [&](int64_t which) {
    return n.transpose(n.squeeze(n.slice(x, rank - 1, which, which + 1), {rank - 1}), permutation);
  };
  bool isComplex = n.dimOf(x, rank - 1) == 2;
  Results parts = transformParts(n, part(0), isComplex ? part(1) : Value(), transform);
  if (n.hasFailed())
    return {};
  for (Value &value : parts)
    value = n.expandDims(n.transpose(value, back), {rank - 1});
  bool isReal = transform.isInverse && transform.isOneSided;
  return isReal ? parts[0] : n.concatenate(parts, rank - 1);
}

static Results importDFT(NodeImport &n) {
  Value x = n.input(0);
  int64_t rank = n.rankOf(x), axis = n.version < 20 ? n.integer("axis", 1) : -2;
  if (n.version >= 20 && n.has(2))
    axis = n.needInteger(2, "the axis of DFT");
  axis = n.normalizeAxis(axis, rank);
  if (n.hasFailed() || axis == rank - 1 || !n.isFloat(x) ||
      ShapedType::isDynamic(n.dimOf(x, axis)) || n.dimOf(x, rank - 1) > 2)
    return n.error("expected floats, an axis of static size, and one or two parts in the last dim");
  Transform transform;
  transform.isInverse = n.integer("inverse", 0) != 0;
  transform.isOneSided = n.integer("onesided", 0) != 0;
  int64_t size = n.dimOf(x, axis);
  bool isHalf = transform.isInverse && transform.isOneSided;
  transform.length = isHalf ? 2 * (size - 1) : size; // in range: a dim has a size to kMostElements
  if (n.has(1))
    transform.length = n.needInteger(1, "the length of DFT");
  int64_t wanted = isHalf ? transform.length / 2 + 1 : transform.length;
  if (n.hasFailed() || transform.length < 1 || transform.length > kMostLength)
    return n.error("expected a length of 1 to " + Twine(kMostLength) + ", got " +
                   Twine(transform.length));
  if (wanted < size)
    x = n.slice(x, axis, 0, wanted);
  SmallVector<int64_t> low(rank, 0), high(rank, 0);
  high[axis] = std::max<int64_t>(wanted - size, 0);
  x = n.pad(x, n.scalar(0, x), low, high);
  return {transformAlong(n, x, axis, transform)};
}

/// Frames of the signal, `frame_step` apart, each times the window, transformed.
static Results importSTFT(NodeImport &n) {
  Value signal = n.input(0), window = n.has(2) ? n.input(2) : Value();
  int64_t step = n.needInteger(1, "the frame_step of STFT"), parts = n.dimOf(signal, 2);
  if (n.rankOf(signal) != 3 || !n.isFloat(signal) || (parts != 1 && parts != 2) ||
      (window && n.rankOf(window) != 1))
    return n.error("expected a signal [N, length, 1 or 2] of floats and a window of rank 1");
  Transform transform;
  transform.isInverse = false;
  transform.isOneSided = n.integer("onesided", 1) != 0;
  transform.length = n.dimOf(window ? window : signal, window ? 0 : 1);
  if (n.has(3))
    transform.length = n.needInteger(3, "the frame_length of STFT");
  int64_t length = n.dimOf(signal, 1);
  if (n.hasFailed() || transform.length < 1 || transform.length > kMostLength || step < 1 ||
      step > kMostAmount || (window && n.dimOf(window, 0) != transform.length) ||
      (!ShapedType::isDynamic(length) && length < transform.length))
    return n.error("expected frames of 1 to " + Twine(kMostLength) +
                   " elements, no more than the signal has, a window of that size, and a step");
  if (transform.isOneSided && parts == 2)
    return n.error("onesided is for signals of real numbers");
  // Not negative where a signal of dynamic length is shorter than a frame.
  array::SizeBuilder sizes = n.sizes();
  OpFoldResult room =
      sizes.max(sizes.sub(n.size(signal, 1), n.index(transform.length - step)), n.index(0));
  OpFoldResult frames = sizes.floorDiv(room, n.index(step));
  Type word = n.getBuilder().getI64Type();
  Numbers grid{frames, n.index(transform.length)};
  Value first = n.mul(n.iota(grid, 0, word), n.scalar(double(step), word));
  Value taken = n.make<TakeOp>(signal, n.add(first, n.iota(grid, 1, word)), uint64_t(1));
  if (window)
    taken = n.mul(taken, n.expandDims(n.convert(window, n.elementOf(signal)), {1}));
  return {transformAlong(n, taken, 2, transform)};
}

//===----------------------------------------------------------------------===//
// Mel scale
//===----------------------------------------------------------------------===//

/// Triangles that are equally spaced on the mel scale, over the frequencies of a transform.
static Results importMelWeightMatrix(NodeImport &n) {
  int64_t bands = n.needInteger(0, "the num_mel_bins of MelWeightMatrix"),
          length = n.needInteger(1, "the dft_length of MelWeightMatrix"),
          rate = n.needInteger(2, "the sample_rate of MelWeightMatrix");
  SmallVector<double> lower = n.needFloats(3, "the lower_edge_hertz of MelWeightMatrix"),
                      upper = n.needFloats(4, "the upper_edge_hertz of MelWeightMatrix");
  Type element = n.elementType(n.integer("output_datatype", kFloat));
  if (n.hasFailed() || bands < 1 || bands > kMostLength || length < 1 || length > kMostLength * 2 ||
      rate < 1 || lower.size() != 1 || upper.size() != 1 || !isa<FloatType>(element))
    return n.error("expected sizes that are positive and not too large, and a float type");
  auto toMel = [](double hertz) { return 2595 * std::log10(1 + hertz / 700); };
  double low = toMel(lower[0]), step = (toMel(upper[0]) - low) / double(bands + 2);
  int64_t rows = length / 2 + 1;
  // The corners of the triangles, as indices of frequencies.
  SmallVector<int64_t> corners;
  for (int64_t i = 0; i < bands + 2; ++i) {
    double hertz = 700 * (std::pow(10, (double(i) * step + low) / 2595) - 1);
    double corner = std::floor(double(length + 1) * hertz / double(rate));
    if (!(corner >= 0 && corner < double(rows)))
      return n.error("expected edges from 0 to half the sample rate");
    corners.push_back(int64_t(corner));
  }
  SmallVector<double> values(rows * bands, 0.0); // in range: both are bounded above
  for (int64_t band = 0; band < bands; ++band) {
    int64_t left = corners[band], center = corners[band + 1], right = corners[band + 2];
    for (int64_t row = left; row <= center; ++row)
      values[row * bands + band] = left == center ? 1 : double(row - left) / double(center - left);
    for (int64_t row = center; row < right; ++row)
      values[row * bands + band] = double(right - row) / double(right - center);
  }
  return {n.constantFloats(values, element, ArrayRef<int64_t>({rows, bands}))};
}

llvm::ArrayRef<OpEntry> getSignalOps() {
  static constexpr OpEntry kOps[] = {
      {"BlackmanWindow", 17, importBlackmanWindow},   {"DFT", 17, importDFT},
      {"HammingWindow", 17, importHammingWindow},     {"HannWindow", 17, importHannWindow},
      {"MelWeightMatrix", 17, importMelWeightMatrix}, {"STFT", 17, importSTFT},
  };
  return kOps;
}

} // namespace xc::onnx
