//===- ArrayReductionOps.td - Reductions -------------------*- tablegen -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_DIALECT_ARRAY_IR_ARRAYREDUCTIONOPS_TD
#define XC_DIALECT_ARRAY_IR_ARRAYREDUCTIONOPS_TD

include "compiler/Dialect/Array/IR/ArrayBase.td"

/// Reduces over `axes`: strictly increasing, possibly none (then the operand
/// comes out unchanged in shape). Without `keepdims` the reduced dims go away,
/// with it they stay with size 1.
class Array_AxesOp<string mnemonic, list<Trait> traits = []>
    : Array_InferredOp<mnemonic, traits>;

def Array_ReduceOp : Array_AxesOp<"reduce", [Array_Vjp]> {
  let summary = "Sum, product, maximum, minimum, and, or over dims";
  let description = [{
    As `stablehlo.reduce` with these bodies. `sum` and `prod` take numbers (16-bit
    floats accumulate in `f32`), `max` and `min` numbers (NaN wins), `and` and `or`
    truth values and integers (bitwise). Over no elements the value is the neutral
    one: 0; 1; the lowest number or -infinity; the highest or +infinity; all bits
    set; 0. The order in which floats are combined is not specified, but it is the
    same on every run. `axes` is strictly increasing.

    Example:
    ```mlir
    %s = array.reduce sum, %x axes = [1] : tensor<4x8xf32> -> tensor<4xf32>
    %m = array.reduce max, %x axes = [0, 1] keepdims : tensor<4x8xf32> -> tensor<1x1xf32>
    ```
  }];
  let arguments = (ins Array_ReduceKindAttr:$kind, Array_Tensor:$operand, DenseI64ArrayAttr:$axes,
                       UnitAttr:$keepdims);
  let results = (outs Array_Tensor:$result);
  let assemblyFormat = [{
    `` $kind `,` $operand `axes` `=` $axes (`keepdims` $keepdims^)? attr-dict
    `:` type($operand) `->` type($result)
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Array_ReduceWithOp : Array_AxesOp<"reduce_with", [IsolatedFromAbove, SingleBlockImplicitTerminator<"YieldOp">]> {
  let summary = "Reduces dims with a body of its own";
  let description = [{
    As `stablehlo.reduce`: the body takes what has been combined so far, one rank-0 tensor
    for each operand, and then an element of each; it yields what has been combined with
    these. The operands have one shape. `init` has a number for each operand, which the
    body must not change anything by, and which is the result over no elements. The body
    has to be associative and commutative: elements are combined in an order that is not
    specified, but the same on every run. It is made of constants and elementwise ops on
    rank-0 tensors and sees nothing from outside. Computed in the operands' element types.

    Example:
    ```mlir
    %m, %i = array.reduce_with %x, %where axes = [1] init = [0xFF800000 : f32, 0 : i32]
        : (tensor<4x8xf32>, tensor<4x8xi32>) -> (tensor<4xf32>, tensor<4xi32>) {
    ^bb0(%best: tensor<f32>, %at: tensor<i32>, %y: tensor<f32>, %j: tensor<i32>):
      // Elements that differ: of equal ones either may be taken.
      %more = array.compare gt, %y, %best : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %v = array.select %more, %y, %best : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
      %k = array.select %more, %j, %at : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
      array.yield %v, %k : tensor<f32>, tensor<i32>
    }
    ```
  }];
  let arguments = (ins Variadic<Array_Tensor>:$operands, DenseI64ArrayAttr:$axes, ArrayAttr:$init,
                       UnitAttr:$keepdims);
  let results = (outs Variadic<Array_Tensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $operands `axes` `=` $axes `init` `=` $init (`keepdims` $keepdims^)? attr-dict
    `:` functional-type($operands, $results) $body
  }];
  let hasRegionVerifier = 1;
}

class Array_MomentOp<string mnemonic, list<Trait> traits = []>
    : Array_AxesOp<mnemonic, traits # [Array_Decomposable]> {
  let arguments = (ins Array_FloatTensor:$operand, DenseI64ArrayAttr:$axes, UnitAttr:$keepdims);
  let results = (outs Array_FloatTensor:$result);
  let assemblyFormat = [{
    $operand `axes` `=` $axes (`keepdims` $keepdims^)? attr-dict `:` type($operand) `->` type($result)
  }];
}

def Array_MeanOp : Array_MomentOp<"mean", [Array_Vjp]> {
  let summary = "Arithmetic mean over dims";
  let description = [{
    As `numpy.mean`; NaN over no elements. Computed in `f32` for 16-bit floats.

    Example:
    ```mlir
    %m = array.mean %x axes = [1] keepdims : tensor<4x8xf32> -> tensor<4x1xf32>
    ```
  }];
}

def Array_VarOp : Array_MomentOp<"var"> {
  let summary = "Variance over dims";
  let description = [{
    As `numpy.var`: the sum of squared distances from the mean, divided by the
    number of elements less `correction` (NumPy's `ddof`; NaN or infinity where
    that is not positive). Computed in `f32` for 16-bit floats, about the mean, so
    that it does not cancel.

    Example:
    ```mlir
    %v = array.var %x axes = [1] correction = 1 : tensor<4x8xf32> -> tensor<4xf32>
    ```
  }];
  let arguments = (ins Array_FloatTensor:$operand, DenseI64ArrayAttr:$axes, UnitAttr:$keepdims,
                       DefaultValuedAttr<I64Attr, "0">:$correction);
  let assemblyFormat = [{
    $operand `axes` `=` $axes (`keepdims` $keepdims^)? (`correction` `=` $correction^)? attr-dict
    `:` type($operand) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Array_LogSumExpOp : Array_MomentOp<"logsumexp"> {
  let summary = "Logarithm of the sum of exponentials over dims";
  let description = [{
    As `scipy.special.logsumexp`: the maximum is taken out first, so that nothing
    overflows; -infinity over no elements or where all are -infinity.

    Example:
    ```mlir
    %l = array.logsumexp %x axes = [1] : tensor<4x8xf32> -> tensor<4xf32>
    ```
  }];
}

class Array_ArgOp<string mnemonic, string what>
    : Array_InferredOp<mnemonic> {
  let summary = "Index of the " # what # " along a dim";
  let description = "As `numpy." # mnemonic # "`: the lowest index among equals; the first NaN wins. The "
      "result counts in `i32` or `i64`, as its type says. The dim must not be empty.\n\n"
      "Example:\n```mlir\n%i = array." # mnemonic #
      " %x axis = 1 : tensor<4x8xf32> -> tensor<4xi32>\n%j = array." # mnemonic #
      " %x axis = 1 keepdims : tensor<4x8xf32> -> tensor<4x1xi64>\n```\n";
  let arguments = (ins Array_NumberTensor:$operand, I64Attr:$axis, UnitAttr:$keepdims);
  let results = (outs RankedTensorOf<[I32, I64]>:$result);
  let assemblyFormat = [{
    $operand `axis` `=` $axis (`keepdims` $keepdims^)? attr-dict `:` type($operand) `->` type($result)
  }];
  let extraClassDeclaration = compatibleShapes;
}

def Array_ArgMaxOp : Array_ArgOp<"argmax", "maximum">;
def Array_ArgMinOp : Array_ArgOp<"argmin", "minimum">;

#endif // XC_DIALECT_ARRAY_IR_ARRAYREDUCTIONOPS_TD
