//===- LinearForm.h - Formulas as sums of multiples of terms --------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_DIALECT_PLAN_TRANSFORMS_LINEARFORM_H
#define XC_DIALECT_PLAN_TRANSFORMS_LINEARFORM_H

#include "compiler/Dialect/Plan/IR/PlanOps.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <optional>

namespace xc::plan {

/// `constant` plus a multiple, which is not 0, of each of some terms. A term is a symbol, a product
/// or a division: whatever is no sum and no multiple.
struct LinearForm {
  int64_t constant = 0;
  llvm::MapVector<FormulaAttr, int64_t> terms;

  /// The greatest number that divides all of it; 0 for that of 0.
  int64_t getContent() const;
  /// The formula that this is, divided by `divisor`, which divides the content.
  FormulaAttr getFormula(mlir::MLIRContext *context, int64_t divisor = 1) const;
};

/// `formula` as a linear form; none where a number overflows.
std::optional<LinearForm> getLinearForm(FormulaAttr formula);

/// `formula` with like terms added up, or itself where there are none.
FormulaAttr collectTerms(FormulaAttr formula);

/// The smallest number of which the multiple of `unit` is at least `size` whatever the symbols are;
/// none where no term of one is found in the other, or one may be negative.
std::optional<int64_t> countUnits(const LinearForm &size, const LinearForm &unit,
                                  llvm::function_ref<bool(unsigned)> isSymbolNeverNegative);

} // namespace xc::plan

#endif // XC_DIALECT_PLAN_TRANSFORMS_LINEARFORM_H
