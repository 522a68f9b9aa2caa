//===- MMAAttention.cpp - Configurations of attention on mma.sync ---------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Attention/AttentionProblem.h"
#include "compiler/Codegen/CUDA/Attention/AttentionSchedule.h"
#include "compiler/Dialect/Tile/IR/TileOps.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace xc::cuda {

/// The longest vectors of which a thread holds queries beside the sums, those of TF32, and scores
/// of so many keys. Of f32 as it is, halves of what is held would be, too.
static constexpr int64_t kWidestHeld = 128, kWidestHeldTF32 = 64, kWidestOf64 = 128;
/// Of f32 as it is, the longest vectors of which ptxas spills none beside scores of so many keys.
static constexpr int64_t kWidestSingleOf48 = 64, kWidestSingleOf32 = 96;
static constexpr int64_t kWidestCausalOf128 = 96;
/// The longest vectors of which four warps, with as many beside them in another block, take less
/// time than eight (H100, 2 x 16 heads, 4096 x 64, causal: 238 us, else 244).
static constexpr int64_t kWidestOfFourWarps = 64;
/// Parts of what mma.sync can do in the time: of vectors from `kLongVector` elements on, of shorter
/// ones, whose softmax takes as long, and beside plain loads of a mask.
static constexpr double kLongShare = 0.55, kShortShare = 0.42, kMaskedShare = 0.2;
/// Products of 16-bit types that take as long as one of TF32; one of f32 is three of those.
static constexpr double kProductsOfTF32 = 2;
/// What the other number of warps takes longer.
static constexpr double kOtherWarpsLoss = 1.05;
/// Warps that a multiprocessor has registers for.
static constexpr int64_t kResidentWarpgroups = 2;

double countProducts(Operation *op, Type element) {
  if (!element.isF32())
    return 1;
  return mayRoundToTF32(op) ? kProductsOfTF32 : 3 * kProductsOfTF32;
}

int64_t alignToStep(int64_t columns, Type element) {
  constexpr int64_t stepBits = 256;
  return llvm::alignTo(columns, stepBits / element.getIntOrFloatBitWidth());
}

tile::SharedType makeCopiedTile(int64_t rows, int64_t columns, Type element) {
  return tile::SharedType::get(element.getContext(), rows, alignToStep(columns, element), element);
}

/// Bytes of shared memory that tiles take, of so many warpgroups' queries and stages of keys.
static int64_t countBytes(kernel::AttentionOp op, int64_t warpgroups, int64_t keys,
                          int64_t stages) {
  auto count = [&](ShapedType type, int64_t rows) -> int64_t {
    tile::SharedType tile = makeCopiedTile(rows, type.getShape().back(), type.getElementType());
    return llvm::alignTo(tile.getBytes(), tile::kTileAlignment);
  };
  return count(op.getQueryType(), warpgroups * tile::kWarpgroupRows) +
         stages * (count(op.getKeyType(), keys) + count(op.getValueType(), keys));
}

static int64_t countBytes(kernel::AttentionOp op, AttentionMMAAttr config) {
  return countBytes(op, config.getWarpgroups(), config.getKeys(), config.getStages());
}

std::string MMAAttentionChooser::check(AttentionMMAAttr config) {
  int64_t bytes = countBytes(op, config), room = static_cast<int64_t>(target.sharedPerBlock);
  if (bytes > room)
    return llvm::formatv("a block has {0} bytes of shared memory, not {1}", room, bytes);
  return {};
}

bool MMAAttentionChooser::hasRoom() {
  return countBytes(op, /*warpgroups=*/1, /*keys=*/16, /*stages=*/2) <=
         static_cast<int64_t>(target.sharedPerBlock);
}

std::optional<AttentionMMAAttr> MMAAttentionChooser::chooseFor(int64_t warpgroups) {
  ShapedType key = op.getKeyType();
  bool isSingle = key.getElementType().isF32();
  int64_t length = op.getKeyLength(), vector = getVector(op);
  // 128 keys at a time take a tenth less (H100, 8 x 16 heads, 4096 x 128: 2,994 us, else 3,167),
  // but what hides keys one by one needs registers, too.
  bool isPlain = !isSingle && !op.getMask() && !op.isPaged() &&
                 !ShapedType::isDynamicShape(op.getQueryType().getShape()) &&
                 !ShapedType::isDynamic(length) && !op.getWindow() &&
                 !(op.getCausal() && vector > kWidestCausalOf128);
  int64_t keys = vector > kWidestOf64 ? 32 : isPlain ? 128 : 64;
  bool isExact = isSingle && !mayRoundToTF32(op);
  if (isExact)
    keys = vector <= kWidestSingleOf48 ? 48 : vector <= kWidestSingleOf32 ? 32 : 16;
  bool holdsQueries = !isExact && vector <= (isSingle ? kWidestHeldTF32 : kWidestHeld);
  if (!ShapedType::isDynamic(length))
    keys = std::min<int64_t>(keys, llvm::alignTo(length, 16));
  AttentionSchedule schedule =
      chooseAttentionSchedule(op, warpgroups * tile::kWarpgroupRows, keys, target);
  // Blocks of four warps are to have company on a multiprocessor.
  auto isAlone = [&](AttentionMMAAttr config) {
    int64_t shared = countBytes(op, config) + target.sharedReserved;
    return shared * kResidentWarpgroups > int64_t(target.sharedPerMultiprocessor) * warpgroups;
  };
  for (; keys >= 16; keys = keys > 64 ? 64 : keys - 16) {
    auto config = AttentionMMAAttr::get(op.getContext(), warpgroups, keys, /*stages=*/2,
                                        holdsQueries, schedule.raster);
    if (check(config).empty() && (keys <= 64 || !isAlone(config)))
      return config;
  }
  return std::nullopt;
}

SmallVector<AttentionMMAAttr> MMAAttentionChooser::list() {
  SmallVector<AttentionMMAAttr> configs;
  for (int64_t warpgroups : {2, 1})
    if (std::optional<AttentionMMAAttr> config = chooseFor(warpgroups))
      configs.push_back(*config);
  llvm::stable_sort(configs, [&](AttentionMMAAttr left, AttentionMMAAttr right) {
    std::optional<double> before = predict(left), after = predict(right);
    return before && after && *before < *after;
  });
  return configs;
}

std::optional<double> MMAAttentionChooser::predict(AttentionMMAAttr config) {
  ArrayRef<int64_t> shape = op.getQueryType().getShape().drop_back();
  int64_t keys = op.getKeyLength();
  if (ShapedType::isDynamicShape(shape) || ShapedType::isDynamic(keys) || op.getOffset())
    return std::nullopt;
  double pairs = countSeenPairs(shape.back(), keys, op.isBounded(), op.getWindow());
  int64_t heads = computeProduct(shape.drop_back()), rows = config.getWarpgroups() * 64;
  int64_t tiles = heads * llvm::divideCeil(shape.back(), rows),
          resident = target.multiprocessors * kResidentWarpgroups / config.getWarpgroups();
  // Those of unequal work fill gaps.
  int64_t slots = op.isBounded() ? std::max(tiles, resident) : llvm::alignTo(tiles, resident);
  double idle = static_cast<double>(slots * rows) / static_cast<double>(heads * shape.back());
  auto elements = static_cast<double>(op.getQueryType().getShape().back() +
                                      op.getValueType().getShape().back());
  double share = op.getMask()                  ? kMaskedShare
                 : getVector(op) < kLongVector ? kShortShare
                                               : kLongShare;
  double rate = 2000 * target.rates.products * target.rates.clock * target.multiprocessors;
  // What is beside products takes as long for all types.
  double parts = countProducts(op, op.getQueryType().getElementType());
  double products = (parts - 1) / kLongShare + 1 / share;
  double time = 2 * static_cast<double>(heads) * pairs * elements * idle * products / rate;
  int64_t best = getVector(op) <= kWidestOfFourWarps ? 1 : 2;
  return config.getWarpgroups() == best ? time : time * kOtherWarpsLoss;
}

} // namespace xc::cuda
