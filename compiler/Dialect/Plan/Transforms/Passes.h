//===- Passes.h - Passes of the plan dialect ===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_DIALECT_PLAN_TRANSFORMS_PASSES_H
#define XC_DIALECT_PLAN_TRANSFORMS_PASSES_H

#include "compiler/Dialect/Plan/IR/PlanOps.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace xc::plan {

#define GEN_PASS_DECL
#include "compiler/Dialect/Plan/Transforms/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "compiler/Dialect/Plan/Transforms/Passes.h.inc"

inline void registerPasses() { registerPlanPasses(); }

} // namespace xc::plan

#endif // XC_DIALECT_PLAN_TRANSFORMS_PASSES_H
