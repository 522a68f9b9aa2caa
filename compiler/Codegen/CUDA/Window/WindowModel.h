//===- WindowModel.h - How long a reduction of windows takes --------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_CODEGEN_CUDA_WINDOW_WINDOWMODEL_H
#define XC_CODEGEN_CUDA_WINDOW_WINDOWMODEL_H

#include "compiler/Codegen/CUDA/Common/Targets.h"
#include "compiler/Codegen/CUDA/Common/WindowProblem.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace xc::cuda {

/// What each symbolic size of the results of `op` is taken for: there may be many results.
int64_t guessResultSize(mlir::linalg::LinalgOp op);

/// What `op`, which reduces windows of `elements` elements, reads where.
WindowProblem describeWindows(mlir::linalg::LinalgOp op, int64_t elements);

/// The microseconds where a thread loops over the windows of `vector` neighbouring results at a
/// time, of `unroll` such vectors.
double estimateDirectWindows(const Target &target, const WindowProblem &problem, int64_t vector,
                             int64_t unroll);

/// The microseconds where `threads` neighbouring threads share a window along memory.
double estimateWindowRows(const Target &target, const WindowProblem &problem, int64_t threads);

/// The microseconds where threads that have neighbouring results share their windows with those
/// behind them.
double estimateWindowColumns(const Target &target, const WindowProblem &problem);

} // namespace xc::cuda

#endif // XC_CODEGEN_CUDA_WINDOW_WINDOWMODEL_H
