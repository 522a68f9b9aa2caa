//===- Windows.h - Windows as ONNX describes them -------------*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_INPUT_ONNX_WINDOWS_H
#define XC_INPUT_ONNX_WINDOWS_H

#include "compiler/Dialect/Array/IR/Sizes.h"
#include "compiler/Input/ONNX/NodeImport.h"

namespace xc::onnx {

/// A window over the spatial dims of an input, which come behind batch and features.
struct Window {
  llvm::SmallVector<int64_t> kernel, strides, dilations, low, high;

  int64_t getRank() const { return kernel.size(); }
  /// From the first to the last element of the window, inclusive.
  int64_t spread(int64_t dim) const { return array::spreadKnown(kernel[dim], dilations[dim]); }
};

/// Reads `strides`, `dilations`, `pads` and `auto_pad` for a window of size `kernel` over `input`.
/// Records an error where they are no window. Otherwise all that was read is at most kMostAmount,
/// and the window spreads over at most kMostElements. Where `auto_pad` makes pads of a size that is
/// not known, `input` is padded with `with`, if there is one, and the window has none there.
Window readWindow(NodeImport &n, mlir::Value &input, llvm::ArrayRef<int64_t> kernel,
                  mlir::Value with = {});

/// `x` between `low` and `high` elements `with` along `axis`; they are joined to it, since formulas
/// may say how many they are.
mlir::Value joinPads(NodeImport &n, mlir::Value x, int64_t axis, mlir::OpFoldResult low,
                     mlir::OpFoldResult high, mlir::Value with);

/// `input` convolved with `filter`, of any element types that the array op multiplies; the result
/// has element type `element`. Records an error where they do not fit.
mlir::Value convolve(NodeImport &n, mlir::Value input, mlir::Value filter, mlir::Type element);

/// `vector`, one number for each feature, with dims of size 1 for the `spatialRank` dims behind.
mlir::Value alongFeatures(NodeImport &n, mlir::Value vector, int64_t spatialRank);

} // namespace xc::onnx

#endif // XC_INPUT_ONNX_WINDOWS_H
