//===- OutputPlaces.h - Where outputs that are boxes are stored -----------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An output is all of its binding, or a box of it, which `kernel.update` puts there, or lies apart
// in it, or has a slice that is. Strategies compute its elements at indices of the output, and
// store them at those of the binding.
//
//===----------------------------------------------------------------------===//

#ifndef XC_CODEGEN_CUDA_COMMON_OUTPUTPLACES_H
#define XC_CODEGEN_CUDA_COMMON_OUTPUTPLACES_H

#include "compiler/Codegen/CUDA/Common/ReductionGroup.h"

namespace xc::cuda {

/// Where the output's box begins along dim `dim` of its binding, if that is known; 0 of an output
/// that is no box.
std::optional<int64_t> getKnownStart(const KernelOutput &output, unsigned dim);

/// True if that is known of every dim.
bool hasKnownPlace(const KernelOutput &output);

/// The index of the result's element along each dim of its binding, over the dims of the space. Its
/// place is known.
llvm::SmallVector<mlir::AffineExpr> getStoredCoords(const ReductionGroup::Result &result);

} // namespace xc::cuda

#endif // XC_CODEGEN_CUDA_COMMON_OUTPUTPLACES_H
