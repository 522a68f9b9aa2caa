//===- RowPartials.cpp - Rows that are also summed up -------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where elements of rows are also summed up over several rows (the gradients of a norm's scale),
// each block, or cluster, has a part of the rows:
//
//   partial sums = starts
//   for each iteration: each thread group has one row of the part
//     reduce the row, store its results
//     partial sums += elements of the row
//   combine the partial sums of all thread groups; the first thread group stores them
//
// Rows of a part are `parts` apart, and all thread groups run the same number of iterations, since
// they meet at barriers. Iterations in which a thread group lacks a row come last, one at a time,
// under a mask.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Rows/RowEmitter.h"

#include "compiler/Codegen/CUDA/Common/CombineResults.h"

using namespace mlir;

namespace xc::cuda {

SmallVector<Value> RowEmitter::accumulatePartials(SmallVector<Value> carried) {
  SmallVector<Value> result;
  ArrayRef<Value> rest = carried;
  for (const Place &chunk : chunks)
    for (const ReductionGroup::Member &member : group.partials) {
      unsigned number = member.combiner.getNumResults();
      llvm::append_range(result, accumulate(member, chunk, rest.take_front(number)));
      rest = rest.drop_front(number);
    }
  return result;
}

/// Gives the first thread group what all thread groups have summed up; the others get what nobody
/// asks for.
void RowEmitter::combineThreadGroups(MutableArrayRef<Value> sums, ArrayRef<Value> buffers) {
  // The upper half of the thread groups leaves its values, the lower half takes them over, and so
  // on.
  auto position = [&](Value of) {
    return index.mul(index.add(index.mul(of, config.getThreads()), lane), lanes);
  };
  for (int64_t half = config.getRows() / 2; half > 0; half /= 2) {
    frame.barrier();
    Value isUpper = index.both(index.isAtLeast(threadGroup, index.constant(half)),
                               index.isLess(threadGroup, index.constant(2 * half)));
    points.emitIf(isUpper, [&] {
      for (auto [value, buffer] : llvm::zip_equal(sums, buffers))
        storeShared(buffer, position(index.sub(threadGroup, index.constant(half))), value);
    });
    frame.barrier();
    Value from = position(index.rem(threadGroup, half));
    SmallVector<Value> others;
    for (auto [value, buffer] : llvm::zip_equal(sums, buffers))
      others.push_back(loadShared(buffer, from, value.getType()));
    ArrayRef<Value> taken = others;
    for (MutableArrayRef<Value> rest = sums; !rest.empty();)
      for (const ReductionGroup::Member &member : group.partials) {
        unsigned number = member.combiner.getNumResults();
        llvm::copy(combineResults(points.builder, points.loc, member.combiner,
                                  rest.take_front(number), taken.take_front(number)),
                   rest.begin());
        rest = rest.drop_front(number);
        taken = taken.drop_front(number);
      }
  }
}

void RowEmitter::combineThreadGroups(MutableArrayRef<Value> sums) {
  if (config.getRows() == 1)
    return;
  // As many chunks at a time as there is room for: the thread groups wait for each other once for
  // all.
  size_t perChunk = sums.size() / chunks.size();
  int64_t count = config.getRows() / 2 * config.getThreads() * lanes, bytes = 0;
  for (Value value : sums.take_front(perChunk))
    bytes += count * getElementBytes(getElementTypeOrSelf(value));
  size_t atOnce =
      perChunk * std::clamp<size_t>(RowLimits::kCombinedBytes / bytes, 1, chunks.size());
  SmallVector<Value> buffers;
  for (Value value : sums.take_front(atOnce))
    buffers.push_back(frame.allocateShared(getElementTypeOrSelf(value), count));
  for (; !sums.empty(); sums = sums.drop_front(atOnce)) {
    atOnce = std::min(atOnce, sums.size());
    combineThreadGroups(sums.take_front(atOnce), ArrayRef(buffers).take_front(atOnce));
  }
}

void RowEmitter::storePartials(const Place &chunk, ArrayRef<Value> sums) {
  Place stored = chunk;
  Value isFirst = config.getRows() == 1 ? Value() : index.isEqual(threadGroup, index.constant(0));
  stored.mask = index.both(isFirst, chunk.mask);
  for (const ReductionGroup::Member &member : group.partials) {
    linalg::LinalgOp op = member.combiner.getOp();
    unsigned number = member.combiner.getNumResults();
    SmallVector<Value> total = combineInits(member.combiner, emitInits(member, chunk, lanes),
                                            SmallVector<Value>(sums.take_front(number)), lanes);
    sums = sums.drop_front(number);
    for (auto [result, value] : llvm::zip_equal(op->getResults(), total))
      points.provide(result, value);
    emitResults(
        [&](const ReductionGroup::Result &result) {
          return result.output.tensor.getDefiningOp() == op;
        },
        stored, lanes);
  }
}

bool RowEmitter::loadsEarly() const {
  int64_t bytes = 0;
  for (const ReductionGroup::Input &input : group.inputs)
    bytes += getElementBytes(input.getMemoryType().getElementType());
  return holdsInputs() && bytes * config.getChunks() * lanes <= RowLimits::kEarlyBytes;
}

Value RowEmitter::getRowOfIteration(Value iteration) {
  Value turn = index.add(index.mul(iteration, config.getRows()), threadGroup);
  return index.add(getPart(), index.mul(turn, group.parts));
}

/// Adds up iterations [from, to), of which the last rows may be missing if `mayLack`. `carried` is
/// what was summed up, and what of the first row has been loaded.
SmallVector<Value> RowEmitter::emitIterations(Value from, Value to, bool mayLack,
                                              ValueRange carried, size_t numSums) {
  Value rows = index.product(parallelSizes), last = index.sub(rows, index.constant(1));
  int64_t unroll = mayLack ? 1 : config.getUnroll();
  bool isEarly = carried.size() > numSums;
  auto setRow = [&](Value iteration, bool isMasked) {
    Value own = getRowOfIteration(iteration);
    rowMask = isMasked ? index.isLess(own, rows) : Value();
    row = isMasked ? index.min(own, last) : own;
  };
  SmallVector<Value> result = points.emitLoop(
      from, to, index.constant(unroll), carried, [&](Value iteration, ValueRange values) {
        SmallVector<Value> sums(values.take_front(numSums)), next;
        if (isEarly) {
          // Behind the last row it is loaded once more, unless others may have written it.
          setRow(index.add(iteration, 1), /*isMasked=*/true);
          makeChunks();
          next = loadInputs();
        }
        numExchanges = 0;
        for (int64_t i = 0; i < unroll; ++i) {
          setRow(index.add(iteration, i), mayLack);
          emitRow(values.drop_front(numSums));
          sums = accumulatePartials(sums);
        }
        // What the warps left for each other must have been read before the next iteration writes.
        // Of two exchanges each waits for the other's readers.
        if (config.getThreads() > 32 && numExchanges == 1)
          meetRow();
        llvm::append_range(sums, next);
        return sums;
      });
  rowMask = {};
  return result;
}

LogicalResult RowEmitter::runWithPartials() {
  if (config.getShifted())
    return group.getRoot()->emitOpError("expected rows that are not shifted where rows are summed "
                                        "up too, got ")
           << config;
  group.getRoot()->getParentOfType<func::FuncOp>()->setAttr(kLoadsAheadAttr,
                                                            points.builder.getUnitAttr());
  Value rows = index.product(parallelSizes), none = index.constant(0);
  row = getPart();
  makeChunks();
  // Once for all rows, of which there may be none.
  if (config.getCluster() > 1)
    meetRow();
  hasMetBlocks = true;
  SmallVector<Value> carried;
  for (const Place &chunk : chunks)
    for (const ReductionGroup::Member &member : group.partials)
      llvm::append_range(carried,
                         getStarts(member.combiner, emitInits(member, chunk, lanes), lanes));
  // Every thread group runs the same number of iterations, so that all of them meet at the
  // barriers: first those that no thread group lacks a row in, several at a time.
  int64_t perIteration = group.parts * config.getRows(), unroll = config.getUnroll();
  Value iterations = index.ceilDiv(rows, index.constant(perIteration));
  Value full = index.mul(index.div(rows, perIteration * unroll), unroll);
  // Where threads wait for each other, the next row is on its way meanwhile.
  size_t numSums = carried.size();
  if (unroll == 1 && loadsEarly()) {
    Value own = getRowOfIteration(none);
    rowMask = index.isLess(own, rows);
    row = index.min(own, index.max(index.sub(rows, index.constant(1)), none));
    makeChunks();
    // There may be no row at all.
    if (!getConstantIntValue(rows))
      for (Place &chunk : chunks)
        chunk.loadMask = index.both(chunk.loadMask, rowMask);
    llvm::append_range(carried, loadInputs());
    rowMask = {};
  }
  carried = emitIterations(none, full, /*mayLack=*/false, carried, numSums);
  if (std::optional<int64_t> number = getConstantIntValue(rows);
      !number || *number % (perIteration * unroll) != 0)
    carried = emitIterations(full, iterations, /*mayLack=*/true, carried, numSums);
  for (const ReductionGroup::Input &input : group.inputs)
    points.withdraw(input.tensor);
  MutableArrayRef<Value> sums = MutableArrayRef(carried).take_front(numSums);
  row = getPart();
  makeChunks();
  combineThreadGroups(sums);
  for (auto [number, chunk] : llvm::enumerate(chunks)) {
    size_t perChunk = numSums / chunks.size();
    storePartials(chunk, sums.slice(number * perChunk, perChunk));
  }
  int64_t cluster = config.getCluster();
  return frame.finish(index.constant(group.parts * cluster), cluster);
}

} // namespace xc::cuda
