//===- nearest_names.cpp - Names that were probably meant ----------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/base/nearest_names.h"

#include "runtime/base/vector.h"

#include <algorithm>

using namespace xc;

/// The fewest bytes to insert, delete or replace that make \p b of \p a (Levenshtein's distance).
/// Only the first 255 bytes of each count.
static uint32_t editDistance(xcr_string_view_t a, xcr_string_view_t b) {
  constexpr size_t kMost = 255;
  size_t aSize = std::min(a.size, kMost), bSize = std::min(b.size, kMost);
  // Row i holds the distances of the first i bytes of a from each beginning of b.
  uint32_t row[kMost + 1];
  for (size_t j = 0; j <= bSize; ++j)
    row[j] = static_cast<uint32_t>(j);
  for (size_t i = 0; i < aSize; ++i) {
    uint32_t diagonal = row[0];
    row[0] = static_cast<uint32_t>(i + 1);
    for (size_t j = 0; j < bSize; ++j) {
      uint32_t replaced = diagonal + (a.data[i] != b.data[j]);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row[bSize];
}

void NearestNames::add(xcr_string_view_t known) {
  if (known.size == 0)
    return;
  Candidate candidate = {editDistance(unknown, known), known};
  const size_t used = std::min(added++, kMost);
  size_t place = used;
  while (place > 0 && candidate.distance < nearest[place - 1].distance)
    --place;
  if (place == kMost)
    return;
  std::copy_backward(nearest + place, nearest + std::min(used, kMost - 1),
                     nearest + std::min(used, kMost - 1) + 1);
  nearest[place] = candidate;
}

Status NearestNames::notFound(const HostAllocator &allocator, const char *kind,
                              const char *owner) const {
  String names(allocator);
  for (size_t i = 0; i < std::min(added, kMost); ++i) {
    xcr_string_view_t name = nearest[i].name;
    name.size = static_cast<size_t>(printLength(name));
    for (xcr_string_view_t part : {xcr_string(i ? ", '" : "'"), name, xcr_string("'")})
      XCR_RETURN_IF_ERROR(names.append(part));
  }
  const int length = printLength(unknown);
  if (added > kMost)
    return makeStatus(allocator, XCR_STATUS_NOT_FOUND,
                      "no %s '%.*s' among the %zu of %s; nearest are %s", kind, length,
                      unknown.data, added, owner, names.c_str());
  return makeStatus(allocator, XCR_STATUS_NOT_FOUND, "no %s '%.*s'; %s has%s%s", kind, length,
                    unknown.data, owner, added ? ": " : " none", names.c_str());
}
