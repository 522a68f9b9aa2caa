//===- AttentionSupport.h - What ops of attention verify alike --*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_DIALECT_KERNEL_IR_ATTENTIONSUPPORT_H
#define XC_DIALECT_KERNEL_IR_ATTENTIONSUPPORT_H

#include "mlir/IR/BuiltinTypes.h"

namespace xc::kernel {

/// Checks what tells the keys that queries see: a mask, and what is said of causality.
template <typename Op> mlir::LogicalResult verifySeenKeys(Op op) {
  if (op.getMask()) {
    auto mask = mlir::cast<mlir::ShapedType>(op.getMask().getType());
    if (!mask.hasRank() || mask.getRank() > op.getQueryType().getRank() ||
        !(mlir::isa<mlir::FloatType>(mask.getElementType()) || mask.getElementType().isInteger(8)))
      return op.emitOpError(
                 "expected a mask of floats or bytes that broadcasts to the scores, got ")
             << mask;
  }
  if ((op.getOffset() || op.getWindow()) && !op.getCausal())
    return op.emitOpError("expected 'causal' beside an offset or a window");
  return mlir::success();
}

} // namespace xc::kernel

#endif // XC_DIALECT_KERNEL_IR_ATTENTIONSUPPORT_H
