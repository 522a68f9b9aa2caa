//===- LinearAttention.cpp - Attention as a state, and its convolution ----===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Array/IR/Sizes.h"
#include "compiler/Input/ONNX/Iteration.h"

#include <cmath>

using namespace mlir;
using namespace xc::array;

namespace xc::onnx {

/// [batch, time, heads * size] as [time, batch, heads, size].
static Value splitInTime(NodeImport &n, Value x, int64_t heads) {
  int64_t size = n.dimOf(x, 2);
  if (n.rankOf(x) != 3 || ShapedType::isDynamic(size) || heads < 1 || size % heads != 0) {
    n.error("expected [batch, time, heads x size] for " + Twine(heads) + " heads");
    return {};
  }
  return n.transpose(
      n.reshape(x, {n.size(x, 0), n.size(x, 1), n.index(heads), n.index(size / heads)}),
      {1, 0, 2, 3});
}

/// A state of [batch, heads, key size, value size] that each time step decays and adds to.
static Results importLinearAttention(NodeImport &n) {
  int64_t heads = n.integer("q_num_heads", 0), shared = n.integer("kv_num_heads", 0);
  std::string rule = n.text("update_rule", "gated_delta");
  bool isGated = rule == "gated" || rule == "gated_delta";
  bool isDelta = rule == "delta" || rule == "gated_delta";
  if (shared < 1 || heads < 1 || heads % shared != 0 || (!isGated && !isDelta && rule != "linear"))
    return n.error("expected heads that are a multiple of kv_num_heads, and a known update_rule");
  Type element = n.elementOf(n.input(0));
  Value query = n.widen(splitInTime(n, n.input(0), heads)),
        key = n.widen(splitInTime(n, n.input(1), shared)),
        value = n.widen(splitInTime(n, n.input(2), shared));
  Value decay = isGated ? n.make<ExpOp>(n.widen(splitInTime(n, n.input(4), shared))) : Value();
  Value rate = isDelta
                   ? n.widen(splitInTime(n, n.input(5), n.dimOf(n.input(5), 2) == 1 ? 1 : shared))
                   : Value();
  int64_t keySize = n.dimOf(key, 3), valueSize = n.dimOf(value, 3);
  double scale = n.number("scale", 0);
  if (scale == 0)
    scale = 1 / std::sqrt(double(keySize));
  OpFoldResult batch = n.size(query, 1), time = n.size(query, 0);
  Value state = n.has(3) ? n.widen(n.input(3))
                         : n.broadcast(n.scalar(0, key), {batch, n.index(shared), n.index(keySize),
                                                          n.index(valueSize)});
  Type word = n.getBuilder().getI64Type();
  Iterated result = iterate(n, {time}, {state}, [&](Value index, ArrayRef<Value> states) -> Step {
    auto at = [&](Value x) {
      Numbers box = n.sizesOf(x);
      if (box.empty())
        return Value();
      box[0] = n.index(1);
      SmallVector<Value> starts(box.size(), n.scalar(0, word));
      starts[0] = index;
      return n.squeeze(n.dynamicSlice(x, starts, box), {0});
    };
    Value before = states[0], k = n.expandDims(at(key), {3}), news = at(value);
    if (isGated)
      before = n.mul(before, n.expandDims(at(decay), {3}));
    if (isDelta) {
      Value known = n.reduce(ReduceKind::Sum, n.mul(before, k), {2}, /*keepdims=*/false);
      news = n.mul(n.sub(news, known), at(rate));
    }
    Value next = n.add(before, n.mul(k, n.expandDims(news, {2})));
    Value q =
        n.reshape(at(query), {batch, n.index(shared), n.index(heads / shared), n.index(keySize)});
    Value output = n.makeAs<MatMulOp>(n.elementOf(next), q, next, /*transpose_a=*/false,
                                      /*transpose_b=*/false, /*allow_tf32=*/false);
    return {{next}, {n.mul(output, n.scalar(scale, output))}, {}};
  });
  if (n.hasFailed() || result.collected.empty())
    return {};
  Value output = n.transpose(result.collected.front(), {1, 0, 2, 3, 4});
  std::optional<int64_t> features = mulSizes(heads, valueSize);
  if (!features)
    return n.error(Twine(heads) + " heads of size " + Twine(valueSize) + " are too many");
  output = n.reshape(output, {batch, time, n.index(*features)});
  Type stateElement = n.has(3) ? n.elementOf(n.input(3)) : element;
  return {n.convert(output, element), n.convert(result.states.front(), stateElement)};
}

/// A depthwise convolution that looks back, over what came before as well.
static Results importCausalConvWithState(NodeImport &n) {
  Value x = n.input(0), filter = n.input(1);
  int64_t taps = n.dimOf(filter, 2), length = n.dimOf(x, 2);
  std::string activation = n.text("activation", "none");
  if (n.rankOf(x) != 3 || n.rankOf(filter) != 3 || n.dimOf(filter, 1) != 1 ||
      ShapedType::isDynamic(taps) || taps < 1 || taps > 64 || ShapedType::isDynamic(length) ||
      (activation != "none" && activation != "silu" && activation != "swish"))
    return n.error("expected [batch, channels, length], a filter [channels, 1, taps] of at most 64 "
                   "taps, and activation none, silu or swish");
  Value past = n.has(3)
                   ? n.input(3)
                   : n.broadcast(n.scalar(0, x), {n.size(x, 0), n.size(x, 1), n.index(taps - 1)});
  Value all = n.concatenate({past, x}, 2), wide = n.widen(all), sum;
  for (int64_t tap = 0; tap < taps; ++tap) {
    Value weight = n.squeeze(n.slice(n.widen(filter), 2, tap, tap + 1), {1});
    Value part = n.mul(n.slice(wide, 2, tap, tap + length), weight);
    sum = sum ? n.add(sum, part) : part;
  }
  if (n.has(2))
    sum = n.add(sum, n.expandDims(n.widen(n.input(2)), {1}));
  if (activation != "none")
    sum = n.make<SiluOp>(sum);
  return {n.convert(sum, n.elementOf(x)), n.slice(all, 2, length, length + taps - 1)};
}

llvm::ArrayRef<OpEntry> getLinearAttentionOps() {
  static constexpr OpEntry kOps[] = {
      {"CausalConvWithState", 1, importCausalConvWithState},
      {"LinearAttention", 1, importLinearAttention},
  };
  return kOps;
}

} // namespace xc::onnx
