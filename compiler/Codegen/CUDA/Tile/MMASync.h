//===- MMASync.h - Instructions of products on mma.sync ---------*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_CODEGEN_CUDA_TILE_MMASYNC_H
#define XC_CODEGEN_CUDA_TILE_MMASYNC_H

#include "compiler/Codegen/CUDA/Common/Targets.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/Builders.h"

#include <array>

namespace xc::cuda {

/// How mma.sync knows elements of f16, bf16, f32 (as TF32) and bytes.
mlir::NVVM::MMATypes getMMAType(mlir::Type element, bool isUnsigned = false);

/// One mma.sync of 16 rows and 8 columns, which adds to `sums`: four words of the first operand and
/// two of the second one. Words of f16 are vectors of two.
void emitMMA(mlir::OpBuilder &builder, mlir::Location loc,
             std::array<mlir::NVVM::MMATypes, 2> types, mlir::ValueRange a, mlir::ValueRange b,
             llvm::MutableArrayRef<mlir::Value> sums);

/// The same of f64 by k = 8: m16n8k8, or where the target has m8n8k4 alone four of these.
void emitDoubleMMA(mlir::OpBuilder &builder, mlir::Location loc, DoubleMMA kind, mlir::ValueRange a,
                   mlir::ValueRange b, llvm::MutableArrayRef<mlir::Value> sums);

/// `count` (2 or 4) matrices of 8 x 8 16-bit elements by ldmatrix; `pointer` is that of this lane's
/// line.
llvm::SmallVector<mlir::Value> loadMatrices(mlir::OpBuilder &builder, mlir::Location loc,
                                            mlir::Value pointer, int64_t count, bool transposed);

} // namespace xc::cuda

#endif // XC_CODEGEN_CUDA_TILE_MMASYNC_H
