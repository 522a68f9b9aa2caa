//===- ReductionStrips.h - Windows of neighbouring points -------*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_CODEGEN_CPU_REDUCTIONSTRIPS_H
#define XC_CODEGEN_CPU_REDUCTIONSTRIPS_H

#include "compiler/Codegen/CPU/ReductionLowering.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace xc::cpu {

/// The rows of a kernel that reduces windows, some neighbouring ones at a time.
class StripNest {
public:
  explicit StripNest(ReductionLowering &lowering)
      : lowering(lowering), loc(lowering.kernel.getLoc()) {}

  /// Whether the kernel has what strips are made of, and its configuration wants them.
  bool isPossible() const;
  /// Loops over the rows in `range`: `emitAll` has strips emitted, `emitOne` the point that it is
  /// given.
  void emit(mlir::OpBuilder &builder, Range range,
            llvm::function_ref<void(mlir::OpBuilder &, llvm::ArrayRef<LaneIndex>)> emitOne,
            llvm::function_ref<void(mlir::OpBuilder &, StripNest &)> emitAll);
  /// `lanes` columns of the strip at hand.
  void emitStrip(mlir::OpBuilder &builder, const LaneIndex &column, int64_t lanes);
  /// `lanes` columns of each of `points`, by what `known` says.
  void emitPoints(mlir::OpBuilder &builder, llvm::ArrayRef<llvm::SmallVector<LaneIndex>> points,
                  const Environment &known, int64_t lanes);
  /// `count` neighbours along the last row loop, from `first` on.
  llvm::SmallVector<llvm::SmallVector<LaneIndex>> getNeighbours(mlir::OpBuilder &builder,
                                                                llvm::ArrayRef<LaneIndex> first,
                                                                int64_t count,
                                                                const LaneIndex &column);

private:
  const Step &getStep() const { return *lowering.phases.front().front().steps.front(); }
  mlir::Value emitReached(mlir::OpBuilder &builder, mlir::AffineExpr expr, bool isLast);
  mlir::Value emitInside(mlir::OpBuilder &builder, mlir::tensor::PadOp pad, mlir::AffineMap map);
  mlir::Value emitFits(mlir::OpBuilder &builder, mlir::Value linear, mlir::Value end);
  void emitTaps(PointEvaluator &evaluator, llvm::ArrayRef<llvm::SmallVector<LaneIndex>> points,
                llvm::MutableArrayRef<LaneIndex> place, llvm::MutableArrayRef<mlir::Value> sums);
  llvm::SmallVector<mlir::Value> emitSums(mlir::OpBuilder &builder,
                                          llvm::ArrayRef<llvm::SmallVector<LaneIndex>> points,
                                          const Environment &known, int64_t lanes);
  void emitStores(mlir::OpBuilder &builder, llvm::ArrayRef<llvm::SmallVector<LaneIndex>> points,
                  llvm::ArrayRef<mlir::Value> sums, const Environment &known, int64_t lanes);
  mlir::Value constantIndex(mlir::OpBuilder &builder, int64_t value);
  mlir::Value isLess(mlir::OpBuilder &builder, mlir::Value lhs, mlir::Value rhs);
  mlir::Value both(mlir::OpBuilder &builder, mlir::Value lhs, mlir::Value rhs);

  ReductionLowering &lowering;
  mlir::Location loc;
  llvm::SmallVector<LaneIndex> first; // the kept indices of the strip's first point
  Environment knownInside;            // of strips: padding that no window of them reaches
};

} // namespace xc::cpu

#endif // XC_CODEGEN_CPU_REDUCTIONSTRIPS_H
