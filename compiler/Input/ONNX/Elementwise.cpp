//===- Elementwise.cpp - ONNX ops on elements -----------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Input/ONNX/NodeImport.h"

#include <cmath>

using namespace mlir;
using namespace xc::array;

namespace xc::onnx {

using Dir = CompareDirection;

//===----------------------------------------------------------------------===//
// One array op
//===----------------------------------------------------------------------===//

template <typename OpTy> static Results unary(NodeImport &n) { return {n.make<OpTy>(n.input(0))}; }

template <typename OpTy> static Results binary(NodeImport &n) {
  return {n.make<OpTy>(n.input(0), n.input(1))};
}

template <Dir direction> static Results comparison(NodeImport &n) {
  return {n.compare(direction, n.input(0), n.input(1))};
}

/// Any number of operands, from left to right.
template <typename OpTy> static Value combineAll(NodeImport &n) {
  Value result = n.input(0);
  for (unsigned index = 1; index < n.getNumInputs(); ++index)
    result = n.make<OpTy>(result, n.input(index));
  return result;
}

template <typename OpTy> static Results variadic(NodeImport &n) { return {combineAll<OpTy>(n)}; }

static Results importMean(NodeImport &n) {
  Value sum = combineAll<AddOp>(n);
  return {n.div(sum, n.scalar(double(n.getNumInputs()), sum))};
}

//===----------------------------------------------------------------------===//
// Arithmetic with a rule of its own
//===----------------------------------------------------------------------===//

static Results importMod(NodeImport &n) {
  if (n.integer("fmod", 0) != 0)
    return {n.make<RemOp>(n.input(0), n.input(1))};
  return {n.make<ModOp>(n.input(0), n.input(1))};
}

/// The result is of the base's type, whatever the exponent's is.
static Results importPow(NodeImport &n) {
  Value base = n.input(0), exponent = n.input(1);
  Type element = n.elementOf(base);
  if (!n.isFloat(base) && n.isFloat(exponent))
    return {n.convert(n.make<PowOp>(n.convert(base, n.elementOf(exponent)), exponent), element)};
  return {n.make<PowOp>(base, n.convert(exponent, element))};
}

static Results importBitShift(NodeImport &n) {
  std::string direction = n.text("direction", "");
  if (direction == "LEFT")
    return {n.make<ShiftLeftOp>(n.input(0), n.input(1))};
  if (direction == "RIGHT" && n.isUnsigned(n.input(0)))
    return {n.make<ShiftRightLogicalOp>(n.input(0), n.input(1))};
  if (direction == "RIGHT")
    return {n.make<ShiftRightArithmeticOp>(n.input(0), n.input(1))};
  return n.error("expected direction LEFT or RIGHT, got '" + direction + "'");
}

static Results importIsInf(NodeImport &n) {
  Value x = n.input(0);
  bool negative = n.integer("detect_negative", 1), positive = n.integer("detect_positive", 1);
  if (!negative && !positive)
    return {n.broadcast(n.scalar(0, n.getBuilder().getI1Type()), n.sizesOf(x))};
  double infinity = std::numeric_limits<double>::infinity();
  if (negative && positive)
    x = n.make<AbsOp>(x);
  return {n.compare(Dir::Eq, x, n.scalar(positive ? infinity : -infinity, x))};
}

static Results importCast(NodeImport &n) {
  Value x = n.input(0);
  return {n.convert(x, n.elementType(n.integer("to", kUndefined)))};
}

static Results importCastLike(NodeImport &n) {
  return {n.convert(n.input(0), n.elementOf(n.input(1)))};
}

static Results importBitCast(NodeImport &n) {
  Value x = n.input(0);
  Type element = n.elementType(n.integer("to", kUndefined));
  if (!x || n.elementOf(x) == element)
    return {x};
  // A truth value is a byte of 0 or 1.
  if (n.elementOf(x).isInteger(1) && element.getIntOrFloatBitWidth() == 8)
    return {n.convert(x, element)};
  return {n.makeTyped<BitcastOp>(n.typeOf(x).clone(element), x)};
}

static Results importWhere(NodeImport &n) { return {n.select(n.input(0), n.input(1), n.input(2))}; }

static Value clip(NodeImport &n, Value x, Value low, Value high) {
  if (low)
    x = n.make<MaxOp>(x, low);
  return high ? n.make<MinOp>(x, high) : x;
}

/// Bounds are inputs.
static Results importClip(NodeImport &n) {
  Value x = n.input(0);
  return {clip(n, x, n.has(1) ? n.input(1) : Value(), n.has(2) ? n.input(2) : Value())};
}

/// Bounds are attributes.
static Results importClip6(NodeImport &n) {
  Value x = n.input(0), low, high;
  if (n.hasAttribute("min"))
    low = n.scalar(n.number("min", 0), x);
  if (n.hasAttribute("max"))
    high = n.scalar(n.number("max", 0), x);
  return {clip(n, x, low, high)};
}

static Results importDropout(NodeImport &n) {
  Value x = n.input(0);
  if (n.has(2)) {
    std::optional<SmallVector<int64_t>> training = n.integers(2);
    std::optional<SmallVector<double>> ratio = n.has(1) ? n.floats(1) : SmallVector<double>{0.5};
    bool isIdentity = (training && training->size() == 1 && training->front() == 0) ||
                      (ratio && ratio->size() == 1 && ratio->front() == 0.0);
    if (!isIdentity)
      return n.error("dropout in training is not supported; what it drops is not reproducible");
  }
  Results results{x};
  if (n.wants(1)) {
    Type flag = n.getBuilder().getI1Type();
    results.push_back(
        n.broadcast(n.scalar(1, n.version < 10 ? n.elementOf(x) : flag), n.sizesOf(x)));
  }
  return results;
}

//===----------------------------------------------------------------------===//
// Activations
//===----------------------------------------------------------------------===//

/// `x` where it is positive, else `otherwise`.
static Value positiveOr(NodeImport &n, Value x, Value otherwise) {
  return n.select(n.compare(Dir::Gt, x, n.scalar(0, x)), x, otherwise);
}

static Results importElu(NodeImport &n) {
  Value x = n.input(0);
  Value below = n.mul(n.make<Expm1Op>(x), n.scalar(n.number("alpha", 1.0), x));
  return {n.select(n.compare(Dir::Ge, x, n.scalar(0, x)), x, below)};
}

static Results importCelu(NodeImport &n) {
  Value x = n.input(0), alpha = n.scalar(n.number("alpha", 1.0), x), zero = n.scalar(0, x);
  Value below = n.mul(n.make<Expm1Op>(n.div(x, alpha)), alpha);
  return {n.add(n.make<MaxOp>(x, zero), n.make<MinOp>(below, zero))};
}

static Results importSelu(NodeImport &n) {
  Value x = n.input(0);
  Value alpha = n.scalar(n.number("alpha", 1.67326319217681884765625), x),
        gamma = n.scalar(n.number("gamma", 1.05070102214813232421875), x);
  return {n.mul(positiveOr(n, x, n.mul(n.make<Expm1Op>(x), alpha)), gamma)};
}

static Results importLeakyRelu(NodeImport &n) {
  Value x = n.input(0);
  Value below = n.mul(x, n.scalar(n.number("alpha", 0.01), x));
  return {n.select(n.compare(Dir::Ge, x, n.scalar(0, x)), x, below)};
}

static Results importPRelu(NodeImport &n) {
  Value x = n.input(0);
  return {n.select(n.compare(Dir::Ge, x, n.scalar(0, x)), x, n.mul(x, n.input(1)))};
}

static Results importThresholdedRelu(NodeImport &n) {
  Value x = n.input(0);
  return {n.select(n.compare(Dir::Gt, x, n.scalar(n.number("alpha", 1.0), x)), x, n.scalar(0, x))};
}

static Value hardSigmoid(NodeImport &n, Value x, double alpha, double beta) {
  Value line = n.add(n.mul(x, n.scalar(alpha, x)), n.scalar(beta, x));
  return n.make<ClampOp>(n.scalar(0, x), line, n.scalar(1, x));
}

static Results importHardSigmoid(NodeImport &n) {
  return {hardSigmoid(n, n.input(0), n.number("alpha", 0.2), n.number("beta", 0.5))};
}

static Results importHardSwish(NodeImport &n) {
  Value x = n.input(0);
  return {n.mul(x, hardSigmoid(n, x, 1.0 / 6, 0.5))};
}

static Value softplus(NodeImport &n, Value x) { return n.make<LogAddExpOp>(x, n.scalar(0, x)); }

static Results importSoftplus(NodeImport &n) { return {softplus(n, n.input(0))}; }

static Results importSoftsign(NodeImport &n) {
  Value x = n.input(0);
  return {n.div(x, n.add(n.make<AbsOp>(x), n.scalar(1, x)))};
}

static Results importMish(NodeImport &n) {
  Value x = n.input(0);
  return {n.mul(x, n.make<TanhOp>(softplus(n, x)))};
}

/// `x sigmoid(alpha x)`.
static Value swish(NodeImport &n, Value x) {
  double alpha = n.number("alpha", 1.0);
  if (alpha == 1.0)
    return n.make<SiluOp>(x);
  return n.mul(x, n.make<SigmoidOp>(n.mul(x, n.scalar(alpha, x))));
}

static Results importSwish(NodeImport &n) { return {swish(n, n.input(0))}; }

/// The product is rounded once.
static Results importSwiGLU(NodeImport &n) {
  Value gate = n.input(0), value = n.input(1);
  return {n.convert(n.mul(swish(n, n.widen(gate)), n.widen(value)), n.elementOf(gate))};
}

static Results importBinarizer(NodeImport &n) {
  Value x = n.input(0);
  double threshold = n.number("threshold", 0);
  // Integers are greater than a number if they are greater than its floor.
  Value bound = n.scalar(n.isFloat(x) ? threshold : std::floor(threshold), x);
  return {n.convert(n.compare(Dir::Gt, x, bound), n.elementOf(x))};
}

static Results importGelu(NodeImport &n) {
  std::string form = n.text("approximate", "none");
  if (form != "none" && form != "tanh")
    return n.error("expected approximate to be none or tanh, got '" + form + "'");
  return {n.make<GeluOp>(n.input(0), form == "tanh" ? GeluForm::Tanh : GeluForm::Erf)};
}

static Results importShrink(NodeImport &n) {
  Value x = n.input(0);
  double lambda = n.number("lambd", 0.5);
  Value bias = n.scalar(n.number("bias", 0.0), x), zero = n.scalar(0, x);
  Value above = n.select(n.compare(Dir::Gt, x, n.scalar(lambda, x)), n.sub(x, bias), zero);
  return {n.select(n.compare(Dir::Lt, x, n.scalar(-lambda, x)), n.add(x, bias), above)};
}

llvm::ArrayRef<OpEntry> getElementwiseOps() {
  static constexpr OpEntry kOps[] = {
      {"Abs", 1, unary<AbsOp>},
      {"Acos", 1, unary<AcosOp>},
      {"Acosh", 1, unary<AcoshOp>},
      {"Add", 7, binary<AddOp>},
      {"And", 7, binary<AndOp>},
      {"Asin", 1, unary<AsinOp>},
      {"Asinh", 1, unary<AsinhOp>},
      {"Atan", 1, unary<AtanOp>},
      {"Atanh", 1, unary<AtanhOp>},
      {"BitCast", 1, importBitCast},
      {"BitShift", 1, importBitShift},
      {"BitwiseAnd", 1, binary<AndOp>},
      {"BitwiseNot", 1, unary<BitwiseNotOp>},
      {"BitwiseOr", 1, binary<OrOp>},
      {"BitwiseXor", 1, binary<XorOp>},
      {"Cast", 6, importCast},
      {"CastLike", 1, importCastLike},
      {"Ceil", 1, unary<CeilOp>},
      {"Celu", 1, importCelu},
      {"Clip", 6, importClip6},
      {"Clip", 11, importClip},
      {"Cos", 1, unary<CosOp>},
      {"Cosh", 1, unary<CoshOp>},
      {"Div", 7, binary<DivOp>},
      {"Dropout", 7, importDropout},
      {"Elu", 1, importElu},
      {"Equal", 7, comparison<Dir::Eq>},
      {"Erf", 1, unary<ErfOp>},
      {"Exp", 1, unary<ExpOp>},
      {"Floor", 1, unary<FloorOp>},
      {"Gelu", 1, importGelu},
      {"Greater", 7, comparison<Dir::Gt>},
      {"GreaterOrEqual", 1, comparison<Dir::Ge>},
      {"HardSigmoid", 1, importHardSigmoid},
      {"HardSwish", 1, importHardSwish},
      {"IsInf", 1, importIsInf},
      {"IsNaN", 1, unary<IsNanOp>},
      {"LeakyRelu", 1, importLeakyRelu},
      {"Less", 7, comparison<Dir::Lt>},
      {"LessOrEqual", 1, comparison<Dir::Le>},
      {"Log", 1, unary<LogOp>},
      {"Max", 1, variadic<MaxOp>},
      {"Mean", 1, importMean},
      {"Min", 1, variadic<MinOp>},
      {"Mish", 1, importMish},
      {"Mod", 1, importMod},
      {"Mul", 7, binary<MulOp>},
      {"Neg", 1, unary<NegOp>},
      {"Not", 1, unary<LogicalNotOp>},
      {"Or", 7, binary<OrOp>},
      {"PRelu", 7, importPRelu},
      {"Pow", 7, importPow},
      {"Reciprocal", 1, unary<ReciprocalOp>},
      {"Relu", 1, unary<ReluOp>},
      {"Round", 1, unary<RoundOp>},
      {"Selu", 1, importSelu},
      {"Shrink", 1, importShrink},
      {"Sigmoid", 1, unary<SigmoidOp>},
      {"Sign", 1, unary<SignOp>},
      {"Sin", 1, unary<SinOp>},
      {"Sinh", 1, unary<SinhOp>},
      {"Softplus", 1, importSoftplus},
      {"Softsign", 1, importSoftsign},
      {"Sqrt", 1, unary<SqrtOp>},
      {"Sub", 7, binary<SubOp>},
      {"Sum", 1, variadic<AddOp>},
      {"SwiGLU", 1, importSwiGLU},
      {"Swish", 1, importSwish},
      {"Tan", 1, unary<TanOp>},
      {"Tanh", 1, unary<TanhOp>},
      {"ThresholdedRelu", 1, importThresholdedRelu},
      {"Where", 1, importWhere},
      {"Xor", 7, binary<XorOp>},
      {"Binarizer", 1, importBinarizer, "ai.onnx.ml"},
  };
  return kOps;
}

} // namespace xc::onnx
