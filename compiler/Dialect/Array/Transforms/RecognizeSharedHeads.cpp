//===- RecognizeSharedHeads.cpp - Heads of keys that are repeated ---------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where query heads share keys, programs write each head of keys and values several times.
// Attention takes them as they were: the op that repeats is found behind those that move dims.
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Array/IR/Sizes.h"
#include "compiler/Dialect/Array/IR/TensorTypes.h"
#include "compiler/Dialect/Array/Transforms/Recognizers.h"
#include "compiler/Dialect/Array/Transforms/Views.h"

using namespace mlir;

namespace xc::array {

namespace {
/// What repeats each index of a dim, and how often.
struct Repetition {
  Operation *op;
  int64_t dim; ///< of the result of `op`
  int64_t count;
};
} // namespace

/// `reshape(broadcast(x))` of `[..., g, 1, ...]` to `[..., g, n, ...]` to `[..., g * n, ...]`.
static std::optional<int64_t> matchMergedRepeat(ReshapeOp op, int64_t dim) {
  auto broadcast = op.getOperand().getDefiningOp<BroadcastInDimOp>();
  if (!broadcast)
    return std::nullopt;
  ArrayRef<int64_t> from = broadcast.getType().getShape();
  SmallVector<int64_t> merged(from);
  if (dim + 1 >= int64_t(from.size()))
    return std::nullopt;
  std::optional<int64_t> both = mulSizes(from[dim], from[dim + 1]);
  merged.erase(merged.begin() + dim);
  merged[dim] = both.value_or(ShapedType::kDynamic);
  if (!both || ArrayRef(merged) != op.getType().getShape() ||
      llvm::count(merged, ShapedType::kDynamic) > 1)
    return std::nullopt;
  View view = View::of(broadcast.getResult());
  if (!view.step({/*broadcasts=*/true, /*converts=*/false}))
    return std::nullopt;
  for (int64_t other = 0; other < int64_t(from.size()); ++other)
    if ((view.dims[other] == View::kNone) != (other == dim + 1 || from[other] == 1))
      return std::nullopt;
  return from[dim + 1];
}

/// What repeats dim `dim` of `value`.
static std::optional<Repetition> findRepetition(Value value, int64_t dim) {
  View view = View::of(value);
  for (;;) {
    Operation *op = view.source.getDefiningOp();
    int64_t own = view.dims[dim];
    if (!op || own == View::kNone)
      return std::nullopt;
    if (auto repeat = dyn_cast<RepeatOp>(op))
      return int64_t(repeat.getAxis()) == own
                 ? std::optional(Repetition{op, own, int64_t(repeat.getRepeats())})
                 : std::nullopt;
    if (auto reshape = dyn_cast<ReshapeOp>(op))
      if (std::optional<int64_t> count = matchMergedRepeat(reshape, own))
        return Repetition{op, own, *count};
    // Ops that are built again below.
    if (!isa<TransposeOp, ExpandDimsOp, SqueezeOp>(op) || !view.step({}))
      return std::nullopt;
  }
}

/// What `repetition` repeats, in the dims that it gives.
static Value buildOnce(const Repetition &repetition, ExpressionBuilder &e) {
  if (auto repeat = dyn_cast<RepeatOp>(repetition.op))
    return repeat.getOperand();
  auto broadcast = repetition.op->getOperand(0).getDefiningOp<BroadcastInDimOp>();
  Value once = broadcast.getOperand();
  SmallVector<int64_t> shape(typeOf(repetition.op->getResult(0)).getShape());
  shape[repetition.dim] = broadcast.getType().getDimSize(repetition.dim);
  auto type = typeOf(once).clone(shape);
  return type == once.getType() ? once : e.make<ReshapeOp>(type, once, e.dynamicSizes(once));
}

/// `value` without the repetition: the ops that move dims once more, on what is repeated.
static Value removeRepetition(Value value, const Repetition &repetition, ExpressionBuilder &e) {
  Operation *op = value.getDefiningOp();
  if (op == repetition.op)
    return buildOnce(repetition, e);
  Value x = removeRepetition(op->getOperand(0), repetition, e);
  if (auto transpose = dyn_cast<TransposeOp>(op))
    return e.make<TransposeOp>(x, transpose.getPermutation());
  if (auto expand = dyn_cast<ExpandDimsOp>(op))
    return e.make<ExpandDimsOp>(x, expand.getAxes());
  return e.make<SqueezeOp>(x, cast<SqueezeOp>(op).getAxes());
}

Value recognizeSharedHeads(Operation *root, ExpressionBuilder &e) {
  auto op = dyn_cast<AttentionOp>(root);
  if (!op || op.getWithLogsumexp())
    return {};
  int64_t heads = op.getKey().getType().getRank() - 3;
  std::optional<Repetition> ofKey = findRepetition(op.getKey(), heads),
                            ofValue = findRepetition(op.getValue(), heads);
  if (!ofKey || !ofValue || ofKey->count != ofValue->count || ofKey->count < 2)
    return {};
  Value key = removeRepetition(op.getKey(), *ofKey, e),
        value = removeRepetition(op.getValue(), *ofValue, e);
  return e.finish(e.make<AttentionOp>(op.getQuery(), key, value, op.getMask(), op.getOffset(),
                                      op.getSinks(), op.getCausal(), op.getWindowAttr(),
                                      /*with_logsumexp=*/false, op.getScale()),
                  op.getResult().getType());
}

} // namespace xc::array
