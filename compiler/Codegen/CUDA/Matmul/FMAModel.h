//===- FMAModel.h - How long a matrix product on plain arithmetic takes ---===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_CODEGEN_CUDA_MATMUL_FMAMODEL_H
#define XC_CODEGEN_CUDA_MATMUL_FMAMODEL_H

#include "compiler/Codegen/CUDA/Common/Targets.h"
#include "compiler/Codegen/CUDA/IR/CUDAConfig.h"

#include "llvm/ADT/SmallVector.h"

namespace xc::cuda {

/// A product as the model sees it; a size that is not known is a guess.
struct FMAProblem {
  int64_t batch, m, n, k;
  int64_t elementBytes; // of sums, and of operands in shared memory
  bool isCopied;        // operands reach shared memory by cp.async, else through registers
  int64_t widthA = 4, widthB = 4; // neighbours that are loaded or copied at once
  bool canShare = false;          // clusters of blocks may share a tile's sum
  bool isRoomy = true;            // strides of what is fused leave registers for many sums
};

/// The parameters of #cuda.matmul_fma, and the time that they should take.
struct FMAPlan {
  int64_t tileM, tileN, tileK, threadM, threadN, stages;
  double microseconds;
  int64_t split = 1;
};

/// Elements of `elementBytes` between rows of a tile in shared memory that have `length` of them.
int64_t getFMARowLength(int64_t length, int64_t elementBytes);

/// Bytes of shared memory that a block takes for operands and sums of `elementBytes`.
int64_t getSharedBytes(const FMAPlan &plan, int64_t elementBytes);

/// The parameters of a configuration; the time is not known.
FMAPlan toPlan(MatmulFMAAttr config);

/// True if operands that lie in memory as they are multiplied reach shared memory by cp.async. A
/// sum of a single step has nothing to be copied ahead of, and ptxas would make straight code of it
/// that does not fit registers.
bool isCopiedAhead(const Target &target, int64_t k);

/// The microseconds that `plan` should take, whatever they are by its own account.
double estimateFMAPlan(const Target &target, const FMAProblem &problem, const FMAPlan &plan);

/// The plan that should be fastest. There always is one.
FMAPlan chooseFMAPlan(const Target &target, const FMAProblem &problem, FMAPlan *second = nullptr);

} // namespace xc::cuda

#endif // XC_CODEGEN_CUDA_MATMUL_FMAMODEL_H
