//===- Passes.h - Passes that all code generators share -------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_CODEGEN_COMMON_PASSES_H
#define XC_CODEGEN_COMMON_PASSES_H

#include "mlir/Pass/Pass.h"

namespace xc::codegen {

#define GEN_PASS_DECL
#include "compiler/Codegen/Common/Passes.h.inc"

void registerPasses();

} // namespace xc::codegen

#endif // XC_CODEGEN_COMMON_PASSES_H
