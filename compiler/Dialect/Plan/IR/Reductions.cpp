//===- Reductions.cpp - What is known of reductions -----------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Plan/IR/Reductions.h"

#include "compiler/Dialect/Plan/IR/PlanOps.h"

using namespace mlir;

namespace xc::plan {

std::optional<int64_t> getRowPart(linalg::LinalgOp op) {
  if (!op->hasAttr(kPartialAttr) || op.getNumReductionLoops() != 1 || op.getNumDpsInits() != 1 ||
      op.getIteratorTypesArray().back() != utils::IteratorType::reduction)
    return std::nullopt;
  AffineMap map = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  auto quotient = dyn_cast_or_null<AffineBinaryOpExpr>(
      map.getNumResults() > 0 ? map.getResults().back() : AffineExpr());
  if (!quotient || quotient.getKind() != AffineExprKind::FloorDiv ||
      quotient.getLHS() != getAffineDimExpr(op.getNumLoops() - 1, op.getContext()))
    return std::nullopt;
  auto divisor = dyn_cast<AffineConstantExpr>(quotient.getRHS());
  bool areLoops = llvm::all_of(map.getResults().drop_back(), llvm::IsaPred<AffineDimExpr>);
  return divisor && divisor.getValue() > 0 && areLoops ? std::optional(divisor.getValue())
                                                       : std::nullopt;
}

} // namespace xc::plan
