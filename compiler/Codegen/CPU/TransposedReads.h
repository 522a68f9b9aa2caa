//===- TransposedReads.h - Reads across the vectors of a result -*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where an input lies along another dim than the vectors of the result, a square of it is loaded in
// vectors along its own dim and transposed in registers.
//
//===----------------------------------------------------------------------===//

#ifndef XC_CODEGEN_CPU_TRANSPOSEDREADS_H
#define XC_CODEGEN_CPU_TRANSPOSEDREADS_H

#include "compiler/Codegen/CPU/KernelAnalysis.h"
#include "compiler/Codegen/CPU/LoopEmitter.h"

namespace xc::cpu {

struct TransposedReads {
  unsigned row = 0;                   // number of the row loop along which the inputs lie
  llvm::SmallVector<Access> accesses; // to those inputs
};

/// What |summary|, of all results of a nest, reads across the loop |columns|, along one and the
/// same of |rows|. Nothing where there is none, where squares of |lanes| elements do not fit into
/// these loops, or where much is computed of each element.
std::optional<TransposedReads> findTransposedReads(const AccessSummary &summary,
                                                   llvm::ArrayRef<LoopDim> rows,
                                                   const LoopDim &columns, int64_t lanes);

/// Element j of vector i of the result is element i of vector j; as many vectors as they have
/// elements, a power of two.
llvm::SmallVector<mlir::Value> transposeVectors(mlir::OpBuilder &builder, mlir::Location loc,
                                                llvm::ArrayRef<mlir::Value> vectors);

} // namespace xc::cpu

#endif // XC_CODEGEN_CPU_TRANSPOSEDREADS_H
