//===- AttentionKernel.h - Kernels of attention -----------------*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_CODEGEN_CPU_ATTENTIONKERNEL_H
#define XC_CODEGEN_CPU_ATTENTIONKERNEL_H

#include "compiler/Codegen/CPU/KernelAnalysis.h"

#include <string>

namespace xc::cpu {

/// Where a result of attention is stored.
struct AttentionRoot {
  Root root;
  unsigned result = 0; // which one of the op
  /// For each dim of the memory, the dim of the result that it is; nothing where it has one
  /// element.
  llvm::SmallVector<std::optional<unsigned>> dims;
};

/// A kernel that is one `kernel.attention`. Its operands may be computed element by element, and
/// its results stored with their dims in another order.
struct AttentionKernel {
  kernel::AttentionOp op;
  std::vector<AttentionRoot> roots;
};

/// Fails, and says why in |why|, if |kernel| holds no attention, or more than that.
mlir::FailureOr<AttentionKernel> matchAttentionKernel(mlir::func::FuncOp kernel, std::string &why);

} // namespace xc::cpu

#endif // XC_CODEGEN_CPU_ATTENTIONKERNEL_H
