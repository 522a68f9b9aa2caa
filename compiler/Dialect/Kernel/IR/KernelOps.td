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
    An op that scalar loops can express: the fallback that every op of the dialect has.
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

def Kernel_ScatterOp : Kernel_Op<"scatter"> {
  let summary = "Brings slices into a destination at index vectors that are data";
  let description = [{
    The last dim of `indices` holds index vectors, one component for each of the destination's dims `axes`
    (strictly increasing); `updates` has the other dims of `indices`, then the destination's dims not in `axes`,
    the *window*:

        dest[axes := indices[i..., :], others := w...]  <kind>=  updates[i..., w...]

    Updates are applied in row-major order of `i...`, so that the result is the same on every run: with `set` the
    last of competing updates stays, and float sums have one order. `unique` promises that no index vector repeats,
    so that any order will do. An index vector with a component outside of its dim is skipped: no memory outside of
    the destination is touched, whatever the indices are. `max` and `min` propagate NaN. `unsigned_indices` and
    `unsigned_elements` say how to read signless integers.

    The iteration space is the window; its dims are parallel. Example:
    ```mlir
    %r = kernel.scatter add, %rows, %grad into %zeros axes = [0]
       : tensor<32x1xi32>, tensor<32x64xf32>, tensor<1000x64xf32> -> tensor<1000x64xf32>
    kernel.scatter set, %rows, %grad into %m axes = [0] unique
       : memref<32x1xi32>, memref<32x64xf32>, memref<1000x64xf32>
    ```
  }];
  let arguments = (ins Kernel_ScatterKindAttr:$kind, AnyShaped:$indices, AnyShaped:$updates, AnyShaped:$dest,
                       DenseI64ArrayAttr:$axes, UnitAttr:$unsigned_indices, UnitAttr:$unsigned_elements,
                       UnitAttr:$unique);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    $kind `,` $indices `,` $updates `into` $dest `axes` `=` $axes (`unsigned_indices` $unsigned_indices^)?
    (`unsigned_elements` $unsigned_elements^)? (`unique` $unique^)? attr-dict
    `:` type($indices) `,` type($updates) `,` type($dest) (`->` type($results)^)?
  }];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getDestMutable(); }
    /// The destination's dims that are not in `axes`, in order.
    ::llvm::SmallVector<int64_t> getWindowDims();
    /// The rank of `i...`.
    int64_t getBatchRank();
  }];
}

#endif // XC_DIALECT_KERNEL_IR_KERNELOPS_TD
