//===- KernelOps.td - Operations of the kernel dialect ----*- tablegen -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_DIALECT_KERNEL_IR_KERNELOPS_TD
#define XC_DIALECT_KERNEL_IR_KERNELOPS_TD

include "compiler/Dialect/Kernel/IR/KernelDialect.td"
include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.td"
include "mlir/IR/EnumAttr.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/TilingInterface.td"

def LoopNestOpInterface : OpInterface<"LoopNestOpInterface"> {
  let cppNamespace = "::xc::kernel";
  let description = [{
    An op that scalar loops can express: the generic kernel that every op of the dialect has.
  }];
  let methods = [
    InterfaceMethod<[{
        Builds the loops at the builder's insertion point. The op's operands are memrefs; the op itself is neither
        changed nor erased.
      }], "void", "buildLoopNest", (ins "::mlir::OpBuilder &":$builder)>
  ];
}

def Kernel_ScatterKind : I32EnumAttr<"ScatterKind", "how an update meets the old element", [
    I32EnumAttrCase<"Set", 0, "set">, I32EnumAttrCase<"Add", 1, "add">, I32EnumAttrCase<"Max", 2, "max">,
    I32EnumAttrCase<"Min", 3, "min">, I32EnumAttrCase<"Mul", 4, "mul">]> {
  let cppNamespace = "::xc::kernel";
  let genSpecializedAttr = 0;
}
def Kernel_ScatterKindAttr : EnumAttr<Kernel_Dialect, Kernel_ScatterKind, "scatter_kind"> {
  let assemblyFormat = "$value";
}

def Kernel_ScanKind : I32EnumAttr<"ScanKind", "what a scan combines with", [
    I32EnumAttrCase<"Sum", 0, "sum">, I32EnumAttrCase<"Prod", 1, "prod">, I32EnumAttrCase<"Max", 2, "max">,
    I32EnumAttrCase<"Min", 3, "min">, I32EnumAttrCase<"LogAddExp", 4, "logaddexp">]> {
  let cppNamespace = "::xc::kernel";
  let genSpecializedAttr = 0;
}
def Kernel_ScanKindAttr : EnumAttr<Kernel_Dialect, Kernel_ScanKind, "scan_kind"> {
  let assemblyFormat = "$value";
}

class Kernel_Op<string mnemonic, list<Trait> traits = []> : Op<Kernel_Dialect, mnemonic, traits # [
    DestinationStyleOpInterface,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
    DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface, ["reifyResultShapes"]>,
    DeclareOpInterfaceMethods<BufferizableOpInterface, ["bufferizesToMemoryRead", "bufferizesToMemoryWrite",
                                                        "getAliasingValues", "bufferize"]>,
    DeclareOpInterfaceMethods<TilingInterface, ["getLoopIteratorTypes", "getIterationDomain",
                                                "getTiledImplementation", "getResultTilePosition",
                                                "generateResultTileValue"]>,
    DeclareOpInterfaceMethods<LoopNestOpInterface>]> {
  let hasVerifier = 1;
}

def Kernel_ElementOp : Op<Kernel_Dialect, "element", [Pure, AllTypesMatch<["value", "result"]>]> {
  let summary = "What the body of a reduction combines with what it has so far";
  let description = [{
    The value itself. A `linalg.generic` whose body holds one for each of its results, numbered like them, reduces with a
    body that is associative and commutative as a whole and that the initial values change nothing in; what follows from
    these values and from the accumulators combines the two. So partial results can meet each other: each takes the
    place of what it has as a number. What else the body computes is how an element comes about. In a body that is not
    of a reduction the op folds to its value. Example:
    ```mlir
    ^bb0(%x: f32, %norm: f32):
      %e = kernel.element 0, %x : f32
      %0 = arith.mulf %norm, %norm : f32
      %1 = arith.mulf %e, %e : f32
      %2 = arith.addf %0, %1 : f32
      %3 = math.sqrt %2 : f32
      linalg.yield %3 : f32
    ```
  }];
  let arguments = (ins ConfinedAttr<I64Attr, [IntNonNegative]>:$number, AnyTypeOf<[AnySignlessInteger, AnyFloat]>:$value);
  let results = (outs AnyTypeOf<[AnySignlessInteger, AnyFloat]>:$result);
  let assemblyFormat = "$number `,` $value attr-dict `:` type($value)";
  let hasFolder = 1;
}

def Kernel_WithinOp : Op<Kernel_Dialect, "within", [Pure, AllTypesMatch<["value", "result"]>]> {
  let summary = "A value of interest only where an index is below an extent that is data";
  let description = [{
    The value itself where `index` is below `extent`; elsewhere not specified, and need not be computed nor stored. In
    the body of a `linalg.generic` with parallel loops: `index` is one of them, and `extent` comes of scalars of rank 0
    only. A kernel may leave out what lies behind. Example:
    ```mlir
    ^bb0(%x: f32, %n: i64, %out: f32):
      %i = linalg.index 0 : index
      %e = arith.index_cast %n : i64 to index
      %y = kernel.within %x, %i before %e : f32
      linalg.yield %y : f32
    ```
  }];
  let arguments = (ins AnyTypeOf<[AnySignlessInteger, AnyFloat]>:$value, Index:$index, Index:$extent);
  let results = (outs AnyTypeOf<[AnySignlessInteger, AnyFloat]>:$result);
  let assemblyFormat = "$value `,` $index `before` $extent attr-dict `:` type($value)";
}

def Kernel_ScatterOp : Kernel_Op<"scatter", [AttrSizedOperandSegments]> {
  let summary = "Brings slices into a destination at index vectors that are data";
  let description = [{
    The last dim of `indices` holds index vectors, one component for each of the destination's dims `axes`
    (strictly increasing); `updates` has the other dims of `indices`, then the destination's dims not in `axes`,
    the *window*:

        dest[axes := indices[i..., :], others := w...]  <kind>=  updates[i..., w...]

    Updates are applied in row-major order of `i...`, so that the result is the same on every run: with `set` the
    last of competing updates stays, and float sums have one order. `unique` promises that no index vector repeats,
    so that any order will do. An index vector with a component outside of its dim is skipped: no memory outside of
    the destination is touched, whatever the indices are. With `in_place` the rest of the destination is not touched
    either: as for `kernel.update`, it is in the result's memory before. `max` and `min` propagate NaN.
    `unsigned_indices` and `unsigned_elements` say how to read signless integers.

    `by %rows, %order` says where updates go in another way, for targets on which each row of the destination has an
    owner: `rows` are the row-major numbers, among the destination's rows along `axes`, of all index vectors (the
    number of rows for those that are skipped) in ascending order, and `order` the updates that they belong to, equal
    rows in the order of the updates.

    The iteration space is the window; its dims are parallel. Example:
    ```mlir
    %r = kernel.scatter add, %rows, %grad into %zeros axes = [0]
       : tensor<32x1xi32>, tensor<32x64xf32> into tensor<1000x64xf32> -> tensor<1000x64xf32>
    kernel.scatter set, %rows, %grad into %m axes = [0] unique
       : memref<32x1xi32>, memref<32x64xf32> into memref<1000x64xf32>
    kernel.scatter add, %i, %grad by %sorted, %order into %m axes = [0]
       : memref<32x1xi32>, memref<32x64xf32> by memref<32xi32>, memref<32xi32> into memref<1000x64xf32>
    ```
  }];
  let arguments = (ins Kernel_ScatterKindAttr:$kind, AnyShaped:$indices, AnyShaped:$updates,
                       Optional<AnyShaped>:$rows, Optional<AnyShaped>:$order, AnyShaped:$dest,
                       DenseI64ArrayAttr:$axes, UnitAttr:$unsigned_indices, UnitAttr:$unsigned_elements,
                       UnitAttr:$unique, UnitAttr:$in_place);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    $kind `,` $indices `,` $updates (`by` $rows^ `,` $order)? `into` $dest `axes` `=` $axes
    (`unsigned_indices` $unsigned_indices^)? (`unsigned_elements` $unsigned_elements^)? (`unique` $unique^)?
    (`in_place` $in_place^)? attr-dict
    `:` type($indices) `,` type($updates) (`by` type($rows)^ `,` type($order))? `into` type($dest)
    (`->` type($results)^)?
  }];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getDestMutable(); }
    /// The destination's dims that are not in `axes`, in order.
    ::llvm::SmallVector<int64_t> getWindowDims();
    /// The rank of `i...`.
    int64_t getBatchRank();
  }];
}

def Kernel_UpdateOp : Op<Kernel_Dialect, "update", [
    DestinationStyleOpInterface, DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
    DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface, ["reifyResultShapes"]>,
    DeclareOpInterfaceMethods<BufferizableOpInterface, ["bufferizesToMemoryRead", "bufferizesToMemoryWrite",
                                                        "getAliasingValues", "bufferize"]>,
    DeclareOpInterfaceMethods<LoopNestOpInterface>]> {
  let summary = "Brings a box into a destination at a position that is data";
  let description = [{
    The destination, but for the box of `update`'s shape that starts at `starts` (one integer for each dim, moved so that
    the box lies inside), which becomes `update`. `unsigned_starts` lists the dims whose start is an unsigned number.
    Only the box is touched: the plan sees to it that the rest is in the result's memory already, by giving the result
    the memory of the destination or by a copy before it. The iteration space is the box. Example:
    ```mlir
    %r = kernel.update %row at [%i, %zero] into %cache
       : tensor<1x64xf16> at tensor<i32>, tensor<i32> into tensor<1024x64xf16> -> tensor<1024x64xf16>
    kernel.update %row at [%i, %zero] into %m : memref<1x64xf16> at memref<i32>, memref<i32> into memref<1024x64xf16>
    ```
  }];
  let arguments = (ins AnyShaped:$update, Variadic<AnyShaped>:$starts, AnyShaped:$dest,
                       DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$unsigned_starts);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    $update (`at` `[` $starts^ `]`)? `into` $dest (`unsigned_starts` `=` $unsigned_starts^)? attr-dict
    `:` type($update) (`at` type($starts)^)? `into` type($dest) (`->` type($results)^)?
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getDestMutable(); }
    /// True if the box is surely as large as the destination along `dim`, so that it starts at 0 whatever the start is.
    bool isWhole(int64_t dim);
    /// The start along `dim`, an index, from the number `stored`, where `last` is the largest that it may be.
    ::mlir::Value clampStart(::mlir::OpBuilder &builder, ::mlir::Location loc, int64_t dim, ::mlir::Value stored,
                             ::mlir::Value last);
  }];
}

def Kernel_AttentionOp : Op<Kernel_Dialect, "attention", [
    AttrSizedOperandSegments, DestinationStyleOpInterface, DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
    DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface, ["reifyResultShapes"]>,
    DeclareOpInterfaceMethods<BufferizableOpInterface, ["bufferizesToMemoryRead", "bufferizesToMemoryWrite",
                                                        "getAliasingValues", "bufferize"]>,
    DeclareOpInterfaceMethods<LoopNestOpInterface>]> {
  let summary = "Scaled dot-product attention";
  let description = [{
    What `array.attention` says, of storage types: `query [..., H, Q, D]`, `key [..., G, K, D]`, `value [..., G, K, E]` of one float
    type of 16 or 32 bits. A `mask` broadcasts to `[..., H, Q, K]`: bytes (0 hides a key) or floats that are added to the scaled scores; a dim that is
    dynamic may turn out to be 1. The destinations are the result `[..., H, Q, E]` and, if there is a second one, the logarithm of the
    sum of exponentials, `[..., H, Q]` of f32. Scaled scores s become `softcap * tanh(s / softcap)` first, if there is a `softcap`. Scores, softmax and sums are f32; weights are rounded to the type of the values.
    With a `table [B, N]` of integers, keys and values are pages that sequences share, as `kernel.attention_decode` has them.
    With `open_end`, keys and values from `Q + offset` on, which no query sees, may be anything: a weight of 0 times NaN is not 0.

    It is in modules whose target has a kernel for it; `-xc-expand-attention` takes it apart for others. Example:
    ```mlir
    %o, %l = kernel.attention %q, %k, %v mask(%m : tensor<1x1x?x?xi8>) causal into %e, %f scale = 0.125
       : tensor<?x8x?x64xf16>, tensor<?x2x?x64xf16>, tensor<?x2x?x64xf16> into tensor<?x8x?x64xf16>, tensor<?x8x?xf32>
      -> tensor<?x8x?x64xf16>, tensor<?x8x?xf32>
    ```
  }];
  let arguments = (ins AnyShaped:$query, AnyShaped:$key, AnyShaped:$value, Optional<AnyShaped>:$mask,
                       Optional<AnyShaped>:$offset, Optional<AnyShaped>:$sinks, Optional<AnyShaped>:$table,
                       Optional<AnyShaped>:$lengths, Variadic<AnyShaped>:$dests,
                       UnitAttr:$causal, OptionalAttr<I64Attr>:$window, OptionalAttr<Kernel_Softcap>:$softcap, F64Attr:$scale,
                       UnitAttr:$open_end);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    $query `,` $key `,` $value (`mask` `(` $mask^ `:` type($mask) `)`)? (`causal` $causal^)? (`window` `=` $window^)?
    (`offset` `(` $offset^ `:` type($offset) `)`)? (`open_end` $open_end^)? (`sinks` `(` $sinks^ `:` type($sinks) `)`)?
    (`table` `(` $table^ `:` type($table) `)`)? (`lengths` `(` $lengths^ `:` type($lengths) `)`)? `into` $dests (`softcap` `=` $softcap^)?
    `scale` `=` $scale attr-dict `:` type($query) `,` type($key) `,` type($value) `into` type($dests) (`->` type($results)^)?
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
    bool hasLogsumexp() { return getDests().size() == 2; }
    bool isPaged() { return static_cast<bool>(getTable()); }
    /// Whether queries see keys only up to some place.
    bool isBounded() { return getCausal() || isPaged(); }
    /// How many keys a query may see, if that is known: of all of a sequence's pages.
    int64_t getKeyLength();
  }];
}

/// An op on lines along one dim. Its iteration space is the other dims, `getLineDims()` of every operand.
class Kernel_LineOp<string mnemonic, list<Trait> traits = []> : Kernel_Op<mnemonic, traits> {
  code lineDims = [{
    /// The dims that are not along the lines.
    ::llvm::SmallVector<int64_t> getLineDims();
  }];
  let extraClassDefinition = [{
    void $cppClass::getEffects(
        ::llvm::SmallVectorImpl<::mlir::SideEffects::EffectInstance<::mlir::MemoryEffects::Effect>> &effects) {
      addMemoryEffects(*this, effects);
    }
    ::llvm::LogicalResult $cppClass::reifyResultShapes(
        ::mlir::OpBuilder &builder, ::mlir::ReifiedRankedShapedTypeDims &shapes) {
      return reifyFromInits(*this, builder, shapes);
    }
    bool $cppClass::bufferizesToMemoryRead(
        ::mlir::OpOperand &operand, const ::mlir::bufferization::AnalysisState &) {
      return !isDpsInit(&operand) || keepsInits(*this);
    }
    bool $cppClass::bufferizesToMemoryWrite(
        ::mlir::OpOperand &operand, const ::mlir::bufferization::AnalysisState &) {
      return isDpsInit(&operand);
    }
    ::mlir::bufferization::AliasingValueList $cppClass::getAliasingValues(
        ::mlir::OpOperand &operand, const ::mlir::bufferization::AnalysisState &) {
      return getAliasOfInit(*this, operand);
    }
    ::llvm::LogicalResult $cppClass::bufferize(
        ::mlir::RewriterBase &rewriter, const ::mlir::bufferization::BufferizationOptions &options,
        ::mlir::bufferization::BufferizationState &state) {
      return bufferizeKernelOp(*this, rewriter, options, state);
    }
    ::llvm::SmallVector<::mlir::utils::IteratorType> $cppClass::getLoopIteratorTypes() {
      return ::llvm::SmallVector<::mlir::utils::IteratorType>(getLineDims().size(),
                                                              ::mlir::utils::IteratorType::parallel);
    }
    ::llvm::SmallVector<::mlir::Range> $cppClass::getIterationDomain(::mlir::OpBuilder &builder) {
      return getLinesDomain(*this, builder, getLineDims());
    }
    ::mlir::FailureOr<::mlir::TilingResult> $cppClass::getTiledImplementation(
        ::mlir::OpBuilder &builder, ::llvm::ArrayRef<::mlir::OpFoldResult> offsets,
        ::llvm::ArrayRef<::mlir::OpFoldResult> sizes) {
      return tileLines(*this, builder, getLineDims(), offsets, sizes);
    }
    ::llvm::LogicalResult $cppClass::getResultTilePosition(
        ::mlir::OpBuilder &builder, unsigned number, ::llvm::ArrayRef<::mlir::OpFoldResult> offsets,
        ::llvm::ArrayRef<::mlir::OpFoldResult> sizes,
        ::llvm::SmallVector<::mlir::OpFoldResult> &resultOffsets,
        ::llvm::SmallVector<::mlir::OpFoldResult> &resultSizes) {
      getLinesBox(builder, getDpsInits()[number], getLineDims(), offsets, sizes, resultOffsets, resultSizes);
      return ::mlir::success();
    }
    ::mlir::FailureOr<::mlir::TilingResult> $cppClass::generateResultTileValue(
        ::mlir::OpBuilder &builder, unsigned number, ::llvm::ArrayRef<::mlir::OpFoldResult> offsets,
        ::llvm::ArrayRef<::mlir::OpFoldResult> sizes) {
      return generateLinesTile(*this, builder, number, getLineDims(), offsets, sizes);
    }
  }];
}

def Kernel_ScanOp : Kernel_LineOp<"scan"> {
  let summary = "Running totals along a dim";
  let description = [{
    Along `axis`, element `i` of the destination is what the input's elements up to and including `i` combine to;
    with `exclusive` those before it; with `reverse` counted from the end. 16-bit floats combine in `f32`; `max` and
    `min` propagate NaN. `unsigned_elements` says how to read signless integers.

    `every N` cuts lines into segments of `N` elements (the last one may be shorter; with `reverse` they are counted
    from the end), so that many threads can scan a long line. With `totals` the destination gets what each segment but
    the last combines to, instead of running totals. `from %carry` takes the running totals of those: segment `s`
    starts from element `s - 1` of the carry, the first one as usual. Totals and carry are of the type that elements
    combine in, and with `reverse` in the order of the segments in memory.

    The iteration space is what is not `axis`; its dims are parallel. Example:
    ```mlir
    %r = kernel.scan sum, %x into %e axis = 1 exclusive : tensor<4x?xf32> into tensor<4x?xf32> -> tensor<4x?xf32>
    kernel.scan max, %x every 512 totals into %t axis = 0 : memref<1000xf16> into memref<1xf32>
    kernel.scan max, %x from %t every 512 into %m axis = 0
       : memref<1000xf16> from memref<1xf32> into memref<1000xf16>
    ```
  }];
  let arguments = (ins Kernel_ScanKindAttr:$kind, AnyShaped:$input, Optional<AnyShaped>:$carry, AnyShaped:$dest,
                       I64Attr:$axis, DefaultValuedAttr<I64Attr, "0">:$segment, UnitAttr:$totals,
                       UnitAttr:$exclusive, UnitAttr:$reverse, UnitAttr:$unsigned_elements);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    $kind `,` $input (`from` $carry^)? (`every` $segment^)? (`totals` $totals^)? `into` $dest `axis` `=` $axis
    (`exclusive` $exclusive^)? (`reverse` $reverse^)? (`unsigned_elements` $unsigned_elements^)? attr-dict
    `:` type($input) (`from` type($carry)^)? `into` type($dest) (`->` type($results)^)?
  }];
  let extraClassDeclaration = lineDims # [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getDestMutable(); }
    /// The type that elements combine in: f32 for 16-bit floats.
    ::mlir::Type getComputeType();
  }];
}

/// Keys in order, with what belongs to them.
class Kernel_OrderOp<string mnemonic> : Kernel_LineOp<mnemonic> {
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let extraClassDeclaration = lineDims # [{
    ::mlir::MutableOperandRange getDpsInitsMutable() {
      return ::mlir::MutableOperandRange(getOperation(), getOperation()->getNumOperands() - 2, 2);
    }
    int64_t getRank() { return ::llvm::cast<::mlir::ShapedType>(getKeys().getType()).getRank(); }
  }];
}

def Kernel_SortOp : Kernel_OrderOp<"sort"> {
  let summary = "Lines in order, and where their elements come from";
  let description = [{
    Sorts the lines of `keys` along the last dim, stably: ascending with NaN last, or with `descending` from high to
    low with NaN first; -0 equals +0. `values` gets the elements in order, `indices` their positions in the line, or
    what `payload` holds there. `unsigned_elements` says how to read signless integers.

    `keep = K` writes the first `K` elements of the order only, and the destinations are that much shorter; places
    for which a line of dynamic size has no element get 0 and the index -1. `segment = N` sorts each run of `N`
    elements (the last one may be shorter) on its own; with `keep`, each keeps its first `K`, one segment behind the
    other, and a shorter last one all that it has, in an order that the target chooses, equals as they come.

    The iteration space is the dims before the last; they are parallel. Example:
    ```mlir
    %v, %i = kernel.sort %x into %a, %b descending keep = 8
       : tensor<4x1000xf32> into tensor<4x8xf32>, tensor<4x8xi32> -> tensor<4x8xf32>, tensor<4x8xi32>
    kernel.sort %x payload %p into %a, %b segment = 512
       : memref<4x1000xf32> payload memref<4x1000xi32> into memref<4x1000xf32>, memref<4x1000xi32>
    ```
  }];
  let arguments = (ins AnyShaped:$keys, Optional<AnyShaped>:$payload, AnyShaped:$values, AnyShaped:$indices,
                       UnitAttr:$descending, UnitAttr:$unsigned_elements, DefaultValuedAttr<I64Attr, "0">:$keep,
                       DefaultValuedAttr<I64Attr, "0">:$segment);
  let assemblyFormat = [{
    $keys (`payload` $payload^)? `into` $values `,` $indices (`descending` $descending^)?
    (`unsigned_elements` $unsigned_elements^)? (`keep` `=` $keep^)? (`segment` `=` $segment^)? attr-dict
    `:` type($keys) (`payload` type($payload)^)? `into` type($values) `,` type($indices) (`->` type($results)^)?
  }];
}

def Kernel_MergeOp : Kernel_OrderOp<"merge"> {
  let summary = "Sorted runs, two by two, as sorted runs of twice the length";
  let description = [{
    The lines of `keys` along the last dim consist of runs of `run` elements (the last one may be shorter), each in
    the order of `kernel.sort`. Run `2 i` and run `2 i + 1` become one run in that order; of equal elements those of
    the first run come first. `indices` gets what `payload` holds beside the keys. `above = N` does that to lines of
    more than `N` elements; of others the destinations stay what they are.

    The iteration space is the dims before the last; they are parallel. Example:
    ```mlir
    %v, %i = kernel.merge %k, %p into %a, %b run = 2048 : tensor<9000xf32>, tensor<9000xi32>
       into tensor<9000xf32>, tensor<9000xi32> -> tensor<9000xf32>, tensor<9000xi32>
    kernel.merge %k, %p into %a, %b run = 4096 above = 2048 : memref<?xf32>, memref<?xi32>
       into memref<?xf32>, memref<?xi32>
    ```
  }];
  let arguments = (ins AnyShaped:$keys, AnyShaped:$payload, AnyShaped:$values, AnyShaped:$indices, I64Attr:$run,
                       OptionalAttr<I64Attr>:$above, UnitAttr:$descending, UnitAttr:$unsigned_elements);
  let assemblyFormat = [{
    $keys `,` $payload `into` $values `,` $indices `run` `=` $run (`above` `=` $above^)? (`descending` $descending^)?
    (`unsigned_elements` $unsigned_elements^)? attr-dict
    `:` type($keys) `,` type($payload) `into` type($values) `,` type($indices) (`->` type($results)^)?
  }];
}

def Kernel_CountDigitsOp : Kernel_LineOp<"count_digits"> {
  let summary = "How often each digit of the order occurs in tiles of lines";
  let description = [{
    The order of `kernel.sort` is that of unsigned integers, the *order keys*, whose digits have 8 bits; digit 0 is the
    lowest one. The lines of `keys` along the last dim consist of tiles of `tile` elements (the last one may be
    shorter). `counts[..., d, t]` becomes the number of elements of tile `t` whose order key has `d` as digit number
    `digit`.

    The iteration space is the dims before the last of the keys; they are parallel. Example:
    ```mlir
    %c = kernel.count_digits %x into %e digit = 3 tile = 4096 descending
       : tensor<4x10000xf32> into tensor<4x256x3xi32> -> tensor<4x256x3xi32>
    kernel.count_digits %x into %c digit = 0 tile = 512 : memref<?xi16> into memref<256x?xi32>
    ```
  }];
  let arguments = (ins AnyShaped:$keys, AnyShaped:$counts, I64Attr:$digit, I64Attr:$tile, UnitAttr:$descending,
                       UnitAttr:$unsigned_elements);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    $keys `into` $counts `digit` `=` $digit `tile` `=` $tile (`descending` $descending^)?
    (`unsigned_elements` $unsigned_elements^)? attr-dict
    `:` type($keys) `into` type($counts) (`->` type($results)^)?
  }];
  let extraClassDeclaration = lineDims # [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getCountsMutable(); }
    int64_t getRank() { return ::llvm::cast<::mlir::ShapedType>(getKeys().getType()).getRank(); }
  }];
}

def Kernel_SortDigitOp : Kernel_LineOp<"sort_digit", [AttrSizedOperandSegments]> {
  let summary = "Lines in the order of one digit";
  let description = [{
    Sorts the lines of `keys` along the last dim by digit number `digit` of their order keys (see
    `kernel.count_digits`), stably: after all digits, from the lowest to the highest, lines are in the order of
    `kernel.sort`. `values` gets the elements, `indices` their positions in the line, or what `payload` holds beside
    them. `ends` holds the running totals, along the last dim, of what `kernel.count_digits` counts with the same
    `digit` and `tile`: so many elements with a digit lie up to the end of a tile. With `adds_counts` it holds these counts
    themselves: where tiles are few, adding them up takes less than a kernel for it does.

    The iteration space is the dims before the last of the keys; they are parallel. Example:
    ```mlir
    %v, %i = kernel.sort_digit %k payload %p by %ends into %a, %b digit = 1 tile = 4096
       : tensor<10000xf32> payload tensor<10000xi32> by tensor<256x3xi32> into tensor<10000xf32>, tensor<10000xi64>
       -> tensor<10000xf32>, tensor<10000xi64>
    kernel.sort_digit %k by %ends into %a digit = 0 tile = 512 : memref<?xi16> by memref<256x?xi32> into memref<?xi16>
    ```
  }];
  let arguments = (ins AnyShaped:$keys, Optional<AnyShaped>:$payload, AnyShaped:$ends, AnyShaped:$values,
                       Optional<AnyShaped>:$indices, I64Attr:$digit, I64Attr:$tile, UnitAttr:$adds_counts,
                       UnitAttr:$descending, UnitAttr:$unsigned_elements);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    $keys (`payload` $payload^)? `by` $ends `into` $values (`,` $indices^)? `digit` `=` $digit `tile` `=` $tile
    (`adds_counts` $adds_counts^)? (`descending` $descending^)? (`unsigned_elements` $unsigned_elements^)? attr-dict
    `:` type($keys) (`payload` type($payload)^)? `by` type($ends) `into` type($values) (`,` type($indices)^)?
    (`->` type($results)^)?
  }];
  let extraClassDeclaration = lineDims # [{
    ::mlir::MutableOperandRange getDpsInitsMutable() {
      unsigned count = getIndices() ? 2 : 1;
      return ::mlir::MutableOperandRange(getOperation(), getOperation()->getNumOperands() - count, count);
    }
    int64_t getRank() { return ::llvm::cast<::mlir::ShapedType>(getKeys().getType()).getRank(); }
  }];
}

def Kernel_CustomOp : Op<Kernel_Dialect, "custom", [AttrSizedOperandSegments, Pure, DestinationStyleOpInterface,
    DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface, ["reifyResultShapes"]>]> {
  let summary = "A kernel that the program brings, as PTX";
  let description = [{
    What `array.custom_kernel` is on tensors as they are stored; that op says what all of it means. The inits give the results' sizes
    only. It is a kernel of its own and is never fused, tiled or bufferised: `-xc-embed-kernels` puts the text in the kernel's place, and
    for CPU targets `-xc-resolve-references` puts the reference there before. Example:
    ```mlir
    %c = kernel.custom "vadd"(%a, %b : tensor<?xf32>, tensor<?xf32>) scalars(%n) as [i32] into(%e : tensor<?xf32>)
           grid = affine_map<()[n] -> (n ceildiv 256, 1, 1)> block = [256, 1, 1] ptx = "..." -> tensor<?xf32>
    ```
  }];
  let arguments = (ins StrAttr:$entry, Variadic<AnyRankedTensor>:$inputs, Variadic<Index>:$scalars,
                       OptionalAttr<TypeArrayAttr>:$scalar_types, Variadic<AnyRankedTensor>:$inits, AffineMapAttr:$grid,
                       DenseI64ArrayAttr:$block, DefaultValuedAttr<I64Attr, "0">:$shared,
                       DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$reuse,
                       OptionalAttr<FlatSymbolRefAttr>:$reference, StrAttr:$ptx);
  let results = (outs Variadic<AnyRankedTensor>:$outputs);
  let assemblyFormat = [{
    $entry `(` ($inputs^ `:` type($inputs))? `)` (`scalars` `(` $scalars^ `)` `as` $scalar_types)?
    `into` `(` ($inits^ `:` type($inits))? `)` `grid` `=` $grid `block` `=` $block (`shared` `=` $shared^)?
    (`reuse` `=` $reuse^)? (`else` $reference^)? `ptx` `=` $ptx attr-dict (`->` type($outputs)^)?
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getInitsMutable(); }
  }];
}

include "compiler/Dialect/Kernel/IR/AttentionGradientOp.td"
include "compiler/Dialect/Kernel/IR/AttentionDecodeOp.td"

#endif // XC_DIALECT_KERNEL_IR_KERNELOPS_TD
