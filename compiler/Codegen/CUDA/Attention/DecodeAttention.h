//===- DecodeAttention.h - How attention of few queries is shared -*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_CODEGEN_CUDA_ATTENTION_DECODEATTENTION_H
#define XC_CODEGEN_CUDA_ATTENTION_DECODEATTENTION_H

#include "compiler/Codegen/CUDA/IR/AttentionConfig.h"
#include "compiler/Codegen/CUDA/SelectStrategy.h"
#include "compiler/Dialect/Kernel/IR/AttentionDecodeOp.h"

namespace xc::cuda {

/// Keys that a warp works on at a time: the depth of an mma.sync of 16-bit types, of two of TF32.
constexpr int64_t kDecodeKeys = 16;

/// What attention reads and how much of it there is.
struct DecodeSizes {
  int64_t heads;     // of keys, of all sequences, each once for every `blockRows` queries
  bool isAnyBatch;   // how many sequences there are is not known: `heads` are those of one
  int64_t keys;      // that a sequence has room for; -1 where that is not known
  int64_t rows;      // queries of a head of keys
  int64_t blockRows; // those of a block: 8 or 16; others are another block's
  int64_t vector, result;
  int64_t elementBytes; // of queries, keys and values
};

/// Those of attention of `query` to `key` and `value`, pages of them with a `table`.
DecodeSizes getDecodeSizes(mlir::ShapedType query, mlir::ShapedType key, mlir::ShapedType value,
                           mlir::ShapedType table = {});
DecodeSizes getDecodeSizes(kernel::AttentionDecodeOp op);

/// Elements that vectors of keys and values are multiples of.
inline constexpr int64_t kDecodeVectorStep = 4;

/// Whether `target` has a kernel for such sizes; null stands for a CPU.
bool hasDecodeKernel(const DecodeSizes &sizes, std::optional<int64_t> window, const Target *target);

/// Emit a kernel that `op` makes the outputs of.
mlir::LogicalResult emitDecodeAttention(const KernelInfo &kernel, kernel::AttentionDecodeOp op,
                                        AttentionDecodeAttr config);
mlir::LogicalResult emitCombineAttention(const KernelInfo &kernel, kernel::AttentionCombineOp op,
                                         AttentionCombineAttr config);

} // namespace xc::cuda

#endif // XC_CODEGEN_CUDA_ATTENTION_DECODEATTENTION_H
