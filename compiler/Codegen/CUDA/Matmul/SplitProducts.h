//===- SplitProducts.h - Share the sums of few tiles among many blocks ----===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_CODEGEN_CUDA_MATMUL_SPLITPRODUCTS_H
#define XC_CODEGEN_CUDA_MATMUL_SPLITPRODUCTS_H

#include "compiler/Codegen/CUDA/Common/Targets.h"
#include "compiler/Dialect/Plan/IR/PartialSums.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace xc::cuda {

/// Replaces `op`, if its tiles leave most multiprocessors idle and each sums up many products, by a
/// batch of products of equal parts of those sums, or their partial sums, and the sum of the
/// results in a fixed order.
void splitProduct(mlir::linalg::ContractOp op, const Target &target);

/// The same for a convolution, or its gradient to the filter, which sums up over all of an image.
void splitWindowProduct(mlir::linalg::GenericOp op, const Target &target);

/// The same for a gradient to a filter, or a product that sums up along several loops, on tensor
/// cores: in parts of any number of terms (plan::getPartialSums), or whole where wgmma computes
/// that faster. False if it is no such op.
bool splitPositions(mlir::linalg::LinalgOp op, const Target &target);

/// `sums` of the terms of `op`, each a tensor of `type` that `result` indexes.
mlir::Value makePartialSums(mlir::RewriterBase &rewriter, mlir::linalg::LinalgOp op,
                            const plan::PartialSums &sums, mlir::AffineMap result,
                            mlir::RankedTensorType type);

/// Replaces `op` by `sums` of its terms, and the sum of those in their order.
void replaceByPartialSums(mlir::linalg::LinalgOp op, const plan::PartialSums &sums);

/// The sum of the results of all `parts`, in their order along dim 0, and of `init`.
mlir::Value addParts(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value parts,
                     mlir::Value init);

/// Zeros for `parts` sums, each a tensor of `type`.
mlir::Value makeZeroParts(mlir::OpBuilder &builder, mlir::Location loc, mlir::RankedTensorType type,
                          int64_t parts);

} // namespace xc::cuda

#endif // XC_CODEGEN_CUDA_MATMUL_SPLITPRODUCTS_H
