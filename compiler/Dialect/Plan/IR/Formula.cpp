//===- Formula.cpp - How formulas are made and simplified -----------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A formula is simplified when it is made, of operands that have been before. Rules look at most
// two ops deep. For what affine expressions have they are those of affine expressions, so that a
// size is the same formula whether it has been an affine.apply in between or not. Nothing is
// folded whose value does not fit into 64 bits.
//
// Ops that never fall where their one operand beside constants grows (a sum, a multiple, a
// quotient by a number above 0) commute with a maximum: f(max(e, 3)) = max(f(e), f(3)). So
// max(f(max(e, 3)), c) is max(f(e), max(f(3), c)), and a chain of windows, each of which has at
// least 0 places, needs one maximum.
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Plan/IR/PlanOps.h"

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/CheckedArithmetic.h"
#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace mlir;

namespace xc::plan {

static bool isOf(FormulaKind kind, FormulaAttr formula) { return formula.getKind() == kind; }

/// The number in `factor * number`; none of another formula.
static std::optional<int64_t> getFactor(FormulaAttr formula) {
  return isOf(FormulaKind::Mul, formula) ? formula.getRHS().asConstant() : std::nullopt;
}

static unsigned countOperands(FormulaKind kind) {
  switch (kind) {
  case FormulaKind::Constant:
  case FormulaKind::Symbol:
    return 0;
  case FormulaKind::Select:
    return 3;
  default:
    return 2;
  }
}

LogicalResult FormulaAttr::verify(function_ref<InFlightDiagnostic()> emitError, FormulaKind kind,
                                  int64_t value, ArrayRef<FormulaAttr> operands) {
  if (operands.size() != countOperands(kind))
    return emitError() << "expected " << countOperands(kind) << " operands of a formula of kind "
                       << stringifyFormulaKind(kind) << ", got " << operands.size();
  return success();
}

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

/// What `kind` makes of two numbers; none where that does not fit or there is nothing.
static std::optional<int64_t> foldNumbers(FormulaKind kind, int64_t a, int64_t b) {
  switch (kind) {
  case FormulaKind::Add:
    return llvm::checkedAdd(a, b);
  case FormulaKind::Mul:
    return llvm::checkedMul(a, b);
  case FormulaKind::Min:
    return std::min(a, b);
  case FormulaKind::Max:
    return std::max(a, b);
  default:
    break;
  }
  // The runtime says what is wrong with the others.
  if (b < 1)
    return std::nullopt;
  switch (kind) {
  case FormulaKind::FloorDiv:
    return llvm::divideFloorSigned(a, b);
  case FormulaKind::CeilDiv:
    return llvm::divideCeilSigned(a, b);
  default:
    return llvm::mod(a, b);
  }
}

/// `a - q * (a floordiv q)` as `a mod q`; null where it is no such difference.
static FormulaAttr simplifyRemainder(FormulaAttr a, FormulaAttr b) {
  if (!isOf(FormulaKind::Mul, b))
    return {};
  FormulaAttr quotient = b.getLHS(), divisor = b.getRHS() * -1;
  if (isOf(FormulaKind::Mul, quotient) && b.getRHS().asConstant() == -1) {
    divisor = quotient.getRHS();
    quotient = quotient.getLHS();
  }
  bool isQuotient = isOf(FormulaKind::FloorDiv, quotient) && quotient.getLHS() == a &&
                    quotient.getRHS() == divisor;
  return isQuotient ? a % divisor : FormulaAttr();
}

/// Rules of the ops return null where nothing is to be simplified. A constant of two operands of
/// which one may be changed for the other is the second one.
static FormulaAttr simplifyAdd(FormulaAttr a, FormulaAttr b) {
  if (b.asConstant() == 0)
    return a;
  std::optional<int64_t> inner = isOf(FormulaKind::Add, a) ? a.getRHS().asConstant() : std::nullopt;
  if (inner && b.isConstant()) {
    std::optional<int64_t> sum = llvm::checkedAdd(*inner, *b.asConstant());
    return sum ? a.getLHS() + *sum : FormulaAttr();
  }
  // Multiples of one formula.
  std::optional<int64_t> first = getFactor(a), second = getFactor(b);
  FormulaAttr left = first ? a.getLHS() : a, right = second ? b.getLHS() : b;
  if (left == right)
    if (std::optional<int64_t> sum = llvm::checkedAdd(first.value_or(1), second.value_or(1)))
      return left * *sum;
  if (inner)
    return a.getLHS() + b + *inner;
  return simplifyRemainder(a, b);
}

static FormulaAttr simplifyMul(FormulaAttr a, FormulaAttr b) {
  std::optional<int64_t> number = b.asConstant(), inner = getFactor(a);
  if (number == 1)
    return a;
  if (number == 0)
    return b;
  if (inner && number) {
    std::optional<int64_t> product = llvm::checkedMul(*inner, *number);
    return product ? a.getLHS() * *product : FormulaAttr();
  }
  return inner ? a.getLHS() * b * *inner : FormulaAttr();
}

/// A quotient, rounded either way, of a multiple of what divides.
static FormulaAttr simplifyQuotient(FormulaAttr a, int64_t divisor) {
  if (divisor == 1)
    return a;
  std::optional<int64_t> factor = getFactor(a);
  return factor && *factor % divisor == 0 ? a.getLHS() * (*factor / divisor) : FormulaAttr();
}

static FormulaAttr simplifyFloorDiv(FormulaAttr a, FormulaAttr b) {
  std::optional<int64_t> divisor = b.asConstant();
  if (!divisor || *divisor < 1)
    return {};
  if (FormulaAttr quotient = simplifyQuotient(a, *divisor))
    return quotient;
  if (!isOf(FormulaKind::Add, a))
    return {};
  FormulaAttr left = a.getLHS(), right = a.getRHS();
  bool isWhole = left.getLargestKnownDivisor() % *divisor == 0 ||
                 right.getLargestKnownDivisor() % *divisor == 0;
  return isWhole ? left.floorDiv(b) + right.floorDiv(b) : FormulaAttr();
}

static FormulaAttr simplifyCeilDiv(FormulaAttr a, FormulaAttr b) {
  std::optional<int64_t> divisor = b.asConstant();
  return divisor && *divisor >= 1 ? simplifyQuotient(a, *divisor) : FormulaAttr();
}

static FormulaAttr simplifyMod(FormulaAttr a, FormulaAttr b) {
  std::optional<int64_t> divisor = b.asConstant();
  if (!divisor || *divisor < 1)
    return {};
  auto isMultiple = [&](FormulaAttr formula) {
    return formula.getLargestKnownDivisor() % *divisor == 0;
  };
  if (isMultiple(a))
    return FormulaAttr::getConstant(a.getContext(), 0);
  if (isOf(FormulaKind::Add, a)) {
    if (isMultiple(a.getLHS()))
      return a.getRHS() % b;
    if (isMultiple(a.getRHS()))
      return a.getLHS() % b;
  }
  if (isOf(FormulaKind::Mod, a)) {
    std::optional<int64_t> inner = a.getRHS().asConstant();
    if (inner && *inner >= 1 && *inner % *divisor == 0)
      return a.getLHS() % b;
  }
  return {};
}

namespace {

/// max(formula, least).
struct Maximum {
  FormulaAttr formula;
  int64_t least;
};

} // namespace

/// `formula` as a maximum of a formula and a number, where ops that never fall and constants are
/// all that is around one.
static std::optional<Maximum> pullOutMaximum(FormulaAttr formula) {
  if (formula.getOperands().size() != 2)
    return std::nullopt;
  std::optional<int64_t> number = formula.getRHS().asConstant();
  if (!number)
    return std::nullopt;
  FormulaKind kind = formula.getKind();
  if (kind == FormulaKind::Max)
    return Maximum{formula.getLHS(), *number};
  bool neverFalls = kind == FormulaKind::Add ||
                    (*number >= 1 && (kind == FormulaKind::Mul || kind == FormulaKind::FloorDiv ||
                                      kind == FormulaKind::CeilDiv));
  std::optional<Maximum> inner =
      neverFalls ? pullOutMaximum(formula.getLHS()) : std::optional<Maximum>();
  std::optional<int64_t> least =
      inner ? foldNumbers(kind, inner->least, *number) : std::optional<int64_t>();
  if (!least)
    return std::nullopt;
  return Maximum{formula.withOperands({inner->formula, formula.getRHS()}), *least};
}

static FormulaAttr simplifyMax(FormulaAttr a, FormulaAttr b) {
  if (a == b)
    return a;
  std::optional<int64_t> least = b.asConstant();
  std::optional<Maximum> inner = least ? pullOutMaximum(a) : std::optional<Maximum>();
  if (!inner)
    return {};
  return FormulaAttr::getMax(
      inner->formula, FormulaAttr::getConstant(a.getContext(), std::max(inner->least, *least)));
}

static FormulaAttr simplifyMin(FormulaAttr a, FormulaAttr b) {
  if (a == b)
    return a;
  // The smaller one of two numbers.
  if (b.isConstant() && isOf(FormulaKind::Min, a) && a.getRHS().isConstant())
    return FormulaAttr::getMin(a.getLHS(), FormulaAttr::getMin(a.getRHS(), b));
  return {};
}

static FormulaAttr simplifySelect(FormulaAttr condition, FormulaAttr ifOne, FormulaAttr ifZero) {
  if (std::optional<int64_t> chosen = condition.asConstant())
    return *chosen != 0 ? ifOne : ifZero;
  return ifOne == ifZero ? ifOne : FormulaAttr();
}

bool commutes(FormulaKind kind) {
  return kind == FormulaKind::Add || kind == FormulaKind::Mul || kind == FormulaKind::Min ||
         kind == FormulaKind::Max;
}

static FormulaAttr applyRules(FormulaKind kind, FormulaAttr a, FormulaAttr b) {
  switch (kind) {
  case FormulaKind::Add:
    return simplifyAdd(a, b);
  case FormulaKind::Mul:
    return simplifyMul(a, b);
  case FormulaKind::FloorDiv:
    return simplifyFloorDiv(a, b);
  case FormulaKind::CeilDiv:
    return simplifyCeilDiv(a, b);
  case FormulaKind::Mod:
    return simplifyMod(a, b);
  case FormulaKind::Min:
    return simplifyMin(a, b);
  case FormulaKind::Max:
    return simplifyMax(a, b);
  default:
    llvm_unreachable("it has two operands");
  }
}

FormulaAttr FormulaAttr::simplify(MLIRContext *context, FormulaKind kind, int64_t value,
                                  ArrayRef<FormulaAttr> operands) {
  if (operands.empty())
    return getRaw(context, kind, value, operands);
  if (kind == FormulaKind::Select) {
    FormulaAttr simpler = simplifySelect(operands[0], operands[1], operands[2]);
    return simpler ? simpler : getRaw(context, kind, value, operands);
  }
  FormulaAttr a = operands[0], b = operands[1];
  if (a.isConstant() && b.isConstant()) {
    std::optional<int64_t> folded = foldNumbers(kind, *a.asConstant(), *b.asConstant());
    return folded ? getConstant(context, *folded) : getRaw(context, kind, value, {a, b});
  }
  bool isTurned = a.isConstant() || (a.isSymbol() && b.isSymbol() && a.asSymbol() > b.asSymbol());
  if (commutes(kind) && isTurned)
    std::swap(a, b);
  FormulaAttr simpler = applyRules(kind, a, b);
  return simpler ? simpler : getRaw(context, kind, value, {a, b});
}

//===----------------------------------------------------------------------===//
// Making them
//===----------------------------------------------------------------------===//

static FormulaAttr make(FormulaKind kind, FormulaAttr a, FormulaAttr b) {
  return FormulaAttr::get(a.getContext(), kind, /*value=*/0, {a, b});
}

FormulaAttr FormulaAttr::getConstant(MLIRContext *context, int64_t value) {
  return get(context, FormulaKind::Constant, value, {});
}

FormulaAttr FormulaAttr::getSymbol(MLIRContext *context, unsigned position) {
  return get(context, FormulaKind::Symbol, position, {});
}

FormulaAttr FormulaAttr::getMin(FormulaAttr a, FormulaAttr b) {
  return make(FormulaKind::Min, a, b);
}

FormulaAttr FormulaAttr::getMax(FormulaAttr a, FormulaAttr b) {
  return make(FormulaKind::Max, a, b);
}

FormulaAttr FormulaAttr::getSelect(FormulaAttr condition, FormulaAttr ifOne, FormulaAttr ifZero) {
  return get(condition.getContext(), FormulaKind::Select, /*value=*/0, {condition, ifOne, ifZero});
}

FormulaAttr FormulaAttr::withOperands(ArrayRef<FormulaAttr> operands) const {
  return get(getContext(), getKind(), getValue(), operands);
}

FormulaAttr FormulaAttr::operator+(FormulaAttr other) const {
  return make(FormulaKind::Add, *this, other);
}
FormulaAttr FormulaAttr::operator+(int64_t number) const {
  return *this + getConstant(getContext(), number);
}
FormulaAttr FormulaAttr::operator-(FormulaAttr other) const { return *this + other * -1; }
FormulaAttr FormulaAttr::operator-(int64_t number) const {
  return *this + getConstant(getContext(), number) * -1;
}
FormulaAttr FormulaAttr::operator*(FormulaAttr other) const {
  return make(FormulaKind::Mul, *this, other);
}
FormulaAttr FormulaAttr::operator*(int64_t number) const {
  return *this * getConstant(getContext(), number);
}
FormulaAttr FormulaAttr::operator%(FormulaAttr other) const {
  return make(FormulaKind::Mod, *this, other);
}
FormulaAttr FormulaAttr::floorDiv(FormulaAttr other) const {
  return make(FormulaKind::FloorDiv, *this, other);
}
FormulaAttr FormulaAttr::floorDiv(int64_t number) const {
  return floorDiv(getConstant(getContext(), number));
}
FormulaAttr FormulaAttr::ceilDiv(FormulaAttr other) const {
  return make(FormulaKind::CeilDiv, *this, other);
}
FormulaAttr FormulaAttr::ceilDiv(int64_t number) const {
  return ceilDiv(getConstant(getContext(), number));
}

static FormulaKind getKind(AffineExprKind kind) {
  switch (kind) {
  case AffineExprKind::Add:
    return FormulaKind::Add;
  case AffineExprKind::Mul:
    return FormulaKind::Mul;
  case AffineExprKind::Mod:
    return FormulaKind::Mod;
  case AffineExprKind::FloorDiv:
    return FormulaKind::FloorDiv;
  case AffineExprKind::CeilDiv:
    return FormulaKind::CeilDiv;
  default:
    llvm_unreachable("it has two operands");
  }
}

FormulaAttr FormulaAttr::get(AffineExpr expr, ArrayRef<FormulaAttr> dims,
                             ArrayRef<FormulaAttr> symbols) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return getConstant(expr.getContext(), constant.getValue());
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return dims[dim.getPosition()];
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return symbols[symbol.getPosition()];
  auto binary = cast<AffineBinaryOpExpr>(expr);
  return make(plan::getKind(expr.getKind()), get(binary.getLHS(), dims, symbols),
              get(binary.getRHS(), dims, symbols));
}

FormulaAttr FormulaAttr::get(AffineExpr expr) {
  SmallVector<FormulaAttr> symbols;
  expr.walk([&](AffineExpr part) {
    if (auto symbol = dyn_cast<AffineSymbolExpr>(part))
      while (symbols.size() <= symbol.getPosition())
        symbols.push_back(getSymbol(expr.getContext(), symbols.size()));
  });
  return get(expr, /*dims=*/{}, symbols);
}

AffineExpr FormulaAttr::toAffine(function_ref<AffineExpr(FormulaAttr)> getLeaf) const {
  auto combine = [&](AffineExprKind kind) {
    AffineExpr left = getLHS().toAffine(getLeaf), right = getRHS().toAffine(getLeaf);
    return getAffineBinaryOpExpr(kind, left, right);
  };
  switch (getKind()) {
  case FormulaKind::Constant:
    return getAffineConstantExpr(getValue(), getContext());
  case FormulaKind::Add:
    return combine(AffineExprKind::Add);
  case FormulaKind::Mul:
    return combine(AffineExprKind::Mul);
  case FormulaKind::FloorDiv:
    return combine(AffineExprKind::FloorDiv);
  case FormulaKind::CeilDiv:
    return combine(AffineExprKind::CeilDiv);
  case FormulaKind::Mod:
    return combine(AffineExprKind::Mod);
  case FormulaKind::Symbol:
  case FormulaKind::Min:
  case FormulaKind::Max:
  case FormulaKind::Select:
    return getLeaf(*this);
  }
  llvm_unreachable("unknown kind of formula");
}

//===----------------------------------------------------------------------===//
// Looking into them
//===----------------------------------------------------------------------===//

std::optional<int64_t> FormulaAttr::asConstant() const {
  return isConstant() ? std::optional<int64_t>(getValue()) : std::nullopt;
}

std::optional<unsigned> FormulaAttr::asSymbol() const {
  return isSymbol() ? std::optional<unsigned>(getValue()) : std::nullopt;
}

int64_t FormulaAttr::getLargestKnownDivisor() const {
  auto getDivisor = [&](unsigned operand) {
    return getOperands()[operand].getLargestKnownDivisor();
  };
  switch (getKind()) {
  case FormulaKind::Constant:
    return getValue() == INT64_MIN ? 1 : std::abs(getValue());
  case FormulaKind::Symbol:
    return 1;
  case FormulaKind::Mul:
    return llvm::checkedMul(getDivisor(0), getDivisor(1)).value_or(1);
  case FormulaKind::FloorDiv:
  case FormulaKind::CeilDiv: {
    std::optional<int64_t> divisor = getRHS().asConstant();
    int64_t known = divisor && *divisor != 0 ? getDivisor(0) : 0;
    return known != 0 && known % *divisor == 0 ? std::abs(known / *divisor) : 1;
  }
  case FormulaKind::Add:
  case FormulaKind::Mod:
  case FormulaKind::Min:
  case FormulaKind::Max:
    return std::gcd(getDivisor(0), getDivisor(1));
  case FormulaKind::Select:
    return std::gcd(getDivisor(1), getDivisor(2));
  }
  llvm_unreachable("unknown kind of formula");
}

bool FormulaAttr::usesSymbol(unsigned position) const {
  return asSymbol() == position || llvm::any_of(getOperands(), [&](FormulaAttr operand) {
           return operand.usesSymbol(position);
         });
}

void FormulaAttr::forEachSymbol(function_ref<void(unsigned)> visit) const {
  if (isSymbol())
    visit(getValue());
  for (FormulaAttr operand : getOperands())
    operand.forEachSymbol(visit);
}

/// `formula` with what `replace` gives a formula for replaced by that; null it leaves alone.
static FormulaAttr rebuild(FormulaAttr formula, function_ref<FormulaAttr(FormulaAttr)> replace) {
  if (FormulaAttr other = replace(formula))
    return other;
  SmallVector<FormulaAttr> operands = llvm::map_to_vector(
      formula.getOperands(), [&](FormulaAttr operand) { return rebuild(operand, replace); });
  return ArrayRef(operands) == formula.getOperands() ? formula : formula.withOperands(operands);
}

FormulaAttr FormulaAttr::replaceSymbols(ArrayRef<FormulaAttr> formulas) const {
  return rebuild(*this, [&](FormulaAttr part) {
    return part.isSymbol() && *part.asSymbol() < formulas.size() ? formulas[*part.asSymbol()]
                                                                 : FormulaAttr();
  });
}

FormulaAttr FormulaAttr::replaceParts(const llvm::DenseMap<FormulaAttr, FormulaAttr> &parts) const {
  return rebuild(*this, [&](FormulaAttr part) { return parts.lookup(part); });
}

} // namespace xc::plan
