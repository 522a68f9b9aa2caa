//===- Attention.cpp - ONNX's attention and rotary embedding --------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Attention stays one array op. Only where a node wants to see its scores, it is written out.
//
//===----------------------------------------------------------------------===//

#include "compiler/Input/ONNX/Attention.h"

#include <cmath>

using namespace mlir;
using namespace xc::array;

namespace xc::onnx {

using Dir = CompareDirection;

Value splitHeads(NodeImport &n, Value x, int64_t heads) {
  int64_t size = n.dimOf(x, 2);
  if (n.rankOf(x) != 3 || heads < 1 || ShapedType::isDynamic(size) || size % heads != 0) {
    n.error("expected [batch, places, heads x size] for " + Twine(heads) + " heads");
    return {};
  }
  Value split = n.reshape(x, {n.size(x, 0), n.size(x, 1), n.index(heads), n.index(size / heads)});
  return n.transpose(split, {0, 2, 1, 3});
}

Value joinHeads(NodeImport &n, Value x) {
  Value y = n.transpose(x, {0, 2, 1, 3});
  if (!y || n.rankOf(y) != 4)
    return {};
  return n.reshape(y, {n.size(y, 0), n.size(y, 1), n.sizes().mul(n.size(y, 2), n.size(y, 3))});
}

double getScale(NodeImport &n, const AttentionParts &parts) {
  if (parts.scale != 0)
    return parts.scale;
  // Either may say how long both are.
  int64_t size = n.dimOf(parts.query, 3);
  if (ShapedType::isDynamic(size))
    size = n.dimOf(parts.key, 3);
  if (ShapedType::isDynamic(size)) {
    n.error("the size of a head has to be known where no scale is given");
    return 1;
  }
  return 1 / std::sqrt(double(size));
}

Value attend(NodeImport &n, const AttentionParts &parts) {
  if (n.hasFailed() || !parts.query || !parts.key || !parts.value)
    return {};
  Value offset = parts.offset;
  if (parts.isCausal && !offset)
    offset = n.scalar(0, n.getBuilder().getI64Type());
  Value mask = parts.mask;
  if (mask && n.isFloat(mask))
    mask = n.convert(mask, n.elementOf(parts.query));
  return n.makeOptional<AttentionOp>(
      parts.query, parts.key, parts.value, mask, parts.isCausal ? offset : Value(), Value(),
      parts.isCausal, IntegerAttr(), /*with_logsumexp=*/false,
      parts.softcap != 0 ? n.getBuilder().getF64FloatAttr(parts.softcap) : FloatAttr(),
      llvm::APFloat(getScale(n, parts)));
}

//===----------------------------------------------------------------------===//
// Attention of ONNX
//===----------------------------------------------------------------------===//

/// `[... , queries, keys]` of truth values: which keys a query may see, by positions alone.
static Value allowByPosition(NodeImport &n, const AttentionParts &parts, Value offset, int64_t left,
                             int64_t right, bool isCausal) {
  Type word = n.getBuilder().getI64Type();
  Numbers sizes{n.size(parts.query, 2), n.size(parts.key, 2)};
  Value query = n.iota(sizes, 0, word), key = n.iota(sizes, 1, word);
  if (offset)
    query = n.add(query, offset);
  Value allowed;
  auto restrict = [&](Value flag) { allowed = allowed ? n.make<AndOp>(allowed, flag) : flag; };
  if (isCausal)
    restrict(n.compare(Dir::Le, key, query));
  if (left >= 0)
    restrict(n.compare(Dir::Ge, key, n.sub(query, n.scalar(double(left), word))));
  if (right >= 0)
    restrict(n.compare(Dir::Le, key, n.add(query, n.scalar(double(right), word))));
  return allowed;
}

/// Both masks in one: of truth values, or of floats where one of them is.
static Value joinMasks(NodeImport &n, Value mask, Value allowed) {
  if (!mask || !allowed)
    return mask ? mask : allowed;
  if (!n.isFloat(mask))
    return n.make<AndOp>(mask, allowed);
  return n.select(allowed, mask, n.scalar(-std::numeric_limits<double>::infinity(), mask));
}

/// A mask whose last dim is shorter hides the keys behind.
static Value padMask(NodeImport &n, Value mask, Value key) {
  int64_t rank = n.rankOf(mask), size = n.dimOf(mask, rank - 1), keys = n.dimOf(key, 2);
  if (!mask || rank < 1 || ShapedType::isDynamic(size) || ShapedType::isDynamic(keys) ||
      size >= keys || size == 1)
    return mask;
  SmallVector<int64_t> low(rank, 0), high(rank, 0);
  high.back() = keys - size;
  double hidden = n.isFloat(mask) ? -std::numeric_limits<double>::infinity() : 0;
  return n.pad(mask, n.scalar(hidden, mask), low, high);
}

/// Written out, with what the fourth output wants to see.
static Results attendInSteps(NodeImport &n, AttentionParts parts, int64_t mode) {
  Type element = n.elementOf(parts.query);
  int64_t heads = n.dimOf(parts.query, 1), shared = n.dimOf(parts.key, 1);
  auto repeat = [&](Value x) {
    return shared == heads || shared < 1
               ? x
               : n.make<RepeatOp>(x, uint64_t(heads / shared), uint64_t(1));
  };
  Value query = n.widen(parts.query), key = n.widen(repeat(parts.key)),
        value = n.widen(repeat(parts.value));
  double root = std::sqrt(getScale(n, parts));
  Value scores = n.makeAs<MatMulOp>(n.elementOf(query), n.mul(query, n.scalar(root, query)),
                                    n.mul(key, n.scalar(root, key)), /*transpose_a=*/false,
                                    /*transpose_b=*/true, /*allow_tf32=*/false);
  Value seen = scores;
  if (double cap = parts.softcap)
    scores = n.mul(n.make<TanhOp>(n.div(scores, n.scalar(cap, scores))), n.scalar(cap, scores));
  if (mode == 1)
    seen = scores;
  Value hidden = n.scalar(-std::numeric_limits<double>::infinity(), scores), allowed;
  if (parts.isCausal)
    allowed = allowByPosition(n, parts, parts.offset, -1, -1, true);
  Value mask = joinMasks(n, parts.mask, allowed);
  if (mask)
    scores = n.isFloat(mask) ? n.add(scores, n.convert(mask, n.elementOf(scores)))
                             : n.select(mask, scores, hidden);
  if (mode == 2)
    seen = scores;
  // A query that sees no key gives zeros.
  Value best = n.reduce(ReduceKind::Max, scores, {3}, /*keepdims=*/true);
  Value weights = n.select(n.compare(Dir::Eq, best, hidden), n.scalar(0, scores),
                           n.make<SoftmaxOp>(scores, uint64_t(3)));
  if (mode == 3)
    seen = weights;
  Value result = n.makeAs<MatMulOp>(n.elementOf(value), weights, value, /*transpose_a=*/false,
                                    /*transpose_b=*/false, /*allow_tf32=*/false);
  return {n.convert(result, element), n.convert(seen, element)};
}

Results importAttention(NodeImport &n) {
  AttentionParts parts{n.input(0), n.input(1), n.input(2)};
  bool isFlat = n.rankOf(parts.query) == 3;
  if (isFlat) {
    int64_t heads = n.integer("q_num_heads", 0), shared = n.integer("kv_num_heads", heads);
    parts.query = splitHeads(n, parts.query, heads);
    parts.key = splitHeads(n, parts.key, shared);
    parts.value = splitHeads(n, parts.value, shared);
  }
  Type word = n.getBuilder().getI64Type();
  parts.scale = n.number("scale", 0);
  // Its sign changes nothing.
  parts.softcap = std::abs(n.number("softcap", 0));
  parts.isCausal = n.integer("is_causal", 0) != 0;
  int64_t left = n.integer("left_window_size", -1), right = n.integer("right_window_size", -1);
  if (n.has(4) && n.has(5)) {
    Value past = n.input(4);
    parts.offset = n.scalarOf(n.size(past, 2), word);
    parts.key = n.concatenate({past, parts.key}, 2);
    parts.value = n.concatenate({n.input(5), parts.value}, 2);
  }
  if (n.has(3))
    parts.mask = padMask(n, n.input(3), parts.key);
  if (n.hasFailed() || n.rankOf(parts.query) != 4 || n.rankOf(parts.key) != 4)
    return n.error("expected operands of rank 3 or 4");
  if (n.has(6)) {
    // How many keys of each batch count: [batch] as [batch, 1, 1, 1].
    Value lengths = n.expandDims(n.convert(n.input(6), word), {1, 2, 3});
    Value key = n.iota({n.size(parts.key, 2)}, 0, word);
    parts.mask = joinMasks(n, parts.mask, n.compare(Dir::Lt, key, lengths));
    if (parts.isCausal || left >= 0 || right >= 0) {
      Value offset = parts.offset;
      if (!offset)
        offset = n.sub(lengths, n.scalarOf(n.size(parts.query, 2), word));
      parts.mask =
          joinMasks(n, parts.mask, allowByPosition(n, parts, offset, left, right, parts.isCausal));
      parts.isCausal = false;
      left = right = -1;
    }
  }
  if (left >= 0 || right >= 0)
    parts.mask =
        joinMasks(n, parts.mask, allowByPosition(n, parts, parts.offset, left, right, false));
  Results results;
  Value seen;
  if (n.wants(3)) {
    Results both = attendInSteps(n, parts, n.integer("qk_matmul_output_mode", 0));
    results.push_back(both[0]);
    seen = both[1];
  } else {
    results.push_back(attend(n, parts));
  }
  if (isFlat)
    results.front() = joinHeads(n, results.front());
  results.append({parts.key, parts.value, seen});
  return results;
}

//===----------------------------------------------------------------------===//
// Rotary embedding
//===----------------------------------------------------------------------===//

Value rotate(NodeImport &n, Value x, Value cosine, Value sine, int64_t size, bool isInterleaved) {
  int64_t features = n.dimOf(x, 3), half = size / 2;
  if (n.rankOf(x) != 4 || ShapedType::isDynamic(features) || size > features || size % 2 != 0) {
    n.error("expected an even number of features to rotate, got " + Twine(size));
    return {};
  }
  // One more dim for the heads.
  cosine = n.convert(n.expandDims(cosine, {1}), n.elementOf(x));
  sine = n.convert(n.expandDims(sine, {1}), n.elementOf(x));
  auto part = [&](int64_t which) {
    return isInterleaved ? n.slice(x, 3, which, size, 2)
                         : n.slice(x, 3, which * half, (which + 1) * half);
  };
  Value first = part(0), second = part(1);
  Value real = n.sub(n.mul(first, cosine), n.mul(second, sine)),
        imaginary = n.add(n.mul(first, sine), n.mul(second, cosine));
  Value rotated;
  if (isInterleaved) {
    Numbers sizes = n.sizesOf(real);
    if (sizes.empty())
      return {};
    sizes.back() = n.index(size);
    rotated =
        n.reshape(n.concatenate({n.expandDims(real, {4}), n.expandDims(imaginary, {4})}, 4), sizes);
  } else {
    rotated = n.concatenate({real, imaginary}, 3);
  }
  return size == features ? rotated : n.concatenate({rotated, n.slice(x, 3, size, features)}, 3);
}

Results importRotaryEmbedding(NodeImport &n) {
  Value x = n.input(0), cosine = n.input(1), sine = n.input(2);
  int64_t heads = n.integer("num_heads", 0);
  bool isFlat = n.rankOf(x) == 3;
  if (isFlat)
    x = splitHeads(n, x, heads);
  if (n.has(3)) {
    cosine = n.make<TakeOp>(cosine, n.input(3), uint64_t(0));
    sine = n.make<TakeOp>(sine, n.input(3), uint64_t(0));
  }
  int64_t size = n.integer("rotary_embedding_dim", 0);
  if (size == 0)
    size = n.dimOf(x, 3);
  if (n.hasFailed())
    return {};
  Value y = rotate(n, x, cosine, sine, size, n.integer("interleaved", 0) != 0);
  return {isFlat ? joinHeads(n, y) : y};
}

} // namespace xc::onnx
