//===- AttentionLoops.cpp - Attention of one query, by scalar loops -------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Kernel/IR/AttentionLoops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace xc::kernel {

static Value constantF32(OpBuilder &b, Location loc, double value) {
  return arith::ConstantOp::create(b, loc, b.getF32FloatAttr(static_cast<float>(value)));
}

static Value lowest(OpBuilder &b, Location loc) {
  return constantF32(b, loc, -std::numeric_limits<double>::infinity());
}

static Value widen(OpBuilder &b, Location loc, Value value) {
  return value.getType().isF32() ? value
                                 : arith::ExtFOp::create(b, loc, b.getF32Type(), value).getResult();
}

Value AttentionLoops::narrow(OpBuilder &b, Location loc, Value value, Type type) {
  return type.isF32() ? value : arith::TruncFOp::create(b, loc, type, value).getResult();
}

/// A loop from 0 to `end` with one carried value.
static Value sumUp(OpBuilder &b, Location loc, Value end, Value init,
                   llvm::function_ref<Value(OpBuilder &, Value, Value)> body) {
  Value zero = arith::ConstantIndexOp::create(b, loc, 0),
        one = arith::ConstantIndexOp::create(b, loc, 1);
  auto loop = scf::ForOp::create(b, loc, zero, end, one, init);
  OpBuilder inner = OpBuilder::atBlockEnd(loop.getBody(), b.getListener());
  Value next = body(inner, loop.getInductionVar(), loop.getRegionIterArg(0));
  scf::YieldOp::create(inner, loc, next);
  return loop.getResult(0);
}

/// The key's scaled score; minus infinity where it is hidden.
Value AttentionLoops::buildScore(AttentionOp op, OpBuilder &b, Location loc, Value position) const {
  Value score =
      sumUp(b, loc, vectorSize, constantF32(b, loc, 0), [&](OpBuilder &in, Value d, Value sum) {
        Value x = widen(in, loc, query(in, d));
        Value y = widen(in, loc, key(in, {position, d}));
        return arith::AddFOp::create(in, loc, sum, arith::MulFOp::create(in, loc, x, y))
            .getResult();
      });
  double scale = op.getScale().convertToDouble();
  if (op.getSoftcap()) {
    double cap = op.getSoftcap()->convertToDouble();
    score = arith::MulFOp::create(b, loc, score, constantF32(b, loc, scale / cap));
    score = math::TanhOp::create(b, loc, score);
    scale = cap;
  }
  score = arith::MulFOp::create(b, loc, score, constantF32(b, loc, scale));
  auto hide = [&](Value seen) {
    score = arith::SelectOp::create(b, loc, seen, score, lowest(b, loc));
  };
  if (mask) {
    Value stored = mask(b, position);
    if (isa<FloatType>(stored.getType())) {
      score = arith::AddFOp::create(b, loc, score, widen(b, loc, stored));
    } else {
      Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(stored.getType()));
      hide(arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, stored, zero));
    }
  }
  if (!op.isBounded())
    return score;
  hide(arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sle, position, latest));
  if (op.getWindow()) {
    Value window = arith::ConstantIndexOp::create(b, loc, static_cast<int64_t>(*op.getWindow()));
    Value before = arith::SubIOp::create(b, loc, latest, window);
    hide(arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sgt, position, before));
  }
  return score;
}

AttentionLoops::Softmax AttentionLoops::buildSoftmax(AttentionOp op, OpBuilder &b,
                                                     Location loc) const {
  Value first = sink ? widen(b, loc, sink(b, {})) : lowest(b, loc);
  Value maximum = sumUp(b, loc, keys, first, [&](OpBuilder &in, Value j, Value most) {
    return arith::MaximumFOp::create(in, loc, most, buildScore(op, in, loc, j)).getResult();
  });
  // Where no key is seen: an infinity must not be subtracted from itself.
  Value isNone = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, maximum, lowest(b, loc));
  maximum = arith::SelectOp::create(b, loc, isNone, constantF32(b, loc, 0), maximum);
  Value sum = constantF32(b, loc, 0);
  if (sink)
    sum = math::ExpOp::create(b, loc, arith::SubFOp::create(b, loc, first, maximum));
  sum = sumUp(b, loc, keys, sum, [&](OpBuilder &in, Value j, Value so) {
    Value exponent = arith::SubFOp::create(in, loc, buildScore(op, in, loc, j), maximum);
    return arith::AddFOp::create(in, loc, so, math::ExpOp::create(in, loc, exponent)).getResult();
  });
  return {maximum, sum};
}

Value AttentionLoops::buildResult(AttentionOp op, OpBuilder &b, Location loc,
                                  const Softmax &softmax, Value element) const {
  Type type = op.getValueType().getElementType();
  Value sum = sumUp(b, loc, keys, constantF32(b, loc, 0), [&](OpBuilder &in, Value j, Value so) {
    Value exponent = arith::SubFOp::create(in, loc, buildScore(op, in, loc, j), softmax.maximum);
    // As the value's type has it.
    Value weight = narrow(in, loc, math::ExpOp::create(in, loc, exponent), type);
    Value term = arith::MulFOp::create(in, loc, widen(in, loc, weight),
                                       widen(in, loc, value(in, {j, element})));
    return arith::AddFOp::create(in, loc, so, term).getResult();
  });
  Value isNone =
      arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, softmax.sum, constantF32(b, loc, 0));
  Value divisor = arith::SelectOp::create(b, loc, isNone, constantF32(b, loc, 1), softmax.sum);
  return arith::DivFOp::create(b, loc, sum, divisor);
}

Value AttentionLoops::buildLogsumexp(OpBuilder &b, Location loc, const Softmax &softmax) const {
  Value logarithm = math::LogOp::create(b, loc, softmax.sum);
  return arith::AddFOp::create(b, loc, logarithm, softmax.maximum);
}

} // namespace xc::kernel
