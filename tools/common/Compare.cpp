//===- Compare.cpp - Compares an output with what was expected ------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/common/Compare.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

namespace xc::tools {

Tolerance defaultTolerance(DType dtype) {
  switch (dtype) {
  case XCR_DTYPE_F64:
    return {1e-12, 1e-10};
  case XCR_DTYPE_F32:
    return {1e-6, 1e-5};
  case XCR_DTYPE_F16:
    return {1e-3, 2e-3};
  case XCR_DTYPE_BF16:
    return {1e-2, 1.6e-2};
  case XCR_DTYPE_F8E4M3:
  case XCR_DTYPE_F8E5M2:
    return {1e-1, 2.5e-1};
  default:
    return {};
  }
}

static std::string numberText(double number) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof(text), number).ptr};
}

static std::vector<int64_t> unravel(int64_t offset, const std::vector<int64_t> &dims) {
  std::vector<int64_t> index(dims.size());
  for (size_t d = dims.size(); d-- > 0; offset /= dims[d])
    index[d] = offset % dims[d];
  return index;
}

namespace {
/// How far one element is off, and by how much that exceeds what is allowed.
struct Deviation {
  double absolute = 0;
  double relative = 0;
  double excess = 0; // > 0: a failure
};
} // namespace

static Deviation deviationOf(double actual, double expected, const Tolerance &tolerance) {
  if ((std::isnan(actual) && std::isnan(expected)) || actual == expected)
    return {};
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (!std::isfinite(actual) || !std::isfinite(expected))
    return {infinity, infinity, infinity};
  double difference = std::fabs(actual - expected);
  double magnitude = std::fabs(expected);
  double allowed = tolerance.absolute + tolerance.relative * magnitude;
  return {difference, magnitude > 0 ? difference / magnitude : infinity, difference - allowed};
}

Result<Comparison> compareArrays(const HostArray &actual, const HostArray &expected,
                                 const Tolerance &tolerance) {
  if (actual.dtype() != expected.dtype() || actual.dims() != expected.dims())
    return Error("expected " + expected.shapeString() + ", got " + actual.shapeString());
  Comparison result;
  result.elements = actual.elementCount();
  double worstExcess = 0;
  bool isFloat = dtypeClass(actual.dtype()) == DTypeClass::Float;
  bool isUnsigned = dtypeClass(actual.dtype()) == DTypeClass::Unsigned;
  for (int64_t i = 0; i < result.elements; ++i) {
    Deviation deviation;
    if (isFloat) {
      deviation = deviationOf(actual.floatAt(i), expected.floatAt(i), tolerance);
    } else if (int64_t a = actual.integerAt(i), e = expected.integerAt(i); a != e) {
      // 64-bit integers may differ where their nearest doubles do not.
      double x = isUnsigned ? double(uint64_t(a)) : double(a);
      double y = isUnsigned ? double(uint64_t(e)) : double(e);
      deviation = deviationOf(x, y, tolerance);
      if (x == y)
        deviation = {1, 0, 1 - tolerance.absolute - tolerance.relative * std::fabs(y)};
    }
    result.largestAbsolute = std::max(result.largestAbsolute, deviation.absolute);
    result.largestRelative = std::max(result.largestRelative, deviation.relative);
    if (deviation.excess <= 0)
      continue;
    ++result.failures;
    if (deviation.excess <= worstExcess)
      continue;
    worstExcess = deviation.excess;
    result.worstIndex = unravel(i, actual.dims());
    auto text = [&](const HostArray &array) {
      if (isFloat)
        return numberText(array.floatAt(i));
      return isUnsigned ? std::to_string(uint64_t(array.integerAt(i)))
                        : std::to_string(array.integerAt(i));
    };
    result.worst = "expected " + text(expected) + ", got " + text(actual);
  }
  return result;
}

} // namespace xc::tools
