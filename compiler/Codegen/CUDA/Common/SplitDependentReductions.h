//===- SplitDependentReductions.h - Both reductions of a pair in parts ----===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_CODEGEN_CUDA_COMMON_SPLITDEPENDENTREDUCTIONS_H
#define XC_CODEGEN_CUDA_COMMON_SPLITDEPENDENTREDUCTIONS_H

#include "compiler/Codegen/CUDA/Common/Targets.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace xc::cuda {

/// Where a sum of squares or of exponentials of distances from what another reduction of the same
/// elements gave would get two steps, gives both together two steps, of which the first reads each
/// part once.
void splitDependentReductions(mlir::func::FuncOp function, const Target &target);

} // namespace xc::cuda

#endif // XC_CODEGEN_CUDA_COMMON_SPLITDEPENDENTREDUCTIONS_H
