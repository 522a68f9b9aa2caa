//===- WindowImage.h - Elements of an image under strips of windows -------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_CODEGEN_CUDA_WINDOW_WINDOWIMAGE_H
#define XC_CODEGEN_CUDA_WINDOW_WINDOWIMAGE_H

#include "compiler/Codegen/CUDA/Common/PointEmitter.h"

#include <optional>
#include <string>

namespace xc::cuda {

/// An input that windows slide over, and its dim along which strips of positions lie: element
/// position * stride + tap * dilation + offset.
struct WindowImage {
  mlir::OpOperand *operand;
  unsigned dim;
  unsigned along, tap; // the loops of positions and of taps
  int64_t stride, dilation, offset;

  int64_t getColumn(int64_t position, int64_t tapNumber) const {
    return offset + position * stride + tapNumber * dilation;
  }
};

/// The input of `op` whose innermost dim is the loop `channel` and whose next inner ones windows
/// slide over; `isPosition` says which loops count positions. Nothing, with a reason, if there is
/// none.
std::optional<WindowImage> matchWindowImage(mlir::linalg::LinalgOp op, unsigned channel,
                                            llvm::function_ref<bool(unsigned)> isPosition,
                                            std::string &reason);

/// `sum` with the element `leaf` of a window. A product is added as tensor cores add theirs, in one
/// rounding; of operands of 16 bits it is exact.
mlir::Value combineLeaf(PointEmitter &points, const Combiner &combiner, mlir::Value sum,
                        mlir::Value leaf);

/// Loads elements of an image under strips of `strip` positions.
class WindowLoader {
public:
  WindowLoader(PointEmitter &points, mlir::linalg::LinalgOp op, const WindowImage &image,
               mlir::Value positions, int64_t strip, int64_t lanes)
      : points(points), op(op), image(image), positions(positions), strip(strip), lanes(lanes) {}

  /// The element `column` behind that of position `start`, and where `loops` are, as a vector of
  /// channels. Of padding the nearest element inside is loaded, and the padding is selected in its
  /// place: no branch keeps loads from starting together.
  mlir::Value emit(llvm::ArrayRef<Coord> loops, mlir::Value start, int64_t column);
  /// True if the last strip has positions beyond the last one.
  bool isRagged() const;

private:
  mlir::Value emitPadded(mlir::tensor::PadOp pad, llvm::SmallVector<Coord> coords, int64_t column);

  PointEmitter &points;
  mlir::linalg::LinalgOp op;
  const WindowImage &image;
  mlir::Value positions;
  int64_t strip, lanes;
};

} // namespace xc::cuda

#endif // XC_CODEGEN_CUDA_WINDOW_WINDOWIMAGE_H
