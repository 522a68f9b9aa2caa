//===- Passes.h - Kernels that the program brings -------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_CODEGEN_CUSTOM_PASSES_H
#define XC_CODEGEN_CUSTOM_PASSES_H

#include "mlir/Pass/Pass.h"

namespace xc::custom {

#define GEN_PASS_DECL
#include "compiler/Codegen/Custom/Passes.h.inc"

void registerPasses();

} // namespace xc::custom

#endif // XC_CODEGEN_CUSTOM_PASSES_H
