//===- SizeEqualities.cpp - Which sizes requirements make equal -----------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Plan/Transforms/SizeEqualities.h"

#include "compiler/Dialect/Plan/Transforms/LinearForm.h"

using namespace mlir;

namespace xc::plan {

AffineExpr SizeEqualities::replace(AffineExpr expr) const {
  llvm::DenseMap<AffineExpr, AffineExpr> symbols(known.begin(), known.end());
  return expr.replace(symbols);
}

bool SizeEqualities::areEqual(AffineExpr left, AffineExpr right) const {
  if (left == right)
    return true;
  std::optional<LinearForm> difference = getLinearForm(replace(left) - replace(right));
  return difference && difference->terms.empty() && difference->constant == 0;
}

/// Whether `symbol` is in one of the terms of `form` beside itself.
static bool isInOtherTerm(const LinearForm &form, AffineSymbolExpr symbol) {
  return llvm::any_of(form.terms, [&](const auto &term) {
    return term.first != symbol && term.first.isFunctionOfSymbol(symbol.getPosition());
  });
}

void SizeEqualities::add(AffineExpr left, AffineExpr right) {
  std::optional<LinearForm> difference = getLinearForm(replace(left) - replace(right));
  if (!difference)
    return;
  for (auto [term, multiple] : difference->terms) {
    auto symbol = dyn_cast<AffineSymbolExpr>(term);
    if (!symbol || std::abs(multiple) != 1 || isInOtherTerm(*difference, symbol))
      continue;
    LinearForm others = *difference;
    others.terms.erase(term);
    AffineExpr rest = others.getExpr(term.getContext()), value = multiple == 1 ? rest * -1 : rest;
    llvm::DenseMap<AffineExpr, AffineExpr> solved{{symbol, value}};
    for (auto &[other, formula] : known)
      formula = formula.replace(solved);
    known.insert({symbol, value});
    return;
  }
}

} // namespace xc::plan
