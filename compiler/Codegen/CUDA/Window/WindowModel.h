//===- WindowModel.h - How long a reduction of windows takes --------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_CODEGEN_CUDA_WINDOW_WINDOWMODEL_H
#define XC_CODEGEN_CUDA_WINDOW_WINDOWMODEL_H

#include "compiler/Codegen/CUDA/Common/KernelInfo.h"
#include "compiler/Codegen/CUDA/Common/Targets.h"
#include "compiler/Codegen/CUDA/Common/WindowProblem.h"
#include "compiler/Codegen/Common/Combiner.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace xc::cuda {

using codegen::Combiner;

/// What each symbolic size of the results of `op` is taken for: there may be many results.
int64_t guessResultSize(mlir::linalg::LinalgOp op);

/// What `op`, which reduces windows of `elements` elements, reads where.
WindowProblem describeWindows(mlir::linalg::LinalgOp op, int64_t elements);

/// The inputs of `op` that are read: the one that only has a window's shape is not.
llvm::SmallVector<mlir::OpOperand *> getReadInputs(mlir::linalg::LinalgOp op);

/// Instructions that combine an element with a result, of one lane. Comparisons join truth values
/// by themselves.
double countSteps(const Combiner &combiner);

/// Instructions for each element of the windows of `op`, of one result: what combines it, and
/// widens what is narrow.
double countElementInstructions(mlir::linalg::LinalgOp op);

/// Bytes of all tensors of `kernel` whose size is known.
double countKnownBytes(const KernelInfo &kernel);

/// What a kernel of windows does, whoever does it: bytes of its tensors, and instructions for each
/// element of a window, of one result.
struct WindowWork {
  double bytes, elementInstructions;
};

/// The microseconds where a thread loops over the windows of `vector` neighbouring results at a
/// time, of `unroll` such vectors.
double estimateDirectWindows(const Target &target, const WindowProblem &problem,
                             const WindowWork &work, int64_t vector, int64_t unroll);

/// The microseconds where `threads` neighbouring threads share a window along memory.
double estimateWindowRows(const Target &target, const WindowProblem &problem, int64_t threads);

/// The microseconds where threads that have neighbouring results share their windows with those
/// behind them.
double estimateWindowColumns(const Target &target, const WindowProblem &problem);

} // namespace xc::cuda

#endif // XC_CODEGEN_CUDA_WINDOW_WINDOWMODEL_H
