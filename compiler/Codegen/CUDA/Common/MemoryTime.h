//===- MemoryTime.h - How long memory takes for a kernel ------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_CODEGEN_CUDA_COMMON_MEMORYTIME_H
#define XC_CODEGEN_CUDA_COMMON_MEMORYTIME_H

#include "compiler/Codegen/CUDA/Common/KernelInfo.h"

namespace xc::cuda {

/// The microseconds of a kernel that is limited by memory: a launch, and each byte of its bindings
/// once. Nothing where a size is symbolic.
std::optional<double> estimateMemoryTime(const KernelInfo &kernel);

/// The microseconds in which all multiprocessors read so many bytes from L2.
double estimateCacheTime(const Target &target, int64_t bytes);

} // namespace xc::cuda

#endif // XC_CODEGEN_CUDA_COMMON_MEMORYTIME_H
