//===- named_range.h - What the runtime does, for profilers --------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_RUNTIME_BASE_NAMED_RANGE_H
#define XC_RUNTIME_BASE_NAMED_RANGE_H

namespace xc {

/// Shows a scope as an NVTX range, "xcr launch main", where a tool of the NVIDIA family watches the
/// process; without one it costs a comparison.
class NamedRange {
public:
  /// \p subject may be empty.
  NamedRange(const char *action, const char *subject);
  NamedRange(const NamedRange &) = delete;
  ~NamedRange();

private:
  const bool isPushed;
};

} // namespace xc

#endif // XC_RUNTIME_BASE_NAMED_RANGE_H
