//===- NormalizeKernel.cpp - The form that the strategies look at ---------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CPU/Passes.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace xc::cpu {
#define GEN_PASS_DEF_NORMALIZEKERNEL
#include "compiler/Codegen/CPU/Passes.h.inc"

namespace {

struct GeneralizeOp final : OpInterfaceRewritePattern<linalg::LinalgOp> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;

  LogicalResult matchAndRewrite(linalg::LinalgOp op, PatternRewriter &rewriter) const override {
    if (isa<linalg::FillOp>(op))
      return rewriter.notifyMatchFailure(op, "a fill is already simple");
    return linalg::generalizeNamedOp(rewriter, op);
  }
};

/// collapse_shape(to_tensor(m)) -> to_tensor(collapse_shape(m)).
struct CollapseBinding final : OpRewritePattern<tensor::CollapseShapeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tensor::CollapseShapeOp op, PatternRewriter &rewriter) const override {
    auto source = op.getSrc().getDefiningOp<bufferization::ToTensorOp>();
    if (!source)
      return rewriter.notifyMatchFailure(op, "not a whole binding");
    Value memory = memref::CollapseShapeOp::create(rewriter, op.getLoc(), source.getBuffer(),
                                                   op.getReassociationIndices());
    rewriter.replaceOpWithNewOp<bufferization::ToTensorOp>(op, op.getType(), memory, /*restrict=*/true);
    return success();
  }
};

/// expand_shape(to_tensor(m)) -> to_tensor(expand_shape(m)).
struct ExpandBinding final : OpRewritePattern<tensor::ExpandShapeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tensor::ExpandShapeOp op, PatternRewriter &rewriter) const override {
    auto source = op.getSrc().getDefiningOp<bufferization::ToTensorOp>();
    if (!source)
      return rewriter.notifyMatchFailure(op, "not a whole binding");
    auto type = MemRefType::get(op.getType().getShape(), op.getType().getElementType());
    Value memory = memref::ExpandShapeOp::create(rewriter, op.getLoc(), type, source.getBuffer(),
                                                 op.getReassociationIndices(), op.getMixedOutputShape());
    rewriter.replaceOpWithNewOp<bufferization::ToTensorOp>(op, op.getType(), memory, /*restrict=*/true);
    return success();
  }
};

/// Results that are reshaped just before they are stored: store the value as it was.
struct StoreBeforeReshape final : OpRewritePattern<bufferization::MaterializeInDestinationOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(bufferization::MaterializeInDestinationOp op,
                                PatternRewriter &rewriter) const override {
    if (!isa<MemRefType>(op.getDest().getType()))
      return rewriter.notifyMatchFailure(op, "the destination is not memory");
    Value value, memory;
    if (auto expand = op.getSource().getDefiningOp<tensor::ExpandShapeOp>()) {
      value = expand.getSrc();
      memory = memref::CollapseShapeOp::create(rewriter, op.getLoc(), op.getDest(), expand.getReassociationIndices());
    } else if (auto collapse = op.getSource().getDefiningOp<tensor::CollapseShapeOp>()) {
      value = collapse.getSrc();
      RankedTensorType valueType = collapse.getSrcType();
      auto type = MemRefType::get(valueType.getShape(), valueType.getElementType());
      SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(rewriter, op.getLoc(), value);
      memory = memref::ExpandShapeOp::create(rewriter, op.getLoc(), type, op.getDest(),
                                             collapse.getReassociationIndices(), sizes);
    } else {
      return rewriter.notifyMatchFailure(op, "the source is not a reshape");
    }
    rewriter.replaceOpWithNewOp<bufferization::MaterializeInDestinationOp>(
        op, /*result=*/Type(), value, memory, op.getRestrict(), op.getWritable());
    return success();
  }
};

struct NormalizeKernel final : impl::NormalizeKernelBase<NormalizeKernel> {
  void runOnOperation() override {
    MLIRContext *context = &getContext();
    RewritePatternSet patterns(context);
    patterns.add<GeneralizeOp, CollapseBinding, ExpandBinding, StoreBeforeReshape>(context);
    memref::DimOp::getCanonicalizationPatterns(patterns, context);
    tensor::DimOp::getCanonicalizationPatterns(patterns, context);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
} // namespace xc::cpu
