//===- FormulaBounds.cpp - What is known of a formula's value -------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Plan/Transforms/FormulaBounds.h"

#include "llvm/Support/CheckedArithmetic.h"
#include "llvm/Support/MathExtras.h"

#include <numeric>

namespace xc::plan {

using Bound = std::optional<int64_t>;

/// `combine` of two bounds, where both are known and nothing overflows.
template <typename Combine> static Bound both(Bound a, Bound b, Combine combine) {
  return a && b ? combine(*a, *b) : std::nullopt;
}

static Bound smallest(Bound a, Bound b) {
  return both(a, b, [](int64_t x, int64_t y) { return Bound(std::min(x, y)); });
}

static Bound largest(Bound a, Bound b) {
  return both(a, b, [](int64_t x, int64_t y) { return Bound(std::max(x, y)); });
}

static FormulaBounds add(const FormulaBounds &a, const FormulaBounds &b) {
  auto plus = [](int64_t x, int64_t y) { return llvm::checkedAdd(x, y); };
  return {both(a.low, b.low, plus), both(a.high, b.high, plus), std::gcd(a.divisor, b.divisor)};
}

static FormulaBounds multiply(const FormulaBounds &a, const FormulaBounds &b) {
  auto times = [](int64_t x, int64_t y) { return llvm::checkedMul(x, y); };
  FormulaBounds result;
  result.divisor = times(a.divisor, b.divisor).value_or(1);
  bool isPositive = a.low.value_or(-1) >= 0 && b.low.value_or(-1) >= 0;
  if (isPositive) {
    result.low = both(a.low, b.low, times);
    result.high = both(a.high, b.high, times);
  } else if (b.low == b.high && b.low.value_or(0) < 0) {
    result.low = both(a.high, b.low, times);
    result.high = both(a.low, b.low, times);
  }
  return result;
}

/// Of the quotient of numbers that are not below 0 by others that are above it.
static FormulaBounds divideByRange(FormulaKind kind, const FormulaBounds &a,
                                   const FormulaBounds &b) {
  auto quotient = [&](int64_t x, int64_t y) -> Bound {
    return kind == FormulaKind::FloorDiv ? x / y : llvm::divideCeilSigned(x, y);
  };
  return {both(a.low, b.high, quotient).value_or(0), both(a.high, b.low, quotient), 1};
}

/// Of quotient or remainder where `divisor` is above 0.
static FormulaBounds divideByNumber(FormulaKind kind, const FormulaBounds &a, int64_t divisor) {
  if (kind == FormulaKind::Mod)
    return {0, divisor - 1, std::gcd(a.divisor, divisor)};
  auto divide = [&](Bound bound) -> Bound {
    if (!bound)
      return std::nullopt;
    return kind == FormulaKind::FloorDiv ? llvm::divideFloorSigned(*bound, divisor)
                                         : llvm::divideCeilSigned(*bound, divisor);
  };
  int64_t rest = a.divisor % divisor == 0 ? a.divisor / divisor : 1;
  return {divide(a.low), divide(a.high), rest};
}

static FormulaBounds divide(FormulaKind kind, const FormulaBounds &a, const FormulaBounds &b) {
  if (kind != FormulaKind::Mod && a.low.value_or(-1) >= 0 && b.low.value_or(0) >= 1 &&
      b.low != b.high)
    return divideByRange(kind, a, b);
  // Else what divides is a constant above 0, or nothing is known.
  return b.low == b.high && b.low.value_or(0) >= 1 ? divideByNumber(kind, a, *b.low)
                                                   : FormulaBounds();
}

/// Of a minimum or maximum: one bound is known where either operand's is.
static FormulaBounds pick(FormulaKind kind, const FormulaBounds &a, const FormulaBounds &b) {
  FormulaBounds result{largest(a.low, b.low), largest(a.high, b.high),
                       std::gcd(a.divisor, b.divisor)};
  if (kind == FormulaKind::Min) {
    result.low = smallest(a.low, b.low);
    result.high = smallest(a.high, b.high);
    if (!result.high)
      result.high = a.high ? a.high : b.high;
  } else if (!result.low) {
    result.low = a.low ? a.low : b.low;
  }
  return result;
}

FormulaBounds computeBounds(FormulaAttr formula,
                            llvm::function_ref<FormulaBounds(unsigned)> getSymbol) {
  if (std::optional<int64_t> number = formula.asConstant())
    return {number, number, std::abs(*number)};
  if (std::optional<unsigned> symbol = formula.asSymbol())
    return getSymbol(*symbol);
  // A selection is one of its last two operands.
  llvm::ArrayRef<FormulaAttr> operands = formula.getOperands().take_back(2);
  FormulaBounds a = computeBounds(operands[0], getSymbol),
                b = computeBounds(operands[1], getSymbol);
  switch (formula.getKind()) {
  case FormulaKind::Add:
    return add(a, b);
  case FormulaKind::Mul:
    return multiply(a, b);
  case FormulaKind::FloorDiv:
  case FormulaKind::CeilDiv:
  case FormulaKind::Mod:
    return divide(formula.getKind(), a, b);
  case FormulaKind::Min:
  case FormulaKind::Max:
    return pick(formula.getKind(), a, b);
  case FormulaKind::Select:
    return {smallest(a.low, b.low), largest(a.high, b.high), std::gcd(a.divisor, b.divisor)};
  case FormulaKind::Constant:
  case FormulaKind::Symbol:
    break;
  }
  llvm_unreachable("they have no operands");
}

} // namespace xc::plan
