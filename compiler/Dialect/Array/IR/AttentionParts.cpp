//===- AttentionParts.cpp - Attention at once or in parts, and its gradient -===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Few scores are held all at once. Many are made for a part of the queries at a time: in straight
// code where sizes are known and parts are few, else in a loop over blocks (AttentionBlocks.cpp),
// or over those blocks that some query sees (AttentionVisibleBlocks.cpp). Where sizes are known
// when inputs are bound only, a condition on them chooses.
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Array/IR/AttentionGradientOp.h"
#include "compiler/Dialect/Array/IR/AttentionSteps.h"
#include "compiler/Dialect/Array/IR/AttributeNames.h"
#include "compiler/Dialect/Array/IR/PassAttributes.h"
#include "compiler/Dialect/Array/IR/RuntimeSizes.h"
#include "compiler/Dialect/Array/IR/Sizes.h"
#include "compiler/Dialect/Array/IR/TensorTypes.h"

using namespace mlir;

namespace xc::array {

using Values = SmallVector<Value>;

//===----------------------------------------------------------------------===//
// A part of the queries at a time
//===----------------------------------------------------------------------===//

/// Scores that are held at once where the op does not say: 16 MiB of f32, which stay in the L2
/// cache of a large GPU.
static constexpr int64_t kMaxScores = int64_t(1) << 22;
/// Each part is three kernels, so parts are not too many; each a multiple of a product's tile.
static constexpr int64_t kMaxParts = 32, kPartAlignment = 64;
/// Scores that are held at once where sizes are not known: as many as those parts have. Parts are
/// iterations of a loop then, whose launches cost more than the cache saves, so this is a matter of
/// memory: 512 MiB of f32.
static constexpr int64_t kMaxSymbolicScores = kMaxParts * kMaxScores;
/// Where that is too few, parts are loops, and there are as many as save nearly half of the work
/// where later keys are hidden.
static constexpr int64_t kLoopParts = 8;
/// Scores of one part of a gradient, of which several tensors are held: 64 MiB of f32 each. Where
/// parts have more, it is a loop over blocks that have as many.
static constexpr int64_t kMaxVjpScores = int64_t(1) << 24;

static bool hasKnownScores(AttentionOp op) {
  RankedTensorType query = op.getQuery().getType(), key = op.getKey().getType();
  return query.hasStaticShape() && !key.isDynamicDim(query.getRank() - 2);
}

/// Of sizes, those that keys can be left out by.
static bool hasKnownLengths(AttentionOp op) {
  RankedTensorType query = op.getQuery().getType(), key = op.getKey().getType();
  int64_t dim = query.getRank() - 2;
  return !query.isDynamicDim(dim) && !key.isDynamicDim(dim);
}

/// Whether scores are held at once for all batches, though their number is open: those of one take
/// no more than a few times what its queries take, as what else a model computes of them does. A
/// choice by sizes would keep what makes queries, keys and values out of the products behind it.
static bool hasFewScoresPerBatch(AttentionOp op) {
  constexpr int64_t fewKeysPerElement = 8;
  RankedTensorType key = op.getKey().getType();
  ArrayRef<int64_t> matrix = key.getShape().take_back(2);
  return hasKnownLengths(op) && !ShapedType::isDynamicShape(matrix) &&
         matrix[0] / fewKeysPerElement <= matrix[1] && !op->hasAttr(kMaxScoresAttr);
}

static int64_t getMaxScores(AttentionOp op, int64_t otherwise) {
  auto given = op->getAttrOfType<IntegerAttr>(kMaxScoresAttr);
  // More is as good as no limit, and leaves room for arithmetic.
  constexpr int64_t most = int64_t(1) << 60;
  return given ? std::min(given.getInt(), most) : otherwise;
}

/// Of one part, or one block of a loop.
static int64_t getMaxScores(AttentionOp op) {
  return getMaxScores(op, hasKnownLengths(op) ? kMaxScores : kMaxSymbolicScores);
}

/// How often `most` scores fit into all scores, at least: sizes that are not known count as 1.
static int64_t countParts(AttentionOp op, int64_t most) {
  RankedTensorType query = op.getQuery().getType(), key = op.getKey().getType();
  SmallVector<int64_t> sizes(query.getShape().drop_back());
  sizes.push_back(key.getDimSize(query.getRank() - 2));
  return llvm::divideCeil(multiplyKnown(sizes), most);
}

/// Of as many scores as may be held at once.
static int64_t countParts(AttentionOp op) { return countParts(op, getMaxScores(op)); }

/// Of `parts` parts of all queries.
static int64_t getPartSize(int64_t queries, int64_t parts) {
  return std::min<int64_t>(llvm::alignTo(llvm::divideCeil(queries, parts), kPartAlignment),
                           queries);
}

/// How many queries to attend to at a time for a gradient in straight code; all of them where sizes
/// are not known.
static int64_t choosePartSize(AttentionOp op) {
  int64_t queries = op.getQuery().getType().getDimSize(op.getQuery().getType().getRank() - 2),
          parts = std::min(countParts(op), kMaxParts);
  if (!hasKnownScores(op) || parts <= 1)
    return queries;
  return getPartSize(queries, parts);
}

/// Whether a size of `op` is one that only the device knows, by which the host cannot choose.
static bool hasRuntimeSizes(AttentionOp op) {
  return RuntimeSizes(op.getContext()).containsAnyOf(op->getOperands());
}

/// Whether the host chooses, when inputs are bound, how many scores are held at once.
static bool areScoresChosenBySizes(AttentionOp op) {
  return !hasKnownScores(op) && !hasFewScoresPerBatch(op) && !hasRuntimeSizes(op);
}

namespace {

/// Attention over some of the queries.
class QueryPart {
public:
  QueryPart(AttentionOp op, ExpressionBuilder &e, int64_t begin, int64_t end)
      : op(op), e(e), begin(begin), end(end), dim(op.getQuery().getType().getRank() - 2),
        keys(op.getKey().getType().getDimSize(dim)),
        lead(keys - op.getQuery().getType().getDimSize(dim)), last(keys) {
    if (!op.getCausal() || op.getOffset())
      return;
    // The last query of the part sees the latest key, the first one the earliest.
    last = std::clamp<int64_t>(end + lead, 1, keys);
    if (op.getWindow())
      first = std::clamp<int64_t>(begin + lead + 1 - static_cast<int64_t>(*op.getWindow()), 0,
                                  last - 1);
  }

  AttentionInputs build() {
    AttentionInputs inputs(op);
    inputs.query = slice(inputs.query, dim, begin, end);
    inputs.key = slice(inputs.key, dim, first, last);
    inputs.value = slice(inputs.value, dim, first, last);
    if (inputs.mask)
      inputs.mask = sliceMask(inputs.mask);
    inputs.offset = buildOffset(inputs.offset);
    return inputs;
  }

  /// What belongs to the queries of the part; null for null.
  Value sliceQueries(Value value) { return value ? slice(value, dim, begin, end) : Value(); }
  /// Something of the keys of the part, with zeros for all others.
  Value padKeys(Value value) { return padKeys(value, dim); }
  /// The same of a mask's gradient, if it has keys.
  Value padKeysOfMask(Value value) {
    int64_t rank = typeOf(op.getMask()).getRank();
    bool hasKeys = rank >= 1 && typeOf(op.getMask()).getDimSize(rank - 1) != 1;
    return hasKeys ? padKeys(value, rank - 1) : value;
  }
  /// Whether each part has queries of the mask of its own.
  static bool splitsMask(Value mask) {
    int64_t rank = mask ? typeOf(mask).getRank() : 0;
    return rank >= 2 && typeOf(mask).getDimSize(rank - 2) != 1;
  }

private:
  Value padKeys(Value value, int64_t along) {
    if (first == 0 && last == keys)
      return value;
    SmallVector<int64_t> low(typeOf(value).getRank(), 0), high = low, interior = low;
    low[along] = first;
    high[along] = keys - last;
    return e.make<PadOp>(value, e.scalar(0, value), low, high,
                         e.getBuilder().getDenseI64ArrayAttr(interior));
  }
  Value slice(Value tensor, int64_t along, int64_t from, int64_t to) {
    RankedTensorType type = typeOf(tensor);
    SmallVector<int64_t> starts(type.getRank(), 0), strides(type.getRank(), 1),
        limits(type.getRank(), ShapedType::kDynamic);
    starts[along] = from;
    limits[along] = to;
    return e.make<SliceOp>(tensor, starts, limits, strides);
  }
  Value sliceMask(Value mask) {
    int64_t rank = typeOf(mask).getRank();
    if (splitsMask(mask))
      mask = slice(mask, rank - 2, begin, end);
    if (rank >= 1 && last - first != keys && typeOf(mask).getDimSize(rank - 1) != 1)
      mask = slice(mask, rank - 1, first, last);
    return mask;
  }
  /// The first query of the part is not the first one, nor is its first key.
  Value buildOffset(Value given) {
    if (!op.getCausal())
      return {};
    Builder &builder = e.getBuilder();
    int64_t distance = given ? begin : begin + lead - first;
    auto type = RankedTensorType::get({}, builder.getI64Type());
    Value added = e.make<ConstantOp>(DenseElementsAttr::get(type, distance));
    return given ? e.add(e.convert(given, builder.getI64Type()), added) : added;
  }

  AttentionOp op;
  ExpressionBuilder &e;
  int64_t begin, end, dim, keys, lead, first = 0, last;
};

} // namespace

using BuildResults = llvm::function_ref<Values(const AttentionInputs &inputs)>;

/// `size` queries at a time, each time as one of `build`'s.
static Values decomposeIntoParts(AttentionOp op, OpBuilder &builder, int64_t size,
                                 BuildResults build) {
  ExpressionBuilder e(builder, op.getLoc());
  int64_t dim = op.getQuery().getType().getRank() - 2,
          queries = op.getQuery().getType().getDimSize(dim);
  SmallVector<Values> parts(op->getNumResults());
  for (int64_t begin = 0; begin < queries; begin += size) {
    QueryPart part(op, e, begin, std::min(begin + size, queries));
    for (auto [results, result] : llvm::zip_equal(parts, build(part.build())))
      results.push_back(result);
  }
  Values results;
  for (const Values &values : parts)
    results.push_back(e.make<ConcatenateOp>(values, dim));
  return results;
}

namespace {

/// What the host chooses by.
class SizeConditions {
public:
  SizeConditions(AttentionOp op, OpBuilder &builder)
      : op(op), e(builder, op.getLoc()), sizes(builder, op.getLoc()),
        dim(op.getQuery().getType().getRank() - 2) {}

  /// All scores may be held at once.
  Value isFew() {
    OpFoldResult keys = sizes.size(op.getKey(), dim);
    return isAtMost(sizes.mul(countHeads(keys), sizes.size(op.getQuery(), dim)));
  }
  /// A block of as many queries as keys may be held, and there are as many of either; the mask has
  /// as many as there are, too. (One that has not is refused where all keys are taken.)
  Value isLong(int64_t block) {
    Value least = e.integer(block, e.getBuilder().getI64Type());
    Value isHeld = isAtMost(countHeads(sizes.constant(block * block)));
    Value isFilled = e.make<AndOp>(isAtLeast(op.getQuery(), least), isAtLeast(op.getKey(), least));
    Value isLong = e.make<AndOp>(isHeld, isFilled);
    for (auto [operand, fromLast] :
         {std::pair<Value, int64_t>(op.getKey(), 0), std::pair<Value, int64_t>(op.getQuery(), 1)})
      if (Value isSame = isMasked(operand, fromLast))
        isLong = e.make<AndOp>(isLong, isSame);
    return isLong;
  }

private:
  /// `scores` for each head of each batch.
  OpFoldResult countHeads(OpFoldResult scores) {
    for (int64_t leading = 0; leading < dim; ++leading)
      scores = sizes.mul(scores, sizes.size(op.getQuery(), leading));
    return scores;
  }
  Value number(OpFoldResult size) {
    auto type = RankedTensorType::get({}, e.getBuilder().getI64Type());
    return e.make<FromIndexOp>(type, sizes.value(size));
  }
  Value isAtMost(OpFoldResult scores) {
    Value most = e.integer(getMaxScores(op, kMaxSymbolicScores), e.getBuilder().getI64Type());
    return e.compare(CompareDirection::Le, number(scores), most);
  }
  Value isAtLeast(Value operand, Value least) {
    return e.compare(CompareDirection::Ge, number(sizes.size(operand, dim)), least);
  }

  /// The mask's dim `fromLast` before its last one has the length of `operand`; null where it has
  /// none, or 1.
  Value isMasked(Value operand, int64_t fromLast) {
    int64_t at = op.getMask() ? op.getMask().getType().getRank() - 1 - fromLast : -1;
    if (at < 0 || op.getMask().getType().getDimSize(at) == 1)
      return {};
    return e.compare(CompareDirection::Eq, number(sizes.size(op.getMask(), at)),
                     number(sizes.size(operand, dim)));
  }

  AttentionOp op;
  ExpressionBuilder e;
  SizeBuilder sizes;
  int64_t dim;
};

} // namespace

/// `first` where `condition` holds for the sizes that inputs are bound with, else `second`, as
/// values of `types`. The host chooses.
static Values chooseBySizes(AttentionOp op, OpBuilder &builder, TypeRange types, Value condition,
                            llvm::function_ref<Values()> first,
                            llvm::function_ref<Values()> second) {
  ExpressionBuilder e(builder, op.getLoc());
  auto choice = IfOp::create(builder, op.getLoc(), types, condition);
  for (auto [region, build] :
       {std::pair(&choice.getThenRegion(), first), std::pair(&choice.getElseRegion(), second)}) {
    OpBuilder::InsertionGuard guard(builder);
    builder.createBlock(region);
    Values results = build();
    for (auto [value, type] : llvm::zip_equal(results, types))
      value = e.finish(value, type);
    YieldOp::create(builder, op.getLoc(), results);
  }
  return Values(choice.getResults());
}

static Values decomposeAttention(AttentionOp op, OpBuilder &builder) {
  auto buildAtOnce = [&](const AttentionInputs &inputs) {
    return AttentionSteps(inputs, builder, op.getLoc()).buildResults();
  };
  auto buildLoop = [&](const AttentionInputs &inputs) {
    return buildBlocks(inputs, builder, op.getLoc(), getMaxScores(op));
  };
  RankedTensorType query = op.getQuery().getType();
  int64_t queries = query.getDimSize(query.getRank() - 2), parts = countParts(op);
  auto buildLoops = [&](const AttentionInputs &inputs) {
    if (hasKnownLengths(op) && op.getCausal() && !op.getOffset() && queries > kPartAlignment)
      return decomposeIntoParts(op, builder, getPartSize(queries, kLoopParts), buildLoop);
    // Which keys a part of known lengths sees is known without looking.
    std::optional<int64_t> block = chooseVisibleBlock(op, getMaxScores(op));
    if (hasKnownLengths(op) || !block)
      return buildLoop(inputs);
    return chooseBySizes(
        op, builder, op->getResultTypes(), SizeConditions(op, builder).isLong(*block),
        [&] { return buildVisibleBlocks(op, builder, op.getLoc(), *block); },
        [&] { return buildLoop(op); });
  };
  if (hasKnownScores(op) && parts > kMaxParts)
    return buildLoops(op);
  if (hasKnownScores(op) && parts > 1 && queries > kPartAlignment)
    return decomposeIntoParts(op, builder, getPartSize(queries, parts), buildAtOnce);
  if (!areScoresChosenBySizes(op))
    return buildAtOnce(op);
  if (parts > 1)
    return buildLoops(op);
  return chooseBySizes(
      op, builder, op->getResultTypes(), SizeConditions(op, builder).isFew(),
      [&] { return buildAtOnce(op); }, [&] { return buildLoops(op); });
}

FailureOr<Values> AttentionOp::decompose(OpBuilder &builder) {
  Values results = decomposeAttention(*this, builder);
  for (auto [value, result] : llvm::zip_equal(results, getResults()))
    value = ExpressionBuilder(builder, getLoc()).finish(value, result.getType());
  return results;
}

//===----------------------------------------------------------------------===//
// Gradient
//===----------------------------------------------------------------------===//

Value sumPerHead(ExpressionBuilder &e, Value values, int64_t head, Type type) {
  SmallVector<int64_t> others;
  for (int64_t dim = 0, rank = typeOf(values).getRank(); dim < rank; ++dim)
    if (dim != head)
      others.push_back(dim);
  return e.finish(e.reduce(ReduceKind::Sum, values, others, /*keepdims=*/false), type);
}

/// The value of a sink is 0, so it only takes from the others.
Value buildSinkGradient(Value given, AttentionSteps &steps, Value share, Value row) {
  ExpressionBuilder &e = steps.getBuilder();
  Value taken = steps.merge(e.make<NegOp>(e.mul(share, row)));
  return sumPerHead(e, taken, typeOf(taken).getRank() - 3, given.getType());
}

/// With all scores at once. `toResult` and `toLogsumexp` are the cotangents; the latter may be
/// null.
static Values buildVjpAtOnce(const AttentionInputs &in, OpBuilder &builder, Location location,
                             Value toResult, Value toLogsumexp) {
  AttentionSteps steps(in, builder, location);
  ExpressionBuilder &e = steps.getBuilder();
  Type element = in.getQueryType().getElementType();
  Value g = steps.split(toResult);
  AttentionSteps::Weights weights = steps.buildWeights();
  Value divisor = steps.makeDivisor(weights.sums);
  Value shares = e.div(weights.exponentials, divisor);
  Value narrow = e.convert(shares, element);
  Value value = steps.product(narrow, g, true, false);
  // Through the softmax: each score's share of what its row changes by. The logarithm of the sums
  // changes by a score's share, too.
  Value toShares = steps.product(g, steps.share(in.value), false, true);
  Value row = e.reduce(ReduceKind::Sum, e.mul(shares, toShares), typeOf(shares).getRank() - 1);
  if (toLogsumexp) {
    int64_t last = typeOf(toLogsumexp).getRank();
    row = e.sub(row, steps.split(e.make<ExpandDimsOp>(toLogsumexp, last)));
  }
  Value toScaled = e.mul(shares, e.sub(toShares, row));
  Value toScores = e.convert(steps.flowToProducts(toScaled), element);
  Value query = steps.product(toScores, steps.share(in.key), false, false);
  Value key = steps.product(toScores, steps.split(in.query), true, false);
  Values results = {e.finish(steps.merge(query), in.query.getType()),
                    e.finish(steps.unshare(key), in.key.getType()),
                    e.finish(steps.unshare(value), in.value.getType())};
  if (Value mask = in.mask) {
    // One that is added to the scores, where it may have been broadcast.
    bool isAdded = isa<FloatType>(typeOf(mask).getElementType());
    results.push_back(isAdded ? e.sumToShape(steps.merge(toScaled), mask) : Value());
  }
  if (in.offset)
    results.push_back(Value());
  if (in.sinks)
    results.push_back(buildSinkGradient(in.sinks, steps, e.div(weights.sink, divisor), row));
  return results;
}

/// `size` queries at a time: what keys, values and sinks get from each part is added up in f32.
static Values buildVjpInParts(AttentionOp op, OpBuilder &builder, Value toResult, Value toLogsumexp,
                              int64_t size) {
  ExpressionBuilder e(builder, op.getLoc());
  int64_t dim = op.getQuery().getType().getRank() - 2,
          queries = op.getQuery().getType().getDimSize(dim);
  constexpr size_t kMask = 3;
  bool splitsMask = QueryPart::splitsMask(op.getMask());
  Values toQueries, toMask, results(op->getNumOperands());
  for (int64_t begin = 0; begin < queries; begin += size) {
    QueryPart part(op, e, begin, std::min(begin + size, queries));
    Values gradients = buildVjpAtOnce(part.build(), builder, op.getLoc(),
                                      part.sliceQueries(toResult), part.sliceQueries(toLogsumexp));
    toQueries.push_back(gradients.front());
    for (auto [index, gradient] : llvm::enumerate(gradients)) {
      if (index == 0 || !gradient)
        continue;
      Value wide = e.widen(gradient);
      if (index < kMask)
        wide = part.padKeys(wide);
      if (index == kMask && op.getMask())
        wide = part.padKeysOfMask(wide);
      if (index == kMask && splitsMask) {
        toMask.push_back(wide);
        continue;
      }
      results[index] = results[index] ? e.add(results[index], wide) : wide;
    }
  }
  results.front() = e.make<ConcatenateOp>(toQueries, dim);
  if (!toMask.empty())
    results[kMask] = e.make<ConcatenateOp>(toMask, typeOf(op.getMask()).getRank() - 2);
  for (auto [result, operand] : llvm::zip_equal(results, op->getOperands()))
    if (result)
      result = e.finish(result, operand.getType());
  return results;
}

/// Sizes that are known, and so large that parts in straight code would hold too many scores. Of
/// few queries these parts are as small as blocks of a loop, which only an op takes that says how
/// many scores may be held.
static bool hasLongVjp(AttentionOp op) {
  RankedTensorType query = op.getQuery().getType();
  int64_t least = op->hasAttr(kMaxScoresAttr) ? kPartAlignment : kMaxParts * kPartAlignment;
  return hasKnownScores(op) && query.getDimSize(query.getRank() - 2) > least &&
         countParts(op, getMaxScores(op, kMaxVjpScores)) > kMaxParts;
}

/// Whether a mask with several rows or columns is known to have as many as there are queries and
/// keys.
static bool hasKnownMask(AttentionOp op) {
  return !op.getMask() ||
         llvm::none_of(op.getMask().getType().getShape().take_back(2), ShapedType::isDynamic);
}

/// In a loop over blocks: over those that are seen where keys are hidden.
static Values buildVjpInLoop(AttentionOp op, OpBuilder &builder, Value toResult,
                             Value toLogsumexp) {
  auto buildBlock = [&](const AttentionInputs &inputs, Value result, Value logsumexp) {
    return buildVjpAtOnce(inputs, builder, op.getLoc(), result, logsumexp);
  };
  int64_t most = getMaxScores(op, kMaxVjpScores);
  std::optional<int64_t> block = chooseVisibleBlock(op, most);
  Values gradients =
      block && hasKnownMask(op)
          ? buildVjpOfVisibleBlocks(op, builder, op.getLoc(), *block, toResult, toLogsumexp)
          : buildVjpOfBlocks(op, builder, op.getLoc(), most, toResult, toLogsumexp, buildBlock);
  for (auto [gradient, operand] : llvm::zip_equal(gradients, op->getOperands()))
    if (gradient)
      gradient = ExpressionBuilder(builder, op.getLoc()).finish(gradient, operand.getType());
  return gradients;
}

/// Lengths that are known when inputs are bound: blocks of queries in a loop where they are long.
static Values buildVjpBySizes(AttentionOp op, OpBuilder &builder, Value toResult,
                              Value toLogsumexp) {
  auto buildBlock = [&](const AttentionInputs &inputs, Value result, Value logsumexp) {
    return buildVjpAtOnce(inputs, builder, op.getLoc(), result, logsumexp);
  };
  auto dropNone = [](Values values) {
    llvm::erase(values, Value());
    return values;
  };
  auto few = [&] { return dropNone(buildBlock(op, toResult, toLogsumexp)); };
  // Through integers, truth values and the offset nothing flows.
  SmallVector<Type> types;
  auto flows = [&](Value operand) {
    return operand != op.getOffset() && isa<FloatType>(typeOf(operand).getElementType());
  };
  for (Value operand : op->getOperands())
    if (flows(operand))
      types.push_back(operand.getType());
  auto blocks = [&] {
    return dropNone(buildVjpOfBlocks(op, builder, op.getLoc(), getMaxScores(op), toResult,
                                     toLogsumexp, buildBlock));
  };
  std::optional<int64_t> block = chooseVisibleBlock(op, getMaxScores(op));
  auto visible = [&] {
    return dropNone(
        buildVjpOfVisibleBlocks(op, builder, op.getLoc(), *block, toResult, toLogsumexp));
  };
  auto many = [&] {
    if (hasKnownLengths(op) || !block)
      return blocks();
    return chooseBySizes(op, builder, types, SizeConditions(op, builder).isLong(*block), visible,
                         blocks);
  };
  ExpressionBuilder e(builder, op.getLoc());
  Values gradients;
  if (countParts(op) > 1) {
    gradients = many();
    for (auto [gradient, type] : llvm::zip_equal(gradients, types))
      gradient = e.finish(gradient, type);
  } else {
    gradients = chooseBySizes(op, builder, types, SizeConditions(op, builder).isFew(), few, many);
  }
  Values results;
  size_t next = 0;
  for (Value operand : op->getOperands())
    results.push_back(flows(operand) ? gradients[next++] : Value());
  return results;
}

Values buildAttentionVjp(AttentionOp op, OpBuilder &builder, Value toResult, Value toLogsumexp) {
  if (hasLongVjp(op))
    return buildVjpInLoop(op, builder, toResult, toLogsumexp);
  int64_t size = choosePartSize(op);
  if (size != op.getQuery().getType().getDimSize(op.getQuery().getType().getRank() - 2))
    return buildVjpInParts(op, builder, toResult, toLogsumexp, size);
  if (areScoresChosenBySizes(op))
    return buildVjpBySizes(op, builder, toResult, toLogsumexp);
  return buildVjpAtOnce(op, builder, op.getLoc(), toResult, toLogsumexp);
}

FailureOr<Values> AttentionOp::buildVjp(OpBuilder &builder, ValueRange cotangents) {
  return buildWantedVjp(builder, cotangents, [](Value) { return true; });
}

FailureOr<Values> AttentionOp::buildWantedVjp(OpBuilder &builder, ValueRange cotangents,
                                              function_ref<bool(Value)> isWanted) {
  Value toResult = cotangents.front(), toLogsumexp = getLogsumexp() ? cotangents.back() : Value();
  if (!toResult)
    toResult = ExpressionBuilder(builder, getLoc()).zerosLike(getResult());
  if (!hasGradientOp(*this))
    return buildAttentionVjp(*this, builder, toResult, toLogsumexp);
  bool isMaskWanted =
           getMask() && isWanted(getMask()) && isa<FloatType>(getMask().getType().getElementType()),
       areSinksWanted = getSinks() && isWanted(getSinks());
  auto flag = [&](bool isSet) { return isSet ? builder.getUnitAttr() : UnitAttr(); };
  auto gradient = AttentionGradientOp::create(
      builder, getOriginLoc(*this), getQuery(), getKey(), getValue(), toResult, getMask(),
      getOffset(), getSinks(), /*logsumexp=*/Value(), /*delta=*/Value(), toLogsumexp,
      getCausalAttr(), getWindowAttr(), getSoftcapAttr(), getScaleAttr(), flag(isMaskWanted),
      flag(areSinksWanted));
  if (Attribute most = (*this)->getAttr(kMaxScoresAttr))
    gradient->setAttr(kMaxScoresAttr, most);
  Values results{gradient.getToQuery(), gradient.getToKey(), gradient.getToValue()};
  results.resize(getNumOperands());
  if (isMaskWanted)
    results[3] = gradient.getToMask();
  if (areSinksWanted)
    results.back() = gradient.getToSinks();
  return results;
}

} // namespace xc::array
