//===- KernelModule.h - Writes the module of an extracted kernel ----------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_TOOLS_XRUN_KERNELMODULE_H
#define XC_TOOLS_XRUN_KERNELMODULE_H

#include "tools/xrun/Steps.h"

namespace xc::tools {

/// The bytes of a module whose function `main` is the dispatch of |step|: |read| are its inputs and
/// |written| its outputs.
Result<std::string> makeKernelModule(const Session &session, const Step &step,
                                     const std::vector<BoundArray> &read,
                                     const std::vector<BoundArray> &written);

} // namespace xc::tools

#endif // XC_TOOLS_XRUN_KERNELMODULE_H
