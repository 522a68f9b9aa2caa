//===- Reductions.h - What is known of reductions -------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_DIALECT_PLAN_IR_REDUCTIONS_H
#define XC_DIALECT_PLAN_IR_REDUCTIONS_H

#include "compiler/Dialect/Plan/IR/PlanOps.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include <optional>

namespace xc::plan {

/// Unit, on a reduction that picks the best of elements with their positions: of two that are
/// equally good it picks the one at the smaller position, whatever their order.
inline constexpr llvm::StringLiteral kBreaksTiesAttr = "plan.breaks_ties";

/// String, on a tensor op: what has been decided about it, for the reason of its kernel.
inline constexpr llvm::StringLiteral kNoteAttr = "plan.note";

/// The columns of a part, where `op` is a `plan.partial` reduction of each row by `columns`.
/// Nothing for other ops.
std::optional<int64_t> getRowPart(mlir::linalg::LinalgOp op);

/// The rows of a part, where `op` is a `plan.partial` reduction of each column by `rows`, or
/// computes something of the results of one. Nothing for other ops.
std::optional<int64_t> getColumnPart(mlir::linalg::LinalgOp op);

/// The part of `rows` rows that a point is in, where all loops but the last one count rows, and
/// `ranges` are their sizes.
mlir::AffineExpr getColumnPartIndex(llvm::ArrayRef<int64_t> ranges, int64_t rows,
                                    mlir::MLIRContext *context);

/// True if the index of a part only names it: the quotient of a row's number is not affine where
/// sizes of loops inside the outermost one are symbolic. The quotient of the sum of their indices,
/// `(d0 + d1 + d2) floordiv 64`, then stands for that of the number, row-major along the loops.
bool areColumnPartsNamed(llvm::ArrayRef<int64_t> ranges);

/// In how many parts iterations of `op` go in turn, where it is a `cyclic` `plan.partial`; else 0.
int64_t countCyclicParts(mlir::linalg::LinalgOp op);

/// Whether the indices of the results of `op` are what `partial` says.
bool hasIndicesOf(mlir::linalg::LinalgOp op, PartialAttr partial);

} // namespace xc::plan

#endif // XC_DIALECT_PLAN_IR_REDUCTIONS_H
