//===- WindowStrips.h - Windows of neighbours that share their elements ---===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_CODEGEN_CUDA_WINDOW_WINDOWSTRIPS_H
#define XC_CODEGEN_CUDA_WINDOW_WINDOWSTRIPS_H

#include "compiler/Codegen/CUDA/Common/KernelInfo.h"
#include "compiler/Codegen/CUDA/Window/WindowImage.h"
#include "compiler/Codegen/Common/Combiner.h"

namespace xc::cuda {

using codegen::Combiner;

/// A kernel that reduces windows of an image whose channels are innermost in memory and have
/// results of their own, as pools and depthwise convolutions do. What follows works element by
/// element. A strip is some neighbouring positions along one spatial dim, whose windows overlap.
struct WindowStrips {
  Combiner combiner;
  WindowImage image;
  unsigned channel;                      // the loop of channels, innermost in image and results
  std::optional<unsigned> rows;          // the loop of positions outside of `image.along`
  llvm::SmallVector<unsigned> outerTaps; // the window's loops but `image.tap`
  llvm::SmallVector<unsigned> outer;     // loops of results other than those above
  /// The image's dim of rows, where windows of several rows of positions share them, and nothing
  /// but the image differs from row to row.
  std::optional<WindowDim> sharedRows;

  mlir::linalg::LinalgOp getOp() const { return combiner.getOp(); }
  /// Elements of a window along strips, and of all of it.
  int64_t countTaps() const;
  int64_t countElements() const;
  /// True if windows of neighbours along strips, or of neighbouring rows, have elements in common.
  bool overlap() const { return image.stride < countTaps() || sharedRows; }
  /// Elements of the image along a strip of `positions`, from the first to the last one read.
  int64_t countColumns(int64_t positions) const;
};

/// The kernel's windows; nothing, with a reason, if it has others or does more.
std::optional<WindowStrips> matchWindowStrips(const KernelInfo &kernel, std::string &reason);

/// Windows of at most so many elements are unrolled whole; of others a row at a time.
constexpr int64_t kUnrolledWindow = 9;
/// The longest row of a window, which is unrolled.
constexpr int64_t kLongestRow = 16;

} // namespace xc::cuda

#endif // XC_CODEGEN_CUDA_WINDOW_WINDOWSTRIPS_H
