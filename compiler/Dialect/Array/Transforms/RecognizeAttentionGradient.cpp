//===- RecognizeAttentionGradient.cpp - Attention's gradient in smaller ops -===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A program that brings its own gradient holds the weights p of attention for it:
//
//   s = scale * q * k^T, masked      p = softmax(s)                    y = p * v
//   dv = p^T * dy                    dp = dy * v^T
//   ds = scale * p * (dp - sum(dp * p)), 0 where s has been hidden
//   dq = ds * k                      dk = ds^T * q
//
// So from dq or dk upwards: to ds, by its softmax to s, and by dp to dy and v. Then from p and ds
// downwards to all products. They are attention and its gradient if nothing else uses anything in
// between. One or more of y, dv, dq and dk may be missing.
//
// The products say which dim of which operand is which. Operands that two products have must be the
// same. A scale may be on queries or keys: then it is looked for below dq or dk, too.
//
// What has no kernel for the gradient would be taken apart again, and compute the weights a second
// time that the program holds: f64, f32 where no target has matrix instructions, and vectors of f32
// that no kernel takes.
//
// Where a choice of a finite number hides a whole row, p is even, and not 0, but ds is 0. Unless
// each query is known to see a key, such rows get a cotangent of 0, and values what flows to them
// by even weights.
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Array/IR/TensorTypes.h"
#include "compiler/Dialect/Array/Transforms/AttentionGradientMatch.h"

using namespace mlir;

namespace xc::array {

/// Elements of the longest vectors of f32 that some kernel takes.
static constexpr int64_t kMostSingle = 256;

static constexpr Through kMoves{/*broadcasts=*/false, /*converts=*/true};

/// The operand of `select` that is kept, if the other one is 0; null if none is.
static Value matchCleared(SelectOp select, bool &keepsTrue) {
  keepsTrue = getSplat(select.getOnFalse()) == 0.0;
  if (!keepsTrue && getSplat(select.getOnTrue()) != 0.0)
    return {};
  Value kept = keepsTrue ? select.getOnTrue() : select.getOnFalse();
  return typeOf(kept).getShape() == select.getType().getShape() ? kept : Value();
}

/// Whether `op` only moves dims of its operand, or converts it.
static bool isMove(Operation *op) {
  return op->getNumResults() == 1 && isa<RankedTensorType>(op->getResult(0).getType()) &&
         View::of(op->getResult(0)).step(kMoves);
}

//===----------------------------------------------------------------------===//
// Matching
//===----------------------------------------------------------------------===//

/// What `value` is of `of`, through moves; of a gradient through scales and choices as well.
static std::optional<View> climb(Value value, Value of, bool isGradient, ProductUse &use) {
  View view = View::of(value);
  SmallVector<std::pair<View, ClearedScores>> passed;
  while (view.source != of) {
    Operation *op = view.source.getDefiningOp();
    if (!op)
      return std::nullopt;
    if (view.step(kMoves))
      continue;
    Value next = isGradient ? matchScale(op, use.scale) : Value();
    auto select = dyn_cast<SelectOp>(op);
    if (bool keepsTrue; !next && isGradient && select && (next = matchCleared(select, keepsTrue))) {
      View predicate = View::of(select.getPredicate(), {/*broadcasts=*/true, /*converts=*/false})
                           .alignedTo(select.getType().getRank());
      passed.push_back({view, {predicate, keepsTrue, false}});
    }
    if (!next)
      return std::nullopt;
    view.source = next;
  }
  // From the dims of `value` to those of the gradient.
  for (auto &[at, cleared] : passed) {
    SmallVector<int64_t> dims(typeOf(of).getRank(), View::kNone);
    for (auto [own, dim] : llvm::zip_equal(at.dims, view.dims))
      if (own != View::kNone && dim != View::kNone)
        dims[dim] = cleared.predicate.dims[own];
    use.cleared.push_back({View{cleared.predicate.source, dims}, cleared.keepsTrue, false});
  }
  return view;
}

/// What is the same as `value` but for ops that move dims and widen: `dims` are in its dims then.
static Value lookThrough(Value value, SmallVectorImpl<int64_t> &dims, int64_t &features) {
  View view = View::of(value, kMoves);
  for (int64_t &dim : dims)
    dim = dim == View::kNone ? View::kNone : view.dims[dim];
  features = view.dims[features];
  return view.source;
}

static bool areSame(Value lhs, SmallVector<int64_t> lhsDims, int64_t lhsFeatures, Value rhs,
                    SmallVector<int64_t> rhsDims, int64_t rhsFeatures) {
  return lookThrough(lhs, lhsDims, lhsFeatures) == lookThrough(rhs, rhsDims, rhsFeatures) &&
         lhsDims == rhsDims && lhsFeatures == rhsFeatures;
}

bool GradientMatch::addUse(Operation *op, Value of, bool isGradient) {
  std::optional<Product> product = Product::of(op);
  if (!product)
    return false;
  for (int side : {0, 1}) {
    ProductUse use{*product, {}, op->getResult(0), 1, {}};
    std::optional<View> view = climb(product->operands[side], of, isGradient, use);
    if (!view)
      continue;
    // From the dims of the weights to the roles.
    View roles{scores->weights.source, view->dims};
    for (int64_t &dim : roles.dims)
      dim = dim == View::kNone ? View::kNone : scores->weights.dims[dim];
    std::optional<Application> application = Application::of(*product, side, roles);
    if (!application)
      return false;
    use.application = *application;
    (isGradient ? ofGradient : ofWeights).push_back(use);
    return true;
  }
  return false;
}

/// A sum of the gradient over dims that a mask lacks, which is what the mask gets.
bool GradientMatch::addMaskSum(Operation *op) {
  auto sum = dyn_cast<ReduceOp>(op);
  ProductUse unused;
  if (!sum || sum.getKind() != ReduceKind::Sum || maskSum)
    return false;
  std::optional<View> view = climb(sum.getOperand(), toScores, /*isGradient=*/false, unused);
  if (!view)
    return false;
  maskSum = sum.getResult();
  maskRoles = getReducedDims(view->dims.size(), sum.getAxes(), sum.getKeepdims());
  for (int64_t &dim : maskRoles) {
    dim = dim == View::kNone ? View::kNone : view->dims[dim];
    dim = dim == View::kNone ? View::kNone : scores->weights.dims[dim];
  }
  return true;
}

/// Whether the only mask gets the sum that has been found, if there is one.
bool GradientMatch::isOfMask() const {
  if (!maskSum)
    return true;
  if (scores->masks.size() != 1 || softmax->factor != 1 || !operands->hasOneHeadDim())
    return false;
  const Mask &mask = scores->masks.front();
  Type element = elementOf(mask.value);
  if (!isa<FloatType>(element) || mask.factor != 1 || !isRoundedTo(maskSum, element))
    return false;
  SmallVector<int64_t> own;
  for (auto [role, dim] : llvm::zip_equal(operands->getRoles(), operands->viewMask(mask).dims))
    if (dim != View::kNone)
      own.push_back(role);
  SmallVector<int64_t> found(
      llvm::make_filter_range(maskRoles, [](int64_t role) { return role != View::kNone; }));
  llvm::sort(own);
  llvm::sort(found);
  return own == found;
}

/// Goes down from `of`; false if anything but a product, or a sum for a mask, uses it.
bool GradientMatch::findUses(Value of, bool isGradient) {
  SmallVector<Value> worklist{of};
  llvm::SmallPtrSet<Operation *, 8> seen;
  while (!worklist.empty()) {
    for (Operation *user : worklist.pop_back_val().getUsers()) {
      bool isOfGradient = !isGradient && !isMove(user) && softmax->ops.contains(user);
      if (isOfGradient || !seen.insert(user).second)
        continue;
      bool keepsTrue;
      double scale = 1;
      auto select = dyn_cast<SelectOp>(user);
      bool isStep =
          isMove(user) ||
          (isGradient && (matchScale(user, scale) || (select && matchCleared(select, keepsTrue))));
      if (isStep) {
        ops.add(user);
        worklist.push_back(user->getResult(0));
      } else if (!addUse(user, of, isGradient) && !(isGradient && addMaskSum(user))) {
        return false;
      }
    }
  }
  return true;
}

/// From dp to dy and v.
bool GradientMatch::matchCotangent() {
  View view = View::of(softmax->cotangent);
  std::optional<Product> product;
  for (Operation *op = view.source.getDefiningOp(); op; op = view.source.getDefiningOp()) {
    ops.add(op);
    if (!view.step(kMoves)) {
      product = Product::of(op);
      break;
    }
  }
  if (!product || product->contract.size() != 1)
    return false;
  SmallVector<int64_t> dims[2];
  for (int side : {0, 1})
    dims[side].assign(scores->product.dims.size(), View::kNone);
  int64_t keys = scores->weights.dims[softmax->axis];
  if (keys == View::kNone)
    return false;
  unsigned wide = 0;
  for (auto [place, dim] : llvm::enumerate(view.dims)) {
    int64_t role = scores->weights.dims[place];
    if ((dim == View::kNone) != (role == View::kNone))
      return false;
    wide += dim != View::kNone;
    for (int side : {0, 1})
      if (role != View::kNone)
        dims[side][role] = product->dims[dim][side];
  }
  auto isWide = [](int64_t size) { return size != 1; };
  if (wide != llvm::count_if(typeOf(product->result).getShape(), isWide))
    return false;
  int valueSide = dims[0][keys] != View::kNone ? 0 : 1;
  value = product->operands[valueSide];
  cotangent = product->operands[1 - valueSide];
  valueDims = dims[valueSide];
  cotangentDims = dims[1 - valueSide];
  valueFeatures = product->contract.front()[valueSide];
  cotangentFeatures = product->contract.front()[1 - valueSide];
  return valueDims[keys] != View::kNone && cotangentDims[keys] == View::kNone;
}

/// Whether each query has a cotangent of its own.
bool GradientMatch::hasCotangent() const {
  auto hasDim = [&](int64_t role) { return cotangentDims[role] != View::kNone; };
  return llvm::all_of(operands->getBatch(), hasDim) && llvm::all_of(operands->getQueries(), hasDim);
}

/// What each product is, by what it sums over and what it multiplies with.
bool GradientMatch::sortUses() {
  SmallVector<int64_t> queries(operands->getQueries());
  llvm::sort(queries);
  auto sumsOver = [](const ProductUse &use, ArrayRef<int64_t> roles) {
    SmallVector<int64_t> summed(use.application.summed);
    llvm::sort(summed);
    return ArrayRef(summed) == roles;
  };
  auto has = [](const ProductUse &use, Value factor, ArrayRef<int64_t> dims, int64_t features) {
    const Application &own = use.application;
    return areSame(own.factor, own.factorDims, own.features, factor, SmallVector<int64_t>(dims),
                   features);
  };
  auto put = [&](ProductUse *&place, ProductUse &use, Value factor, ArrayRef<int64_t> dims,
                 int64_t features) {
    bool isFree = !place && has(use, factor, dims, features);
    place = &use;
    return isFree;
  };
  int64_t keys = operands->getKeys();
  auto contract = scores->product.contract.front();
  int querySide = operands->getQuerySide(), keySide = 1 - querySide;
  for (ProductUse &use : ofWeights)
    if (!(sumsOver(use, keys) ? put(forward, use, value, valueDims, valueFeatures)
                              : sumsOver(use, queries) &&
                                    put(toValue, use, cotangent, cotangentDims, cotangentFeatures)))
      return false;
  for (ProductUse &use : ofGradient)
    if (!(sumsOver(use, keys)
              ? put(toQuery, use, operands->getKey(), operands->getDims(keySide), contract[keySide])
              : sumsOver(use, queries) && put(toKey, use, operands->getQuery(),
                                              operands->getDims(querySide), contract[querySide])))
      return false;
  return toQuery || toKey;
}

/// Goes down from a product's result, which one op at a time uses, to where it has been multiplied
/// with `scale`; null if it is not.
static Value findScaled(Value value, double scale) {
  while (value.hasOneUse()) {
    Operation *user = *value.getUsers().begin();
    double found = 1;
    if (Value x = matchScale(user, found))
      return x == value && std::abs(found - scale) <= 1e-6 * std::abs(scale) ? user->getResult(0)
                                                                             : Value();
    if (!isMove(user))
      return {};
    value = user->getResult(0);
  }
  return {};
}

/// `use` with `result` in place of that of its product, below which it is.
static void moveDown(ProductUse &use, Value result, MatchedOps &ops) {
  View view = View::of(result);
  double unused = 1;
  while (view.source != use.product.result) {
    Operation *op = view.source.getDefiningOp();
    ops.add(op);
    if (Value x = matchScale(op, unused))
      view.source = x;
    else
      view.step(kMoves);
  }
  use.result = result;
  for (int64_t &dim : view.dims)
    dim = dim == View::kNone ? View::kNone : use.application.resultRoles[dim];
  use.application.resultRoles = view.dims;
}

/// Whether the gradient has been scaled as the scores have; a scale of queries or keys is one of
/// the scores only where it follows their gradient.
bool GradientMatch::areScaledAlike() {
  auto isScale = [&](double own) {
    return std::abs(own - scores->scale) <= 1e-6 * std::abs(scores->scale);
  };
  for (ProductUse &use : ofGradient)
    if (!isScale(use.scale * softmax->factor))
      return false;
  auto take = [&](ProductUse *use, Value operand) {
    double scale = findScale(operand);
    Value scaled = use && scale != 1 ? findScaled(use->product.result, scale) : Value();
    if (scaled)
      moveDown(*use, scaled, ops);
    return scaled != nullptr;
  };
  isQueryScaled = take(toQuery, operands->getQuery());
  isKeyScaled = take(toKey, operands->getKey());
  return scores->scale > 0;
}

/// Whether each query sees a key by `mask`, or has no weights otherwise.
bool GradientMatch::isSeen(const Mask &mask) const {
  if (std::isinf(mask.hidden))
    return true;
  unsigned choices = llvm::count_if(
      scores->masks, [](const Mask &other) { return elementOf(other.value).isInteger(1); });
  auto contract = scores->product.dims;
  auto sizeOf = [&](int64_t role, int side) {
    return typeOf(scores->product.operands[side]).getDimSize(contract[role][side]);
  };
  int side = operands->getQuerySide();
  return choices == 1 && !operands->getQueries().empty() &&
         doesEachQuerySeeAKey(operands->viewMask(mask), mask.keepsTrue,
                              sizeOf(operands->getQueries().back(), side),
                              sizeOf(operands->getKeys(), 1 - side));
}

/// The choices that hide scores.
SmallVector<ClearedScores> GradientMatch::findChoices() const {
  SmallVector<ClearedScores> choices;
  for (const Mask &mask : scores->masks) {
    if (!elementOf(mask.value).isInteger(1))
      continue;
    // The weights' dims in those of the mask.
    View view = View::of(mask.value, {/*broadcasts=*/true, /*converts=*/false})
                    .alignedTo(typeOf(mask.weights.source).getRank());
    SmallVector<int64_t> dims = mask.weights.dims;
    for (int64_t &dim : dims)
      dim = dim == View::kNone ? View::kNone : view.dims[dim];
    choices.push_back({View{view.source, dims}, mask.keepsTrue, isSeen(mask)});
  }
  return choices;
}

/// Whether what is hidden gets nothing, and nothing else is left out.
bool GradientMatch::areHiddenAlike() {
  SmallVector<ClearedScores> choices = findChoices();
  auto isSame = [](const ClearedScores &one, const ClearedScores &other) {
    return one.predicate.source == other.predicate.source &&
           one.predicate.dims == other.predicate.dims && one.keepsTrue == other.keepsTrue;
  };
  unsigned unseen = 0, cleared = 0;
  for (const ClearedScores &choice : choices)
    unseen += !choice.isSeen;
  for (const ProductUse &use : ofGradient)
    for (const ClearedScores &one : use.cleared) {
      auto *choice =
          llvm::find_if(choices, [&](const ClearedScores &own) { return isSame(one, own); });
      if (choice == choices.end())
        return false;
      cleared += !choice->isSeen;
    }
  // Rows that nobody clears are as attention has them.
  hasHiddenRows = cleared > 0;
  bool areEven = unseen == scores->masks.size() && cleared == unseen * ofGradient.size();
  return !hasHiddenRows || areEven;
}

/// `value` in elements of `element`, which may have been widened; null if they have not been.
static Value findUnwidened(Value value, Type element) {
  while (elementOf(value) != element) {
    auto convert = value.getDefiningOp<ConvertOp>();
    bool isWidened = convert && typeOf(convert.getOperand()).getElementTypeBitWidth() <
                                    typeOf(value).getElementTypeBitWidth();
    if (!isWidened)
      return {};
    value = convert.getOperand();
  }
  return value;
}

/// Whether a kernel may take vectors of f32.
bool GradientMatch::hasSingleVectors() const {
  int side = operands->getQuerySide();
  int64_t features = scores->product.contract.front()[side];
  auto isTaken = [](int64_t size) { return size > 0 && size <= kMostSingle; };
  return isTaken(typeOf(operands->getQuery()).getDimSize(features)) &&
         isTaken(typeOf(value).getDimSize(valueFeatures));
}

/// One type throughout; products may be summed up in another one where they are rounded to it.
bool GradientMatch::hasTypes() {
  Type element = elementOf(operands->getQuery());
  bool isTaken =
      element.isF16() || element.isBF16() || (mma && element.isF32() && hasSingleVectors());
  if (!isTaken || elementOf(operands->getKey()) != element)
    return false;
  value = findUnwidened(value, element);
  cotangent = findUnwidened(cotangent, element);
  if (!value || !cotangent)
    return false;
  return llvm::all_of(ArrayRef<ProductUse *>{forward, toValue, toQuery, toKey},
                      [&](ProductUse *use) { return !use || isRoundedTo(use->result, element); });
}

/// Whether only the results of the pattern are used elsewhere.
bool GradientMatch::isUsedAlone() const {
  llvm::SmallPtrSet<Operation *, 4> last;
  for (const ProductUse *use : {forward, toValue, toQuery, toKey})
    if (use)
      last.insert(use->getOp());
  if (maskSum)
    last.insert(maskSum.getDefiningOp());
  return llvm::all_of(ops, [&](Operation *op) {
    bool isScale =
        llvm::any_of(ArrayRef<const ProductUse *>{toQuery, toKey}, [&](const ProductUse *use) {
          return use && use->result.getDefiningOp() == op;
        });
    return op->getBlock() == softmax->softmax->getBlock() &&
           (isScale || llvm::all_of(op->getUsers(), [&](Operation *user) {
              return ops.contains(user) || last.contains(user);
            }));
  });
}

bool GradientMatch::match(Operation *root) {
  std::optional<Product> product = Product::of(root);
  if (!product)
    return false;
  for (int side : {0, 1}) {
    // To the gradient of a softmax, which is where scales and choices end.
    for (Value at = product->operands[side]; at && !softmax;) {
      Operation *op = at.getDefiningOp();
      if (!op)
        break;
      double unused = 1;
      bool keepsTrue;
      Value next = isMove(op) ? op->getOperand(0) : matchScale(op, unused);
      if (auto select = dyn_cast<SelectOp>(op))
        next = matchCleared(select, keepsTrue);
      if (!next) {
        softmax = SoftmaxGradient::match(op);
        toScores = at;
      }
      at = next;
    }
  }
  if (!softmax || !softmax->softmax || softmax->softmax->getBlock() != root->getBlock())
    return false;
  Value weights = softmax->softmax.getResult();
  ops.add(softmax->ops);
  ops.add(softmax->softmax);
  scores = Scores::above(softmax->softmax, View::of(weights), ops);
  if (!scores || scores->softcap || !matchCotangent())
    return false;
  operands.emplace(*scores, e);
  return operands->assignRoles(scores->weights.dims[softmax->axis], valueDims) && hasCotangent() &&
         findUses(weights, /*isGradient=*/false) && findUses(toScores, /*isGradient=*/true) &&
         sortUses() && isOfMask() && areScaledAlike() && areHiddenAlike() && hasTypes() &&
         isUsedAlone();
}

Replacement recognizeAttentionGradient(Operation *root, ExpressionBuilder &e, bool mma) {
  return GradientMatch(e, mma).recognize(root);
}

} // namespace xc::array
