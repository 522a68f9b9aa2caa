//===- Differentiate.h - Gradients of ops through what they consist of -*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_DIALECT_ARRAY_TRANSFORMS_DIFFERENTIATE_H
#define XC_DIALECT_ARRAY_TRANSFORMS_DIFFERENTIATE_H

#include "mlir/IR/Builders.h"

namespace xc::array {

/// Builds the cotangents of `op`'s operands at the builder's insertion point from those of its
/// results, by the rules of `ArrayVjpOpInterface`: the op's own gradient, or that of its
/// decomposition. Fails where there is neither.
mlir::FailureOr<llvm::SmallVector<mlir::Value>>
buildCotangents(mlir::OpBuilder &builder, mlir::Operation *op, mlir::ValueRange cotangents);

} // namespace xc::array

#endif // XC_DIALECT_ARRAY_TRANSFORMS_DIFFERENTIATE_H
