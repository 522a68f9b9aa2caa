//===- StripsConfig.h - Configurations of elementwise strips ------*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_CODEGEN_CUDA_IR_STRIPSCONFIG_H
#define XC_CODEGEN_CUDA_IR_STRIPSCONFIG_H

#include "compiler/Codegen/CUDA/IR/CUDAConfig.h"

#define GET_ATTRDEF_CLASSES
#include "compiler/Codegen/CUDA/IR/StripsConfigAttrs.h.inc"

#endif // XC_CODEGEN_CUDA_IR_STRIPSCONFIG_H
