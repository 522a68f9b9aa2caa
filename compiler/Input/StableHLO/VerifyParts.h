//===- VerifyParts.h - What verifiers of ops have in common -----*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_INPUT_STABLEHLO_VERIFYPARTS_H
#define XC_INPUT_STABLEHLO_VERIFYPARTS_H

#include "compiler/Dialect/Array/IR/TensorTypes.h"

#include "mlir/IR/Operation.h"

namespace xc::stablehlo {

using array::typeOf;

/// A list with a number for each of `count` dims.
mlir::LogicalResult verifyLength(mlir::Operation *op, llvm::StringRef name,
                                 llvm::ArrayRef<int64_t> list, int64_t count);

/// Dims of a value of `rank` dims, each at most once.
mlir::LogicalResult verifyDims(mlir::Operation *op, llvm::StringRef name,
                               llvm::ArrayRef<int64_t> dims, int64_t rank);

/// A body that combines two rank-0 values for each of `values`.
mlir::LogicalResult verifyCombiner(mlir::Operation *op, llvm::StringRef name, mlir::Region &region,
                                   mlir::ValueRange values);

mlir::LogicalResult verifyResults(mlir::Operation *op, mlir::TypeRange expected);

} // namespace xc::stablehlo

#endif // XC_INPUT_STABLEHLO_VERIFYPARTS_H
