//===- KernelDialect.td - The kernel dialect --------------*- tablegen -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_DIALECT_KERNEL_IR_KERNELDIALECT_TD
#define XC_DIALECT_KERNEL_IR_KERNELDIALECT_TD

include "mlir/IR/OpBase.td"

def Kernel_Dialect : Dialect {
  let name = "kernel";
  let cppNamespace = "::xc::kernel";
  let summary = "Operations with kernels of their own";
  let description = [{
    What linalg cannot say, beside linalg: each op here works on tensors and, once bufferised, on memrefs, writes
    into destinations, can be tiled along its parallel dims, and has a plain loop nest
    (`-xc-lower-kernel-ops-to-loops`) that every target can fall back on. An op implements
    DestinationStyleOpInterface, TilingInterface, BufferizableOpInterface and LoopNestOpInterface.
  }];
  let useDefaultAttributePrinterParser = 1;
}

/// What attention's scores are limited to.
def Kernel_Softcap : ConfinedAttr<F64Attr, [AttrConstraint<
    CPred<"::llvm::cast<::mlir::FloatAttr>($_self).getValue().isFiniteNonZero() && "
          "!::llvm::cast<::mlir::FloatAttr>($_self).getValue().isNegative()">,
    "whose value is positive and finite">]>;

#endif // XC_DIALECT_KERNEL_IR_KERNELDIALECT_TD
