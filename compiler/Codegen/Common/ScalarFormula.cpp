//===- ScalarFormula.cpp - Sizes of kernels as formulas -------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/Common/ScalarFormula.h"

#include "compiler/Dialect/Plan/IR/PlanOps.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace xc::codegen {

/// What `op` makes of its operands, which are these formulas; null where it is none.
static AffineExpr combine(Operation *op, ArrayRef<AffineExpr> operands) {
  if (auto apply = dyn_cast<affine::AffineApplyOp>(op)) {
    AffineMap map = apply.getAffineMap();
    return map.getResult(0).replaceDimsAndSymbols(operands.take_front(map.getNumDims()),
                                                  operands.drop_front(map.getNumDims()));
  }
  if (isa<arith::AddIOp>(op))
    return operands[0] + operands[1];
  if (isa<arith::SubIOp>(op))
    return operands[0] - operands[1];
  if (isa<arith::MulIOp>(op))
    return operands[0] * operands[1];
  if (isa<arith::DivUIOp, arith::DivSIOp, arith::FloorDivSIOp>(op))
    return operands[0].floorDiv(operands[1]);
  if (isa<arith::CeilDivUIOp, arith::CeilDivSIOp>(op))
    return operands[0].ceilDiv(operands[1]);
  if (isa<arith::RemUIOp, arith::RemSIOp>(op))
    return operands[0] % operands[1];
  return nullptr;
}

AffineExpr getScalarFormula(OpFoldResult value, MLIRContext *context) {
  if (std::optional<int64_t> number = getConstantIntValue(value))
    return getAffineConstantExpr(*number, context);
  Operation *op = cast<Value>(value).getDefiningOp();
  if (!op)
    return nullptr;
  if (auto scalar = dyn_cast<plan::ScalarOp>(op))
    return getAffineSymbolExpr(scalar.getOrdinal(), context);
  SmallVector<AffineExpr> operands;
  for (Value operand : op->getOperands()) {
    AffineExpr formula = getScalarFormula(operand, context);
    if (!formula)
      return nullptr;
    operands.push_back(formula);
  }
  return combine(op, operands);
}

} // namespace xc::codegen
