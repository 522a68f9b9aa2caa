//===- FewQueriesLowering.h - Attention of few queries ----------*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_CODEGEN_CPU_FEWQUERIESLOWERING_H
#define XC_CODEGEN_CPU_FEWQUERIESLOWERING_H

#include "compiler/Codegen/CPU/AttentionOperands.h"

namespace xc::cpu {

class FewQueriesLowering : AttentionOperands {
public:
  FewQueriesLowering(mlir::func::FuncOp function, AttentionKernel kernel, FewQueriesAttr config)
      : AttentionOperands(function, std::move(kernel), config.getLanes()), config(config) {}

  mlir::LogicalResult run();

private:
  using Body = llvm::function_ref<void(mlir::OpBuilder &, mlir::Value row)>;
  using Vectors = llvm::SmallVector<mlir::Value>;

  mlir::LogicalResult planGrid();
  void place();
  void emitQueries();
  void forEachRow(mlir::OpBuilder &b, mlir::Value count, Body body);
  void forEachRows(mlir::OpBuilder &b,
                   llvm::function_ref<void(mlir::OpBuilder &, mlir::ValueRange rows)> body);
  /// The head and the query that a row of this workgroup is.
  std::pair<mlir::Value, mlir::Value> getQuery(mlir::OpBuilder &b, mlir::Value row);
  void emitBlock(mlir::OpBuilder &b, mlir::Value first, mlir::Value length);
  mlir::Value loadElements(mlir::OpBuilder &b, mlir::Value tensor, mlir::Value widened,
                           llvm::ArrayRef<LaneIndex> key, mlir::Value element, int64_t count);
  Vectors emitProducts(mlir::OpBuilder &b, mlir::ValueRange rows,
                       llvm::ArrayRef<llvm::SmallVector<LaneIndex>> keys);
  void emitScores(mlir::OpBuilder &b, mlir::ValueRange rows, mlir::Value first, mlir::Value length);
  mlir::Value joinLanes(mlir::OpBuilder &b, Vectors sums);
  void emitSeen(mlir::OpBuilder &b, mlir::Value row, mlir::Value first, mlir::Value length);
  mlir::Value emitVisible(mlir::OpBuilder &b, mlir::Value query, mlir::Value key,
                          mlir::Value score);
  mlir::Value emitWeights(mlir::OpBuilder &b, mlir::Value row, mlir::Value length);
  void emitSums(mlir::OpBuilder &b, mlir::ValueRange rows, mlir::Value first, mlir::Value length,
                mlir::ValueRange shrinks);
  void emitResults();

  mlir::Value loadVector(mlir::OpBuilder &b, mlir::Value memory, mlir::Value row,
                         mlir::Value column);
  void storeVector(mlir::OpBuilder &b, mlir::Value value, mlir::Value memory, mlir::Value row,
                   mlir::Value column);

  FewQueriesAttr config;
  mlir::Value firstRow, rows;          // of this workgroup, and how many it has
  mlir::Value end;                     // behind the last key that any query sees
  mlir::Value queryRows, scores, sums; // memref: rows x elements or keys
  mlir::Value maximum, total;          // memref: one of each row
  mlir::Value keyRows, valueRows;      // a block in f32; or null
};

} // namespace xc::cpu

#endif // XC_CODEGEN_CPU_FEWQUERIESLOWERING_H
