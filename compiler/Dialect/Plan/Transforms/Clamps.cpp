//===- Clamps.cpp - Minima and maxima as formulas -------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Plan/Transforms/Clamps.h"

#include "compiler/Dialect/Plan/Transforms/LinearForm.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace xc::plan {

/// No size, and no difference of two, is as large.
static constexpr int64_t kMoreThanAll = int64_t(1) << 62;

static void collectFactors(AffineExpr expr, SmallVectorImpl<AffineExpr> &factors) {
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary || expr.getKind() != AffineExprKind::Mul)
    return factors.push_back(expr);
  collectFactors(binary.getLHS(), factors);
  collectFactors(binary.getRHS(), factors);
}

/// Whether `expr` is a positive multiple of `unit`, neither being a constant.
static bool isPositiveMultiple(AffineExpr expr, AffineExpr unit) {
  std::optional<LinearForm> a = getLinearForm(expr), b = getLinearForm(unit);
  if (!a || !b || b->terms.empty())
    return false;
  auto [term, factor] = b->terms.front();
  int64_t wanted = a->terms.lookup(term);
  if (wanted % factor != 0 || wanted / factor <= 0)
    return false;
  std::optional<LinearForm> rest = getLinearForm(expr - unit * (wanted / factor));
  return rest && rest->terms.empty() && rest->constant == 0;
}

/// Whether `factor` is what tells if a clamp's value is negative.
static bool isSign(AffineExpr factor) {
  auto binary = dyn_cast<AffineBinaryOpExpr>(factor);
  return binary && factor.getKind() == AffineExprKind::FloorDiv &&
         binary.getRHS() == getAffineConstantExpr(kMoreThanAll, factor.getContext());
}

std::optional<AffineExpr> getClamped(AffineExpr clamp) {
  if (clamp.getKind() != AffineExprKind::Mul)
    return std::nullopt;
  SmallVector<AffineExpr> factors;
  collectFactors(clamp, factors);
  auto sign = llvm::find_if(factors, isSign);
  if (sign == factors.end())
    return std::nullopt;
  AffineExpr negated = cast<AffineBinaryOpExpr>(*sign).getLHS();
  factors.erase(sign);
  AffineExpr value = getAffineConstantExpr(-1, clamp.getContext());
  for (AffineExpr factor : factors)
    value = value * factor;
  value = collectTerms(value);
  return isPositiveMultiple(value, negated * -1) ? std::optional(value) : std::nullopt;
}

namespace {

/// A formula that grows with a clamp in it: without the clamp, and what it is where that is 0.
struct Unclamped {
  AffineExpr expr;
  int64_t atZero;
};

} // namespace

/// `expr` as a formula that grows with the one clamp in it, beside which there are only constants.
static std::optional<Unclamped> unclamp(AffineExpr expr) {
  if (std::optional<AffineExpr> clamped = getClamped(expr))
    return Unclamped{*clamped, 0};
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  auto constant = binary ? dyn_cast<AffineConstantExpr>(binary.getRHS()) : AffineConstantExpr();
  if (!constant)
    return std::nullopt;
  std::optional<Unclamped> inner = unclamp(binary.getLHS());
  if (!inner)
    return std::nullopt;
  int64_t number = constant.getValue();
  if (expr.getKind() == AffineExprKind::Add) {
    int64_t sum;
    if (llvm::AddOverflow(inner->atZero, number, sum))
      return std::nullopt;
    return Unclamped{collectTerms(inner->expr + number), sum};
  }
  if (number < 1)
    return std::nullopt;
  switch (expr.getKind()) {
  case AffineExprKind::Mul: {
    int64_t product;
    if (llvm::MulOverflow(inner->atZero, number, product))
      return std::nullopt;
    return Unclamped{inner->expr * number, product};
  }
  case AffineExprKind::FloorDiv:
    return Unclamped{inner->expr.floorDiv(number), llvm::divideFloorSigned(inner->atZero, number)};
  case AffineExprKind::CeilDiv:
    return Unclamped{inner->expr.ceilDiv(number), llvm::divideCeilSigned(inner->atZero, number)};
  default:
    return std::nullopt;
  }
}

AffineExpr makeClamp(AffineExpr expr) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return getAffineConstantExpr(std::max<int64_t>(constant.getValue(), 0), expr.getContext());
  // What is not above 0 where the inner clamp is 0 is not above it below either: a chain of windows
  // has one clamp.
  std::optional<Unclamped> inner = unclamp(expr);
  if (inner && inner->atZero <= 0)
    expr = inner->expr;
  return expr * ((expr * -1).floorDiv(kMoreThanAll) * -1);
}

} // namespace xc::plan
