//===- AttentionProblem.h - Which attention a kernel computes, and how -----===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_CODEGEN_CUDA_ATTENTION_ATTENTIONPROBLEM_H
#define XC_CODEGEN_CUDA_ATTENTION_ATTENTIONPROBLEM_H

#include "compiler/Codegen/CUDA/Common/SizeQueries.h"
#include "compiler/Codegen/CUDA/IR/AttentionConfig.h"
#include "compiler/Dialect/Kernel/IR/AttentionGradientOp.h"
#include "compiler/Dialect/Tile/IR/TileOps.h"

namespace xc::cuda {

/// Vectors of queries, keys and values are this long at most, and multiples of what a thread loads,
/// or a box moves, at once.
inline constexpr int64_t kMostVector = 256, kVectorStep = 8;
/// Windows of more keys hide nothing that arithmetic on 32 bits could tell.
inline constexpr int64_t kMostWindow = int64_t(1) << 30;
/// From here on products take longer than the softmax between them.
inline constexpr int64_t kLongVector = 128;

/// Elements of a query or of a value, whichever is longer.
int64_t getVector(kernel::AttentionOp op);

/// Whether a strategy of `target` takes `op` whole; null stands for a CPU.
bool hasAttentionKernel(kernel::AttentionOp op, const Target *target, bool wgmma);

/// Whether a kernel on wgmma, or one on mma.sync, takes it.
bool hasWGMMAAttention(kernel::AttentionOp op, const Target *target);
bool hasMMAAttention(kernel::AttentionOp op, const Target *target);

bool hasAttentionKernel(kernel::AttentionGradientOp op, const Target *target, bool wgmma);

/// The attention that `kernel` computes, with elementwise ops that make its mask and perhaps one
/// that permutes its result's rows; null if it is something else.
kernel::AttentionOp matchAttention(const KernelInfo &kernel);

/// For each dim of an output, the dim of the result of attention, or of its gradient, that it is.
/// Dims of size 1 may be missing.
llvm::SmallVector<unsigned> getResultOrder(const KernelOutput &output);

/// The scalar of `kernel` that is the number of keys of a mask which it reads for two keys at a
/// time, if that number is even; nothing where there is none.
std::optional<unsigned> getScalarOfMask(const KernelInfo &kernel);

/// An operand of attention as copies of boxes want it: dims before the length (merged where they
/// follow one another), the length, and the vector, which is contiguous.
struct AttentionOperand {
  plan::BindingOp binding;
  llvm::SmallVector<plan::FormulaAttr> sizes;
  llvm::SmallVector<llvm::SmallVector<unsigned, 1>> dims; // of the tensor, for each size
  llvm::SmallVector<mlir::AffineExpr> strides;            // in elements, over the kernel's scalars
  mlir::AffineExpr offset;                                // of the first element in the binding
};

/// That of `tensor`, which may be a slice or a permutation of a tensor in memory; nothing if boxes
/// of it cannot be copied.
std::optional<AttentionOperand> matchAttentionOperand(mlir::Value tensor, KernelSizes &sizes);

/// Whether boxes of the mask of `op` can be copied: numbers in memory for each query and key, of
/// known sizes.
bool hasCopiedMask(kernel::AttentionOp op, KernelSizes &sizes);

/// The tile of a mask for so many warpgroups' queries and so many keys.
tile::SharedType makeMaskTile(kernel::AttentionOp op, int64_t warpgroups, int64_t keys);

/// A tile that cp.async fills with `rows` vectors of `columns` elements: whole steps of a product,
/// and lines that a swizzle is made for.
tile::SharedType makeCopiedTile(int64_t rows, int64_t columns, mlir::Type element);

/// The least multiple of a product's step along k that `columns` elements fit.
int64_t alignToStep(int64_t columns, mlir::Type element);

/// Whether products of the op, of f32, may round their operands to TF32.
bool mayRoundToTF32(mlir::Operation *op);
/// How many products of 16-bit types on mma.sync take as long as one of the op's.
double countProducts(mlir::Operation *op, mlir::Type element);
/// What products of the op are of, in a tuning table: `f16`, `bf16`, `f32` or `tf32`.
std::string getProductType(mlir::Operation *op, mlir::Type element);

/// Bytes of shared memory that tiles and barriers take.
int64_t countAttentionBytes(kernel::AttentionOp op, AttentionAttr config);

/// What identifies attention in a tuning table: target, type, sizes (batch, heads, queries, keys,
/// elements of keys and values), and which keys are seen.
std::string makeAttentionKey(kernel::AttentionOp op, const Target &target);

/// What the fused kernel of `op` is to be like on `target`, for sizes as far as they are known.
struct AttentionChooser {
  AttentionAttr choose();
  /// The configuration that would be next; nothing if there is none.
  std::optional<AttentionAttr> chooseNext();
  /// How long `config` should take, in microseconds; nothing where sizes are symbolic.
  std::optional<double> predict(AttentionAttr config);
  /// What keeps `op` from `config`; empty if nothing does.
  std::string check(AttentionAttr config);
  std::string makeKey() { return makeAttentionKey(op, target); }

  kernel::AttentionOp op;
  const Target &target;
  bool copiesMask; // hasCopiedMask

private:
  /// That of so many warpgroups in a block.
  AttentionAttr chooseFor(int64_t warpgroups);
};

/// The same of the kernel on mma.sync.
struct MMAAttentionChooser {
  /// Configurations that are worth considering, the best first.
  llvm::SmallVector<AttentionMMAAttr> list();
  std::optional<double> predict(AttentionMMAAttr config);
  std::string check(AttentionMMAAttr config);
  /// Whether the least tiles fit shared memory.
  bool hasRoom();

  kernel::AttentionOp op;
  const Target &target;

private:
  std::optional<AttentionMMAAttr> chooseFor(int64_t warpgroups);
};

} // namespace xc::cuda

#endif // XC_CODEGEN_CUDA_ATTENTION_ATTENTIONPROBLEM_H
