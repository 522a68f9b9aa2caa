//===- WorkLimits.h - What a block need not compute -----------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Outputs that end in `kernel.within`, or are computed of what does, are not specified behind an
// extent, which the device knows. A block all of whose points lie there for every output loads and
// computes nothing: it stores zeros, so that there is no memory that nobody has written. Strategies
// say which ranges of points a block has; the answer is the same for all of its threads.
//
//===----------------------------------------------------------------------===//

#ifndef XC_CODEGEN_CUDA_COMMON_WORKLIMITS_H
#define XC_CODEGEN_CUDA_COMMON_WORKLIMITS_H

#include "compiler/Codegen/CUDA/Common/PointEmitter.h"

namespace xc::cuda {

/// An output and, for each of its dims, its index as an expression over the dims of a space.
struct LimitedOutput {
  mlir::Value tensor;
  llvm::SmallVector<mlir::AffineExpr> coords;
};

/// A block's points along some dims of the space, from `first` to `last`, counted row-major.
struct BlockRange {
  llvm::SmallVector<unsigned> dims;
  llvm::SmallVector<mlir::Value> sizes;
  mlir::Value first, last;
};

/// Whether every output has an end that the device knows, so that it is worth asking.
bool haveLimits(llvm::ArrayRef<LimitedOutput> outputs);

/// i1: some point of the block is of interest in some output; null if that cannot be told apart.
mlir::Value emitIsNeeded(PointEmitter &points, llvm::ArrayRef<LimitedOutput> outputs,
                         llvm::ArrayRef<BlockRange> ranges);

/// `if (needed) compute else skip`; a null condition stands for true.
void emitIfNeeded(PointEmitter &points, mlir::Value needed, llvm::function_ref<void()> compute,
                  llvm::function_ref<void()> skip);

} // namespace xc::cuda

#endif // XC_CODEGEN_CUDA_COMMON_WORKLIMITS_H
