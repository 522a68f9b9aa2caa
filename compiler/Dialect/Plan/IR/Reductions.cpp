//===- Reductions.cpp - What is known of reductions -----------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Plan/IR/Reductions.h"

using namespace mlir;

namespace xc::plan {

static PartialAttr getPartial(linalg::LinalgOp op) {
  return op->getAttrOfType<PartialAttr>(kPartialAttr);
}

std::optional<int64_t> getRowPart(linalg::LinalgOp op) {
  PartialAttr partial = getPartial(op);
  return partial && partial.getSplit() == Split::Columns ? std::optional(partial.getNumber())
                                                         : std::nullopt;
}

int64_t countCyclicParts(linalg::LinalgOp op) {
  PartialAttr partial = getPartial(op);
  return partial && partial.getSplit() == Split::Cyclic ? partial.getNumber() : 0;
}

/// Whether `expr` is `kind` of a loop that `op` reduces and `number`.
static bool isOfReducedLoop(linalg::LinalgOp op, AffineExpr expr, AffineExprKind kind,
                            int64_t number) {
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  auto loop = dyn_cast_or_null<AffineDimExpr>(binary ? binary.getLHS() : AffineExpr());
  return loop && binary.getKind() == kind &&
         binary.getRHS() == getAffineConstantExpr(number, op.getContext()) &&
         op.getIteratorTypesArray()[loop.getPosition()] == utils::IteratorType::reduction;
}

/// `(d0, d1) -> (d0 mod 132, d1)`, of every result.
static bool hasCyclicIndices(linalg::LinalgOp op, int64_t parts) {
  return llvm::all_of(op.getDpsInitsMutable(), [&](OpOperand &init) {
    return llvm::count_if(op.getMatchingIndexingMap(&init).getResults(), [&](AffineExpr expr) {
             return isOfReducedLoop(op, expr, AffineExprKind::Mod, parts);
           }) == 1;
  });
}

/// `(d0, d1) -> (d0, d1 floordiv 64)`, of the only result.
static bool hasColumnIndices(linalg::LinalgOp op, int64_t columns) {
  if (op.getNumReductionLoops() != 1 || op.getNumDpsInits() != 1 ||
      op.getIteratorTypesArray().back() != utils::IteratorType::reduction)
    return false;
  AffineMap map = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  return map.getNumResults() > 0 &&
         isOfReducedLoop(op, map.getResults().back(), AffineExprKind::FloorDiv, columns) &&
         llvm::all_of(map.getResults().drop_back(), llvm::IsaPred<AffineDimExpr>);
}

bool hasIndicesOf(linalg::LinalgOp op, PartialAttr partial) {
  switch (partial.getSplit()) {
  case Split::Slices:
  case Split::Rest:
    return op.getNumReductionLoops() > 0;
  case Split::Cyclic:
    return hasCyclicIndices(op, partial.getNumber());
  case Split::Columns:
    return hasColumnIndices(op, partial.getNumber());
  }
  return false;
}

} // namespace xc::plan
