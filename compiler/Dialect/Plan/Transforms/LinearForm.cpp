//===- LinearForm.cpp - Formulas as sums of multiples of terms ------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Plan/Transforms/LinearForm.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/CheckedArithmetic.h"
#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace mlir;

namespace xc::plan {

int64_t LinearForm::getContent() const {
  int64_t content = std::abs(constant);
  for (auto [term, factor] : terms)
    content = std::gcd(content, factor);
  return content;
}

FormulaAttr LinearForm::getFormula(MLIRContext *context, int64_t divisor) const {
  FormulaAttr sum = FormulaAttr::getConstant(context, 0);
  for (auto [term, factor] : terms)
    sum = sum + term * (factor / divisor);
  return sum + constant / divisor;
}

/// Collects the factors of a product; constants are multiplied into `scale`, which is none once
/// that overflows.
static void collectFactors(FormulaAttr formula, std::optional<int64_t> &scale,
                           SmallVectorImpl<FormulaAttr> &factors) {
  if (formula.getKind() == FormulaKind::Mul) {
    collectFactors(formula.getLHS(), scale, factors);
    collectFactors(formula.getRHS(), scale, factors);
  } else if (std::optional<int64_t> constant = formula.asConstant()) {
    scale = scale ? llvm::checkedMul(*scale, *constant) : std::nullopt;
  } else {
    factors.push_back(formula);
  }
}

/// The product of `factors`. Where all are symbols it is the same one in whichever order they are.
static FormulaAttr multiply(SmallVector<FormulaAttr> factors) {
  if (llvm::all_of(factors, [](FormulaAttr factor) { return factor.isSymbol(); }))
    llvm::sort(factors, [](FormulaAttr a, FormulaAttr b) { return a.asSymbol() < b.asSymbol(); });
  FormulaAttr product = factors.front();
  for (FormulaAttr factor : ArrayRef(factors).drop_front())
    product = product * factor;
  return product;
}

/// Adds `scale` times `formula` to `form`; false where a number overflows.
static bool addTo(LinearForm &form, FormulaAttr formula, int64_t scale) {
  auto accumulate = [&](int64_t &sum, int64_t factor) {
    std::optional<int64_t> next = llvm::checkedMulAdd(factor, scale, sum);
    sum = next.value_or(0);
    return next.has_value();
  };
  if (std::optional<int64_t> constant = formula.asConstant())
    return accumulate(form.constant, *constant);
  if (formula.getKind() == FormulaKind::Add)
    return addTo(form, formula.getLHS(), scale) && addTo(form, formula.getRHS(), scale);
  if (formula.getKind() == FormulaKind::Mul) {
    std::optional<int64_t> product = scale;
    SmallVector<FormulaAttr> factors;
    collectFactors(formula, product, factors);
    if (!product)
      return false;
    scale = *product;
    if (factors.size() == 1)
      return addTo(form, factors.front(), scale);
    formula = multiply(std::move(factors));
  }
  return accumulate(form.terms[formula], 1);
}

std::optional<LinearForm> getLinearForm(FormulaAttr formula) {
  LinearForm form;
  if (!addTo(form, formula, 1))
    return std::nullopt;
  form.terms.remove_if([](const auto &term) { return term.second == 0; });
  return form;
}

/// How many terms a sum is written with; `formula` may be one of them.
static unsigned countTerms(FormulaAttr formula) {
  if (formula.getKind() != FormulaKind::Add)
    return 1;
  return countTerms(formula.getLHS()) + countTerms(formula.getRHS());
}

FormulaAttr collectTerms(FormulaAttr formula) {
  std::optional<LinearForm> form = getLinearForm(formula);
  if (!form || form->terms.size() + (form->constant != 0) >= countTerms(formula))
    return formula;
  return form->getFormula(formula.getContext());
}

using SymbolPredicate = llvm::function_ref<bool(unsigned)>;

/// Whether no symbols make `formula` negative.
static bool isNeverNegative(FormulaAttr formula, SymbolPredicate isSymbolNeverNegative) {
  if (std::optional<int64_t> constant = formula.asConstant())
    return *constant >= 0;
  if (std::optional<unsigned> symbol = formula.asSymbol())
    return isSymbolNeverNegative(*symbol);
  auto isOperandNeverNegative = [&](FormulaAttr operand) {
    return isNeverNegative(operand, isSymbolNeverNegative);
  };
  if (formula.getKind() == FormulaKind::Max)
    return llvm::any_of(formula.getOperands(), isOperandNeverNegative);
  return llvm::all_of(formula.getOperands(), isOperandNeverNegative);
}

std::optional<int64_t> countUnits(const LinearForm &size, const LinearForm &unit,
                                  SymbolPredicate isSymbolNeverNegative) {
  auto isNeverNegative = [&](FormulaAttr term) {
    return plan::isNeverNegative(term, isSymbolNeverNegative);
  };
  // No part of `units * unit - size` may be negative.
  int64_t units = 0;
  auto cover = [&](int64_t wanted, int64_t given) {
    if (given < 0 || (given == 0 && wanted > 0))
      return false;
    if (wanted > 0)
      units = std::max(units, llvm::divideCeilSigned(wanted, given));
    return true;
  };
  if (!cover(size.constant, unit.constant))
    return std::nullopt;
  for (auto [term, factor] : unit.terms)
    if (!isNeverNegative(term) || !cover(size.terms.lookup(term), factor))
      return std::nullopt;
  for (auto [term, factor] : size.terms)
    if (!unit.terms.contains(term) && (!isNeverNegative(term) || factor > 0))
      return std::nullopt;
  return units;
}

} // namespace xc::plan
