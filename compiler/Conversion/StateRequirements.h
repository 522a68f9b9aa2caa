//===- StateRequirements.h - What a module's ops demand of sizes -*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_CONVERSION_STATEREQUIREMENTS_H
#define XC_CONVERSION_STATEREQUIREMENTS_H

#include "compiler/Dialect/Array/IR/Requirements.h"

#include "mlir/IR/BuiltinOps.h"

namespace xc {

/// Adds a `plan.require` for each comparison of sizes that an op of `module` demands: array ops
/// say so by their interface, linalg ops and slices of the input by their indices. Fails, with an
/// error, where the indices of a linalg op cannot be told from sizes.
mlir::LogicalResult stateRequirements(mlir::ModuleOp module, array::RequirementScope scope);

} // namespace xc

#endif // XC_CONVERSION_STATEREQUIREMENTS_H
