//===- file.h - Files, read or mapped ------------------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_RUNTIME_BASE_FILE_H
#define XC_RUNTIME_BASE_FILE_H

#include "runtime/base/vector.h"

namespace xc {

/// A file opened for reading. Move-only.
class File {
public:
  File() = default;
  File(File &&other);
  File &operator=(File &&other);
  ~File();

  /// NOT_FOUND or IO, with the path and the system's reason. Directories are
  /// refused.
  static Status open(const HostAllocator &allocator, xcr_string_view_t path, File *out);

  uint64_t size() const { return byteSize; }
  /// Reads exactly \p size bytes; CORRUPT if the file ends before.
  Status read(const HostAllocator &allocator, uint64_t offset, void *data, size_t size) const;
  int descriptor() const { return fd; }

private:
  int fd = -1;
  uint64_t byteSize = 0;
};

/// The whole of a file in memory, read-only. Move-only. A file that others
/// truncate while it is mapped ends the process with SIGBUS when the missing
/// part is touched, so only what is read once or trusted is mapped.
class Mapping {
public:
  Mapping() = default;
  Mapping(Mapping &&other) : bytes(other.bytes), byteSize(other.byteSize) {
    other.bytes = nullptr;
    other.byteSize = 0;
  }
  Mapping &operator=(Mapping &&other);
  ~Mapping();

  static Status map(const HostAllocator &allocator, const File &file, xcr_string_view_t path,
                    Mapping *out);

  const uint8_t *data() const { return bytes; }
  uint64_t size() const { return byteSize; }

private:
  const uint8_t *bytes = nullptr;
  uint64_t byteSize = 0;
};

} // namespace xc

#endif // XC_RUNTIME_BASE_FILE_H
