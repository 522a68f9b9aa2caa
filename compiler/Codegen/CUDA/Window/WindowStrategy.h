//===- WindowStrategy.h - Reductions of windows ---------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_CODEGEN_CUDA_WINDOW_WINDOWSTRATEGY_H
#define XC_CODEGEN_CUDA_WINDOW_WINDOWSTRATEGY_H

#include "compiler/Codegen/CUDA/Strategy.h"

namespace xc::cuda {

/// Says in `choice`, of a reduction, that each window is shared by `threads` threads and what the
/// model expects of that.
void describeSharedWindows(const WindowQuery &windows, int64_t threads, double microseconds,
                           Choice &choice);

} // namespace xc::cuda

#endif // XC_CODEGEN_CUDA_WINDOW_WINDOWSTRATEGY_H
