//===- AttentionGradient.cpp - Which kernels compute attention's gradient -===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Attention/AttentionGradient.h"
#include "compiler/Codegen/CUDA/Attention/AttentionProblem.h"
#include "compiler/Codegen/CUDA/Attention/AttentionSchedule.h"
#include "compiler/Dialect/Tile/IR/TileOps.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace xc::cuda {

/// Sums of two gradients of 64 keys are to fit a thread's registers beside scores and weights.
static constexpr int64_t kMostVector = 128, kVectorStep = 8;
/// Windows of more keys hide nothing that arithmetic on 32 bits could tell.
static constexpr int64_t kMostWindow = int64_t(1) << 30;
/// What a multiprocessor of a Hopper GPU does in a microsecond.
static constexpr double kFlopsPerMicrosecond = 4.3e6;
/// The part of what mma.sync can do in the time.
static constexpr double kMMAShare = 0.4;

bool hasAttentionKernel(kernel::AttentionGradientOp op, const Target *target, bool wgmma) {
  if (!target || !(target->hasMMA16816 || (target->hasWGMMA && wgmma)))
    return false;
  auto isTaken = [](Value operand) {
    auto type = cast<ShapedType>(operand.getType());
    return type.hasStaticShape() && type.getNumElements() > 0 &&
           type.getShape().back() <= kMostVector && type.getShape().back() % kVectorStep == 0;
  };
  return llvm::all_of(ArrayRef<Value>{op.getQuery(), op.getKey(), op.getValue()}, isTaken) &&
         (!op.getWindow() || static_cast<int64_t>(*op.getWindow()) <= kMostWindow);
}

kernel::AttentionGradientOp matchAttentionGradient(const KernelInfo &kernel) {
  if (kernel.outputs.empty())
    return nullptr;
  return kernel.outputs.front().tensor.getDefiningOp<kernel::AttentionGradientOp>();
}

/// Bytes of shared memory that tiles and barriers take: of the rows that a tile has, two operands'
/// vectors, and of those that it goes over.
static int64_t countBytes(kernel::AttentionGradientOp op, AttentionAttr config) {
  int64_t columns = llvm::alignTo(op.getQueryType().getShape().back(), 64) +
                    llvm::alignTo(op.getValueType().getShape().back(), 64);
  int64_t rows = config.getQueryStages() * config.getWarpgroups() * tile::kWarpgroupRows +
                 config.getStages() * config.getKeys();
  return rows * columns * 2 +
         4 * tile::kBarrierBytes * (config.getQueryStages() + config.getStages());
}

/// The same of the kernel on mma.sync.
static int64_t countBytes(kernel::AttentionGradientOp op, AttentionMMAAttr config) {
  int64_t bytes = 0;
  for (int64_t columns : {op.getQueryType().getShape().back(), op.getValueType().getShape().back()})
    for (auto [rows, stages] :
         {std::pair(config.getWarpgroups() * tile::kWarpgroupRows, int64_t(1)),
          std::pair(config.getKeys(), config.getStages())}) {
      auto tile = tile::SharedType::get(op.getContext(), rows, padCopiedColumns(columns),
                                        op.getQueryType().getElementType());
      bytes += stages * llvm::alignTo(tile.getBytes(), tile::kTileAlignment);
    }
  return bytes;
}

std::string AttentionGradientChooser::check(Attribute config) {
  auto own = dyn_cast<AttentionAttr>(config);
  int64_t bytes = own ? countBytes(op, own) : countBytes(op, cast<AttentionMMAAttr>(config)),
          room = static_cast<int64_t>(target.sharedPerBlock);
  if (bytes > room)
    return llvm::formatv("a block has {0} bytes of shared memory, not {1}", room, bytes);
  if (own && (own.getCluster() > 1 || own.getPingPong()))
    return "blocks of a gradient are no cluster, and their warpgroups do no ping-pong";
  return {};
}

AttentionAttr AttentionGradientChooser::choose() {
  constexpr int64_t warpgroups = 2, mostStages = 4;
  ArrayRef<int64_t> query = op.getQueryType().getShape(), key = op.getKeyType().getShape();
  int64_t vector = std::max(query.back(), op.getValueType().getShape().back());
  ArrayRef<int64_t> own = op.isOfKeys() ? key : query, other = op.isOfKeys() ? query : key;
  // Scores, what flows to them and their 16-bit forms are to fit the registers beside sums of one
  // or two gradients; so are the bounds that loops over heads keep where queries are hidden.
  constexpr int64_t narrow = 64, middle = 96;
  int64_t rows = vector <= narrow ? 96 : vector <= middle ? 80 : 64;
  bool keepsBounds = op.getCausal() && op.getGroupSize() > 1 && other[other.size() - 2] % rows != 0;
  // Full attention, wide: 64 keys at a time and the next tile's queries beside them took 7.8 ms for
  // all of a step, 128 keys 9.8 (H100, 8 x 16 heads, 4096 x 128).
  bool keepsNext = !op.isOfKeys() && !op.getCausal() && vector > middle;
  if (keepsNext)
    rows = 64;
  else if (!op.isOfKeys())
    rows = 128;
  else if (vector > middle && keepsBounds)
    rows = 48;
  // So do the addresses of a mask.
  constexpr int64_t maskedColumns = 4096;
  if (op.getMask())
    rows = std::min<int64_t>(rows, (op.isOfKeys() ? 1 : 2) * maskedColumns /
                                       static_cast<int64_t>(llvm::alignTo(vector, 64)));
  rows = std::min<int64_t>(rows, llvm::alignTo(other[other.size() - 2], 16));
  AttentionSchedule schedule = chooseGradientSchedule(op, warpgroups * tile::kWarpgroupRows, rows,
                                                      own[own.size() - 2], target);
  auto make = [&](int64_t stages, int64_t ownStages) {
    return AttentionAttr::get(op.getContext(), warpgroups, rows, stages, ownStages, schedule.raster,
                              /*ping_pong=*/0, /*cluster=*/1, schedule.isSerpentine);
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
  ArrayRef<int64_t> query = op.getQueryType().getShape(), key = op.getKeyType().getShape();
  ArrayRef<int64_t> own = op.isOfKeys() ? key : query, other = op.isOfKeys() ? query : key;
  int64_t vector = std::max(query.back(), op.getValueType().getShape().back());
  int64_t length = other[other.size() - 2], most = vector <= narrow || !op.isOfKeys() ? 64 : 32;
  auto make = [&](int64_t warpgroups, int64_t rows) {
    AttentionSchedule schedule = chooseGradientSchedule(op, warpgroups * tile::kWarpgroupRows, rows,
                                                        own[own.size() - 2], target);
    return AttentionMMAAttr::get(op.getContext(), warpgroups, rows, /*stages=*/2,
                                 /*held_queries=*/0, schedule.raster);
  };
  for (int64_t rows = std::min<int64_t>(most, llvm::alignTo(length, 16)); rows > 16; rows -= 16)
    for (int64_t warpgroups : {2, 1})
      if (check(make(warpgroups, rows)).empty())
        return make(warpgroups, rows);
  return make(1, 16);
}

std::string AttentionGradientChooser::makeKey() {
  SmallVector<int64_t> sizes(op.getQueryType().getShape().drop_back());
  sizes.push_back(op.getKeyType().getShape().drop_back().back());
  sizes.append({op.getQueryType().getShape().back(), op.getValueType().getShape().back()});
  std::string text =
      llvm::join(llvm::map_range(sizes, [](int64_t size) { return std::to_string(size); }), "x");
  std::string type;
  llvm::raw_string_ostream(type) << op.getQueryType().getElementType();
  StringRef form = op.getWindow() ? "window" : op.getCausal() ? "causal" : "full";
  std::string group = op.getGroupSize() > 1 ? "/" + std::to_string(op.getGroupSize()) : "";
  return llvm::formatv("{0} attention_gradient_of_{1} {2} {3}{4} {5}{6}", target.arch,
                       op.isOfKeys() ? "keys" : "queries", type, text, group, form,
                       op.getMask() ? "+mask" : "");
}

double AttentionGradientChooser::predict(Attribute config) {
  ArrayRef<int64_t> query = op.getQueryType().getShape(), key = op.getKeyType().getShape();
  // An offset may leave nothing hidden.
  double pairs = countSeenPairs(query[query.size() - 2], key[key.size() - 2],
                                op.getCausal() && !op.getOffset(), op.getWindow());
  double vector = static_cast<double>(query.back()),
         result = static_cast<double>(op.getValueType().getShape().back());
  double flops = 2 * static_cast<double>(computeProduct(query.drop_back(2))) * pairs *
                 (op.isOfKeys() ? 2 * vector + 2 * result : 2 * vector + result);
  double rate = isa<AttentionAttr>(config)
                    ? kFlopsPerMicrosecond
                    : 2000 * target.rates.products * target.rates.clock * kMMAShare;
  return flops / (rate * static_cast<double>(target.multiprocessors));
}

} // namespace xc::cuda
