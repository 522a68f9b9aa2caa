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
    : Array_InferredOp<"attention", [
        AttrSizedOperandSegments, Array_Decomposable,
        DeclareOpInterfaceMethods<ArrayVjpOpInterface, ["buildWantedVjp"]>]> {
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
    `window` of `n` keys, beside `causal`, is one that slides along: a query sees the last
    `n` of those keys, `j > i + offset - n`. `sinks` is one number for each query head, a
    score that counts in its softmax like one more key whose value is 0 (attention sinks).
    A query that sees no key gives 0.

    With `softcap`, a positive number, scaled scores `s` become `softcap * tanh(s / softcap)` before
    a mask is added or keys are hidden, so that none is larger.

    With `logsumexp` there is a second result, `[..., H, Q]` in `f32` (`f64` for `f64`): the
    logarithm of the sum of `exp` of all scores of a query, by which parts of the keys that
    were attended to apart can be joined; -infinity where there was none.

    Scores, softmax and sums are computed in `f32` for 16-bit floats; what the values are
    multiplied with is rounded to their type.

    Scores of more queries than 2^22 scores belong to do not exist at once: up to 32 parts of
    the queries are computed one after the other, each with the keys that it can see; where
    that is too few, a loop goes over blocks of at least 64 queries. Where sizes are not
    known, up to 2^27 scores are held at once and the loop is taken for more, as the host
    decides when inputs are bound; its blocks are as large as that allows. The attribute
    `array.max_scores` says how many may be held instead. A gradient of known sizes is computed
    in up to 32 parts of the queries, too. Where 32 parts of more
    than 2048 queries would have more than 2^24 scores each, or those of any number more than
    `array.max_scores`, it is a loop over blocks of as many scores, but of at least 64 queries.
    A gradient of sizes that are not known goes over the blocks of the attention.

    Example:
    ```mlir
    %y = array.attention %q, %k, %v causal scale = 0.125
       : (tensor<?x8x?x64xf16>, tensor<?x2x?x64xf16>, tensor<?x2x?x64xf16>) -> tensor<?x8x?x64xf16>
    %z = array.attention %q, %k, %v mask(%m : tensor<1x1x?x?xi1>) scale = 0.125
       : (tensor<?x8x?x64xf16>, tensor<?x8x?x64xf16>, tensor<?x8x?x64xf16>) -> tensor<?x8x?x64xf16>
    %s, %l = array.attention %q, %k, %v causal window = 128 sinks(%t : tensor<8xf32>) logsumexp scale = 0.125
       : (tensor<8x512x64xf16>, tensor<2x512x64xf16>, tensor<2x512x64xf16>)
      -> tensor<8x512x64xf16>, tensor<8x512xf32>
    %b = array.attention %q, %k, %v causal scale = 0.125 {array.max_scores = 16777216 : i64}
       : (tensor<?x8x?x64xf16>, tensor<?x2x?x64xf16>, tensor<?x2x?x64xf16>) -> tensor<?x8x?x64xf16>
    %c = array.attention %q, %k, %v causal softcap = 50.0 scale = 0.0625
       : (tensor<8x512x256xbf16>, tensor<4x512x256xbf16>, tensor<4x512x256xbf16>) -> tensor<8x512x256xbf16>
    ```
  }];
  let arguments = (ins Array_FloatTensor:$query, Array_FloatTensor:$key, Array_FloatTensor:$value,
                       Optional<Array_TensorOf<
                           AnyTypeOf<[I1, F16, BF16, F32, F64], "truth value or float">>>:$mask,
                       Optional<Array_ScalarOf<AnyTypeOf<[I32, I64]>>>:$offset,
                       Optional<Array_FloatTensor>:$sinks, UnitAttr:$causal,
                       OptionalAttr<I64Attr>:$window, UnitAttr:$with_logsumexp,
                       OptionalAttr<Array_Softcap>:$softcap, F64Attr:$scale);
  let results = (outs Array_FloatTensor:$result, Optional<RankedTensorOf<[F32, F64]>>:$logsumexp);
  let assemblyFormat = [{
    $query `,` $key `,` $value (`mask` `(` $mask^ `:` type($mask) `)`)? (`causal` $causal^)?
    (`window` `=` $window^)? (`offset` `(` $offset^ `:` type($offset) `)`)?
    (`sinks` `(` $sinks^ `:` type($sinks) `)`)? (`logsumexp` $with_logsumexp^)?
    (`softcap` `=` $softcap^)? `scale` `=` $scale attr-dict `:` `(` type($query) `,` type($key) `,` type($value) `)` `->` type($result) (`,` type($logsumexp)^)?
  }];
  let hasVerifier = 1;
}

def Array_PagedAttentionOp : Array_InferredOp<"paged_attention", [Array_Decomposable]> {
  let summary = "Attention to keys and values that lie in pages";
  let description = [{
    Attention of `query [B, H, Q, D]` to caches of `B` sequences that share `keys [P, G, S, D]` and
    `values [P, G, S, E]`: `P` pages of `S` places each. `table [B, N]` says which pages a sequence
    has, in order, and `lengths [B]` how many places of them are used, the queries' own included:
    query `i` sees place `j` if `j <= length - Q + i`. A sequence of length 0 gives 0. Pages that a
    sequence does not use yet may hold anything; their numbers are clamped into `[0, P)`. Where `G`
    is less than `H`, which it divides, `H / G` neighbouring query heads share one head of pages.
    `softcap` limits scores as that of `array.attention` does.

    Keys and values are written to pages by `array.scatter` with index vectors of a page and a place
    (`axes = [0, 2]`), which touches those rows alone where pages are a variable or donated.
    Decomposes into `take`s of pages and `array.attention` with a mask where a target has no kernel that reads the table.

    Example:
    ```mlir
    %y = array.paged_attention %q, %k, %v table(%t : tensor<4x?xi32>) lengths(%n : tensor<4xi32>) scale = 0.125
       : (tensor<4x8x1x64xf16>, tensor<100x2x16x64xf16>, tensor<100x2x16x64xf16>) -> tensor<4x8x1x64xf16>
    ```
  }];
  let arguments = (ins Array_FloatTensor:$query, Array_FloatTensor:$keys, Array_FloatTensor:$values,
                       Array_IntTensor:$table, Array_IntTensor:$lengths,
                       OptionalAttr<Array_Softcap>:$softcap, F64Attr:$scale);
  let results = (outs Array_FloatTensor:$result);
  let assemblyFormat = [{
    $query `,` $keys `,` $values `table` `(` $table `:` type($table) `)`
    `lengths` `(` $lengths `:` type($lengths) `)` (`softcap` `=` $softcap^)?
    `scale` `=` $scale attr-dict `:` `(` type($query) `,` type($keys) `,` type($values) `)` `->` type($result)
  }];
}

#endif // XC_DIALECT_ARRAY_IR_ARRAYATTENTIONOPS_TD
