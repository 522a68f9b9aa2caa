//===- Passes.td - From array ops to linalg ---------------*- tablegen -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_CONVERSION_PASSES_TD
#define XC_CONVERSION_PASSES_TD

include "mlir/Pass/PassBase.td"

def FoldConstants : Pass<"xc-fold-constants", "::mlir::ModuleOp"> {
  let summary = "Evaluate array ops on constants";
  let description = [{
    What depends on constants only is lowered as everything is, and the linalg that comes out is evaluated, so that it has the
    bits that its kernels would compute. Stays as it is: what calls functions such as `exp`, whose last bit is the target's; sums and
    products of floats, whose order is; results of more than 65,536 elements, or that take more than 2^22 steps; results of several
    elements that take more than 1,024 bytes and more than twice the room of the data they are made of, or that no data goes into (masks and
    ranges cost a kernel nothing). Example:
    ```mlir
    %table = array.constant dense<[10, 20, 30]> : tensor<3xi32>                                       // input
    %which = array.constant dense<[2, 0]> : tensor<2xi64>
    %0 = array.take %table[%which] axis = 0 : (tensor<3xi32>, tensor<2xi64>) -> tensor<2xi32>

    %0 = array.constant dense<[30, 10]> : tensor<2xi32>                                               // output
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::tensor::TensorDialect", "::mlir::scf::SCFDialect",
                           "::mlir::memref::MemRefDialect", "::mlir::func::FuncDialect", "::mlir::affine::AffineDialect",
                           "::mlir::linalg::LinalgDialect", "::mlir::math::MathDialect", "::xc::kernel::KernelDialect",
                           "::xc::plan::PlanDialect"];
}

def MergeEqualOps : Pass<"xc-merge-equal-ops"> {
  let summary = "Merge ops that compute the same";
  let description = [{
    An op that does what one before it does, with equal regions, is replaced by that one, unless one of them writes; reads are equal in one
    block where nothing is written between them. What is not used and has no effect goes away. Regions of several blocks are not
    compared. The time that it takes grows with the program's size, however many ops share their operands. Example:
    ```mlir
    %a = array.exp %x : tensor<4xf32>                             // input
    %b = array.exp %x : tensor<4xf32>
    %c = array.add %a, %b : tensor<4xf32>

    %a = array.exp %x : tensor<4xf32>                             // output
    %c = array.add %a, %a : tensor<4xf32>
    ```
  }];
}

def GuardLoops : Pass<"xc-guard-loops", "::mlir::ModuleOp"> {
  let summary = "Guard loops that have no iteration for some sizes by an if";
  let description = [{
    Some sizes make the condition of a loop's first iteration false, alone or as a part of a conjunction. Such a loop
    moves into the first region of an `array.if` that these sizes decide. So what its body requires of sizes is required
    only where there may be an iteration. Sizes are what `-xc-outline-control` takes for sizes, and integers of fewer than
    64 bits that are compared with a constant which bounds them: `0 < n`. Loops that fill a `tensor.empty` stay.
    Example:
    ```mlir
    %n = array.from_index %size : tensor<i64>
    %y = array.while %zero : (tensor<i64>) -> (tensor<i64>) condition {                             // input
    ^bb0(%i: tensor<i64>):
      %p = array.compare lt, %i, %n : (tensor<i64>, tensor<i64>) -> tensor<i1>
      array.yield %p : tensor<i1>
    } body { ... }

    %y = array.if %first : tensor<i1> -> (tensor<i64>) {                                            // output
      %z = array.while %zero : ...
      array.yield %z : tensor<i64>
    } else {
      array.yield %zero : tensor<i64>
    }
    ```
  }];
  let dependentDialects = ["::xc::plan::PlanDialect", "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
                           "::mlir::tensor::TensorDialect"];
}

def OutlineControl : Pass<"xc-outline-control", "::mlir::ModuleOp"> {
  let summary = "Make functions of the regions of array.if and array.while";
  let description = [{
    Each region becomes a private function of what it captures (and, for a loop, of the values that it changes); the op becomes a
    `plan.branch` or `plan.loop` that names them. Variables that a region assigns are carried through as values and assigned
    behind the op. Later phases then see functions of one block only. Where the condition of an `array.if` follows from sizes and
    constants (`array.from_index` to i64, sums, differences, products, comparisons, logic), that of the `plan.branch` is an index
    that is 0 or 1, a formula over sizes; where it follows from constants alone, or from `array.dim_range`, the region that they
    choose takes the place of the op. Elementwise ops and changes of shape around an if that sizes decide move into its regions, to be
    fused there.
    Example:
    ```mlir
    %y = array.if %p : tensor<i1> -> (tensor<4xf32>) {                                              // input
      %a = array.exp %x : tensor<4xf32>
      array.yield %a : tensor<4xf32>
    } else {
      array.yield %x : tensor<4xf32>
    }
    %y = plan.branch %p then @main_if0_then otherwise @main_if0_else(%x)                            // output
       : (tensor<i1>, tensor<4xf32>) -> tensor<4xf32>
    ```
  }];
  let dependentDialects = ["::xc::plan::PlanDialect", "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
                           "::mlir::tensor::TensorDialect", "::mlir::func::FuncDialect"];
}

def StateRequirements : Pass<"xc-state-requirements", "::mlir::ModuleOp"> {
  let summary = "Say at the start of a function what it requires of the sizes of its inputs";
  let description = [{
    Adds a `plan.require` for each comparison of sizes that an op of the function requires, if a result of the function
    or of a region depends on the op, as a formula over the dynamic dims of the function's inputs. So what folds take
    away, and what a gradient does not need, still refuses sizes that the program as it is written refuses. Ops say what
    they require (`RequirementOpInterface`), composites of their own operands. Nothing is lowered, and no op is made to ask
    for a size. A bounded dynamic dim counts with its bound. Both sides of what a region requires are 0 where sizes choose
    that it does not run: a region of an `array.if`, or an `array.while` without a first iteration. Example:
    ```mlir
    func.func @f(%x: tensor<?x4xf32>) -> tensor<2x4xf32> {                                          // input
      %a = array.slice %x [0:3, :] : tensor<?x4xf32> -> tensor<3x4xf32>
      %b = array.slice %a [0:2, :] : tensor<3x4xf32> -> tensor<2x4xf32>
      return %b : tensor<2x4xf32>
    }
    %n = tensor.dim %x, %c0 : tensor<?x4xf32>                                                       // output, before the slices
    plan.require %c3 at_most %n, "array.slice: expected the slice of dim 0 to lie in tensor<?x4xf32>"
    ```
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
                           "::mlir::tensor::TensorDialect", "::xc::plan::PlanDialect"];
}

def RaiseScalars : Pass<"xc-raise-scalars", "::mlir::ModuleOp"> {
  let summary = "Make tensors of rank 0 of scalars between linalg ops";
  let description = [{
    Other compilers write linalg with scalars between its ops. Of those outside of bodies,

    - what depends on constants alone becomes a constant;
    - integers of 32 and 64 bits that are computed of sizes become indices;
    - elements that are read of tensors, and what is computed of them, become tensors of rank 0; bodies read them, fills and
      `tensor.from_elements` are made of them, and slices at such positions become gathers;
    - slices and elements that are put at such positions become `array.dynamic_update_slice`, choices between tensors
      `array.select`.

    The bodies of `array.while` and `array.if` are treated like functions.

    `cf.assert` goes: in bodies, where positions are moved into their tensors anyway, without a word; outside of them, a
    comparison of sizes becomes a `plan.require`, what no input meets is an error, and what depends on data a warning. Example:
    ```mlir
    %s = tensor.extract %t[%c0] : tensor<1xf32>                                  // input
    %h = arith.mulf %s, %half : f32
    %y = linalg.generic ... { ^bb0(%in: f32, %out: f32): %p = arith.mulf %in, %h : f32 ... }

    %s = linalg.generic ... -> tensor<f32>                                       // output
    %h = linalg.generic ... { %e = tensor.extract %s[] ... } -> tensor<f32>
    %y = linalg.generic ... { ^bb0(%in: f32, %out: f32): %e = tensor.extract %h[] : tensor<f32> %p = arith.mulf %in, %e : f32 ... }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect", "::xc::array::ArrayDialect", "::xc::plan::PlanDialect"];
}

def ConvertArrayToLinalg : Pass<"xc-convert-array-to-linalg", "::mlir::ModuleOp"> {
  let summary = "Lower array ops to linalg on tensors";
  let description = [{
    Replaces every array op but `array.parameter` and those on variables. Truth values are stored as i8 (0 or 1)
    and unsigned integers as signless ones; `array.dtype` on arguments, results, parameters and variables keeps
    what the caller sees. docs/rooms/linalg.md has the contract in full. Composite ops that are still there are
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
                           "::mlir::tensor::TensorDialect", "::xc::kernel::KernelDialect",
                           "::xc::plan::PlanDialect"];
}

#endif // XC_CONVERSION_PASSES_TD
