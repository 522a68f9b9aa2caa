//===- RecognizeSoftmaxGradient.cpp - What flows through a softmax --------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `p * (g - sum(p * g))`, where `p = e / s`, `e = exp(x - m)` and `s = sum(e)`. Differentiation of
// the quotient writes it as `(g / s - sum(g * e / s^2)) * e`, which uses the exponentials and their
// sum a second time, so that neither is part of a softmax alone. There are more spellings:
// factors may be distributed, signs be anywhere.
//
// So the expression is multiplied out, into a sum of products of four things: exponentials, their
// sum, `g`, and the sum of `e * g`. There have to be two products:
//
//   e * g / s - e * sum(e * g) / s^2
//
// What is found is written with `p`. The softmax is one then, as nobody else uses its parts.
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Array/Transforms/SoftmaxGradient.h"

#include "compiler/Dialect/Array/IR/TensorTypes.h"
#include "compiler/Dialect/Array/Transforms/Views.h"

using namespace mlir;

namespace xc::array {

namespace {

using Powers = std::array<int, 4>;

/// A number times powers of the exponentials, of their sum, of the cotangent, and of the sum of
/// exponentials times cotangents.
struct Monomial {
  double factor = 1;
  Powers powers = {0, 0, 0, 0};
  friend Monomial operator*(Monomial lhs, const Monomial &rhs) {
    lhs.factor *= rhs.factor;
    for (auto [power, more] : llvm::zip_equal(lhs.powers, rhs.powers))
      power += more;
    return lhs;
  }
  Monomial inverse() const {
    Monomial result{1 / factor, powers};
    for (int &power : result.powers)
      power = -power;
    return result;
  }
};

using Polynomial = SmallVector<Monomial, 2>;
constexpr Powers kExponential = {1, 0, 0, 0}, kSumOfExponentials = {0, 1, 0, 0},
                 kCotangent = {0, 0, 1, 0}, kWeighted = {0, 0, 0, 1}, kWeight = {1, -1, 0, 0};

/// Multiplies out.
class Expansion {
public:
  explicit Expansion(RankedTensorType type) : type(type) {}

  /// `value` as an elementwise op of the root's shape reads it.
  std::optional<Polynomial> expand(Value value) {
    if (typeOf(value).getRank() > type.getRank())
      return std::nullopt;
    return expand(View::of(value).alignedTo(type.getRank()), value);
  }

  std::optional<int64_t> getAxis() const { return state.axis; }
  SoftmaxGradient take() { return std::move(state.found); }

private:
  /// What has been found so far.
  struct State {
    SoftmaxGradient found;
    View cotangent;
    std::optional<int64_t> axis;
  };
  std::optional<Polynomial> expand(View view, Value whole);
  std::optional<Polynomial> expandOp(Operation *op, const View &view);
  std::optional<Polynomial> expandSum(ReduceOp op, View view);
  std::optional<Polynomial> expandLeaf(const View &view, Value whole);
  std::optional<Polynomial> expandOperand(Operation *op, unsigned index, const View &view);
  bool isWhole(const View &view) const {
    return view.source && typeOf(view.source).getShape() == type.getShape() &&
           view.dims == View::of(view.source).dims;
  }

  RankedTensorType type;
  State state;
  int budget = 64; ///< of ops
};

} // namespace

/// What `view`'s source computes of `operand`, in the dims of `view`.
static View viewOperand(const View &view, Value operand) {
  View inner = View::of(operand).alignedTo(typeOf(view.source).getRank());
  View result{operand, view.dims};
  for (int64_t &dim : result.dims)
    dim = dim == View::kNone ? View::kNone : inner.dims[dim];
  return result;
}

std::optional<Polynomial> Expansion::expandOperand(Operation *op, unsigned index,
                                                   const View &view) {
  Value operand = op->getOperand(index);
  if (typeOf(operand).getRank() > typeOf(view.source).getRank())
    return std::nullopt;
  return expand(viewOperand(view, operand), operand);
}

std::optional<Polynomial> Expansion::expand(View view, Value whole) {
  if (std::optional<double> number = getSplat(view.source))
    return Polynomial{Monomial{*number, {}}};
  SmallVector<Operation *> passed;
  for (Operation *op = view.source.getDefiningOp(); op && view.step(kRepeats);
       op = view.source.getDefiningOp())
    passed.push_back(op);
  Operation *op = view.source.getDefiningOp();
  State before = state;
  std::optional<Polynomial> terms;
  if (op && budget-- > 0)
    terms = expandOp(op, view);
  if (!terms) {
    state = std::move(before);
    return expandLeaf(view, whole);
  }
  state.found.ops.add(passed);
  return terms;
}

/// The sum of exponentials, alone or times cotangents, and times numbers for each row.
std::optional<Polynomial> Expansion::expandSum(ReduceOp op, View view) {
  if (op.getKind() != ReduceKind::Sum)
    return std::nullopt;
  Value operand = op.getOperand();
  std::optional<int64_t> wide;
  for (int64_t dim : op.getAxes())
    if (typeOf(operand).getDimSize(dim) != 1) {
      if (wide)
        return std::nullopt;
      wide = dim;
    }
  view.follow(operand, getReducedDims(typeOf(operand).getRank(), op.getAxes(), op.getKeepdims()));
  if (wide) {
    // The dim of the root that it is: the only one that the sum is repeated along.
    int64_t place = View::kNone;
    for (auto [dim, own] : llvm::enumerate(view.dims))
      if (own == View::kNone && type.getDimSize(dim) != 1) {
        if (place != View::kNone)
          return std::nullopt;
        place = dim;
      }
    if (place == View::kNone || state.axis.value_or(place) != place ||
        type.getDimSize(place) != typeOf(operand).getDimSize(*wide))
      return std::nullopt;
    state.axis = place;
    view.dims[place] = *wide;
  }
  std::optional<Polynomial> terms = expand(view, operand);
  if (!terms || !wide)
    return terms;
  for (Monomial &term : *terms) {
    bool isWeighted = term.powers[2] == 1;
    if (term.powers[0] != 1 || term.powers[2] > 1)
      return std::nullopt;
    Monomial sum{term.factor, term.powers};
    sum.powers[0] = sum.powers[2] = 0;
    term = sum * Monomial{1, isWeighted ? kWeighted : kSumOfExponentials};
  }
  return terms;
}

std::optional<Polynomial> Expansion::expandOp(Operation *op, const View &view) {
  SoftmaxGradient &found = state.found;
  auto operand = [&](unsigned index) { return expandOperand(op, index, view); };
  auto scaled = [&](std::optional<Polynomial> terms, double factor) {
    if (terms)
      for (Monomial &term : *terms)
        term.factor *= factor;
    return terms;
  };
  auto product = [](const std::optional<Polynomial> &lhs, const std::optional<Polynomial> &rhs) {
    std::optional<Polynomial> result;
    if (lhs && rhs && lhs->size() * rhs->size() <= 4) {
      result.emplace();
      for (const Monomial &one : *lhs)
        for (const Monomial &other : *rhs)
          result->push_back(one * other);
    }
    return result;
  };
  auto inverse = [](std::optional<Polynomial> terms) {
    if (terms && (terms->size() != 1 || terms->front().factor == 0))
      terms.reset();
    if (terms)
      terms->front() = terms->front().inverse();
    return terms;
  };
  std::optional<Polynomial> terms;
  if (isa<ExpOp>(op)) {
    if (!found.softmax && (!found.exponentials || found.exponentials == view.source) &&
        isWhole(view)) {
      found.exponentials = view.source;
      return Polynomial{Monomial{1, kExponential}};
    }
  } else if (auto softmax = dyn_cast<SoftmaxOp>(op)) {
    int64_t own = softmax.getAxis();
    if (!found.exponentials && (!found.softmax || found.softmax == softmax) && isWhole(view) &&
        state.axis.value_or(own) == own) {
      found.softmax = softmax;
      state.axis = own;
      return Polynomial{Monomial{1, kWeight}};
    }
  } else if (isa<MulOp>(op)) {
    terms = product(operand(0), operand(1));
  } else if (isa<SquareOp>(op)) {
    terms = operand(0);
    terms = product(terms, terms);
  } else if (isa<DivOp>(op)) {
    terms = product(operand(0), inverse(operand(1)));
  } else if (isa<ReciprocalOp>(op)) {
    terms = inverse(operand(0));
  } else if (isa<NegOp>(op)) {
    terms = scaled(operand(0), -1);
  } else if (isa<AddOp, SubOp>(op)) {
    terms = operand(0);
    std::optional<Polynomial> more = scaled(operand(1), isa<SubOp>(op) ? -1 : 1);
    if (terms && more && terms->size() + more->size() <= 4)
      terms->append(*more);
    else
      terms.reset();
  } else if (auto sum = dyn_cast<ReduceOp>(op)) {
    terms = expandSum(sum, view);
  }
  if (terms)
    found.ops.add(op);
  return terms;
}

/// The cotangent: the first thing that is nothing else.
std::optional<Polynomial> Expansion::expandLeaf(const View &view, Value whole) {
  const View &known = state.cotangent;
  if (known.source && (view.source != known.source || view.dims != known.dims))
    return std::nullopt;
  state.cotangent = view;
  if (!state.found.cotangent && typeOf(whole).getShape() == type.getShape())
    state.found.cotangent = whole;
  return Polynomial{Monomial{1, kCotangent}};
}

/// Whether one of the ops above `op` may be of a softmax: without it nothing has to be multiplied
/// out.
static bool isNearWeights(Operation *op, int depth) {
  if (isa<ExpOp, SoftmaxOp>(op))
    return true;
  if (depth == 0 || !isa<MulOp, AddOp, SubOp, NegOp, ConvertOp, DivOp>(op))
    return false;
  return llvm::any_of(op->getOperands(), [&](Value operand) {
    Operation *producer = operand.getDefiningOp();
    return producer && isNearWeights(producer, depth - 1);
  });
}

std::optional<SoftmaxGradient> SoftmaxGradient::match(Operation *root) {
  if (!isa<MulOp, AddOp, SubOp>(root) || !isa<FloatType>(elementOf(root->getResult(0))) ||
      !isNearWeights(root, /*depth=*/4))
    return std::nullopt;
  Expansion expansion(typeOf(root->getResult(0)));
  std::optional<Polynomial> terms = expansion.expand(root->getResult(0));
  if (!terms || terms->size() != 2)
    return std::nullopt;
  constexpr Powers direct = {1, -1, 1, 0}, row = {1, -2, 0, 1};
  if (terms->front().powers != direct)
    std::swap(terms->front(), terms->back());
  SoftmaxGradient found = expansion.take();
  found.factor = terms->front().factor;
  bool isOpposite = std::abs(found.factor + terms->back().factor) <= 1e-6 * std::abs(found.factor);
  if (terms->front().powers != direct || terms->back().powers != row || !isOpposite ||
      !found.cotangent || !expansion.getAxis())
    return std::nullopt;
  found.axis = *expansion.getAxis();
  return found;
}

/// The quotient of `exponentials` and their sum before `root`; null if the program has none.
static Value findWeights(Value exponentials, int64_t axis, Operation *root) {
  SmallVector<Operation *> users(exponentials.getUsers());
  for (unsigned i = 0; i < users.size(); ++i) {
    Operation *user = users[i];
    if (user->getBlock() != root->getBlock() || !user->isBeforeInBlock(root))
      continue;
    if (isa<ConvertOp>(user))
      users.append(user->getUsers().begin(), user->getUsers().end());
    if (!isa<DivOp, MulOp>(user))
      continue;
    RankedTensorType type = typeOf(user->getResult(0));
    Expansion expansion(type);
    std::optional<Polynomial> terms = expansion.expand(user->getResult(0));
    if (terms && terms->size() == 1 && terms->front().powers == kWeight &&
        terms->front().factor == 1 && expansion.getAxis() == axis &&
        type.getShape() == typeOf(exponentials).getShape() &&
        expansion.take().exponentials == exponentials)
      return user->getResult(0);
  }
  return {};
}

Value recognizeSoftmaxGradient(Operation *root, ExpressionBuilder &e) {
  std::optional<SoftmaxGradient> found = SoftmaxGradient::match(root);
  if (!found || found->softmax)
    return {};
  // Of a product with a number the other operand is the gradient.
  if (llvm::any_of(root->getOperands(), [](Value operand) { return getSplat(operand); }))
    return {};
  Value weights = findWeights(found->exponentials, found->axis, root);
  if (!weights)
    return {};
  weights = e.widen(weights);
  Value cotangent = e.widen(found->cotangent);
  Value sums = e.reduce(ReduceKind::Sum, e.mul(weights, cotangent), found->axis);
  Value result = e.mul(weights, e.sub(cotangent, sums));
  if (found->factor != 1)
    result = e.mul(result, found->factor);
  return e.finish(result, root->getResult(0).getType());
}

} // namespace xc::array
