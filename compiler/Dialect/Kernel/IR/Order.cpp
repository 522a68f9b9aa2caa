//===- Order.cpp - Elements as integers in sorting order ------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Kernel/IR/Order.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using arith::CmpIPredicate;

namespace xc::kernel {

Type getOrderKeyType(Type element) {
  return IntegerType::get(element.getContext(), element.getIntOrFloatBitWidth() > 32 ? 64 : 32);
}

Value buildOrderKey(OpBuilder &b, Location loc, Value value, bool isUnsigned, bool descending) {
  Type element = value.getType(), type = getOrderKeyType(element);
  unsigned width = element.getIntOrFloatBitWidth(), keyWidth = type.getIntOrFloatBitWidth();
  auto constant = [&](const APInt &number) -> Value {
    return arith::ConstantOp::create(b, loc, b.getIntegerAttr(type, number));
  };
  auto compare = [&](CmpIPredicate predicate, Value x, Value y) -> Value {
    return arith::CmpIOp::create(b, loc, predicate, x, y);
  };
  Value bits = value;
  if (isa<FloatType>(element))
    bits = arith::BitcastOp::create(b, loc, b.getIntegerType(width), value);
  if (width != keyWidth)
    bits = arith::ExtUIOp::create(b, loc, type, bits);
  Value sign = constant(APInt::getOneBitSet(keyWidth, width - 1));
  if (auto floatType = dyn_cast<FloatType>(element)) {
    const llvm::fltSemantics &semantics = floatType.getFloatSemantics();
    Value zero = constant(APInt::getZero(keyWidth));
    Value infinity = constant(APFloat::getInf(semantics).bitcastToAPInt().zext(keyWidth));
    Value magnitude =
        arith::AndIOp::create(b, loc, bits, constant(APInt::getLowBitsSet(keyWidth, width - 1)));
    Value isZero = compare(CmpIPredicate::eq, magnitude, zero);
    Value isNan = compare(CmpIPredicate::ugt, magnitude, infinity);
    // Negative numbers grow with their magnitude, the wrong way round.
    Value isNegative =
        compare(CmpIPredicate::ne, arith::AndIOp::create(b, loc, bits, sign).getResult(), zero);
    Value flipped =
        arith::XOrIOp::create(b, loc, bits, constant(APInt::getLowBitsSet(keyWidth, width)));
    Value raised = arith::OrIOp::create(b, loc, bits, sign);
    bits = arith::SelectOp::create(b, loc, isNegative, flipped, raised);
    bits = arith::SelectOp::create(b, loc, isZero, sign, bits);
    bits = arith::SelectOp::create(b, loc, isNan, constant(APInt::getLowBitsSet(keyWidth, width)),
                                   bits);
  } else if (!isUnsigned) {
    bits = arith::XOrIOp::create(b, loc, bits, sign);
  }
  if (descending)
    bits = arith::XOrIOp::create(b, loc, bits, constant(APInt::getLowBitsSet(keyWidth, width)));
  return bits;
}

int64_t countOrderDigits(Type element) {
  return llvm::divideCeil(element.getIntOrFloatBitWidth(), llvm::Log2_64(kOrderDigits));
}

Value buildOrderDigit(OpBuilder &b, Location loc, Value value, bool isUnsigned, bool descending,
                      int64_t digit) {
  Value key = buildOrderKey(b, loc, value, isUnsigned, descending);
  Type type = key.getType(), word = b.getI32Type();
  auto constant = [&](int64_t number) -> Value {
    return arith::ConstantOp::create(b, loc, b.getIntegerAttr(type, number));
  };
  key = arith::ShRUIOp::create(b, loc, key, constant(digit * llvm::Log2_64(kOrderDigits)));
  key = arith::AndIOp::create(b, loc, key, constant(kOrderDigits - 1));
  return type == word ? key : arith::TruncIOp::create(b, loc, word, key).getResult();
}

Value buildComesBefore(OpBuilder &b, Location loc, Value firstKey, Value firstPosition,
                       Value secondKey, Value secondPosition) {
  auto compare = [&](CmpIPredicate predicate, Value x, Value y) -> Value {
    return arith::CmpIOp::create(b, loc, predicate, x, y);
  };
  Value isLess = compare(CmpIPredicate::ult, firstKey, secondKey);
  Value isEqual = compare(CmpIPredicate::eq, firstKey, secondKey);
  Value isEarlier = compare(CmpIPredicate::slt, firstPosition, secondPosition);
  Value breaksTie = arith::AndIOp::create(b, loc, isEqual, isEarlier);
  return arith::OrIOp::create(b, loc, isLess, breaksTie);
}

} // namespace xc::kernel
