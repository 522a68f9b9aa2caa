//===- SizedOps.h - What ops with sizes(...) share -*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_DIALECT_ARRAY_IR_SIZEDOPS_H
#define XC_DIALECT_ARRAY_IR_SIZEDOPS_H

#include "compiler/Dialect/Array/IR/ArrayOps.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"

namespace xc::array {

/// Checks that there is a size for each `?` of the result, and that the op could have such a
/// result.
mlir::LogicalResult verifySized(ArraySizedOpInterface op, bool mayInferOne = false);

mlir::LogicalResult reifySized(ArraySizedOpInterface op, mlir::ReifiedRankedShapedTypeDims &shapes);

/// Moves sizes that are constants into the result type. A cast keeps the type
/// that the users know.
template <typename OpTy> struct RefineResultType : mlir::OpRewritePattern<OpTy> {
  using mlir::OpRewritePattern<OpTy>::OpRewritePattern;

  mlir::LogicalResult matchAndRewrite(OpTy op, mlir::PatternRewriter &rewriter) const override {
    llvm::SmallVector<mlir::Value> sizes;
    mlir::RankedTensorType type = op.getType();
    mlir::RankedTensorType refined = refineSizedType(op, sizes);
    if (refined == type)
      return rewriter.notifyMatchFailure(op, "no further dim is known");
    rewriter.modifyOpInPlace(op, [&] {
      op.getSizesMutable().assign(sizes);
      op.getResult().setType(refined);
    });
    rewriter.setInsertionPointAfter(op);
    auto cast = mlir::tensor::CastOp::create(rewriter, op.getLoc(), type, op.getResult());
    rewriter.replaceAllUsesExcept(op.getResult(), cast, cast);
    return mlir::success();
  }
};

} // namespace xc::array

#endif // XC_DIALECT_ARRAY_IR_SIZEDOPS_H
