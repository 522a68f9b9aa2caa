//===- ArrayShapeOps.td - Making, moving and viewing elements -*- tablegen -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_DIALECT_ARRAY_IR_ARRAYSHAPEOPS_TD
#define XC_DIALECT_ARRAY_IR_ARRAYSHAPEOPS_TD

include "compiler/Dialect/Array/IR/ArrayBase.td"

//===----------------------------------------------------------------------===//
// Sources
//===----------------------------------------------------------------------===//

def Array_ConstantOp : Array_Op<"constant", [Pure, ConstantLike, AllTypesMatch<["value", "result"]>,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>]> {
  let summary = "A constant tensor";
  let description = [{
    Holds its elements: `dense<...>`, one value for all elements (a splat), or
    `dense_resource<...>` for large ones.

    Example:
    ```mlir
    %zero = array.constant dense<0.0> : tensor<4x8xf32>
    %perm = array.constant dense<[2, 0, 1]> : tensor<3xi32>
    ```
  }];
  let arguments = (ins ElementsAttr:$value);
  let results = (outs Array_Tensor:$result);
  let assemblyFormat = "attr-dict $value";
  let hasFolder = 1;
}

def Array_ParameterAttr : AttrDef<Array_Dialect, "Parameter"> {
  let mnemonic = "parameter";
  let summary = "Names external data: an archive and a key in it";
  let description = [{
    `scope` names the archive: the path of a `.npy` or `.safetensors` file as the
    compiler sees it, or any name that the user binds to an archive when an
    instance is created. `key` is the tensor's name inside a safetensors archive,
    and empty for a `.npy` file, which holds one tensor.

    Example:
    ```mlir
    #array.parameter<"weights"::"encoder.0.scale">
    #array.parameter<"mask.npy">
    ```
  }];
  let parameters = (ins StringRefParameter<"the archive">:$scope,
                        StringRefParameter<"the tensor's name in it, or empty">:$key);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Array_ParameterOp : Array_Op<"parameter", [Pure,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>]> {
  let summary = "A constant tensor held outside the program";
  let description = [{
    External data by reference (see `#array.parameter`). It is read when an
    instance is created and must have the result's type; it never changes, so two
    reads of it are the same value.

    Example:
    ```mlir
    %w = array.parameter "weights"::"encoder.0.scale" : tensor<768xf32>
    %m = array.parameter "mask.npy" : tensor<4x4xf32>
    ```
  }];
  let arguments = (ins Array_ParameterAttr:$parameter);
  let results = (outs StaticShapeTensorOf<[Array_Element]>:$result);
  let assemblyFormat = "attr-dict custom<TypedParameter>($parameter, type($result))";
}

def Array_IotaOp : Array_SizedOp<"iota"> {
  let summary = "Counts along one dim";
  let description = [{
    As `stablehlo.iota`: element `[i0, i1, ...]` is the index along `axis`,
    converted to the element type (so it wraps or rounds where that is too narrow).

    Example:
    ```mlir
    %i = array.iota axis = 1 : tensor<4x8xi32>
    %j = array.iota axis = 0 sizes(%n) : tensor<?xf32>
    ```
  }];
  let arguments = (ins Variadic<Index>:$sizes, I64Attr:$axis);
  let results = (outs Array_NumberTensor:$result);
  let assemblyFormat = "`axis` `=` $axis (`sizes` `(` $sizes^ `)`)? attr-dict `:` type($result)";
}

//===----------------------------------------------------------------------===//
// Shape queries and changes
//===----------------------------------------------------------------------===//

def Array_DimOp : Array_Op<"dim", [Pure]> {
  let summary = "The size of one dim";
  let description = [{
    Known on the host before anything runs; for `sizes(...)` operands and the
    arithmetic in between (`arith` on `index`). `array.from_index` makes it data.
    Canonicalises to `tensor.dim`, of an argument where the size can be derived
    from arguments.

    Example:
    ```mlir
    %n = array.dim %x, 0 : tensor<?x4xf32>
    ```
  }];
  let arguments = (ins Array_Tensor:$operand, I64Attr:$axis);
  let results = (outs Index:$result);
  let assemblyFormat = "$operand `,` $axis attr-dict `:` type($operand)";
  let hasVerifier = 1;
  let hasFolder = 1;
  let hasCanonicalizeMethod = 1;
}

def Array_FromIndexOp : Array_Op<"from_index", [Pure]> {
  let summary = "A size as a rank-0 tensor";
  let description = [{
    Converts an `index` (a size) to data, so that a mean over a dynamic dim or the
    like can compute with it. Converts as `array.convert` from `i64` does.

    Example:
    ```mlir
    %count = array.from_index %n : tensor<f32>
    ```
  }];
  let arguments = (ins Index:$operand);
  let results = (outs Array_ScalarOf<Array_Number>:$result);
  let assemblyFormat = "$operand attr-dict `:` type($result)";
  let hasFolder = 1;
}

def Array_BroadcastInDimOp : Array_SizedOp<"broadcast_in_dim", [Array_Vjp]> {
  let summary = "Repeats dims of size 1 and adds dims";
  let description = [{
    As `stablehlo.broadcast_in_dim`: dim `d` of the operand becomes dim `axes[d]`
    of the result; its size is that of the result, or 1, in which case it is
    repeated. The result's other dims repeat the whole operand. `axes` is strictly
    increasing (transpose first where it is not). A `?` of the operand broadcasts
    if it is 1 at run time.

    Example:
    ```mlir
    %y = array.broadcast_in_dim %x axes = [1] : tensor<8xf32> -> tensor<4x8xf32>
    %z = array.broadcast_in_dim %x axes = [1] sizes(%n) : tensor<8xf32> -> tensor<?x8xf32>
    ```
  }];
  let arguments = (ins Array_Tensor:$operand, Variadic<Index>:$sizes, DenseI64ArrayAttr:$axes);
  let results = (outs Array_Tensor:$result);
  let assemblyFormat = [{
    $operand `axes` `=` $axes (`sizes` `(` $sizes^ `)`)? attr-dict `:` type($operand) `->` type($result)
  }];
  let hasFolder = 1;
}

def Array_ReshapeOp : Array_SizedOp<"reshape", [Array_Vjp]> {
  let summary = "The same elements in row-major order under another shape";
  let description = [{
    As `stablehlo.reshape` and `stablehlo.dynamic_reshape`. Both shapes hold equally
    many elements. Where the result has exactly one `?`, `sizes` may be left out:
    the dim is inferred from the number of elements, as NumPy's -1.

    Example:
    ```mlir
    %y = array.reshape %x : tensor<4x6xf32> -> tensor<2x12xf32>
    %z = array.reshape %u : tensor<?x6xf32> -> tensor<?x2x3xf32>
    %w = array.reshape %u sizes(%a, %b) : tensor<?x6xf32> -> tensor<?x?x6xf32>
    ```
  }];
  let arguments = (ins Array_Tensor:$operand, Variadic<Index>:$sizes);
  let results = (outs Array_Tensor:$result);
  let assemblyFormat = [{
    $operand (`sizes` `(` $sizes^ `)`)? attr-dict `:` type($operand) `->` type($result)
  }];
  let hasFolder = 1;
}

def Array_ExpandDimsOp : Array_InferredOp<"expand_dims", [Array_Decomposable]> {
  let summary = "Inserts dims of size 1";
  let description = [{
    As `numpy.expand_dims`: `axes` are the new dims' positions in the result,
    strictly increasing. Decomposes into `array.reshape`.

    Example:
    ```mlir
    %y = array.expand_dims %x axes = [0, 2] : tensor<4xf32> -> tensor<1x4x1xf32>
    ```
  }];
  let arguments = (ins Array_Tensor:$operand, DenseI64ArrayAttr:$axes);
  let results = (outs Array_Tensor:$result);
  let assemblyFormat = "$operand `axes` `=` $axes attr-dict `:` type($operand) `->` type($result)";
}

def Array_SqueezeOp : Array_InferredOp<"squeeze", [Array_Decomposable]> {
  let summary = "Removes dims of size 1";
  let description = [{
    As `numpy.squeeze` with explicit `axes`, strictly increasing; each of them has
    size 1 (at run time, where it is `?`). Decomposes into `array.reshape`.

    Example:
    ```mlir
    %y = array.squeeze %x axes = [0, 2] : tensor<1x4x1xf32> -> tensor<4xf32>
    ```
  }];
  let arguments = (ins Array_Tensor:$operand, DenseI64ArrayAttr:$axes);
  let results = (outs Array_Tensor:$result);
  let assemblyFormat = "$operand `axes` `=` $axes attr-dict `:` type($operand) `->` type($result)";
}

def Array_TransposeOp : Array_InferredOp<"transpose", [Array_Vjp]> {
  let summary = "Permutes dims";
  let description = [{
    As `stablehlo.transpose`: dim `i` of the result is dim `permutation[i]` of the
    operand.

    Example:
    ```mlir
    %y = array.transpose %x permutation = [1, 0] : tensor<4x8xf32> -> tensor<8x4xf32>
    ```
  }];
  let arguments = (ins Array_Tensor:$operand, DenseI64ArrayAttr:$permutation);
  let results = (outs Array_Tensor:$result);
  let assemblyFormat = [{
    $operand `permutation` `=` $permutation attr-dict `:` type($operand) `->` type($result)
  }];
  let hasFolder = 1;
}

def Array_ReverseOp : Array_InferredOp<"reverse", [Array_Vjp]> {
  let summary = "Reverses the order along dims";
  let description = [{
    As `stablehlo.reverse`. `axes` is strictly increasing.

    Example:
    ```mlir
    %y = array.reverse %x axes = [1] : tensor<4x8xf32> -> tensor<4x8xf32>
    ```
  }];
  let arguments = (ins Array_Tensor:$operand, DenseI64ArrayAttr:$axes);
  let results = (outs Array_Tensor:$result);
  let assemblyFormat = "$operand `axes` `=` $axes attr-dict `:` type($operand) `->` type($result)";
  let hasFolder = 1;
}

//===----------------------------------------------------------------------===//
// Parts and joins
//===----------------------------------------------------------------------===//

def Array_SliceOp : Array_InferredOp<"slice", [Array_Vjp]> {
  let summary = "A strided box of the operand";
  let description = [{
    As `stablehlo.slice`, written as in NumPy: per dim `[start : limit : stride]`,
    `0 <= start <= limit <= size` and `stride >= 1`; `start` defaults to 0, the
    stride to 1, and an absent limit is the dim's size (the only form that follows
    a `?`). The bounds of a `?` dim are checked at run time, not clamped.

    The attributes hold an absent limit as `ShapedType::kDynamic`.

    Example:
    ```mlir
    %y = array.slice %x [0:4, 1:8:2] : tensor<4x8xf32> -> tensor<4x4xf32>
    %z = array.slice %u [1:, :] : tensor<?x8xf32> -> tensor<?x8xf32>
    ```
  }];
  let arguments = (ins Array_Tensor:$operand, DenseI64ArrayAttr:$starts, DenseI64ArrayAttr:$limits,
                       DenseI64ArrayAttr:$strides);
  let results = (outs Array_Tensor:$result);
  let assemblyFormat = [{
    $operand custom<SliceRanges>($starts, $limits, $strides) attr-dict
    `:` type($operand) `->` type($result)
  }];
  let hasFolder = 1;
}

def Array_DynamicSliceOp : Array_SizedOp<"dynamic_slice", [AttrSizedOperandSegments, Array_Vjp]> {
  let summary = "A box of the operand at a position that is data";
  let description = [{
    As `stablehlo.dynamic_slice`: one rank-0 integer per dim says where the box
    starts; the result type says how large it is. A start is moved so that the box
    lies inside the operand: `clamp(0, start, size - box)`.

    Example:
    ```mlir
    %y = array.dynamic_slice %x[%i, %j]
       : (tensor<4x8xf32>, tensor<i32>, tensor<i32>) -> tensor<1x8xf32>
    ```
  }];
  let arguments = (ins Array_Tensor:$operand, Variadic<Array_ScalarOf<Array_Int>>:$starts,
                       Variadic<Index>:$sizes);
  let results = (outs Array_Tensor:$result);
  let assemblyFormat = [{
    $operand `[` $starts `]` (`sizes` `(` $sizes^ `)`)? attr-dict `:`
    `(` type($operand) (`,` type($starts)^)? `)` `->` type($result)
  }];
}

def Array_DynamicUpdateSliceOp : Array_InferredOp<"dynamic_update_slice", [Array_Vjp]> {
  let summary = "Replaces a box at a position that is data";
  let description = [{
    As `stablehlo.dynamic_update_slice`: the operand, with the box of `update`'s
    shape that starts at `starts` (moved to lie inside, as in `dynamic_slice`)
    replaced by `update`. Done in place where the operand is not used again.

    Example:
    ```mlir
    %y = array.dynamic_update_slice %x[%i, %j] = %u
       : (tensor<4x8xf32>, tensor<1x8xf32>, tensor<i32>, tensor<i32>) -> tensor<4x8xf32>
    ```
  }];
  let arguments = (ins Array_Tensor:$operand, Array_Tensor:$update,
                       Variadic<Array_ScalarOf<Array_Int>>:$starts);
  let results = (outs Array_Tensor:$result);
  let assemblyFormat = [{
    $operand `[` $starts `]` `=` $update attr-dict `:` functional-type(operands, results)
  }];
}

def Array_ConcatenateOp : Array_InferredOp<"concatenate", [Array_Vjp]> {
  let summary = "Joins tensors along a dim";
  let description = [{
    As `stablehlo.concatenate`: at least one operand, equal in all dims but `axis`.

    Example:
    ```mlir
    %y = array.concatenate %a, %b axis = 0
       : (tensor<2x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
    ```
  }];
  let arguments = (ins Variadic<Array_Tensor>:$operands, I64Attr:$axis);
  let results = (outs Array_Tensor:$result);
  let assemblyFormat = "$operands `axis` `=` $axis attr-dict `:` functional-type($operands, $result)";
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def Array_SplitOp : Array_InferredOp<"split", [Array_Decomposable]> {
  let summary = "Cuts a tensor into parts along a dim";
  let description = [{
    As `numpy.split`, with the parts' sizes along `axis`; they add up to the dim's
    size. Decomposes into slices.

    Example:
    ```mlir
    %q, %k = array.split %x axis = 1 parts = [4, 2]
           : tensor<3x6xf32> -> tensor<3x4xf32>, tensor<3x2xf32>
    ```
  }];
  let arguments = (ins Array_Tensor:$operand, I64Attr:$axis, DenseI64ArrayAttr:$parts);
  let results = (outs Variadic<Array_Tensor>:$results);
  let assemblyFormat = [{
    $operand `axis` `=` $axis `parts` `=` $parts attr-dict `:` type($operand) `->` type($results)
  }];
}

def Array_PadOp : Array_InferredOp<"pad", [Array_Vjp]> {
  let summary = "Surrounds and spreads elements with a value";
  let description = [{
    As `stablehlo.pad` with amounts that are not negative: `low` and `high` elements
    of `value` before and after, and `interior` between two neighbours, per dim.
    `interior` may be left out where all are 0. (Slice to cut instead.)

    Example:
    ```mlir
    %y = array.pad %x, %zero low = [1, 0] high = [1, 2] interior = [0, 1]
       : (tensor<4x3xf32>, tensor<f32>) -> tensor<6x7xf32>
    ```
  }];
  let arguments = (ins Array_Tensor:$operand, Array_ScalarOf<Array_Element>:$value,
                       DenseI64ArrayAttr:$low, DenseI64ArrayAttr:$high,
                       OptionalAttr<DenseI64ArrayAttr>:$interior);
  let results = (outs Array_Tensor:$result);
  let assemblyFormat = [{
    $operand `,` $value `low` `=` $low `high` `=` $high (`interior` `=` $interior^)? attr-dict
    `:` functional-type(operands, results)
  }];
  let hasFolder = 1;
}

#endif // XC_DIALECT_ARRAY_IR_ARRAYSHAPEOPS_TD
