//===- Reductions.h - What is known of reductions -------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_DIALECT_PLAN_IR_REDUCTIONS_H
#define XC_DIALECT_PLAN_IR_REDUCTIONS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include <optional>

namespace xc::plan {

/// Unit, on a reduction that picks the best of elements with their positions: of two that are
/// equally good it picks the one at the smaller position, whatever their order.
inline constexpr llvm::StringLiteral kBreaksTiesAttr = "plan.breaks_ties";

/// String, on a tensor op: what has been decided about it, for the reason of its kernel.
inline constexpr llvm::StringLiteral kNoteAttr = "plan.note";

/// The columns of a part, where `op` is a `plan.partial` reduction of each row in parts: its last
/// loop is the only one that it reduces, and its result has the quotient of that loop for its last
/// index, `(d0, d1) -> (d0, d1 floordiv 64)`. Nothing for other ops. It may share the kernel of the
/// matrix product whose rows it reduces.
std::optional<int64_t> getRowPart(mlir::linalg::LinalgOp op);

} // namespace xc::plan

#endif // XC_DIALECT_PLAN_IR_REDUCTIONS_H
