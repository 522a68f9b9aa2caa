//===- api_struct.h - Structures whose size the caller tells -------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_RUNTIME_BASE_API_STRUCT_H
#define XC_RUNTIME_BASE_API_STRUCT_H

#include "runtime/base/status.h"

#include <cstring>

namespace xc {

/// The caller's options, with defaults for what his version does not have. INVALID_ARGUMENT where
/// he has not said which version that is: his flags would count for nothing.
template <typename T> Status readOptions(const T *given, const T &defaults, T *out) {
  *out = defaults;
  if (given) {
    if (given->struct_size <= sizeof(size_t))
      return makeStatus(HostAllocator(), XCR_STATUS_INVALID_ARGUMENT,
                        "options.struct_size: expected the size of the structure, got %zu: begin "
                        "with its XCR_..._INIT",
                        given->struct_size);
    size_t size = given->struct_size < sizeof(T) ? given->struct_size : sizeof(T);
    memcpy(static_cast<void *>(out), given, size);
  }
  out->struct_size = sizeof(T);
  return Status();
}

/// Writes what the caller's version of the structure has room for.
template <typename T> void writeInfo(const T &info, T *out) {
  constexpr size_t kFirst = sizeof(size_t);
  size_t size = out->struct_size < sizeof(T) ? out->struct_size : sizeof(T);
  if (size > kFirst)
    memcpy(reinterpret_cast<char *>(out) + kFirst, reinterpret_cast<const char *>(&info) + kFirst,
           size - kFirst);
}

/// INVALID_ARGUMENT where \p pointer is null; \p name is the parameter's.
inline Status requireArgument(const void *pointer, const char *name) {
  return pointer ? Status()
                 : makeStatus(HostAllocator(), XCR_STATUS_INVALID_ARGUMENT,
                              "%s: expected a value, got NULL", name);
}

} // namespace xc

#endif // XC_RUNTIME_BASE_API_STRUCT_H
