//===- RecognizeAttention.cpp - Attention in smaller ops ------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// From the second product upwards: a softmax over what is summed there, then scales and masks down
// to the first product. Views say which dim of the scores is which, wherever it has been moved.
// A tangent between the scales limits scores: Gemma's soft cap.
//
// A finite number in place of hidden scores is kept as such, as a mask that is added: a row that is
// hidden throughout then has equal weights, as it had.
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Array/IR/TensorTypes.h"
#include "compiler/Dialect/Array/Transforms/AttentionPattern.h"

using namespace mlir;

namespace xc::array {

/// What `op` takes as it is but for NaN, which it makes 0; null if it is another op. So PyTorch
/// spells that a row which is hidden throughout has no weights, as attention has it.
static Value matchCleared(Operation *op, MatchedOps &ops) {
  auto select = dyn_cast<SelectOp>(op);
  auto isNan = select ? select.getPredicate().getDefiningOp<IsNanOp>() : IsNanOp();
  Value cleared = select ? select.getOnFalse() : Value();
  if (!isNan || isNan.getOperand() != cleared || getSplat(select.getOnTrue()) != 0.0 ||
      typeOf(cleared).getShape() != typeOf(op->getResult(0)).getShape())
    return {};
  ops.add(isNan);
  return cleared;
}

/// Goes up from `weights`, operand `side` of the second product, as far as the first one.
static std::optional<Scores> matchScores(const Product &second, int side, MatchedOps &ops) {
  View view = View::of(second.operands[side]);
  for (;;) {
    Operation *op = view.source.getDefiningOp();
    if (!op)
      return std::nullopt;
    ops.add(op);
    if (view.step({/*broadcasts=*/false, /*converts=*/true}))
      continue;
    if (auto softmax = dyn_cast<SoftmaxOp>(op))
      return view.dims[second.contract.front()[side]] == int64_t(softmax.getAxis())
                 ? Scores::above(softmax, view, ops)
                 : std::nullopt;
    view.source = matchCleared(op, ops);
    if (!view.source)
      return std::nullopt;
  }
}

/// One type throughout; what the second product is accumulated in only where it is narrowed.
static bool hasTypes(const Product &first, Value values, Value result) {
  Type element = elementOf(values);
  if (!isa<FloatType>(element) || elementOf(first.operands[0]) != element)
    return false;
  if (elementOf(result) == element)
    return true;
  return llvm::all_of(result.getUsers(), [&](Operation *user) {
    auto convert = dyn_cast<ConvertOp>(user);
    return convert && convert.getType().getElementType() == element;
  });
}

Value recognizeAttention(Operation *root, ExpressionBuilder &e) {
  std::optional<Product> second = Product::of(root);
  if (!second || second->contract.size() != 1)
    return {};
  for (int side : {0, 1}) {
    MatchedOps ops;
    std::optional<Scores> scores = matchScores(*second, side, ops);
    if (!scores || scores->scale <= 0 || !ops.areUsedBy(root))
      continue;
    std::optional<Application> values = Application::of(*second, side, scores->weights);
    AttentionOperands operands(*scores, e);
    if (!values ||
        !operands.assignRoles(scores->weights.dims[second->contract.front()[side]],
                              values->factorDims) ||
        !hasTypes(scores->product, values->factor, second->result))
      return {};
    int querySide = operands.getQuerySide(), keySide = 1 - querySide;
    auto contract = scores->product.contract.front();
    double scale = scores->scale * findScale(operands.getQuery()) * findScale(operands.getKey());
    Value query = operands.arrangeQueries(dropScale(operands.getQuery(), e),
                                          operands.getDims(querySide), contract[querySide]);
    Value key = operands.arrangeKeys(dropScale(operands.getKey(), e), operands.getDims(keySide),
                                     contract[keySide]);
    Value value = operands.arrangeKeys(values->factor, values->factorDims, values->features);
    Value attention = e.make<AttentionOp>(
        query, key, value, operands.buildMask(), /*offset=*/Value(), /*sinks=*/Value(),
        /*causal=*/false, /*window=*/IntegerAttr(), /*with_logsumexp=*/false,
        scores->softcap ? e.getBuilder().getF64FloatAttr(*scores->softcap) : FloatAttr(),
        APFloat(scale));
    return e.finish(operands.restoreQueries(attention, values->resultRoles),
                    root->getResult(0).getType());
  }
  return {};
}

} // namespace xc::array
