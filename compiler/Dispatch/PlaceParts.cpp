//===- PlaceParts.cpp - Store parts of a tensor where they are joined -----===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A region that only puts tensors side by side along one dim (array.concatenate) would copy each of
// them. Instead the kernel that makes such a part stores it as a box of the whole:
//
//   %a = plan.region { yield %conv : 8x48 }
//   %b = plan.region { yield %relu : 8x64 }
//   %c = plan.region { insert %a, insert %b, yield : 8x112 }
//
// becomes
//
//   %a = plan.region { yield (kernel.update %conv at [0, 0] into tensor.empty) : 8x112 }
//   %c = plan.region { yield (kernel.update %relu at [0, 48] into %a) : 8x112 }
//
// The boxes share no element, so that the regions may stand in any order, and their kernels may run
// side by side (kPartsAttr). A part that something else needs as well is stored twice, if its
// kernel is elementwise. Parts that no kernel can store in place are copied as before, by one
// kernel with all that lies between them: there are never more kernels.
//
// Refuses wholes whose size along the dim is symbolic, parts that one region makes two of, and
// parts that are such wholes.
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Kernel/IR/KernelOps.h"
#include "compiler/Dialect/Plan/IR/Parts.h"
#include "compiler/Dialect/Plan/IR/PlanOps.h"
#include "compiler/Dialect/Plan/Transforms/SymbolicDims.h"
#include "compiler/Dispatch/DispatchGroupLimits.h"
#include "compiler/Dispatch/DispatchGroups.h"
#include "compiler/Dispatch/DispatchTarget.h"
#include "compiler/Dispatch/Passes.h"

#include "mlir/Analysis/TopologicalSortUtils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

namespace xc::plan {
#define GEN_PASS_DEF_PLACEPARTS
#include "compiler/Dispatch/Passes.h.inc"
} // namespace xc::plan

using namespace mlir;

namespace xc::plan {

namespace {

/// A part of a whole, from `start` on along its dim.
struct Part {
  tensor::InsertSliceOp insertion;
  int64_t start;
  /// The region that can store it there, and which of its results the part is; null if none can.
  RegionOp region;
  unsigned result = 0;
  /// From that result to the part, the last one first.
  SmallVector<Operation *> reshapes;
  /// Something else reads the result.
  bool isKept = false;

  /// It may be the result of a region that has been replaced meanwhile.
  Value getTensor() { return insertion.getSource(); }
  int64_t getSize(unsigned dim) { return insertion.getSourceType().getDimSize(dim); }
};

/// Takes one region that puts parts side by side out of the way, if possible.
class PartPlacer {
public:
  PartPlacer(RegionOp whole, const DispatchTarget &target)
      : whole(whole), target(target), type(cast<RankedTensorType>(whole->getResult(0).getType())) {}

  bool match();
  void run();

private:
  bool matchInsertion(tensor::InsertSliceOp insert, SymbolicDims &dims);
  void findRegion(Part &part);
  bool canStore(RegionOp region, bool keepsResult) const;
  bool chooseParts();
  Value update(OpBuilder &builder, Value part, int64_t start, Value init);
  Value storeIn(Part &part, Value init);
  void copyRest(Value init);

  RegionOp whole;
  const DispatchTarget &target;
  RankedTensorType type; // of the whole
  std::optional<unsigned> axis;
  SmallVector<Part> parts;        // side by side
  unsigned rest = 0, restEnd = 0; // of those, the ones that are copied
};

} // namespace

static bool changesShapeOnly(Operation *op) {
  return isa_and_nonnull<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op);
}

bool PartPlacer::canStore(RegionOp region, bool keepsResult) const {
  llvm::SmallSetVector<Value, 16> bound(region.result_begin(), region.result_end());
  for (Operation &op : region.getBody().front().without_terminator()) {
    for (Value used : getUsedValues(&op))
      if (isa<RankedTensorType>(used.getType()) &&
          !region->isProperAncestor(used.getParentBlock()->getParentOp()))
        bound.insert(used);
    if (isa<tensor::EmptyOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::CastOp,
            tensor::ExtractSliceOp, tensor::PadOp, linalg::FillOp>(op) ||
        op.hasTrait<OpTrait::ConstantLike>() ||
        (isa<kernel::UpdateOp>(op) && region->hasAttr(kPartsAttr)))
      continue;
    if (keepsResult ? !isElementwise(&op) : !target.storesBoxes(&op))
      return false;
  }
  return bound.size() < kMaxBindings;
}

void PartPlacer::findRegion(Part &part) {
  Value tensor = part.getTensor();
  bool isOnlyRead = true;
  for (; changesShapeOnly(tensor.getDefiningOp()); tensor = tensor.getDefiningOp()->getOperand(0)) {
    part.reshapes.push_back(tensor.getDefiningOp());
    isOnlyRead &= tensor.hasOneUse();
  }
  isOnlyRead &= tensor.hasOneUse();
  auto region = tensor.getDefiningOp<RegionOp>();
  if (!region || region->getBlock() != whole->getBlock() || !canStore(region, !isOnlyRead))
    return;
  // What is itself joined from parts is nowhere but in its memory.
  unsigned result = cast<OpResult>(tensor).getResultNumber();
  Value made = region.getBody().front().getTerminator()->getOperand(result);
  if (made.getDefiningOp<kernel::UpdateOp>())
    return;
  part.region = region;
  part.result = result;
  part.isKept = !isOnlyRead;
}

/// Adds the part that `insert` puts where those before it end; false if it does anything else.
bool PartPlacer::matchInsertion(tensor::InsertSliceOp insert, SymbolicDims &dims) {
  RankedTensorType part = insert.getSourceType();
  if (part.getRank() != type.getRank() || !insert.hasUnitStride() ||
      llvm::any_of(insert.getStaticOffsets(), ShapedType::isDynamic))
    return false;
  FailureOr<SmallVector<FormulaAttr>> own = dims.getShape(insert.getSource()),
                                      all = dims.getShape(whole->getResult(0));
  if (failed(own) || failed(all))
    return false;
  for (unsigned dim = 0; dim < type.getRank(); ++dim) {
    if ((*own)[dim] == (*all)[dim] && insert.getStaticOffset(dim) == 0)
      continue;
    if (part.isDynamicDim(dim) || type.isDynamicDim(dim) || axis.value_or(dim) != dim)
      return false;
    axis = dim;
  }
  if (!axis)
    return false;
  parts.push_back({insert, insert.getStaticOffset(*axis), {}, 0, {}, false});
  return true;
}

/// Chooses what is copied: what no region can store, and all that lies between such parts. False if
/// that is everything.
bool PartPlacer::chooseParts() {
  llvm::SmallPtrSet<Operation *, 8> used;
  for (Part &part : parts) {
    findRegion(part);
    // A kernel writes one box of a tensor.
    if (part.region && !used.insert(part.region).second)
      part.region = nullptr;
  }
  auto isCopied = [](const Part &part) { return !part.region; };
  auto first = llvm::find_if(parts, isCopied);
  rest = first - parts.begin();
  restEnd = first == parts.end() ? rest : parts.size();
  while (restEnd > rest && !isCopied(parts[restEnd - 1]))
    --restEnd;
  return restEnd - rest < parts.size();
}

bool PartPlacer::match() {
  Block &body = whole.getBody().front();
  if (whole->getNumResults() != 1)
    return false;
  SmallVector<tensor::InsertSliceOp> insertions;
  Value tensor = body.getTerminator()->getOperand(0);
  for (; auto insert = tensor.getDefiningOp<tensor::InsertSliceOp>(); tensor = insert.getDest())
    insertions.push_back(insert);
  if (insertions.empty() || !tensor.getDefiningOp<tensor::EmptyOp>())
    return false;
  SymbolicDims dims(whole->getParentOfType<func::FuncOp>());
  for (tensor::InsertSliceOp insert : insertions)
    if (!matchInsertion(insert, dims))
      return false;
  llvm::sort(parts, [](const Part &a, const Part &b) { return a.start < b.start; });
  int64_t end = 0;
  for (Part &part : parts) {
    if (part.start != end)
      return false;
    end += part.getSize(*axis);
  }
  return end == type.getDimSize(*axis) && chooseParts();
}

/// Puts `part` into `init`; into memory that nobody wrote if that is null.
Value PartPlacer::update(OpBuilder &builder, Value part, int64_t start, Value init) {
  Location loc = whole.getLoc();
  if (!init)
    init = tensor::EmptyOp::create(builder, loc, type, whole.getDims());
  auto scalar = RankedTensorType::get({}, builder.getI64Type());
  SmallVector<Value> starts;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    starts.push_back(arith::ConstantOp::create(
        builder, loc, DenseElementsAttr::get(scalar, dim == *axis ? start : int64_t(0))));
  return kernel::UpdateOp::create(builder, loc, type, part, starts, init, ArrayRef<int64_t>())
      ->getResult(0);
}

/// How many dynamic sizes the region's results before `index` have.
static unsigned countDims(RegionOp region, unsigned index) {
  unsigned count = 0;
  for (Value result : region.getResults().take_front(index))
    count += cast<RankedTensorType>(result.getType()).getNumDynamicDims();
  return count;
}

/// Lets the part's region store it into `init`; returns the whole as far as it then is.
Value PartPlacer::storeIn(Part &part, Value init) {
  RegionOp region = part.region;
  Operation *yield = region.getBody().front().getTerminator();
  OpBuilder builder(yield);
  IRMapping mapping;
  Value made = yield->getOperand(part.result);
  mapping.map(region->getResult(part.result), made);
  for (Operation *reshape : llvm::reverse(part.reshapes))
    made = builder.clone(*reshape, mapping)->getResult(0);
  Value stored = update(builder, made, part.start, init);

  // The new result takes the place of the old one, or stands behind all others.
  unsigned place = part.isKept ? region.getNumResults() : part.result;
  SmallVector<Type> types(region.getResultTypes());
  SmallVector<Value> sizes(region.getDims());
  SmallVector<int64_t> reuse(region.getReuse());
  unsigned at = countDims(region, place);
  if (part.isKept) {
    types.push_back(type);
    yield->insertOperands(place, stored);
    if (!reuse.empty())
      reuse.push_back(-1);
  } else {
    sizes.erase(sizes.begin() + at, sizes.begin() + countDims(region, place + 1));
    types[place] = type;
    yield->setOperand(place, stored);
    if (!reuse.empty())
      reuse[place] = -1;
  }
  sizes.insert(sizes.begin() + at, whole.getDims().begin(), whole.getDims().end());
  SmallVector<int64_t> written{place};
  if (auto others = region->getAttrOfType<DenseI64ArrayAttr>(kPartsAttr))
    llvm::append_range(written, others.asArrayRef());
  llvm::sort(written);

  builder.setInsertionPoint(region);
  auto changed =
      RegionOp::create(builder, region.getLoc(), types, sizes, region.getReusable(), reuse);
  changed->setDiscardableAttrs(region->getDiscardableAttrDictionary());
  changed->setAttr(kPartsAttr, builder.getDenseI64ArrayAttr(written));
  changed.getBody().takeBody(region.getBody());
  for (OpResult result : region->getResults())
    if (part.isKept || result.getResultNumber() != place)
      result.replaceAllUsesWith(changed->getResult(result.getResultNumber()));
  return changed->getResult(place);
}

/// Copies the rest into `init`, in the region that was to copy everything.
void PartPlacer::copyRest(Value init) {
  Block &body = whole.getBody().front();
  Operation *yield = body.getTerminator();
  OpBuilder builder(yield);
  Location loc = whole.getLoc();
  int64_t start = parts[rest].start;
  Value copied = parts[rest].getTensor();
  if (restEnd - rest > 1) {
    SmallVector<int64_t> shape(type.getShape());
    Part &last = parts[restEnd - 1];
    shape[*axis] = last.start + last.getSize(*axis) - start;
    copied = tensor::EmptyOp::create(
        builder, loc, RankedTensorType::get(shape, type.getElementType()), whole.getDims());
    SmallVector<OpFoldResult> offsets(type.getRank(), builder.getIndexAttr(0)),
        strides(type.getRank(), builder.getIndexAttr(1)), sizes;
    for (Part &part : MutableArrayRef(parts).slice(rest, restEnd - rest)) {
      RankedTensorType partType = part.insertion.getSourceType();
      offsets[*axis] = builder.getIndexAttr(part.start - start);
      sizes = getMixedValues(partType.getShape(), whole.getDims(), builder);
      copied = tensor::InsertSliceOp::create(builder, loc, part.getTensor(), copied, offsets, sizes,
                                             strides);
    }
  }
  yield->setOperand(0, update(builder, copied, start, init));
  whole->setAttr(kPartsAttr, builder.getDenseI64ArrayAttr({0}));
  eraseDeadOps(body);
}

void PartPlacer::run() {
  SmallVector<Part *> stored;
  for (auto [index, part] : llvm::enumerate(parts))
    if (index < rest || index >= restEnd)
      stored.push_back(&part);
  // The block's order is one that all regions can run in, with the whole behind them.
  llvm::sort(stored, [](const Part *a, const Part *b) {
    return RegionOp(a->region)->isBeforeInBlock(b->region);
  });
  Value tensor;
  for (Part *part : stored)
    tensor = storeIn(*part, tensor);
  if (rest < restEnd)
    copyRest(tensor);
  else
    whole->getResult(0).replaceAllUsesWith(tensor);
}

namespace {

struct PlaceParts final : impl::PlacePartsBase<PlaceParts> {
  void runOnOperation() override {
    func::FuncOp func = getOperation();
    if (func.isExternal())
      return;
    Block &block = func.getBody().front();
    const DispatchTarget &target = getDispatchTarget(func);
    for (auto whole : llvm::to_vector(block.getOps<RegionOp>())) {
      PartPlacer placer(whole, target);
      if (!placer.match())
        continue;
      placer.run();
      // What regions have been replaced, and what was only there for their results.
      eraseDeadOps(block);
    }
    // A region needs the sizes of the whole now.
    if (!sortTopologically(&block)) {
      func.emitOpError("expected no cycle between regions");
      signalPassFailure();
    }
  }
};

} // namespace

} // namespace xc::plan
