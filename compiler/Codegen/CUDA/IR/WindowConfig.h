//===- WindowConfig.h - Configurations of windows over channels -----------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_CODEGEN_CUDA_IR_WINDOWCONFIG_H
#define XC_CODEGEN_CUDA_IR_WINDOWCONFIG_H

#include "compiler/Codegen/CUDA/IR/CUDAConfig.h"

#define GET_ATTRDEF_CLASSES
#include "compiler/Codegen/CUDA/IR/WindowConfigAttrs.h.inc"

#endif // XC_CODEGEN_CUDA_IR_WINDOWCONFIG_H
