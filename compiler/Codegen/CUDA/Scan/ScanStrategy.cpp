//===- ScanStrategy.cpp - How scans are laid out --------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Along memory, threads share a row; else each thread goes down neighbouring columns.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Common/MemoryTime.h"
#include "compiler/Codegen/CUDA/IR/CUDAConfig.h"
#include "compiler/Codegen/CUDA/Strategy.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace xc::cuda {

static Choice chooseScan(kernel::ScanOp op, const KernelInfo &kernel, KernelSizes &sizes,
                         int64_t vectorWidth) {
  MLIRContext *context = op.getContext();
  LineSizes<plan::FormulaAttr> shape = getLineSizes(op, sizes);
  std::optional<int64_t> length = shape.segment.asConstant();
  if (shape.inner.asConstant() != 1) {
    int64_t vector = std::min(vectorWidth, sizes.getDivisor(shape.inner));
    // Narrow vectors where there are few lines, so that more threads have some.
    std::optional<int64_t> lines =
        sizes.product({shape.outer, shape.inner, shape.segments}).asConstant();
    int64_t wanted = int64_t(kernel.target->multiprocessors) * 512;
    while (vector > 1 && lines && *lines / vector < wanted)
      vector /= 2;
    int64_t threads = lines && *lines / vector < wanted / 4 ? 32 : 128;
    return {ColumnScanAttr::get(context, threads, vector),
            llvm::formatv("columns of {0} elements: a thread loops down {1} of them",
                          describeSize(length), vector)};
  }
  int64_t vector =
      std::min({vectorWidth, sizes.getDivisor(shape.length), sizes.getDivisor(shape.segment)});
  int64_t threads = 256;
  if (length) {
    int64_t vectors = llvm::divideCeil(std::max<int64_t>(*length, 1), vector);
    threads = 1;
    while (threads < 256 && threads < vectors)
      threads *= 2;
    // One warp scans what takes it a few iterations: no barrier is as cheap.
    if (vectors <= 128)
      threads = std::min<int64_t>(threads, 32);
  }
  int64_t rows = threads < 32 ? 128 / threads : threads == 32 ? 4 : 1;
  return {RowScanAttr::get(context, threads, rows, vector),
          llvm::formatv("rows of {0} elements: {1} threads scan one, {2} elements each at a time",
                        describeSize(length), threads, vector)};
}

namespace {

struct ScanStrategy final : Strategy {
  StringRef getName() const override { return "scan"; }
  LogicalResult enumerate(KernelQuery &query, SmallVectorImpl<Choice> &choices) const override {
    const LineKernel *lines = query.getLineKernel();
    auto op = lines ? dyn_cast<kernel::ScanOp>(lines->op) : kernel::ScanOp();
    if (!op)
      return success();
    Choice choice = chooseScan(op, query.kernel, query.sizes, getVectorWidth(query.kernel));
    choice.microseconds = estimateMemoryTime(query.kernel);
    choices.push_back(choice);
    return success();
  }
  std::unique_ptr<Pass> createEmission() const override { return createEmitScan(); }
};

} // namespace

const Strategy &getScanStrategy() {
  static const ScanStrategy strategy;
  return strategy;
}

} // namespace xc::cuda
