//===- TiledAccess.h - Operands and outputs that boxes can be copied of ---===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_CODEGEN_CUDA_MATMUL_TILEDACCESS_H
#define XC_CODEGEN_CUDA_MATMUL_TILEDACCESS_H

#include "compiler/Codegen/CUDA/Common/SizeQueries.h"
#include "compiler/Codegen/CUDA/Matmul/Contraction.h"

namespace xc::cuda {

/// A tensor in memory as the tensor memory accelerator wants it: its dims are the product's own
/// (merged where they follow one another), the innermost one contiguous, the strides of the others
/// and the place of the first element multiples of 16 bytes.
struct TiledAccess {
  /// The dims of the product's loops that a dim of the tensor runs along. Boxes have one element
  /// along those of the batch and of taps.
  enum class Group { Batch, M, N, K, Tap };
  struct Dim {
    Group group;
    llvm::SmallVector<unsigned> loops; // row-major
    mlir::AffineExpr size, stride;     // in elements, over the kernel's scalars

    bool isSingle() const { return group == Group::Batch || group == Group::Tap; }
  };

  plan::BindingOp binding;
  llvm::SmallVector<Dim> dims; // outermost first
  mlir::AffineExpr offset;     // of the first element in the binding, in elements
};

/// What `op` copies as it is, to other places; `coords`, of a result's element, become those of the
/// element that is copied. Null if it computes anything.
mlir::Value getCopied(mlir::Operation *op, llvm::SmallVector<mlir::AffineExpr> &coords);

/// The sizes of the loops of `contraction`, of its partial sums too.
llvm::SmallVector<plan::FormulaAttr> getProductSizes(const Contraction &contraction,
                                                     KernelSizes &sizes);

/// The access of output `result`. Nothing if boxes of it cannot be copied, with a reason.
std::optional<TiledAccess> matchTiledOutput(const Contraction &contraction,
                                            const ReductionGroup::Result &result,
                                            KernelSizes &sizes, std::string &reason);

/// The same of an input that outputs have an element each of.
std::optional<TiledAccess> matchTiledInput(const Contraction &contraction,
                                           const ReductionGroup::Input &input, KernelSizes &sizes,
                                           std::string &reason);

/// The elements of the widest aligned vectors, of at most 16 bytes, that rows of output `result`
/// are runs of, wherever in memory the rows are: threads can store those where boxes cannot be. 0
/// if its rows do not run along columns of the product.
int64_t getRowVector(const Contraction &contraction, const ReductionGroup::Result &result,
                     KernelSizes &sizes);

/// True if the only output leaves through shared memory: by boxes, or by vectors of neighbours.
bool isStagedOutput(const Contraction &contraction, KernelSizes &sizes);

/// True if rows of a result begin at no multiple of 16 bytes.
bool hasOddRows(const Contraction &contraction, KernelSizes &sizes);

/// That of an operand of the product; it may be a slice or a permutation of a tensor in memory.
std::optional<TiledAccess> matchTiledOperand(const Contraction &contraction,
                                             const Contraction::Side &side, KernelSizes &sizes,
                                             std::string &reason);

} // namespace xc::cuda

#endif // XC_CODEGEN_CUDA_MATMUL_TILEDACCESS_H
