//===- Passes.td - Checks between the phases --------------*- tablegen -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_PIPELINE_PASSES_TD
#define XC_PIPELINE_PASSES_TD

include "mlir/Pass/PassBase.td"

def VerifyPhase : Pass<"xc-verify-phase", "::mlir::ModuleOp"> {
  let summary = "Check that a phase has left what the next one expects";
  let description = [{
    The last pass of every phase but `vmfb`. Each phase has a form that docs/architecture.md describes, and what does not have it
    is an error at its place that names the phase:
    - `input`: functions and variables; no calls, no TOSA; of linalg only `generic`, `contract` and `fill`; no arithmetic
      on whole tensors;
    - `array`: no ifs and whiles of regions, functions of one block;
    - `linalg`: of array ops only parameters and variables; tensors of signless integers of 8 bits and more, and floats;
    - `layout`: one module for each target, which holds what `linalg` leaves;
    - `dispatch`: functions of dispatches, views, constants, state and index arithmetic; each kernel module with as many
      bindings and scalars as its dispatches bring;
    - `codegen`: the same, each kernel with an image and variants of it, each of which has a strategy and the last no guard;
    - `plan`: plans of launches, copies, fills and control in place of functions; each command waits for earlier ones only.

    Changes nothing. Example:
    ```mlir
    %y = array.add %x, %x : tensor<4xf32>
    // error: 'array.add' op is left after phase 'linalg'
    ```
  }];
  let options = [Option<"phase", "phase", "std::string", /*default=*/"\"\"", "The phase that has ended">];
}

#endif // XC_PIPELINE_PASSES_TD
