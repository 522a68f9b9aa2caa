//===- KernelSizes.cpp - Sizes in a kernel, before any code is emitted ----===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/Common/KernelSizes.h"

#include "llvm/ADT/bit.h"

using namespace mlir;

namespace xc::codegen {

KernelSizes::KernelSizes(func::FuncOp kernel, StringAttr divisorAttr)
    : SizeFormulas(kernel.getContext()), divisorAttr(divisorAttr) {
  kernel.walk([&](plan::ScalarOp scalar) {
    if (scalar.getOrdinal() >= scalars.size())
      scalars.resize(scalar.getOrdinal() + 1);
    scalars[scalar.getOrdinal()] = scalar;
  });
}

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

plan::FormulaAttr KernelSizes::makeUnknown() {
  return plan::FormulaAttr::getSymbol(context, scalars.size() + numUnknown++);
}

FailureOr<plan::FormulaAttr> KernelSizes::computeFormula(Value index) {
  if (auto scalar = index.getDefiningOp<plan::ScalarOp>())
    return plan::FormulaAttr::getSymbol(context, scalar.getOrdinal());
  FailureOr<plan::FormulaAttr> formula = SizeFormulas::computeFormula(index);
  return succeeded(formula) ? *formula : makeUnknown();
}

FailureOr<plan::FormulaAttr> KernelSizes::computeDim(OpResult result, int64_t dim) {
  FailureOr<plan::FormulaAttr> formula = SizeFormulas::computeDim(result, dim);
  return succeeded(formula) ? *formula : makeUnknown();
}

SmallVector<plan::FormulaAttr> KernelSizes::getLoopSizes(linalg::LinalgOp op) {
  SmallVector<plan::FormulaAttr> sizes(op.getNumLoops());
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<ShapedType>(operand.get().getType()))
      continue;
    for (auto [at, expr] : llvm::enumerate(op.getMatchingIndexingMap(&operand).getResults())) {
      auto loop = dyn_cast<AffineDimExpr>(expr);
      if (!loop)
        continue;
      plan::FormulaAttr size = *getDim(operand.get(), at), &known = sizes[loop.getPosition()];
      // Operands of one loop have one size, which some say as a number.
      if (!known || (!known.isConstant() && size.isConstant()))
        known = size;
    }
  }
  return sizes;
}

plan::FormulaAttr KernelSizes::product(ArrayRef<plan::FormulaAttr> sizes) {
  plan::FormulaAttr result = constant(1);
  for (plan::FormulaAttr size : sizes)
    result = result * size;
  return result;
}

//===----------------------------------------------------------------------===//
// What is known of them
//===----------------------------------------------------------------------===//

AffineExpr KernelSizes::toAffine(plan::FormulaAttr size) const {
  bool isAffine = true;
  AffineExpr expr = size.toAffine([&](plan::FormulaAttr leaf) {
    std::optional<unsigned> symbol = leaf.asSymbol();
    isAffine &= symbol && *symbol < scalars.size();
    return getAffineSymbolExpr(symbol.value_or(0), context);
  });
  return isAffine ? expr : AffineExpr();
}

plan::FormulaBounds KernelSizes::getBounds(plan::FormulaAttr size) const {
  return plan::computeBounds(size, [&](unsigned symbol) {
    plan::FormulaBounds bounds;
    bounds.low = 0;
    plan::ScalarOp scalar = symbol < scalars.size() ? scalars[symbol] : plan::ScalarOp();
    if (!scalar)
      return bounds;
    if (std::optional<uint64_t> max = scalar.getMax())
      bounds.high = static_cast<int64_t>(*max);
    auto divisor = divisorAttr ? scalar->getAttrOfType<IntegerAttr>(divisorAttr) : IntegerAttr();
    if (divisor)
      bounds.divisor = divisor.getInt();
    return bounds;
  });
}

std::optional<int64_t> KernelSizes::getUpperBound(plan::FormulaAttr size) const {
  return getBounds(size).high;
}

int64_t KernelSizes::getDivisor(plan::FormulaAttr size) const {
  constexpr int64_t most = 1 << 20;
  auto divisor = static_cast<uint64_t>(getBounds(size).divisor);
  return divisor == 0 ? most : std::min<int64_t>(most, int64_t(1) << llvm::countr_zero(divisor));
}

} // namespace xc::codegen
