//===- TokenPaths.h - What is started between an op and a wait -*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_CODEGEN_CUDA_TILE_TOKENPATHS_H
#define XC_CODEGEN_CUDA_TILE_TOKENPATHS_H

#include "compiler/Dialect/Tile/IR/TileOps.h"

#include <optional>

namespace xc::cuda {

/// More than are ever under way.
inline constexpr int64_t kManyStarted = 1 << 20;

/// Of asynchronous ops, for which `starts` is true, the fewest that are started on any path between
/// that of `token` and `wait`. Tokens come along loops and branches; nothing if one comes from
/// elsewhere.
std::optional<int64_t> countStarted(mlir::Value token, mlir::Operation *wait,
                                    llvm::function_ref<bool(mlir::Operation *)> starts);

} // namespace xc::cuda

#endif // XC_CODEGEN_CUDA_TILE_TOKENPATHS_H
