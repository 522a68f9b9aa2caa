//===- ArraySortOps.td - Elements in order -----------------*- tablegen -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_DIALECT_ARRAY_IR_ARRAYSORTOPS_TD
#define XC_DIALECT_ARRAY_IR_ARRAYSORTOPS_TD

include "compiler/Dialect/Array/IR/ArrayScanOps.td"

def Array_SortOp : Array_AlongAxisOp<"sort", [Array_Vjp]> {
  let summary = "Elements of each line in ascending or descending order";
  let description = [{
    As `numpy.sort(kind="stable")` along `axis`: ascending, NaN last, and what
    compares equal (-0 and +0, all NaNs) stays in its order. `descending` is the
    reverse order of values, NaN first, equals still in their order.

    Example:
    ```mlir
    %y = array.sort %x axis = 1 : tensor<4x?xf32> -> tensor<4x?xf32>
    %z = array.sort %x axis = 0 descending : tensor<4x?xf32> -> tensor<4x?xf32>
    ```
  }];
  let arguments = (ins Array_NumberTensor:$operand, I64Attr:$axis, UnitAttr:$descending);
  let results = (outs Array_NumberTensor:$result);
  let assemblyFormat = [{
    $operand `axis` `=` $axis (`descending` $descending^)? attr-dict `:` type($operand) `->` type($result)
  }];
}

def Array_ArgSortOp : Array_InferredOp<"argsort"> {
  let summary = "Where the elements of each sorted line come from";
  let description = [{
    As `numpy.argsort(kind="stable")` along `axis`: `take_along_axis` with the result
    gives what `array.sort` gives. The result counts in `i32` or `i64`, as its type
    says.

    Example:
    ```mlir
    %i = array.argsort %x axis = 1 : tensor<4x8xf32> -> tensor<4x8xi32>
    ```
  }];
  let arguments = (ins Array_NumberTensor:$operand, I64Attr:$axis, UnitAttr:$descending);
  let results = (outs RankedTensorOf<[I32, I64]>:$result);
  let assemblyFormat = [{
    $operand `axis` `=` $axis (`descending` $descending^)? attr-dict `:` type($operand) `->` type($result)
  }];
  let extraClassDeclaration = compatibleShapes;
}

def Array_TopKOp : Array_InferredOp<"topk", [Array_Vjp]> {
  let summary = "The largest or smallest elements of each line, and where they are";
  let description = [{
    As `torch.topk` and `jax.lax.top_k`: the first `k` elements of each line along
    `axis` sorted in descending order (NaN first), or with `smallest` in ascending
    order (NaN last); of equal elements the one with the lower index comes first.
    The second result holds their indices, in `i32` or `i64`, as its type says. No
    line is sorted beyond the `k` elements. Where `axis` is a bounded dynamic dim of fewer than
    `k`, the others are the lowest number (with `smallest` the highest, or NaN), at index -1.

    Example:
    ```mlir
    %v, %i = array.topk %x k = 2 axis = 1 : tensor<4x8xf32> -> tensor<4x2xf32>, tensor<4x2xi32>
    ```
  }];
  let arguments = (ins Array_NumberTensor:$operand, I64Attr:$k, I64Attr:$axis, UnitAttr:$smallest);
  let results = (outs Array_NumberTensor:$values, RankedTensorOf<[I32, I64]>:$indices);
  let assemblyFormat = [{
    $operand `k` `=` $k `axis` `=` $axis (`smallest` $smallest^)? attr-dict
    `:` type($operand) `->` type($values) `,` type($indices)
  }];
  let extraClassDeclaration = compatibleShapes;
  let hasVerifier = 1;
}

def Array_PartitionOp : Array_AlongAxisOp<"partition", [Array_Decomposable]> {
  let summary = "Smaller elements before, larger ones behind the one at a position";
  let description = [{
    As `numpy.partition`: the element at index `kth` of each line along `axis` is the
    one that sorting puts there, none before it is larger and none behind it is
    smaller. Which order the others have is not specified there; here they are
    sorted, since that costs little more on the targets.

    Example:
    ```mlir
    %y = array.partition %x kth = 3 axis = 1 : tensor<4x8xf32> -> tensor<4x8xf32>
    ```
  }];
  let arguments = (ins Array_NumberTensor:$operand, I64Attr:$kth, I64Attr:$axis);
  let results = (outs Array_NumberTensor:$result);
  let assemblyFormat = [{
    $operand `kth` `=` $kth `axis` `=` $axis attr-dict `:` type($operand) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Array_SearchSortedOp : Array_InferredOp<"searchsorted"> {
  let summary = "Where values belong in a sorted vector";
  let description = [{
    As `numpy.searchsorted`: for each element of `values` the index at which it would
    have to be inserted into `sorted` (ascending, NaN last) to keep the order, before
    its equals, or with `right` behind them. From 0 to the vector's size; counted in
    `i32` or `i64`, as the result type says. What comes out where `sorted` is not
    sorted is not specified, but lies in that range.

    Example:
    ```mlir
    %i = array.searchsorted %edges, %x right : (tensor<9xf32>, tensor<4x8xf32>) -> tensor<4x8xi32>
    ```
  }];
  let arguments = (ins Array_NumberTensor:$sorted, Array_NumberTensor:$values, UnitAttr:$right);
  let results = (outs RankedTensorOf<[I32, I64]>:$result);
  let assemblyFormat = [{
    $sorted `,` $values (`right` $right^)? attr-dict `:` functional-type(operands, results)
  }];
  let extraClassDeclaration = compatibleShapes;
}

#endif // XC_DIALECT_ARRAY_IR_ARRAYSORTOPS_TD
