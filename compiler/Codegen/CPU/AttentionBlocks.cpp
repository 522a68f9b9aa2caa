//===- AttentionBlocks.cpp - What attention does for a block of keys ------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CPU/AttentionLowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace xc::cpu {

void AttentionLowering::emitScores(OpBuilder &b, Value length, LoadElement loadKey) {
  emitLaneLoops(b, loc, {index(b, 0), length}, getWidths(config.getRegisters()[0], 4, 1),
                [&](OpBuilder &in, Value row, int64_t height) {
                  SmallVector<Value> zeros(height * vectors, spread(in, scalar(in, 0)));
                  addProducts(in, row, height, vectorSize, zeros, queryRows, scores, loadKey);
                });
}

/// The scores of |key|, row |row| of the block; minus infinity for queries that do not see it.
Lanes AttentionLowering::hide(OpBuilder &b, Lanes scores, Value row, Value key) {
  Value none = spread(b, lowest(b));
  auto keep = [&](Value seen, Value score) -> Value {
    return arith::SelectOp::create(b, loc, seen, score, none);
  };
  if (op.getMask()) {
    Lanes added = bias ? load(b, bias, row) : spreadAll(b, evaluateMask(b, begin, key));
    scores = map(scores, added, [&](Value score, Value more) -> Value {
      if (!isMaskBytes())
        return arith::AddFOp::create(b, loc, score, more);
      return keep(
          arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, more, spread(b, scalar(b, 0))),
          score);
    });
  }
  if (!op.isBounded())
    return scores;
  auto indexType = VectorType::get({lanes}, b.getIndexType());
  Value step = vector::StepOp::create(b, loc, indexType);
  for (auto [v, score] : llvm::enumerate(scores)) {
    Value start = at(b, latest, static_cast<int64_t>(v) * lanes);
    Value last = arith::AddIOp::create(b, loc, spread(b, start), step);
    Value position = spread(b, key);
    score = keep(arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sle, position, last), score);
    if (!op.getWindow())
      continue;
    Value width = spread(b, index(b, static_cast<int64_t>(*op.getWindow())));
    Value before = arith::SubIOp::create(b, loc, last, width);
    score = keep(arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sgt, position, before), score);
  }
  return scores;
}

/// The largest score of each query so far; leaves the scores as they are seen.
Lanes AttentionLowering::emitMaximum(OpBuilder &b, Value first, Value length, Lanes maximum) {
  if (bias)
    emitBias(b, first, length);
  return loop(b, length, std::move(maximum), [&](OpBuilder &in, Value row, const Lanes &most) {
    Lanes seen = load(in, scores, row);
    if (op.getSoftcap())
      for (Value &score : seen)
        score = limit(in, score);
    if (op.getMask() || op.isBounded())
      seen = hide(in, seen, row, arith::AddIOp::create(in, loc, first, row));
    if (op.getSoftcap() || op.getMask() || op.isBounded())
      store(in, seen, scores, row);
    return map(most, seen,
               [&](Value a, Value c) -> Value { return arith::MaximumFOp::create(in, loc, a, c); });
  });
}

/// Replaces the scores by weights relative to |maximum|, and returns their sum.
Lanes AttentionLowering::emitWeights(OpBuilder &b, Value length, const Lanes &maximum) {
  Type element = op.getValueType().getElementType();
  Lanes zero = spreadAll(b, scalar(b, 0));
  return loop(b, length, zero, [&](OpBuilder &in, Value row, const Lanes &sum) {
    Lanes weights = map(load(in, scores, row), maximum, [&](Value score, Value most) -> Value {
      return math::ExpOp::create(in, loc, arith::SubFOp::create(in, loc, score, most));
    });
    Lanes next = map(sum, weights, [&](Value a, Value c) -> Value {
      return arith::AddFOp::create(in, loc, a, c);
    });
    // As the value's type has them.
    if (!element.isF32())
      for (Value &weight : weights) {
        auto narrow = VectorType::get({lanes}, element);
        weight = arith::TruncFOp::create(in, loc, narrow, weight);
        weight = arith::ExtFOp::create(in, loc, vectorType(), weight);
      }
    store(in, weights, scores, row);
    return next;
  });
}

void AttentionLowering::emitSums(OpBuilder &b, Value length, const Lanes &shrink,
                                 LoadElement loadValue) {
  emitLaneLoops(b, loc, {index(b, 0), valueSize}, getWidths(config.getRegisters()[1], 4, 1),
                [&](OpBuilder &in, Value row, int64_t height) {
                  SmallVector<Value> start;
                  for (int64_t r = 0; r < height; ++r)
                    llvm::append_range(start, map(load(in, sums, at(in, row, r)), shrink,
                                                  [&](Value a, Value c) -> Value {
                                                    return arith::MulFOp::create(in, loc, a, c);
                                                  }));
                  addProducts(in, row, height, length, start, scores, sums,
                              [&](OpBuilder &inner, Value element, Value key) {
                                return loadValue(inner, key, element);
                              });
                });
}

void AttentionLowering::emitBlock(OpBuilder &b, Value first, Value length, Lanes &maximum,
                                  Lanes &sum) {
  if (keyRows) {
    widenBlock(b, op.getKey(), keyRows, first, length);
    widenBlock(b, op.getValue(), valueRows, first, length);
  }
  auto loadFrom = [&](Value tensor, Value rows) {
    return [this, tensor, rows, first](OpBuilder &in, Value row, Value element) -> Value {
      if (rows)
        return memref::LoadOp::create(in, loc, rows, ValueRange{row, element});
      Value key = in.createOrFold<arith::AddIOp>(loc, first, row);
      return evaluate(in, tensor, keyPoint(in, key, element));
    };
  };
  emitScores(b, length, loadFrom(op.getKey(), keyRows));
  Lanes most = emitMaximum(b, first, length, maximum), finite;
  for (Value value : most)
    finite.push_back(replaceInfinity(b, value));
  Lanes shrink = map(maximum, finite, [&](Value before, Value now) -> Value {
    return math::ExpOp::create(b, loc, arith::SubFOp::create(b, loc, before, now));
  });
  Lanes added = emitWeights(b, length, finite);
  sum = map(sum, shrink,
            [&](Value a, Value c) -> Value { return arith::MulFOp::create(b, loc, a, c); });
  sum = map(sum, added,
            [&](Value a, Value c) -> Value { return arith::AddFOp::create(b, loc, a, c); });
  emitSums(b, length, shrink, loadFrom(op.getValue(), valueRows));
  maximum = most;
}

} // namespace xc::cpu
