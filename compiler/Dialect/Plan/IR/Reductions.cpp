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

std::optional<int64_t> getColumnPart(linalg::LinalgOp op) {
  PartialAttr partial = getPartial(op);
  return partial && partial.getSplit() == Split::Rows ? std::optional(partial.getNumber())
                                                      : std::nullopt;
}

bool areColumnPartsNamed(ArrayRef<int64_t> ranges) {
  ArrayRef<int64_t> inner = ranges.drop_back().drop_while([](int64_t range) { return range == 1; });
  return !inner.empty() && llvm::any_of(inner.drop_front(), ShapedType::isDynamic);
}

AffineExpr getColumnPartIndex(ArrayRef<int64_t> ranges, int64_t rows, MLIRContext *context) {
  bool areNamed = areColumnPartsNamed(ranges);
  AffineExpr zero = getAffineConstantExpr(0, context), position = zero;
  for (auto [loop, range] : llvm::enumerate(ranges.drop_back()))
    if (range != 1)
      position = (areNamed || position == zero ? position : position * range) +
                 getAffineDimExpr(loop, context);
  return simplifyAffineExpr(position.floorDiv(rows), ranges.size(), 0);
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

/// `(d0, d1, d2) -> ((d0 * 56 + d1) floordiv 64, d2)`, of the only result, or `(d0 + d1) floordiv
/// 64` where the size of d1 is symbolic; or `(d0, d1) -> (d0, d1)` of an op that reduces nothing.
static bool hasRowIndices(linalg::LinalgOp op, int64_t rows) {
  if (op.getNumDpsInits() != 1 || op.getNumLoops() < 2)
    return false;
  AffineMap map = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  if (op.getNumReductionLoops() == 0)
    return op.getNumLoops() == 2 && map.isIdentity();
  AffineExpr part = getColumnPartIndex(op.getStaticLoopRanges(), rows, op.getContext());
  unsigned last = op.getNumLoops() - 1;
  return op.getNumReductionLoops() == last && map.getNumResults() == 2 &&
         op.getIteratorTypesArray().back() == utils::IteratorType::parallel &&
         simplifyAffineExpr(map.getResult(0), last + 1, 0) == part &&
         map.getResult(1) == getAffineDimExpr(last, op.getContext());
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
  case Split::Rows:
    return hasRowIndices(op, partial.getNumber());
  }
  return false;
}

} // namespace xc::plan
