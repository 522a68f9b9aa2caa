//===- OutputFile.h - Files that tools write ------------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A file takes its name when it is whole: until then it has another one beside it, so that a
// failure leaves what was there. What a file cannot replace is written where it is: a device, a
// pipe, a descriptor that is open (/dev/stdout). Symbolic links are followed and stay links.
//
//===----------------------------------------------------------------------===//

#ifndef XC_TOOLS_COMMON_OUTPUTFILE_H
#define XC_TOOLS_COMMON_OUTPUTFILE_H

#include "tools/common/Result.h"

#include <cstddef>
#include <cstdint>

namespace xc::tools {

/// A file that is open for writing. Move-only; removed where it is not committed.
class OutputFile {
public:
  /// Errors are "cannot write 'PATH': REASON"; so are the others'.
  static Result<OutputFile> open(const std::string &path);
  /// Whether open() would succeed. Leaves nothing behind, and does not wait for a pipe's reader.
  static Error check(const std::string &path);
  /// Whether |path| leads to what a file cannot replace.
  static bool isInPlace(const std::string &path);

  OutputFile(OutputFile &&other);
  OutputFile &operator=(OutputFile &&) = delete;
  ~OutputFile();

  int descriptor() const { return handle; }
  /// What to remove where a signal ends the process before commit(); may be empty.
  const std::string &temporaryPath() const { return temporary; }
  Error write(const void *data, uint64_t size);
  /// Closes the file, which then is what its path names.
  Error commit();

private:
  OutputFile(std::string path) : path(std::move(path)) {}
  Error fail(int code) const;

  std::string path, target, temporary; ///< no |temporary|: the target is written in place
  int handle = -1;
};

/// Writes |header| and then |contents| to |path| as one file.
Error writeFile(const std::string &path, const std::string &header,
                const std::byte *contents = nullptr, uint64_t size = 0);

} // namespace xc::tools

#endif // XC_TOOLS_COMMON_OUTPUTFILE_H
