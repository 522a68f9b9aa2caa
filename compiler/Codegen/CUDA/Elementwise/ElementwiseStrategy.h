//===- ElementwiseStrategy.h - One thread, some elements ------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_CODEGEN_CUDA_ELEMENTWISE_ELEMENTWISESTRATEGY_H
#define XC_CODEGEN_CUDA_ELEMENTWISE_ELEMENTWISESTRATEGY_H

#include "compiler/Codegen/CUDA/SelectStrategy.h"

namespace xc::cuda {

/// How many elements a thread computes, and in which vectors. `isWindow`: each of a window of its
/// input.
Choice chooseElementwise(const KernelInfo &kernel, KernelSizes &sizes, bool isWindow);

} // namespace xc::cuda

#endif // XC_CODEGEN_CUDA_ELEMENTWISE_ELEMENTWISESTRATEGY_H
