//===- VerifyAttributes.h - Attributes of dialects unknown --------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_INPUT_VERIFYATTRIBUTES_H
#define XC_INPUT_VERIFYATTRIBUTES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace xc {

/// Looks at the attributes of a function, its arguments and results whose dialects are unknown,
/// which MLIR takes in silence: one that nearly is of dialect `array` is an error, any other a
/// warning that it says nothing to this compiler.
llvm::LogicalResult verifyAttributes(mlir::func::FuncOp func);

} // namespace xc

#endif // XC_INPUT_VERIFYATTRIBUTES_H
