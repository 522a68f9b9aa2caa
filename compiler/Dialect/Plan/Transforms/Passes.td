//===- Passes.td - Passes of the plan dialect --------------*- tablegen -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_PLAN_PASSES_TD
#define XC_PLAN_PASSES_TD

include "mlir/Pass/PassBase.td"

def OrderWrites : Pass<"xc-order-writes", "::mlir::func::FuncOp"> {
  let summary = "Read variables before kernels write them";
  let description = [{
    Moves a dispatch whose results are assigned to variables, and nothing else, behind the last op that reads an old value of these, and
    assignments to the end. So the plan needs no copies of old values that the dispatch computes new ones in the place of. Example:
    ```mlir
    %new = plan.dispatch @step(%old)   %loss = plan.dispatch @loss(%old)   array.variable.assign @w, %new   // input
    %loss = plan.dispatch @loss(%old)   %new = plan.dispatch @step(%old)   array.variable.assign @w, %new   // output
    ```
  }];
}

def BuildPlan : Pass<"xc-build-plan", "::mlir::ModuleOp"> {
  let summary = "Turn functions on tensors into plans on buffers";
  let description = [{
    For each function of a target's module: decides where every tensor lives (an input, an output, a constant, a variable, or an offset in the
    arena), reuses memory in place where a dispatch allows it, lays out the arena by lifetimes, and writes a `plan.function` whose
    commands have edges from real hazards only. The functions are erased; constants, parameters and variables are
    listed on the module as `plan.constants`, `plan.parameters`, `plan.variables`. Fails on an op that is neither a dispatch, a view, state, a
    constant nor index arithmetic, and on a size that is no formula of the function's symbols. Example:
    ```mlir
    func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> { %y = plan.dispatch @exp(%x ...) ...; return %y }   // input
    plan.function @main ... { plan.launch @exp [#plan.range<read, input 0, ...>, #plan.range<write, output 0, ...>] ... after [] }
    ```
  }];
  let options = [Option<"reuse", "reuse", "bool", /*default=*/"true",
                        "Let buffers whose lifetimes are apart share bytes of the arena">];
  let dependentDialects = ["::xc::plan::PlanDialect"];
}

#endif // XC_PLAN_PASSES_TD
