//===- SizeQueries.h - What analyses ask about sizes ------------*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_CODEGEN_CUDA_COMMON_SIZEQUERIES_H
#define XC_CODEGEN_CUDA_COMMON_SIZEQUERIES_H

#include "compiler/Codegen/CUDA/Common/KernelInfo.h"
#include "compiler/Codegen/Common/KernelSizes.h"

namespace xc::cuda {

using codegen::KernelSizes;

/// The sizes in `kernel`, with what guards of a variant promise of its scalars.
KernelSizes makeSizes(const KernelInfo &kernel);

/// The sizes of what is stored: of the binding, or of a box of it.
llvm::SmallVector<plan::FormulaAttr> getStoredSizes(KernelSizes &sizes, const KernelOutput &output);

} // namespace xc::cuda

#endif // XC_CODEGEN_CUDA_COMMON_SIZEQUERIES_H
