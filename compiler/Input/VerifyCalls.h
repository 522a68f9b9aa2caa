//===- VerifyCalls.h - Functions that call themselves ---------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_INPUT_VERIFYCALLS_H
#define XC_INPUT_VERIFYCALLS_H

#include "mlir/IR/BuiltinOps.h"

namespace xc {

/// An error if a function calls itself, be it through others: every call is inlined.
mlir::LogicalResult verifyCalls(mlir::ModuleOp module);

} // namespace xc

#endif // XC_INPUT_VERIFYCALLS_H
