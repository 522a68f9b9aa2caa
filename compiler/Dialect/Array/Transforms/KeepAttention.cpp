//===- KeepAttention.cpp - Leave attention whole for kernels of its own ---===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Only types and sizes that are known decide, so that it is the same for all targets of a program.
// In a program with bounded dynamic dims any dim that is not static may be one. Of attention as a
// whole only the number of keys may, and only where each query sees as many of the last ones as its
// place from the end says: -xc-array-resolve-extents makes that an offset.
//
// A gradient that is left whole takes what the attention has computed: its logsumexp, and its
// result, of which the sums of products with the cotangent are built here.
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Array/Transforms/Passes.h"

#include "compiler/Dialect/Array/IR/AttentionGradientOp.h"
#include "compiler/Dialect/Array/IR/Demands.h"
#include "compiler/Dialect/Array/IR/ExpressionBuilder.h"

using namespace mlir;

namespace xc::array {

#define GEN_PASS_DEF_KEEPATTENTION
#include "compiler/Dialect/Array/Transforms/Passes.h.inc"

/// The attention before `gradient` in its block that it is the gradient of; null if there is none.
static AttentionOp findAttention(AttentionGradientOp gradient) {
  for (Operation *user : gradient.getQuery().getUsers()) {
    auto op = dyn_cast<AttentionOp>(user);
    if (op && op->getBlock() == gradient->getBlock() && op->isBeforeInBlock(gradient) &&
        op.getQuery() == gradient.getQuery() && op.getKey() == gradient.getKey() &&
        op.getValue() == gradient.getValue() && op.getMask() == gradient.getMask() &&
        op.getOffset() == gradient.getOffset() && !op.getSinks() &&
        op.getCausal() == gradient.getCausal() && op.getWindow() == gradient.getWindow() &&
        op.getScale() == gradient.getScale())
      return op;
  }
  return nullptr;
}

/// Attention of the gradient's operands, with its logsumexp.
static AttentionOp makeAttention(OpBuilder &builder, AttentionGradientOp gradient) {
  return AttentionOp::create(builder, gradient.getLoc(), gradient.getQuery(), gradient.getKey(),
                             gradient.getValue(), gradient.getMask(), gradient.getOffset(),
                             /*sinks=*/Value(), gradient.getCausalAttr(), gradient.getWindowAttr(),
                             builder.getUnitAttr(), gradient.getScaleAttr());
}

/// Gives `gradient` what its kernels need of the attention.
static void addRows(AttentionGradientOp gradient) {
  OpBuilder builder(gradient);
  AttentionOp attention = findAttention(gradient);
  if (!attention) {
    attention = makeAttention(builder, gradient);
  } else if (!attention.getWithLogsumexp()) {
    builder.setInsertionPoint(attention);
    AttentionOp more = makeAttention(builder, gradient);
    more->setLoc(attention.getLoc());
    more.getResult().setType(attention.getResult().getType());
    attention.getResult().replaceAllUsesWith(more.getResult());
    attention.erase();
    attention = more;
    builder.setInsertionPoint(gradient);
  }
  ExpressionBuilder e(builder, gradient.getLoc());
  Value products = e.mul(e.widen(attention.getResult()), e.widen(gradient.getCotangent()));
  int64_t last = gradient.getQuery().getType().getRank() - 1;
  gradient.getLogsumexpMutable().assign(attention.getLogsumexp());
  gradient.getDeltaMutable().assign(e.reduce(ReduceKind::Sum, products, last, /*keepdims=*/false));
}

static bool hasExtents(ModuleOp module) {
  WalkResult result = module.walk([](Operation *op) {
    return isa<SetExtentOp, CompressOp>(op) ? WalkResult::interrupt() : WalkResult::advance();
  });
  return result.wasInterrupted();
}

static bool hasKnownSizes(Operation *op) {
  return llvm::all_of(op->getOperandTypes(),
                      [](Type type) { return cast<RankedTensorType>(type).hasStaticShape(); });
}

/// Whether the number of keys may end at an extent, and nothing else.
static bool mayEndEarly(AttentionOp op) {
  int64_t length = op.getQuery().getType().getRank() - 2;
  bool isSeenByLast = op.getCausal() || op.getQuery().getType().getDimSize(length) == 1;
  if (op.getMask() || op.getOffset() || !isSeenByLast)
    return false;
  return llvm::all_of(op->getOperands(), [&](Value operand) {
    auto shape = llvm::to_vector(cast<RankedTensorType>(operand.getType()).getShape());
    if (operand == op.getKey() || operand == op.getValue())
      shape[length] = 1;
    return !ShapedType::isDynamicShape(shape);
  });
}

namespace {

struct KeepAttention final : impl::KeepAttentionBase<KeepAttention> {
  using KeepAttentionBase::KeepAttentionBase;

  void runOnOperation() override {
    bool isBounded = hasExtents(getOperation());
    SmallVector<AttentionGradientOp> gradients;
    // Gradients have no kernel that takes all sizes, as attention has.
    getOperation().walk([&](AttentionGradientOp op) {
      if (mayBeKernel(op) && hasKnownSizes(op))
        gradients.push_back(op);
    });
    Builder builder(&getContext());
    for (AttentionGradientOp op : gradients) {
      if (!op.getLogsumexp())
        addRows(op);
      op->setAttr(kWholeAttr, builder.getUnitAttr());
    }
    getOperation().walk([&](AttentionOp op) {
      bool isResolved =
          !isBounded || hasKnownSizes(op) || (isFew(op.getQuery().getType()) && mayEndEarly(op));
      if (isResolved && (mayBeKernel(op) || (blocks && mayBeBlocks(op))))
        op->setAttr(kWholeAttr, builder.getUnitAttr());
    });
    getOperation().walk([&](PagedAttentionOp op) {
      RankedTensorType query = op.getQuery().getType();
      bool isResolved = !isBounded || hasKnownSizes(op);
      if (isResolved && mma && hasVectors(query, op.getValues().getType()) && isFew(query))
        op->setAttr(kWholeAttr, builder.getUnitAttr());
    });
  }

private:
  static bool hasVectors(RankedTensorType query, RankedTensorType value) {
    Type element = query.getElementType();
    return (element.isF16() || element.isBF16()) &&
           !ShapedType::isDynamic(query.getShape().back()) &&
           !ShapedType::isDynamic(value.getShape().back());
  }
  bool isFew(RankedTensorType query) const {
    int64_t queries = query.getShape().drop_back().back();
    return !ShapedType::isDynamic(queries) && queries < kFewQueries;
  }
  template <typename Op> bool mayBeKernel(Op op) const {
    RankedTensorType query = op.getQuery().getType();
    // Gradients of few queries have no kernel.
    bool hasKernel = mma && (!isFew(query) || std::is_same_v<Op, AttentionOp>);
    return hasKernel && hasVectors(query, op.getValue().getType());
  }
  bool mayBeBlocks(AttentionOp op) const {
    RankedTensorType query = op.getQuery().getType(), value = op.getValue().getType();
    return !isFew(query) && !query.getElementType().isF64() &&
           !ShapedType::isDynamic(query.getShape().back()) &&
           !ShapedType::isDynamic(value.getShape().back());
  }
};

} // namespace

} // namespace xc::array
