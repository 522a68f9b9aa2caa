//===- SizeQueries.cpp - What analyses ask about sizes --------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Common/SizeQueries.h"

#include "compiler/Codegen/CUDA/IR/CUDAConfig.h"

using namespace mlir;

namespace xc::cuda {

KernelSizes makeSizes(const KernelInfo &kernel) {
  func::FuncOp function = kernel.getFunction();
  return KernelSizes(function, StringAttr::get(function.getContext(), kDivisorAttr));
}

SmallVector<plan::FormulaAttr> getStoredSizes(KernelSizes &sizes, const KernelOutput &output) {
  plan::BindingOp binding = output.binding;
  return sizes.getSizes(output.isWhole() ? binding.getMemory() : output.tensor);
}

} // namespace xc::cuda
