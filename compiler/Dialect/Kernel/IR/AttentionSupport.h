//===- AttentionSupport.h - What ops of attention verify alike --*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_DIALECT_KERNEL_IR_ATTENTIONSUPPORT_H
#define XC_DIALECT_KERNEL_IR_ATTENTIONSUPPORT_H

#include "compiler/Dialect/Kernel/IR/KernelOpSupport.h"

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

/// Of rows of integers, as many as sequences.
inline bool hasIntegers(mlir::Value value, int64_t rank, int64_t rows) {
  auto type = mlir::cast<mlir::ShapedType>(value.getType());
  return type.hasRank() && type.getRank() == rank && type.getElementType().isSignlessInteger() &&
         agree(type.getDimSize(0), rows);
}

/// Checks what tells the pages that sequences have.
template <typename Op> mlir::LogicalResult verifyPages(Op op) {
  if (op.isPaged() != static_cast<bool>(op.getLengths()) ||
      (op.isPaged() && (op.getCausal() || op.getMask())))
    return op.emitOpError(
        "expected a table with lengths, and neither 'causal' nor a mask beside it");
  int64_t sequences = op.getQueryType().getDimSize(0);
  if (op.isPaged() &&
      (!hasIntegers(op.getTable(), 2, sequences) || !hasIntegers(op.getLengths(), 1, sequences)))
    return op.emitOpError("expected integers for each sequence, got ")
           << op.getTable().getType() << " and " << op.getLengths().getType();
  return mlir::success();
}

} // namespace xc::kernel

#endif // XC_DIALECT_KERNEL_IR_ATTENTIONSUPPORT_H
