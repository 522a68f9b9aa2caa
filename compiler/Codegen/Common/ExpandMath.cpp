//===- ExpandMath.cpp - Math functions as arithmetic ----------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The patterns that tie `math` ops to their expansions, and the pass. Ops on
// f16 and bf16 are first widened to f32; the expansions themselves are for f32
// and f64. Left alone: ops on other types (f80, tensors, scalable vectors), and
// what both targets have as instructions.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/Common/ExpandMath.h"

#include "compiler/Codegen/Common/MathBuilder.h"
#include "compiler/Codegen/Common/Passes.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace xc::codegen {
#define GEN_PASS_DEF_EXPANDMATH
#include "compiler/Codegen/Common/Passes.h.inc"

Type withElement(Type type, Type element) {
  auto shaped = dyn_cast<ShapedType>(type);
  return shaped ? Type(shaped.clone(element)) : element;
}

/// A scalar, or a vector of fixed size.
static bool isExpandableShape(Type type) {
  if (auto vector = dyn_cast<VectorType>(type))
    return !vector.isScalable();
  return !isa<ShapedType>(type);
}

/// True if the op says that its function may be approximated.
static bool isApproximate(math::Log2Op op) {
  return arith::bitEnumContainsAll(op.getFastmath(), arith::FastMathFlags::afn);
}

namespace {

/// Base of the patterns: holds the options, and checks what all of them check.
template <typename Op> class MathPattern : public OpRewritePattern<Op> {
public:
  MathPattern(MLIRContext *context, const MathExpansion &options, PatternBenefit benefit = 1)
      : OpRewritePattern<Op>(context, benefit), options(options) {}

  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const final {
    Type type = op->getOperand(0).getType();
    if (!isExpandableShape(type))
      return rewriter.notifyMatchFailure(op, "neither a scalar nor a fixed vector");
    if (options.keep && options.keep(op))
      return rewriter.notifyMatchFailure(op, "kept for the target");
    return expand(op, type, rewriter);
  }

protected:
  virtual LogicalResult expand(Op op, Type type, PatternRewriter &rewriter) const = 0;

  MathExpansion options;
};

/// Replaces an op on f32 or f64 by what `function` builds from its operands.
template <typename Op, typename Function> class Expand : public MathPattern<Op> {
public:
  Expand(MLIRContext *context, const MathExpansion &options, Function function)
      : MathPattern<Op>(context, options), function(function) {}

private:
  LogicalResult expand(Op op, Type type, PatternRewriter &rewriter) const override {
    Type element = getElementTypeOrSelf(type);
    if (!element.isF32() && !element.isF64())
      return rewriter.notifyMatchFailure(op, "neither f32 nor f64");
    MathBuilder builder(rewriter, op.getLoc(), type, this->options);
    rewriter.replaceOp(op, call(builder, op, std::make_index_sequence<Arity>()));
    return success();
  }

  static constexpr size_t Arity = Op::template hasTrait<OpTrait::OneOperand>()           ? 1
                                  : Op::template hasTrait<OpTrait::NOperands<2>::Impl>() ? 2
                                                                                         : 3;
  template <size_t... Is>
  Value call(MathBuilder &builder, Op op, std::index_sequence<Is...>) const {
    return function(builder, op->getOperand(Is)...);
  }

  Function function;
};

/// Computes an op on f16 or bf16 in f32.
template <typename Op> class Widen : public MathPattern<Op> {
  using MathPattern<Op>::MathPattern;

  LogicalResult expand(Op op, Type type, PatternRewriter &rewriter) const override {
    Type element = getElementTypeOrSelf(type);
    if (!element.isF16() && !element.isBF16())
      return rewriter.notifyMatchFailure(op, "neither f16 nor bf16");
    Location loc = op.getLoc();
    SmallVector<Value> operands;
    for (Value operand : op->getOperands()) {
      if (isa<FloatType>(getElementTypeOrSelf(operand.getType()))) {
        Type wide = withElement(operand.getType(), rewriter.getF32Type());
        operand = arith::ExtFOp::create(rewriter, loc, wide, operand);
      }
      operands.push_back(operand);
    }
    SmallVector<Type> resultTypes;
    for (Type resultType : op->getResultTypes())
      resultTypes.push_back(getElementTypeOrSelf(resultType) == element
                                ? withElement(resultType, rewriter.getF32Type())
                                : resultType);
    Operation *wide =
        rewriter.create(loc, op->getName().getIdentifier(), operands, resultTypes, op->getAttrs());
    SmallVector<Value> results;
    for (auto [wideResult, resultType] :
         llvm::zip_equal(wide->getResults(), op->getResultTypes())) {
      Value value = wideResult;
      if (value.getType() != resultType)
        value = arith::TruncFOp::create(rewriter, loc, resultType, value);
      results.push_back(value);
    }
    rewriter.replaceOp(op, results);
    return success();
  }
};

class ExpandSincosOp : public MathPattern<math::SincosOp> {
  using MathPattern::MathPattern;

  LogicalResult expand(math::SincosOp op, Type type, PatternRewriter &rewriter) const override {
    Type element = getElementTypeOrSelf(type);
    if (!element.isF32() && !element.isF64())
      return rewriter.notifyMatchFailure(op, "neither f32 nor f64");
    MathBuilder builder(rewriter, op.getLoc(), type, options);
    auto [sin, cos] = expandSinCos(builder, op.getOperand());
    rewriter.replaceOp(op, {sin, cos});
    return success();
  }
};

/// Base of the powers with integer exponents: square and multiply, over the
/// bits of the longest exponent of all lanes.
template <typename Op> class PowerPattern : public MathPattern<Op> {
protected:
  using MathPattern<Op>::MathPattern;
  using Multiply = llvm::function_ref<Value(OpBuilder &, Value, Value)>;

  static Value constant(OpBuilder &builder, Location loc, Type type, int64_t value) {
    Type element = getElementTypeOrSelf(type);
    TypedAttr attr = isa<FloatType>(element)
                         ? TypedAttr(builder.getFloatAttr(element, double(value)))
                         : builder.getIntegerAttr(element, value);
    if (auto vector = dyn_cast<VectorType>(type))
      attr = DenseElementsAttr::get(vector, attr);
    return arith::ConstantOp::create(builder, loc, attr);
  }

  /// base^exponent, the exponent read as unsigned.
  static Value power(MathBuilder &lanes, Location loc, Value base, Value exponent,
                     Multiply multiply) {
    Type baseType = base.getType(), exponentType = exponent.getType();
    auto loop = scf::WhileOp::create(
        lanes.ops(), TypeRange{baseType, baseType, exponentType},
        ValueRange{constant(lanes.ops(), loc, baseType, 1), base, exponent},
        [&](OpBuilder &b, Location, ValueRange state) {
          MathBuilder w(b, loc, lanes.floatType(), lanes.options());
          Value zero = constant(b, loc, exponentType, 0);
          Value isNonzero = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, state[2], zero);
          Value any = w.anyLane(isNonzero);
          scf::ConditionOp::create(b, loc, any, state);
        },
        [&](OpBuilder &b, Location, ValueRange state) {
          Value one = constant(b, loc, exponentType, 1);
          Value bit = arith::AndIOp::create(b, loc, state[2], one);
          Value isSet = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, bit, one);
          Value product = multiply(b, state[0], state[1]);
          Value result = arith::SelectOp::create(b, loc, isSet, product, state[0]);
          Value square = multiply(b, state[1], state[1]);
          Value rest = arith::ShRUIOp::create(b, loc, state[2], one);
          scf::YieldOp::create(b, loc, ValueRange{result, square, rest});
        });
    return loop.getResult(0);
  }
};

class ExpandFPowI : public PowerPattern<math::FPowIOp> {
  using PowerPattern::PowerPattern;

  LogicalResult expand(math::FPowIOp op, Type type, PatternRewriter &rewriter) const override {
    Type element = getElementTypeOrSelf(type);
    if (!element.isF32() && !element.isF64())
      return rewriter.notifyMatchFailure(op, "neither f32 nor f64");
    Location loc = op.getLoc();
    MathBuilder b(rewriter, loc, type, options);
    Value exponent = op.getRhs();
    Type exponentType = exponent.getType();
    Value zero = constant(rewriter, loc, exponentType, 0);
    Value isNegative =
        arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::slt, exponent, zero);
    Value negated = arith::SubIOp::create(rewriter, loc, zero, exponent);
    Value magnitude = arith::SelectOp::create(rewriter, loc, isNegative, negated, exponent);
    Value result = power(b, loc, op.getLhs(), magnitude, [&](OpBuilder &m, Value x, Value y) {
      return arith::MulFOp::create(m, loc, x, y);
    });
    rewriter.replaceOp(op, b.select(isNegative, b.div(b.constant(1.0), result), result));
    return success();
  }
};

/// Wraps on overflow. A negative exponent gives the reciprocal truncated to an
/// integer: 1 or -1 for bases 1 and -1, else 0 (for base 0 as well).
class ExpandIPowI : public PowerPattern<math::IPowIOp> {
  using PowerPattern::PowerPattern;

  LogicalResult expand(math::IPowIOp op, Type type, PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value base = op.getLhs(), exponent = op.getRhs();
    // The builder is for the shape only: the lanes are integers.
    MathBuilder b(rewriter, loc, withElement(type, rewriter.getF32Type()), options);
    auto compare = [&](arith::CmpIPredicate predicate, Value x, int64_t y) {
      return arith::CmpIOp::create(rewriter, loc, predicate, x, constant(rewriter, loc, type, y));
    };
    Value result = power(b, loc, base, exponent, [&](OpBuilder &m, Value x, Value y) {
      return arith::MulIOp::create(m, loc, x, y);
    });
    // Powers of 1 and -1 depend on the exponent's lowest bit only, whatever its
    // sign.
    Value isUnit = arith::OrIOp::create(rewriter, loc, compare(arith::CmpIPredicate::eq, base, 1),
                                        compare(arith::CmpIPredicate::eq, base, -1));
    Value isNonnegative = compare(arith::CmpIPredicate::sge, exponent, 0);
    Value isValid = arith::OrIOp::create(rewriter, loc, isUnit, isNonnegative);
    rewriter.replaceOpWithNewOp<arith::SelectOp>(op, isValid, result,
                                                 constant(rewriter, loc, type, 0));
    return success();
  }
};

/// By the natural logarithm, without the pairs that log2 takes.
class ExpandApproximateLog2 : public MathPattern<math::Log2Op> {
public:
  using MathPattern::MathPattern;

private:
  LogicalResult expand(math::Log2Op op, Type type, PatternRewriter &rewriter) const override {
    if (!getElementTypeOrSelf(type).isF32() || !isApproximate(op))
      return rewriter.notifyMatchFailure(op, "not f32, or not to be approximated");
    MathBuilder b(rewriter, op.getLoc(), type, options);
    Value logarithm = expandLog(b, op.getOperand());
    rewriter.replaceOp(op, b.mul(logarithm, b.constant(1.4426950408889634)));
    return success();
  }
};

struct ExpandMathPass : impl::ExpandMathBase<ExpandMathPass> {
  using ExpandMathBase::ExpandMathBase;

  void runOnOperation() override {
    MathExpansion options;
    options.fastMath = fastMath;
    options.hasFma = hasFma;
    options.hasExp2 = hasExp2;
    options.hasLog2 = hasLog2;
    options.hasTanh = hasTanh;
    options.hasReciprocal = hasReciprocal;
    options.hasMinMax = hasMinMax;
    options.keep = [&](Operation *op) {
      if (!getElementTypeOrSelf(op->getOperand(0)).isF32())
        return false;
      if (auto tanh = dyn_cast<math::TanhOp>(op))
        return hasTanh && tanh.getFastmath() == arith::FastMathFlags::afn;
      if (auto log2 = dyn_cast<math::Log2Op>(op))
        return hasLog2 && isApproximate(log2);
      if (auto rsqrt = dyn_cast<math::RsqrtOp>(op))
        return hasReciprocal && rsqrt.getFastmath() == arith::FastMathFlags::afn;
      return hasExp2 && isa<math::Exp2Op>(op);
    };
    expandCompositions(options);
    RewritePatternSet patterns(&getContext());
    populateExpandMathPatterns(patterns, options);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns)))) {
      getOperation()->emitError("math functions could not be expanded: the "
                                "rewriting did not converge");
      signalPassFailure();
    }
  }

private:
  /// A function of a function that is simpler than either, before these are expanded.
  void expandCompositions(const MathExpansion &options) {
    getOperation()->walk([&](math::TanhOp tanh) {
      auto log1p = tanh.getOperand().getDefiningOp<math::Log1pOp>();
      Type type = tanh.getType(), element = getElementTypeOrSelf(type);
      if (!log1p || !isExpandableShape(type) || !(element.isF32() || element.isF64()))
        return;
      OpBuilder builder(tanh);
      MathBuilder b(builder, tanh.getLoc(), type, options);
      tanh.replaceAllUsesWith(expandTanhOfLog1p(b, log1p.getOperand()));
      tanh.erase();
    });
  }
};

} // namespace

//===----------------------------------------------------------------------===//
// Small ops that need no file of their own
//===----------------------------------------------------------------------===//

static Value expandIsNan(MathBuilder &b, Value x) { return b.isNan(x); }
static Value expandIsInf(MathBuilder &b, Value x) { return b.equal(b.abs(x), b.infinity()); }
static Value expandIsFinite(MathBuilder &b, Value x) { return b.less(b.abs(x), b.infinity()); }
static Value expandIsNormal(MathBuilder &b, Value x) {
  Value magnitude = b.abs(x);
  return b.andInt(b.less(magnitude, b.infinity()),
                  b.greaterEqual(magnitude, b.constant(b.minNormal())));
}
static Value expandClamp(MathBuilder &b, Value x, Value low, Value high) {
  Value raised = arith::MaximumFOp::create(b.ops(), x, low);
  return arith::MinimumFOp::create(b.ops(), raised, high);
}

namespace {
/// Adds the expansion of `Op`, and its widening from 16 bits.
struct PatternAdder {
  RewritePatternSet &patterns;
  const MathExpansion &options;

  template <typename Op, typename Function> void add(Function function) {
    MLIRContext *context = patterns.getContext();
    patterns.add(std::make_unique<Expand<Op, Function>>(context, options, function));
    patterns.add<Widen<Op>>(context, options);
  }
};
} // namespace

void populateExpandMathPatterns(RewritePatternSet &patterns, const MathExpansion &options) {
  PatternAdder adder{patterns, options};
  adder.add<math::ExpOp>(expandExp);
  adder.add<math::Exp2Op>(expandExp2);
  adder.add<math::ExpM1Op>(expandExpM1);
  adder.add<math::SinhOp>(expandSinh);
  adder.add<math::CoshOp>(expandCosh);
  adder.add<math::TanhOp>(expandTanh);
  adder.add<math::LogOp>(expandLog);
  adder.add<math::Log1pOp>(expandLog1p);
  adder.add<math::Log2Op>(expandLog2);
  patterns.add<ExpandApproximateLog2>(patterns.getContext(), options, /*benefit=*/2);
  adder.add<math::Log10Op>(expandLog10);
  adder.add<math::AsinhOp>(expandAsinh);
  adder.add<math::AcoshOp>(expandAcosh);
  adder.add<math::AtanhOp>(expandAtanh);
  adder.add<math::PowFOp>(expandPow);
  adder.add<math::SinOp>(expandSin);
  adder.add<math::CosOp>(expandCos);
  adder.add<math::TanOp>(expandTan);
  adder.add<math::AsinOp>(expandAsin);
  adder.add<math::AcosOp>(expandAcos);
  adder.add<math::AtanOp>(expandAtan);
  adder.add<math::Atan2Op>(expandAtan2);
  adder.add<math::ErfOp>(expandErf);
  adder.add<math::ErfcOp>(expandErfc);
  adder.add<math::CbrtOp>(expandCbrt);
  adder.add<math::RsqrtOp>(expandRsqrt);
  adder.add<math::RoundOp>(expandRound);
  adder.add<math::IsNaNOp>(expandIsNan);
  adder.add<math::IsInfOp>(expandIsInf);
  adder.add<math::IsFiniteOp>(expandIsFinite);
  adder.add<math::IsNormalOp>(expandIsNormal);
  adder.add<math::ClampFOp>(expandClamp);
  adder.add<arith::RemFOp>(expandRem);
  patterns.add<Widen<math::SqrtOp>, Widen<math::FloorOp>, Widen<math::CeilOp>, Widen<math::TruncOp>,
               Widen<math::RoundEvenOp>, Widen<math::AbsFOp>, Widen<math::CopySignOp>,
               Widen<math::FmaOp>, Widen<math::SincosOp>, Widen<math::FPowIOp>, ExpandSincosOp,
               ExpandFPowI, ExpandIPowI>(patterns.getContext(), options);
  if (!options.hasFma)
    patterns.add(std::make_unique<Expand<math::FmaOp, decltype(&expandFma)>>(patterns.getContext(),
                                                                             options, &expandFma));
}

} // namespace xc::codegen
