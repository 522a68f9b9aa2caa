//===- edit_distance.h - How much two names differ ----------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_RUNTIME_BASE_EDIT_DISTANCE_H
#define XC_RUNTIME_BASE_EDIT_DISTANCE_H

#include "xcr/xcr.h"

#include <cstdint>

namespace xc {

/// The fewest bytes to insert, delete or replace that make \p b of \p a (Levenshtein's distance),
/// for error messages: only the first 255 bytes of each count. Allocates nothing.
uint32_t editDistance(xcr_string_view_t a, xcr_string_view_t b);

} // namespace xc

#endif // XC_RUNTIME_BASE_EDIT_DISTANCE_H
