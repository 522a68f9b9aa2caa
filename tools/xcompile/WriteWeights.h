//===- WriteWeights.h - A model's weights as a file -------------*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_TOOLS_XCOMPILE_WRITEWEIGHTS_H
#define XC_TOOLS_XCOMPILE_WRITEWEIGHTS_H

#include "compiler/Input/ONNX/ImportONNX.h"

#include "llvm/Support/Error.h"

namespace xc {

/// Writes `weights` to a .safetensors file, which takes its name when it is whole.
llvm::Error writeWeights(llvm::StringRef path, const onnx::ExternalWeights &weights);

} // namespace xc

#endif // XC_TOOLS_XCOMPILE_WRITEWEIGHTS_H
