//===- Passes.h - From array ops to linalg --------------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_CONVERSION_PASSES_H
#define XC_CONVERSION_PASSES_H

#include "mlir/Pass/Pass.h"

namespace xc {

#define GEN_PASS_DECL
#include "compiler/Conversion/Passes.h.inc"

void registerConversionPasses();

} // namespace xc

#endif // XC_CONVERSION_PASSES_H
