//===- ArrayIndexOps.td - Elements at positions that are data -*- tablegen -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_DIALECT_ARRAY_IR_ARRAYINDEXOPS_TD
#define XC_DIALECT_ARRAY_IR_ARRAYINDEXOPS_TD

include "compiler/Dialect/Array/IR/ArrayBase.td"

def Array_TakeOp : Array_InferredOp<"take", [Array_Vjp]> {
  let summary = "Slices along one dim, at given indices";
  let description = [{
    As `numpy.take` with an axis: the dim `axis` of the operand is replaced by the
    dims of `indices`. An index is clamped into the dim, as `stablehlo.gather`
    does, so negative ones give the first slice. This is also the embedding lookup.

    Example:
    ```mlir
    %y = array.take %table[%ids] axis = 0
       : (tensor<1000x64xf32>, tensor<2x?xi32>) -> tensor<2x?x64xf32>
    ```
  }];
  let arguments = (ins Array_Tensor:$operand, Array_IntTensor:$indices, I64Attr:$axis);
  let results = (outs Array_Tensor:$result);
  let assemblyFormat = [{
    $operand `[` $indices `]` `axis` `=` $axis attr-dict `:` functional-type(operands, results)
  }];
}

def Array_TakeAlongAxisOp : Array_InferredOp<"take_along_axis", [Array_Vjp]> {
  let summary = "One element per index along a dim";
  let description = [{
    As `numpy.take_along_axis` without broadcasting: `indices` has the operand's
    rank and its sizes, but along `axis`; so has the result. Indices are clamped as
    in `array.take`.

    Example:
    ```mlir
    %y = array.take_along_axis %log_p[%label] axis = 1
       : (tensor<32x10xf32>, tensor<32x1xi32>) -> tensor<32x1xf32>
    ```
  }];
  let arguments = (ins Array_Tensor:$operand, Array_IntTensor:$indices, I64Attr:$axis);
  let results = (outs Array_Tensor:$result);
  let assemblyFormat = [{
    $operand `[` $indices `]` `axis` `=` $axis attr-dict `:` functional-type(operands, results)
  }];
}

def Array_GatherOp : Array_InferredOp<"gather", [Array_Vjp]> {
  let summary = "Slices at given index vectors";
  let description = [{
    The last dim of `indices` holds index vectors, one component for each of the
    operand's dims `axes` (strictly increasing). The result's dims are the other
    dims of `indices`, then the operand's dims not in `axes`:

        result[i..., r...] = operand[axes := indices[i..., :], others := r...]

    Indices are clamped as in `array.take`. This is `stablehlo.gather` with slices
    of size 1 along `axes`, collapsed (TensorFlow's `gather_nd` for leading axes).

    Example:
    ```mlir
    %y = array.gather %x[%points] axes = [0, 2]
       : (tensor<4x5x6xf32>, tensor<7x2xi32>) -> tensor<7x5xf32>
    ```
  }];
  let arguments = (ins Array_Tensor:$operand, Array_IntTensor:$indices, DenseI64ArrayAttr:$axes);
  let results = (outs Array_Tensor:$result);
  let assemblyFormat = [{
    $operand `[` $indices `]` `axes` `=` $axes attr-dict `:` functional-type(operands, results)
  }];
}

def Array_ScatterOp : Array_InferredOp<"scatter", [Array_Vjp]> {
  let summary = "Writes or accumulates slices at given index vectors";
  let description = [{
    The operand, with `updates` brought in where `array.gather` with the same
    `indices` and `axes` would read: `updates` has that gather's result type. `set`
    replaces, the other kinds combine with the old element. An index vector with a
    component outside its dim is skipped, as in `stablehlo.scatter`.

    Index vectors may repeat unless `unique` promises that they do not. Updates are
    applied one after another, in row-major order of the index vectors: with `set`
    the last of competing updates is kept, and sums of floats have one order, the
    same on every run. Done in place where the operand is not used again.

    Example:
    ```mlir
    %g = array.scatter add, %zeros[%rows] axes = [0] = %grad
       : (tensor<1000x64xf32>, tensor<32x1xi32>, tensor<32x64xf32>) -> tensor<1000x64xf32>
    ```
  }];
  let arguments = (ins Array_ScatterKindAttr:$kind, Array_Tensor:$operand, Array_IntTensor:$indices,
                       Array_Tensor:$updates, DenseI64ArrayAttr:$axes, UnitAttr:$unique);
  let results = (outs Array_Tensor:$result);
  let assemblyFormat = [{
    `` $kind `,` $operand `[` $indices `]` `axes` `=` $axes `=` $updates (`unique` $unique^)? attr-dict
    `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def Array_MaskedScatterOp : Array_InferredOp<"masked_scatter", [Array_Decomposable]> {
  let summary = "Elements of a source, one after the other, where a mask is true";
  let description = [{
    As `torch.Tensor.masked_scatter`: the operand, with its elements for which `mask` is
    true replaced by the elements of `source`, all in row-major order. A source that is too
    short gives its last element from there on.

    Example:
    ```mlir
    %y = array.masked_scatter %x, %mask, %source
       : (tensor<4x8xf32>, tensor<4x8xi1>, tensor<10xf32>) -> tensor<4x8xf32>
    ```
  }];
  let arguments = (ins Array_Tensor:$operand, Array_BoolTensor:$mask, Array_Tensor:$source);
  let results = (outs Array_Tensor:$result);
  let assemblyFormat = [{
    $operand `,` $mask `,` $source attr-dict `:` functional-type(operands, results)
  }];
}

def Array_NonzeroOp : Array_InferredOp<"nonzero", [Array_Decomposable]> {
  let summary = "Where elements are not zero, up to a number of them";
  let description = [{
    As `numpy.argwhere`, and `jax.numpy.nonzero` with a `size`: row `i` of `indices` is
    the index vector of the `i`-th element, in row-major order, that is not zero (NaN is
    not). There are `size` rows; those for which there is no such element hold -1.
    `count` is the number of such elements, which may be more. Both count in `i32` or
    `i64`, as their types say.

    Example:
    ```mlir
    %i, %n = array.nonzero %x size = 16 : tensor<4x8xf32> -> tensor<16x2xi32>, tensor<i32>
    ```
  }];
  let arguments = (ins Array_Tensor:$operand, I64Attr:$size);
  let results = (outs RankedTensorOf<[I32, I64]>:$indices, Array_ScalarOf<AnyTypeOf<[I32, I64]>>:$count);
  let assemblyFormat = [{
    $operand `size` `=` $size attr-dict `:` type($operand) `->` type($indices) `,` type($count)
  }];
  let extraClassDeclaration = compatibleShapes;
  let hasVerifier = 1;
}

def Array_OneHotOp : Array_InferredOp<"one_hot", [Array_Decomposable]> {
  let summary = "1 at the index, 0 elsewhere";
  let description = [{
    As `torch.nn.functional.one_hot`: a new last dim of size `depth` holds 1 where
    the position equals the index and 0 elsewhere; an index outside `[0, depth)`
    gives only zeros. The result type names the element type.

    Example:
    ```mlir
    %y = array.one_hot %label depth = 10 : tensor<32xi32> -> tensor<32x10xf32>
    ```
  }];
  let arguments = (ins Array_IntTensor:$indices, I64Attr:$depth);
  let results = (outs Array_Tensor:$result);
  let assemblyFormat = "$indices `depth` `=` $depth attr-dict `:` type($indices) `->` type($result)";
  let extraClassDeclaration = compatibleShapes;
}

#endif // XC_DIALECT_ARRAY_IR_ARRAYINDEXOPS_TD
