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
#include "compiler/Dialect/Array/Transforms/AttentionPattern.h"

using namespace mlir;

namespace xc::array {

/// In place of a dim: the indices that repeat each head.
static constexpr int64_t kRepeated = -2;

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

namespace {
/// The sum over what repeats each head.
struct HeadSum {
  Value result;
  SmallVector<int64_t> dims; ///< of the result: which of the gradient, or kNone
};
} // namespace

/// Splits the dim of `dims` that is `heads` where `op` splits off its last `count` indices, as
/// kRepeated.
static bool splitHeads(ReshapeOp op, int64_t heads, int64_t count, SmallVector<int64_t> &dims) {
  ArrayRef<int64_t> from = typeOf(op.getOperand()).getShape(), to = op.getType().getShape();
  int64_t place = llvm::find(dims, heads) - dims.begin();
  if (place == int64_t(dims.size()) || ShapedType::isDynamic(from[place]))
    return false;
  SmallVector<int64_t> split(from);
  split[place] /= count;
  split.insert(split.begin() + place + 1, count);
  dims.insert(dims.begin() + place + 1, kRepeated);
  return ArrayRef(split) == to && llvm::count(to, ShapedType::kDynamic) < 2;
}

/// Goes down from `gradient`, of keys or values that had each of `heads` repeated, to where what
/// they get is added up. Nothing else may use it.
static std::optional<HeadSum> findHeadSum(Value gradient, int64_t heads, int64_t count) {
  SmallVector<int64_t> dims = llvm::to_vector(llvm::seq<int64_t>(0, typeOf(gradient).getRank()));
  for (Value value = gradient; value.hasOneUse();) {
    Operation *user = *value.getUsers().begin();
    if (user->getNumResults() != 1 || !isa<RankedTensorType>(user->getResult(0).getType()))
      return std::nullopt;
    auto map = [&](ArrayRef<int64_t> before) {
      SmallVector<int64_t> own;
      for (int64_t dim : before)
        own.push_back(dim == View::kNone ? View::kNone : dims[dim]);
      dims = own;
    };
    View view = View::of(user->getResult(0));
    if (view.step({/*broadcasts=*/false, /*converts=*/true})) {
      map(view.dims);
    } else if (auto reshape = dyn_cast<ReshapeOp>(user)) {
      if (!splitHeads(reshape, heads, count, dims))
        return std::nullopt;
    } else if (auto sum = dyn_cast<ReduceOp>(user); sum && sum.getKind() == ReduceKind::Sum) {
      ArrayRef<int64_t> shape = typeOf(value).getShape();
      bool isOfRepeats = llvm::all_of(
          sum.getAxes(), [&](int64_t axis) { return dims[axis] == kRepeated || shape[axis] == 1; });
      map(getReducedDims(shape.size(), sum.getAxes(), sum.getKeepdims()));
      if (!isOfRepeats || llvm::is_contained(dims, kRepeated))
        return std::nullopt;
      return HeadSum{sum.getResult(), dims};
    } else {
      return std::nullopt;
    }
    value = user->getResult(0);
  }
  return std::nullopt;
}

/// `gradient`, of heads that are not repeated, in the dims of `sum`.
static Value buildHeadSum(Value gradient, const HeadSum &sum, ExpressionBuilder &e) {
  SmallVector<int64_t> order, added;
  for (auto [place, dim] : llvm::enumerate(sum.dims))
    if (dim == View::kNone)
      added.push_back(place);
    else
      order.push_back(dim);
  Value value = arrange(gradient, order, e);
  if (!added.empty())
    value = e.make<ExpandDimsOp>(value, added);
  return e.finish(value, sum.result.getType());
}

Replacement recognizeSharedHeads(Operation *root, ExpressionBuilder &e) {
  std::optional<AttentionForm> form = AttentionForm::of(root);
  if (!form)
    return {};
  int64_t heads = typeOf(form->key).getRank() - 3;
  std::optional<Repetition> ofKey = findRepetition(form->key, heads),
                            ofValue = findRepetition(form->value, heads);
  if (!ofKey || !ofValue || ofKey->count != ofValue->count || ofKey->count < 2)
    return {};
  // Of a gradient that nobody uses there is no sum.
  std::optional<HeadSum> sums[2];
  for (int index : {0, 1}) {
    if (!form->cotangent || root->getResult(1 + index).use_empty())
      continue;
    sums[index] = findHeadSum(root->getResult(1 + index), heads, ofKey->count);
    if (!sums[index])
      return {};
  }
  form->key = removeRepetition(form->key, *ofKey, e);
  form->value = removeRepetition(form->value, *ofValue, e);
  ValueRange results = form->build(e);
  Replacement whole(e.finish(results[0], root->getResult(0).getType()));
  for (int index : {0, 1})
    if (sums[index])
      whole.others.push_back(
          {sums[index]->result, buildHeadSum(results[1 + index], *sums[index], e)});
  return whole;
}

} // namespace xc::array
