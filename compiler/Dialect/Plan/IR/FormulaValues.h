//===- FormulaValues.h - Values that are made of formulas -------*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_DIALECT_PLAN_IR_FORMULAVALUES_H
#define XC_DIALECT_PLAN_IR_FORMULAVALUES_H

#include "compiler/Dialect/Plan/IR/PlanOps.h"

#include "mlir/IR/Builders.h"

namespace xc::plan {

/// The value of `formula`, as an index: an affine.apply of what affine maps can say, ops of arith
/// for the rest. Its first symbols are `symbols`, all of which the affine.apply has as operands;
/// `getSymbol` makes the value of one behind them, and is called once for each that is met.
mlir::Value emitFormula(mlir::OpBuilder &builder, mlir::Location loc, FormulaAttr formula,
                        mlir::ArrayRef<mlir::Value> symbols,
                        llvm::function_ref<mlir::Value(unsigned)> getSymbol);

/// What `kind`, which is that of no constant or symbol, makes of `operands`, by ops of arith.
/// Neither operand of a division is below 0.
mlir::Value emitFormulaOp(mlir::OpBuilder &builder, mlir::Location loc, FormulaKind kind,
                          llvm::ArrayRef<mlir::Value> operands);

} // namespace xc::plan

#endif // XC_DIALECT_PLAN_IR_FORMULAVALUES_H
