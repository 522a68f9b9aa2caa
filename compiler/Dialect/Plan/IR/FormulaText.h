//===- FormulaText.h - Formulas in the syntax of attributes and ops -*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What `custom<Formula>` and `custom<Formulas>` in assembly formats call: formulas without the
// angle brackets of an attribute, `s0 * 4` and `[s0, s0 * 4]`.
//
//===----------------------------------------------------------------------===//

#ifndef XC_DIALECT_PLAN_IR_FORMULATEXT_H
#define XC_DIALECT_PLAN_IR_FORMULATEXT_H

#include "compiler/Dialect/Plan/IR/PlanOps.h"

namespace xc::plan {

mlir::ParseResult parseFormula(mlir::AsmParser &parser, FormulaAttr &formula);
mlir::ParseResult parseFormulas(mlir::AsmParser &parser, llvm::SmallVector<FormulaAttr> &formulas);
mlir::ParseResult parseFormulas(mlir::AsmParser &parser, mlir::ArrayAttr &formulas);

void printFormula(mlir::AsmPrinter &printer, FormulaAttr formula);
void printFormulas(mlir::AsmPrinter &printer, llvm::ArrayRef<FormulaAttr> formulas);

// Of ops:
inline void printFormula(mlir::OpAsmPrinter &printer, mlir::Operation *, FormulaAttr formula) {
  printFormula(printer, formula);
}
inline void printFormulas(mlir::OpAsmPrinter &printer, mlir::Operation *,
                          mlir::ArrayAttr formulas) {
  printFormulas(printer, llvm::to_vector(formulas.getAsRange<FormulaAttr>()));
}

} // namespace xc::plan

#endif // XC_DIALECT_PLAN_IR_FORMULATEXT_H
