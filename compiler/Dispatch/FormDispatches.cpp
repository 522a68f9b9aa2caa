//===- FormDispatches.cpp - Group the ops that become one kernel ===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// 1. Sizes of tensors are made from the function's arguments, so that no index
//    computation waits for a kernel. Results without elements are not computed.
// 2. A slice that is not contiguous is cloned into each op that reads it; one
//    that is needed as a tensor of its own becomes a copy. So does a part of a tensor that
//    attention reads where its rows are not aligned (AlignRows.h). Each attention gets ops of its
//    own that move its operands' rows (MovedRows.h), and such that make its mask (MaskProducers.h).
// 3. Ops are grouped (DispatchGroups.h), the groups are checked, and each moves into a plan.region.
// 4. The block is sorted, since a region stands where its last op stood.
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Kernel/IR/KernelOps.h"
#include "compiler/Dialect/Plan/IR/Copies.h"
#include "compiler/Dialect/Plan/IR/Products.h"
#include "compiler/Dialect/Plan/Transforms/Views.h"
#include "compiler/Dispatch/AlignRows.h"
#include "compiler/Dispatch/DispatchGroups.h"
#include "compiler/Dispatch/DispatchTarget.h"
#include "compiler/Dispatch/ExplainGroups.h"
#include "compiler/Dispatch/MaskProducers.h"
#include "compiler/Dispatch/MovedRows.h"
#include "compiler/Dispatch/Passes.h"
#include "compiler/Dispatch/ReusableMemory.h"

#include "mlir/Analysis/TopologicalSortUtils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SetVector.h"

namespace xc::plan {
#define GEN_PASS_DEF_FORMDISPATCHES
#include "compiler/Dispatch/Passes.h.inc"
} // namespace xc::plan

using namespace mlir;

namespace xc::plan {

/// The dynamic sizes of `tensor`, made from what its definition says rather than from the tensor
/// itself.
static SmallVector<Value> materializeDynamicSizes(OpBuilder &builder, Value tensor) {
  Location loc = tensor.getLoc();
  if (auto empty = tensor.getDefiningOp<tensor::EmptyOp>())
    return llvm::to_vector(empty.getDynamicSizes());
  if (auto destination = tensor.getDefiningOp<DestinationStyleOpInterface>())
    return materializeDynamicSizes(builder,
                                   destination.getTiedOpOperand(cast<OpResult>(tensor))->get());
  if (auto insert = tensor.getDefiningOp<tensor::InsertSliceOp>())
    return materializeDynamicSizes(builder, insert.getDest());
  SmallVector<Value> sizes;
  ReifiedRankedShapedTypeDims shapes;
  if (auto pad = tensor.getDefiningOp<tensor::PadOp>();
      pad && succeeded(reifyResultShapes(builder, pad, shapes))) {
    for (OpFoldResult size : shapes.front())
      if (auto value = dyn_cast<Value>(size))
        sizes.push_back(value);
    return sizes;
  }
  auto type = cast<RankedTensorType>(tensor.getType());
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (type.isDynamicDim(dim))
      sizes.push_back(builder.createOrFold<tensor::DimOp>(loc, tensor, dim));
  return sizes;
}

/// Nothing computes a tensor that has no elements.
static void replaceEmptyResults(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (!DispatchGrouping::isCompute(&op))
      continue;
    for (Value result : op.getResults()) {
      auto type = cast<RankedTensorType>(result.getType());
      if (!llvm::is_contained(type.getShape(), 0) || result.use_empty())
        continue;
      OpBuilder builder(&op);
      result.replaceAllUsesWith(tensor::EmptyOp::create(builder, op.getLoc(), type,
                                                        materializeDynamicSizes(builder, result)));
    }
  }
  eraseDeadOps(block);
}

/// True if `op` only shows another shape of a slice that is no view, to ops that compute.
static bool expandsFarSlice(Operation *op) {
  return isa<tensor::ExpandShapeOp>(op) && isFarSlice(op->getResult(0)) &&
         llvm::all_of(op->getUsers(), llvm::IsaPred<linalg::LinalgOp, tensor::DimOp>);
}

/// A copy of `tensor` by a linalg op, right behind it.
static Value copyBehind(Value tensor) {
  OpBuilder builder(tensor.getContext());
  builder.setInsertionPointAfterValue(tensor);
  return createCopy(builder, tensor.getLoc(), tensor);
}

/// Copies the slice that `op` shows in another shape behind it, if only ops read that which can
/// read its rows where they are: the copy may become theirs.
static void copyRowsBehind(Operation *op) {
  if (!isa<tensor::ExpandShapeOp>(op) || op->use_empty())
    return;
  Value expanded = op->getResult(0);
  auto readsRows = [&](Operation *user) {
    return llvm::is_contained(getRowOperands(user), expanded);
  };
  if (!llvm::all_of(op->getUsers(), readsRows))
    return;
  Value copy = copyBehind(expanded);
  expanded.replaceUsesWithIf(copy, [&](OpOperand &use) { return readsRows(use.getOwner()); });
}

/// Clones slices that are no views into the computing ops that read them; copies them for other
/// users.
static void placeSlices(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(block)) {
    auto slice = dyn_cast<tensor::ExtractSliceOp>(op);
    if (!slice || isContiguousSlice(slice))
      continue;
    Value copy;
    for (OpOperand &use : llvm::make_early_inc_range(slice->getUses())) {
      copyRowsBehind(use.getOwner());
      if (isa<linalg::LinalgOp, tensor::DimOp>(use.getOwner()) || expandsFarSlice(use.getOwner()))
        continue;
      if (!copy)
        copy = copyBehind(slice);
      use.set(copy);
    }
  }
}

/// True for what a kernel holds itself: initial values, scalar and splat constants, slices and
/// padding of what it binds.
static bool isClonedIntoKernels(Operation *op, const DispatchGrouping &grouping) {
  if (isPaddingOfWindows(op) || expandsFarSlice(op))
    return true;
  if (isa<tensor::EmptyOp, linalg::FillOp>(op))
    return grouping.isInitialValue(op);
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op))
    return !isContiguousSlice(slice);
  // Elements of other kinds, such as resources, are no splats either.
  DenseElementsAttr elements;
  return op->hasTrait<OpTrait::ConstantLike>() &&
         (!isa<TensorType>(op->getResult(0).getType()) ||
          (matchPattern(op, m_Constant(&elements)) && elements.isSplat()));
}

namespace {

struct FormDispatches final : impl::FormDispatchesBase<FormDispatches> {
  using FormDispatchesBase::FormDispatchesBase;

  void runOnOperation() override {
    func::FuncOp func = getOperation();
    if (func.isExternal())
      return;
    Block &block = func.getBody().front();
    replaceEmptyResults(block);
    placeSlices(block);
    copyUnalignedRows(block);
    llvm::DenseSet<Operation *> maskOps;
    if (fuse) {
      splitMovedRows(block);
      maskOps = splitMasks(block, getDispatchTarget(func));
    }
    DispatchGrouping grouping(block, fuse, std::move(maskOps));
    if (failed(grouping.verify()))
      return signalPassFailure();
    SmallVector<DictionaryAttr> records;
    if (explain)
      records = explainGroups(grouping);
    for (auto [number, group] : llvm::enumerate(grouping.getGroups()))
      if (RegionOp region = formRegion(*group, grouping); region && explain)
        region->setAttr(kFusionAttr, records[number]);
    eraseDeadOps(block);
    if (!sortTopologically(&block)) {
      func.emitOpError("expected no cycle between dispatches");
      return signalPassFailure();
    }
  }

  /// Null where nothing needs what the group computes.
  RegionOp formRegion(DispatchGroup &group, const DispatchGrouping &grouping);
  void cloneConstantsInto(RegionOp region, const DispatchGrouping &grouping);
};

RegionOp FormDispatches::formRegion(DispatchGroup &group, const DispatchGrouping &grouping) {
  Operation *last = group.ops.back();
  llvm::SmallPtrSet<Operation *, 16> inside(group.ops.begin(), group.ops.end());
  SmallVector<Value> escaping;
  SmallVector<Location> locations;
  auto isUsedOutside = [&](Value result) {
    return llvm::any_of(result.getUsers(), [&](Operation *user) { return !inside.contains(user); });
  };
  for (Operation *op : group.ops) {
    // A fused op is where its last one was; those before it are in its body.
    op->walk<WalkOrder::PreOrder>([&](Operation *inner) { locations.push_back(inner->getLoc()); });
    // An op with a kernel of its own works in all of its destinations (a sort moves values and
    // indices), whether they are asked for or not. What moves a result's rows takes its place.
    bool needsAll = !isa<linalg::LinalgOp>(op) && isa<DestinationStyleOpInterface>(op) &&
                    llvm::any_of(op->getResults(), [&](Value result) {
                      return isUsedOutside(group.getStored(result));
                    });
    for (Value result : op->getResults())
      if (Value stored = group.getStored(result);
          (needsAll || isUsedOutside(stored)) && !llvm::is_contained(escaping, stored))
        escaping.push_back(stored);
  }
  if (escaping.empty())
    return nullptr;
  OpBuilder builder(last);
  SmallVector<Value> dims;
  for (Value value : escaping)
    llvm::append_range(dims, materializeDynamicSizes(builder, value));
  SmallVector<Value> reusable;
  SmallVector<int64_t> reuse;
  findReusableMemory(group, escaping, reusable, reuse);
  if (reusable.empty())
    reuse.clear();
  auto region = RegionOp::create(builder, builder.getFusedLoc(locations),
                                 ValueRange(escaping).getTypes(), dims, reusable, reuse);
  Block *body = builder.createBlock(&region.getBody());
  for (Operation *op : group.ops)
    op->moveBefore(body, body->end());
  builder.setInsertionPointToEnd(body);
  YieldOp::create(builder, region.getLoc(), escaping);
  for (auto [inner, outer] : llvm::zip_equal(escaping, region.getResults()))
    inner.replaceUsesWithIf(
        outer, [&](OpOperand &use) { return !region->isProperAncestor(use.getOwner()); });
  cloneConstantsInto(region, grouping);
  return region;
}

void FormDispatches::cloneConstantsInto(RegionOp region, const DispatchGrouping &grouping) {
  // Operands of a clone may themselves have to be cloned, so walk until nothing is left.
  Block &body = region.getBody().front();
  IRMapping clones;
  llvm::SmallVector<Operation *> worklist;
  body.walk([&](Operation *op) { worklist.push_back(op); });
  while (!worklist.empty()) {
    Operation *op = worklist.pop_back_val();
    for (OpOperand &operand : op->getOpOperands()) {
      Operation *definition = operand.get().getDefiningOp();
      auto destination = dyn_cast<DestinationStyleOpInterface>(op);
      // What a kernel updates is in the result's memory before it.
      bool isUpdated = destination && kernel::writesPart(op) && destination.isDpsInit(&operand);
      // All that a kernel of the program's own gets is passed to it.
      bool isPassed = isa<kernel::CustomOp>(op) && !destination.isDpsInit(&operand);
      if (!definition || isUpdated || isPassed || region->isAncestor(definition) ||
          !isClonedIntoKernels(definition, grouping))
        continue;
      if (!clones.contains(operand.get())) {
        OpBuilder builder = OpBuilder::atBlockBegin(&body);
        Operation *clone = builder.clone(*definition);
        for (auto [original, copy] : llvm::zip_equal(definition->getResults(), clone->getResults()))
          clones.map(original, copy);
        clone->walk([&](Operation *nested) { worklist.push_back(nested); });
      }
      operand.set(clones.lookup(operand.get()));
    }
  }
  sortTopologically(&body);
}

} // namespace

} // namespace xc::plan
