//===- Pools.h - ONNX's pools, for the table of windows -------*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_INPUT_ONNX_POOLS_H
#define XC_INPUT_ONNX_POOLS_H

#include "compiler/Input/ONNX/NodeImport.h"

namespace xc::onnx {

Results importAveragePool(NodeImport &n);
Results importGlobalAveragePool(NodeImport &n);
Results importGlobalLpPool(NodeImport &n);
Results importGlobalMaxPool(NodeImport &n);
Results importLpPool(NodeImport &n);
Results importMaxPool(NodeImport &n);
Results importMaxUnpool(NodeImport &n);

} // namespace xc::onnx

#endif // XC_INPUT_ONNX_POOLS_H
