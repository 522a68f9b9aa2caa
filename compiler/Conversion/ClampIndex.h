//===- ClampIndex.h - Positions that are data -------------------*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_CONVERSION_CLAMPINDEX_H
#define XC_CONVERSION_CLAMPINDEX_H

#include "mlir/IR/Builders.h"

namespace xc {

/// An index of element type `type` inside of a body, moved into [0, last]; 0 for an empty dim,
/// whose `last` is -1.
mlir::Value clampIndex(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value stored,
                       mlir::Type type, mlir::Value last);

} // namespace xc

#endif // XC_CONVERSION_CLAMPINDEX_H
