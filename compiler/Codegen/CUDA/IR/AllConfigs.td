//===- AllConfigs.td - All attributes of the cuda dialect -*- tablegen -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the dialect registers and parses, whichever header declares it.
//
//===----------------------------------------------------------------------===//

#ifndef XC_ALL_CONFIGS_TD
#define XC_ALL_CONFIGS_TD

include "compiler/Codegen/CUDA/IR/AttentionConfig.td"
include "compiler/Codegen/CUDA/IR/CUDAConfig.td"
include "compiler/Codegen/CUDA/IR/StripsConfig.td"
include "compiler/Codegen/CUDA/IR/WindowConfig.td"

#endif // XC_ALL_CONFIGS_TD
