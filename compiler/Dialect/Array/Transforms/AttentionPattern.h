//===- AttentionPattern.h - What small ops of attention are made of -*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Roles are the dims of the first product's result, the scores, by number. By all products they are
// - batch dims, which queries, keys and values have; the last of them are heads of keys;
// - dims of the queries alone: the last is the queries' own, others are heads that share keys;
// - the dim of keys, which the second product sums over.
// Dims of size 1 are none of these. They are left out, and put back into results.
//
//===----------------------------------------------------------------------===//

#ifndef XC_DIALECT_ARRAY_TRANSFORMS_ATTENTIONPATTERN_H
#define XC_DIALECT_ARRAY_TRANSFORMS_ATTENTIONPATTERN_H

#include "compiler/Dialect/Array/Transforms/Recognizers.h"
#include "compiler/Dialect/Array/Transforms/Views.h"

namespace xc::array {

/// A product, with the dims that are summed over in pairs.
struct Product {
  /// Nothing if `op` is none, or one that may take fewer bits of its operands.
  static std::optional<Product> of(mlir::Operation *op);

  mlir::Value operands[2], result;
  llvm::SmallVector<std::array<int64_t, 2>> contract;
  /// For each dim of the result that of each operand, or View::kNone.
  llvm::SmallVector<std::array<int64_t, 2>> dims;
};

/// What scores get before the softmax.
struct Mask {
  /// Truth values (the predicate of a choice) or numbers that are added.
  mlir::Value value;
  bool keepsTrue = true; ///< of truth values: scores stay where it is true
  double hidden = 0;     ///< of truth values: what the others become
  double factor = 1;     ///< what is multiplied with afterwards
  View weights = {};     ///< the softmax's dims in those of the scores that it is put on
};

/// The way from a softmax up to the product of queries and keys.
struct Scores {
  /// Goes up from `softmax`, of whose result `weights` is a view; `ops` gets what is passed.
  static std::optional<Scores> above(SoftmaxOp softmax, View weights, MatchedOps &ops);

  View weights; ///< `weights` as a view of that product
  double scale = 1;
  std::optional<double> softcap = {}; ///< what a hyperbolic tangent limits scaled scores to
  llvm::SmallVector<Mask> masks;
  Product product;
};

/// Looks up through one scale, by a number; what it is applied to, or null.
mlir::Value matchScale(mlir::Operation *op, double &scale);

/// A product of something in the scores' dims with what is not.
struct Application {
  static constexpr int64_t kFeatures = -2;
  /// `scores` is operand `side` as a view of what has the roles as its dims.
  static std::optional<Application> of(const Product &product, int side, const View &scores);

  mlir::Value factor;
  llvm::SmallVector<int64_t> factorDims; ///< of each role, or View::kNone
  int64_t features = View::kNone;        ///< the factor's dim that is no role
  llvm::SmallVector<int64_t> summed;     ///< roles
  /// Of each dim of the result its role, kFeatures, or View::kNone where it has size 1.
  llvm::SmallVector<int64_t> resultRoles;
};

/// Attention's operands, as the op wants them, out of products.
class AttentionOperands {
public:
  AttentionOperands(const Scores &scores, ExpressionBuilder &e) : scores(scores), e(e) {}

  /// Sorts roles. `valueDims` are those of the values by role; `keys` is the softmax's dim in what
  /// the weights are a view of. False if this is no attention.
  bool assignRoles(int64_t keys, llvm::ArrayRef<int64_t> valueDims);
  llvm::ArrayRef<int64_t> getBatch() const { return batch; }
  llvm::ArrayRef<int64_t> getQueries() const { return queries; }
  int64_t getKeys() const { return keys; }
  /// All of them in the order of a mask's dims: batch, queries, keys.
  llvm::SmallVector<int64_t> getRoles() const;
  /// Whether roles are dims of the op as they are.
  bool hasOneHeadDim() const { return getNumHeadDims() == 1 && !queries.empty(); }
  /// Which operand of the first product the queries are.
  int getQuerySide() const { return querySide; }
  mlir::Value getQuery() const { return scores.product.operands[querySide]; }
  mlir::Value getKey() const { return scores.product.operands[1 - querySide]; }
  /// The mask's dims by the roles.
  View viewMask(const Mask &mask) const;

  /// `value`, which has dims `dims` by role, as `[batch, heads, queries, features]`.
  mlir::Value arrangeQueries(mlir::Value value, llvm::ArrayRef<int64_t> dims, int64_t features);
  /// As `[batch, heads of keys, keys, features]`.
  mlir::Value arrangeKeys(mlir::Value value, llvm::ArrayRef<int64_t> dims, int64_t features);
  /// All masks as one; null where there is none.
  mlir::Value buildMask();
  /// The truth values of all masks that have some: true where a query sees a key.
  mlir::Value buildSeen();
  /// The other way round: `value`, as arranged above, in dims of `resultRoles`.
  mlir::Value restoreQueries(mlir::Value value, llvm::ArrayRef<int64_t> resultRoles);
  mlir::Value restoreKeys(mlir::Value value, llvm::ArrayRef<int64_t> resultRoles);

  /// Of a mask with one dim of heads.
  mlir::Value restoreMask(mlir::Value value, llvm::ArrayRef<int64_t> resultRoles);

  /// The dims of an operand of the first product by role.
  llvm::SmallVector<int64_t> getDims(int side) const;

private:
  bool hasMaskOfSomeHeads() const;
  /// Dims that one op has for them: heads of keys, then those that share one.
  int64_t getNumHeadDims() const {
    return queries.size() - !queries.empty() + (!batch.empty() && !isShared);
  }
  int64_t getFirstHeadDim() const { return batch.size() - (!batch.empty() && !isShared); }
  int64_t sizeOf(int64_t role) const;
  mlir::Value placeMask(const Mask &mask);

  const Scores &scores;
  ExpressionBuilder &e;
  int querySide = 0;
  llvm::SmallVector<int64_t> batch, queries; ///< in order; the last of the queries is their own
  int64_t keys = View::kNone;
  bool isShared = false; ///< all heads share one of the keys, and all batch dims are in front
};

/// What scales, put on `value` before its dims were moved, multiply it with.
double findScale(mlir::Value value);
/// `value` without them.
mlir::Value dropScale(mlir::Value value, ExpressionBuilder &e);

/// Whether `value` has elements of `element`, or is rounded to it wherever it is used.
bool isRoundedTo(mlir::Value value, mlir::Type element);

/// Attention, or its gradient to queries, keys and values, as nothing has been added to it yet.
struct AttentionForm {
  static std::optional<AttentionForm> of(mlir::Operation *op);
  /// The results of one of the same kind.
  mlir::ValueRange build(ExpressionBuilder &e) const;

  mlir::Value query, key, value;
  mlir::Value cotangent; ///< null of attention itself
  mlir::Value logsumexpCotangent;
  mlir::Value mask, offset, sinks;
  bool isCausal = false;
  mlir::IntegerAttr window;
  mlir::FloatAttr softcap, scale;
};

} // namespace xc::array

#endif // XC_DIALECT_ARRAY_TRANSFORMS_ATTENTIONPATTERN_H
