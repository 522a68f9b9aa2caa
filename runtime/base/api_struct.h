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
#include <initializer_list>

namespace xc {

/// The caller's options, with defaults for what his version does not have. INVALID_ARGUMENT where
/// he has not said which version that is: his flags would count for nothing, and a size that no
/// structure has would cut a field in two.
template <typename T> Status readOptions(const T *given, const T &defaults, T *out) {
  *out = defaults;
  if (given) {
    if (given->struct_size <= sizeof(size_t) || given->struct_size % alignof(T) != 0)
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

/// The caller's allocator; null gives malloc and free. INVALID_ARGUMENT where a function is
/// missing.
inline Status readAllocator(const xcr_host_allocator_t *given, HostAllocator *out) {
  if (!given)
    return Status();
  if (given->struct_size < sizeof(xcr_host_allocator_t))
    return makeStatus(HostAllocator(), XCR_STATUS_INVALID_ARGUMENT,
                      "host_allocator.struct_size: expected at least %zu, got %zu",
                      sizeof(xcr_host_allocator_t), given->struct_size);
  if (!given->allocate || !given->deallocate)
    return makeStatus(HostAllocator(), XCR_STATUS_INVALID_ARGUMENT,
                      "host_allocator.%s: expected a function, got NULL",
                      given->allocate ? "deallocate" : "allocate");
  *out = HostAllocator(*given);
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

/// INVALID_ARGUMENT where \p text has no bytes, or holds a zero byte: a message would show what is
/// before that, which may be the name of something else. \p name is the parameter's.
inline Status requireText(xcr_string_view_t text, const char *name) {
  if (text.size && !text.data)
    return makeStatus(HostAllocator(), XCR_STATUS_INVALID_ARGUMENT,
                      "%s: expected %zu bytes, got NULL", name, text.size);
  if (text.size && memchr(text.data, 0, text.size))
    return makeStatus(HostAllocator(), XCR_STATUS_INVALID_ARGUMENT, "%s: '%.*s' holds a zero byte",
                      name, printLength(text), text.data);
  return Status();
}

/// The status of requireArgument for the first of \p pointers that is null; \p names lists their
/// names.
inline xcr_status_t requireArguments(const char *names,
                                     std::initializer_list<const void *> pointers) {
  for (const void *pointer : pointers) {
    const char *end = strchr(names, ',');
    size_t size = end ? static_cast<size_t>(end - names) : strlen(names);
    if (!pointer)
      return makeStatus(HostAllocator(), XCR_STATUS_INVALID_ARGUMENT,
                        "%.*s: expected a value, got NULL", static_cast<int>(size), names)
          .release();
    names += end ? size + 2 : size;
  }
  return nullptr;
}

/// Leaves a function of the C API where one of the named parameters is NULL.
#define XCR_REQUIRE(...)                                                                           \
  do {                                                                                             \
    if (xcr_status_t xcrMissing = ::xc::requireArguments(#__VA_ARGS__, {__VA_ARGS__}))             \
      return xcrMissing;                                                                           \
  } while (false)

} // namespace xc

#endif // XC_RUNTIME_BASE_API_STRUCT_H
