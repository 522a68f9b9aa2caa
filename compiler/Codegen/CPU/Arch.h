//===- Arch.h - The CPUs that code is generated for -------------*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_CODEGEN_CPU_ARCH_H
#define XC_CODEGEN_CPU_ARCH_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Support/LLVM.h"

#include <string>

namespace xc::cpu {

/// One row of the table of CPUs: what LLVM is told, and what the strategies need to know.
struct Arch {
  std::string name;
  std::string triple;
  std::string cpu;
  std::string features;
  int64_t vectorBytes;     // width of one vector register
  int64_t vectorRegisters; // how many there are
  bool hasFMA;             // fused multiply-add in hardware
  bool hasHalfConversion;  // f16 <-> f32 in hardware
};

/// The row named |name|. "native" is the machine that runs the compiler; the row that comes back
/// then bears a name that says the same on any machine: LLVM's CPU and the features that differ,
/// "znver3/+sha/-rtm". Such a name can be given, too. An unknown name is an error that lists the
/// known ones.
mlir::FailureOr<Arch> lookupArch(llvm::StringRef name,
                                 llvm::function_ref<mlir::InFlightDiagnostic()> emitError);

/// The arch of a kernel module: |override| where it is not empty, else that of its `plan.target`,
/// else x86-64-v3.
mlir::FailureOr<Arch> getKernelArch(mlir::ModuleOp kernel, llvm::StringRef override);

} // namespace xc::cpu

#endif // XC_CODEGEN_CPU_ARCH_H
