//===- AttentionGradientOp.td - The gradient of attention -*- tablegen -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Few files need the op, so it has a header of its own: AttentionGradientOp.h.
//
//===----------------------------------------------------------------------===//

#ifndef XC_DIALECT_KERNEL_IR_ATTENTIONGRADIENTOP_TD
#define XC_DIALECT_KERNEL_IR_ATTENTIONGRADIENTOP_TD

include "compiler/Dialect/Kernel/IR/KernelDialect.td"
include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Kernel_AttentionGradientOp
    : Op<Kernel_Dialect, "attention_gradient",
         [AttrSizedOperandSegments, DestinationStyleOpInterface,
          DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
          DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface, ["reifyResultShapes"]>,
          DeclareOpInterfaceMethods<BufferizableOpInterface, ["bufferizesToMemoryRead",
                                                              "bufferizesToMemoryWrite",
                                                              "getAliasingValues", "bufferize"]>]> {
  let summary = "Gradients of scaled dot-product attention";
  let description = [{
    Of a `kernel.attention` of the same operands: what `query`, `key` and `value` get of `cotangent`, that of its result.
    `logsumexp` is its second result; `delta` the sum of products of its result and the cotangent over each vector: f32, `[..., H, Q]`.
    `sinks` are those of the attention, and `logsumexp_cotangent` is that of its logsumexp. Only an op that is taken apart wants to know
    them: logsumexp has the sinks, and that cotangent has been subtracted from delta.
    With p = exp(scale * q * k + added mask - logsumexp), 0 where a key is hidden, and s = p * (cotangent * value - delta), the gradients are
    scale * s * k, scale * s^T * q and p^T * cotangent. p and s are rounded to the operands' type. With a `softcap`, p is of scores
    softcap * t with t = tanh(scale * q * k / softcap), and s of queries and keys is multiplied by 1 - t * t.

    One destination is the gradient of the queries, or of what `only` says; two are those of keys and values. An op with all three, and
    perhaps that of a mask of floats, stands for those of its kernels until the target is known. The mask gets s. Where it has the queries
    and the keys, s is summed over dims of heads along which it is broadcast. Where it has one number for all queries, s is summed over
    these, and it must have all dims before them. The op is in modules whose target has a kernel for it; `-xc-expand-attention` takes it
    apart for others. Example:
    ```mlir
    %dk, %dv = kernel.attention_gradient %q, %k, %v, %g, %l, %d causal into %e, %f scale = 0.125
       : tensor<8x512x64xf16>, tensor<2x512x64xf16>, tensor<2x512x64xf16>, tensor<8x512x64xf16>, tensor<8x512xf32>, tensor<8x512xf32>
      into tensor<2x512x64xf16>, tensor<2x512x64xf16> -> tensor<2x512x64xf16>, tensor<2x512x64xf16>
    ```
  }];
  let arguments = (ins AnyShaped:$query, AnyShaped:$key, AnyShaped:$value, AnyShaped:$cotangent,
      AnyShaped:$logsumexp, AnyShaped:$delta, Optional<AnyShaped>:$mask,
      Optional<AnyShaped>:$offset, Optional<AnyShaped>:$sinks, Optional<AnyShaped>:$logsumexp_cotangent, Variadic<AnyShaped>:$dests, UnitAttr:$causal,
      OptionalAttr<I64Attr>:$window, OptionalAttr<Kernel_Softcap>:$softcap, F64Attr:$scale, UnitAttr:$only_keys, UnitAttr:$only_values, UnitAttr:$only_mask);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    $query `,` $key `,` $value `,` $cotangent `,` $logsumexp `,` $delta (`mask` `(` $mask^ `:` type($mask) `)`)? (`causal` $causal^)?
    (`window` `=` $window^)? (`offset` `(` $offset^ `:` type($offset) `)`)?
    (`sinks` `(` $sinks^ `:` type($sinks) `)`)?
    (`logsumexp_cotangent` `(` $logsumexp_cotangent^ `:` type($logsumexp_cotangent) `)`)? (`only_keys` $only_keys^)? (`only_values` $only_values^)?
    (`only_mask` $only_mask^)? `into` $dests (`softcap` `=` $softcap^)? `scale` `=` $scale attr-dict `:` type($query) `,` type($key) `,` type($value) `,` type($cotangent) `,` type($logsumexp) `,` type($delta)
    `into` type($dests) (`->` type($results)^)?
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getDestsMutable(); }
    ::mlir::ShapedType getQueryType() { return ::llvm::cast<::mlir::ShapedType>(getQuery().getType()); }
    ::mlir::ShapedType getKeyType() { return ::llvm::cast<::mlir::ShapedType>(getKey().getType()); }
    ::mlir::ShapedType getValueType() { return ::llvm::cast<::mlir::ShapedType>(getValue().getType()); }
    /// Query heads that share one head of keys and values.
    int64_t getGroupSize() {
      int64_t heads = getQueryType().getRank() - 3;
      return getQueryType().getDimSize(heads) / getKeyType().getDimSize(heads);
    }
    /// What the destinations are gradients of: 0 stands for queries, 1 for keys, 2 for values, 3 for the mask.
    ::llvm::SmallVector<unsigned> getWanted();
    /// Whether the mask has one number for all queries.
    bool hasMaskOfKeys();
    /// Whether it is of keys or values, or both, alone, or of a mask that has numbers for keys.
    bool isOfKeys() {
      return getDests().size() == 2 || getOnlyKeys() || getOnlyValues() || (getOnlyMask() && hasMaskOfKeys());
    }
    /// Whether it stands for several ops.
    bool isWhole() { return getDests().size() > 2; }
    /// Elements of the vectors that the products of a query and a key are of.
    int64_t countProductElements();
  }];
}

#endif // XC_DIALECT_KERNEL_IR_ATTENTIONGRADIENTOP_TD
