//===- DecodeAttention.cpp - How attention of few queries is shared -------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All that takes time is reading keys and values, so as many blocks read as the GPU has room for.
// Where there are fewer heads than that, several blocks share one: those of a cluster, which join
// what they have seen by themselves, or, where clusters are too few or there are none, blocks that
// store results of their parts, which a second kernel joins.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Attention/DecodeAttention.h"
#include "compiler/Codegen/CUDA/Attention/AttentionProblem.h"
#include "compiler/Codegen/CUDA/Strategy.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace xc::cuda {

/// Keys and values of vectors of more elements together leave a warp that has 16 of them under way
/// the registers of another one.
static constexpr int64_t kNarrow = 128, kMiddle = 256;
/// Warps of a block that has a multiprocessor to itself, at least.
static constexpr int64_t kLoneWarps = 8;
/// Blocks of the largest cluster that any GPU launches.
static constexpr int64_t kMostCluster = 8;
/// A block of fewer keys does little but begin and end.
static constexpr int64_t kFewestKeys = 64;
/// Keys that a cache is taken to have room for where that is not known.
static constexpr int64_t kUnknownKeys = 8192;
/// Parts in memory pay for a second kernel only where each is long.
static constexpr int64_t kFewestSplitKeys = 256, kMostSplits = 128;
/// What a launch takes beside its bytes: to begin, the latency of memory, and to join.
static constexpr double kOverheadMicroseconds = 2.5;

static int64_t multiplySizes(ArrayRef<int64_t> sizes) {
  return llvm::any_of(sizes, ShapedType::isDynamic) ? -1 : computeProduct(sizes);
}

DecodeSizes getDecodeSizes(ShapedType query, ShapedType key, ShapedType value, ShapedType table) {
  int64_t dim = query.getRank() - 2;
  DecodeSizes sizes;
  int64_t groups = key.getDimSize(dim - 1);
  sizes.rows =
      query.getDimSize(dim - 1) / groups * query.getDimSize(dim); // in range: vectors of `query`
  int64_t batch = multiplySizes(query.getShape().take_front(dim - 1));
  sizes.heads = batch < 0 ? -1 : batch * groups * llvm::divideCeil(sizes.rows, kDecodeRows);
  sizes.keys = multiplySizes(key.getDimSize(dim));
  if (table)
    sizes.keys = multiplySizes({key.getDimSize(dim), table.getDimSize(1)});
  sizes.vector = query.getDimSize(dim + 1);
  sizes.result = value.getDimSize(dim + 1);
  return sizes;
}

static DecodeSizes getDecodeSizes(kernel::AttentionDecodeOp op) {
  return getDecodeSizes(op.getQueryType(), op.getKeyType(), op.getValueType(),
                        op.isPaged() ? cast<ShapedType>(op.getTable().getType()) : ShapedType());
}

bool hasDecodeKernel(const DecodeSizes &sizes, std::optional<int64_t> window,
                     const Target *target) {
  auto isVector = [](int64_t size) {
    return size > 0 && size <= kMostVector && size % kVectorStep == 0;
  };
  return target && target->hasMMA16816 && isVector(sizes.vector) && isVector(sizes.result) &&
         sizes.rows > 0 && sizes.heads != 0 && sizes.keys != 0 && window.value_or(0) <= kMostWindow;
}

//===----------------------------------------------------------------------===//
// Choices
//===----------------------------------------------------------------------===//

DecodeBlocks getDecodeBlocks(const DecodeSizes &sizes) {
  int64_t width = sizes.vector + sizes.result;
  bool isTall = sizes.rows > kDecodeRows / 2;
  if (width <= kNarrow && !isTall)
    return {/*warps=*/8, /*blocks=*/2};
  return {/*warps=*/4, /*blocks=*/width <= kMiddle && !isTall ? 3 : 2};
}

DecodeBlocks getLoneDecodeBlocks(const DecodeSizes &sizes) {
  return {std::max(getDecodeBlocks(sizes).warps, kLoneWarps), /*blocks=*/1};
}

/// The share of memory's rate that `blocks` equal blocks reach.
static double getUse(int64_t blocks, const DecodeSizes &sizes, const Target &target) {
  auto [warps, together] = getDecodeBlocks(sizes);
  int64_t multiprocessors = target.multiprocessors, places = together * multiprocessors;
  if (blocks > places)
    return static_cast<double>(blocks) / static_cast<double>(llvm::alignTo(blocks, places));
  // The warps of one block alone have too little under way.
  constexpr double alone = 0.6;
  int64_t most = llvm::divideCeil(blocks, multiprocessors);
  int64_t running = most == 1 ? getLoneDecodeBlocks(sizes).warps : most * warps;
  double rate = 1 - (1 - alone) * static_cast<double>(together * warps - running) /
                        static_cast<double>((together - 1) * warps);
  return rate * static_cast<double>(blocks) / static_cast<double>(most * multiprocessors);
}

/// The number of blocks for each head that keeps most of the GPU busy; the fewest of those that are
/// about as good.
static int64_t chooseShares(const DecodeSizes &sizes, const Target &target, int64_t fewestKeys,
                            ArrayRef<int64_t> shares) {
  int64_t heads = std::max<int64_t>(sizes.heads, 1),
          keys = sizes.keys < 0 ? kUnknownKeys : sizes.keys, best = 1;
  constexpr double isBetter = 1.05;
  for (int64_t share : shares)
    if (share * fewestKeys <= keys &&
        getUse(heads * share, sizes, target) > isBetter * getUse(heads * best, sizes, target))
      best = share;
  return best;
}

static int64_t chooseCluster(const DecodeSizes &sizes, const Target &target) {
  return target.hasClusters() ? chooseShares(sizes, target, kFewestKeys, {2, 4, kMostCluster}) : 1;
}

int64_t chooseDecodeSplits(const DecodeSizes &sizes, const Target &target) {
  // A cluster does it in one launch, unless that leaves multiprocessors idle for long.
  constexpr int64_t longKeys = 8192;
  int64_t keys = sizes.keys < 0 ? kUnknownKeys : sizes.keys;
  int64_t cluster = chooseCluster(sizes, target);
  bool isBusy = getUse(std::max<int64_t>(sizes.heads, 1) * cluster, sizes, target) > 0.7;
  if (target.hasClusters() && (isBusy || keys < longKeys))
    return 1;
  SmallVector<int64_t> shares = llvm::to_vector(llvm::seq_inclusive<int64_t>(2, kMostSplits));
  return chooseShares(sizes, target, kFewestSplitKeys, shares);
}

/// Threads of a block that joins parts.
static constexpr int64_t kCombineThreads = 128;

static Choice chooseDecode(kernel::AttentionDecodeOp op, const Target &target) {
  DecodeSizes sizes = getDecodeSizes(op);
  int64_t cluster = op.getSplits() > 1 ? 1 : chooseCluster(sizes, target);
  bool isLone = sizes.heads >= 0 && op.getSplits() <= 1 &&
                sizes.heads * cluster <= int64_t(target.multiprocessors);
  DecodeBlocks blocks = isLone ? getLoneDecodeBlocks(sizes) : getDecodeBlocks(sizes);
  Choice choice{
      AttentionDecodeAttr::get(op.getContext(), blocks.warps, cluster),
      llvm::formatv("attention of {0} queries to a head of keys: {1} blocks share its keys",
                    sizes.rows, std::max<int64_t>(cluster, op.getSplits()))};
  if (sizes.heads >= 0 && sizes.keys >= 0) {
    double bytes = 2.0 * static_cast<double>(sizes.heads) * static_cast<double>(sizes.keys) *
                   static_cast<double>(sizes.vector + sizes.result);
    choice.microseconds = kOverheadMicroseconds + bytes / (target.rates.memory * 1e3);
    choice.reason += ", " + formatTime(*choice.microseconds);
  }
  return choice;
}

namespace {

/// Few queries to many keys, and what joins parts of the keys where blocks do not.
struct DecodeAttentionStrategy final : Strategy {
  StringRef getName() const override { return "attention-decode"; }

  LogicalResult enumerate(KernelQuery &query, SmallVectorImpl<Choice> &choices) const override {
    if (query.kernel.outputs.empty())
      return success();
    Operation *op = query.kernel.outputs.front().tensor.getDefiningOp();
    if (auto decode = dyn_cast_or_null<kernel::AttentionDecodeOp>(op))
      choices.push_back(chooseDecode(decode, query.getTarget()));
    if (auto combine = dyn_cast_or_null<kernel::AttentionCombineOp>(op))
      choices.push_back({AttentionCombineAttr::get(query.getContext(), kCombineThreads),
                         llvm::formatv("joins {0} parts of attention", combine.getSplits())});
    return success();
  }

  /// That of attention itself.
  std::unique_ptr<Pass> createEmission() const override { return nullptr; }
};

} // namespace

const Strategy &getDecodeAttentionStrategy() {
  static const DecodeAttentionStrategy strategy;
  return strategy;
}

} // namespace xc::cuda
