//===- Passes.cpp - Registration of the passes that code generators share -===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/Common/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace xc::codegen {

#define GEN_PASS_REGISTRATION
#include "compiler/Codegen/Common/Passes.h.inc"

void registerPasses() { registerCodegenCommonPasses(); }

} // namespace xc::codegen
