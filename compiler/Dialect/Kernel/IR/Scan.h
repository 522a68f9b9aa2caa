//===- Scan.h - How the elements of a scan combine ------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_DIALECT_KERNEL_IR_SCAN_H
#define XC_DIALECT_KERNEL_IR_SCAN_H

#include "compiler/Dialect/Kernel/IR/KernelOps.h"

namespace xc::kernel {

/// What combining with changes nothing.
mlir::TypedAttr getScanNeutral(mlir::Builder &builder, ScanKind kind, mlir::Type type,
                               bool isUnsigned);

/// Combines scalars or vectors, `first` being what comes before.
mlir::Value combineScan(mlir::OpBuilder &builder, mlir::Location loc, ScanKind kind,
                        bool isUnsigned, mlir::Value first, mlir::Value second);

} // namespace xc::kernel

#endif // XC_DIALECT_KERNEL_IR_SCAN_H
