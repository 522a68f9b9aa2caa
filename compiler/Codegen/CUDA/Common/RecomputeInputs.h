//===- RecomputeInputs.h - Reductions that compute what they read ---------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_CODEGEN_CUDA_COMMON_RECOMPUTEINPUTS_H
#define XC_CODEGEN_CUDA_COMMON_RECOMPUTEINPUTS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace xc::cuda {

/// Computes elementwise inputs of the reduction `op` in its body where others use them as well, if
/// what they are made of is no more to read than they are. Then they need not be in memory before
/// the reduction begins. Where `op` has plain maps (hasPlainMaps), the op that is left has them
/// too. Returns that op.
mlir::linalg::GenericOp recomputeInputs(mlir::linalg::GenericOp op);

/// Makes the one elementwise op that still needs what `producer` computes, if only one does and
/// can, compute it itself.
void fuseIntoLastUser(mlir::Operation *producer);

} // namespace xc::cuda

#endif // XC_CODEGEN_CUDA_COMMON_RECOMPUTEINPUTS_H
