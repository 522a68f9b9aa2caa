//===- formula.h - Evaluation of formulas over symbolic dimensions -------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_RUNTIME_BASE_FORMULA_H
#define XC_RUNTIME_BASE_FORMULA_H

#include "runtime/base/vector.h"
#include "schemas/module_generated.h"

namespace xc {

enum class FormulaError { None, Overflow, DivisionByZero };

/// Evaluates a formula that verifyFormula has accepted. \p earlier has the results of the formulas
/// before it; that of one which has no value tells why, and so does \p result where there is an
/// error.
FormulaError evaluateFormula(const fb::FormulaInstruction *code, size_t size,
                             Span<const int64_t> symbols, Span<const int64_t> earlier,
                             int64_t *result);

/// Null if the program is well-formed, else what is wrong with it: an unknown
/// operation, a symbol that does not exist, a formula that is none of the \p earlierCount before
/// it, a stack that runs empty, too deep, or does not end with one value.
const char *verifyFormula(const fb::FormulaInstruction *code, size_t size, size_t symbolCount,
                          size_t earlierCount);

/// Text for a message: "overflows 64 bits" or "divides by zero".
const char *describe(FormulaError error);

} // namespace xc

#endif // XC_RUNTIME_BASE_FORMULA_H
