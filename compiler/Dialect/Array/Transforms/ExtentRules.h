//===- ExtentRules.h - Ops on bounded dynamic values -------------*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each op with an operand that has bounded dynamic dims has a rule, which builds the op on arrays
// and says which extents its results have. Rules are in four files, and each file hands ops that
// are none of its own on to the next; the last one refuses them:
//   ExtentRules.cpp        elementwise ops, reductions, scans, sorts, products
//   ExtentWindowRules.cpp  convolutions and reductions of windows
//   ExtentShapeRules.cpp   sizes, views, joins, and the ops that make and unmake extents
//   ExtentIndexRules.cpp   elements and slices at positions that are data
//
//===----------------------------------------------------------------------===//

#ifndef XC_DIALECT_ARRAY_TRANSFORMS_EXTENTRULES_H
#define XC_DIALECT_ARRAY_TRANSFORMS_EXTENTRULES_H

#include "compiler/Dialect/Array/Transforms/BoundedValues.h"

namespace xc::array {

/// Applies the rule of `op`, whichever it is.
mlir::LogicalResult applyExtentRule(BoundedValues &bounded, mlir::Operation *op);
mlir::LogicalResult applyWindowRule(BoundedValues &bounded, mlir::Operation *op);
mlir::LogicalResult applyShapeRule(BoundedValues &bounded, mlir::Operation *op);
mlir::LogicalResult applyIndexRule(BoundedValues &bounded, mlir::Operation *op);

/// Zeros for the elements of `operands` behind an extent along dims `lhs` of the first and `rhs` of
/// the second one, over which `op` sums products of theirs.
mlir::LogicalResult maskContracted(BoundedValues &bounded, mlir::Operation *op,
                                   llvm::ArrayRef<int64_t> lhs, llvm::ArrayRef<int64_t> rhs,
                                   llvm::SmallVectorImpl<mlir::Value> &operands);

/// The sizes of a sized op's result, of which some are bounded dynamic ones.
struct ResultShape {
  mlir::RankedTensorType type;
  llvm::SmallVector<mlir::Value> sizes;
  Extents extents;
};
mlir::FailureOr<ResultShape> getResultShape(BoundedValues &bounded, ArraySizedOpInterface op);

/// What changes nothing in such a reduction.
mlir::TypedAttr getNeutral(mlir::OpBuilder &builder, ReduceKind kind, mlir::Type element);
/// The smallest and the largest number of `type`, infinities included.
mlir::TypedAttr getLowest(mlir::Type type);
mlir::TypedAttr getHighest(mlir::Type type);

} // namespace xc::array

#endif // XC_DIALECT_ARRAY_TRANSFORMS_EXTENTRULES_H
