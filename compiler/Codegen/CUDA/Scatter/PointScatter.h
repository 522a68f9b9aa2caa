//===- PointScatter.h - The pieces of kernel.scatter ----------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_CODEGEN_CUDA_SCATTER_POINTSCATTER_H
#define XC_CODEGEN_CUDA_SCATTER_POINTSCATTER_H

#include "compiler/Codegen/CUDA/Common/PointEmitter.h"
#include "compiler/Dialect/Kernel/IR/KernelOps.h"

namespace xc::cuda {

/// A scatter's destination seen as rows, numbered by the dims that index vectors address, of
/// windows: the other dims.
struct ScatterRows {
  ScatterRows(kernel::ScatterOp op, PointEmitter &points);

  /// The row that update number `update` goes to, and whether there is such a row (i1).
  std::pair<mlir::Value, mlir::Value> getTarget(mlir::Value update);
  /// The elements that it brings to places in the window.
  mlir::Value emitUpdate(mlir::Value update, llvm::ArrayRef<Coord> windowCoords, int64_t lanes);
  /// What `old` becomes when `update` arrives, element by element.
  mlir::Value combine(mlir::Value old, mlir::Value update);
  /// Indices of the destination.
  llvm::SmallVector<Coord> joinCoords(llvm::ArrayRef<mlir::Value> rowCoords,
                                      llvm::ArrayRef<Coord> windowCoords);

  kernel::ScatterOp op;
  PointEmitter &points;
  llvm::SmallVector<mlir::Value> rowSizes, windowSizes, batchSizes;
};

} // namespace xc::cuda

#endif // XC_CODEGEN_CUDA_SCATTER_POINTSCATTER_H
