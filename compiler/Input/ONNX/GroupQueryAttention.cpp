//===- GroupQueryAttention.cpp - Attention of com.microsoft with a cache ------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each sample has a number of keys in the cache, its past. New keys and values are written behind
// them, rotated where the node says so, and a query sees the keys up to its own position. What lies
// behind is not seen, so samples of different lengths are one batch.
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Array/IR/Sizes.h"
#include "compiler/Input/ONNX/Attention.h"

using namespace mlir;
using namespace xc::array;

namespace xc::onnx {

using Dir = CompareDirection;

namespace {
/// Of the node's operands what several steps need.
struct Cache {
  OpFoldResult room; // places of the result
  Value past;        // [batch, 1]: how many keys each sample has already; i64
  Value positions;   // [batch, queries]: of the new ones
};
} // namespace

/// Query, key and value: three operands, or one that has them behind one another.
static AttentionParts readOperands(NodeImport &n, int64_t heads, int64_t shared) {
  Value query = n.input(0), key = n.has(1) ? n.input(1) : Value(),
        value = n.has(2) ? n.input(2) : Value();
  if (!key || !value) {
    int64_t all = n.dimOf(query, 2), total = heads + 2 * shared; // both are small
    if (n.rankOf(query) != 3 || ShapedType::isDynamic(all) || all % total != 0) {
      n.error("expected query, key and value, or all three behind one another");
      return {};
    }
    int64_t size = all / total;
    int64_t first = heads * size, second = first + shared * size; // in range: no more than all
    key = n.slice(query, 2, first, second);
    value = n.slice(query, 2, second, all);
    query = n.slice(query, 2, 0, first);
  }
  return {splitHeads(n, query, heads), splitHeads(n, key, shared), splitHeads(n, value, shared)};
}

/// The cache of keys or values with the new ones: [batch, heads, room, size].
static Value update(NodeImport &n, Value past, Value added, const Cache &cache) {
  Numbers sizes = n.sizesOf(added);
  if (sizes.size() != 4 || !cache.positions)
    return {};
  Value present = past;
  OpFoldResult held = past ? n.size(past, 2) : n.index(0);
  if (held != cache.room) {
    Numbers more = sizes;
    array::SizeBuilder builder = n.sizes();
    more[2] = builder.max(builder.sub(cache.room, held), n.index(0));
    Value zeros = n.broadcast(n.scalar(0, added), more);
    present = past ? n.concatenate({past, zeros}, 2) : zeros;
  }
  // Index vectors of batch and place; updates are [batch, queries, heads, size].
  Value sample = n.iota({sizes[0], sizes[2]}, 0, n.elementOf(cache.positions));
  Value indices = n.concatenate({n.expandDims(sample, {2}), n.expandDims(cache.positions, {2})}, 2);
  return n.make<ScatterOp>(ScatterKind::Set, present, indices, n.transpose(added, {0, 2, 1, 3}),
                           ArrayRef<int64_t>({0, 2}), /*unique=*/true);
}

/// [batch, 1, queries, room]: which keys a query sees.
static Value findVisible(NodeImport &n, const Cache &cache, int64_t window) {
  Value key = n.iota({cache.room}, 0, n.elementOf(cache.positions));
  Value query = n.expandDims(cache.positions, {1, 3});
  Value isSeen = n.compare(Dir::Le, key, query);
  if (window > 0) {
    Value first = n.sub(query, n.scalar(double(window), query));
    isSeen = n.make<AndOp>(isSeen, n.compare(Dir::Gt, key, first));
  }
  return isSeen;
}

Results importGroupQueryAttention(NodeImport &n) {
  int64_t heads = n.integer("num_heads", 0), shared = n.integer("kv_num_heads", 0);
  constexpr int64_t kMostHeads = 1 << 16;
  if (heads < 1 || heads > kMostHeads || shared < 1 || heads % shared != 0)
    return n.error("expected num_heads that is a multiple of kv_num_heads");
  if (n.integer("smooth_softmax", 0) > 0 || n.has(11))
    return n.error("smooth_softmax and head_sink are not supported");
  AttentionParts parts = readOperands(n, heads, shared);
  Numbers total = n.needNumbers(6, "total_sequence_length");
  if (n.hasFailed() || total.size() != 1)
    return n.error("expected one total_sequence_length");
  Type word = n.getBuilder().getI64Type();
  Value past = n.has(3) ? n.input(3) : Value(), pastValue = n.has(4) ? n.input(4) : Value();
  OpFoldResult queries = n.size(parts.query, 2);
  Cache cache;
  cache.room = total.front();
  if (past && n.size(past, 2) != cache.room)
    cache.room = n.sizes().max(n.size(past, 2), cache.room);
  // The lengths count the new keys too, less one. A prompt has no past, however short it is.
  Value lengths = n.expandDims(n.convert(n.input(5), word), {1});
  cache.past = n.sub(n.add(lengths, n.scalar(1, word)), n.scalarOf(queries, word));
  cache.past =
      past ? n.make<MaxOp>(cache.past, n.scalar(0, word)) : n.mul(lengths, n.scalar(0, word));
  cache.positions = n.add(cache.past, n.iota({queries}, 0, word));
  if (n.integer("do_rotary", 0) != 0) {
    Value cosine = n.input(7), sine = n.input(8), positions = n.has(9) ? n.input(9) : Value();
    if (!positions)
      positions = cache.positions;
    int64_t half = n.dimOf(cosine, 1);
    if (ShapedType::isDynamic(half) || half > kMostElements)
      return n.error("expected tables of cosines and sines of static width");
    int64_t size = 2 * half;
    bool isInterleaved = n.integer("rotary_interleaved", 0) != 0;
    cosine = n.make<TakeOp>(cosine, positions, uint64_t(0));
    sine = n.make<TakeOp>(sine, positions, uint64_t(0));
    parts.query = rotate(n, parts.query, cosine, sine, size, isInterleaved);
    parts.key = rotate(n, parts.key, cosine, sine, size, isInterleaved);
  }
  parts.key = update(n, past, parts.key, cache);
  parts.value = update(n, pastValue, parts.value, cache);
  parts.scale = n.number("scale", 0);
  parts.softcap = std::max(n.number("softcap", 0), 0.0);
  parts.mask = findVisible(n, cache, n.integer("local_window_size", -1));
  if (n.has(10)) {
    Value bias = n.input(10);
    parts.mask =
        n.select(parts.mask, bias, n.scalar(-std::numeric_limits<double>::infinity(), bias));
  }
  return {joinHeads(n, attend(n, parts)), parts.key, parts.value};
}

} // namespace xc::onnx
