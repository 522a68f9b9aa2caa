//===- MatmulLowering.h - A matrix product as loops -------------*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_CODEGEN_CPU_MATMULLOWERING_H
#define XC_CODEGEN_CPU_MATMULLOWERING_H

#include "compiler/Codegen/CPU/CPUDialect.h"
#include "compiler/Codegen/CPU/Contraction.h"
#include "compiler/Codegen/CPU/PackPanels.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace xc::cpu {

class MatmulLowering {
public:
  MatmulLowering(mlir::func::FuncOp kernel, MatmulAttr config)
      : kernel(kernel), config(config), lanes(config.getLanes()), loc(kernel.getLoc()),
        builder(kernel.getBody().front().getTerminator()) {}

  mlir::LogicalResult run();

private:
  mlir::LogicalResult planGrid();
  void emitTile();
  void setBatch(llvm::MutableArrayRef<LaneIndex> point);
  void emitInitialSums();
  void emitReducedBlocks();
  void emitReducedBlock(mlir::OpBuilder &builder, const ReducedBlock &block);
  llvm::SmallVector<mlir::Value> getPanelBatch();
  void emitPanelProduct(mlir::OpBuilder &builder, mlir::Value row, mlir::Value column,
                        mlir::Value firstTerm, mlir::Value length);
  void prefetchColumns(mlir::OpBuilder &builder, mlir::Value column, mlir::Value firstTerm,
                       mlir::Value length, mlir::Value kk);
  void emitResults();
  llvm::SmallVector<mlir::OpFoldResult> getProductSizes();
  llvm::SmallVector<LoopDim> findRowsOfTransposed(const ContractionRoot &root);
  void storeTransposed(mlir::OpBuilder &builder, const ContractionRoot &root,
                       llvm::ArrayRef<LoopDim> rows, mlir::Value row, mlir::Value column,
                       mlir::Value sum, int64_t numLanes);
  void emitTransposed(const ContractionRoot &root, llvm::ArrayRef<LoopDim> rows);

  mlir::Value index(mlir::OpBuilder &b, int64_t value) {
    return mlir::arith::ConstantIndexOp::create(b, loc, value);
  }
  mlir::Value at(mlir::OpBuilder &b, mlir::Value base, int64_t offset) {
    return b.createOrFold<mlir::arith::AddIOp>(loc, base, index(b, offset));
  }
  llvm::SmallVector<LoopDim> getLoops(llvm::ArrayRef<unsigned> loops);
  llvm::SmallBitVector findMergeableLoops();
  void findPanels();
  Side makeSide(unsigned input, llvm::ArrayRef<unsigned> loops, int64_t width,
                const AccessSummary &summary);
  /// Point of the product's dims at (row, column) of the tile.
  llvm::SmallVector<LaneIndex> getProductPoint(mlir::OpBuilder &b, mlir::Value row,
                                               mlir::Value column, int64_t numLanes);
  void
  emitOverTile(llvm::function_ref<void(mlir::OpBuilder &, mlir::Value, mlir::Value, int64_t)> body);

  mlir::func::FuncOp kernel;
  MatmulAttr config;
  int64_t lanes;
  mlir::Location loc;
  mlir::OpBuilder builder;
  ContractionKernel contraction;
  llvm::SmallVector<mlir::OpFoldResult> sizes; // of the loops
  mlir::Type element;                          // of the sums
  Side lhs, rhs;
  ReducedLoops reduced;
  bool startsAtZero = false;          // the one block of the reduced dim needs no sums of before
  mlir::Value sums;                   // memref: rows x columns of the tile, padded
  llvm::SmallVector<LaneIndex> batch; // indices of all loops, batch ones set
};

} // namespace xc::cpu

#endif // XC_CODEGEN_CPU_MATMULLOWERING_H
