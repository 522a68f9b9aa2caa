//===- AttentionSchedule.h - In which order tiles are computed -*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_CODEGEN_CUDA_ATTENTION_ATTENTIONSCHEDULE_H
#define XC_CODEGEN_CUDA_ATTENTION_ATTENTIONSCHEDULE_H

#include "compiler/Codegen/CUDA/Common/Targets.h"
#include "compiler/Dialect/Kernel/IR/AttentionGradientOp.h"

namespace xc::cuda {

/// Tiles of `raster` heads at a time, those of the most work first; blocks take them in turn, in
/// every second wave backwards if `isSerpentine`.
struct AttentionSchedule {
  int64_t raster = 1;
  bool isSerpentine = false;
};

/// The schedule of `op` for tiles of so many queries and blocks of so many keys.
AttentionSchedule chooseAttentionSchedule(kernel::AttentionOp op, int64_t tileQueries,
                                          int64_t blockKeys, const Target &target);

/// The same of a gradient, for tiles of so many of the `rows` queries or keys that it is of, and
/// blocks of so many of the others.
AttentionSchedule chooseGradientSchedule(kernel::AttentionGradientOp op, int64_t tileRows,
                                         int64_t blockRows, int64_t rows, const Target &target);

/// Pairs of a query and a key of one head that see each other, of so many: all, or without those
/// that `causal` attention or a window of keys hides.
double countSeenPairs(int64_t queries, int64_t keys, bool causal, std::optional<uint64_t> window);

/// Work of all blocks divided by that of the one with the most and their number: 1 if they end
/// together. Tile i of each of `heads` heads takes `costs[i]`.
double computeBalance(llvm::ArrayRef<int64_t> costs, int64_t heads, int64_t blocks,
                      AttentionSchedule schedule);

} // namespace xc::cuda

#endif // XC_CODEGEN_CUDA_ATTENTION_ATTENTIONSCHEDULE_H
