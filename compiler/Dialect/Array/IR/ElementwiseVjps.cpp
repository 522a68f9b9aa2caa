//===- ElementwiseVjps.cpp - Gradients of elementwise ops -===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `x` is the operand, `y` the result, `g` the result's cotangent.
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Array/IR/ExpressionBuilder.h"
#include "compiler/Dialect/Array/IR/TensorTypes.h"

using namespace mlir;

namespace xc::array {

using Values = SmallVector<Value>;

/// The cotangents of elementwise `op`, summed to the operands' shapes. `build`
/// returns them in the result's shape.
static FailureOr<Values> elementwiseVjp(Operation *op, OpBuilder &builder,
                                        function_ref<Values(ExpressionBuilder &e)> build) {
  if (!isFloat(op->getResult(0)))
    return failure();
  ExpressionBuilder e(builder, op->getLoc());
  Values cotangents = build(e);
  for (auto [cotangent, operand] : llvm::zip_equal(cotangents, op->getOperands()))
    if (cotangent)
      cotangent = e.sumToShape(cotangent, operand);
  return cotangents;
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

FailureOr<Values> AddOp::buildVjp(OpBuilder &builder, ValueRange cotangents) {
  Value g = cotangents.front();
  return elementwiseVjp(*this, builder, [&](ExpressionBuilder &) { return Values{g, g}; });
}

FailureOr<Values> SubOp::buildVjp(OpBuilder &builder, ValueRange cotangents) {
  Value g = cotangents.front();
  return elementwiseVjp(*this, builder,
                        [&](ExpressionBuilder &e) { return Values{g, e.make<NegOp>(g)}; });
}

FailureOr<Values> MulOp::buildVjp(OpBuilder &builder, ValueRange cotangents) {
  Value g = cotangents.front();
  return elementwiseVjp(*this, builder, [&](ExpressionBuilder &e) {
    return Values{e.mul(g, getRhs()), e.mul(g, getLhs())};
  });
}

FailureOr<Values> DivOp::buildVjp(OpBuilder &builder, ValueRange cotangents) {
  Value g = cotangents.front();
  return elementwiseVjp(*this, builder, [&](ExpressionBuilder &e) {
    Value quotient = e.div(g, getRhs());
    return Values{quotient, e.make<NegOp>(e.mul(quotient, getResult()))};
  });
}

FailureOr<Values> PowOp::buildVjp(OpBuilder &builder, ValueRange cotangents) {
  Value g = cotangents.front();
  return elementwiseVjp(*this, builder, [&](ExpressionBuilder &e) {
    Value base = getLhs(), exponent = getRhs();
    Value zero = e.scalar(0, base), one = e.scalar(1, base);
    // b * a ** (b - 1), which is 0 for b = 0 even where a is 0.
    Value slope = e.mul(exponent, e.make<PowOp>(base, e.sub(exponent, one)));
    Value constant = e.compare(CompareDirection::Eq, exponent, zero);
    // y * log(a) counts where the logarithm exists.
    Value positive = e.compare(CompareDirection::Gt, base, zero);
    Value log = e.make<LogOp>(e.select(positive, base, one));
    return Values{e.mul(g, e.select(constant, zero, slope)), e.mul(g, e.mul(getResult(), log))};
  });
}

FailureOr<Values> Atan2Op::buildVjp(OpBuilder &builder, ValueRange cotangents) {
  Value g = cotangents.front();
  return elementwiseVjp(*this, builder, [&](ExpressionBuilder &e) {
    Value y = getLhs(), x = getRhs();
    Value scaled = e.div(g, e.add(e.mul(x, x), e.mul(y, y)));
    return Values{e.mul(scaled, x), e.make<NegOp>(e.mul(scaled, y))};
  });
}

FailureOr<Values> LogAddExpOp::buildVjp(OpBuilder &builder, ValueRange cotangents) {
  Value g = cotangents.front();
  return elementwiseVjp(*this, builder, [&](ExpressionBuilder &e) {
    auto share = [&](Value x) { return e.mul(g, e.make<ExpOp>(e.sub(x, getResult()))); };
    return Values{share(getLhs()), share(getRhs())};
  });
}

/// The larger (smaller) operand gets all, and of equals each gets half.
static FailureOr<Values> extremumVjp(Operation *op, OpBuilder &builder, Value g,
                                     CompareDirection wins, CompareDirection loses) {
  Value lhs = op->getOperand(0), rhs = op->getOperand(1);
  return elementwiseVjp(op, builder, [&](ExpressionBuilder &e) {
    Value zero = e.scalar(0, g);
    Value shared = e.select(e.compare(CompareDirection::Eq, lhs, rhs), e.mul(g, 0.5), zero);
    return Values{e.select(e.compare(wins, lhs, rhs), g, shared),
                  e.select(e.compare(loses, lhs, rhs), g, shared)};
  });
}

FailureOr<Values> MaxOp::buildVjp(OpBuilder &builder, ValueRange cotangents) {
  return extremumVjp(*this, builder, cotangents.front(), CompareDirection::Gt,
                     CompareDirection::Lt);
}

FailureOr<Values> MinOp::buildVjp(OpBuilder &builder, ValueRange cotangents) {
  return extremumVjp(*this, builder, cotangents.front(), CompareDirection::Lt,
                     CompareDirection::Gt);
}

FailureOr<Values> SelectOp::buildVjp(OpBuilder &builder, ValueRange cotangents) {
  Value g = cotangents.front();
  return elementwiseVjp(*this, builder, [&](ExpressionBuilder &e) {
    Value zero = e.scalar(0, g);
    return Values{Value(), e.select(getPredicate(), g, zero), e.select(getPredicate(), zero, g)};
  });
}

FailureOr<Values> ClampOp::buildVjp(OpBuilder &builder, ValueRange cotangents) {
  Value g = cotangents.front();
  return elementwiseVjp(*this, builder, [&](ExpressionBuilder &e) {
    Value zero = e.scalar(0, g);
    Value raised = e.make<MaxOp>(getOperand(), getLow());
    Value above = e.compare(CompareDirection::Gt, raised, getHigh());
    Value below = e.compare(CompareDirection::Lt, getOperand(), getLow());
    Value passed = e.select(above, zero, g);
    return Values{e.select(below, passed, zero), e.select(below, zero, passed),
                  e.select(above, g, zero)};
  });
}

FailureOr<Values> FmaOp::buildVjp(OpBuilder &builder, ValueRange cotangents) {
  Value g = cotangents.front();
  return elementwiseVjp(*this, builder, [&](ExpressionBuilder &e) {
    return Values{e.mul(g, getB()), e.mul(g, getA()), g};
  });
}

FailureOr<Values> ConvertOp::buildVjp(OpBuilder &builder, ValueRange cotangents) {
  // Nothing flows through an integer on either side.
  if (!isFloat(getOperand()) || !isFloat(getResult()))
    return Values{Value()};
  Value g = cotangents.front();
  return elementwiseVjp(*this, builder, [&](ExpressionBuilder &) { return Values{g}; });
}

/// `lhs` less a whole multiple of `rhs`.
template <typename OpTy>
static FailureOr<Values> remainderVjp(OpTy op, OpBuilder &builder, Value g) {
  return elementwiseVjp(op, builder, [&](ExpressionBuilder &e) {
    Value multiple = e.make<RoundOp>(e.div(e.sub(op.getLhs(), op.getResult()), op.getRhs()));
    return Values{g, e.make<NegOp>(e.mul(g, multiple))};
  });
}

FailureOr<Values> RemOp::buildVjp(OpBuilder &builder, ValueRange cotangents) {
  return remainderVjp(*this, builder, cotangents.front());
}

FailureOr<Values> ModOp::buildVjp(OpBuilder &builder, ValueRange cotangents) {
  return remainderVjp(*this, builder, cotangents.front());
}

// Steps are flat, so nothing flows through them.
FailureOr<Values> FloorDivOp::buildVjp(OpBuilder &, ValueRange) { return Values(2); }
FailureOr<Values> FloorOp::buildVjp(OpBuilder &, ValueRange) { return Values(1); }
FailureOr<Values> CeilOp::buildVjp(OpBuilder &, ValueRange) { return Values(1); }
FailureOr<Values> RoundOp::buildVjp(OpBuilder &, ValueRange) { return Values(1); }
FailureOr<Values> SignOp::buildVjp(OpBuilder &, ValueRange) { return Values(1); }

//===----------------------------------------------------------------------===//
// Functions of one operand
//===----------------------------------------------------------------------===//

/// `slope` builds the derivative, which multiplies the cotangent.
static FailureOr<Values>
unaryVjp(Operation *op, OpBuilder &builder, ValueRange cotangents,
         function_ref<Value(ExpressionBuilder &e, Value x, Value y)> slope) {
  return elementwiseVjp(op, builder, [&](ExpressionBuilder &e) {
    Value derivative = slope(e, op->getOperand(0), op->getResult(0));
    return Values{e.mul(cotangents.front(), derivative)};
  });
}

using E = ExpressionBuilder;

FailureOr<Values> AbsOp::buildVjp(OpBuilder &builder, ValueRange g) {
  return unaryVjp(*this, builder, g, [](E &e, Value x, Value) { return e.make<SignOp>(x); });
}

FailureOr<Values> NegOp::buildVjp(OpBuilder &builder, ValueRange g) {
  return elementwiseVjp(*this, builder, [&](E &e) { return Values{e.make<NegOp>(g.front())}; });
}

FailureOr<Values> SquareOp::buildVjp(OpBuilder &builder, ValueRange g) {
  return unaryVjp(*this, builder, g, [](E &e, Value x, Value) { return e.mul(x, 2); });
}

FailureOr<Values> SqrtOp::buildVjp(OpBuilder &builder, ValueRange g) {
  return unaryVjp(*this, builder, g,
                  [](E &e, Value, Value y) { return e.div(e.scalar(0.5, y), y); });
}

FailureOr<Values> RsqrtOp::buildVjp(OpBuilder &builder, ValueRange g) {
  return unaryVjp(*this, builder, g,
                  [](E &e, Value x, Value y) { return e.div(e.mul(y, -0.5), x); });
}

FailureOr<Values> ReciprocalOp::buildVjp(OpBuilder &builder, ValueRange g) {
  return unaryVjp(*this, builder, g,
                  [](E &e, Value, Value y) { return e.make<NegOp>(e.mul(y, y)); });
}

FailureOr<Values> ExpOp::buildVjp(OpBuilder &builder, ValueRange g) {
  return unaryVjp(*this, builder, g, [](E &, Value, Value y) { return y; });
}

FailureOr<Values> Exp2Op::buildVjp(OpBuilder &builder, ValueRange g) {
  return unaryVjp(*this, builder, g, [](E &e, Value, Value y) { return e.mul(y, M_LN2); });
}

FailureOr<Values> Expm1Op::buildVjp(OpBuilder &builder, ValueRange g) {
  return unaryVjp(*this, builder, g, [](E &e, Value, Value y) { return e.add(y, 1); });
}

FailureOr<Values> LogOp::buildVjp(OpBuilder &builder, ValueRange g) {
  return unaryVjp(*this, builder, g, [](E &e, Value x, Value) { return e.make<ReciprocalOp>(x); });
}

FailureOr<Values> Log2Op::buildVjp(OpBuilder &builder, ValueRange g) {
  return unaryVjp(*this, builder, g,
                  [](E &e, Value x, Value) { return e.div(e.scalar(M_LOG2E, x), x); });
}

FailureOr<Values> Log1pOp::buildVjp(OpBuilder &builder, ValueRange g) {
  return unaryVjp(*this, builder, g,
                  [](E &e, Value x, Value) { return e.make<ReciprocalOp>(e.add(x, 1)); });
}

FailureOr<Values> SinOp::buildVjp(OpBuilder &builder, ValueRange g) {
  return unaryVjp(*this, builder, g, [](E &e, Value x, Value) { return e.make<CosOp>(x); });
}

FailureOr<Values> CosOp::buildVjp(OpBuilder &builder, ValueRange g) {
  return unaryVjp(*this, builder, g,
                  [](E &e, Value x, Value) { return e.make<NegOp>(e.make<SinOp>(x)); });
}

FailureOr<Values> TanOp::buildVjp(OpBuilder &builder, ValueRange g) {
  return unaryVjp(*this, builder, g, [](E &e, Value, Value y) { return e.add(e.mul(y, y), 1); });
}

FailureOr<Values> TanhOp::buildVjp(OpBuilder &builder, ValueRange g) {
  return unaryVjp(*this, builder, g,
                  [](E &e, Value, Value y) { return e.sub(e.scalar(1, y), e.mul(y, y)); });
}

FailureOr<Values> ErfOp::buildVjp(OpBuilder &builder, ValueRange g) {
  return unaryVjp(*this, builder, g, [](E &e, Value x, Value) {
    return e.mul(e.make<ExpOp>(e.make<NegOp>(e.mul(x, x))), M_2_SQRTPI);
  });
}

/// 1 / sqrt(offset + scale * x * x).
static Value inverseRoot(E &e, Value x, double scale, double offset) {
  return e.make<RsqrtOp>(e.add(e.mul(e.mul(x, x), scale), offset));
}

FailureOr<Values> AsinOp::buildVjp(OpBuilder &builder, ValueRange g) {
  return unaryVjp(*this, builder, g, [](E &e, Value x, Value) { return inverseRoot(e, x, -1, 1); });
}

FailureOr<Values> AcosOp::buildVjp(OpBuilder &builder, ValueRange g) {
  return unaryVjp(*this, builder, g,
                  [](E &e, Value x, Value) { return e.make<NegOp>(inverseRoot(e, x, -1, 1)); });
}

FailureOr<Values> AtanOp::buildVjp(OpBuilder &builder, ValueRange g) {
  return unaryVjp(*this, builder, g,
                  [](E &e, Value x, Value) { return e.make<ReciprocalOp>(e.add(e.mul(x, x), 1)); });
}

FailureOr<Values> SinhOp::buildVjp(OpBuilder &builder, ValueRange g) {
  return unaryVjp(*this, builder, g, [](E &e, Value x, Value) { return e.make<CoshOp>(x); });
}

FailureOr<Values> CoshOp::buildVjp(OpBuilder &builder, ValueRange g) {
  return unaryVjp(*this, builder, g, [](E &e, Value x, Value) { return e.make<SinhOp>(x); });
}

FailureOr<Values> AsinhOp::buildVjp(OpBuilder &builder, ValueRange g) {
  return unaryVjp(*this, builder, g, [](E &e, Value x, Value) { return inverseRoot(e, x, 1, 1); });
}

FailureOr<Values> AcoshOp::buildVjp(OpBuilder &builder, ValueRange g) {
  return unaryVjp(*this, builder, g, [](E &e, Value x, Value) { return inverseRoot(e, x, 1, -1); });
}

FailureOr<Values> AtanhOp::buildVjp(OpBuilder &builder, ValueRange g) {
  return unaryVjp(*this, builder, g, [](E &e, Value x, Value) {
    return e.make<ReciprocalOp>(e.add(e.mul(e.mul(x, x), -1), 1));
  });
}

FailureOr<Values> CbrtOp::buildVjp(OpBuilder &builder, ValueRange g) {
  return unaryVjp(*this, builder, g,
                  [](E &e, Value, Value y) { return e.make<ReciprocalOp>(e.mul(e.mul(y, y), 3)); });
}

FailureOr<Values> ErfInvOp::buildVjp(OpBuilder &builder, ValueRange g) {
  return unaryVjp(*this, builder, g, [](E &e, Value, Value y) {
    return e.mul(e.make<ExpOp>(e.mul(y, y)), 1 / M_2_SQRTPI);
  });
}

FailureOr<Values> SigmoidOp::buildVjp(OpBuilder &builder, ValueRange g) {
  return unaryVjp(*this, builder, g,
                  [](E &e, Value, Value y) { return e.mul(y, e.sub(e.scalar(1, y), y)); });
}

FailureOr<Values> SiluOp::buildVjp(OpBuilder &builder, ValueRange g) {
  return unaryVjp(*this, builder, g, [](E &e, Value x, Value) {
    Value sigmoid = e.make<SigmoidOp>(x);
    Value rest = e.sub(e.scalar(1, x), sigmoid);
    return e.mul(sigmoid, e.add(e.mul(x, rest), 1));
  });
}

FailureOr<Values> ReluOp::buildVjp(OpBuilder &builder, ValueRange cotangents) {
  Value g = cotangents.front();
  return elementwiseVjp(*this, builder, [&](E &e) {
    Value zero = e.scalar(0, g);
    return Values{e.select(e.compare(CompareDirection::Gt, getOperand(), zero), g, zero)};
  });
}

FailureOr<Values> GeluOp::buildVjp(OpBuilder &builder, ValueRange g) {
  if (getApproximate() == GeluForm::Erf)
    return unaryVjp(*this, builder, g, [](E &e, Value x, Value) {
      // The normal distribution's integral, and x times its density.
      Value integral = e.mul(e.add(e.make<ErfOp>(e.mul(x, M_SQRT1_2)), 1), 0.5);
      Value density = e.mul(e.make<ExpOp>(e.mul(e.mul(x, x), -0.5)), M_SQRT1_2 * M_2_SQRTPI * 0.5);
      return e.add(integral, e.mul(x, density));
    });
  return unaryVjp(*this, builder, g, [](E &e, Value x, Value) {
    constexpr double scale = M_2_SQRTPI * M_SQRT1_2, cubic = 0.044715;
    Value square = e.mul(x, x);
    Value tanh = e.make<TanhOp>(e.mul(e.mul(x, e.add(e.mul(square, cubic), 1)), scale));
    Value inner = e.mul(e.add(e.mul(square, 3 * cubic), 1), scale);
    Value rest = e.sub(e.scalar(1, x), e.mul(tanh, tanh));
    Value outer = e.mul(e.add(tanh, 1), 0.5);
    return e.add(outer, e.mul(e.mul(e.mul(x, 0.5), rest), inner));
  });
}

} // namespace xc::array
