//===- ReduceColumnsInParts.h - Reduce columns where a product has them ---===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_CODEGEN_CUDA_MATMUL_REDUCECOLUMNSINPARTS_H
#define XC_CODEGEN_CUDA_MATMUL_REDUCECOLUMNSINPARTS_H

#include "compiler/Codegen/CUDA/Common/Targets.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace xc::cuda {

/// Where all that reduces the columns of what tensor cores compute can be done in parts by their
/// kernel, gives these reductions two steps, of which the first joins it.
void reduceColumnsInParts(mlir::func::FuncOp function, const Target &target);

} // namespace xc::cuda

#endif // XC_CODEGEN_CUDA_MATMUL_REDUCECOLUMNSINPARTS_H
