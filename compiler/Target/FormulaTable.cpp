//===- FormulaTable.cpp - Formulas as postfix programs ===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Target/FormulaTable.h"

#include "schemas/module_limits.h"

using namespace mlir;

namespace xc::target {

using plan::FormulaAttr;
using plan::FormulaKind;

/// Modules have no selection. A product with 0 is 0, even of what has no value.
static FormulaAttr expandSelect(FormulaAttr select) {
  FormulaAttr condition = select.getOperands()[0];
  return condition * select.getOperands()[1] + (1 - condition) * select.getOperands()[2];
}

static FormulaAttr expandSelects(FormulaAttr formula) {
  SmallVector<FormulaAttr> operands = llvm::map_to_vector(formula.getOperands(), expandSelects);
  if (ArrayRef(operands) != formula.getOperands())
    formula = formula.withOperands(operands);
  return formula.getKind() == FormulaKind::Select ? expandSelect(formula) : formula;
}

static fb::FormulaOp getOp(FormulaKind kind) {
  switch (kind) {
  case FormulaKind::Add:
    return fb::FormulaOp::Add;
  case FormulaKind::Mul:
    return fb::FormulaOp::Mul;
  case FormulaKind::Mod:
    return fb::FormulaOp::Mod;
  case FormulaKind::FloorDiv:
    return fb::FormulaOp::FloorDiv;
  case FormulaKind::CeilDiv:
    return fb::FormulaOp::CeilDiv;
  case FormulaKind::Min:
    return fb::FormulaOp::Min;
  case FormulaKind::Max:
    return fb::FormulaOp::Max;
  case FormulaKind::Constant:
  case FormulaKind::Symbol:
  case FormulaKind::Select:
    break;
  }
  llvm_unreachable("it has two operands");
}

namespace {

/// Writes formulas one after the other, and remembers where each part of them lies.
class FormulaWriter {
public:
  /// `definitionNumbers`: the formulas that symbols stand for.
  explicit FormulaWriter(const llvm::DenseMap<unsigned, uint32_t> &definitionNumbers)
      : definitionNumbers(definitionNumbers) {}

  fb::Range getRange(FormulaAttr formula) {
    auto it = ranges.find(formula);
    if (it != ranges.end())
      return it->second;
    emit(formula);
    return ranges.at(formula);
  }
  /// How many instructions `formula` takes.
  uint64_t count(FormulaAttr formula) {
    uint64_t known = counts.lookup(formula);
    if (known != 0)
      return known;
    uint64_t result = 1;
    for (FormulaAttr operand : formula.getOperands())
      result += count(operand);
    counts[formula] = result;
    return result;
  }
  /// How many operands `formula` holds at a time.
  unsigned depth(FormulaAttr formula) {
    if (formula.getOperands().empty())
      return 1;
    if (unsigned known = depths.lookup(formula))
      return known;
    auto [first, second] = order(formula);
    unsigned result = std::max(depth(first), depth(second) + 1);
    depths[formula] = result;
    return result;
  }
  std::vector<fb::FormulaInstruction> takeCode() { return std::move(code); }

private:
  /// The operands in the order in which they are computed: the deeper one first where the op does
  /// not mind, so that a formula holds no more operands than the logarithm of its length.
  std::pair<FormulaAttr, FormulaAttr> order(FormulaAttr formula) {
    FormulaAttr left = formula.getLHS(), right = formula.getRHS();
    return plan::commutes(formula.getKind()) && depth(right) > depth(left) ? std::pair(right, left)
                                                                           : std::pair(left, right);
  }

  void emit(FormulaAttr formula) {
    uint32_t begin = code.size();
    if (std::optional<int64_t> constant = formula.asConstant()) {
      code.emplace_back(fb::FormulaOp::Const, *constant);
    } else if (std::optional<unsigned> symbol = formula.asSymbol()) {
      auto definition = definitionNumbers.find(*symbol);
      if (definition == definitionNumbers.end())
        code.emplace_back(fb::FormulaOp::Symbol, *symbol);
      else
        code.emplace_back(fb::FormulaOp::Formula, definition->second);
    } else {
      auto [first, second] = order(formula);
      emit(first);
      emit(second);
      code.emplace_back(getOp(formula.getKind()), 0);
    }
    ranges.try_emplace(formula, begin, static_cast<uint32_t>(code.size()) - begin);
  }

  const llvm::DenseMap<unsigned, uint32_t> &definitionNumbers;
  std::vector<fb::FormulaInstruction> code;
  llvm::DenseMap<FormulaAttr, fb::Range> ranges;
  llvm::DenseMap<FormulaAttr, uint64_t> counts;
  llvm::DenseMap<FormulaAttr, unsigned> depths;
};

} // namespace

FormulaTable::FormulaTable(plan::FunctionOp function)
    : firstDefinition(function.getSymbols().size()) {
  if (ArrayAttr formulas = function.getDefinitions())
    definitions = llvm::to_vector(formulas.getAsRange<FormulaAttr>());
}

uint32_t FormulaTable::getFormula(FormulaAttr formula) {
  formula = expandSelects(formula);
  if (auto known = numbers.find(formula); known != numbers.end())
    return known->second;
  // What it names stands before it.
  formula.forEachSymbol([&](unsigned symbol) {
    if (definitions.empty() || symbol < firstDefinition || definitionNumbers.contains(symbol))
      return;
    uint32_t number = getFormula(definitions[symbol - firstDefinition]);
    definitionNumbers[symbol] = number;
  });
  return numbers.insert({formula, numbers.size()}).first->second;
}

FormulaCode FormulaTable::emit() const {
  FormulaWriter writer(definitionNumbers);
  // The longest first: offsets in the arena, of which one is the beginning of the next.
  auto order = numbers.getArrayRef().vec();
  llvm::sort(order, [&](const auto &a, const auto &b) {
    return std::pair(writer.count(b.first), a.second) < std::pair(writer.count(a.first), b.second);
  });
  for (auto [formula, number] : order)
    writer.getRange(formula);
  FormulaCode result;
  for (auto [formula, number] : numbers) {
    result.formulas.push_back(writer.getRange(formula));
    result.depth = std::max(result.depth, writer.depth(formula));
  }
  result.code = writer.takeCode();
  return result;
}

LogicalResult checkDepth(Operation *op, const FormulaCode &written) {
  if (written.depth <= ModuleLimits::kFormulaDepth)
    return success();
  return op->emitError("expected formulas of sizes that hold at most ")
         << ModuleLimits::kFormulaDepth << " operands at a time, got one that holds "
         << written.depth;
}

fb::Value FormulaTable::getValue(FormulaAttr formula) {
  if (std::optional<int64_t> constant = formula.asConstant())
    return fb::Value(-1, *constant);
  return fb::Value(static_cast<int32_t>(getFormula(formula)), 0);
}

} // namespace xc::target
