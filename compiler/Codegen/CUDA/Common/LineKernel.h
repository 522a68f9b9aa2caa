//===- LineKernel.h - Kernels of one scan or sort -------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_CODEGEN_CUDA_COMMON_LINEKERNEL_H
#define XC_CODEGEN_CUDA_COMMON_LINEKERNEL_H

#include "compiler/Codegen/CUDA/Common/KernelInfo.h"
#include "compiler/Codegen/CUDA/Common/PointEmitter.h"

namespace xc::cuda {

/// A kernel whose outputs are the results of one op on lines.
struct LineKernel {
  mlir::Operation *op;
  /// The binding of each result.
  llvm::SmallVector<plan::BindingOp> results;
};

/// Nothing if the kernel is anything else.
std::optional<LineKernel> matchLineKernel(const KernelInfo &kernel);
/// The same where `config` demands it, with an error unless the op is an `OpTy`. `outputs` says
/// what the kernel has to have then, as in "one output, the result".
template <typename OpTy>
mlir::FailureOr<LineKernel> requireLineKernel(const KernelInfo &kernel, mlir::Attribute config,
                                              llvm::StringRef outputs) {
  std::optional<LineKernel> lines = matchLineKernel(kernel);
  if (lines && mlir::isa<OpTy>(lines->op))
    return *lines;
  kernel.getFunction().emitOpError("expected ")
      << outputs << " of " << OpTy::getOperationName() << ", for " << config;
  return mlir::failure();
}

/// The sizes of an op on lines: `outer` lines above `inner` lines beside each other, `length`
/// elements each, cut into segments of `segment`.
struct LineShape {
  mlir::Value outer, length, inner;
  mlir::Value segment, segments;
};
LineShape getLineShape(mlir::Operation *op, PointEmitter &points);

} // namespace xc::cuda

#endif // XC_CODEGEN_CUDA_COMMON_LINEKERNEL_H
