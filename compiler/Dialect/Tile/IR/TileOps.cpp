//===- TileOps.cpp - Verifiers of the tile dialect ------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Tile/IR/TileOps.h"
#include "compiler/Dialect/Tile/IR/TileWaits.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

#define GET_OP_CLASSES
#include "compiler/Dialect/Tile/IR/TileOps.cpp.inc"

namespace xc::tile {

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

/// The corners have as many bits as the number of spatial dims leaves them
/// (cuTensorMapEncodeIm2col).
static LogicalResult verifyPixels(TensorMapOp op) {
  TensorMapType type = op.getMap().getType();
  std::optional<ArrayRef<int64_t>> lower = op.getLower(), steps = op.getSteps();
  std::optional<AffineMap> upper = op.getUpper();
  size_t spatial = type.isIm2col() ? type.getRank() - 2 : 0;
  auto hasNumbers = [&](std::optional<ArrayRef<int64_t>> numbers) {
    return numbers.has_value() == type.isIm2col() && (!numbers || numbers->size() == spatial);
  };
  bool hasUpper = upper.has_value() == type.isIm2col() &&
                  (!upper || (upper->getNumDims() == 0 && upper->getNumResults() == spatial));
  if (!hasNumbers(lower) || !hasUpper || !hasNumbers(steps))
    return op.emitOpError("expected lower and upper corners and steps along ")
           << spatial << " spatial dims of an im2col map, and none of another";
  if (!type.isIm2col())
    return success();
  int64_t limit = spatial == 1 ? 1 << 15 : spatial == 2 ? 1 << 7 : 1 << 4;
  auto isCorner = [&](int64_t number) { return number >= -limit && number < limit; };
  auto isFormulaOrCorner = [&](AffineExpr expr) {
    auto number = dyn_cast<AffineConstantExpr>(expr);
    return !number || isCorner(number.getValue());
  };
  if (!llvm::all_of(*lower, isCorner) || !llvm::all_of(upper->getResults(), isFormulaOrCorner))
    return op.emitOpError("expected corners from ")
           << -limit << " to " << limit - 1 << ", got [" << *lower << "] and " << op.getUpperAttr();
  if (llvm::any_of(*steps, [](int64_t step) { return step < 1 || step > 8; }))
    return op.emitOpError("expected steps from 1 to 8, got [") << *steps << "]";
  return success();
}

LogicalResult TensorMapOp::verify() {
  size_t rank = getMap().getType().getRank();
  AffineMap sizes = getSizes(), strides = getStrides();
  if (sizes.getNumDims() != 0 || strides.getNumDims() != 0 || sizes.getNumResults() != rank ||
      strides.getNumResults() != rank)
    return emitOpError("expected ") << rank << " sizes and strides over symbols only, got "
                                    << getSizesAttr() << " and " << getStridesAttr();
  if (getElementTypeOrSelf(getMemory()) != getMap().getType().getElementType())
    return emitOpError("expected memory of ")
           << getMap().getType().getElementType() << ", got " << getMemory().getType();
  if (getTf32() && !getMap().getType().getElementType().isF32())
    return emitOpError("expected elements of f32 to round, got ")
           << getMap().getType().getElementType();
  int64_t bytes = getMap().getType().getElementType().getIntOrFloatBitWidth() / 8;
  for (auto [dim, expr] : llvm::enumerate(strides.getResults())) {
    auto number = dyn_cast<AffineConstantExpr>(expr);
    if (dim + 1 == rank ? !number || number.getValue() != 1
                        : number && (number.getValue() <= 0 || number.getValue() * bytes % 16 != 0))
      return emitOpError("expected an innermost stride of 1 and others that are multiples of 16 "
                         "bytes, got ")
             << getStridesAttr() << " of elements of " << bytes << " bytes";
  }
  std::optional<AffineMap> offset = getOffset();
  if (offset &&
      (offset->getNumDims() != 0 || offset->getNumResults() != 1 ||
       (offset->isSingleConstant() && (offset->getSingleConstantResult() < 0 ||
                                       offset->getSingleConstantResult() * bytes % 16 != 0))))
    return emitOpError("expected one offset over symbols only, a multiple of 16 bytes, got ")
           << getOffsetAttr() << " of elements of " << bytes << " bytes";
  return verifyPixels(*this);
}

LogicalResult RingOp::verify() {
  if (hasBarriers() && (getArrivals() < 1 || getConsumers() < 1))
    return emitOpError("expected at least one arrival and one consumer, or none of either, got ")
           << getArrivals() << " and " << getConsumers();
  return success();
}

LogicalResult SlotOp::verify() {
  ArrayRef<SharedType> tiles = getRing().getType().getTiles();
  if (getTile() >= tiles.size() || tiles[getTile()] != getSlot().getType())
    return emitOpError("expected tile ")
           << getTile() << " of " << getRing().getType() << ", got " << getSlot().getType();
  return success();
}

LogicalResult ReuseOp::verify() {
  RingType ring = getRing().getType();
  SharedType result = getResult().getType();
  if (getTile() >= ring.getTiles().size())
    return emitOpError("expected a tile of ") << ring << ", got number " << getTile();
  SharedType tile = ring.getTiles()[getTile()];
  int64_t room = ring.getStages() * llvm::alignTo(tile.getBytes(), tile.getAlignment());
  if (result.getBytes() > room || result.getAlignment() > tile.getAlignment())
    return emitOpError("expected a tile that fits the ")
           << room << " bytes of all stages of " << tile << ", got " << result;
  return success();
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

/// The box must be `columns` wide, a panel of the tile, or of some rows of it, and permuted as the
/// tile's lines are.
static LogicalResult verifyBox(Operation *op, TensorMapType map, SharedType tile, size_t coords,
                               int64_t columns) {
  ArrayRef<int64_t> box = map.getBox();
  if (coords != static_cast<size_t>(map.getRank()))
    return op->emitOpError("expected ") << map.getRank() << " coordinates, got " << coords;
  int64_t rows = 1;
  for (int64_t size : box.drop_back())
    rows *= size; // in range: 256 at most, in 5 dims
  if (map.getElementType() != tile.getElementType() || box.back() != columns ||
      rows > tile.getRows())
    return op->emitOpError("expected a box that is a panel of ") << tile << ", got " << map;
  if (map.getSpan() != tile.getLineBytes())
    return op->emitOpError("expected a span of the ")
           << tile.getLineBytes() << " bytes of a line of " << tile << ", got " << map.getSpan();
  return success();
}

/// Whole panels, a last one that is not full, or the first columns of one panel.
template <typename Op> static LogicalResult verifyLoad(Op op) {
  TensorMapType map = op.getMap().getType();
  SharedType slot = op.getSlot().getType();
  size_t offsets = map.isIm2col() ? map.getRank() - 2 : 0;
  if (op.getOffsets().size() != offsets)
    return op.emitOpError("expected ") << offsets << " offsets, got " << op.getOffsets().size();
  int64_t width = map.getBox().back(), whole = slot.getPanelColumns();
  bool isPart = width == slot.getTailColumns() || op->hasAttr("panel");
  return verifyBox(op, map, slot, op.getCoords().size(), isPart ? std::min(width, whole) : whole);
}

LogicalResult LoadOp::verify() {
  SharedType slot = getSlot().getType();
  if (std::optional<uint64_t> panel = getPanel()) {
    int64_t whole = slot.getColumns() / slot.getPanelColumns();
    if (*panel >= static_cast<uint64_t>(whole))
      return emitOpError("expected a whole panel below ") << whole << ", got " << *panel;
  }
  return verifyLoad(*this);
}

LogicalResult MulticastOp::verify() { return verifyLoad(*this); }

LogicalResult StoreOp::verify() {
  if (getMap().getType().isIm2col())
    return emitOpError("expected a map of boxes to store, got ") << getMap().getType();
  if (getPanel() >= static_cast<uint64_t>(getTile().getType().getPanels()))
    return emitOpError("expected a panel below ")
           << getTile().getType().getPanels() << ", got " << getPanel();
  SharedType tile = getTile().getType();
  int64_t columns = std::min(getMap().getType().getBox().back(), tile.getPanelColumns());
  return verifyBox(*this, getMap().getType(), tile, getCoords().size(), columns);
}

/// Checks that `type`, of what is moved at a time, is a part of a chunk of `tile`.
static LogicalResult verifyChunk(Operation *op, Type type, SharedType tile) {
  int64_t count = 1;
  Type element = type;
  if (auto vector = dyn_cast<VectorType>(type)) {
    count = vector.getNumElements();
    element = vector.getElementType();
  }
  if (element != tile.getElementType() || count > 16 / tile.getElementBytes())
    return op->emitOpError("expected at most 16 bytes of ")
           << tile.getElementType() << ", got " << type;
  return success();
}

LogicalResult WriteOp::verify() {
  return verifyChunk(*this, getValues().getType(), getTile().getType());
}

LogicalResult ReadElementsOp::verify() {
  return verifyChunk(*this, getValues().getType(), getTile().getType());
}

LogicalResult WriteFragmentOp::verify() {
  SharedType tile = getTile().getType();
  auto pair = VectorType::get(2, tile.getElementType());
  if (tile.getElementBytes() != 2 || getValues().size() != 4 ||
      llvm::any_of(getValues().getTypes(), [&](Type type) { return type != pair; }))
    return emitOpError("expected four pairs of 16-bit elements of ") << tile;
  return success();
}

void WriteFragmentOp::print(OpAsmPrinter &printer) {
  printer << " " << getValues() << " to " << getTile() << "[" << getRow() << ", " << getColumn()
          << "]";
  printer.printOptionalAttrDict((*this)->getAttrs());
  printer << " : " << getValues().front().getType() << ", " << getTile().getType();
}

ParseResult WriteFragmentOp::parse(OpAsmParser &parser, OperationState &result) {
  SmallVector<OpAsmParser::UnresolvedOperand> values;
  OpAsmParser::UnresolvedOperand tile, row, column;
  Type pair, tileType, index = parser.getBuilder().getIndexType();
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseOperandList(values) || parser.parseKeyword("to") || parser.parseOperand(tile) ||
      parser.parseLSquare() || parser.parseOperand(row) || parser.parseComma() ||
      parser.parseOperand(column) || parser.parseRSquare() ||
      parser.parseOptionalAttrDict(result.attributes) || parser.parseColonType(pair) ||
      parser.parseComma() || parser.parseType(tileType))
    return failure();
  SmallVector<Type> pairs(values.size(), pair);
  return failure(parser.resolveOperands(values, pairs, loc, result.operands) ||
                 parser.resolveOperand(tile, tileType, result.operands) ||
                 parser.resolveOperands({row, column}, index, result.operands));
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

LogicalResult ReadFragmentsOp::verify() {
  SharedType tile = getTile().getType();
  int64_t bytes = tile.getElementBytes();
  size_t parts = getFragments().size();
  if (bytes == 4 ? parts != 1 && parts != 2 : bytes != 1 || parts != 2)
    return emitOpError(
               "expected one or two fragments of elements of 4 bytes, or two of 1 byte, got ")
           << parts << " of " << tile.getElementType();
  auto type = cast<RegisterType>(getFragments().front().getType());
  if (!llvm::all_equal(getFragments().getTypes()) || type.getLayout() != Layout::Operand ||
      type.getElementType() != tile.getElementType() || getK() * bytes % 32 != 0 ||
      static_cast<int64_t>(getK()) + type.getColumns() > tile.getRows() ||
      tile.getColumns() % (static_cast<int64_t>(parts) * kWarpgroupRows) != 0 ||
      tile.getLineBytes() != 128)
    return emitOpError("expected fragments of ")
           << tile << " that begin at a multiple of 32 bytes along k, got " << type << " from "
           << getK();
  return verifyAwaited(*this, getTile());
}

LogicalResult FragmentOp::verify() {
  Type sums = getAccumulator().getType();
  auto ofWarp = dyn_cast<WarpType>(sums);
  if (ofWarp ? !ofWarp.isAccumulator() : cast<RegisterType>(sums).isOperand())
    return emitOpError("expected a tile of layout 'accumulator', got ") << sums;
  int64_t columns = ofWarp ? ofWarp.getColumns() : cast<RegisterType>(sums).getColumns();
  Type element = ofWarp ? ofWarp.getElementType() : cast<RegisterType>(sums).getElementType();
  if (getColumn() % 8 != 0 || getColumn() >= static_cast<uint64_t>(columns) || getHalf() > 1)
    return emitOpError("expected a multiple of 8 below ")
           << columns << " and half 0 or 1, got " << getColumn() << " and " << getHalf();
  if (getPair().getType() != VectorType::get(2, element))
    return emitOpError("expected two elements of ") << sums << ", got " << getPair().getType();
  return success();
}

LogicalResult ReduceBlocksOp::verify() {
  RegisterType from = getAccumulator().getType(), to = getResult().getType();
  SharedType scratch = getScratch().getType();
  int64_t blocks = getBlocks();
  bool isShared = blocks >= 2 && blocks <= 16 &&
                  from.getColumns() == to.getColumns() * blocks; // in range: 16 at most
  if (!isShared || from.getElementType() != to.getElementType() || from.isOperand() ||
      to.isOperand())
    return emitOpError("expected 2 to 16 blocks that share the columns of ")
           << from << " equally, got " << blocks << " of " << to;
  if (scratch.getColumns() != from.getColumns() || scratch.getRows() % kWarpgroupRows != 0 ||
      scratch.getElementType() != from.getElementType())
    return emitOpError("expected scratch of ")
           << kWarpgroupRows << " rows for each warpgroup and the columns of " << from << ", got "
           << scratch;
  return success();
}

LogicalResult SumBlocksOp::verify() {
  size_t count = getSums().size();
  auto blocks = static_cast<size_t>(getBlocks());
  SmallVector<Type> types(getSums().getTypes());
  llvm::append_range(types, getResults().getTypes());
  if (count > 0 && count % 4 == 0 && getResults().size() * blocks == count &&
      llvm::all_equal(types))
    return success();
  return emitOpError("expected a multiple of 4 sums of one type, of which each of ")
         << blocks << " blocks gets its share, got " << count << " and " << getResults().size();
}

LogicalResult ReadFragmentWordsOp::verify() {
  size_t count = getWords().size();
  auto parts = static_cast<size_t>(getParts());
  if ((parts == 1 || parts == 2) && count > 0 && count % (4 * parts) == 0)
    return success();
  return emitOpError("expected four words of each of one or two parts, or a multiple, got ")
         << count << " of " << parts;
}

//===----------------------------------------------------------------------===//
// Schedule
//===----------------------------------------------------------------------===//

LogicalResult StoreInOp::verify() {
  auto type = cast<MemRefType>(getBuffer().getType());
  if (type.getRank() != 1 || type.getElementType() != getValue().getType())
    return emitOpError("expected a one-dimensional buffer of ")
           << getValue().getType() << ", got " << type;
  return success();
}

LogicalResult PersistentOp::verify() {
  Block &body = getBody().front();
  auto isIndex = [](Type type) { return type.isIndex(); };
  TypeRange arguments = body.getArgumentTypes();
  if (arguments.size() != 3 + getInits().size() ||
      !llvm::all_of(arguments.take_front(3), isIndex) ||
      arguments.drop_front(3) != getInits().getTypes() ||
      getResults().getTypes() != getInits().getTypes())
    return emitOpError("expected three indices, then the carried values, as arguments");
  auto yield = dyn_cast<YieldOp>(body.getTerminator());
  if (!yield || yield.getValues().getTypes() != getInits().getTypes())
    return emitOpError("expected the body to yield the carried values");
  if (getRaster() < 1 || getShare() < 1)
    return emitOpError("expected at least one row in a group and one block for a tile, got ")
           << getRaster() << " and " << getShare();
  if (getEvery() < 1 || (getEvery() > 1) != static_cast<bool>(getFirst()))
    return emitOpError("expected a first tile where not every one is taken, got every ")
           << getEvery();
  if (getSerpentine() && getEvery() > 1)
    return emitOpError("expected every tile of a serpentine, got every ") << getEvery();
  return success();
}

} // namespace xc::tile
