//===- TrigReduction.cpp - Arguments of sin, cos and tan modulo pi/2 ------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Usual arguments are reduced by subtracting n (pi/2) with pi/2 in three parts
// (Cody and Waite). Huge ones need as many bits of 2/pi as their exponent says
// (Payne and Hanek): an integer computation, one lane at a time, in a branch
// that is entered only if some lane is huge.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/Common/MathBuilder.h"
#include "compiler/Codegen/Common/MathPieces.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/bit.h"

using namespace mlir;

namespace xc::codegen {

//===----------------------------------------------------------------------===//
// Usual arguments
//===----------------------------------------------------------------------===//

/// Up to these, n and its products with the leading parts of pi/2 are exact.
static double usualLimit(MathBuilder &b) { return b.pick(0x1p16, 0x1p20); }

// pi/2 in parts of 33, 33 and 53 bits (those of fdlibm), and in three f32.
static constexpr double kHalfPiPart1 = 1.57079632673412561417e+00;
static constexpr double kHalfPiPart2 = 6.07710050630396597660e-11;
static constexpr double kHalfPiPart3 = 2.02226624879595063154e-21;
static constexpr double kHalfPiF32[] = {1.5707963705062866, -4.371138828673793e-08,
                                        -1.7151245100059e-15};

static Pair subtractMultiple(MathBuilder &b, Value x, Value n) {
  if (!b.isF32()) {
    Value head = b.sub(x, b.mul(n, b.constant(kHalfPiPart1)));
    Pair rest = b.twoSum(head, b.neg(b.mul(n, b.constant(kHalfPiPart2))));
    return b.twoSum(rest.hi, b.sub(rest.lo, b.mul(n, b.constant(kHalfPiPart3))));
  }
  if (b.options().hasFma) {
    for (double part : kHalfPiF32)
      x = b.fma(n, b.constant(-part), x);
    return {x, Value()};
  }
  Type wide = Float64Type::get(x.getContext());
  if (auto vector = dyn_cast<VectorType>(x.getType()))
    wide = vector.clone(wide);
  MathBuilder w(b.ops(), b.ops().getLoc(), wide, b.options());
  Value wideN = arith::ExtFOp::create(w.ops(), wide, n);
  Value r = arith::ExtFOp::create(w.ops(), wide, x);
  r = w.sub(r, w.mul(wideN, w.constant(kHalfPiPart1)));
  r = w.sub(r, w.mul(wideN, w.constant(kHalfPiPart2)));
  return {arith::TruncFOp::create(w.ops(), b.floatType(), r), Value()};
}

//===----------------------------------------------------------------------===//
// Huge arguments
//===----------------------------------------------------------------------===//

/// The bits of 2/pi behind the point, 32 in each word, after 64 zeros for
/// arguments below 1.
static constexpr uint32_t kTwoOverPi[] = {
    0,          0, // kLeadingZeros
    0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0, 0xdb629599, 0x3c439041, 0xfe5163ab, 0xdebbc561,
    0xb7246e3a, 0x424dd2e0, 0x06492eea, 0x09d1921c, 0xfe1deb1c, 0xb129a73e, 0xe88235f5, 0x2ebb4484,
    0xe99c7026, 0xb45f7e41, 0x3991d639, 0x835339f4, 0x9c845f8b, 0xbdf9283b, 0x1ff897ff, 0xde05980f,
    0xef2f118b, 0x5a0a6d1f, 0x6d367ecf, 0x27cb09b7, 0x4f463f66, 0x9e5fea2d, 0x7527bac7, 0xebe5f17b,
    0x3d0739f7, 0x8a5292ea, 0x6bfb5fb1, 0x1f8d5d08, 0x56033046,
};
static constexpr int64_t kLeadingZeros = 64;

namespace {
/// Builds the reduction of one f32 or f64 on i64 arithmetic.
class HugeReduction {
public:
  HugeReduction(OpBuilder &opBuilder, Location loc, bool f32) : b(loc, opBuilder), f32(f32) {}

  struct Result {
    Value hi, lo, quadrant; // f64, f64, i64
  };
  Result build(Value x);

private:
  Value constant(int64_t value) { return arith::ConstantOp::create(b, b.getI64IntegerAttr(value)); }
  Value constant(double value) { return arith::ConstantOp::create(b, b.getF64FloatAttr(value)); }
  Value shl(Value x, Value by) { return arith::ShLIOp::create(b, x, by); }
  Value shr(Value x, Value by) { return arith::ShRUIOp::create(b, x, by); }
  Value low32(Value x) { return arith::AndIOp::create(b, x, constant(int64_t(0xffffffff))); }
  Value addI(Value x, Value y) { return arith::AddIOp::create(b, x, y); }
  Value orI(Value x, Value y) { return arith::OrIOp::create(b, x, y); }
  Value toFloat(Value x, double scale) {
    return arith::MulFOp::create(b, arith::SIToFPOp::create(b, b.getF64Type(), x), constant(scale));
  }

  SmallVector<Value> windowOfTwoOverPi(Value position);
  SmallVector<Value> multiply(Value factor, ArrayRef<Value> limbs);

  /// Limbs of 32 bits: two for the integer part and the significand, the rest
  /// for cancellation and precision.
  int limbCount() const { return f32 ? 3 : 6; }

  ImplicitLocOpBuilder b;
  bool f32;
};
} // namespace

/// limbCount() words of the table from bit `position`, the most significant
/// first.
SmallVector<Value> HugeReduction::windowOfTwoOverPi(Value position) {
  // The word's index has this many bits: the largest exponent leaves 166 (f32)
  // and 1033 (f64).
  int indexBits = f32 ? 3 : 6;
  int largestIndex = f32 ? 5 : 32;
  SmallVector<Value> words;
  for (int i = 0; i <= largestIndex + limbCount(); ++i)
    words.push_back(constant(int64_t(kTwoOverPi[i])));
  Value index = shr(position, constant(int64_t(5)));
  // A table lookup without memory: shift the table by each bit of the index in
  // turn.
  for (int bit = indexBits - 1; bit >= 0; --bit) {
    int64_t step = int64_t(1) << bit;
    Value isSet = arith::CmpIOp::create(b, arith::CmpIPredicate::ne,
                                        arith::AndIOp::create(b, index, constant(step)),
                                        constant(int64_t(0)));
    size_t needed = std::min<size_t>(words.size(), limbCount() + step);
    for (size_t i = 0; i < needed; ++i)
      if (i + step < words.size())
        words[i] = arith::SelectOp::create(b, isSet, words[i + step], words[i]);
    words.resize(needed);
  }
  Value shift = arith::SubIOp::create(b, constant(int64_t(32)),
                                      arith::AndIOp::create(b, position, constant(int64_t(31))));
  SmallVector<Value> limbs;
  for (int i = 0; i < limbCount(); ++i)
    limbs.push_back(low32(shr(orI(shl(words[i], constant(int64_t(32))), words[i + 1]), shift)));
  return limbs;
}

/// factor (below 2^53) times limbs (the most significant first), modulo their
/// size.
SmallVector<Value> HugeReduction::multiply(Value factor, ArrayRef<Value> limbs) {
  SmallVector<Value> product(limbs.size());
  Value factorLow = low32(factor), factorHigh = shr(factor, constant(int64_t(32)));
  Value carry;
  for (int i = limbs.size() - 1; i >= 0; --i) {
    Value sum = arith::MulIOp::create(b, factorLow, limbs[i]);
    if (carry)
      sum = addI(sum, carry);
    product[i] = low32(sum);
    carry = shr(sum, constant(int64_t(32)));
  }
  if (f32)
    return product;
  carry = Value();
  for (int i = limbs.size() - 1; i >= 1; --i) {
    Value sum = addI(arith::MulIOp::create(b, factorHigh, limbs[i]), product[i - 1]);
    if (carry)
      sum = addI(sum, carry);
    product[i - 1] = low32(sum);
    carry = shr(sum, constant(int64_t(32)));
  }
  return product;
}

HugeReduction::Result HugeReduction::build(Value x) {
  // x = significand * 2^exponent. Bits of 2/pi that weigh 4 or more after
  // scaling add whole turns: the window starts with the bits that weigh 2 and
  // 1, which become the quadrant.
  int64_t mantissa = f32 ? 23 : 52, bias = f32 ? 127 : 1023;
  Value bits = arith::BitcastOp::create(b, f32 ? b.getI32Type() : b.getI64Type(), x);
  if (f32)
    bits = arith::ExtUIOp::create(b, b.getI64Type(), bits);
  Value exponent = shr(bits, constant(mantissa));
  Value fraction = arith::AndIOp::create(b, bits, constant((int64_t(1) << mantissa) - 1));
  Value significand = orI(fraction, constant(int64_t(1) << mantissa));
  Value position = addI(exponent, constant(kLeadingZeros - 2 - bias - mantissa));
  SmallVector<Value> product = multiply(significand, windowOfTwoOverPi(position));

  // Drop the quadrant; what is left, read as signed, is the fraction of the
  // nearest multiple.
  Value c32 = constant(int64_t(32)), c2 = constant(int64_t(2));
  Value head = orI(shl(product[0], c32), product[1]);
  Value next = f32 ? shl(product[2], c32) : orI(shl(product[2], c32), product[3]);
  Value fractionHead = orI(shl(head, c2), shr(next, constant(int64_t(62))));
  Value fractionTail = shl(next, c2);
  if (!f32)
    fractionTail = orI(fractionTail, shr(product[4], constant(int64_t(30))));
  Value quadrant = addI(shr(head, constant(int64_t(62))), shr(fractionHead, constant(int64_t(63))));

  // Parts of 53, 11 and 63 bits, each exact as f64 or of no weight; then times
  // pi/2.
  MathExpansion exact;
  exact.hasFma = false;
  MathBuilder w(b, b.getLoc(), b.getF64Type(), exact);
  Value upper = arith::AndIOp::create(b, fractionHead, constant(int64_t(-2048)));
  Value lower = arith::AndIOp::create(b, fractionHead, constant(int64_t(2047)));
  Value tail = shr(fractionTail, constant(int64_t(1)));
  Value rest = w.add(toFloat(lower, 0x1p-64), toFloat(tail, 0x1p-127));
  Pair turns = w.fastTwoSum(toFloat(upper, 0x1p-64), rest);
  Pair r = w.mulPair(turns, w.constantPair(kHalfPiHi, kHalfPiLo));
  return {r.hi, r.lo, quadrant};
}

/// The reduction of one huge scalar, in the types of `b`'s elements.
static SmallVector<Value> reduceHugeScalar(OpBuilder &builder, Location loc, Value x) {
  bool f32 = x.getType().isF32();
  HugeReduction::Result result = HugeReduction(builder, loc, f32).build(x);
  if (!f32)
    return {result.hi, result.quadrant, result.lo};
  return {arith::TruncFOp::create(builder, loc, x.getType(), result.hi),
          arith::TruncIOp::create(builder, loc, builder.getI32Type(), result.quadrant)};
}

/// `usual` = {r, quadrant, [r.lo]}, with the lanes of `isHuge` replaced.
static SmallVector<Value> reduceHugeLanes(OpBuilder &builder, Location loc, Value x, Value isHuge,
                                          ArrayRef<Value> usual) {
  auto vector = dyn_cast<VectorType>(x.getType());
  if (!vector)
    return reduceHugeScalar(builder, loc, x);
  SmallVector<int64_t> flatShape = {vector.getNumElements()};
  auto flatten = [&](Value value) -> Value {
    auto type = cast<VectorType>(value.getType());
    if (type.getRank() == 1)
      return value;
    return vector::ShapeCastOp::create(builder, loc,
                                       type.cloneWith(flatShape, type.getElementType()), value);
  };
  SmallVector<Value> lanes;
  for (Value value : usual)
    lanes.push_back(flatten(value));
  Value flatX = flatten(x), flatIsHuge = flatten(isHuge);
  auto reduceLane = [&](OpBuilder &b, OpFoldResult lane, ValueRange current) {
    Value laneIsHuge = vector::ExtractOp::create(b, loc, flatIsHuge, lane);
    auto branch = scf::IfOp::create(
        b, loc, laneIsHuge,
        [&](OpBuilder &then, Location) {
          SmallVector<Value> scalars =
              reduceHugeScalar(then, loc, vector::ExtractOp::create(then, loc, flatX, lane));
          for (auto [scalar, old] : llvm::zip_equal(scalars, current))
            scalar = vector::InsertOp::create(then, loc, scalar, old, lane);
          scf::YieldOp::create(then, loc, scalars);
        },
        [&](OpBuilder &otherwise, Location) { scf::YieldOp::create(otherwise, loc, current); });
    return SmallVector<Value>(branch.getResults());
  };
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  Value count = arith::ConstantIndexOp::create(builder, loc, flatShape[0]);
  Value one = arith::ConstantIndexOp::create(builder, loc, 1);
  auto loop = scf::ForOp::create(builder, loc, zero, count, one, lanes,
                                 [&](OpBuilder &body, Location, Value lane, ValueRange current) {
                                   scf::YieldOp::create(body, loc, reduceLane(body, lane, current));
                                 });
  SmallVector<Value> results;
  for (auto [flat, shaped] : llvm::zip_equal(loop.getResults(), usual)) {
    Value result = flat;
    if (result.getType() != shaped.getType())
      result = vector::ShapeCastOp::create(builder, loc, shaped.getType(), result);
    results.push_back(result);
  }
  return results;
}

SmallVector<Value> mapModuloHalfPi(MathBuilder &b, Value magnitude, ReducedFunction function) {
  MathBuilder::Rounded n = b.roundProduct(magnitude, 0.63661977236758134);
  Pair r = subtractMultiple(b, magnitude, n.value);
  SmallVector<Value> usual = function(b, {r, n.lowBits});
  if (b.options().fastMath)
    return usual;
  Value isHuge = b.andInt(b.greaterEqual(magnitude, b.constant(usualLimit(b))),
                          b.less(magnitude, b.infinity()));
  SmallVector<Value> reduced = {r.hi, n.lowBits};
  if (r.lo)
    reduced.push_back(r.lo);
  // Said to be unlikely, so that usual arguments need not jump over the rest; and the function is
  // computed of them first, so that they need not wait to know that they are usual.
  Value isAnyHuge = b.anyLane(isHuge);
  isAnyHuge = LLVM::ExpectOp::create(
      b.ops(), isAnyHuge, arith::ConstantOp::create(b.ops(), b.ops().getBoolAttr(false)));
  auto branch = scf::IfOp::create(
      b.ops(), isAnyHuge,
      [&](OpBuilder &then, Location loc) {
        SmallVector<Value> lanes = reduceHugeLanes(then, loc, magnitude, isHuge, reduced);
        MathBuilder t(then, loc, b.floatType(), b.options());
        scf::YieldOp::create(then, loc,
                             function(t, {{lanes[0], r.lo ? lanes[2] : Value()}, lanes[1]}));
      },
      [&](OpBuilder &otherwise, Location loc) { scf::YieldOp::create(otherwise, loc, usual); });
  return SmallVector<Value>(branch.getResults());
}

} // namespace xc::codegen
