//===- ScalarFormula.h - Sizes of kernels as formulas -----------*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_CODEGEN_COMMON_SCALARFORMULA_H
#define XC_CODEGEN_COMMON_SCALARFORMULA_H

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/OpDefinition.h"

namespace xc::codegen {

/// The size `value` as a formula over the kernel's scalars, where symbol i is `plan.scalar i`; null
/// if it is none.
mlir::AffineExpr getScalarFormula(mlir::OpFoldResult value, mlir::MLIRContext *context);

} // namespace xc::codegen

#endif // XC_CODEGEN_COMMON_SCALARFORMULA_H
