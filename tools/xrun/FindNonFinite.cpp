//===- FindNonFinite.cpp - Finds where NaN and infinity come from ---------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A command makes a NaN where it writes one and has read none: later commands only pass it on. The
// same for infinity, which is looked for on its own, since masks hold it on purpose. Copies and
// fills make no numbers.
//
//===----------------------------------------------------------------------===//

#include "tools/xrun/Steps.h"

#include <cmath>
#include <cstdio>

namespace xc::tools {

namespace {
/// The first element of a kind in some arrays.
struct Finding {
  bool isThere = false;
  uint32_t binding = 0;
  int64_t index = 0;
  double value = 0;
};

struct Findings {
  Finding nan, infinity;
};

class FindNonFinite final : public Probe {
public:
  Error before(const Step &step) override;
  Error after(const Step &step) override;
  Result<bool> finish() override;

private:
  void report(const Step &step, const char *what, const Finding &finding,
              const std::vector<BoundArray> &written);

  Findings read;
  bool hasReadNan = false, hasReadInfinity = false;
  std::string nanText, infinityText;
};
} // namespace

static Findings search(const std::vector<BoundArray> &arrays) {
  Findings found;
  for (const BoundArray &bound : arrays) {
    if (dtypeClass(bound.array.dtype()) != DTypeClass::Float)
      continue;
    for (int64_t i = 0; i < bound.array.elementCount(); ++i) {
      double value = bound.array.floatAt(i);
      Finding *place = std::isnan(value)   ? &found.nan
                       : std::isinf(value) ? &found.infinity
                                           : nullptr;
      if (place && !place->isThere)
        *place = {true, bound.binding, i, value};
    }
  }
  return found;
}

/// "[1, 2]": element |index| of an array in row-major order.
static std::string positionText(const HostArray &array, int64_t index) {
  std::string text;
  for (size_t d = array.dims().size(); d-- > 0; index /= array.dims()[d])
    text = std::to_string(index % array.dims()[d]) + (text.empty() ? "" : ", ") + text;
  return "[" + text + "]";
}

Error FindNonFinite::before(const Step &step) {
  if (step.info.kind != XCR_COMMAND_DISPATCH || (!nanText.empty() && !infinityText.empty()))
    return Error::success();
  auto arrays = step.readBindings(/*areRead=*/true);
  if (!arrays)
    return arrays.error();
  read = search(*arrays);
  hasReadNan |= read.nan.isThere;
  hasReadInfinity |= read.infinity.isThere;
  return Error::success();
}

void FindNonFinite::report(const Step &step, const char *what, const Finding &finding,
                           const std::vector<BoundArray> &written) {
  std::string &text = what[0] == 'N' ? nanText : infinityText;
  if (!text.empty())
    return;
  std::string tensor;
  for (const BoundArray &bound : written)
    if (bound.binding == finding.binding)
      tensor = bound.array.shapeString() + " at " + positionText(bound.array, finding.index);
  text = std::string("first ") + what + ": command " + std::to_string(step.ordinal) + ", " +
         step.describe() + ", writes it to binding " + std::to_string(finding.binding) + " (" +
         tensor + ")\n";
}

Error FindNonFinite::after(const Step &step) {
  if (step.info.kind != XCR_COMMAND_DISPATCH || (!nanText.empty() && !infinityText.empty()))
    return Error::success();
  auto arrays = step.readBindings(/*areRead=*/false);
  if (!arrays)
    return arrays.error();
  Findings written = search(*arrays);
  if (written.nan.isThere && !read.nan.isThere)
    report(step, "NaN", written.nan, *arrays);
  if (written.infinity.isThere && !read.infinity.isThere)
    report(step, written.infinity.value > 0 ? "infinity" : "-infinity", written.infinity, *arrays);
  return Error::success();
}

Result<bool> FindNonFinite::finish() {
  printf("%s%s", nanText.c_str(), infinityText.c_str());
  if (nanText.empty())
    printf("no command makes a NaN%s\n", hasReadNan ? "; what the call is given holds some" : "");
  if (infinityText.empty())
    printf("no command makes an infinity%s\n",
           hasReadInfinity ? "; what the call is given holds some" : "");
  return nanText.empty() && infinityText.empty();
}

std::unique_ptr<Probe> findNonFinite() { return std::make_unique<FindNonFinite>(); }

} // namespace xc::tools
