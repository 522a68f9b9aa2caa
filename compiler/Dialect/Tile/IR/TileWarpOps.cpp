//===- TileWarpOps.cpp - Verifiers of ops on tiles of single warps --------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Tile/IR/TileOps.h"

using namespace mlir;

namespace xc::tile {

LogicalResult WarpPlaceOp::verify() {
  if (getColumns() >= 1)
    return success();
  return emitOpError("expected at least one column of warps, got ") << getColumns();
}

LogicalResult PairPlaceOp::verify() {
  if (cast<WarpType>(getTile()).isAccumulator())
    return success();
  return emitOpError("expected a tile of layout 'accumulator', got ") << getTile();
}

LogicalResult ReadOperandOp::verify() {
  SharedType tile = getTile().getType();
  WarpType result = getResult().getType();
  Type element = result.getElementType();
  if (result.isAccumulator() || tile.getElementType() != element || tile.hasPanels())
    return emitOpError("expected an operand of the elements of a tile whose lines are whole, got ")
           << result << " of " << tile;
  int64_t own = result.isFirst() ? result.getRows() : result.getColumns(),
          alongK = result.isFirst() ? result.getColumns() : result.getRows();
  if (own > (getTransposed() ? tile.getColumns() : tile.getRows()) ||
      alongK > (getTransposed() ? tile.getRows() : tile.getColumns()))
    return emitOpError("expected an operand that is part of the tile, got ")
           << result << " of " << tile;
  if (getTransposed() && element.isInteger(8))
    return emitOpError("expected lines of bytes to run along k, got ") << tile;
  if (getTf32() && !element.isF32())
    return emitOpError("expected f32 for tf32, got ") << element;
  if (getSingle() && !element.isF64())
    return emitOpError("expected f64 to be read one at a time, got ") << element;
  // Pairs of rows are neighbours of a line.
  if (result.isFirst() && element.isF64() && result.getPaired() != getTransposed())
    return emitOpError("expected a paired operand of a transposed tile, or neither, got ")
           << result << " of " << tile;
  return success();
}

LogicalResult MultiplyOp::verify() {
  WarpType a = getA().getType(), b = getB().getType(), sums = getSums().getType();
  Type element = a.getElementType(), sum = sums.getElementType();
  bool isSummed = element.isF64()        ? sum.isF64()
                  : element.isInteger(8) ? sum.isInteger(32)
                                         : sum.isF32();
  if (!a.isFirst() || b.getLayout() != WarpLayout::Second || !sums.isAccumulator() || !isSummed ||
      b.getElementType() != element || b.getColumns() != sums.getColumns() ||
      a.getPaired() != b.getPaired() || a.getPaired() != sums.getPaired())
    return emitOpError("expected a first and a second operand and their sums, got ")
           << a << ", " << b << " and " << sums;
  if ((getUnsignedA() || getUnsignedB()) && !element.isInteger(8))
    return emitOpError("expected bytes for unsigned operands, got ") << element;
  return success();
}

} // namespace xc::tile
