//===- Microsoft.cpp - Ops of the domain com.microsoft --------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What onnxruntime's transformer optimiser writes, and ONNX's own attention and norms that have the
// same importers.
//
//===----------------------------------------------------------------------===//

#include "compiler/Input/ONNX/Attention.h"
#include "compiler/Input/ONNX/Norms.h"

using namespace mlir;
using namespace xc::array;

namespace xc::onnx {

using Dir = CompareDirection;

//===----------------------------------------------------------------------===//
// Activations and products
//===----------------------------------------------------------------------===//

template <GeluForm form> static Results biasGelu(NodeImport &n) {
  Value x = n.input(0);
  if (n.has(1))
    x = n.add(x, n.input(1));
  return {n.make<GeluOp>(x, form)};
}

static Results importQuickGelu(NodeImport &n) {
  Value x = n.input(0);
  return {n.mul(x, n.make<SigmoidOp>(n.mul(x, n.scalar(n.number("alpha", 1.702), x))))};
}

static Results importFusedMatMul(NodeImport &n) {
  Value a = n.input(0), b = n.input(1);
  if (n.rankOf(a) < 2 || n.rankOf(b) < 2 || n.integer("transBatchA", 0) != 0 ||
      n.integer("transBatchB", 0) != 0)
    return n.error("expected operands of rank 2 or more, and no transBatchA or transBatchB");
  Value product = n.makeAs<MatMulOp>(n.elementOf(a), a, b, n.integer("transA", 0) != 0,
                                     n.integer("transB", 0) != 0, /*allow_tf32=*/false);
  double alpha = n.number("alpha", 1.0);
  return {alpha == 1.0 ? product : n.mul(product, n.scalar(alpha, product))};
}

//===----------------------------------------------------------------------===//
// Norms
//===----------------------------------------------------------------------===//

static Results importSkipLayerNormalization(NodeImport &n) {
  Value x = n.add(n.input(0), n.input(1));
  if (n.has(4))
    x = n.add(x, n.input(4));
  double epsilon = n.number("epsilon", 1e-12);
  int64_t axis = n.rankOf(x) - 1;
  if (axis < 0)
    return n.error("expected rank 1 or more");
  Results results{normalizeLayer(n, x, n.input(2), n.has(3) ? n.input(3) : Value(), axis, epsilon)};
  if (n.wants(1) || n.wants(2)) {
    auto [mean, deviation] = getMoments(n, x, axis, epsilon);
    results.append({mean, deviation, x});
  } else {
    results.append({Value(), Value(), x});
  }
  return results;
}

static Results normalizeRoot(NodeImport &n, Value x, Value scale, int64_t axis) {
  if (!x || !scale)
    return {};
  return {n.makeOptional<RmsNormOp>(x, scale, uint64_t(axis),
                                    llvm::APFloat(n.number("epsilon", 1e-5)))};
}

static Results importSimplifiedLayerNormalization(NodeImport &n) {
  Value x = n.input(0), scale = n.input(1);
  return normalizeRoot(n, x, scale, n.axis("axis", -1, n.rankOf(x)));
}

static Results importSkipSimplifiedLayerNormalization(NodeImport &n) {
  Value x = n.add(n.input(0), n.input(1));
  if (n.has(3))
    x = n.add(x, n.input(3));
  if (n.rankOf(x) < 1 || n.wants(1) || n.wants(2))
    return n.error("expected rank 1 or more, and statistics that nobody reads");
  Results results = normalizeRoot(n, x, n.input(2), n.rankOf(x) - 1);
  results.append({Value(), Value(), x});
  return results;
}

static Results importEmbedLayerNormalization(NodeImport &n) {
  Value ids = n.input(0), words = n.input(2), places = n.input(3);
  Value sum = n.make<TakeOp>(words, ids, uint64_t(0));
  Value positions =
      n.has(8) ? n.input(8) : n.iota({n.size(ids, 1)}, 0, n.getBuilder().getI32Type());
  sum = n.add(sum, n.make<TakeOp>(places, positions, uint64_t(0)));
  if (n.has(1) && n.has(4))
    sum = n.add(sum, n.make<TakeOp>(n.input(4), n.input(1), uint64_t(0)));
  Value y = normalizeLayer(n, sum, n.input(5), n.input(6), 2, n.number("epsilon", 1e-12));
  Results results{y};
  Type word = n.getBuilder().getI32Type();
  if (n.wants(1))
    // How many keys of each sample count.
    results.push_back(n.has(7) ? n.reduce(ReduceKind::Sum, n.convert(n.input(7), word), {1}, false)
                               : n.broadcast(n.scalar(0, word), {n.size(ids, 0)}));
  else
    results.push_back({});
  results.push_back(sum);
  return results;
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

/// A mask of keys as truth values: [batch, keys] of flags, or [batch] of lengths.
static Value readKeyMask(NodeImport &n, Value mask, Value key) {
  Type word = n.getBuilder().getI64Type();
  if (n.rankOf(mask) == 2)
    return n.expandDims(n.compare(Dir::Ne, mask, n.scalar(0, mask)), {1, 2});
  if (n.rankOf(mask) == 3)
    return n.expandDims(n.compare(Dir::Ne, mask, n.scalar(0, mask)), {1});
  if (n.rankOf(mask) == 1 && n.dimOf(mask, 0) == n.dimOf(key, 0)) {
    Value lengths = n.expandDims(n.convert(mask, word), {1, 2, 3});
    return n.compare(Dir::Lt, n.iota({n.size(key, 2)}, 0, word), lengths);
  }
  n.error("a mask of rank " + Twine(n.rankOf(mask)) + " and this shape is not supported");
  return {};
}

/// Joins a mask of keys with a bias that is added to the scores.
static Value joinBias(NodeImport &n, Value mask, Value bias, double hidden) {
  if (!mask || !bias)
    return mask ? mask : bias;
  return n.select(mask, bias, n.scalar(hidden, bias));
}

static Results importMicrosoftAttention(NodeImport &n) {
  Value x = n.input(0), weights = n.input(1);
  int64_t heads = n.integer("num_heads", 0), all = n.dimOf(weights, 1);
  SmallVector<int64_t> parts = n.integerList("qkv_hidden_sizes");
  if (n.rankOf(x) != 3 || n.rankOf(weights) != 2 || heads < 1 || ShapedType::isDynamic(all))
    return n.error("expected an input of rank 3, weights of rank 2 and num_heads");
  if (n.integer("do_rotary", 0) != 0 || n.has(6))
    return n.error("do_rotary and a shared buffer of past keys are not supported");
  if (parts.empty())
    parts.assign(3, all / 3);
  if (parts.size() != 3 || parts[0] + parts[1] + parts[2] != all)
    return n.error("the sizes of query, key and value are not those of the weights");
  Value qkv = n.makeAs<MatMulOp>(n.elementOf(x), x, weights, /*transpose_a=*/false,
                                 /*transpose_b=*/false, /*allow_tf32=*/false);
  if (n.has(2))
    qkv = n.add(qkv, n.input(2));
  AttentionParts attention;
  Value *targets[] = {&attention.query, &attention.key, &attention.value};
  int64_t place = 0;
  for (auto [target, size] : llvm::zip_equal(targets, parts)) {
    *target = splitHeads(n, n.slice(qkv, 2, place, place + size), heads);
    place += size;
  }
  Results results;
  if (n.has(4)) {
    // [2, batch, heads, past, size]
    Value past = n.input(4);
    auto half = [&](int64_t which) { return n.squeeze(n.slice(past, 0, which, which + 1), {0}); };
    attention.offset = n.scalarOf(n.size(past, 3), n.getBuilder().getI64Type());
    attention.key = n.concatenate({half(0), attention.key}, 2);
    attention.value = n.concatenate({half(1), attention.value}, 2);
  }
  attention.isCausal = n.integer("unidirectional", 0) != 0;
  attention.scale = n.number("scale", 0);
  Value mask = n.has(3) ? readKeyMask(n, n.input(3), attention.key) : Value();
  attention.mask =
      joinBias(n, mask, n.has(5) ? n.input(5) : Value(), n.number("mask_filter_value", -10000.0));
  results.push_back(joinHeads(n, attend(n, attention)));
  if (n.wants(1))
    results.push_back(
        n.concatenate({n.expandDims(attention.key, {0}), n.expandDims(attention.value, {0})}, 0));
  return results;
}

static Results importMultiHeadAttention(NodeImport &n) {
  int64_t heads = n.integer("num_heads", 0);
  Value query = n.input(0), key = n.has(1) ? n.input(1) : Value(),
        value = n.has(2) ? n.input(2) : Value();
  if (!key || !value || n.rankOf(query) != 3 || heads < 1)
    return n.error("expected query of rank 3, key and value, and num_heads; packed forms are not "
                   "supported");
  if (n.has(3)) {
    // One vector, for query, key and value behind one another.
    Value bias = n.input(3);
    int64_t first = n.dimOf(query, 2), second = first + n.dimOf(query, 2), last = n.dimOf(bias, 0);
    query = n.add(query, n.slice(bias, 0, 0, first));
    if (n.rankOf(key) == 3)
      key = n.add(key, n.slice(bias, 0, first, second));
    if (n.rankOf(value) == 3)
      value = n.add(value, n.slice(bias, 0, second, last));
  }
  AttentionParts parts{splitHeads(n, query, heads), key, value};
  if (n.rankOf(key) == 3)
    parts.key = splitHeads(n, key, heads);
  if (n.rankOf(value) == 3)
    parts.value = splitHeads(n, value, heads);
  if (n.has(6) && n.has(7)) {
    Value past = n.input(6);
    parts.offset = n.scalarOf(n.size(past, 2), n.getBuilder().getI64Type());
    parts.key = n.concatenate({past, parts.key}, 2);
    parts.value = n.concatenate({n.input(7), parts.value}, 2);
  }
  if (n.has(8) || n.has(9))
    return n.error("a shared buffer of past keys is not supported");
  parts.isCausal = n.integer("unidirectional", 0) != 0;
  parts.scale = n.number("scale", 0);
  Value mask = n.has(4) ? readKeyMask(n, n.input(4), parts.key) : Value();
  parts.mask =
      joinBias(n, mask, n.has(5) ? n.input(5) : Value(), n.number("mask_filter_value", -10000.0));
  return {joinHeads(n, attend(n, parts)), parts.key, parts.value};
}

/// `com.microsoft` has the positions before the tables.
static Results importMicrosoftRotaryEmbedding(NodeImport &n) {
  Value x = n.input(0), positions = n.input(1), cosine = n.input(2), sine = n.input(3);
  int64_t heads = n.integer("num_heads", 0), size = 2 * n.dimOf(cosine, 1);
  bool isFlat = n.rankOf(x) == 3;
  if (n.rankOf(positions) != 2)
    return n.error("expected positions [batch, places]; one offset is not supported");
  if (isFlat && heads == 0 && !ShapedType::isDynamic(n.dimOf(x, 2)) && size > 0)
    heads = n.dimOf(x, 2) / size;
  if (isFlat)
    x = splitHeads(n, x, heads);
  Value y =
      rotate(n, x, n.make<TakeOp>(cosine, positions, uint64_t(0)),
             n.make<TakeOp>(sine, positions, uint64_t(0)), size, n.integer("interleaved", 0) != 0);
  return {isFlat ? joinHeads(n, y) : y};
}

llvm::ArrayRef<OpEntry> getMicrosoftOps() {
  static constexpr llvm::StringLiteral kDomain = "com.microsoft";
  static constexpr OpEntry kOps[] = {
      {"Attention", 1, importAttention},
      {"RotaryEmbedding", 1, importRotaryEmbedding},
      // onnxruntime writes this one in ONNX's own domain.
      {"SimplifiedLayerNormalization", 1, importSimplifiedLayerNormalization},
      {"Attention", 1, importMicrosoftAttention, kDomain},
      {"BiasGelu", 1, biasGelu<GeluForm::Erf>, kDomain},
      {"EmbedLayerNormalization", 1, importEmbedLayerNormalization, kDomain},
      {"FastGelu", 1, biasGelu<GeluForm::Tanh>, kDomain},
      {"FusedMatMul", 1, importFusedMatMul, kDomain},
      {"Gelu", 1, biasGelu<GeluForm::Erf>, kDomain},
      {"GroupQueryAttention", 1, importGroupQueryAttention, kDomain},
      {"MultiHeadAttention", 1, importMultiHeadAttention, kDomain},
      {"QuickGelu", 1, importQuickGelu, kDomain},
      {"RotaryEmbedding", 1, importMicrosoftRotaryEmbedding, kDomain},
      {"SimplifiedLayerNormalization", 1, importSimplifiedLayerNormalization, kDomain},
      {"SkipLayerNormalization", 1, importSkipLayerNormalization, kDomain},
      {"SkipSimplifiedLayerNormalization", 1, importSkipSimplifiedLayerNormalization, kDomain},
  };
  return kOps;
}

} // namespace xc::onnx
