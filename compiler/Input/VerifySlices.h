//===- VerifySlices.h - Numbers that name places of tensors ---------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_INPUT_VERIFYSLICES_H
#define XC_INPUT_VERIFYSLICES_H

#include "mlir/IR/Operation.h"

namespace xc {

/// An error where the constants of a slice, of a padding, or of a window of linalg name what its
/// dialect leaves undefined, or what is too large to be computed with. What is no constant becomes
/// a requirement of sizes later (`requireSlice`).
mlir::LogicalResult verifySliceNumbers(mlir::Operation *op);

} // namespace xc

#endif // XC_INPUT_VERIFYSLICES_H
