//===- nearest_names.h - Names that were probably meant ------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_RUNTIME_BASE_NEAREST_NAMES_H
#define XC_RUNTIME_BASE_NEAREST_NAMES_H

#include "runtime/base/status.h"

#include <cstdint>

namespace xc {

/// The three known names that differ least from an unknown one, for its error message. Borrows all
/// names; allocates nothing before notFound().
class NearestNames {
public:
  explicit NearestNames(xcr_string_view_t unknown) : unknown(unknown) {}

  /// Of names that differ equally, the ones added first stay. Empty names do not count.
  void add(xcr_string_view_t known);

  /// NOT_FOUND: "no array 'scal' among the 150 of the file; nearest are 'scale', 'scales', 'bias'",
  /// and all names where there are no more than three. \p kind: "array". \p owner: "the file".
  Status notFound(const HostAllocator &allocator, const char *kind, const char *owner) const;

private:
  static constexpr size_t kMost = 3;
  struct Candidate {
    uint32_t distance;
    xcr_string_view_t name;
  };

  xcr_string_view_t unknown;
  Candidate nearest[kMost] = {}; ///< the first min(added, kMost) are in use, the nearest first
  size_t added = 0;
};

} // namespace xc

#endif // XC_RUNTIME_BASE_NEAREST_NAMES_H
