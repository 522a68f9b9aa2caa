//===- ArrayControlOps.td - Choices and loops that depend on data -*- tablegen -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_DIALECT_ARRAY_IR_ARRAYCONTROLOPS_TD
#define XC_DIALECT_ARRAY_IR_ARRAYCONTROLOPS_TD

include "compiler/Dialect/Array/IR/ArrayBase.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"

def Array_YieldOp : Array_Op<"yield", [Pure, Terminator, ReturnLike, ParentOneOf<["IfOp", "ReduceWithOp", "WhileOp"]>]> {
  let summary = "Values of a region of `array.if`, `array.while` or `array.reduce_with`";
  let description = [{
    Ends a region.

    Example:
    ```mlir
    array.yield %next, %sum : tensor<i32>, tensor<4xf32>
    ```
  }];
  let arguments = (ins Variadic<Array_Tensor>:$values);
  let assemblyFormat = "attr-dict ($values^ `:` type($values))?";
  let builders = [OpBuilder<(ins), [{ build($_builder, $_state, ::mlir::ValueRange{}); }]>];
}

def Array_IfOp : Array_Op<"if", [RecursiveMemoryEffects, NoRegionArguments,
    SingleBlockImplicitTerminator<"YieldOp">]> {
  let summary = "One of two computations, as data says";
  let description = [{
    As `stablehlo.if`: runs the first region where `condition` is true, else the
    second, and gives what that one yields. Only the chosen one is computed; where
    both are cheap `array.select` is faster. Where the condition follows from sizes
    alone (`array.from_index` to `i64`, constants, `add`, `sub`, `mul`, comparisons,
    `and`, `or`, `xor`), the host chooses when inputs are bound, and what is launched
    has no branch. The regions see values from outside.
    Both give results of one shape, which may hold `?`. Variables that a region
    assigns keep their values where the other one runs.

    Example:
    ```mlir
    %y = array.if %p : tensor<i1> -> (tensor<4xf32>) {
      %a = array.exp %x : tensor<4xf32>
      array.yield %a : tensor<4xf32>
    } else {
      array.yield %x : tensor<4xf32>
    }
    ```
  }];
  let arguments = (ins Array_ScalarOf<Array_Bool>:$condition);
  let results = (outs Variadic<Array_Tensor>:$results);
  let regions = (region SizedRegion<1>:$then_region, SizedRegion<1>:$else_region);
  let assemblyFormat = [{
    $condition attr-dict `:` type($condition) (`->` `(` type($results)^ `)`)? $then_region `else` $else_region
  }];
  let hasRegionVerifier = 1;
}

def Array_WhileOp : Array_Op<"while", [RecursiveMemoryEffects,
    SingleBlockImplicitTerminator<"YieldOp">]> {
  let summary = "A computation repeated while data says so";
  let description = [{
    As `stablehlo.while`: the values start as `inits`. As long as the region
    `condition` yields true of them, the region `body` makes the next ones; the
    last ones are the results. Both regions take the values as arguments and see
    values from outside. A value keeps its shape, which may hold `?`.

    The whole loop is one call for the program that uses the module: on CUDA a
    conditional node of the graph where the driver has them, elsewhere a loop on
    the host. Variables that the body assigns are carried in device memory too; the
    condition may read but not assign them.

    Example:
    ```mlir
    %n, %y = array.while %zero, %x : (tensor<i32>, tensor<?xf32>) -> (tensor<i32>, tensor<?xf32>) condition {
    ^bb0(%i: tensor<i32>, %v: tensor<?xf32>):
      %more = array.compare lt, %i, %limit : (tensor<i32>, tensor<i32>) -> tensor<i1>
      array.yield %more : tensor<i1>
    } body {
    ^bb0(%i: tensor<i32>, %v: tensor<?xf32>):
      %next = array.add %i, %one : tensor<i32>
      %half = array.mul %v, %scale : (tensor<?xf32>, tensor<f32>) -> tensor<?xf32>
      array.yield %next, %half : tensor<i32>, tensor<?xf32>
    }
    ```
  }];
  let arguments = (ins Variadic<Array_Tensor>:$inits);
  let results = (outs Variadic<Array_Tensor>:$results);
  let regions = (region SizedRegion<1>:$condition, SizedRegion<1>:$body);
  let assemblyFormat = [{
    $inits attr-dict `:` functional-type($inits, $results) `condition` $condition `body` $body
  }];
  let hasRegionVerifier = 1;
}

#endif // XC_DIALECT_ARRAY_IR_ARRAYCONTROLOPS_TD
