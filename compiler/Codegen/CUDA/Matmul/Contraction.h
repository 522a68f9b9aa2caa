//===- Contraction.h - Matrix products and what surrounds them ------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which op is a product, and in which roles its loops are, both targets ask plan::matchProduct and
// plan::matchMultiplyAdd. Here is what CUDA's kernels ask beyond that: how operands lie in memory,
// what copies them, and which instructions know their types. The CPU packs its operands, and has
// other questions (CPU/Contraction.h).
//
//===----------------------------------------------------------------------===//

#ifndef XC_CODEGEN_CUDA_MATMUL_CONTRACTION_H
#define XC_CODEGEN_CUDA_MATMUL_CONTRACTION_H

#include "compiler/Codegen/CUDA/Common/ReductionGroup.h"
#include "compiler/Dialect/Plan/IR/PartialSums.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace xc::cuda {

/// Rows of the parts that columns of a product are reduced in: those of one wgmma, and of a warp of
/// mma.sync.
inline constexpr int64_t kPartRows = 64;

/// A kernel whose only reduction is `c[batch, m, n] += a[batch, m, k] * b[batch, k, n]`, each
/// letter standing for any number of dims: a matrix product, or a convolution, one of whose
/// operands is indexed by sums of dims of different letters. `b` is the operand whose own dims are
/// innermost in the result. Where wgmma may take the product, a dim that only one operand has, and
/// that loops over matrices of it with k between, counts as batch.
struct Contraction {
  struct Side {
    mlir::OpOperand *operand;
    /// The casts of the body from the operand's element to what is multiplied, in order.
    llvm::SmallVector<mlir::Operation *> casts;
    /// True if neighbours along k, not along the side's own dim, are neighbours in memory.
    bool isKContiguous;
    /// True if neighbours in memory have neighbouring indices, so that several are one access.
    bool isVectorizable;

    /// The operand as padding of another tensor by zeros; null if it is none.
    mlir::tensor::PadOp getZeroPadding() const;
    /// The binding that elements can be copied from as they are: the operand, or what it pads with
    /// zeros; null if elements are computed.
    plan::BindingOp getCopySource() const;
    /// True if what is multiplied is the element as a number without a sign.
    bool isUnsigned() const;
  };

  ReductionGroup group;
  llvm::SmallVector<unsigned> batch, m, n, k;
  /// Loops of the sum that are not among `k`: a convolution's filter has them outside of channels,
  /// see Convolution.h. Otherwise there are none.
  llvm::SmallVector<unsigned> taps;
  Side a, b;
  mlir::Type accumulatorType;
  /// Where the op's results are partial sums: each of them is a product of a batch, whose number is
  /// one more loop behind the op's own. It sums up k from number x size on. Of shares that size is
  /// a multiple of `kShareStep`, the same for all; the last ones may have nothing.
  std::optional<plan::PartialSums> partial;

  /// True if loops `dims` of a convolution, which is no linalg.contract, count positions: there are
  /// several of those, and one of features.
  bool countsPositions(llvm::ArrayRef<unsigned> dims) const;
  mlir::linalg::LinalgOp getOp() const { return group.root; }
  /// The static ranges of the op's loops, and of that of partial sums.
  llvm::SmallVector<int64_t> getRanges() const;
  /// The product of the ranges of `dims`; nothing if one is symbolic.
  std::optional<int64_t> getProduct(llvm::ArrayRef<unsigned> dims) const;
  /// How long each sum is: that of `k`, or of a part of it.
  std::optional<int64_t> getSumLength() const;
  /// True if both operands are f16 or both are bf16, each extended to f32 and nothing else.
  bool hasHalfOperands() const;
  /// True if operands and sums are f32 as they are stored.
  bool hasSingleOperands() const;
  /// True if operands and sums are f64.
  bool hasDoubleOperands() const;
  /// True if both operands are 8-bit integers, extended to 32 bits with or without a sign, and sums
  /// are i32.
  bool hasByteOperands() const;
  /// The same, both with their signs.
  bool hasSignedByteOperands() const;
  /// True if both operands are elements of 4 or 8 bytes in memory, multiplied as they are stored,
  /// and found there by at most one dim of k.
  bool hasCopiedFactors() const;
  /// True if mma.sync knows the types (f32 where operands may be rounded).
  bool hasMMATypes() const { return hasHalfOperands() || hasSingleOperands() || hasByteOperands(); }
  /// True if wgmma knows the types (f32 where operands may be rounded).
  bool hasWGMMATypes() const {
    return hasHalfOperands() || hasSingleOperands() || hasSignedByteOperands();
  }
  /// wgmma takes operands of other than 16 bits only along k, but the first one from registers,
  /// too, which any order can be read to. True if `b` is to be the first one.
  bool beginsWithB() const;
  /// True if neither order of the operands will do, so that the second one must be transposed.
  bool runsAcrossK() const;
  /// The columns of a part of a row, where reductions of rows in parts are in the kernel; 1 if none
  /// are. Whatever tile it takes, no part is in two warps.
  int64_t getPartColumns() const;
  /// The rows of a part of a column, where reductions of columns in parts are in the kernel; 1 if
  /// none are. All of a part is in one tile.
  int64_t getPartRows() const { return group.columnParts.empty() ? 1 : kPartRows; }
};

/// Why no other kernel takes such a product.
inline constexpr llvm::StringLiteral kReducesInParts =
    "its rows or columns are reduced, which only kernels on tensor cores do";

/// Terms of a sum that are all in one share: a multiple of what steps along k have.
inline constexpr int64_t kShareStep = 64;

/// True if `op` is the product of a vector and a matrix of 16-bit types that wgmma streams best:
/// the matrix is large, is not reduced along its rows, and its rows are aligned.
bool isStreamedProduct(mlir::linalg::LinalgOp op, const Target &target);

/// True if the memory of `operand` runs along a loop of the sum `k`, and none of its `own`.
bool runsAlongSum(mlir::linalg::LinalgOp op, mlir::OpOperand *operand, llvm::ArrayRef<unsigned> own,
                  llvm::ArrayRef<unsigned> k);

/// True if windows move over the operand of a product, as over the image of a convolution and of
/// its gradients: it is padded, or indexed by sums or multiples of loops.
bool isWindowed(mlir::linalg::LinalgOp op, mlir::OpOperand *operand);

/// The operand in whose order kernels go through the sum: `b`, or `a` where the memory of that one
/// alone runs along it.
template <typename Side> const Side &getOrderOfSum(const Side &a, const Side &b) {
  return a.isKContiguous && !b.isKContiguous ? a : b;
}

/// What keeps a kernel of configuration `config` from giving such partial sums; empty if nothing
/// does. Their steps along k must be whole.
std::string checkPartialSums(const plan::PartialSums &sums, mlir::Attribute config);

/// Fails with a reason if the kernel is no such product, or one without m or n (a reduction, then,
/// unless it is a streamed product).
mlir::FailureOr<Contraction> matchContraction(const KernelInfo &kernel, std::string &reason);
/// The same for a kernel that is configured to be one: if it is not, an error says why.
mlir::FailureOr<Contraction> requireContraction(const KernelInfo &kernel, mlir::Attribute config);

} // namespace xc::cuda

#endif // XC_CODEGEN_CUDA_MATMUL_CONTRACTION_H
