//===- Contractions.h - What other importers need of products -*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_INPUT_ONNX_CONTRACTIONS_H
#define XC_INPUT_ONNX_CONTRACTIONS_H

#include "compiler/Input/ONNX/NodeImport.h"

namespace xc::onnx {

/// `numpy.matmul`, of vectors too; the result has the element type of `a`.
mlir::Value multiplyMatrices(NodeImport &n, mlir::Value a, mlir::Value b);

} // namespace xc::onnx

#endif // XC_INPUT_ONNX_CONTRACTIONS_H
