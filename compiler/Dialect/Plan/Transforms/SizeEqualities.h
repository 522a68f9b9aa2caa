//===- SizeEqualities.h - Which sizes requirements make equal -*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_DIALECT_PLAN_TRANSFORMS_SIZEEQUALITIES_H
#define XC_DIALECT_PLAN_TRANSFORMS_SIZEEQUALITIES_H

#include "compiler/Dialect/Plan/IR/PlanOps.h"

#include "llvm/ADT/MapVector.h"

namespace xc::plan {

/// What follows from formulas that are required to be equal, as far as each tells what one symbol
/// is; what does not is forgotten.
class SizeEqualities {
public:
  void add(FormulaAttr left, FormulaAttr right);
  bool areEqual(FormulaAttr left, FormulaAttr right) const;

private:
  FormulaAttr replace(FormulaAttr formula) const;

  /// Symbols, and what they are; no such symbol is in any of these formulas.
  llvm::MapVector<FormulaAttr, FormulaAttr> known;
};

} // namespace xc::plan

#endif // XC_DIALECT_PLAN_TRANSFORMS_SIZEEQUALITIES_H
