//===- FormulaBounds.h - What is known of a formula's value -----*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_DIALECT_PLAN_TRANSFORMS_FORMULABOUNDS_H
#define XC_DIALECT_PLAN_TRANSFORMS_FORMULABOUNDS_H

#include "compiler/Dialect/Plan/IR/PlanOps.h"

#include <optional>

namespace xc::plan {

/// Bounds of a formula, whose parts may be negative; both are in. A divisor of 0 is that of 0,
/// which everything divides.
struct FormulaBounds {
  std::optional<int64_t> low, high;
  int64_t divisor = 1;
};

/// Those of `formula`, where symbols have the bounds that `getSymbol` says.
FormulaBounds computeBounds(FormulaAttr formula,
                            llvm::function_ref<FormulaBounds(unsigned)> getSymbol);

} // namespace xc::plan

#endif // XC_DIALECT_PLAN_TRANSFORMS_FORMULABOUNDS_H
