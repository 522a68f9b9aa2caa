//===- ModuleWriter.h - Write a module file ===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_TARGET_MODULEWRITER_H
#define XC_TARGET_MODULEWRITER_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/ArrayRef.h"

#include <cstdint>
#include <string>
#include <vector>

namespace xc::target {

/// How a module came to be; recorded in the file.
struct Provenance {
  std::string compiler;
  std::string flags;
  std::string sourceName;
  uint64_t sourceHash = 0;
  std::string ptxas;
};

/// Code of one target, linked: what the writer puts into one Executable table.
struct LinkedCode {
  /// Values of xc.fb.CodeKind.
  uint8_t kind = 0;
  std::string arch;
  llvm::SmallVector<std::string> cpuFeatures;
  uint32_t minDriver = 0;
  std::string image;
};

/// Forms of one target's code with the same kernels, of which the runtime takes the best that fits:
/// PTX and machine code. Empty where the target has no kernels.
using CodeAlternatives = std::vector<LinkedCode>;

/// The bytes of a module file that holds `targets`: modules after phase `plan`, each with its code,
/// linked. Errors are diagnostics on the module at fault.
mlir::FailureOr<std::string> writeModule(llvm::ArrayRef<mlir::ModuleOp> targets,
                                         llvm::ArrayRef<CodeAlternatives> code,
                                         const Provenance &provenance);

/// Links the images of all kernels of a target's module: one shared object (CPU), or one PTX module
/// and, where `ptxas` names that program, its machine code (CUDA). What ptxas reports (registers,
/// spills, shared memory) goes into the kernels' `plan.exports`.
mlir::FailureOr<CodeAlternatives> linkCode(mlir::ModuleOp target, llvm::StringRef ptxas);

} // namespace xc::target

#endif // XC_TARGET_MODULEWRITER_H
