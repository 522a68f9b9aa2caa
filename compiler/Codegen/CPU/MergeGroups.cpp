//===- MergeGroups.cpp - Channels of several groups side by side ----------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A convolution of groups that have few channels fills few lanes of a vector with one group. Its
// groups and their features, which lie side by side, become one loop here:
//
//   y[.., g, f] += x[.., g, c] * w[.., g, f]      ->  y[.., j] += x[.., j / F * C + c] * w[.., j]
//
// So a vector holds features of several groups. Each of its lanes takes the channel of its group
// from a run of the image, by a shuffle.
//
// Left alone: groups of more than half a vector, of sizes that are not known, of a number of
// features that does not divide vectors, and results that something in the kernel reads by group.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CPU/Arch.h"
#include "compiler/Codegen/CPU/Contraction.h"
#include "compiler/Codegen/CPU/MatmulTiles.h"
#include "compiler/Codegen/CPU/Passes.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace xc::cpu {
#define GEN_PASS_DEF_MERGEGROUPS
#include "compiler/Codegen/CPU/Passes.h.inc"

namespace {

/// What a convolution of groups consists of.
struct Groups {
  unsigned image, filter;           // inputs
  unsigned group, feature, channel; // loops
  int64_t features, channels;       // of a group
};

} // namespace

/// The dim that is result |fromEnd| of |map|, counted from the last one.
static std::optional<unsigned> getDim(AffineMap map, unsigned fromEnd) {
  if (map.getNumResults() <= fromEnd)
    return std::nullopt;
  auto dim = dyn_cast<AffineDimExpr>(map.getResult(map.getNumResults() - 1 - fromEnd));
  return dim ? std::optional(dim.getPosition()) : std::nullopt;
}

/// Whether |map| uses loop |loop| only in its result |fromEnd|.
static bool usesOnlyAt(AffineMap map, unsigned loop, unsigned fromEnd) {
  for (unsigned i = 0; i < map.getNumResults(); ++i)
    if (i != map.getNumResults() - 1 - fromEnd && map.getResult(i).isFunctionOfDim(loop))
      return false;
  return true;
}

static std::optional<Groups> matchGroups(linalg::GenericOp op, const Arch &arch) {
  if (op.getNumDpsInputs() != 2 || op.getNumDpsInits() != 1 || !matchMultiplyAdd(op))
    return std::nullopt;
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  std::optional<unsigned> group = getDim(maps[2], 1), feature = getDim(maps[2], 0);
  if (!group || !feature || !maps[2].isProjectedPermutation())
    return std::nullopt;
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  SmallVector<utils::IteratorType> iterators = op.getIteratorTypesArray();
  for (unsigned filter : {1, 0}) {
    AffineMap filterMap = maps[filter], imageMap = maps[1 - filter];
    std::optional<unsigned> channel = getDim(imageMap, 0);
    bool isGrouped = getDim(filterMap, 1) == group && getDim(filterMap, 0) == feature && channel &&
                     getDim(imageMap, 1) == group && !imageMap.isFunctionOfDim(*feature) &&
                     filterMap.isProjectedPermutation() && usesOnlyAt(imageMap, *group, 1) &&
                     usesOnlyAt(imageMap, *channel, 0);
    if (!isGrouped || iterators[*channel] != utils::IteratorType::reduction ||
        llvm::any_of(ArrayRef<int64_t>({ranges[*group], ranges[*feature], ranges[*channel]}),
                     ShapedType::isDynamic))
      continue;
    Groups groups{1 - filter, filter,           *group,          *feature,
                  *channel,   ranges[*feature], ranges[*channel]};
    int64_t lanes =
        getLanes(arch, cast<RankedTensorType>(op->getResult(0).getType()).getElementType());
    bool fillsVectors = groups.features > 1 && llvm::isPowerOf2_64(groups.features) &&
                        groups.features <= lanes / 2 && ranges[*group] >= lanes / groups.features;
    // Each channel is a step of its own in the code.
    if (fillsVectors && groups.channels >= 1 && groups.channels <= lanes)
      return groups;
  }
  return std::nullopt;
}

/// The groups of dims that merge the last two of |rank|.
static SmallVector<ReassociationIndices> getReassociation(int64_t rank) {
  SmallVector<ReassociationIndices> groups;
  for (int64_t dim = 0; dim + 2 < rank; ++dim)
    groups.push_back({dim});
  groups.push_back({rank - 2, rank - 1});
  return groups;
}

static Value collapse(OpBuilder &builder, Location loc, Value tensor) {
  int64_t rank = cast<RankedTensorType>(tensor.getType()).getRank();
  return tensor::CollapseShapeOp::create(builder, loc, tensor, getReassociation(rank));
}

/// |image| with its last two dims as one; null where something other than padding makes it.
static Value collapseImage(OpBuilder &builder, Location loc, Value image) {
  if (image.getDefiningOp<bufferization::ToTensorOp>())
    return collapse(builder, loc, image);
  auto pad = image.getDefiningOp<tensor::PadOp>();
  if (!pad || !pad.getConstantPaddingValue() ||
      !pad.getSource().getDefiningOp<bufferization::ToTensorOp>())
    return Value();
  SmallVector<OpFoldResult> low = pad.getMixedLowPad(), high = pad.getMixedHighPad();
  for (SmallVector<OpFoldResult> *amounts : {&low, &high}) {
    if (!llvm::all_of(ArrayRef(*amounts).take_back(2), isZeroInteger))
      return Value();
    amounts->pop_back();
  }
  Value source = collapse(builder, loc, pad.getSource());
  RankedTensorType type = tensor::CollapseShapeOp::inferCollapsedType(
      pad.getResultType(), getReassociation(pad.getResultType().getRank()));
  return tensor::PadOp::create(builder, loc, type, source, low, high,
                               pad.getConstantPaddingValue());
}

/// Whether all of the result goes to memory, or to an op that merges the same dims.
static bool isStoredWhole(linalg::GenericOp op) {
  int64_t rank = cast<RankedTensorType>(op->getResult(0).getType()).getRank();
  return llvm::all_of(op->getUsers(), [&](Operation *user) {
    auto merge = dyn_cast<tensor::CollapseShapeOp>(user);
    return isa<bufferization::MaterializeInDestinationOp>(user) ||
           (merge && merge.getReassociationIndices() == getReassociation(rank));
  });
}

static void mergeGroups(linalg::GenericOp op, const Groups &groups) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  auto fill = op.getDpsInits()[0].getDefiningOp<linalg::FillOp>();
  if (!fill || !isStoredWhole(op))
    return;
  Value image = collapseImage(builder, loc, op.getDpsInputs()[groups.image]);
  if (!image)
    return;
  SmallVector<Value> inputs(2);
  inputs[groups.image] = image;
  inputs[groups.filter] = collapse(builder, loc, op.getDpsInputs()[groups.filter]);
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, loc, fill.getResult(0)),
                            merged(ArrayRef(sizes).drop_back());
  merged.back() = builder.getIndexAttr(*getConstantIntValue(sizes.end()[-2]) * groups.features);
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  Value empty = tensor::EmptyOp::create(builder, loc, merged, type.getElementType());
  Value init = linalg::FillOp::create(builder, loc, fill.value(), empty).getResult(0);

  // The loop over features goes; that over groups goes over the features of all.
  SmallVector<AffineExpr> dims;
  for (unsigned loop = 0; loop < op.getNumLoops(); ++loop)
    dims.push_back(builder.getAffineDimExpr(loop - (loop > groups.feature ? 1 : 0)));
  AffineExpr joint = dims[groups.group];
  SmallVector<AffineMap> maps;
  for (auto [number, map] : llvm::enumerate(op.getIndexingMapsArray())) {
    SmallVector<AffineExpr> exprs;
    for (AffineExpr expr : map.getResults().drop_back(2))
      exprs.push_back(expr.replaceDims(dims));
    exprs.push_back(number == groups.image
                        ? joint.floorDiv(groups.features) * groups.channels + dims[groups.channel]
                        : joint);
    maps.push_back(AffineMap::get(op.getNumLoops() - 1, 0, exprs, builder.getContext()));
  }
  SmallVector<utils::IteratorType> iterators = op.getIteratorTypesArray();
  iterators.erase(iterators.begin() + groups.feature);
  auto product =
      linalg::GenericOp::create(builder, loc, init.getType(), inputs, init, maps, iterators);
  product.getRegion().takeBody(op.getRegion());
  Value result = tensor::ExpandShapeOp::create(builder, loc, type, product.getResult(0),
                                               getReassociation(type.getRank()), sizes);
  op->getResult(0).replaceAllUsesWith(result);
  op.erase();
}

namespace {

struct MergeGroups final : impl::MergeGroupsBase<MergeGroups> {
  using MergeGroupsBase::MergeGroupsBase;

  void runOnOperation() override {
    FailureOr<Arch> arch = getKernelArch(getOperation(), this->arch);
    if (failed(arch))
      return signalPassFailure();
    SmallVector<linalg::GenericOp> ops;
    getOperation().walk([&](linalg::GenericOp op) { ops.push_back(op); });
    for (linalg::GenericOp op : ops)
      if (std::optional<Groups> groups = matchGroups(op, *arch))
        mergeGroups(op, *groups);
  }
};

} // namespace
} // namespace xc::cpu
