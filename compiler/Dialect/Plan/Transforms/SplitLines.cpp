//===- SplitLines.cpp - Long lines as work for many threads ---------------===//
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

#include "compiler/Dialect/Kernel/IR/KernelOps.h"
#include "compiler/Dialect/Plan/IR/PlanOps.h"
#include "compiler/Dialect/Plan/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/Support/MathExtras.h"

namespace xc::plan {
#define GEN_PASS_DEF_SPLITLINES
#include "compiler/Dialect/Plan/Transforms/Passes.h.inc"
} // namespace xc::plan

using namespace mlir;

namespace xc::plan {

/// Threads that keep a GPU busy.
static constexpr int64_t kBusyThreads = 65536;
/// Blocks that do.
static constexpr int64_t kBusyBlocks = 128;
/// Elements that a block scans or sorts without help.
static constexpr int64_t kScanTile = 4096, kSortTile = 2048;
/// The most elements that are kept of a tile.
static constexpr int64_t kMaxKept = kSortTile / 2;

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
static Value emptyLike(OpBuilder &builder, Value like, int64_t axis, int64_t size, Type element) {
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, like.getLoc(), like);
  sizes[axis] = builder.getIndexAttr(size);
  return tensor::EmptyOp::create(builder, like.getLoc(), sizes, element);
}

//===----------------------------------------------------------------------===//
// Scans
//===----------------------------------------------------------------------===//

/// The length of the segments that a scan is to be cut into; nothing if it is to stay whole.
static std::optional<int64_t> chooseSegment(kernel::ScanOp op) {
  auto type = cast<RankedTensorType>(op.getInput().getType());
  int64_t axis = op.getAxis(), length = type.getDimSize(axis);
  if (op.getSegment() != 0 || ShapedType::isDynamic(length))
    return std::nullopt;
  auto [lines, inner] = countLines(type, axis);
  if (lines == 0)
    return std::nullopt;
  // Along memory a block scans a segment, else a thread does.
  bool isRow = inner == 1;
  int64_t least = isRow ? kScanTile : 64, wanted = isRow ? kBusyBlocks * 4 : kBusyThreads;
  int64_t segments = wanted / lines;
  int64_t segment = std::max<int64_t>(
      least, llvm::PowerOf2Ceil(llvm::divideCeil(length, std::max<int64_t>(segments, 1))));
  // The totals are one more reading of the input.
  if (segments < 4 || length < 4 * segment)
    return std::nullopt;
  return segment;
}

/// Returns the scan of the totals, which may be long itself.
static kernel::ScanOp splitScan(kernel::ScanOp op, int64_t segment) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  int64_t axis = op.getAxis();
  int64_t length = cast<RankedTensorType>(op.getInput().getType()).getDimSize(axis);
  int64_t count = llvm::divideCeil(length, segment) - 1;
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
  auto type = cast<RankedTensorType>(op.getKeys().getType());
  int64_t axis = op.getRank() - 1, length = type.getDimSize(axis), size = length;
  if (keep != 0)
    size = length / kSortTile * keep + std::min(keep, length % kSortTile);
  Type indexType = cast<ShapedType>(op.getIndices().getType()).getElementType();
  Value values = emptyLike(builder, op.getKeys(), axis, size, type.getElementType());
  Value indices = emptyLike(builder, op.getKeys(), axis, size, indexType);
  return kernel::SortOp::create(builder, op.getLoc(),
                                TypeRange{values.getType(), indices.getType()}, op.getKeys(),
                                op.getPayload(), values, indices, op.getDescending(),
                                op.getUnsignedElements(), keep, kSortTile);
}

/// Lets the op look for its elements among what tiles have to offer.
static void narrowSort(kernel::SortOp op) {
  OpBuilder builder(op);
  kernel::SortOp tiles = sortTiles(builder, op, op.getKeep());
  auto narrowed = kernel::SortOp::create(
      builder, op.getLoc(), op->getResultTypes(), tiles.getResult(0), tiles.getResult(1),
      op.getValues(), op.getIndices(), op.getDescending(), op.getUnsignedElements(), op.getKeep(),
      /*segment=*/0);
  op.replaceAllUsesWith(narrowed);
  op.erase();
}

static void mergeSort(kernel::SortOp op) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  int64_t axis = op.getRank() - 1, keep = op.getKeep();
  int64_t length = cast<RankedTensorType>(op.getKeys().getType()).getDimSize(axis);
  Operation *sorted = sortTiles(builder, op, /*keep=*/0);
  for (int64_t run = kSortTile; run < length; run *= 2) {
    Value values = sorted->getResult(0), indices = sorted->getResult(1);
    auto emptyFor = [&](Value like) {
      return emptyLike(builder, like, axis, length, getElementTypeOrSelf(like.getType()));
    };
    sorted = kernel::MergeOp::create(builder, loc, sorted->getResultTypes(), values, indices,
                                     emptyFor(values), emptyFor(indices), run, op.getDescending(),
                                     op.getUnsignedElements());
  }
  for (auto [result, whole] : llvm::zip_equal(op->getResults(), sorted->getResults())) {
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

static void splitSort(kernel::SortOp op) {
  auto type = cast<RankedTensorType>(op.getKeys().getType());
  int64_t axis = op.getRank() - 1, length = type.getDimSize(axis), keep = op.getKeep();
  if (op.getSegment() != 0 || ShapedType::isDynamic(length) || length <= kSortTile)
    return;
  if (keep == 0 || keep > kMaxKept)
    return mergeSort(op);
  // One block can go through a line that it keeps little of.
  if (countLines(type, axis).first < kBusyBlocks)
    narrowSort(op);
}

//===----------------------------------------------------------------------===//
// Scatters
//===----------------------------------------------------------------------===//

/// Updates that every block may well look at.
static constexpr int64_t kFewUpdates = 4096;

/// The row that each index vector goes to, in the order of the updates: a number past the last row
/// where a component is outside of its dim.
static Value computeRows(OpBuilder &builder, kernel::ScatterOp op, int64_t updates, Type type) {
  Location loc = op.getLoc();
  Value indices = op.getIndices();
  auto indicesType = cast<RankedTensorType>(indices.getType());
  auto destType = cast<RankedTensorType>(op.getDest().getType());
  int64_t components = op.getAxes().size();
  auto flatType = RankedTensorType::get({updates, components}, indicesType.getElementType());
  if (indicesType.getRank() != 2) {
    ReassociationIndices batch = llvm::to_vector(llvm::seq<int64_t>(0, indicesType.getRank() - 1));
    SmallVector<ReassociationIndices> groups{batch, {indicesType.getRank() - 1}};
    indices = tensor::CollapseShapeOp::create(builder, loc, flatType, indices, groups);
  }
  Value empty = tensor::EmptyOp::create(builder, loc, ArrayRef<int64_t>(updates), type);
  AffineMap identity = builder.getMultiDimIdentityMap(1);
  auto generic = linalg::GenericOp::create(
      builder, loc, TypeRange(empty.getType()), ValueRange(), empty, ArrayRef<AffineMap>(identity),
      utils::IteratorType::parallel, [&](OpBuilder &b, Location bodyLoc, ValueRange) {
        Value update = linalg::IndexOp::create(b, bodyLoc, 0), row, isInside;
        Type i64 = b.getI64Type();
        int64_t rows = 1;
        for (auto [component, axis] : llvm::enumerate(op.getAxes())) {
          int64_t size = destType.getDimSize(axis);
          rows *= size;
          Value place = arith::ConstantIndexOp::create(b, bodyLoc, component);
          Value stored = tensor::ExtractOp::create(b, bodyLoc, indices, ValueRange{update, place});
          if (stored.getType() != i64)
            stored = op.getUnsignedIndices()
                         ? arith::ExtUIOp::create(b, bodyLoc, i64, stored).getResult()
                         : arith::ExtSIOp::create(b, bodyLoc, i64, stored).getResult();
          Value limit = arith::ConstantOp::create(b, bodyLoc, b.getI64IntegerAttr(size));
          // As an unsigned number, a negative component is too large.
          Value fits = arith::CmpIOp::create(b, bodyLoc, arith::CmpIPredicate::ult, stored, limit);
          isInside =
              isInside ? arith::AndIOp::create(b, bodyLoc, isInside, fits).getResult() : fits;
          row = row ? arith::AddIOp::create(
                          b, bodyLoc, arith::MulIOp::create(b, bodyLoc, row, limit).getResult(),
                          stored)
                          .getResult()
                    : stored;
        }
        Value none = arith::ConstantOp::create(b, bodyLoc, b.getI64IntegerAttr(rows));
        row = arith::SelectOp::create(b, bodyLoc, isInside, row, none);
        if (type != i64)
          row = arith::TruncIOp::create(b, bodyLoc, type, row);
        linalg::YieldOp::create(b, bodyLoc, row);
      });
  return generic.getResult(0);
}

/// The sort that puts the op's updates in order of their rows; null where that is not worth it.
static kernel::SortOp sortUpdates(kernel::ScatterOp op) {
  auto indices = cast<RankedTensorType>(op.getIndices().getType());
  auto dest = cast<RankedTensorType>(op.getDest().getType());
  int64_t rows = 1;
  for (int64_t axis : op.getAxes())
    if (dest.isDynamicDim(axis) || llvm::MulOverflow(rows, dest.getDimSize(axis), rows))
      return nullptr;
  if (op.getRows() || op.getAxes().empty() || !indices.hasStaticShape() || rows < 2)
    return nullptr;
  int64_t updates = ShapedType::getNumElements(indices.getShape().drop_back());
  if (updates < kFewUpdates || updates > INT32_MAX)
    return nullptr;
  OpBuilder builder(op);
  Type i32 = builder.getI32Type(), type = rows < INT32_MAX ? i32 : Type(builder.getI64Type());
  Value keys = computeRows(builder, op, updates, type);
  Value values = tensor::EmptyOp::create(builder, op.getLoc(), ArrayRef<int64_t>(updates), type);
  Value order = tensor::EmptyOp::create(builder, op.getLoc(), ArrayRef<int64_t>(updates), i32);
  auto sort = kernel::SortOp::create(
      builder, op.getLoc(), TypeRange{values.getType(), order.getType()}, keys,
      /*payload=*/Value(), values, order, /*descending=*/false, /*unsigned_elements=*/false,
      /*keep=*/0, /*segment=*/0);
  op.getRowsMutable().assign(sort.getResult(0));
  op.getOrderMutable().assign(sort.getResult(1));
  return sort;
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {

struct SplitLines final : impl::SplitLinesBase<SplitLines> {
  void runOnOperation() override {
    auto target =
        getOperation()->getParentOfType<ModuleOp>()->getAttrOfType<TargetAttr>(kTargetAttr);
    // A CPU goes through lines one after the other in any case.
    if (!target || !target.isCUDA())
      return;
    SmallVector<kernel::ScanOp> scans;
    SmallVector<kernel::SortOp> sorts;
    getOperation().walk([&](kernel::ScanOp op) { scans.push_back(op); });
    getOperation().walk([&](kernel::SortOp op) { sorts.push_back(op); });
    while (!scans.empty()) {
      kernel::ScanOp op = scans.pop_back_val();
      if (std::optional<int64_t> segment = chooseSegment(op))
        scans.push_back(splitScan(op, *segment));
    }
    getOperation().walk([&](kernel::ScatterOp op) {
      if (kernel::SortOp sort = sortUpdates(op))
        sorts.push_back(sort);
    });
    for (kernel::SortOp op : sorts)
      splitSort(op);
  }
};

} // namespace

} // namespace xc::plan
