//===- ImportAttention.cpp - cuDNN's attention as JAX calls it ------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `jax.nn.dot_product_attention(implementation="cudnn")` is a call whose configuration is JSON. It
// becomes array.attention, its backward call array.attention_gradient.
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Array/IR/AttentionGradientOp.h"
#include "compiler/Input/StableHLO/ImportStableHLO.h"

#include "llvm/Support/JSON.h"

using namespace mlir;
using namespace xc::array;

namespace xc::stablehlo_import {

namespace shlo = stablehlo;

using Values = SmallVector<Value>;

namespace {

/// What a call's configuration says.
struct Config {
  double scale = 1;
  int64_t window = 0;
  bool isCausal = false, hasLengths = false;
  /// [batch, heads, positions, vector]; else heads stand behind positions.
  bool hasHeadsFirst = false;
};

} // namespace

/// The configuration of `op`, or why it is not supported.
static std::optional<std::string> readConfig(shlo::CustomCallOp op, Config &config) {
  auto text = dyn_cast_or_null<StringAttr>(op.getBackendConfigAttr());
  llvm::Expected<llvm::json::Value> parsed =
      llvm::json::parse(text ? text.getValue() : StringRef());
  if (!parsed) {
    llvm::consumeError(parsed.takeError());
    return "its configuration is no JSON";
  }
  const llvm::json::Object *whole = parsed->getAsObject();
  const llvm::json::Object *object =
      whole ? whole->getObject("cudnn_fmha_backend_config") : nullptr;
  std::optional<double> scale = object ? object->getNumber("fmha_scale") : std::nullopt;
  std::optional<StringRef> mask = object ? object->getString("mask_type") : std::nullopt;
  if (!scale || !mask)
    return "its configuration does not say its scale and mask";
  if (object->getNumber("dropout_rate").value_or(0) != 0)
    return "it drops numbers at random";
  if (object->getInteger("max_seg_per_batch").value_or(1) > 1)
    return "its sequences are packed";
  if (object->getBoolean("is_paged_attention").value_or(false))
    return "its keys lie in pages";
  config.scale = *scale;
  config.window = object->getInteger("sliding_window_length").value_or(0);
  config.isCausal = *mask == "CAUSAL" || *mask == "PADDING_CAUSAL";
  config.hasLengths = *mask == "PADDING" || *mask == "PADDING_CAUSAL";
  if (!config.isCausal && !config.hasLengths && *mask != "NO_MASK")
    return "its mask is '" + mask->str() + "'";
  if (config.window != 0 && !config.isCausal)
    return "its window is not causal";
  // Dims that both operands of the first product share: batch and heads.
  for (StringRef name : {"bmm1_dot_dimension_numbers", "bmm2_grad_gemm2_dot_dimension_numbers"})
    if (const llvm::json::Object *dims = object->getObject(name))
      if (const llvm::json::Array *batch = dims->getArray("lhs_batch_dimensions"))
        config.hasHeadsFirst = batch->size() == 2 && (*batch)[1].getAsString() == StringRef("1");
  return std::nullopt;
}

namespace {

/// Builds attention of one call.
class AttentionBuilder {
public:
  AttentionBuilder(ExpressionBuilder &e, const Config &config) : e(e), config(config) {}

  /// With heads before positions.
  Value toHeads(Value value) {
    return config.hasHeadsFirst ? value : transpose(e, value, {0, 2, 1, 3});
  }

  /// What hides keys behind the lengths of sequences, or is added to scores; may be null.
  Value makeMask(Value query, Value key, Value bias, ValueRange lengths) {
    if (lengths.empty())
      return bias;
    Type number = elementOf(lengths[0]);
    auto isInside = [&](Value length, Value of, int64_t axis) {
      SmallVector<int64_t> shape(4, 1);
      shape[axis] = typeOf(of).getDimSize(2);
      Value each = reshapeTo(e, length, {typeOf(of).getDimSize(0), 1, 1, 1});
      return e.compare(CompareDirection::Lt, iota(e, shape, number, axis), each);
    };
    Value isSeen = e.make<AndOp>(isInside(lengths[0], query, 2), isInside(lengths[1], key, 3));
    if (!bias)
      return isSeen;
    return e.select(isSeen, bias, e.scalar(-std::numeric_limits<double>::infinity(), bias));
  }

  /// Query i sees keys up to i.
  Value getOffset() {
    return config.isCausal ? e.integer(0, e.getBuilder().getI32Type()) : Value();
  }
  UnitAttr getCausal() { return config.isCausal ? e.getBuilder().getUnitAttr() : UnitAttr(); }
  IntegerAttr getWindow() {
    return config.window ? e.getBuilder().getI64IntegerAttr(config.window) : IntegerAttr();
  }
  FloatAttr getScale() { return e.getBuilder().getF64FloatAttr(config.scale); }

private:
  ExpressionBuilder &e;
  const Config &config;
};

} // namespace

static bool isOfFour(Value value) { return typeOf(value).getRank() == 4 && isFloat(value); }

/// Sums over the dims along which `like` is one.
static Value sumToShape(ExpressionBuilder &e, Value value, RankedTensorType like) {
  SmallVector<int64_t> axes;
  for (int64_t dim = 0; dim < 4; ++dim)
    if (like.getDimSize(dim) == 1 && typeOf(value).getDimSize(dim) != 1)
      axes.push_back(dim);
  return axes.empty() ? value : e.reduce(ReduceKind::Sum, value, axes);
}

/// Operands are query, key, value, bias?, lengths of queries and keys?; results are attention,
/// logarithms of sums?, and memory for cuDNN.
static Result convertForward(shlo::CustomCallOp op, ExpressionBuilder &e, const Config &config,
                             bool hasBias) {
  ValueRange inputs = op.getInputs();
  size_t count = 3 + hasBias + 2 * config.hasLengths;
  if (inputs.size() != count || !llvm::all_of(inputs.take_front(3 + hasBias), isOfFour) ||
      (op.getNumResults() != 2 && op.getNumResults() != 3))
    return Result::refuse("it is not of queries, keys and values of four dims");
  AttentionBuilder a(e, config);
  Value query = a.toHeads(inputs[0]), key = a.toHeads(inputs[1]), value = a.toHeads(inputs[2]);
  Value mask =
      a.makeMask(query, key, hasBias ? inputs[3] : Value(), inputs.drop_front(3 + hasBias));
  bool hasSums = op.getNumResults() == 3;
  auto attention = AttentionOp::create(
      e.getBuilder(), op.getLoc(), query, key, value, mask, a.getOffset(),
      /*sinks=*/Value(), a.getCausal(), a.getWindow(),
      hasSums ? e.getBuilder().getUnitAttr() : UnitAttr(), /*softcap=*/FloatAttr(), a.getScale());
  Values results{attention.getResult()};
  if (hasSums)
    results.push_back(attention.getLogsumexp());
  results.push_back(zeros(e, cast<RankedTensorType>(op.getOutputs().back().getType())));
  return Result(results);
}

/// Operands are query, key, value, logarithms of sums, the gradient, bias?, the forward result and
/// lengths?; results are gradients of query, key, value and bias?, and memory for cuDNN.
static Result convertBackward(shlo::CustomCallOp op, ExpressionBuilder &e, const Config &config,
                              bool hasBias) {
  ValueRange inputs = op.getInputs();
  size_t count = 6 + hasBias + 2 * config.hasLengths;
  bool hasBiasGradient = op.getNumResults() == 5;
  if (inputs.size() != count || !llvm::all_of(inputs.take_front(3), isOfFour) ||
      !isOfFour(inputs[4]) || !isOfFour(inputs[5 + hasBias]) ||
      (op.getNumResults() != 4 && !hasBiasGradient) || (hasBiasGradient && !hasBias))
    return Result::refuse("it is not of queries, keys and values of four dims, and gradients");
  AttentionBuilder a(e, config);
  Value query = a.toHeads(inputs[0]), key = a.toHeads(inputs[1]), value = a.toHeads(inputs[2]);
  Value cotangent = a.toHeads(inputs[4]), bias = hasBias ? inputs[5] : Value();
  Value mask = a.makeMask(query, key, bias, inputs.drop_front(6 + hasBias));
  auto gradient = AttentionGradientOp::create(
      e.getBuilder(), op.getLoc(), query, key, value, cotangent, mask, a.getOffset(),
      /*sinks=*/Value(), /*logsumexp=*/Value(), /*delta=*/Value(),
      /*logsumexp_cotangent=*/Value(), a.getCausal(), a.getWindow(), /*softcap=*/FloatAttr(),
      a.getScale(),
      /*with_mask=*/UnitAttr(), /*with_sinks=*/UnitAttr());
  Values results(gradient.getResults());
  if (hasBiasGradient) {
    if (config.isCausal || config.hasLengths)
      return Result::refuse("it has a gradient of a bias beside another mask");
    if (typeOf(query).getDimSize(1) != typeOf(key).getDimSize(1))
      return Result::refuse("it has a gradient of a bias, and heads that share keys");
    int64_t batch[] = {0, 1}, last[] = {3};
    auto product = [&](Value lhs, Value rhs) {
      auto type = typeOf(lhs).clone({typeOf(lhs).getDimSize(0), typeOf(lhs).getDimSize(1),
                                     typeOf(lhs).getDimSize(2), typeOf(rhs).getDimSize(2)});
      return e.make<DotGeneralOp>(type, lhs, rhs, batch, batch, last, last, /*allowTf32=*/false);
    };
    auto wide = [&](Value x) { return e.widen(x); };
    Value scores = e.add(e.mul(product(wide(query), wide(key)), config.scale), wide(bias));
    Value sizes = e.make<ExpOp>(e.sub(scores, e.reduce(ReduceKind::Max, scores, {3})));
    Value weights = e.div(sizes, e.reduce(ReduceKind::Sum, sizes, {3}));
    Value slopes = product(wide(cotangent), wide(value));
    Value mean = e.reduce(ReduceKind::Sum, e.mul(slopes, weights), {3});
    Value toBias = sumToShape(e, e.mul(weights, e.sub(slopes, mean)), typeOf(bias));
    results.push_back(e.convert(toBias, elementOf(bias)));
  }
  results.push_back(zeros(e, cast<RankedTensorType>(op.getOutputs().back().getType())));
  return Result(results);
}

Replacement convertAttention(Operation *op, ExpressionBuilder &e) {
  auto call = dyn_cast<shlo::CustomCallOp>(op);
  StringRef target = call ? call.getCallTargetName() : StringRef();
  if (!target.consume_front("__cudnn$fmha"))
    return std::nullopt;
  bool hasBias = target.consume_front("ScaleBias");
  if (!target.consume_front("Softmax") || (!target.empty() && target != "Backward"))
    return Result::refuse("@" + call.getCallTargetName() +
                          " is none of cuDNN's attentions that are known: fmhaSoftmax, "
                          "fmhaScaleBiasSoftmax, and the same with Backward");
  Config config;
  if (std::optional<std::string> why = readConfig(call, config))
    return Result::refuse(*why);
  return target.empty() ? convertForward(call, e, config, hasBias)
                        : convertBackward(call, e, config, hasBias);
}

} // namespace xc::stablehlo_import
