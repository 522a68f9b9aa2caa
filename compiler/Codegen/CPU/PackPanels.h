//===- PackPanels.h - Operands of a product, packed into panels -*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Copies a block of an operand of a product into panels: contiguous memory in the order in which
// the inner loops read it. What makes the operand is computed on the way, zeros around an image
// among it. So the panels of a convolution are columns of its image (im2col), a block at a time.
//
//===----------------------------------------------------------------------===//

#ifndef XC_CODEGEN_CPU_PACKPANELS_H
#define XC_CODEGEN_CPU_PACKPANELS_H

#include "compiler/Codegen/CPU/KernelAnalysis.h"
#include "compiler/Codegen/CPU/LoopEmitter.h"

namespace xc::cpu {

/// One side of the product: its rows (or columns) are packed into panels.
struct Side {
  mlir::Value operand;                    // tensor
  mlir::AffineMap map;                    // of the operand
  llvm::SmallVector<LoopDim> loops;       // whose points are the rows (or columns)
  int64_t width = 1;                      // rows or columns of a panel
  const AccessSummary *summary = nullptr; // of computing the operand
  bool byRows = false;     // panel x row x reduced index; else panel x reduced index x row
  bool hasRuns = false;    // the inner reduced loop is two loops: see mergeRuns
  mlir::Value panels = {}; // memref
  /// The operand lies in panels already, which are memory of all terms: panel x term x column, for
  /// each batch entry.
  bool liesInPanels = false;
  mlir::Value begin = {}, end = {}; // of the tile, as positions in the space of `loops`

  unsigned innermost() const { return loops.back().dims.back(); }
  /// The most lanes, a power of two of at most |lanes|, by which a panel can be filled across:
  /// lanes stay within one run of the innermost loop.
  int64_t getLanes(int64_t lanes) const;
};

/// Whether the operand of |side| is contiguous along its own dim rather than the reduced one.
bool isContiguousAlongOwnDim(const Side &side);

/// The loops of the reduced dim: |outer|, then |inner|, along which operands may be contiguous.
struct ReducedLoops {
  llvm::SmallVector<LoopDim> outer;
  LoopDim inner;
};

/// A part of the reduced dim: some iterations of the outer loops as one number, each with the same
/// part of the inner loop.
struct ReducedBlock {
  mlir::Value outerBegin, outerCount, innerBegin, innerCount;
};

/// Merges the innermost two loops of |reduced| where both are one run of an image's memory: pixels
/// beside each other, and their few channels. |image| is packed run by run then; |filter| has to
/// have these loops side by side.
void mergeRuns(Side &image, const Side &filter, ReducedLoops &reduced, int64_t lanes);

class PanelPacker {
public:
  /// |point| has the indices of all loops, those of the batch set.
  PanelPacker(mlir::Location loc, llvm::ArrayRef<LaneIndex> point, const ReducedLoops &reduced,
              mlir::Type element, int64_t lanes)
      : loc(loc), point(point), reduced(reduced), element(element), lanes(lanes) {}

  /// Fills the panels of |side| with |block|. Rows of a panel past the last one are zero.
  void pack(mlir::OpBuilder &builder, const Side &side, const ReducedBlock &block) const;

private:
  /// Where in a side's panels, and the iteration of the product's loops behind it.
  struct PanelPoint {
    mlir::Value panel;
    LaneIndex kk, position;
  };

  void packByRows(mlir::OpBuilder &builder, const Side &side, const ReducedBlock &block) const;
  void packRow(mlir::OpBuilder &builder, const Side &side, const ReducedBlock &block,
               const PanelPoint &at, llvm::MutableArrayRef<LaneIndex> loops) const;
  void packRun(mlir::OpBuilder &builder, const Side &side, const ReducedBlock &block,
               const PanelPoint &at, llvm::MutableArrayRef<LaneIndex> loops) const;
  void packByColumns(mlir::OpBuilder &builder, const Side &side, const ReducedBlock &block) const;
  void forEachOuter(mlir::OpBuilder &builder, const ReducedBlock &block,
                    llvm::MutableArrayRef<LaneIndex> loops,
                    llvm::function_ref<void(mlir::OpBuilder &, mlir::Value)> body) const;
  void store(mlir::OpBuilder &builder, const Side &side, const PanelPoint &at,
             llvm::ArrayRef<LaneIndex> loops, int64_t numLanes) const;
  void storeZero(mlir::OpBuilder &builder, const Side &side, const PanelPoint &at,
                 int64_t numLanes) const;
  mlir::Value index(mlir::OpBuilder &builder, int64_t value) const;

  mlir::Location loc;
  llvm::ArrayRef<LaneIndex> point;
  const ReducedLoops &reduced;
  mlir::Type element;
  int64_t lanes;
};

} // namespace xc::cpu

#endif // XC_CODEGEN_CPU_PACKPANELS_H
