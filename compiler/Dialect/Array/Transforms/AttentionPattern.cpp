//===- AttentionPattern.cpp - What small ops of attention are made of ------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Array/Transforms/AttentionPattern.h"

#include "compiler/Dialect/Array/IR/AttentionGradientOp.h"
#include "compiler/Dialect/Array/IR/Sizes.h"
#include "compiler/Dialect/Array/IR/TensorTypes.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace xc::array {

static constexpr int64_t kNone = View::kNone;

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

static Product readProduct(MatMulOp op) {
  Product product{{op.getLhs(), op.getRhs()}, op.getResult(), {}, {}};
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
  product.contract.push_back({isTransposed[0] ? ranks[0] - 2 : ranks[0] - 1,
                              isTransposed[1] ? ranks[1] - 1 : ranks[1] - 2});
  return product;
}

static Product readProduct(DotGeneralOp op) {
  Product product{{op.getLhs(), op.getRhs()}, op.getResult(), {}, {}};
  for (auto [lhs, rhs] : llvm::zip_equal(op.getLhsContract(), op.getRhsContract()))
    product.contract.push_back({lhs, rhs});
  for (auto [lhs, rhs] : llvm::zip_equal(op.getLhsBatch(), op.getRhsBatch()))
    product.dims.push_back({lhs, rhs});
  for (int64_t dim : DotGeneralOp::getFreeDims(op.getLhs(), op.getLhsBatch(), op.getLhsContract()))
    product.dims.push_back({dim, kNone});
  for (int64_t dim : DotGeneralOp::getFreeDims(op.getRhs(), op.getRhsBatch(), op.getRhsContract()))
    product.dims.push_back({kNone, dim});
  return product;
}

std::optional<Product> Product::of(Operation *op) {
  // The op of all has no place for a permission of one product.
  if (auto matmul = dyn_cast_or_null<MatMulOp>(op); matmul && !matmul.getAllowTf32())
    return readProduct(matmul);
  if (auto dot = dyn_cast_or_null<DotGeneralOp>(op); dot && !dot.getAllowTf32())
    return readProduct(dot);
  return std::nullopt;
}

std::optional<Application> Application::of(const Product &product, int side, const View &scores) {
  auto roleOf = [&](int64_t dim) { return dim == kNone ? kNone : scores.dims[dim]; };
  Application found;
  found.factor = product.operands[1 - side];
  found.factorDims.assign(typeOf(scores.source).getRank(), kNone);
  int64_t seen = 0;
  for (auto pair : product.contract) {
    int64_t role = roleOf(pair[side]);
    if (role == kNone)
      continue; // of size 1
    found.factorDims[role] = pair[1 - side];
    found.summed.push_back(role);
    ++seen;
  }
  for (auto [dim, pair] : llvm::enumerate(product.dims)) {
    int64_t role = roleOf(pair[side]), own = pair[1 - side];
    bool isWide = typeOf(product.result).getDimSize(dim) != 1;
    if (role != kNone) {
      found.factorDims[role] = own;
      ++seen;
    } else if (isWide) {
      // The factor alone has it: one dim of features.
      if (pair[side] != kNone || found.features != kNone)
        return std::nullopt;
      found.features = own;
    }
    found.resultRoles.push_back(role != kNone ? role : isWide ? kFeatures : kNone);
  }
  bool isWhole = seen == llvm::count_if(scores.dims, [](int64_t role) { return role != kNone; });
  return isWhole && found.features != kNone ? std::optional(found) : std::nullopt;
}

//===----------------------------------------------------------------------===//
// Between the products
//===----------------------------------------------------------------------===//

static bool hasShapeOf(Value value, Operation *op) {
  return typeOf(value).getShape() == typeOf(op->getResult(0)).getShape();
}

/// Looks up through one scale, by a number; what it is applied to, or null.
Value matchScale(Operation *op, double &scale) {
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
    else if (auto tanh = dyn_cast<TanhOp>(op))
      value = tanh.getOperand();
    else if (auto add = dyn_cast<AddOp>(op))
      return leadsToProduct(add.getLhs()) || leadsToProduct(add.getRhs());
    else
      return false;
    op = value.getDefiningOp();
  }
  return op != nullptr;
}

/// Looks up through a tangent between scales: what follows it, a positive number, limits scores.
static Value matchSoftcap(Operation *op, Scores &scores) {
  auto tanh = dyn_cast<TanhOp>(op);
  if (!tanh || scores.softcap || !(scores.scale > 0) || !std::isfinite(scores.scale))
    return {};
  scores.softcap = std::exchange(scores.scale, 1);
  return tanh.getOperand();
}

static Value matchMask(Operation *op, Scores &scores) {
  // What is hidden, or added, before scores are limited is no mask.
  if (scores.softcap)
    return {};
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

std::optional<Scores> Scores::above(SoftmaxOp softmax, View weights, MatchedOps &ops) {
  Scores scores;
  scores.weights = std::move(weights);
  View &view = scores.weights;
  view.source = softmax.getOperand();
  for (;;) {
    Operation *op = view.source.getDefiningOp();
    if (!op)
      return std::nullopt;
    ops.add(op);
    if (view.step({/*broadcasts=*/false, /*converts=*/true}))
      continue;
    if (std::optional<Product> product = Product::of(op)) {
      scores.product = *product;
      // The op divides by the limit before the tangent.
      scores.scale *= scores.softcap.value_or(1);
      return product->contract.size() == 1 ? std::optional(scores) : std::nullopt;
    }
    Value next = matchScale(op, scores.scale);
    if (!next)
      next = matchSoftcap(op, scores);
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

/// What `value` is but for a scale that was put on it; null if there is none. `inner` gets that
/// scale.
static Value skipOwnScale(Value value, double &scale) {
  Operation *op = value.getDefiningOp();
  return op ? matchScale(op, scale) : Value();
}

/// The op that moved dims of `value`. Sizes are operands of their own where dims are open.
static Operation *getMove(Value value) {
  Operation *op = value.getDefiningOp();
  bool isMove = isa_and_nonnull<TransposeOp, ReshapeOp, ExpandDimsOp, SqueezeOp>(op) &&
                op->getNumOperands() == 1;
  return isMove ? op : nullptr;
}

double findScale(Value value) {
  double scale = 1;
  for (;;) {
    if (Value x = skipOwnScale(value, scale)) {
      if (elementOf(x) != elementOf(value))
        return scale;
      value = x;
    } else if (Operation *move = getMove(value)) {
      value = move->getOperand(0);
    } else {
      return scale;
    }
  }
}

Value dropScale(Value value, ExpressionBuilder &e) {
  double scale = 1;
  if (Value x = skipOwnScale(value, scale))
    return elementOf(x) == elementOf(value) ? dropScale(x, e) : x;
  Operation *move = getMove(value);
  Value x = move ? dropScale(move->getOperand(0), e) : Value();
  if (!move || x == move->getOperand(0))
    return value;
  IRMapping mapping;
  mapping.map(move->getOperand(0), x);
  return e.getBuilder().clone(*move, mapping)->getResult(0);
}

bool isRoundedTo(Value value, Type element) {
  if (elementOf(value) == element)
    return true;
  return !value.use_empty() && llvm::all_of(value.getUsers(), [&](Operation *user) {
    if (auto convert = dyn_cast<ConvertOp>(user))
      return convert.getType().getElementType() == element;
    return isa<TransposeOp, ReshapeOp, ExpandDimsOp, SqueezeOp>(user) &&
           isRoundedTo(user->getResult(0), element);
  });
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

//===----------------------------------------------------------------------===//
// Roles
//===----------------------------------------------------------------------===//

int64_t AttentionOperands::sizeOf(int64_t role) const {
  return typeOf(getQuery()).getDimSize(scores.product.dims[role][querySide]);
}

SmallVector<int64_t> AttentionOperands::getDims(int side) const {
  return llvm::map_to_vector(scores.product.dims, [&](auto pair) { return pair[side]; });
}

/// Whether a mask has some of the dims that would be one dim of heads, but not all: it would have
/// to be repeated along the others.
bool AttentionOperands::hasMaskOfSomeHeads() const {
  int64_t first = getFirstHeadDim(), count = getNumHeadDims();
  return llvm::any_of(scores.masks, [&](const Mask &mask) {
    View view = viewMask(mask);
    int64_t missing = llvm::count(ArrayRef(view.dims).slice(first, count), kNone);
    return missing > 0 && missing < count;
  });
}

bool AttentionOperands::assignRoles(int64_t ofKeys, ArrayRef<int64_t> valueDims) {
  keys = ofKeys;
  if (keys == kNone)
    return false;
  // Keys' own dim is no batch dim, and says which operand the keys are.
  auto pair = scores.product.dims[keys];
  if ((pair[0] == kNone) == (pair[1] == kNone))
    return false;
  querySide = pair[0] == kNone ? 0 : 1;
  for (int64_t role : scores.weights.dims) { // in the order of the weights
    if (role == kNone || role == keys)
      continue;
    bool hasQuery = scores.product.dims[role][querySide] != kNone,
         hasKey = scores.product.dims[role][1 - querySide] != kNone,
         hasValue = valueDims[role] != kNone;
    if (!hasQuery || hasKey != hasValue)
      return false;
    (hasKey ? batch : queries).push_back(role);
  }
  isShared = !batch.empty() && queries.size() > 1 && hasMaskOfSomeHeads();
  // Heads become one dim, of a known size.
  SmallVector<int64_t> heads(ArrayRef(queries).drop_back(!queries.empty()));
  if (!batch.empty() && !isShared)
    heads.push_back(batch.back());
  return llvm::none_of(heads, [&](int64_t role) { return ShapedType::isDynamic(sizeOf(role)); });
}

Value AttentionOperands::arrangeQueries(Value value, ArrayRef<int64_t> dims, int64_t features) {
  SmallVector<int64_t> order;
  for (int64_t role : batch)
    order.push_back(dims[role]);
  for (int64_t role : queries)
    order.push_back(dims[role]);
  order.push_back(features);
  value = arrange(value, order, e);
  if (queries.empty())
    value = e.make<ExpandDimsOp>(value, ArrayRef<int64_t>{typeOf(value).getRank() - 1});
  int64_t heads = getNumHeadDims();
  return heads == 0 ? e.make<ExpandDimsOp>(value, ArrayRef<int64_t>{0})
                    : mergeDims(value, getFirstHeadDim(), heads, e);
}

Value AttentionOperands::arrangeKeys(Value value, ArrayRef<int64_t> dims, int64_t features) {
  SmallVector<int64_t> order;
  for (int64_t role : batch)
    order.push_back(dims[role]);
  order.append({dims[keys], features});
  value = arrange(value, order, e);
  return batch.empty() || isShared
             ? e.make<ExpandDimsOp>(value, ArrayRef<int64_t>{int64_t(batch.size())})
             : value;
}

SmallVector<int64_t> AttentionOperands::getRoles() const {
  SmallVector<int64_t> roles = batch;
  llvm::append_range(roles, queries);
  roles.push_back(keys);
  return roles;
}

View AttentionOperands::viewMask(const Mask &mask) const {
  View view = View::of(mask.value, {/*broadcasts=*/true, /*converts=*/false})
                  .alignedTo(typeOf(mask.weights.source).getRank());
  SmallVector<int64_t> dims;
  for (int64_t role : getRoles()) {
    int64_t place = scores.weights.find(role);
    int64_t dim = place == kNone ? kNone : mask.weights.dims[place];
    dims.push_back(dim == kNone ? kNone : view.dims[dim]);
  }
  return {view.source, dims};
}

/// In the dims of attention's scores.
Value AttentionOperands::placeMask(const Mask &mask) {
  View view = viewMask(mask);
  SmallVector<int64_t> order, missing, all = batch;
  llvm::append_range(all, queries);
  for (auto [place, dim] : llvm::enumerate(view.dims))
    if (dim == kNone)
      missing.push_back(place);
    else
      order.push_back(dim);
  Value placed = arrange(view.source, order, e);
  if (!missing.empty())
    placed = e.make<ExpandDimsOp>(placed, missing);
  if (queries.empty())
    placed = e.make<ExpandDimsOp>(placed, ArrayRef<int64_t>{int64_t(batch.size())});
  int64_t heads = getNumHeadDims(), first = getFirstHeadDim();
  if (heads < 2)
    return placed;
  auto shape = typeOf(placed).getShape().slice(first, heads);
  if (llvm::any_of(shape, [](int64_t size) { return size != 1; })) {
    SmallVector<int64_t> whole(typeOf(placed).getShape());
    for (int64_t dim = first; dim < first + heads; ++dim)
      whole[dim] = sizeOf(all[dim]);
    auto type = typeOf(placed).clone(whole);
    if (type != placed.getType())
      placed = e.make<BroadcastInDimOp>(type, placed, e.dynamicSizes(placed),
                                        llvm::to_vector(llvm::seq<int64_t>(0, whole.size())));
  }
  return mergeDims(placed, first, heads, e);
}

Value AttentionOperands::buildMask() {
  Value hides, added;
  Type element = elementOf(getQuery());
  for (const Mask &mask : scores.masks) {
    Value value = placeMask(mask);
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
  if (added && elementOf(added) != element)
    added = e.convert(added, element.isF64() ? element : Type(e.getBuilder().getF32Type()));
  if (!hides || !added)
    return hides ? hides : added;
  return e.select(hides, added, e.scalar(-std::numeric_limits<double>::infinity(), added));
}

Value AttentionOperands::buildSeen() {
  Value seen;
  for (const Mask &mask : scores.masks) {
    Value value = placeMask(mask);
    if (!elementOf(value).isInteger(1))
      continue;
    if (!mask.keepsTrue)
      value = e.make<LogicalNotOp>(value);
    seen = seen ? e.make<AndOp>(seen, value) : value;
  }
  return seen;
}

/// `value`, whose dims are those of the roles `present` and features, in dims of `resultRoles`.
static Value restore(Value value, ArrayRef<int64_t> present, ArrayRef<int64_t> resultRoles,
                     ExpressionBuilder &e) {
  SmallVector<int64_t> permutation, added;
  for (auto [dim, role] : llvm::enumerate(resultRoles)) {
    if (role == kNone)
      added.push_back(dim);
    else
      permutation.push_back(role == Application::kFeatures
                                ? int64_t(present.size())
                                : llvm::find(present, role) - present.begin());
  }
  if (!llvm::is_sorted(permutation))
    value = e.make<TransposeOp>(value, permutation);
  return added.empty() ? value : e.make<ExpandDimsOp>(value, added);
}

Value AttentionOperands::restoreQueries(Value value, ArrayRef<int64_t> resultRoles) {
  int64_t heads = getNumHeadDims();
  // Split into [batch, queries, features] again, without dims of size 1.
  SmallVector<int64_t> present = batch;
  llvm::append_range(present, queries);
  if (heads > 1) {
    SmallVector<int64_t> split = llvm::map_to_vector(present, [&](int64_t r) { return sizeOf(r); });
    if (queries.empty())
      split.push_back(1);
    split.push_back(typeOf(value).getShape().back());
    value = e.make<ReshapeOp>(typeOf(value).clone(split), value, e.dynamicSizes(value));
  }
  SmallVector<int64_t> ones;
  if (heads == 0)
    ones.push_back(0);
  if (queries.empty())
    ones.push_back(typeOf(value).getRank() - 2);
  if (!ones.empty())
    value = e.make<SqueezeOp>(value, ones);
  return restore(value, present, resultRoles, e);
}

Value AttentionOperands::restoreKeys(Value value, ArrayRef<int64_t> resultRoles) {
  if (batch.empty() || isShared)
    value = e.make<SqueezeOp>(value, ArrayRef<int64_t>{int64_t(batch.size())});
  SmallVector<int64_t> present = batch;
  present.push_back(keys);
  return restore(value, present, resultRoles, e);
}

Value AttentionOperands::restoreMask(Value value, ArrayRef<int64_t> resultRoles) {
  SmallVector<int64_t> order, added, roles = getRoles();
  for (auto [dim, role] : llvm::enumerate(resultRoles))
    if (role == kNone)
      added.push_back(dim);
    else
      order.push_back(llvm::find(roles, role) - roles.begin());
  value = arrange(value, order, e);
  return added.empty() ? value : e.make<ExpandDimsOp>(value, added);
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

std::optional<AttentionForm> AttentionForm::of(Operation *op) {
  AttentionForm form;
  auto read = [&](auto attention) {
    form.query = attention.getQuery();
    form.key = attention.getKey();
    form.value = attention.getValue();
    form.mask = attention.getMask();
    form.offset = attention.getOffset();
    form.sinks = attention.getSinks();
    form.isCausal = attention.getCausal();
    form.window = attention.getWindowAttr();
    form.softcap = attention.getSoftcapAttr();
    form.scale = attention.getScaleAttr();
  };
  if (auto attention = dyn_cast<AttentionOp>(op); attention && !attention.getWithLogsumexp()) {
    read(attention);
    return form;
  }
  auto gradient = dyn_cast<AttentionGradientOp>(op);
  if (!gradient || gradient.getLogsumexp() || gradient->getNumResults() != 3)
    return std::nullopt;
  read(gradient);
  form.cotangent = gradient.getCotangent();
  form.logsumexpCotangent = gradient.getLogsumexpCotangent();
  return form;
}

ValueRange AttentionForm::build(ExpressionBuilder &e) const {
  Value whole;
  if (cotangent)
    whole = e.make<AttentionGradientOp>(
        query, key, value, cotangent, mask, offset, sinks, /*logsumexp=*/Value(),
        /*delta=*/Value(), logsumexpCotangent, isCausal ? e.getBuilder().getUnitAttr() : UnitAttr(),
        window, softcap, scale,
        /*with_mask=*/UnitAttr(), /*with_sinks=*/UnitAttr());
  else
    whole = e.make<AttentionOp>(query, key, value, mask, offset, sinks, isCausal, window,
                                /*with_logsumexp=*/false, softcap, scale.getValue());
  return whole.getDefiningOp()->getResults();
}

} // namespace xc::array
