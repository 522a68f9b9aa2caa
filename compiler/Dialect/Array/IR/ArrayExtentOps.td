//===- ArrayExtentOps.td - Dims whose size is data ---------*- tablegen -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_DIALECT_ARRAY_IR_ARRAYEXTENTOPS_TD
#define XC_DIALECT_ARRAY_IR_ARRAYEXTENTOPS_TD

include "compiler/Dialect/Array/IR/ArrayBase.td"

def Array_SetExtentOp : Array_Op<"set_extent", [Pure]> {
  let summary = "The first elements along a dim, as many as data says";
  let description = [{
    As XLA's `SetDimensionSize`: the first `count` elements of dim `axis`, where `count` is a number
    in device memory. The result's dim is a bounded dynamic dim (see the dialect's description):
    its extent is `count`, but not below 0 and not above the operand's size, which is its bound. Of a
    dim that has an extent already the smaller of both counts. Nothing is copied.

    Example:
    ```mlir
    %y = array.set_extent %x, %n axis = 0 : (tensor<64x8xf32>, tensor<i64>) -> tensor<?x8xf32>
    ```
  }];
  let arguments = (ins Array_Tensor:$operand, Array_ScalarOf<Array_Int>:$count, I64Attr:$axis);
  let results = (outs Array_Tensor:$result);
  let assemblyFormat = [{
    $operand `,` $count `axis` `=` $axis attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def Array_ExtentOp : Array_Op<"extent", [Pure]> {
  let summary = "How many elements a dim has, as data";
  let description = [{
    As XLA's `GetDimensionSize`: the runtime size of a bounded dynamic dim. Of any other dim it is the size.

    Example:
    ```mlir
    %n = array.extent %y, 0 : tensor<?x8xf32> -> tensor<i32>
    ```
  }];
  let arguments = (ins Array_Tensor:$operand, I64Attr:$axis);
  let results = (outs Array_ScalarOf<Array_Number>:$result);
  let assemblyFormat = "$operand `,` $axis attr-dict `:` type($operand) `->` type($result)";
  let hasVerifier = 1;
}

def Array_PadToBoundOp : Array_Op<"pad_to_bound", [Pure]> {
  let summary = "An array of the bounds' sizes, filled behind the extents";
  let description = [{
    As XLA's `PadToStatic`, with a value of one's own: the operand's elements, and `value` where an
    index is not below the extent of its dim. The result's sizes are the bounds: `?` where the bound
    is one that the host knows when inputs are bound. This is how a tensor with bounded dynamic dims
    leaves a function, beside `array.extent` of them.

    Example:
    ```mlir
    %z = array.pad_to_bound %y, %zero : (tensor<?x8xf32>, tensor<f32>) -> tensor<64x8xf32>
    ```
  }];
  let arguments = (ins Array_Tensor:$operand, Array_ScalarOf<Array_Element>:$value);
  let results = (outs Array_Tensor:$result);
  let assemblyFormat = "$operand `,` $value attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def Array_AppendOp : Array_Op<"append", [Pure]> {
  let summary = "Adds elements behind the extent of a dim";
  let description = [{
    The operand, whose dim `axis` is a bounded dynamic dim, with the elements of `update` behind the last
    one: a cache of keys that grows. The bound stays; the extent grows by the size of `update`
    (which may be a runtime size too), and what does not fit is dropped. Equal in all other dims.
    Done in place where the operand is not used again. `array.concatenate` makes an array with room
    for all instead.

    Example:
    ```mlir
    %c = array.append %cache, %key axis = 1
       : (tensor<4x?x64xf16>, tensor<4x1x64xf16>) -> tensor<4x?x64xf16>
    ```
  }];
  let arguments = (ins Array_Tensor:$operand, Array_Tensor:$update, I64Attr:$axis);
  let results = (outs Array_Tensor:$result);
  let assemblyFormat = [{
    $operand `,` $update `axis` `=` $axis attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def Array_CompressOp : Array_Op<"compress", [Pure, Array_Decomposable]> {
  let summary = "The slices for which a mask is true";
  let description = [{
    As `numpy.compress`: the slices along `axis` for which the vector `mask` is true, in their order.
    The result's dim is a bounded dynamic dim: its bound is the operand's size, its extent the
    number of slices that were kept.

    Example:
    ```mlir
    %y = array.compress %x, %keep axis = 0 : (tensor<64x8xf32>, tensor<64xi1>) -> tensor<?x8xf32>
    ```
  }];
  let arguments = (ins Array_Tensor:$operand, Array_BoolTensor:$mask, I64Attr:$axis);
  let results = (outs Array_Tensor:$result);
  let assemblyFormat = [{
    $operand `,` $mask `axis` `=` $axis attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def Array_WithinOp : Array_Op<"within", [Pure, AllTypesMatch<["operand", "result"]>]> {
  let summary = "The operand, of which only the elements before an extent are of interest";
  let description = [{
    Element `[i0, i1, ...]` is the operand's where the index along `axis` is below `extent`; the
    others are not specified, and need not be computed. `extent` is between 0 and the
    size of the dim. `-xc-array-resolve-extents` puts
    it where kernels can save work by it.

    Example:
    ```mlir
    %y = array.within %x, %n axis = 0 : tensor<64x8xf32>, tensor<i64>
    ```
  }];
  let arguments = (ins Array_Tensor:$operand, Array_ScalarOf<I64>:$extent, I64Attr:$axis);
  let results = (outs Array_Tensor:$result);
  let assemblyFormat = "$operand `,` $extent `axis` `=` $axis attr-dict `:` type($operand) `,` type($extent)";
  let hasVerifier = 1;
}

#endif // XC_DIALECT_ARRAY_IR_ARRAYEXTENTOPS_TD
