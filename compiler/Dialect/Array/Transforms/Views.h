//===- Views.h - Which dims of a tensor another one shows -*- C++ -*-------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Exporters put transposes, dims of size 1 and broadcasts between the ops that a pattern is made
// of. A view looks through them. Dims of size 1 say nothing and are not followed.
//
//===----------------------------------------------------------------------===//

#ifndef XC_DIALECT_ARRAY_TRANSFORMS_VIEWS_H
#define XC_DIALECT_ARRAY_TRANSFORMS_VIEWS_H

#include "compiler/Dialect/Array/IR/ExpressionBuilder.h"

namespace xc::array {

/// What a view may look through beside ops that move dims.
struct Through {
  bool broadcasts = false; ///< ops that repeat dims
  bool converts = false;   ///< conversions between floats
};
/// Through repeats and conversions.
inline constexpr Through kRepeats{/*broadcasts=*/true, /*converts=*/true};

/// A tensor as a view of `source`: its dim `i` is dim `dims[i]` of that, or `kNone`: of size 1, or
/// repeated.
struct View {
  static constexpr int64_t kNone = -1;

  /// `value` as a view of itself.
  static View of(mlir::Value value);
  /// `value` as a view of the first tensor that no op moved dims of; `passed` gets those ops.
  static View of(mlir::Value value, Through through,
                 llvm::SmallVectorImpl<mlir::Operation *> *passed = nullptr);

  /// Looks through one op; false, and as it was, if `source` is made by none that `through`
  /// permits.
  bool step(Through through);
  /// Moves on to `next`, whose dim `map[d]` dim `d` of `source` is.
  void follow(mlir::Value next, llvm::ArrayRef<int64_t> map);
  /// The view with `kNone` in front, up to `rank` dims: as operands of elementwise ops broadcast.
  View alignedTo(int64_t rank) const;
  /// The place of dim `dim` of `source` in `dims`; kNone where there is none.
  int64_t find(int64_t dim) const;

  mlir::Value source;
  llvm::SmallVector<int64_t> dims;
};

/// The number that all elements of `value` are: a constant, moved, converted or repeated.
std::optional<double> getSplat(mlir::Value value);

/// For each dim of what is left of `rank` dims when `axes` are reduced, the dim that it was: kNone
/// for those that have been kept with size 1.
llvm::SmallVector<int64_t> getReducedDims(int64_t rank, llvm::ArrayRef<int64_t> axes,
                                          bool keepdims);

/// `value` with its dims `order`; those that are not named have size 1 and go.
mlir::Value arrange(mlir::Value value, llvm::ArrayRef<int64_t> order, ExpressionBuilder &e);

} // namespace xc::array

#endif // XC_DIALECT_ARRAY_TRANSFORMS_VIEWS_H
