//===- Fences.h - What fences keep in order ---------------------*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_CODEGEN_CUDA_TILE_FENCES_H
#define XC_CODEGEN_CUDA_TILE_FENCES_H

#include "compiler/Dialect/Tile/IR/TileOps.h"

namespace xc::cuda {

/// The ring or the tile in shared memory that `tile` is a part of; null if nobody knows.
mlir::Value findMemory(mlir::Value tile);

/// The tile that the executing thread has stored to when `op` is done; null if it is none.
mlir::Value getStoredTile(mlir::Operation *op);

/// True if other threads may learn by `op` of what the executing thread has done before.
bool isArrival(mlir::Operation *op);

/// Places `tile.fence_async` and `tile.fence_reads` in `root`, whose synchronous products are
/// known.
void placeFences(mlir::Operation *root);

} // namespace xc::cuda

#endif // XC_CODEGEN_CUDA_TILE_FENCES_H
