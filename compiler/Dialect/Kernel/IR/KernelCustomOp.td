//===- KernelCustomOp.td - A kernel that the program brings -*- tablegen -* -===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_DIALECT_KERNEL_IR_KERNELCUSTOMOP_TD
#define XC_DIALECT_KERNEL_IR_KERNELCUSTOMOP_TD

include "compiler/Dialect/Kernel/IR/KernelDialect.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

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

#endif // XC_DIALECT_KERNEL_IR_KERNELCUSTOMOP_TD
