//===- TileWaits.h - Who has waited for what fills a tile -------*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_DIALECT_TILE_IR_TILEWAITS_H
#define XC_DIALECT_TILE_IR_TILEWAITS_H

#include "compiler/Dialect/Tile/IR/TileOps.h"

namespace xc::tile {

/// Checks that `reader` has waited for what fills `tile`, if that is a stage of a ring: a ring with
/// barriers by `tile.wait_full`, another by the `tile.await_copies` that returns `tile`.
mlir::LogicalResult verifyAwaited(mlir::Operation *reader, mlir::Value tile);

/// Checks that `token`, wherever it may come from, is that of a copy to `tile`.
mlir::LogicalResult verifyToken(AwaitCopiesOp wait, mlir::Value tile, mlir::Value token);

} // namespace xc::tile

#endif // XC_DIALECT_TILE_IR_TILEWAITS_H
