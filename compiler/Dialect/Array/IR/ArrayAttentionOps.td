//===- ArrayAttentionOps.td - Attention --------------------*- tablegen -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_DIALECT_ARRAY_IR_ARRAYATTENTIONOPS_TD
#define XC_DIALECT_ARRAY_IR_ARRAYATTENTIONOPS_TD

include "compiler/Dialect/Array/IR/ArrayBase.td"

def Array_AttentionOp
    : Array_InferredOp<"attention", [AttrSizedOperandSegments, Array_Decomposable, Array_Vjp]> {
  let summary = "Scaled dot-product attention";
  let description = [{
    As `mlx.fast.scaled_dot_product_attention`: `softmax(query * key^T * scale + mask) *
    value`, over `query [..., H, Q, D]`, `key [..., G, K, D]` and `value [..., G, K, E]`;
    the dims before are batch dims and equal. Where `G` is less than `H`, which it divides,
    `H / G` neighbouring query heads share one head of keys and values.

    `mask` broadcasts to `[..., H, Q, K]`: truth values (false hides a key) or numbers that
    are added to the scaled scores. With `causal`, query `i` sees key `j` if
    `j <= i + offset`; `offset` is a number on the device (decoding with a cache of keys:
    how many came before), by default `K - Q`, so that the last query sees all keys. A
    query that sees no key gives 0. Scores, softmax and sums are computed in `f32` for
    16-bit floats; what the values are multiplied with is rounded to their type. Where all
    sizes are known, the queries are taken some at a time, so that the scores of all of
    them never exist at once.

    Example:
    ```mlir
    %y = array.attention %q, %k, %v causal scale = 0.125
       : (tensor<?x8x?x64xf16>, tensor<?x2x?x64xf16>, tensor<?x2x?x64xf16>) -> tensor<?x8x?x64xf16>
    %z = array.attention %q, %k, %v mask(%m : tensor<1x1x?x?xi1>) scale = 0.125
       : (tensor<?x8x?x64xf16>, tensor<?x8x?x64xf16>, tensor<?x8x?x64xf16>) -> tensor<?x8x?x64xf16>
    ```
  }];
  let arguments = (ins Array_FloatTensor:$query, Array_FloatTensor:$key, Array_FloatTensor:$value,
                       Optional<Array_TensorOf<
                           AnyTypeOf<[I1, F16, BF16, F32, F64], "truth value or float">>>:$mask,
                       Optional<Array_ScalarOf<AnyTypeOf<[I32, I64]>>>:$offset,
                       UnitAttr:$causal, F64Attr:$scale);
  let results = (outs Array_FloatTensor:$result);
  let assemblyFormat = [{
    $query `,` $key `,` $value (`mask` `(` $mask^ `:` type($mask) `)`)? (`causal` $causal^)?
    (`offset` `(` $offset^ `:` type($offset) `)`)? `scale` `=` $scale attr-dict
    `:` `(` type($query) `,` type($key) `,` type($value) `)` `->` type($result)
  }];
  let hasVerifier = 1;
}

#endif // XC_DIALECT_ARRAY_IR_ARRAYATTENTIONOPS_TD
