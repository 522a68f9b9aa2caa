//===- Pointers.h - Addresses of elements -----------------------*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_CODEGEN_CUDA_COMMON_POINTERS_H
#define XC_CODEGEN_CUDA_COMMON_POINTERS_H

#include "mlir/IR/Builders.h"

namespace xc::cuda {

/// Where element `element` of a one-dimensional buffer is.
mlir::Value getPointer(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value memory,
                       mlir::Value element);

/// The address of the element that is `elements` further on.
mlir::Value offsetBy(mlir::OpBuilder &builder, mlir::Location loc, mlir::Type elementType,
                     mlir::Value pointer, mlir::Value elements);

/// `pointer`, an address in global memory, so that LLVM does not see how it comes about: of many
/// copies at known distances it would keep and step an address each, in pairs of registers.
mlir::Value hideOrigin(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value pointer);

/// The 2 or 4 bytes of `type` in global memory that lie `offset` bytes behind `pointer`; zeros
/// where `inside` (i1, may be null) is false. No branch: of many loads in a row each would be one,
/// and take longer than the load does.
mlir::Value loadOrZero(mlir::OpBuilder &builder, mlir::Location loc, mlir::Type type,
                       mlir::Value pointer, int64_t offset, mlir::Value inside);

} // namespace xc::cuda

#endif // XC_CODEGEN_CUDA_COMMON_POINTERS_H
