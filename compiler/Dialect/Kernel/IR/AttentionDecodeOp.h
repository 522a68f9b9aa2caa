//===- AttentionDecodeOp.h - kernel.attention_decode ------------*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_DIALECT_KERNEL_IR_ATTENTIONDECODEOP_H
#define XC_DIALECT_KERNEL_IR_ATTENTIONDECODEOP_H

#include "compiler/Dialect/Kernel/IR/KernelOps.h"

#define GET_OP_CLASSES
#include "compiler/Dialect/Kernel/IR/AttentionDecodeOp.h.inc"

#endif // XC_DIALECT_KERNEL_IR_ATTENTIONDECODEOP_H
