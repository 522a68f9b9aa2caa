//===- RepeatRowSums.h - Norms in the kernels of products -------*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_DISPATCH_REPEATROWSUMS_H
#define XC_DISPATCH_REPEATROWSUMS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace xc::plan {

/// Lets products of a matrix and a vector that a norm has made compute the norm themselves, for
/// each of their rows, where the vector is short: its kernel would be one block, for which all
/// others wait.
void repeatRowSums(mlir::func::FuncOp function);

} // namespace xc::plan

#endif // XC_DISPATCH_REPEATROWSUMS_H
