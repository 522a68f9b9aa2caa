//===- Copies.h - Ops that move elements and compute nothing ----*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_DIALECT_PLAN_IR_COPIES_H
#define XC_DIALECT_PLAN_IR_COPIES_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace xc::plan {

/// The indices at which `op` reads its only input, where it writes its only result in the order of
/// its loops and computes nothing; null for any other op.
mlir::AffineMap getCopyMap(mlir::linalg::GenericOp op);

/// The same where the op permutes dims: each element is read once.
mlir::AffineMap getPermutationMap(mlir::linalg::GenericOp op);

/// Such an op over the dims of `init`, that reads `source` at `map`; its result.
mlir::Value createCopy(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value source,
                       mlir::Value init, mlir::AffineMap map);

/// Such a copy of all of `source`, in memory of its own.
mlir::Value createCopy(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value source);

} // namespace xc::plan

#endif // XC_DIALECT_PLAN_IR_COPIES_H
