//===- MovedRows.h - Rows that attention reads and stores elsewhere -*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_DISPATCH_MOVEDROWS_H
#define XC_DISPATCH_MOVEDROWS_H

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Block.h"
#include "llvm/ADT/SmallVector.h"

namespace xc::plan {

/// True for an op that permutes dims but the innermost one, and computes nothing.
bool movesRows(mlir::Operation *op);

/// True if all that a reshape does is to add or to drop dims of size 1.
bool movesOnesOnly(mlir::tensor::ExpandShapeOp op);
bool movesOnesOnly(mlir::tensor::CollapseShapeOp op);

/// The operands whose rows `op`, attention or its gradient, copies from wherever they are; none for
/// other ops.
llvm::SmallVector<mlir::Value> getRowOperands(mlir::Operation *op);

/// The op that moves the rows of `operand` from where they can be copied as well; null if there is
/// none.
mlir::Operation *getMoverOfRows(mlir::Value operand);

/// Gives each attention, and each gradient of it, ops of its own that move its operands' rows; and
/// lets what else reads attention's result read it where an op moves its rows to.
void splitMovedRows(mlir::Block &block);

} // namespace xc::plan

#endif // XC_DISPATCH_MOVEDROWS_H
