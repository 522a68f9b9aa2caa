//===- AttentionLowering.h - Attention as vector loops ----------*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_CODEGEN_CPU_ATTENTIONLOWERING_H
#define XC_CODEGEN_CPU_ATTENTIONLOWERING_H

#include "compiler/Codegen/CPU/AttentionOperands.h"

namespace xc::cpu {

/// One register for each part of a block of queries.
using Lanes = llvm::SmallVector<mlir::Value>;

class AttentionLowering : AttentionOperands {
public:
  AttentionLowering(mlir::func::FuncOp function, AttentionKernel kernel, AttentionAttr config)
      : AttentionOperands(function, std::move(kernel), config.getLanes()), config(config) {}

  mlir::LogicalResult run();

private:
  using LoadElement =
      llvm::function_ref<mlir::Value(mlir::OpBuilder &, mlir::Value row, mlir::Value element)>;

  mlir::LogicalResult planGrid();
  void place();
  void emitQueries();
  void emitBlock(mlir::OpBuilder &b, mlir::Value first, mlir::Value length, Lanes &maximum,
                 Lanes &sum);
  void emitScores(mlir::OpBuilder &b, mlir::Value length, LoadElement loadKey);
  void emitBias(mlir::OpBuilder &b, mlir::Value first, mlir::Value length);
  void emitBiasOfEach(mlir::OpBuilder &b, mlir::Value first, mlir::Value length);
  void emitBiasOfLanes(mlir::OpBuilder &b, mlir::Value first, mlir::Value length);
  mlir::Value hasAllQueries(mlir::OpBuilder &b);
  Lanes hide(mlir::OpBuilder &b, Lanes scores, mlir::Value row, mlir::Value key);
  Lanes emitMaximum(mlir::OpBuilder &b, mlir::Value first, mlir::Value length, Lanes maximum);
  Lanes emitWeights(mlir::OpBuilder &b, mlir::Value length, const Lanes &maximum);
  void emitSums(mlir::OpBuilder &b, mlir::Value length, const Lanes &shrink, LoadElement loadValue);
  void emitResults(const Lanes &maximum, const Lanes &sum);
  void storeLane(mlir::OpBuilder &b, const AttentionRoot &root, mlir::Value lane,
                 mlir::Value element, mlir::Value value);

  Lanes spreadAll(mlir::OpBuilder &b, mlir::Value value) {
    return Lanes(vectors, spread(b, value));
  }
  Lanes load(mlir::OpBuilder &b, mlir::Value memory, mlir::Value row);
  void store(mlir::OpBuilder &b, const Lanes &values, mlir::Value memory, mlir::Value row);
  Lanes map(const Lanes &a, const Lanes &b,
            llvm::function_ref<mlir::Value(mlir::Value, mlir::Value)> body);
  Lanes loop(mlir::OpBuilder &b, mlir::Value end, Lanes carried,
             llvm::function_ref<Lanes(mlir::OpBuilder &, mlir::Value, const Lanes &)> body);
  void addProducts(mlir::OpBuilder &b, mlir::Value row, int64_t height, mlir::Value end,
                   llvm::SmallVector<mlir::Value> start, mlir::Value panel, mlir::Value memory,
                   LoadElement loadElement);
  mlir::Value evaluateMask(mlir::OpBuilder &b, mlir::Value query, mlir::Value key);
  bool isMaskComputed();
  bool isMaskPerQuery();

  AttentionAttr config;
  int64_t vectors = 1;
  mlir::Value head, begin,
      queries;                          // of this workgroup: first query, and how many there are
  mlir::Value queryRows, scores, sums;  // memref: elements or keys x queries
  mlir::Value keyRows, valueRows, bias; // of keys and values in f32; of masks; or null
};

} // namespace xc::cpu

#endif // XC_CODEGEN_CPU_ATTENTIONLOWERING_H
