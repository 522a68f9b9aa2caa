//===- TiledAccess.cpp - Operands and outputs that boxes can be copied of -===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Matmul/TiledAccess.h"
#include "compiler/Codegen/CUDA/Common/Accesses.h"
#include "compiler/Codegen/CUDA/Common/OutputPlaces.h"
#include "compiler/Dialect/Plan/IR/Copies.h"

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
  if (llvm::is_contained(contraction.taps, loop))
    return TiledAccess::Group::Tap;
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
  case TiledAccess::Group::Tap:
    return contraction.taps;
  case TiledAccess::Group::Batch:
    return contraction.batch;
  }
  llvm_unreachable("not a group");
}

SmallVector<plan::FormulaAttr> getProductSizes(const Contraction &contraction, KernelSizes &sizes) {
  SmallVector<plan::FormulaAttr> loops = sizes.getLoopSizes(contraction.getOp());
  if (contraction.partial)
    loops.push_back(sizes.constant(contraction.partial->count));
  return loops;
}

/// The loops of `group` that are not of size 1.
static SmallVector<unsigned> getLongLoops(const Contraction &contraction, TiledAccess::Group group,
                                          ArrayRef<plan::FormulaAttr> sizes) {
  SmallVector<unsigned> loops;
  for (unsigned loop : getLoops(contraction, group))
    if (sizes[loop].asConstant() != 1)
      loops.push_back(loop);
  return loops;
}

/// A coord that goes along loops forwards, smallest steps first, where those of one loop all lie
/// within a step of the next one's. `sizes` are those of the loops.
static std::optional<LoopSum> matchCoord(AffineExpr expr, ArrayRef<plan::FormulaAttr> sizes) {
  std::optional<LoopSum> coord = matchLoopSum(expr);
  if (!coord ||
      llvm::any_of(llvm::make_second_range(coord->loops), [](int64_t step) { return step < 1; }))
    return std::nullopt;
  llvm::stable_sort(coord->loops, llvm::less_second());
  for (auto [inner, outer] : llvm::zip(coord->loops, llvm::drop_begin(coord->loops))) {
    std::optional<int64_t> size = sizes[inner.first].asConstant();
    if (!size || outer.second / inner.second < *size)
      return std::nullopt;
  }
  return coord;
}

/// Whether boxes of elements of `bytes` bytes can be copied along the dims of `access`; else says
/// why not.
static bool checkDims(const TiledAccess &access, const Contraction &contraction,
                      ArrayRef<plan::FormulaAttr> sizes, int64_t bytes, std::string &reason) {
  if (access.offset.getLargestKnownDivisor() * bytes % kStrideBytes != 0) {
    reason = "its first element is not aligned to 16 bytes";
    return false;
  }
  for (const TiledAccess::Dim &dim : access.dims)
    if (!dim.isSingle() && dim.loops != getLongLoops(contraction, dim.group, sizes)) {
      reason = "its dims are not in the product's order";
      return false;
    }
  // A diagonal runs along one loop in two dims.
  for (const TiledAccess::Dim &dim : access.dims)
    if (llvm::count_if(access.dims, [&](const TiledAccess::Dim &other) {
          return !dim.isSingle() && other.group == dim.group;
        }) > 1) {
      reason = "two of its dims are one of the product's";
      return false;
    }
  if (access.dims.empty() || access.dims.size() > kMaxRank || access.dims.back().isSingle()) {
    reason = "its innermost dim is one of the batch or of taps";
    return false;
  }
  return true;
}

/// Puts a dim in front of those of `access`: a loop's steps of `step` elements, which are a
/// multiple of `divisor`. False if boxes cannot be copied along it, with a reason.
static bool addDim(TiledAccess &access, const Contraction &contraction, unsigned loop,
                   AffineExpr size, AffineExpr step, int64_t divisor,
                   ArrayRef<plan::FormulaAttr> sizes, std::string &reason) {
  TiledAccess::Group group = findGroup(contraction, loop);
  if (access.dims.empty() && step != getAffineConstantExpr(1, step.getContext())) {
    reason = "its innermost elements are not neighbours";
    return false;
  }
  SmallVector<unsigned> loops = getLongLoops(contraction, group, sizes);
  // A loop and the one that encloses it in its group are one dim if they are neighbours here too.
  TiledAccess::Dim *last = access.dims.empty() ? nullptr : &access.dims.front();
  auto position = llvm::find(loops, loop);
  if (last && last->group == group && std::next(position) != loops.end() &&
      *std::next(position) == last->loops.front() && last->size * last->stride == step) {
    last->loops.insert(last->loops.begin(), loop);
    last->size = last->size * size;
    return true;
  }
  int64_t bytes =
      getElementBytes(cast<MemRefType>(access.binding.getMemory().getType()).getElementType());
  if (last && divisor * bytes % kStrideBytes != 0) {
    reason = "its rows are not known to be multiples of 16 bytes";
    return false;
  }
  access.dims.insert(access.dims.begin(), {group, {loop}, size, step});
  return true;
}

/// The access of `binding` at `coords`: multiples of loops of the product plus constants. Nothing
/// if boxes of it cannot be copied, with a reason.
static std::optional<TiledAccess> matchTiledAccess(const Contraction &contraction,
                                                   plan::BindingOp binding,
                                                   ArrayRef<AffineExpr> coords,
                                                   KernelSizes &kernelSizes, std::string &reason) {
  if (binding.getAlignment() < kStrideBytes) {
    reason = "it is not aligned to 16 bytes";
    return std::nullopt;
  }
  MLIRContext *context = binding.getContext();
  TiledAccess access{binding, {}, getAffineConstantExpr(0, context)};
  int64_t bytes = getElementBytes(cast<MemRefType>(binding.getMemory().getType()).getElementType());
  SmallVector<plan::FormulaAttr> sizes = getProductSizes(contraction, kernelSizes),
                                 extents = kernelSizes.getSizes(binding.getMemory());
  // Innermost first; `stride` is what one step along the next dim is.
  plan::FormulaAttr stride = kernelSizes.constant(1);
  for (auto [expr, extent] : llvm::reverse(llvm::zip_equal(coords, extents))) {
    plan::FormulaAttr inner = stride;
    stride = inner * extent;
    std::optional<LoopSum> coord = matchCoord(expr, sizes);
    if (!coord) {
      reason = "its indices are not the product's";
      return std::nullopt;
    }
    AffineExpr step = kernelSizes.toAffine(inner);
    if (!step) {
      reason = "its sizes are no formulas";
      return std::nullopt;
    }
    access.offset = access.offset + step * coord->constant;
    for (auto [loop, factor] : coord->loops) {
      if (sizes[loop].asConstant() == 1)
        continue;
      AffineExpr size = kernelSizes.toAffine(sizes[loop]);
      if (!size) {
        reason = "its sizes are no formulas";
        return std::nullopt;
      }
      if (!addDim(access, contraction, loop, size, step * factor,
                  kernelSizes.getDivisor(inner) * factor, sizes, reason))
        return std::nullopt;
    }
  }
  if (!checkDims(access, contraction, sizes, bytes, reason))
    return std::nullopt;
  return access;
}

std::optional<TiledAccess> matchTiledOutput(const Contraction &contraction,
                                            const ReductionGroup::Result &result,
                                            KernelSizes &sizes, std::string &reason) {
  if (result.output.spread) {
    reason = "its elements are stored with what lies between them";
    return std::nullopt;
  }
  return matchTiledAccess(contraction, result.output.binding, getStoredCoords(result), sizes,
                          reason);
}

std::optional<TiledAccess> matchTiledInput(const Contraction &contraction,
                                           const ReductionGroup::Input &input, KernelSizes &sizes,
                                           std::string &reason) {
  return matchTiledAccess(contraction, input.binding, input.coords, sizes, reason);
}

int64_t getRowVector(const Contraction &contraction, const ReductionGroup::Result &result,
                     KernelSizes &sizes) {
  plan::BindingOp binding = result.output.binding;
  auto type = cast<MemRefType>(binding.getMemory().getType());
  int64_t bytes = getElementBytes(type.getElementType());
  SmallVector<plan::FormulaAttr> loops = getProductSizes(contraction, sizes);
  SmallVector<unsigned> columns = getLongLoops(contraction, TiledAccess::Group::N, loops);
  if (columns.empty() || result.coords.empty())
    return 0;
  std::optional<LoopSum> inner = matchCoord(getStoredCoords(result).back(), loops);
  if (!inner || inner->loops.size() != 1 || inner->loops.front().first != columns.back() ||
      inner->loops.front().second != 1)
    return 0;
  auto aligned = std::min<int64_t>(binding.getAlignment(), kStrideBytes);
  int64_t width = std::min({aligned / bytes, sizes.getDivisor(loops[columns.back()]),
                            sizes.getDivisor(sizes.getSizes(binding.getMemory()).back())});
  while (width > 1 && inner->constant % width != 0)
    width /= 2;
  return width;
}

bool isStagedOutput(const Contraction &contraction, KernelSizes &sizes) {
  if (contraction.group.results.size() != 1)
    return false;
  const ReductionGroup::Result &result = contraction.group.results.front();
  int64_t bytes = getElementBytes(getElementTypeOrSelf(result.output.tensor));
  std::string reason;
  return (bytes == 2 || bytes == 4) && (matchTiledOutput(contraction, result, sizes, reason) ||
                                        getRowVector(contraction, result, sizes) > 0);
}

bool hasOddRows(const Contraction &contraction, KernelSizes &sizes) {
  return llvm::any_of(contraction.group.results, [&](const ReductionGroup::Result &result) {
    int64_t bytes = getElementBytes(getElementTypeOrSelf(result.output.tensor));
    return getRowVector(contraction, result, sizes) * bytes < kStrideBytes;
  });
}

Value getCopied(Operation *op, SmallVector<AffineExpr> &coords) {
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
    std::optional<SmallVector<AffineExpr>> source = getSourceCoords(slice, coords);
    if (!source)
      return nullptr;
    coords = std::move(*source);
    return slice.getSource();
  }
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op)) {
    std::optional<SmallVector<AffineExpr>> source = getSourceCoords(expand, coords);
    if (!source)
      return nullptr;
    coords = std::move(*source);
    return expand.getSrc();
  }
  auto generic = dyn_cast<linalg::GenericOp>(op);
  AffineMap map = generic ? plan::getCopyMap(generic) : AffineMap();
  if (!map)
    return nullptr;
  coords = llvm::map_to_vector(map.getResults(),
                               [&](AffineExpr expr) { return expr.replaceDims(coords); });
  return generic.getDpsInputs().front();
}

/// True if `access` has all loops of `group`: the others would be re-read for each.
static bool hasLoops(const TiledAccess &access, const Contraction &contraction,
                     TiledAccess::Group group, ArrayRef<plan::FormulaAttr> sizes) {
  return getLongLoops(contraction, group, sizes).empty() ||
         llvm::any_of(access.dims, [&](const TiledAccess::Dim &dim) { return dim.group == group; });
}

std::optional<TiledAccess> matchTiledOperand(const Contraction &contraction,
                                             const Contraction::Side &side, KernelSizes &sizes,
                                             std::string &reason) {
  AffineMap map = contraction.getOp().getMatchingIndexingMap(side.operand);
  SmallVector<AffineExpr> coords(map.getResults());
  Value tensor = side.operand->get();
  while (Operation *op = getSourceBinding(tensor) ? nullptr : tensor.getDefiningOp())
    if (!(tensor = getCopied(op, coords))) {
      reason = "it is computed";
      return std::nullopt;
    }
  plan::BindingOp binding = getSourceBinding(tensor);
  std::optional<TiledAccess> access = matchTiledAccess(contraction, binding, coords, sizes, reason);
  SmallVector<plan::FormulaAttr> loops = getProductSizes(contraction, sizes);
  TiledAccess::Group own = &side == &contraction.a ? TiledAccess::Group::M : TiledAccess::Group::N;
  if (access && (!hasLoops(*access, contraction, own, loops) ||
                 !hasLoops(*access, contraction, TiledAccess::Group::K, loops))) {
    reason = "it repeats its elements";
    return std::nullopt;
  }
  return access;
}

} // namespace xc::cuda
