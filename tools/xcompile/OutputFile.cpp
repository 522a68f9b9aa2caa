//===- OutputFile.cpp - Files that xcompile writes ------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/xcompile/OutputFile.h"

#include "tools/common/OutputFile.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Signals.h"

namespace xc {

static llvm::Error convert(const tools::Error &error) {
  return error ? llvm::createStringError(error.message()) : llvm::Error::success();
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
  if (!mayBeDevice && tools::OutputFile::isInPlace(path.str()))
    return llvm::createStringError("cannot write '" + path + "': not a regular file");
  return convert(tools::OutputFile::check(path.str()));
}

llvm::Error writeOutputFile(llvm::StringRef path,
                            llvm::function_ref<void(llvm::raw_ostream &)> write) {
  if (path == "-") {
    std::error_code code = writeAll(llvm::outs(), write);
    return code ? llvm::createStringError("cannot write to standard output: " + code.message())
                : llvm::Error::success();
  }
  tools::Result<tools::OutputFile> file = tools::OutputFile::open(path.str());
  if (!file)
    return convert(file.error());
  const std::string temporary = file->temporaryPath();
  if (!temporary.empty())
    llvm::sys::RemoveFileOnSignal(temporary);
  llvm::scope_exit forget([&] { llvm::sys::DontRemoveFileOnSignal(temporary); });
  llvm::raw_fd_ostream stream(file->descriptor(), /*shouldClose=*/false);
  // Checked before the file takes its place, so that a full disk costs nothing but the result.
  if (std::error_code code = writeAll(stream, write))
    return llvm::createStringError("cannot write '" + path + "': " + code.message());
  return convert(file->commit());
}

} // namespace xc
