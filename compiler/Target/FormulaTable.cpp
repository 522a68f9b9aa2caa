//===- FormulaTable.cpp - Affine expressions as postfix programs ===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Target/FormulaTable.h"

#include "schemas/module_limits.h"

using namespace mlir;

namespace xc::target {

static fb::FormulaOp getOp(AffineExprKind kind) {
  switch (kind) {
  case AffineExprKind::Add:
    return fb::FormulaOp::Add;
  case AffineExprKind::Mul:
    return fb::FormulaOp::Mul;
  case AffineExprKind::Mod:
    return fb::FormulaOp::Mod;
  case AffineExprKind::FloorDiv:
    return fb::FormulaOp::FloorDiv;
  case AffineExprKind::CeilDiv:
    return fb::FormulaOp::CeilDiv;
  case AffineExprKind::Constant:
    return fb::FormulaOp::Const;
  case AffineExprKind::SymbolId:
    return fb::FormulaOp::Symbol;
  case AffineExprKind::DimId:
    break;
  }
  llvm_unreachable("formulas are over symbols only");
}

namespace {

/// Writes formulas one after the other, and remembers where each part of them lies.
class FormulaWriter {
public:
  /// `definitionNumbers`: the formulas that symbols stand for.
  explicit FormulaWriter(const llvm::DenseMap<unsigned, uint32_t> &definitionNumbers)
      : definitionNumbers(definitionNumbers) {}

  fb::Range getRange(AffineExpr expr) {
    auto it = ranges.find(expr);
    if (it != ranges.end())
      return it->second;
    emit(expr);
    return ranges.at(expr);
  }
  /// How many instructions `expr` takes.
  uint64_t count(AffineExpr expr) {
    uint64_t known = counts.lookup(expr);
    if (known != 0)
      return known;
    auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
    uint64_t result = binary ? count(binary.getLHS()) + count(binary.getRHS()) + 1 : 1;
    counts[expr] = result;
    return result;
  }
  /// How many operands `expr` holds at a time.
  unsigned depth(AffineExpr expr) {
    auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
    if (!binary)
      return 1;
    if (unsigned known = depths.lookup(expr))
      return known;
    auto [first, second] = order(binary);
    unsigned result = std::max(depth(first), depth(second) + 1);
    depths[expr] = result;
    return result;
  }
  std::vector<fb::FormulaInstruction> takeCode() { return std::move(code); }

private:
  /// The operands in the order in which they are computed: the deeper one first where the op does
  /// not mind, so that a formula holds no more operands than the logarithm of its length.
  std::pair<AffineExpr, AffineExpr> order(AffineBinaryOpExpr binary) {
    AffineExpr left = binary.getLHS(), right = binary.getRHS();
    bool commutes =
        binary.getKind() == AffineExprKind::Add || binary.getKind() == AffineExprKind::Mul;
    return commutes && depth(right) > depth(left) ? std::pair(right, left) : std::pair(left, right);
  }

  void emit(AffineExpr expr) {
    uint32_t begin = code.size();
    if (auto constant = dyn_cast<AffineConstantExpr>(expr)) {
      code.emplace_back(fb::FormulaOp::Const, constant.getValue());
    } else if (auto symbol = dyn_cast<AffineSymbolExpr>(expr)) {
      auto definition = definitionNumbers.find(symbol.getPosition());
      if (definition == definitionNumbers.end())
        code.emplace_back(fb::FormulaOp::Symbol, symbol.getPosition());
      else
        code.emplace_back(fb::FormulaOp::Formula, definition->second);
    } else {
      auto [first, second] = order(cast<AffineBinaryOpExpr>(expr));
      emit(first);
      emit(second);
      code.emplace_back(getOp(expr.getKind()), 0);
    }
    ranges.try_emplace(expr, begin, static_cast<uint32_t>(code.size()) - begin);
  }

  const llvm::DenseMap<unsigned, uint32_t> &definitionNumbers;
  std::vector<fb::FormulaInstruction> code;
  llvm::DenseMap<AffineExpr, fb::Range> ranges;
  llvm::DenseMap<AffineExpr, uint64_t> counts;
  llvm::DenseMap<AffineExpr, unsigned> depths;
};

} // namespace

FormulaTable::FormulaTable(plan::FunctionOp function)
    : firstDefinition(function.getSymbols().size()) {
  if (auto map = function->getAttrOfType<AffineMapAttr>("definitions"))
    definitions = llvm::to_vector(map.getValue().getResults());
}

uint32_t FormulaTable::getFormula(AffineExpr expr) {
  if (auto known = numbers.find(expr); known != numbers.end())
    return known->second;
  // What it names stands before it.
  expr.walk([&](AffineExpr part) {
    auto symbol = dyn_cast<AffineSymbolExpr>(part);
    if (definitions.empty() || !symbol || symbol.getPosition() < firstDefinition ||
        definitionNumbers.contains(symbol.getPosition()))
      return;
    uint32_t number = getFormula(definitions[symbol.getPosition() - firstDefinition]);
    definitionNumbers[symbol.getPosition()] = number;
  });
  return numbers.insert({expr, numbers.size()}).first->second;
}

FormulaCode FormulaTable::emit() const {
  FormulaWriter writer(definitionNumbers);
  // The longest first: offsets in the arena, of which one is the beginning of the next.
  auto order = numbers.getArrayRef().vec();
  llvm::sort(order, [&](const auto &a, const auto &b) {
    return std::pair(writer.count(b.first), a.second) < std::pair(writer.count(a.first), b.second);
  });
  for (auto [expr, number] : order)
    writer.getRange(expr);
  FormulaCode result;
  for (auto [expr, number] : numbers) {
    result.formulas.push_back(writer.getRange(expr));
    result.depth = std::max(result.depth, writer.depth(expr));
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

fb::Value FormulaTable::getValue(AffineExpr expr) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return fb::Value(-1, constant.getValue());
  return fb::Value(static_cast<int32_t>(getFormula(expr)), 0);
}

} // namespace xc::target
