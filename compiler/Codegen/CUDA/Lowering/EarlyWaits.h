//===- EarlyWaits.h - Waits for products before index arithmetic -*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_CODEGEN_CUDA_LOWERING_EARLYWAITS_H
#define XC_CODEGEN_CUDA_LOWERING_EARLYWAITS_H

namespace llvm {
class Function;
}

namespace xc::cuda {

/// Moves a `wgmma.wait_group` to the beginning of its block where only integer arithmetic comes
/// before it. LLVM sinks the arithmetic of a tile's place behind the loop over the sum, in front of
/// the wait for the last products, and ptxas 13 then may run all products of the loop one by one
/// (C7514). Of the two it still may schedule what it likes first.
void moveWaitsUp(llvm::Function &function);

} // namespace xc::cuda

#endif // XC_CODEGEN_CUDA_LOWERING_EARLYWAITS_H
