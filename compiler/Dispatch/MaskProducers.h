//===- MaskProducers.h - What masks of attention are made of ----*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_DISPATCH_MASKPRODUCERS_H
#define XC_DISPATCH_MASKPRODUCERS_H

#include "mlir/IR/Block.h"
#include "llvm/ADT/DenseSet.h"

namespace xc::plan {

class DispatchTarget;

/// The mask of `op`, which is attention, attention of few queries, or a gradient; null if it has
/// none or is another op.
mlir::Value getMaskOfScores(mlir::Operation *op);

/// Gives each op with a mask ops of its own that make it, as far as its kernel takes less time to
/// compute each score's element than to read it. Returns these ops; nothing else uses them.
llvm::DenseSet<mlir::Operation *> splitMasks(mlir::Block &block, const DispatchTarget &target);

} // namespace xc::plan

#endif // XC_DISPATCH_MASKPRODUCERS_H
