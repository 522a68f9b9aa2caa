//===- SelectLineStrategy.cpp - How scans and sorts are laid out ----------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Common/Guards.h"
#include "compiler/Codegen/CUDA/IR/CUDAConfig.h"
#include "compiler/Codegen/CUDA/SelectStrategy.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace xc::cuda {

/// Elements that a block sorts at once: 8 or 12 bytes each in shared memory.
static constexpr int64_t kSortTile = 4096;
/// Threads of a block that sorts several short lines.
static constexpr int64_t kSortThreads = 128;
/// Elements that a thread has in registers, of long lines.
static constexpr int64_t kSortItems = 16;
/// Threads of a block that sorts by a digit, one for each of its values.
static constexpr int64_t kDigitThreads = 256;
/// Shorter lines are sorted also where few of their elements are wanted, and so are those of which
/// more are wanted than this.
static constexpr int64_t kLeastSearched = 512, kMostSelected = 128;

/// `width`, or less where it does not divide `size`.
static int64_t divideVector(int64_t width, Value size) {
  return std::min(width, knownDivisor(size));
}

static std::string describe(std::optional<int64_t> size) {
  return size ? std::to_string(*size) : std::string("a symbolic number of");
}

static Choice chooseScan(kernel::ScanOp op, const KernelInfo &kernel, PointEmitter &points,
                         int64_t vectorWidth) {
  MLIRContext *context = op.getContext();
  LineShape shape = getLineShape(op, points);
  std::optional<int64_t> length = getConstantIntValue(shape.segment);
  if (getConstantIntValue(shape.inner) != std::optional<int64_t>(1)) {
    int64_t vector = divideVector(vectorWidth, shape.inner);
    // Narrow vectors where there are few lines, so that more threads have some.
    std::optional<int64_t> lines =
        getConstantIntValue(points.index.product({shape.outer, shape.inner, shape.segments}));
    int64_t wanted = int64_t(kernel.target->multiprocessors) * 512;
    while (vector > 1 && lines && *lines / vector < wanted)
      vector /= 2;
    int64_t threads = lines && *lines / vector < wanted / 4 ? 32 : 128;
    return {ColumnScanAttr::get(context, threads, vector),
            llvm::formatv("columns of {0} elements: a thread walks down {1} of them",
                          describe(length), vector)};
  }
  int64_t vector = divideVector(vectorWidth, shape.length);
  vector = std::min(vector, knownDivisor(shape.segment));
  int64_t threads = 256;
  if (length) {
    int64_t vectors = llvm::divideCeil(std::max<int64_t>(*length, 1), vector);
    threads = 1;
    while (threads < 256 && threads < vectors)
      threads *= 2;
    // One warp scans what takes it a few rounds: no barrier is as cheap.
    if (vectors <= 128)
      threads = std::min<int64_t>(threads, 32);
  }
  int64_t rows = threads < 32 ? 128 / threads : threads == 32 ? 4 : 1;
  return {RowScanAttr::get(context, threads, rows, vector),
          llvm::formatv("rows of {0} elements: {1} threads scan one, {2} elements each at a time",
                        describe(length), threads, vector)};
}

/// Lines of symbolic length get variants for those that are not longer than this.
static constexpr int64_t kSortBounds[] = {256, 1024, kSortTile};

/// Threads that sort a tile together: with more elements each, fewer rounds go through shared
/// memory; short tiles had better have some threads.
static int64_t getSortThreads(int64_t tile) {
  int64_t items = tile >= 64 * kSortItems ? kSortItems : std::min<int64_t>(tile, kSortItems / 2);
  constexpr int64_t mostThreads = 1024;
  return tile / items > mostThreads ? mostThreads : tile / items;
}

/// Lines of at most `length` elements, sorted in shared memory.
static Choice chooseTileSort(MLIRContext *context, int64_t length, bool bounded) {
  int64_t tile = std::max<int64_t>(2, llvm::PowerOf2Ceil(length));
  int64_t threads = getSortThreads(tile);
  int64_t rows = std::max<int64_t>(1, kSortThreads / threads);
  return {
      SortAttr::get(context, threads * rows, rows, tile, bounded),
      llvm::formatv("lines of {0}{1} elements: {2} threads sort one in shared memory, {3} lines "
                    "a block",
                    bounded ? "at most " : "", length, threads, rows)};
}

/// Long lines of which few elements are wanted.
static std::optional<Choice> chooseSelect(kernel::SortOp op, const LineShape &shape,
                                          int64_t vectorWidth) {
  std::optional<int64_t> length = getConstantIntValue(shape.segment);
  int64_t keep = op.getKeep();
  if (keep < 1 || keep > kMostSelected || (length && *length < kLeastSearched))
    return std::nullopt;
  // Twice as many groups as elements that are wanted: about 1.4 times as many come through.
  int64_t groups = std::max<int64_t>(32, llvm::PowerOf2Ceil(2 * keep));
  int64_t share = length ? llvm::PowerOf2Ceil(llvm::divideCeil(*length, kSortItems)) : 256;
  int64_t threads = std::clamp<int64_t>(share, groups, 256);
  int64_t vector = divideVector(std::min<int64_t>(vectorWidth, kSortItems), shape.length);
  vector = std::min(vector, knownDivisor(shape.segment));
  return Choice{
      SelectAttr::get(op.getContext(), threads, kSortItems, groups, vector),
      llvm::formatv("the first {0} of {1} elements: those up to the {0}th among the first of {2} "
                    "groups",
                    keep, describe(length), groups)};
}

LogicalResult addSortVariants(const KernelInfo &kernel) {
  std::optional<LineKernel> lines = matchLineKernel(kernel);
  auto op = lines ? dyn_cast<kernel::SortOp>(lines->op) : kernel::SortOp();
  if (!op || op.getKeep() != 0 || op.getSegment() != 0)
    return success();
  func::FuncOp function = kernel.getFunction();
  MLIRContext *context = function.getContext();
  plan::BindingOp values = lines->results.front();
  auto type = cast<MemRefType>(values.getMemory().getType());
  if (!type.isDynamicDim(type.getRank() - 1))
    return success();
  AffineExpr length =
      getScalarFormula(getMixedValues(type.getShape(), values.getSizes(), context).back(), context);
  if (!length)
    return success();
  for (int64_t bound : kSortBounds) {
    OpBuilder builder(function);
    auto clone = cast<func::FuncOp>(builder.clone(*function));
    clone.setName((function.getName() + "_lines" + Twine(bound)).str());
    FailureOr<KernelInfo> variant = analyzeKernel(clone);
    if (failed(variant))
      return failure();
    if (!addGuards(*variant, /*guardCounts=*/true, /*guardWidths=*/false)) {
      clone.erase();
      continue;
    }
    addRangeGuard(*variant, length, /*min=*/0, bound);
    recordChoice(clone, chooseTileSort(context, bound, /*bounded=*/true), 32);
  }
  return success();
}

static Choice chooseSort(kernel::SortOp op, PointEmitter &points, int64_t vectorWidth) {
  MLIRContext *context = op.getContext();
  LineShape shape = getLineShape(op, points);
  if (std::optional<Choice> select = chooseSelect(op, shape, vectorWidth))
    return *select;
  std::optional<int64_t> length = getConstantIntValue(shape.segment);
  int64_t keep = op.getKeep();
  if (length && *length <= kSortTile)
    return chooseTileSort(context, *length, /*bounded=*/false);
  if (keep != 0) {
    int64_t tile = std::max<int64_t>(kSortTile, llvm::PowerOf2Ceil(2 * keep));
    return {SortAttr::get(context, getSortThreads(tile), 1, tile, /*bounded=*/false),
            llvm::formatv("the first {0} of {1} elements: lines pass through {2} places of shared "
                          "memory",
                          keep, describe(length), tile)};
  }
  return {SortInPlaceAttr::get(context, 1024),
          llvm::formatv("lines of {0} elements: a block sorts one in the result's memory",
                        describe(length))};
}

Choice chooseLineStrategy(const LineKernel &lines, const KernelInfo &kernel, PointEmitter &points,
                          int64_t vectorWidth) {
  if (auto scan = dyn_cast<kernel::ScanOp>(lines.op))
    return chooseScan(scan, kernel, points, vectorWidth);
  if (auto merge = dyn_cast<kernel::MergeOp>(lines.op))
    return {MergeAttr::get(merge.getContext(), 256, 16),
            llvm::formatv("runs of {0} elements: a block merges 4096 places", merge.getRun())};
  if (auto count = dyn_cast<kernel::CountDigitsOp>(lines.op))
    return {
        CountDigitsAttr::get(count.getContext(), kDigitThreads, count.getTile() / kDigitThreads),
        llvm::formatv("a block counts the digits of {0} elements", count.getTile())};
  if (auto sort = dyn_cast<kernel::SortDigitOp>(lines.op))
    return {
        SortDigitAttr::get(sort.getContext(), kDigitThreads, sort.getTile() / kDigitThreads),
        llvm::formatv("a block sorts {0} elements by digit {1}", sort.getTile(), sort.getDigit())};
  return chooseSort(cast<kernel::SortOp>(lines.op), points, vectorWidth);
}

} // namespace xc::cuda
