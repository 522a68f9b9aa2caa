//===- RecognizeAttention.cpp - Attention in smaller ops ------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// From the second product upwards: a softmax over what is summed there, then scales and masks down
// to the first product. Views say which dim of the scores is which, wherever it has been moved.
//
// Dims of the scores are, by the two products:
// - batch dims, which queries, keys and values have; the last of them are heads of keys;
// - dims of the queries alone: the last is the queries' own, others are heads that share keys;
// - the dim of keys, which the second product sums over.
// Dims of size 1 are none of these. They are left out, and put back into the result.
//
// A finite number in place of hidden scores is kept as such, as a mask that is added: a row that is
// hidden throughout then has equal weights, as it had.
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Array/IR/Sizes.h"
#include "compiler/Dialect/Array/IR/TensorTypes.h"
#include "compiler/Dialect/Array/Transforms/Recognizers.h"
#include "compiler/Dialect/Array/Transforms/Views.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace xc::array {

static constexpr int64_t kNone = View::kNone;

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

namespace {
/// A product of one pair of dims that is summed over.
struct Product {
  Value operands[2];
  int64_t contract[2];
  /// For each dim of the result that of each operand, or kNone.
  SmallVector<std::array<int64_t, 2>> dims;
};
} // namespace

static std::optional<Product> asProduct(MatMulOp op) {
  Product product{{op.getLhs(), op.getRhs()}, {}, {}};
  int64_t rank = typeOf(op.getResult()).getRank();
  int64_t ranks[] = {typeOf(op.getLhs()).getRank(), typeOf(op.getRhs()).getRank()};
  bool isTransposed[] = {op.getTransposeA(), op.getTransposeB()};
  for (int64_t dim = 0; dim < rank - 2; ++dim) {
    std::array<int64_t, 2> pair;
    for (int side : {0, 1}) {
      int64_t own = dim - (rank - ranks[side]);
      bool isRepeated = own < 0 || typeOf(product.operands[side]).getDimSize(own) == 1;
      pair[side] = isRepeated ? kNone : own;
    }
    product.dims.push_back(pair);
  }
  product.dims.push_back({isTransposed[0] ? ranks[0] - 1 : ranks[0] - 2, kNone});
  product.dims.push_back({kNone, isTransposed[1] ? ranks[1] - 2 : ranks[1] - 1});
  product.contract[0] = isTransposed[0] ? ranks[0] - 2 : ranks[0] - 1;
  product.contract[1] = isTransposed[1] ? ranks[1] - 1 : ranks[1] - 2;
  return product;
}

static std::optional<Product> asProduct(DotGeneralOp op) {
  if (op.getLhsContract().size() != 1)
    return std::nullopt;
  Product product{
      {op.getLhs(), op.getRhs()}, {op.getLhsContract().front(), op.getRhsContract().front()}, {}};
  for (auto [lhs, rhs] : llvm::zip_equal(op.getLhsBatch(), op.getRhsBatch()))
    product.dims.push_back({lhs, rhs});
  for (int64_t dim : DotGeneralOp::getFreeDims(op.getLhs(), op.getLhsBatch(), op.getLhsContract()))
    product.dims.push_back({dim, kNone});
  for (int64_t dim : DotGeneralOp::getFreeDims(op.getRhs(), op.getRhsBatch(), op.getRhsContract()))
    product.dims.push_back({kNone, dim});
  return product;
}

static std::optional<Product> asProduct(Operation *op) {
  // The op of all has no place for a permission of one product.
  if (auto matmul = dyn_cast_or_null<MatMulOp>(op); matmul && !matmul.getAllowTf32())
    return asProduct(matmul);
  if (auto dot = dyn_cast_or_null<DotGeneralOp>(op); dot && !dot.getAllowTf32())
    return asProduct(dot);
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Between the products
//===----------------------------------------------------------------------===//

namespace {

/// What scores get before the softmax.
struct Mask {
  /// Truth values (the predicate of a choice) or numbers that are added.
  Value value;
  bool keepsTrue = true; ///< of truth values: scores stay where it is true
  double hidden = 0;     ///< of truth values: what the others become
  double factor = 1;     ///< what is multiplied with afterwards
  View weights = {};     ///< the softmax's dims in those of the scores that it is put on
};

/// The way from a softmax's weights up to the first product.
struct Scores {
  View weights; ///< the second product's operand as a view of the first one
  double scale = 1;
  SmallVector<Mask> masks;
  std::optional<Product> product;
};

} // namespace

static bool hasShapeOf(Value value, Operation *op) {
  return typeOf(value).getShape() == typeOf(op->getResult(0)).getShape();
}

/// Looks up through one scale, by a number; what it is applied to, or null.
static Value matchScale(Operation *op, double &scale) {
  if (auto mul = dyn_cast<MulOp>(op)) {
    for (auto [x, factor] :
         {std::pair(mul.getLhs(), mul.getRhs()), std::pair(mul.getRhs(), mul.getLhs())})
      if (std::optional<double> number = getSplat(factor); number && hasShapeOf(x, op))
        return scale *= *number, x;
  } else if (auto div = dyn_cast<DivOp>(op)) {
    if (std::optional<double> number = getSplat(div.getRhs());
        number && *number != 0 && hasShapeOf(div.getLhs(), op))
      return scale /= *number, div.getLhs();
  }
  return {};
}

/// Whether a way of scales, masks and moves leads from `value` to a product.
static bool leadsToProduct(Value value) {
  Operation *op = value.getDefiningOp();
  while (op && !isa<MatMulOp, DotGeneralOp>(op)) {
    double scale;
    View view = View::of(value);
    if (view.step({/*broadcasts=*/false, /*converts=*/true}))
      value = view.source;
    else if (Value scaled = matchScale(op, scale))
      value = scaled;
    else if (auto add = dyn_cast<AddOp>(op))
      return leadsToProduct(add.getLhs()) || leadsToProduct(add.getRhs());
    else
      return false;
    op = value.getDefiningOp();
  }
  return op != nullptr;
}

static Value matchMask(Operation *op, Scores &scores) {
  auto put = [&](Mask mask, Value on) {
    if (!hasShapeOf(on, op))
      return Value();
    mask.factor = scores.scale;
    mask.weights = scores.weights;
    scores.masks.push_back(mask);
    return on;
  };
  if (auto add = dyn_cast<AddOp>(op)) {
    bool isLeft = leadsToProduct(add.getLhs());
    if (isLeft == leadsToProduct(add.getRhs()))
      return {};
    return put({isLeft ? add.getRhs() : add.getLhs()}, isLeft ? add.getLhs() : add.getRhs());
  }
  auto select = dyn_cast<SelectOp>(op);
  if (!select)
    return {};
  std::optional<double> onTrue = getSplat(select.getOnTrue()),
                        onFalse = getSplat(select.getOnFalse());
  if (onFalse && *onFalse <= kHidden)
    return put({select.getPredicate(), /*keepsTrue=*/true, *onFalse}, select.getOnTrue());
  if (onTrue && *onTrue <= kHidden)
    return put({select.getPredicate(), /*keepsTrue=*/false, *onTrue}, select.getOnFalse());
  return {};
}

/// What `op` takes as it is but for NaN, which it makes 0; null if it is another op. So PyTorch
/// spells that a row which is hidden throughout has no weights, as attention has it.
static Value matchCleared(Operation *op, MatchedOps &ops) {
  auto select = dyn_cast<SelectOp>(op);
  auto isNan = select ? select.getPredicate().getDefiningOp<IsNanOp>() : IsNanOp();
  Value cleared = select ? select.getOnFalse() : Value();
  if (!isNan || isNan.getOperand() != cleared || getSplat(select.getOnTrue()) != 0.0 ||
      !hasShapeOf(cleared, op))
    return {};
  ops.add(isNan);
  return cleared;
}

/// Goes up from `weights`, the operand `side` of the second product, as far as the first one.
static std::optional<Scores> matchScores(const Product &second, int side, MatchedOps &ops) {
  Scores scores;
  View &view = scores.weights = View::of(second.operands[side]);
  bool isSoft = false;
  for (;;) {
    Operation *op = view.source.getDefiningOp();
    if (!op)
      return std::nullopt;
    ops.add(op);
    if (view.step({/*broadcasts=*/false, /*converts=*/true}))
      continue;
    if (auto softmax = dyn_cast<SoftmaxOp>(op)) {
      int64_t axis = softmax.getAxis();
      if (isSoft || view.dims[second.contract[side]] != axis)
        return std::nullopt;
      isSoft = true;
      view.source = softmax.getOperand();
      continue;
    }
    if (!isSoft) {
      view.source = matchCleared(op, ops);
      if (!view.source)
        return std::nullopt;
      continue;
    }
    if ((scores.product = asProduct(op)))
      return scores;
    Value next = matchScale(op, scores.scale);
    if (!next)
      next = matchMask(op, scores);
    if (!next)
      return std::nullopt;
    view.source = next;
  }
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

/// `value` without a scale that was put on it before its dims were moved, by which `scale` grows.
static Value takeScale(Value value, double &scale, ExpressionBuilder &e) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return value;
  if (Value x = matchScale(op, scale))
    return elementOf(x) == elementOf(value) ? takeScale(x, scale, e) : x;
  // Sizes are operands of their own where dims are open.
  if (!isa<TransposeOp, ReshapeOp, ExpandDimsOp, SqueezeOp>(op) || op->getNumOperands() != 1)
    return value;
  double before = scale;
  Value x = takeScale(op->getOperand(0), scale, e);
  if (scale == before)
    return value;
  IRMapping mapping;
  mapping.map(op->getOperand(0), x);
  return e.getBuilder().clone(*op, mapping)->getResult(0);
}

/// `value` with its dims `order`; those that are not named have size 1 and go.
static Value arrange(Value value, ArrayRef<int64_t> order, ExpressionBuilder &e) {
  SmallVector<int64_t> permutation, front;
  for (int64_t dim = 0; dim < typeOf(value).getRank(); ++dim)
    if (!llvm::is_contained(order, dim)) {
      front.push_back(permutation.size());
      permutation.push_back(dim);
    }
  llvm::append_range(permutation, order);
  if (!llvm::is_sorted(permutation))
    value = e.make<TransposeOp>(value, permutation);
  return front.empty() ? value : e.make<SqueezeOp>(value, front);
}

/// Dims `first` to `first + count` of `value`, all but one at most of known sizes, as one.
static Value mergeDims(Value value, int64_t first, int64_t count, ExpressionBuilder &e) {
  if (count == 1)
    return value;
  SmallVector<int64_t> shape(typeOf(value).getShape());
  shape[first] = multiplyKnown(ArrayRef(shape).slice(first, count));
  shape.erase(shape.begin() + first + 1, shape.begin() + first + count);
  return e.make<ReshapeOp>(typeOf(value).clone(shape), value, e.dynamicSizes(value));
}

namespace {

/// The dims of the scores by what they are: numbers of dims of the first product's result.
struct Roles {
  int querySide = 0;
  SmallVector<int64_t> batch, queries; ///< in order; the last of the queries is their own
  int64_t keys = kNone;
  /// Dims that one op has for them: heads of keys, then those that share one.
  int64_t getNumHeadDims() const { return queries.size() - !queries.empty() + !batch.empty(); }
};

class AttentionMatch {
public:
  AttentionMatch(Operation *root, ExpressionBuilder &e) : root(root), e(e) {}
  Value build();

private:
  bool match();
  bool assignRoles();
  bool hasTypes() const;
  bool isAnyOpen(Value value, ArrayRef<int64_t> dims) const {
    return llvm::any_of(dims, [&](int64_t dim) { return typeOf(value).isDynamicDim(dim); });
  }
  Value buildQuery(double &scale);
  Value buildKeys(Value keys, ArrayRef<int64_t> batch, int64_t own, int64_t features);
  Value buildMask();
  Value placeMask(Value mask, const View &weights);
  Value buildResult(Value attention);

  int64_t ofOperand(int64_t role, int side) const { return scores->product->dims[role][side]; }

  Operation *root;
  ExpressionBuilder &e;
  std::optional<Product> second;
  std::optional<Scores> scores;
  int weightsSide = 0;
  Roles roles;
  /// Of the second product's result: the role of each dim, or that it is the values' own.
  SmallVector<int64_t> resultRoles, valueBatch;
  int64_t features = kNone;
  static constexpr int64_t kFeatures = -2;
};

} // namespace

bool AttentionMatch::match() {
  second = asProduct(root);
  if (!second)
    return false;
  for (int side : {0, 1}) {
    MatchedOps ops;
    scores = matchScores(*second, side, ops);
    weightsSide = side;
    if (scores && scores->scale > 0 && ops.areUsedBy(root))
      return assignRoles() && hasTypes();
  }
  return false;
}

/// One type throughout; what the second product is accumulated in only where it is narrowed.
bool AttentionMatch::hasTypes() const {
  const Product &first = *scores->product;
  Type element = elementOf(second->operands[1 - weightsSide]);
  if (!isa<FloatType>(element) || elementOf(first.operands[0]) != element)
    return false;
  if (elementOf(root->getResult(0)) == element)
    return true;
  return llvm::all_of(root->getUsers(), [&](Operation *user) {
    auto convert = dyn_cast<ConvertOp>(user);
    return convert && convert.getType().getElementType() == element;
  });
}

bool AttentionMatch::assignRoles() {
  const Product &first = *scores->product;
  const View &weights = scores->weights;
  roles.keys = weights.dims[second->contract[weightsSide]];
  if (roles.keys == kNone)
    return false;
  // Keys' own dim is no batch dim, and says which operand the keys are.
  auto ofKeys = first.dims[roles.keys];
  if ((ofKeys[0] == kNone) == (ofKeys[1] == kNone))
    return false;
  roles.querySide = ofKeys[0] == kNone ? 0 : 1;
  SmallVector<int64_t> ofValue(first.dims.size(), kNone);
  SmallVector<bool> isSeen(first.dims.size(), false);
  for (auto [dim, pair] : llvm::enumerate(second->dims)) {
    int64_t ofWeights = pair[weightsSide], own = pair[1 - weightsSide];
    int64_t role = ofWeights == kNone ? kNone : weights.dims[ofWeights];
    bool isWide = typeOf(root->getResult(0)).getDimSize(dim) != 1;
    if (role != kNone) {
      isSeen[role] = true;
      ofValue[role] = own;
    } else if (isWide) {
      // Values alone have it: one dim of features.
      if (ofWeights != kNone || features != kNone)
        return false;
      features = own;
    }
    resultRoles.push_back(role != kNone ? role : isWide ? kFeatures : kNone);
  }
  if (features == kNone)
    return false;
  SmallVector<int64_t> order; // of roles, as the weights have them
  for (int64_t role : weights.dims)
    if (role != kNone)
      order.push_back(role);
  for (int64_t role = 0; role < int64_t(first.dims.size()); ++role) {
    bool isWide = llvm::is_contained(order, role);
    if (isWide && role != roles.keys && !isSeen[role])
      return false;
  }
  for (int64_t role : order) {
    if (role == roles.keys)
      continue;
    bool hasQuery = ofOperand(role, roles.querySide) != kNone,
         hasKey = ofOperand(role, 1 - roles.querySide) != kNone, hasValue = ofValue[role] != kNone;
    if (!hasQuery || hasKey != hasValue)
      return false;
    (hasKey ? roles.batch : roles.queries).push_back(role);
  }
  for (int64_t role : roles.batch)
    valueBatch.push_back(ofValue[role]);
  // Heads become one dim, of a known size.
  Value query = first.operands[roles.querySide];
  SmallVector<int64_t> heads;
  if (!roles.batch.empty())
    heads.push_back(ofOperand(roles.batch.back(), roles.querySide));
  for (int64_t role : ArrayRef(roles.queries).drop_back(!roles.queries.empty()))
    heads.push_back(ofOperand(role, roles.querySide));
  return !isAnyOpen(query, heads);
}

/// `[batch, heads, queries, features]`.
Value AttentionMatch::buildQuery(double &scale) {
  const Product &first = *scores->product;
  int side = roles.querySide;
  SmallVector<int64_t> order;
  for (int64_t role : roles.batch)
    order.push_back(ofOperand(role, side));
  for (int64_t role : roles.queries)
    order.push_back(ofOperand(role, side));
  order.push_back(first.contract[side]);
  Value query = arrange(takeScale(first.operands[side], scale, e), order, e);
  int64_t batch = roles.batch.size(), rank = typeOf(query).getRank();
  if (roles.queries.empty())
    query = e.make<ExpandDimsOp>(query, ArrayRef<int64_t>{rank - 1});
  int64_t heads = roles.getNumHeadDims(), firstHead = batch - (batch > 0);
  return heads == 0 ? e.make<ExpandDimsOp>(query, ArrayRef<int64_t>{0})
                    : mergeDims(query, firstHead, heads, e);
}

/// `[batch, heads of keys, keys, features]`.
Value AttentionMatch::buildKeys(Value keys, ArrayRef<int64_t> batch, int64_t own, int64_t feature) {
  SmallVector<int64_t> order(batch);
  order.append({own, feature});
  keys = arrange(keys, order, e);
  return batch.empty() ? e.make<ExpandDimsOp>(keys, ArrayRef<int64_t>{0}) : keys;
}

/// `mask` in the dims of attention's scores. `weights` are the softmax's dims in those of the
/// scores that it is put on.
Value AttentionMatch::placeMask(Value mask, const View &weights) {
  View view = View::of(mask, {/*broadcasts=*/true, /*converts=*/false})
                  .alignedTo(typeOf(weights.source).getRank());
  // The place of each role's dim in the mask.
  auto find = [&](int64_t role) {
    int64_t place = scores->weights.find(role);
    int64_t dim = place == kNone ? kNone : weights.dims[place];
    return dim == kNone ? kNone : view.dims[dim];
  };
  SmallVector<int64_t> order, missing, all = roles.batch;
  llvm::append_range(all, roles.queries);
  all.push_back(roles.keys);
  for (auto [place, role] : llvm::enumerate(all)) {
    int64_t dim = find(role);
    if (dim == kNone)
      missing.push_back(place);
    else
      order.push_back(dim);
  }
  Value placed = arrange(view.source, order, e);
  if (!missing.empty())
    placed = e.make<ExpandDimsOp>(placed, missing);
  int64_t batch = roles.batch.size();
  if (roles.queries.empty())
    placed = e.make<ExpandDimsOp>(placed, ArrayRef<int64_t>{batch});
  int64_t heads = roles.getNumHeadDims(), first = batch - (batch > 0);
  if (heads < 2)
    return placed;
  auto shape = typeOf(placed).getShape().slice(first, heads);
  if (llvm::any_of(shape, [](int64_t size) { return size != 1; })) {
    SmallVector<int64_t> whole(typeOf(placed).getShape());
    const Product &product = *scores->product;
    for (int64_t dim = first; dim < first + heads; ++dim)
      whole[dim] = typeOf(product.operands[roles.querySide])
                       .getDimSize(ofOperand(all[dim], roles.querySide));
    auto type = typeOf(placed).clone(whole);
    if (type != placed.getType())
      placed = e.make<BroadcastInDimOp>(type, placed, e.dynamicSizes(placed),
                                        llvm::to_vector(llvm::seq<int64_t>(0, whole.size())));
  }
  return mergeDims(placed, first, heads, e);
}

/// All masks as one; null where there is none.
Value AttentionMatch::buildMask() {
  Value hides, added;
  for (const Mask &mask : scores->masks) {
    Value value = placeMask(mask.value, mask.weights);
    bool isPredicate = elementOf(value).isInteger(1);
    if (isPredicate && !mask.keepsTrue)
      value = e.make<LogicalNotOp>(value);
    if (isPredicate && std::isinf(mask.hidden)) {
      hides = hides ? e.make<AndOp>(hides, value) : value;
      continue;
    }
    if (isPredicate) {
      // So low that a score beside it is nothing: a row that is hidden throughout is even.
      Value like = e.make<ConvertOp>(typeOf(value).clone(e.getBuilder().getF32Type()), value);
      value = e.select(value, e.scalar(0, like), e.scalar(-1e30, like));
    } else if (mask.factor != 1) {
      value = e.mul(e.widen(value), mask.factor);
    }
    added = added ? e.add(e.widen(added), e.widen(value)) : value;
  }
  if (added && elementOf(added) != elementOf(scores->product->operands[0]))
    added = e.convert(added, elementOf(scores->product->operands[0]).isF64()
                                 ? elementOf(scores->product->operands[0])
                                 : Type(e.getBuilder().getF32Type()));
  if (!hides || !added)
    return hides ? hides : added;
  return e.select(hides, added, e.scalar(-std::numeric_limits<double>::infinity(), added));
}

/// The dims of the second product, in its order.
Value AttentionMatch::buildResult(Value attention) {
  int64_t heads = roles.getNumHeadDims();
  const Product &product = *scores->product;
  // Split into [batch, queries, features] again, without dims of size 1.
  SmallVector<int64_t> shape, present = roles.batch;
  llvm::append_range(present, roles.queries);
  for (int64_t role : present)
    shape.push_back(
        typeOf(product.operands[roles.querySide]).getDimSize(ofOperand(role, roles.querySide)));
  if (heads > 1) {
    SmallVector<int64_t> split(shape);
    if (roles.queries.empty())
      split.push_back(1);
    split.push_back(typeOf(attention).getShape().back());
    attention =
        e.make<ReshapeOp>(typeOf(attention).clone(split), attention, e.dynamicSizes(attention));
  }
  SmallVector<int64_t> ones;
  if (heads == 0)
    ones.push_back(0);
  if (roles.queries.empty())
    ones.push_back(typeOf(attention).getRank() - 2);
  if (!ones.empty())
    attention = e.make<SqueezeOp>(attention, ones);
  SmallVector<int64_t> permutation, added;
  for (auto [dim, role] : llvm::enumerate(resultRoles)) {
    if (role == kNone)
      added.push_back(dim);
    else
      permutation.push_back(role == kFeatures ? int64_t(present.size())
                                              : llvm::find(present, role) - present.begin());
  }
  if (!llvm::is_sorted(permutation))
    attention = e.make<TransposeOp>(attention, permutation);
  return added.empty() ? attention : e.make<ExpandDimsOp>(attention, added);
}

Value AttentionMatch::build() {
  if (!match())
    return {};
  const Product &first = *scores->product;
  int keySide = 1 - roles.querySide;
  double scale = scores->scale;
  Value query = buildQuery(scale);
  SmallVector<int64_t> keyBatch;
  for (int64_t role : roles.batch)
    keyBatch.push_back(ofOperand(role, keySide));
  Value key = buildKeys(takeScale(first.operands[keySide], scale, e), keyBatch,
                        ofOperand(roles.keys, keySide), first.contract[keySide]);
  int valueSide = 1 - weightsSide;
  Value value =
      buildKeys(second->operands[valueSide], valueBatch, second->contract[valueSide], features);
  Value mask = buildMask();
  Value attention = e.make<AttentionOp>(
      query, key, value, mask, /*offset=*/Value(), /*sinks=*/Value(),
      /*causal=*/false, /*window=*/IntegerAttr(), /*with_logsumexp=*/false, APFloat(scale));
  return e.finish(buildResult(attention), root->getResult(0).getType());
}

Value recognizeAttention(Operation *root, ExpressionBuilder &e) {
  return AttentionMatch(root, e).build();
}

} // namespace xc::array
