//===- OpRequirements.h - What a module's ops require of sizes -*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_CONVERSION_OPREQUIREMENTS_H
#define XC_CONVERSION_OPREQUIREMENTS_H

#include "compiler/Dialect/Array/IR/Requirements.h"

#include "mlir/IR/BuiltinOps.h"

namespace xc {

/// Hands each comparison of sizes that `op` requires to `requirements`: an array op says so by its
/// interface, linalg ops and slices of the input by their indices. Fails, with an error, where the
/// indices of a linalg op cannot be told from sizes.
mlir::LogicalResult stateRequirements(mlir::Operation *op, array::RequirementBuilder &requirements);

/// Adds a `plan.require` for each of all ops of `module` that does not follow from the loops of
/// linalg ops.
mlir::LogicalResult stateRequirements(mlir::ModuleOp module);

} // namespace xc

#endif // XC_CONVERSION_OPREQUIREMENTS_H
