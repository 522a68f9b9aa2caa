//===- OutputPlaces.cpp - Where outputs that are boxes are stored ---------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Common/OutputPlaces.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace xc::cuda {

std::optional<int64_t> getKnownStart(const KernelOutput &output, unsigned dim) {
  kernel::UpdateOp update = output.update;
  if (!update || update.isWhole(dim))
    return 0;
  DenseIntElementsAttr elements;
  if (!matchPattern(update.getStarts()[dim], m_Constant(&elements)) || !elements.isSplat())
    return std::nullopt;
  auto start = elements.getSplatValue<APInt>();
  if (start.isZero())
    return 0;
  // What begins behind the last place that it fits in begins there.
  auto box = cast<ShapedType>(update.getUpdate().getType()),
       whole = cast<ShapedType>(update.getDest().getType());
  if (box.isDynamicDim(dim) || whole.isDynamicDim(dim))
    return std::nullopt;
  int64_t last = whole.getDimSize(dim) - box.getDimSize(dim);
  if (llvm::is_contained(update.getUnsignedStarts(), dim))
    return start.ugt(last) ? last : static_cast<int64_t>(start.getZExtValue());
  return std::clamp<int64_t>(start.getSExtValue(), 0, last);
}

bool hasKnownPlace(const KernelOutput &output) {
  int64_t rank = cast<ShapedType>(output.tensor.getType()).getRank();
  return llvm::all_of(llvm::seq<unsigned>(0, rank),
                      [&](unsigned dim) { return getKnownStart(output, dim).has_value(); });
}

SmallVector<AffineExpr> getStoredCoords(const ReductionGroup::Result &result) {
  SmallVector<AffineExpr> coords(result.coords);
  if (result.output.update)
    for (auto [dim, coord] : llvm::enumerate(coords))
      coord = coord + *getKnownStart(result.output, dim);
  if (result.output.spread)
    for (auto [coord, dim] : llvm::zip_equal(coords, result.output.spread->dims))
      coord = coord * dim.distance + (dim.start - dim.skipped);
  return coords;
}

} // namespace xc::cuda
