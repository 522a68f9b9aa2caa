//===- RegularFile.h - Files that are safe to wait for ----------*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_INPUT_REGULARFILE_H
#define XC_INPUT_REGULARFILE_H

#include "llvm/ADT/Twine.h"
#include "llvm/Support/FileSystem.h"

namespace xc {

/// True for a pipe or a device: opening it may wait, and reading it never end. What is not there,
/// or a folder, is refused by whoever opens it. scripts/lint.py (unchecked-reads) wants this asked
/// wherever the compiler opens a file that a user has named.
inline bool isPipeOrDevice(const llvm::Twine &path) {
  llvm::sys::fs::file_status status;
  return !llvm::sys::fs::status(path, status) && llvm::sys::fs::is_other(status);
}

} // namespace xc

#endif // XC_INPUT_REGULARFILE_H
