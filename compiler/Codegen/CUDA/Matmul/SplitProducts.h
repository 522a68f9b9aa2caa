//===- SplitProducts.h - Share the sums of few tiles among many blocks ----===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_CODEGEN_CUDA_MATMUL_SPLITPRODUCTS_H
#define XC_CODEGEN_CUDA_MATMUL_SPLITPRODUCTS_H

#include "compiler/Codegen/CUDA/Common/Targets.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace xc::cuda {

/// Replaces `op`, if its tiles leave most multiprocessors idle and each sums up many products, by a
/// batch of products of parts of those sums, and the sum of their results in a fixed order.
void splitProduct(mlir::linalg::ContractOp op, const Target &target);

/// The same for a convolution, or its gradient to the filter, which sums up over all of an image.
void splitWindowProduct(mlir::linalg::GenericOp op, const Target &target);

} // namespace xc::cuda

#endif // XC_CODEGEN_CUDA_MATMUL_SPLITPRODUCTS_H
