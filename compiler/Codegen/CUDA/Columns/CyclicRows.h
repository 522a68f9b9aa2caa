//===- CyclicRows.h - Rows that are reduced and summed up -----------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_CODEGEN_CUDA_COLUMNS_CYCLICROWS_H
#define XC_CODEGEN_CUDA_COLUMNS_CYCLICROWS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace xc::cuda {

struct Target;

/// Sums over rows, each of which other ops reduce: blocks loop over the rows of one of `parts` each
/// and sum up on the way.
struct CyclicRows {
  llvm::SmallVector<mlir::linalg::GenericOp> sums;
  int64_t parts;
};

/// Finds the first such rows of `block`, of sums that `isCandidate` holds for, and makes one loop
/// of the loops over them, in all ops that work on them.
std::optional<CyclicRows>
takeCyclicRows(mlir::Block &block, const Target &target,
               llvm::function_ref<bool(mlir::linalg::GenericOp)> isCandidate);

} // namespace xc::cuda

#endif // XC_CODEGEN_CUDA_COLUMNS_CYCLICROWS_H
