//===- LaneOps.h - Values with one or several lanes -----------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A value that a thread holds for several neighbouring points is a vector with one lane for each
// point, or a scalar where all points share it.
//
//===----------------------------------------------------------------------===//

#ifndef XC_CODEGEN_CUDA_COMMON_LANEOPS_H
#define XC_CODEGEN_CUDA_COMMON_LANEOPS_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"

namespace xc::cuda {

/// The number of lanes of `value`; 1 for a scalar.
int64_t countLanes(mlir::Value value);

/// `value` with `lanes` lanes: broadcast if it is a scalar.
mlir::Value splatTo(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value, int64_t lanes);

/// Lane `lane` of `value`; a scalar is its own every lane.
mlir::Value getLane(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value, int64_t lane);

/// A vector of `lanes`, or the scalar itself if there is one.
mlir::Value fromLanes(mlir::OpBuilder &builder, mlir::Location loc, mlir::ValueRange lanes);

/// The 4 x 4 bytes of four vectors transposed: vector i has byte i of each.
llvm::SmallVector<mlir::Value, 4> transposeBytes(mlir::OpBuilder &builder, mlir::Location loc,
                                                 mlir::ValueRange lines);

/// Clones `op`, whose operands map to scalars or vectors, and maps its results: as it is if all
/// operands are scalars, on vectors if the op works element by element, else once for each lane.
void cloneOnLanes(mlir::OpBuilder &builder, mlir::Operation *op, mlir::IRMapping &mapping);

} // namespace xc::cuda

#endif // XC_CODEGEN_CUDA_COMMON_LANEOPS_H
