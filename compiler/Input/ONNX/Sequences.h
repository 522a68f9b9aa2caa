//===- Sequences.h - ONNX's sequences and optional values -----------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_INPUT_ONNX_SEQUENCES_H
#define XC_INPUT_ONNX_SEQUENCES_H

#include "compiler/Input/ONNX/NodeImport.h"

namespace xc::onnx {

/// A tensor as what a name of a graph, or an element of a sequence, stands for.
GraphValue asValue(mlir::Value tensor);

llvm::ArrayRef<OpEntry> getSequenceOps();

} // namespace xc::onnx

#endif // XC_INPUT_ONNX_SEQUENCES_H
