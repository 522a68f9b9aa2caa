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
// A gradient that has kernels becomes an op for each of them: of queries, and of keys and values.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Attention/AttentionProblem.h"
#include "compiler/Codegen/CUDA/Passes.h"
#include "compiler/Conversion/Passes.h"
#include "compiler/Dialect/Array/IR/AttentionGradientOp.h"
#include "compiler/Dialect/Array/IR/ExpressionBuilder.h"
#include "compiler/Dialect/Array/Transforms/Passes.h"
#include "compiler/Dialect/Kernel/IR/AttentionGradientOp.h"

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

/// A mask as it was. Truth values are stored as bytes.
static Value restoreMask(OpBuilder &builder, Location loc, Value mask) {
  if (!mask || !getElementTypeOrSelf(mask).isInteger(8))
    return mask;
  array::ExpressionBuilder e(builder, loc);
  return e.compare(array::CompareDirection::Ne, mask, e.scalar(0, mask));
}

/// Replaces `op` by the array op that it was.
static void restore(kernel::AttentionOp op) {
  OpBuilder builder(op);
  Value mask = restoreMask(builder, op.getLoc(), op.getMask());
  auto attention = array::AttentionOp::create(
      builder, op.getLoc(), op->getResultTypes(), op.getQuery(), op.getKey(), op.getValue(), mask,
      op.getOffset(), op.getSinks(), op.getCausalAttr(), op.getWindowAttr(),
      op.hasLogsumexp() ? builder.getUnitAttr() : UnitAttr(), op.getScaleAttr());
  op->replaceAllUsesWith(attention->getResults());
  op.erase();
}

static void restore(kernel::AttentionGradientOp op) {
  OpBuilder builder(op);
  auto gradient = array::AttentionGradientOp::create(
      builder, op.getLoc(), op->getResultTypes(), op.getQuery(), op.getKey(), op.getValue(),
      op.getCotangent(), restoreMask(builder, op.getLoc(), op.getMask()), op.getOffset(),
      /*logsumexp=*/Value(), /*delta=*/Value(), op.getCausalAttr(), op.getWindowAttr(),
      op.getScaleAttr());
  op->replaceAllUsesWith(gradient->getResults());
  op.erase();
}

/// Replaces `op`, which is of all operands, by one for each kernel.
static void split(kernel::AttentionGradientOp op) {
  OpBuilder builder(op);
  auto make = [&](ValueRange dests) {
    return kernel::AttentionGradientOp::create(
        builder, op.getLoc(), dests.getTypes(), op.getQuery(), op.getKey(), op.getValue(),
        op.getCotangent(), op.getLogsumexp(), op.getDelta(), op.getMask(), op.getOffset(), dests,
        op.getCausalAttr(), op.getWindowAttr(), op.getScaleAttr());
  };
  auto ofKeys = make(op.getDests().drop_front()), ofQueries = make(op.getDests().take_front());
  SmallVector<Value> results(ofQueries.getResults());
  llvm::append_range(results, ofKeys.getResults());
  op->replaceAllUsesWith(results);
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
    SmallVector<kernel::AttentionGradientOp> gradients;
    module.walk([&](kernel::AttentionGradientOp op) { gradients.push_back(op); });
    bool isAnyExpanded = !ops.empty();
    for (kernel::AttentionGradientOp op : gradients) {
      if (hasAttentionKernel(op, findTarget(op), wgmma)) {
        split(op);
        continue;
      }
      restore(op);
      isAnyExpanded = true;
    }
    for (kernel::AttentionOp op : ops)
      restore(op);
    if (!isAnyExpanded)
      return;
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
