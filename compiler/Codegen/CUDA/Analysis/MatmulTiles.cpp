//===- MatmulTiles.cpp - Which tiles a matrix product gets ----------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Analysis/MatmulTiles.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <limits>

using namespace mlir;

namespace xc::cuda {

namespace {

struct MMATile {
  int64_t m, n, warpsM, warpsN;
  double rate;       // of the first one's, where all multiprocessors are busy
  int64_t registers; // of a thread, rounded up to what hardware gives
  bool isTight;      // leaves no registers for loads under way, or for more addresses
  bool isCrowded;    // the same for a thread with twice as many copies
};

} // namespace

// The rates of the first three were measured on an H200 (4096^3, bf16: 277.6, 275.6 and 288.3 us;
// of the fourth, with the first at 284.9, 337 us); those of the smaller ones follow from how much
// more of shared memory their warps read for a product.
static const MMATile kTiles[] = {
    {128, 256, 2, 4, 1.00, 256, true, false}, {256, 128, 4, 2, 1.00, 256, true, false},
    {128, 128, 2, 2, 0.96, 256, true, true},  {128, 128, 2, 4, 0.84, 168, false, false},
    {64, 128, 2, 2, 0.75, 168, false, false}, {128, 64, 2, 2, 0.75, 168, false, false},
    {64, 64, 2, 2, 0.60, 128, false, false},
};

static int64_t countBlocks(const MMATile &tile, const ProductSize &size) {
  return size.batch * llvm::divideCeil(size.m, tile.m) * llvm::divideCeil(size.n, tile.n);
}

static double predictTime(const MMATile &tile, const Target &target, const ProductSize &size) {
  // Fragments of f32 need more addresses, and so do checks.
  if (tile.isTight &&
      (!size.isCopied || size.isDemanding || (size.isRagged && size.elementBytes == 4)))
    return std::numeric_limits<double>::infinity();
  if (tile.n / tile.warpsN % size.partColumns != 0)
    return std::numeric_limits<double>::infinity();
  if (tile.isCrowded && size.elementBytes == 4)
    return std::numeric_limits<double>::infinity();
  int64_t perMultiprocessor = llvm::divideCeil(countBlocks(tile, size), target.multiprocessors);
  return static_cast<double>(perMultiprocessor * tile.m * tile.n) / tile.rate;
}

/// The shortest step: one product of bytes, two of TF32.
static int64_t getFewestK(int64_t elementBytes) { return elementBytes == 1 ? 32 : 16; }

MatmulMMAAttr chooseMMATiles(MLIRContext *context, const Target &target, const ProductSize &size) {
  const MMATile *best = std::min_element(
      std::begin(kTiles), std::end(kTiles), [&](const MMATile &left, const MMATile &right) {
        return predictTime(left, target, size) < predictTime(right, target, size);
      });
  // As many stages as leave room for the blocks that share a multiprocessor; shorter steps where
  // not even two fit.
  int64_t threads = 32 * best->warpsM * best->warpsN;
  int64_t resident = target.registersPerMultiprocessor / (threads * best->registers);
  resident = std::min<int64_t>(resident,
                               llvm::divideCeil(countBlocks(*best, size), target.multiprocessors));
  int64_t room = std::min<int64_t>(target.sharedPerBlock,
                                   target.sharedPerMultiprocessor / std::max<int64_t>(resident, 1));
  // Of bytes that are loaded one by one no more than of wider elements.
  int64_t fewest = getFewestK(size.elementBytes);
  int64_t tileK = (size.isCopied ? 128 : 64) / size.elementBytes;
  if (size.elementBytes == 1 && size.isScattered)
    tileK = fewest;
  auto stageBytes = [&] { return (best->m + best->n) * tileK * size.elementBytes; };
  if (size.isWide && !size.isCopied)
    tileK = fewest; // few elements under way, each of which has an address of two registers
  while (tileK > fewest && (2 * stageBytes() > room || (size.k && tileK / 2 >= *size.k)))
    tileK /= 2;
  int64_t stages = std::clamp<int64_t>(room / stageBytes(), 2, 4);
  // Behind the one that is multiplied, no more than there are.
  if (size.k)
    stages = std::clamp<int64_t>(llvm::divideCeil(*size.k, tileK) + 1, 2, stages);
  return MatmulMMAAttr::get(context, best->m, best->n, tileK, best->warpsM, best->warpsN, stages);
}

std::string checkMMATiles(const Contraction &contraction, MatmulMMAAttr config) {
  constexpr int64_t kChunk = 16, kTurnedUnit = 32;
  if (int64_t columns = contraction.getPartColumns(), own = config.getTileN() / config.getWarpsN();
      own % columns != 0)
    return llvm::formatv(
        "expected the columns of a warp to be a multiple of the {0} of a part that "
        "rows are reduced in, got {1}",
        columns, own);
  if (!contraction.hasByteOperands())
    return {};
  if (config.getTileK() % getFewestK(1) != 0)
    return llvm::formatv("expected tile_k to be a multiple of {0} bytes, got {1}", getFewestK(1),
                         config.getTileK());
  int64_t threads = 32 * config.getWarpsM() * config.getWarpsN();
  struct Tile {
    StringRef name;
    int64_t size;
    const Contraction::Side &side;
  };
  for (const Tile &tile : {Tile{"tile_m", config.getTileM(), contraction.a},
                           Tile{"tile_n", config.getTileN(), contraction.b}}) {
    if (tile.size * config.getTileK() % (kChunk * threads) != 0)
      return llvm::formatv("expected {0} x tile_k to be a multiple of the {1} bytes that the "
                           "threads copy at once, got {2} x {3}",
                           tile.name, kChunk * threads, tile.size, config.getTileK());
    if (!tile.side.isKContiguous && tile.size % kTurnedUnit != 0)
      return llvm::formatv("expected {0} to be a multiple of {1} where the operand's bytes are not "
                           "contiguous along k, got {2}",
                           tile.name, kTurnedUnit, tile.size);
  }
  return {};
}

} // namespace xc::cuda
