//===- PlanDialect.td - The plan dialect ------------------*- tablegen -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_PLAN_DIALECT_TD
#define XC_PLAN_DIALECT_TD

include "mlir/IR/OpBase.td"

def Plan_Dialect : Dialect {
  let name = "plan";
  let cppNamespace = "::xc::plan";
  let summary = "What runs, where its buffers are, and in which order";
  let description = [{
    The dialect carries a program from linalg on tensors to what a module holds. Three groups of ops:

    - `plan.region` and `plan.dispatch`, on tensors: which ops make one kernel.
    - `plan.binding`, `plan.scalar`, `plan.workgroup_id`, inside a kernel: what the kernel gets from outside.
    - `plan.function` and its commands (`plan.launch`, `plan.copy`, `plan.fill`): buffers with their place,
      and explicit edges between the commands.

    docs/architecture.md describes how a program passes through them.
  }];
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
}

#endif // XC_PLAN_DIALECT_TD
