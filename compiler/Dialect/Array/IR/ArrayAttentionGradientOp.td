//===- ArrayAttentionGradientOp.td - The gradient of attention -*- tablegen -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Few files need the op, so it has a header of its own: AttentionGradientOp.h.
//
//===----------------------------------------------------------------------===//

#ifndef XC_DIALECT_ARRAY_IR_ARRAYATTENTIONGRADIENTOP_TD
#define XC_DIALECT_ARRAY_IR_ARRAYATTENTIONGRADIENTOP_TD

include "compiler/Dialect/Array/IR/ArrayBase.td"

def Array_AttentionGradientOp
    : Array_InferredOp<"attention_gradient", [AttrSizedOperandSegments, Array_Decomposable]> {
  let summary = "Gradients of attention";
  let description = [{
    What `query`, `key` and `value` of an `array.attention` of the same operands and attributes get of
    `cotangent`, that of its result. It is what `--gradient` makes of attention, but of `f64`; it is
    decomposed unless `-xc-array-keep-attention` leaves it whole. With `to_mask` there is a further result,
    what the mask gets that is added to the scores, and with `to_sinks` one more, what the sinks get.
    `logsumexp_cotangent` is that of the attention's second result, `[..., H, Q]` in `f32`.

    `rows` are what a kernel needs of the attention itself, `[..., H, Q]` in `f32` each: its logsumexp, and
    the sums of products of its result and the cotangent over the vectors, less the cotangent of logsumexp.
    Where they are not given, the pass adds them; the decomposition does without them.

    Example:
    ```mlir
    %dq, %dk, %dv = array.attention_gradient %q, %k, %v, %g causal scale = 0.125
       : (tensor<2x8x512x64xf16>, tensor<2x2x512x64xf16>, tensor<2x2x512x64xf16>, tensor<2x8x512x64xf16>)
      -> tensor<2x8x512x64xf16>, tensor<2x2x512x64xf16>, tensor<2x2x512x64xf16>
    ```
  }];
  let arguments = (ins Array_FloatTensor:$query, Array_FloatTensor:$key, Array_FloatTensor:$value,
                       Array_FloatTensor:$cotangent, 
                       Optional<Array_TensorOf<AnyTypeOf<[I1, F16, BF16, F32, F64], "truth value or float">>>:$mask,
                       Optional<Array_ScalarOf<AnyTypeOf<[I32, I64]>>>:$offset, Optional<Array_FloatTensor>:$sinks,
                       Optional<Array_TensorOf<F32>>:$logsumexp, Optional<Array_TensorOf<F32>>:$delta,
                       Optional<Array_TensorOf<F32>>:$logsumexp_cotangent, UnitAttr:$causal, OptionalAttr<I64Attr>:$window,
                       OptionalAttr<Array_Softcap>:$softcap, F64Attr:$scale, UnitAttr:$with_mask, UnitAttr:$with_sinks);
  let results = (outs Array_FloatTensor:$to_query, Array_FloatTensor:$to_key, Array_FloatTensor:$to_value,
                      Variadic<Array_FloatTensor>:$more);
  let assemblyFormat = [{
    $query `,` $key `,` $value `,` $cotangent (`mask` `(` $mask^ `:` type($mask) `)`)? (`to_mask` $with_mask^)? (`causal` $causal^)?
    (`window` `=` $window^)? (`offset` `(` $offset^ `:` type($offset) `)`)? (`sinks` `(` $sinks^ `:` type($sinks) `)`)?
    (`to_sinks` $with_sinks^)? (`rows` `(` $logsumexp^ `,` $delta `:` type($logsumexp) `,` type($delta) `)`)?
    (`logsumexp_cotangent` `(` $logsumexp_cotangent^ `:` type($logsumexp_cotangent) `)`)? (`softcap` `=` $softcap^)? `scale` `=` $scale attr-dict
    `:` `(` type($query) `,` type($key) `,` type($value) `,` type($cotangent) `)`
    `->` type($to_query) `,` type($to_key) `,` type($to_value) (`,` type($more)^)?
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Null where there is none.
    ::mlir::Value getToMask() { return getWithMask() ? getMore().front() : ::mlir::Value(); }
    ::mlir::Value getToSinks() { return getWithSinks() ? getMore().back() : ::mlir::Value(); }
  }];
}

#endif // XC_DIALECT_ARRAY_IR_ARRAYATTENTIONGRADIENTOP_TD
