//===- AttentionGradient.h - Kernels of attention's gradient ----*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_CODEGEN_CUDA_ATTENTION_ATTENTIONGRADIENT_H
#define XC_CODEGEN_CUDA_ATTENTION_ATTENTIONGRADIENT_H

#include "compiler/Codegen/CUDA/Common/KernelInfo.h"
#include "compiler/Codegen/CUDA/IR/AttentionConfig.h"
#include "compiler/Dialect/Kernel/IR/AttentionGradientOp.h"

namespace xc::cuda {

/// The gradient of attention that `kernel` computes; null if it is something else.
kernel::AttentionGradientOp matchAttentionGradient(const KernelInfo &kernel);

/// Whether one kernel has room for sums of both keys and values of `op`.
bool hasKernelOfKeysAndValues(kernel::AttentionGradientOp op);

/// What the kernel of `op` is to be like on `target`, for sizes as far as they are known.
struct AttentionGradientChooser {
  AttentionAttr choose();
  /// The same on mma.sync.
  AttentionMMAAttr chooseMMA();
  /// What keeps `op` from `config`, of either kind; empty if nothing does.
  std::string check(mlir::Attribute config);
  /// What identifies the kernel in a tuning table.
  std::string makeKey();
  /// How long the products should take, in microseconds; nothing where sizes are symbolic.
  std::optional<double> predict(mlir::Attribute config);

  kernel::AttentionGradientOp op;
  const Target &target;
};

/// Replaces the ops of `kernel` by warpgroups that compute `op`.
mlir::LogicalResult emitAttentionGradient(const KernelInfo &kernel, kernel::AttentionGradientOp op,
                                          mlir::Attribute config);

} // namespace xc::cuda

#endif // XC_CODEGEN_CUDA_ATTENTION_ATTENTIONGRADIENT_H
