//===- SplitFourier.cpp - Fourier transforms as products ------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A transform of few points is a product with its matrix. One of n = p q points is q transforms of
// p points, factors, and p transforms of q points (J. W. Cooley and J. W. Tukey, 1965). One of a
// large prime number of points is a circular convolution of a length that has small factors (L. I.
// Bluestein, 1970). All numbers are computed here, in double precision.
//
//===----------------------------------------------------------------------===//

#include "compiler/Input/StableHLO/SplitValues.h"

#include <complex>

using namespace mlir;
using namespace xc::array;

namespace xc::stablehlo_import {

using Values = SmallVector<Value>;
using Numbers = std::vector<std::complex<double>>;

/// Transforms of up to as many points are one product. A matrix of 64 x 64 pairs has 128 rows,
/// which is what a tile of a product holds.
static constexpr int64_t kMostDirect = 64;
/// Larger prime factors are not multiplied by matrices, whose sizes are squares.
static constexpr int64_t kMostPrime = 256;
/// Factors and matrices are constants of a module; larger transforms would fill it.
static constexpr int64_t kMostPoints = int64_t(1) << 22;

/// exp(-2 pi i k / n), whose angle is reduced exactly.
static std::complex<double> getRoot(int64_t k, int64_t n) {
  return std::polar(1.0, -2 * 3.14159265358979323846 * static_cast<double>(k % n) /
                             static_cast<double>(n));
}

/// The largest factor of `n` that is at most `kMostDirect`, the nearest one to the root of n where
/// that is small enough; 1 for a prime number above.
static int64_t getFactor(int64_t n) {
  int64_t best = 1;
  for (int64_t factor = 2; factor <= kMostDirect && factor * factor <= n; ++factor)
    if (n % factor == 0)
      best = factor;
  return best;
}

namespace {

/// Transforms of the last dim of [rows, points].
class Transform {
public:
  Transform(ExpressionBuilder &e, bool isInverse) : e(e), isInverse(isInverse) {}

  /// Without the inverse's factor.
  Complex apply(Complex x);

private:
  Complex multiplyByMatrix(Complex x);
  Complex split(Complex x, int64_t factor);
  Complex convolve(Complex x);

  /// exp(-2 pi i k / n), or exp(2 pi i k / n) of inverse transforms.
  std::complex<double> getFactorOf(int64_t k, int64_t n) const {
    return isInverse ? std::conj(getRoot(k, n)) : getRoot(k, n);
  }
  Value constant(ArrayRef<double> numbers, ArrayRef<int64_t> shape, Value like) {
    return e.constant(numbers, shape, like);
  }
  Complex constants(const Numbers &numbers, ArrayRef<int64_t> shape, Value like);
  /// Of `points`, with the parts of inputs along rows and those of outputs along columns, or of
  /// outputs along rows.
  Value matrix(int64_t points, bool isReal, bool isTransposed, Value like);
  Value product(Value lhs, Value rhs, int64_t left, int64_t right);
  Value part(Value value, int64_t axis, int64_t first, int64_t size);
  /// Both parts one after the other along `axis`; a real value alone.
  Value join(Complex x, int64_t axis);

  ExpressionBuilder &e;
  bool isInverse;
};

} // namespace

Complex Transform::constants(const Numbers &numbers, ArrayRef<int64_t> shape, Value like) {
  SmallVector<double> re, im;
  for (const std::complex<double> &number : numbers) {
    re.push_back(number.real());
    im.push_back(number.imag());
  }
  return {constant(re, shape, like), constant(im, shape, like)};
}

Value Transform::matrix(int64_t points, bool isReal, bool isTransposed, Value like) {
  int64_t inputs = isReal ? points : 2 * points, outputs = 2 * points;
  SmallVector<double> numbers(inputs * outputs);
  for (int64_t j = 0; j < inputs; ++j)
    for (int64_t k = 0; k < outputs; ++k) {
      std::complex<double> root = getFactorOf((j % points) * (k % points), points);
      bool isImaginaryInput = j >= points, isImaginaryOutput = k >= points;
      // (a + i b)(c + i d) = (a c - b d) + i (a d + b c)
      double number = isImaginaryInput == isImaginaryOutput ? root.real()
                      : isImaginaryInput                    ? -root.imag()
                                                            : root.imag();
      numbers[isTransposed ? k * inputs + j : j * outputs + k] = number;
    }
  SmallVector<int64_t> shape{inputs, outputs};
  if (isTransposed)
    std::swap(shape[0], shape[1]);
  return constant(numbers, shape, like);
}

Value Transform::product(Value lhs, Value rhs, int64_t left, int64_t right) {
  SmallVector<int64_t> shape;
  for (auto [value, contracted] : {std::pair(lhs, left), std::pair(rhs, right)})
    for (auto [dim, size] : llvm::enumerate(typeOf(value).getShape()))
      if (static_cast<int64_t>(dim) != contracted)
        shape.push_back(size);
  return e.make<DotGeneralOp>(typeOf(lhs).clone(shape), lhs, rhs, ArrayRef<int64_t>(),
                              ArrayRef<int64_t>(), ArrayRef(left), ArrayRef(right),
                              /*allowTf32=*/false);
}

Value Transform::part(Value value, int64_t axis, int64_t first, int64_t size) {
  ArrayRef<int64_t> shape = typeOf(value).getShape();
  SmallVector<int64_t> starts(shape.size(), 0), limits(shape), strides(shape.size(), 1);
  starts[axis] = first;
  limits[axis] = first + size;
  return slice(e, value, starts, limits, strides);
}

Value Transform::join(Complex x, int64_t axis) {
  return x.im ? e.make<ConcatenateOp>(ValueRange{x.re, x.im}, axis) : x.re;
}

Complex Transform::multiplyByMatrix(Complex x) {
  int64_t points = typeOf(x.re).getDimSize(1);
  if (points == 1)
    return {x.re, x.im ? x.im : zeros(e, typeOf(x.re))};
  Value result = product(join(x, 1), matrix(points, !x.im, /*isTransposed=*/false, x.re), 1, 0);
  return {part(result, 1, 0, points), part(result, 1, points, points)};
}

/// Input j is number `j2` of row j1 where j = j1 q + j2; output k = k1 + k2 p.
Complex Transform::split(Complex x, int64_t p) {
  int64_t rows = typeOf(x.re).getDimSize(0), points = typeOf(x.re).getDimSize(1), q = points / p;
  Complex tables{reshapeTo(e, x.re, {rows, p, q}),
                 x.im ? reshapeTo(e, x.im, {rows, p, q}) : Value()};
  // [k1, rows, j2]
  Value result = product(matrix(p, !x.im, /*isTransposed=*/true, x.re), join(tables, 1), 1, 1);
  Complex inner{part(result, 0, 0, p), part(result, 0, p, p)};
  Numbers factors;
  for (int64_t k = 0; k < p; ++k)
    for (int64_t j = 0; j < q; ++j)
      factors.push_back(getFactorOf(k * j, points));
  inner = multiply(e, inner, constants(factors, {p, 1, q}, x.re));
  Complex outer =
      apply({reshapeTo(e, inner.re, {p * rows, q}), reshapeTo(e, inner.im, {p * rows, q})});
  auto finish = [&](Value value) {
    Value inOrder = transpose(e, reshapeTo(e, value, {p, rows, q}), {1, 2, 0});
    return reshapeTo(e, inOrder, {rows, points});
  };
  return {finish(outer.re), finish(outer.im)};
}

/// The transform of numbers whose count is a power of 2.
static Numbers transformNumbers(const Numbers &numbers) {
  size_t n = numbers.size();
  if (n == 1)
    return numbers;
  Numbers halves[2];
  for (size_t i = 0; i < n; ++i)
    halves[i % 2].push_back(numbers[i]);
  Numbers even = transformNumbers(halves[0]), odd = transformNumbers(halves[1]), result(n);
  for (size_t k = 0; k < n / 2; ++k) {
    std::complex<double> term = odd[k] * getRoot(static_cast<int64_t>(k), static_cast<int64_t>(n));
    result[k] = even[k] + term;
    result[k + n / 2] = even[k] - term;
  }
  return result;
}

/// j k = (j j + k k - (k - j)(k - j)) / 2
Complex Transform::convolve(Complex x) {
  int64_t points = typeOf(x.re).getDimSize(1), size = 1;
  while (size < 2 * points - 1)
    size *= 2;
  // exp(-pi i j j / n)
  Numbers chirp;
  for (int64_t j = 0; j < points; ++j)
    chirp.push_back(getFactorOf(j * j % (2 * points), 2 * points));
  Numbers kernel(size);
  for (int64_t j = 0; j < points; ++j)
    kernel[j] = kernel[(size - j) % size] = std::conj(chirp[j]);
  kernel = transformNumbers(kernel);
  for (std::complex<double> &number : kernel)
    number /= static_cast<double>(size);
  Complex factors = constants(chirp, {1, points}, x.re);
  Complex turned =
      x.im ? multiply(e, x, factors) : Complex{e.mul(x.re, factors.re), e.mul(x.re, factors.im)};
  auto pad = [&](Value value) {
    return padAndCut(e, value, e.scalar(0, value), {0, 0}, {0, size - points}, {0, 0});
  };
  Complex spectrum = Transform(e, /*isInverse=*/false).apply({pad(turned.re), pad(turned.im)});
  spectrum = multiply(e, spectrum, constants(kernel, {1, size}, x.re));
  Complex sums = Transform(e, /*isInverse=*/true).apply(spectrum);
  return multiply(e, {part(sums.re, 1, 0, points), part(sums.im, 1, 0, points)}, factors);
}

Complex Transform::apply(Complex x) {
  int64_t points = typeOf(x.re).getDimSize(1);
  if (points <= kMostDirect)
    return multiplyByMatrix(x);
  if (int64_t factor = getFactor(points); factor > 1)
    return split(x, factor);
  return points <= kMostPrime ? multiplyByMatrix(x) : convolve(x);
}

//===----------------------------------------------------------------------===//
// All dims
//===----------------------------------------------------------------------===//

/// The transform of dim `axis`, with the inverse's factor.
static Complex transformDim(ExpressionBuilder &e, Complex x, int64_t axis, bool isInverse) {
  ArrayRef<int64_t> shape = typeOf(x.re).getShape();
  int64_t rank = shape.size(), points = shape[axis];
  // An exchange of two dims, which is its own inverse.
  SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  std::swap(order[axis], order[rank - 1]);
  SmallVector<int64_t> moved;
  for (int64_t dim : order)
    moved.push_back(shape[dim]);
  int64_t rows = typeOf(x.re).getNumElements() / points;
  auto enter = [&](Value value) {
    return value ? reshapeTo(e, transpose(e, value, order), {rows, points}) : value;
  };
  auto leave = [&](Value value) {
    value = isInverse ? e.mul(value, 1.0 / static_cast<double>(points)) : value;
    return transpose(e, reshapeTo(e, value, moved), order);
  };
  Complex result = Transform(e, isInverse).apply({enter(x.re), enter(x.im)});
  return {leave(result.re), leave(result.im)};
}

static Value takeLast(ExpressionBuilder &e, Value value, int64_t first, int64_t limit) {
  ArrayRef<int64_t> shape = typeOf(value).getShape();
  SmallVector<int64_t> starts(shape.size(), 0), limits(shape), strides(shape.size(), 1);
  starts.back() = first;
  limits.back() = limit;
  return slice(e, value, starts, limits, strides);
}

/// The last dim's second half, which is the first one's conjugate in reverse order.
static Complex completeLast(ExpressionBuilder &e, Complex x, int64_t points) {
  int64_t axis = typeOf(x.re).getRank() - 1, rest = points - (points / 2 + 1);
  auto complete = [&](Value value, bool isNegative) {
    if (rest == 0)
      return value;
    Value mirror = e.make<ReverseOp>(takeLast(e, value, 1, rest + 1), ArrayRef<int64_t>(axis));
    mirror = isNegative ? e.make<NegOp>(mirror) : mirror;
    return e.make<ConcatenateOp>(ValueRange{value, mirror}, axis);
  };
  // What should be real is taken as such: the first number, and the middle one of an even count.
  Value numbers = iota(e, {typeOf(x.re).getShape().back()}, e.getBuilder().getI32Type(), 0);
  auto isAt = [&](int64_t place) {
    return e.compare(CompareDirection::Eq, numbers, e.integer(place, elementOf(numbers)));
  };
  Value isReal = isAt(0);
  if (points % 2 == 0)
    isReal = e.make<OrOp>(isReal, isAt(points / 2));
  Value im = e.select(isReal, e.scalar(0, x.im), x.im);
  return {complete(x.re, false), complete(im, true)};
}

Result computeFft(stablehlo::FftOp op, ExpressionBuilder &e, Complex operand) {
  StringRef kind = op.getFftType().getValue();
  SmallVector<int64_t> lengths = stablehlo::getNumbers(op.getFftLength());
  auto type = typeOf(operand.re), result = cast<RankedTensorType>(op.getType());
  int64_t rank = type.getRank(), count = lengths.size();
  bool isInverse = kind == "IFFT" || kind == "IRFFT", toReal = kind == "IRFFT",
       isReal = kind == "RFFT";
  if (!isInverse && !isReal && kind != "FFT")
    return Result::refuse("its type is none of FFT, IFFT, RFFT and IRFFT");
  if (!type.hasStaticShape() || !result.hasStaticShape() || !isa<FloatType>(type.getElementType()))
    return Result::refuse("it is not of floats with sizes that are numbers");
  if (isReal == bool(operand.im))
    return Result::refuse(
        "its operand is complex where its type says real, or the other way round");
  if (count < 1 || count > rank)
    return Result::refuse("it transforms " + Twine(count) + " dims of " + Twine(rank));
  SmallVector<int64_t> expected(type.getShape());
  for (auto [size, length] : llvm::zip_equal(MutableArrayRef(expected).take_back(count), lengths)) {
    bool isHalf = toReal && &size == &expected.back();
    if (length < 1 || length > kMostPoints || size != (isHalf ? length / 2 + 1 : length))
      return Result::refuse("its length is " + Twine(length) + " where its operand has " +
                            Twine(size) + " elements; supported are 1 to " + Twine(kMostPoints));
  }
  if (llvm::is_contained(expected, 0))
    return toReal ? Result(zeros(e, result))
                  : Result(Values{zeros(e, getPartType(result)), zeros(e, getPartType(result))});
  Complex x = operand;
  if (isReal) {
    x = transformDim(e, x, rank - 1, isInverse);
    int64_t kept = lengths.back() / 2 + 1;
    x = {takeLast(e, x.re, 0, kept), takeLast(e, x.im, 0, kept)};
  }
  for (int64_t axis = rank - count; axis < rank - (isReal || toReal); ++axis)
    x = transformDim(e, x, axis, isInverse);
  if (!toReal)
    return Result(Values{x.re, x.im});
  return Result(transformDim(e, completeLast(e, x, lengths.back()), rank - 1, isInverse).re);
}

} // namespace xc::stablehlo_import
