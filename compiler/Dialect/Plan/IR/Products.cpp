//===- Products.cpp - Matrix products and sliding windows -----------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Plan/IR/Products.h"
#include "compiler/Dialect/Plan/IR/MultiplyAdd.h"
#include "compiler/Dialect/Plan/IR/PartialSums.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace xc::plan {

std::optional<PartialSums> getPartialSums(linalg::LinalgOp op) {
  if (op.getNumDpsInits() != 1 || op.getNumReductionLoops() == 0)
    return std::nullopt;
  AffineMap map = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  auto index = dyn_cast_or_null<AffineBinaryOpExpr>(map.getNumResults() > 1 ? map.getResult(0)
                                                                            : AffineExpr());
  bool areShares = op->hasAttr(kSharesAttr);
  if (!index || index.getKind() != (areShares ? AffineExprKind::Mod : AffineExprKind::FloorDiv))
    return std::nullopt;
  auto size = dyn_cast<AffineConstantExpr>(index.getRHS());
  for (auto [loop, type] : llvm::enumerate(op.getIteratorTypesArray()))
    if (type == utils::IteratorType::parallel && index.isFunctionOfDim(loop))
      return std::nullopt;
  int64_t count = op.getShape(op.getDpsInitOperand(0)).front();
  if (!size || size.getValue() < 1 || ShapedType::isDynamic(count))
    return std::nullopt;
  if (areShares && size.getValue() != count)
    return std::nullopt;
  return PartialSums{count, areShares ? ShapedType::kDynamic : size.getValue(), index};
}

AffineExpr getIndexOfShares(linalg::LinalgOp op, int64_t count) {
  AffineExpr sum = getAffineConstantExpr(0, op.getContext());
  for (auto [loop, type] : llvm::enumerate(op.getIteratorTypesArray()))
    if (type == utils::IteratorType::reduction)
      sum = sum + getAffineDimExpr(loop, op.getContext());
  return sum % count;
}

std::optional<ProductLoops> matchProduct(linalg::LinalgOp op) {
  if (op.getNumReductionLoops() == 0 || !matchMultiplyAdd(op))
    return std::nullopt;
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  if (getPartialSums(op))
    maps[2] = maps[2].dropResult(0);
  if (!maps[2].isProjectedPermutation(/*allowZeroInResults=*/true))
    return std::nullopt;
  ProductLoops loops;
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  for (unsigned loop = 0; loop < op.getNumLoops(); ++loop) {
    bool inA = maps[0].isFunctionOfDim(loop), inB = maps[1].isFunctionOfDim(loop),
         inResult = maps[2].isFunctionOfDim(loop);
    if (inA && inB)
      (inResult ? loops.batch : loops.k).push_back(loop);
    else if (inResult && (inA || inB))
      (inA ? loops.m : loops.n).push_back(loop);
    else if (inResult && ranges[loop] == 1)
      loops.batch.push_back(loop);
    else
      return std::nullopt;
  }
  return loops;
}

SmallVector<unsigned> orderByUse(ArrayRef<unsigned> loops, AffineMap map) {
  SmallVector<unsigned> ordered;
  for (AffineExpr expr : map.getResults())
    for (unsigned loop : loops)
      if (expr.isFunctionOfDim(loop) && !llvm::is_contained(ordered, loop))
        ordered.push_back(loop);
  return ordered;
}

std::optional<PackedLine> matchPackedLine(AffineExpr expr) {
  auto line = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!line || line.getKind() != AffineExprKind::Add)
    return std::nullopt;
  auto start = dyn_cast<AffineBinaryOpExpr>(line.getLHS());
  auto element = dyn_cast<AffineDimExpr>(line.getRHS());
  if (!start || start.getKind() != AffineExprKind::Mul || !element)
    return std::nullopt;
  auto position = dyn_cast<AffineDimExpr>(start.getLHS());
  auto step = dyn_cast<AffineConstantExpr>(start.getRHS());
  if (!position || !step || step.getValue() % kPackedStep != 0)
    return std::nullopt;
  return PackedLine{position, element, step.getValue()};
}

bool isTensorCoreProduct(linalg::LinalgOp op) {
  return matchProduct(op) && llvm::all_of(op.getDpsInputs(), [&](Value factor) {
           Type element = getElementTypeOrSelf(factor);
           return element.isF16() || element.isBF16() || element.isInteger(8) ||
                  (element.isF32() && op->hasAttr(kAllowTF32Attr));
         });
}

/// The product of the sizes of the loops that `isCounted`; the largest number where it is not
/// known.
static int64_t multiplySizes(linalg::LinalgOp op, llvm::function_ref<bool(unsigned)> isCounted) {
  int64_t product = 1;
  for (auto [loop, size] : llvm::enumerate(op.getStaticLoopRanges()))
    if (isCounted(loop) &&
        (ShapedType::isDynamic(size) || llvm::MulOverflow(product, size, product)))
      return INT64_MAX;
  return product;
}

int64_t countUses(linalg::LinalgOp op, Value factor) {
  OpOperand *operand =
      llvm::find_if(op->getOpOperands(), [&](OpOperand &use) { return use.get() == factor; });
  AffineMap map = op.getMatchingIndexingMap(operand);
  return multiplySizes(op, [&](unsigned loop) { return !map.isFunctionOfDim(loop); });
}

int64_t countTerms(linalg::LinalgOp op) {
  SmallVector<utils::IteratorType> iterators = op.getIteratorTypesArray();
  return multiplySizes(
      op, [&](unsigned loop) { return iterators[loop] == utils::IteratorType::reduction; });
}

bool isWindowReduction(Operation *op) {
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  if (!linalgOp || linalgOp.getNumReductionLoops() == 0)
    return false;
  // Quotients and remainders are no windows: they say in which panel an element lies.
  bool slides = false;
  for (OpOperand *input : linalgOp.getDpsInputOperands())
    linalgOp.getMatchingIndexingMap(input).walkExprs([&](AffineExpr expr) {
      slides |= expr.getKind() == AffineExprKind::Add || expr.getKind() == AffineExprKind::Mul;
    });
  return slides;
}

bool changesInnermostDim(linalg::LinalgOp op) {
  if (op.getNumLoops() == 0 || op.getNumParallelLoops() != op.getNumLoops() ||
      op.getNumDpsInits() != 1)
    return false;
  AffineExpr written = op.getIndexingMapsArray().back().getResults().back();
  return llvm::any_of(op.getDpsInputOperands(), [&](OpOperand *input) {
    AffineMap map = op.getMatchingIndexingMap(input);
    return map.isPermutation() && map.getResults().back() != written;
  });
}

bool isPaddingOfWindows(Operation *op) {
  auto pad = dyn_cast<tensor::PadOp>(op);
  if (!pad || !pad.getConstantPaddingValue() || pad->use_empty())
    return false;
  return llvm::all_of(pad->getUsers(), [](Operation *user) {
    auto linalgOp = dyn_cast<linalg::LinalgOp>(user);
    return isa<tensor::DimOp>(user) || isWindowReduction(user) ||
           (linalgOp && matchProduct(linalgOp));
  });
}

} // namespace xc::plan
