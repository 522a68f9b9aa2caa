//===- AlignRows.cpp - Where rows of attention's operands begin -----------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernels of attention copy rows of their operands by 16 bytes at a time. A slice may begin
// anywhere: where that is no multiple of so many, or is not known, the operand is moved to memory
// of its own first.
//
//===----------------------------------------------------------------------===//

#include "compiler/Dispatch/AlignRows.h"

#include "compiler/Dialect/Kernel/IR/AttentionGradientOp.h"
#include "compiler/Dialect/Plan/IR/Copies.h"
#include "compiler/Dispatch/Alignment.h"

using namespace mlir;

namespace xc::plan {

void copyUnalignedRows(Block &block) {
  llvm::DenseMap<Value, Value> copies;
  for (Operation &op : llvm::make_early_inc_range(block)) {
    SmallVector<Value> operands;
    if (auto attention = dyn_cast<kernel::AttentionOp>(op))
      operands = {attention.getQuery(), attention.getKey(), attention.getValue()};
    else if (auto gradient = dyn_cast<kernel::AttentionGradientOp>(op))
      operands = {gradient.getQuery(), gradient.getKey(), gradient.getValue(),
                  gradient.getCotangent()};
    for (Value operand : operands) {
      if (hasAlignedRows(operand))
        continue;
      OpBuilder builder(&op);
      Value &copied = copies[operand];
      if (!copied)
        copied = createCopy(builder, op.getLoc(), operand);
      op.replaceUsesOfWith(operand, copied);
    }
  }
}

} // namespace xc::plan
