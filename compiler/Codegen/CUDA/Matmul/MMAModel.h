//===- MMAModel.h - How long a matrix product on mma.sync takes -----------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_CODEGEN_CUDA_MATMUL_MMAMODEL_H
#define XC_CODEGEN_CUDA_MATMUL_MMAMODEL_H

#include "compiler/Codegen/CUDA/Common/Targets.h"

namespace xc::cuda {

/// A product as the model sees it; a size that is not known is a guess.
struct MMAProblem {
  int64_t batch, m, n, k;
  int64_t elementBytes, outputBytes; // of operands and of results
  bool isCopied;                     // operands reach shared memory by cp.async, else by registers
  int64_t copyBytes = 16;            // that each copy moves
  bool hasOddRows = false;           // of results, which are stored element by element
};

/// The parameters of #cuda.matmul_mma.
struct MMAPlan {
  int64_t tileM, tileN, tileK, warpsM, warpsN, stages;
};

/// The microseconds that the product should take.
double estimateMMAPlan(const Target &target, const MMAProblem &problem, const MMAPlan &plan);

} // namespace xc::cuda

#endif // XC_CODEGEN_CUDA_MATMUL_MMAMODEL_H
