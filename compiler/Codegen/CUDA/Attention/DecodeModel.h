//===- DecodeModel.h - How long attention of few queries takes --*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_CODEGEN_CUDA_ATTENTION_DECODEMODEL_H
#define XC_CODEGEN_CUDA_ATTENTION_DECODEMODEL_H

#include "compiler/Codegen/CUDA/Attention/DecodeAttention.h"

#include <optional>

namespace xc::cuda {

/// How blocks share keys.
struct DecodePlan {
  int64_t warps;       // of a block
  int64_t blocks;      // that a multiprocessor has registers for
  int64_t cluster = 1; // blocks that share a head's keys, and join what they have seen themselves
  int64_t splits = 1;  // parts of a head's keys whose results another kernel joins; or 1
  double microseconds = 0;
};

/// Whether so many warps leave a thread too few registers to hold queries beside all that is under
/// way: then they stay in shared memory. So do those of f32, of which registers would hold both
/// numbers of TF32.
bool keepsQueriesShared(const DecodeSizes &sizes, int64_t warps, int64_t blocks);

/// Whether a thread has too few registers for queries of such sizes beside the sums and what is
/// under way, however few the warps are. Before sm_90 ptxas loads the values of a step of up to 8
/// rows before it multiplies with its keys.
bool runsOutOfRegisters(const Target &target, const DecodeSizes &sizes);

/// Bytes of a block's queries in shared memory (DecodeQueries.cpp).
int64_t getQueryBytes(const DecodeSizes &sizes);

/// What the plan takes: both kernels, where it has parts.
double estimateDecodePlan(const Target &target, const DecodeSizes &sizes, const DecodePlan &plan);

/// The plan that takes the least time; one of `splits` parts, if that is given.
DecodePlan chooseDecodePlan(const DecodeSizes &sizes, const Target &target,
                            std::optional<int64_t> splits = std::nullopt);

} // namespace xc::cuda

#endif // XC_CODEGEN_CUDA_ATTENTION_DECODEMODEL_H
