//===- WindowGradient.h - Gradients to filters of single channels ---------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_CODEGEN_CUDA_WINDOW_WINDOWGRADIENT_H
#define XC_CODEGEN_CUDA_WINDOW_WINDOWGRADIENT_H

#include "compiler/Codegen/CUDA/Common/Targets.h"
#include "compiler/Codegen/CUDA/Window/WindowImage.h"
#include "compiler/Dialect/Plan/IR/PartialSums.h"

namespace xc::cuda {

/// A depthwise convolution's gradient to its filter: for each tap and channel a sum over the
/// positions of all images,
///
///   w'[r, s, c] += x[n, p + r, q + s, c] * y'[n, p, q, c]
struct WindowGradient {
  mlir::linalg::LinalgOp op;
  WindowImage image;
  unsigned channel;
  llvm::SmallVector<unsigned> taps; // loops of results other than channels, in the result's order
  llvm::SmallVector<unsigned> windowRows; // those other than `image.tap`
  llvm::SmallVector<unsigned> rows;       // loops of the sum other than `image.along`
  int64_t countTaps() const;
  int64_t countWindowRows() const;
  /// Rows, and positions of each; a guess where the sizes of images or their number are symbolic.
  int64_t countRows() const;
  int64_t countPositions() const;
  /// True if sizes of the sum are symbolic. Partial sums then are shares (PartialSums.h).
  bool isOpen() const;
  /// The number of a row, over the op's loops; of known sizes.
  mlir::AffineExpr getRow() const;
};

/// `op` as such a gradient, whose window and channels are known; nothing, with a reason, if it is
/// none. Of partial sums each is of some rows one after the other.
std::optional<WindowGradient> matchWindowGradient(mlir::linalg::LinalgOp op, std::string &reason);

/// How a block shares its part of a sum, of `rows` rows: `workers` take strips of `strip`
/// positions (where rows are of symbolic length, what is left of one position by position), and of
/// each worker's threads one has the sums of a row of the window for `vector` channels, of
/// `chunks`.
struct GradientShape {
  int64_t vector, chunks, workers, strip, rows;
};

/// The shape that should take the least time; nothing where registers do not hold the sums.
std::optional<GradientShape> chooseGradientShape(const WindowGradient &gradient,
                                                 const Target &target);

/// Microseconds of the multiprocessors for their parts of the sum, without those of memory.
double estimateGradient(const WindowGradient &gradient, const GradientShape &shape,
                        const Target &target);

/// Threads of a block, at most: 128 registers for each. Blocks have a multiprocessor of their own.
constexpr int64_t kMostGradientThreads = 512;

/// Replaces `op`, if it is such a gradient, by partial sums of rows and their sum.
bool splitWindowGradient(mlir::linalg::LinalgOp op, const Target &target);

} // namespace xc::cuda

#endif // XC_CODEGEN_CUDA_WINDOW_WINDOWGRADIENT_H
