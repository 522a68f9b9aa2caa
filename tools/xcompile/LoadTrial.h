//===- LoadTrial.h - Does the runtime take the module? ---------*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The loader checks more of a module than the compiler can name a place for: how much its tables
// share, say. What it would refuse later is an error now.
//
//===----------------------------------------------------------------------===//

#ifndef XC_TOOLS_XCOMPILE_LOADTRIAL_H
#define XC_TOOLS_XCOMPILE_LOADTRIAL_H

#include "llvm/ADT/StringRef.h"

#include <string>

namespace xc {

/// Why the runtime refuses the module file `bytes`; empty if it takes it. Looks at the tables only
/// and needs no device.
std::string tryLoading(llvm::StringRef bytes);

} // namespace xc

#endif // XC_TOOLS_XCOMPILE_LOADTRIAL_H
