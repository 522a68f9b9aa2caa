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

FormulaAttr SizeEqualities::replace(FormulaAttr formula) const {
  llvm::DenseMap<FormulaAttr, FormulaAttr> symbols(known.begin(), known.end());
  return formula.replaceParts(symbols);
}

bool SizeEqualities::areEqual(FormulaAttr left, FormulaAttr right) const {
  if (left == right)
    return true;
  std::optional<LinearForm> difference = getLinearForm(replace(left) - replace(right));
  return difference && difference->terms.empty() && difference->constant == 0;
}

/// Whether `symbol` is in one of the terms of `form` beside itself.
static bool isInOtherTerm(const LinearForm &form, FormulaAttr symbol) {
  return llvm::any_of(form.terms, [&](const auto &term) {
    return term.first != symbol && term.first.usesSymbol(*symbol.asSymbol());
  });
}

void SizeEqualities::add(FormulaAttr left, FormulaAttr right) {
  std::optional<LinearForm> difference = getLinearForm(replace(left) - replace(right));
  if (!difference)
    return;
  for (auto [term, multiple] : difference->terms) {
    if (!term.isSymbol() || std::abs(multiple) != 1 || isInOtherTerm(*difference, term))
      continue;
    LinearForm others = *difference;
    others.terms.erase(term);
    FormulaAttr rest = others.getFormula(term.getContext()),
                value = multiple == 1 ? rest * -1 : rest;
    llvm::DenseMap<FormulaAttr, FormulaAttr> solved{{term, value}};
    for (auto &[other, formula] : known)
      formula = formula.replaceParts(solved);
    known.insert({term, value});
    return;
  }
}

} // namespace xc::plan
