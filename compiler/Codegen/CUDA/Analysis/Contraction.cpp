//===- Contraction.cpp - Matrix products and what surrounds them ----------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Analysis/Contraction.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/LinalgInterfaces.h"

using namespace mlir;

namespace xc::cuda {

/// Follows casts from `value` back to a block argument; the casts are returned in the order of
/// execution.
static BlockArgument traceCasts(Value value, SmallVector<Operation *> &casts) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<arith::ExtFOp, arith::ExtSIOp, arith::ExtUIOp, arith::SIToFPOp, arith::UIToFPOp>(op))
      return nullptr;
    casts.insert(casts.begin(), op);
    value = op->getOperand(0);
  }
  return cast<BlockArgument>(value);
}

static bool matchBody(linalg::LinalgOp op, Contraction &result) {
  Operation *add = op.getBlock()->getTerminator()->getOperand(0).getDefiningOp();
  if (!isa_and_nonnull<arith::AddFOp, arith::AddIOp>(add))
    return false;
  BlockArgument accumulator = op.getRegionOutputArgs().front();
  Value product = add->getOperand(0) == accumulator ? add->getOperand(1) : add->getOperand(0);
  Operation *mul = product.getDefiningOp();
  if (!llvm::is_contained(add->getOperands(), Value(accumulator)) ||
      !isa_and_nonnull<arith::MulFOp, arith::MulIOp>(mul))
    return false;
  result.accumulatorType = accumulator.getType();
  for (Value factor : mul->getOperands()) {
    SmallVector<Operation *> casts;
    BlockArgument argument = traceCasts(factor, casts);
    if (!argument || argument == accumulator)
      return false;
    OpOperand *operand = op.getMatchingOpOperand(argument);
    (operand == &op->getOpOperand(0) ? result.a : result.b) = {operand, casts, false};
  }
  return result.a.operand && result.b.operand;
}

bool Contraction::hasHalfOperands() const {
  auto getType = [](const Side &side) -> Type {
    if (side.casts.size() != 1 || !isa<arith::ExtFOp>(side.casts.front()))
      return nullptr;
    return getElementTypeOrSelf(side.operand->get());
  };
  Type type = getType(a);
  return type && type == getType(b) && (type.isF16() || type.isBF16()) && accumulatorType.isF32();
}

/// The innermost dim of `map`'s results that is not of size 1, or nothing.
static std::optional<unsigned> getInnermostDim(AffineMap map, ArrayRef<int64_t> ranges) {
  for (AffineExpr expr : llvm::reverse(map.getResults()))
    if (auto dim = dyn_cast<AffineDimExpr>(expr); dim && ranges[dim.getPosition()] != 1)
      return dim.getPosition();
  return std::nullopt;
}

FailureOr<Contraction> matchContraction(const KernelInfo &kernel, std::string &reason) {
  SmallVector<linalg::LinalgOp> reductions = kernel.getReductions();
  if (reductions.size() != 1 || !linalg::isaContractionOpInterface(reductions.front())) {
    reason = "not a single contraction";
    return failure();
  }
  FailureOr<ReductionGroup> group = matchReductionGroup(kernel, reason);
  if (failed(group))
    return failure();
  Contraction result;
  result.group = *group;
  linalg::LinalgOp op = result.group.root;
  result.a.operand = result.b.operand = nullptr;
  FailureOr<linalg::ContractionDimensions> dims = linalg::inferContractionDims(op);
  if (failed(dims) || !matchBody(op, result)) {
    reason = "the body is not a multiplication and an addition";
    return failure();
  }
  result.batch.assign(dims->batch.begin(), dims->batch.end());
  result.m.assign(dims->m.begin(), dims->m.end());
  result.n.assign(dims->n.begin(), dims->n.end());
  result.k.assign(dims->k.begin(), dims->k.end());

  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  auto count = [&](ArrayRef<unsigned> group) {
    int64_t product = 1;
    for (unsigned dim : group)
      product = ShapedType::isDynamic(ranges[dim]) ? ShapedType::kDynamic : product * ranges[dim];
    return product;
  };
  if (count(result.m) == 1 || count(result.n) == 1) {
    reason = "a product of a matrix and a vector is a reduction";
    return failure();
  }
  for (const ReductionGroup::Result &output : result.group.results)
    if (!output.isReduced) {
      reason = "an output over the reduced dims";
      return failure();
    }
  // The side whose dims are innermost in the result is written along, and so takes the place of n.
  std::optional<unsigned> innermost =
      getInnermostDim(op.getIndexingMapMatchingResult(op->getResult(0)), ranges);
  if (innermost && llvm::is_contained(result.m, *innermost)) {
    std::swap(result.m, result.n);
    std::swap(result.a, result.b);
  }
  for (Contraction::Side *side : {&result.a, &result.b}) {
    std::optional<unsigned> dim = getInnermostDim(op.getMatchingIndexingMap(side->operand), ranges);
    side->isKContiguous = dim && llvm::is_contained(result.k, *dim);
    // Groups of dims are walked row-major, so their order is that of the operand.
    auto order = [&](SmallVector<unsigned> &group) {
      SmallVector<unsigned> ordered;
      for (AffineExpr expr : op.getMatchingIndexingMap(side->operand).getResults())
        if (auto dimExpr = dyn_cast<AffineDimExpr>(expr);
            dimExpr && llvm::is_contained(group, dimExpr.getPosition()))
          ordered.push_back(dimExpr.getPosition());
      if (ordered.size() == group.size())
        group = ordered;
    };
    order(side == &result.a ? result.m : result.n);
    order(result.k);
  }
  return result;
}

} // namespace xc::cuda
