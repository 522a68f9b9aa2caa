//===- ColumnStrategy.cpp - How reductions of columns are laid out --------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Neighbouring threads have neighbouring columns, so that what they read together is contiguous;
// the threads below each other share a column. Columns that are needed again after a reduction stay
// in registers where they fit.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Common/MemoryTime.h"
#include "compiler/Codegen/CUDA/Common/Occupancy.h"
#include "compiler/Codegen/CUDA/Common/SplitDependentReductions.h"
#include "compiler/Codegen/CUDA/IR/CUDAConfig.h"
#include "compiler/Codegen/CUDA/Strategy.h"
#include "compiler/Codegen/CUDA/Window/WindowModel.h"
#include "compiler/Codegen/CUDA/Window/WindowStrategy.h"
#include "compiler/Dialect/Plan/IR/Reductions.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace xc::cuda {

/// Where columns are held in registers: how many a thread has for them, threads of a block, bytes
/// of each row that a block has where there are this many blocks for each multiprocessor.
static constexpr int64_t kRegisterBytes = 4, kHeldRegisters = 32, kMostHeldThreads = 512,
                         kHeldLine = 128, kManyBlocks = 3;
/// Threads of a block that holds columns which are few blocks, and of each row of them.
static constexpr int64_t kFewThreads = 512, kMostFewThreads = 1024, kFewAcross = 8;
/// Registers of a thread from which on it has fewer columns.
static constexpr int64_t kLoopRegisters = 128;
/// Columns from this length on have more threads down, which all have several elements to wait for.
static constexpr int64_t kTallColumn = 512;

/// Whether a block has the shared memory by which its `threads` combine columns: `rows` of them
/// have parts of the same ones.
static bool canCombine(const ReductionGroup &group, const KernelInfo &kernel, int64_t threads,
                       int64_t rows, int64_t vector) {
  return rows == 1 || countCombinedBytes(group.members, threads * rows * vector) <=
                          kernel.target->sharedPerBlock;
}

/// Columns whose elements are needed again after a reduction, in registers: a block of few columns
/// holds all of them, and many such blocks are under way.
static std::optional<Choice> chooseHeldColumns(const ReductionGroup &group,
                                               const KernelInfo &kernel, KernelSizes &sizes,
                                               std::optional<int64_t> columns,
                                               std::optional<int64_t> length) {
  if (!group.reusesRows() || !columns || !length || *length == 0 || group.inputs.empty())
    return std::nullopt;
  int64_t vector =
      std::min(getVectorWidth(kernel), getInnermostDivisor(sizes, group, group.parallelDims));
  int64_t registers = 0, widest = 1;
  for (const ReductionGroup::Input &input : group.inputs) {
    int64_t bytes = getElementBytes(input.getMemoryType().getElementType());
    registers += llvm::divideCeil(vector * bytes, kRegisterBytes);
    widest = std::max(widest, vector * bytes);
  }
  // Neighbouring threads read a line of memory; half of one where blocks would be few.
  int64_t multiprocessors = kernel.target->multiprocessors, threads = 1, rows = 1;
  while (threads * widest < kHeldLine)
    threads *= 2;
  auto countBlocks = [&]() -> int64_t { return llvm::divideCeil(*columns, threads * vector); };
  if (threads > 1 && countBlocks() < kManyBlocks * multiprocessors)
    threads /= 2;
  auto countHeld = [&] { return llvm::divideCeil(*length, rows); };
  while (countHeld() > 1 && countHeld() * registers > kHeldRegisters)
    rows *= 2;
  while (threads < 32 && threads * rows < kBlockThreads)
    threads *= 2;
  if (threads * rows > kMostHeldThreads || countBlocks() < multiprocessors ||
      !canCombine(group, kernel, threads, rows, vector))
    return std::nullopt;
  int64_t held = countHeld();
  std::string reason =
      llvm::formatv("columns: {0} threads across with {1} columns each, {2} down that share them "
                    "and hold {3} elements of each in registers",
                    threads, vector, rows, held)
          .str();
  return Choice{
      ColumnReductionAttr::get(kernel.getFunction().getContext(), threads, rows, vector, held),
      reason};
}

/// Few short columns whose elements are needed again, as where partial sums are brought together:
/// what counts is how long a block waits for memory, which is once where registers hold them.
static std::optional<Choice> chooseFewHeldColumns(const ReductionGroup &group,
                                                  const KernelInfo &kernel,
                                                  std::optional<int64_t> columns,
                                                  std::optional<int64_t> length) {
  if (!group.reusesRows() || group.parts > 0 || !columns || !length || *length == 0 ||
      group.inputs.empty() ||
      llvm::divideCeil(*columns, kFewAcross) > kernel.target->multiprocessors)
    return std::nullopt;
  int64_t registers = 0, rows = 1;
  for (const ReductionGroup::Input &input : group.inputs)
    registers +=
        llvm::divideCeil(getElementBytes(input.getMemoryType().getElementType()), kRegisterBytes);
  auto countHeld = [&] { return llvm::divideCeil(*length, rows); };
  while (countHeld() > 1 && kFewAcross * rows < kFewThreads)
    rows *= 2;
  while (countHeld() * registers > kHeldRegisters && kFewAcross * rows < kMostFewThreads)
    rows *= 2;
  if (countHeld() * registers > kHeldRegisters ||
      !canCombine(group, kernel, kFewAcross, rows, /*vector=*/1))
    return std::nullopt;
  std::string reason = llvm::formatv("columns: {0} threads across with 1 columns each, {1} down "
                                     "that share them and hold {2} elements of each in registers",
                                     kFewAcross, rows, countHeld())
                           .str();
  return Choice{ColumnReductionAttr::get(kernel.getFunction().getContext(), kFewAcross, rows,
                                         /*vector=*/1, countHeld()),
                reason};
}

/// True if all that `group` reduces is a sum and squares of distances from what it gives, which are
/// visited once (EmitColumnReduction.cpp).
static bool reducesMoments(const ReductionGroup &group) {
  if (group.members.size() != 2 || !group.partials.empty() || group.writesRows())
    return false;
  linalg::LinalgOp first = group.members[0].combiner.getOp(),
                   second = group.members[1].combiner.getOp();
  auto generic = dyn_cast<linalg::GenericOp>(second.getOperation());
  std::optional<DependentPair> pair = generic ? findDependentPair(generic) : std::nullopt;
  return pair && pair->first == first && pair->shift.form == DependentPair::Shift::Form::Square;
}

/// Such columns, where blocks are enough: each reads lines of memory, and of short columns all that
/// a thread has at once.
static std::optional<Choice> chooseMoments(const ReductionGroup &group, const KernelInfo &kernel,
                                           KernelSizes &sizes, std::optional<int64_t> columns,
                                           std::optional<int64_t> length) {
  if (!columns || group.parts > 0 || group.inputs.empty() || !reducesMoments(group))
    return std::nullopt;
  int64_t vector =
      std::min(getVectorWidth(kernel), getInnermostDivisor(sizes, group, group.parallelDims));
  int64_t registers = 0, widest = 1, threads = 1;
  for (const ReductionGroup::Input &input : group.inputs) {
    int64_t bytes = vector * getElementBytes(input.getMemoryType().getElementType());
    registers += llvm::divideCeil(bytes, kRegisterBytes);
    widest = std::max(widest, bytes);
  }
  while (threads * widest < kHeldLine)
    threads *= 2;
  int64_t rows = kBlockThreads / threads;
  if (!fillsMultiprocessors(*kernel.target, llvm::divideCeil(*columns, threads * vector)) ||
      (length && *length < rows) || !canCombine(group, kernel, threads, rows, vector))
    return std::nullopt;
  int64_t held = length ? llvm::divideCeil(*length, rows) : 0;
  if (held * registers > kHeldRegisters)
    held = 0;
  std::string reason = llvm::formatv("columns: {0} threads across with {1} columns each, {2} down "
                                     "that share them and visit each element once",
                                     threads, vector, rows)
                           .str();
  return Choice{
      ColumnReductionAttr::get(kernel.getFunction().getContext(), threads, rows, vector, held),
      reason};
}

/// Registers that a thread takes which loops down `vector` columns: for what it has combined so
/// far, what it loads at a time, what is alike for all of a column, and places.
static int64_t countLoopRegisters(const ReductionGroup &group, const KernelInfo &kernel,
                                  int64_t vector) {
  constexpr int64_t loads = 4, places = 16;
  int64_t bytes = 0;
  for (const ReductionGroup::Input &input : group.inputs)
    bytes += loads * getElementBytes(input.getMemoryType().getElementType());
  for (const ReductionGroup::Member &member : group.members)
    for (Type type : member.combiner.getOp()->getResultTypes())
      bytes += getElementBytes(getElementTypeOrSelf(type));
  auto isAlike = [&](plan::BindingOp binding) {
    return binding.getAccess() == plan::Access::Read &&
           llvm::none_of(group.inputs, [&](const ReductionGroup::Input &input) {
             return input.binding == binding;
           });
  };
  bytes += kRegisterBytes * llvm::count_if(kernel.bindings, isAlike);
  return places + llvm::divideCeil(vector * bytes, kRegisterBytes);
}

static Choice chooseColumns(const ReductionGroup &group, const KernelInfo &kernel,
                            KernelSizes &sizes) {
  std::optional<int64_t> columns = getStaticProduct(group.root, group.parallelDims),
                         length = getStaticProduct(group.root, group.reductionDims);
  if (std::optional<Choice> choice = chooseMoments(group, kernel, sizes, columns, length))
    return *choice;
  if (std::optional<Choice> choice = chooseHeldColumns(group, kernel, sizes, columns, length))
    return *choice;
  if (std::optional<Choice> choice = chooseFewHeldColumns(group, kernel, columns, length))
    return *choice;
  // Blocks have one of the parts each, and what it leaves of a column.
  int64_t parts = std::max<int64_t>(1, plan::countCyclicParts(group.root));
  if (length)
    length = llvm::divideCeil(*length, parts);
  MLIRContext *context = kernel.getFunction().getContext();
  int64_t vector =
      std::min(getVectorWidth(kernel), getInnermostDivisor(sizes, group, group.parallelDims));
  // Narrow blocks where columns are few, so that more multiprocessors have one; 8 threads still
  // read whole sectors of 32 bytes, and 4 do with vectors.
  int64_t threads = 32, rows = length && *length >= kTallColumn ? 16 : 8,
          multiprocessors = kernel.target->multiprocessors;
  auto countBlocks = [&]() -> int64_t {
    return parts * llvm::divideCeil(*columns, threads * vector); // in range: of elements in memory
  };
  // Most multiprocessors are enough for long columns. Of short ones a thread reads but a few
  // elements, and what counts is how many it waits for at a time.
  constexpr int64_t shortColumn = 512;
  bool isShort = length && *length <= shortColumn;
  auto isFew = [&] {
    return isShort ? countBlocks() < multiprocessors
                   : !fillsMultiprocessors(*kernel.target, countBlocks());
  };
  while (columns && threads * vector > 32 && isFew())
    (threads > 8 ? threads : vector) /= 2;
  while (columns && threads * vector > 8 && isFew())
    (vector > 1 ? vector : threads) /= 2;
  // Threads that read less than a word share lines of memory with their neighbours: wide blocks
  // share them in their own cache.
  constexpr int64_t wordBytes = 4, wide = 128;
  int64_t widest = 0;
  for (const ReductionGroup::Input &input : group.inputs)
    widest = std::max(widest, getElementBytes(input.getMemoryType().getElementType()));
  if (widest > 0 && widest * vector < wordBytes && columns &&
      *columns >= 2 * wide * vector * multiprocessors) {
    threads = wide;
    rows = 8;
  }
  while (rows > 1 && length && *length < rows * 2)
    rows /= 2;
  // Tall blocks make up for blocks that are missing. Where rows of symbolic number go to parts in
  // turn, threads of the tallest ones had no registers for their places.
  int64_t mostThreads = parts > 1 && !length ? 512 : 1024;
  while (rows * threads < mostThreads && columns && length.value_or(4096) >= rows * 4 &&
         countBlocks() * rows * threads < multiprocessors * int64_t(1024))
    rows *= 2;
  // Threads have registers for all sums: shorter blocks, narrower threads where that is not enough.
  while (vector > 1 && countLoopRegisters(group, kernel, vector) > kLoopRegisters) {
    vector /= 2;
    threads *= 2;
    rows = std::max<int64_t>(1, rows / 2);
  }
  while (rows > 1 && threads * rows > kBlockThreads &&
         threads * rows * countLoopRegisters(group, kernel, vector) >
             kernel.target->registersPerMultiprocessor)
    rows /= 2;
  while (!canCombine(group, kernel, threads, rows, vector))
    rows /= 2;
  std::string reason =
      llvm::formatv("columns: {0} threads across with {1} columns each, {2} down that share them",
                    threads, vector, rows)
          .str();
  return {ColumnReductionAttr::get(context, threads, rows, vector, /*held=*/0), reason};
}

namespace {

struct ColumnReductionStrategy final : Strategy {
  StringRef getName() const override { return "column-reduction"; }
  LogicalResult enumerate(KernelQuery &query, SmallVectorImpl<Choice> &choices) const override {
    const ReductionGroup *group = query.getReductionGroup();
    if (!group || !group->partials.empty() || group->reducesContiguousDim)
      return success();
    Choice choice = chooseColumns(*group, query.kernel, query.sizes);
    choice.microseconds = estimateMemoryTime(query.kernel);
    if (const WindowQuery *windows = query.getWindows())
      describeSharedWindows(*windows, cast<ColumnReductionAttr>(choice.config).getRows(),
                            estimateWindowColumns(query.getTarget(), windows->problem), choice);
    choices.push_back(choice);
    return success();
  }
  std::unique_ptr<Pass> createEmission() const override { return createEmitColumnReduction(); }
};

} // namespace

const Strategy &getColumnReductionStrategy() {
  static const ColumnReductionStrategy strategy;
  return strategy;
}

} // namespace xc::cuda
