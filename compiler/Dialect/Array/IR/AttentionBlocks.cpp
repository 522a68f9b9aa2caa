//===- AttentionBlocks.cpp - Attention to a block of queries at a time -===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A loop, of which each iteration attends to one block of queries and writes its part of the result
// in place. All blocks have one size: the last one begins where it ends with the last query, and
// computes some of what the one before has again.
//
// The size is a formula over sizes, which the host evaluates when inputs are bound: few queries, or
// few scores, are one block.
//
// The gradient goes over the same blocks. What flows to queries is written in place, what flows to
// all else is added up in f32. Queries that a block has again count in one of both only.
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Array/IR/AttentionSteps.h"
#include "compiler/Dialect/Array/IR/BlockBuilder.h"
#include "compiler/Dialect/Array/IR/TensorTypes.h"

using namespace mlir;

namespace xc::array {

using Values = SmallVector<Value>;

namespace {

class BlockLoop : BlockBuilder {
public:
  BlockLoop(const AttentionInputs &in, OpBuilder &builder, Location location, int64_t maxScores)
      : BlockBuilder(builder, location), in(in), maxScores(maxScores), dim(in.getLengthDim()),
        queries(sizes.size(in.query, dim)), keys(sizes.size(in.key, dim)) {
    if (in.isCausal)
      offset = in.offset ? e.convert(in.offset, builder.getI64Type())
                         : e.sub(number(keys), number(queries));
  }

  Values build();
  Values buildVjp(Value toResult, Value toLogsumexp, BuildAttentionVjp buildBlock);

private:
  /// Makes what an iteration has of the values that the loop carries, from the block's inputs and
  /// where it begins.
  using BuildIteration =
      llvm::function_ref<Values(const AttentionInputs &block, ValueRange carried, Value start)>;

  OpFoldResult chooseBlock();
  Values loopOverQueries(Values carried, BuildIteration build);
  AttentionInputs sliceQueries(AttentionInputs inputs, Value start);
  Value sliceMask(Value mask, Value at);
  Value getPlace(Value start) { return BlockBuilder::getPlace(start, block, queries); }

  AttentionInputs in;
  int64_t maxScores, dim;
  OpFoldResult queries, keys, block;
  /// Of the first query; null where all keys are seen.
  Value offset;
};

} // namespace

OpFoldResult BlockLoop::chooseBlock() {
  OpFoldResult one = sizes.constant(1), unit = sizes.constant(kBlockUnit),
               scores = sizes.mul(keys, queries);
  for (int64_t leading = 0; leading < dim; ++leading)
    scores = sizes.mul(scores, sizes.size(in.query, leading));
  OpFoldResult parts = sizes.add(sizes.floorDiv(scores, sizes.constant(maxScores)), one),
               units = sizes.add(sizes.floorDiv(queries, unit), one);
  // 1 where there are several parts and several units, and fewer units a part than there are; then
  // so many whole units are at most the queries. (1 / n is whether n is 1.)
  OpFoldResult isSplit = sizes.mul(sizes.sub(one, sizes.floorDiv(one, parts)),
                                   sizes.sub(one, sizes.floorDiv(one, units)));
  OpFoldResult split = sizes.mul(sizes.ceilDiv(units, parts), unit);
  return sizes.add(sizes.mul(isSplit, split), sizes.mul(sizes.sub(one, isSplit), queries));
}

Value BlockLoop::sliceMask(Value mask, Value at) {
  int64_t along = findMaskDim(mask, 1);
  if (along < 0)
    return mask;
  // The size of the block where the mask has as many rows as there are queries; else what is
  // computed of it requires just that.
  OpFoldResult others = sizes.sub(queries, block);
  return slice(mask, {{along, at, sizes.sub(sizes.size(mask, along), others)}});
}

AttentionInputs BlockLoop::sliceQueries(AttentionInputs inputs, Value start) {
  inputs.query = slice(in.query, {{dim, start, block}});
  if (in.mask)
    inputs.mask = sliceMask(inputs.mask, start);
  if (offset)
    inputs.offset = e.add(offset, getPlace(start));
  return inputs;
}

Values BlockLoop::loopOverQueries(Values carried, BuildIteration build) {
  block = chooseBlock();
  carried.insert(carried.begin(), number(int64_t(0)));
  auto isMore = [&](Value start) {
    return e.compare(CompareDirection::Lt, start, number(queries));
  };
  Values results = loop(carried, isMore, [&](ValueRange carried) {
    Value start = carried.front();
    Values results = build(sliceQueries(in, start), carried.drop_front(), start);
    results.insert(results.begin(), e.add(start, number(block)));
    return results;
  });
  return Values(ArrayRef(results).drop_front());
}

Values BlockLoop::build() {
  SmallVector<OpFoldResult> shape = sizes.sizes(in.query);
  shape.back() = sizes.size(in.value, dim + 1);
  Type element = in.getQueryType().getElementType();
  Values inits{unwritten(shape, element)};
  if (in.hasLogsumexp) {
    shape.pop_back();
    inits.push_back(unwritten(shape, element.isF64() ? element : builder.getF32Type()));
  }
  return loopOverQueries(
      inits, [&](const AttentionInputs &inputs, ValueRange carried, Value start) {
        Values results = AttentionSteps(inputs, builder, location).buildResults();
        for (auto [whole, result] : llvm::zip_equal(carried, results))
          result = update(whole, {{dim, start, block}}, result);
        return results;
      });
}

Values BlockLoop::buildVjp(Value toResult, Value toLogsumexp, BuildAttentionVjp buildBlock) {
  bool isMaskAdded = in.mask && isa<FloatType>(typeOf(in.mask).getElementType());
  Values inits;
  for (Value operand : {in.query, in.key, in.value, isMaskAdded ? in.mask : Value(), in.sinks})
    if (operand) {
      Type element = typeOf(operand).getElementType();
      inits.push_back(
          zeros(sizes.sizes(operand), element.isF64() ? element : builder.getF32Type()));
    }
  Values sums =
      loopOverQueries(inits, [&](const AttentionInputs &inputs, ValueRange carried, Value start) {
        Value place = getPlace(start), toLog;
        Side side{dim, start, block};
        Value to = maskRepeated(slice(toResult, side), dim, block, start, place);
        if (toLogsumexp)
          toLog = maskRepeated(slice(toLogsumexp, side), dim, block, start, place);
        Values gradients = buildBlock(inputs, to, toLog);
        llvm::erase(gradients, Value());
        for (Value &gradient : gradients)
          gradient = e.widen(gradient);
        Values next{addAt(carried[0], side, gradients[0]), e.add(carried[1], gradients[1]),
                    e.add(carried[2], gradients[2])};
        for (size_t index = 3; index < carried.size(); ++index) {
          Value gradient = gradients[index], whole = carried[index];
          int64_t rows = isMaskAdded && index == 3 ? findMaskDim(in.mask, 1) : -1;
          next.push_back(rows >= 0
                             ? addAt(whole, Side{rows, start, sizes.size(gradient, rows)}, gradient)
                             : e.add(whole, gradient));
        }
        return next;
      });
  // As the operands stand in the op.
  Values results{sums[0], sums[1], sums[2]};
  size_t next = 3;
  if (in.mask)
    results.push_back(isMaskAdded ? sums[next++] : Value());
  if (in.offset)
    results.push_back(Value());
  if (in.sinks)
    results.push_back(sums[next++]);
  return results;
}

Values buildBlocks(const AttentionInputs &in, OpBuilder &builder, Location location,
                   int64_t maxScores) {
  return BlockLoop(in, builder, location, maxScores).build();
}

Values buildVjpOfBlocks(const AttentionInputs &in, OpBuilder &builder, Location location,
                        int64_t maxScores, Value toResult, Value toLogsumexp,
                        BuildAttentionVjp buildBlock) {
  return BlockLoop(in, builder, location, maxScores).buildVjp(toResult, toLogsumexp, buildBlock);
}

} // namespace xc::array
