//===- LocalGpu.h - The GPUs of the machine that compiles -----------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_TOOLS_XCOMPILE_LOCALGPU_H
#define XC_TOOLS_XCOMPILE_LOCALGPU_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

namespace xc {

/// The architectures of this machine's GPUs, each once; empty where there is no driver, no device,
/// or none that we generate code for. The driver is the one that the runtime would load.
llvm::SmallVector<llvm::StringRef> findLocalGpus();

} // namespace xc

#endif // XC_TOOLS_XCOMPILE_LOCALGPU_H
