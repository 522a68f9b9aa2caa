//===- LinePlaces.h - Where elements of tiles of whole lines are -*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_CODEGEN_CUDA_TILE_LINEPLACES_H
#define XC_CODEGEN_CUDA_TILE_LINEPLACES_H

#include "compiler/Codegen/CUDA/Common/IndexBuilder.h"
#include "compiler/Dialect/Tile/IR/TileOps.h"

namespace xc::cuda {

/// A line of a tile as a number that threads compute plus one that is known: addresses of lines
/// that differ in the latter alone differ by an immediate.
struct Line {
  mlir::Value base;
  int64_t offset = 0;

  /// The parts of a sum.
  static Line split(mlir::Value line);
};

/// Builds the addresses of elements in tiles whose lines are whole (all swizzles of
/// `!tile.shared` but that of TMA), as arithmetic on indices.
class LinePlaces {
public:
  LinePlaces(mlir::OpBuilder &builder, mlir::Location loc)
      : builder(builder), loc(loc), index(builder, loc) {}

  mlir::Value toValue(const Line &line) { return index.add(line.base, line.offset); }
  /// Where chunk `number` of line `line` begins in the tile, in elements, each of which counts
  /// `unit`.
  mlir::Value getPlace(tile::SharedType tile, const Line &line, mlir::Value number,
                       int64_t unit = 1);
  /// The address of the element at `place` of the tile, of which LLVM keeps one for all stages of a
  /// ring.
  mlir::Value getPointer(mlir::Value tile, mlir::Value place);
  /// The address of the element in that line and column, by one index of stage and element: of
  /// single elements there are too many to keep each.
  mlir::Value getElementPointer(mlir::Value tile, const Line &line, mlir::Value column);
  /// The number of this thread in the block, and in its warp.
  mlir::Value getThread();
  mlir::Value getLane() { return index.rem(getThread(), tile::kWarpThreads); }

private:
  /// Where a tile begins, and how many elements in front of it are those of other stages (null if
  /// none).
  struct Start {
    mlir::Value pointer, skipped;
  };
  Start getStart(mlir::Value tile);
  mlir::Value getKey(tile::SharedType tile, mlir::Value line);

  mlir::OpBuilder &builder;
  mlir::Location loc;
  mlir::Value thread;

public:
  IndexBuilder index;
};

} // namespace xc::cuda

#endif // XC_CODEGEN_CUDA_TILE_LINEPLACES_H
