//===- Training.cpp - ONNX's optimisers -----------------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One iteration of an optimiser, for any number of tensors. Inputs are a learning rate, how many
// iterations there were, then the tensors, their gradients and each of their states; outputs are
// the new tensors and states in the same order.
//
//===----------------------------------------------------------------------===//

#include "compiler/Input/ONNX/NodeImport.h"

using namespace mlir;
using namespace xc::array;

namespace xc::onnx {

namespace {
/// What is updated together, of one element type.
struct Parameter {
  Value rate, count; // rank 0
  Value x, gradient;
  SmallVector<Value> states;
};
} // namespace

/// The new tensor, then its new states.
using UpdateFunction = llvm::function_ref<SmallVector<Value>(const Parameter &parameter)>;

static Results updateAll(NodeImport &n, size_t numStates, UpdateFunction update) {
  size_t numGroups = 2 + numStates, numTensors = n.getNumInputs() - 2;
  if (n.getNumInputs() < 2 + numGroups || numTensors % numGroups != 0)
    return n.error("expected a rate, a count and " + Twine(numGroups) +
                   " inputs for each tensor, got " + Twine(n.getNumInputs()) + " inputs");
  size_t numParameters = numTensors / numGroups;
  double decay = n.number("norm_coefficient", 0);
  Results results((1 + numStates) * numParameters);
  for (size_t i = 0; i < numParameters; ++i) {
    auto input = [&](size_t group) { return n.input(2 + group * numParameters + i); };
    Parameter parameter;
    parameter.x = input(0);
    Type element = n.elementOf(parameter.x);
    auto readScalar = [&](unsigned index) {
      return n.convert(n.reshape(n.input(index), ArrayRef<int64_t>()), element);
    };
    parameter.rate = readScalar(0);
    parameter.count = readScalar(1);
    parameter.gradient = n.add(n.mul(parameter.x, n.scalar(decay, element)), input(1));
    for (size_t state = 0; state < numStates; ++state)
      parameter.states.push_back(input(2 + state));
    if (!isa<FloatType>(element))
      return n.error("expected tensors of floats");
    for (auto [group, value] : llvm::enumerate(update(parameter)))
      results[group * numParameters + i] = value;
  }
  return results;
}

static Results importAdagrad(NodeImport &n) {
  double decay = n.number("decay_factor", 0), epsilon = n.number("epsilon", 1e-6);
  return updateAll(n, 1, [&](const Parameter &p) -> SmallVector<Value> {
    auto scalar = [&](double value) { return n.scalar(value, p.x); };
    Value rate = n.div(p.rate, n.add(scalar(1), n.mul(p.count, scalar(decay))));
    Value squares = n.add(p.states[0], n.mul(p.gradient, p.gradient));
    Value spread = n.add(n.make<SqrtOp>(squares), scalar(epsilon));
    return {n.sub(p.x, n.div(n.mul(rate, p.gradient), spread)), squares};
  });
}

static Results importAdam(NodeImport &n) {
  double alpha = n.number("alpha", 0.9), beta = n.number("beta", 0.999),
         epsilon = n.number("epsilon", 1e-6), decay = n.number("norm_coefficient_post", 0);
  return updateAll(n, 2, [&](const Parameter &p) -> SmallVector<Value> {
    auto scalar = [&](double value) { return n.scalar(value, p.x); };
    auto average = [&](Value old, Value value, double factor) {
      return n.add(n.mul(old, scalar(factor)), n.mul(value, scalar(1 - factor)));
    };
    // One minus what is left of the zeros that an average began with.
    auto filled = [&](double factor) {
      return n.sub(scalar(1), n.make<PowOp>(scalar(factor), p.count));
    };
    Value mean = average(p.states[0], p.gradient, alpha),
          squares = average(p.states[1], n.mul(p.gradient, p.gradient), beta);
    Value corrected = n.div(n.mul(p.rate, n.make<SqrtOp>(filled(beta))), filled(alpha));
    Value rate = n.select(n.compare(CompareDirection::Gt, p.count, scalar(0)), corrected, p.rate);
    Value step = n.div(n.mul(rate, mean), n.add(n.make<SqrtOp>(squares), scalar(epsilon)));
    return {n.mul(n.sub(p.x, step), scalar(1 - decay)), mean, squares};
  });
}

static Results importMomentum(NodeImport &n) {
  double alpha = n.number("alpha", 0), beta = n.number("beta", 1);
  std::string mode = n.text("mode", "standard");
  if (mode != "standard" && mode != "nesterov")
    return n.error("expected mode 'standard' or 'nesterov', got '" + mode + "'");
  return updateAll(n, 1, [&](const Parameter &p) -> SmallVector<Value> {
    auto scalar = [&](double value) { return n.scalar(value, p.x); };
    Value factor =
        n.select(n.compare(CompareDirection::Gt, p.count, scalar(0)), scalar(beta), scalar(1));
    Value momentum = n.add(n.mul(p.states[0], scalar(alpha)), n.mul(factor, p.gradient));
    Value direction = momentum;
    if (mode == "nesterov")
      direction = n.add(p.gradient, n.mul(momentum, scalar(alpha)));
    return {n.sub(p.x, n.mul(p.rate, direction)), momentum};
  });
}

llvm::ArrayRef<OpEntry> getTrainingOps() {
  static constexpr llvm::StringLiteral kDomain = "ai.onnx.preview.training";
  static constexpr OpEntry kOps[] = {
      {"Adagrad", 1, importAdagrad, kDomain},
      {"Adam", 1, importAdam, kDomain},
      {"Momentum", 1, importMomentum, kDomain},
  };
  return kOps;
}

} // namespace xc::onnx
