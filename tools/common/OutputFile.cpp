//===- OutputFile.cpp - Files that tools write ----------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/common/OutputFile.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

namespace fs = std::filesystem;

namespace xc::tools {

namespace {

/// Where the bytes of a path go.
struct Destination {
  std::string target;     ///< the path behind all links, which need not exist
  int descriptor = -1;    ///< of this process, where the path names one
  bool isInPlace = false; ///< no file can take its place
  mode_t mode = 0;        ///< of the regular file that is there
  int error = 0;
};

} // namespace

static Error describe(const std::string &path, int code) {
  return Error("cannot write '" + path + "': " + strerror(code));
}

/// The descriptor of this process whose entry in /proc the path is, or -1.
static int findDescriptor(const fs::path &path) {
  std::error_code code;
  const fs::path folder = fs::canonical(path.parent_path(), code);
  const std::string name = path.filename().string();
  if (code || folder != "/proc/" + std::to_string(getpid()) + "/fd" || name.empty() ||
      name.find_first_not_of("0123456789") != std::string::npos)
    return -1;
  return atoi(name.c_str());
}

/// Follows links by hand: one that leads nowhere yet still says where the file belongs.
static Destination findDestination(const std::string &path) {
  constexpr int kMaxLinks = 40; // as many as Linux follows
  Destination found;
  fs::path at = path;
  for (int links = 0;; ++links) {
    found.descriptor = findDescriptor(at);
    std::error_code code;
    const fs::path next = fs::read_symlink(at, code);
    if (found.descriptor >= 0 || code)
      break;
    if (links == kMaxLinks) {
      found.error = ELOOP;
      return found;
    }
    at = at.parent_path() / next; // an absolute one replaces the folder
  }
  found.target = at.string();
  struct stat info;
  const bool exists = stat(found.target.c_str(), &info) == 0;
  if (exists && S_ISDIR(info.st_mode))
    found.error = EISDIR;
  if (path.empty())
    found.error = ENOENT;
  found.isInPlace = found.descriptor >= 0 || (exists && !S_ISREG(info.st_mode));
  found.mode = exists && !found.isInPlace ? info.st_mode & 0777 : 0;
  return found;
}

/// Opens a new file beside |target|, and says under which name.
static int createBeside(const std::string &target, std::string &temporary) {
  // Files of several threads and processes for one path are several.
  static std::atomic<unsigned> counter{0};
  int descriptor;
  do {
    temporary = target + ".tmp" + std::to_string(getpid()) + "-" + std::to_string(counter++);
    descriptor = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  } while (descriptor < 0 && (errno == EINTR || errno == EEXIST));
  return descriptor;
}

Result<OutputFile> OutputFile::open(const std::string &path) {
  const Destination found = findDestination(path);
  if (found.error)
    return describe(path, found.error);
  OutputFile file(path);
  file.target = found.target;
  std::string temporary;
  if (found.descriptor >= 0)
    file.handle = dup(found.descriptor);
  else if (found.isInPlace)
    file.handle = ::open(found.target.c_str(), O_WRONLY | O_CLOEXEC);
  else
    file.handle = createBeside(found.target, temporary);
  if (file.handle < 0)
    return describe(path, errno);
  file.temporary = temporary;
  // What replaces a file is for those that the file was for.
  if (found.mode && fchmod(file.handle, found.mode) != 0)
    return describe(path, errno);
  return file;
}

Error OutputFile::check(const std::string &path) {
  const Destination found = findDestination(path);
  if (found.error)
    return describe(path, found.error);
  if (found.isInPlace)
    return found.descriptor < 0 && access(found.target.c_str(), W_OK) != 0 ? describe(path, errno)
                                                                           : Error::success();
  Result<OutputFile> file = open(path);
  return file ? Error::success() : file.error();
}

bool OutputFile::isInPlace(const std::string &path) { return findDestination(path).isInPlace; }

OutputFile::OutputFile(OutputFile &&other)
    : path(std::move(other.path)), target(std::move(other.target)),
      temporary(std::move(other.temporary)), handle(std::exchange(other.handle, -1)) {}

OutputFile::~OutputFile() {
  if (handle < 0)
    return;
  close(handle);
  if (!temporary.empty())
    unlink(temporary.c_str());
}

Error OutputFile::fail(int code) const { return describe(path, code); }

Error OutputFile::write(const void *data, uint64_t size) {
  auto *at = static_cast<const char *>(data);
  while (size) {
    const ssize_t written = ::write(handle, at, std::min(size, uint64_t(1) << 30));
    if (written < 0 && errno == EINTR)
      continue;
    if (written <= 0)
      return fail(written < 0 ? errno : EIO);
    at += written;
    size -= uint64_t(written);
  }
  return Error::success();
}

Error OutputFile::commit() {
  // Some file systems say only now that there was no room.
  int code = close(std::exchange(handle, -1)) == 0 ? 0 : errno;
  if (!code && !temporary.empty() && rename(temporary.c_str(), target.c_str()) != 0)
    code = errno;
  if (!code)
    return Error::success();
  if (!temporary.empty())
    unlink(temporary.c_str());
  return fail(code);
}

Error writeFile(const std::string &path, const std::string &header, const std::byte *contents,
                uint64_t size) {
  Result<OutputFile> file = OutputFile::open(path);
  if (!file)
    return file.error();
  if (Error error = file->write(header.data(), header.size()))
    return error;
  if (Error error = file->write(contents, size))
    return error;
  return file->commit();
}

} // namespace xc::tools
