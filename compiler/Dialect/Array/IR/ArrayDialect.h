//===- ArrayDialect.h - The array dialect -*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_DIALECT_ARRAY_IR_ARRAYDIALECT_H
#define XC_DIALECT_ARRAY_IR_ARRAYDIALECT_H

#include "mlir/IR/Dialect.h"

#include "compiler/Dialect/Array/IR/ArrayOpsDialect.h.inc"

#endif // XC_DIALECT_ARRAY_IR_ARRAYDIALECT_H
