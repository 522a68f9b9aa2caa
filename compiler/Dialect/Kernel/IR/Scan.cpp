//===- Scan.cpp - How the elements of a scan combine ----------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Kernel/IR/Scan.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace xc::kernel {

TypedAttr getScanNeutral(Builder &builder, ScanKind kind, Type type, bool isUnsigned) {
  bool lowest = kind == ScanKind::Max || kind == ScanKind::LogAddExp;
  if (auto floatType = dyn_cast<FloatType>(type)) {
    if (kind == ScanKind::Sum || kind == ScanKind::Prod)
      return builder.getFloatAttr(type, kind == ScanKind::Prod ? 1.0 : 0.0);
    return builder.getFloatAttr(
        type, APFloat::getInf(floatType.getFloatSemantics(), /*Negative=*/lowest));
  }
  unsigned width = type.getIntOrFloatBitWidth();
  if (kind == ScanKind::Sum || kind == ScanKind::Prod)
    return builder.getIntegerAttr(type, kind == ScanKind::Prod ? 1 : 0);
  if (isUnsigned)
    return builder.getIntegerAttr(type,
                                  lowest ? APInt::getMinValue(width) : APInt::getMaxValue(width));
  return builder.getIntegerAttr(type, lowest ? APInt::getSignedMinValue(width)
                                             : APInt::getSignedMaxValue(width));
}

/// log(exp(x) + exp(y)) about the larger one. Equal infinities have no difference.
static Value logAddExp(OpBuilder &b, Location loc, Value x, Value y) {
  Value high = arith::MaximumFOp::create(b, loc, x, y);
  Value zero = arith::ConstantOp::create(b, loc, cast<TypedAttr>(b.getZeroAttr(x.getType())));
  Value distance = math::AbsFOp::create(b, loc, arith::SubFOp::create(b, loc, x, y).getResult());
  Value same = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, x, y);
  distance = arith::SelectOp::create(b, loc, same, zero, distance);
  Value share = math::ExpOp::create(b, loc, arith::NegFOp::create(b, loc, distance).getResult());
  Value rest = math::Log1pOp::create(b, loc, share);
  return arith::AddFOp::create(b, loc, high, rest);
}

Value combineScan(OpBuilder &b, Location loc, ScanKind kind, bool isUnsigned, Value first,
                  Value second) {
  bool isFloat = isa<FloatType>(getElementTypeOrSelf(first.getType()));
  switch (kind) {
  case ScanKind::Sum:
    return isFloat ? arith::AddFOp::create(b, loc, first, second).getResult()
                   : arith::AddIOp::create(b, loc, first, second).getResult();
  case ScanKind::Prod:
    return isFloat ? arith::MulFOp::create(b, loc, first, second).getResult()
                   : arith::MulIOp::create(b, loc, first, second).getResult();
  case ScanKind::Max:
    if (isFloat)
      return arith::MaximumFOp::create(b, loc, first, second);
    return isUnsigned ? arith::MaxUIOp::create(b, loc, first, second).getResult()
                      : arith::MaxSIOp::create(b, loc, first, second).getResult();
  case ScanKind::Min:
    if (isFloat)
      return arith::MinimumFOp::create(b, loc, first, second);
    return isUnsigned ? arith::MinUIOp::create(b, loc, first, second).getResult()
                      : arith::MinSIOp::create(b, loc, first, second).getResult();
  case ScanKind::LogAddExp:
    return logAddExp(b, loc, first, second);
  }
  llvm_unreachable("unknown kind of scan");
}

} // namespace xc::kernel
