//===- MatmulTiles.h - Which tiles a matrix product gets ------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_CODEGEN_CUDA_MATMUL_MATMULTILES_H
#define XC_CODEGEN_CUDA_MATMUL_MATMULTILES_H

#include "compiler/Codegen/CUDA/Common/Targets.h"
#include "compiler/Codegen/CUDA/IR/CUDAConfig.h"
#include "compiler/Codegen/CUDA/Matmul/Contraction.h"

#include <cstdint>
#include <optional>
#include <string>

namespace xc::cuda {

/// What cp.async copies at least.
inline constexpr int64_t kFewestCopiedBytes = 4;

/// What the choice of tiles depends on.
struct ProductSize {
  /// Extents of one product, and how many of them there are; a typical value where one is symbolic.
  int64_t batch, m, n;
  /// Tiles at the edges may be incomplete, so that every copy is checked.
  bool isRagged = false;
  /// Both operands go to shared memory by cp.async; else registers hold what is on its way.
  bool isCopied = false;
  /// What each copy moves at a time.
  int64_t copyBytes = 16;
  /// Indices are 64 bits wide.
  bool isWide = false;
  /// What follows the product needs registers of its own: it computes math functions, or stores
  /// elements one by one.
  bool isDemanding = false;
  /// Rows of outputs are of odd length, and are stored element by element.
  bool hasOddRows = false;
  /// Some operand is loaded element by element.
  bool isScattered = false;
  /// Columns of the parts that rows are reduced in, each by one warp.
  int64_t partColumns = 1;
  /// Rows of the parts that columns are reduced in, likewise.
  int64_t partRows = 1;
  /// Of the operands: 2, 4 for f32 that is multiplied as TF32, or 1.
  int64_t elementBytes = 2;
  /// The length of sums, if it is known.
  std::optional<int64_t> k = {};
  /// Of an element of the output, and what is stored beside it.
  int64_t outputBytes = 4;

  /// Copies are many, of less than 16 bytes each.
  bool hasNarrowCopies() const { return isCopied && copyBytes < 16; }
};

/// The mma.sync tiles with the least predicted time; see MMAModel.h. `second` becomes those next to
/// them, null if there are none.
MatmulMMAAttr chooseMMATiles(mlir::MLIRContext *context, const Target &target,
                             const ProductSize &size, MatmulMMAAttr &second);

/// The microseconds that the product should take in tiles of `config`.
double estimateMMATiles(const Target &target, const ProductSize &size, MatmulMMAAttr config);

/// The microseconds of those with the least; infinite if none fit.
double estimateBestMMATiles(const Target &target, const ProductSize &size);

/// What products of the contraction's types and layouts need and `config` does not give; empty if
/// nothing is missing.
std::string checkMMATiles(const Contraction &contraction, MatmulMMAAttr config);

} // namespace xc::cuda

#endif // XC_CODEGEN_CUDA_MATMUL_MATMULTILES_H
