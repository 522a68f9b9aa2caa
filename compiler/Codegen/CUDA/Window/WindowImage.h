//===- WindowImage.h - Elements of an image under strips of windows -------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_CODEGEN_CUDA_WINDOW_WINDOWIMAGE_H
#define XC_CODEGEN_CUDA_WINDOW_WINDOWIMAGE_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include <optional>
#include <string>

namespace xc::cuda {

/// A dim that windows slide over: element position * stride + tap * dilation + offset.
struct WindowDim {
  unsigned dim;
  unsigned along, tap; // the loops of positions and of taps
  int64_t stride, dilation, offset;

  int64_t getColumn(int64_t position, int64_t tapNumber) const {
    return offset + position * stride + tapNumber * dilation;
  }
};

/// An input that windows slide over, and its dim along which strips of positions lie.
struct WindowImage : WindowDim {
  mlir::OpOperand *operand;
};

/// `dim` of an input that `map` reads, if windows slide over it. Nothing else, with a reason where
/// it is indexed in a way that windows are not; `isPosition` says which loops count positions.
std::optional<WindowDim> matchWindowDim(mlir::AffineMap map, unsigned dim,
                                        llvm::function_ref<bool(unsigned)> isPosition,
                                        std::string &reason);

/// The input of `op` whose innermost dim is the loop `channel` and whose next inner ones windows
/// slide over; `isPosition` says which loops count positions. Nothing, with a reason, if there is
/// none.
std::optional<WindowImage> matchWindowImage(mlir::linalg::LinalgOp op, unsigned channel,
                                            llvm::function_ref<bool(unsigned)> isPosition,
                                            std::string &reason);

} // namespace xc::cuda

#endif // XC_CODEGEN_CUDA_WINDOW_WINDOWIMAGE_H
