//===- Attention.h - Attention as several importers make it ---*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_INPUT_ONNX_ATTENTION_H
#define XC_INPUT_ONNX_ATTENTION_H

#include "compiler/Input/ONNX/NodeImport.h"

namespace xc::onnx {

/// Operands of [batch, heads, places, size].
struct AttentionParts {
  mlir::Value query, key, value;
  mlir::Value mask = nullptr;   // of truth values or of floats that are added; null: none
  mlir::Value offset = nullptr; // of a causal mask, rank 0; null: 0
  bool isCausal = false;
  double scale = 0;   // 0: one over the root of the size
  double softcap = 0; // what scores are limited to; 0: nothing
};

/// What scores are scaled by; an error where it follows from a size that is not known.
double getScale(NodeImport &n, const AttentionParts &parts);

/// `softmax(query * key^T * scale + mask) * value`, of scores that are limited before the mask.
mlir::Value attend(NodeImport &n, const AttentionParts &parts);

/// [batch, places, heads * size] as [batch, heads, places, size], and back.
mlir::Value splitHeads(NodeImport &n, mlir::Value x, int64_t heads);
mlir::Value joinHeads(NodeImport &n, mlir::Value x);

/// Rotates pairs of the first \p size features of \p x, [batch, heads, places, features]; `cosine`
/// and `sine` broadcast against [batch, places, size / 2].
mlir::Value rotate(NodeImport &n, mlir::Value x, mlir::Value cosine, mlir::Value sine, int64_t size,
                   bool isInterleaved);

Results importAttention(NodeImport &n);
Results importGroupQueryAttention(NodeImport &n);
Results importRotaryEmbedding(NodeImport &n);

} // namespace xc::onnx

#endif // XC_INPUT_ONNX_ATTENTION_H
