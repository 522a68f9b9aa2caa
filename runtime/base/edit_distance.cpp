//===- edit_distance.cpp - How much two names differ --------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/base/edit_distance.h"

#include <algorithm>

using namespace xc;

uint32_t xc::editDistance(xcr_string_view_t a, xcr_string_view_t b) {
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
