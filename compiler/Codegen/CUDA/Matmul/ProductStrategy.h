//===- ProductStrategy.h - Strategies of matrix products --------*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_CODEGEN_CUDA_MATMUL_PRODUCTSTRATEGY_H
#define XC_CODEGEN_CUDA_MATMUL_PRODUCTSTRATEGY_H

#include "compiler/Codegen/CUDA/Strategy.h"

namespace xc::cuda {

/// Whether the kernel, which is a product, has a configuration on wgmma.
bool canUseWGMMA(KernelQuery &query);

} // namespace xc::cuda

#endif // XC_CODEGEN_CUDA_MATMUL_PRODUCTSTRATEGY_H
