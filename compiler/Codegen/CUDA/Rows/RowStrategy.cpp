//===- RowStrategy.cpp - How reductions of rows are laid out --------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A row is read once where registers and shared memory hold it: of a few threads, of a block, or
// of the blocks of a cluster, as its length and the number of rows require.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Common/MemoryTime.h"
#include "compiler/Codegen/CUDA/Common/ReductionSplit.h"
#include "compiler/Codegen/CUDA/IR/CUDAConfig.h"
#include "compiler/Codegen/CUDA/Rows/RowLimits.h"
#include "compiler/Codegen/CUDA/Strategy.h"
#include "compiler/Codegen/CUDA/Window/WindowModel.h"
#include "compiler/Codegen/CUDA/Window/WindowStrategy.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace xc::cuda {

/// A thread keeps at most this many values of a row in registers, of up to 32 bits each; beyond, a
/// row gets more threads, then shared memory.
static constexpr int64_t kRowValuesPerThread = 32;
/// Of rows that are read once beside a vector, as a matrix is: the fewest threads, the vectors of a
/// row that each of them loads before it needs the first one, and rows of a block. What is loaded
/// is in flight and not held, and fewer threads are less to start and to wait for: on an H200 4096
/// rows of 14336 bf16 took 2 to 3 us less by 256 threads than by 1024, 768 rows of 3072 0.5 us less
/// by 128 threads than by 256, with two rows a block.
static constexpr int64_t kStreamThreads = 128, kStreamVectors = 7, kStreamRows = 2,
                         kMostStreamThreads = 512;
/// Bytes of all inputs that a thread has of a row which is also written.
static constexpr int64_t kRowBytesPerThread = 64;
/// Blocks with fewer bytes of an input take longer to be launched than to do their work; twice as
/// many where they write next to nothing.
static constexpr int64_t kShortBlockBytes = 4096;
/// Elements of a row that one block takes if there are enough rows; fewest elements that a block of
/// a cluster is worth; its threads, and what they hold while there are more blocks to be had.
static constexpr int64_t kShortClusterRow = 16384, kFewestClusterElements = 4096,
                         kClusterThreads = 512, kClusterValuesPerThread = 16,
                         kMostClusterBlocks = 8;

/// Rows of at most this many elements that begin anywhere are accessed by element: what vectors of
/// their first and last elements take is more than they save.
static constexpr int64_t kShortOddRow = 256;
/// Rows that a block is expected to loop over where their number is symbolic.
static constexpr int64_t kManyRows = 64;
/// Vectors of a row that a thread loads before it adds the first one up, where rows are summed up
/// too: with 8, ptxas spills a little to have two blocks of 512 threads on a multiprocessor.
static constexpr int64_t kPartialVectors = 6;
/// Bytes that are read together wherever some of them are.
static constexpr int64_t kSectorBytes = 32;

/// The registers that one element of a row takes, computed as its widest type; narrow ones are
/// widened.
static int64_t getRegistersPerElement(const ReductionGroup &group) {
  int64_t bytes = 4;
  for (const ReductionGroup::Input &input : group.inputs)
    bytes = std::max(bytes, getElementBytes(input.getMemoryType().getElementType()));
  for (const ReductionGroup::Member &member : group.members)
    for (Type type : member.combiner.getOp()->getResultTypes())
      bytes = std::max(bytes, getElementBytes(getElementTypeOrSelf(type)));
  return llvm::divideCeil(bytes, 4);
}

/// The most threads, a power of two, with which each still has a vector of `length` elements.
static int64_t getMostThreads(int64_t length, int64_t vector, int64_t limit) {
  int64_t threads = 1;
  while (threads < limit && threads * vector < length)
    threads *= 2;
  return threads;
}

/// Bytes of an element of the widest input.
static int64_t getWidestInput(const ReductionGroup &group) {
  int64_t widest = 0;
  for (const ReductionGroup::Input &input : group.inputs)
    widest = std::max(widest, getElementBytes(getElementTypeOrSelf(input.tensor)));
  return widest;
}

namespace {

class RowChooser {
public:
  RowChooser(const ReductionGroup &group, const KernelInfo &kernel, KernelSizes &sizes,
             std::optional<int64_t> rowBound)
      : group(group), kernel(kernel), sizes(sizes), rowBound(rowBound) {}

  Choice chooseRows();
  Choice chooseWithPartials(int64_t length);

private:
  /// How many threads hold a row in registers. `bytes` are those of an element of all inputs,
  /// `widest` those of one.
  int64_t chooseHeldThreads(std::optional<int64_t> rows, int64_t length, int64_t covered,
                            int64_t vector, int64_t mostThreads, int64_t bytes, int64_t widest);
  std::optional<Choice> chooseStreamedRows(std::optional<int64_t> rows, int64_t length,
                                           int64_t vector);
  std::optional<Choice> chooseHeldRows(std::optional<int64_t> rows, int64_t length, int64_t vector,
                                       bool shifted);
  std::optional<Choice> chooseClusterRows(std::optional<int64_t> rows, int64_t length,
                                          int64_t vector, bool shifted);
  /// Chunks of vectors that a thread holds in registers where shared memory holds more of them, and
  /// how many fit there.
  int64_t countHeldChunks(int64_t vector);
  int64_t countSharedChunks(int64_t threads, int64_t vector);
  /// Threads that keep the multiprocessors busy.
  int64_t countEnoughThreads() const {
    return static_cast<int64_t>(kernel.target->multiprocessors) * 512;
  }
  /// True if rows had better begin `shifted`, so that vectors of their elements are accessed.
  bool hasShiftedRows(int64_t length, int64_t vector);

  const ReductionGroup &group;
  const KernelInfo &kernel;
  KernelSizes &sizes;
  std::optional<int64_t> rowBound;
};

} // namespace

bool RowChooser::hasShiftedRows(int64_t length, int64_t vector) {
  // Words are accessed as fast as vectors of them.
  constexpr int64_t wordBytes = 4;
  SmallVector<int64_t> ranges = group.getRoot().getStaticLoopRanges();
  auto isLong = [&](unsigned dim) { return ranges[dim] != 1; };
  unsigned inner = group.reductionDims.back();
  auto runsAlongRow = [&](ArrayRef<AffineExpr> coords) {
    return !coords.empty() &&
           coords.back() == getAffineDimExpr(inner, group.getRoot().getContext());
  };
  int64_t full = getVectorWidth(kernel), widest = getWidestInput(group);
  // Of a row of symbolic length every vector could be the last.
  return !rowBound && full > 1 && vector * widest < wordBytes && length > kShortOddRow &&
         widest > 0 && llvm::count_if(group.reductionDims, isLong) == 1 && isLong(inner) &&
         llvm::all_of(group.inputs, [&](const auto &input) { return runsAlongRow(input.coords); });
}

int64_t RowChooser::countHeldChunks(int64_t vector) {
  // Several rows that are written have numbers of their own between what is held and what is
  // stored.
  int64_t written = std::max<int64_t>(1, llvm::count_if(group.results, [](const auto &result) {
                                        return result.kind == ReductionGroup::Result::Kind::Whole;
                                      }));
  int64_t inputs = std::max<int64_t>(1, group.inputs.size());
  return kRowValuesPerThread /
         (2 * getRegistersPerElement(group) * vector * inputs * llvm::divideCeil(written, 2));
}

int64_t RowChooser::countSharedChunks(int64_t threads, int64_t vector) {
  int64_t bytes = 0;
  for (const ReductionGroup::Input &input : group.inputs)
    bytes += getElementBytes(getElementTypeOrSelf(input.tensor));
  // But for what the exchange between warps needs, if not more.
  constexpr int64_t kept = 4 << 10;
  int64_t exchanged = countCombinedBytes(group.members, llvm::divideCeil(threads, 32));
  int64_t room = kernel.target->sharedPerBlock - std::max(kept, exchanged);
  return std::max<int64_t>(0, room) / (threads * vector * bytes);
}

std::optional<Choice> RowChooser::chooseClusterRows(std::optional<int64_t> rows, int64_t length,
                                                    int64_t vector, bool shifted) {
  int64_t multiprocessors = kernel.target->multiprocessors, widest = getWidestInput(group);
  if (!kernel.target->hasClusters() || widest == 0 || (!group.reusesRows() && !shifted))
    return std::nullopt;
  int64_t most = kRowValuesPerThread / getRegistersPerElement(group);
  int64_t inputs = group.inputs.size();
  // What rows begin with and end with takes registers of its own: fewer threads have those.
  int64_t threads = shifted ? kClusterThreads / 2 : kClusterThreads;
  const int64_t mostThreads = 2 * threads;
  if (shifted && group.reusesRows())
    most /= 2;
  int64_t wanted = shifted ? most : std::min(most, kClusterValuesPerThread);
  int64_t perThread = std::max(vector, wanted / inputs);
  // Clusters take longer to be launched and to meet than blocks: no more of them than a long row
  // needs, but where there are multiprocessors without a row.
  int64_t cluster = 1;
  while (length > kShortClusterRow && cluster < kMostClusterBlocks &&
         cluster * threads * perThread < length)
    cluster *= 2;
  while (rows && cluster < kMostClusterBlocks && *rows * cluster * 2 <= multiprocessors &&
         length >= cluster * 2 * kFewestClusterElements)
    cluster *= 2;
  if (cluster == 1 || (rows && *rows > int64_t(INT32_MAX) / cluster))
    return std::nullopt;
  // A vector more where rows begin at any element.
  int64_t covered = length + (shifted ? vector - 1 : 0);
  auto countChunks = [&] { return llvm::divideCeil(covered, threads * cluster * vector); };
  auto countValues = [&]() -> int64_t { return countChunks() * vector * inputs; };
  // Other inputs than rows take registers too.
  bool readsMore = static_cast<int64_t>(llvm::count_if(kernel.bindings, [](plan::BindingOp b) {
                     return b.getAccess() == plan::Access::Read;
                   })) > inputs;
  bool isFew = rows && *rows * cluster <= multiprocessors;
  while (threads < mostThreads && (countValues() > (readsMore ? wanted : most) ||
                                   (isFew && threads * cluster * vector < covered)))
    threads *= 2;
  const int64_t wide = vector;
  while (vector > 1 && countValues() > most && !shifted)
    vector /= 2;
  int64_t chunks = countChunks(), shared = 0;
  if (chunks * vector * inputs > most) {
    vector = wide;
    chunks = countChunks();
    int64_t held = shifted ? most / (vector * inputs) : countHeldChunks(vector);
    // Shared memory holds none of the vectors that may be of other rows in part.
    shared = chunks - std::max<int64_t>(shifted ? 2 : 1, held);
    if (shifted)
      shared = std::min(shared, length / (threads * cluster * vector) - 1);
    if (!group.reusesRows() || shared < 1 || shared > countSharedChunks(threads, vector))
      return std::nullopt;
    chunks -= shared;
  }
  std::string reason = llvm::formatv("rows of {0}{1} elements: {2} blocks of {3} threads hold one "
                                     "in registers{4}{5}",
                                     rowBound ? "at most " : "", length, cluster, threads,
                                     shared > 0 ? " and shared memory" : "",
                                     shifted ? ", by vectors wherever rows begin" : "")
                           .str();
  return Choice{RowReductionAttr::get(kernel.getFunction().getContext(), threads, /*rows=*/1,
                                      vector, chunks, shared, /*unroll=*/1, cluster, shifted),
                reason};
}

int64_t RowChooser::chooseHeldThreads(std::optional<int64_t> rows, int64_t length, int64_t covered,
                                      int64_t vector, int64_t mostThreads, int64_t bytes,
                                      int64_t widest) {
  // As few threads as hold the row, but a whole warp for what is worth it. Beyond a warp, threads
  // are cheaper than registers: more rows are in flight on a multiprocessor.
  int64_t threads = getMostThreads(covered, vector, 32);
  int64_t most = kRowValuesPerThread / getRegistersPerElement(group);
  // Where as much is written as is read, shorter blocks keep both mixed, if there are several
  // waves.
  int64_t perThread = length <= 1024 ? most : most / 2;
  bool hasWaves = !rows || *rows * 32 > kernel.target->multiprocessors * int64_t(1024);
  if (group.writesRows() && hasWaves)
    perThread = std::min(most, kRowBytesPerThread / std::max<int64_t>(1, bytes));
  while (threads >= 32 && threads < mostThreads && threads * perThread < length)
    threads *= 2;
  // Few rows have to keep the multiprocessors busy with more threads each.
  int64_t enough = countEnoughThreads();
  while (rows && threads >= 32 && *rows * threads < enough &&
         threads < getMostThreads(covered, vector, mostThreads))
    threads *= 2;
  // Nor need threads of a warp be idle, of several rows; they still access whole sectors.
  auto countPlaces = [&](int64_t number) -> int64_t {
    return llvm::alignTo(covered, number * vector);
  };
  for (int64_t fewer = std::min<int64_t>(threads, 32) / 2;
       threads <= 32 && fewer * vector * std::max<int64_t>(1, widest) >= kSectorBytes &&
       countPlaces(fewer) / fewer <= perThread && (!rows || *rows * fewer >= enough);
       fewer /= 2)
    if (countPlaces(fewer) * 8 <= countPlaces(threads) * 7)
      threads = fewer;
  return threads;
}

/// For a matrix that a vector is multiplied with: a few vectors of a row for each thread.
std::optional<Choice> RowChooser::chooseStreamedRows(std::optional<int64_t> rows, int64_t length,
                                                     int64_t vector) {
  bool isStreamed = group.members.size() == 1 && group.partials.empty() && !group.writesRows() &&
                    group.inputs.size() == 1 && !group.vectors.empty();
  int64_t threads = kStreamThreads,
          mostThreads = getMostThreads(length, vector, kMostStreamThreads);
  auto countVectors = [&] { return llvm::divideCeil(length, threads * vector); };
  while (threads < mostThreads && countVectors() > kStreamVectors)
    threads *= 2;
  if (!isStreamed || !rows || threads > mostThreads || countVectors() > kStreamVectors ||
      *rows * threads < countEnoughThreads())
    return std::nullopt;
  std::string reason =
      llvm::formatv("rows of {0} elements beside a vector: {1} threads load one, {2} rows a block",
                    length, threads, kStreamRows)
          .str();
  return Choice{RowReductionAttr::get(kernel.getFunction().getContext(), threads, kStreamRows,
                                      vector, countVectors(), /*shared=*/0, /*unroll=*/1,
                                      /*cluster=*/1, /*shifted=*/false),
                reason};
}

std::optional<Choice> RowChooser::chooseHeldRows(std::optional<int64_t> rows, int64_t length,
                                                 int64_t vector, bool shifted) {
  // The first and the last vectors of shifted rows take registers of their own: a multiprocessor
  // has them for two blocks of that many threads.
  const int64_t mostThreads = shifted ? 256 : 1024;
  int64_t bytes = 0, widest = getWidestInput(group),
          inputs = std::max<int64_t>(1, group.inputs.size());
  for (const ReductionGroup::Input &input : group.inputs)
    bytes += getElementBytes(getElementTypeOrSelf(input.tensor));
  int64_t covered = length + (shifted ? vector - 1 : 0);
  int64_t most = kRowValuesPerThread / getRegistersPerElement(group);
  int64_t threads = chooseHeldThreads(rows, length, covered, vector, mostThreads, bytes, widest);
  int64_t chunks = llvm::divideCeil(covered, threads * vector);
  if (threads == mostThreads && inputs > 1 && !shifted) {
    // The largest blocks have no registers to spare: what a thread holds of each input counts, and
    // narrower accesses leave less of the last one unused.
    most = most * 3 / (4 * inputs);
    for (; vector > 4 && chunks * vector > most;
         chunks = llvm::divideCeil(covered, threads * vector))
      vector /= 2;
  }
  int64_t shared = 0;
  StringRef place = "";
  if (chunks * vector > most && threads == mostThreads && bytes > 0) {
    // A row that is read once and gone needs no place to stay.
    bool isReused = group.reusesRows();
    if (!isReused && !shifted)
      return std::nullopt;
    // Shared memory, but for a part that the exchange between warps needs, first: registers are
    // short where a block has so many threads.
    auto countShared = [&]() -> int64_t {
      int64_t more = chunks - std::max<int64_t>(1, countHeldChunks(vector));
      return isReused ? std::min(countSharedChunks(threads, vector), more) : more;
    };
    shared = countShared();
    // Where it has little room, narrower vectors leave registers to compute with.
    auto isTight = [&]() {
      int64_t held = (chunks - shared) * inputs;
      return shared == countSharedChunks(threads, vector) &&
             (held + inputs + static_cast<int64_t>(group.vectors.size())) * vector >=
                 RowLimits::kLargeBlockValues;
    };
    while (!shifted && isReused && vector > 4 && isTight()) {
      vector /= 2;
      chunks = llvm::divideCeil(covered, threads * vector);
      shared = countShared();
    }
    place = isReused ? " and shared memory" : ", and loops over the rest";
    // Shared memory holds none of the vectors that may be of other rows in part.
    if (shifted)
      shared = std::min(shared, length / (threads * vector) - 1);
    chunks -= shared;
  }
  if (chunks * vector > most)
    return std::nullopt;
  int64_t rowsPerBlock = threads <= 32 ? std::max<int64_t>(1, 128 / threads) : 1;
  int64_t factor = group.writesRows() ? 1 : 2;
  while (threads <= 32 && rowsPerBlock * threads < factor * kBlockThreads &&
         rowsPerBlock * 4 * length * widest <= 3 * factor * kShortBlockBytes)
    rowsPerBlock *= 2;
  std::string reason =
      llvm::formatv(
          "rows of {0}{1} elements: {2} threads hold one in registers{3}, {4} rows a block",
          rowBound ? "at most " : "", length, threads,
          shifted && shared == 0 ? ", by vectors wherever it begins" : place, rowsPerBlock)
          .str();
  return Choice{RowReductionAttr::get(kernel.getFunction().getContext(), threads, rowsPerBlock,
                                      vector, chunks, shared, /*unroll=*/1, /*cluster=*/1, shifted),
                reason};
}

Choice RowChooser::chooseRows() {
  std::optional<int64_t> rows = getStaticProduct(group.root, group.parallelDims),
                         length = getStaticProduct(group.root, group.reductionDims);
  int64_t vector =
      std::min(getVectorWidth(kernel), getInnermostDivisor(sizes, group, group.reductionDims));
  if (std::optional<int64_t> longest = length ? length : rowBound; longest && *longest > 0) {
    bool shifted = hasShiftedRows(*longest, vector);
    int64_t full = shifted ? getVectorWidth(kernel) : vector;
    bool isFew = rows && *rows * 2 <= static_cast<int64_t>(kernel.target->multiprocessors);
    bool isLong = rowBound && *rowBound > kShortClusterRow;
    std::optional<Choice> choice;
    if (isFew || isLong)
      choice = chooseClusterRows(rows, *longest, full, shifted);
    if (!choice && shifted)
      choice = chooseHeldRows(rows, *longest, full, /*shifted=*/true);
    if (!choice && length)
      choice = chooseStreamedRows(rows, *length, vector);
    if (!choice)
      choice = chooseHeldRows(rows, *longest, vector, /*shifted=*/false);
    if (!choice)
      choice = chooseClusterRows(rows, *longest, full, shifted);
    if (choice)
      return *choice;
  }
  // Multiprocessors that have several rows each take them side by side, with more registers a
  // thread.
  int64_t width = getRegistersPerElement(group);
  int64_t threads = 256,
          limit = rows && *rows > kernel.target->multiprocessors ? 512 : 1024 / width;
  while (length && threads < limit && *length > threads * vector * 16)
    threads *= 2;
  // The largest blocks have no registers to spare for several inputs.
  int64_t inputs = threads == 1024 ? std::max<int64_t>(1, group.inputs.size()) : 1;
  std::string size = length ? std::to_string(*length) : "a symbolic number of";
  std::string reason =
      llvm::formatv(
          "rows of {0} elements: a block of {1} threads loops over one for each reduction", size,
          threads)
          .str();
  return {RowReductionAttr::get(kernel.getFunction().getContext(), threads, /*rows=*/1, vector,
                                /*chunks=*/0, /*shared=*/0,
                                /*unroll=*/std::max<int64_t>(1, 4 / (width * inputs)),
                                /*cluster=*/1,
                                /*shifted=*/false),
          reason};
}

Choice RowChooser::chooseWithPartials(int64_t length) {
  int64_t vector =
      std::min(getVectorWidth(kernel), getInnermostDivisor(sizes, group, group.reductionDims));
  // Registers hold a thread's elements of each input and of each sum: a warp for a row while that
  // many fit, since warps need not wait for each other.
  int64_t perElement = group.inputs.size() + group.partials.size() + 1;
  int64_t blocks = *countRowBlocks(length, *kernel.target);
  int64_t whole = length;
  length = llvm::divideCeil(length, blocks);
  int64_t threads = getMostThreads(length, vector, 32);
  while (threads >= 32 && threads < 1024 &&
         length > threads * (threads == 32 ? 32 : 80 / perElement))
    threads *= 2;
  int64_t chunks = llvm::divideCeil(length, threads * vector);
  // As many threads as have the registers for that, and for what is the same for all rows, as it is
  // in memory.
  int64_t vectorBytes = 0;
  for (const ReductionGroup::Input &input : group.vectors)
    vectorBytes += getElementBytes(input.getMemoryType().getElementType());
  int64_t registers =
      chunks * vector * perElement + std::max<int64_t>(32, 24 + chunks * vector * vectorBytes / 4);
  int64_t limit = std::min<int64_t>(512, 65536 / registers), rows = 1;
  // Threads that wait for each other do it in small blocks, if there are enough of those.
  if (blocks > 1 || (threads > 32 && group.parts * 2 > kernel.target->multiprocessors * int64_t(3)))
    limit = threads;
  std::optional<int64_t> count = getStaticProduct(group.root, group.parallelDims);
  int64_t rowsOfBlock = count ? llvm::divideCeil(*count, group.parts) : kManyRows;
  while (threads * rows * 2 <= std::max<int64_t>(limit, threads) && rows < rowsOfBlock)
    rows *= 2;
  int64_t unroll = threads > 32 ? 1
                                : std::clamp<int64_t>(kPartialVectors / chunks, 1,
                                                      std::max<int64_t>(1, rowsOfBlock / rows));
  std::string reason =
      llvm::formatv("rows of {0} elements, summed up over {1} rows too: {2}{3} threads hold one in "
                    "registers, {4} rows at a time",
                    whole, count ? std::to_string(rowsOfBlock) : "a symbolic number of",
                    blocks > 1 ? std::to_string(blocks) + " blocks of " : "", threads,
                    rows * unroll)
          .str();
  return {RowReductionAttr::get(kernel.getFunction().getContext(), threads, rows, vector, chunks,
                                /*shared=*/0, unroll, blocks, /*shifted=*/false),
          reason};
}

namespace {

struct RowReductionStrategy final : Strategy {
  StringRef getName() const override { return "row-reduction"; }
  LogicalResult enumerate(KernelQuery &query, SmallVectorImpl<Choice> &choices) const override;
  std::unique_ptr<Pass> createEmission() const override { return createEmitRowReduction(); }
};

} // namespace

LogicalResult RowReductionStrategy::enumerate(KernelQuery &query,
                                              SmallVectorImpl<Choice> &choices) const {
  const ReductionGroup *group = query.getReductionGroup();
  if (!group || (group->partials.empty() && !group->reducesContiguousDim))
    return success();
  Choice choice;
  if (!group->partials.empty()) {
    std::optional<int64_t> length = getStaticProduct(group->root, group->reductionDims);
    if (!length || !countRowBlocks(*length, query.getTarget()))
      return group->getRoot()->emitOpError("expected rows that blocks have registers for where "
                                           "they are summed up too, got rows of ")
             << (length ? std::to_string(*length) : "a symbolic number");
    choice =
        RowChooser(*group, query.kernel, query.sizes, std::nullopt).chooseWithPartials(*length);
  } else {
    choice = RowChooser(*group, query.kernel, query.sizes, query.rowBound).chooseRows();
  }
  choice.microseconds = estimateMemoryTime(query.kernel);
  auto config = cast<RowReductionAttr>(choice.config);
  int64_t threads = config.getThreads() * config.getCluster();
  if (const WindowQuery *windows = query.getWindows())
    describeSharedWindows(*windows, threads,
                          estimateWindowRows(query.getTarget(), windows->problem, threads), choice);
  choices.push_back(choice);
  return success();
}

const Strategy &getRowReductionStrategy() {
  static const RowReductionStrategy strategy;
  return strategy;
}

} // namespace xc::cuda
