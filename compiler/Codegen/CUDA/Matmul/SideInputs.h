//===- SideInputs.h - What each output has an element of --------*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_CODEGEN_CUDA_MATMUL_SIDEINPUTS_H
#define XC_CODEGEN_CUDA_MATMUL_SIDEINPUTS_H

#include "compiler/Codegen/CUDA/Matmul/MatmulModel.h"
#include "compiler/Codegen/CUDA/Matmul/TiledAccess.h"

namespace xc::cuda {

/// True if each element of the first result has an element of its own of `input`: a residual, a
/// gate.
bool isSideInput(const Contraction &contraction, const ReductionGroup::Input &input);

/// The access of a side input that the ring can bring beside the operands on wgmma, in whatever
/// tiles: it is of their type, and each element is for the output at its own place alone. Nothing
/// if threads have to load it.
std::optional<TiledAccess> matchSideInput(const Contraction &contraction,
                                          const ReductionGroup::Input &input, KernelSizes &sizes);

/// Tells the model of side inputs: their bytes, and how many of them the ring can bring.
void describeSideInputs(MatmulProblem &problem, const Contraction &contraction, KernelSizes &sizes);

} // namespace xc::cuda

#endif // XC_CODEGEN_CUDA_MATMUL_SIDEINPUTS_H
