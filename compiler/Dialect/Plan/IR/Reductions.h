//===- Reductions.h - What is known of reductions -------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_DIALECT_PLAN_IR_REDUCTIONS_H
#define XC_DIALECT_PLAN_IR_REDUCTIONS_H

#include "llvm/ADT/StringRef.h"

namespace xc::plan {

/// Unit, on a reduction that picks the best of elements with their positions: of two that are
/// equally good it picks the one at the smaller position, whatever their order.
inline constexpr llvm::StringLiteral kBreaksTiesAttr = "plan.breaks_ties";

} // namespace xc::plan

#endif // XC_DIALECT_PLAN_IR_REDUCTIONS_H
