//===- Formula.cpp - Formulas over symbolic dims as text ------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/xdump/Dump.h"

#include "tools/common/Printable.h"

#include <string_view>

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

/// Longer ones are named where they are used.
static constexpr size_t kMostUsedText = 120;
/// Longer ones are cut, and of more instructions are not written.
static constexpr size_t kMostText = 2000, kMostInstructions = 256;

FormulaTexts::FormulaTexts(const Formulas *formulas, const FormulaCode *code, SymbolNames names)
    : code(code), names(std::move(names)), isNamed(sizeOf(formulas)) {
  for (uint32_t i = 0; i < sizeOf(formulas); ++i) {
    texts.push_back(write(*formulas->Get(i)));
    isNamed[i] = texts[i].size() > kMostUsedText;
  }
  for (uint32_t i = 0; i < sizeOf(code); ++i)
    if (uint64_t named = uint64_t(code->Get(i)->operand());
        code->Get(i)->op() == fb::FormulaOp::Formula && named < isNamed.size())
      isNamed[named] = true;
}

std::string FormulaTexts::write(const fb::Range &range) const {
  if (range.count() > kMostInstructions)
    return "(a formula of " + std::to_string(range.count()) + " instructions)";
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
    if (stack.back().text.size() > kMostText)
      stack.back() = {"...", Term::Atom};
  }
  return stack.size() == 1 ? stack[0].text : "?";
}

std::string FormulaTexts::use(int64_t index) const {
  if (index < 0 || uint64_t(index) >= texts.size())
    return "?";
  return texts[index].size() > kMostUsedText ? "f" + std::to_string(index) : texts[index];
}

std::string FormulaTexts::definitions(const std::string &indent) const {
  std::string text;
  for (size_t i = 0; i < texts.size(); ++i)
    if (isNamed[i])
      text += indent + "f" + std::to_string(i) + " = " + texts[i] + "\n";
  return text;
}

std::string textOf(const flatbuffers::String *text) {
  constexpr size_t kMostName = 1000;
  if (!text)
    return "";
  std::string_view whole(text->data(), text->size());
  std::string shown = printable(whole.substr(0, kMostName));
  return whole.size() > kMostName ? shown + "..." : shown;
}

} // namespace xc::tools
