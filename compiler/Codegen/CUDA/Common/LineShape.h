//===- LineShape.h - Sizes of scans and sorts in emitted code ---*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_CODEGEN_CUDA_COMMON_LINESHAPE_H
#define XC_CODEGEN_CUDA_COMMON_LINESHAPE_H

#include "compiler/Codegen/CUDA/Common/LineKernel.h"
#include "compiler/Codegen/CUDA/Common/PointEmitter.h"

namespace xc::cuda {

/// The sizes of an op on lines, as values.
using LineShape = LineSizes<mlir::Value>;

inline LineShape getLineShape(mlir::Operation *op, PointEmitter &points) {
  return splitLines<mlir::Value>(op, points.index,
                                 [&](mlir::Value tensor) { return points.getSizes(tensor); });
}

} // namespace xc::cuda

#endif // XC_CODEGEN_CUDA_COMMON_LINESHAPE_H
