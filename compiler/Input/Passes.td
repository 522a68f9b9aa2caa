//===- Passes.td - What users write -----------------------*- tablegen -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_INPUT_PASSES_TD
#define XC_INPUT_PASSES_TD

include "mlir/Pass/PassBase.td"

def ImportTosa : Pass<"xc-import-tosa", "::mlir::ModuleOp"> {
  let summary = "Turn TOSA ops into array ops";
  let description = [{
    Every op of the `tosa` dialect that array ops compute becomes them: elementwise ops, reductions, products,
    convolutions and pools (channels stay last), movement, `resize` and the Fourier transforms (as products with their
    matrices) of images with static sizes, `rescale`, `table` on signed integers, `cond_if` and `while_loop` as `array.if` and `array.while`, variables. Zero points and shifts are constants.
    Computed shapes (`dim`, `add_shape`, ...) become numbers, or sums, differences, products, quotients and remainders of
    sizes that are known when inputs are bound; paddings and the numbers of `resize` are constants.
    NaNs that `nan_mode = IGNORE` leaves out of a maximum count as minus infinity; a `reduce_max` or `reduce_min` of nothing but NaNs is NaN. The others (`custom`, block-scaled types)
    are errors that name op and place. Example:
    ```mlir
    %y = tosa.reduce_sum %x {axis = 1 : i32} : (tensor<4x8xf32>) -> tensor<4x1xf32>              // input
    %y = array.reduce sum, %x axes = [1] keepdims : tensor<4x8xf32> -> tensor<4x1xf32>           // output
    ```
  }];
  let dependentDialects = ["::xc::array::ArrayDialect", "::mlir::tensor::TensorDialect"];
}

def ImportSCF : Pass<"xc-import-scf", "::mlir::ModuleOp"> {
  let summary = "Turn loops and choices between linalg ops into those of array";
  let description = [{
    `scf.for` and `scf.while` between tensor ops become `array.while`, `scf.if` becomes `array.if`. These carry tensors:
    a scalar that is carried or chosen becomes a tensor of rank 0, which `tensor.extract` reads where the scalar was used.
    Loops and choices in bodies of linalg ops stay. Other ops of `scf` are errors. Example:
    ```mlir
    %y = scf.for %i = %c0 to %c8 step %c1 iter_args(%a = %x) -> (tensor<4xf32>) {          // input
      %b = linalg.exp ins(%a : tensor<4xf32>) outs(%init : tensor<4xf32>) -> tensor<4xf32>
      scf.yield %b : tensor<4xf32>
    }
    %n, %y = array.while %zero, %x : ... condition { ... array.compare lt ... } body {     // output
    ^bb0(%i: tensor<i64>, %a: tensor<4xf32>):
      %b = linalg.exp ins(%a : tensor<4xf32>) outs(%init : tensor<4xf32>) -> tensor<4xf32>
      %next = array.add %i, %step : tensor<i64>
      array.yield %next, %b : tensor<i64>, tensor<4xf32>
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::xc::array::ArrayDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

def ImportTMTensor : Pass<"xc-import-tm-tensor", "::mlir::ModuleOp"> {
  let summary = "Turn Torch-MLIR's ops beside linalg into array ops";
  let description = [{
    Torch-MLIR's lowering to linalg on tensors leaves some ops in its dialect `tm_tensor`. Scans, scatters, sorts and the
    first k elements become array ops where their bodies are a sum, a product, a maximum, a minimum or the new value, or
    order by one operand; `attention` becomes `array.attention`. Others are errors that name op and place. Example:
    ```mlir
    %y:2 = tm_tensor.scan dimension(0) inclusive(true) ins(%x : tensor<4xf32>)            // input
        outs(%init, %start : tensor<4xf32>, tensor<f32>) {
    ^bb0(%next: f32, %total: f32):
      %sum = arith.addf %next, %total : f32
      tm_tensor.yield %sum : f32
    } -> tensor<4xf32>, tensor<f32>
    %y = array.cumsum %x axis = 0 : tensor<4xf32> -> tensor<4xf32>                        // output
    ```
  }];
  let dependentDialects = ["::xc::array::ArrayDialect", "::mlir::tensor::TensorDialect"];
}

def ImportStableHLO : Pass<"xc-import-stablehlo", "::mlir::ModuleOp"> {
  let summary = "Turn StableHLO and CHLO ops into array ops";
  let description = [{
    Every op of the `stablehlo` and `chlo` dialects that array ops compute becomes them, so that what
    `jax.jit(f).lower(x).as_text()` prints can be compiled; docs/stablehlo.md has a table of them. Sizes may be open
    where they are sums and products of sizes of arguments. Random
    bits are those that XLA makes from the same state. Marks for several devices (shardings) mean nothing here; arguments
    that JAX donates are donated. Ops that cannot be imported are named all at once: what, where, how often and why. With
    `stub-unsupported` their results are zeros, to see what becomes of the rest. Example:
    ```mlir
    %y = stablehlo.broadcast_in_dim %x, dims = [1] : (tensor<8xf32>) -> tensor<4x8xf32>   // input
    %y = array.broadcast_in_dim %x axes = [1] : tensor<8xf32> -> tensor<4x8xf32>          // output
    ```
  }];
  let options = [Option<"stubUnsupported", "stub-unsupported", "bool", /*default=*/"false",
                        "Make results of ops that cannot be imported zeros, and warn">];
  let dependentDialects = ["::xc::array::ArrayDialect", "::xc::chlo::CHLODialect",
                           "::mlir::arith::ArithDialect", "::xc::stablehlo::StableHLODialect",
                           "::mlir::func::FuncDialect"];
}

def VerifyInput : Pass<"xc-verify-input", "::mlir::ModuleOp"> {
  let summary = "Reject programs that no later phase can compile";
  let description = [{
    Checks what the verifiers of single ops cannot know: a module holds functions with one block each and array
    variables; arguments, results and values in between are ranked tensors without encoding of i1, i8..i64,
    ui8..ui64, f16, bf16, f32 or f64 (values in between also `index`); ops are those of the dialects array and
    func, linalg on tensors, the ops of `tensor` that make or view tensors, and arith, math and affine on tensors
    and indices; names of a function's inputs differ, and those of its outputs; no function calls itself. The gradients
    of the functions that `gradients` names may be declared without a body: a later pass gives them one. Everything else is an error at its place, which says
    what is supported. Changes nothing. Example:
    ```mlir
    func.func @f(%x: memref<4xf32>) { return }
    // error: argument 0 of 'f' has type 'memref<4xf32>'; expected a ranked tensor
    ```
  }];
  let options = [ListOption<"gradients", "gradients", "std::string",
                            "Functions whose gradient a later pass makes">];
}

def NormalizeInput : Pass<"xc-normalize-input", "::mlir::ModuleOp"> {
  let summary = "Bring linalg on tensors into the few forms that later phases know";
  let description = [{
    - arith and math ops on whole tensors become `linalg.generic`;
    - contractions, named or generic, whose body multiplies and adds become `linalg.contract`; 16-bit floats then
      accumulate in f32;
    - other named ops become `linalg.generic`, but for `linalg.fill`; sums and products of 16-bit floats
      (convolutions, pools, reductions) accumulate in f32, too;
    - a result that is written at constants in some dims becomes a slice of its init, which is put back there;
    - `tensor.pad` becomes a fill and an insertion, unless windows of known sizes read it; `tensor.concat` becomes
      insertions.

    Array ops stay. Positions that bodies compute for `tensor.extract` are moved into the tensor, as those of gathers
    are, unless they are surely in it. Example:
    ```mlir
    %c = linalg.matmul ins(%a, %b : tensor<4x8xf16>, tensor<8x2xf16>)            // input
                       outs(%init : tensor<4x2xf32>) -> tensor<4x2xf32>

    %c = linalg.contract indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>,  // output
             affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>]
           ins(%a, %b : tensor<4x8xf16>, tensor<8x2xf16>) outs(%init : tensor<4x2xf32>) -> tensor<4x2xf32>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect", "::xc::plan::PlanDialect"];
}

def InlineCalls : Pass<"xc-inline-calls", "::mlir::ModuleOp"> {
  let summary = "Inline calls of functions";
  let description = [{
    In public functions, and in private ones that more than calls refer to or whose gradient is declared, each call becomes a copy of its callee's ops, with the call
    in their locations; the calls in that copy are next. Other private functions stay as they are, for `-symbol-dce` to take out. Functions
    have one block each. The work is what the result holds: long chains of calls cost no more than short ones. A function that calls itself is an
    error. Example:
    ```mlir
    func.func private @twice(%x: tensor<4xf32>) -> tensor<4xf32> {
      %y = array.add %x, %x : tensor<4xf32>
      return %y : tensor<4xf32>
    }

    %z = func.call @twice(%a) : (tensor<4xf32>) -> tensor<4xf32>       // input

    %z = array.add %a, %a : tensor<4xf32>                              // output
    ```
  }];
}

#endif // XC_INPUT_PASSES_TD
