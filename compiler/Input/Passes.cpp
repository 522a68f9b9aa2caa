//===- Passes.cpp - Phase `input` -----------------------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Input/Passes.h"

#include "compiler/Dialect/Array/IR/ArrayOps.h"
#include "compiler/Input/StableHLO/StableHLO.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;

namespace xc {

#define GEN_PASS_REGISTRATION
#include "compiler/Input/Passes.h.inc"

void addImportPasses(OpPassManager &modulePM, bool stubUnsupported) {
  modulePM.addPass(createImportStableHLO({stubUnsupported}));
  modulePM.addPass(createImportTosa());
  modulePM.addPass(createImportTMTensor());
  modulePM.addPass(createImportSCF());
}

void addInputConversionPasses(OpPassManager &modulePM, ArrayRef<std::string> gradients) {
  modulePM.addPass(createVerifyInput({llvm::to_vector(gradients)}));
  modulePM.addPass(createNormalizeInput());
}

void registerInputPasses() { registerXCInputPasses(); }

} // namespace xc
