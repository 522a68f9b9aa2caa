//===- ExpandSmallFloats.cpp - f16 and bf16 by f32 and integers -----------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Without instructions of its own for these types, LLVM calls a library for
// each lane (`__truncsfbf2`, ...). Here arithmetic is widened to f32, and
// conversions become integer operations. f64 is narrowed to f32 by rounding to
// odd first, so that the second rounding is the only one.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/Common/ExpandMath.h"
#include "compiler/Codegen/Common/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace xc::codegen {
#define GEN_PASS_DEF_EXPANDSMALLFLOATS
#include "compiler/Codegen/Common/Passes.h.inc"

static bool isSmallFloat(Type type) {
  Type element = getElementTypeOrSelf(type);
  return element.isF16() || element.isBF16();
}

namespace {

/// Integer operations on values of one shape.
class BitBuilder {
public:
  BitBuilder(OpBuilder &builder, Location loc, Type shape) : b(loc, builder), shape(shape) {}

  Type type(Type element) { return withElement(shape, element); }
  Type intType(unsigned width) { return type(b.getIntegerType(width)); }
  Type f32Type() { return type(b.getF32Type()); }

  Value constant(int64_t value, unsigned width = 32) {
    auto attr = b.getIntegerAttr(b.getIntegerType(width), value);
    if (auto shaped = dyn_cast<ShapedType>(shape))
      return arith::ConstantOp::create(
          b, DenseElementsAttr::get(shaped.clone(b.getIntegerType(width)), attr));
    return arith::ConstantOp::create(b, attr);
  }
  Value bitcast(Value x, Type to) { return arith::BitcastOp::create(b, to, x); }
  Value add(Value x, Value y) { return arith::AddIOp::create(b, x, y); }
  Value add(Value x, int64_t y) { return add(x, constant(y)); }
  Value mask(Value x, int64_t y) { return arith::AndIOp::create(b, x, constant(y)); }
  Value bitOr(Value x, Value y) { return arith::OrIOp::create(b, x, y); }
  Value shl(Value x, int64_t by) { return arith::ShLIOp::create(b, x, constant(by)); }
  Value shr(Value x, int64_t by) { return arith::ShRUIOp::create(b, x, constant(by)); }
  Value select(Value c, Value x, Value y) { return arith::SelectOp::create(b, c, x, y); }
  Value compare(arith::CmpIPredicate predicate, Value x, int64_t y) {
    return arith::CmpIOp::create(b, predicate, x, constant(y));
  }

  /// The bits of an f32 as i32, those of a 16-bit type as i32, and back.
  Value bitsOfF32(Value x) { return bitcast(x, intType(32)); }
  Value f32OfBits(Value x) { return bitcast(x, f32Type()); }
  Value bitsOfSmall(Value x) {
    return arith::ExtUIOp::create(b, intType(32), bitcast(x, intType(16)));
  }
  Value smallOfBits(Value x, Type small) {
    return bitcast(arith::TruncIOp::create(b, intType(16), x), type(small));
  }

  Value bf16ToF32(Value x);
  Value f32ToBF16(Value x);
  Value f16ToF32(Value x);
  Value f32ToF16(Value x);
  Value f64ToF32Odd(Value x);

private:
  ImplicitLocOpBuilder b;
  Type shape;
};

} // namespace

Value BitBuilder::bf16ToF32(Value x) { return f32OfBits(shl(bitsOfSmall(x), 16)); }

Value BitBuilder::f32ToBF16(Value x) {
  Value bits = bitsOfF32(x);
  // Half an ulp, less one where that would round a tie up to an odd number.
  Value rounded = add(bits, add(mask(shr(bits, 16), 1), 0x7fff));
  // Rounding could carry a NaN over to infinity or zero.
  Value quietNan = bitOr(bits, constant(0x00400000));
  Value isNan = compare(arith::CmpIPredicate::ugt, mask(bits, 0x7fffffff), 0x7f800000);
  return smallOfBits(shr(select(isNan, quietNan, rounded), 16), b.getBF16Type());
}

Value BitBuilder::f16ToF32(Value x) {
  Value bits = bitsOfSmall(x);
  Value sign = shl(mask(bits, 0x8000), 16);
  Value magnitude = shl(mask(bits, 0x7fff), 13);
  Value exponent = mask(magnitude, 0x0f800000);
  Value normal = add(magnitude, (127 - 15) << 23);
  // Infinity and NaN take the largest exponent.
  Value special = add(normal, (128 - 16) << 23);
  // Denormals: give them an implicit one, and subtract it as a float.
  Value one = f32OfBits(constant(113 << 23));
  Value denormal = bitsOfF32(arith::SubFOp::create(b, f32OfBits(add(normal, 1 << 23)), one));
  Value result = select(compare(arith::CmpIPredicate::eq, exponent, 0x0f800000), special,
                        select(compare(arith::CmpIPredicate::eq, exponent, 0), denormal, normal));
  return f32OfBits(bitOr(result, sign));
}

Value BitBuilder::f32ToF16(Value x) {
  Value bits = bitsOfF32(x);
  Value sign = mask(shr(bits, 16), 0x8000);
  Value magnitude = mask(bits, 0x7fffffff);
  Value odd = mask(shr(magnitude, 13), 1);
  Value normal = shr(add(add(magnitude, odd), (15 - 127) * (int64_t(1) << 23) + 0xfff), 13);
  // Adding 1/2 leaves a denormal's bits, rounded, at the bottom of the sum.
  Value half = f32OfBits(constant(0x3f000000));
  Value sum = arith::AddFOp::create(b, f32OfBits(magnitude), half);
  Value denormal = add(bitsOfF32(sum), -0x3f000000);
  Value isNan = compare(arith::CmpIPredicate::ugt, magnitude, 0x7f800000);
  Value special = select(isNan, constant(0x7e00), constant(0x7c00));
  Value result = select(compare(arith::CmpIPredicate::ult, magnitude, 113 << 23), denormal, normal);
  result = select(compare(arith::CmpIPredicate::uge, magnitude, 143 << 23), special, result);
  return smallOfBits(bitOr(result, sign), b.getF16Type());
}

/// Truncated, with the last bit set where that lost something: enough for a
/// correct rounding to fewer bits.
Value BitBuilder::f64ToF32Odd(Value x) {
  Value nearest = arith::TruncFOp::create(b, f32Type(), x);
  Value back = arith::ExtFOp::create(b, x.getType(), nearest);
  Value tooLarge =
      arith::CmpFOp::create(b, arith::CmpFPredicate::OGT, math::AbsFOp::create(b, back).getResult(),
                            math::AbsFOp::create(b, x).getResult());
  Value inexact = arith::CmpFOp::create(b, arith::CmpFPredicate::ONE, back, x);
  Value bits = bitsOfF32(nearest);
  Value truncated = select(tooLarge, add(bits, -1), bits);
  return f32OfBits(bitOr(truncated, select(inexact, constant(1), constant(0))));
}

namespace {

class ExpandExt : public OpRewritePattern<arith::ExtFOp> {
public:
  ExpandExt(MLIRContext *context, bool hasF16Conversion)
      : OpRewritePattern(context), hasF16Conversion(hasF16Conversion) {}

  LogicalResult matchAndRewrite(arith::ExtFOp op, PatternRewriter &rewriter) const override {
    Type from = getElementTypeOrSelf(op.getIn().getType()), to = getElementTypeOrSelf(op.getType());
    if (!isSmallFloat(from) || !(to.isF32() || to.isF64()))
      return rewriter.notifyMatchFailure(op, "not from a 16-bit float to f32 or f64");
    BitBuilder b(rewriter, op.getLoc(), op.getType());
    if (to.isF64()) {
      Value wide = arith::ExtFOp::create(rewriter, op.getLoc(), b.f32Type(), op.getIn());
      rewriter.replaceOpWithNewOp<arith::ExtFOp>(op, op.getType(), wide);
      return success();
    }
    if (from.isF16() && hasF16Conversion)
      return rewriter.notifyMatchFailure(op, "the target has an instruction");
    rewriter.replaceOp(op, from.isBF16() ? b.bf16ToF32(op.getIn()) : b.f16ToF32(op.getIn()));
    return success();
  }

private:
  bool hasF16Conversion;
};

class ExpandTrunc : public OpRewritePattern<arith::TruncFOp> {
public:
  ExpandTrunc(MLIRContext *context, bool hasF16Conversion)
      : OpRewritePattern(context), hasF16Conversion(hasF16Conversion) {}

  LogicalResult matchAndRewrite(arith::TruncFOp op, PatternRewriter &rewriter) const override {
    Type from = getElementTypeOrSelf(op.getIn().getType()), to = getElementTypeOrSelf(op.getType());
    if (!isSmallFloat(to) || !(from.isF32() || from.isF64()))
      return rewriter.notifyMatchFailure(op, "not from f32 or f64 to a 16-bit float");
    if (op.getRoundingmode() && *op.getRoundingmode() != arith::RoundingMode::to_nearest_even)
      return rewriter.notifyMatchFailure(op, "another rounding mode");
    BitBuilder b(rewriter, op.getLoc(), op.getType());
    if (from.isF64()) {
      rewriter.replaceOpWithNewOp<arith::TruncFOp>(op, op.getType(), b.f64ToF32Odd(op.getIn()));
      return success();
    }
    if (to.isF16() && hasF16Conversion)
      return rewriter.notifyMatchFailure(op, "the target has an instruction");
    rewriter.replaceOp(op, to.isBF16() ? b.f32ToBF16(op.getIn()) : b.f32ToF16(op.getIn()));
    return success();
  }

private:
  bool hasF16Conversion;
};

/// Computes an op of `arith` on 16-bit floats in f32.
template <typename Op> class WidenArith : public OpRewritePattern<Op> {
public:
  using OpRewritePattern<Op>::OpRewritePattern;

  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    bool anySmall = llvm::any_of(op->getOperandTypes(), isSmallFloat) ||
                    isSmallFloat(op->getResult(0).getType());
    if (!anySmall)
      return rewriter.notifyMatchFailure(op, "no 16-bit floats");
    SmallVector<Value> operands;
    for (Value operand : op->getOperands()) {
      if (isSmallFloat(operand.getType()))
        operand = arith::ExtFOp::create(
            rewriter, op.getLoc(), withElement(operand.getType(), rewriter.getF32Type()), operand);
      operands.push_back(operand);
    }
    Type resultType = op->getResult(0).getType();
    bool narrow = isSmallFloat(resultType);
    Type wideType = narrow ? withElement(resultType, rewriter.getF32Type()) : resultType;
    Operation *wide = rewriter.create(op.getLoc(), op->getName().getIdentifier(), operands,
                                      wideType, op->getAttrs());
    if (narrow)
      rewriter.replaceOpWithNewOp<arith::TruncFOp>(op, resultType, wide->getResult(0));
    else
      rewriter.replaceOp(op, wide);
    return success();
  }
};

struct ExpandSmallFloatsPass : impl::ExpandSmallFloatsBase<ExpandSmallFloatsPass> {
  using ExpandSmallFloatsBase::ExpandSmallFloatsBase;

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    populateExpandSmallFloatPatterns(patterns, hasF16Conversion);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns)))) {
      getOperation()->emitError("16-bit floats could not be expanded: the "
                                "rewriting did not converge");
      signalPassFailure();
    }
  }
};

} // namespace

void populateExpandSmallFloatPatterns(RewritePatternSet &patterns, bool hasF16Conversion) {
  MLIRContext *context = patterns.getContext();
  patterns.add<ExpandExt, ExpandTrunc>(context, hasF16Conversion);
  patterns.add<WidenArith<arith::AddFOp>, WidenArith<arith::SubFOp>, WidenArith<arith::MulFOp>,
               WidenArith<arith::DivFOp>, WidenArith<arith::RemFOp>, WidenArith<arith::NegFOp>,
               WidenArith<arith::MaximumFOp>, WidenArith<arith::MinimumFOp>,
               WidenArith<arith::MaxNumFOp>, WidenArith<arith::MinNumFOp>,
               WidenArith<arith::CmpFOp>, WidenArith<arith::SIToFPOp>, WidenArith<arith::UIToFPOp>,
               WidenArith<arith::FPToSIOp>, WidenArith<arith::FPToUIOp>>(context);
}

} // namespace xc::codegen
