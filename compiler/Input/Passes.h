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

/// The passes of phase `input`, in order, for a whole module. Functions that `gradients` names may
/// have no body; `stubUnsupported` is that of the import of StableHLO.
void addInputConversionPasses(mlir::OpPassManager &modulePM,
                              llvm::ArrayRef<std::string> gradients = {},
                              bool stubUnsupported = false);

void registerInputPasses();

} // namespace xc

#endif // XC_INPUT_PASSES_H
