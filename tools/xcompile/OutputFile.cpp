//===- OutputFile.cpp - Files that xcompile writes ------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/xcompile/OutputFile.h"

#include "llvm/ADT/Twine.h"
#include "llvm/Support/FileSystem.h"

namespace xc {

using llvm::sys::fs::TempFile;

static llvm::Error fail(llvm::StringRef path, const llvm::Twine &problem) {
  return llvm::createStringError(
      "cannot write " + (path == "-" ? llvm::Twine("to standard output") : "'" + path + "'") +
      ": " + problem);
}

/// A device or pipe (/dev/null, /dev/stdout), which a file cannot replace.
static bool isDevice(llvm::StringRef path) {
  llvm::sys::fs::file_status status;
  return !llvm::sys::fs::status(path, status) && llvm::sys::fs::is_other(status);
}

/// Takes the stream's error from it, which would end the process later.
static std::error_code writeAll(llvm::raw_fd_ostream &stream,
                                llvm::function_ref<void(llvm::raw_ostream &)> write) {
  write(stream);
  stream.flush();
  std::error_code code = stream.error();
  stream.clear_error();
  return code;
}

llvm::Error checkWritable(llvm::StringRef path, bool mayBeDevice) {
  if (isDevice(path) && !mayBeDevice)
    return fail(path, "not a regular file");
  std::error_code code;
  if (llvm::sys::fs::is_directory(path))
    code = std::make_error_code(std::errc::is_a_directory);
  else if (isDevice(path))
    code = llvm::sys::fs::access(path, llvm::sys::fs::AccessMode::Write);
  else if (llvm::Expected<TempFile> file = TempFile::create(path + ".tmp%%%%%%%%"))
    code = llvm::errorToErrorCode(file->discard());
  else
    code = llvm::errorToErrorCode(file.takeError());
  return code ? fail(path, code.message()) : llvm::Error::success();
}

llvm::Error writeOutputFile(llvm::StringRef path,
                            llvm::function_ref<void(llvm::raw_ostream &)> write) {
  std::error_code code;
  if (path == "-") {
    code = writeAll(llvm::outs(), write);
  } else if (isDevice(path)) {
    llvm::raw_fd_ostream stream(path, code);
    if (!code)
      code = writeAll(stream, write);
  } else {
    llvm::Error error = llvm::writeToOutput(path, [&](llvm::raw_ostream &stream) {
      // Checked before the file takes its place, so that a full disk costs nothing but the result.
      return llvm::errorCodeToError(writeAll(llvm::cast<llvm::raw_fd_ostream>(stream), write));
    });
    code = llvm::errorToErrorCode(std::move(error));
  }
  return code ? fail(path, code.message()) : llvm::Error::success();
}

} // namespace xc
