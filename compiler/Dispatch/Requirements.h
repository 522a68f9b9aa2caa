//===- Requirements.h - What sizes must be like ---------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_DISPATCH_REQUIREMENTS_H
#define XC_DISPATCH_REQUIREMENTS_H

#include "compiler/Dialect/Plan/IR/PlanOps.h"
#include "compiler/Dialect/Plan/Transforms/SymbolicDims.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseSet.h"

namespace xc::plan {

/// The functions of `module` that are regions which sizes choose, or in such regions. What they
/// requirement may hold for none of the sizes that are known to be possible: then they are not
/// chosen.
llvm::DenseSet<mlir::Operation *> findChosenRegions(mlir::ModuleOp module);

/// Replaces the `plan.require`s of a function by ones at its start whose operands are formulas over
/// its symbols, and adds those that linalg ops and casts imply: operands of one op agree in the
/// sizes of its loops, and a `?` that is cast to a number is that number. What can be proven is
/// left out; what fails for all inputs, between constants or, unless sizes choose whether the
/// function runs, by the ranges of dims, is an error.
mlir::LogicalResult listRequirements(mlir::func::FuncOp func, SymbolicDims &dims,
                                     bool isChosenBySizes);

/// A comparison of two sizes, and what is said where it does not hold.
struct Requirement {
  mlir::Location loc;
  FormulaAttr left;
  Comparison comparison;
  FormulaAttr right;
  std::string what;
};

using RequirementVisitor = llvm::function_ref<mlir::LogicalResult(const Requirement &)>;

/// Visits what `op` requires without saying so, in formulas over the symbols of its function: a
/// linalg op that operands agree in its loops, and a cast that a `?` is a number. Leaves out what
/// is no formula, and what holds for all symbols. Fails where `visit` does.
mlir::LogicalResult visitImpliedRequirements(mlir::Operation *op, SymbolicDims &dims,
                                             RequirementVisitor visit);

/// Adds to the functions of `module` those of them that say that a formula is a number, before
/// folds of casts and slices forget the formula.
mlir::LogicalResult requireStaticSizes(mlir::ModuleOp module);

} // namespace xc::plan

#endif // XC_DISPATCH_REQUIREMENTS_H
