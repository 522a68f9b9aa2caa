//===- Dump.h - Files that show what the compiler did ===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_PIPELINE_DUMP_H
#define XC_PIPELINE_DUMP_H

#include "mlir/IR/BuiltinOps.h"

#include <string>

namespace xc {

/// Writes into one folder: `N-phase.mlir` after every phase, and under `kernels/` each kernel's IR
/// as code generation gets it and its assembly. Does nothing where the folder's name is empty.
class Dump {
public:
  explicit Dump(llvm::StringRef directory) : directory(directory) {}

  mlir::LogicalResult writePhase(mlir::ModuleOp module, unsigned index, llvm::StringRef phase);

  /// After code generation: `kernels/<target>/<kernel>.s` or `.ptx`.
  mlir::LogicalResult writeKernelCode(mlir::ModuleOp target);

private:
  mlir::LogicalResult writeFile(mlir::MLIRContext *context, llvm::StringRef name,
                                llvm::StringRef text);

  std::string directory;
};

} // namespace xc

#endif // XC_PIPELINE_DUMP_H
