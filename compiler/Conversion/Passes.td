//===- Passes.td - From array ops to linalg ---------------*- tablegen -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_CONVERSION_PASSES_TD
#define XC_CONVERSION_PASSES_TD

include "mlir/Pass/PassBase.td"

def ConvertArrayToLinalg : Pass<"xc-convert-array-to-linalg", "::mlir::ModuleOp"> {
  let summary = "Lower array ops to linalg on tensors";
  let description = [{
    Replaces every array op but `array.parameter` and those on variables. Truth values are stored as i8 (0 or 1)
    and unsigned integers as signless ones; `array.dtype` on arguments, results, parameters and variables keeps
    what the caller sees. docs/architecture.md has the contract in full. Composite ops that are still there are
    decomposed. Fails with an error at the first op that it cannot lower. Example:
    ```mlir
    %z = array.add %x, %y : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>    // input

    %init = tensor.empty() : tensor<4x8xf32>                                       // output
    %z = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>,
                                          affine_map<(d0, d1) -> (d0, d1)>],
                         iterator_types = ["parallel", "parallel"]}
        ins(%x, %y : tensor<4x8xf32>, tensor<8xf32>) outs(%init : tensor<4x8xf32>) {
      ^bb0(%a: f32, %b: f32, %unused: f32):
        %sum = arith.addf %a, %b : f32
        linalg.yield %sum : f32
    } -> tensor<4x8xf32>
    ```
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect", "::mlir::math::MathDialect",
                           "::mlir::tensor::TensorDialect", "::xc::kernel::KernelDialect"];
}

#endif // XC_CONVERSION_PASSES_TD
