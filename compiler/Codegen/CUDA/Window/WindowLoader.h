//===- WindowLoader.h - Loads of elements under strips of windows ---------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_CODEGEN_CUDA_WINDOW_WINDOWLOADER_H
#define XC_CODEGEN_CUDA_WINDOW_WINDOWLOADER_H

#include "compiler/Codegen/CUDA/Common/PointEmitter.h"
#include "compiler/Codegen/CUDA/Window/WindowImage.h"

namespace xc::cuda {

/// `sums`, one of each result of `combiner`, with the element of a window that `loops` say. A
/// product is added as tensor cores add theirs, in one rounding; of operands of 16 bits it is
/// exact.
llvm::SmallVector<mlir::Value> combineElement(PointEmitter &points, const Combiner &combiner,
                                              mlir::ValueRange sums, llvm::ArrayRef<Coord> loops,
                                              int64_t lanes);

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
  /// i1: the row of the image that is under `loops` is not padding. From then on `emit` takes that
  /// for granted. Null, and nothing changes, where the padding is no zeros, or there is none.
  mlir::Value emitIsRowInside(llvm::ArrayRef<Coord> loops);
  /// i1: the image has elements. Null where that is known, or where without any there are no
  /// positions. Nothing may be loaded of an image of none, though windows lie in its padding.
  mlir::Value emitHasElements();
  /// From now on `emit` gives padding alone, or what is there again.
  void setEmpty(bool isEmptyNow) { isEmpty = isEmptyNow; }
  /// True if the last strip has positions beyond the last one.
  bool isRagged() const;

private:
  mlir::Value emitPadded(mlir::tensor::PadOp pad, llvm::SmallVector<Coord> coords, int64_t column);

  PointEmitter &points;
  mlir::linalg::LinalgOp op;
  const WindowImage &image;
  mlir::Value positions;
  int64_t strip, lanes;
  bool isRowInside = false, isEmpty = false;
};

} // namespace xc::cuda

#endif // XC_CODEGEN_CUDA_WINDOW_WINDOWLOADER_H
