//===- KeepAttention.cpp - Leave attention whole for kernels of its own ---===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Only types and sizes that are known decide, so that it is the same for all targets of a program.
// In a program with bounded dynamic dims any dim that is not static may be one, unless nothing that
// has such a dim is among what gives the value its shape. Of attention as a whole only the number
// of keys may, and only where each query sees as many of the last ones as its place from the end
// says: -xc-array-resolve-extents makes that an offset.
//
// A gradient that is left whole takes what the attention has computed: its logsumexp, and its
// result, of which the sums of products with the cotangent are built here.
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Array/Transforms/Passes.h"

#include "compiler/Dialect/Array/IR/AttentionGradientOp.h"
#include "compiler/Dialect/Array/IR/AttentionSteps.h"
#include "compiler/Dialect/Array/IR/ExpressionBuilder.h"
#include "compiler/Dialect/Array/IR/PassAttributes.h"
#include "compiler/Dialect/Array/IR/RuntimeSizes.h"

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
        op.getOffset() == gradient.getOffset() && op.getSinks() == gradient.getSinks() &&
        op.getCausal() == gradient.getCausal() && op.getWindow() == gradient.getWindow() &&
        op.getSoftcapAttr() == gradient.getSoftcapAttr() && op.getScale() == gradient.getScale())
      return op;
  }
  return nullptr;
}

/// Attention of the gradient's operands, with its logsumexp.
static AttentionOp makeAttention(OpBuilder &builder, AttentionGradientOp gradient) {
  return AttentionOp::create(builder, gradient.getLoc(), gradient.getQuery(), gradient.getKey(),
                             gradient.getValue(), gradient.getMask(), gradient.getOffset(),
                             gradient.getSinks(), gradient.getCausalAttr(),
                             gradient.getWindowAttr(), builder.getUnitAttr(),
                             gradient.getSoftcapAttr(), gradient.getScaleAttr());
}

/// What flows to the sink of each query. It is a key whose value is 0, so it only takes from the
/// others.
static Value buildSinkScores(ExpressionBuilder &e, AttentionGradientOp gradient) {
  Value logsumexp = gradient.getLogsumexp();
  Value sinks = e.widen(e.make<ExpandDimsOp>(gradient.getSinks(), 1));
  Value share = e.make<ExpOp>(e.sub(sinks, logsumexp));
  // Minus infinity of a query that sees no key, not even a sink.
  Value lowest = e.scalar(-std::numeric_limits<double>::infinity(), logsumexp);
  Value isNone = e.compare(CompareDirection::Eq, logsumexp, lowest);
  share = e.select(isNone, e.scalar(0, share), share);
  return e.make<NegOp>(e.mul(share, gradient.getDelta()));
}

/// Whether each row of the mask has one number.
static bool hasMaskOfQueries(AttentionGradientOp gradient) {
  ArrayRef<int64_t> shape = gradient.getMask().getType().getShape();
  return shape.empty() || shape.back() == 1;
}

/// What the mask gets where each row has one number. That changes a row's scores alike, so only the
/// sink and logsumexp notice: the sink gets the opposite of what they get together.
static Value buildMaskGradient(ExpressionBuilder &e, AttentionGradientOp gradient) {
  Value scores;
  if (gradient.getSinks())
    scores = e.make<NegOp>(buildSinkScores(e, gradient));
  if (Value given = gradient.getLogsumexpCotangent()) {
    // Logsumexp moves as its scores do, if there are any.
    Value logsumexp = gradient.getLogsumexp();
    Value lowest = e.scalar(-std::numeric_limits<double>::infinity(), logsumexp);
    Value isNone = e.compare(CompareDirection::Eq, logsumexp, lowest);
    given = e.select(isNone, e.scalar(0, given), given);
    scores = scores ? e.add(scores, given) : given;
  }
  if (!scores)
    return e.zerosLike(gradient.getMask());
  int64_t rank = gradient.getQuery().getType().getRank();
  Value sum = e.sumToShape(e.make<ExpandDimsOp>(scores, rank - 1), gradient.getMask());
  return e.finish(sum, gradient.getMask().getType());
}

/// Whether all queries share the numbers of the mask, each of which is of a key.
static bool hasMaskOfKeys(AttentionGradientOp gradient) {
  ArrayRef<int64_t> shape = gradient.getMask().getType().getShape();
  return !hasMaskOfQueries(gradient) && (shape.size() == 1 || shape.drop_back().back() == 1);
}

/// Another op with the operands and attributes of `gradient`, but for its mask.
static AttentionGradientOp rebuild(OpBuilder &builder, AttentionGradientOp gradient, Value mask,
                                   UnitAttr withMask, UnitAttr withSinks) {
  auto other = AttentionGradientOp::create(
      builder, gradient.getLoc(), gradient.getQuery(), gradient.getKey(), gradient.getValue(),
      gradient.getCotangent(), mask, gradient.getOffset(), gradient.getSinks(),
      gradient.getLogsumexp(), gradient.getDelta(), gradient.getLogsumexpCotangent(),
      gradient.getCausalAttr(), gradient.getWindowAttr(), gradient.getSoftcapAttr(),
      gradient.getScaleAttr(), withMask, withSinks);
  other->setDiscardableAttrs(gradient->getDiscardableAttrDictionary());
  for (auto [result, own] : llvm::zip(gradient.getResults().take_front(3), other.getResults())) {
    own.setType(result.getType());
    result.replaceAllUsesWith(own);
  }
  return other;
}

/// Gives a mask of keys that wants a gradient all dims before the queries, which the kernel that
/// sums up over queries has; what it gets is added up here. Returns the op with that mask.
static AttentionGradientOp spreadMaskOfKeys(AttentionGradientOp gradient) {
  if (!gradient.getWithMask() || !hasMaskOfKeys(gradient))
    return gradient;
  OpBuilder builder(gradient);
  ExpressionBuilder e(builder, gradient.getLoc());
  RankedTensorType query = gradient.getQuery().getType(), mask = gradient.getMask().getType();
  SmallVector<int64_t> shape(query.getShape().drop_back(2));
  SmallVector<Value> sizes = e.dynamicSizes(gradient.getQuery());
  sizes.truncate(llvm::count_if(shape, ShapedType::isDynamic));
  shape.append({1, mask.getShape().back()});
  if (ShapedType::isDynamic(shape.back()))
    sizes.push_back(e.dynamicSizes(gradient.getMask()).back());
  int64_t rank = query.getRank();
  SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(rank - mask.getRank(), rank));
  Value spread =
      e.make<BroadcastInDimOp>(RankedTensorType::get(shape, builder.getF32Type()),
                               e.convert(gradient.getMask(), builder.getF32Type()), sizes, axes);
  AttentionGradientOp other =
      rebuild(builder, gradient, spread, builder.getUnitAttr(), /*withSinks=*/UnitAttr());
  Value sum = e.sumToShape(other.getToMask(), e.convert(gradient.getMask(), builder.getF32Type()));
  gradient.getToMask().replaceAllUsesWith(e.finish(sum, mask));
  gradient.erase();
  return other;
}

/// Replaces those results of `gradient`, which has rows, that follow from these alone; returns what
/// has the others.
static AttentionGradientOp separateRowGradients(AttentionGradientOp gradient) {
  bool isMaskSimple = gradient.getWithMask() && hasMaskOfQueries(gradient);
  if (!gradient.getWithSinks() && !isMaskSimple)
    return gradient;
  OpBuilder builder(gradient);
  ExpressionBuilder e(builder, gradient.getLoc());
  if (gradient.getWithSinks())
    gradient.getToSinks().replaceAllUsesWith(sumPerHead(
        e, buildSinkScores(e, gradient), /*head=*/gradient.getQuery().getType().getRank() - 3,
        gradient.getSinks().getType()));
  if (isMaskSimple)
    gradient.getToMask().replaceAllUsesWith(buildMaskGradient(e, gradient));
  AttentionGradientOp others =
      rebuild(builder, gradient, gradient.getMask(),
              isMaskSimple ? UnitAttr() : gradient.getWithMaskAttr(), /*withSinks=*/UnitAttr());
  if (others.getToMask())
    gradient.getToMask().replaceAllUsesWith(others.getToMask());
  gradient.erase();
  return others;
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
  Value delta = e.reduce(ReduceKind::Sum, products, last, /*keepdims=*/false);
  // Logsumexp changes by each key's weight, too.
  if (Value given = gradient.getLogsumexpCotangent())
    delta = e.sub(delta, given);
  gradient.getLogsumexpMutable().assign(attention.getLogsumexp());
  gradient.getDeltaMutable().assign(delta);
}

//===----------------------------------------------------------------------===//
// Runtime sizes
//===----------------------------------------------------------------------===//

/// Whether the number of keys may end at an extent, and nothing else. Batch dims are the queries'.
static bool mayEndEarly(AttentionOp op, RuntimeSizes &runtimeSizes) {
  int64_t length = op.getQuery().getType().getRank() - 2;
  bool isSeenByLast = op.getCausal() || op.getQuery().getType().getDimSize(length) == 1;
  if (op.getMask() || op.getOffset() || !isSeenByLast)
    return false;
  return llvm::all_of(op->getOperands(), [&](Value operand) {
    bool hasKeys = operand == op.getKey() || operand == op.getValue();
    return (hasKeys && operand != op.getQuery()) || !runtimeSizes.containsAnyOf(operand);
  });
}

namespace {

struct KeepAttention final : impl::KeepAttentionBase<KeepAttention> {
  using KeepAttentionBase::KeepAttentionBase;

  void runOnOperation() override {
    SmallVector<AttentionGradientOp> gradients;
    // Anew where the function has been changed.
    RuntimeSizes before(&getContext());
    getOperation().walk([&](AttentionGradientOp op) {
      if (mayBeKernel(op) && !before.containsAnyOf(op->getOperands()))
        gradients.push_back(op);
    });
    Builder builder(&getContext());
    for (AttentionGradientOp op : gradients) {
      if (!op.getLogsumexp())
        addRows(op);
      op = spreadMaskOfKeys(separateRowGradients(op));
      op->setAttr(kWholeAttr, builder.getUnitAttr());
    }
    RuntimeSizes runtimeSizes(&getContext());
    auto hasHostSizes = [&](Operation *op) {
      return !runtimeSizes.containsAnyOf(op->getOperands());
    };
    getOperation().walk([&](AttentionOp op) {
      bool isResolved =
          hasHostSizes(op) || (isFew(op.getQuery().getType()) && mayEndEarly(op, runtimeSizes));
      if (isResolved && (mayBeKernel(op) || (blocks && mayBeBlocks(op))))
        op->setAttr(kWholeAttr, builder.getUnitAttr());
    });
    getOperation().walk([&](PagedAttentionOp op) {
      RankedTensorType query = op.getQuery().getType();
      if (hasHostSizes(op) && (mma || blocks) && hasVectors(query, op.getValues().getType()))
        op->setAttr(kWholeAttr, builder.getUnitAttr());
    });
  }

private:
  static bool hasVectors(RankedTensorType query, RankedTensorType value) {
    Type element = query.getElementType();
    return (element.isF16() || element.isBF16() || element.isF32()) &&
           !ShapedType::isDynamic(query.getShape().back()) &&
           !ShapedType::isDynamic(value.getShape().back());
  }
  bool isFew(RankedTensorType query) const {
    int64_t queries = query.getShape().drop_back().back();
    return !ShapedType::isDynamic(queries) && queries < kFewQueries;
  }
  template <typename Op> bool mayBeKernel(Op op) const {
    RankedTensorType query = op.getQuery().getType();
    return mma && hasVectors(query, op.getValue().getType());
  }
  bool mayBeBlocks(AttentionOp op) const {
    RankedTensorType query = op.getQuery().getType(), value = op.getValue().getType();
    return !query.getElementType().isF64() && !ShapedType::isDynamic(query.getShape().back()) &&
           !ShapedType::isDynamic(value.getShape().back());
  }
};

} // namespace

} // namespace xc::array
