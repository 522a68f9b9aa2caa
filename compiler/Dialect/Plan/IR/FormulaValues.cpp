//===- FormulaValues.cpp - Values that are made of formulas ---------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Plan/IR/FormulaValues.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace xc::plan {

Value emitFormulaOp(OpBuilder &builder, Location loc, FormulaKind kind, ArrayRef<Value> operands) {
  switch (kind) {
  case FormulaKind::Add:
    return arith::AddIOp::create(builder, loc, operands[0], operands[1]);
  case FormulaKind::Mul:
    return arith::MulIOp::create(builder, loc, operands[0], operands[1]);
  case FormulaKind::FloorDiv:
    return arith::FloorDivSIOp::create(builder, loc, operands[0], operands[1]);
  case FormulaKind::CeilDiv:
    return arith::CeilDivSIOp::create(builder, loc, operands[0], operands[1]);
  case FormulaKind::Mod:
    return arith::RemSIOp::create(builder, loc, operands[0], operands[1]);
  case FormulaKind::Min:
    return arith::MinSIOp::create(builder, loc, operands[0], operands[1]);
  case FormulaKind::Max:
    return arith::MaxSIOp::create(builder, loc, operands[0], operands[1]);
  case FormulaKind::Select: {
    Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
    Value isOne = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, operands[0], zero);
    return arith::SelectOp::create(builder, loc, isOne, operands[1], operands[2]);
  }
  case FormulaKind::Constant:
  case FormulaKind::Symbol:
    break;
  }
  llvm_unreachable("it has operands");
}

/// Whether affine expressions have it.
static bool isAffine(FormulaKind kind) { return kind < FormulaKind::Min; }

Value emitFormula(OpBuilder &builder, Location loc, FormulaAttr formula, ArrayRef<Value> symbols,
                  llvm::function_ref<Value(unsigned)> getSymbol) {
  if (std::optional<int64_t> number = formula.asConstant())
    return arith::ConstantIndexOp::create(builder, loc, *number);
  if (!isAffine(formula.getKind())) {
    SmallVector<Value> operands;
    for (FormulaAttr operand : formula.getOperands())
      operands.push_back(emitFormula(builder, loc, operand, symbols, getSymbol));
    return emitFormulaOp(builder, loc, formula.getKind(), operands);
  }
  SmallVector<Value> operands(symbols);
  llvm::DenseMap<FormulaAttr, unsigned> places;
  AffineExpr expr = formula.toAffine([&](FormulaAttr leaf) {
    std::optional<unsigned> symbol = leaf.asSymbol();
    if (symbol && *symbol < symbols.size())
      return getAffineSymbolExpr(*symbol, leaf.getContext());
    auto [place, isNew] = places.try_emplace(leaf, operands.size());
    if (isNew)
      operands.push_back(symbol ? getSymbol(*symbol)
                                : emitFormula(builder, loc, leaf, symbols, getSymbol));
    return getAffineSymbolExpr(places.lookup(leaf), leaf.getContext());
  });
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return operands[symbol.getPosition()];
  return affine::AffineApplyOp::create(
      builder, loc, AffineMap::get(/*dimCount=*/0, operands.size(), expr), operands);
}

} // namespace xc::plan
