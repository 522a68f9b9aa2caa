//===- Recognizers.h - Ops that programs write in smaller ones -*- C++ -*--===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A recognizer looks at one op, the last of a pattern, and gives what replaces its result, or null;
// or also what replaces other values. It builds nothing unless it matches. Ops in between have no
// users outside of the pattern.
//
//===----------------------------------------------------------------------===//

#ifndef XC_DIALECT_ARRAY_TRANSFORMS_RECOGNIZERS_H
#define XC_DIALECT_ARRAY_TRANSFORMS_RECOGNIZERS_H

#include "compiler/Dialect/Array/IR/ExpressionBuilder.h"
#include "compiler/Dialect/Array/Transforms/Views.h"

namespace xc::array {

/// What takes the place of values.
struct Replacement {
  Replacement() = default;
  Replacement(mlir::Value value) {
    if (value)
      results.push_back(value);
  }
  Replacement(mlir::ValueRange values) : results(values.begin(), values.end()) {}

  /// Of the results of the root, in order. Empty where it has not been matched, or others alone are
  /// replaced.
  llvm::SmallVector<mlir::Value> results;
  /// Other values, and what replaces them: each of them the only result of its op.
  llvm::SmallVector<std::pair<mlir::Value, mlir::Value>> others;
};

/// `exp(x - m) / sum(exp(x - m))` with a maximum m: array.softmax.
mlir::Value recognizeSoftmax(mlir::Operation *root, ExpressionBuilder &e);
/// `softmax(q * k^T * scale + mask) * v`: array.attention.
mlir::Value recognizeAttention(mlir::Operation *root, ExpressionBuilder &e);
/// What flows through a softmax in other terms than its weights: in these.
mlir::Value recognizeSoftmaxGradient(mlir::Operation *root, ExpressionBuilder &e);
/// Products for what queries, keys and values get through `softmax(q * k^T)`:
/// array.attention_gradient.
Replacement recognizeAttentionGradient(mlir::Operation *root, ExpressionBuilder &e, bool mma);
/// Attention, or its gradient, whose keys and values are repeated for each query head: with fewer
/// heads.
Replacement recognizeSharedHeads(mlir::Operation *root, ExpressionBuilder &e);
/// Attention, or its gradient, whose mask, or a part of it, says that no query sees later keys:
/// `causal`, `window`.
Replacement recognizeCausalMask(mlir::Operation *root, ExpressionBuilder &e);

/// `d / sqrt(mean(d * d) + epsilon)`: array.layer_norm or array.rms_norm, without scale and bias.
mlir::Value recognizeNorm(mlir::Operation *root, ExpressionBuilder &e);
/// A norm's product, or sum, with a vector: its scale, or bias.
mlir::Value recognizeNormScale(mlir::Operation *root, ExpressionBuilder &e);
/// A gather whose index vectors count all dims but one: array.take_along_axis.
mlir::Value recognizeBatchedGather(mlir::Operation *root, ExpressionBuilder &e);
/// A scatter of one update for each row into a constant: a choice for each element.
mlir::Value recognizeBatchedScatter(mlir::Operation *root, ExpressionBuilder &e);
/// The gradient of a pool over an image that was padded before: a pool that pads.
mlir::Value recognizePoolGradient(mlir::Operation *root, ExpressionBuilder &e);
/// The sum of distances from a mean, times numbers for each row: zeros.
mlir::Value recognizeDistanceSum(mlir::Operation *root, ExpressionBuilder &e);
/// The sum of something times numbers for each row, where its own sum is there: these times that.
mlir::Value recognizeScaledSum(mlir::Operation *root, ExpressionBuilder &e);
/// An expression that has the values of GELU or SiLU: array.gelu, array.silu.
mlir::Value recognizeFunction(mlir::Operation *root, ExpressionBuilder &e);
/// Halves of the last dim that are joined as those of a rotation: without slices and a join.
mlir::Value recognizeRotation(mlir::Operation *root, ExpressionBuilder &e);
/// `x * c + [-b, a] * s` of the halves `a` and `b` of `x`, likewise.
mlir::Value recognizeRotary(mlir::Operation *root, ExpressionBuilder &e);
/// A chain of reshapes, transposes, slices and takes: at most one of each that matters.
mlir::Value recognizeMovement(mlir::Operation *root, ExpressionBuilder &e);

/// Whether a mask that keeps scores where it is true, or false, leaves a key to each query. Its
/// last dims are the queries and keys.
bool doesEachQuerySeeAKey(const View &mask, bool keepsTrue, int64_t queries, int64_t keys);

/// From here on a score of attention is as good as hidden.
inline constexpr double kHidden = -1000;

/// The ops of a pattern, with which they may go.
class MatchedOps {
public:
  void add(mlir::Operation *op) { ops.insert(op); }
  void add(llvm::ArrayRef<mlir::Operation *> more) { ops.insert(more.begin(), more.end()); }
  void add(const MatchedOps &more) { ops.insert(more.ops.begin(), more.ops.end()); }
  /// Whether only `root` and these ops use these ops, but for those that convert `operand`.
  bool areUsedBy(mlir::Operation *root, mlir::Value operand = {}) const {
    return llvm::all_of(ops, [&](mlir::Operation *op) {
      if (operand && llvm::isa<ConvertOp>(op) && op->getOperand(0) == operand)
        return true;
      return llvm::all_of(op->getUsers(), [&](mlir::Operation *user) {
        return user == root || ops.contains(user);
      });
    });
  }

  bool contains(mlir::Operation *op) const { return ops.contains(op); }
  auto begin() const { return ops.begin(); }
  auto end() const { return ops.end(); }

private:
  llvm::SmallPtrSet<mlir::Operation *, 16> ops;
};

} // namespace xc::array

#endif // XC_DIALECT_ARRAY_TRANSFORMS_RECOGNIZERS_H
