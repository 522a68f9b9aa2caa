//===- AttentionRows.h - Attention by loops of threads ----------*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_CODEGEN_CUDA_ATTENTION_ATTENTIONROWS_H
#define XC_CODEGEN_CUDA_ATTENTION_ATTENTIONROWS_H

#include "compiler/Codegen/CUDA/Common/PointEmitter.h"
#include "compiler/Codegen/CUDA/IR/CUDAConfig.h"
#include "compiler/Dialect/Kernel/IR/AttentionGradientOp.h"

namespace xc::cuda {

/// Replaces the ops of `kernel` by a thread for each element of the result of `op`.
mlir::LogicalResult emitAttentionRows(const KernelInfo &kernel, kernel::AttentionOp op,
                                      AttentionRowsAttr config);
/// The same for each element of the results of `op`.
mlir::LogicalResult emitGradientRows(const KernelInfo &kernel, kernel::AttentionGradientOp op,
                                     AttentionRowsAttr config);

/// Where `mask` has the number for `key` and for the query at `query` (batch dims, head, query): it
/// has one for all of a dim in which its size is 1, and may lack the first dims.
llvm::SmallVector<mlir::Value> placeInMask(PointEmitter &points, mlir::Value mask,
                                           llvm::ArrayRef<mlir::Value> query, mlir::Value key);

} // namespace xc::cuda

#endif // XC_CODEGEN_CUDA_ATTENTION_ATTENTIONROWS_H
