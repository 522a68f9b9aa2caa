//===- ProductFollowers.h - What is computed of a product -----------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the passes that reduce a product's result in parts ask about the ops behind it.
//
//===----------------------------------------------------------------------===//

#ifndef XC_CODEGEN_CUDA_MATMUL_PRODUCTFOLLOWERS_H
#define XC_CODEGEN_CUDA_MATMUL_PRODUCTFOLLOWERS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "llvm/ADT/SetVector.h"

namespace xc::cuda {

/// True if `op` computes one tensor, element by element; false for a null one.
bool isElementwise(mlir::linalg::GenericOp op);

/// Adds all ops of the block of `op` that need a result of it to `followers`.
void collectFollowers(mlir::Operation *op, llvm::SetVector<mlir::Operation *> &followers);

} // namespace xc::cuda

#endif // XC_CODEGEN_CUDA_MATMUL_PRODUCTFOLLOWERS_H
