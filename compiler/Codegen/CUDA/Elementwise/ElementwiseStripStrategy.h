//===- ElementwiseStripStrategy.h - Times of elementwise strips -*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_CODEGEN_CUDA_ELEMENTWISE_ELEMENTWISESTRIPSTRATEGY_H
#define XC_CODEGEN_CUDA_ELEMENTWISE_ELEMENTWISESTRIPSTRATEGY_H

#include "compiler/Codegen/CUDA/Elementwise/ElementwiseStrips.h"

namespace xc::cuda {

/// The microseconds of the kernel where threads compute strips of that shape. Symbolic sizes are
/// guesses.
double estimateStrips(const KernelInfo &kernel, const ElementwiseStrips &strips,
                      const StripShape &shape);

} // namespace xc::cuda

#endif // XC_CODEGEN_CUDA_ELEMENTWISE_ELEMENTWISESTRIPSTRATEGY_H
