//===- FormulaTable.h - Formulas as postfix programs ===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_TARGET_FORMULATABLE_H
#define XC_TARGET_FORMULATABLE_H

#include "schemas/module_generated.h"

#include "compiler/Dialect/Plan/IR/PlanOps.h"

#include "llvm/ADT/MapVector.h"

#include <vector>

namespace xc::target {

/// The code of all formulas, and which part of it each one is.
struct FormulaCode {
  std::vector<fb::FormulaInstruction> code;
  std::vector<fb::Range> formulas;
  /// How many operands the deepest formula holds at a time.
  unsigned depth = 0;
};

/// Refuses formulas of `op` that are deeper than a module can have them.
llvm::LogicalResult checkDepth(mlir::Operation *op, const FormulaCode &written);

/// Collects the formulas of one plan, function or executable, equal ones once.
class FormulaTable {
public:
  FormulaTable() = default;
  /// Of formulas over the symbols of a plan, behind which are those of its definitions.
  explicit FormulaTable(plan::FunctionOp function);

  /// A literal where the formula is a constant, else its number.
  fb::Value getValue(plan::FormulaAttr formula);

  /// The number of the formula, also for a constant.
  uint32_t getFormula(plan::FormulaAttr formula);

  /// The code of what was collected. A formula that is part of another one has no code of its own.
  FormulaCode emit() const;

private:
  unsigned firstDefinition = 0;
  llvm::SmallVector<plan::FormulaAttr> definitions;
  llvm::MapVector<plan::FormulaAttr, uint32_t> numbers;
  /// Of the definitions that are named, which stand before what names them.
  llvm::DenseMap<unsigned, uint32_t> definitionNumbers;
};

} // namespace xc::target

#endif // XC_TARGET_FORMULATABLE_H
