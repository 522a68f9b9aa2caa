//===- AttentionGradient.cpp - Which kernels compute attention's gradient -===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Attention/AttentionGradient.h"
#include "compiler/Codegen/CUDA/Attention/AttentionProblem.h"
#include "compiler/Codegen/CUDA/Attention/AttentionSchedule.h"
#include "compiler/Codegen/CUDA/Common/Accesses.h"
#include "compiler/Dialect/Tile/IR/TileOps.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace xc::cuda {

/// Sums of 64 keys are to fit a thread's registers beside scores and weights: of one gradient, or
/// of two where vectors are no longer than `kMostOfTwo`.
static constexpr int64_t kMostOfTwo = 128;
/// The same of f32, whose factors take twice the registers, and of which the most vectors have rows
/// of so many others beside them without spills.
static constexpr int64_t kMostOfTwoSingle = 64;
/// What a multiprocessor of a Hopper GPU does in a microsecond.
static constexpr double kFlopsPerMicrosecond = 4.3e6;
/// The part of what mma.sync can do in the time.
static constexpr double kMMAShare = 0.4;

static bool isSingle(kernel::AttentionGradientOp op) {
  return op.getQueryType().getElementType().isF32();
}

/// Bytes of shared memory that the kernel on mma.sync has tiles in: of so many own rows, `stages`
/// times so many others.
static int64_t countCopiedBytes(kernel::AttentionGradientOp op, int64_t ownRows, int64_t rows,
                                int64_t stages) {
  auto count = [&](int64_t rows, int64_t columns) -> int64_t {
    tile::SharedType tile = makeCopiedTile(rows, columns, op.getQueryType().getElementType());
    return llvm::alignTo(tile.getBytes(), tile::kTileAlignment);
  };
  int64_t vector = op.getQueryType().getShape().back(),
          result = op.getValueType().getShape().back();
  return count(ownRows, vector) + (op.getOnlyValues() ? 0 : count(ownRows, result)) +
         stages * (count(rows, vector) + count(rows, result));
}

/// Whether the least tiles of all kernels of the gradient fit shared memory.
static bool hasRoomForSingle(kernel::AttentionGradientOp op, const Target &target) {
  return countCopiedBytes(op, tile::kWarpgroupRows, /*rows=*/16, /*stages=*/2) <=
         static_cast<int64_t>(target.sharedPerBlock);
}

bool hasAttentionKernel(kernel::AttentionGradientOp op, const Target *target, bool wgmma) {
  if (!target || !(target->hasMMA16816 || (target->hasWGMMA && wgmma)))
    return false;
  // Those on wgmma are of 16-bit types.
  if (isSingle(op) && (!target->hasMMA16816 || !hasRoomForSingle(op, *target)))
    return false;
  auto isTaken = [](Value operand) {
    ArrayRef<int64_t> shape = cast<ShapedType>(operand.getType()).getShape();
    int64_t vector = shape.back();
    // Where there is nothing to load, there is no description of a tensor to load it by.
    return !llvm::is_contained(shape, 0) && !ShapedType::isDynamic(vector) &&
           vector <= kMostVector && vector % kVectorStep == 0;
  };
  // Sums over queries have the dims of these.
  bool isSpread = true;
  if (op.getWanted().back() == 3 && op.hasMaskOfKeys())
    isSpread = cast<ShapedType>(op.getMask().getType()).getShape().drop_back(2) ==
               op.getQueryType().getShape().drop_back(2);
  return isSpread &&
         llvm::all_of(ArrayRef<Value>{op.getQuery(), op.getKey(), op.getValue()}, isTaken) &&
         (!op.getWindow() || static_cast<int64_t>(*op.getWindow()) <= kMostWindow);
}

/// The same of a gradient.
static int64_t getVector(kernel::AttentionGradientOp op) {
  return std::max(op.getQueryType().getShape().back(), op.getValueType().getShape().back());
}

bool hasKernelOfKeysAndValues(kernel::AttentionGradientOp op) {
  return getVector(op) <= (isSingle(op) ? kMostOfTwoSingle : kMostOfTwo);
}

kernel::AttentionGradientOp matchAttentionGradient(const KernelInfo &kernel) {
  if (kernel.outputs.empty())
    return nullptr;
  SmallVector<unsigned> order;
  return getPermuted(kernel.outputs.front().tensor, order)
      .getDefiningOp<kernel::AttentionGradientOp>();
}

/// Bytes of shared memory that tiles and barriers take: of the rows that a tile has, one or two
/// operands' vectors, and of those that it goes over, two.
static int64_t countBytes(kernel::AttentionGradientOp op, AttentionAttr config) {
  int64_t vector = llvm::alignTo(op.getQueryType().getShape().back(), 64),
          result = llvm::alignTo(op.getValueType().getShape().back(), 64);
  int64_t ownColumns = op.getOnlyValues() ? vector : vector + result;
  int64_t elements =
      config.getQueryStages() * config.getWarpgroups() * tile::kWarpgroupRows * ownColumns +
      config.getStages() * config.getKeys() * (vector + result);
  return elements * 2 + 4 * tile::kBarrierBytes * (config.getQueryStages() + config.getStages());
}

/// The same of the kernel on mma.sync.
static int64_t countBytes(kernel::AttentionGradientOp op, AttentionMMAAttr config) {
  // The kernel of a mask of queries and keys copies nothing ahead.
  int64_t stages = op.getOnlyMask() && !op.isOfKeys() ? 1 : config.getStages();
  return countCopiedBytes(op, config.getWarpgroups() * tile::kWarpgroupRows, config.getKeys(),
                          stages);
}

std::string AttentionGradientChooser::check(Attribute config) {
  auto own = dyn_cast<AttentionAttr>(config);
  int64_t bytes = own ? countBytes(op, own) : countBytes(op, cast<AttentionMMAAttr>(config)),
          room = static_cast<int64_t>(target.sharedPerBlock);
  if (bytes > room)
    return llvm::formatv("a block has {0} bytes of shared memory, not {1}", room, bytes);
  if (own && isSingle(op))
    return "gradients of f32 are on mma.sync";
  if (own && (own.getCluster() > 1 || own.getPingPong()))
    return "blocks of a gradient are no cluster, and their warpgroups do no ping-pong";
  if (own && own.getMaskStages())
    return "threads of a gradient load masks themselves";
  if (own && own.getColumnLoads() && !op.isOfKeys())
    return "columns have numbers in gradients to keys and values alone";
  return {};
}

/// Lengths of what tiles of `op` have rows of, and of what they go over.
static std::pair<int64_t, int64_t> getLengths(kernel::AttentionGradientOp op) {
  int64_t queries = op.getQueryType().getShape().drop_back().back(),
          keys = op.getKeyType().getShape().drop_back().back();
  return op.isOfKeys() ? std::pair(keys, queries) : std::pair(queries, keys);
}

/// No more of `rows` than there are of `length`, as far as that is known.
static int64_t limitRows(int64_t rows, int64_t length) {
  return ShapedType::isDynamic(length)
             ? rows
             : std::min<int64_t>(rows, static_cast<int64_t>(llvm::alignTo(length, 16)));
}

/// Rows of streamed operands at a time: scores, what flows to them and their 16-bit forms are to
/// fit the registers beside sums of one or two gradients; so are the bounds that loops over heads
/// keep where queries are hidden.
static int64_t chooseRows(kernel::AttentionGradientOp op, bool keepsNext) {
  constexpr int64_t narrow = 64, middle = 96, wide = 192;
  int64_t vector = getVector(op), length = getLengths(op).second;
  if (vector > wide)
    return 48;
  if (op.getOnlyMask() || keepsNext)
    return 64;
  if (vector > kMostOfTwo)
    return op.isOfKeys() ? 64 : 80;
  if (!op.isOfKeys())
    return 128;
  int64_t rows = vector <= narrow ? 96 : vector <= middle ? 80 : 64;
  bool isUneven = ShapedType::isDynamic(length) || length % rows != 0;
  bool keepsBounds = op.getCausal() && op.getGroupSize() > 1 && isUneven;
  return vector > middle && keepsBounds ? 48 : rows;
}

AttentionAttr AttentionGradientChooser::choose() {
  constexpr int64_t warpgroups = 2, mostStages = 4, middle = 96;
  int64_t vector = getVector(op), length = getLengths(op).first;
  // Full attention, wide: 64 keys at a time and the next tile's queries beside them took 7.8 ms for
  // all of a step, 128 keys 9.8 (H100, 8 x 16 heads, 4096 x 128).
  bool keepsNext =
      op.getWanted().front() == 0 && !op.getCausal() && vector > middle && vector <= kMostOfTwo;
  int64_t rows = chooseRows(op, keepsNext);
  // The addresses of a mask take registers, too.
  constexpr int64_t maskedColumns = 4096;
  if (op.getMask() && !op.getOnlyMask())
    rows = std::min<int64_t>(
        rows,
        llvm::alignDown((op.isOfKeys() ? 1 : 2) * maskedColumns / llvm::alignTo(vector, 64), 16));
  rows = limitRows(rows, getLengths(op).second);
  AttentionSchedule schedule =
      chooseGradientSchedule(op, warpgroups * tile::kWarpgroupRows, rows, length, target);
  auto make = [&](int64_t stages, int64_t ownStages) {
    return AttentionAttr::get(op.getContext(), warpgroups, rows, stages, ownStages, schedule.raster,
                              /*ping_pong=*/0, /*cluster=*/1, schedule.isSerpentine,
                              /*mask_stages=*/0, /*column_loads=*/0);
  };
  if (keepsNext && check(make(3, 2)).empty())
    return make(3, 2);
  for (int64_t stages = mostStages; stages > 2; --stages)
    for (int64_t ownStages : {2, 1})
      if (check(make(stages, ownStages)).empty())
        return make(stages, ownStages);
  return make(2, 1);
}

AttentionMMAAttr AttentionGradientChooser::chooseMMA() {
  constexpr int64_t narrow = 64;
  int64_t vector = getVector(op), length = getLengths(op).first;
  bool isWide = vector > kMostOfTwo || (op.isOfKeys() && vector > narrow);
  int64_t most = isWide ? 32 : 64;
  // Halves of factors take registers, too.
  if (isSingle(op) && !mayRoundToTF32(op))
    most = vector <= narrow ? 32 : 16;
  auto make = [&](int64_t warpgroups, int64_t rows) {
    AttentionSchedule schedule =
        chooseGradientSchedule(op, warpgroups * tile::kWarpgroupRows, rows, length, target);
    return AttentionMMAAttr::get(op.getContext(), warpgroups, rows, /*stages=*/2,
                                 /*held_queries=*/0, schedule.raster);
  };
  for (int64_t rows = limitRows(most, getLengths(op).second); rows >= 16; rows -= 16)
    for (int64_t warpgroups : {2, 1})
      if (check(make(warpgroups, rows)).empty())
        return make(warpgroups, rows);
  return make(1, 16);
}

std::string AttentionGradientChooser::makeKey() {
  SmallVector<int64_t> sizes(op.getQueryType().getShape().drop_back());
  sizes.push_back(op.getKeyType().getShape().drop_back().back());
  sizes.append({op.getQueryType().getShape().back(), op.getValueType().getShape().back()});
  auto print = [](int64_t size) {
    return ShapedType::isDynamic(size) ? std::string("?") : std::to_string(size);
  };
  std::string text = llvm::join(llvm::map_range(sizes, print), "x");
  std::string type = getProductType(op, op.getQueryType().getElementType());
  StringRef form = op.getWindow() ? "window" : op.getCausal() ? "causal" : "full";
  std::string group = op.getGroupSize() > 1 ? "/" + std::to_string(op.getGroupSize()) : "";
  StringRef own = op.getOnlyMask()     ? op.isOfKeys() ? "key_mask" : "mask"
                  : !op.isOfKeys()     ? "queries"
                  : op.getOnlyKeys()   ? "keys_alone"
                  : op.getOnlyValues() ? "values_alone"
                                       : "keys";
  return llvm::formatv("{0} attention_gradient_of_{1} {2} {3}{4} {5}{6}{7}", target.arch, own, type,
                       text, group, form, op.getMask() ? "+mask" : "",
                       op.getSoftcap() ? "+softcap" : "");
}

std::optional<double> AttentionGradientChooser::predict(Attribute config) {
  ArrayRef<int64_t> query = op.getQueryType().getShape(), key = op.getKeyType().getShape();
  if (ShapedType::isDynamicShape(query) || ShapedType::isDynamicShape(key))
    return std::nullopt;
  // An offset may leave nothing hidden.
  double pairs = countSeenPairs(query[query.size() - 2], key[key.size() - 2],
                                op.getCausal() && !op.getOffset(), op.getWindow());
  double flops = 2 * static_cast<double>(computeProduct(query.drop_back(2))) * pairs *
                 static_cast<double>(op.countProductElements());
  double rate = isa<AttentionAttr>(config)
                    ? kFlopsPerMicrosecond
                    : 2000 * target.rates.products * target.rates.clock * kMMAShare /
                          countProducts(op, op.getQueryType().getElementType());
  return flops / (rate * static_cast<double>(target.multiprocessors));
}

} // namespace xc::cuda
