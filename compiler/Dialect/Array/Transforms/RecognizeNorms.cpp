//===- RecognizeNorms.cpp - Layer and RMS norm in smaller ops -------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `d / sqrt(mean(d * d) + epsilon)` over the last dims, or times the inverse root: where `d` is `x`
// less its mean, a layer norm, else an RMS norm. `d` may be written twice, in two types. A product
// with a vector over these dims is the norm's scale, and a sum with one the bias.
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Array/IR/TensorTypes.h"
#include "compiler/Dialect/Array/Transforms/Recognizers.h"
#include "compiler/Dialect/Array/Transforms/RowNumbers.h"
#include "compiler/Dialect/Array/Transforms/Views.h"

using namespace mlir;

namespace xc::array {

/// What `number` is the mean of over the last dims, from `axis` on; null if it is none.
static Value takeTrailingMean(RowNumber &number, int64_t &axis) {
  SmallVector<int64_t> axes;
  Value operand = number.takeMean(axes);
  if (!operand || axes.back() != typeOf(operand).getRank() - 1 ||
      axes.back() - axes.front() + 1 != int64_t(axes.size()))
    return {};
  axis = axes.front();
  return operand;
}

/// The operand of a square; null if `value` is none.
static Value matchSquare(Value value, MatchedOps &ops) {
  value = skipConverts(value, ops);
  Operation *op = value.getDefiningOp();
  auto mul = dyn_cast_or_null<MulOp>(op);
  if (isa_and_nonnull<SquareOp>(op) || (mul && mul.getLhs() == mul.getRhs()))
    return ops.add(op), op->getOperand(0);
  auto pow = dyn_cast_or_null<PowOp>(op);
  if (pow && getSplat(pow.getRhs()) == 2.0)
    return ops.add(op), pow.getLhs();
  return {};
}

/// `x` if `distance` is `x` less its mean over the dims from `axis` on; null if it is not.
static Value matchDistance(Value distance, int64_t axis, MatchedOps &ops) {
  distance = skipConverts(distance, ops);
  auto sub = distance.getDefiningOp<SubOp>();
  if (!sub || typeOf(sub.getLhs()).getShape() != typeOf(distance).getShape())
    return {};
  MatchedOps own;
  RowNumber mean(sub.getRhs(), typeOf(distance).getRank(), own);
  int64_t from;
  Value of = takeTrailingMean(mean, from);
  MatchedOps unused;
  Value x = skipConverts(sub.getLhs(), unused);
  if (!of || from != axis || skipConverts(of, unused) != x)
    return {};
  ops.add(own);
  ops.add(sub);
  return x;
}

namespace {
/// `numerator / root` or `numerator * inverse root`, of a mean of squares and epsilon.
struct NormParts {
  Value numerator, squares;
  int64_t axis = 0;
  double epsilon = 0;
};
} // namespace

static std::optional<NormParts> matchNorm(Operation *root, Value numerator, Value factor,
                                          bool isInverse, MatchedOps &ops) {
  NormParts parts{numerator, {}};
  int64_t rank = typeOf(root->getResult(0)).getRank();
  if (typeOf(numerator).getShape() != typeOf(root->getResult(0)).getShape())
    return std::nullopt;
  RowNumber number(factor, rank, ops);
  if (auto reciprocal = number.as<ReciprocalOp>(); reciprocal && isInverse) {
    number.moveTo(reciprocal.getOperand());
    isInverse = false;
  } else if (auto div = number.as<DivOp>(); div && isInverse && getSplat(div.getLhs()) == 1.0) {
    number.moveTo(div.getRhs());
    isInverse = false;
  }
  Operation *power =
      isInverse ? number.as<RsqrtOp>().getOperation() : number.as<SqrtOp>().getOperation();
  if (!power)
    return std::nullopt;
  number.moveTo(power->getOperand(0));
  auto sum = number.as<AddOp>();
  std::optional<double> epsilon = sum ? getSplat(sum.getRhs()) : std::nullopt;
  if (!epsilon || *epsilon < 0)
    return std::nullopt;
  parts.epsilon = *epsilon;
  number.moveTo(sum.getLhs());
  Value squares = takeTrailingMean(number, parts.axis);
  parts.squares = squares ? matchSquare(squares, ops) : Value();
  return parts.squares ? std::optional(parts) : std::nullopt;
}

/// Of `x` in the element type of `like`, or in one with more digits that it has.
static Value widenTo(Value x, Type element, ExpressionBuilder &e) {
  Type own = typeOf(x).getElementType();
  return own.getIntOrFloatBitWidth() < element.getIntOrFloatBitWidth() ? e.convert(x, element) : x;
}

Value recognizeNorm(Operation *root, ExpressionBuilder &e) {
  SmallVector<std::tuple<Value, Value, bool>, 2> ways;
  if (isa<DivOp>(root))
    ways = {{root->getOperand(0), root->getOperand(1), false}};
  else if (isa<MulOp>(root))
    ways = {{root->getOperand(0), root->getOperand(1), true},
            {root->getOperand(1), root->getOperand(0), true}};
  for (auto [numerator, factor, isInverse] : ways) {
    MatchedOps ops, unused;
    std::optional<NormParts> parts = matchNorm(root, numerator, factor, isInverse, ops);
    if (!parts)
      continue;
    RankedTensorType type = typeOf(root->getResult(0));
    Value x = matchDistance(numerator, parts->axis, ops);
    bool isLayer = x && matchDistance(parts->squares, parts->axis, ops) == x;
    if (!isLayer) {
      x = skipConverts(numerator, unused);
      if (skipConverts(parts->squares, unused) != x)
        continue;
    }
    if (!ops.areUsedBy(root, /*operand=*/x))
      continue;
    x = widenTo(x, type.getElementType(), e);
    Value result =
        isLayer ? e.make<LayerNormOp>(x, Value(), Value(), uint64_t(parts->axis),
                                      APFloat(parts->epsilon))
                : e.make<RmsNormOp>(x, Value(), uint64_t(parts->axis), APFloat(parts->epsilon));
    return e.finish(result, type);
  }
  return {};
}

/// `value` as a vector over the dims of `like` from `axis` on; null if it is none.
static Value asVector(Value value, Value like, int64_t axis) {
  int64_t rank = typeOf(like).getRank();
  if (typeOf(value).getRank() > rank)
    return {};
  View view = View::of(value, {/*broadcasts=*/true, /*converts=*/false}).alignedTo(rank);
  ArrayRef<int64_t> shape = typeOf(like).getShape();
  if (typeOf(view.source).getRank() != rank - axis)
    return {};
  for (int64_t dim = 0; dim < rank; ++dim)
    if (view.dims[dim] != (dim < axis || shape[dim] == 1 ? View::kNone : dim - axis))
      return {};
  return typeOf(view.source).getShape() == shape.drop_front(axis) ? view.source : Value();
}

/// The norm that `value` is, perhaps rounded, and nobody else uses.
template <typename OpTy> static OpTy findNorm(Value value) {
  auto convert = value.getDefiningOp<ConvertOp>();
  if (convert && value.hasOneUse())
    value = convert.getOperand();
  auto norm = value.getDefiningOp<OpTy>();
  return norm && norm->hasOneUse() ? norm : OpTy();
}

/// The norm's operand in the element type of `element`, where that is what it was made of.
static Value operandIn(Value operand, Type element) {
  if (typeOf(operand).getElementType() == element)
    return operand;
  auto convert = operand.getDefiningOp<ConvertOp>();
  return convert && typeOf(convert.getOperand()).getElementType() == element ? convert.getOperand()
                                                                             : Value();
}

Value recognizeNormScale(Operation *root, ExpressionBuilder &e) {
  if (!isa<MulOp, AddOp>(root))
    return {};
  for (int side : {0, 1}) {
    Value value = root->getOperand(side), other = root->getOperand(1 - side);
    RankedTensorType type = typeOf(root->getResult(0));
    if (typeOf(value).getShape() != type.getShape())
      continue;
    auto layer = findNorm<LayerNormOp>(value);
    auto rms = findNorm<RmsNormOp>(value);
    bool isFree = isa<MulOp>(root)
                      ? (layer && !layer.getScale() && !layer.getBias()) || (rms && !rms.getScale())
                      : layer && !layer.getBias();
    if (!isFree)
      continue;
    Operation *norm = layer ? layer.getOperation() : rms.getOperation();
    int64_t axis = layer ? layer.getAxis() : rms.getAxis();
    Value x = operandIn(norm->getOperand(0), type.getElementType());
    Value vector = x ? asVector(other, value, axis) : Value();
    if (!vector || typeOf(vector).getElementType() != type.getElementType())
      continue;
    Value scale = layer && layer.getScale() ? layer.getScale() : Value();
    if (scale && typeOf(scale).getElementType() != type.getElementType())
      continue;
    if (rms)
      return e.finish(e.make<RmsNormOp>(x, vector, uint64_t(axis), rms.getEpsilon()), type);
    if (isa<MulOp>(root))
      return e.finish(e.make<LayerNormOp>(x, vector, Value(), uint64_t(axis), layer.getEpsilon()),
                      type);
    return e.finish(e.make<LayerNormOp>(x, scale, vector, uint64_t(axis), layer.getEpsilon()),
                    type);
  }
  return {};
}

} // namespace xc::array
