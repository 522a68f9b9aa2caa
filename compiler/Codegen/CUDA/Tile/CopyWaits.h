//===- CopyWaits.h - How many copies may be under way -----------*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_CODEGEN_CUDA_TILE_COPYWAITS_H
#define XC_CODEGEN_CUDA_TILE_COPYWAITS_H

#include "compiler/Dialect/Tile/IR/TileOps.h"

namespace xc::cuda {

/// Says of each `tile.await_copies` in `root` how many copies may still be under way.
mlir::LogicalResult placeCopyWaits(mlir::Operation *root);

} // namespace xc::cuda

#endif // XC_CODEGEN_CUDA_TILE_COPYWAITS_H
