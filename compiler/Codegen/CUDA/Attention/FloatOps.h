//===- FloatOps.h - Arithmetic of attention in f32 --------------*- C++ -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_CODEGEN_CUDA_ATTENTION_FLOATOPS_H
#define XC_CODEGEN_CUDA_ATTENTION_FLOATOPS_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

namespace xc::cuda {

/// log2(e), and its reciprocal.
inline constexpr double kLog2E = 1.4426950408889634, kLog2 = 0.6931471805599453;

/// A constant of type f32.
inline mlir::Value makeF32(mlir::OpBuilder &builder, mlir::Location loc, double value) {
  return mlir::arith::ConstantOp::create(builder, loc,
                                         builder.getF32FloatAttr(static_cast<float>(value)));
}

/// 2^x by the approximation of the hardware.
inline mlir::Value makeExp2(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value x) {
  auto op = mlir::math::Exp2Op::create(builder, loc, x);
  op.setFastmath(mlir::arith::FastMathFlags::afn);
  return op;
}

/// tanh(x * factor). What is multiplied and becomes an exponent needs few absolute errors: unless
/// `isExact`, it is 1 - 2 / (1 + e^2x) by approximations of the hardware, which is off by 2^-22.
inline mlir::Value makeTanh(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value x,
                            double factor, bool isExact) {
  auto scale = [&](double by) {
    return mlir::arith::MulFOp::create(builder, loc, x, makeF32(builder, loc, by)).getResult();
  };
  if (isExact)
    return mlir::math::TanhOp::create(builder, loc, scale(factor));
  mlir::Value one = makeF32(builder, loc, 1),
              power = makeExp2(builder, loc, scale(2 * kLog2E * factor));
  mlir::Value sum = mlir::arith::AddFOp::create(builder, loc, power, one);
  auto share = mlir::arith::DivFOp::create(builder, loc, one, sum);
  share.setFastmath(mlir::arith::FastMathFlags::afn);
  return mlir::math::FmaOp::create(builder, loc, share, makeF32(builder, loc, -2), one);
}

} // namespace xc::cuda

#endif // XC_CODEGEN_CUDA_ATTENTION_FLOATOPS_H
