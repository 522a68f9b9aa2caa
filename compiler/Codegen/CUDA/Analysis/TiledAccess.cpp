//===- TiledAccess.cpp - Operands and outputs that boxes can be copied of -===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Analysis/TiledAccess.h"

using namespace mlir;

namespace xc::cuda {

/// PTX ISA, "Tensors": at most five dims, strides and addresses of multiples of 16 bytes.
static constexpr size_t kMaxRank = 5;
static constexpr int64_t kStrideBytes = 16;

static TiledAccess::Group findGroup(const Contraction &contraction, unsigned loop) {
  if (llvm::is_contained(contraction.m, loop))
    return TiledAccess::Group::M;
  if (llvm::is_contained(contraction.n, loop))
    return TiledAccess::Group::N;
  if (llvm::is_contained(contraction.k, loop))
    return TiledAccess::Group::K;
  return TiledAccess::Group::Batch;
}

static ArrayRef<unsigned> getLoops(const Contraction &contraction, TiledAccess::Group group) {
  switch (group) {
  case TiledAccess::Group::M:
    return contraction.m;
  case TiledAccess::Group::N:
    return contraction.n;
  case TiledAccess::Group::K:
    return contraction.k;
  case TiledAccess::Group::Batch:
    return contraction.batch;
  }
  llvm_unreachable("not a group");
}

/// The loops of `group` that are not of size 1.
static SmallVector<unsigned> getLongLoops(const Contraction &contraction, TiledAccess::Group group,
                                          ArrayRef<Value> sizes) {
  SmallVector<unsigned> loops;
  for (unsigned loop : getLoops(contraction, group))
    if (getConstantIntValue(sizes[loop]) != std::optional<int64_t>(1))
      loops.push_back(loop);
  return loops;
}

std::optional<TiledAccess> matchTiledAccess(const Contraction &contraction, plan::BindingOp binding,
                                            ArrayRef<Value> extents, ArrayRef<AffineExpr> coords,
                                            ArrayRef<Value> sizes, IndexBuilder &index,
                                            std::string &reason) {
  if (binding.getAlignment() < kStrideBytes) {
    reason = "it is not aligned to 16 bytes";
    return std::nullopt;
  }
  MLIRContext *context = binding.getContext();
  TiledAccess access{binding, {}};
  int64_t bytes = getElementBytes(cast<MemRefType>(binding.getMemory().getType()).getElementType());
  // Innermost first; `stride` is what one step along the next dim is.
  Value stride = index.constant(1);
  Value inner = stride; // the stride of the dim before
  for (auto [coord, extent] : llvm::reverse(llvm::zip_equal(coords, extents))) {
    inner = stride;
    stride = index.mul(inner, extent);
    if (isa<AffineConstantExpr>(coord))
      continue;
    auto dim = dyn_cast<AffineDimExpr>(coord);
    if (!dim) {
      reason = "its indices are not the product's";
      return std::nullopt;
    }
    unsigned loop = dim.getPosition();
    if (getConstantIntValue(sizes[loop]) == std::optional<int64_t>(1))
      continue;
    TiledAccess::Group group = findGroup(contraction, loop);
    AffineExpr size = getScalarFormula(sizes[loop], context),
               step = getScalarFormula(inner, context);
    if (!size || !step) {
      reason = "its sizes are no formulas";
      return std::nullopt;
    }
    SmallVector<unsigned> loops = getLongLoops(contraction, group, sizes);
    // A loop and the one that encloses it in its group are one dim if they are neighbours here too.
    TiledAccess::Dim *last = access.dims.empty() ? nullptr : &access.dims.front();
    auto position = llvm::find(loops, loop);
    bool merges = last && last->group == group && std::next(position) != loops.end() &&
                  *std::next(position) == last->loops.front() && last->size * last->stride == step;
    if (merges) {
      last->loops.insert(last->loops.begin(), loop);
      last->size = last->size * size;
    } else {
      if (!access.dims.empty() && knownDivisor(inner) * bytes % kStrideBytes != 0) {
        reason = "its rows are not known to be multiples of 16 bytes";
        return std::nullopt;
      }
      access.dims.insert(access.dims.begin(), {group, {loop}, size, step});
    }
  }
  for (const TiledAccess::Dim &dim : access.dims)
    if (dim.group != TiledAccess::Group::Batch &&
        dim.loops != getLongLoops(contraction, dim.group, sizes)) {
      reason = "its dims are not in the product's order";
      return std::nullopt;
    }
  if (access.dims.empty() || access.dims.size() > kMaxRank ||
      access.dims.back().group == TiledAccess::Group::Batch) {
    reason = "its innermost dim is one of the batch";
    return std::nullopt;
  }
  return access;
}

/// The sizes of `binding`'s dims.
static SmallVector<Value> getExtents(plan::BindingOp binding, IndexBuilder &index) {
  auto type = cast<MemRefType>(binding.getMemory().getType());
  SmallVector<Value> extents;
  for (OpFoldResult size :
       getMixedValues(type.getShape(), binding.getSizes(), binding.getContext()))
    extents.push_back(index.get(size));
  return extents;
}

std::optional<TiledAccess> matchTiledOutput(const Contraction &contraction,
                                            const ReductionGroup::Result &result,
                                            ArrayRef<Value> sizes, IndexBuilder &index,
                                            std::string &reason) {
  return matchTiledAccess(contraction, result.output.binding,
                          getExtents(result.output.binding, index), result.coords, sizes, index,
                          reason);
}

/// What `tensor` is the first part of, in each dim; or itself.
static Value getWhole(Value tensor) {
  auto slice = tensor.getDefiningOp<tensor::ExtractSliceOp>();
  if (!slice || slice.getSourceType().getRank() != slice.getResultType().getRank() ||
      !llvm::all_of(slice.getMixedOffsets(), isZeroInteger) ||
      !llvm::all_of(slice.getMixedStrides(), isOneInteger))
    return tensor;
  return slice.getSource();
}

std::optional<TiledAccess> matchTiledOperand(const Contraction &contraction,
                                             const Contraction::Side &side, ArrayRef<Value> sizes,
                                             IndexBuilder &index, std::string &reason) {
  AffineMap map = contraction.getOp().getMatchingIndexingMap(side.operand);
  plan::BindingOp binding = getSourceBinding(getWhole(side.operand->get()));
  if (!binding) {
    reason = "it is computed";
    return std::nullopt;
  }
  return matchTiledAccess(contraction, binding, getExtents(binding, index), map.getResults(), sizes,
                          index, reason);
}

} // namespace xc::cuda
