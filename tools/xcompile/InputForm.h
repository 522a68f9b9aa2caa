//===- InputForm.h - What a file is that is no input ---------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_TOOLS_XCOMPILE_INPUTFORM_H
#define XC_TOOLS_XCOMPILE_INPUTFORM_H

#include "llvm/ADT/StringRef.h"

#include <string>

namespace xc {

/// What the input at `path` is, and what reads it, if it is neither MLIR text nor bytecode, by its
/// first bytes: "is a compiled module; xrun runs it". Empty where it may be MLIR.
std::string describeForeignInput(llvm::StringRef bytes, llvm::StringRef path);

} // namespace xc

#endif // XC_TOOLS_XCOMPILE_INPUTFORM_H
