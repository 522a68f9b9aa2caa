//===- LineKernel.h - Kernels of one scan or sort -------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_CODEGEN_CUDA_COMMON_LINEKERNEL_H
#define XC_CODEGEN_CUDA_COMMON_LINEKERNEL_H

#include "compiler/Codegen/CUDA/Common/KernelInfo.h"
#include "compiler/Codegen/CUDA/Common/SizeQueries.h"
#include "compiler/Codegen/Common/LineOp.h"

namespace xc::cuda {

/// A kernel whose outputs are the results of one op on lines.
struct LineKernel {
  mlir::Operation *op;
  /// The binding of each result.
  llvm::SmallVector<plan::BindingOp> results;
};

/// Nothing if the kernel is anything else.
std::optional<LineKernel> matchLineKernel(const KernelInfo &kernel);
/// The same where `config` requires it, with an error unless the op is an `OpTy`. `outputs` says
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
template <typename Size> struct LineSizes {
  Size outer, length, inner;
  Size segment, segments;
};

/// Those of `op`. `getSizes` says the sizes of a tensor, `arithmetic` makes sizes of sizes.
template <typename Size, typename Arithmetic>
LineSizes<Size> splitLines(mlir::Operation *op, Arithmetic &arithmetic,
                           llvm::function_ref<llvm::SmallVector<Size>(mlir::Value)> getSizes) {
  std::optional<codegen::LineOp> lines = codegen::matchLineOp(op);
  assert(lines && "an op on lines");
  llvm::SmallVector<Size> sizes = getSizes(op->getOperand(0));
  llvm::ArrayRef<Size> all(sizes);
  LineSizes<Size> shape;
  shape.outer = arithmetic.product(all.take_front(lines->axis));
  shape.length = sizes[lines->axis];
  shape.inner = arithmetic.product(all.drop_front(lines->axis + 1));
  shape.segment = lines->segment ? arithmetic.constant(lines->segment) : shape.length;
  shape.segments = lines->segment
                       ? arithmetic.ceilDiv(shape.length, arithmetic.constant(lines->segment))
                       : arithmetic.constant(1);
  // The last segment has no total.
  if (lines->givesTotals)
    shape.segments = getSizes(mlir::cast<kernel::ScanOp>(op).getDest())[lines->axis];
  return shape;
}

LineSizes<plan::FormulaAttr> getLineSizes(mlir::Operation *op, KernelSizes &sizes);

} // namespace xc::cuda

#endif // XC_CODEGEN_CUDA_COMMON_LINEKERNEL_H
