//===- FormulaTable.cpp - Affine expressions as postfix programs ===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Target/FormulaTable.h"

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

void FormulaTable::emit(AffineExpr expr) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr)) {
    code.emplace_back(fb::FormulaOp::Const, constant.getValue());
    return;
  }
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr)) {
    code.emplace_back(fb::FormulaOp::Symbol, symbol.getPosition());
    return;
  }
  auto binary = cast<AffineBinaryOpExpr>(expr);
  emit(binary.getLHS());
  emit(binary.getRHS());
  code.emplace_back(getOp(expr.getKind()), 0);
}

uint32_t FormulaTable::getFormula(AffineExpr expr) {
  auto [it, isNew] = numbers.try_emplace(expr, formulas.size());
  if (isNew) {
    uint32_t begin = code.size();
    emit(expr);
    formulas.emplace_back(begin, static_cast<uint32_t>(code.size()) - begin);
  }
  return it->second;
}

fb::Value FormulaTable::getValue(AffineExpr expr) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return fb::Value(-1, constant.getValue());
  return fb::Value(static_cast<int32_t>(getFormula(expr)), 0);
}

} // namespace xc::target
