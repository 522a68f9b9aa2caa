//===- SelectStrategy.h - What the choices of strategies share ------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_CODEGEN_CUDA_SELECTSTRATEGY_H
#define XC_CODEGEN_CUDA_SELECTSTRATEGY_H

#include "compiler/Codegen/CUDA/Common/LineKernel.h"
#include "compiler/Codegen/CUDA/Common/PointEmitter.h"
#include "compiler/Codegen/CUDA/Matmul/Contraction.h"
#include "compiler/Codegen/CUDA/Matmul/Tuning.h"
#include "compiler/Codegen/CUDA/Passes.h"

#include <string>

namespace xc::cuda {

/// Bytes of the widest access of one thread.
constexpr int64_t kVectorBytes = 16;

/// What was chosen, and why in a sentence; no configuration where what was given is wrong, which an
/// error has said. The time is what a model expects where strategies of several kinds compete, and
/// nothing for what was given.
struct Choice {
  mlir::Attribute config;
  std::string reason;
  double microseconds = 0;
};

/// The time in words, as reasons have it.
std::string formatTime(double microseconds);

/// Puts the choice on a kernel function, with the width of its index arithmetic.
void recordChoice(mlir::func::FuncOp function, const Choice &choice, int64_t indexBits);

/// Calls `ask` with what knows the sizes of `kernel`; nothing that it emits stays.
void withPoints(const KernelInfo &kernel, llvm::function_ref<void(PointEmitter &)> ask);

/// The number of elements of the narrowest big binding that fill a vector access.
int64_t getVectorWidth(const KernelInfo &kernel);

/// The product of the sizes of `dims`, or nothing if one is symbolic.
std::optional<int64_t> getStaticProduct(mlir::linalg::LinalgOp op, llvm::ArrayRef<unsigned> dims);

/// A power of two that divides the size of the innermost of `dims` that is not 1.
int64_t getInnermostDivisor(PointEmitter &points, const ReductionGroup &group,
                            llvm::ArrayRef<unsigned> dims);

/// Threads of a block where nothing else decides.
constexpr int64_t kBlockThreads = 256;

/// For reductions of rows; `rowBound` limits their length, if that is symbolic. `points` knows the
/// sizes, and nothing is emitted.
Choice chooseRowStrategy(const ReductionGroup &group, const KernelInfo &kernel,
                         PointEmitter &points, std::optional<int64_t> rowBound);
/// For such of `length` elements that are also summed up over the rows of each part.
Choice chooseWalkStrategy(const ReductionGroup &group, const KernelInfo &kernel,
                          PointEmitter &points, int64_t length);

/// For scans, sorts and their kin; `points` knows the sizes, and nothing is emitted.
Choice chooseLineStrategy(const LineKernel &lines, const KernelInfo &kernel, PointEmitter &points,
                          int64_t vectorWidth);

/// Puts variants before `kernel` for lines of symbolic length that are short enough to be sorted in
/// shared memory, if that is what it does.
mlir::LogicalResult addSortVariants(const KernelInfo &kernel);

/// For matrix products, in the same way: what the tuning file says, else `wgmma`, `mma.sync` or
/// fused multiply-add, the first that can. A line of the file that is about this very product and
/// that it cannot take is an error. Of sizes that are symbolic guards say what to expect.
Choice chooseProductStrategy(const Contraction &contraction, const KernelInfo &kernel,
                             PointEmitter &points, const SelectStrategyOptions &options,
                             const ProductTuning &tuning);

} // namespace xc::cuda

#endif // XC_CODEGEN_CUDA_SELECTSTRATEGY_H
