//===- Norms.h - Normalisations that several importers make ---*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_INPUT_ONNX_NORMS_H
#define XC_INPUT_ONNX_NORMS_H

#include "compiler/Input/ONNX/NodeImport.h"

namespace xc::onnx {

/// The layer norm of `x` over its dims from `axis` on; `scale` and `bias` may be null.
mlir::Value normalizeLayer(NodeImport &n, mlir::Value x, mlir::Value scale, mlir::Value bias,
                           int64_t axis, double epsilon);

/// Mean and `1 / sqrt(variance + epsilon)` over the dims from `axis` on, which stay with size 1.
std::pair<mlir::Value, mlir::Value> getMoments(NodeImport &n, mlir::Value x, int64_t axis,
                                               double epsilon);

} // namespace xc::onnx

#endif // XC_INPUT_ONNX_NORMS_H
