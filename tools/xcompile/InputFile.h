//===- InputFile.h - Read what the compiler is given ---------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_TOOLS_XCOMPILE_INPUTFILE_H
#define XC_TOOLS_XCOMPILE_INPUTFILE_H

#include "mlir/IR/DialectRegistry.h"
#include "llvm/ADT/StringRef.h"

#include <memory>
#include <string>

namespace llvm {
class MemoryBuffer;
}

namespace xc {

/// The bytes of the regular file at `path`, of standard input for "-". Devices and named pipes,
/// which may never end, are refused. Null where it fails; `error` then says why.
std::unique_ptr<llvm::MemoryBuffer> readInputFile(llvm::StringRef path, std::string &error);

/// What MLIR's readers do not look at in `bytes`, the input at `path`: files of other forms, text
/// that is so deep that the parser leaves the stack, bytecode whose numbers lead it astray. The
/// whole message; empty where they can read it.
std::string findUnreadable(llvm::StringRef bytes, llvm::StringRef path,
                           const mlir::DialectRegistry &registry);

} // namespace xc

#endif // XC_TOOLS_XCOMPILE_INPUTFILE_H
