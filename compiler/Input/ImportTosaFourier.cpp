//===- ImportTosaFourier.cpp - TOSA Fourier transforms --------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A transform of one dim is a product with the matrix of `exp(-2 pi i j k / n)`, whose elements are
// looked up in a table of the n roots of unity, which are rounded once. Two dims are two products:
// what is added up is n + m terms for an element, not n * m.
//
//===----------------------------------------------------------------------===//

#include "compiler/Input/ImportTosa.h"

#include "mlir/Dialect/Tosa/IR/TosaOps.h"

#include <cmath>

using namespace mlir;
using namespace xc::array;

namespace xc::tosa_import {

using Result = FailureOr<SmallVector<Value>>;

namespace {

/// Real and imaginary parts; a null imaginary part is 0.
struct Complex {
  Value real, imaginary;
};

/// The transform of dims 1 and 2 of a batch of images.
class Fourier {
public:
  Fourier(ExpressionBuilder &e, Value like, bool isInverse)
      : e(e), like(like), sign(isInverse ? 1 : -1) {}

  /// Along the rows of `x`, the first `count` frequencies.
  Complex transformRows(Complex x, int64_t size, int64_t count) {
    Complex matrix = buildMatrix(size, count);
    return multiply(x, matrix, [&](Value image, Value roots) { return product(image, roots); });
  }
  /// Along its columns; the matrix is symmetric.
  Complex transformColumns(Complex x, int64_t size) {
    Complex matrix = buildMatrix(size, size);
    return multiply(x, matrix, [&](Value image, Value roots) { return product(roots, image); });
  }

private:
  Value product(Value lhs, Value rhs) {
    return e.make<MatMulOp>(lhs, rhs, /*transpose_a=*/false, /*transpose_b=*/false,
                            /*allow_tf32=*/false);
  }

  /// Row j, column k: the root of unity number j * k.
  Complex buildMatrix(int64_t size, int64_t count) {
    SmallVector<double> cosines, sines;
    for (int64_t k = 0; k < size; ++k) {
      // At quarters of a turn both are known exactly.
      double angle = 2 * M_PI * static_cast<double>(k) / static_cast<double>(size);
      bool isQuarter = 4 * k % size == 0;
      cosines.push_back(isQuarter ? std::round(std::cos(angle)) : std::cos(angle));
      sines.push_back(sign * (isQuarter ? std::round(std::sin(angle)) : std::sin(angle)));
    }
    OpBuilder &builder = e.getBuilder();
    Type i64 = builder.getI64Type();
    Value row = e.make<IotaOp>(RankedTensorType::get({size, 1}, i64), ValueRange(), uint64_t(0));
    Value column = e.make<IotaOp>(RankedTensorType::get(count, i64), ValueRange(), uint64_t(0));
    Value number = e.make<RemOp>(e.mul(row, column), e.integer(size, i64));
    auto lookUp = [&](ArrayRef<double> table) {
      return e.make<TakeOp>(e.constant(table, size, like), number, uint64_t(0));
    };
    return {lookUp(cosines), lookUp(sines)};
  }

  Complex multiply(Complex x, Complex matrix, function_ref<Value(Value, Value)> product) {
    Value real = product(x.real, matrix.real), imaginary = product(x.real, matrix.imaginary);
    if (!x.imaginary)
      return {real, imaginary};
    return {e.sub(real, product(x.imaginary, matrix.imaginary)),
            e.add(imaginary, product(x.imaginary, matrix.real))};
  }
  ExpressionBuilder &e;
  Value like;
  double sign;
};

} // namespace

/// The transform of `x`; with `onlyHalf` without those frequencies of rows that follow from others.
static Result convertFourier(Operation *op, ExpressionBuilder &e, Complex x, bool isInverse,
                             bool onlyHalf) {
  auto type = cast<RankedTensorType>(x.real.getType());
  if (type.isDynamicDim(1) || type.isDynamicDim(2))
    return op->emitError() << "'" << op->getName() << "' has an image of unknown height or width, "
                           << type;
  int64_t height = type.getDimSize(1), width = type.getDimSize(2);
  Fourier fourier(e, x.real, isInverse);
  x = fourier.transformRows(x, width, onlyHalf ? width / 2 + 1 : width);
  x = fourier.transformColumns(x, height);
  return SmallVector<Value>{x.real, x.imaginary};
}

Replacement convertTransform(Operation *op, ExpressionBuilder &e) {
  if (auto fft = dyn_cast<tosa::FFT2dOp>(op))
    return convertFourier(op, e, {fft.getInputReal(), fft.getInputImag()}, fft.getInverse(),
                          /*onlyHalf=*/false);
  if (auto fft = dyn_cast<tosa::RFFT2dOp>(op))
    return convertFourier(op, e, {fft.getInputReal(), Value()}, /*isInverse=*/false,
                          /*onlyHalf=*/true);
  return std::nullopt;
}

} // namespace xc::tosa_import
