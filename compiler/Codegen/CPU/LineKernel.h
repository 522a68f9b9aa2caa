//===- LineKernel.h - Kernels of one op on lines ----------------*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_CODEGEN_CPU_LINEKERNEL_H
#define XC_CODEGEN_CPU_LINEKERNEL_H

#include "compiler/Codegen/CPU/KernelAnalysis.h"
#include "compiler/Codegen/Common/LineOp.h"

#include <string>

namespace xc::cpu {

/// A kernel that is one scan or sort.
struct LineKernel : codegen::LineOp {
  /// The memory of each operand: that which it is loaded from, or which a result is stored to.
  llvm::SmallVector<mlir::Value> memory;
  llvm::SmallVector<Root> roots;
};

/// Fails, and says why in |why|, if |kernel| holds anything else.
mlir::FailureOr<LineKernel> matchLineKernel(mlir::func::FuncOp kernel, std::string &why);

} // namespace xc::cpu

#endif // XC_CODEGEN_CPU_LINEKERNEL_H
