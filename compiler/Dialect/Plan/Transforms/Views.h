//===- Views.h - Ops that only look at memory in another way ===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_DIALECT_PLAN_TRANSFORMS_VIEWS_H
#define XC_DIALECT_PLAN_TRANSFORMS_VIEWS_H

#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace xc::plan {

/// True if the slice's elements lie one after another in its source, so that it is a range of the
/// source's bytes: stride 1 everywhere, and after the first dim that is not of size 1 every dim is
/// taken whole.
bool isContiguousSlice(mlir::tensor::ExtractSliceOp slice);

/// Whether `tensor` is a slice that is no view, or another shape of one: kernels that read it hold
/// the slice themselves, and it has no memory of its own.
bool isFarSlice(mlir::Value tensor);

/// True for an op whose result is its first operand's memory, or a contiguous part of it.
bool isView(mlir::Operation *op);

/// The tensor whose memory `tensor` looks at.
mlir::Value getRoot(mlir::Value tensor);

/// True if the tensor is all of its root's memory: reached by reshapes only.
bool isWholeRoot(mlir::Value tensor);

} // namespace xc::plan

#endif // XC_DIALECT_PLAN_TRANSFORMS_VIEWS_H
