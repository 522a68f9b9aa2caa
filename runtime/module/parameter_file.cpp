//===- parameter_file.cpp - Files that hold a module's external parameters ===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/module/parameter_file.h"

#include "runtime/base/checked.h"
#include "runtime/base/dtype.h"
#include "runtime/base/nearest_names.h"
#include "runtime/module/npy_header.h"
#include "runtime/module/safetensors_header.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>

using namespace xc;

Status ParameterFile::open(const HostAllocator &allocator, xcr_string_view_t path,
                           ParameterFile *out) {
  File file;
  XCR_RETURN_IF_ERROR(File::open(allocator, path, &file));
  ParameterFile result(allocator);
  XCR_RETURN_IF_ERROR(addContext(parse(allocator, ByteSource(std::move(file)), &result), allocator,
                                 "%.*s: ", printLength(path), path.data));
  XCR_RETURN_IF_ERROR(result.path.assign(path));
  *out = std::move(result);
  return Status();
}

Status ParameterFile::openMemory(const HostAllocator &allocator, Span<const uint8_t> bytes,
                                 ParameterFile *out) {
  ParameterFile result(allocator);
  xcr_string_view_t name = xcr_string("(in memory)");
  XCR_RETURN_IF_ERROR(addContext(parse(allocator, bytes, &result), allocator, "%s: ", name.data));
  XCR_RETURN_IF_ERROR(result.path.assign(name));
  *out = std::move(result);
  return Status();
}

Status ParameterFile::parse(const HostAllocator &allocator, Span<const uint8_t> bytes,
                            ParameterFile *out) {
  return parse(allocator, ByteSource(bytes), out);
}

/// Reads as much as the first bytes say that the header has, or all of a file that has less.
Status ParameterFile::readHeader() {
  uint8_t first[kNpyPrefix] = {};
  static_assert(kNpyPrefix >= kSafetensorsPrefix, "the first bytes of either");
  size_t firstSize = std::min<uint64_t>(source.size(), sizeof(first));
  XCR_RETURN_IF_ERROR(source.read(allocator, 0, first, firstSize));
  Span<const uint8_t> prefix = {first, firstSize};
  uint64_t size = isNpy(prefix) ? npyHeaderSize(prefix) : safetensorsHeaderSize(prefix);
  XCR_RETURN_IF_ERROR(header.resize(std::min(source.size(), size)));
  return source.read(allocator, 0, header.data(), header.size());
}

Status ParameterFile::parseHeader() {
  Span<const uint8_t> bytes = {header.data(), header.size()};
  if (!isNpy(bytes))
    return parseSafetensorsHeader(allocator, bytes, &entries, &names);
  ParameterEntry entry;
  XCR_RETURN_IF_ERROR(parseNpyHeader(allocator, bytes, source.size(), &entry));
  return entries.push(entry);
}

Status ParameterFile::parse(const HostAllocator &allocator, ByteSource source, ParameterFile *out) {
  ParameterFile result(allocator);
  result.source = std::move(source);
  XCR_RETURN_IF_ERROR(result.readHeader());
  XCR_RETURN_IF_ERROR(result.parseHeader());
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
  if (needed != entry.size)
    return makeStatus(allocator, XCR_STATUS_CORRUPT,
                      "array '%.*s' takes %" PRIu64 " bytes by its shape, the file has %" PRIu64
                      " for it",
                      printLength(entry.key), entry.key.data, needed, entry.size);
  if (!rangeFits(entry.begin, entry.size, source.size()))
    return makeStatus(allocator, XCR_STATUS_CORRUPT,
                      "the file is truncated: array '%.*s' takes %" PRIu64 " bytes at byte %" PRIu64
                      ", the file ends at byte %" PRIu64,
                      printLength(entry.key), entry.key.data, entry.size, entry.begin,
                      source.size());
  return Status();
}

static void printShape(Span<const int64_t> shape, char *text, size_t size) {
  size_t used = 0;
  for (size_t i = 0; i < shape.size && used + 24 < size; ++i)
    used += static_cast<size_t>(snprintf(text + used, size - used, "%" PRId64 "x", shape[i]));
  text[used] = 0;
}

Status ParameterFile::reportMissing(xcr_string_view_t key) const {
  NearestNames nearest(key);
  for (const ParameterEntry &entry : entries)
    nearest.add(entry.key);
  return addContext(nearest.notFound(allocator, "array", "the file"), allocator,
                    "%s: ", path.c_str());
}

Status ParameterFile::find(xcr_string_view_t key, fb::DType dtype, Span<const int64_t> shape,
                           ByteRange *out) const {
  const ParameterEntry *found =
      std::lower_bound(entries.begin(), entries.end(), key,
                       [](const ParameterEntry &entry, xcr_string_view_t wanted) {
                         return isLess(entry.key, wanted);
                       });
  // A .npy file holds one array, whose name nobody knows.
  if (!hasKeys())
    found = entries.begin();
  else if (found == entries.end() || !equal(found->key, key))
    return reportMissing(key);
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
  *out = {&source, found->begin, found->size};
  return Status();
}
