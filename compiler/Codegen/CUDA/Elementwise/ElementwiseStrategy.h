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

/// Of a square tile that is transposed in shared memory, neighbouring threads read every
/// `vector`-th line: so many lines are together this many elements longer than they need be, and
/// those threads are at neighbouring banks.
int64_t getTransposeSkew(mlir::Type elementType, int64_t vector);

/// The elements of such a tile, of `tile` lines.
int64_t countTransposeElements(mlir::Type elementType, int64_t tile, int64_t vector);

} // namespace xc::cuda

#endif // XC_CODEGEN_CUDA_ELEMENTWISE_ELEMENTWISESTRATEGY_H
