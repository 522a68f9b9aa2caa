//===- CountLimits.h - How many elements a type counts ----------*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_CONVERSION_COUNTLIMITS_H
#define XC_CONVERSION_COUNTLIMITS_H

#include "mlir/IR/OpDefinition.h"

namespace xc {

/// Demands that `count` elements are no more than `counter`, a signless integer type, counts:
/// their indices, and their number.
void requireCounted(mlir::OpBuilder &builder, mlir::Operation *op, mlir::OpFoldResult count,
                    mlir::Type counter);

} // namespace xc

#endif // XC_CONVERSION_COUNTLIMITS_H
