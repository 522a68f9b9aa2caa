//===- EmitElementwise.h - Kernels whose elements do not meet ---*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_CODEGEN_CUDA_ELEMENTWISE_EMITELEMENTWISE_H
#define XC_CODEGEN_CUDA_ELEMENTWISE_EMITELEMENTWISE_H

#include "compiler/Codegen/CUDA/Common/KernelInfo.h"

namespace xc::cuda {

/// How a block shares its elements among threads.
struct ElementwiseShape {
  int64_t threads, vector, unroll;
  int64_t perBlock() const { return threads * vector * unroll; }
};

/// Replaces the body of `kernel` by code in which each thread computes `unroll` vectors.
mlir::LogicalResult emitElementwise(const KernelInfo &kernel, ElementwiseShape shape);

} // namespace xc::cuda

#endif // XC_CODEGEN_CUDA_ELEMENTWISE_EMITELEMENTWISE_H
