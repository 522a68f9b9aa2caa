//===- Passes.h - CUDA code generation ------------------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_CODEGEN_CUDA_PASSES_H
#define XC_CODEGEN_CUDA_PASSES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

#include <string>

namespace mlir {
class DialectRegistry;
class OpPassManager;
} // namespace mlir

namespace xc::cuda {

#define GEN_PASS_DECL
#include "compiler/Codegen/CUDA/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "compiler/Codegen/CUDA/Passes.h.inc"

/// The module's own `plan.target` says the architecture; getTargets() in Targets.h lists them.
struct CodegenOptions {
  unsigned optLevel = 3;
  /// Approximate instructions for math functions; sums may be reassociated.
  bool fastMath = false;
  /// `.loc` directives that lead back to the model's source.
  bool lineInfo = false;
  /// Keeps the PTX in `plan.assembly` too.
  bool emitAssembly = false;
  /// Products of 16-bit types on wgmma where the target has it.
  bool wgmma = true;
  /// Lines `KEY = CONFIG`, see -xc-cuda-select-strategy, and the file that errors name.
  std::string tuning, tuningFile = "tuning";
  /// Configurations that were measured, and are compiled in, go before the model's.
  bool shippedTuning = true;
  /// Blocks of a grid; fewer than hardware launches are for tests.
  int64_t gridLimit = INT32_MAX;
};

/// Adds the passes that turn one kernel module (docs/architecture.md) into PTX.
void buildCodegenPipeline(mlir::OpPassManager &kernelPM, const CodegenOptions &options);

/// Registers the passes above, and the pipeline as `-xc-cuda-codegen`.
void registerPasses();

/// Registers the dialects that kernels are lowered through, and their translation to LLVM IR.
void registerDialectsAndInterfaces(mlir::DialectRegistry &registry);

} // namespace xc::cuda

#endif // XC_CODEGEN_CUDA_PASSES_H
