//===- KernelAnalysis.h - What a kernel reads and writes --------*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Looks through a kernel's ops from its results: at which indices, as formulas over the indices of
// a result, is every piece of memory accessed? The strategies decide by it what can be vectorised
// and which dims can be merged.
//
//===----------------------------------------------------------------------===//

#ifndef XC_CODEGEN_CPU_KERNELANALYSIS_H
#define XC_CODEGEN_CPU_KERNELANALYSIS_H

#include "compiler/Dialect/Kernel/IR/KernelOps.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallBitVector.h"

namespace xc::cpu {

/// What every pass over kernels relies on: one block, and neither arguments nor results, since
/// bindings and scalars are ops.
mlir::LogicalResult verifyKernelFunction(mlir::func::FuncOp kernel);

/// A value that a kernel stores, and where.
struct Root {
  mlir::bufferization::MaterializeInDestinationOp op;
  mlir::Value value;  // tensor
  mlir::Value memory; // memref of the same shape, or where `update` says, of a larger one
  kernel::UpdateOp update = nullptr;
};

llvm::SmallVector<Root> collectRoots(mlir::func::FuncOp kernel);

/// Sizes of a tensor or memref of a kernel: numbers, or values that dominate all of the kernel's
/// loops.
llvm::SmallVector<mlir::OpFoldResult> getSizes(mlir::OpBuilder &builder, mlir::Value shaped);

/// Sizes of the iteration space of |op|.
llvm::SmallVector<mlir::OpFoldResult> getLoopSizes(mlir::OpBuilder &builder,
                                                   mlir::linalg::GenericOp op);

/// Whether |op| computes each element on its own, so that it can be computed wherever an element is
/// needed.
bool isElementwise(mlir::linalg::GenericOp op);

/// Bytes of the widest element that |kernel| computes with. 16-bit floats count as f32, in which
/// they are computed.
int64_t getElementBytes(mlir::func::FuncOp kernel);

/// One access to memory. An index is null where it is not a formula over the dims: a gather, say.
struct Access {
  mlir::Value tensor; // bufferization.to_tensor or a value that the caller keeps in memory
  llvm::SmallVector<mlir::AffineExpr> indices;
};

/// What computing one element of some values involves; dims stand for the indices of that element.
struct AccessSummary {
  explicit AccessSummary(unsigned numDims)
      : readAsIndex(numDims), guarded(numDims), merged(numDims) {}

  llvm::SmallVector<Access> accesses;
  llvm::SmallVector<Access> stops;    // uses of values that the caller computes separately
  llvm::SmallVector<Access> computed; // results of generics that are computed on the way
  llvm::SmallBitVector readAsIndex;   // dims that linalg.index reads
  llvm::SmallBitVector guarded; // dims that decide from where an element comes: pad, insert_slice
  llvm::SmallBitVector merged;  // dims that take part in an index that is more than one dim
  int64_t mathOps = 0;          // transcendental functions on the way
  mlir::Operation *unsupported = nullptr;
};

/// Adds to |summary| what it takes to compute |tensor| at |indices|. Values in |stops| are
/// recorded, not entered.
void summarize(mlir::Value tensor, llvm::ArrayRef<mlir::AffineExpr> indices,
               const llvm::DenseSet<mlir::Value> &stops, AccessSummary &summary);

/// Adds what the body of |op| needs at iteration |loops|; the outputs of reductions are not read.
void summarizeBody(mlir::linalg::GenericOp op, llvm::ArrayRef<mlir::AffineExpr> loops,
                   const llvm::DenseSet<mlir::Value> &stops, AccessSummary &summary);

/// Which dims run as one loop: element d is true if dim d is merged into dim d + 1, since every
/// access steps through both as if they were one. |sizes| are those of the loops over the dims.
/// Dims before |boundary| do not merge with those after it.
llvm::SmallBitVector findMergeableDims(mlir::OpBuilder &builder,
                                       llvm::ArrayRef<mlir::OpFoldResult> sizes, unsigned boundary,
                                       llvm::ArrayRef<AccessSummary> summaries);

} // namespace xc::cpu

#endif // XC_CODEGEN_CPU_KERNELANALYSIS_H
