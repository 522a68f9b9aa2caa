//===- Quantized.cpp - ONNX's quantised forms -----------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Integers minus their zero point are multiplied in i32, which holds all that 8 bits give.
//
//===----------------------------------------------------------------------===//

#include "compiler/Input/ONNX/Contractions.h"
#include "compiler/Input/ONNX/Windows.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace xc::array;

namespace xc::onnx {

/// Along which dim of `x` the scales are. One scale has none, whatever `axis` says.
static int64_t readScaledAxis(NodeImport &n, Value x, Value scale, int64_t block) {
  bool isOne =
      n.rankOf(scale) == 0 || (block == 0 && n.rankOf(scale) == 1 && n.dimOf(scale, 0) == 1);
  return isOne ? 0 : n.normalizeAxis(n.integer("axis", 1), n.rankOf(x));
}

/// A scale or zero point in the shape that broadcasts against `x`: one number, or one for each
/// index of `axis`, or one for each block of `block` elements along it.
static Value alignTo(NodeImport &n, Value parameter, Value x, int64_t axis, int64_t block) {
  int64_t rank = n.rankOf(parameter);
  if (!parameter || rank == 0)
    return parameter;
  if (block != 0) {
    if (rank != n.rankOf(x) || block < 1) {
      n.error("expected scales of the rank of the input for blocks");
      return {};
    }
    Value repeated = n.make<RepeatOp>(parameter, uint64_t(block), uint64_t(axis));
    int64_t size = n.dimOf(x, axis);
    return ShapedType::isDynamic(size) ? repeated : n.slice(repeated, axis, 0, size);
  }
  if (rank != 1) {
    n.error("expected scales of rank 0 or 1, got rank " + Twine(rank));
    return {};
  }
  if (n.dimOf(parameter, 0) == 1)
    return n.reshape(parameter, ArrayRef<int64_t>());
  SmallVector<int64_t> shape(n.rankOf(x) - axis, 1);
  shape[0] = n.dimOf(parameter, 0);
  return n.reshape(parameter, shape);
}

/// The lowest and the largest number of an integer type.
static std::pair<double, double> limitsOf(Type element) {
  unsigned width = element.getIntOrFloatBitWidth();
  if (element.isUnsignedInteger())
    return {0, double((uint64_t(1) << width) - 1)};
  return {-double(uint64_t(1) << (width - 1)), double((uint64_t(1) << (width - 1)) - 1)};
}

/// `saturate(round(x / scale) + zero)`, rounding ties to even.
static Value quantize(NodeImport &n, Value x, Value scale, Value zero, Type element) {
  if (!isa<IntegerType>(element) || element.getIntOrFloatBitWidth() > 16) {
    n.error("quantising to that type is not supported");
    return {};
  }
  Type wide = n.getBuilder().getF32Type();
  Value quotient = n.make<RoundOp>(n.div(n.convert(x, wide), n.convert(scale, wide)));
  if (zero)
    quotient = n.add(quotient, n.convert(zero, wide));
  auto [low, high] = limitsOf(element);
  return n.convert(n.make<ClampOp>(n.scalar(low, quotient), quotient, n.scalar(high, quotient)),
                   element);
}

static Results importQuantizeLinear(NodeImport &n) {
  Value x = n.input(0), scale = n.input(1), zero = n.has(2) ? n.input(2) : Value();
  int64_t block = n.integer("block_size", 0), axis = readScaledAxis(n, x, scale, block);
  Type element = n.getBuilder().getIntegerType(8, /*isSigned=*/false);
  if (zero)
    element = n.elementOf(zero);
  else if (int64_t type = n.integer("output_dtype", 0))
    element = n.elementType(type);
  if (n.hasFailed())
    return {};
  scale = alignTo(n, scale, x, axis, block);
  zero = alignTo(n, zero, x, axis, block);
  if (!isa<FloatType>(n.elementOf(x))) // i32, as a float
    x = n.convert(x, n.getBuilder().getF32Type());
  return {quantize(n, x, scale, zero, element)};
}

static Value subtractZero(NodeImport &n, Value x, Value zero, Type element) {
  x = n.convert(x, element);
  return zero ? n.sub(x, n.convert(zero, element)) : x;
}

static Results importDequantizeLinear(NodeImport &n) {
  Value x = n.input(0), scale = n.input(1), zero = n.has(2) ? n.input(2) : Value();
  int64_t block = n.integer("block_size", 0), axis = readScaledAxis(n, x, scale, block);
  if (n.hasFailed())
    return {};
  scale = alignTo(n, scale, x, axis, block);
  zero = alignTo(n, zero, x, axis, block);
  Type element = n.elementOf(scale);
  if (int64_t type = n.integer("output_dtype", 0))
    element = n.elementType(type);
  Value difference = subtractZero(n, x, zero, n.getBuilder().getI32Type());
  return {n.convert(n.mul(n.convert(difference, n.getBuilder().getF32Type()),
                          n.convert(scale, n.getBuilder().getF32Type())),
                    element)};
}

static Results importDynamicQuantizeLinear(NodeImport &n) {
  Value x = n.input(0);
  Type byte = n.getBuilder().getIntegerType(8, /*isSigned=*/false);
  SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(0, n.rankOf(x)));
  Value zero = n.scalar(0, x);
  Value high = n.make<MaxOp>(n.reduce(ReduceKind::Max, x, axes, false), zero);
  Value low = n.make<MinOp>(n.reduce(ReduceKind::Min, x, axes, false), zero);
  Value scale = n.div(n.sub(high, low), n.scalar(255, x));
  Value place = n.make<RoundOp>(n.div(n.sub(zero, low), scale));
  Value zeroPoint = n.convert(n.make<ClampOp>(zero, place, n.scalar(255, x)), byte);
  return {quantize(n, x, scale, zeroPoint, byte), scale, zeroPoint};
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// Whether a zero point is left out or 0.
static bool isZero(Value zero) {
  DenseElementsAttr elements;
  return !zero ||
         (matchPattern(zero, m_Constant(&elements)) && elements.isSplat() &&
          isa<IntegerType>(elements.getElementType()) && elements.getSplatValue<APInt>().isZero());
}

/// One zero point for each row of the left operand, or one for all.
static Value alongRows(NodeImport &n, Value zero) {
  return zero && n.rankOf(zero) == 1 && n.dimOf(zero, 0) != 1 ? n.expandDims(zero, {1})
         : zero && n.rankOf(zero) == 1                        ? n.reshape(zero, ArrayRef<int64_t>())
                                                              : zero;
}

static Value multiplyIntegers(NodeImport &n, Value a, Value b, Value zeroA, Value zeroB) {
  Type word = n.getBuilder().getI32Type();
  bool isPlain = isZero(zeroA) && isZero(zeroB) && n.elementOf(a) == n.elementOf(b) &&
                 n.elementOf(a).isSignlessInteger(8) && n.rankOf(a) >= 2 && n.rankOf(b) >= 2;
  if (isPlain)
    return n.makeAs<MatMulOp>(word, a, b, /*transpose_a=*/false, /*transpose_b=*/false,
                              /*allow_tf32=*/false);
  return multiplyMatrices(n, subtractZero(n, a, alongRows(n, zeroA), word),
                          subtractZero(n, b, zeroB, word));
}

static Results importMatMulInteger(NodeImport &n) {
  Value zeroA = n.has(2) ? n.input(2) : Value(), zeroB = n.has(3) ? n.input(3) : Value();
  return {multiplyIntegers(n, n.input(0), n.input(1), zeroA, zeroB)};
}

/// `result` of integers, whose unit is `scale`, in another one.
static Value requantize(NodeImport &n, Value result, Value scale, Value newScale, Value zero) {
  Value real = n.mul(n.convert(result, n.getBuilder().getF32Type()),
                     n.convert(scale, n.getBuilder().getF32Type()));
  return quantize(n, real, newScale, zero, n.elementOf(zero));
}

static Value asScalar(NodeImport &n, Value value) {
  return n.rankOf(value) == 1 && n.dimOf(value, 0) == 1 ? n.reshape(value, ArrayRef<int64_t>())
                                                        : value;
}

static Results importQLinearMatMul(NodeImport &n) {
  Value product = multiplyIntegers(n, n.input(0), n.input(3), n.input(2), asScalar(n, n.input(5)));
  Value scaleA = n.input(1);
  scaleA = alongRows(n, scaleA);
  Value scale = n.mul(scaleA, asScalar(n, n.input(4)));
  return {requantize(n, product, scale, asScalar(n, n.input(6)), asScalar(n, n.input(7)))};
}

/// A zero point or scale of filters: one for all, or one for each output feature.
static Value alongFilters(NodeImport &n, Value value, Value filter) {
  if (!value || n.rankOf(value) == 0)
    return value;
  if (n.dimOf(value, 0) == 1)
    return n.reshape(value, ArrayRef<int64_t>());
  SmallVector<int64_t> shape(n.rankOf(filter), 1);
  shape[0] = n.dimOf(value, 0);
  return n.reshape(value, shape);
}

static Value convolveIntegers(NodeImport &n, Value x, Value filter, Value zeroX, Value zeroFilter) {
  Type word = n.getBuilder().getI32Type();
  return convolve(n, subtractZero(n, x, zeroX ? asScalar(n, zeroX) : zeroX, word),
                  subtractZero(n, filter, alongFilters(n, zeroFilter, filter), word), word);
}

static Results importConvInteger(NodeImport &n) {
  Value zeroX = n.has(2) ? n.input(2) : Value(), zeroFilter = n.has(3) ? n.input(3) : Value();
  return {convolveIntegers(n, n.input(0), n.input(1), zeroX, zeroFilter)};
}

static Results importQLinearConv(NodeImport &n) {
  Value x = n.input(0), filter = n.input(3);
  Value result = convolveIntegers(n, x, filter, n.input(2), n.input(5));
  int64_t spatial = n.rankOf(x) - 2;
  if (n.has(8))
    result = n.add(result, alongFeatures(n, n.input(8), spatial));
  Value scale = n.input(4);
  scale = n.rankOf(scale) == 1 && n.dimOf(scale, 0) != 1 ? alongFeatures(n, scale, spatial)
                                                         : asScalar(n, scale);
  scale = n.mul(scale, asScalar(n, n.input(1)));
  return {requantize(n, result, scale, asScalar(n, n.input(6)), asScalar(n, n.input(7)))};
}

llvm::ArrayRef<OpEntry> getQuantizedOps() {
  static constexpr OpEntry kOps[] = {
      {"ConvInteger", 10, importConvInteger},
      {"DequantizeLinear", 10, importDequantizeLinear},
      {"DynamicQuantizeLinear", 11, importDynamicQuantizeLinear},
      {"MatMulInteger", 10, importMatMulInteger},
      {"QLinearConv", 10, importQLinearConv},
      {"QLinearMatMul", 10, importQLinearMatMul},
      {"QuantizeLinear", 10, importQuantizeLinear},
  };
  return kOps;
}

} // namespace xc::onnx
