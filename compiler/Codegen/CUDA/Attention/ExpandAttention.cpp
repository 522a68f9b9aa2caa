//===- ExpandAttention.cpp - Attention without a kernel of its own --------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The target is known here, and the program is linalg. What has no kernel goes back to the array
// dialect, on tensors as they are stored, and takes the way of phases `array` and `linalg` again:
// decomposition, then regions that become functions, then linalg.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Attention/AttentionProblem.h"
#include "compiler/Codegen/CUDA/Passes.h"
#include "compiler/Conversion/Passes.h"
#include "compiler/Dialect/Array/IR/ArrayOps.h"
#include "compiler/Dialect/Array/IR/ExpressionBuilder.h"
#include "compiler/Dialect/Array/Transforms/Passes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace xc::cuda {

#define GEN_PASS_DEF_EXPANDATTENTION
#include "compiler/Codegen/CUDA/Passes.h.inc"

/// Replaces `op` by the array op that it was.
static void restore(kernel::AttentionOp op) {
  OpBuilder builder(op);
  array::ExpressionBuilder e(builder, op.getLoc());
  Value mask = op.getMask();
  // Truth values are stored as bytes.
  if (mask && getElementTypeOrSelf(mask).isInteger(8))
    mask = e.compare(array::CompareDirection::Ne, mask, e.scalar(0, mask));
  auto attention = array::AttentionOp::create(
      builder, op.getLoc(), op->getResultTypes(), op.getQuery(), op.getKey(), op.getValue(), mask,
      op.getOffset(), op.getSinks(), op.getCausalAttr(), op.getWindowAttr(),
      op.hasLogsumexp() ? builder.getUnitAttr() : UnitAttr(), op.getScaleAttr());
  op->replaceAllUsesWith(attention->getResults());
  op.erase();
}

namespace {

struct ExpandAttention final : impl::ExpandAttentionBase<ExpandAttention> {
  using ExpandAttentionBase::ExpandAttentionBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<kernel::AttentionOp> ops;
    module.walk([&](kernel::AttentionOp op) {
      if (!hasAttentionKernel(op, findTarget(op), wgmma))
        ops.push_back(op);
    });
    if (ops.empty())
      return;
    for (kernel::AttentionOp op : ops)
      restore(op);
    OpPassManager lowering(ModuleOp::getOperationName());
    lowering.addPass(array::createDecompose());
    lowering.addPass(createCanonicalizerPass());
    lowering.addPass(createMergeEqualOps());
    lowering.addPass(createGuardLoops());
    lowering.addPass(createOutlineControl());
    lowering.addPass(createConvertArrayToLinalg());
    lowering.addPass(createCanonicalizerPass());
    lowering.addPass(createMergeEqualOps());
    if (failed(runPipeline(lowering, module)))
      signalPassFailure();
  }
};

} // namespace

} // namespace xc::cuda
