//===- FoldNumbers.h - Integers that are known while importing -*- C++ -*--===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_INPUT_ONNX_FOLDNUMBERS_H
#define XC_INPUT_ONNX_FOLDNUMBERS_H

#include "compiler/Input/ONNX/NodeImport.h"

namespace xc::onnx {

/// More numbers than that are data, not a shape.
inline constexpr int64_t kMostKnown = 64;

/// The least and the most that a number may be; `kUnbounded` and its negative where nobody knows.
struct Bounds {
  static constexpr int64_t kUnbounded = int64_t(1) << 61;
  int64_t low = -kUnbounded, high = kUnbounded;
};

/// Bounds of a number that is made of sizes, which are not negative.
Bounds findBounds(mlir::OpFoldResult number);

/// `from` broadcast to `shape`, aligned at the last dim; `shape` fits.
NumberArray broadcastNumbers(const NumberArray &from, llvm::ArrayRef<int64_t> shape);

/// What a Slice takes of a dim: `count` elements, `step` apart, from `first` on.
struct SlicedDim {
  int64_t first, count, step;
};

/// A Slice of a dim of \p size by a \p step that is not 0. ONNX clamps what lies outside of the
/// dim: an end to the place before the first element where it counts down, but a start to the
/// first element itself.
SlicedDim clampSlice(int64_t size, int64_t start, int64_t end, int64_t step);

/// Binds an output; false where a number is too large for its type, and would wrap.
bool setKnown(NodeImport &n, unsigned output, NumberArray known);

/// Ops that move the numbers of `inputs` and change none; false where they give no answer.
bool foldMovement(NodeImport &n, llvm::ArrayRef<NumberArray> inputs);

} // namespace xc::onnx

#endif // XC_INPUT_ONNX_FOLDNUMBERS_H
