//===- SortStrategy.cpp - How sorts and their steps are laid out ----------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rows that fit a tile are sorted in shared memory; of longer ones, -xc-cuda-split-scans-and-sorts
// has made tiles and steps that bring them together. Where few elements of a row are wanted, those
// are selected instead.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Common/Guards.h"
#include "compiler/Codegen/CUDA/Common/MemoryTime.h"
#include "compiler/Codegen/CUDA/IR/CUDAConfig.h"
#include "compiler/Codegen/CUDA/Strategy.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace xc::cuda {

/// Elements that a block sorts at once: 8 or 12 bytes each in shared memory.
static constexpr int64_t kSortTile = 4096;
/// Threads of a block that sorts several short rows.
static constexpr int64_t kSortThreads = 128;
/// Elements that a thread has in registers, of long rows.
static constexpr int64_t kSortItems = 16;
/// Threads of a block that sorts by a digit, one for each of its values.
static constexpr int64_t kDigitThreads = 256;
/// Shorter rows are sorted also where few of their elements are wanted, and so are those of which
/// more are wanted than this.
static constexpr int64_t kLeastSearched = 512, kMostSelected = 128;

/// Lines of symbolic length get variants for those that are not longer than this.
static constexpr int64_t kSortBounds[] = {256, 1024, kSortTile};

/// Threads that sort a tile together: with more elements each, fewer steps go through shared
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
  return {SortAttr::get(context, threads * rows, rows, tile, bounded),
          llvm::formatv("rows of {0}{1} elements: {2} threads sort one in shared memory, {3} rows "
                        "a block",
                        bounded ? "at most " : "", length, threads, rows)};
}

/// Long rows of which few elements are wanted.
static std::optional<Choice> chooseSelect(kernel::SortOp op, KernelSizes &sizes,
                                          int64_t vectorWidth) {
  LineSizes<plan::FormulaAttr> shape = getLineSizes(op, sizes);
  std::optional<int64_t> length = shape.segment.asConstant();
  int64_t keep = op.getKeep();
  if (keep < 1 || keep > kMostSelected || (length && *length < kLeastSearched))
    return std::nullopt;
  // Twice as many groups as elements that are wanted: about 1.4 times as many come through.
  int64_t groups = std::max<int64_t>(32, llvm::PowerOf2Ceil(2 * keep));
  int64_t share = length ? llvm::PowerOf2Ceil(llvm::divideCeil(*length, kSortItems)) : 256;
  int64_t threads = std::clamp<int64_t>(share, groups, 256);
  int64_t vector = std::min(
      {vectorWidth, kSortItems, sizes.getDivisor(shape.length), sizes.getDivisor(shape.segment)});
  return Choice{
      SelectAttr::get(op.getContext(), threads, kSortItems, groups, vector),
      llvm::formatv("the first {0} of {1} elements: those up to the {0}th among the first of {2} "
                    "groups",
                    keep, describeSize(length), groups)};
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

static Choice chooseSort(kernel::SortOp op, KernelSizes &sizes) {
  MLIRContext *context = op.getContext();
  std::optional<int64_t> length = getLineSizes(op, sizes).segment.asConstant();
  int64_t keep = op.getKeep();
  if (length && *length <= kSortTile)
    return chooseTileSort(context, *length, /*bounded=*/false);
  if (keep != 0) {
    int64_t tile = std::max<int64_t>(kSortTile, llvm::PowerOf2Ceil(2 * keep));
    return {SortAttr::get(context, getSortThreads(tile), 1, tile, /*bounded=*/false),
            llvm::formatv("the first {0} of {1} elements: rows pass through {2} elements of shared "
                          "memory",
                          keep, describeSize(length), tile)};
  }
  return {SortInPlaceAttr::get(context, 1024),
          llvm::formatv("rows of {0} elements: a block sorts one in the result's memory",
                        describeSize(length))};
}

namespace {

struct SortStrategy final : Strategy {
  StringRef getName() const override { return "sort"; }
  LogicalResult enumerate(KernelQuery &query, SmallVectorImpl<Choice> &choices) const override {
    const LineKernel *lines = query.getLineKernel();
    auto op = lines ? dyn_cast<kernel::SortOp>(lines->op) : kernel::SortOp();
    if (!op || chooseSelect(op, query.sizes, getVectorWidth(query.kernel)))
      return success();
    Choice choice = chooseSort(op, query.sizes);
    choice.microseconds = estimateMemoryTime(query.kernel);
    choices.push_back(choice);
    return success();
  }
  std::unique_ptr<Pass> createEmission() const override { return createEmitSort(); }
};

struct SelectFirstStrategy final : Strategy {
  StringRef getName() const override { return "select"; }
  LogicalResult enumerate(KernelQuery &query, SmallVectorImpl<Choice> &choices) const override {
    const LineKernel *lines = query.getLineKernel();
    auto op = lines ? dyn_cast<kernel::SortOp>(lines->op) : kernel::SortOp();
    if (!op)
      return success();
    std::optional<Choice> choice = chooseSelect(op, query.sizes, getVectorWidth(query.kernel));
    if (!choice)
      return success();
    choice->microseconds = estimateMemoryTime(query.kernel);
    choices.push_back(*choice);
    return success();
  }
  std::unique_ptr<Pass> createEmission() const override { return createEmitSelect(); }
};

struct MergeStrategy final : Strategy {
  StringRef getName() const override { return "merge"; }
  LogicalResult enumerate(KernelQuery &query, SmallVectorImpl<Choice> &choices) const override {
    const LineKernel *lines = query.getLineKernel();
    auto op = lines ? dyn_cast<kernel::MergeOp>(lines->op) : kernel::MergeOp();
    if (op)
      choices.push_back(
          {MergeAttr::get(op.getContext(), 256, 16),
           llvm::formatv("runs of {0} elements: a block merges 4096 elements", op.getRun()),
           estimateMemoryTime(query.kernel)});
    return success();
  }
  std::unique_ptr<Pass> createEmission() const override { return createEmitMerge(); }
};

struct DigitSortStrategy final : Strategy {
  StringRef getName() const override { return "digit-sort"; }
  LogicalResult enumerate(KernelQuery &query, SmallVectorImpl<Choice> &choices) const override {
    const LineKernel *lines = query.getLineKernel();
    if (auto op = lines ? dyn_cast<kernel::CountDigitsOp>(lines->op) : kernel::CountDigitsOp())
      choices.push_back(
          {CountDigitsAttr::get(op.getContext(), kDigitThreads, op.getTile() / kDigitThreads),
           llvm::formatv("a block counts the digits of {0} elements", op.getTile()),
           estimateMemoryTime(query.kernel)});
    if (auto op = lines ? dyn_cast<kernel::SortDigitOp>(lines->op) : kernel::SortDigitOp())
      choices.push_back(
          {SortDigitAttr::get(op.getContext(), kDigitThreads, op.getTile() / kDigitThreads),
           llvm::formatv("a block sorts {0} elements by digit {1}", op.getTile(), op.getDigit()),
           estimateMemoryTime(query.kernel)});
    return success();
  }
  std::unique_ptr<Pass> createEmission() const override { return createEmitDigitSort(); }
};

} // namespace

const Strategy &getSortStrategy() {
  static const SortStrategy strategy;
  return strategy;
}
const Strategy &getSelectFirstStrategy() {
  static const SelectFirstStrategy strategy;
  return strategy;
}
const Strategy &getMergeStrategy() {
  static const MergeStrategy strategy;
  return strategy;
}
const Strategy &getDigitSortStrategy() {
  static const DigitSortStrategy strategy;
  return strategy;
}

} // namespace xc::cuda
