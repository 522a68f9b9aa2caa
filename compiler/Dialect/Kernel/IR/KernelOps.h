//===- KernelOps.h - The kernel dialect's C++ face ------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_DIALECT_KERNEL_IR_KERNELOPS_H
#define XC_DIALECT_KERNEL_IR_KERNELOPS_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/TilingInterface.h"

#include "compiler/Dialect/Kernel/IR/KernelOpsDialect.h.inc"
#include "compiler/Dialect/Kernel/IR/KernelOpsEnums.h.inc"
#include "compiler/Dialect/Kernel/IR/KernelOpsOpInterfaces.h.inc"
#define GET_ATTRDEF_CLASSES
#include "compiler/Dialect/Kernel/IR/KernelOpsAttrs.h.inc"
#define GET_OP_CLASSES
#include "compiler/Dialect/Kernel/IR/KernelOps.h.inc"

namespace xc::kernel {

/// True for an op that touches a part of its destination only and leaves the rest to whoever gives
/// the result its memory.
bool writesPart(mlir::Operation *op);

} // namespace xc::kernel

#endif // XC_DIALECT_KERNEL_IR_KERNELOPS_H
