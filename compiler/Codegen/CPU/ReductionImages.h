//===- ReductionImages.h - Windows over bands of an image -------*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_CODEGEN_CPU_REDUCTIONIMAGES_H
#define XC_CODEGEN_CPU_REDUCTIONIMAGES_H

#include "compiler/Codegen/CPU/ImageWindows.h"
#include "compiler/Codegen/CPU/ReductionLowering.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace xc::cpu {

/// The bands of a kernel that reduces windows which slide along its lanes.
class ImageNest {
public:
  ImageNest(ReductionLowering &lowering, llvm::ArrayRef<SlidingImage> images)
      : lowering(lowering), loc(lowering.kernel.getLoc()), images(images) {}

  /// The loops over bands: those over rows but for the last, the parts of that, and those of the
  /// columns.
  llvm::SmallVector<LoopDim> getLoops(mlir::OpBuilder &builder) const;
  /// Elements that one band reduces, at most.
  int64_t getWork() const;
  /// The bands in `range` of those loops.
  void emit(mlir::OpBuilder &builder, Range range);

private:
  int64_t getBand() const;
  Range getPart(mlir::OpBuilder &builder, mlir::Value part, int64_t size, mlir::OpFoldResult total);
  void emitBand(mlir::OpBuilder &builder, llvm::ArrayRef<LaneIndex> first, Range rows,
                Range columns);
  Buffer locate(mlir::OpBuilder &builder, const SlidingImage &image, mlir::Value memory,
                llvm::ArrayRef<LaneIndex> first);
  void emitCopy(mlir::OpBuilder &builder, const SlidingImage &image, const Buffer &buffer,
                llvm::ArrayRef<LaneIndex> first, Range rows, Range columns);
  void emitLine(mlir::OpBuilder &builder, const SlidingImage &image, const Buffer &buffer,
                llvm::ArrayRef<mlir::Value> places, llvm::MutableArrayRef<LaneIndex> indices,
                mlir::Value count);
  void emitElements(mlir::OpBuilder &builder, const SlidingImage &image, const Buffer &buffer,
                    llvm::ArrayRef<mlir::Value> places, llvm::MutableArrayRef<LaneIndex> indices,
                    mlir::Value count);
  void emitColumns(mlir::OpBuilder &builder, llvm::ArrayRef<LaneIndex> first, int64_t rows,
                   Range columns, const Environment &known);
  mlir::Value constantIndex(mlir::OpBuilder &builder, int64_t value);
  mlir::Value add(mlir::OpBuilder &builder, mlir::Value lhs, mlir::Value rhs);
  mlir::Value scale(mlir::OpBuilder &builder, mlir::Value value, int64_t factor);

  ReductionLowering &lowering;
  mlir::Location loc;
  llvm::ArrayRef<SlidingImage> images;
  llvm::SmallVector<mlir::Value> memories; // of a band of each image
};

} // namespace xc::cpu

#endif // XC_CODEGEN_CPU_REDUCTIONIMAGES_H
