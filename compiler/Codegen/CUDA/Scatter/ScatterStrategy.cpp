//===- ScatterStrategy.cpp - How scatters are laid out --------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// In place, a thread has an element of the updates. Else each element of the destination has an
// owner, which applies the updates that meet it in order.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Common/MemoryTime.h"
#include "compiler/Codegen/CUDA/IR/CUDAConfig.h"
#include "compiler/Codegen/CUDA/Strategy.h"
#include "compiler/Dialect/Array/IR/Sizes.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace xc::cuda {

/// A thread for each element of the updates: a row is touched by its first update, which brings the
/// later ones with it.
static Choice chooseDirectScatter(kernel::ScatterOp op) {
  auto type = cast<RankedTensorType>(op.getUpdates().getType());
  int64_t threads = 128;
  while (threads > 32 && type.hasStaticShape() && type.getNumElements() <= threads / 2)
    threads /= 2;
  return {DirectScatterAttr::get(op.getContext(), threads),
          op.getUnique() ? "scatter in place: a thread writes an element of the updates"
                         : "scatter in place: the thread of a row's first update applies them all"};
}

/// The elements of the window that a thread accesses at once: neighbours in memory.
static int64_t getScatterVector(kernel::ScatterOp op) {
  auto type = cast<RankedTensorType>(op.getDest().getType());
  SmallVector<int64_t> window(op.getWindowDims());
  if (window.empty() || window.back() != type.getRank() - 1 || type.isDynamicDim(window.back()))
    return 1;
  int64_t vector = kVectorBytes / getElementBytes(type.getElementType());
  while (type.getDimSize(window.back()) % vector != 0)
    vector /= 2;
  return std::min<int64_t>(vector, 8);
}

static Choice chooseScatter(kernel::ScatterOp op, const KernelInfo &kernel) {
  if (op.getInPlace())
    return chooseDirectScatter(op);
  MLIRContext *context = kernel.getFunction().getContext();
  auto type = cast<RankedTensorType>(op.getDest().getType());
  auto count = [&](ArrayRef<int64_t> dims) {
    std::optional<int64_t> product = 1;
    for (int64_t dim : dims)
      product = product ? array::mulSizes(*product, type.getDimSize(dim)) : std::nullopt;
    return product;
  };
  std::optional<int64_t> window = count(op.getWindowDims()), rows = count(op.getAxes());
  int64_t vector = op.getRows() ? getScatterVector(op) : 1;
  if (window)
    window = *window / vector;
  // Threads that a narrow window has no places for own further rows.
  int64_t threads = 128, across = threads;
  while (across > 1 && window && *window <= across / 2)
    across /= 2;
  int64_t down = threads / across;
  if (down == 1 && window && *window % across != 0 && *window % (across / 2) == 0)
    threads = across = across / 2;
  // Every thread searches for its rows, or reads all indices: no more of them than keep the
  // multiprocessors busy. Where updates are found, a row waits for each of its own.
  int64_t rowsPerThread = down > 1 ? 1 : op.getRows() ? 4 : 16;
  if (window && rows) {
    // As many as run at the same time, where a block is tall.
    int64_t perMultiprocessor = !op.getRows() ? 8 : down > 1 ? 16 : 48;
    int64_t blocks = kernel.target->multiprocessors * perMultiprocessor;
    int64_t blocksDown =
        std::max<int64_t>(1, blocks / llvm::divideCeil(std::max<int64_t>(*window, 1), across));
    rowsPerThread = std::max<int64_t>(1, llvm::divideCeil(*rows, blocksDown * down));
    if (op.getRows() && down == 1)
      rowsPerThread = std::min<int64_t>(rowsPerThread, 16);
  }
  std::string reason =
      llvm::formatv("scatter in order{0}: a block owns {1} rows and {2} elements of the window",
                    op.getRows() ? " of rows" : "", rowsPerThread * down, across * vector)
          .str();
  if (op.getRows())
    return {OrderedScatterAttr::get(context, threads, rowsPerThread, down, vector), reason};
  return {ScatterAttr::get(context, threads, rowsPerThread, down), reason};
}

/// Microseconds for which a block that reads all updates waits for each of them, and in which it
/// finds the first one of its rows.
static constexpr double kUpdateWait = 0.12, kSearch = 3;

/// Nothing where a size is symbolic.
static std::optional<double> estimateScatter(kernel::ScatterOp op, const KernelInfo &kernel) {
  std::optional<double> memory = estimateMemoryTime(kernel);
  if (!memory || op.getInPlace())
    return memory;
  if (op.getRows())
    return *memory + kSearch;
  ArrayRef<int64_t> shape = cast<RankedTensorType>(op.getIndices().getType()).getShape();
  return *memory + kUpdateWait * static_cast<double>(array::multiplyKnown(shape.drop_back()));
}

namespace {

struct ScatterStrategy final : Strategy {
  StringRef getName() const override { return "scatter"; }
  LogicalResult enumerate(KernelQuery &query, SmallVectorImpl<Choice> &choices) const override {
    kernel::ScatterOp op = query.getScatter();
    if (!op)
      return success();
    Choice choice = chooseScatter(op, query.kernel);
    choice.microseconds = estimateScatter(op, query.kernel);
    if (choice.microseconds)
      choice.reason += ", " + formatTime(*choice.microseconds);
    choices.push_back(choice);
    return success();
  }
  std::unique_ptr<Pass> createEmission() const override { return createEmitScatter(); }
};

} // namespace

const Strategy &getScatterStrategy() {
  static const ScatterStrategy strategy;
  return strategy;
}

} // namespace xc::cuda
