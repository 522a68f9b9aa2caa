//===- BytecodeTrial.h - Read bytecode where a crash costs nothing -*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_TOOLS_XCOMPILE_BYTECODETRIAL_H
#define XC_TOOLS_XCOMPILE_BYTECODETRIAL_H

#include "mlir/IR/DialectRegistry.h"
#include "llvm/Support/MemoryBufferRef.h"

#include <string>

namespace xc {

/// Reads MLIR bytecode in a process of its own: MLIR's reader trusts the numbers in a file, and a
/// damaged one can make it crash, or go on for ever. Returns an empty string where the reader comes
/// to an end, be it with an error, which it then finds again; else what happened.
std::string tryBytecode(llvm::MemoryBufferRef buffer, const mlir::DialectRegistry &registry);

} // namespace xc

#endif // XC_TOOLS_XCOMPILE_BYTECODETRIAL_H
