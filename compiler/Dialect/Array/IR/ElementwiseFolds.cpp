//===- ElementwiseFolds.cpp - Constant folding of elementwise ops -===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Identities hold exactly: `x + 0.0` is not one (it turns -0 into +0), `x + -0.0` is.
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Array/IR/ElementwiseFolds.h"

#include "compiler/Dialect/Array/IR/ArrayOps.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

#include <cmath>

using namespace mlir;

namespace xc::array {

//===----------------------------------------------------------------------===//
// Elements as bits
//===----------------------------------------------------------------------===//

SmallVector<APInt> elementBits(DenseElementsAttr elements) {
  SmallVector<APInt> bits;
  if (isa<FloatType>(elements.getElementType())) {
    if (elements.isSplat())
      return {elements.getSplatValue<APFloat>().bitcastToAPInt()};
    for (const APFloat &value : elements.getValues<APFloat>())
      bits.push_back(value.bitcastToAPInt());
    return bits;
  }
  if (elements.isSplat())
    return {elements.getSplatValue<APInt>()};
  llvm::append_range(bits, elements.getValues<APInt>());
  return bits;
}

DenseElementsAttr elementsFromBits(RankedTensorType type, ArrayRef<APInt> bits) {
  auto floatType = dyn_cast<FloatType>(type.getElementType());
  if (!floatType)
    return DenseElementsAttr::get(type, bits);
  SmallVector<APFloat> values;
  for (const APInt &value : bits)
    values.emplace_back(floatType.getFloatSemantics(), value);
  return DenseElementsAttr::get(type, values);
}

//===----------------------------------------------------------------------===//
// One element
//===----------------------------------------------------------------------===//

static std::optional<APFloat> roundTo(APFloat value, llvm::RoundingMode mode) {
  value.roundToIntegral(mode);
  return value;
}

static APFloat quotient(APFloat lhs, const APFloat &rhs) {
  lhs.divide(rhs, APFloat::rmNearestTiesToEven);
  return lhs;
}

/// Correctly rounded, as on the targets; that of 16 bits is computed in 32.
static APFloat squareRoot(const APFloat &x) {
  if (x.isNaN() || (x.isNegative() && !x.isZero()))
    return APFloat::getNaN(x.getSemantics());
  if (&x.getSemantics() == &APFloat::IEEEdouble())
    return APFloat(std::sqrt(x.convertToDouble()));
  bool losesInfo;
  APFloat wide = x;
  wide.convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven, &losesInfo);
  APFloat root(std::sqrt(wide.convertToFloat()));
  root.convert(x.getSemantics(), APFloat::rmNearestTiesToEven, &losesInfo);
  return root;
}

/// Of 16 bits in 32, as kernels do: unlike that of a sum, the result may differ by it.
static APFloat fusedMultiplyAdd(APFloat a, APFloat b, APFloat c) {
  const llvm::fltSemantics &type = a.getSemantics();
  bool isNarrow = APFloat::getSizeInBits(type) < 32, losesInfo;
  if (isNarrow)
    for (APFloat *x : {&a, &b, &c})
      x->convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven, &losesInfo);
  a.fusedMultiplyAdd(b, c, APFloat::rmNearestTiesToEven);
  if (isNarrow)
    a.convert(type, APFloat::rmNearestTiesToEven, &losesInfo);
  return a;
}

/// The remainder that `array.mod` defines: with the divisor's sign.
static APFloat modulo(APFloat lhs, const APFloat &rhs) {
  lhs.mod(rhs);
  if (lhs.isZero())
    return APFloat::getZero(lhs.getSemantics(), rhs.isNegative());
  if (!lhs.isNaN() && lhs.isNegative() != rhs.isNegative())
    lhs.add(rhs, APFloat::rmNearestTiesToEven);
  return lhs;
}

static APFloat nextAfter(APFloat from, const APFloat &to) {
  if (from.isNaN() || to.isNaN())
    return APFloat::getNaN(from.getSemantics());
  APFloat::cmpResult order = from.compare(to);
  if (order == APFloat::cmpEqual)
    return to;
  from.next(/*nextDown=*/order == APFloat::cmpGreaterThan);
  return from;
}

static APFloat signOf(const APFloat &x) {
  if (x.isNaN() || x.isZero())
    return x;
  return APFloat::getOne(x.getSemantics(), x.isNegative());
}

static std::optional<APFloat> evaluateFloat(Operation *op, ArrayRef<APFloat> x) {
  using Result = std::optional<APFloat>;
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case([&](AbsOp) -> Result { return llvm::abs(x[0]); })
      .Case([&](NegOp) -> Result { return -x[0]; })
      .Case([&](SignOp) -> Result { return signOf(x[0]); })
      .Case([&](SquareOp) -> Result { return x[0] * x[0]; })
      .Case([&](ReciprocalOp) -> Result {
        return quotient(APFloat::getOne(x[0].getSemantics()), x[0]);
      })
      .Case([&](SqrtOp) -> Result { return squareRoot(x[0]); })
      .Case([&](FloorOp) { return roundTo(x[0], llvm::RoundingMode::TowardNegative); })
      .Case([&](CeilOp) { return roundTo(x[0], llvm::RoundingMode::TowardPositive); })
      .Case([&](RoundOp) { return roundTo(x[0], llvm::RoundingMode::NearestTiesToEven); })
      .Case([&](ReluOp) -> Result {
        return llvm::maximum(x[0], APFloat::getZero(x[0].getSemantics()));
      })
      .Case([&](AddOp) -> Result { return x[0] + x[1]; })
      .Case([&](SubOp) -> Result { return x[0] - x[1]; })
      .Case([&](MulOp) -> Result { return x[0] * x[1]; })
      .Case([&](DivOp) -> Result { return quotient(x[0], x[1]); })
      .Case([&](RemOp) -> Result {
        APFloat remainder = x[0];
        remainder.mod(x[1]);
        return remainder;
      })
      .Case([&](ModOp) -> Result { return modulo(x[0], x[1]); })
      .Case([&](NextAfterOp) -> Result { return nextAfter(x[0], x[1]); })
      .Case([&](MaxOp) -> Result { return llvm::maximum(x[0], x[1]); })
      .Case([&](MinOp) -> Result { return llvm::minimum(x[0], x[1]); })
      .Case([&](ClampOp) -> Result { return llvm::minimum(llvm::maximum(x[1], x[0]), x[2]); })
      .Case([&](FmaOp) -> Result { return fusedMultiplyAdd(x[0], x[1], x[2]); })
      .Default([](Operation *) -> Result { return std::nullopt; });
}

/// Integer division as `array.div` defines it, which never traps.
static APInt quotient(const APInt &lhs, const APInt &rhs, bool isUnsigned) {
  if (rhs.isZero())
    return APInt::getAllOnes(lhs.getBitWidth());
  return isUnsigned ? lhs.udiv(rhs) : lhs.sdiv(rhs);
}

static APInt remainder(const APInt &lhs, const APInt &rhs, bool isUnsigned) {
  if (rhs.isZero())
    return lhs;
  return isUnsigned ? lhs.urem(rhs) : lhs.srem(rhs);
}

/// `array.floor_div` and `array.mod` of integers: quotient and remainder, moved by one where the
/// remainder does not have the divisor's sign.
static std::pair<APInt, APInt> floorDivMod(const APInt &lhs, const APInt &rhs, bool isUnsigned) {
  APInt division = quotient(lhs, rhs, isUnsigned), rest = remainder(lhs, rhs, isUnsigned);
  if (isUnsigned || rhs.isZero() || rest.isZero() || rest.isNegative() == rhs.isNegative())
    return {division, rest};
  return {division - 1, rest + rhs};
}

/// Integer power as `array.pow` defines it.
static APInt power(APInt base, APInt exponent, bool isUnsigned) {
  unsigned width = base.getBitWidth();
  APInt result(width, 1);
  if (!isUnsigned && exponent.isNegative()) {
    // Decided by the base: the power with the positive exponent may wrap.
    if (base.isOne() || (base.isAllOnes() && !exponent[0]))
      return result;
    return base.isZero() || base.isAllOnes() ? APInt::getAllOnes(width) : APInt::getZero(width);
  }
  for (; !exponent.isZero(); exponent.lshrInPlace(1)) {
    if (exponent[0])
      result *= base;
    base *= base;
  }
  return result;
}

static std::optional<APInt> evaluateInteger(Operation *op, ArrayRef<APInt> x, bool isUnsigned) {
  using Result = std::optional<APInt>;
  auto maximum = [&](const APInt &a, const APInt &b) {
    return isUnsigned ? llvm::APIntOps::umax(a, b) : llvm::APIntOps::smax(a, b);
  };
  auto minimum = [&](const APInt &a, const APInt &b) {
    return isUnsigned ? llvm::APIntOps::umin(a, b) : llvm::APIntOps::smin(a, b);
  };
  unsigned width = x[0].getBitWidth();
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case([&](AbsOp) -> Result { return isUnsigned ? x[0] : x[0].abs(); })
      .Case([&](NegOp) -> Result { return -x[0]; })
      .Case([&](SignOp) -> Result {
        bool negative = !isUnsigned && x[0].isNegative();
        return negative ? APInt::getAllOnes(width) : APInt(width, !x[0].isZero());
      })
      .Case([&](SquareOp) -> Result { return x[0] * x[0]; })
      .Case([&](ReluOp) -> Result { return maximum(x[0], APInt(width, 0)); })
      .Case<LogicalNotOp, BitwiseNotOp>([&](Operation *) -> Result { return ~x[0]; })
      .Case([&](AddOp) -> Result { return x[0] + x[1]; })
      .Case([&](SubOp) -> Result { return x[0] - x[1]; })
      .Case([&](MulOp) -> Result { return x[0] * x[1]; })
      .Case([&](DivOp) -> Result { return quotient(x[0], x[1], isUnsigned); })
      .Case([&](RemOp) -> Result { return remainder(x[0], x[1], isUnsigned); })
      .Case([&](PowOp) -> Result { return power(x[0], x[1], isUnsigned); })
      .Case([&](MaxOp) -> Result { return maximum(x[0], x[1]); })
      .Case([&](MinOp) -> Result { return minimum(x[0], x[1]); })
      .Case([&](FloorDivOp) -> Result { return floorDivMod(x[0], x[1], isUnsigned).first; })
      .Case([&](ModOp) -> Result { return floorDivMod(x[0], x[1], isUnsigned).second; })
      .Case([&](ShiftLeftOp) -> Result { return x[0].shl(x[1]); })
      .Case([&](ShiftRightLogicalOp) -> Result { return x[0].lshr(x[1]); })
      .Case([&](ShiftRightArithmeticOp) -> Result { return x[0].ashr(x[1]); })
      .Case([&](AndOp) -> Result { return x[0] & x[1]; })
      .Case([&](OrOp) -> Result { return x[0] | x[1]; })
      .Case([&](XorOp) -> Result { return x[0] ^ x[1]; })
      .Case([&](ClampOp) -> Result { return minimum(maximum(x[1], x[0]), x[2]); })
      .Default([](Operation *) -> Result { return std::nullopt; });
}

/// -1, 0 or 1; nothing where one is NaN.
static std::optional<int> order(Type type, const APInt &lhs, const APInt &rhs) {
  if (auto floatType = dyn_cast<FloatType>(type)) {
    switch (APFloat(floatType.getFloatSemantics(), lhs)
                .compare(APFloat(floatType.getFloatSemantics(), rhs))) {
    case APFloat::cmpLessThan:
      return -1;
    case APFloat::cmpEqual:
      return 0;
    case APFloat::cmpGreaterThan:
      return 1;
    case APFloat::cmpUnordered:
      return std::nullopt;
    }
  }
  if (lhs == rhs)
    return 0;
  bool isUnsigned = type.isUnsignedInteger() || type.isInteger(1);
  return (isUnsigned ? lhs.ult(rhs) : lhs.slt(rhs)) ? -1 : 1;
}

static bool compare(CompareDirection direction, Type type, const APInt &lhs, const APInt &rhs) {
  std::optional<int> ordering = order(type, lhs, rhs);
  if (!ordering)
    return direction == CompareDirection::Ne;
  switch (direction) {
  case CompareDirection::Eq:
    return *ordering == 0;
  case CompareDirection::Ne:
    return *ordering != 0;
  case CompareDirection::Lt:
    return *ordering < 0;
  case CompareDirection::Le:
    return *ordering <= 0;
  case CompareDirection::Gt:
    return *ordering > 0;
  case CompareDirection::Ge:
    return *ordering >= 0;
  }
  llvm_unreachable("all directions are handled");
}

/// `array.convert` of one element.
static APInt convert(Type from, Type to, const APInt &bits) {
  auto fromFloat = dyn_cast<FloatType>(from);
  auto toFloat = dyn_cast<FloatType>(to);
  bool losesInfo;
  bool fromUnsigned = from.isUnsignedInteger() || from.isInteger(1);
  if (fromFloat) {
    APFloat value(fromFloat.getFloatSemantics(), bits);
    if (toFloat) {
      value.convert(toFloat.getFloatSemantics(), APFloat::rmNearestTiesToEven, &losesInfo);
      return value.bitcastToAPInt();
    }
    if (to.isInteger(1))
      return APInt(1, !value.isZero());
    // `convertToInteger` saturates, and turns NaN into 0.
    APSInt result(to.getIntOrFloatBitWidth(), to.isUnsignedInteger());
    value.convertToInteger(result, APFloat::rmTowardZero, &losesInfo);
    return result;
  }
  if (toFloat) {
    APFloat value(toFloat.getFloatSemantics());
    value.convertFromAPInt(bits, !fromUnsigned, APFloat::rmNearestTiesToEven);
    return value.bitcastToAPInt();
  }
  if (to.isInteger(1))
    return APInt(1, !bits.isZero());
  unsigned width = to.getIntOrFloatBitWidth();
  return fromUnsigned ? bits.zextOrTrunc(width) : bits.sextOrTrunc(width);
}

std::optional<APInt> evaluateElement(Operation *op, ArrayRef<APInt> bits) {
  Type type = getElementTypeOrSelf(op->getOperand(0).getType());
  if (auto compareOp = dyn_cast<CompareOp>(op))
    return APInt(1, compare(compareOp.getDirection(), type, bits[0], bits[1]));
  if (isa<SelectOp>(op))
    return bits[0].isZero() ? bits[2] : bits[1];
  if (isa<BitcastOp>(op))
    return bits[0];
  if (isa<ConvertOp>(op))
    return convert(type, getElementTypeOrSelf(op->getResult(0).getType()), bits[0]);
  auto floatType = dyn_cast<FloatType>(type);
  if (!floatType)
    return evaluateInteger(op, bits, type.isUnsignedInteger());
  SmallVector<APFloat> values;
  for (const APInt &value : bits)
    values.emplace_back(floatType.getFloatSemantics(), value);
  if (isa<IsNanOp>(op))
    return APInt(1, values[0].isNaN());
  if (isa<IsFiniteOp>(op))
    return APInt(1, values[0].isFinite());
  std::optional<APFloat> result = evaluateFloat(op, values);
  return result ? std::optional(result->bitcastToAPInt()) : std::nullopt;
}

//===----------------------------------------------------------------------===//
// Identities
//===----------------------------------------------------------------------===//

/// True if `attribute` is a splat of the integer `integer`, or of the float `number`.
static bool isSplatOf(Attribute attribute, int64_t integer, double number) {
  auto splat = dyn_cast_if_present<SplatElementsAttr>(attribute);
  if (!splat)
    return false;
  if (isa<FloatType>(splat.getElementType()))
    return splat.getSplatValue<APFloat>().isExactlyValue(number);
  APInt value = splat.getSplatValue<APInt>();
  return value == APInt(value.getBitWidth(), integer, /*isSigned=*/true, /*implicitTrunc=*/true);
}

/// The operand that commutative or one-sided binary `op` passes through.
static Value foldNeutral(Operation *op, ArrayRef<Attribute> operands, int64_t integer,
                         double number, bool commutative) {
  if (isSplatOf(operands[1], integer, number))
    return op->getOperand(0);
  if (commutative && isSplatOf(operands[0], integer, number))
    return op->getOperand(1);
  return {};
}

/// The operand of `op`'s operand where that is the same op: `neg(neg(x))` is `x`.
template <typename OpTy> static Value foldInverse(OpTy op) {
  auto inner = op.getOperand().template getDefiningOp<OpTy>();
  return inner ? inner.getOperand() : Value();
}

static Value foldIdentity(Operation *op, ArrayRef<Attribute> operands) {
  auto neutral = [&](int64_t integer, double number, bool commutative) {
    return foldNeutral(op, operands, integer, number, commutative);
  };
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case([&](AddOp) { return neutral(0, -0.0, true); })
      .Case([&](SubOp) { return neutral(0, 0.0, false); })
      .Case([&](MulOp) { return neutral(1, 1.0, true); })
      .Case<DivOp, PowOp>([&](Operation *) { return neutral(1, 1.0, false); })
      .Case<ShiftLeftOp, ShiftRightLogicalOp, ShiftRightArithmeticOp>(
          [&](Operation *) { return neutral(0, 0.0, false); })
      .Case<OrOp, XorOp>([&](Operation *) { return neutral(0, 0.0, true); })
      .Case([&](AndOp) { return neutral(-1, 0.0, true); })
      .Case<MaxOp, MinOp>([&](Operation *) {
        return op->getOperand(0) == op->getOperand(1) ? op->getOperand(0) : Value();
      })
      .Case([&](SelectOp select) -> Value {
        if (isSplatOf(operands[0], 1, 0.0) || select.getOnTrue() == select.getOnFalse())
          return select.getOnTrue();
        return isSplatOf(operands[0], 0, 0.0) ? Value(select.getOnFalse()) : Value();
      })
      .Case<NegOp, LogicalNotOp, BitwiseNotOp>([](auto inverse) { return foldInverse(inverse); })
      .Case<ConvertOp, BitcastOp>([](auto cast) -> Value { return cast.getOperand(); })
      .Default([](Operation *) { return Value(); });
}

//===----------------------------------------------------------------------===//
// Whole constants
//===----------------------------------------------------------------------===//

/// For each element of `type`, in order: the position of the element of a
/// tensor of `shape` that is broadcast to it.
static SmallVector<int64_t> broadcastPositions(ArrayRef<int64_t> shape, RankedTensorType type) {
  int64_t rank = type.getRank();
  SmallVector<int64_t> strides(rank, 0);
  int64_t stride = 1;
  for (int64_t dim = shape.size() - 1; dim >= 0; --dim) {
    strides[rank - shape.size() + dim] = shape[dim] == 1 ? 0 : stride;
    stride *= shape[dim]; // in range: elements of a type
  }
  SmallVector<int64_t> index(rank, 0), positions;
  for (int64_t element = 0; element < type.getNumElements(); ++element) {
    int64_t position = 0;
    for (int64_t dim = 0; dim < rank; ++dim)
      position += index[dim] * strides[dim]; // in range: within the constant
    positions.push_back(position);
    for (int64_t dim = rank - 1; dim >= 0 && ++index[dim] == type.getDimSize(dim); --dim)
      index[dim] = 0;
  }
  return positions;
}

static DenseElementsAttr foldConstants(Operation *op, ArrayRef<DenseElementsAttr> constants) {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  bool allSplat = llvm::all_of(constants, [](DenseElementsAttr c) { return c.isSplat(); });
  if (!type.hasStaticShape() || (!allSplat && type.getNumElements() > maxFoldedElements))
    return {};
  SmallVector<SmallVector<APInt>> bits;
  SmallVector<SmallVector<int64_t>> positions;
  for (DenseElementsAttr constant : constants) {
    bits.push_back(elementBits(constant));
    positions.push_back(constant.isSplat()
                            ? SmallVector<int64_t>()
                            : broadcastPositions(constant.getType().getShape(), type));
  }
  SmallVector<APInt> result, element(constants.size());
  int64_t count = allSplat ? 1 : type.getNumElements();
  for (int64_t i = 0; i < count; ++i) {
    for (size_t operand = 0; operand < constants.size(); ++operand)
      element[operand] = bits[operand][positions[operand].empty() ? 0 : positions[operand][i]];
    std::optional<APInt> value = evaluateElement(op, element);
    if (!value)
      return {};
    result.push_back(*value);
  }
  return elementsFromBits(type, result);
}

OpFoldResult foldElementwise(Operation *op, ArrayRef<Attribute> operands) {
  // A broadcast or a refined dim would be lost if the types differed.
  Value identity = foldIdentity(op, operands);
  if (identity && identity.getType() == op->getResult(0).getType())
    return identity;
  SmallVector<DenseElementsAttr> constants;
  for (Attribute operand : operands) {
    auto constant = dyn_cast_if_present<DenseElementsAttr>(operand);
    if (!constant || constant.empty())
      return {};
    constants.push_back(constant);
  }
  return foldConstants(op, constants);
}

} // namespace xc::array
