//===- Repeat.h - A loop of a known number of steps -------------*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_INPUT_STABLEHLO_REPEAT_H
#define XC_INPUT_STABLEHLO_REPEAT_H

#include "compiler/Dialect/Array/IR/ExpressionBuilder.h"

namespace xc::stablehlo_import {

/// `count` steps from `inits` on; `build` makes the next values of a step's number, in i32, and the
/// values.
llvm::SmallVector<mlir::Value> repeat(
    array::ExpressionBuilder &e, int64_t count, llvm::SmallVector<mlir::Value> inits,
    llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::Value step, mlir::ValueRange carried)>
        build);

} // namespace xc::stablehlo_import

#endif // XC_INPUT_STABLEHLO_REPEAT_H
