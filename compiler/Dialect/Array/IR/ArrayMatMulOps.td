//===- ArrayMatMulOps.td - Matrix products -----------------*- tablegen -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_DIALECT_ARRAY_IR_ARRAYMATMULOPS_TD
#define XC_DIALECT_ARRAY_IR_ARRAYMATMULOPS_TD

include "compiler/Dialect/Array/IR/ArrayBase.td"

def Array_MatMulOp : Array_InferredOp<"matmul", [Array_Vjp]> {
  let summary = "Matrix product, batched";
  let description = [{
    As `numpy.matmul` of operands of rank 2 or more: `[..., M, K] x [..., K, N]`
    gives `[..., M, N]`; the leading dims broadcast by the dialect's rules.
    `transpose_a` says that `lhs` is `[..., K, M]`, `transpose_b` that `rhs` is
    `[..., N, K]`.

    Both operands have one element type. The result has it too, or the one that is
    accumulated in: `f32` for `f16` and `bf16`, `i32` for `i8` (`ui32` for `ui8`).
    16-bit floats accumulate in `f32` and round once. `allow_tf32` permits rounding
    `f32` operands to 10 bits of mantissa. Over an empty K the result is 0.

    Example:
    ```mlir
    %c = array.matmul %a, %b : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
    %s = array.matmul %q, %k transpose_b
       : (tensor<?x12x64x32xf16>, tensor<?x12x64x32xf16>) -> tensor<?x12x64x64xf32>
    ```
  }];
  let arguments = (ins Array_NumberTensor:$lhs, Array_NumberTensor:$rhs,
                       UnitAttr:$transpose_a, UnitAttr:$transpose_b, UnitAttr:$allow_tf32);
  let results = (outs Array_NumberTensor:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs (`transpose_a` $transpose_a^)? (`transpose_b` $transpose_b^)?
    (`allow_tf32` $allow_tf32^)? attr-dict `:` functional-type(operands, results)
  }];
  let extraClassDeclaration = compatibleShapes;
  let hasVerifier = 1;
  let hasCanonicalizeMethod = 1;
}

def Array_DotGeneralOp : Array_InferredOp<"dot_general", [Array_Vjp]> {
  let summary = "Product summed over chosen pairs of dims";
  let description = [{
    As `stablehlo.dot_general`: `batch` pairs dims that go along, `contract` pairs
    dims that are multiplied and summed over. The result's dims are the batch dims,
    then what is left of `lhs`, then what is left of `rhs`. Element types as in
    `array.matmul`.

    Example:
    ```mlir
    %c = array.dot_general %a, %b batch = [0] x [1] contract = [2] x [0]
       : (tensor<4x5x6xf32>, tensor<6x4x7xf32>) -> tensor<4x5x7xf32>
    ```
  }];
  let arguments = (ins Array_NumberTensor:$lhs, Array_NumberTensor:$rhs,
                       DenseI64ArrayAttr:$lhs_batch, DenseI64ArrayAttr:$rhs_batch,
                       DenseI64ArrayAttr:$lhs_contract, DenseI64ArrayAttr:$rhs_contract,
                       UnitAttr:$allow_tf32);
  let results = (outs Array_NumberTensor:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs `batch` `=` $lhs_batch `x` $rhs_batch `contract` `=` $lhs_contract `x` $rhs_contract
    (`allow_tf32` $allow_tf32^)? attr-dict `:` functional-type(operands, results)
  }];
  let extraClassDeclaration = compatibleShapes # [{
    /// The dims of `operand` that are neither in `batch` nor in `contract`.
    static ::llvm::SmallVector<int64_t> getFreeDims(::mlir::Value operand, ::llvm::ArrayRef<int64_t> batch,
                                                    ::llvm::ArrayRef<int64_t> contract);
  }];
  let hasVerifier = 1;
}

def Array_GroupedMatMulOp : Array_InferredOp<"grouped_matmul", [Array_Decomposable, Array_Vjp]> {
  let summary = "Rows in groups, each group times a matrix of its own";
  let description = [{
    As `jax.lax.ragged_dot`, for a mixture of experts: the first `sizes[0]` rows of `lhs`
    `[M, K]` are multiplied with `rhs[0]` of `rhs` `[G, K, N]`, the next `sizes[1]` with
    `rhs[1]`, and so on; rows behind the last group give 0. `sizes` are numbers on the
    device, negative ones count as 0, and rows that they ask for beyond `M` are not there.
    Without a group (`G` is 0) all rows give 0; a `G` that is known when inputs are bound is
    at least 1 where there are rows, which is checked then.
    `transpose_b` says that `rhs` is `[G, N, K]`. Element types and `allow_tf32` as in
    `array.matmul`.

    Decomposes into one batched `array.matmul` of tiles of rows, of which no group has more
    than one that is not full: the work is that of `M` rows and at most a tile for each
    group, whatever the sizes are.

    Example:
    ```mlir
    %y = array.grouped_matmul %x, %experts, %count
       : (tensor<?x64xf16>, tensor<8x64x128xf16>, tensor<8xi32>) -> tensor<?x128xf16>
    ```
  }];
  let arguments = (ins Array_NumberTensor:$lhs, Array_NumberTensor:$rhs, RankedTensorOf<[I32, I64]>:$sizes,
                       UnitAttr:$transpose_b, UnitAttr:$allow_tf32);
  let results = (outs Array_NumberTensor:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs `,` $sizes (`transpose_b` $transpose_b^)? (`allow_tf32` $allow_tf32^)? attr-dict
    `:` functional-type(operands, results)
  }];
  let extraClassDeclaration = compatibleShapes;
  let hasVerifier = 1;
}

#endif // XC_DIALECT_ARRAY_IR_ARRAYMATMULOPS_TD
