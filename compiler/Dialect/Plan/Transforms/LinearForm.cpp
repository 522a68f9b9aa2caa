//===- LinearForm.cpp - Formulas as sums of multiples of terms ------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Plan/Transforms/LinearForm.h"

#include "compiler/Dialect/Plan/Transforms/Clamps.h"

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

AffineExpr LinearForm::getExpr(MLIRContext *context, int64_t divisor) const {
  AffineExpr sum = getAffineConstantExpr(0, context);
  for (auto [term, factor] : terms)
    sum = sum + term * (factor / divisor);
  return sum + constant / divisor;
}

/// Collects the factors of a product, of which a clamp is one; constants are multiplied into
/// `scale`, which is none once that overflows.
static void collectFactors(AffineExpr expr, std::optional<int64_t> &scale,
                           SmallVectorImpl<AffineExpr> &factors) {
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  bool isProduct = binary && expr.getKind() == AffineExprKind::Mul;
  if (isProduct && (isa<AffineConstantExpr>(binary.getRHS()) || !getClamped(expr))) {
    collectFactors(binary.getLHS(), scale, factors);
    collectFactors(binary.getRHS(), scale, factors);
  } else if (auto constant = dyn_cast<AffineConstantExpr>(expr)) {
    scale = scale ? llvm::checkedMul(*scale, constant.getValue()) : std::nullopt;
  } else {
    factors.push_back(expr);
  }
}

/// The product of `factors`. Where all are symbols it is the same one in whichever order they are.
static AffineExpr multiply(SmallVector<AffineExpr> factors) {
  auto isSymbol = [](AffineExpr factor) { return isa<AffineSymbolExpr>(factor); };
  if (llvm::all_of(factors, isSymbol))
    llvm::sort(factors, [](AffineExpr a, AffineExpr b) {
      return cast<AffineSymbolExpr>(a).getPosition() < cast<AffineSymbolExpr>(b).getPosition();
    });
  AffineExpr product = factors.front();
  for (AffineExpr factor : ArrayRef(factors).drop_front())
    product = product * factor;
  return product;
}

/// Adds `scale` times `expr` to `form`; false where a number overflows.
static bool addTo(LinearForm &form, AffineExpr expr, int64_t scale) {
  auto accumulate = [&](int64_t &sum, int64_t factor) {
    std::optional<int64_t> next = llvm::checkedMulAdd(factor, scale, sum);
    sum = next.value_or(0);
    return next.has_value();
  };
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return accumulate(form.constant, constant.getValue());
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (binary && expr.getKind() == AffineExprKind::Add)
    return addTo(form, binary.getLHS(), scale) && addTo(form, binary.getRHS(), scale);
  if (binary && expr.getKind() == AffineExprKind::Mul) {
    std::optional<int64_t> product = scale;
    SmallVector<AffineExpr> factors;
    collectFactors(expr, product, factors);
    if (!product)
      return false;
    scale = *product;
    if (factors.size() == 1 && factors.front() != expr)
      return addTo(form, factors.front(), scale);
    expr = multiply(std::move(factors));
  }
  return accumulate(form.terms[expr], 1);
}

std::optional<LinearForm> getLinearForm(AffineExpr expr) {
  LinearForm form;
  if (!addTo(form, expr, 1))
    return std::nullopt;
  form.terms.remove_if([](const auto &term) { return term.second == 0; });
  return form;
}

/// How many terms a sum is written with; `expr` may be one of them.
static unsigned countTerms(AffineExpr expr) {
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary || expr.getKind() != AffineExprKind::Add)
    return 1;
  return countTerms(binary.getLHS()) + countTerms(binary.getRHS());
}

AffineExpr collectTerms(AffineExpr expr) {
  std::optional<LinearForm> form = getLinearForm(expr);
  if (!form || form->terms.size() + (form->constant != 0) >= countTerms(expr))
    return expr;
  return form->getExpr(expr.getContext());
}

using SymbolPredicate = llvm::function_ref<bool(AffineSymbolExpr)>;

/// Whether no symbols make `expr` negative.
static bool isNeverNegative(AffineExpr expr, SymbolPredicate isSymbolNeverNegative) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return constant.getValue() >= 0;
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return isSymbolNeverNegative(symbol);
  if (getClamped(expr))
    return true;
  auto binary = cast<AffineBinaryOpExpr>(expr);
  return isNeverNegative(binary.getLHS(), isSymbolNeverNegative) &&
         isNeverNegative(binary.getRHS(), isSymbolNeverNegative);
}

std::optional<int64_t> countUnits(const LinearForm &size, const LinearForm &unit,
                                  SymbolPredicate isSymbolNeverNegative) {
  auto isNeverNegative = [&](AffineExpr term) {
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
