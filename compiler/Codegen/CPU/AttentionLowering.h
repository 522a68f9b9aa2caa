//===- AttentionLowering.h - Attention as vector loops ----------*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_CODEGEN_CPU_ATTENTIONLOWERING_H
#define XC_CODEGEN_CPU_ATTENTIONLOWERING_H

#include "compiler/Codegen/CPU/AttentionKernel.h"
#include "compiler/Codegen/CPU/CPUDialect.h"
#include "compiler/Codegen/CPU/LoopEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <limits>

namespace xc::cpu {

/// One register for each part of a block of queries.
using Lanes = llvm::SmallVector<mlir::Value>;

class AttentionLowering {
public:
  AttentionLowering(mlir::func::FuncOp function, AttentionKernel kernel, AttentionAttr config)
      : function(function), kernel(std::move(kernel)), op(this->kernel.op), config(config),
        loc(op.getLoc()), builder(function.getBody().front().getTerminator()) {}

  mlir::LogicalResult run();

private:
  using LoadElement =
      llvm::function_ref<mlir::Value(mlir::OpBuilder &, mlir::Value row, mlir::Value element)>;

  mlir::LogicalResult planGrid();
  void place();
  void emitQueries();
  std::pair<mlir::Value, mlir::Value> getSeenKeys();
  void emitBlock(mlir::OpBuilder &b, mlir::Value first, mlir::Value length, Lanes &maximum,
                 Lanes &sum);
  void widenBlock(mlir::OpBuilder &b, mlir::Value tensor, mlir::Value into, mlir::Value first,
                  mlir::Value length);
  void emitScores(mlir::OpBuilder &b, mlir::Value length, LoadElement loadKey);
  void emitBias(mlir::OpBuilder &b, mlir::Value first, mlir::Value length);
  void emitBiasOfEach(mlir::OpBuilder &b, mlir::Value first, mlir::Value length);
  void emitBiasOfLanes(mlir::OpBuilder &b, mlir::Value first, mlir::Value length);
  mlir::Value hasAllQueries(mlir::OpBuilder &b);
  Lanes limit(mlir::OpBuilder &b, Lanes multiples);
  Lanes hide(mlir::OpBuilder &b, Lanes scores, mlir::Value row, mlir::Value key);
  Lanes emitMaximum(mlir::OpBuilder &b, mlir::Value first, mlir::Value length, Lanes maximum);
  Lanes emitWeights(mlir::OpBuilder &b, mlir::Value length, const Lanes &maximum);
  void emitSums(mlir::OpBuilder &b, mlir::Value length, const Lanes &shrink, LoadElement loadValue);
  void emitResults(const Lanes &maximum, const Lanes &sum);
  void storeLane(mlir::OpBuilder &b, const AttentionRoot &root, mlir::Value lane,
                 mlir::Value element, mlir::Value value);

  mlir::Value index(mlir::OpBuilder &b, int64_t value) {
    return mlir::arith::ConstantIndexOp::create(b, loc, value);
  }
  mlir::Value scalar(mlir::OpBuilder &b, double value) {
    return mlir::arith::ConstantOp::create(b, loc, b.getF32FloatAttr(static_cast<float>(value)));
  }
  mlir::Value lowest(mlir::OpBuilder &b) {
    return scalar(b, -std::numeric_limits<double>::infinity());
  }
  mlir::VectorType vectorType() {
    return mlir::VectorType::get({config.getLanes()}, builder.getF32Type());
  }
  mlir::Value spread(mlir::OpBuilder &b, mlir::Value value) {
    return mlir::vector::BroadcastOp::create(
        b, loc, mlir::VectorType::get({config.getLanes()}, value.getType()), value);
  }
  Lanes spreadAll(mlir::OpBuilder &b, mlir::Value value) {
    return Lanes(vectors, spread(b, value));
  }
  mlir::Value widen(mlir::OpBuilder &b, mlir::Value value) {
    return value.getType().isF32()
               ? value
               : mlir::arith::ExtFOp::create(b, loc, b.getF32Type(), value).getResult();
  }
  mlir::Value at(mlir::OpBuilder &b, mlir::Value base, int64_t offset) {
    return b.createOrFold<mlir::arith::AddIOp>(loc, base, index(b, offset));
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
  llvm::SmallVector<LaneIndex> keyPoint(mlir::Value row, mlir::Value element);
  mlir::Value evaluate(mlir::OpBuilder &b, mlir::Value tensor, llvm::ArrayRef<LaneIndex> point);
  llvm::SmallVector<LaneIndex> maskPoint(mlir::OpBuilder &b, LaneIndex query, mlir::Value key);
  mlir::Value makeAdded(mlir::OpBuilder &b, mlir::Value stored);
  mlir::Value evaluateMask(mlir::OpBuilder &b, mlir::Value query, mlir::Value key);
  bool isMaskComputed();
  bool isMaskPerQuery();
  bool isMaskBytes() {
    return mlir::isa<mlir::IntegerType>(mlir::getElementTypeOrSelf(op.getMask()));
  }

  mlir::func::FuncOp function;
  AttentionKernel kernel;
  kernel::AttentionOp op;
  AttentionAttr config;
  mlir::Location loc;
  mlir::OpBuilder builder;
  int64_t vectors = 1;
  llvm::SmallVector<mlir::OpFoldResult> sizes; // of the queries
  mlir::Value numKeys, vectorSize, valueSize;
  llvm::SmallVector<LaneIndex> batch; // batch dims
  mlir::Value head, keyHead, begin,
      queries;                          // of this workgroup: first query, and how many there are
  mlir::Value latest;                   // the last key that the first query sees
  mlir::Value queryRows, scores, sums;  // memref: elements or keys x queries
  mlir::Value keyRows, valueRows, bias; // of 16-bit keys and values; of masks; or null
};

/// |maximum|, or zero where no key was seen yet: an infinity must not be subtracted from itself.
mlir::Value replaceInfinity(mlir::OpBuilder &b, mlir::Location loc, mlir::Value maximum,
                            mlir::Value lowest, mlir::Value zero);

} // namespace xc::cpu

#endif // XC_CODEGEN_CPU_ATTENTIONLOWERING_H
