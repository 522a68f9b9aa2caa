//===- ReductionGroup.h - Reductions that share one iteration space -------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Softmax, layer norm, argmax with their fused producers and consumers: several reductions over the
// same dims of one space, each of which may feed the next one, and results over the whole space or
// over what is left of it. Such a kernel needs one loop over a row for each reduction, or one
// in all if the row stays in registers. The analysis finds, for every tensor, where in the common
// space its elements belong.
//
// The CPU's analysis of the same name needs no common space: it computes one kept point after
// another, in steps (CPU/ReductionGroup.h says what both share).
//
//===----------------------------------------------------------------------===//

#ifndef XC_CODEGEN_CUDA_COMMON_REDUCTIONGROUP_H
#define XC_CODEGEN_CUDA_COMMON_REDUCTIONGROUP_H

#include "compiler/Codegen/CUDA/Common/KernelInfo.h"
#include "compiler/Codegen/Common/Combiner.h"

namespace xc::cuda {

using codegen::Combiner;

struct ReductionGroup {
  /// A reduction and, for each of its loops, its index as an expression over the dims of the space.
  struct Member {
    Combiner combiner;
    llvm::SmallVector<mlir::AffineExpr> loops;
  };
  /// An output and, for each of its dims, its index likewise.
  struct Result {
    KernelOutput output;
    llvm::SmallVector<mlir::AffineExpr> coords;
    /// Over the whole space, over the parallel dims, or of a member of `partials`.
    enum class Kind { Whole, Reduced, Partial } kind;
  };

  /// A reduction of the rows that a product computes, in parts of `columns` (plan::getRowPart).
  struct RowPart {
    Member member;
    Result result;
    int64_t columns;
  };

  /// A reduction of the columns that a product computes, in parts of `rows` (plan::getColumnPart).
  struct ColumnPart {
    Member member;
    Result result;
    int64_t rows;
    /// What is computed of each partial result, for a later such reduction to read.
    llvm::SmallVector<mlir::Value, 1> derived;
  };

  struct Input {
    mlir::Value tensor;
    plan::BindingOp binding;
    llvm::SmallVector<mlir::AffineExpr> coords;

    mlir::MemRefType getMemoryType() const {
      plan::BindingOp op = binding; // MLIR's op handles are not const-correct
      return mlir::cast<mlir::MemRefType>(op.getMemory().getType());
    }
  };

  /// The loops of `root` are the dims of the space.
  mlir::linalg::LinalgOp root;
  /// In the order of the largest input in memory, outermost first.
  llvm::SmallVector<unsigned> parallelDims, reductionDims;
  /// True if neighbours along the innermost reduction dim are neighbours in memory; otherwise those
  /// along the innermost parallel dim are.
  bool reducesContiguousDim;
  llvm::SmallVector<Member, 2> members;
  /// Reductions over the parallel dim instead, in groups whose rows are contiguous: sums over some
  /// rows of what is computed from each row. Nothing in the kernel reads them.
  llvm::SmallVector<Member, 2> partials;
  /// Reductions of rows in parts, in the kernel of a product. Nothing in the kernel reads them, and
  /// what they write is not among `results`.
  llvm::SmallVector<RowPart, 2> rowParts;
  /// Reductions of columns in parts, likewise; later ones may need the results of those before.
  llvm::SmallVector<ColumnPart, 2> columnParts;
  /// Where `partials`, or else `members`, have results for parts of what they reduce: how many.
  /// Iteration i of their loop is of part i mod `parts`.
  int64_t parts = 0;
  llvm::SmallVector<Result, 2> results;
  /// Bindings that are read over the whole space.
  llvm::SmallVector<Input, 2> inputs;
  /// Bindings that are read over all reduction dims, and alike for all of the parallel dims.
  llvm::SmallVector<Input, 2> vectors;
  /// Bindings that are read over the parallel dims alone: an element for each reduced one.
  llvm::SmallVector<Input, 2> reducedInputs;

  /// True if the kernel reduces what a product computes in parts.
  bool hasParts() const { return !rowParts.empty() || !columnParts.empty(); }
  /// True if there is a result for each element of a row.
  bool writesRows() const;
  /// True if elements of a row are needed again after a first reduction of it.
  bool reusesRows() const { return members.size() + partials.size() > 1 || writesRows(); }

  /// MLIR's op handles are not const-correct; a copy is as good as the original.
  mlir::linalg::LinalgOp getRoot() const { return root; }
};

/// Bytes of shared memory by which the threads of a block combine what they have of `members`,
/// where each result takes `count` elements of its type.
int64_t countCombinedBytes(llvm::ArrayRef<ReductionGroup::Member> members, int64_t count);

/// Sorts the loops of `root` into dims of the group, by the largest input's order in memory.
void orderDims(mlir::linalg::LinalgOp root, ReductionGroup &group);

/// Finds the group that makes up all of `kernel`; fails with a reason if there is none.
mlir::FailureOr<ReductionGroup> matchReductionGroup(const KernelInfo &kernel, std::string &reason);

} // namespace xc::cuda

#endif // XC_CODEGEN_CUDA_COMMON_REDUCTIONGROUP_H
