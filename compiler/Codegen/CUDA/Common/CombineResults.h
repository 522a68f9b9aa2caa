//===- CombineResults.h - Code that combines partial results ----*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_CODEGEN_CUDA_COMMON_COMBINERESULTS_H
#define XC_CODEGEN_CUDA_COMMON_COMBINERESULTS_H

#include "compiler/Codegen/Common/Combiner.h"

namespace xc::cuda {

using codegen::Combiner;

/// Builds what `combiner` makes of two partial results. They may be vectors, which are combined
/// lane by lane.
llvm::SmallVector<mlir::Value> combineResults(mlir::OpBuilder &builder, mlir::Location loc,
                                              const Combiner &combiner, mlir::ValueRange first,
                                              mlir::ValueRange second);
/// The same for results of which the first is known to be that of earlier elements.
llvm::SmallVector<mlir::Value> combineInOrder(mlir::OpBuilder &builder, mlir::Location loc,
                                              const Combiner &combiner, mlir::ValueRange first,
                                              mlir::ValueRange second);

} // namespace xc::cuda

#endif // XC_CODEGEN_CUDA_COMMON_COMBINERESULTS_H
