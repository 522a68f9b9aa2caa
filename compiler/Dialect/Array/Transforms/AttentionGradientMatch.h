//===- AttentionGradientMatch.h - Attention's gradient in products -*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_DIALECT_ARRAY_TRANSFORMS_ATTENTIONGRADIENTMATCH_H
#define XC_DIALECT_ARRAY_TRANSFORMS_ATTENTIONGRADIENTMATCH_H

#include "compiler/Dialect/Array/Transforms/AttentionPattern.h"
#include "compiler/Dialect/Array/Transforms/SoftmaxGradient.h"

namespace xc::array {

/// A choice of 0 where scores have been hidden.
struct ClearedScores {
  View predicate; ///< the gradient's dims in its own
  bool keepsTrue = true;
  bool isSeen = false; ///< of what hides scores: whether it is known to leave a key to each query
};

/// A product of weights, or of their gradient, and what it is in the pattern.
struct ProductUse {
  Product product;
  Application application;
  mlir::Value result; ///< of the product, or what has been scaled behind it
  double scale = 1;   ///< above and below the product
  llvm::SmallVector<ClearedScores> cleared;
  mlir::Operation *getOp() const { return product.result.getDefiningOp(); }
};

/// What queries, keys, values and a mask get through scores, or some of them, and the result
/// beside.
class GradientMatch {
public:
  GradientMatch(ExpressionBuilder &e, bool mma) : e(e), mma(mma) {}
  Replacement recognize(mlir::Operation *root);

private:
  bool match(mlir::Operation *root);
  bool findUses(mlir::Value of, bool isGradient);
  bool addUse(mlir::Operation *op, mlir::Value of, bool isGradient);
  bool addMaskSum(mlir::Operation *op);
  bool isOfMask() const;
  bool matchCotangent();
  bool hasCotangent() const;
  bool sortUses();
  bool areScaledAlike();
  llvm::SmallVector<ClearedScores> findChoices() const;
  bool areHiddenAlike();
  bool isSeen(const Mask &mask) const;
  bool hasSingleVectors() const;
  bool hasTypes();
  bool isUsedAlone() const;
  mlir::Operation *findPlace() const;
  mlir::Value takeHiddenRows(mlir::Value &toResult, mlir::Value values);
  Replacement build(mlir::Operation *root);

  ExpressionBuilder &e;
  bool mma; ///< whether some target has kernels of matrix instructions
  std::optional<SoftmaxGradient> softmax;
  mlir::Value toScores; ///< the result of the softmax's gradient
  MatchedOps ops;
  std::optional<Scores> scores;
  std::optional<AttentionOperands> operands;
  llvm::SmallVector<ProductUse, 2> ofWeights, ofGradient;
  /// Of dp: dy, and its dims by role; v likewise.
  mlir::Value cotangent, value;
  llvm::SmallVector<int64_t> cotangentDims, valueDims;
  int64_t cotangentFeatures = View::kNone, valueFeatures = View::kNone;
  ProductUse *forward = nullptr, *toValue = nullptr, *toQuery = nullptr, *toKey = nullptr;
  mlir::Value maskSum;                  ///< what an added mask gets, if the program computes it
  llvm::SmallVector<int64_t> maskRoles; ///< of each of its dims
  bool isQueryScaled = false, isKeyScaled = false; ///< before their product, and behind it
  bool hasHiddenRows = false;                      ///< through which nothing flows
};

} // namespace xc::array

#endif // XC_DIALECT_ARRAY_TRANSFORMS_ATTENTIONGRADIENTMATCH_H
