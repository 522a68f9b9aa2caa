//===- tables.cpp - Reading the tables of a module -----------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/module/tables.h"

using namespace xc;

/// Whether another formula of the table names formula \p ordinal.
static bool isNamed(const FormulaCode *code, uint32_t ordinal) {
  for (const fb::FormulaInstruction *instruction : *code)
    if (instruction->op() == fb::FormulaOp::Formula && instruction->operand() == ordinal)
      return true;
  return false;
}

FormulaError xc::evaluateAll(const FormulaCode *code, const FormulaRanges *formulas,
                             Span<const int64_t> symbols, Span<int64_t> results, uint32_t *failed) {
  for (uint32_t i = 0; i < count(formulas); ++i) {
    const fb::Range &range = *formulas->Get(i);
    FormulaError error =
        evaluateFormula(codeOf(code, range), range.count(), symbols, results, &results[i]);
    if (error != FormulaError::None && !isNamed(code, i)) {
      *failed = i;
      return error;
    }
  }
  return FormulaError::None;
}
