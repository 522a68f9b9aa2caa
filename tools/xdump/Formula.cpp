//===- Formula.cpp - Formulas over symbolic dims as text ------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/xdump/Dump.h"

#include <set>

namespace xc::tools {

namespace {
/// A part of the formula and how tightly it is bound.
struct Term {
  std::string text;
  enum Binding { Sum, Product, Atom } binding;

  std::string atLeast(Binding wanted) const { return binding >= wanted ? text : "(" + text + ")"; }
};
} // namespace

static Term combine(fb::FormulaOp op, const Term &a, const Term &b) {
  auto call = [&](const char *name) {
    return Term{std::string(name) + "(" + a.text + ", " + b.text + ")", Term::Atom};
  };
  switch (op) {
  case fb::FormulaOp::Add:
    return {a.text + " + " + b.text, Term::Sum};
  case fb::FormulaOp::Sub:
    return {a.text + " - " + b.atLeast(Term::Product), Term::Sum};
  case fb::FormulaOp::Mul:
    return {a.atLeast(Term::Product) + " * " + b.atLeast(Term::Product), Term::Product};
  case fb::FormulaOp::FloorDiv:
    return call("floordiv");
  case fb::FormulaOp::CeilDiv:
    return call("ceildiv");
  case fb::FormulaOp::Mod:
    return call("mod");
  case fb::FormulaOp::Min:
    return call("min");
  case fb::FormulaOp::Max:
    return call("max");
  default:
    return {"?", Term::Atom};
  }
}

std::string formulaText(const Formulas *formulas, const FormulaCode *code, int64_t index,
                        const SymbolNames &names) {
  if (index < 0 || uint64_t(index) >= sizeOf(formulas))
    return "?";
  const fb::Range &range = *formulas->Get(uint32_t(index));
  std::vector<Term> stack;
  for (uint64_t i = 0; i < range.count(); ++i) {
    if (range.begin() + i >= sizeOf(code))
      return "?";
    const fb::FormulaInstruction &step = *code->Get(uint32_t(range.begin() + i));
    if (step.op() == fb::FormulaOp::Const) {
      stack.push_back({std::to_string(step.operand()), Term::Atom});
      continue;
    }
    if (step.op() == fb::FormulaOp::Symbol) {
      uint64_t symbol = uint64_t(step.operand());
      stack.push_back({symbol < names.size() ? names[symbol] : "?", Term::Atom});
      continue;
    }
    if (step.op() == fb::FormulaOp::Formula) {
      stack.push_back({"f" + std::to_string(step.operand()), Term::Atom});
      continue;
    }
    if (stack.size() < 2)
      return "?";
    Term right = stack.back();
    stack.pop_back();
    stack.back() = combine(step.op(), stack.back(), right);
  }
  return stack.size() == 1 ? stack[0].text : "?";
}

std::string sharedFormulasText(const Formulas *formulas, const FormulaCode *code,
                               const SymbolNames &names, const std::string &indent) {
  std::set<int64_t> shared;
  for (uint32_t i = 0; i < sizeOf(code); ++i)
    if (code->Get(i)->op() == fb::FormulaOp::Formula)
      shared.insert(code->Get(i)->operand());
  std::string text;
  for (int64_t index : shared)
    text += indent + "f" + std::to_string(index) + " = " +
            formulaText(formulas, code, index, names) + "\n";
  return text;
}

} // namespace xc::tools
