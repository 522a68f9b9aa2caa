//===- parameter_file.cpp - Files that hold a module's external parameters ===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/module/parameter_file.h"

#include "runtime/base/checked.h"
#include "runtime/base/dtype.h"
#include "runtime/module/npy_header.h"
#include "runtime/module/safetensors_header.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>

using namespace xc;

Status ParameterFile::open(const HostAllocator &allocator, xcr_string_view_t path,
                           ParameterFile *out) {
  File file;
  Mapping mapping;
  XCR_RETURN_IF_ERROR(File::open(allocator, path, &file));
  XCR_RETURN_IF_ERROR(Mapping::map(allocator, file, path, &mapping));
  ParameterFile result(allocator);
  XCR_RETURN_IF_ERROR(addContext(parse(allocator, {mapping.data(), mapping.size()}, &result),
                                 allocator, "%.*s: ", printLength(path), path.data));
  XCR_RETURN_IF_ERROR(result.path.assign(path));
  result.mapping = std::move(mapping);
  *out = std::move(result);
  return Status();
}

Status ParameterFile::parse(const HostAllocator &allocator, Span<const uint8_t> bytes,
                            ParameterFile *out) {
  ParameterFile result(allocator);
  result.bytes = bytes;
  if (isNpy(bytes)) {
    ParameterEntry entry;
    XCR_RETURN_IF_ERROR(parseNpyHeader(allocator, bytes, &entry));
    XCR_RETURN_IF_ERROR(result.entries.push(entry));
  } else {
    XCR_RETURN_IF_ERROR(parseSafetensorsHeader(allocator, bytes, &result.entries, &result.names));
  }
  for (const ParameterEntry &entry : result.entries)
    XCR_RETURN_IF_ERROR(result.checkEntry(entry));
  // Sorted, so that a file of many arrays is searched quickly.
  std::sort(result.entries.begin(), result.entries.end(),
            [](const ParameterEntry &a, const ParameterEntry &b) { return isLess(a.key, b.key); });
  for (size_t i = 1; i < result.entries.size(); ++i)
    if (equal(result.entries[i - 1].key, result.entries[i].key))
      return makeStatus(allocator, XCR_STATUS_CORRUPT, "two arrays are called '%.*s'",
                        printLength(result.entries[i].key), result.entries[i].key.data);
  *out = std::move(result);
  return Status();
}

Status ParameterFile::checkEntry(const ParameterEntry &entry) const {
  uint64_t elements, needed;
  if (!countElements(entry.shape, entry.rank, &elements) ||
      multiplyOverflows<uint64_t>(elements, elementBytes(entry.dtype), &needed))
    return makeStatus(allocator, XCR_STATUS_CORRUPT,
                      "array '%.*s' has a size that overflows 64 bits", printLength(entry.key),
                      entry.key.data);
  if (needed != entry.size || !rangeFits(entry.begin, entry.size, bytes.size))
    return makeStatus(allocator, XCR_STATUS_CORRUPT,
                      "array '%.*s' takes %" PRIu64 " bytes by its shape, the file has %" PRIu64
                      " at byte %" PRIu64 " of %zu",
                      printLength(entry.key), entry.key.data, needed, entry.size, entry.begin,
                      bytes.size);
  return Status();
}

static void printShape(Span<const int64_t> shape, char *text, size_t size) {
  size_t used = 0;
  for (size_t i = 0; i < shape.size && used + 24 < size; ++i)
    used += static_cast<size_t>(snprintf(text + used, size - used, "%" PRId64 "x", shape[i]));
  text[used] = 0;
}

Status ParameterFile::find(xcr_string_view_t key, fb::DType dtype, Span<const int64_t> shape,
                           Span<const uint8_t> *out) const {
  const ParameterEntry *found =
      std::lower_bound(entries.begin(), entries.end(), key,
                       [](const ParameterEntry &entry, xcr_string_view_t wanted) {
                         return isLess(entry.key, wanted);
                       });
  // A .npy file holds one array, whose name nobody knows.
  bool isNpyFile = entries.size() == 1 && entries[0].key.size == 0;
  if (isNpyFile)
    found = entries.begin();
  else if (found == entries.end() || !equal(found->key, key))
    return makeStatus(allocator, XCR_STATUS_NOT_FOUND, "%s: no array '%.*s' among its %zu",
                      path.c_str(), printLength(key), key.data, entries.size());
  bool isSame = found->dtype == dtype && found->rank == shape.size &&
                std::equal(shape.begin(), shape.end(), found->shape);
  if (!isSame) {
    char expected[XCR_MAX_RANK * 21 + 1], got[XCR_MAX_RANK * 21 + 1];
    printShape(shape, expected, sizeof(expected));
    printShape({found->shape, found->rank}, got, sizeof(got));
    return makeStatus(allocator, XCR_STATUS_INVALID_ARGUMENT,
                      "%s: array '%.*s': expected %s%s, got %s%s", path.c_str(), printLength(key),
                      key.data, expected, xcr_dtype_name(toApi(dtype)).data, got,
                      xcr_dtype_name(toApi(found->dtype)).data);
  }
  *out = {bytes.data + found->begin, found->size};
  return Status();
}
