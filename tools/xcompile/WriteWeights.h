//===- WriteWeights.h - A model's weights as a file -------------*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_TOOLS_XCOMPILE_WRITEWEIGHTS_H
#define XC_TOOLS_XCOMPILE_WRITEWEIGHTS_H

#include "compiler/Input/ONNX/ImportONNX.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"

namespace xc {

/// Writes `weights` to a .safetensors file, which takes its name when it is whole. `types` are
/// those that the module has for them, by their names: a weight of f32 that is BF16 or F16 there is
/// rounded. A number that such a type is too small for is an error.
llvm::Error writeWeights(llvm::StringRef path, const onnx::ExternalWeights &weights,
                         const llvm::StringMap<std::string> &types);

} // namespace xc

#endif // XC_TOOLS_XCOMPILE_WRITEWEIGHTS_H
