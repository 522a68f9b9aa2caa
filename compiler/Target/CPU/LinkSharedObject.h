//===- LinkSharedObject.h - ELF objects to one shared object ----*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_TARGET_CPU_LINKSHAREDOBJECT_H
#define XC_TARGET_CPU_LINKSHAREDOBJECT_H

#include "compiler/Codegen/CPU/Arch.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/Support/LLVM.h"

#include <string>

namespace xc::cpu {

/// Links ELF objects (their bytes, all for |arch|) into a shared object that needs nothing from
/// outside, and returns its bytes. The same objects in the same order give the same bytes. An
/// undefined or doubly defined symbol, or objects for different machines, are errors. Thread-safe;
/// calls run one after another, since lld keeps global state.
mlir::FailureOr<std::string>
linkSharedObject(llvm::ArrayRef<llvm::StringRef> objects, const Arch &arch,
                 llvm::function_ref<mlir::InFlightDiagnostic()> emitError);

} // namespace xc::cpu

#endif // XC_TARGET_CPU_LINKSHAREDOBJECT_H
