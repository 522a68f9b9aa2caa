//===- formula.cpp - Evaluation of formulas over symbolic dimensions -----===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/base/formula.h"

#include "schemas/module_limits.h"

using namespace xc;
using fb::FormulaOp;

/// \p b is not zero, and not -1 where \p a is the smallest integer.
static int64_t floorDivide(int64_t a, int64_t b) {
  int64_t quotient = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

static FormulaError applyBinary(FormulaOp op, int64_t a, int64_t b, int64_t *result) {
  bool overflows = false;
  switch (op) {
  case FormulaOp::Add:
    overflows = __builtin_add_overflow(a, b, result);
    break;
  case FormulaOp::Sub:
    overflows = __builtin_sub_overflow(a, b, result);
    break;
  case FormulaOp::Mul:
    overflows = __builtin_mul_overflow(a, b, result);
    break;
  case FormulaOp::FloorDiv:
  case FormulaOp::CeilDiv:
  case FormulaOp::Mod: {
    if (b == 0)
      return FormulaError::DivisionByZero;
    if (a == INT64_MIN && b == -1) {
      *result = 0;
      return op == FormulaOp::Mod ? FormulaError::None : FormulaError::Overflow;
    }
    int64_t quotient = floorDivide(a, b);
    if (op == FormulaOp::FloorDiv)
      *result = quotient;
    else if (op == FormulaOp::Mod)
      *result = a - quotient * b;
    else
      *result = quotient + (a % b != 0);
    break;
  }
  case FormulaOp::Min:
    *result = a < b ? a : b;
    break;
  case FormulaOp::Max:
    *result = a > b ? a : b;
    break;
  case FormulaOp::Const:
  case FormulaOp::Symbol:
  case FormulaOp::Formula:
    break;
  }
  return overflows ? FormulaError::Overflow : FormulaError::None;
}

namespace {

/// A number, or why there is none.
struct Outcome {
  int64_t value;
  FormulaError error;
  bool isZero() const { return error == FormulaError::None && value == 0; }
};

} // namespace

/// 0 times what is no number is 0, so that a formula can leave a part out.
static Outcome combine(FormulaOp op, Outcome a, Outcome b) {
  if (op == FormulaOp::Mul && (a.isZero() || b.isZero()))
    return {0, FormulaError::None};
  if (a.error != FormulaError::None)
    return a;
  if (b.error != FormulaError::None)
    return b;
  Outcome result = {0, FormulaError::None};
  result.error = applyBinary(op, a.value, b.value, &result.value);
  return result;
}

/// Results that stand for an error: the smallest numbers, which no size is near.
static int64_t encode(FormulaError error) { return INT64_MIN + static_cast<int64_t>(error); }

static Outcome decode(int64_t result) {
  for (FormulaError error : {FormulaError::Overflow, FormulaError::DivisionByZero})
    if (result == encode(error))
      return {0, error};
  return {result, FormulaError::None};
}

FormulaError xc::evaluateFormula(const fb::FormulaInstruction *code, size_t size,
                                 Span<const int64_t> symbols, Span<const int64_t> earlier,
                                 int64_t *result) {
  Outcome stack[ModuleLimits::kFormulaDepth];
  size_t depth = 0;
  for (size_t i = 0; i < size; ++i) {
    const fb::FormulaInstruction &instruction = code[i];
    switch (instruction.op()) {
    case FormulaOp::Const:
      stack[depth++] = {instruction.operand(), FormulaError::None};
      break;
    case FormulaOp::Symbol:
      stack[depth++] = {symbols[static_cast<size_t>(instruction.operand())], FormulaError::None};
      break;
    case FormulaOp::Formula:
      stack[depth++] = decode(earlier[static_cast<size_t>(instruction.operand())]);
      break;
    default:
      --depth;
      stack[depth - 1] = combine(instruction.op(), stack[depth - 1], stack[depth]);
    }
  }
  *result = stack[0].error == FormulaError::None ? stack[0].value : encode(stack[0].error);
  return stack[0].error;
}

static bool isLeaf(FormulaOp op) {
  return op == FormulaOp::Const || op == FormulaOp::Symbol || op == FormulaOp::Formula;
}

const char *xc::verifyFormula(const fb::FormulaInstruction *code, size_t size, size_t symbolCount,
                              size_t earlierCount) {
  size_t depth = 0;
  for (size_t i = 0; i < size; ++i) {
    const fb::FormulaInstruction &instruction = code[i];
    if (instruction.op() > FormulaOp::MAX)
      return "has an unknown operation";
    if (isLeaf(instruction.op())) {
      uint64_t operand = static_cast<uint64_t>(instruction.operand());
      if (instruction.op() == FormulaOp::Symbol && operand >= symbolCount)
        return "names a symbol that does not exist";
      if (instruction.op() == FormulaOp::Formula && operand >= earlierCount)
        return "names a formula that does not stand before it";
      if (++depth > ModuleLimits::kFormulaDepth)
        return "needs too deep a stack";
      continue;
    }
    if (depth < 2)
      return "takes from an empty stack";
    --depth;
  }
  return depth == 1 ? nullptr : "does not leave one value";
}

const char *xc::describe(FormulaError error) {
  switch (error) {
  case FormulaError::Overflow:
    return "overflows 64 bits";
  case FormulaError::DivisionByZero:
    return "divides by zero";
  case FormulaError::None:
    break;
  }
  return "is fine";
}
