//===- Passes.td - Kernels that the program brings -*- tablegen -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_CODEGEN_CUSTOM_PASSES_TD
#define XC_CODEGEN_CUSTOM_PASSES_TD

include "mlir/Pass/PassBase.td"

def ReadKernels : Pass<"xc-read-kernels", "::mlir::ModuleOp"> {
  let summary = "Read the files that custom kernels are in";
  let description = [{
    Gives each `array.custom_kernel` with `file` the text of that file as `ptx`, which its verifier then looks at. Paths are relative to
    `directory`. A file that cannot be read is an error. Nothing else of the compiler reads files that a program names. Example:
    ```mlir
    %c = array.custom_kernel "vadd"(%a, %b) grid = ... block = [256, 1, 1] {file = "vadd.ptx"}         // input
           : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %c = array.custom_kernel "vadd"(%a, %b) grid = ... block = [256, 1, 1] {ptx = ".version 7.0\0A..."} // output
           : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    ```
  }];
  let options = [Option<"directory", "directory", "std::string", /*default=*/"", "Where relative paths begin">];
}

def ResolveReferences : Pass<"xc-resolve-references", "::mlir::ModuleOp"> {
  let summary = "Compute custom kernels by their references on targets that have no PTX";
  let description = [{
    In the module of a CPU target puts the body of its reference in the place of each `kernel.custom`, with a `plan.require` that the
    results have the sizes that the op says; one without a reference is an error. In the module of any target then forgets which
    functions are references, and erases private ones that nothing else names. Regions of control in a reference are functions
    of their own by now; each place gets copies of them. References that hold variables or custom kernels are refused. Example:
    ```mlir
    func.func private @reference(%x: tensor<4xf32>) -> tensor<4xf32> { ... return %y : tensor<4xf32> }   // input
    %y = kernel.custom "f"(%x : tensor<4xf32>) into(%e : tensor<4xf32>) grid = ... block = [4, 1, 1] else @reference
           ptx = "..." -> tensor<4xf32>

    ...                                                                              // output: what @reference does to %x
    ```
  }];
  let dependentDialects = ["::mlir::tensor::TensorDialect", "::xc::plan::PlanDialect"];
}

def EmbedKernels : Pass<"xc-embed-kernels", "::mlir::ModuleOp"> {
  let summary = "Embed the code of custom kernels";
  let description = [{
    Makes a kernel module whose function is one `kernel.custom` what code generation makes of others: `plan.image` is the text, under the
    header of the target, its kernel under the name of the module; `plan.exports` says what it gets. Other kernels in the text
    get names that begin with the module's. Passes behind find no function in such a module. It has no `programmatic` export: nobody
    knows that the kernel waits for those in front of it. Leaves other kernels alone. Refuses texts of a later `.version` or for
    another `.target` than the module's, and more shared memory than a block can have. Example:
    ```mlir
    builtin.module @main_k0_vadd attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_80">} {
      func.func @main_k0_vadd() { ... kernel.custom "vadd"(...) ... }
    }
    // becomes
    builtin.module @main_k0_vadd attributes {plan.exports = ..., plan.image = "...", plan.kernel, plan.target = ...} {}
    ```
  }];
}

#endif // XC_CODEGEN_CUSTOM_PASSES_TD
