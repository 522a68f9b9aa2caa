//===- CheckLimits.h - What a module cannot hold ---------------*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_TARGET_CHECKLIMITS_H
#define XC_TARGET_CHECKLIMITS_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/ArrayRef.h"

namespace xc::target {

/// Refuses what passes a limit of schemas/module_limits.h in modules after phase `plan`, with the
/// place where it is.
llvm::LogicalResult checkLimits(llvm::ArrayRef<mlir::ModuleOp> targets);

/// The same for the bytes of the tables that `module` becomes.
llvm::LogicalResult checkTablesSize(mlir::ModuleOp module, uint64_t bytes);

} // namespace xc::target

#endif // XC_TARGET_CHECKLIMITS_H
