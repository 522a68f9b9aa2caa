//===- LoopEmitter.h - Workgroups and loops of a kernel ---------*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the strategies share: merged dims, the grid and what one workgroup of it does, and loops
// over lanes.
//
//===----------------------------------------------------------------------===//

#ifndef XC_CODEGEN_CPU_LOOPEMITTER_H
#define XC_CODEGEN_CPU_LOOPEMITTER_H

#include "compiler/Codegen/CPU/PointEvaluator.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/SmallBitVector.h"

namespace xc::cpu {

/// One loop, over one dim or over neighbouring dims merged into one.
struct LoopDim {
  llvm::SmallVector<unsigned> dims;
  mlir::OpFoldResult size;

  /// Sets the indices of this loop's dims in |point|.
  void setIndex(llvm::MutableArrayRef<LaneIndex> point, const LaneIndex &index) const;
};

/// The loops over |dims| (in order), where mergeable[d] merges dim d into the one after it.
llvm::SmallVector<LoopDim> mergeDims(mlir::OpBuilder &builder, mlir::Location loc,
                                     llvm::ArrayRef<unsigned> dims,
                                     llvm::ArrayRef<mlir::OpFoldResult> sizes,
                                     const llvm::SmallBitVector &mergeable);

mlir::OpFoldResult getProduct(mlir::OpBuilder &builder, mlir::Location loc,
                              llvm::ArrayRef<LoopDim> loops);

/// A range of a loop that one workgroup runs.
struct Range {
  mlir::Value begin, end;
  /// end - begin is known to be a multiple of this.
  int64_t divisor = 1;
};

/// How a loop nest is spread over the grid: rows (all loops but one, as one number) along x, the
/// other loop along y.
struct Spread {
  mlir::OpFoldResult rows; // how many
  mlir::OpFoldResult columns;
  mlir::AffineExpr gridX, gridY; // formulas over the kernel's scalars
  int64_t columnAlignment;       // begins of column ranges are multiples of it

  Range getRows(mlir::OpBuilder &builder, mlir::Location loc, mlir::AffineExpr totalX) const;
  Range getColumns(mlir::OpBuilder &builder, mlir::Location loc, mlir::AffineExpr totalY) const;
};

/// Spreads |rows| x |columns| points, each of |work| elements, so that a workgroup has about |tile|
/// elements and at most about |chunk| columns. Fails, with a diagnostic at |op|, if a size is not a
/// formula over the kernel's scalars.
mlir::FailureOr<Spread> spread(mlir::Operation *op, mlir::OpFoldResult rows,
                               mlir::OpFoldResult columns, mlir::OpFoldResult work, int64_t chunk,
                               int64_t tile, int64_t columnAlignment);

/// Sets `plan.launch` of |kernel|.
void setLaunch(mlir::func::FuncOp kernel, llvm::ArrayRef<mlir::AffineExpr> grid);

using LoopBody = llvm::function_ref<void(mlir::OpBuilder &, mlir::Location, mlir::Value)>;

/// for (i = range.begin; i < range.end; i += step) body(i).
void emitLoop(mlir::OpBuilder &builder, mlir::Location loc, Range range, int64_t step,
              LoopBody body);

/// Sets the indices of |loops| in |point| from the position |linear| in their common, row-major
/// space.
void setLinearIndex(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value linear,
                    llvm::ArrayRef<LoopDim> loops, llvm::MutableArrayRef<LaneIndex> point);

/// Loops over |loops| as one number in |range|; |body| gets |point| with their indices set.
void emitLinearLoop(mlir::OpBuilder &builder, mlir::Location loc, Range range,
                    llvm::ArrayRef<LoopDim> loops, llvm::MutableArrayRef<LaneIndex> point,
                    llvm::function_ref<void(mlir::OpBuilder &)> body);

/// Vector widths to loop with, widest first, 1 last: |lanes|, and what fits one register if that is
/// less.
llvm::SmallVector<int64_t> getWidths(int64_t lanes, int64_t registerLanes, int64_t divisor);

/// Runs |body| over |range| in steps of each of |widths| in turn, so that no mask is needed.
void emitLaneLoops(mlir::OpBuilder &builder, mlir::Location loc, Range range,
                   llvm::ArrayRef<int64_t> widths,
                   llvm::function_ref<void(mlir::OpBuilder &, mlir::Value, int64_t)> body);

} // namespace xc::cpu

#endif // XC_CODEGEN_CPU_LOOPEMITTER_H
