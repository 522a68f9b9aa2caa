//===- RequireSizes.h - Requirements of ops on tensors ----------*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the tensor dialect leaves undefined becomes a requirement of sizes. RequireIndices.cpp has
// these functions, and those that ArrayToLinalg.h declares.
//
//===----------------------------------------------------------------------===//

#ifndef XC_CONVERSION_REQUIRESIZES_H
#define XC_CONVERSION_REQUIRESIZES_H

#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace xc {

/// Requires that what `op` inserts is as large as the slice that it writes.
void requireInsertion(mlir::OpBuilder &builder, mlir::tensor::InsertSliceOp op);
/// Requires that `op` splits each dim into as many elements as it has.
void requireExpansion(mlir::OpBuilder &builder, mlir::tensor::ExpandShapeOp op);
/// Requires that the tensor from which the body of a linalg op reads an element has one. `builder`
/// stands before that op.
void requireElements(mlir::OpBuilder &builder, mlir::tensor::ExtractOp op);

} // namespace xc

#endif // XC_CONVERSION_REQUIRESIZES_H
