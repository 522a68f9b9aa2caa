//===- Order.h - Elements as integers in sorting order --------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_DIALECT_KERNEL_IR_ORDER_H
#define XC_DIALECT_KERNEL_IR_ORDER_H

#include "compiler/Dialect/Kernel/IR/KernelOps.h"

namespace xc::kernel {

/// The type of the keys of elements of `element`: i32 or i64.
mlir::Type getOrderKeyType(mlir::Type element);

/// An integer for a scalar, so that comparing integers as unsigned numbers orders elements as
/// `kernel.sort` does: NaN behind all others (before them, where descending), zeros equal.
mlir::Value buildOrderKey(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value,
                          bool isUnsigned, bool descending);

/// The digits that sorts go by have 8 bits: how many values one has.
constexpr int64_t kOrderDigits = 256;
/// How many digits the keys of elements of `element` have.
int64_t countOrderDigits(mlir::Type element);
/// Digit number `digit` of the key of `value`, the lowest one being 0, as an i32.
mlir::Value buildOrderDigit(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value,
                            bool isUnsigned, bool descending, int64_t digit);

/// i1: whether the first of two elements, given as keys and positions, comes before the other.
mlir::Value buildComesBefore(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value firstKey,
                             mlir::Value firstPosition, mlir::Value secondKey,
                             mlir::Value secondPosition);

} // namespace xc::kernel

#endif // XC_DIALECT_KERNEL_IR_ORDER_H
