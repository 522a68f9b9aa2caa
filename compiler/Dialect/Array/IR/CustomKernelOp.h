//===- CustomKernelOp.h - A kernel that the program brings ----------------- -===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_DIALECT_ARRAY_IR_CUSTOMKERNELOP_H
#define XC_DIALECT_ARRAY_IR_CUSTOMKERNELOP_H

#include "compiler/Dialect/Array/IR/ArrayOps.h"

#define GET_OP_CLASSES
#include "compiler/Dialect/Array/IR/ArrayCustomKernelOp.h.inc"

#endif // XC_DIALECT_ARRAY_IR_CUSTOMKERNELOP_H
