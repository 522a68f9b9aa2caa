//===- KernelInfo.h - What one kernel function reads and writes -----------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_CODEGEN_CUDA_COMMON_KERNELINFO_H
#define XC_CODEGEN_CUDA_COMMON_KERNELINFO_H

#include "compiler/Codegen/CUDA/Common/Targets.h"
#include "compiler/Dialect/Kernel/IR/KernelOps.h"
#include "compiler/Dialect/Plan/IR/PlanOps.h"
#include "compiler/Dialect/Plan/IR/SpreadResults.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace xc::cuda {

/// A tensor of the body that ends up in a binding: is all of it, goes where `update` says, or lies
/// apart in it, or is there in part, as `spread` says.
struct KernelOutput {
  mlir::Value tensor;
  plan::BindingOp binding;
  kernel::UpdateOp update = nullptr;
  std::optional<plan::SpreadResult> spread = {};

  /// The tensor has the binding's shape.
  bool isWhole() const { return !update && !spread; }
};

/// A kernel function before it is lowered, as docs/architecture.md describes it.
struct KernelInfo {
  mlir::func::FuncOp function;
  const Target *target = nullptr;
  llvm::SmallVector<plan::BindingOp> bindings;
  llvm::SmallVector<KernelOutput> outputs;
  /// The ops on tensors that the outputs need, operands before users.
  llvm::SmallVector<mlir::Operation *> tensorOps;

  /// MLIR's op handles are not const-correct; a copy is as good as the original.
  mlir::func::FuncOp getFunction() const { return function; }
  /// Those of tensorOps that reduce.
  llvm::SmallVector<mlir::linalg::LinalgOp> getReductions() const;
  /// True if some binding may be the same memory as another one.
  bool mayAlias() const;
  /// True if no kernel in front writes what `binding` is of: it may be read while that runs. Of an
  /// input of the call, the kernel then has to say so (`cuda.reads_inputs_early`).
  bool isFixed(plan::BindingOp binding) const;
  bool isFixedInput(plan::BindingOp binding) const;
  /// True if each output is all of its binding.
  bool storesWholes() const;
  /// The shape of what is read or written of `binding`: all of it, or a box.
  mlir::ShapedType getAccessedType(plan::BindingOp binding) const;
};

/// Collects it, or says with the op's location what is not as a kernel function has to be.
mlir::FailureOr<KernelInfo> analyzeKernel(mlir::func::FuncOp function);

/// The binding that `tensor` is read from, or null.
plan::BindingOp getSourceBinding(mlir::Value tensor);

/// The size `value` as a formula over the kernel's scalars, where symbol i is `plan.scalar i`; null
/// if it is none.
mlir::AffineExpr getScalarFormula(mlir::OpFoldResult value, mlir::MLIRContext *context);

/// The number of elements of `binding` as such a formula; null if it is none.
mlir::AffineExpr getElementCountFormula(plan::BindingOp binding);

/// The largest value that `value` can have, where scalars say theirs; nothing if it is not bounded.
std::optional<int64_t> getUpperBound(mlir::OpFoldResult value);

/// Bytes of one element in memory.
int64_t getElementBytes(mlir::Type type);

/// Bytes of a buffer of `count` elements in shared memory, and of what is left free behind it.
int64_t countSharedBytes(mlir::Type elementType, int64_t count);

/// The largest scalar number of the function, plus one.
unsigned countScalars(mlir::func::FuncOp function);

} // namespace xc::cuda

#endif // XC_CODEGEN_CUDA_COMMON_KERNELINFO_H
