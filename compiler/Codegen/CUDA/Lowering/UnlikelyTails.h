//===- UnlikelyTails.h - Unlikely branches that do not come back -*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_CODEGEN_CUDA_LOWERING_UNLIKELYTAILS_H
#define XC_CODEGEN_CUDA_LOWERING_UNLIKELYTAILS_H

namespace llvm {
class Function;
}

namespace xc::cuda {

/// Where an unlikely branch meets the usual path in the last few instructions of the function, it
/// gets those for itself: ptxas puts a branch that comes back between the two, for the usual path
/// to jump over, and one that does not behind them. Where all that the unlikely path does is to
/// compute, and then to store to the same places, the usual one stores before the branch, and waits
/// for it no longer.
void separateUnlikelyTails(llvm::Function &function);

} // namespace xc::cuda

#endif // XC_CODEGEN_CUDA_LOWERING_UNLIKELYTAILS_H
