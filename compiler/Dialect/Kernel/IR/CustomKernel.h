//===- CustomKernel.h - What is checked of kernels that programs bring ----===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_DIALECT_KERNEL_IR_CUSTOMKERNEL_H
#define XC_DIALECT_KERNEL_IR_CUSTOMKERNEL_H

#include "mlir/IR/AffineMap.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"

namespace xc::kernel {

/// What `array.custom_kernel` and `kernel.custom` both say of a kernel.
struct CustomKernel {
  llvm::StringRef entry;
  mlir::StringAttr ptx; // null until the file has been read
  mlir::TypeRange inputs, outputs;
  unsigned scalarCount;
  mlir::ArrayAttr scalarTypes; // may be null where there are no scalars
  mlir::AffineMap grid;
  llvm::ArrayRef<int64_t> block;
  int64_t shared;
  llvm::ArrayRef<int64_t> reuse;
};

/// Checks that the launch is one that hardware knows, and that the text has the kernel, with the
/// parameters that it will get.
mlir::LogicalResult verifyCustomKernel(mlir::Operation *op, const CustomKernel &kernel);

} // namespace xc::kernel

#endif // XC_DIALECT_KERNEL_IR_CUSTOMKERNEL_H
