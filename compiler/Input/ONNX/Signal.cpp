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
  return {isHalf ? parts[0] : n.concatenate(parts, rank - 1)};
}

llvm::ArrayRef<OpEntry> getSignalOps() {
  static constexpr OpEntry kOps[] = {
      {"BlackmanWindow", 17, importBlackmanWindow},
      {"DFT", 17, importDFT},
      {"HammingWindow", 17, importHammingWindow},
      {"HannWindow", 17, importHannWindow},
  };
  return kOps;
}

} // namespace xc::onnx
