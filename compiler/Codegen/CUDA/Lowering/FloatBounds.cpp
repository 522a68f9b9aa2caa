//===- FloatBounds.cpp - Between which numbers a float lies ---------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Lowering/FloatBounds.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace mlir;

namespace xc::cuda {

/// Operands further away are not looked at: those nearby say what there is to know.
static constexpr int kMostDepth = 8;
/// What -0 counts as, so that nobody takes it for no less than 0.
static constexpr double kBelowZero = -std::numeric_limits<double>::denorm_min();

static FloatBounds getBounds(Value value, int depth) {
  APFloat number(0.0);
  if (matchPattern(value, m_ConstantFloat(&number))) {
    if (number.isNaN())
      return {};
    bool losesInfo;
    number.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &losesInfo);
    if (number.isNegZero())
      return {kBelowZero, 0.0};
    return {number.convertToDouble(), number.convertToDouble()};
  }
  Operation *op = value.getDefiningOp();
  if (!op || depth == kMostDepth)
    return {};
  auto of = [&](unsigned operand) { return getBounds(op->getOperand(operand), depth + 1); };
  return TypeSwitch<Operation *, FloatBounds>(op)
      .Case<math::ExpOp>([&](auto) {
        FloatBounds x = of(0);
        return FloatBounds{std::exp(x.low), std::exp(x.high)};
      })
      .Case<math::TanhOp, math::ErfOp>([](auto) { return FloatBounds{-1.0, 1.0}; })
      .Case<math::AbsFOp>([&](auto) {
        FloatBounds x = of(0);
        double low = std::max({0.0, x.low, -x.high});
        return FloatBounds{low, std::max(std::abs(x.low), std::abs(x.high))};
      })
      .Case<arith::NegFOp>([&](auto) {
        FloatBounds x = of(0);
        return FloatBounds{x.high == 0.0 ? kBelowZero : -x.high, -x.low};
      })
      .Case<arith::AddFOp>([&](auto) {
        FloatBounds x = of(0), y = of(1);
        return FloatBounds{x.low + y.low, x.high + y.high};
      })
      .Case<arith::SelectOp>([&](auto) {
        FloatBounds x = of(1), y = of(2);
        return FloatBounds{std::min(x.low, y.low), std::max(x.high, y.high)};
      })
      .Case<arith::MaximumFOp>([&](auto) {
        FloatBounds x = of(0), y = of(1);
        return FloatBounds{std::max(x.low, y.low), std::max(x.high, y.high)};
      })
      .Case<arith::MinimumFOp>([&](auto) {
        FloatBounds x = of(0), y = of(1);
        return FloatBounds{std::min(x.low, y.low), std::min(x.high, y.high)};
      })
      .Case<vector::BroadcastOp, vector::ExtractOp>([&](auto) { return of(0); })
      .Default([](Operation *) { return FloatBounds{}; });
}

FloatBounds getFloatBounds(Value value) { return getBounds(value, 0); }

} // namespace xc::cuda
