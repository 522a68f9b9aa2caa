//===- AttentionSteps.h - What attention is made of -*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_DIALECT_ARRAY_IR_ATTENTIONSTEPS_H
#define XC_DIALECT_ARRAY_IR_ATTENTIONSTEPS_H

#include "compiler/Dialect/Array/IR/AttentionGradientOp.h"
#include "compiler/Dialect/Array/IR/ExpressionBuilder.h"
#include "compiler/Dialect/Array/IR/Requirements.h"
#include "compiler/Dialect/Array/IR/ShapeRules.h"

namespace xc::array {

/// Operands and attributes of `array.attention`, or of a part of one that is no op of its own.
struct AttentionInputs {
  AttentionInputs(AttentionOp op) : AttentionInputs(op, op.getWithLogsumexp()) {}
  AttentionInputs(AttentionGradientOp op) : AttentionInputs(op, /*hasLogsumexp=*/false) {}

  mlir::RankedTensorType getQueryType() const {
    return llvm::cast<mlir::RankedTensorType>(query.getType());
  }
  mlir::RankedTensorType getKeyType() const {
    return llvm::cast<mlir::RankedTensorType>(key.getType());
  }
  /// The dim of queries, or of keys and values.
  int64_t getLengthDim() const { return getQueryType().getRank() - 2; }

  /// Null where there is none: mask, offset and sinks.
  mlir::Value query, key, value, mask, offset, sinks;
  /// Where it is not null, keys before it are hidden, too.
  mlir::Value firstKey;
  bool isCausal, hasLogsumexp;
  std::optional<int64_t> window;
  std::optional<double> softcap;
  double scale;

private:
  template <typename Op>
  AttentionInputs(Op op, bool hasLogsumexp)
      : query(op.getQuery()), key(op.getKey()), value(op.getValue()), mask(op.getMask()),
        offset(op.getOffset()), sinks(op.getSinks()), isCausal(op.getCausal()),
        hasLogsumexp(hasLogsumexp), scale(op.getScale().convertToDouble()) {
    if (op.getWindow())
      window = static_cast<int64_t>(*op.getWindow());
    if (op.getSoftcap())
      softcap = op.getSoftcap()->convertToDouble();
  }
};

/// The shape of attention's result. Mask and sinks may be null.
mlir::FailureOr<Dims> inferAttention(const RuleContext &rule, mlir::Value query, mlir::Value key,
                                     mlir::Value value, mlir::Value mask, mlir::Value sinks);
/// Checks a number of query heads, and one of the key heads that share them evenly.
mlir::LogicalResult checkHeads(const RuleContext &rule, int64_t heads, int64_t groups);
/// Checks what `inferAttention` does not: types of mask and sinks, and what `op` says beside
/// 'causal'.
mlir::LogicalResult verifyAttention(mlir::Operation *op, const AttentionInputs &inputs);
/// Requires of the operands of some attention that they agree.
void requireAttention(const AttentionInputs &inputs, RequirementBuilder &requirements);

/// The steps of attention, for its value and for its gradient. Heads are split into the key heads
/// and the query heads that share one, if there are several: `[..., G, H / G, Q, D]`.
class AttentionSteps {
public:
  AttentionSteps(const AttentionInputs &inputs, mlir::OpBuilder &builder, mlir::Location location)
      : in(inputs), e(builder, location), location(location) {
    batch = in.getQueryType().getRank() - 3;
    heads = in.getQueryType().getDimSize(batch);
    groups = in.getKeyType().getDimSize(batch);
  }

  ExpressionBuilder &getBuilder() { return e; }
  /// `query`, or something of its heads, with the heads split.
  mlir::Value split(mlir::Value value);
  /// The opposite.
  mlir::Value merge(mlir::Value value);
  /// `key` or `value` as one that is broadcast to the query heads.
  mlir::Value share(mlir::Value value) {
    return isGrouped() ? e.make<ExpandDimsOp>(value, batch + 1) : value;
  }
  /// The sum of a gradient over the query heads that share a key head.
  mlir::Value unshare(mlir::Value value) {
    return isGrouped() ? e.reduce(ReduceKind::Sum, value, batch + 1, /*keepdims=*/false) : value;
  }
  mlir::Value product(mlir::Value lhs, mlir::Value rhs, bool transposeA, bool transposeB);
  /// What the softmax is made of, in f32 or f64: exp(scores - maximum), 0 where a key is hidden;
  /// the maximum, or 0 where no key is seen; the sink's exp(score - maximum), if there is one; and
  /// the sums of all of those exponentials over the keys.
  struct Weights {
    mlir::Value exponentials, maximum, sink, sums;
  };
  Weights buildWeights();
  /// Products of queries and keys, scaled, with the mask; minus infinity where a key is hidden. Of
  /// split heads, in f32 or f64.
  mlir::Value buildScores();
  /// What the products get of `toScores`, which goes to the scores that were built.
  mlir::Value flowToProducts(mlir::Value toScores);
  /// The sinks as scores of one more key, in `element`: [H, 1, 1] with split heads.
  mlir::Value buildSinkScores(mlir::Type element);
  /// The sums with 1 for 0, to divide by.
  mlir::Value makeDivisor(mlir::Value sums) {
    mlir::Value none = e.compare(CompareDirection::Eq, sums, e.scalar(0, sums));
    return e.select(none, e.scalar(1, sums), sums);
  }
  /// The attention, and its logsumexp if that is asked for, in the element types of the op's
  /// results.
  llvm::SmallVector<mlir::Value> buildResults();

private:
  bool isGrouped() const { return heads != groups; }
  mlir::Value buildCausalMask();

  AttentionInputs in;
  ExpressionBuilder e;
  mlir::Location location;
  int64_t batch, heads, groups;
  mlir::Value capped; ///< the hyperbolic tangent that limits scores; null where nothing does
};

/// Attention as a loop over blocks of queries, as large as leaves at most `maxScores` scores at
/// once but not below 64 queries. Sizes that are not known are those that inputs are bound with.
/// The results are in the element types of the op's.
llvm::SmallVector<mlir::Value> buildBlocks(const AttentionInputs &in, mlir::OpBuilder &builder,
                                           mlir::Location location, int64_t maxScores);

/// Cotangents of the operands of some attention, in their order, given those of its result and
/// logsumexp (which may be null); null for those that have none.
using BuildAttentionVjp = llvm::function_ref<llvm::SmallVector<mlir::Value>(
    const AttentionInputs &inputs, mlir::Value toResult, mlir::Value toLogsumexp)>;

/// The cotangents of all operands, over the same blocks, each as one of `buildBlock`'s; in f32 at
/// least.
llvm::SmallVector<mlir::Value> buildVjpOfBlocks(const AttentionInputs &in, mlir::OpBuilder &builder,
                                                mlir::Location location, int64_t maxScores,
                                                mlir::Value toResult, mlir::Value toLogsumexp,
                                                BuildAttentionVjp buildBlock);

/// How many queries, and keys, a block is to have where those that no query of a block sees are
/// left out; none where no keys are hidden, or not as many scores may be held at once.
std::optional<int64_t> chooseVisibleBlock(const AttentionInputs &in, int64_t maxScores);

/// The same as of `buildBlocks` in such blocks, where there are at least `block` queries and keys.
llvm::SmallVector<mlir::Value> buildVisibleBlocks(const AttentionInputs &in,
                                                  mlir::OpBuilder &builder, mlir::Location location,
                                                  int64_t block);
llvm::SmallVector<mlir::Value> buildVjpOfVisibleBlocks(const AttentionInputs &in,
                                                       mlir::OpBuilder &builder,
                                                       mlir::Location location, int64_t block,
                                                       mlir::Value toResult,
                                                       mlir::Value toLogsumexp);

/// The sums of `values` over all dims but `head`, as a value of `type`.
mlir::Value sumPerHead(ExpressionBuilder &e, mlir::Value values, int64_t head, mlir::Type type);

/// What a sink, `share` of whose row it takes, gets of `row`, the sum over the row of weights times
/// their cotangents. Both have split heads.
mlir::Value buildSinkGradient(mlir::Value sinks, AttentionSteps &steps, mlir::Value share,
                              mlir::Value row);

} // namespace xc::array

#endif // XC_DIALECT_ARRAY_IR_ATTENTIONSTEPS_H
