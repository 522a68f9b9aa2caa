//===- OutputStores.cpp - Stores of outputs that may be boxes -----------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Common/OutputStores.h"

using namespace mlir;

namespace xc::cuda {

Coord getStoredPosition(PointEmitter &points, const KernelOutput &output, Point &point) {
  if (!output.update)
    return points.getFlat(point, output.tensor);
  SmallVector<Coord> coords(points.getCoords(point, output.tensor));
  for (auto [coord, start] : llvm::zip_equal(coords, points.getStarts(output)))
    coord = points.add(coord, Coord::uniform(start), point.lanes);
  return points.linearize(coords, points.getSizes(output.binding), point.lanes);
}

} // namespace xc::cuda
