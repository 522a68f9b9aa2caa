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
  BlockLoop(const AttentionInputs &in, OpBuilder &builder, Location location)
      : in(in), builder(builder), location(location), e(builder, location),
        sizes(builder, location), dim(in.getLengthDim()), queries(sizes.size(in.query, dim)) {}

  Values build(int64_t maxScores);

private:
  OpFoldResult chooseBlock(int64_t maxScores);
  Values buildInits();
  void buildCondition(WhileOp loop);
  void buildBody(WhileOp loop);
  AttentionInputs sliceInputs(Value start);
  /// The box of `value` that has `size` at `begin` along `along` and all of the other dims.
  Value sliceAt(Value value, int64_t along, Value begin, OpFoldResult size);
  Values getStarts(int64_t rank, int64_t along, Value begin);
  Value number(int64_t value) { return e.integer(value, builder.getI64Type()); }
  /// A size as data.
  Value number(OpFoldResult size);

  AttentionInputs in;
  OpBuilder &builder;
  Location location;
  ExpressionBuilder e;
  SizeBuilder sizes;
  int64_t dim;
  OpFoldResult queries, block;
};

} // namespace

/// Formulas have no minimum, but quotients of sizes: 1 / n is whether n is 1, for n above 0.
OpFoldResult BlockLoop::chooseBlock(int64_t maxScores) {
  OpFoldResult one = sizes.constant(1), unit = sizes.constant(kUnit),
               scores = sizes.size(in.key, dim);
  for (int64_t leading = 0; leading <= dim; ++leading)
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

/// A start behind the last block is that of the last block, as slices and updates have it.
AttentionInputs BlockLoop::sliceInputs(Value start) {
  AttentionInputs part = in;
  part.query = sliceAt(in.query, dim, start, block);
  int64_t maskDim = in.mask ? typeOf(in.mask).getRank() - 2 : -1;
  if (maskDim >= 0 && typeOf(in.mask).getDimSize(maskDim) != 1) {
    // The size of the block where the mask has as many rows as there are queries; else what is
    // computed of it demands just that.
    OpFoldResult others = sizes.sub(queries, block);
    part.mask = sliceAt(in.mask, maskDim, start, sizes.sub(sizes.size(in.mask, maskDim), others));
  }
  if (!in.isCausal)
    return part;
  Value offset = in.offset ? e.convert(in.offset, builder.getI64Type())
                           : e.sub(number(sizes.size(in.key, dim)), number(queries));
  Value begin = e.make<MinOp>(start, number(sizes.sub(queries, block)));
  part.offset = e.add(offset, begin);
  return part;
}

/// Where the loop begins, and memory for the results.
Values BlockLoop::buildInits() {
  SmallVector<OpFoldResult> shape = sizes.sizes(in.query);
  shape.back() = sizes.size(in.value, dim + 1);
  Values inits{number(int64_t(0))};
  auto add = [&](Type element) {
    SmallVector<int64_t> known;
    Values dynamic;
    dispatchIndexOpFoldResults(shape, dynamic, known);
    auto type = RankedTensorType::get(known, element);
    auto zero = DenseElementsAttr::get(RankedTensorType::get({}, element),
                                       cast<Attribute>(builder.getZeroAttr(element)));
    inits.push_back(
        e.make<BroadcastInDimOp>(type, e.make<ConstantOp>(zero), dynamic, ArrayRef<int64_t>()));
  };
  Type element = in.getQueryType().getElementType();
  add(element);
  if (!in.hasLogsumexp)
    return inits;
  shape.pop_back();
  add(element.isF64() ? element : builder.getF32Type());
  return inits;
}

void BlockLoop::buildCondition(WhileOp loop) {
  OpBuilder::InsertionGuard guard(builder);
  SmallVector<Location> places(loop.getNumOperands(), location);
  Block *region = builder.createBlock(&loop.getCondition(), {}, loop.getResultTypes(), places);
  Value isMore = e.compare(CompareDirection::Lt, region->getArgument(0), number(queries));
  YieldOp::create(builder, location, isMore);
}

void BlockLoop::buildBody(WhileOp loop) {
  OpBuilder::InsertionGuard guard(builder);
  SmallVector<Location> places(loop.getNumOperands(), location);
  Block *region = builder.createBlock(&loop.getBody(), {}, loop.getResultTypes(), places);
  Value start = region->getArgument(0);
  Values results = AttentionSteps(sliceInputs(start), builder, location).buildResults();
  Values next{e.add(start, number(block))};
  for (auto [whole, result] : llvm::zip_equal(region->getArguments().drop_front(), results))
    next.push_back(e.make<DynamicUpdateSliceOp>(whole, result,
                                                getStarts(typeOf(whole).getRank(), dim, start)));
  YieldOp::create(builder, location, next);
}

Values BlockLoop::build(int64_t maxScores) {
  block = chooseBlock(maxScores);
  Values inits = buildInits();
  auto loop = WhileOp::create(builder, location, ValueRange(inits).getTypes(), inits);
  buildCondition(loop);
  buildBody(loop);
  return Values(loop.getResults().drop_front());
}

Values buildBlocks(const AttentionInputs &in, OpBuilder &builder, Location location,
                   int64_t maxScores) {
  return BlockLoop(in, builder, location).build(maxScores);
}

} // namespace xc::array
