//===- ProductParts.h - Sums of products in parts ---------------*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// When a product of few tiles has its sums in parts, one for each of several blocks, and what that
// costs. SplitProducts.cpp makes such parts; OperandAlignment.cpp expects them.
//
//===----------------------------------------------------------------------===//

#ifndef XC_CODEGEN_CUDA_MATMUL_PRODUCTPARTS_H
#define XC_CODEGEN_CUDA_MATMUL_PRODUCTPARTS_H

#include "compiler/Codegen/CUDA/Common/Targets.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace xc::cuda {

/// The side of the smallest tiles on tensor cores.
inline constexpr int64_t kSmallestTile = 64;
/// The shortest part of a sum on tensor cores, and the steps that its tiles are computed in, which
/// parts are multiples of.
inline constexpr int64_t kShortestPart = 512, kPartStep = 64;

/// True if all operands are of a 16-bit float.
bool hasHalfOperands(mlir::linalg::LinalgOp op);
/// True if all operands are of f32, and may be rounded to TF32.
bool hasTF32Operands(mlir::linalg::LinalgOp op);
/// True if tensor cores take the operands and what they are summed up in: one 16-bit float or f32
/// that may be rounded in f32, bytes in i32. Only they end a part of a sum early.
bool hasTensorCoreTypes(mlir::linalg::LinalgOp op);

/// The product of the sizes of `loops`, all of them known; the largest number where it is beyond.
int64_t multiplyRanges(llvm::ArrayRef<int64_t> ranges, llvm::ArrayRef<unsigned> loops);

/// Tiles of `side` x `side` that a product of these sizes has.
int64_t countTiles(int64_t batch, int64_t m, int64_t n, int64_t side);

/// In how many parts sums of `length` elements are at most, where a product has so many `tiles`:
/// 1 if they stay whole, since tiles or sums are enough, or there are none.
int64_t getMostParts(int64_t tiles, int64_t length, const Target &target);

/// The microseconds of the kernel that adds up parts, of so many bytes together: a launch, and a
/// pass over them, which takes from L2 as long as from memory. An H100 took 5.6 us for 16.5 MB and
/// 3.6 for 6.5.
double estimateSumOfParts(const Target &target, double bytes);

/// How long each of `parts` parts of `range` is, as a multiple of `step`.
int64_t getPartSize(int64_t range, int64_t parts, int64_t step);
/// The same where the parts cover all of `range`: the last ones may be shorter, or none.
int64_t getLongPartSize(int64_t range, int64_t parts, int64_t step);

} // namespace xc::cuda

#endif // XC_CODEGEN_CUDA_MATMUL_PRODUCTPARTS_H
