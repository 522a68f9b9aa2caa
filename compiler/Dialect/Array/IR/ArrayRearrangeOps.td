//===- ArrayRearrangeOps.td - Elements in other places -----*- tablegen -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_DIALECT_ARRAY_IR_ARRAYREARRANGEOPS_TD
#define XC_DIALECT_ARRAY_IR_ARRAYREARRANGEOPS_TD

include "compiler/Dialect/Array/IR/ArrayBase.td"

class Array_RearrangeOp<string mnemonic> : Array_InferredOp<mnemonic, [Array_Decomposable]> {
  let results = (outs Array_Tensor:$result);
}

def Array_RollOp : Array_RearrangeOp<"roll"> {
  let summary = "Shifts elements along dims cyclically";
  let description = [{
    As `numpy.roll` with axes: element `i` along `axes[d]` moves to `i + shifts[d]`,
    modulo the dim's size. `axes` is strictly increasing. Decomposes into slices and
    `array.concatenate`, or into `array.take` where a size is `?`.

    Example:
    ```mlir
    %y = array.roll %x shifts = [1, -2] axes = [0, 1] : tensor<4x8xf32> -> tensor<4x8xf32>
    ```
  }];
  let arguments = (ins Array_Tensor:$operand, DenseI64ArrayAttr:$shifts, DenseI64ArrayAttr:$axes);
  let assemblyFormat = [{
    $operand `shifts` `=` $shifts `axes` `=` $axes attr-dict `:` type($operand) `->` type($result)
  }];
}

def Array_TileOp : Array_RearrangeOp<"tile"> {
  let summary = "The whole tensor, several times along each dim";
  let description = [{
    As `numpy.tile` with one count for each dim. Decomposes into
    `array.broadcast_in_dim` and `array.reshape`.

    Example:
    ```mlir
    %y = array.tile %x repeats = [2, 3] : tensor<4x?xf32> -> tensor<8x?xf32>
    ```
  }];
  let arguments = (ins Array_Tensor:$operand, DenseI64ArrayAttr:$repeats);
  let assemblyFormat = "$operand `repeats` `=` $repeats attr-dict `:` type($operand) `->` type($result)";
}

def Array_RepeatOp : Array_RearrangeOp<"repeat"> {
  let summary = "Each element along a dim, several times";
  let description = [{
    As `numpy.repeat` with one count. Decomposes into `array.broadcast_in_dim` and
    `array.reshape`.

    Example:
    ```mlir
    %y = array.repeat %x repeats = 3 axis = 0 : tensor<4x8xf32> -> tensor<12x8xf32>
    ```
  }];
  let arguments = (ins Array_Tensor:$operand, I64Attr:$repeats, I64Attr:$axis);
  let assemblyFormat = [{
    $operand `repeats` `=` $repeats `axis` `=` $axis attr-dict `:` type($operand) `->` type($result)
  }];
}

def Array_DiagonalOp : Array_RearrangeOp<"diagonal"> {
  let summary = "A diagonal of each matrix";
  let description = [{
    As `numpy.diagonal` over the last two dims: the elements `[i, i + offset]`. Empty
    where the offset leaves the matrix. Decomposes into a strided slice, or into
    `array.take` where those dims are `?`.

    Example:
    ```mlir
    %d = array.diagonal %x offset = 1 : tensor<?x4x8xf32> -> tensor<?x4xf32>
    ```
  }];
  let arguments = (ins Array_Tensor:$operand, DefaultValuedAttr<I64Attr, "0">:$offset);
  let assemblyFormat = [{
    $operand (`offset` `=` $offset^)? attr-dict `:` type($operand) `->` type($result)
  }];
}

def Array_DiagOp : Array_RearrangeOp<"diag"> {
  let summary = "Matrices that hold vectors on a diagonal";
  let description = [{
    As `numpy.diag` of a vector and `torch.diag_embed`: vectors of size `n` along the
    last dim become square matrices of size `n + |offset|` with `[i, i + offset]` from
    them and 0 elsewhere. Decomposes into `array.pad`, or into `array.select` where `n`
    is `?`.

    Example:
    ```mlir
    %m = array.diag %v offset = -1 : tensor<?x4xf32> -> tensor<?x5x5xf32>
    ```
  }];
  let arguments = (ins Array_Tensor:$operand, DefaultValuedAttr<I64Attr, "0">:$offset);
  let assemblyFormat = [{
    $operand (`offset` `=` $offset^)? attr-dict `:` type($operand) `->` type($result)
  }];
}

class Array_TriangleOp<string mnemonic, string which, string condition> : Array_RearrangeOp<mnemonic> {
  let summary = "The " # which # " triangle of each matrix, 0 elsewhere";
  let description = "As `numpy." # mnemonic # "` over the last two dims: keeps `[i, j]` where `" # condition #
      "`. Decomposes into a comparison of two iotas.\n\nExample:\n```mlir\n%y = array." # mnemonic #
      " %x offset = 1 : tensor<?x4x8xf32> -> tensor<?x4x8xf32>\n```\n";
  let arguments = (ins Array_Tensor:$operand, DefaultValuedAttr<I64Attr, "0">:$offset);
  let assemblyFormat = [{
    $operand (`offset` `=` $offset^)? attr-dict `:` type($operand) `->` type($result)
  }];
}

def Array_TrilOp : Array_TriangleOp<"tril", "lower", "j <= i + offset">;
def Array_TriuOp : Array_TriangleOp<"triu", "upper", "j >= i + offset">;

#endif // XC_DIALECT_ARRAY_IR_ARRAYREARRANGEOPS_TD
