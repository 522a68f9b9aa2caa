//===- RequireSizes.h - Requirements of ops on tensors ----------*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What linalg and the tensor dialect leave undefined becomes a requirement of sizes.
//
//===----------------------------------------------------------------------===//

#ifndef XC_CONVERSION_REQUIRESIZES_H
#define XC_CONVERSION_REQUIRESIZES_H

#include "compiler/Dialect/Array/IR/Requirements.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace xc {

/// Requires that the indices at which `op` reads its operands are within their dims, where an
/// indexing map computes them. Fails, with an error, where their bounds cannot be told from sizes.
mlir::LogicalResult requireIndices(array::RequirementBuilder &requirements,
                                   mlir::linalg::LinalgOp op);
/// Requires that the slice of `whole` that `op` reads or writes is within it.
void requireSlice(array::RequirementBuilder &requirements, mlir::OffsetSizeAndStrideOpInterface op,
                  mlir::Value whole);
/// Requires that what `op` inserts is as large as the slice that it writes.
void requireInsertion(array::RequirementBuilder &requirements, mlir::tensor::InsertSliceOp op);
/// Requires that `op` splits each dim into as many elements as it has.
void requireExpansion(array::RequirementBuilder &requirements, mlir::tensor::ExpandShapeOp op);
/// Requires that the tensor from which the body of a linalg op reads an element has one.
/// `requirements` are those of that op.
void requireElements(array::RequirementBuilder &requirements, mlir::tensor::ExtractOp op);

} // namespace xc

#endif // XC_CONVERSION_REQUIRESIZES_H
