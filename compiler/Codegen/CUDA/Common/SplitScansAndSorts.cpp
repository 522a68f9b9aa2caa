//===- SplitScansAndSorts.cpp - Long scans and sorts for many blocks ------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A GPU scans or sorts a line with one block at most. Where there are too few lines to keep it
// busy, a scan becomes totals of segments, their scan, and a scan of each segment that starts from
// there; a sort becomes sorted tiles that are merged two by two; a search for the first elements of
// the order becomes one of each tile, and one of what those found. How a line is cut depends on
// sizes alone, so results are the same on every run.
//
// A scatter of many updates gets them sorted by the row that they go to, so that the owner of a row
// need not look at all of them.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Common/Targets.h"
#include "compiler/Codegen/CUDA/Passes.h"
#include "compiler/Dialect/Kernel/IR/KernelOps.h"
#include "compiler/Dialect/Kernel/IR/Order.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace xc::cuda {

#define GEN_PASS_DEF_SPLITSCANSANDSORTS
#include "compiler/Codegen/CUDA/Passes.h.inc"

/// Threads that keep a GPU busy.
static constexpr int64_t kBusyThreads = 65536;
/// Blocks that do.
static constexpr int64_t kBusyBlocks = 128;
/// Elements that a block scans or sorts without help.
static constexpr int64_t kScanTile = 4096, kSortTile = 4096;
/// Elements of tiles that are sorted by a digit, at least, and such tiles that keep a GPU busy.
static constexpr int64_t kShortestDigitTile = 2048, kBusyTiles = 64;
/// Tiles whose counts are added up by each block, rather than by a kernel.
static constexpr int64_t kFewTiles = 64;
/// The most elements that are kept of a tile.
static constexpr int64_t kMaxKept = kSortTile / 4;

/// The number of lines along dim `axis`, and within them the lines beside each other in memory;
/// many where a size is dynamic.
static std::pair<int64_t, int64_t> countLines(RankedTensorType type, int64_t axis) {
  int64_t lines = 1, inner = 1;
  for (auto [dim, size] : llvm::enumerate(type.getShape())) {
    if (static_cast<int64_t>(dim) == axis)
      continue;
    int64_t count = ShapedType::isDynamic(size) ? kBusyThreads : size;
    if (llvm::MulOverflow(lines, count, lines))
      lines = INT64_MAX;
    if (static_cast<int64_t>(dim) > axis && llvm::MulOverflow(inner, count, inner))
      inner = INT64_MAX;
  }
  return {lines, inner};
}

/// An uninitialised tensor like `like`, but for its element type and the size of dim `axis`.
static Value emptyLike(OpBuilder &builder, Value like, int64_t axis, OpFoldResult size,
                       Type element) {
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, like.getLoc(), like);
  sizes[axis] = size;
  return tensor::EmptyOp::create(builder, like.getLoc(), sizes, element);
}

/// What `formula` makes of the size of dim `axis`.
static OpFoldResult computeSize(OpBuilder &builder, Value tensor, int64_t axis,
                                function_ref<AffineExpr(AffineExpr)> formula) {
  AffineExpr size = builder.getAffineSymbolExpr(0);
  return affine::makeComposedFoldedAffineApply(
      builder, tensor.getLoc(), AffineMap::get(0, 1, formula(size)),
      {tensor::getMixedSize(builder, tensor.getLoc(), tensor, axis)});
}

//===----------------------------------------------------------------------===//
// Scans
//===----------------------------------------------------------------------===//

/// Segments of lines of symbolic length: along memory a block scans one, else a thread does.
static constexpr int64_t kSymbolicRowSegment = 8192, kSymbolicColumnSegment = 256;

/// The length of the segments that a scan is to be cut into; nothing if it is to stay whole.
static std::optional<int64_t> chooseSegment(kernel::ScanOp op) {
  auto type = cast<RankedTensorType>(op.getInput().getType());
  int64_t axis = op.getAxis(), length = type.getDimSize(axis);
  auto [lines, inner] = countLines(type, axis);
  if (op.getSegment() != 0 || lines == 0)
    return std::nullopt;
  // Along memory a block scans a segment, else a thread does.
  bool isRow = inner == 1;
  if (ShapedType::isDynamic(length)) {
    if (lines >= (isRow ? kBusyBlocks / 4 : kBusyThreads / 4))
      return std::nullopt;
    return isRow ? kSymbolicRowSegment : kSymbolicColumnSegment;
  }
  int64_t least = isRow ? kScanTile : 64, wanted = isRow ? kBusyBlocks * 4 : kBusyThreads;
  int64_t segments = wanted / lines;
  int64_t segment = std::max<int64_t>(
      least, llvm::PowerOf2Ceil(llvm::divideCeil(length, std::max<int64_t>(segments, 1))));
  // The totals are one more reading of the input.
  if (segments < 4 || length < 4 * segment)
    return std::nullopt;
  return segment;
}

/// Totals of totals are as far as it goes where their number is symbolic.
static constexpr unsigned kSymbolicScanLevels = 2;
/// Longer than any dim.
static constexpr int64_t kEndless = int64_t(1) << 48;

/// Returns the scan of the totals, which may be long itself.
static kernel::ScanOp splitScan(kernel::ScanOp op, int64_t segment) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  int64_t axis = op.getAxis();
  // None of a line without elements: the second term is then 0, else 1.
  OpFoldResult count = computeSize(builder, op.getInput(), axis, [&](AffineExpr length) {
    return length.ceilDiv(segment) - length.ceilDiv(kEndless);
  });
  auto makeDest = [&] {
    return emptyLike(builder, op.getInput(), axis, count, op.getComputeType());
  };
  Value dest = makeDest();
  auto totals =
      kernel::ScanOp::create(builder, loc, TypeRange(dest.getType()), op.getKind(), op.getInput(),
                             /*carry=*/Value(), dest, axis, segment, /*totals=*/true,
                             /*exclusive=*/false, op.getReverse(), op.getUnsignedElements());
  auto carry = kernel::ScanOp::create(builder, loc, TypeRange(dest.getType()), op.getKind(),
                                      totals.getResult(0), /*carry=*/Value(), makeDest(), axis,
                                      /*segment=*/0, /*totals=*/false, /*exclusive=*/false,
                                      op.getReverse(), op.getUnsignedElements());
  op.getCarryMutable().assign(carry.getResult(0));
  op.setSegment(segment);
  return carry;
}

//===----------------------------------------------------------------------===//
// Sorts
//===----------------------------------------------------------------------===//

/// Sorts each tile of the op's lines, keeping `keep` elements of each (0: all).
static kernel::SortOp sortTiles(OpBuilder &builder, kernel::SortOp op, int64_t keep) {
  int64_t axis = op.getRank() - 1;
  OpFoldResult size = computeSize(builder, op.getKeys(), axis, [&](AffineExpr length) {
    return keep == 0 ? length : length.floorDiv(kSortTile) * keep + length % kSortTile;
  });
  Type indexType = cast<ShapedType>(op.getIndices().getType()).getElementType();
  Value values =
      emptyLike(builder, op.getKeys(), axis, size, getElementTypeOrSelf(op.getKeys().getType()));
  Value indices = emptyLike(builder, op.getKeys(), axis, size, indexType);
  return kernel::SortOp::create(builder, op.getLoc(),
                                TypeRange{values.getType(), indices.getType()}, op.getKeys(),
                                op.getPayload(), values, indices, op.getDescending(),
                                op.getUnsignedElements(), keep, kSortTile);
}

/// Lets the op look for its elements among what tiles have to offer. Returns that smaller search.
static kernel::SortOp narrowSort(kernel::SortOp op) {
  OpBuilder builder(op);
  kernel::SortOp tiles = sortTiles(builder, op, op.getKeep());
  auto narrowed = kernel::SortOp::create(
      builder, op.getLoc(), op->getResultTypes(), tiles.getResult(0), tiles.getResult(1),
      op.getValues(), op.getIndices(), op.getDescending(), op.getUnsignedElements(), op.getKeep(),
      /*segment=*/0);
  op.replaceAllUsesWith(narrowed);
  op.erase();
  return narrowed;
}

/// Lines of symbolic length are merged as if they had so many elements, an even number of times:
/// more than memory holds.
static constexpr int64_t kLongestLine = kSortTile << 22;

/// Merges runs until a line is one. Of lines whose length is symbolic every other merge puts its
/// results where the elements came from, and those that a line is too short for leave it there.
static Operation *mergeTiles(OpBuilder &builder, kernel::SortOp tiles) {
  int64_t axis = tiles.getRank() - 1;
  int64_t length = cast<RankedTensorType>(tiles.getKeys().getType()).getDimSize(axis);
  bool isSymbolic = ShapedType::isDynamic(length);
  Operation *sorted = tiles, *before = nullptr;
  for (int64_t run = kSortTile; run < (isSymbolic ? kLongestLine : length); run *= 2) {
    SmallVector<Value> dests;
    for (Value value : sorted->getResults())
      dests.push_back(before ? before->getResult(dests.size())
                             : emptyLike(builder, value, axis,
                                         tensor::getMixedSize(builder, value.getLoc(), value, axis),
                                         getElementTypeOrSelf(value.getType())));
    IntegerAttr above;
    if (isSymbolic)
      above = builder.getI64IntegerAttr(before ? run / 2 : run);
    auto merge = kernel::MergeOp::create(
        builder, tiles.getLoc(), sorted->getResultTypes(), sorted->getResult(0),
        sorted->getResult(1), dests[0], dests[1], builder.getI64IntegerAttr(run), above,
        tiles.getDescendingAttr(), tiles.getUnsignedElementsAttr());
    before = isSymbolic && !before ? sorted : nullptr;
    sorted = merge;
  }
  return sorted;
}

/// Tiles that are sorted by a digit: their length, and whether they are so few that their counts
/// are added up where they are used.
struct DigitTiles {
  int64_t length;
  bool areFew;
};

/// Short rows have short tiles, so that more multiprocessors have one.
static DigitTiles chooseDigitTiles(RankedTensorType type) {
  if (!type.hasStaticShape())
    return {kSortTile, false};
  int64_t tile = kSortTile, count = type.getNumElements();
  while (tile > kShortestDigitTile && count / tile < kBusyTiles)
    tile /= 2;
  return {tile, llvm::divideCeil(count, tile) <= kFewTiles};
}

/// How often each value of digit `digit` occurs up to the end of each tile of the line, or in each
/// of few.
static Value countDigits(OpBuilder &builder, kernel::SortOp op, Value keys, int64_t digit,
                         DigitTiles tiles, Type type) {
  int64_t axis = op.getRank() - 1;
  Location loc = op.getLoc();
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, loc, keys);
  sizes.back() = builder.getIndexAttr(kernel::kOrderDigits);
  sizes.push_back(computeSize(builder, keys, axis,
                              [&](AffineExpr length) { return length.ceilDiv(tiles.length); }));
  Value counts = tensor::EmptyOp::create(builder, loc, sizes, type);
  auto count =
      kernel::CountDigitsOp::create(builder, loc, counts.getType(), keys, counts, digit,
                                    tiles.length, op.getDescending(), op.getUnsignedElements());
  if (tiles.areFew)
    return count.getResult(0);
  Value ends = tensor::EmptyOp::create(builder, loc, sizes, type);
  auto scan = kernel::ScanOp::create(builder, loc, TypeRange(ends.getType()), kernel::ScanKind::Sum,
                                     count.getResult(0), /*carry=*/Value(), ends, axis + 1,
                                     /*segment=*/0, /*totals=*/false,
                                     /*exclusive=*/false, /*reverse=*/false,
                                     /*unsigned_elements=*/false);
  return scan.getResult(0);
}

/// Sorts whole lines by one digit after the other, from the lowest one. Positions are only carried
/// along where they are wanted, in 32 bits until the last digit where those do.
static SmallVector<Value> sortDigits(OpBuilder &builder, kernel::SortOp op, int64_t digits) {
  int64_t axis = op.getRank() - 1;
  auto type = cast<RankedTensorType>(op.getKeys().getType());
  int64_t length = type.getDimSize(axis);
  Type indexType = getElementTypeOrSelf(op.getIndices().getType());
  bool isShort = !ShapedType::isDynamic(length) && length <= INT32_MAX;
  Type countType = isShort ? builder.getI32Type() : indexType;
  bool hasIndices = !op->getResult(1).use_empty();
  Type carriedType = op.getPayload() ? indexType : countType;
  Value keys = op.getKeys(), payload = op.getPayload();
  DigitTiles tiles = chooseDigitTiles(type);
  for (int64_t digit = 0; digit < digits; ++digit) {
    bool isLast = digit + 1 == digits;
    OpFoldResult size = tensor::getMixedSize(builder, op.getLoc(), keys, axis);
    Value ends = countDigits(builder, op, keys, digit, tiles, countType);
    Value values = emptyLike(builder, keys, axis, size, type.getElementType()), indices;
    if (hasIndices)
      indices = emptyLike(builder, keys, axis, size, isLast ? indexType : carriedType);
    SmallVector<Type> types{values.getType()};
    if (indices)
      types.push_back(indices.getType());
    auto sort = kernel::SortDigitOp::create(
        builder, op.getLoc(), types, keys, hasIndices ? payload : Value(), ends, values, indices,
        digit, tiles.length, tiles.areFew, op.getDescending(), op.getUnsignedElements());
    keys = sort.getResult(0);
    if (hasIndices)
      payload = sort.getResult(1);
  }
  return {keys, hasIndices ? payload : Value()};
}

/// Whether lines are better sorted by digits than by merging sorted tiles. Estimates in
/// microseconds on an H200, from measured sorts of 16 Ki to 4 Mi elements.
static bool isForDigits(RankedTensorType type, int64_t digits) {
  Type element = type.getElementType();
  unsigned bits = element.getIntOrFloatBitWidth();
  if (bits < 8)
    return false;
  // Merges of symbolic lines are as many as the longest one needs.
  if (!type.hasStaticShape())
    return true;
  int64_t length = type.getShape().back();
  double millions = static_cast<double>(type.getNumElements()) / (1 << 20),
         width = bits > 32 ? 1.5 : 1;
  double merge = std::max(5.0, 7.2 * millions * width),
         tiles = std::max(17.0, 31 * millions * width),
         pass = std::max(7.5, 10.5 * millions * width);
  double merges = llvm::Log2_64_Ceil(llvm::divideCeil(length, kSortTile));
  return digits * pass < tiles + merges * merge;
}

/// Sorts lines that are longer than a tile, and whose keys differ in the lowest `digits` digits.
static void sortLong(kernel::SortOp op, int64_t digits) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  int64_t keep = op.getKeep();
  SmallVector<Value> sorted;
  if (isForDigits(cast<RankedTensorType>(op.getKeys().getType()), digits))
    sorted = sortDigits(builder, op, digits);
  else
    llvm::append_range(sorted,
                       mergeTiles(builder, sortTiles(builder, op, /*keep=*/0))->getResults());
  for (auto [result, whole] : llvm::zip_equal(op->getResults(), sorted)) {
    if (!whole)
      continue;
    Value value = whole;
    if (keep != 0) {
      SmallVector<OpFoldResult> offsets(op.getRank(), builder.getIndexAttr(0)),
          strides(op.getRank(), builder.getIndexAttr(1)),
          sizes = tensor::getMixedSizes(builder, loc, whole);
      sizes.back() = builder.getIndexAttr(keep);
      value = tensor::ExtractSliceOp::create(builder, loc, cast<RankedTensorType>(result.getType()),
                                             whole, offsets, sizes, strides);
    }
    result.replaceAllUsesWith(value);
  }
  op.erase();
}

/// Searches, each in what the one before found, of a line of symbolic length.
static constexpr unsigned kSymbolicSearches = 2;

/// The most elements that one block searches alone.
static constexpr int64_t kAloneSearched = 2 * kSortTile;

namespace {
/// A sort, and how many digits its keys differ in, from the lowest one on.
struct Sorting {
  kernel::SortOp op;
  int64_t digits;
};
} // namespace

static void splitSort(Sorting sorting) {
  kernel::SortOp op = sorting.op;
  auto type = cast<RankedTensorType>(op.getKeys().getType());
  int64_t axis = op.getRank() - 1, length = type.getDimSize(axis), keep = op.getKeep();
  bool isSymbolic = ShapedType::isDynamic(length),
       isFew = countLines(type, axis).first < kBusyBlocks;
  if (op.getSegment() != 0 || (isSymbolic ? !isFew : length <= kSortTile))
    return;
  // One block can go through a line of which little is kept.
  bool isSearch = keep != 0 && (keep <= kMaxKept || isSymbolic);
  if (!isSearch)
    return sortLong(op, sorting.digits);
  if (!isFew || keep > kMaxKept)
    return;
  for (unsigned i = 0; isSymbolic ? i < kSymbolicSearches : i == 0 || length > kAloneSearched;
       ++i) {
    op = narrowSort(op);
    length = cast<RankedTensorType>(op.getKeys().getType()).getDimSize(axis);
  }
}

//===----------------------------------------------------------------------===//
// Scatters
//===----------------------------------------------------------------------===//

/// Updates that every block may well look at. 128 of them take 40 us on an H200, and 31 if sorted.
static constexpr int64_t kFewUpdates = 64;

/// The index vectors of `op` one behind the other.
static Value flattenIndices(OpBuilder &builder, kernel::ScatterOp op) {
  Value indices = op.getIndices();
  auto type = cast<RankedTensorType>(indices.getType());
  if (type.getRank() == 2)
    return indices;
  ArrayRef<int64_t> batch = type.getShape().drop_back();
  int64_t updates =
      ShapedType::isDynamicShape(batch) ? ShapedType::kDynamic : ShapedType::getNumElements(batch);
  auto flatType = RankedTensorType::get({updates, type.getShape().back()}, type.getElementType());
  SmallVector<ReassociationIndices> groups{
      llvm::to_vector(llvm::seq<int64_t>(0, type.getRank() - 1)), {type.getRank() - 1}};
  return tensor::CollapseShapeOp::create(builder, op.getLoc(), flatType, indices, groups);
}

/// The row that an index vector goes to: the number of rows where a component is outside of its
/// dim. `sizes` are those of the dims.
static Value computeRow(OpBuilder &b, Location loc, kernel::ScatterOp op, Value indices,
                        ArrayRef<Value> sizes) {
  Type i64 = b.getI64Type();
  Value update = linalg::IndexOp::create(b, loc, 0), row, rows, isInside;
  for (auto [component, size] : llvm::enumerate(sizes)) {
    Value place = arith::ConstantIndexOp::create(b, loc, component);
    Value stored = tensor::ExtractOp::create(b, loc, indices, ValueRange{update, place});
    if (stored.getType() != i64)
      stored = op.getUnsignedIndices() ? arith::ExtUIOp::create(b, loc, i64, stored).getResult()
                                       : arith::ExtSIOp::create(b, loc, i64, stored).getResult();
    Value limit = arith::IndexCastOp::create(b, loc, i64, size);
    // As an unsigned number, a negative component is too large.
    Value fits = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, stored, limit);
    isInside = isInside ? arith::AndIOp::create(b, loc, isInside, fits).getResult() : fits;
    auto times = [&](Value value) -> Value { return arith::MulIOp::create(b, loc, value, limit); };
    row = row ? arith::AddIOp::create(b, loc, times(row), stored).getResult() : stored;
    rows = rows ? times(rows) : limit;
  }
  return arith::SelectOp::create(b, loc, isInside, row, rows);
}

/// The rows of all index vectors, in the order of the updates, as numbers of `type`.
static Value computeRows(OpBuilder &builder, kernel::ScatterOp op, Type type) {
  Location loc = op.getLoc();
  Value indices = flattenIndices(builder, op);
  OpFoldResult updates = tensor::getMixedSize(builder, loc, indices, 0);
  SmallVector<Value> sizes;
  for (int64_t axis : op.getAxes())
    sizes.push_back(getValueOrCreateConstantIndexOp(
        builder, loc, tensor::getMixedSize(builder, loc, op.getDest(), axis)));
  Value empty = tensor::EmptyOp::create(builder, loc, ArrayRef<OpFoldResult>(updates), type);
  AffineMap identity = builder.getMultiDimIdentityMap(1);
  auto generic = linalg::GenericOp::create(
      builder, loc, TypeRange(empty.getType()), ValueRange(), empty, ArrayRef<AffineMap>(identity),
      utils::IteratorType::parallel, [&](OpBuilder &b, Location bodyLoc, ValueRange) {
        Value row = computeRow(b, bodyLoc, op, indices, sizes);
        if (!type.isInteger(64))
          row = arith::TruncIOp::create(b, bodyLoc, type, row);
        linalg::YieldOp::create(b, bodyLoc, row);
      });
  return generic.getResult(0);
}

/// The number of elements of some dims; dynamic where a size is, or where it is too large a number.
static int64_t countElements(ArrayRef<int64_t> sizes) {
  int64_t count = 1;
  for (int64_t size : sizes)
    if (ShapedType::isDynamic(size) || llvm::MulOverflow(count, size, count))
      return ShapedType::kDynamic;
  return count;
}

/// The sort that puts the op's updates in order of their rows; nothing where that is not worth it.
static std::optional<Sorting> sortUpdates(kernel::ScatterOp op) {
  auto dest = cast<RankedTensorType>(op.getDest().getType());
  int64_t rows = countElements(
      llvm::map_to_vector(op.getAxes(), [&](int64_t axis) { return dest.getDimSize(axis); }));
  int64_t updates =
      countElements(cast<RankedTensorType>(op.getIndices().getType()).getShape().drop_back());
  bool hasFewRows = !ShapedType::isDynamic(rows) && rows < 2,
       hasFewUpdates = !ShapedType::isDynamic(updates) && updates < kFewUpdates;
  if (op.getRows() || op.getInPlace() || op.getAxes().empty() || hasFewRows || hasFewUpdates)
    return std::nullopt;
  OpBuilder builder(op);
  auto getNumberType = [&](int64_t count) -> Type {
    return count >= 0 && count < INT32_MAX ? builder.getI32Type() : builder.getI64Type();
  };
  Type type = getNumberType(rows), orderType = getNumberType(updates);
  Value keys = computeRows(builder, op, type);
  OpFoldResult count = tensor::getMixedSize(builder, op.getLoc(), keys, 0);
  Value values = tensor::EmptyOp::create(builder, op.getLoc(), ArrayRef<OpFoldResult>(count), type);
  Value order =
      tensor::EmptyOp::create(builder, op.getLoc(), ArrayRef<OpFoldResult>(count), orderType);
  auto sort = kernel::SortOp::create(
      builder, op.getLoc(), TypeRange{values.getType(), order.getType()}, keys,
      /*payload=*/Value(), values, order, /*descending=*/false, /*unsigned_elements=*/false,
      /*keep=*/0, /*segment=*/0);
  op.getRowsMutable().assign(sort.getResult(0));
  op.getOrderMutable().assign(sort.getResult(1));
  int64_t digits = kernel::countOrderDigits(type);
  // Row numbers are no larger than the number of rows.
  if (!ShapedType::isDynamic(rows))
    digits = llvm::divideCeil(llvm::Log2_64(rows) + 1, llvm::Log2_64(kernel::kOrderDigits));
  return Sorting{sort, digits};
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {

struct SplitScansAndSorts final : impl::SplitScansAndSortsBase<SplitScansAndSorts> {
  void runOnOperation() override {
    // A CPU goes through rows one after the other in any case.
    if (!findTarget(getOperation()))
      return;
    SmallVector<kernel::ScanOp> scans;
    SmallVector<Sorting> sorts;
    getOperation().walk([&](kernel::ScanOp op) { scans.push_back(op); });
    getOperation().walk([&](kernel::SortOp op) {
      sorts.push_back({op, kernel::countOrderDigits(getElementTypeOrSelf(op.getKeys().getType()))});
    });
    for (kernel::ScanOp op : scans) {
      bool isSymbolic = cast<ShapedType>(op.getInput().getType()).isDynamicDim(op.getAxis());
      std::optional<int64_t> segment = chooseSegment(op);
      for (unsigned level = 0; segment && (!isSymbolic || level < kSymbolicScanLevels); ++level) {
        op = splitScan(op, *segment);
        segment = chooseSegment(op);
      }
    }
    getOperation().walk([&](kernel::ScatterOp op) {
      if (std::optional<Sorting> sort = sortUpdates(op))
        sorts.push_back(*sort);
    });
    for (const Sorting &sort : sorts)
      splitSort(sort);
  }
};

} // namespace

} // namespace xc::cuda
