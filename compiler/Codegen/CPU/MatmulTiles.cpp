//===- MatmulTiles.cpp - Sizes of the tiles of a product ------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CPU/MatmulTiles.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <limits>

using namespace mlir;

namespace xc::cpu {

/// Tiles of a matrix product that are enough to share among threads, and the elements of the
/// product from which a tile is worth a task.
static constexpr int64_t kEnoughTiles = 8, kTaskElements = 64 * 64;

/// Bytes of one panel of columns, which should stay in L1 (32 KiB on the smallest CPUs).
static constexpr int64_t kPanelBytes = 24576;

/// What a column of a tile costs beside a row of it: a vector of columns takes about three times as
/// long to pack, and columns that lie in panels are merely read again.
static constexpr double kPackedColumnCost = 3, kPanelColumnCost = 0.5;

int64_t getLanes(const Arch &arch, Type element) {
  return arch.vectorBytes / std::max<int64_t>(1, element.getIntOrFloatBitWidth() / 8);
}

int64_t choosePanelColumns(int64_t lanes, std::optional<int64_t> columns) {
  if (!columns)
    return 2 * lanes;
  // One vector of columns loads a row's element for each product, three leave fewer rows.
  int64_t best = 2;
  auto cost = [&](int64_t vectors) {
    constexpr double each[] = {1.05, 1, 1.03};
    return static_cast<double>(llvm::alignTo(std::max<int64_t>(*columns, 1), vectors * lanes)) *
           each[vectors - 1];
  };
  for (int64_t vectors : {3, 1})
    if (cost(vectors) < cost(best))
      best = vectors;
  return best * lanes;
}

/// The rows of a panel, at most |most|, that waste the least on the last panel of |rows|: each
/// panel costs its rows, and about one more to begin.
static int64_t choosePanelRows(std::optional<int64_t> rows, int64_t most) {
  if (!rows)
    return most;
  if (*rows <= most)
    return std::max<int64_t>(1, *rows);
  int64_t best = most;
  auto cost = [&](int64_t height) { return llvm::divideCeil(*rows, height) * (height + 1); };
  for (int64_t height = most; height * 3 >= most * 2; --height)
    if (cost(height) < cost(best))
      best = height;
  return best;
}

/// How many terms of the reduced dim panels hold, near |target|: whole iterations of the loops
/// outside of the innermost one, of |inner| terms, or equal parts of it.
static int64_t chooseDepth(std::optional<int64_t> terms, std::optional<int64_t> inner,
                           int64_t target, int64_t lanes) {
  if (terms)
    target = std::max<int64_t>(1, std::min(target, *terms));
  if (!inner || *inner < 1)
    return target;
  if (*inner <= target)
    return target / *inner * *inner;
  int64_t part = llvm::divideCeil(*inner, llvm::divideCeil(*inner, target));
  return std::min<int64_t>(target, llvm::alignTo(part, lanes));
}

/// Sets the rows and columns of a tile where their numbers are known: equal parts that repack the
/// least, of which there are enough to share. Each part of the rows packs all columns again, and
/// the other way round.
static void chooseKnownTile(int64_t rows, int64_t columns, double columnCost, MatmulTiles &tiles) {
  constexpr int64_t mostRows = 768, mostColumns = 256, mostSums = 192 * 256;
  int64_t height = tiles.height, width = tiles.width;
  auto part = [](int64_t size, int64_t parts, int64_t unit) {
    return std::max<int64_t>(unit, llvm::alignTo(llvm::divideCeil(size, parts), unit));
  };
  int64_t mostRowParts = std::max<int64_t>(1, llvm::divideCeil(rows, height)),
          mostColumnParts = std::max<int64_t>(1, llvm::divideCeil(columns, width));
  double elements = static_cast<double>(rows) * static_cast<double>(columns);
  int64_t wanted = static_cast<int64_t>(
      std::clamp<double>(elements / kTaskElements, 1, static_cast<double>(kEnoughTiles)));
  // In doubles: numbers of elements may be large.
  auto cost = [&](int64_t rowParts, int64_t columnParts) {
    return columnCost * static_cast<double>(rowParts) * static_cast<double>(columns) +
           static_cast<double>(columnParts) * static_cast<double>(rows);
  };
  tiles.rows = height;
  tiles.columns = width;
  double least = std::numeric_limits<double>::infinity();
  for (int64_t columnParts = 1; columnParts <= std::min<int64_t>(mostColumnParts, 64);
       ++columnParts) {
    int64_t tileColumns = part(columns, columnParts, width);
    if (tileColumns > mostColumns && columnParts < std::min<int64_t>(mostColumnParts, 64))
      continue;
    tileColumns = std::min<int64_t>(tileColumns, llvm::alignTo(mostColumns, width));
    int64_t enough = llvm::divideCeil(wanted, columnParts);
    int64_t largest = std::max(height, std::min(mostRows, mostSums / tileColumns));
    int64_t rowParts =
        std::max<int64_t>(std::min(enough, mostRowParts), llvm::divideCeil(rows, largest));
    if (cost(rowParts, columnParts) < least) {
      least = cost(rowParts, columnParts);
      tiles.rows = part(rows, rowParts, height);
      tiles.columns = tileColumns;
    }
  }
}

/// A tile size for a number of rows or columns that may not be known.
static int64_t chooseTileSize(std::optional<int64_t> size, int64_t target, int64_t unit) {
  if (!size)
    return llvm::alignTo(target / 2, unit);
  int64_t parts = std::max<int64_t>(1, llvm::divideCeil(*size, target));
  return std::max<int64_t>(unit, llvm::alignTo(llvm::divideCeil(*size, parts), unit));
}

MatmulTiles chooseMatmulTiles(const Arch &arch, const MatmulShape &shape) {
  MatmulTiles tiles;
  int64_t lanes = shape.lanes;
  tiles.width = shape.panelColumns ? *shape.panelColumns : choosePanelColumns(lanes, shape.columns);
  // Accumulators take what the register file has, less the vectors of columns and one of
  // a row.
  int64_t vectors = tiles.width / lanes;
  int64_t most = std::clamp<int64_t>((arch.vectorRegisters - 1 - vectors) / vectors, 1, 12);
  tiles.height = choosePanelRows(shape.rows, most);
  // Half of L1 for a panel of columns; the other half is for what streams past it.
  tiles.depth = chooseDepth(shape.terms, shape.innerTerms,
                            kPanelBytes * lanes / (tiles.width * arch.vectorBytes), lanes);
  if (shape.rows && shape.columns) {
    chooseKnownTile(*shape.rows, *shape.columns,
                    shape.panelColumns ? kPanelColumnCost : kPackedColumnCost, tiles);
  } else {
    tiles.rows = chooseTileSize(shape.rows, 192, tiles.height);
    tiles.columns = chooseTileSize(shape.columns, 256, tiles.width);
  }
  return tiles;
}

} // namespace xc::cpu
