//===- PlanInitOps.td - What is computed once an instance -*- tablegen -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_PLAN_INIT_OPS_TD
#define XC_PLAN_INIT_OPS_TD

include "compiler/Dialect/Plan/IR/PlanDialect.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/CommonTypeConstraints.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Plan_PackedOp : Op<Plan_Dialect, "packed", [Pure]> {
  let summary = "What the init plan has computed";
  let description = [{
    Result `ordinal` of the module's init function, the one with `plan.init`. That function depends on parameters and constants alone and runs
    once, before the first call; the buffer of each of its results outlives calls, and nothing writes it. Made by `-xc-hoist-parameters`. Example:
    ```mlir
    %w = plan.packed 3 : tensor<64x128xbf16>
    ```
  }];
  let arguments = (ins I64Attr:$ordinal);
  let results = (outs AnyStaticShapeTensor:$result);
  let assemblyFormat = "$ordinal attr-dict `:` type($result)";
}

#endif // XC_PLAN_INIT_OPS_TD
