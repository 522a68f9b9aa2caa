//===- dtype.cpp - Element types -----------------------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/base/dtype.h"
#include "runtime/base/vector.h"

using namespace xc;

namespace {
struct DTypeInfo {
  const char *name;
  size_t bytes;
};
} // namespace

// In the order of xcr_dtype_t.
static constexpr DTypeInfo kTypes[] = {{"?", 0},   {"i1", 1},  {"i8", 1},     {"i16", 2},
                                       {"i32", 4}, {"i64", 8}, {"u8", 1},     {"u16", 2},
                                       {"u32", 4}, {"u64", 8}, {"f16", 2},    {"bf16", 2},
                                       {"f32", 4}, {"f64", 8}, {"f8e4m3", 1}, {"f8e5m2", 1}};
static constexpr size_t kTypeCount = sizeof(kTypes) / sizeof(kTypes[0]);
static_assert(kTypeCount == XCR_DTYPE_F8E5M2 + 1, "one line for each type");

xcr_string_view_t xcr_dtype_name(xcr_dtype_t dtype) {
  return xcr_string(
      kTypes[static_cast<size_t>(dtype) < kTypeCount ? static_cast<size_t>(dtype) : 0].name);
}

size_t xcr_dtype_size(xcr_dtype_t dtype) {
  return static_cast<size_t>(dtype) < kTypeCount ? kTypes[static_cast<size_t>(dtype)].bytes : 0;
}

xcr_dtype_t xcr_dtype_from_name(xcr_string_view_t name) {
  if (!name.data)
    return XCR_DTYPE_NONE;
  for (size_t i = 1; i < kTypeCount; ++i)
    if (equal(name, xcr_string(kTypes[i].name)))
      return static_cast<xcr_dtype_t>(i);
  return XCR_DTYPE_NONE;
}
