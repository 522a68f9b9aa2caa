//===- InputFile.h - Read what the compiler is given ---------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_TOOLS_XCOMPILE_INPUTFILE_H
#define XC_TOOLS_XCOMPILE_INPUTFILE_H

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

/// Whether bytecode holds ops of StableHLO, or of its portable form, VHLO.
bool isStableHLOBytecode(llvm::StringRef bytes);

/// What the input at `path` is, and what reads it, if it is neither MLIR text nor bytecode, by its
/// first bytes: "is a compiled module; xrun runs it". Empty where it may be MLIR.
std::string describeForeignInput(llvm::StringRef bytes, llvm::StringRef path);

} // namespace xc

#endif // XC_TOOLS_XCOMPILE_INPUTFILE_H
