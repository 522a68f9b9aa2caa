//===- file.cpp - Files, read or mapped ----------------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/base/file.h"

#include <cerrno>
#include <cinttypes>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace xc;

File::File(File &&other) : fd(other.fd), byteSize(other.byteSize) { other.fd = -1; }

File &File::operator=(File &&other) {
  if (this != &other) {
    this->~File();
    new (this) File(std::move(other));
  }
  return *this;
}

File::~File() {
  if (fd >= 0)
    close(fd);
}

Status File::open(const HostAllocator &allocator, xcr_string_view_t path, File *out) {
  if (path.size && memchr(path.data, 0, path.size))
    return makeStatus(allocator, XCR_STATUS_INVALID_ARGUMENT, "file name '%.*s' holds a zero byte",
                      printLength(path), path.data);
  String name(allocator);
  XCR_RETURN_IF_ERROR(name.assign(path));
  File file;
  do
    file.fd = ::open(name.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  while (file.fd < 0 && errno == EINTR);
  if (file.fd < 0) {
    int error = errno;
    return makeStatus(allocator,
                      error == ENOENT || error == ENOTDIR ? XCR_STATUS_NOT_FOUND : XCR_STATUS_IO,
                      "cannot open '%.*s': %s", printLength(path), path.data, strerror(error));
  }
  struct stat information;
  if (fstat(file.fd, &information) != 0)
    return makeStatus(allocator, XCR_STATUS_IO, "cannot ask about '%.*s': %s", printLength(path),
                      path.data, strerror(errno));
  if (!S_ISREG(information.st_mode))
    return makeStatus(allocator, XCR_STATUS_IO, "cannot read '%.*s': not a regular file",
                      printLength(path), path.data);
  file.byteSize = static_cast<uint64_t>(information.st_size);
  *out = std::move(file);
  return Status();
}

Status File::read(const HostAllocator &allocator, uint64_t offset, void *data, size_t size) const {
  char *target = static_cast<char *>(data);
  while (size) {
    ssize_t got = pread(fd, target, size, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      return makeStatus(allocator, XCR_STATUS_IO, "cannot read: %s", strerror(errno));
    if (got == 0)
      return makeStatus(allocator, XCR_STATUS_CORRUPT,
                        "the file ends at byte %" PRIu64 ", %zu bytes early", offset, size);
    target += got;
    offset += static_cast<uint64_t>(got);
    size -= static_cast<size_t>(got);
  }
  return Status();
}

Mapping &Mapping::operator=(Mapping &&other) {
  if (this != &other) {
    this->~Mapping();
    new (this) Mapping(std::move(other));
  }
  return *this;
}

Mapping::~Mapping() {
  if (bytes)
    munmap(const_cast<uint8_t *>(bytes), byteSize);
}

Status Mapping::map(const HostAllocator &allocator, const File &file, xcr_string_view_t path,
                    Mapping *out) {
  Mapping mapping;
  // An empty file cannot be mapped and needs no mapping.
  if (file.size() == 0) {
    *out = std::move(mapping);
    return Status();
  }
  void *address = mmap(nullptr, file.size(), PROT_READ, MAP_PRIVATE, file.descriptor(), 0);
  if (address == MAP_FAILED)
    return makeStatus(allocator, XCR_STATUS_IO, "cannot map '%.*s' (%" PRIu64 " bytes): %s",
                      printLength(path), path.data, file.size(), strerror(errno));
  mapping.bytes = static_cast<const uint8_t *>(address);
  mapping.byteSize = file.size();
  *out = std::move(mapping);
  return Status();
}
