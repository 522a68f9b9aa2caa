//===- HostArray.cpp - A dense array in host memory -----------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/common/HostArray.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <unistd.h>

namespace xc::tools {

DTypeClass dtypeClass(DType dtype) {
  switch (dtype) {
  case XCR_DTYPE_NONE:
    return DTypeClass::None;
  case XCR_DTYPE_I1:
    return DTypeClass::Bool;
  case XCR_DTYPE_I8:
  case XCR_DTYPE_I16:
  case XCR_DTYPE_I32:
  case XCR_DTYPE_I64:
    return DTypeClass::Signed;
  case XCR_DTYPE_U8:
  case XCR_DTYPE_U16:
  case XCR_DTYPE_U32:
  case XCR_DTYPE_U64:
    return DTypeClass::Unsigned;
  case XCR_DTYPE_F16:
  case XCR_DTYPE_BF16:
  case XCR_DTYPE_F32:
  case XCR_DTYPE_F64:
  case XCR_DTYPE_F8E4M3:
  case XCR_DTYPE_F8E5M2:
    return DTypeClass::Float;
  }
  return DTypeClass::None;
}

std::string knownDTypes() {
  std::string names;
  for (int i = XCR_DTYPE_I1; i <= XCR_DTYPE_F8E5M2; ++i)
    names += (names.empty() ? "" : ", ") + std::string(dtypeName(DType(i)));
  return names;
}

std::string shapeString(DType dtype, const std::vector<int64_t> &dims) {
  std::string text;
  for (int64_t dim : dims)
    text += std::to_string(dim) + "x";
  return text + std::string(dtypeName(dtype));
}

Result<uint64_t> byteSize(DType dtype, const std::vector<int64_t> &dims) {
  int64_t size = int64_t(xcr_dtype_size(dtype));
  bool zero = false;
  for (int64_t dim : dims) {
    if (dim < 0)
      return Error("expected dimensions that are not negative, got " + shapeString(dtype, dims));
    zero |= dim == 0;
  }
  if (zero)
    return uint64_t(0);
  for (int64_t dim : dims)
    if (__builtin_mul_overflow(size, dim, &size))
      return Error("the size of " + shapeString(dtype, dims) + " does not fit into 63 bits");
  return uint64_t(size);
}

/// Bytes that the system has free; a limit of this process may be lower.
static uint64_t freeHostMemory() {
  return uint64_t(sysconf(_SC_AVPHYS_PAGES)) * uint64_t(sysconf(_SC_PAGESIZE));
}

Result<HostArray> HostArray::create(DType dtype, std::vector<int64_t> dims) {
  Result<uint64_t> size = byteSize(dtype, dims);
  if (!size)
    return size.error();
  HostArray array;
  // aligned_alloc wants a multiple of the alignment, and null means failure.
  constexpr uint64_t alignment = 64;
  uint64_t padded = std::max(*size, uint64_t(1)) + alignment - 1;
  array.bytes.reset(
      static_cast<std::byte *>(aligned_alloc(alignment, padded / alignment * alignment)));
  if (!array.bytes)
    return Error("out of host memory: " + std::to_string(*size) + " bytes asked for " +
                 tools::shapeString(dtype, dims) + ", " + std::to_string(freeHostMemory()) +
                 " free on this machine");
  array.type = dtype;
  array.shape = std::move(dims);
  array.count = int64_t(*size / xcr_dtype_size(dtype));
  return array;
}

void HostArray::reinterpretAs(DType dtype) {
  assert(xcr_dtype_size(dtype) == xcr_dtype_size(type) && "only types of equal size");
  type = dtype;
}

//===----------------------------------------------------------------------===//
// Small floats
//===----------------------------------------------------------------------===//

namespace {
/// IEEE-like layout of a float of 16 bits or less.
struct SmallFloat {
  int exponentBits;
  int mantissaBits;
  bool hasInfinity;
  int bias() const { return (1 << (exponentBits - 1)) - 1; }
  int maxExponentField() const { return (1 << exponentBits) - 1; }
};
} // namespace

static SmallFloat layoutOf(DType dtype) {
  switch (dtype) {
  case XCR_DTYPE_F16:
    return {5, 10, true};
  case XCR_DTYPE_BF16:
    return {8, 7, true};
  case XCR_DTYPE_F8E5M2:
    return {5, 2, true};
  default:
    assert(dtype == XCR_DTYPE_F8E4M3 && "not a small float");
    return {4, 3, false};
  }
}

float decodeSmallFloat(DType dtype, uint16_t bits) {
  SmallFloat layout = layoutOf(dtype);
  int mantissa = bits & ((1 << layout.mantissaBits) - 1);
  int exponent = (bits >> layout.mantissaBits) & layout.maxExponentField();
  bool negative = bits >> (layout.mantissaBits + layout.exponentBits) & 1;
  float magnitude;
  if (exponent == layout.maxExponentField() && layout.hasInfinity)
    magnitude =
        mantissa ? std::numeric_limits<float>::quiet_NaN() : std::numeric_limits<float>::infinity();
  else if (!layout.hasInfinity && exponent == layout.maxExponentField() &&
           mantissa == (1 << layout.mantissaBits) - 1)
    magnitude = std::numeric_limits<float>::quiet_NaN();
  else if (exponent == 0)
    magnitude = std::ldexp(float(mantissa), 1 - layout.bias() - layout.mantissaBits);
  else
    magnitude = std::ldexp(float(mantissa + (1 << layout.mantissaBits)),
                           exponent - layout.bias() - layout.mantissaBits);
  return negative ? -magnitude : magnitude;
}

uint16_t encodeSmallFloat(DType dtype, double number) {
  SmallFloat layout = layoutOf(dtype);
  int top = layout.maxExponentField();
  uint16_t sign = uint16_t(std::signbit(number)) << (layout.mantissaBits + layout.exponentBits);
  int full = 1 << layout.mantissaBits;
  uint16_t nan = sign | (top << layout.mantissaBits) | (layout.hasInfinity ? full / 2 : full - 1);
  uint16_t overflow = layout.hasInfinity ? uint16_t(sign | (top << layout.mantissaBits)) : nan;
  if (std::isnan(number))
    return nan;
  double magnitude = std::fabs(number);
  if (std::isinf(magnitude))
    return overflow;
  if (magnitude == 0)
    return sign;
  int exponent = std::max(std::ilogb(magnitude), 1 - layout.bias());
  // A double holds the scaled number exactly, so one rounding happens here;
  // the default rounding mode is to nearest even.
  double scaled = std::nearbyint(std::ldexp(magnitude, layout.mantissaBits - exponent));
  if (scaled >= 2 * full) {
    scaled /= 2;
    ++exponent;
  }
  int field = scaled >= full ? exponent + layout.bias() : 0;
  int mantissa = int(scaled) - (field ? full : 0);
  bool tooLarge =
      layout.hasInfinity ? field >= top : field > top || (field == top && mantissa == full - 1);
  if (tooLarge)
    return overflow;
  return sign | uint16_t(field << layout.mantissaBits) | uint16_t(mantissa);
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

template <typename T> static T load(const std::byte *base, int64_t index) {
  T value;
  memcpy(&value, base + index * int64_t(sizeof(T)), sizeof(T));
  return value;
}

template <typename T> static void store(std::byte *base, int64_t index, T value) {
  memcpy(base + index * int64_t(sizeof(T)), &value, sizeof(T));
}

double HostArray::floatAt(int64_t index) const {
  if (type == XCR_DTYPE_F64)
    return load<double>(data(), index);
  if (type == XCR_DTYPE_F32)
    return load<float>(data(), index);
  uint16_t bits =
      xcr_dtype_size(type) == 2 ? load<uint16_t>(data(), index) : load<uint8_t>(data(), index);
  return decodeSmallFloat(type, bits);
}

int64_t HostArray::integerAt(int64_t index) const {
  bool isSigned = dtypeClass(type) == DTypeClass::Signed;
  switch (xcr_dtype_size(type)) {
  case 1:
    return isSigned ? load<int8_t>(data(), index) : load<uint8_t>(data(), index);
  case 2:
    return isSigned ? load<int16_t>(data(), index) : load<uint16_t>(data(), index);
  case 4:
    return isSigned ? int64_t(load<int32_t>(data(), index))
                    : int64_t(load<uint32_t>(data(), index));
  default:
    return load<int64_t>(data(), index);
  }
}

void HostArray::setFloat(int64_t index, double number) {
  if (type == XCR_DTYPE_F64)
    return store(data(), index, number);
  if (type == XCR_DTYPE_F32)
    return store(data(), index, float(number));
  uint16_t bits = encodeSmallFloat(type, number);
  if (xcr_dtype_size(type) == 2)
    return store(data(), index, bits);
  store(data(), index, uint8_t(bits));
}

void HostArray::setInteger(int64_t index, int64_t number) {
  switch (xcr_dtype_size(type)) {
  case 1:
    return store(data(), index, uint8_t(number));
  case 2:
    return store(data(), index, uint16_t(number));
  case 4:
    return store(data(), index, uint32_t(number));
  default:
    return store(data(), index, number);
  }
}

} // namespace xc::tools
