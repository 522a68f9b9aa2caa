//===- Passes.h - CPU code generation ---------------------------*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_CODEGEN_CPU_PASSES_H
#define XC_CODEGEN_CPU_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

#include <string>

namespace mlir {
class OpPassManager;
} // namespace mlir

namespace xc::cpu {

#define GEN_PASS_DECL
#include "compiler/Codegen/CPU/Passes.h.inc"

struct CodegenOptions {
  /// x86-64-v2, x86-64-v3, aarch64, native, ... (Arch.cpp has the table). Empty: that of each
  /// module's plan.target.
  std::string arch;
  unsigned optLevel = 3;
  bool fastMath = false;
  bool emitAssembly = false;
  /// For tests: write each kernel's object to this file too.
  std::string objectFile;
};

/// Adds the passes that turn a kernel module into `plan.image`, `plan.exports` and, on request,
/// `plan.assembly`.
void buildCodegenPipeline(mlir::OpPassManager &kernelPM, const CodegenOptions &options);

/// Registers the passes and the pipeline `-xc-cpu-codegen`.
void registerPasses();

/// Registers the dialects that the passes create, and the interfaces that translate them.
void registerDialectsAndInterfaces(mlir::DialectRegistry &registry);

#define GEN_PASS_REGISTRATION
#include "compiler/Codegen/CPU/Passes.h.inc"

} // namespace xc::cpu

#endif // XC_CODEGEN_CPU_PASSES_H
