//===- CheckWeights.h - Do files have a module's weights? -------*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_TOOLS_XCOMPILE_CHECKWEIGHTS_H
#define XC_TOOLS_XCOMPILE_CHECKWEIGHTS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"

#include <string>

namespace xc {

/// The .safetensors file of a scope of external parameters.
struct WeightsFile {
  std::string scope, path;
};

/// What `files` do not have of the external parameters of the module that `bytes` are: by name,
/// type and shape, one line for each, and which scopes no parameter is of. Empty where all is well.
/// `bytes` is a module that the runtime takes. Only the headers of the files are read.
std::string checkWeights(llvm::StringRef bytes, llvm::ArrayRef<WeightsFile> files);

/// The types that the module has for its external parameters of `scope`, by their names, as
/// .safetensors files call them.
llvm::StringMap<std::string> getParameterTypes(llvm::StringRef bytes, llvm::StringRef scope);

} // namespace xc

#endif // XC_TOOLS_XCOMPILE_CHECKWEIGHTS_H
