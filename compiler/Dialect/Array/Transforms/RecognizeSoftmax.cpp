//===- RecognizeSoftmax.cpp - Softmax in smaller ops ----------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `e / sum(e)` or `e * (1 / sum(e))` with `e = exp(x - m)`, where `m` is made of a maximum and the
// same all along the dim: which one does not matter for the value. Sums and maxima may have been
// kept in other types, and dims moved and repeated in between.
//
// Without a maximum it is not softmax: what overflows there would not here.
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Array/IR/TensorTypes.h"
#include "compiler/Dialect/Array/Transforms/Recognizers.h"
#include "compiler/Dialect/Array/Transforms/Views.h"

using namespace mlir;

namespace xc::array {

static constexpr Through kMoves{/*broadcasts=*/false, /*converts=*/true};

namespace {
/// `weights / sums`, however it is written.
struct Quotient {
  Value weights;
  View sums;
};
} // namespace

static Quotient matchQuotient(Operation *root, MatchedOps &ops) {
  if (auto div = dyn_cast<DivOp>(root))
    return {div.getLhs(), View::of(div.getRhs())};
  auto mul = dyn_cast<MulOp>(root);
  if (!mul)
    return {};
  for (auto [weights, factor] :
       {std::pair(mul.getLhs(), mul.getRhs()), std::pair(mul.getRhs(), mul.getLhs())}) {
    SmallVector<Operation *> passed;
    View view = View::of(factor, kRepeats, &passed);
    Operation *inverse = view.source.getDefiningOp();
    auto div = dyn_cast_or_null<DivOp>(inverse);
    if (!isa_and_nonnull<ReciprocalOp>(inverse) && !(div && getSplat(div.getLhs()) == 1.0))
      continue;
    view.source = inverse->getOperands().back();
    if (typeOf(view.source).getShape() != typeOf(inverse->getResult(0)).getShape())
      continue;
    ops.add(passed);
    ops.add(inverse);
    return {weights, view};
  }
  return {};
}

/// Looks on through what `through` permits; `passed` gets the ops.
static void lookThrough(View &view, Through through, SmallVectorImpl<Operation *> &passed) {
  for (Operation *op = view.source.getDefiningOp(); view.step(through);
       op = view.source.getDefiningOp())
    passed.push_back(op);
}

/// The dim of the weights' source that `sums` has the sum over, if all else of it goes along with
/// the weights.
static std::optional<int64_t> matchSum(const View &weights, const View &sums, MatchedOps &ops) {
  if (sums.dims.size() > weights.dims.size())
    return std::nullopt;
  SmallVector<Operation *> passed;
  View view = sums.alignedTo(weights.dims.size());
  lookThrough(view, kRepeats, passed);
  auto reduce = view.source.getDefiningOp<ReduceOp>();
  if (!reduce || reduce.getKind() != ReduceKind::Sum || reduce.getAxes().size() != 1)
    return std::nullopt;
  view.follow(reduce.getOperand(), getReducedDims(typeOf(reduce.getOperand()).getRank(),
                                                  reduce.getAxes(), reduce.getKeepdims()));
  int64_t axis = View::of(reduce.getOperand(), kMoves).dims[reduce.getAxes().front()];
  lookThrough(view, kMoves, passed);
  if (view.source != weights.source || axis == View::kNone)
    return std::nullopt;
  for (auto [dim, summed] : llvm::zip_equal(weights.dims, view.dims))
    if (dim != summed && !(dim == axis && summed == View::kNone))
      return std::nullopt;
  ops.add(passed);
  ops.add(reduce);
  return axis;
}

/// Whether `value` is a maximum that is the same along `axis` of a tensor of `rank` dims.
static bool matchMaximum(Value value, int64_t axis, int64_t rank, MatchedOps &ops) {
  SmallVector<Operation *> passed;
  if (typeOf(value).getRank() > rank)
    return false;
  View view = View::of(value).alignedTo(rank);
  for (;;) {
    Operation *op = view.source.getDefiningOp();
    if (!op)
      return false;
    passed.push_back(op);
    if (view.step(kRepeats))
      continue;
    // `max(-inf, m)`, as JAX writes it for rows without elements.
    auto max = dyn_cast<MaxOp>(op);
    std::optional<double> least = max ? getSplat(max.getLhs()) : std::nullopt;
    Value other = max ? max.getRhs() : Value();
    if (max && !least) {
      least = getSplat(max.getRhs());
      other = max.getLhs();
    }
    if (!least || !std::isinf(*least) || *least > 0 ||
        typeOf(other).getShape() != typeOf(view.source).getShape())
      break;
    view.source = other;
  }
  auto reduce = view.source.getDefiningOp<ReduceOp>();
  if (!reduce || reduce.getKind() != ReduceKind::Max || view.dims[axis] != View::kNone)
    return false;
  ops.add(passed);
  return true;
}

Value recognizeSoftmax(Operation *root, ExpressionBuilder &e) {
  MatchedOps ops;
  Quotient quotient = matchQuotient(root, ops);
  if (!quotient.weights || !isa<FloatType>(elementOf(quotient.weights)))
    return {};
  SmallVector<Operation *> passed;
  View weights = View::of(quotient.weights, kMoves, &passed);
  auto exp = weights.source.getDefiningOp<ExpOp>();
  RankedTensorType type = typeOf(root->getResult(0));
  // Dims in another order would have to be moved again.
  if (!exp || weights.dims != View::of(exp.getResult()).dims ||
      typeOf(exp.getResult()).getShape() != type.getShape())
    return {};
  std::optional<int64_t> axis = matchSum(weights, quotient.sums, ops);
  if (!axis)
    return {};
  SmallVector<Operation *> converts;
  auto sub = exp.getOperand().getDefiningOp<SubOp>();
  if (auto convert = exp.getOperand().getDefiningOp<ConvertOp>(); convert && !sub) {
    sub = convert.getOperand().getDefiningOp<SubOp>();
    converts.push_back(convert);
  }
  if (!sub || typeOf(sub.getLhs()).getShape() != type.getShape() ||
      !matchMaximum(sub.getRhs(), *axis, type.getRank(), ops))
    return {};
  ops.add(passed);
  ops.add(converts);
  ops.add(exp);
  ops.add(sub);
  if (!ops.areUsedBy(root))
    return {};
  // In the type with more digits, as what is between may be rounded and the result not.
  Value x = sub.getLhs();
  if (type.getElementTypeBitWidth() > typeOf(x).getElementTypeBitWidth())
    x = e.convert(x, type.getElementType());
  return e.finish(e.make<SoftmaxOp>(x, uint64_t(*axis)), type);
}

} // namespace xc::array
