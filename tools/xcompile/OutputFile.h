//===- OutputFile.h - Files that xcompile writes --------------*- C++ -*---===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_TOOLS_XCOMPILE_OUTPUTFILE_H
#define XC_TOOLS_XCOMPILE_OUTPUTFILE_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"

namespace xc {

/// Whether `path` can be written; leaves nothing behind. `mayBeDevice`: pipes and devices, such as
/// /dev/stdout, are written in place. Else only a file may be there, which is replaced.
llvm::Error checkWritable(llvm::StringRef path, bool mayBeDevice);

/// Writes what `write` gives: to standard output for "-", else as tools::OutputFile does. Errors
/// name the path.
llvm::Error writeOutputFile(llvm::StringRef path,
                            llvm::function_ref<void(llvm::raw_ostream &)> write);

} // namespace xc

#endif // XC_TOOLS_XCOMPILE_OUTPUTFILE_H
