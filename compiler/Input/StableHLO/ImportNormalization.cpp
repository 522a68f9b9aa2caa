//===- ImportNormalization.cpp - StableHLO's batch normalization ----------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Input/StableHLO/ImportStableHLO.h"

using namespace mlir;
using namespace xc::array;

namespace xc::stablehlo_import {

namespace shlo = stablehlo;

namespace {

/// A batch normalization over all dims but that of features.
struct Norm {
  int64_t feature;
  double epsilon;
  /// The other dims.
  SmallVector<int64_t> axes;
};

/// What is the same in all three ops.
class NormBuilder {
public:
  NormBuilder(ExpressionBuilder &e, const Norm &norm, RankedTensorType type)
      : e(e), norm(norm), type(type) {}

  /// A number for each feature, along the other dims.
  Value spread(Value value) {
    SmallVector<int64_t> shape(type.getRank(), 1);
    shape[norm.feature] = type.getDimSize(norm.feature);
    return reshapeTo(e, value, shape);
  }
  Value sum(Value value) { return e.reduce(ReduceKind::Sum, value, norm.axes, /*keepdims=*/false); }
  Value mean(Value value) { return e.mean(value, norm.axes, /*keepdims=*/false); }
  /// sqrt(variance + epsilon), for each feature.
  Value deviation(Value variance) { return e.make<SqrtOp>(e.add(variance, norm.epsilon)); }
  Value normalize(Value x, Value scale, Value offset, Value mean, Value variance) {
    Value centered = e.sub(x, spread(mean));
    Value normal = e.div(centered, spread(deviation(variance)));
    return e.add(e.mul(normal, spread(scale)), spread(offset));
  }

private:
  ExpressionBuilder &e;
  const Norm &norm;
  RankedTensorType type;
};

} // namespace

/// Nothing where `op` is not of floats with a number for each feature.
static std::optional<Norm> readNorm(Operation *op, unsigned operands) {
  auto feature = op->getAttrOfType<IntegerAttr>("feature_index");
  auto epsilon = op->getAttrOfType<FloatAttr>("epsilon");
  if (op->getNumOperands() != operands || !feature || !epsilon || !isFloat(op->getOperand(0)))
    return std::nullopt;
  auto type = typeOf(op->getOperand(0));
  Norm norm{feature.getInt(), epsilon.getValueAsDouble(), {}};
  if (norm.feature < 0 || norm.feature >= type.getRank())
    return std::nullopt;
  auto list = RankedTensorType::get({type.getDimSize(norm.feature)}, type.getElementType());
  for (Value operand : op->getOperands().drop_front())
    if (operand.getType() != list && operand.getType() != type)
      return std::nullopt;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (dim != norm.feature)
      norm.axes.push_back(dim);
  return norm;
}

static Result convertTraining(Operation *op, ExpressionBuilder &e, const Norm &norm) {
  auto type = typeOf(op->getOperand(0));
  NormBuilder n(e, norm, type);
  Value x = e.widen(op->getOperand(0)), mean = n.mean(x);
  Value variance = n.mean(e.make<SquareOp>(e.sub(x, n.spread(mean))));
  Value scale = e.widen(op->getOperand(1)), offset = e.widen(op->getOperand(2));
  SmallVector<Value> results{n.normalize(x, scale, offset, mean, variance), mean, variance};
  for (Value &result : results)
    result = e.convert(result, type.getElementType());
  return Result(results);
}

static Result convertInference(Operation *op, ExpressionBuilder &e, const Norm &norm) {
  auto type = typeOf(op->getOperand(0));
  SmallVector<Value> x;
  for (Value operand : op->getOperands())
    x.push_back(e.widen(operand));
  Value result = NormBuilder(e, norm, type).normalize(x[0], x[1], x[2], x[3], x[4]);
  return Result(e.convert(result, type.getElementType()));
}

/// Of the operand, the scale and the offset, from that of the output.
static Result convertGradient(Operation *op, ExpressionBuilder &e, const Norm &norm) {
  auto type = typeOf(op->getOperand(0));
  NormBuilder n(e, norm, type);
  SmallVector<Value> values;
  for (Value operand : op->getOperands())
    values.push_back(e.widen(operand));
  Value centered = e.sub(values[0], n.spread(values[2])), gradient = values[4];
  Value deviation = n.deviation(values[3]);
  Value products = n.mean(e.mul(gradient, centered));
  Value slope = e.div(products, e.add(values[3], norm.epsilon));
  Value rest = e.sub(e.sub(gradient, n.spread(n.mean(gradient))), e.mul(centered, n.spread(slope)));
  Value normal = e.div(centered, n.spread(deviation));
  SmallVector<Value> results{e.mul(rest, n.spread(e.div(values[1], deviation))),
                             n.sum(e.mul(gradient, normal)), n.sum(gradient)};
  for (Value &result : results)
    result = e.convert(result, type.getElementType());
  return Result(results);
}

Replacement convertNormalization(Operation *op, ExpressionBuilder &e) {
  bool isTraining = isa<shlo::BatchNormTrainingOp>(op), isGradient = isa<shlo::BatchNormGradOp>(op);
  if (!isTraining && !isGradient && !isa<shlo::BatchNormInferenceOp>(op))
    return std::nullopt;
  std::optional<Norm> norm = readNorm(op, isTraining ? 3 : 5);
  if (!norm || op->getNumResults() != (isTraining || isGradient ? 3 : 1))
    return Result::refuse("it is not of floats, an epsilon, and a number for each feature");
  if (isTraining)
    return convertTraining(op, e, *norm);
  return isGradient ? convertGradient(op, e, *norm) : convertInference(op, e, *norm);
}

} // namespace xc::stablehlo_import
