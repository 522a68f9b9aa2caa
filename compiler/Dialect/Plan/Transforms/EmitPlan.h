//===- EmitPlan.h - What has been planned as a plan.function ----*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_DIALECT_PLAN_TRANSFORMS_EMITPLAN_H
#define XC_DIALECT_PLAN_TRANSFORMS_EMITPLAN_H

#include "compiler/Dialect/Plan/Transforms/PlannedRegion.h"
#include "compiler/Dialect/Plan/Transforms/SymbolicDims.h"

namespace xc::plan {

/// All of a function's plan.
struct PlannedFunction {
  const PlannedRegion &region;
  /// What sizes must be like, also in regions.
  llvm::ArrayRef<mlir::Attribute> requirements;
  /// By what sizes choose regions, also within regions.
  llvm::ArrayRef<FormulaAttr> choices;
};

/// Writes the plan of `func`, of whose values `dims` knows the sizes, before it.
void emitPlan(mlir::func::FuncOp func, SymbolicDims &dims, const PlannedFunction &planned);

} // namespace xc::plan

#endif // XC_DIALECT_PLAN_TRANSFORMS_EMITPLAN_H
