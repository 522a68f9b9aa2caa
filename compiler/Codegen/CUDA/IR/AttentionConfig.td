//===- AttentionConfig.td - Configurations of attention on mma.sync -------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Few files need these, so they have a header of their own: AttentionConfig.h.
//
//===----------------------------------------------------------------------===//

#ifndef XC_ATTENTION_CONFIG_TD
#define XC_ATTENTION_CONFIG_TD

include "compiler/Codegen/CUDA/IR/CUDAConfigBase.td"

def CUDA_AttentionMMAAttr : CUDA_Config<"AttentionMMA", "attention_mma", "attention-mma", 1> {
  let summary = "Attention in one kernel on mma.sync, scores in registers";
  let description = [{
    A block has 64 queries for each of `warpgroups` times four warps, and goes over blocks of `keys` keys, which `cp.async` brings to shared
    memory, `stages` of them in turn. With `held_queries`, queries stay in registers; else products read them from shared memory. Blocks
    of `raster` heads run together. Example: `#cuda.attention_mma<warpgroups = 2, keys = 64, stages = 2, held_queries = 1, raster = 1>`.
  }];
  let parameters = (ins "int64_t":$warpgroups, "int64_t":$keys, "int64_t":$stages, "int64_t":$held_queries, "int64_t":$raster);
}

def CUDA_AttentionDecodeAttr : CUDA_Config<"AttentionDecode", "attention_decode", "attention-decode", 1> {
  let summary = "Attention of few queries on mma.sync, all operands in registers";
  let description = [{
    `warps` warps of a block, and the `cluster` blocks of a cluster, share the keys of a head, 16 at a time, and join what they have seen
    at the end. Threads take as many registers as leave a multiprocessor room for `blocks` blocks. Example:
    `#cuda.attention_decode<warps = 8, cluster = 4>`.
  }];
  let parameters = (ins "int64_t":$warps, DefaultValuedParameter<"int64_t", "1">:$cluster,
                        DefaultValuedParameter<"int64_t", "1">:$blocks);
}

def CUDA_AttentionCombineAttr : CUDA_Config<"AttentionCombine", "attention_combine", "attention-combine", 1> {
  let summary = "Threads combine four elements each of the results of attention to some keys each";
  let description = [{
    Example: `#cuda.attention_combine<threads = 128>`.
  }];
  let parameters = (ins "int64_t":$threads);
}

#endif // XC_ATTENTION_CONFIG_TD
