//===- SelectStrategy.cpp - Choose how a kernel is laid out ---------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The kind of a kernel follows from its ops: what contracts, what reduces along or across memory,
// what does neither. Within a kind, sizes decide: how many elements a thread takes, how many
// threads share a row. Where a size is symbolic, variants for what it may be come before the
// general one; see SelectVariants.cpp.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/SelectStrategy.h"
#include "compiler/Codegen/CUDA/Attention/AttentionGradient.h"
#include "compiler/Codegen/CUDA/Attention/AttentionProblem.h"
#include "compiler/Codegen/CUDA/Common/Accesses.h"
#include "compiler/Codegen/CUDA/Common/Guards.h"
#include "compiler/Codegen/CUDA/Common/Occupancy.h"
#include "compiler/Codegen/CUDA/Common/ReductionSplit.h"
#include "compiler/Codegen/CUDA/IR/CUDAConfig.h"
#include "compiler/Codegen/CUDA/SelectVariants.h"
#include "compiler/Codegen/CUDA/Window/WindowModel.h"

#include "compiler/Dialect/Plan/IR/Products.h"
#include "compiler/Dialect/Plan/IR/Reductions.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace xc::cuda {

#define GEN_PASS_DEF_SELECTSTRATEGY
#include "compiler/Codegen/CUDA/Passes.h.inc"

/// Where columns are held in registers: how many a thread has for them, threads of a block, bytes
/// of each row that a block has where there are this many blocks for each multiprocessor.
static constexpr int64_t kRegisterBytes = 4, kHeldRegisters = 32, kMostHeldThreads = 512,
                         kHeldLine = 128, kManyBlocks = 3;
/// Columns from this length on have more threads down, which all have several elements to wait for.
static constexpr int64_t kTallColumn = 512;

namespace {

class Chooser {
public:
  /// `rowBound` limits the length of rows that are reduced, if that is symbolic.
  Chooser(const KernelInfo &kernel, PointEmitter &points, const SelectStrategyOptions &options,
          const ProductTuning &tuning, std::optional<int64_t> rowBound)
      : kernel(kernel), points(points), options(options), tuning(tuning), rowBound(rowBound) {}

  Choice choose();

private:
  std::optional<Choice> chooseTranspose();
  Choice chooseElementwise(bool isWindow = false);
  std::optional<Choice> chooseWindow(const Contraction *contraction);
  Choice chooseWalkedWindow(const WindowProblem &problem);
  Choice chooseSharedWindow(const ReductionGroup &group, const WindowProblem &problem);
  Choice chooseReduction(const ReductionGroup &group);
  Choice chooseColumns(const ReductionGroup &group, std::optional<int64_t> columns,
                       std::optional<int64_t> length);
  std::optional<Choice> chooseHeldColumns(const ReductionGroup &group,
                                          std::optional<int64_t> columns,
                                          std::optional<int64_t> length);
  Choice chooseScatter(kernel::ScatterOp op);

  /// True if results have rows of which `vector` elements, narrower than words, are at no known
  /// places: they had better be accessed together wherever that is in a row.
  bool hasOddRows(int64_t vector);
  /// A power of two that divides the innermost size of every output that is not 1.
  int64_t getInnerDivisor();

  const KernelInfo &kernel;
  PointEmitter &points; // knows the sizes; nothing is emitted
  const SelectStrategyOptions &options;
  const ProductTuning &tuning;
  std::optional<int64_t> rowBound;
};

} // namespace

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

static std::optional<int64_t> getStaticCount(const KernelInfo &kernel, plan::BindingOp binding) {
  ShapedType type = kernel.getAccessedType(binding);
  if (!type.hasStaticShape())
    return std::nullopt;
  return type.getNumElements();
}

int64_t getVectorWidth(const KernelInfo &kernel) {
  int64_t largest = 0, narrowest = kVectorBytes;
  for (plan::BindingOp binding : kernel.bindings)
    largest = std::max(largest, getStaticCount(kernel, binding).value_or(INT64_MAX));
  for (plan::BindingOp binding : kernel.bindings)
    if (getStaticCount(kernel, binding).value_or(INT64_MAX) >= largest / 2)
      narrowest = std::min(
          narrowest,
          getElementBytes(cast<MemRefType>(binding.getMemory().getType()).getElementType()));
  // Bytes beside wider types: more than 8 lanes would cost more registers than they save
  // instructions.
  bool onlyBytes = llvm::all_of(kernel.bindings, [](plan::BindingOp binding) {
    return getElementBytes(cast<MemRefType>(binding.getMemory().getType()).getElementType()) == 1;
  });
  return std::min<int64_t>(kVectorBytes / narrowest, onlyBytes ? 16 : 8);
}

std::optional<int64_t> getStaticProduct(linalg::LinalgOp op, ArrayRef<unsigned> dims) {
  int64_t product = 1;
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  for (unsigned dim : dims) {
    if (ShapedType::isDynamic(ranges[dim]))
      return std::nullopt;
    product *= ranges[dim];
  }
  return product;
}

/// True if elements of the outputs depend on elements at the same row-major position only.
static bool isFlat(const KernelInfo &kernel) {
  return llvm::all_of(kernel.tensorOps, [](Operation *op) {
    auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
    if (!linalgOp)
      return !isa<kernel::ScatterOp, kernel::UpdateOp, tensor::ExtractSliceOp,
                  tensor::InsertSliceOp, tensor::PadOp>(op);
    bool usesIndices = false;
    linalgOp.getBlock()->walk([&](linalg::IndexOp) { usesIndices = true; });
    return !usesIndices && llvm::all_of(linalgOp->getOpOperands(), [&](OpOperand &operand) {
      return !linalgOp.payloadUsesValueFromOperand(&operand) ||
             !isa<RankedTensorType>(operand.get().getType()) ||
             linalgOp.getMatchingIndexingMap(&operand).isIdentity();
    });
  });
}

/// True if `op` reduces a window that slides, or reads at computed places for each element of one.
static bool isWindow(linalg::LinalgOp op) {
  if (plan::isWindowReduction(op))
    return true;
  bool gathers = false;
  op.getBlock()->walk([&](tensor::ExtractOp) { gathers = true; });
  return gathers;
}

int64_t Chooser::getInnerDivisor() {
  int64_t divisor = kVectorBytes;
  for (const KernelOutput &output : kernel.outputs)
    for (Value size : llvm::reverse(points.getSizes(output)))
      if (getConstantIntValue(size) != std::optional<int64_t>(1)) {
        divisor = std::min(divisor, knownDivisor(size));
        break;
      }
  return divisor;
}

//===----------------------------------------------------------------------===//
// Elementwise
//===----------------------------------------------------------------------===//

/// Squares in shared memory, if reads and writes run along different dims and both are long enough
/// to matter.
std::optional<Choice> Chooser::chooseTranspose() {
  std::optional<TransposedInputs> transposed = findTransposedInputs(kernel);
  if (!transposed)
    return std::nullopt;
  SmallVector<Value> sizes = points.getSizes(kernel.outputs.front().binding);
  auto getSize = [&](ArrayRef<unsigned> dims) -> std::optional<int64_t> {
    int64_t size = 1;
    for (unsigned dim : dims) {
      std::optional<int64_t> known = getConstantIntValue(sizes[dim]);
      if (!known)
        return std::nullopt;
      size *= *known;
    }
    return size;
  };
  int64_t bytes = 1, divisor = 4;
  for (ArrayRef<unsigned> dims :
       {ArrayRef(transposed->outerDims), ArrayRef(transposed->innerDims)}) {
    if (std::optional<int64_t> size = getSize(dims); size && *size < 8)
      return std::nullopt;
    divisor = std::min(divisor, knownDivisor(sizes[dims.back()]));
  }
  for (const Access &input : transposed->inputs)
    bytes = std::max(bytes, getElementBytes(getElementTypeOrSelf(input.tensor)));
  // Narrow elements are moved by words of 4 bytes. Large squares have more of them under way; small
  // ones are more.
  int64_t vector = std::max<int64_t>(1, std::min<int64_t>(4 / bytes, divisor));
  int64_t tile = 32 * vector, threads = kBlockThreads;
  auto covers = [&](ArrayRef<unsigned> dims) {
    std::optional<int64_t> size = getSize(dims);
    return size && *size % (tile * 2) == 0;
  };
  std::optional<int64_t> count = getStaticCount(kernel, kernel.outputs.front().binding);
  if (bytes == 4 && transposed->inputs.size() == 1 && covers(transposed->outerDims) &&
      covers(transposed->innerDims) &&
      *count / (4 * tile * tile) >= kernel.target->multiprocessors * int64_t(4)) {
    tile *= 2;
    threads *= 2;
  }
  std::string reason = llvm::formatv("reads along dim {0}, writes along dim {1}: {2} x {2} squares "
                                     "turned around in shared memory",
                                     transposed->outer, transposed->inner, tile)
                           .str();
  return Choice{TransposeAttr::get(kernel.getFunction().getContext(), threads, tile, vector),
                reason};
}

/// Reads at computed places for one element of the results.
static int64_t countGathers(const KernelInfo &kernel) {
  int64_t count = 0;
  for (Operation *op : kernel.tensorOps)
    op->walk([&](tensor::ExtractOp) { ++count; });
  return count;
}

/// Bytes that a kernel moves for one element of its largest output, of the tensors that are as
/// large.
static int64_t countElementBytes(const KernelInfo &kernel) {
  int64_t largest = 0, bytes = 0;
  for (const KernelOutput &output : kernel.outputs)
    largest =
        std::max(largest, getStaticCount(kernel, output.binding).value_or(ShapedType::kDynamic));
  for (plan::BindingOp binding : kernel.bindings)
    if (std::optional<int64_t> count = getStaticCount(kernel, binding);
        !count || *count >= largest / 2)
      bytes += getElementBytes(cast<MemRefType>(binding.getMemory().getType()).getElementType());
  return bytes;
}

bool Chooser::hasOddRows(int64_t vector) {
  constexpr int64_t wordBytes = 4;
  auto isOdd = [&](const KernelOutput &output) {
    auto type = cast<RankedTensorType>(output.tensor.getType());
    return type.hasStaticShape() && type.getRank() > 0 && type.getShape().back() >= vector &&
           getElementBytes(type.getElementType()) * getInnerDivisor() < wordBytes;
  };
  return vector > 1 && countGathers(kernel) == 0 && llvm::all_of(kernel.outputs, isOdd);
}

Choice Chooser::chooseElementwise(bool isWindow) {
  MLIRContext *context = kernel.getFunction().getContext();
  if (std::optional<Choice> choice = chooseTranspose())
    return *choice;
  int64_t vector = getVectorWidth(kernel);
  bool flat = isFlat(kernel);
  bool spansRows = !flat && !isWindow && hasOddRows(vector);
  if (!flat && !spansRows)
    vector = std::min(vector, getInnerDivisor());
  // Short blocks, of 4 KiB, keep reads and writes mixed, and are not yet so many that launching
  // them takes longer than their work. Where an access has many elements to compute with, or
  // indices, a thread has two of them. Neighbours in a window share what they read.
  int64_t unroll = isWindow                             ? std::clamp<int64_t>(16 / vector, 1, 4)
                   : spansRows || (flat && vector <= 4) ? 1
                   : vector >= 4                        ? 2
                                                        : 4;
  // A search is a chain of reads. Many side by side take more registers than there are.
  constexpr int64_t mostGathers = 128;
  int64_t gathers = countGathers(kernel);
  while (unroll > 1 && gathers * vector * unroll > mostGathers)
    unroll /= 2;
  while (vector > 1 && gathers * vector > mostGathers)
    vector /= 2;

  // Few elements are spread over all multiprocessors first, then over the vectors of a thread.
  std::optional<int64_t> count = 0;
  for (const KernelOutput &output : kernel.outputs) {
    std::optional<int64_t> elements = getStaticCount(kernel, output.binding);
    count = elements && count ? std::optional(std::max(*count, *elements)) : std::nullopt;
  }
  int64_t threads = unroll > 1 && vector > 1 && !isWindow ? kBlockThreads / 2 : kBlockThreads;
  if (count) {
    int64_t wanted = static_cast<int64_t>(kernel.target->multiprocessors) * threads;
    while (unroll > 1 && *count < wanted * vector * unroll * 2)
      unroll /= 2;
    while (vector > 1 && *count < wanted * vector / 2)
      vector /= 2;
    while (threads > 32 && *count <= threads / 2 * vector)
      threads /= 2;
  } else {
    unroll = std::min<int64_t>(unroll, 2);
  }
  // Where little is read beside what is written, blocks would end faster than they are launched:
  // about 800 a microsecond, which is 3.3 TB/s of 4 KiB each.
  constexpr int64_t fewestBytes = 8 << 10;
  int64_t mostUnroll = isWindow || vector < 4 ? unroll : 4;
  while (count && unroll < mostUnroll && gathers * vector * unroll * 2 <= mostGathers &&
         threads * vector * unroll * 2 * countElementBytes(kernel) <= fewestBytes &&
         *count >= kernel.target->multiprocessors * threads * vector * unroll * int64_t(16))
    unroll *= 2;
  std::string reason =
      llvm::formatv("elementwise over {0}: {1} elements a thread in {2} accesses of {3}",
                    flat        ? "the flattened shape"
                    : spansRows ? "rows, and from one to the next,"
                                : "rows",
                    vector * unroll, unroll, vector)
          .str();
  return {ElementwiseAttr::get(context, threads, vector, unroll), reason};
}

/// The smaller side of a convolution as a matrix product.
static int64_t getNarrowSide(const Contraction &contraction) {
  linalg::LinalgOp op = contraction.getOp();
  return std::min(getStaticProduct(op, contraction.m).value_or(INT64_MAX),
                  getStaticProduct(op, contraction.n).value_or(INT64_MAX));
}

/// Sides of at most so many rows or columns leave a tile of the product so empty that a reduction
/// of windows may be faster.
static constexpr int64_t kNarrowSide = 16;

static bool isNarrowWindow(const Contraction &contraction) {
  return plan::isWindowReduction(contraction.getOp()) && getNarrowSide(contraction) <= kNarrowSide;
}

/// Wider sides are not walked: threads would read again what their neighbours did.
static constexpr int64_t kWalkedSide = 4;

/// Windows of at most this many elements may be walked by one thread for each lane of the result.
static constexpr int64_t kMaxWindow = 1024;

/// What tiles on tensor cores that are all but empty take of what others do: what is not there is
/// not read.
static constexpr double kEmptyTiles = 0.55;

/// Windows of fewer elements are not worth sharing.
static constexpr int64_t kFewestShared = 16;

Choice Chooser::chooseWalkedWindow(const WindowProblem &problem) {
  Choice choice = chooseElementwise(/*isWindow=*/true);
  choice.reason = llvm::formatv("windows of {0} elements, each walked by one thread; {1}",
                                problem.elements, choice.reason);
  if (auto config = dyn_cast<ElementwiseAttr>(choice.config))
    choice.microseconds =
        estimateWalkedWindows(*kernel.target, problem, config.getVector(), config.getUnroll());
  return choice;
}

Choice Chooser::chooseSharedWindow(const ReductionGroup &group, const WindowProblem &problem) {
  Choice choice = chooseReduction(group);
  int64_t threads = 1;
  if (auto rows = dyn_cast_if_present<RowReductionAttr>(choice.config)) {
    threads = rows.getThreads() * rows.getCluster();
    choice.microseconds = estimateWindowRows(*kernel.target, problem, threads);
  } else if (auto columns = dyn_cast_if_present<ColumnReductionAttr>(choice.config)) {
    threads = columns.getRows();
    choice.microseconds = estimateWindowColumns(*kernel.target, problem);
  }
  choice.reason =
      llvm::formatv("windows of {0} elements, each shared by {1} threads, {2}; {3}",
                    problem.elements, threads, formatTime(choice.microseconds), choice.reason);
  return choice;
}

/// One thread walks a window where neighbours of the result share most of what they read, and there
/// are enough of them that caches serve them better than an exchange between threads would; threads
/// share long windows of few results; and of windows that many features read, tiles may hold
/// enough, however empty.
std::optional<Choice> Chooser::chooseWindow(const Contraction *contraction) {
  linalg::LinalgOp longest;
  int64_t largest = -1;
  for (linalg::LinalgOp op : kernel.getReductions()) {
    SmallVector<unsigned> dims;
    op.getReductionDims(dims);
    std::optional<int64_t> size = getStaticProduct(op, dims);
    if (!size || !isWindow(op))
      return std::nullopt;
    if (*size > largest)
      std::tie(longest, largest) = std::pair(op, *size);
  }
  WindowProblem problem = describeWindows(longest, largest);
  SmallVector<Choice> choices;
  if (largest <= kMaxWindow && (!contraction || getNarrowSide(*contraction) <= kWalkedSide))
    choices.push_back(chooseWalkedWindow(problem));
  std::string reason;
  if (largest >= kFewestShared)
    if (FailureOr<ReductionGroup> group = matchReductionGroup(kernel, reason); succeeded(group))
      choices.push_back(chooseSharedWindow(*group, problem));
  if (contraction) {
    choices.push_back(chooseProductStrategy(*contraction, kernel, points, options, tuning));
    if (isa_and_present<MatmulMMAAttr>(choices.back().config))
      choices.back().microseconds *= kEmptyTiles;
  }
  if (choices.empty())
    return std::nullopt;
  return *llvm::min_element(choices, [](const Choice &left, const Choice &right) {
    return left.microseconds < right.microseconds;
  });
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

int64_t getInnermostDivisor(PointEmitter &points, const ReductionGroup &group,
                            ArrayRef<unsigned> dims) {
  SmallVector<Value> sizes = points.getLoopSizes(group.root);
  for (unsigned dim : llvm::reverse(dims))
    if (getConstantIntValue(sizes[dim]) != std::optional<int64_t>(1))
      return knownDivisor(sizes[dim]);
  return 1;
}

/// Columns whose elements are needed again after a reduction, in registers: a block of few columns
/// holds all of them, and many such blocks are under way.
std::optional<Choice> Chooser::chooseHeldColumns(const ReductionGroup &group,
                                                 std::optional<int64_t> columns,
                                                 std::optional<int64_t> length) {
  if (!group.reusesRows() || !columns || !length || *length == 0 || group.inputs.empty())
    return std::nullopt;
  int64_t vector =
      std::min(getVectorWidth(kernel), getInnermostDivisor(points, group, group.parallelDims));
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
  auto countBlocks = [&] { return llvm::divideCeil(*columns, threads * vector); };
  if (threads > 1 && countBlocks() < kManyBlocks * multiprocessors)
    threads /= 2;
  auto countHeld = [&] { return llvm::divideCeil(*length, rows); };
  while (countHeld() > 1 && countHeld() * registers > kHeldRegisters)
    rows *= 2;
  while (threads < 32 && threads * rows < kBlockThreads)
    threads *= 2;
  if (threads * rows > kMostHeldThreads || countBlocks() < multiprocessors)
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

Choice Chooser::chooseColumns(const ReductionGroup &group, std::optional<int64_t> columns,
                              std::optional<int64_t> length) {
  if (std::optional<Choice> choice = chooseHeldColumns(group, columns, length))
    return *choice;
  MLIRContext *context = kernel.getFunction().getContext();
  int64_t vector =
      std::min(getVectorWidth(kernel), getInnermostDivisor(points, group, group.parallelDims));
  // Narrow blocks where columns are few, so that more multiprocessors have one; 8 threads still
  // read whole sectors of 32 bytes, and 4 do with vectors.
  int64_t threads = 32, rows = length && *length >= kTallColumn ? 16 : 8,
          multiprocessors = kernel.target->multiprocessors;
  auto countBlocks = [&]() -> int64_t { return llvm::divideCeil(*columns, threads * vector); };
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
  // Tall blocks make up for blocks that are missing.
  while (rows * threads < 1024 && columns && length.value_or(4096) >= rows * 4 &&
         countBlocks() * rows * threads < multiprocessors * int64_t(1024))
    rows *= 2;
  std::string reason =
      llvm::formatv("columns: {0} threads across with {1} columns each, {2} down that share them",
                    threads, vector, rows)
          .str();
  return {ColumnReductionAttr::get(context, threads, rows, vector, /*held=*/0), reason};
}

Choice Chooser::chooseReduction(const ReductionGroup &group) {
  std::optional<int64_t> kept = getStaticProduct(group.root, group.parallelDims);
  std::optional<int64_t> reduced = getStaticProduct(group.root, group.reductionDims);
  if (!group.partials.empty()) {
    if (reduced && countWalkBlocks(*reduced, *kernel.target))
      return chooseWalkStrategy(group, kernel, points, *reduced);
    group.getRoot()->emitOpError("expected rows that blocks have registers for where they are "
                                 "summed up too, got rows of ")
        << (reduced ? std::to_string(*reduced) : "a symbolic number");
    return {};
  }
  return group.reducesContiguousDim ? chooseRowStrategy(group, kernel, points, rowBound)
                                    : chooseColumns(group, kept, reduced);
}

//===----------------------------------------------------------------------===//
// Scatter
//===----------------------------------------------------------------------===//

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

Choice Chooser::chooseScatter(kernel::ScatterOp op) {
  if (op.getInPlace())
    return chooseDirectScatter(op);
  MLIRContext *context = kernel.getFunction().getContext();
  auto type = cast<RankedTensorType>(op.getDest().getType());
  auto count = [&](ArrayRef<int64_t> dims) {
    std::optional<int64_t> product = 1;
    for (int64_t dim : dims)
      product = product && !type.isDynamicDim(dim) ? std::optional(*product * type.getDimSize(dim))
                                                   : std::nullopt;
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
      llvm::formatv("scatter in order{0}: a block owns {1} rows and {2} places of the window",
                    op.getRows() ? " of rows" : "", rowsPerThread * down, across * vector)
          .str();
  if (op.getRows())
    return {OrderedScatterAttr::get(context, threads, rowsPerThread, down, vector), reason};
  return {ScatterAttr::get(context, threads, rowsPerThread, down), reason};
}

Choice Chooser::choose() {
  if (std::optional<LineKernel> lines = matchLineKernel(kernel))
    return chooseLineStrategy(*lines, kernel, points, getVectorWidth(kernel));
  if (kernel.outputs.size() == 1)
    if (auto scatter = kernel.outputs.front().tensor.getDefiningOp<kernel::ScatterOp>())
      return chooseScatter(scatter);
  if (llvm::any_of(kernel.tensorOps, llvm::IsaPred<kernel::ScatterOp>))
    return {PointwiseAttr::get(kernel.getFunction().getContext(), 128),
            "one thread for each element: a scatter whose result is not the only output"};
  if (kernel.getReductions().empty())
    return chooseElementwise();
  std::string reason;
  FailureOr<Contraction> contraction = matchContraction(kernel, reason);
  // A product with a vector is a reduction where it cannot be streamed.
  if (succeeded(contraction) && isStreamedProduct(contraction->getOp(), *kernel.target)) {
    Choice choice = chooseProductStrategy(*contraction, kernel, points, options, tuning);
    if (!choice.config || isa<MatmulWGMMAAttr>(choice.config))
      return choice;
    contraction = failure();
  }
  // Few features leave a tile of the product all but empty.
  bool isNarrow = succeeded(contraction) && isNarrowWindow(*contraction);
  if (succeeded(contraction) && !isNarrow)
    return chooseProductStrategy(*contraction, kernel, points, options, tuning);
  if (std::optional<Choice> choice = chooseWindow(isNarrow ? &*contraction : nullptr))
    return *choice;
  if (succeeded(contraction))
    return chooseProductStrategy(*contraction, kernel, points, options, tuning);
  FailureOr<ReductionGroup> group = matchReductionGroup(kernel, reason);
  if (succeeded(group))
    return chooseReduction(*group);
  for (linalg::LinalgOp op : kernel.getReductions())
    if (int64_t parts = countParts(op)) {
      op->emitOpError("expected the results of ")
          << parts << " parts to fit the other ops of the kernel: " << reason;
      return {};
    }
  return {PointwiseAttr::get(kernel.getFunction().getContext(), 128),
          "one thread for each element: " + reason};
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {

struct SelectStrategy final : impl::SelectStrategyBase<SelectStrategy> {
  using SelectStrategyBase::SelectStrategyBase;

  LogicalResult initialize(MLIRContext *context) override {
    FailureOr<TuningTable> given = TuningTable::parse(context, tuning, tuningFile);
    FailureOr<TuningTable> shipped =
        shippedTuning ? TuningTable::parseShipped(context) : FailureOr<TuningTable>(TuningTable());
    if (failed(given) || failed(shipped))
      return failure();
    tables = {std::move(*given), std::move(*shipped)};
    return success();
  }
  void runOnOperation() override;

private:
  LogicalResult configure(func::FuncOp function);
  /// Fails where what is given cannot be taken.
  FailureOr<Choice> choose(const KernelInfo &kernel,
                           std::optional<int64_t> rowBound = std::nullopt);

  ProductTuning tables;
};

} // namespace

void withPoints(const KernelInfo &kernel, llvm::function_ref<void(PointEmitter &)> ask) {
  Block &body = kernel.getFunction().getBody().front();
  llvm::SmallPtrSet<Operation *, 32> before;
  for (Operation &op : body)
    before.insert(&op);
  OpBuilder builder(body.getTerminator());
  {
    PointEmitter points(builder, kernel);
    ask(points);
  }
  // Asking for sizes built some arithmetic; the passes to come build their own.
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(body)))
    if (!before.contains(&op))
      op.erase();
}

FailureOr<Choice> SelectStrategy::choose(const KernelInfo &kernel,
                                         std::optional<int64_t> rowBound) {
  SelectStrategyOptions options;
  options.wgmma = wgmma;
  Choice choice;
  withPoints(kernel, [&](PointEmitter &points) {
    choice = Chooser(kernel, points, options, tables, rowBound).choose();
  });
  if (!choice.config)
    return failure();
  return choice;
}

void recordChoice(func::FuncOp function, const Choice &choice, int64_t indexBits) {
  Builder builder(function.getContext());
  function->setAttr(plan::kConfigAttr, choice.config);
  std::string reason = choice.reason;
  function.walk([&](Operation *op) {
    auto note = op->getAttrOfType<StringAttr>(plan::kNoteAttr);
    // Several reductions of one row are decided alike.
    if (note && !StringRef(reason).contains(note.getValue()))
      reason += "; " + note.getValue().str();
  });
  function->setAttr(plan::kReasonAttr, builder.getStringAttr(reason));
  function->setAttr(kIndexBitsAttr, builder.getI32IntegerAttr(indexBits));
}

LogicalResult SelectStrategy::configure(func::FuncOp function) {
  FailureOr<KernelInfo> kernel = analyzeKernel(function);
  if (failed(kernel))
    return failure();
  std::string reason;
  if (Operation *op = PointEmitter::findUnsupported(*kernel, reason))
    return op->emitOpError("cannot be compiled for ") << kernel->target->arch << ": " << reason;
  bool narrow = fitsNarrowIndices(*kernel);
  if (Attribute given = function->getAttr(plan::kConfigAttr)) {
    recordChoice(function, {given, "as configured"}, narrow ? 32 : 64);
    return success();
  }
  if (kernel::AttentionOp op = matchAttention(*kernel))
    return configureAttention(op, *kernel, narrow, tables.given);
  if (kernel::AttentionGradientOp op = matchAttentionGradient(*kernel))
    return configureAttentionGradient(op, *kernel, narrow, tables.given);
  FailureOr<Choice> found = choose(*kernel);
  if (failed(found) || failed(addSortVariants(*kernel)))
    return failure();
  auto chooseVariant = [&](const KernelInfo &variant, std::optional<int64_t> rowBound) {
    return choose(variant, rowBound);
  };
  for (bool guardWidths : {true, false}) {
    VariantMaker maker{*kernel, chooseVariant, narrow, guardWidths};
    if (!guardWidths || hasSymbolicWidths(*kernel))
      if (failed(maker.addRowVariants()) || failed(maker.addProductVariants()) ||
          failed(maker.addGuardedVariant(*found)))
        return failure();
  }
  recordChoice(function, *found, narrow ? 32 : 64);
  return success();
}

void SelectStrategy::runOnOperation() {
  SmallVector<func::FuncOp> functions(getOperation().getOps<func::FuncOp>());
  for (func::FuncOp function : functions)
    if (failed(configure(function)))
      return signalPassFailure();
}

} // namespace xc::cuda
