//===- Recurrent.cpp - ONNX's recurrent layers ----------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The products with the inputs are taken out of the loop, all time steps at once; what is left in
// an iteration is the product with the state, and the gates. Directions are loops of their own.
//
// The quantised LSTM is that of onnxruntime, whose numbers it gives: weights are integers with a
// scale, and what they are multiplied with is rounded to 8 bits, the inputs of all time steps
// together, states at each step. Both are the floats that the integers stand for here.
//
//===----------------------------------------------------------------------===//

#include "compiler/Input/ONNX/Iteration.h"

#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace xc::array;

namespace xc::onnx {

namespace {

/// An activation with its parameters.
struct Activation {
  std::string name;
  double alpha, beta;
};

/// One direction of a layer. Weights are [gates * hidden, features], of one direction.
struct Direction {
  Value input, recurrent;         // weights
  Value inputBias, recurrentBias; // [gates * hidden], or null
  Value peephole;                 // [3 * hidden], or null
  Value hidden, cell;             // [batch, hidden] at first
  SmallVector<Activation> activations;
  bool isReverse;
};

/// A whole layer.
struct Layer {
  Value x; // [time, batch, features]
  Value lengths;
  int64_t gates, hidden, numDirections;
  bool isBatchFirst, isQuantized;
  double clip;
};

} // namespace

static Value apply(NodeImport &n, const Activation &f, Value x) {
  auto scalar = [&](double value) { return n.scalar(value, x); };
  auto relu = [&] { return n.make<ReluOp>(x); };
  StringRef name = f.name;
  if (name == "Sigmoid")
    return n.make<SigmoidOp>(x);
  if (name == "Tanh")
    return n.make<TanhOp>(x);
  if (name == "Relu")
    return relu();
  if (name == "Affine")
    return n.add(n.mul(x, scalar(f.alpha)), scalar(f.beta));
  if (name == "LeakyRelu")
    return n.select(n.compare(CompareDirection::Ge, x, scalar(0)), x, n.mul(x, scalar(f.alpha)));
  if (name == "ThresholdedRelu")
    return n.select(n.compare(CompareDirection::Gt, x, scalar(f.alpha)), x, scalar(0));
  if (name == "ScaledTanh")
    return n.mul(n.make<TanhOp>(n.mul(x, scalar(f.beta))), scalar(f.alpha));
  if (name == "HardSigmoid")
    return n.make<ClampOp>(scalar(0), n.add(n.mul(x, scalar(f.alpha)), scalar(f.beta)), scalar(1));
  if (name == "Elu")
    return n.select(n.compare(CompareDirection::Ge, x, scalar(0)), x,
                    n.mul(n.make<Expm1Op>(x), scalar(f.alpha)));
  if (name == "Softsign")
    return n.div(x, n.add(n.make<AbsOp>(x), scalar(1)));
  if (name == "Softplus")
    return n.make<LogAddExpOp>(x, scalar(0));
  n.error("unknown activation '" + name + "'");
  return {};
}

static double defaultAlpha(StringRef name) {
  return llvm::StringSwitch<double>(name)
      .Case("LeakyRelu", 0.01)
      .Case("HardSigmoid", 0.2)
      .Cases({"Elu", "ThresholdedRelu", "ScaledTanh", "Affine"}, 1.0)
      .Default(0.0);
}

static double defaultBeta(StringRef name) {
  return llvm::StringSwitch<double>(name)
      .Case("HardSigmoid", 0.5)
      .Case("ScaledTanh", 1.0)
      .Default(0.0);
}

static SmallVector<Activation> readActivations(NodeImport &n, ArrayRef<StringRef> defaults,
                                               int64_t numDirections) {
  std::vector<std::string> names = n.textList("activations");
  if (names.empty())
    for (int64_t i = 0; i < numDirections; ++i)
      names.insert(names.end(), defaults.begin(), defaults.end());
  if (names.size() != defaults.size() * numDirections)
    n.error("expected " + Twine(defaults.size() * numDirections) + " activations, got " +
            Twine(names.size()));
  SmallVector<double> alphas = n.numberList("activation_alpha"),
                      betas = n.numberList("activation_beta");
  SmallVector<Activation> result;
  for (auto [i, name] : llvm::enumerate(names))
    result.push_back({name, i < alphas.size() ? alphas[i] : defaultAlpha(name),
                      i < betas.size() ? betas[i] : defaultBeta(name)});
  return result;
}

/// `[direction, ...]` of an input; null where it is left out.
static Value takeDirection(NodeImport &n, unsigned index, int64_t direction) {
  if (!n.has(index))
    return {};
  Value value = n.input(index);
  if (n.rankOf(value) < 1)
    return n.error("expected weights of a dim of directions"), Value();
  return n.squeeze(n.slice(value, 0, direction, direction + 1), {0});
}

/// The input with the batch of the first states, where that is known and its own is not.
static Value takeBatchOfState(NodeImport &n, const Layer &layer) {
  Value state = n.has(5) ? n.input(5) : Value();
  if (n.hasFailed() || n.rankOf(state) != 3 || !ShapedType::isDynamic(n.dimOf(layer.x, 1)))
    return layer.x;
  int64_t batch = n.dimOf(state, layer.isBatchFirst ? 0 : 1);
  if (ShapedType::isDynamic(batch))
    return layer.x;
  return n.reshape(layer.x, {n.size(layer.x, 0), n.index(batch), n.size(layer.x, 2)});
}

static Layer readLayer(NodeImport &n, int64_t gates, bool isQuantized = false) {
  // Quantised weights are [directions, features, gates * hidden].
  int64_t rows = isQuantized ? 2 : 1, columns = isQuantized ? 1 : 2;
  Layer layer;
  layer.x = n.input(0);
  layer.gates = gates;
  layer.isQuantized = isQuantized;
  layer.hidden = n.integer("hidden_size", n.dimOf(n.input(2), columns));
  layer.isBatchFirst = n.integer("layout", 0) != 0;
  layer.clip = n.number("clip", 0);
  std::string direction = n.text("direction", "forward");
  layer.numDirections = direction == "bidirectional" ? 2 : 1;
  if (direction != "forward" && direction != "reverse" && direction != "bidirectional")
    n.error("unknown direction '" + direction + "'");
  if (n.rankOf(layer.x) != 3 || n.rankOf(n.input(1)) != 3 || n.rankOf(n.input(2)) != 3)
    n.error("expected input and weights of rank 3");
  else if (n.dimOf(n.input(1), 0) != layer.numDirections ||
           n.dimOf(n.input(2), 0) != layer.numDirections || layer.hidden < 1 ||
           layer.hidden > (int64_t(1) << 24) || n.dimOf(n.input(1), rows) != gates * layer.hidden)
    n.error("the weights do not fit the directions and hidden_size " + Twine(layer.hidden));
  if (layer.isBatchFirst)
    layer.x = n.transpose(layer.x, {1, 0, 2});
  layer.x = takeBatchOfState(n, layer);
  if (n.has(4)) {
    // Lengths that are all the whole time are none.
    std::optional<SmallVector<int64_t>> known = n.integers(4);
    int64_t time = n.dimOf(layer.x, 0);
    if (!known || llvm::any_of(*known, [&](int64_t length) { return length != time; }))
      layer.lengths = n.convert(n.input(4), n.getBuilder().getI64Type());
  }
  return layer;
}

static Value initialState(NodeImport &n, const Layer &layer, unsigned index, int64_t direction) {
  if (n.has(index)) {
    Value state = n.input(index);
    // [batch, directions, hidden] with batch first.
    if (layer.isBatchFirst)
      state = n.transpose(state, {1, 0, 2});
    return n.squeeze(n.slice(state, 0, direction, direction + 1), {0});
  }
  return n.broadcast(n.scalar(0, layer.x), {n.size(layer.x, 1), n.index(layer.hidden)});
}

/// Weights of one direction, [gates * hidden, features].
static Value takeWeights(NodeImport &n, const Layer &layer, unsigned index, int64_t direction) {
  Value weights = takeDirection(n, index, direction);
  if (!layer.isQuantized)
    return weights;
  unsigned scaleIndex = index == 1 ? 8 : 10;
  if (!n.has(scaleIndex))
    return n.error("expected scales of the weights"), Value();
  Value scale = takeDirection(n, scaleIndex, direction),
        zero = takeDirection(n, scaleIndex + 1, direction);
  Type element = n.elementOf(layer.x);
  weights = n.convert(weights, element);
  if (zero)
    weights = n.sub(weights, n.convert(zero, element));
  return n.transpose(n.mul(weights, scale), {1, 0});
}

static Direction readDirection(NodeImport &n, const Layer &layer, int64_t index,
                               ArrayRef<Activation> activations) {
  Direction d;
  d.input = takeWeights(n, layer, 1, index);
  d.recurrent = takeWeights(n, layer, 2, index);
  if (Value bias = takeDirection(n, 3, index)) {
    int64_t size = layer.gates * layer.hidden;
    d.inputBias = n.slice(bias, 0, 0, size);
    d.recurrentBias = n.slice(bias, 0, size, 2 * size); // in range: hidden is at most 2^24
  }
  d.hidden = initialState(n, layer, 5, index);
  size_t count = activations.size() / layer.numDirections;
  llvm::append_range(d.activations, activations.drop_front(index ? count : 0).take_front(count));
  d.isReverse = index == 1 || n.text("direction", "forward") == "reverse";
  return d;
}

/// Part `gate` of the last dim.
static Value gateOf(NodeImport &n, const Layer &layer, Value gates, int64_t gate) {
  return n.slice(gates, n.rankOf(gates) - 1, gate * layer.hidden, (gate + 1) * layer.hidden);
}

static Value clipped(NodeImport &n, const Layer &layer, Value x) {
  if (layer.clip <= 0)
    return x;
  return n.make<ClampOp>(n.scalar(-layer.clip, x), x, n.scalar(layer.clip, x));
}

/// What 8 bits hold of `x`, whose range they divide into 255 steps.
static Value roundTo8Bits(NodeImport &n, Value x) {
  SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(0, n.rankOf(x)));
  Value zero = n.scalar(0, x), most = n.scalar(255, x);
  Value high = n.make<MaxOp>(n.reduce(ReduceKind::Max, x, axes, /*keepdims=*/false), zero),
        low = n.make<MinOp>(n.reduce(ReduceKind::Min, x, axes, /*keepdims=*/false), zero);
  Value range = n.sub(high, low);
  Value scale =
      n.select(n.compare(CompareDirection::Eq, range, zero), n.scalar(1, x), n.div(range, most));
  Value place = n.make<ClampOp>(zero, n.make<RoundOp>(n.div(n.sub(zero, low), scale)), most);
  Value rounded = n.make<ClampOp>(zero, n.add(n.make<RoundOp>(n.div(x, scale)), place), most);
  return n.mul(n.sub(rounded, place), scale);
}

static Value timesTransposed(NodeImport &n, const Layer &layer, Value x, Value weights) {
  if (layer.isQuantized)
    x = roundTo8Bits(n, x);
  return n.makeAs<MatMulOp>(n.elementOf(x), x, weights, /*transpose_a=*/false,
                            /*transpose_b=*/true, /*allow_tf32=*/false);
}

/// One time step: the next states from the gates' share of the input and the states.
using Cell = llvm::function_ref<Results(const Direction &d, Value gates, ArrayRef<Value> states)>;

/// Runs a direction. Its outputs [time, batch, hidden] come first, then the last states.
static Results runDirection(NodeImport &n, const Layer &layer, const Direction &d,
                            ArrayRef<Value> states, Cell cell) {
  Type word = n.getBuilder().getI64Type();
  OpFoldResult time = n.size(layer.x, 0);
  // [time, batch, features] x [gates * hidden, features]^T.
  Value shares = timesTransposed(n, layer, layer.x, d.input);
  if (d.inputBias)
    shares = n.add(shares, d.inputBias);
  Iterated result = iterate(n, {time}, states, [&](Value index, ArrayRef<Value> values) -> Step {
    Value place = index;
    if (d.isReverse)
      place = n.sub(n.sub(n.scalarOf(time, word), n.scalar(1, word)), index);
    Numbers box = n.sizesOf(shares);
    if (box.empty())
      return {};
    box[0] = n.index(1);
    Value share =
        n.squeeze(n.dynamicSlice(shares, {place, n.scalar(0, word), n.scalar(0, word)}, box), {0});
    Step step;
    step.states = cell(d, share, values);
    if (n.hasFailed() || step.states.size() != values.size())
      return step;
    Value output = step.states.front();
    if (layer.lengths) {
      // Behind its length a sequence keeps its states, and gives zeros.
      Value isWithin = n.expandDims(n.compare(CompareDirection::Lt, place, layer.lengths), {1});
      for (auto [next, value] : llvm::zip_equal(step.states, values))
        next = n.select(isWithin, next, value);
      output = n.select(isWithin, output, n.scalar(0, output));
    }
    step.collected.push_back(output);
    return step;
  });
  if (n.hasFailed() || result.collected.empty())
    return Results(1 + states.size());
  Results results{result.collected.front()};
  if (d.isReverse)
    results.front() = n.reverse(results.front(), {0});
  llvm::append_range(results, result.states);
  return results;
}

/// Joins what the directions give: outputs [time, directions, batch, hidden], then the states.
static Results joinDirections(NodeImport &n, const Layer &layer, ArrayRef<Results> directions) {
  Results results;
  if (n.hasFailed() || directions.empty())
    return results;
  for (size_t i = 0; i < directions.front().size(); ++i) {
    SmallVector<Value> parts;
    int64_t axis = i == 0 ? 1 : 0;
    for (const Results &direction : directions)
      parts.push_back(n.expandDims(direction[i], {axis}));
    Value joined = n.concatenate(parts, axis);
    if (layer.isBatchFirst)
      joined = i == 0 ? n.transpose(joined, {2, 0, 1, 3}) : n.transpose(joined, {1, 0, 2});
    results.push_back(joined);
  }
  return results;
}

//===----------------------------------------------------------------------===//
// The layers
//===----------------------------------------------------------------------===//

static Results importRNN(NodeImport &n) {
  Layer layer = readLayer(n, 1);
  SmallVector<Activation> activations = readActivations(n, {"Tanh"}, layer.numDirections);
  if (n.hasFailed())
    return {};
  SmallVector<Results> all;
  for (int64_t i = 0; i < layer.numDirections; ++i) {
    Direction d = readDirection(n, layer, i, activations);
    all.push_back(runDirection(
        n, layer, d, {d.hidden}, [&](const Direction &d, Value gates, ArrayRef<Value> states) {
          Value sum = n.add(gates, timesTransposed(n, layer, states[0], d.recurrent));
          if (d.recurrentBias)
            sum = n.add(sum, d.recurrentBias);
          return Results{apply(n, d.activations[0], clipped(n, layer, sum))};
        }));
  }
  return joinDirections(n, layer, all);
}

/// Gates are z (update), r (reset), h (the new state).
static Results importGRU(NodeImport &n) {
  Layer layer = readLayer(n, 3);
  SmallVector<Activation> activations =
      readActivations(n, {"Sigmoid", "Tanh"}, layer.numDirections);
  bool isResetBefore = n.integer("linear_before_reset", 0) == 0;
  if (n.hasFailed())
    return {};
  auto cell = [&](const Direction &d, Value gates, ArrayRef<Value> states) -> Results {
    Value hidden = states[0];
    auto part = [&](Value value, int64_t gate) { return gateOf(n, layer, value, gate); };
    auto rows = [&](int64_t first, int64_t last) {
      return n.slice(d.recurrent, 0, first * layer.hidden, last * layer.hidden);
    };
    Value both = timesTransposed(n, layer, hidden, rows(0, 2));
    auto gate = [&](int64_t which) {
      Value sum = n.add(part(gates, which), part(both, which));
      if (d.recurrentBias)
        sum = n.add(sum, part(d.recurrentBias, which));
      return apply(n, d.activations[0], clipped(n, layer, sum));
    };
    Value update = gate(0), reset = gate(1);
    Value state =
        timesTransposed(n, layer, isResetBefore ? n.mul(reset, hidden) : hidden, rows(2, 3));
    if (d.recurrentBias)
      state = n.add(state, part(d.recurrentBias, 2));
    if (!isResetBefore)
      state = n.mul(reset, state);
    state = apply(n, d.activations[1], clipped(n, layer, n.add(part(gates, 2), state)));
    Value keep = n.mul(update, hidden);
    return {n.add(n.mul(n.sub(n.scalar(1, update), update), state), keep)};
  };
  SmallVector<Results> all;
  for (int64_t i = 0; i < layer.numDirections; ++i) {
    Direction d = readDirection(n, layer, i, activations);
    all.push_back(runDirection(n, layer, d, {d.hidden}, cell));
  }
  return joinDirections(n, layer, all);
}

/// Gates are i, o, f, c.
template <bool isQuantized> static Results importLSTM(NodeImport &n) {
  Layer layer = readLayer(n, 4, isQuantized);
  SmallVector<Activation> activations =
      readActivations(n, {"Sigmoid", "Tanh", "Tanh"}, layer.numDirections);
  bool isCoupled = n.integer("input_forget", 0) != 0;
  if (n.hasFailed())
    return {};
  auto cell = [&](const Direction &d, Value shares, ArrayRef<Value> states) -> Results {
    Value memory = states[1];
    Value gates = n.add(shares, timesTransposed(n, layer, states[0], d.recurrent));
    if (d.recurrentBias)
      gates = n.add(gates, d.recurrentBias);
    auto gate = [&](int64_t which) { return gateOf(n, layer, gates, which); };
    // Peepholes are in the order i, o, f.
    auto peek = [&](Value sum, int64_t which, Value at) {
      return d.peephole ? n.add(sum, n.mul(gateOf(n, layer, d.peephole, which), at)) : sum;
    };
    auto squash = [&](Value sum) { return apply(n, d.activations[0], clipped(n, layer, sum)); };
    Value in = squash(peek(gate(0), 0, memory));
    Value forget = isCoupled ? n.sub(n.scalar(1, in), in) : squash(peek(gate(2), 2, memory));
    Value news = apply(n, d.activations[1], clipped(n, layer, gate(3)));
    Value cell = n.add(n.mul(forget, memory), n.mul(in, news));
    Value out = squash(peek(gate(1), 1, cell));
    return {n.mul(out, apply(n, d.activations[2], cell)), cell};
  };
  SmallVector<Results> all;
  for (int64_t i = 0; i < layer.numDirections; ++i) {
    Direction d = readDirection(n, layer, i, activations);
    d.cell = initialState(n, layer, 6, i);
    d.peephole = takeDirection(n, 7, i);
    all.push_back(runDirection(n, layer, d, {d.hidden, d.cell}, cell));
  }
  return joinDirections(n, layer, all);
}

llvm::ArrayRef<OpEntry> getRecurrentOps() {
  static constexpr OpEntry kOps[] = {
      {"GRU", 7, importGRU},
      {"LSTM", 7, importLSTM</*isQuantized=*/false>},
      {"RNN", 7, importRNN},
      {"DynamicQuantizeLSTM", 1, importLSTM</*isQuantized=*/true>, "com.microsoft"},
  };
  return kOps;
}

} // namespace xc::onnx
