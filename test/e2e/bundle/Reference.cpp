//===- Reference.cpp - Compares with a float64 reference ------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/e2e/bundle/Reference.h"

#include <cmath>
#include <cstdio>

using namespace xc::tools;

namespace xc::e2e {

/// Whether one float is as wanted. |rounded|: the wanted one in the output's type.
static bool isAsWanted(double got, double wanted, double rounded, const Want &want) {
  if (std::isinf(rounded))
    wanted = rounded;
  if (got == wanted || got == rounded || (std::isnan(got) && std::isnan(wanted)))
    return true;
  double error = std::fabs(got - wanted);
  return std::isfinite(error) && error <= want.absolute + want.relative * std::fabs(wanted);
}

std::string compareWithReference(const HostArray &got, const Want &want,
                                 const HostArray &reference) {
  if (got.dtype() != want.dtype || got.dims() != reference.dims())
    return "expected " + shapeString(want.dtype, reference.dims()) + ", got " + got.shapeString();
  bool isFloat = dtypeClass(want.dtype) == DTypeClass::Float;
  Result<HostArray> one = HostArray::create(want.dtype, {});
  if (!one)
    return one.error().message();
  int64_t wrong = 0, first = -1;
  for (int64_t i = 0; i < got.elementCount(); ++i) {
    bool good;
    if (isFloat) {
      one->setFloat(0, reference.floatAt(i));
      good = isAsWanted(got.floatAt(i), reference.floatAt(i), one->floatAt(0), want);
    } else {
      good = got.integerAt(i) == reference.integerAt(i);
    }
    if (good)
      continue;
    first = first < 0 ? i : first;
    ++wrong;
  }
  if (wrong == 0)
    return "";
  char values[96];
  if (isFloat)
    snprintf(values, sizeof(values), "expected %.17g, got %.17g", reference.floatAt(first),
             got.floatAt(first));
  else
    snprintf(values, sizeof(values), "expected %lld, got %lld",
             (long long)reference.integerAt(first), (long long)got.integerAt(first));
  return std::to_string(wrong) + " of " + std::to_string(got.elementCount()) +
         " elements are off, the first is number " + std::to_string(first) + ": " + values;
}

} // namespace xc::e2e
