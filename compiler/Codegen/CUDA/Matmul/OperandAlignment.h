//===- OperandAlignment.h - Which operands get aligned rows -----*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_CODEGEN_CUDA_MATMUL_OPERANDALIGNMENT_H
#define XC_CODEGEN_CUDA_MATMUL_OPERANDALIGNMENT_H

#include "compiler/Codegen/CUDA/Common/Targets.h"
#include "compiler/Codegen/CUDA/Matmul/MatmulModel.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include <optional>

namespace xc::cuda {

/// The product as the model of wgmma sees it, with operands in rows that boxes can be copied of,
/// whatever rows they have now. Nothing if a size is 0 or not known, or wgmma does not know the
/// types.
std::optional<MatmulProblem> makeAlignedProblem(mlir::linalg::ContractOp op);

/// True if the rows of all operands begin at multiples of 16 bytes, so that wgmma takes them as
/// they lie.
bool hasAlignedOperands(mlir::linalg::ContractOp op);

/// The operands whose rows are to be copied to where they begin at multiples of 16 bytes: all that
/// keep the product from wgmma, where that is worth the copies.
llvm::SmallVector<mlir::OpOperand *> chooseOperandsToAlign(mlir::linalg::ContractOp op,
                                                           const Target &target);

/// The microseconds of `part` of the sums of `op`, or of all of them, `whole`: on wgmma, where its
/// operands lie so or are copied, or on mma.sync. `endsEarly`: the last part of each sum is
/// shorter.
double estimatePart(mlir::linalg::ContractOp op, const MatmulProblem &whole,
                    const MatmulProblem &part, bool endsEarly, const Target &target);

} // namespace xc::cuda

#endif // XC_CODEGEN_CUDA_MATMUL_OPERANDALIGNMENT_H
