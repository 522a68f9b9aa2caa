//===- SamplePoints.cpp - Points of ops that checks look at ---------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Dispatch/SamplePoints.h"

#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace xc::plan {

/// What stands for a size that is known when inputs are bound.
static constexpr int64_t kSampleSize = 3;
/// Points of one op that are looked at.
static constexpr size_t kMaxPoints = 243;

int64_t evaluate(AffineExpr expr, ArrayRef<int64_t> point) {
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return point[dim.getPosition()];
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return constant.getValue();
  auto binary = cast<AffineBinaryOpExpr>(expr);
  int64_t left = evaluate(binary.getLHS(), point), right = evaluate(binary.getRHS(), point);
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return left + right;
  case AffineExprKind::Mul:
    return left * right;
  case AffineExprKind::Mod:
    return left % right;
  case AffineExprKind::FloorDiv:
    return left / right;
  default:
    return (left + right - 1) / right;
  }
}

SmallVector<Point> samplePoints(linalg::LinalgOp op) {
  SmallVector<Point> points = {Point()};
  for (int64_t size : op.getStaticLoopRanges()) {
    int64_t last = (ShapedType::isDynamic(size) ? kSampleSize : size) - 1;
    SmallVector<int64_t, 3> indices = {0};
    if (last > 0)
      indices.push_back(1);
    if (last > 1 && points.size() * 3 <= kMaxPoints)
      indices.push_back(last);
    SmallVector<Point> longer;
    for (const Point &point : points)
      for (int64_t index : indices) {
        longer.push_back(point);
        longer.back().push_back(index);
      }
    points = std::move(longer);
  }
  return points;
}

std::string toString(ArrayRef<int64_t> indices) {
  std::string text = "(";
  llvm::raw_string_ostream stream(text);
  llvm::interleaveComma(indices, stream);
  stream << ")";
  return text;
}

} // namespace xc::plan
