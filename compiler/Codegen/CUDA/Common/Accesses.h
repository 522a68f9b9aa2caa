//===- Accesses.h - Which elements of its inputs a result needs -----------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_CODEGEN_CUDA_COMMON_ACCESSES_H
#define XC_CODEGEN_CUDA_COMMON_ACCESSES_H

#include "compiler/Codegen/CUDA/Common/KernelInfo.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace xc::cuda {

/// A sum of multiples of loops, each with its factor, and a constant.
struct LoopSum {
  llvm::SmallVector<std::pair<unsigned, int64_t>> loops;
  int64_t constant = 0;
};

/// `expr` as a sum of multiples of loops; nothing if it is none.
std::optional<LoopSum> matchLoopSum(mlir::AffineExpr expr);

/// The coords of the element of the source of `expand` that is at `coords` of its result; nothing
/// if sizes that they depend on are not known.
std::optional<llvm::SmallVector<mlir::AffineExpr>>
getSourceCoords(mlir::tensor::ExpandShapeOp expand, llvm::ArrayRef<mlir::AffineExpr> coords);

/// The place in the source of what `slice` has at `coords`; nothing where its offsets or strides
/// are not constants.
std::optional<llvm::SmallVector<mlir::AffineExpr>>
getSourceCoords(mlir::tensor::ExtractSliceOp slice, llvm::ArrayRef<mlir::AffineExpr> coords);

/// The tensor that `tensor` has the elements of, perhaps with its dims in another order and without
/// some of size 1; `tensor` itself if it is no such copy. `order` becomes the source's dim of each
/// dim of `tensor`.
mlir::Value getPermuted(mlir::Value tensor, llvm::SmallVector<unsigned> &order);

/// A result's element at (d0, d1, ...) needs the element of `tensor`, read from a binding, at
/// `coords`.
struct Access {
  mlir::Value tensor;
  llvm::SmallVector<mlir::AffineExpr> coords;

  /// The dim of the result along which neighbours are neighbours in `tensor`, or nothing.
  std::optional<unsigned> getContiguousDim() const;
};

/// The accesses that are affine in the result's dims; an input that is read in other ways too is
/// left out.
llvm::SmallVector<Access> collectAccesses(mlir::Value result);

/// Output dim `dim` along which some input of the kernel's outputs, all of one shape, has
/// neighbours in memory while the outputs have theirs along their innermost dim; with those inputs.
/// Nothing if reads and writes agree.
struct TransposedInputs {
  unsigned outer, inner;
  llvm::SmallVector<Access> inputs;
  /// The dims that end with `outer`, and those that end with `inner`, which are one dim for the
  /// outputs and these inputs alike.
  llvm::SmallVector<unsigned, 2> outerDims, innerDims;
};
std::optional<TransposedInputs> findTransposedInputs(const KernelInfo &kernel);

/// At most `widest` elements, which divide a line of `size` of them and are one access of each
/// tensor of `kernel`, as bindings are aligned.
int64_t fitVector(const KernelInfo &kernel, int64_t widest, int64_t size);

} // namespace xc::cuda

#endif // XC_CODEGEN_CUDA_COMMON_ACCESSES_H
