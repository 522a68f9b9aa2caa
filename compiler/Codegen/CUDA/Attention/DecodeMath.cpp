//===- DecodeMath.cpp - Softmax's arithmetic in attention of few queries --===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Attention/DecodeEmitter.h"
#include "compiler/Codegen/CUDA/Attention/FloatOps.h"

using namespace mlir;

namespace xc::cuda {

Value DecodeMath::f32(double value) { return makeF32(builder, loc, value); }

Value DecodeMath::exp2(Value x) { return makeExp2(builder, loc, x); }

Value DecodeMath::add(Value lhs, Value rhs) {
  return arith::AddFOp::create(builder, loc, lhs, rhs);
}

Value DecodeMath::sub(Value lhs, Value rhs) {
  return arith::SubFOp::create(builder, loc, lhs, rhs);
}

Value DecodeMath::mul(Value lhs, Value rhs) {
  return arith::MulFOp::create(builder, loc, lhs, rhs);
}

Value DecodeMath::max(Value lhs, Value rhs) {
  return arith::MaximumFOp::create(builder, loc, lhs, rhs);
}

Value DecodeMath::select(Value condition, Value lhs, Value rhs) {
  return arith::SelectOp::create(builder, loc, condition, lhs, rhs);
}

Value DecodeMath::finite(Value value) {
  Value lowest = f32(-std::numeric_limits<double>::infinity());
  return select(
      arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OEQ, value, lowest).getResult(),
      f32(0), value);
}

Value DecodeMath::nonZero(Value value, double instead) {
  return select(
      arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OEQ, value, f32(0)).getResult(),
      f32(instead), value);
}

DecodeMath::Sums DecodeMath::join(ValueRange maxima, ValueRange sums) {
  Sums joined;
  Value largest = maxima.front();
  for (Value maximum : maxima.drop_front())
    largest = max(largest, maximum);
  joined.base = finite(largest);
  joined.sum = f32(0);
  for (auto [number, maximum] : llvm::enumerate(maxima)) {
    Value scale = exp2(sub(maximum, joined.base));
    joined.scales.push_back(scale);
    joined.sum = add(joined.sum, sums.empty() ? scale : mul(scale, sums[number]));
  }
  return joined;
}

} // namespace xc::cuda
