//===- IndexBounds.cpp - The least and largest values of indices ---------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An index is a sum of groups of terms that share no loop, so that the bounds of the groups add up.
// Where each loop of a group occurs once, its bounds follow from the bounds of its parts:
//
//   d0 * 2 + d1    lies in [0, (n0 - 1) * 2 + n1 - 1]
//   d0 floordiv 2  lies in [0, (n0 - 1) floordiv 2]
//   7 - d0         lies in [7 - (n0 - 1), 7]
//   d0 mod 4       lies in [0, min(n0 - 1, 3)]
//
// That takes parts for independent, which those of d0 floordiv 4 * 8 + d0 mod 4 are not. Every
// index repeats itself, though: there is a number of iterations, the loop's period, after which it
// is what it was but for a constant step. So a look at one period tells whether the index rises or
// falls with a loop, from any iteration on; if it does so with all, first and last iterations have
// the bounds. If not, and one loop at most is of unknown size or goes over more than a period, the
// values over one period are a table from which both bounds are made.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/IndexBounds.h"

#include "mlir/IR/AffineMap.h"
#include "llvm/ADT/SmallBitVector.h"
#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace mlir;

namespace xc {

/// The most iterations that are looked at, and the most steps in a formula made from them.
static constexpr int64_t kMostIterations = int64_t(1) << 16;
static constexpr int64_t kMostSteps = 64;

/// 1 where `count`, which is no less than 0, is above 0; else 0.
static AffineExpr isAboveZero(AffineExpr count) { return count.ceilDiv(int64_t(1) << 48); }

//===----------------------------------------------------------------------===//
// Loops that occur once
//===----------------------------------------------------------------------===//

/// `expr` mod `divisor`, given the bounds of `expr`.
static IndexBounds boundRest(IndexBounds of, int64_t divisor) {
  MLIRContext *context = of.low.getContext();
  AffineExpr zero = getAffineConstantExpr(0, context),
             last = getAffineConstantExpr(divisor - 1, context);
  auto low = dyn_cast<AffineConstantExpr>(of.low), high = dyn_cast<AffineConstantExpr>(of.high);
  if (!low)
    return {zero, last};
  int64_t period = llvm::divideFloorSigned(low.getValue(), divisor);
  AffineExpr rest = of.high - period * divisor;
  if (high) {
    if (llvm::divideFloorSigned(high.getValue(), divisor) != period)
      return {zero, last};
    return {of.low - period * divisor, rest};
  }
  // The smaller one of two without a minimum: `last` where there is more than one period.
  return {zero, rest + isAboveZero(rest.floorDiv(divisor)) * (last - rest)};
}

/// The bounds of `expr`, whose parts are taken for independent. Nothing for what no parser accepts:
/// a product or quotient of loops.
static std::optional<IndexBounds> boundParts(AffineExpr expr, ArrayRef<AffineExpr> sizes) {
  if (isa<AffineConstantExpr>(expr))
    return IndexBounds{expr, expr};
  if (auto loop = dyn_cast<AffineDimExpr>(expr))
    return IndexBounds{getAffineConstantExpr(0, expr.getContext()), sizes[loop.getPosition()] - 1};
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return std::nullopt;
  std::optional<IndexBounds> left = boundParts(binary.getLHS(), sizes);
  if (expr.getKind() == AffineExprKind::Add) {
    std::optional<IndexBounds> right = boundParts(binary.getRHS(), sizes);
    if (!left || !right)
      return std::nullopt;
    return IndexBounds{left->low + right->low, left->high + right->high};
  }
  auto constant = dyn_cast<AffineConstantExpr>(binary.getRHS());
  if (!left || !constant)
    return std::nullopt;
  int64_t number = constant.getValue();
  if (expr.getKind() == AffineExprKind::Mul)
    return number < 0 ? IndexBounds{left->high * number, left->low * number}
                      : IndexBounds{left->low * number, left->high * number};
  if (number < 1)
    return std::nullopt;
  if (expr.getKind() == AffineExprKind::FloorDiv)
    return IndexBounds{left->low.floorDiv(number), left->high.floorDiv(number)};
  if (expr.getKind() == AffineExprKind::CeilDiv)
    return IndexBounds{left->low.ceilDiv(number), left->high.ceilDiv(number)};
  return boundRest(*left, number);
}

//===----------------------------------------------------------------------===//
// Periods
//===----------------------------------------------------------------------===//

namespace {

/// After `iterations` more iterations of a loop, from any on, an index has grown by `step`.
struct Period {
  int64_t iterations = 1, step = 0;

  Period repeat(int64_t times) const { return {iterations * times, step * times}; }
};

} // namespace

/// Nothing where it is longer than what is looked at.
static std::optional<Period> getPeriod(AffineExpr expr, unsigned loop) {
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return Period{1, dim.getPosition() == loop};
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return Period();
  std::optional<Period> left = getPeriod(binary.getLHS(), loop),
                        right = getPeriod(binary.getRHS(), loop);
  if (!left || !right)
    return std::nullopt;
  if (expr.getKind() == AffineExprKind::Add) {
    int64_t iterations = std::lcm(left->iterations, right->iterations);
    if (iterations > kMostIterations)
      return std::nullopt;
    return Period{iterations, left->repeat(iterations / left->iterations).step +
                                  right->repeat(iterations / right->iterations).step};
  }
  int64_t number = cast<AffineConstantExpr>(binary.getRHS()).getValue();
  if (expr.getKind() == AffineExprKind::Mul)
    return Period{left->iterations, left->step * number};
  // Steps of the dividend that are a multiple of the divisor.
  int64_t times = number / std::gcd(number, left->step);
  if (times > kMostIterations / left->iterations)
    return std::nullopt;
  Period whole = left->repeat(times);
  return Period{whole.iterations, expr.getKind() == AffineExprKind::Mod ? 0 : whole.step / number};
}

/// The value of an index in iteration `at`; its divisors are constants above 0.
static int64_t evaluate(AffineExpr expr, ArrayRef<int64_t> at) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return constant.getValue();
  if (auto loop = dyn_cast<AffineDimExpr>(expr))
    return at[loop.getPosition()];
  auto binary = cast<AffineBinaryOpExpr>(expr);
  int64_t left = evaluate(binary.getLHS(), at), right = evaluate(binary.getRHS(), at);
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return left + right;
  case AffineExprKind::Mul:
    return left * right;
  case AffineExprKind::FloorDiv:
    return llvm::divideFloorSigned(left, right);
  case AffineExprKind::CeilDiv:
    return llvm::divideCeilSigned(left, right);
  default: // Mod
    return llvm::mod(left, right);
  }
}

namespace {

/// A group of terms some of whose loops occur more than once.
class RepeatedLoops {
public:
  /// Nothing where it has too long a period.
  static std::optional<RepeatedLoops> create(AffineExpr group, ArrayRef<AffineExpr> sizes) {
    RepeatedLoops result(group, sizes);
    for (unsigned loop = 0; loop < sizes.size(); ++loop) {
      std::optional<Period> period = getPeriod(group, loop);
      if (!period)
        return std::nullopt;
      result.periods.push_back(*period);
    }
    return result;
  }

  /// The bounds where the index rises or falls with each loop, whatever the others do.
  std::optional<IndexBounds> boundByEnds() const;
  /// The bounds from the values over one period.
  std::optional<IndexBounds> boundByTable() const;

private:
  RepeatedLoops(AffineExpr group, ArrayRef<AffineExpr> sizes) : group(group), sizes(sizes) {}

  bool occurs(unsigned loop) const { return group.isFunctionOfDim(loop); }
  /// The size of a loop, if known.
  std::optional<int64_t> getSize(unsigned loop) const {
    auto constant = dyn_cast<AffineConstantExpr>(sizes[loop]);
    return constant ? std::optional(constant.getValue()) : std::nullopt;
  }
  /// Calls `visit` with the iterations of `counts[i]` each of all loops, until it is false; false
  /// too where they are too many.
  bool visitIterations(ArrayRef<int64_t> counts,
                       function_ref<bool(MutableArrayRef<int64_t>)> visit) const;
  /// 1 where the index never falls with `loop`, -1 where it never rises; nothing else.
  std::optional<int> getDirection(unsigned loop) const;

  AffineExpr group;
  ArrayRef<AffineExpr> sizes;
  SmallVector<Period> periods;
};

} // namespace

bool RepeatedLoops::visitIterations(ArrayRef<int64_t> counts,
                                    function_ref<bool(MutableArrayRef<int64_t>)> visit) const {
  int64_t total = 1;
  for (int64_t count : counts) {
    if (count == 0)
      return true;
    if (count > kMostIterations / total)
      return false;
    total *= count; // in range: at most kMostIterations
  }
  SmallVector<int64_t> at(counts.size());
  for (int64_t number = 0; number < total; ++number) {
    int64_t rest = number;
    for (auto [iteration, count] : llvm::zip_equal(at, counts)) {
      iteration = rest % count;
      rest /= count;
    }
    if (!visit(at))
      return false;
  }
  return true;
}

std::optional<int> RepeatedLoops::getDirection(unsigned loop) const {
  SmallVector<int64_t> counts;
  for (unsigned other = 0; other < sizes.size(); ++other) {
    std::optional<int64_t> size = getSize(other);
    int64_t iterations = periods[other].iterations;
    counts.push_back(size ? std::min(iterations, *size - (other == loop)) : iterations);
  }
  bool rises = false, falls = false;
  bool isKnown = visitIterations(counts, [&](MutableArrayRef<int64_t> at) {
    int64_t before = evaluate(group, at);
    ++at[loop];
    int64_t after = evaluate(group, at);
    rises |= after > before;
    falls |= after < before;
    return !rises || !falls;
  });
  return isKnown ? std::optional(falls ? -1 : 1) : std::nullopt;
}

std::optional<IndexBounds> RepeatedLoops::boundByEnds() const {
  AffineExpr zero = getAffineConstantExpr(0, group.getContext());
  SmallVector<AffineExpr> lowest(sizes.size(), zero), highest(sizes.size(), zero);
  for (unsigned loop = 0; loop < sizes.size(); ++loop) {
    if (!occurs(loop))
      continue;
    std::optional<int> direction = getDirection(loop);
    if (!direction)
      return std::nullopt;
    (*direction > 0 ? highest : lowest)[loop] = sizes[loop] - 1;
  }
  return IndexBounds{group.replaceDims(lowest), group.replaceDims(highest)};
}

/// The value `table[at]`, where `at` is one of its places; nothing where it has too many steps.
static std::optional<AffineExpr> lookUp(ArrayRef<int64_t> table, AffineExpr at) {
  if (auto place = dyn_cast<AffineConstantExpr>(at))
    return getAffineConstantExpr(table[place.getValue()], at.getContext());
  int64_t size = table.size(), steps = 0;
  AffineExpr value = getAffineConstantExpr(table[0], at.getContext());
  for (int64_t place = 1; place < size; ++place) {
    int64_t step = table[place] - table[place - 1];
    if (step == 0)
      continue;
    if (++steps > kMostSteps)
      return std::nullopt;
    AffineExpr isReached = (at + (size - place)).floorDiv(size);
    value = value + isReached * step;
  }
  return value;
}

/// The largest of the values that an index takes over `iterations` iterations, if `values` are
/// those of the first period, after which they are `step` more.
static std::optional<AffineExpr> findLargest(ArrayRef<int64_t> values, int64_t step,
                                             AffineExpr iterations) {
  int64_t size = values.size();
  // Entry r: the largest value of the first r iterations, and of all iterations where one period
  // was gone over and r iterations of the next.
  SmallVector<int64_t> first(size), last(size);
  first[0] = values[0];
  for (int64_t r = 1; r < size; ++r)
    first[r] = std::max(first[r - 1], values[r - 1]);
  int64_t largest = *llvm::max_element(values);
  if (step > 0) {
    last[0] = largest;
    for (int64_t r = 1; r < size; ++r)
      last[r] = std::max(first[r] + step, *std::max_element(values.begin() + r, values.end()));
  } else {
    last.assign(size, largest);
  }
  AffineExpr periods = iterations.floorDiv(size), begun = iterations % size;
  std::optional<AffineExpr> ofFirst = lookUp(first, begun), ofLast = lookUp(last, begun);
  if (!ofFirst || !ofLast)
    return std::nullopt;
  AffineExpr hasPeriod = isAboveZero(periods);
  AffineExpr grown = (periods - 1) * std::max<int64_t>(step, 0) + *ofLast;
  return *ofFirst + hasPeriod * (grown - *ofFirst);
}

std::optional<IndexBounds> RepeatedLoops::boundByTable() const {
  // The loop that goes over periods: the one of unknown size, else the longest.
  unsigned outer = 0;
  for (unsigned loop = 1; loop < sizes.size(); ++loop)
    if (occurs(loop) &&
        (!occurs(outer) || !getSize(loop) || (getSize(outer) && *getSize(loop) > *getSize(outer))))
      outer = loop;
  SmallVector<int64_t> counts(sizes.size(), 1);
  for (unsigned loop = 0; loop < sizes.size(); ++loop) {
    if (loop != outer && occurs(loop) && !getSize(loop))
      return std::nullopt;
    if (occurs(loop))
      counts[loop] = loop == outer ? periods[loop].iterations : *getSize(loop);
  }
  SmallVector<int64_t> most(periods[outer].iterations, std::numeric_limits<int64_t>::min()),
      mostBelow = most;
  bool isKnown = visitIterations(counts, [&](MutableArrayRef<int64_t> at) {
    int64_t value = evaluate(group, at);
    most[at[outer]] = std::max(most[at[outer]], value);
    mostBelow[at[outer]] = std::max(mostBelow[at[outer]], -value);
    return true;
  });
  if (!isKnown)
    return std::nullopt;
  std::optional<AffineExpr> high = findLargest(most, periods[outer].step, sizes[outer]),
                            low = findLargest(mostBelow, -periods[outer].step, sizes[outer]);
  if (!high || !low)
    return std::nullopt;
  return IndexBounds{-*low, *high};
}

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

/// The sums of terms of `index` that share loops.
static SmallVector<AffineExpr> groupTerms(AffineExpr index, unsigned numLoops) {
  SmallVector<std::pair<llvm::SmallBitVector, AffineExpr>> groups;
  auto add = [&](AffineExpr term) {
    llvm::SmallBitVector loops(numLoops);
    for (unsigned loop = 0; loop < numLoops; ++loop)
      loops[loop] = term.isFunctionOfDim(loop);
    llvm::erase_if(groups, [&](auto &group) {
      if (!group.first.anyCommon(loops))
        return false;
      loops |= group.first;
      term = group.second + term;
      return true;
    });
    groups.push_back({loops, term});
  };
  SmallVector<AffineExpr> terms = {index};
  while (!terms.empty()) {
    AffineExpr term = terms.pop_back_val();
    auto binary = dyn_cast<AffineBinaryOpExpr>(term);
    if (term.getKind() == AffineExprKind::Add)
      terms.append({binary.getRHS(), binary.getLHS()});
    else
      add(term);
  }
  return llvm::map_to_vector(groups, [](auto &group) { return group.second; });
}

/// Whether `expr` takes all values between its bounds, which those of its remainder then follow
/// from.
static bool isSumOfLoops(AffineExpr expr) {
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  return !binary || (expr.getKind() == AffineExprKind::Add && isSumOfLoops(binary.getLHS()) &&
                     isSumOfLoops(binary.getRHS()));
}

static std::optional<IndexBounds> boundGroup(AffineExpr group, ArrayRef<AffineExpr> sizes) {
  llvm::SmallBitVector loops(sizes.size());
  bool isRepeated = false, isExact = true;
  uint64_t scale = 1; // times the iterations of a loop, no value is larger
  group.walk([&](AffineExpr part) {
    if (auto loop = dyn_cast<AffineDimExpr>(part)) {
      isRepeated |= loops[loop.getPosition()];
      loops.set(loop.getPosition());
    } else if (auto constant = dyn_cast<AffineConstantExpr>(part)) {
      scale = llvm::SaturatingMultiply<uint64_t>(scale, std::abs(constant.getValue()) + 1);
    } else if (part.getKind() == AffineExprKind::Mod) {
      isExact &= isSumOfLoops(cast<AffineBinaryOpExpr>(part).getLHS());
    }
  });
  std::optional<IndexBounds> ofParts = boundParts(group, sizes);
  if (!ofParts || (isExact && !isRepeated))
    return ofParts;
  bool isSmall = scale < uint64_t(1) << 40;
  if (std::optional<RepeatedLoops> repeated =
          isSmall ? RepeatedLoops::create(group, sizes) : std::nullopt) {
    if (std::optional<IndexBounds> bounds = repeated->boundByEnds())
      return bounds;
    if (std::optional<IndexBounds> bounds = repeated->boundByTable())
      return bounds;
  }
  return isRepeated ? std::nullopt : ofParts;
}

std::optional<IndexBounds> boundIndex(AffineExpr index, ArrayRef<AffineExpr> sizes) {
  AffineExpr zero = getAffineConstantExpr(0, index.getContext());
  IndexBounds sum = {zero, zero};
  for (AffineExpr group : groupTerms(index, sizes.size())) {
    std::optional<IndexBounds> bounds = boundGroup(group, sizes);
    if (!bounds)
      return std::nullopt;
    sum = {sum.low + bounds->low, sum.high + bounds->high};
  }
  return sum;
}

} // namespace xc
