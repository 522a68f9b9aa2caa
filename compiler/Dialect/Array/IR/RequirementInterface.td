//===- RequirementInterface.td - What ops require of sizes ----*- tablegen -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_DIALECT_ARRAY_IR_REQUIREMENTINTERFACE_TD
#define XC_DIALECT_ARRAY_IR_REQUIREMENTINTERFACE_TD

include "mlir/IR/OpBase.td"

def RequirementOpInterface : OpInterface<"RequirementOpInterface"> {
  let cppNamespace = "::xc::array";
  let description = [{
    An op that requires something of the sizes of its operands, beyond what its
    verifier sees in types: what only the run tells. The runtime checks the
    sizes that a function is called with before it runs.
  }];
  let methods = [
    InterfaceMethod<
      [{
        States what the op requires, as comparisons of sizes of its operands.
        Leaves out what holds for all sizes that the types allow.
      }],
      "void", "reifyRequirements",
      (ins "::xc::array::RequirementBuilder &":$requirements)>
  ];
}

#endif // XC_DIALECT_ARRAY_IR_REQUIREMENTINTERFACE_TD
