//===- FoldProductUnitDims.cpp - Matrix products without dims of size 1 ---===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Upstream's folding of unit dims knows generic ops alone. Where a product of one batch keeps the
// dim that the ops around it have lost, a reshape lies between them, and they share no kernel:
//
//   %c = contract ins(%a : 1x16x8x4, %b : 1x16x4x8) : 1x16x8x8
//   %d = collapse(%c) : 16x8x8   %e = generic { exp } ins(%d)
//
// So the dims that name a batch of one go, and those of rows and columns that have others: a
// product of matrices stays one.
//
// An operand that is a broadcast is read from what is broadcast before that: a weight that a batch
// of products shares makes one product of them, whose rows are those of all.
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Plan/IR/Products.h"
#include "compiler/Dispatch/CropWindows.h"
#include "compiler/Dispatch/Passes.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/SmallBitVector.h"

namespace xc::plan {
#define GEN_PASS_DEF_FOLDPRODUCTUNITDIMS
#include "compiler/Dispatch/Passes.h.inc"
} // namespace xc::plan

using namespace mlir;

namespace xc::plan {

/// True if all operands that `loop` indexes are known to have size 1 there.
static bool isUnit(linalg::ContractOp op, unsigned loop) {
  for (OpOperand &operand : op->getOpOperands()) {
    std::optional<unsigned> dim = op.getMatchingIndexingMap(&operand).getResultPosition(
        getAffineDimExpr(loop, op.getContext()));
    if (dim && cast<RankedTensorType>(operand.get().getType()).getDimSize(*dim) != 1)
      return false;
  }
  return true;
}

/// The loops that `op` does without.
static llvm::SmallBitVector findLoops(linalg::ContractOp op) {
  llvm::SmallBitVector drop(op.getNumLoops());
  std::optional<ProductLoops> loops = matchProduct(op);
  if (!loops)
    return drop;
  for (unsigned loop : loops->batch)
    drop[loop] = isUnit(op, loop);
  for (ArrayRef<unsigned> role : {ArrayRef(loops->m), ArrayRef(loops->n)}) {
    size_t left = role.size();
    for (unsigned loop : role)
      if (left > 1 && isUnit(op, loop)) {
        drop.set(loop);
        --left;
      }
  }
  // A product of two vectors in a batch of one keeps a dim to be a tensor of.
  bool isAll = llvm::all_of(op.getIndexingMapsArray().back().getResults(), [&](AffineExpr expr) {
    return drop.test(cast<AffineDimExpr>(expr).getPosition());
  });
  if (isAll)
    drop.reset();
  return drop;
}

/// The dims of a tensor indexed by `map`, in groups of one that stays and those that go with it:
/// the ones before it, and behind the last one. `drop` are loops.
static SmallVector<ReassociationIndices> groupDims(AffineMap map,
                                                   const llvm::SmallBitVector &drop) {
  SmallVector<ReassociationIndices> groups;
  ReassociationIndices current;
  for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
    current.push_back(dim);
    if (drop.test(cast<AffineDimExpr>(expr).getPosition()))
      continue;
    groups.push_back(std::move(current));
    current.clear();
  }
  if (!groups.empty())
    groups.back().append(current);
  return groups;
}

static AffineMap dropLoops(AffineMap map, const llvm::SmallBitVector &drop) {
  SmallVector<AffineExpr> results;
  unsigned kept = drop.size() - drop.count();
  for (AffineExpr expr : map.getResults()) {
    unsigned loop = cast<AffineDimExpr>(expr).getPosition(), before = 0;
    for (unsigned other : drop.set_bits())
      before += other < loop;
    if (!drop.test(loop))
      results.push_back(getAffineDimExpr(loop - before, map.getContext()));
  }
  return AffineMap::get(kept, 0, results, map.getContext());
}

static void fold(linalg::ContractOp op, const llvm::SmallBitVector &drop) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  SmallVector<Value> operands;
  SmallVector<AffineMap> maps;
  for (OpOperand &operand : op->getOpOperands()) {
    AffineMap map = op.getMatchingIndexingMap(&operand), folded = dropLoops(map, drop);
    maps.push_back(folded);
    operands.push_back(
        folded.getNumResults() == map.getNumResults()
            ? operand.get()
            : tensor::CollapseShapeOp::create(builder, loc, operand.get(), groupDims(map, drop)));
  }
  SmallVector<NamedAttribute> attributes;
  for (NamedAttribute attribute : op->getAttrs())
    if (attribute.getName() != op.getIndexingMapsAttrName())
      attributes.push_back(attribute);
  auto product = linalg::ContractOp::create(builder, loc, operands.back().getType(),
                                            ValueRange(operands).drop_back(), operands.back(),
                                            builder.getAffineMapArrayAttr(maps), attributes);
  Value result = product.getResult(0);
  if (result.getType() != op.getResult(0).getType())
    result = tensor::ExpandShapeOp::create(builder, loc, op.getResult(0).getType(), result,
                                           groupDims(op.getIndexingMapsArray().back(), drop));
  op.getResult(0).replaceAllUsesWith(result);
  op.erase();
}

/// What a broadcast repeats, and where it is at each point of its result; null if `tensor` is none.
static std::pair<Value, AffineMap> getBroadcast(Value tensor) {
  auto generic = tensor.getDefiningOp<linalg::GenericOp>();
  if (!generic || generic.getNumDpsInputs() != 1 || generic.getNumDpsInits() != 1 ||
      generic.getNumReductionLoops() != 0 ||
      generic.getBlock()->getTerminator()->getOperand(0) != generic.getBlock()->getArgument(0))
    return {};
  AffineMap from = generic.getIndexingMapsArray()[0];
  if (!generic.getIndexingMapsArray()[1].isIdentity() || !from.isProjectedPermutation() ||
      from.getNumResults() == from.getNumDims() || from.getNumResults() == 0)
    return {};
  return {generic.getDpsInputs().front(), from};
}

/// Reads broadcast operands from what they repeat.
static void readBroadcasts(linalg::ContractOp op) {
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  bool isChanged = false;
  for (OpOperand *operand : op.getDpsInputOperands()) {
    auto [source, from] = getBroadcast(operand->get());
    if (!source)
      continue;
    AffineMap read = from.compose(maps[operand->getOperandNumber()]);
    // Rows that are all alike stay, and so do repeated terms of a sum: an operand has each loop of
    // the result, both have each loop that is summed over.
    AffineMap other = maps[1 - operand->getOperandNumber()];
    bool isIndexed = llvm::all_of(llvm::seq(op.getNumLoops()), [&](unsigned loop) {
      bool isRead = read.isFunctionOfDim(loop), isOther = other.isFunctionOfDim(loop);
      return maps.back().isFunctionOfDim(loop) ? isRead || isOther : isRead && isOther;
    });
    if (!isIndexed)
      continue;
    maps[operand->getOperandNumber()] = read;
    operand->set(source);
    isChanged = true;
  }
  if (isChanged)
    op.setIndexingMapsAttr(Builder(op.getContext()).getAffineMapArrayAttr(maps));
}

namespace {

struct FoldProductUnitDims final : impl::FoldProductUnitDimsBase<FoldProductUnitDims> {
  void runOnOperation() override {
    dropWholeSlices(getOperation());
    getOperation().walk(readBroadcasts);
    for (auto op : llvm::make_early_inc_range(getOperation().getOps<linalg::ContractOp>()))
      if (llvm::SmallBitVector drop = findLoops(op); drop.any())
        fold(op, drop);
    // Upstream's folding takes what is left of an index for a loop over the whole dim.
    cropWindowsOfOnePlace(getOperation());
  }
};

} // namespace

} // namespace xc::plan
