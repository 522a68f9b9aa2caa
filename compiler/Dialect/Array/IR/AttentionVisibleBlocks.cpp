//===- AttentionVisibleBlocks.cpp - Attention to the keys that are seen -===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One loop, of which each iteration is one block of queries and one block of keys: for each block
// of queries, from the first key that its first query sees to the last key that its last query
// sees. Which those are the device knows, since an offset is data. All blocks are squares of one
// size, which is known now, so all iterations are the same kernels and share their memory. The last
// blocks begin where they end with the last query, or key; what they have again is computed again,
// or hidden. There are at least as many queries and keys as a block has, and a mask that has
// several rows or columns has as many.
//
// An iteration carries what softmax has so far of the block of queries: the maximum of the scores,
// the sum of their exponentials and the sum of values, both relative to that maximum. Each
// iteration writes the quotient, which the block's last iteration makes the result.
//
// The gradient attends once for the logsumexp, by which each iteration knows its weights. What
// flows to operands is added up in f32. Queries that a block has again count once.
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Array/IR/AttentionSteps.h"
#include "compiler/Dialect/Array/IR/BlockBuilder.h"
#include "compiler/Dialect/Array/IR/Sizes.h"
#include "compiler/Dialect/Array/IR/TensorTypes.h"

using namespace mlir;

namespace xc::array {

using Values = SmallVector<Value>;

/// Queries and keys in a block at most: where larger ones would make few kernels fewer, and where a
/// window hides most keys of larger ones.
static constexpr int64_t kMaxBlock = 1024, kMaxWindowBlock = 512;
/// Of batches whose size is not known, that many are to fit into the scores that may be held.
static constexpr int64_t kUsualBatches = 8;

namespace {

class VisibleBlocks : BlockBuilder {
public:
  VisibleBlocks(const AttentionInputs &in, OpBuilder &builder, Location location, int64_t size)
      : BlockBuilder(builder, location), in(in), dim(in.getLengthDim()),
        queries(sizes.size(in.query, dim)), keys(sizes.size(in.key, dim)),
        block(sizes.constant(size)) {
    offset = in.offset ? e.convert(in.offset, builder.getI64Type())
                       : e.sub(number(keys), number(queries));
    Type element = in.getQueryType().getElementType();
    sumType = element.isF64() ? element : builder.getF32Type();
  }

  Values build();
  Values buildVjp(Value toResult, Value toLogsumexp);

private:
  /// Where an iteration's blocks begin, and what is computed of.
  struct Iteration {
    Value start, key, isFirst;
    AttentionInputs inputs;
  };
  /// What the values that are carried become in an iteration.
  using BuildIteration = llvm::function_ref<Values(const Iteration &iteration, ValueRange carried)>;

  Values loopOverBlocks(ArrayRef<Value> inits, BuildIteration build);
  AttentionInputs sliceInputs(Value start, Value key);
  SmallVector<Side> getMaskSides(Value start, Value key);
  /// Size `leading` of the scores, if that of some operand is known.
  std::optional<int64_t> findBatch(int64_t leading);
  Value getPlace(Value start) { return BlockBuilder::getPlace(start, block, queries); }
  /// The first key that is seen by a query of the block at `start`.
  Value getFirstKey(Value start);
  Values attend(const Iteration &iteration, ValueRange carried);
  /// The sum over each row of weights times their cotangents, less that of its logsumexp.
  Value buildRowSums(Value result, Value toResult, Value toLogsumexp);
  /// `[..., H, Q]` as `[..., H, Q, 1]` with split heads.
  Value asColumn(AttentionSteps &steps, Value value) {
    return steps.split(e.make<ExpandDimsOp>(value, typeOf(value).getRank()));
  }
  Value lowest(Value like) { return e.scalar(-std::numeric_limits<double>::infinity(), like); }
  /// `value`, or 0 for minus infinity, which must not be subtracted from itself.
  Value finite(Value value) {
    Value isNone = e.compare(CompareDirection::Eq, value, lowest(value));
    return e.select(isNone, e.scalar(0, value), value);
  }

  AttentionInputs in;
  int64_t dim;
  OpFoldResult queries, keys, block;
  /// Of the first query.
  Value offset;
  Type sumType;
};

} // namespace

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

std::optional<int64_t> chooseVisibleBlock(const AttentionInputs &in, int64_t maxScores) {
  if (!in.isCausal)
    return std::nullopt;
  // All but the lengths.
  ArrayRef<int64_t> outer = in.getQueryType().getShape().drop_back(2);
  int64_t heads = multiplyKnown(outer);
  int64_t batches = ShapedType::isDynamicShape(outer) ? kUsualBatches : 1;
  int64_t most = in.window ? std::max(*in.window, kMaxWindowBlock) : kMaxBlock, size = kBlockUnit;
  most = std::min(most, kMaxBlock);
  while (2 * size <= most && 4 * size * size * batches <= maxScores / heads) // in range: `most`
    size *= 2;
  int64_t dim = in.getLengthDim();
  bool isShort =
      llvm::any_of(ArrayRef{in.getQueryType().getDimSize(dim), in.getKeyType().getDimSize(dim)},
                   [&](int64_t length) { return !ShapedType::isDynamic(length) && length < size; });
  bool isTooLarge = size * size > maxScores / heads; // in range: `most`
  return isShort || isTooLarge ? std::nullopt : std::optional(size);
}

Value VisibleBlocks::getFirstKey(Value start) {
  if (!in.window)
    return number(int64_t(0));
  Value first = e.sub(e.add(offset, getPlace(start)), number(*in.window - 1));
  return e.make<MaxOp>(first, number(int64_t(0)));
}

SmallVector<BlockBuilder::Side> VisibleBlocks::getMaskSides(Value start, Value key) {
  SmallVector<Side> sides;
  if (int64_t rows = findMaskDim(in.mask, 1); rows >= 0)
    sides.push_back({rows, start, block});
  if (int64_t columns = findMaskDim(in.mask, 0); columns >= 0)
    sides.push_back({columns, key, block});
  return sides;
}

AttentionInputs VisibleBlocks::sliceInputs(Value start, Value key) {
  AttentionInputs inputs = in;
  inputs.query = slice(in.query, Side{dim, start, block});
  inputs.key = slice(in.key, Side{dim, key, block});
  inputs.value = slice(in.value, Side{dim, key, block});
  if (in.mask)
    inputs.mask = slice(in.mask, getMaskSides(start, key));
  Value keyPlace = BlockBuilder::getPlace(key, block, keys);
  inputs.offset = e.sub(e.add(offset, getPlace(start)), keyPlace);
  inputs.firstKey = e.sub(key, keyPlace);
  return inputs;
}

Values VisibleBlocks::loopOverBlocks(ArrayRef<Value> inits, BuildIteration build) {
  Value none = number(int64_t(0));
  Values carried{none, getFirstKey(none)};
  llvm::append_range(carried, inits);
  auto isMore = [&](Value start) {
    return e.compare(CompareDirection::Lt, start, number(queries));
  };
  Values results = loop(carried, isMore, [&](ValueRange values) {
    Value start = values[0], key = values[1];
    Value isFirst = e.compare(CompareDirection::Eq, key, getFirstKey(start));
    Value end = e.make<MinOp>(e.add(e.add(offset, getPlace(start)), number(block)), number(keys));
    Value nextKey = e.add(key, number(block)), nextStart = e.add(start, number(block));
    Value isLast = e.compare(CompareDirection::Ge, nextKey, end);
    Values next{e.select(isLast, nextStart, start),
                e.select(isLast, getFirstKey(nextStart), nextKey)};
    llvm::append_range(next,
                       build({start, key, isFirst, sliceInputs(start, key)}, values.drop_front(2)));
    return next;
  });
  return Values(ArrayRef(results).drop_front(2));
}

//===----------------------------------------------------------------------===//
// The result
//===----------------------------------------------------------------------===//

/// Carried are the sum of values, the maximum and the sum of exponentials, and the results.
Values VisibleBlocks::attend(const Iteration &iteration, ValueRange carried) {
  AttentionSteps steps(iteration.inputs, builder, location);
  Type element = in.getQueryType().getElementType();
  Value scores = steps.buildScores();
  int64_t axis = typeOf(scores).getRank() - 1;
  // A sink is a key that has been seen before the first one.
  Value before = in.sinks ? steps.buildSinkScores(sumType) : lowest(scores);
  Value oldMaximum = e.select(iteration.isFirst, before, carried[1]);
  Value oldSum = e.select(iteration.isFirst, e.scalar(in.sinks ? 1 : 0, scores), carried[2]);
  Value oldValues = e.select(iteration.isFirst, e.scalar(0, scores), carried[0]);
  Value maximum = e.make<MaxOp>(oldMaximum, e.reduce(ReduceKind::Max, scores, axis));
  Value base = finite(maximum);
  Value weights = e.make<ExpOp>(e.sub(scores, base)),
        factor = e.make<ExpOp>(e.sub(oldMaximum, base));
  Value sum = e.add(e.mul(oldSum, factor), e.reduce(ReduceKind::Sum, weights, axis));
  Value product =
      steps.product(e.convert(weights, element), steps.share(iteration.inputs.value), false, false);
  Value values = e.add(e.mul(oldValues, factor), product);
  Value result = e.convert(steps.merge(e.div(values, steps.makeDivisor(sum))), element);
  Side side{dim, iteration.start, block};
  Values next{values, maximum, sum, update(carried[3], side, result)};
  if (in.hasLogsumexp) {
    Value logarithm = steps.merge(e.add(e.make<LogOp>(sum), base));
    logarithm = e.make<SqueezeOp>(logarithm, typeOf(logarithm).getRank() - 1);
    next.push_back(update(carried[4], side, logarithm));
  }
  return next;
}

std::optional<int64_t> VisibleBlocks::findBatch(int64_t leading) {
  int64_t rank = in.getQueryType().getRank();
  for (Value operand : {in.query, in.key, in.value, in.mask}) {
    int64_t own = operand ? leading + typeOf(operand).getRank() - rank : -1;
    int64_t size = own < 0 ? ShapedType::kDynamic : typeOf(operand).getDimSize(own);
    if (!ShapedType::isDynamic(size) && (operand != in.mask || size != 1))
      return size;
  }
  return std::nullopt;
}

Values VisibleBlocks::build() {
  SmallVector<OpFoldResult> shape = sizes.sizes(in.query), split(ArrayRef(shape).drop_back(2));
  for (int64_t leading = 0; leading < dim - 1; ++leading)
    if (std::optional<int64_t> size = findBatch(leading))
      split[leading] = sizes.constant(*size);
  shape.back() = sizes.size(in.value, dim + 1);
  int64_t heads = in.getQueryType().getDimSize(dim - 1),
          groups = in.getKeyType().getDimSize(dim - 1);
  if (heads != groups) {
    split.back() = sizes.constant(groups);
    split.push_back(sizes.constant(heads / groups));
  }
  split.append({block, shape.back()});
  Value values = zeros(split, sumType);
  split.back() = sizes.constant(1);
  Value column = zeros(split, sumType);
  Values inits{values, column, column, unwritten(shape, in.getQueryType().getElementType())};
  if (in.hasLogsumexp)
    inits.push_back(unwritten(ArrayRef(shape).drop_back(), sumType));
  Values results = loopOverBlocks(inits, [&](const Iteration &iteration, ValueRange carried) {
    return attend(iteration, carried);
  });
  return Values(ArrayRef(results).drop_front(3));
}

//===----------------------------------------------------------------------===//
// The gradient
//===----------------------------------------------------------------------===//

Value VisibleBlocks::buildRowSums(Value result, Value toResult, Value toLogsumexp) {
  Value terms = e.mul(e.widen(toResult), e.widen(result));
  Value sums = e.reduce(ReduceKind::Sum, terms, dim + 1, /*keepdims=*/false);
  return toLogsumexp ? e.sub(sums, toLogsumexp) : sums;
}

Values VisibleBlocks::buildVjp(Value toResult, Value toLogsumexp) {
  in.hasLogsumexp = true;
  Values attended = build();
  Value logsumexp = finite(attended[1]), rows = buildRowSums(attended[0], toResult, toLogsumexp);
  bool isMaskAdded = in.mask && isa<FloatType>(typeOf(in.mask).getElementType());
  Values inits;
  for (Value operand : {in.query, in.key, in.value, isMaskAdded ? in.mask : Value()})
    if (operand)
      inits.push_back(zeros(sizes.sizes(operand), getElementTypeOrSelf(operand).isF64()
                                                      ? sumType
                                                      : builder.getF32Type()));
  Values sums = loopOverBlocks(inits, [&](const Iteration &iteration, ValueRange carried) {
    AttentionSteps steps(iteration.inputs, builder, location);
    Type element = in.getQueryType().getElementType();
    Side side{dim, iteration.start, block}, keySide{dim, iteration.key, block};
    Value place = getPlace(iteration.start);
    auto sliceNew = [&](Value value) {
      return maskRepeated(slice(value, side), dim, block, iteration.start, place);
    };
    Value cotangent = steps.split(sliceNew(toResult)), row = asColumn(steps, sliceNew(rows));
    Value exponent = e.sub(steps.buildScores(), asColumn(steps, slice(logsumexp, side)));
    // As they are rounded for the product with values: so each of both products of scores has one
    // result, which is made where the product is, and no scores of f32 go through memory.
    Value shares = e.convert(e.make<ExpOp>(exponent), element);
    Value value = steps.product(shares, cotangent, true, false);
    Value toShares = steps.product(cotangent, steps.share(iteration.inputs.value), false, true);
    Value toScaled = e.mul(e.widen(shares), e.sub(toShares, row));
    Value toScores = e.convert(steps.flowToProducts(toScaled), element);
    Value query = steps.product(toScores, steps.share(iteration.inputs.key), false, false);
    Value key = steps.product(toScores, steps.split(iteration.inputs.query), true, false);
    SmallVector<SmallVector<Side>> sides{{side}, {keySide}, {keySide}};
    Values parts{steps.merge(query), steps.unshare(key), steps.unshare(value)};
    if (isMaskAdded) {
      sides.push_back(getMaskSides(iteration.start, iteration.key));
      // Unrounded, as what it is added to: a mask may be of 16 bits.
      parts.push_back(e.sumToShape(steps.merge(toScaled), e.widen(iteration.inputs.mask)));
    }
    // All sums before any of them is written: their memory is not taken again until then, so that
    // no product waits for what the one before it has made to be copied.
    for (auto [part, whole, box] : llvm::zip_equal(parts, carried, sides))
      part = e.add(slice(whole, box), part);
    for (auto [part, whole, box] : llvm::zip_equal(parts, carried, sides))
      part = update(whole, box, part);
    return parts;
  });
  // As the operands stand in the op.
  Values results(ArrayRef(sums).take_front(3));
  if (in.mask)
    results.push_back(isMaskAdded ? sums[3] : Value());
  if (in.offset)
    results.push_back(Value());
  if (in.sinks) {
    AttentionSteps steps(in, builder, location);
    Value share = e.make<ExpOp>(e.sub(steps.buildSinkScores(sumType), asColumn(steps, logsumexp)));
    results.push_back(buildSinkGradient(in.sinks, steps, share, asColumn(steps, rows)));
  }
  return results;
}

Values buildVisibleBlocks(const AttentionInputs &in, OpBuilder &builder, Location location,
                          int64_t block) {
  return VisibleBlocks(in, builder, location, block).build();
}

Values buildVjpOfVisibleBlocks(const AttentionInputs &in, OpBuilder &builder, Location location,
                               int64_t block, Value toResult, Value toLogsumexp) {
  return VisibleBlocks(in, builder, location, block).buildVjp(toResult, toLogsumexp);
}

} // namespace xc::array
