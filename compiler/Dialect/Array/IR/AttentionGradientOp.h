//===- AttentionGradientOp.h - array.attention_gradient ---------*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_DIALECT_ARRAY_IR_ATTENTIONGRADIENTOP_H
#define XC_DIALECT_ARRAY_IR_ATTENTIONGRADIENTOP_H

#include "compiler/Dialect/Array/IR/ArrayOps.h"

#define GET_OP_CLASSES
#include "compiler/Dialect/Array/IR/ArrayAttentionGradientOp.h.inc"

namespace xc::array {

/// Whether the gradient of `op` can be an op of its own.
bool hasGradientOp(AttentionOp op);

/// What the operands of `op` get of `toResult` and `toLogsumexp` (which may be null), in simpler
/// ops; null for those that nothing flows to.
llvm::SmallVector<mlir::Value> buildAttentionVjp(AttentionOp op, mlir::OpBuilder &builder,
                                                 mlir::Value toResult, mlir::Value toLogsumexp);

} // namespace xc::array

#endif // XC_DIALECT_ARRAY_IR_ATTENTIONGRADIENTOP_H
