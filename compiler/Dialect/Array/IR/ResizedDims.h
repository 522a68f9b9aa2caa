//===- ResizedDims.h - Shapes in which some dims have other sizes -===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_DIALECT_ARRAY_IR_RESIZEDDIMS_H
#define XC_DIALECT_ARRAY_IR_RESIZEDDIMS_H

#include "compiler/Dialect/Array/IR/ExpressionBuilder.h"

namespace xc::array {

/// The type of `operand` with dims `axes`, which are not known to be empty, of `sizes`. One below
/// `least` is the error `expectation`.
mlir::LogicalResult inferResized(const RuleContext &rule, mlir::Type operand,
                                 llvm::ArrayRef<int64_t> axes, llvm::ArrayRef<int64_t> sizes,
                                 int64_t least, llvm::StringRef expectation,
                                 llvm::SmallVectorImpl<mlir::Type> &inferred);

/// The sizes of the result of `op`, whose type was inferred like that.
mlir::LogicalResult reifyResized(mlir::Operation *op, mlir::Value operand,
                                 llvm::ArrayRef<int64_t> axes, llvm::ArrayRef<int64_t> sizes,
                                 mlir::OpBuilder &builder,
                                 mlir::ReifiedRankedShapedTypeDims &shapes);

} // namespace xc::array

#endif // XC_DIALECT_ARRAY_IR_RESIZEDDIMS_H
