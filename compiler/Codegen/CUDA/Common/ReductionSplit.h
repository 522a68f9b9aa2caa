//===- ReductionSplit.h - Which reductions get two steps ------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_CODEGEN_CUDA_COMMON_REDUCTIONSPLIT_H
#define XC_CODEGEN_CUDA_COMMON_REDUCTIONSPLIT_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace xc::cuda {

struct Target;

/// A reduction, one of its loops, and in how many parts that one is split. Parts have a multiple of
/// `multiple` iterations; they cover the loop, unless iterations are left over. Where it
/// `isCyclic`, iteration i is part i mod `parts` instead.
struct Split {
  mlir::linalg::GenericOp root;
  unsigned loop;
  int64_t parts;
  bool isColumn;
  bool hasRest = false;
  int64_t multiple = 1;
  bool isCyclic = false;
};

/// How `op` is to be split; nothing if it has results enough for the GPU, or is no reduction.
std::optional<Split> chooseSplit(mlir::linalg::GenericOp op);

/// In how many parts a column reduction is split if each part is one block, which loops over rows
/// that are reduced too; nothing if `op` is none, or too small.
std::optional<int64_t> chooseCyclicParts(mlir::linalg::GenericOp op, const Target &target);

/// How many blocks share a row of `length` elements where rows are summed up too, so that their
/// threads have registers for their elements and the sums: those of a cluster, or one; nothing if
/// no number does.
std::optional<int64_t> countRowBlocks(int64_t length, const Target &target);

/// True if `op` reduces columns, of which there are enough without parts.
bool isWideColumnReduction(mlir::linalg::GenericOp op);

/// True if `op` is a product of matrices, which has kernels of its own: its sums are of no row.
bool multipliesMatrices(mlir::linalg::GenericOp op);

/// True if `op` reduces neighbouring loops, or one, and has plain maps.
bool hasRunOfReducedLoops(mlir::linalg::GenericOp op);

/// Makes one loop of those of such a run. Returns the op that is left, the same where it cannot.
mlir::linalg::GenericOp mergeReducedLoops(mlir::linalg::GenericOp op);

/// Makes one loop of neighbouring ones that are reduced together, where no number of equal parts of
/// one of them would do: a long loop can be cut anywhere. Returns the op that is left.
mlir::linalg::GenericOp collapseReducedLoops(mlir::linalg::GenericOp op);

/// True if every operand is indexed by loops alone, each by at most one.
bool hasPlainMaps(mlir::linalg::GenericOp op);

} // namespace xc::cuda

#endif // XC_CODEGEN_CUDA_COMMON_REDUCTIONSPLIT_H
