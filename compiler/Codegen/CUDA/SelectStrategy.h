//===- SelectStrategy.h - What the choices of strategies share ------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_CODEGEN_CUDA_SELECTSTRATEGY_H
#define XC_CODEGEN_CUDA_SELECTSTRATEGY_H

#include "compiler/Codegen/CUDA/Common/LineKernel.h"
#include "compiler/Codegen/CUDA/Common/SizeQueries.h"
#include "compiler/Codegen/CUDA/Matmul/Contraction.h"
#include "compiler/Codegen/CUDA/Matmul/Tuning.h"
#include "compiler/Codegen/CUDA/Passes.h"

#include <string>

namespace xc::cuda {

/// Bytes of the widest access of one thread.
constexpr int64_t kVectorBytes = 16;

/// A configuration of a kernel, and why in a sentence.
struct Choice {
  mlir::Attribute config;
  std::string reason;
  /// What the strategy's model expects; nothing where it has none, or sizes are symbolic.
  std::optional<double> microseconds = std::nullopt;
  /// How tuning tables call the kernel, and whether it is just what that says, rather than one that
  /// takes the lines of it; empty where the kernel is none of a kind that is tuned.
  std::string key = {};
  bool isKeyOwn = false;
  /// The configuration that would be next; null if there is none.
  mlir::Attribute runnerUp = {};
  std::optional<double> runnerUpMicroseconds = std::nullopt;
};

/// The time in words, as reasons have it.
std::string formatTime(double microseconds);

/// Puts the choice on a kernel function, with the width of its index arithmetic.
void recordChoice(mlir::func::FuncOp function, const Choice &choice, int64_t indexBits);

/// The number of elements of what the kernel reads or writes of `binding`; nothing if symbolic.
std::optional<int64_t> getStaticCount(const KernelInfo &kernel, plan::BindingOp binding);

/// The number of elements of the narrowest big binding that fill a vector access.
int64_t getVectorWidth(const KernelInfo &kernel);

/// The product of the sizes of `dims`, or nothing if one is symbolic.
std::optional<int64_t> getStaticProduct(mlir::linalg::LinalgOp op, llvm::ArrayRef<unsigned> dims);

/// A power of two that divides the size of the innermost of `dims` that is not 1.
int64_t getInnermostDivisor(KernelSizes &sizes, const ReductionGroup &group,
                            llvm::ArrayRef<unsigned> dims);

/// Threads of a block where nothing else decides.
constexpr int64_t kBlockThreads = 256;

/// Puts variants before `kernel` for lines of symbolic length that are short enough to be sorted in
/// shared memory, if that is what it does.
mlir::LogicalResult addSortVariants(const KernelInfo &kernel);

} // namespace xc::cuda

#endif // XC_CODEGEN_CUDA_SELECTSTRATEGY_H
