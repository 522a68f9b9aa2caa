//===- NormalizeKernel.cpp - The form that the strategies look at ---------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Named linalg ops become generic, casts of a product's operands become ops of their own, and
// reshapes of whole bindings move from tensors to memory, where they cost nothing. So strategies
// match few forms.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CPU/Contraction.h"
#include "compiler/Codegen/CPU/KernelAnalysis.h"
#include "compiler/Codegen/CPU/Passes.h"
#include "compiler/Dialect/Kernel/IR/KernelOps.h"

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

/// A loop goes over the elements one by one: how partial results would meet is of no use to it.
struct DropElement final : OpRewritePattern<kernel::ElementOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(kernel::ElementOp op, PatternRewriter &rewriter) const override {
    rewriter.replaceOp(op, op.getValue());
    return success();
  }
};

/// All elements are computed: what lies behind an extent is not specified.
struct DropWithin final : OpRewritePattern<kernel::WithinOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(kernel::WithinOp op, PatternRewriter &rewriter) const override {
    rewriter.replaceOp(op, op.getValue());
    return success();
  }
};

/// collapse_shape(to_tensor(m)) -> to_tensor(collapse_shape(m)).
struct CollapseBinding final : OpRewritePattern<tensor::CollapseShapeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tensor::CollapseShapeOp op,
                                PatternRewriter &rewriter) const override {
    auto source = op.getSrc().getDefiningOp<bufferization::ToTensorOp>();
    if (!source)
      return rewriter.notifyMatchFailure(op, "not a whole binding");
    auto type = MemRefType::get(op.getType().getShape(), op.getType().getElementType());
    Value memory = memref::CollapseShapeOp::create(rewriter, op.getLoc(), type, source.getBuffer(),
                                                   op.getReassociationIndices());
    rewriter.replaceOpWithNewOp<bufferization::ToTensorOp>(op, op.getType(), memory,
                                                           /*restrict=*/true);
    return success();
  }
};

/// expand_shape(to_tensor(m)) -> to_tensor(expand_shape(m)).
struct ExpandBinding final : OpRewritePattern<tensor::ExpandShapeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tensor::ExpandShapeOp op,
                                PatternRewriter &rewriter) const override {
    auto source = op.getSrc().getDefiningOp<bufferization::ToTensorOp>();
    if (!source)
      return rewriter.notifyMatchFailure(op, "not a whole binding");
    auto type = MemRefType::get(op.getType().getShape(), op.getType().getElementType());
    Value memory =
        memref::ExpandShapeOp::create(rewriter, op.getLoc(), type, source.getBuffer(),
                                      op.getReassociationIndices(), op.getMixedOutputShape());
    rewriter.replaceOpWithNewOp<bufferization::ToTensorOp>(op, op.getType(), memory,
                                                           /*restrict=*/true);
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
      RankedTensorType valueType = expand.getSrcType();
      auto type = MemRefType::get(valueType.getShape(), valueType.getElementType());
      memory = memref::CollapseShapeOp::create(rewriter, op.getLoc(), type, op.getDest(),
                                               expand.getReassociationIndices());
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

/// acc + cast(a) * b -> acc + a' * b with a' = cast(a) as a producer, so that the product sees
/// elements of one type.
struct HoistFactorCasts final : OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(linalg::GenericOp op, PatternRewriter &rewriter) const override {
    std::optional<plan::MultiplyAdd> body = matchMultiplyAdd(op);
    if (!body)
      return rewriter.notifyMatchFailure(op, "not a product");
    for (Value factor : body->multiply->getOperands()) {
      SmallVector<Operation *> casts;
      Value source = factor;
      for (; Operation *cast = source.getDefiningOp(); source = cast->getOperand(0))
        casts.push_back(cast);
      if (casts.empty())
        continue;
      auto argument = cast<BlockArgument>(source);
      Value operand = op.getDpsInputs()[argument.getArgNumber()];
      Value converted = convert(rewriter, op.getLoc(), operand, casts, factor.getType());
      rebuild(rewriter, op, argument.getArgNumber(), converted, body->multiply, factor);
      return success();
    }
    return rewriter.notifyMatchFailure(op, "its operands are its inputs");
  }

  /// |casts| (last one first) of every element of |operand|.
  static Value convert(PatternRewriter &rewriter, Location loc, Value operand,
                       ArrayRef<Operation *> casts, Type type) {
    SmallVector<OpFoldResult> sizes = getSizes(rewriter, operand);
    Value empty = tensor::EmptyOp::create(rewriter, loc, sizes, type);
    AffineMap identity = rewriter.getMultiDimIdentityMap(sizes.size());
    SmallVector<utils::IteratorType> iterators(sizes.size(), utils::IteratorType::parallel);
    auto generic =
        linalg::GenericOp::create(rewriter, loc, TypeRange{empty.getType()}, operand, empty,
                                  ArrayRef<AffineMap>{identity, identity}, iterators,
                                  [&](OpBuilder &builder, Location bodyLoc, ValueRange arguments) {
                                    IRMapping mapping;
                                    Value value = arguments[0];
                                    for (Operation *cast : llvm::reverse(casts)) {
                                      mapping.map(cast->getOperand(0), value);
                                      value = builder.clone(*cast, mapping)->getResult(0);
                                    }
                                    linalg::YieldOp::create(builder, bodyLoc, value);
                                  });
    return generic->getResult(0);
  }

  static void rebuild(PatternRewriter &rewriter, linalg::GenericOp op, unsigned input,
                      Value converted, Operation *multiply, Value factor) {
    rewriter.modifyOpInPlace(op, [&] {
      op.getInputsMutable().slice(input, 1).assign(converted);
      BlockArgument old = op.getBody()->getArgument(input);
      BlockArgument argument = op.getBody()->insertArgument(input, factor.getType(), old.getLoc());
      multiply->replaceUsesOfWith(factor, argument);
      // The casts are dead now; they have to go before their argument does.
      while (!old.use_empty()) {
        Operation *user = *old.user_begin();
        while (!user->use_empty())
          user = *user->user_begin();
        rewriter.eraseOp(user);
      }
      op.getBody()->eraseArgument(input + 1);
    });
  }
};

struct NormalizeKernel final : impl::NormalizeKernelBase<NormalizeKernel> {
  void runOnOperation() override {
    MLIRContext *context = &getContext();
    RewritePatternSet patterns(context);
    patterns.add<GeneralizeOp, DropElement, DropWithin, CollapseBinding, ExpandBinding,
                 StoreBeforeReshape, HoistFactorCasts>(context);
    memref::DimOp::getCanonicalizationPatterns(patterns, context);
    tensor::DimOp::getCanonicalizationPatterns(patterns, context);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
} // namespace xc::cpu
