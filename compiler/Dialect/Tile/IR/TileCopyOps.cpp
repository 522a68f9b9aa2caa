//===- TileCopyOps.cpp - Verifiers of copies to tiles ---------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Tile/IR/TileOps.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace xc::tile {

/// Nobody reads a tile that may be on its way.
static LogicalResult verifyUses(CopyOp op) {
  for (Operation *user : op.getTile().getUsers()) {
    if (isa<CopyOp, AwaitCopiesOp>(user))
      continue;
    InFlightDiagnostic diag =
        op.emitOpError("expected its tile to be awaited by its token before it is used");
    diag.attachNote(user->getLoc()) << "used here";
    return diag;
  }
  return success();
}

LogicalResult CopyOp::verify() {
  SharedType tile = getTile().getType();
  auto memory = cast<MemRefType>(getMemory().getType());
  auto columns = static_cast<int64_t>(getColumns());
  int64_t bytes = tile.getElementBytes();
  if (memory.getRank() != 1 || memory.getElementType() != tile.getElementType() ||
      (bytes != 2 && bytes != 4))
    return emitOpError("expected one-dimensional memory of the tile's 16-bit or 32-bit elements, "
                       "got ")
           << memory << " for " << tile;
  int64_t chunk = tile.getChunkColumns(), step = tile.getStepColumns();
  if (columns < chunk || columns % chunk != 0 ||
      static_cast<int64_t>(llvm::alignTo(columns, step)) > tile.getColumns())
    return emitOpError("expected a multiple of ")
           << chunk << " columns that the tile has room for in steps of " << step << ", got "
           << columns << " for " << tile;
  if (getThreads() < static_cast<uint64_t>(kWarpgroupThreads) ||
      getThreads() % kWarpgroupThreads != 0)
    return emitOpError("expected threads of whole warpgroups, got ") << getThreads();
  return verifyUses(*this);
}

LogicalResult AwaitCopiesOp::inferReturnTypes(MLIRContext *, std::optional<Location>,
                                              ValueRange operands, DictionaryAttr, OpaqueProperties,
                                              RegionRange, SmallVectorImpl<Type> &types) {
  llvm::append_range(types, operands.take_front(operands.size() / 2).getTypes());
  return success();
}

LogicalResult AwaitCopiesOp::verify() {
  if (!getTiles().empty())
    return success();
  return emitOpError("expected at least one tile and its token");
}

LogicalResult ReadOp::verify() {
  SharedType tile = getTile().getType();
  RegisterType result = getResult().getType();
  if (result.isOperand() && !result.isPaired() &&
      result.getElementType() == tile.getElementType() &&
      result.getColumns() % tile.getStepColumns() == 0 &&
      result.getColumns() <= tile.getColumns() && tile.getRows() >= kWarpgroupRows)
    return success();
  return emitOpError("expected a result of layout 'operand' that is part of the tile, got ")
         << result << " of " << tile;
}

} // namespace xc::tile
