//===- LowerKernelOpsToLoops.cpp - Loops for the kernel dialect -----------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each op of the kernel dialect describes its own loop nest, which takes the place of the op.
// Every target has this to fall back on, and constants are folded by it. Ops that are still on
// tensors are an error.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/Common/Passes.h"
#include "compiler/Dialect/Kernel/IR/KernelOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace xc::codegen {
#define GEN_PASS_DEF_LOWERKERNELOPSTOLOOPS
#include "compiler/Codegen/Common/Passes.h.inc"

namespace {

struct LowerKernelOpsToLoopsPass : impl::LowerKernelOpsToLoopsBase<LowerKernelOpsToLoopsPass> {
  void runOnOperation() override {
    SmallVector<kernel::LoopNestOpInterface> ops;
    getOperation()->walk([&](kernel::LoopNestOpInterface op) { ops.push_back(op); });
    for (kernel::LoopNestOpInterface op : ops) {
      if (op->getNumResults() != 0) {
        op->emitOpError("expected memrefs, got tensors; bufferise before lowering to loops");
        return signalPassFailure();
      }
      OpBuilder builder(op);
      op.buildLoopNest(builder);
      op->erase();
    }
  }
};

} // namespace

} // namespace xc::codegen
