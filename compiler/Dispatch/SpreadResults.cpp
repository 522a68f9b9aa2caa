//===- SpreadResults.cpp - Store what reductions compute apart ------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What comes back to the input of a strided convolution of one tap is a product whose elements lie
// apart, with zeros between them; so is that of one whose strides and dilation have a factor in
// common. A region that only spreads a product, or the sum of its parts, would read all of it, and
// write the whole. Instead the region that computes it does it:
//
//   %p = plan.region { yield %product : 8x14x14x64 }
//   %g = plan.region { yield (insert %p into zeros, strides [1, 2, 2, 1]) : 8x28x28x64 }
//
// becomes
//
//   %g = plan.region { yield (insert %product into zeros, strides [1, 2, 2, 1]) : 8x28x28x64 }
//
// whose kernel stores each element with the zeros beside it (plan::SpreadResult). So is a slice of
// what is computed stored, as where the phases of a convolution have more elements than the image.
//
// Refuses what something else reads as well, and wholes that cells do not cover.
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Plan/IR/SpreadResults.h"
#include "compiler/Dialect/Plan/IR/PlanOps.h"
#include "compiler/Dialect/Plan/IR/Reductions.h"
#include "compiler/Dialect/Plan/Transforms/SymbolicDims.h"
#include "compiler/Dispatch/DispatchGroupLimits.h"
#include "compiler/Dispatch/DispatchTarget.h"
#include "compiler/Dispatch/Passes.h"

#include "mlir/Analysis/TopologicalSortUtils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

namespace xc::plan {
#define GEN_PASS_DEF_SPREADRESULTS
#include "compiler/Dispatch/Passes.h.inc"
} // namespace xc::plan

using namespace mlir;

namespace xc::plan {

/// What `region` yields, where it only spreads a tensor or copies a slice of it.
static std::optional<SpreadResult> matchSpreading(RegionOp region) {
  Block &body = region.getBody().front();
  if (region->getNumResults() != 1)
    return std::nullopt;
  Value made = body.getTerminator()->getOperand(0);
  bool isAll = llvm::all_of(body.without_terminator(), [&](Operation &op) {
    return &op == made.getDefiningOp() ||
           isa<tensor::EmptyOp, tensor::ExtractSliceOp, linalg::FillOp>(op) ||
           op.hasTrait<OpTrait::ConstantLike>();
  });
  return isAll ? matchSpreadResult(made) : std::nullopt;
}

/// True if `region` is a product or another reduction, with what comes before and behind it element
/// by element, whose kernel stores one result.
static bool isReduction(RegionOp region) {
  Value made = region.getBody().front().getTerminator()->getOperand(0);
  bool reduces = false;
  for (Operation &op : region.getBody().front().without_terminator()) {
    auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
    // What lies apart already, a slice of which is asked for.
    bool isMade = op.getNumResults() == 1 && op.getResult(0) == made;
    bool isView = isa<tensor::EmptyOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp,
                      tensor::CastOp, tensor::ExtractSliceOp, tensor::PadOp>(op);
    if (!linalgOp && !isView && !(isMade && matchSpreadResult(made)) &&
        !op.hasTrait<OpTrait::ConstantLike>())
      return false;
    if (!linalgOp)
      continue;
    // Parts of a product's rows or columns leave on ways of their own.
    if (getRowPart(linalgOp) || getColumnPart(linalgOp))
      return false;
    reduces |= linalgOp.getNumReductionLoops() > 0;
  }
  return reduces && region->getNumResults() == 1;
}

/// The region of the reduction that `spread` has, with the shapes in between, the last one first;
/// null if it is none, or is needed as it is.
static RegionOp findReduction(const SpreadResult &spread, SmallVectorImpl<Operation *> &reshapes) {
  Value tensor = spread.source;
  while (tensor.hasOneUse() && tensor.getDefiningOp() &&
         isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(tensor.getDefiningOp())) {
    reshapes.push_back(tensor.getDefiningOp());
    tensor = tensor.getDefiningOp()->getOperand(0);
  }
  auto region = tensor.getDefiningOp<RegionOp>();
  return region && tensor.hasOneUse() && isReduction(region) ? region : nullptr;
}

/// True if the cells are all of the whole that `region` makes, also along dims of symbolic size.
static bool coversWhole(RegionOp region, const SpreadResult &spread, SymbolicDims &dims) {
  auto all = cast<RankedTensorType>(region->getResult(0).getType()),
       own = cast<RankedTensorType>(spread.source.getType());
  FailureOr<SmallVector<FormulaAttr>> allSizes = dims.getShape(region->getResult(0)),
                                      ownSizes = dims.getShape(spread.source);
  if (failed(allSizes) || failed(ownSizes))
    return false;
  for (auto [dim, cell] : llvm::enumerate(spread.dims)) {
    // A slice is inside of what it is of.
    if (cell.isSlice || (!own.isDynamicDim(dim) && !all.isDynamicDim(dim)))
      continue;
    FormulaAttr covered = (*ownSizes)[dim] * cell.distance;
    if (cell.distance == 1 ? covered != (*allSizes)[dim]
                           : (covered - (*allSizes)[dim]).asConstant().value_or(-1) < 0)
      return false;
  }
  return true;
}

/// True if a slice of what `reduction` makes, or what is spread of it, is one as well.
static bool canFollow(const SpreadResult &spread, RegionOp reduction, bool isReshaped) {
  std::optional<SpreadResult> made =
      matchSpreadResult(reduction.getBody().front().getTerminator()->getOperand(0));
  bool isSpread = llvm::any_of(spread.dims, [](const auto &dim) { return dim.distance != 1; });
  return !made || (!isSpread && !made->isSlice() && !isReshaped);
}

/// Lets `reduction` do what `region` does, which is erased.
static void merge(RegionOp reduction, ArrayRef<Operation *> reshapes, RegionOp region) {
  Block &body = reduction.getBody().front(), &spreading = region.getBody().front();
  Operation *yield = body.getTerminator();
  OpBuilder builder(yield);
  IRMapping mapping;
  mapping.map(reduction->getResult(0), yield->getOperand(0));
  for (Operation *reshape : llvm::reverse(reshapes))
    builder.clone(*reshape, mapping);
  for (Operation &op : spreading.without_terminator())
    builder.clone(op, mapping);
  yield->setOperand(0, mapping.lookup(spreading.getTerminator()->getOperand(0)));

  builder.setInsertionPoint(region);
  auto merged = RegionOp::create(
      builder, builder.getFusedLoc({reduction.getLoc(), region.getLoc()}), region->getResultTypes(),
      region.getDims(), ValueRange(), ArrayRef<int64_t>());
  merged->setDiscardableAttrs(reduction->getDiscardableAttrDictionary());
  merged.getBody().takeBody(reduction.getBody());
  region->getResult(0).replaceAllUsesWith(merged->getResult(0));
  region->erase();
  for (Operation *reshape : reshapes)
    reshape->erase();
  reduction->erase();
}

namespace {

struct SpreadResults final : impl::SpreadResultsBase<SpreadResults> {
  void runOnOperation() override {
    func::FuncOp func = getOperation();
    if (func.isExternal() || !getDispatchTarget(func).storesApart())
      return;
    Block &block = func.getBody().front();
    for (auto region : llvm::to_vector(block.getOps<RegionOp>())) {
      std::optional<SpreadResult> spread = matchSpreading(region);
      SmallVector<Operation *> reshapes;
      RegionOp reduction = spread ? findReduction(*spread, reshapes) : nullptr;
      if (!reduction || !canFollow(*spread, reduction, !reshapes.empty()))
        continue;
      SymbolicDims dims(func);
      if (coversWhole(region, *spread, dims))
        merge(reduction, reshapes, region);
    }
  }
};

} // namespace

} // namespace xc::plan
