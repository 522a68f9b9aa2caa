//===- TileCopyOps.cpp - Verifiers of copies to tiles ---------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Tile/IR/TileOps.h"
#include "compiler/Dialect/Tile/IR/TileWaits.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace xc::tile {

/// Nobody reads a tile that may be on its way.
template <typename Op> static LogicalResult verifyUses(Op op) {
  for (Operation *user : op.getTile().getUsers()) {
    if (isa<CopyOp, StartCopyOp, WriteOp, AwaitCopiesOp>(user))
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
  auto table = getTable() ? cast<MemRefType>(getTable().getType()) : MemRefType();
  if (table && (table.getRank() != 1 || !table.getElementType().isSignlessInteger()))
    return emitOpError("expected a table of one dim, of integers, got ") << table;
  if (getPaging().size() != (table ? 4 : 0))
    return emitOpError("expected an entry of the table, the size of pages, how far they are apart "
                       "and how many there are, got ")
           << getPaging().size() << " numbers";
  return verifyUses(*this);
}

LogicalResult AwaitCopiesOp::inferReturnTypes(MLIRContext *, std::optional<Location>,
                                              ValueRange operands, DictionaryAttr attributes,
                                              OpaqueProperties properties, RegionRange regions,
                                              SmallVectorImpl<Type> &types) {
  AwaitCopiesOp::Adaptor op(operands, attributes, properties, regions);
  llvm::append_range(types, op.getTiles().getTypes());
  llvm::append_range(types, op.getHeld().getTypes());
  return success();
}

LogicalResult AwaitCopiesOp::verify() {
  if (getTiles().empty() || getTiles().size() != getTokens().size())
    return emitOpError("expected at least one tile, and a token for each, got ")
           << getTiles().size() << " and " << getTokens().size();
  for (auto [tile, token] : llvm::zip_equal(getTiles(), getTokens()))
    if (failed(verifyToken(*this, tile, token)))
      return failure();
  for (Value held : getHeld())
    if (auto tile = cast<WarpType>(held.getType());
        !tile.isFirst() || !tile.getElementType().isF64())
      return emitOpError("expected to hold first operands of f64, got ") << tile;
  return success();
}

LogicalResult RetireCopiesOp::verify() {
  if (getResults().size() == getHeld().size())
    return success();
  return emitOpError("expected as many results as it holds, got ")
         << getResults().size() << " and " << getHeld().size();
}

std::optional<int64_t> ShareOp::getLines(int64_t length, int64_t width, int64_t threads) {
  int64_t perLine = length / width;
  if (threads % perLine != 0)
    return std::nullopt;
  return threads / perLine;
}

/// Shares are those of whole warps.
static LogicalResult verifyThreads(Operation *op, uint64_t threads) {
  if (threads >= kWarpThreads && threads % kWarpThreads == 0)
    return success();
  return op->emitOpError("expected threads of whole warps, got ") << threads;
}

LogicalResult ShareOp::verify() {
  if (getWidth() < 1 || getLength() < 1 || getLength() % getWidth() != 0)
    return emitOpError("expected lines of whole vectors, got ")
           << getLength() << " elements in vectors of " << getWidth();
  return verifyThreads(*this, getThreads());
}

LogicalResult PatchOp::verify() {
  constexpr int64_t kNeighbours = 8;
  auto tile = cast<SharedType>(getTile());
  if (failed(verifyThreads(*this, getThreads())))
    return failure();
  if (tile.getElementBytes() != 1 || tile.getRows() % (kNeighbours * kPatch) != 0 ||
      tile.getColumns() % tile.getChunkColumns() != 0)
    return emitOpError("expected bytes in a multiple of ")
           << kNeighbours * kPatch << " lines of whole chunks, got " << tile;
  return success();
}

LogicalResult StartCopyOp::verify() {
  SharedType tile = getTile().getType();
  auto memory = cast<MemRefType>(getMemory().getType());
  auto width = static_cast<int64_t>(getWidth());
  if (memory.getRank() != 1 || memory.getElementType() != tile.getElementType() || tile.hasPanels())
    return emitOpError("expected one-dimensional memory of the elements of a tile whose lines are "
                       "whole, got ")
           << memory << " for " << tile;
  int64_t bytes = width * tile.getElementBytes(); // in range: checked to be 16 at most
  if (width < 1 || width > tile.getChunkColumns() || (bytes != 4 && bytes != 8 && bytes != 16))
    return emitOpError("expected 4, 8 or 16 bytes, got ")
           << width << " of " << tile.getElementType();
  return verifyUses(*this);
}

LogicalResult ReadOp::verify() {
  SharedType tile = getTile().getType();
  RegisterType result = getResult().getType();
  if (result.isOperand() && !result.isPaired() &&
      result.getElementType() == tile.getElementType() &&
      result.getColumns() % tile.getStepColumns() == 0 &&
      result.getColumns() <= tile.getColumns() && tile.getRows() >= kWarpgroupRows)
    return verifyAwaited(*this, getTile());
  return emitOpError("expected a result of layout 'operand' that is part of the tile, got ")
         << result << " of " << tile;
}

} // namespace xc::tile
