//===- parameter_file.h - Files that hold a module's external parameters -===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_RUNTIME_MODULE_PARAMETER_FILE_H
#define XC_RUNTIME_MODULE_PARAMETER_FILE_H

#include "runtime/base/file.h"
#include "schemas/module_generated.h"

namespace xc {

/// An array in a file. Its bytes lie in the file.
struct ParameterEntry {
  xcr_string_view_t key = {nullptr, 0}; ///< empty for .npy
  fb::DType dtype = fb::DType::None;
  uint32_t rank = 0;
  int64_t shape[XCR_MAX_RANK] = {};
  uint64_t begin = 0, size = 0; ///< bytes of the file
};

/// A .npy or .safetensors file, of which the header alone is in memory. The header is checked
/// against the size of the file before anything is believed.
class ParameterFile {
public:
  explicit ParameterFile(const HostAllocator &allocator)
      : allocator(allocator), path(allocator), header(allocator), entries(allocator),
        names(allocator) {}

  /// NOT_FOUND, IO, or CORRUPT for a file that is neither or lies.
  static Status open(const HostAllocator &allocator, xcr_string_view_t path, ParameterFile *out);
  /// As above from memory that outlives the result.
  static Status openMemory(const HostAllocator &allocator, Span<const uint8_t> bytes,
                           ParameterFile *out);
  /// As above, without a name for messages.
  static Status parse(const HostAllocator &allocator, Span<const uint8_t> bytes,
                      ParameterFile *out);

  bool isOpen() const { return !source.isEmpty(); }
  /// Whether arrays have keys: false for a .npy file.
  bool hasKeys() const { return entries.size() != 1 || entries[0].key.size != 0; }
  /// The path that it was opened with.
  const char *name() const { return path.c_str(); }
  /// The bytes of array \p key, which must have this type and shape. They are of this object.
  Status find(xcr_string_view_t key, fb::DType dtype, Span<const int64_t> shape,
              ByteRange *out) const;
  const Vector<ParameterEntry> &arrays() const { return entries; }

private:
  static Status parse(const HostAllocator &allocator, ByteSource source, ParameterFile *out);
  Status readHeader();
  Status parseHeader();
  Status checkEntry(const ParameterEntry &entry) const;
  /// That there is no array \p key, and which are called nearly so.
  Status reportMissing(xcr_string_view_t key) const;

  HostAllocator allocator;
  String path;
  ByteSource source;
  Vector<uint8_t> header; ///< names lie in it
  Vector<ParameterEntry> entries;
  Vector<String> names; ///< keys that are not verbatim in the file
};

} // namespace xc

#endif // XC_RUNTIME_MODULE_PARAMETER_FILE_H
