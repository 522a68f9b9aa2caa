//===- PlanInitOps.h - What is computed once an instance ------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_DIALECT_PLAN_IR_PLANINITOPS_H
#define XC_DIALECT_PLAN_IR_PLANINITOPS_H

#include "compiler/Dialect/Plan/IR/PlanOps.h"

#define GET_OP_CLASSES
#include "compiler/Dialect/Plan/IR/PlanInitOps.h.inc"

namespace xc::plan {

/// Unit, on the function whose results `plan.packed` names, and on its plan.
inline constexpr llvm::StringLiteral kInitAttr = "plan.init";
/// Array of strings, on the same: what each result is made of.
inline constexpr llvm::StringLiteral kHoistedAttr = "plan.hoisted";
/// Array of integers, on kernel functions for CUDA: the ordinals of bindings that no kernel in
/// front of this one writes, wherever it is launched. Those are parameters, constants and results
/// of the init plan, and inputs of the call. So a kernel may read them before it has waited for
/// those in front of it.
inline constexpr llvm::StringLiteral kFixedBindingsAttr = "plan.fixed_bindings";
/// Array of integers, on the same: those of them that are inputs of the call. What is in front of
/// the call may write them, so a kernel that reads them early has the call begin when that has
/// ended.
inline constexpr llvm::StringLiteral kFixedInputsAttr = "plan.fixed_inputs";

} // namespace xc::plan

#endif // XC_DIALECT_PLAN_IR_PLANINITOPS_H
