//===- file.h - Files and where bytes are read from -----------------------===//
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
  /// Reads exactly \p size bytes. CORRUPT if the file ends before, or has been written since it was
  /// opened: what is read of a file is all of one time.
  Status read(const HostAllocator &allocator, uint64_t offset, void *data, size_t size) const;
  bool isOpen() const { return fd >= 0; }

private:
  Status checkUnchanged(const HostAllocator &allocator) const;

  int fd = -1;
  uint64_t byteSize = 0;
  int64_t seconds = 0, nanoseconds = 0; ///< when the file was last written
};

/// A file that takes its name when it is complete: until then it has another one beside it, and is
/// removed where it is not committed. Symbolic links are followed and stay links.
class OutputFile {
public:
  explicit OutputFile(const HostAllocator &allocator)
      : allocator(allocator), path(allocator), temporary(allocator) {}
  OutputFile(const OutputFile &) = delete;
  OutputFile &operator=(const OutputFile &) = delete;
  ~OutputFile();

  /// NOT_FOUND or IO, with the path and the system's reason; so do the others.
  Status create(xcr_string_view_t path);
  Status write(const void *data, size_t size);
  /// Brings what was written to the disk, then replaces what had the path.
  Status commit();

private:
  Status followLinks();
  Status report(const char *what, int error) const;

  HostAllocator allocator;
  String path, temporary;
  int fd = -1;
};

/// Bytes that are read by their offset: of a file, or in memory that somebody else keeps. Files are
/// not mapped: one that others truncate would end the process with SIGBUS, and one that they
/// overwrite would change what has been checked. Move-only.
class ByteSource {
public:
  ByteSource() = default;
  explicit ByteSource(File file) : file(std::move(file)) {}
  explicit ByteSource(Span<const uint8_t> memory) : memory(memory) {}

  bool isEmpty() const { return !memory.data && !file.isOpen(); }
  uint64_t size() const { return memory.data ? memory.size : file.size(); }
  /// Null where the bytes have to be read.
  const uint8_t *data() const { return memory.data; }
  /// See File::read. The range lies in the source as it was opened.
  Status read(const HostAllocator &allocator, uint64_t offset, void *data, size_t size) const;

private:
  File file;
  Span<const uint8_t> memory = {nullptr, 0};
};

/// A part of a source, which must outlive it.
struct ByteRange {
  const ByteSource *source = nullptr;
  uint64_t begin = 0, size = 0;
  /// Null where the bytes have to be read.
  const uint8_t *data() const { return source->data() ? source->data() + begin : nullptr; }
};

} // namespace xc

#endif // XC_RUNTIME_BASE_FILE_H
