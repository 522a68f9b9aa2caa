//===- RecognizeRotation.cpp - Rotated pairs of halves --------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rotary embeddings take the last dim in two halves and join what they compute of them: either
// `[a * c - b * s, b * c + a * s]`, or `[-b, a]`, mostly as `x * c + [-b, a] * s`. Halves and joins
// are copies. As array.rope does it, there is none: the halves become a dim of their own, along
// which the operand is reversed.
//
// So do the gradients: `[a * c + b * s, b * c - a * s]`, and `x * c + [m, -l]` with the halves `l`
// and `m` of `x * s`, which are padded to the whole and added.
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Array/IR/Sizes.h"
#include "compiler/Dialect/Array/IR/TensorTypes.h"
#include "compiler/Dialect/Array/Transforms/Recognizers.h"
#include "compiler/Dialect/Array/Transforms/Views.h"

using namespace mlir;

namespace xc::array {

namespace {
/// Half `index` of the last dim of `whole`.
struct Half {
  Value whole;
  int64_t index = 0;
};
} // namespace

static std::optional<Half> asHalf(Value value) {
  auto slice = value.getDefiningOp<SliceOp>();
  if (!slice)
    return std::nullopt;
  RankedTensorType whole = typeOf(slice.getOperand()), type = typeOf(value);
  int64_t last = type.getRank() - 1, size = type.getDimSize(last);
  for (int64_t dim = 0; dim <= last; ++dim) {
    bool isAll = slice.getStarts()[dim] == 0 && whole.getDimSize(dim) == type.getDimSize(dim) &&
                 (!type.isDynamicDim(dim) || ShapedType::isDynamic(slice.getLimits()[dim]));
    if (slice.getStrides()[dim] != 1 || (dim < last && !isAll))
      return std::nullopt;
  }
  int64_t start = slice.getStarts()[last];
  if (ShapedType::isDynamic(size) || size == 0 || mulSizes(size, 2) != whole.getDimSize(last) ||
      start % size != 0)
    return std::nullopt;
  return Half{slice.getOperand(), start / size};
}

namespace {

/// The halves as a dim before the last.
class Pairs {
public:
  Pairs(Value whole, ExpressionBuilder &e) : e(e), type(typeOf(whole)) {
    // What reads at other places is read as it is in memory.
    auto convert = whole.getDefiningOp<ConvertOp>();
    if (convert && isa<FloatType>(typeOf(convert.getOperand()).getElementType()))
      whole = convert.getOperand();
    SmallVector<int64_t> shape(type.getShape());
    shape.back() /= 2;
    shape.insert(shape.end() - 1, 2);
    sizes = e.dynamicSizes(whole);
    pairs = e.make<ReshapeOp>(typeOf(whole).clone(shape), whole, sizes);
  }
  Value getOwn() { return e.convert(pairs, type.getElementType()); }
  /// The other half at each place, with the sign that it has in `[-b, a]`.
  Value getOthers() {
    return e.mul(e.convert(e.make<ReverseOp>(pairs, ArrayRef<int64_t>{type.getRank() - 1}),
                           type.getElementType()),
                 e.constant({-1.0, 1.0}, {2, 1}, getOwn()));
  }
  /// `factor` of a half, for both.
  Value spread(Value factor) {
    int64_t rank = typeOf(factor).getRank();
    return rank == 0 ? factor : e.make<ExpandDimsOp>(factor, ArrayRef<int64_t>{rank - 1});
  }
  Value join(Value value) { return e.make<ReshapeOp>(type, value, sizes); }

private:
  ExpressionBuilder &e;
  RankedTensorType type;
  SmallVector<Value> sizes;
  Value pairs;
};

/// `half * factor`, or the negative of that.
struct Term {
  Half half;
  Value factor;
  bool isNegated = false;
};

} // namespace

static std::optional<Term> asTerm(Value value, bool isNegated) {
  auto skipNeg = [&](Value x) {
    auto neg = x.getDefiningOp<NegOp>();
    isNegated ^= neg != nullptr;
    return neg ? neg.getOperand() : x;
  };
  auto mul = skipNeg(value).getDefiningOp<MulOp>();
  if (!mul || !mul->hasOneUse())
    return std::nullopt;
  for (auto [half, factor] :
       {std::pair(mul.getLhs(), mul.getRhs()), std::pair(mul.getRhs(), mul.getLhs())}) {
    bool before = isNegated;
    Value x = skipNeg(half);
    if (std::optional<Half> found = asHalf(x);
        found && typeOf(half).getShape() == typeOf(value).getShape())
      return Term{*found, factor, isNegated};
    isNegated = before;
  }
  return std::nullopt;
}

/// The terms of a sum of two, those of half `first` first.
static std::optional<std::pair<Term, Term>> asTerms(Value value, int64_t first) {
  Operation *op = value.getDefiningOp();
  if (!isa_and_nonnull<AddOp, SubOp>(op) || !op->hasOneUse())
    return std::nullopt;
  std::optional<Term> lhs = asTerm(op->getOperand(0), false),
                      rhs = asTerm(op->getOperand(1), isa<SubOp>(op));
  if (!lhs || !rhs || lhs->half.whole != rhs->half.whole || lhs->half.index == rhs->half.index)
    return std::nullopt;
  if (lhs->half.index != first)
    std::swap(lhs, rhs);
  return std::pair(*lhs, *rhs);
}

/// `[a * c - b * s, b * c + a * s]`, or as its gradient has it `[a * c + b * s, b * c - a * s]`.
static Value matchRotated(Value first, Value second, ExpressionBuilder &e) {
  auto ofFirst = asTerms(first, 0), ofSecond = asTerms(second, 1);
  if (!ofFirst || !ofSecond)
    return {};
  auto [ac, bs] = *ofFirst;
  auto [bc, as] = *ofSecond;
  Value whole = ac.half.whole;
  bool fits = bc.half.whole == whole && ac.factor == bc.factor && bs.factor == as.factor &&
              !ac.isNegated && !bc.isNegated && bs.isNegated != as.isNegated;
  if (!fits)
    return {};
  Pairs pairs(whole, e);
  Value own = e.mul(pairs.getOwn(), pairs.spread(ac.factor)),
        others = e.mul(pairs.getOthers(), pairs.spread(bs.factor));
  return pairs.join(bs.isNegated ? e.add(own, others) : e.sub(own, others));
}

/// What `value`, `[-b, a]`, is made of; null if it is something else.
static Value matchSwapped(Value value) {
  auto concatenate = value.getDefiningOp<ConcatenateOp>();
  if (!concatenate || concatenate->getNumOperands() != 2 ||
      int64_t(concatenate.getAxis()) != typeOf(value).getRank() - 1)
    return {};
  auto neg = concatenate->getOperand(0).getDefiningOp<NegOp>();
  std::optional<Half> b = neg ? asHalf(neg.getOperand()) : std::nullopt,
                      a = asHalf(concatenate->getOperand(1));
  return a && b && a->whole == b->whole && a->index == 0 && b->index == 1 ? a->whole : Value();
}

/// The last dim of `factor` in halves, as a dim of their own.
static Value splitLast(Value factor, ExpressionBuilder &e) {
  RankedTensorType type = typeOf(factor);
  SmallVector<int64_t> shape(type.getShape());
  shape.back() /= 2;
  shape.insert(shape.end() - 1, 2);
  return e.make<ReshapeOp>(type.clone(shape), factor, e.dynamicSizes(factor));
}

/// The half of a whole that `value` puts at the place of the other half, among zeros; `isNegated`
/// is flipped where it has the other sign.
static std::optional<Half> asMovedHalf(Value value, bool &isNegated) {
  auto pad = value.getDefiningOp<PadOp>();
  if (!pad || getSplat(pad.getValue()) != 0.0)
    return std::nullopt;
  Value part = pad.getOperand();
  if (auto neg = part.getDefiningOp<NegOp>()) {
    part = neg.getOperand();
    isNegated = !isNegated;
  }
  std::optional<Half> half = asHalf(part);
  if (!half || typeOf(half->whole) != typeOf(value))
    return std::nullopt;
  int64_t last = typeOf(value).getRank() - 1;
  // The first half goes behind what is padded in front of it.
  ArrayRef<int64_t> padded = half->index == 0 ? pad.getLow() : pad.getHigh();
  return padded[last] == typeOf(part).getDimSize(last) ? half : std::nullopt;
}

/// `x * c + [m, -l]`, with the halves `l` and `m` of `x * s`.
static Value matchRotaryGradient(AddOp root, ExpressionBuilder &e) {
  SmallVector<Value> terms;
  for (Value side : {root.getLhs(), root.getRhs()}) {
    auto inner = side.getDefiningOp<AddOp>();
    if (inner && side.hasOneUse())
      terms.append({inner.getLhs(), inner.getRhs()});
    else
      terms.push_back(side);
  }
  Value own, product;
  unsigned halves = 0;
  for (Value term : terms) {
    bool isNegated = false;
    std::optional<Half> half = asMovedHalf(term, isNegated);
    if (!half) {
      own = term;
      continue;
    }
    if ((product && product != half->whole) || isNegated != (half->index == 0))
      return {};
    product = half->whole;
    halves |= 1u << half->index;
  }
  RankedTensorType type = root.getType();
  auto byCosine = own ? own.getDefiningOp<MulOp>() : MulOp(),
       bySine = product ? product.getDefiningOp<MulOp>() : MulOp();
  if (terms.size() != 3 || halves != 3 || !byCosine || !bySine || typeOf(own) != type)
    return {};
  for (int side : {0, 1}) {
    Value whole = bySine->getOperand(side), sine = bySine->getOperand(1 - side);
    if (typeOf(whole) != type || !llvm::is_contained(byCosine->getOperands(), whole))
      continue;
    Value cosine = byCosine.getLhs() == whole ? byCosine.getRhs() : byCosine.getLhs();
    int64_t size = type.getShape().back(), rank = typeOf(sine).getRank();
    if (typeOf(cosine).getRank() == 0 || rank == 0 || typeOf(cosine).getShape().back() != size ||
        typeOf(sine).getShape().back() != size)
      continue;
    Pairs pairs(whole, e);
    // Each half has been multiplied where it was.
    Value turned = e.make<ReverseOp>(splitLast(sine, e), ArrayRef<int64_t>{rank - 1});
    return pairs.join(
        e.sub(e.mul(pairs.getOwn(), splitLast(cosine, e)), e.mul(pairs.getOthers(), turned)));
  }
  return {};
}

Value recognizeRotary(Operation *root, ExpressionBuilder &e) {
  auto add = dyn_cast<AddOp>(root);
  if (!add)
    return {};
  RankedTensorType type = typeOf(root->getResult(0));
  if (Value gradient = matchRotaryGradient(add, e))
    return e.finish(gradient, type);
  auto asProduct = [&](Value value) {
    auto mul = value.getDefiningOp<MulOp>();
    return mul && mul->hasOneUse() && typeOf(value) == type ? mul : MulOp();
  };
  for (auto [own, turned] :
       {std::pair(add.getLhs(), add.getRhs()), std::pair(add.getRhs(), add.getLhs())}) {
    MulOp byCosine = asProduct(own), bySine = asProduct(turned);
    if (!byCosine || !bySine)
      return {};
    for (int side : {0, 1}) {
      Value whole = matchSwapped(bySine->getOperand(side)), sine = bySine->getOperand(1 - side);
      if (!whole || !bySine->getOperand(side).hasOneUse() || typeOf(whole) != type ||
          !llvm::is_contained(byCosine->getOperands(), whole))
        continue;
      Value cosine = byCosine.getLhs() == whole ? byCosine.getRhs() : byCosine.getLhs();
      int64_t size = type.getShape().back();
      if (typeOf(cosine).getRank() == 0 || typeOf(sine).getRank() == 0 ||
          typeOf(cosine).getShape().back() != size || typeOf(sine).getShape().back() != size)
        continue;
      Pairs pairs(whole, e);
      return pairs.join(e.add(e.mul(pairs.getOwn(), splitLast(cosine, e)),
                              e.mul(pairs.getOthers(), splitLast(sine, e))));
    }
  }
  return {};
}

Value recognizeRotation(Operation *root, ExpressionBuilder &e) {
  auto concatenate = dyn_cast<ConcatenateOp>(root);
  RankedTensorType type = typeOf(root->getResult(0));
  if (!concatenate || root->getNumOperands() != 2 || !isa<FloatType>(type.getElementType()) ||
      int64_t(concatenate.getAxis()) != type.getRank() - 1)
    return {};
  Value first = root->getOperand(0), second = root->getOperand(1), result;
  if (Value whole = matchSwapped(root->getResult(0))) {
    Pairs pairs(whole, e);
    result = pairs.join(pairs.getOthers());
  } else {
    result = matchRotated(first, second, e);
  }
  return result ? e.finish(result, type) : Value();
}

} // namespace xc::array
