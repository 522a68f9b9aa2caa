//===- Ptxas.h - Assemble PTX where ptxas is at hand ----------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_TARGET_CUDA_PTXAS_H
#define XC_TARGET_CUDA_PTXAS_H

#include "mlir/IR/Diagnostics.h"
#include "mlir/Support/LLVM.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"

#include <optional>
#include <string>

namespace xc::target {

/// What ptxas says of one kernel.
struct KernelResources {
  unsigned registers = 0;
  unsigned spillStores = 0; // bytes
  unsigned spillLoads = 0;
  unsigned staticShared = 0;
  unsigned stackFrame = 0;
};

struct Assembled {
  std::string cubin;
  llvm::StringMap<KernelResources> kernels;
  /// Lines that report lost performance (C7508, C7510 .. C7519) or other warnings.
  llvm::SmallVector<std::string> warnings;
};

/// The path of ptxas: `given` if not empty (an error if it cannot be run), else the one on PATH, if
/// any.
mlir::FailureOr<std::optional<std::string>>
findPtxas(llvm::StringRef given, llvm::function_ref<mlir::InFlightDiagnostic()> emitError);

/// "V13.0.88", which modules record.
mlir::FailureOr<std::string>
getPtxasVersion(llvm::StringRef ptxas, llvm::function_ref<mlir::InFlightDiagnostic()> emitError);

/// Runs `ptxas -v` on `ptx` for `arch`. The error says what ptxas does, with the line of `ptx` that
/// it speaks of.
llvm::Expected<Assembled> assemblePTX(llvm::StringRef ptxas, llvm::StringRef arch,
                                      llvm::StringRef ptx);

} // namespace xc::target

#endif // XC_TARGET_CUDA_PTXAS_H
