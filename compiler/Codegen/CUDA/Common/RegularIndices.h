//===- RegularIndices.h - Indices of places that go up evenly ---*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_CODEGEN_CUDA_COMMON_REGULARINDICES_H
#define XC_CODEGEN_CUDA_COMMON_REGULARINDICES_H

#include "compiler/Codegen/CUDA/Common/IndexBuilder.h"
#include "compiler/Dialect/Plan/IR/RegularPlaces.h"

namespace xc::cuda {

/// What `place` is where its loop has index `i`. Of neighbours i, t * n + j with constants n and j,
/// what is the same place is the same value, where n is a multiple of the place's period.
mlir::Value emitPlace(IndexBuilder &index, mlir::Value i, const plan::RegularPlace &place);

} // namespace xc::cuda

#endif // XC_CODEGEN_CUDA_COMMON_REGULARINDICES_H
