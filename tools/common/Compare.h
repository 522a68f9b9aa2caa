//===- Compare.h - Compares an output with what was expected --------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_TOOLS_COMMON_COMPARE_H
#define XC_TOOLS_COMMON_COMPARE_H

#include "tools/common/HostArray.h"

#include <optional>

namespace xc::tools {

/// An element passes when |actual - expected| <= absolute + relative *
/// |expected|, or both are NaN, or equal infinities.
struct Tolerance {
  double absolute = 0;
  double relative = 0;
};

/// What is taken where the user gives none: zero for integers, a few units in
/// the last place for floats.
Tolerance defaultTolerance(DType dtype);

struct Comparison {
  int64_t elements = 0;
  int64_t failures = 0;
  double largestAbsolute = 0; // over all elements that are not NaN
  double largestRelative = 0;
  std::vector<int64_t> worstIndex; // of the worst failure
  std::string worst;               // "expected 1.5, got 1.75"
};

/// An error where dtype or shape differ.
Result<Comparison> compareArrays(const HostArray &actual, const HostArray &expected,
                                 const Tolerance &tolerance);

} // namespace xc::tools

#endif // XC_TOOLS_COMMON_COMPARE_H
