//===- AttentionBlocks.cpp - Attention to a block of queries at a time -===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A loop, of which each round attends to one block of queries and writes its part of the result in
// place. All blocks have one size: the last one begins where it ends with the last query, and
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

using namespace mlir;

namespace xc::array {

using Values = SmallVector<Value>;

/// Queries that are attended to at once at least, if there are as many: the rows of a product's
/// tile.
static constexpr int64_t kUnit = 64;

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

namespace {

class BlockLoop {
public:
  BlockLoop(const AttentionInputs &in, OpBuilder &builder, Location location, int64_t maxScores)
      : in(in), builder(builder), location(location), maxScores(maxScores), e(builder, location),
        sizes(builder, location), dim(in.getLengthDim()), queries(sizes.size(in.query, dim)),
        keys(sizes.size(in.key, dim)) {
    if (in.isCausal)
      offset = in.offset ? e.convert(in.offset, builder.getI64Type())
                         : e.sub(number(keys), number(queries));
  }

  Values build();
  Values buildVjp(Value toResult, Value toLogsumexp, BuildAttentionVjp buildBlock);

private:
  /// Makes what a round has of the values that the loop carries, from the block's inputs and where
  /// it begins.
  using BuildRound =
      llvm::function_ref<Values(const AttentionInputs &block, ValueRange carried, Value start)>;

  OpFoldResult chooseBlock();
  Values loop(Values carried, BuildRound build);
  AttentionInputs sliceQueries(AttentionInputs inputs, Value start);
  Value sliceMask(Value mask, Value at);
  /// The box of `value` that has `size` at `begin` along `along` and all of the other dims.
  Value sliceAt(Value value, int64_t along, Value begin, OpFoldResult size);
  Value updateAt(Value whole, int64_t along, Value begin, Value part);
  Value addAt(Value whole, int64_t along, Value begin, Value part);
  Values getStarts(int64_t rank, int64_t along, Value begin);
  /// Zeros of `shape`.
  Value zeros(ArrayRef<OpFoldResult> shape, Type element);
  /// Where a block begins: `start`, but that of the last block behind it.
  Value getPlace(Value start) { return e.make<MinOp>(start, number(sizes.sub(queries, block))); }
  Value maskRepeated(Value cotangent, int64_t along, Value start, Value at);
  /// Whether the mask has a dim of size other than 1 for what is `fromLast` before its last dim.
  static int64_t findMaskDim(Value mask, int64_t fromLast);
  Value number(int64_t value) { return e.integer(value, builder.getI64Type()); }
  /// A size as data.
  Value number(OpFoldResult size);

  AttentionInputs in;
  OpBuilder &builder;
  Location location;
  int64_t maxScores;
  ExpressionBuilder e;
  SizeBuilder sizes;
  int64_t dim;
  OpFoldResult queries, keys, block;
  /// Of the first query; null where all keys are seen.
  Value offset;
};

} // namespace

int64_t BlockLoop::findMaskDim(Value mask, int64_t fromLast) {
  int64_t at = mask ? typeOf(mask).getRank() - 1 - fromLast : -1;
  return at >= 0 && typeOf(mask).getDimSize(at) != 1 ? at : -1;
}

/// Formulas have no minimum, but quotients of sizes: 1 / n is whether n is 1, for n above 0.
OpFoldResult BlockLoop::chooseBlock() {
  OpFoldResult one = sizes.constant(1), unit = sizes.constant(kUnit),
               scores = sizes.mul(keys, queries);
  for (int64_t leading = 0; leading < dim; ++leading)
    scores = sizes.mul(scores, sizes.size(in.query, leading));
  OpFoldResult parts = sizes.add(sizes.floorDiv(scores, sizes.constant(maxScores)), one),
               units = sizes.add(sizes.floorDiv(queries, unit), one);
  // 1 where there are several parts and several units, and fewer units a part than there are; then
  // so many whole units are at most the queries.
  OpFoldResult isSplit = sizes.mul(sizes.sub(one, sizes.floorDiv(one, parts)),
                                   sizes.sub(one, sizes.floorDiv(one, units)));
  OpFoldResult split = sizes.mul(sizes.ceilDiv(units, parts), unit);
  return sizes.add(sizes.mul(isSplit, split), sizes.mul(sizes.sub(one, isSplit), queries));
}

Value BlockLoop::number(OpFoldResult size) {
  if (std::optional<int64_t> constant = getConstantIntValue(size))
    return number(*constant);
  return e.make<FromIndexOp>(RankedTensorType::get({}, builder.getI64Type()), sizes.value(size));
}

Values BlockLoop::getStarts(int64_t rank, int64_t along, Value begin) {
  Values starts(rank, number(int64_t(0)));
  starts[along] = begin;
  return starts;
}

Value BlockLoop::sliceAt(Value value, int64_t along, Value begin, OpFoldResult size) {
  RankedTensorType type = typeOf(value);
  SmallVector<int64_t> shape(type.getShape());
  Values dynamic;
  for (int64_t at = 0; at < type.getRank(); ++at) {
    OpFoldResult known = at == along ? size : sizes.size(value, at);
    std::optional<int64_t> constant = getConstantIntValue(known);
    shape[at] = constant.value_or(ShapedType::kDynamic);
    if (!constant)
      dynamic.push_back(sizes.value(known));
  }
  return e.make<DynamicSliceOp>(type.clone(shape), value, getStarts(type.getRank(), along, begin),
                                dynamic);
}

Value BlockLoop::updateAt(Value whole, int64_t along, Value begin, Value part) {
  return e.make<DynamicUpdateSliceOp>(whole, part,
                                      getStarts(typeOf(whole).getRank(), along, begin));
}

Value BlockLoop::addAt(Value whole, int64_t along, Value begin, Value part) {
  Value old = sliceAt(whole, along, begin, sizes.size(part, along));
  return updateAt(whole, along, begin, e.add(old, part));
}

Value BlockLoop::sliceMask(Value mask, Value at) {
  int64_t along = findMaskDim(mask, 1);
  if (along < 0)
    return mask;
  // The size of the block where the mask has as many rows as there are queries; else what is
  // computed of it demands just that.
  OpFoldResult others = sizes.sub(queries, block);
  return sliceAt(mask, along, at, sizes.sub(sizes.size(mask, along), others));
}

AttentionInputs BlockLoop::sliceQueries(AttentionInputs inputs, Value start) {
  inputs.query = sliceAt(in.query, dim, start, block);
  if (in.mask)
    inputs.mask = sliceMask(inputs.mask, start);
  if (offset)
    inputs.offset = e.add(offset, getPlace(start));
  return inputs;
}

Value BlockLoop::zeros(ArrayRef<OpFoldResult> shape, Type element) {
  SmallVector<int64_t> known;
  Values dynamic;
  dispatchIndexOpFoldResults(shape, dynamic, known);
  auto type = RankedTensorType::get(known, element);
  auto zero = DenseElementsAttr::get(RankedTensorType::get({}, element),
                                     cast<Attribute>(builder.getZeroAttr(element)));
  return e.make<BroadcastInDimOp>(type, e.make<ConstantOp>(zero), dynamic, ArrayRef<int64_t>());
}

Values BlockLoop::loop(Values carried, BuildRound build) {
  block = chooseBlock();
  Values inits{number(int64_t(0))};
  llvm::append_range(inits, carried);
  auto loop = WhileOp::create(builder, location, ValueRange(inits).getTypes(), inits);
  SmallVector<Location> places(inits.size(), location);
  OpBuilder::InsertionGuard guard(builder);
  Block *condition = builder.createBlock(&loop.getCondition(), {}, loop.getResultTypes(), places);
  Value isMore = e.compare(CompareDirection::Lt, condition->getArgument(0), number(queries));
  YieldOp::create(builder, location, isMore);
  Block *body = builder.createBlock(&loop.getBody(), {}, loop.getResultTypes(), places);
  Value start = body->getArgument(0);
  Values results = build(sliceQueries(in, start), body->getArguments().drop_front(), start);
  results.insert(results.begin(), e.add(start, number(block)));
  YieldOp::create(builder, location, results);
  return Values(loop.getResults().drop_front());
}

Values BlockLoop::build() {
  SmallVector<OpFoldResult> shape = sizes.sizes(in.query);
  shape.back() = sizes.size(in.value, dim + 1);
  Type element = in.getQueryType().getElementType();
  Values inits{zeros(shape, element)};
  if (in.hasLogsumexp) {
    shape.pop_back();
    inits.push_back(zeros(shape, element.isF64() ? element : builder.getF32Type()));
  }
  return loop(inits, [&](const AttentionInputs &inputs, ValueRange carried, Value start) {
    Values results = AttentionSteps(inputs, builder, location).buildResults();
    for (auto [whole, result] : llvm::zip_equal(carried, results))
      result = updateAt(whole, dim, start, result);
    return results;
  });
}

/// `cotangent` of a block at `at` with zeros for the queries before `start`, which the block before
/// has had.
Value BlockLoop::maskRepeated(Value cotangent, int64_t along, Value start, Value at) {
  std::optional<int64_t> constant = getConstantIntValue(block);
  Values dynamic;
  if (!constant)
    dynamic.push_back(sizes.value(block));
  auto type = RankedTensorType::get(constant.value_or(ShapedType::kDynamic), builder.getI64Type());
  Value position = e.add(e.make<IotaOp>(type, dynamic, /*axis=*/int64_t(0)), at);
  Value isNew = e.compare(CompareDirection::Ge, position, start);
  SmallVector<int64_t> others;
  for (int64_t other = along + 1; other < typeOf(cotangent).getRank(); ++other)
    others.push_back(other - along);
  if (!others.empty())
    isNew = e.make<ExpandDimsOp>(isNew, others);
  return e.select(isNew, cotangent, e.scalar(0, cotangent));
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
  Values sums = loop(inits, [&](const AttentionInputs &inputs, ValueRange carried, Value start) {
    Value place = getPlace(start), toLog;
    Value to = maskRepeated(sliceAt(toResult, dim, start, block), dim, start, place);
    if (toLogsumexp)
      toLog = maskRepeated(sliceAt(toLogsumexp, dim, start, block), dim, start, place);
    Values gradients = buildBlock(inputs, to, toLog);
    llvm::erase(gradients, Value());
    for (Value &gradient : gradients)
      gradient = e.widen(gradient);
    Values next{addAt(carried[0], dim, start, gradients[0]), e.add(carried[1], gradients[1]),
                e.add(carried[2], gradients[2])};
    for (size_t index = 3; index < carried.size(); ++index) {
      Value gradient = gradients[index], whole = carried[index];
      int64_t rows = isMaskAdded && index == 3 ? findMaskDim(in.mask, 1) : -1;
      next.push_back(rows >= 0 ? addAt(whole, rows, start, gradient) : e.add(whole, gradient));
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
