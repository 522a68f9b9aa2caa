//===- OutputStores.h - Stores of outputs that may be boxes -------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_CODEGEN_CUDA_COMMON_OUTPUTSTORES_H
#define XC_CODEGEN_CUDA_COMMON_OUTPUTSTORES_H

#include "compiler/Codegen/CUDA/Common/PointEmitter.h"

namespace xc::cuda {

/// The row-major position in its binding of the output's element at `point`, which is one of the
/// output (OutputPlaces.h); where elements lie apart, that of the first place of its cell. Fills in
/// the indices of `point`.
Coord getStoredPosition(PointEmitter &points, const KernelOutput &output, Point &point);

/// Stores what the output has at `point`, whose stored position is `flat`, and what lies beside it.
void storeElements(PointEmitter &points, const KernelOutput &output, const Point &point,
                   const Coord &flat, mlir::Value value, mlir::Value mask = {});

} // namespace xc::cuda

#endif // XC_CODEGEN_CUDA_COMMON_OUTPUTSTORES_H
