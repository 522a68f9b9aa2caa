//===- ComputeAtGathers.h - Compute only what a gather reads --------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_DISPATCH_COMPUTEATGATHERS_H
#define XC_DISPATCH_COMPUTEATGATHERS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace xc::plan {

/// Moves the bodies of elementwise ops into gathers of their results, which then read what those
/// ops read.
void computeAtGathers(mlir::func::FuncOp function);

} // namespace xc::plan

#endif // XC_DISPATCH_COMPUTEATGATHERS_H
