//===- Passes.h - What users write ----------------------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_INPUT_PASSES_H
#define XC_INPUT_PASSES_H

#include "mlir/Pass/Pass.h"

namespace xc {

#define GEN_PASS_DECL
#include "compiler/Input/Passes.h.inc"

/// Turns ops of other dialects into array ops; `stubUnsupported` is that of the import of
/// StableHLO.
void addImportPasses(mlir::OpPassManager &modulePM, bool stubUnsupported = false);

/// What a program may hold, checked and brought into few forms. Functions that `gradients` names
/// may have no body.
void addInputConversionPasses(mlir::OpPassManager &modulePM,
                              llvm::ArrayRef<std::string> gradients = {});

void registerInputPasses();

} // namespace xc

#endif // XC_INPUT_PASSES_H
