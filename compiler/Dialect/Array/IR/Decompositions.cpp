//===- Decompositions.cpp - Composite ops in terms of simpler ones -===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What is documented as computed in f32 is widened first and narrowed last, so
// that no intermediate result is rounded to 16 bits.
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Array/IR/ExpressionBuilder.h"
#include "compiler/Dialect/Array/IR/Requirements.h"
#include "compiler/Dialect/Array/IR/TensorTypes.h"

using namespace mlir;

namespace xc::array {

using Values = SmallVector<Value>;

//===----------------------------------------------------------------------===//
// Elementwise
//===----------------------------------------------------------------------===//

FailureOr<Values> SquareOp::decompose(OpBuilder &builder) {
  ExpressionBuilder e(builder, getLoc());
  return Values{e.finish(e.make<MulOp>(getOperand(), getOperand()), getType())};
}

FailureOr<Values> ReciprocalOp::decompose(OpBuilder &builder) {
  ExpressionBuilder e(builder, getLoc());
  Value one = e.scalar(1, getOperand());
  return Values{e.finish(e.make<DivOp>(one, getOperand()), getType())};
}

FailureOr<Values> SigmoidOp::decompose(OpBuilder &builder) {
  ExpressionBuilder e(builder, getLoc());
  Value x = e.widen(getOperand());
  Value one = e.scalar(1, x);
  // exp(-|x|) is at most 1 on either side, and its small values keep their digits.
  Value exp = e.make<ExpOp>(e.make<NegOp>(e.make<AbsOp>(x)));
  Value positive = e.make<CompareOp>(CompareDirection::Ge, x, e.scalar(0, x));
  Value numerator = e.make<SelectOp>(positive, one, exp);
  return Values{e.finish(e.make<DivOp>(numerator, e.make<AddOp>(exp, one)), getType())};
}

FailureOr<Values> SiluOp::decompose(OpBuilder &builder) {
  ExpressionBuilder e(builder, getLoc());
  Value x = e.widen(getOperand());
  return Values{e.finish(e.make<MulOp>(x, e.make<SigmoidOp>(x)), getType())};
}

FailureOr<Values> ReluOp::decompose(OpBuilder &builder) {
  ExpressionBuilder e(builder, getLoc());
  return Values{e.finish(e.make<MaxOp>(getOperand(), e.scalar(0, getOperand())), getType())};
}

FailureOr<Values> GeluOp::decompose(OpBuilder &builder) {
  ExpressionBuilder e(builder, getLoc());
  Value x = e.widen(getOperand());
  Value gate;
  if (getApproximate() == GeluForm::Erf) {
    gate = e.make<ErfOp>(e.make<MulOp>(x, e.scalar(M_SQRT1_2, x)));
  } else {
    // sqrt(2 / pi) (x + 0.044715 x^3), in three operations.
    constexpr double scale = M_2_SQRTPI * M_SQRT1_2;
    Value slope =
        e.make<FmaOp>(e.make<MulOp>(x, x), e.scalar(0.044715 * scale, x), e.scalar(scale, x));
    gate = e.make<TanhOp>(e.make<MulOp>(x, slope));
  }
  Value half = e.make<MulOp>(x, e.scalar(0.5, x));
  Value result = e.make<MulOp>(half, e.make<AddOp>(gate, e.scalar(1, x)));
  return Values{e.finish(result, getType())};
}

void reifyRequirements(ClampOp op, RequirementBuilder &requirements) {
  requirements.requireBroadcastDims({op.getOperand(), op.getLow(), op.getHigh()},
                                    op.getType().getRank(), /*trailing=*/0, /*withResult=*/false);
  requirements.requireResultTypes();
}

FailureOr<Values> ClampOp::decompose(OpBuilder &builder) {
  ExpressionBuilder e(builder, getLoc());
  Value raised = e.make<MaxOp>(getOperand(), getLow());
  return Values{e.finish(e.make<MinOp>(raised, getHigh()), getType())};
}

//===----------------------------------------------------------------------===//
// Shape
//===----------------------------------------------------------------------===//

/// A reshape of `operand` to the type of the only result of `op`, which knows its sizes.
template <typename OpTy>
static FailureOr<Values> decomposeIntoReshape(OpTy op, OpBuilder &builder) {
  RankedTensorType type = op.getType();
  Values sizes;
  // One size follows from the number of elements, unless that is 0.
  bool isEmpty = llvm::is_contained(type.getShape(), 0);
  if (type.getNumDynamicDims() > 1 || (type.getNumDynamicDims() == 1 && isEmpty)) {
    ReifiedRankedShapedTypeDims shapes;
    SizeBuilder sizeBuilder(builder, op.getLoc());
    if (failed(op.reifySizes(sizeBuilder, shapes)))
      return failure();
    for (auto [dim, size] : llvm::enumerate(shapes.front()))
      if (type.isDynamicDim(dim))
        sizes.push_back(sizeBuilder.value(size));
  }
  return Values{ReshapeOp::create(builder, op.getLoc(), type, op.getOperand(), sizes)};
}

/// Requires as many elements as the result has by the sizes of the operand.
template <typename OpTy> static void requireReshape(OpTy op, RequirementBuilder &requirements) {
  ReifiedRankedShapedTypeDims shapes;
  if (succeeded(op.reifySizes(requirements.getSizes(), shapes)))
    requirements.requireElementCount(op.getOperand(), shapes.front());
}

void reifyRequirements(ExpandDimsOp op, RequirementBuilder &requirements) {
  requireReshape(op, requirements);
}

void reifyRequirements(SqueezeOp op, RequirementBuilder &requirements) {
  requireReshape(op, requirements);
}

FailureOr<Values> ExpandDimsOp::decompose(OpBuilder &builder) {
  return decomposeIntoReshape(*this, builder);
}

FailureOr<Values> SqueezeOp::decompose(OpBuilder &builder) {
  return decomposeIntoReshape(*this, builder);
}

void reifyRequirements(SplitOp op, RequirementBuilder &requirements) {
  SizeBuilder &sizes = requirements.getSizes();
  RankedTensorType type = op.getOperand().getType();
  int64_t axis = op.getAxis(), start = 0;
  OpFoldResult whole = sizes.size(op.getOperand(), axis);
  for (auto [part, result] : llvm::zip_equal(op.getParts(), op.getResults())) {
    bool isRest = type.isDynamicDim(axis) && result == op.getResults().back();
    requirements.require(sizes.constant(isRest ? start : start + part), plan::Comparison::AtMost,
                         whole, "expected a slice within dim " + Twine(axis) + " of the operand");
    if (isRest) {
      Dims shape(type.getShape());
      shape[axis] = part;
      requirements.requireSizeOfType(sizes.sub(whole, sizes.constant(start)), type, axis,
                                     type.clone(shape));
    }
    start += part;
  }
  requirements.requireResultTypes();
}

FailureOr<Values> SplitOp::decompose(OpBuilder &builder) {
  ExpressionBuilder e(builder, getLoc());
  int64_t rank = getOperand().getType().getRank();
  SmallVector<int64_t> starts(rank, 0), limits(rank, ShapedType::kDynamic), strides(rank, 1);
  // The last part ends where the operand does: what is left must be as large.
  bool isSizeKnown = !getOperand().getType().isDynamicDim(getAxis());
  Values results;
  for (auto [type, part] : llvm::zip_equal(getResultTypes(), getParts())) {
    bool endsEarly = isSizeKnown || results.size() + 1 < getNumResults();
    limits[getAxis()] = endsEarly ? starts[getAxis()] + part : ShapedType::kDynamic;
    Value slice = e.make<SliceOp>(getOperand(), starts, limits, strides);
    results.push_back(e.finish(slice, type));
    starts[getAxis()] += part;
  }
  return results;
}

FailureOr<Values> OneHotOp::decompose(OpBuilder &builder) {
  ExpressionBuilder e(builder, getLoc());
  auto type = cast<IntegerType>(getIndices().getType().getElementType());
  // Positions must not wrap, whatever the indices' type.
  bool fits32 = type.getWidth() < 32 || (type.getWidth() == 32 && !type.isUnsigned());
  bool wide = !fits32 || getDepth() > std::numeric_limits<int32_t>::max();
  Type element = builder.getIntegerType(wide ? 64 : 32);
  Value indices = e.convert(getIndices(), element);
  int64_t rank = getIndices().getType().getRank();
  Value column = e.make<ExpandDimsOp>(indices, rank);
  auto positions = RankedTensorType::get(static_cast<int64_t>(getDepth()), element);
  Value iota = e.make<IotaOp>(positions, ValueRange(), /*axis=*/0);
  Value equal = e.make<CompareOp>(CompareDirection::Eq, column, iota);
  return Values{e.finish(equal, getType())};
}

//===----------------------------------------------------------------------===//
// Moments
//===----------------------------------------------------------------------===//

FailureOr<Values> MeanOp::decompose(OpBuilder &builder) {
  ExpressionBuilder e(builder, getLoc());
  Value mean = e.mean(e.widen(getOperand()), getAxes(), getKeepdims());
  return Values{e.finish(mean, getType())};
}

FailureOr<Values> VarOp::decompose(OpBuilder &builder) {
  ExpressionBuilder e(builder, getLoc());
  Value x = e.widen(getOperand());
  Value distance = e.make<SubOp>(x, e.mean(x, getAxes()));
  Value sum =
      e.reduce(ReduceKind::Sum, e.make<MulOp>(distance, distance), getAxes(), getKeepdims());
  Value variance = e.make<DivOp>(sum, e.count(x, getAxes(), getCorrection()));
  return Values{e.finish(variance, getType())};
}

FailureOr<Values> LogSumExpOp::decompose(OpBuilder &builder) {
  ExpressionBuilder e(builder, getLoc());
  Value x = e.widen(getOperand());
  // An infinite maximum must not be subtracted: that would give NaN.
  auto finiteMaximum = [&](bool keepdims) {
    Value maximum = e.reduce(ReduceKind::Max, x, getAxes(), keepdims);
    return e.make<SelectOp>(e.make<IsFiniteOp>(maximum), maximum, e.scalar(0, x));
  };
  Value exp = e.make<ExpOp>(e.make<SubOp>(x, finiteMaximum(/*keepdims=*/true)));
  Value log = e.make<LogOp>(e.reduce(ReduceKind::Sum, exp, getAxes(), getKeepdims()));
  return Values{e.finish(e.make<AddOp>(log, finiteMaximum(getKeepdims())), getType())};
}

//===----------------------------------------------------------------------===//
// Softmax
//===----------------------------------------------------------------------===//

FailureOr<Values> SoftmaxOp::decompose(OpBuilder &builder) {
  ExpressionBuilder e(builder, getLoc());
  Value x = e.widen(getOperand());
  int64_t axis = getAxis();
  Value exp = e.make<ExpOp>(e.make<SubOp>(x, e.reduce(ReduceKind::Max, x, axis)));
  // One division for a row, and a product for each of its elements.
  Value scale = e.make<DivOp>(e.scalar(1, x), e.reduce(ReduceKind::Sum, exp, axis));
  return Values{e.finish(e.make<MulOp>(exp, scale), getType())};
}

FailureOr<Values> LogSoftmaxOp::decompose(OpBuilder &builder) {
  ExpressionBuilder e(builder, getLoc());
  Value x = e.widen(getOperand());
  int64_t axis = getAxis();
  Value shifted = e.make<SubOp>(x, e.reduce(ReduceKind::Max, x, axis));
  Value log = e.make<LogOp>(e.reduce(ReduceKind::Sum, e.make<ExpOp>(shifted), axis));
  return Values{e.finish(e.make<SubOp>(shifted, log), getType())};
}

//===----------------------------------------------------------------------===//
// Norms
//===----------------------------------------------------------------------===//

static SmallVector<int64_t> trailingAxes(Value value, int64_t axis) {
  return llvm::to_vector(
      llvm::seq<int64_t>(axis, cast<RankedTensorType>(value.getType()).getRank()));
}

FailureOr<Values> LayerNormOp::decompose(OpBuilder &builder) {
  ExpressionBuilder e(builder, getLoc());
  Value x = e.widen(getOperand());
  SmallVector<int64_t> axes = trailingAxes(x, getAxis());
  Value distance = e.make<SubOp>(x, e.mean(x, axes));
  Value variance = e.mean(e.make<MulOp>(distance, distance), axes);
  double epsilon = getEpsilon().convertToDouble();
  Value inverse = e.make<RsqrtOp>(e.make<AddOp>(variance, e.scalar(epsilon, x)));
  Value result = e.make<MulOp>(distance, inverse);
  if (getScale())
    result = e.make<MulOp>(result, e.widen(getScale()));
  if (getBias())
    result = e.make<AddOp>(result, e.widen(getBias()));
  return Values{e.finish(result, getType())};
}

FailureOr<Values> RmsNormOp::decompose(OpBuilder &builder) {
  ExpressionBuilder e(builder, getLoc());
  Value x = e.widen(getOperand());
  SmallVector<int64_t> axes = trailingAxes(x, getAxis());
  Value meanSquare = e.mean(e.make<MulOp>(x, x), axes);
  double epsilon = getEpsilon().convertToDouble();
  Value inverse = e.make<RsqrtOp>(e.make<AddOp>(meanSquare, e.scalar(epsilon, x)));
  Value result = e.make<MulOp>(x, inverse);
  if (getScale())
    result = e.make<MulOp>(result, e.widen(getScale()));
  return Values{e.finish(result, getType())};
}

/// `(x - mean) / sqrt(variance + epsilon) * scale + bias`, all of rank and element type of `x`.
static Value normalize(ExpressionBuilder &e, Value x, Value mean, Value variance, Value scale,
                       Value bias, const APFloat &epsilon) {
  Value sum = e.make<AddOp>(variance, e.scalar(epsilon.convertToDouble(), x));
  Value factor = e.make<MulOp>(e.make<RsqrtOp>(sum), scale);
  return e.make<AddOp>(e.make<MulOp>(e.make<SubOp>(x, mean), factor), bias);
}

FailureOr<Values> BatchNormInferenceOp::decompose(OpBuilder &builder) {
  ExpressionBuilder e(builder, getLoc());
  Value x = e.widen(getOperand());
  SmallVector<int64_t> others = otherAxes(x, getAxis());
  auto spread = [&](Value vector) { return e.make<ExpandDimsOp>(e.widen(vector), others); };
  Value mean = spread(getMean()), variance = spread(getVariance());
  Value scale = spread(getScale()), bias = spread(getBias());
  Value result = normalize(e, x, mean, variance, scale, bias, getEpsilon());
  return Values{e.finish(result, getType())};
}

FailureOr<Values> BatchNormTrainingOp::decompose(OpBuilder &builder) {
  ExpressionBuilder e(builder, getLoc());
  Value x = e.widen(getOperand());
  SmallVector<int64_t> others = otherAxes(x, getAxis());
  auto spread = [&](Value vector) { return e.make<ExpandDimsOp>(e.widen(vector), others); };
  Value mean = e.mean(x, others);
  Value distance = e.make<SubOp>(x, mean);
  Value variance = e.mean(e.make<MulOp>(distance, distance), others);
  Value scale = spread(getScale()), bias = spread(getBias());
  Value result = normalize(e, x, mean, variance, scale, bias, getEpsilon());
  auto flatten = [&](Value statistic, Type type) {
    return e.finish(e.make<SqueezeOp>(statistic, others), type);
  };
  return Values{e.finish(result, getResult().getType()), flatten(mean, getMean().getType()),
                flatten(variance, getVariance().getType())};
}

} // namespace xc::array
