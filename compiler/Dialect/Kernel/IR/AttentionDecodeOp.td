//===- AttentionDecodeOp.td - Attention of few queries ------*- tablegen -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Few files need these ops, so they have a header of their own: AttentionDecodeOp.h.
//
//===----------------------------------------------------------------------===//

#ifndef XC_DIALECT_KERNEL_IR_ATTENTIONDECODEOP_TD
#define XC_DIALECT_KERNEL_IR_ATTENTIONDECODEOP_TD

include "compiler/Dialect/Kernel/IR/KernelDialect.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Kernel_DecodeOp<string mnemonic, list<Trait> traits = []>
    : Op<Kernel_Dialect, mnemonic,
         !listconcat([DestinationStyleOpInterface, DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
                      DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface, ["reifyResultShapes"]>], traits)> {
  let extraClassDefinition = [{
    void $cppClass::getEffects(
        ::llvm::SmallVectorImpl<::mlir::SideEffects::EffectInstance<::mlir::MemoryEffects::Effect>> &effects) {
      addMemoryEffects(*this, effects);
    }
    ::llvm::LogicalResult $cppClass::reifyResultShapes(
        ::mlir::OpBuilder &builder, ::mlir::ReifiedRankedShapedTypeDims &shapes) {
      return reifyFromInits(*this, builder, shapes);
    }
  }];
}

def Kernel_AttentionDecodeOp : Kernel_DecodeOp<"attention_decode", [AttrSizedOperandSegments]> {
  let summary = "Attention of few queries to many keys";
  let description = [{
    As `kernel.attention`, of so few queries that reading keys and values is what takes time: blocks share the keys of a head, and all
    query heads that read it are rows of one product.

    With a `table [B, N]` of integers, keys and values are pages `[P, G, S, D]` and `[P, G, S, E]` that the `B` sequences share: row b of
    the table says which pages sequence b has, in order, and `lengths [B]` how many places of them are used. Query i sees place j if
    `j <= length - Q + i`. Numbers of pages are clamped into `[0, P)`.

    With `splits` above 1, a result is one for each of so many parts of the keys, to be joined by `kernel.attention_combine`: f32,
    `[..., H, Q, splits, E]` and `[..., H, Q, splits]`.

    It is in modules whose target has a kernel for it; `-xc-expand-attention` makes it of attention of few queries. Example:
    ```mlir
    %o = kernel.attention_decode %q, %k, %v table(%t : tensor<4x?xi32>) lengths(%n : tensor<4xi32>) into %e scale = 0.125 splits = 1
       : tensor<4x8x1x64xf16>, tensor<100x2x16x64xf16>, tensor<100x2x16x64xf16> into tensor<4x8x1x64xf16> -> tensor<4x8x1x64xf16>
    ```
  }];
  let arguments = (ins AnyShaped:$query, AnyShaped:$key, AnyShaped:$value, Optional<AnyShaped>:$mask,
                       Optional<AnyShaped>:$offset, Optional<AnyShaped>:$sinks, Optional<AnyShaped>:$table,
                       Optional<AnyShaped>:$lengths, Variadic<AnyShaped>:$dests, UnitAttr:$causal,
                       OptionalAttr<I64Attr>:$window, OptionalAttr<Kernel_Softcap>:$softcap, F64Attr:$scale, I64Attr:$splits);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    $query `,` $key `,` $value (`mask` `(` $mask^ `:` type($mask) `)`)? (`causal` $causal^)? (`window` `=` $window^)?
    (`offset` `(` $offset^ `:` type($offset) `)`)? (`sinks` `(` $sinks^ `:` type($sinks) `)`)?
    (`table` `(` $table^ `:` type($table) `)`)? (`lengths` `(` $lengths^ `:` type($lengths) `)`)? `into` $dests
    (`softcap` `=` $softcap^)? `scale` `=` $scale
    `splits` `=` $splits attr-dict `:` type($query) `,` type($key) `,` type($value) `into` type($dests) (`->` type($results)^)?
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getDestsMutable(); }
    ::mlir::ShapedType getQueryType() { return ::llvm::cast<::mlir::ShapedType>(getQuery().getType()); }
    ::mlir::ShapedType getKeyType() { return ::llvm::cast<::mlir::ShapedType>(getKey().getType()); }
    ::mlir::ShapedType getValueType() { return ::llvm::cast<::mlir::ShapedType>(getValue().getType()); }
    /// Dims before the heads.
    int64_t getBatchRank() { return getQueryType().getRank() - 3; }
    /// Query heads that share one head of keys and values.
    int64_t getGroupSize() {
      return getQueryType().getDimSize(getBatchRank()) / getKeyType().getDimSize(getBatchRank());
    }
    /// Queries that read one head of keys and values.
    int64_t getRows() { return getGroupSize() * getQueryType().getDimSize(getBatchRank() + 1); }
    bool isPaged() { return static_cast<bool>(getTable()); }
    /// Whether queries see keys only up to some place.
    bool isBounded() { return getCausal() || isPaged(); }
    bool hasLogsumexp() { return getDests().size() == 2; }
  }];
}

def Kernel_AttentionCombineOp : Kernel_DecodeOp<"attention_combine"> {
  let summary = "Combine the results of attention to some keys each";
  let description = [{
    `partials [..., S, E]` are results of attention to S parts of the keys and `logsumexps [..., S]` the logarithms of the sums of
    exponentials, f32 all. The destinations are the result `[..., E]`, a float type, and, if there is a second one, the logarithm of the
    sum over all parts, `[...]` of f32. Parts are added in their order. Example:
    ```mlir
    %r = kernel.attention_combine %p, %l into %e : tensor<4x8x1x16x64xf32>, tensor<4x8x1x16xf32> into tensor<4x8x1x64xf16> -> tensor<4x8x1x64xf16>
    ```
  }];
  let arguments = (ins AnyShaped:$partials, AnyShaped:$logsumexps, Variadic<AnyShaped>:$dests);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    $partials `,` $logsumexps `into` $dests attr-dict `:` type($partials) `,` type($logsumexps) `into` type($dests) (`->` type($results)^)?
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getDestsMutable(); }
    ::mlir::ShapedType getPartialsType() { return ::llvm::cast<::mlir::ShapedType>(getPartials().getType()); }
    /// How many parts there are.
    int64_t getSplits() { return getPartialsType().getShape().drop_back().back(); }
    int64_t getVectorSize() { return getPartialsType().getShape().back(); }
  }];
}

#endif // XC_DIALECT_KERNEL_IR_ATTENTIONDECODEOP_TD
