//===- FlexAttention.cpp - Attention with graphs for its scores -----------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Without a graph that changes scores or probabilities this is attention, one array op; with one it
// is written out.
//
//===----------------------------------------------------------------------===//

#include "compiler/Input/ONNX/Attention.h"
#include "compiler/Input/ONNX/GraphImport.h"

#include <cmath>

using namespace mlir;
using namespace xc::array;

namespace xc::onnx {

/// What the graph of attribute \p name makes of \p x, which keeps its shape; \p x where there is no
/// such attribute.
static Value modify(NodeImport &n, StringRef name, Value x) {
  if (!n.hasAttribute(name) || !x)
    return x;
  const Graph *graph = n.subgraph(name);
  if (!graph || graph->inputs.size() != 1 || graph->outputs.size() != 1) {
    n.error("expected graph " + name + " to have one input and one output");
    return {};
  }
  GraphValue input;
  input.tensor = x;
  FailureOr<std::vector<GraphValue>> outputs = n.graph.importSubgraph(*graph, {input});
  if (failed(outputs)) {
    n.error("a node of its " + name + " is not supported, or does not fit");
    return {};
  }
  GraphValue &output = outputs->front();
  Value y = output.isSequence ? Value() : n.graph.materialize(output, n.getLoc());
  if (!y || n.shapeOf(y) != n.shapeOf(x)) {
    n.error("expected graph " + name + " to keep the shape of its input");
    return {};
  }
  return n.convert(y, n.elementOf(x));
}

static Results importFlexAttention(NodeImport &n) {
  AttentionParts parts{n.input(0), n.input(1), n.input(2)};
  if (n.rankOf(parts.query) != 4 || n.rankOf(parts.key) != 4 || n.rankOf(parts.value) != 4 ||
      !n.isFloat(parts.query) || ShapedType::isDynamic(n.dimOf(parts.query, 3)))
    return n.error("expected floats of rank 4, with heads of static size");
  parts.scale = n.number("scale", 0);
  if (parts.scale < 0)
    return n.error("expected a scale that is not negative");
  Type element = n.elementOf(parts.query), precision = n.elementOf(n.widen(parts.query));
  if (n.hasAttribute("softmax_precision"))
    precision = n.elementType(n.integer("softmax_precision", kFloat));
  if (!isa<FloatType>(precision))
    return n.error("expected softmax_precision to be a type of floats");
  bool isPlain = !n.hasAttribute("score_mod") && !n.hasAttribute("prob_mod") &&
                 precision == n.elementOf(n.widen(parts.query));
  if (isPlain)
    return {attend(n, parts)};
  int64_t heads = n.dimOf(parts.query, 1), shared = n.dimOf(parts.key, 1);
  if (heads != shared && (ShapedType::isDynamic(heads) || ShapedType::isDynamic(shared) ||
                          shared < 1 || heads % shared != 0))
    return n.error("expected a number of heads that is a multiple of that of the keys");
  auto repeat = [&](Value x) {
    return heads == shared ? x : n.make<RepeatOp>(x, uint64_t(heads / shared), uint64_t(1));
  };
  double scale = getScale(n, parts);
  auto scaled = [&](Value x) {
    x = n.widen(x);
    return n.mul(x, n.scalar(std::sqrt(scale), x));
  };
  Value query = scaled(parts.query), key = scaled(repeat(parts.key));
  Value scores = n.makeAs<MatMulOp>(n.elementOf(query), query, key, /*transpose_a=*/false,
                                    /*transpose_b=*/true, /*allow_tf32=*/false);
  scores = modify(n, "score_mod", n.convert(scores, precision));
  Value weights = modify(n, "prob_mod", n.make<SoftmaxOp>(scores, uint64_t(3)));
  Value value = n.convert(repeat(parts.value), precision);
  Value result = n.makeAs<MatMulOp>(precision, weights, value, /*transpose_a=*/false,
                                    /*transpose_b=*/false, /*allow_tf32=*/false);
  return {n.convert(result, element)};
}

llvm::ArrayRef<OpEntry> getFlexAttentionOps() {
  static constexpr OpEntry kOps[] = {
      {"FlexAttention", 1, importFlexAttention, "ai.onnx.preview"},
  };
  return kOps;
}

} // namespace xc::onnx
