//===- WindowProblem.h - What reductions of windows read ------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_CODEGEN_CUDA_COMMON_WINDOWPROBLEM_H
#define XC_CODEGEN_CUDA_COMMON_WINDOWPROBLEM_H

#include <cstdint>

namespace xc::cuda {

/// A reduction of windows as models of its time see it.
struct WindowProblem {
  int64_t results;  // a guess, where sizes are symbolic
  int64_t elements; // of a window
  /// Neighbouring results that read the same window.
  int64_t features = 1;
  /// Bytes between what the windows behind those read at the same time; those of neighbouring
  /// elements are one element apart.
  int64_t apart = 4;
  /// Bytes of a window that lie side by side.
  int64_t run = 4;
};

} // namespace xc::cuda

#endif // XC_CODEGEN_CUDA_COMMON_WINDOWPROBLEM_H
