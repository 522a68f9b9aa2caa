//===- RandomOps.cpp - Numbers from a key -===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Distributions are arithmetic on random bits, which are a function of the key and of the element's
// number: they fuse with what uses them, and no device has a generator of its own.
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Array/IR/ExpressionBuilder.h"
#include "compiler/Dialect/Array/IR/Requirements.h"
#include "compiler/Dialect/Array/IR/SizedOps.h"

#include <cmath>

using namespace mlir;

namespace xc::array {

using Values = SmallVector<Value>;

static LogicalResult checkKey(const RuleContext &rule, Type type) {
  if (cast<RankedTensorType>(type).getShape() != ArrayRef<int64_t>(2))
    return rule.error("expected a key of two words, got ", type);
  return success();
}

/// Checks the key and that `low < high`, both finite.
static LogicalResult checkInterval(const RuleContext &rule, Type key, const APFloat &low,
                                   const APFloat &high) {
  double from = low.convertToDouble(), to = high.convertToDouble();
  if (!std::isfinite(from) || !std::isfinite(to) || from >= to)
    return rule.error("expected finite bounds of which the first is lower, got ",
                      std::to_string(from), " and ", std::to_string(to));
  return checkKey(rule, key);
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

LogicalResult RandomBitsOp::checkResultType(const RuleContext &rule, RankedTensorType) {
  return checkKey(rule, getKey().getType());
}

LogicalResult RandomUniformOp::checkResultType(const RuleContext &rule, RankedTensorType) {
  return checkInterval(rule, getKey().getType(), getLow(), getHigh());
}

LogicalResult RandomNormalOp::checkResultType(const RuleContext &rule, RankedTensorType) {
  return checkKey(rule, getKey().getType());
}

LogicalResult RandomGumbelOp::checkResultType(const RuleContext &rule, RankedTensorType) {
  return checkKey(rule, getKey().getType());
}

LogicalResult RandomTruncatedNormalOp::checkResultType(const RuleContext &rule, RankedTensorType) {
  return checkInterval(rule, getKey().getType(), getLower(), getUpper());
}

LogicalResult RandomBernoulliOp::checkResultType(const RuleContext &rule, RankedTensorType type) {
  ArrayRef<int64_t> shape = getProbability().getType().getShape();
  RuleContext silent{std::nullopt, rule.opName};
  FailureOr<Dims> joint = broadcastShapes(silent, shape, type.getShape());
  if (failed(joint) || failed(verifyCompatibleShape(*joint, type.getShape())))
    return rule.error("expected a probability that broadcasts to ", type, ", got ",
                      getProbability().getType());
  return checkKey(rule, getKey().getType());
}

/// What every sized op defines in the same way.
#define XC_DEFINE_SIZED_OP(Op)                                                                     \
  LogicalResult Op::verify() { return verifySized(*this); }                                        \
  LogicalResult Op::reifySizes(SizeBuilder &, ReifiedRankedShapedTypeDims &shapes) {               \
    return reifySized(*this, shapes);                                                              \
  }                                                                                                \
  void Op::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {        \
    patterns.add<RefineResultType<Op>>(context);                                                   \
  }

XC_DEFINE_SIZED_OP(RandomBitsOp)
XC_DEFINE_SIZED_OP(RandomUniformOp)
XC_DEFINE_SIZED_OP(RandomNormalOp)
XC_DEFINE_SIZED_OP(RandomGumbelOp)
XC_DEFINE_SIZED_OP(RandomTruncatedNormalOp)
XC_DEFINE_SIZED_OP(RandomBernoulliOp)
#undef XC_DEFINE_SIZED_OP

LogicalResult RandomSplitOp::inferReturnTypes(MLIRContext *context,
                                              std::optional<Location> location, Adaptor adaptor,
                                              SmallVectorImpl<Type> &inferred) {
  RuleContext rule{location, getOperationName()};
  int64_t count = adaptor.getNum();
  if (count < 0)
    return rule.error("expected a number of keys that is not negative, got ", count);
  Type word = IntegerType::get(context, 32, IntegerType::Unsigned);
  inferred.push_back(RankedTensorType::get({count, 2}, word));
  return checkKey(rule, adaptor.getKey().getType());
}

LogicalResult RandomSplitOp::reifySizes(SizeBuilder &sizeBuilder,
                                        ReifiedRankedShapedTypeDims &shapes) {
  SmallVector<OpFoldResult> sizes{sizeBuilder.constant(getNum()), sizeBuilder.constant(2)};
  return reifyAs(getType(), std::move(sizes), sizeBuilder, shapes);
}

LogicalResult RandomCategoricalOp::inferReturnTypes(MLIRContext *context,
                                                    std::optional<Location> location,
                                                    Adaptor adaptor,
                                                    SmallVectorImpl<Type> &inferred) {
  RuleContext rule{location, getOperationName()};
  auto type = cast<RankedTensorType>(adaptor.getLogits().getType());
  int64_t axis = adaptor.getAxis();
  if (failed(checkAxis(rule, axis, type.getRank())))
    return failure();
  if (type.getDimSize(axis) == 0)
    return rule.error("expected dim ", axis, " not to be empty, got ", type);
  inferred.push_back(RankedTensorType::get(reducedShape(type.getShape(), axis, /*keepdims=*/false),
                                           IntegerType::get(context, 64)));
  return checkKey(rule, adaptor.getKey().getType());
}

LogicalResult RandomCategoricalOp::reifySizes(SizeBuilder &sizeBuilder,
                                              ReifiedRankedShapedTypeDims &shapes) {
  SmallVector<OpFoldResult> sizes = sizeBuilder.sizes(getLogits());
  sizes.erase(sizes.begin() + getAxis());
  return reifyAs(getType(), std::move(sizes), sizeBuilder, shapes);
}

//===----------------------------------------------------------------------===//
// Distributions
//===----------------------------------------------------------------------===//

namespace {

/// Draws numbers of one shape from one key.
struct Source {
  Value key;
  ArrayRef<int64_t> shape;
  ValueRange sizes;
  RandomAlgorithm algorithm;

  Value bits(ExpressionBuilder &e, unsigned width) const {
    Type word = IntegerType::get(key.getContext(), width, IntegerType::Unsigned);
    return e.make<RandomBitsOp>(RankedTensorType::get(shape, word), key, Value(), sizes, algorithm);
  }

  /// Multiples of 2^-digits in [0, 1), for the digits of `element`, in `f32` or `f64`.
  Value unit(ExpressionBuilder &e, FloatType element) const {
    unsigned digits = element.getFPMantissaWidth(), width = element.getWidth() == 64 ? 64 : 32;
    Value drawn = bits(e, width);
    Value kept = e.make<ShiftRightLogicalOp>(drawn, e.scalar(width - digits, drawn));
    Type compute = width == 64 ? Type(element) : Float32Type::get(key.getContext());
    return e.mul(e.convert(kept, compute), std::ldexp(1.0, -static_cast<int>(digits)));
  }

  /// Numbers in [low, high), for the digits of `element`, in `f32` or `f64`.
  Value uniform(ExpressionBuilder &e, FloatType element, double low, double high) const {
    Value u = unit(e, element);
    if (low == 0 && high == 1)
      return u;
    Value scaled = e.add(e.mul(u, high - low), low);
    return e.make<MinOp>(scaled, e.scalar(below(element, high), scaled));
  }

  /// The number of type `element` before `value`.
  static double below(FloatType element, double value) {
    APFloat number(value);
    bool losesInfo;
    number.convert(element.getFloatSemantics(), APFloat::rmNearestTiesToEven, &losesInfo);
    number.next(/*nextDown=*/true);
    number.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &losesInfo);
    return number.convertToDouble();
  }

  Value normal(ExpressionBuilder &e, FloatType element, double low, double high) const {
    return e.mul(e.make<ErfInvOp>(uniform(e, element, low, high)), std::sqrt(2.0));
  }

  Value gumbel(ExpressionBuilder &e, FloatType element) const {
    Value u = unit(e, element);
    // Not 0, so that the logarithm is finite.
    APFloat least = APFloat::getSmallestNormalized(
        cast<FloatType>(getElementTypeOrSelf(u.getType())).getFloatSemantics());
    bool losesInfo;
    least.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &losesInfo);
    Value positive = e.make<MaxOp>(u, e.scalar(least.convertToDouble(), u));
    Value inner = e.make<NegOp>(e.make<LogOp>(positive));
    return e.make<NegOp>(e.make<LogOp>(inner));
  }
};

} // namespace

/// The type whose digits a distribution is computed with.
static FloatType computeType(Type element) {
  return element.isF64() ? Float64Type::get(element.getContext())
                         : FloatType(Float32Type::get(element.getContext()));
}

/// -1 is left out on the lower side.
static double aboveMinusOne(FloatType element) { return -Source::below(element, 1.0); }

FailureOr<Values> RandomUniformOp::decompose(OpBuilder &builder) {
  ExpressionBuilder e(builder, getLoc());
  Source source{getKey(), getType().getShape(), getSizes(), getAlgorithm()};
  auto element = cast<FloatType>(getType().getElementType());
  Value u = source.uniform(e, element, getLow().convertToDouble(), getHigh().convertToDouble());
  return Values{e.finish(u, getType())};
}

FailureOr<Values> RandomNormalOp::decompose(OpBuilder &builder) {
  ExpressionBuilder e(builder, getLoc());
  Source source{getKey(), getType().getShape(), getSizes(), getAlgorithm()};
  FloatType element = computeType(getType().getElementType());
  return Values{e.finish(source.normal(e, element, aboveMinusOne(element), 1), getType())};
}

FailureOr<Values> RandomGumbelOp::decompose(OpBuilder &builder) {
  ExpressionBuilder e(builder, getLoc());
  Source source{getKey(), getType().getShape(), getSizes(), getAlgorithm()};
  return Values{e.finish(source.gumbel(e, computeType(getType().getElementType())), getType())};
}

FailureOr<Values> RandomTruncatedNormalOp::decompose(OpBuilder &builder) {
  ExpressionBuilder e(builder, getLoc());
  Source source{getKey(), getType().getShape(), getSizes(), getAlgorithm()};
  FloatType element = computeType(getType().getElementType());
  double lower = getLower().convertToDouble(), upper = getUpper().convertToDouble();
  double from = std::max(std::erf(lower * M_SQRT1_2), aboveMinusOne(element));
  double to = std::erf(upper * M_SQRT1_2);
  Value drawn = source.normal(e, element, from, std::max(to, from));
  Value inside = e.make<ClampOp>(e.scalar(lower, drawn), drawn, e.scalar(upper, drawn));
  return Values{e.finish(inside, getType())};
}

/// Probabilities broadcast to what is drawn.
void reifyRequirements(RandomBernoulliOp op, RequirementBuilder &requirements) {
  RankedTensorType from = op.getProbability().getType();
  ReifiedRankedShapedTypeDims shapes;
  (void)op.reifySizes(requirements.getSizes(), shapes);
  int64_t lead = op.getType().getRank() - from.getRank();
  for (int64_t dim = 0; dim < from.getRank(); ++dim)
    if (from.getDimSize(dim) != 1)
      requirements.requireAgreementWithSize(op.getProbability(), dim, shapes.front()[lead + dim]);
}

FailureOr<Values> RandomBernoulliOp::decompose(OpBuilder &builder) {
  ExpressionBuilder e(builder, getLoc());
  Source source{getKey(), getType().getShape(), getSizes(), getAlgorithm()};
  Value probability = e.widen(getProbability());
  Value u = source.unit(e, cast<FloatType>(getElementTypeOrSelf(probability.getType())));
  return Values{e.finish(e.compare(CompareDirection::Lt, u, probability), getType())};
}

FailureOr<Values> RandomCategoricalOp::decompose(OpBuilder &builder) {
  ExpressionBuilder e(builder, getLoc());
  Value logits = e.widen(getLogits());
  auto type = cast<RankedTensorType>(logits.getType());
  Values sizes = e.dynamicSizes(logits);
  Source source{getKey(), type.getShape(), sizes, getAlgorithm()};
  Value noisy = e.add(logits, source.gumbel(e, cast<FloatType>(type.getElementType())));
  return Values{e.make<ArgMaxOp>(getType(), noisy, getAxis(), /*keepdims=*/false)};
}

FailureOr<Values> RandomSplitOp::decompose(OpBuilder &builder) {
  ExpressionBuilder e(builder, getLoc());
  int64_t count = getNum();
  Source source{getKey(), count, {}, getAlgorithm()};
  Value bits = source.bits(e, 64);
  auto word = getType().getElementType();
  auto column = RankedTensorType::get({count, 1}, word);
  Value high = e.convert(e.make<ShiftRightLogicalOp>(bits, e.scalar(32, bits)), word);
  Value low = e.convert(bits, word);
  Values columns;
  for (Value words : {high, low})
    columns.push_back(e.make<ReshapeOp>(column, words, ValueRange()));
  return Values{e.finish(e.make<ConcatenateOp>(columns, /*axis=*/1), getType())};
}

} // namespace xc::array
