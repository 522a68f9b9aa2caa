//===- ConvolutionKey.h - What a tuning key says of windows -----*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_CODEGEN_CUDA_MATMUL_CONVOLUTIONKEY_H
#define XC_CODEGEN_CUDA_MATMUL_CONVOLUTIONKEY_H

#include "compiler/Codegen/CUDA/Matmul/Contraction.h"

namespace xc::cuda {

/// True if the product is a convolution or one of its gradients: windows move over an operand.
bool hasWindows(const Contraction &contraction);

/// Such a product as a tuning key has it: the sizes of its loops, and by which of them operands and
/// results are indexed. Nothing, with a reason, where an operand is not read from memory so.
std::optional<std::string> describeWindows(const Contraction &contraction, std::string &reason);

} // namespace xc::cuda

#endif // XC_CODEGEN_CUDA_MATMUL_CONVOLUTIONKEY_H
