//===- RecognizeMasks.cpp - Masks that positions alone decide -------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A mask is taken apart into conditions that all have to hold. Those that bound how far a key is
// behind its query become `causal` and `window`, by which kernels leave out whole blocks of keys;
// those that always hold go; the others stay the mask.
//
// Positions are iotas, with numbers added, compared with each other; or a constant that is true in
// a band along a diagonal.
//
// A mask of finite numbers is one of truth values only where each query sees a key: else the
// weights of a row that is hidden throughout would differ.
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Array/IR/TensorTypes.h"
#include "compiler/Dialect/Array/Transforms/AttentionPattern.h"

using namespace mlir;

namespace xc::array {

namespace {

/// Bounds of `key - query`, of positions.
struct Band {
  std::optional<int64_t> least, most;
  bool isBounded() const { return least || most; }
  void join(const Band &other) {
    if (other.most)
      most = most ? std::min(*most, *other.most) : *other.most;
    if (other.least)
      least = least ? std::max(*least, *other.least) : *other.least;
  }
};

/// `query * q + key * k + number`, of positions.
struct Position {
  int64_t q = 0, k = 0, number = 0;
};

/// The conditions that a mask consists of.
class MaskParts {
public:
  MaskParts(int64_t rank, int64_t queries, int64_t keys)
      : rank(rank), queries(queries), keys(keys) {}

  /// False if the mask is to stay as it is.
  bool match(Value mask);
  /// Whether positions alone decide about truth values, and leave a key to each query.
  bool matchSeen(const View &view, bool isNegated);
  /// The conditions that are left as a mask; null where there are none.
  Value buildRest(ExpressionBuilder &e) const;

  Band band;

private:
  void addCondition(const View &view, bool isNegated);
  bool addNumbers(const View &view);
  std::optional<Band> matchCompare(CompareOp op, const View &view, bool isNegated) const;
  std::optional<Band> matchConstant(const View &view, llvm::function_ref<bool(Attribute)> isSeen,
                                    bool isNegated) const;
  std::optional<Position> matchPosition(const View &view) const;
  bool doesEachQuerySeeAKey() const;

  int64_t rank, queries, keys;
  /// Dims of the scores in those of what is to stay: truth values, and whether they are negated.
  SmallVector<std::pair<View, bool>> conditions;
  std::optional<View> numbers; ///< that are added
  unsigned known = 0;          ///< how many conditions positions decide
};

} // namespace

/// What `view`'s source computes of `operand`, in the dims of `view`.
static View descend(const View &view, Value operand) {
  View inner = View::of(operand, kRepeats).alignedTo(typeOf(view.source).getRank());
  View result{inner.source, view.dims};
  for (int64_t &dim : result.dims)
    dim = dim == View::kNone ? View::kNone : inner.dims[dim];
  return result;
}

/// The first of a constant's numbers, if each one is larger by 1 than the one before.
static std::optional<int64_t> matchCount(Operation *op) {
  auto constant = dyn_cast_or_null<ConstantOp>(op);
  auto elements = constant ? dyn_cast<DenseIntElementsAttr>(constant.getValue()) : nullptr;
  if (!elements || elements.getType().getRank() != 1 || elements.isSplat() ||
      elements.getElementType().isInteger(1))
    return std::nullopt;
  auto numbers = elements.getValues<APInt>();
  int64_t first = (*numbers.begin()).getSExtValue();
  for (auto [index, number] : llvm::enumerate(numbers))
    if (number.getSExtValue() != first + int64_t(index))
      return std::nullopt;
  return first;
}

std::optional<Position> MaskParts::matchPosition(const View &view) const {
  if (std::optional<double> number = getSplat(view.source))
    return Position{0, 0, static_cast<int64_t>(*number)};
  Operation *op = view.source.getDefiningOp();
  if (auto iota = dyn_cast_or_null<IotaOp>(op)) {
    int64_t dim = view.find(iota.getAxis());
    if (typeOf(view.source).getDimSize(iota.getAxis()) == 1)
      return Position{};
    if (dim != rank - 2 && dim != rank - 1)
      return std::nullopt;
    return dim == rank - 2 ? Position{1, 0, 0} : Position{0, 1, 0};
  }
  if (std::optional<int64_t> first = matchCount(op)) {
    int64_t dim = view.dims.empty() ? View::kNone : view.find(0);
    if (dim != rank - 2 && dim != rank - 1)
      return std::nullopt;
    return dim == rank - 2 ? Position{1, 0, *first} : Position{0, 1, *first};
  }
  if (auto convert = dyn_cast_or_null<ConvertOp>(op)) {
    Type from = typeOf(convert.getOperand()).getElementType();
    return isa<IntegerType>(from) && !from.isInteger(1)
               ? matchPosition(descend(view, convert.getOperand()))
               : std::nullopt;
  }
  if (!isa_and_nonnull<AddOp, SubOp>(op))
    return std::nullopt;
  std::optional<Position> lhs = matchPosition(descend(view, op->getOperand(0))),
                          rhs = matchPosition(descend(view, op->getOperand(1)));
  if (!lhs || !rhs)
    return std::nullopt;
  int64_t sign = isa<AddOp>(op) ? 1 : -1;
  return Position{lhs->q + sign * rhs->q, lhs->k + sign * rhs->k, lhs->number + sign * rhs->number};
}

static CompareDirection negate(CompareDirection direction) {
  switch (direction) {
  case CompareDirection::Eq:
    return CompareDirection::Ne;
  case CompareDirection::Ne:
    return CompareDirection::Eq;
  case CompareDirection::Lt:
    return CompareDirection::Ge;
  case CompareDirection::Le:
    return CompareDirection::Gt;
  case CompareDirection::Gt:
    return CompareDirection::Le;
  case CompareDirection::Ge:
    return CompareDirection::Lt;
  }
  llvm_unreachable("all directions are named above");
}

std::optional<Band> MaskParts::matchCompare(CompareOp op, const View &view, bool isNegated) const {
  if (!isa<IntegerType>(typeOf(op.getLhs()).getElementType()))
    return std::nullopt;
  std::optional<Position> lhs = matchPosition(descend(view, op.getLhs())),
                          rhs = matchPosition(descend(view, op.getRhs()));
  if (!lhs || !rhs)
    return std::nullopt;
  // `lhs - rhs` is `+-(key - query) + number`, compared with 0.
  int64_t q = lhs->q - rhs->q, k = lhs->k - rhs->k, number = lhs->number - rhs->number;
  if (q != -k || (k != 1 && k != -1))
    return std::nullopt;
  switch (isNegated ? negate(op.getDirection()) : op.getDirection()) {
  case CompareDirection::Lt:
    number += 1;
    [[fallthrough]];
  case CompareDirection::Le:
    return k == 1 ? Band{std::nullopt, -number} : Band{number, std::nullopt};
  case CompareDirection::Gt:
    number -= 1;
    [[fallthrough]];
  case CompareDirection::Ge:
    return k == 1 ? Band{-number, std::nullopt} : Band{std::nullopt, number};
  default:
    return std::nullopt;
  }
}

/// The band of a constant over queries and keys: in each row, where keys are seen.
std::optional<Band> MaskParts::matchConstant(const View &view,
                                             llvm::function_ref<bool(Attribute)> isSeen,
                                             bool isNegated) const {
  auto constant = view.source.getDefiningOp<ConstantOp>();
  auto elements = constant ? dyn_cast<DenseElementsAttr>(constant.getValue()) : nullptr;
  if (!elements)
    return std::nullopt;
  ArrayRef<int64_t> shape = typeOf(view.source).getShape();
  int64_t query = view.dims[rank - 2], key = view.dims[rank - 1];
  if (query == View::kNone || key != query + 1 || elements.getNumElements() != queries * keys ||
      shape[query] != queries || shape[key] != keys)
    return std::nullopt;
  SmallVector<bool> seen;
  if (elements.isSplat())
    return std::nullopt;
  for (Attribute element : elements.getValues<Attribute>())
    seen.push_back(isSeen(element) != isNegated);
  auto at = [&](int64_t i, int64_t j) { return seen[i * keys + j]; };
  // The first key of the first column's last row that sees it bounds one side, and so on.
  Band found;
  for (int64_t i = 0; i < queries; ++i)
    for (int64_t j = 0; j < keys; ++j)
      if (at(i, j)) {
        found.most = std::max(found.most.value_or(j - i), j - i);
        found.least = std::min(found.least.value_or(j - i), j - i);
      }
  if (!found.most)
    return std::nullopt;
  for (int64_t i = 0; i < queries; ++i)
    for (int64_t j = 0; j < keys; ++j)
      if (at(i, j) != (j - i <= *found.most && j - i >= *found.least))
        return std::nullopt;
  if (*found.least == 1 - queries)
    found.least.reset();
  if (*found.most == keys - 1)
    found.most.reset();
  return found;
}

/// The truth values whose numbers `op` compares with 0, for being the same or not; else null.
static Value matchTruth(Operation *op) {
  auto compare = dyn_cast_or_null<CompareOp>(op);
  bool isOfEquality = compare && (compare.getDirection() == CompareDirection::Eq ||
                                  compare.getDirection() == CompareDirection::Ne);
  auto numbers = isOfEquality ? compare.getLhs().getDefiningOp<ConvertOp>() : ConvertOp();
  bool isTruth =
      numbers && elementOf(numbers.getOperand()).isInteger(1) && getSplat(compare.getRhs()) == 0.0;
  return isTruth ? numbers.getOperand() : Value();
}

void MaskParts::addCondition(const View &view, bool isNegated) {
  Operation *op = view.source.getDefiningOp();
  auto isTrue = [](Attribute element) { return !cast<IntegerAttr>(element).getValue().isZero(); };
  std::optional<Band> found;
  if (std::optional<double> all = getSplat(view.source); all && (*all != 0) != isNegated)
    found = Band();
  else if (auto both = dyn_cast_or_null<AndOp>(op); both && !isNegated)
    return addCondition(descend(view, both.getLhs()), false),
           addCondition(descend(view, both.getRhs()), false);
  else if (auto either = dyn_cast_or_null<OrOp>(op); either && isNegated)
    return addCondition(descend(view, either.getLhs()), true),
           addCondition(descend(view, either.getRhs()), true);
  else if (auto negation = dyn_cast_or_null<LogicalNotOp>(op))
    return addCondition(descend(view, negation.getOperand()), !isNegated);
  else if (auto select = dyn_cast_or_null<SelectOp>(op);
           select && !isNegated && getSplat(select.getOnFalse()) == 0.0)
    return addCondition(descend(view, select.getPredicate()), false),
           addCondition(descend(view, select.getOnTrue()), false);
  else if (Value truth = matchTruth(op))
    return addCondition(descend(view, truth),
                        isNegated != (cast<CompareOp>(op).getDirection() == CompareDirection::Eq));
  else if (auto compare = dyn_cast_or_null<CompareOp>(op))
    found = matchCompare(compare, view, isNegated);
  else
    found = matchConstant(view, isTrue, isNegated);
  if (!found) {
    conditions.push_back({view, isNegated});
    return;
  }
  ++known;
  band.join(*found);
}

bool MaskParts::doesEachQuerySeeAKey() const {
  if (!conditions.empty())
    return false;
  if (!band.least)
    return band.most.value_or(0) >= 0;
  return !ShapedType::isDynamic(queries) && !ShapedType::isDynamic(keys) && band.most &&
         *band.most >= 0 && *band.least + queries - 1 <= keys - 1;
}

/// 0 where a key is seen, and something low where not.
bool MaskParts::addNumbers(const View &view) {
  std::optional<double> low;
  auto isSeen = [&](Attribute element) {
    double number = cast<FloatAttr>(element).getValueAsDouble();
    if (number != 0)
      low = std::max(low.value_or(number), number);
    return number == 0;
  };
  if (getSplat(view.source) == 0.0)
    return ++known;
  if (auto select = view.source.getDefiningOp<SelectOp>()) {
    std::optional<double> onTrue = getSplat(select.getOnTrue()),
                          onFalse = getSplat(select.getOnFalse());
    constexpr double never = -std::numeric_limits<double>::infinity();
    if (onFalse == never && onTrue != 0.0) {
      addCondition(descend(view, select.getPredicate()), false);
      numbers = descend(view, select.getOnTrue());
      return true;
    }
    low = onTrue == 0.0 ? onFalse : onFalse == 0.0 ? onTrue : std::nullopt;
    addCondition(descend(view, select.getPredicate()), onTrue != 0.0);
  } else if (std::optional<Band> found = matchConstant(view, isSeen, false)) {
    band = *found;
    ++known;
  }
  return low && *low <= kHidden && known && (std::isinf(*low) || doesEachQuerySeeAKey());
}

bool MaskParts::match(Value mask) {
  View view = View::of(mask, kRepeats).alignedTo(rank);
  if (!typeOf(mask).getElementType().isInteger(1)) {
    if (!addNumbers(view))
      return false;
  } else {
    addCondition(view, /*isNegated=*/false);
  }
  // A bound on one side that is no causal mask stays a condition, and so all do.
  bool isCausal = band.most && (!band.least || *band.least <= *band.most);
  return known && (isCausal || !band.isBounded());
}

/// A view of which dims of `rank` are missing or repeated, as a tensor that broadcasts.
static Value build(const View &view, ExpressionBuilder &e) {
  SmallVector<int64_t> order, missing, ones, permutation;
  for (auto [dim, own] : llvm::enumerate(view.dims))
    if (own == View::kNone)
      missing.push_back(dim);
    else
      order.push_back(own);
  for (int64_t dim = 0; dim < typeOf(view.source).getRank(); ++dim)
    if (!llvm::is_contained(order, dim)) {
      ones.push_back(permutation.size());
      permutation.push_back(dim);
    }
  llvm::append_range(permutation, order);
  Value value = view.source;
  if (!llvm::is_sorted(permutation))
    value = e.make<TransposeOp>(value, permutation);
  if (!ones.empty())
    value = e.make<SqueezeOp>(value, ones);
  return missing.empty() ? value : e.make<ExpandDimsOp>(value, missing);
}

Value MaskParts::buildRest(ExpressionBuilder &e) const {
  Value rest;
  for (auto [view, isNegated] : conditions) {
    Value condition = build(view, e);
    if (isNegated)
      condition = e.make<LogicalNotOp>(condition);
    rest = rest ? e.make<AndOp>(rest, condition) : condition;
  }
  if (!numbers)
    return rest;
  Value added = e.widen(build(*numbers, e));
  return rest ? e.select(rest, added, e.scalar(-std::numeric_limits<double>::infinity(), added))
              : added;
}

bool MaskParts::matchSeen(const View &view, bool isNegated) {
  addCondition(view, isNegated);
  return known && doesEachQuerySeeAKey();
}

bool doesEachQuerySeeAKey(const View &mask, bool keepsTrue, int64_t queries, int64_t keys) {
  return MaskParts(mask.dims.size(), queries, keys).matchSeen(mask, !keepsTrue);
}

Replacement recognizeCausalMask(Operation *root, ExpressionBuilder &e) {
  std::optional<AttentionForm> form = AttentionForm::of(root);
  if (!form || !form->mask)
    return {};
  RankedTensorType query = typeOf(form->query), key = typeOf(form->key);
  int64_t dim = query.getRank() - 2;
  MaskParts parts(query.getRank(), query.getDimSize(dim), key.getDimSize(dim));
  if (!parts.match(form->mask))
    return {};
  Band band = parts.band;
  if (band.isBounded() && form->isCausal)
    return {};
  if (band.most) {
    bool isDefault = !query.isDynamicDim(dim) && !key.isDynamicDim(dim) &&
                     key.getDimSize(dim) - query.getDimSize(dim) == *band.most;
    if (!isDefault)
      form->offset = e.integer(*band.most, e.getBuilder().getI64Type());
    if (band.least)
      form->window = e.getBuilder().getI64IntegerAttr(*band.most - *band.least + 1);
    form->isCausal = true;
  }
  form->mask = parts.buildRest(e);
  Replacement whole(form->build(e));
  for (auto [result, old] : llvm::zip_equal(whole.results, root->getResults()))
    result = e.finish(result, old.getType());
  return whole;
}

} // namespace xc::array
