//===- PlaceUpdates.cpp - Which writes of parts go where the rest is ===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A `kernel.update`, and a `kernel.scatter` with `in_place`, touch only what they write: the plan
// gives the result the memory of the destination, or copies the destination first. That is what one
// wants where the destination's memory can be taken, and no worse than a pass over all of it where
// it cannot. It is worse only where that pass is there anyway, since a destination that is computed
// element by element, or a result that is read so, would fuse with it; but many updates that never
// meet would be sorted for such a pass, which costs more than the pass.
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Array/IR/AttributeNames.h"
#include "compiler/Dialect/Plan/Transforms/Views.h"
#include "compiler/Dispatch/DispatchGroupLimits.h"
#include "compiler/Dispatch/DispatchTarget.h"
#include "compiler/Dispatch/Passes.h"

#include "compiler/Dialect/Array/IR/ArrayOps.h"
#include "compiler/Dialect/Kernel/IR/KernelOps.h"
#include "compiler/Dialect/Plan/IR/PlanOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace xc::plan {
#define GEN_PASS_DEF_PLACEUPDATES
#include "compiler/Dispatch/Passes.h.inc"
} // namespace xc::plan

using namespace mlir;

namespace xc::plan {

/// Updates of a scatter that a thread may well look at for each that it applies.
static constexpr int64_t kFewUpdates = 64;

static bool isReshape(Operation *op) {
  return isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::CastOp>(op);
}

/// What `tensor` is another shape of.
static Value getReshaped(Value tensor) {
  while (Operation *op = tensor.getDefiningOp()) {
    if (!isReshape(op))
      break;
    tensor = op->getOperand(0);
  }
  return tensor;
}

/// True if everything that reads `tensor`, whatever its shape there, comes before `op`.
static bool isReadBeforeOnly(Value tensor, Operation *op) {
  return llvm::all_of(tensor.getUsers(), [&](Operation *user) {
    Operation *outer = op->getBlock()->findAncestorOpInBlock(*user);
    if (outer == op || isa<tensor::DimOp>(user))
      return true;
    return isView(user) ? isReadBeforeOnly(user->getResult(0), op) : outer->isBeforeInBlock(op);
  });
}

/// True if the op reads what it writes into in another way, too.
static bool isReadBeside(Operation *op, Value dest) {
  return llvm::count(op->getOperands(), dest) > 1;
}

/// True if the plan may well give `op`'s result the memory of its destination. The plan decides, by
/// lifetimes; where it cannot after all, it copies.
static bool mayTakeMemory(Operation *op, Value dest) {
  Value root = getReshaped(dest);
  if (!isReadBeforeOnly(root, op) || isReadBeside(op, dest))
    return false;
  if (auto argument = dyn_cast<BlockArgument>(root)) {
    auto func = cast<func::FuncOp>(argument.getOwner()->getParentOp());
    return func.isPrivate() || func.getArgAttr(argument.getArgNumber(), array::kDonatedAttr);
  }
  Operation *definition = root.getDefiningOp();
  return !definition->hasTrait<OpTrait::ConstantLike>() &&
         !isa<array::ParameterOp, tensor::EmptyOp, tensor::ExtractSliceOp, linalg::FillOp>(
             definition) &&
         !isElementwise(definition);
}

/// True if a pass over all of the destination would fuse with what makes it or reads the result.
static bool wouldFuse(Operation *op, Value dest) {
  if (Operation *definition = getReshaped(dest).getDefiningOp())
    if (isElementwise(definition) || isa<tensor::EmptyOp>(definition) ||
        definition->hasTrait<OpTrait::ConstantLike>())
      return true;
  return llvm::any_of(op->getResult(0).getUsers(), isElementwise);
}

//===----------------------------------------------------------------------===//
// Passes over all of the destination
//===----------------------------------------------------------------------===//

namespace {

/// Builds the elementwise op that an update is.
class UpdateExpander {
public:
  explicit UpdateExpander(kernel::UpdateOp op)
      : op(op), builder(op), loc(op.getLoc()),
        rank(cast<RankedTensorType>(op.getDest().getType()).getRank()) {}

  void run();

private:
  Value emitElement(OpBuilder &b, Value old, ValueRange starts);

  kernel::UpdateOp op;
  OpBuilder builder;
  Location loc;
  int64_t rank;
  SmallVector<Value> boxSizes, lastStarts;
};

} // namespace

/// The update's element here, or `old` outside of the box. The position read is inside the update
/// in any case.
Value UpdateExpander::emitElement(OpBuilder &b, Value old, ValueRange starts) {
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  Value isInside;
  SmallVector<Value> position;
  for (int64_t dim = 0; dim < rank; ++dim) {
    Value here = linalg::IndexOp::create(b, loc, dim);
    if (op.isWhole(dim)) {
      position.push_back(here);
      continue;
    }
    Value start = op.clampStart(b, loc, dim, starts[dim], lastStarts[dim]);
    // Before the start the difference is huge as an unsigned number.
    Value offset = arith::SubIOp::create(b, loc, here, start);
    Value inDim = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, offset, boxSizes[dim]);
    isInside = isInside ? arith::AndIOp::create(b, loc, isInside, inDim).getResult() : inDim;
    position.push_back(arith::SelectOp::create(b, loc, inDim, offset, zero));
  }
  Value element = tensor::ExtractOp::create(b, loc, op.getUpdate(), position);
  return isInside ? arith::SelectOp::create(b, loc, isInside, element, old).getResult() : element;
}

void UpdateExpander::run() {
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, loc, op.getDest());
  for (auto [size, box] :
       llvm::zip_equal(sizes, tensor::getMixedSizes(builder, loc, op.getUpdate()))) {
    boxSizes.push_back(getValueOrCreateConstantIndexOp(builder, loc, box));
    Value whole = getValueOrCreateConstantIndexOp(builder, loc, size);
    lastStarts.push_back(arith::SubIOp::create(builder, loc, whole, boxSizes.back()));
  }
  auto type = cast<RankedTensorType>(op.getDest().getType());
  Value empty = tensor::EmptyOp::create(builder, loc, sizes, type.getElementType());
  SmallVector<Value> inputs{op.getDest()};
  llvm::append_range(inputs, op.getStarts());
  SmallVector<AffineMap> maps(inputs.size() + 1, AffineMap::get(rank, 0, builder.getContext()));
  maps.front() = maps.back() = builder.getMultiDimIdentityMap(rank);
  SmallVector<utils::IteratorType> iterators(rank, utils::IteratorType::parallel);
  auto generic = linalg::GenericOp::create(
      builder, loc, TypeRange(empty.getType()), inputs, empty, maps, iterators,
      [&](OpBuilder &b, Location, ValueRange args) {
        linalg::YieldOp::create(b, loc,
                                emitElement(b, args.front(), args.drop_front().drop_back()));
      });
  Value result = generic.getResult(0);
  if (result.getType() != type)
    result = tensor::CastOp::create(builder, loc, type, result);
  op.getResult(0).replaceAllUsesWith(result);
  op.erase();
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// True if updates that meet in a row cost no more than those that do not.
static bool hasFewUpdates(kernel::ScatterOp op) {
  ArrayRef<int64_t> batch =
      cast<RankedTensorType>(op.getIndices().getType()).getShape().drop_back();
  return !ShapedType::isDynamicShape(batch) && ShapedType::getNumElements(batch) <= kFewUpdates;
}

/// True if the updates need no order of their rows.
static bool needsNoOrder(kernel::ScatterOp op) {
  return op.getUnique() || getDispatchTarget(op).appliesUpdatesInOrder() || hasFewUpdates(op);
}

/// True if a pass over the destination wants the updates in order of their rows first, which costs
/// more than the destination in a pass of its own: updates that never meet go there as they come.
static bool savesSorting(kernel::ScatterOp op) {
  return op.getUnique() && getDispatchTarget(op).sortsUpdates() && !hasFewUpdates(op) &&
         !isReadBeside(op, op.getDest());
}

namespace {

struct PlaceUpdates final : impl::PlaceUpdatesBase<PlaceUpdates> {
  void runOnOperation() override {
    func::FuncOp func = getOperation();
    if (func.isExternal())
      return;
    Block &block = func.getBody().front();
    for (auto op : block.getOps<kernel::ScatterOp>())
      if ((mayTakeMemory(op, op.getDest()) && needsNoOrder(op)) || savesSorting(op))
        op.setInPlace(true);
    for (auto op : llvm::make_early_inc_range(block.getOps<kernel::UpdateOp>()))
      if (isReadBeside(op, op.getDest()) ||
          (!mayTakeMemory(op, op.getDest()) && wouldFuse(op, op.getDest())))
        UpdateExpander(op).run();
  }
};

} // namespace

} // namespace xc::plan
