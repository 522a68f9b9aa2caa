//===- CUDAConfig.cpp - Registration of the strategies' attributes --------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/IR/CUDAConfig.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

#include "compiler/Codegen/CUDA/IR/CUDAConfigDialect.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "compiler/Codegen/CUDA/IR/CUDAConfigAttrs.cpp.inc"

namespace xc::cuda {

void CUDADialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "compiler/Codegen/CUDA/IR/CUDAConfigAttrs.cpp.inc"
      >();
}

} // namespace xc::cuda
