//===- FMACopies.cpp - cp.async for products on ordinary arithmetic -------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The steps of EmitMatmulFMA.cpp with more than two stages. At the barrier of a step all threads
// have loaded the whole of its tile, which is why the next iteration may overwrite it. An operand
// that is contiguous along k is copied element by element: cp.async transposes it, and needs no
// rows that are aligned. What a copy needs beside its bytes is made anew in each step, of one
// address for each operand and of how many rows, or k, are left: 128 registers hold 64 sums, their
// operands and little else.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Matmul/FMAEmitter.h"

#include "compiler/Codegen/CUDA/Common/Pointers.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace xc::cuda {

/// How a warp's copies of single elements lie: rows or columns by values of k, which are a sector.
static constexpr int64_t kCopiedLines = 4, kCopiedK = 8;
/// The most elements of up to 8 bytes that an instruction's offset reaches over.
static constexpr int64_t kFarthest = (int64_t(1) << 28) - 1;

FMAEmitter::Place FMAEmitter::getCopyPlace(const Operand &operand, int64_t iteration) {
  if (!operand.side.isKContiguous) {
    int64_t perLine = operand.own / operand.width, lines = threads / perLine;
    if (threads % perLine == 0)
      return {index.mul(index.rem(thread, perLine), operand.width), index.div(thread, perLine), 0,
              iteration * lines};
  } else if (threads % (kCopiedLines * kCopiedK) == 0 && config.getTileK() % kCopiedK == 0 &&
             operand.own % kCopiedLines == 0) {
    int64_t across = config.getTileK() / kCopiedK, warps = threads / (kCopiedLines * kCopiedK);
    Value lane = index.rem(thread, kCopiedLines * kCopiedK);
    Value patch = index.div(thread, kCopiedLines * kCopiedK);
    Value line = index.div(lane, kCopiedK), along = index.rem(lane, kCopiedK);
    if (warps % across == 0)
      return {index.add(index.mul(index.div(patch, across), kCopiedLines), line),
              index.add(index.mul(index.rem(patch, across), kCopiedK), along),
              iteration * (warps / across) * kCopiedLines, 0};
    if (across % warps == 0)
      return {line, index.add(index.mul(patch, kCopiedK), along),
              iteration * warps / across * kCopiedLines, iteration * warps % across * kCopiedK};
  }
  auto [own, k] = getPlace(operand, iteration);
  return {own, k};
}

Value FMAEmitter::offsetBy(Value pointer, Value elements) {
  Type type = contraction.accumulatorType;
  std::optional<int64_t> number = getConstantIntValue(elements);
  if (number && std::abs(*number) <= kFarthest)
    return LLVM::GEPOp::create(points.builder, points.loc, pointer.getType(), type, pointer,
                               ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(*number)});
  Value offset =
      arith::IndexCastOp::create(points.builder, points.loc, points.builder.getI64Type(), elements);
  return LLVM::GEPOp::create(points.builder, points.loc, pointer.getType(), type, pointer,
                             ArrayRef<LLVM::GEPArg>{offset});
}

/// The address that the copy at `place` is from, where the first one is from (own, k). Of places a
/// known number of bytes apart the first one's address serves all; others are reached from the one
/// before. LLVM does not see how these come about: it would keep and step an address for each copy,
/// in 16 pairs of registers.
Value FMAEmitter::getSource(Operand &operand, const Place &place, Value own, Value k) {
  Value ownStride = tile.getStride(operand.side, /*alongK=*/false),
        kStride = tile.getStride(operand.side, /*alongK=*/true);
  bool isApart = place.ownOffset != 0 || place.kOffset != 0;
  bool isReached =
      isApart && (place.ownOffset == 0 || ownStride) && (place.kOffset == 0 || kStride);
  auto getDistance = [&](int64_t alongOwn, int64_t alongK) {
    Value distance = alongOwn == 0 ? index.constant(0) : index.mul(ownStride, alongOwn);
    return alongK == 0 ? distance : index.add(distance, index.mul(kStride, alongK));
  };
  Value from;
  if (isReached) {
    Value distance =
        getDistance(place.ownOffset - operand.ownOffset, place.kOffset - operand.kOffset);
    from = offsetBy(operand.source, distance);
    if (!getConstantIntValue(distance))
      from = hideOrigin(points.builder, points.loc, from);
  } else {
    Value source = points.getMemory(operand.side.getCopySource());
    Value position =
        tile.getPosition(operand.side, index.add(own, place.ownOffset), index.add(k, place.kOffset))
            .first;
    from = hideOrigin(points.builder, points.loc,
                      getPointer(points.builder, points.loc, source, position));
  }
  operand.source = from;
  operand.ownOffset = place.ownOffset;
  operand.kOffset = place.kOffset;
  return from;
}

/// i1: the copy at `place`, where the thread's first one is at (own, k), begins inside. It is one
/// comparison of a known number with the room that is left: that changes with each step, and with
/// it what LLVM would keep for each copy if it only depended on the rows.
Value FMAEmitter::isCopyInside(const Operand &operand, const Place &place, Value own, Value k,
                               Value isStep) {
  OpBuilder &builder = points.builder;
  auto isLeft = [&](int64_t offset, Value size, Value first, Value isThere) -> Value {
    Value room = index.sub(size, first);
    if (isThere)
      room = arith::SelectOp::create(builder, points.loc, isThere, room, index.constant(0));
    return index.isLess(index.constant(offset), room);
  };
  // Past the last step, too, zeros are written: the number of groups under way stays equal.
  int64_t tileK = config.getTileK();
  if (operand.side.isKContiguous) {
    Value isThere = tile.isInsideK(index.add(k, place.kOffset), tileK);
    isThere = isThere ? isThere : isStep;
    if (!tile.isInsideOwn(operand.side, own, operand.own))
      return isThere;
    Value size = &operand.side == &contraction.a ? tile.sizeM : tile.sizeN;
    return isLeft(place.ownOffset, size, own, isThere);
  }
  Value isThere = tile.isInsideOwn(operand.side, index.add(own, place.ownOffset), operand.own);
  if (!tile.isInsideK(k, tileK))
    return index.both(isStep, isThere);
  return isLeft(place.kOffset, tile.sizeK, k, isThere);
}

void FMAEmitter::startCopy(Operand &operand, int64_t iteration, Value step, Value steps,
                           Value slot) {
  OpBuilder &builder = points.builder;
  Location loc = points.loc;
  Place place = getCopyPlace(operand, iteration);
  Value own = index.add(operand.start, place.own);
  Value k = index.add(index.mul(step, config.getTileK()), place.k);
  // A copy of no bytes reads nothing, wherever its source points.
  Value inside = isCopyInside(operand, place, own, k, index.isLess(step, steps));
  int64_t row = getRowLength(operand);
  Value from = getSource(operand, place, own, k);
  Value first = index.add(index.mul(slot, config.getTileK() * row),
                          index.add(index.mul(place.k, row), place.own));
  Value to = offsetBy(getPointer(builder, loc, operand.buffer, first),
                      index.constant(place.kOffset * row + place.ownOffset));
  auto bytes = static_cast<int32_t>(operand.width * getElementBytes(contraction.accumulatorType));
  Value size = arith::SelectOp::create(builder, loc, inside,
                                       points.constant(builder.getI32IntegerAttr(bytes)),
                                       points.constant(builder.getI32IntegerAttr(0)));
  auto modifier = bytes == 16 ? NVVM::LoadCacheModifierKind::CG : NVVM::LoadCacheModifierKind::CA;
  NVVM::CpAsyncOp::create(builder, loc, to, from, bytes, modifier, size);
}

void FMAEmitter::awaitTile() {
  NVVM::CpAsyncWaitGroupOp::create(points.builder, points.loc,
                                   static_cast<uint32_t>(config.getStages() - 2));
  frame.barrier();
}

SmallVector<Value> FMAEmitter::sumCopied(SmallVector<Value> sums) {
  OpBuilder &builder = points.builder;
  Location loc = points.loc;
  SmallVector<std::pair<Operand *, int64_t>> copies;
  for (Operand &operand : operands)
    for (int64_t iteration = 0; iteration < operand.iterations; ++iteration)
      copies.push_back({&operand, iteration});
  Value steps = tile.getSteps(config.getTileK()), none = index.constant(0), firstStep = none;
  if (rank) {
    Value share = index.ceilDiv(steps, index.constant(config.getSplit()));
    firstStep = index.mul(rank, share);
    steps = index.min(steps, index.add(firstStep, share));
  }
  int64_t last = config.getStages() - 1;
  for (int64_t step = 0; step < last; ++step) {
    for (auto [operand, iteration] : copies)
      startCopy(*operand, iteration, index.add(firstStep, step), steps, index.constant(step));
    NVVM::CpAsyncCommitGroupOp::create(builder, loc);
  }
  awaitTile();

  size_t sumCount = sums.size();
  SmallVector<Value> carried{none};
  llvm::append_range(carried, sums);
  llvm::append_range(carried, loadFragments(none, 0));
  auto emitStep = [&](Value step, ValueRange values) {
    Value slot = values.front();
    SmallVector<Value> sums(values.slice(1, sumCount)), fragments(values.drop_front(1 + sumCount));
    auto choose = [&](Value condition, int64_t then, Value otherwise) -> Value {
      return arith::SelectOp::create(builder, loc, condition, index.constant(then), otherwise);
    };
    Value next = choose(index.isAtLeast(slot, index.constant(last)), 0, index.add(slot, 1)),
          before = choose(index.isLess(slot, index.constant(1)), last, index.add(slot, -1));
    Value copied = index.add(step, last);
    int64_t lastK = config.getTileK() - 1;
    // Copies start between the products, evenly: the memory system takes a burst of them no faster.
    int64_t perK = llvm::divideCeil(copies.size(), std::max<int64_t>(lastK, 1));
    ArrayRef<std::pair<Operand *, int64_t>> left = copies;
    for (int64_t k = 0; k <= lastK; ++k) {
      size_t now = k < lastK ? std::min<size_t>(perK, left.size()) : left.size();
      for (auto [operand, iteration] : left.take_front(now))
        startCopy(*operand, iteration, copied, steps, before);
      left = left.drop_front(now);
      if (k == lastK) {
        NVVM::CpAsyncCommitGroupOp::create(builder, loc);
        awaitTile();
      }
      SmallVector<Value> following =
          k == lastK ? loadFragments(next, 0) : loadFragments(slot, k + 1);
      multiply(fragments, sums);
      fragments = following;
    }
    SmallVector<Value> results{next};
    llvm::append_range(results, sums);
    llvm::append_range(results, fragments);
    return results;
  };
  carried = points.emitLoop(firstStep, steps, index.constant(1), carried, emitStep);
  // No copy may be under way when the block ends.
  NVVM::CpAsyncWaitGroupOp::create(builder, loc, 0u);
  return SmallVector<Value>(ArrayRef(carried).slice(1, sumCount));
}

} // namespace xc::cuda
