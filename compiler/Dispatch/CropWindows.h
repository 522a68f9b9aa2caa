//===- CropWindows.h - Windows that have one place ------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_DISPATCH_CROPWINDOWS_H
#define XC_DISPATCH_CROPWINDOWS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace xc::plan {

/// Takes of each operand the part that is read where loops of one iteration add to an index:
/// without those loops `i * 3 + t` is `t`, which goes over a whole dim, also the rows that no
/// window reads.
void cropWindowsOfOnePlace(mlir::func::FuncOp func);

/// Replaces slices that are all of what they are taken of, by their formulas: no op knows that two
/// sizes are one.
void dropWholeSlices(mlir::func::FuncOp func);

} // namespace xc::plan

#endif // XC_DISPATCH_CROPWINDOWS_H
