//===- Passes.cpp - Registration ------------------------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/Custom/Passes.h"

#include "compiler/Dialect/Plan/IR/PlanOps.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace xc::custom {

#define GEN_PASS_REGISTRATION
#include "compiler/Codegen/Custom/Passes.h.inc"

void registerPasses() { registerCodegenCustomPasses(); }

} // namespace xc::custom
