//===- file.cpp - Files and where bytes are read from ---------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/base/file.h"

#include <atomic>
#include <cerrno>
#include <cinttypes>
#include <climits>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace xc;

File::File(File &&other)
    : fd(other.fd), byteSize(other.byteSize), seconds(other.seconds),
      nanoseconds(other.nanoseconds) {
  other.fd = -1;
}

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
  file.seconds = information.st_mtim.tv_sec;
  file.nanoseconds = information.st_mtim.tv_nsec;
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
                        "the file ends at byte %" PRIu64 ", %zu bytes early%s", offset, size,
                        offset < byteSize ? ": it was truncated after it had been opened" : "");
    target += got;
    offset += static_cast<uint64_t>(got);
    size -= static_cast<size_t>(got);
  }
  return checkUnchanged(allocator);
}

Status File::checkUnchanged(const HostAllocator &allocator) const {
  struct stat now;
  if (fstat(fd, &now) != 0)
    return makeStatus(allocator, XCR_STATUS_IO, "cannot ask about the file: %s", strerror(errno));
  if (static_cast<uint64_t>(now.st_size) == byteSize && now.st_mtim.tv_sec == seconds &&
      now.st_mtim.tv_nsec == nanoseconds)
    return Status();
  return makeStatus(allocator, XCR_STATUS_CORRUPT,
                    "the file was written after it had been opened; replace a file in use by "
                    "another one of its name instead");
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

OutputFile::~OutputFile() {
  if (fd < 0)
    return;
  close(fd);
  unlink(temporary.c_str());
}

Status OutputFile::report(const char *what, int error) const {
  return makeStatus(
      allocator, error == ENOENT || error == ENOTDIR ? XCR_STATUS_NOT_FOUND : XCR_STATUS_IO,
      "cannot %s '%.*s': %s", what, printLength(path.view()), path.c_str(), strerror(error));
}

/// A file takes the place of what a symbolic link leads to, which need not be there; the link
/// stays.
Status OutputFile::followLinks() {
  constexpr int kMaxLinks = 40; // as many as Linux follows
  char target[PATH_MAX];
  for (int links = 0; links <= kMaxLinks; ++links) {
    const ssize_t length = readlink(path.c_str(), target, sizeof(target));
    if (length < 0)
      return Status(); // not a link
    if (length == sizeof(target))
      return report("create", ENAMETOOLONG);
    String next(allocator);
    // A relative target is one of the link's folder.
    const char *slash = strrchr(path.c_str(), '/');
    if (slash && target[0] != '/')
      XCR_RETURN_IF_ERROR(
          next.append({path.c_str(), static_cast<size_t>(slash + 1 - path.c_str())}));
    XCR_RETURN_IF_ERROR(next.append({target, static_cast<size_t>(length)}));
    path = std::move(next);
  }
  return report("create", ELOOP);
}

Status OutputFile::create(xcr_string_view_t name) {
  // Files of several threads and processes for one path are several.
  static std::atomic<uint32_t> counter{0};
  XCR_RETURN_IF_ERROR(path.assign(name));
  struct stat existing;
  if (name.size == 0)
    return report("create", ENOENT);
  const bool exists = stat(path.c_str(), &existing) == 0;
  if (exists && !S_ISREG(existing.st_mode))
    return makeStatus(allocator, XCR_STATUS_IO, "cannot replace '%.*s': not a regular file",
                      printLength(name), path.c_str());
  XCR_RETURN_IF_ERROR(followLinks());
  int error;
  do {
    char suffix[48];
    snprintf(suffix, sizeof(suffix), ".tmp%ld-%u", static_cast<long>(getpid()), counter++);
    XCR_RETURN_IF_ERROR(temporary.assign(path.view()));
    XCR_RETURN_IF_ERROR(temporary.append(xcr_string(suffix)));
    fd = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    error = errno;
  } while (fd < 0 && (error == EINTR || error == EEXIST));
  if (fd < 0)
    return report("create", error);
  // What replaces a file is for those that the file was for.
  return exists && fchmod(fd, existing.st_mode & 0777) != 0 ? report("create", errno) : Status();
}

Status OutputFile::write(const void *data, size_t size) {
  const char *source = static_cast<const char *>(data);
  while (size) {
    ssize_t done = ::write(fd, source, size);
    if (done < 0 && errno == EINTR)
      continue;
    if (done < 0)
      return report("write", errno);
    source += done;
    size -= static_cast<size_t>(done);
  }
  return Status();
}

Status OutputFile::commit() {
  if (fsync(fd) != 0 || rename(temporary.c_str(), path.c_str()) != 0)
    return report("write", errno);
  close(fd);
  fd = -1;
  return Status();
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

Status ByteSource::read(const HostAllocator &allocator, uint64_t offset, void *data,
                        size_t size) const {
  if (size == 0)
    return Status();
  if (!memory.data)
    return file.read(allocator, offset, data, size);
  memcpy(data, memory.data + offset, size);
  return Status();
}
