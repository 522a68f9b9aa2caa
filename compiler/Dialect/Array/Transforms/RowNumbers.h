//===- RowNumbers.h - A number for each row and how it was computed -*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_DIALECT_ARRAY_TRANSFORMS_ROWNUMBERS_H
#define XC_DIALECT_ARRAY_TRANSFORMS_ROWNUMBERS_H

#include "compiler/Dialect/Array/Transforms/Recognizers.h"
#include "compiler/Dialect/Array/Transforms/Views.h"

namespace xc::array {

/// Follows how a number for each row was computed. Its view is in the dims of the rows.
class RowNumber {
public:
  /// `value` as an elementwise op with a tensor of `rank` dims reads it.
  RowNumber(mlir::Value value, int64_t rank, MatchedOps &ops);

  template <typename OpTy> OpTy as() const {
    return isValid ? view.source.getDefiningOp<OpTy>() : OpTy();
  }
  /// Goes on with `operand`, an operand of the op at hand that is as large as its result.
  void moveTo(mlir::Value operand);
  /// What it is the mean of over `axes`, which are in order; null if it is none.
  mlir::Value takeMean(llvm::SmallVectorImpl<int64_t> &axes);

private:
  void look();

  MatchedOps &ops;
  View view;
  bool isValid;
};

/// `value` as it was before conversions between floats.
mlir::Value skipConverts(mlir::Value value, MatchedOps &ops);

} // namespace xc::array

#endif // XC_DIALECT_ARRAY_TRANSFORMS_ROWNUMBERS_H
