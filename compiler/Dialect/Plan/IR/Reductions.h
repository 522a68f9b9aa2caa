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

/// In how many parts iterations of `op` go in turn, where it is a `cyclic` `plan.partial`; else 0.
int64_t countCyclicParts(mlir::linalg::LinalgOp op);

/// Whether the indices of the results of `op` are what `partial` says.
bool hasIndicesOf(mlir::linalg::LinalgOp op, PartialAttr partial);

} // namespace xc::plan

#endif // XC_DIALECT_PLAN_IR_REDUCTIONS_H
