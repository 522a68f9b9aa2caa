//===- EmitMatmulFMA.cpp - Matrix products on ordinary arithmetic ---------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A block of (tile_m / thread_m) x (tile_n / thread_n) threads computes a tile of the product. With
// two stages:
//
//   load tile 0 of A and B into registers, from there into buffer 0; barrier
//   for step = 0 .. steps - 1:
//     load the next tiles, if any, into registers         // under way while this step computes
//     accumulators += A(buffer step % 2) * B(same)
//     store the registers into the other buffer; barrier
//   compute and store the outputs
//
// The last step is not peeled off: outside of the loop, LLVM would sink its arithmetic behind the
// bounds checks of the stores, and keep all of shared memory's tile in registers until there.
//
// With S > 2 stages, for operands in memory that are multiplied as they are:
//
//   start the copies of tiles 0 .. S - 2
//   wait until tile 0 has arrived; barrier; load the operands of its first k
//   for step = 0 .. steps - 1:
//     for each k of tile `step`:
//       start some of the copies of tile step + S - 1        // into the buffer of tile step - 1
//       before the last: wait until tile step + 1 has arrived; barrier
//       load the operands of the next k, which may be the first of tile step + 1
//       accumulators += products of those loaded before
//   compute and store the outputs
//
// At that barrier all threads have loaded the whole of tile `step`, which is why the next round may
// overwrite it. An operand that is contiguous along k is copied element by element: cp.async turns
// it on the way, and needs no rows that are aligned. What a copy needs beside its bytes is made
// anew in each step, of one address for each operand and of how many rows, or k, are left: 128
// registers hold 64 sums, their operands and little else.
//
// With `split` > 1 a cluster of blocks shares a tile: each does its part of the steps, sends its
// sums to the shared memory of the blocks that store them, and stores its own share of all.
//
// Both tiles lie in shared memory with k as the slow dim, so that a thread reads its rows of A and
// its columns of B by vectors. A thread's rows (and columns) come in groups of 4, the groups tile_m
// / (thread_m / 4) apart: neighbouring threads then read neighbouring vectors. Rows in shared
// memory are 4 elements longer than the tile, so that stores of a k-contiguous operand, which turn
// it around, fall into different banks; so do copies, of which a warp makes 4 rows by 8 k at a
// time.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Common/LaneOps.h"
#include "compiler/Codegen/CUDA/Common/Occupancy.h"
#include "compiler/Codegen/CUDA/IR/CUDAConfig.h"
#include "compiler/Codegen/CUDA/Matmul/FMAModel.h"
#include "compiler/Codegen/CUDA/Matmul/MatmulTile.h"
#include "compiler/Codegen/CUDA/Passes.h"
#include "compiler/Dialect/Tile/IR/TileOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace xc::cuda {

#define GEN_PASS_DEF_EMITMATMULFMA
#include "compiler/Codegen/CUDA/Passes.h.inc"

static constexpr int64_t kVectorBytes = 16;
/// How the threads of a warp lie.
static constexpr int64_t kPatchRows = 4, kPatchColumns = 8;
/// How a warp's copies of single elements lie: rows or columns by values of k, which are a sector.
static constexpr int64_t kCopiedLines = 4, kCopiedK = 8;
/// The most elements of up to 8 bytes that an instruction's offset reaches over.
static constexpr int64_t kFarthest = (int64_t(1) << 28) - 1;
/// As many registers of a thread as do for so many words of sums.
static constexpr int64_t kFewRegisters = 128, kFewSums = 64;

namespace {

class FMAEmitter {
public:
  FMAEmitter(const KernelInfo &kernel, const Contraction &contraction, MatmulFMAAttr config)
      : contraction(contraction), config(config), threads(getThreads(config)),
        target(*kernel.target), frame(kernel, threads), points(frame.points), index(points.index),
        tile(kernel, contraction, frame, config.getTileM(), config.getTileN()) {}

  LogicalResult run();

private:
  static int64_t getThreads(MatmulFMAAttr config) {
    return config.getTileM() / config.getThreadM() * (config.getTileN() / config.getThreadN());
  }

  /// One operand: its tile in shared memory, and how the threads fill it.
  struct Operand {
    const Contraction::Side &side;
    int64_t own; // extent of the tile along the operand's own dim
    Value start; // of the tile along it
    int64_t width = 1, rounds = 1;
    Value buffer = {};
    Value source = {}; // of the copy started last, which is at these offsets from the first one
    int64_t ownOffset = 0, kOffset = 0;
  };
  Operand makeOperand(const Contraction::Side &side, int64_t own, Value start);
  void placeThread();
  /// Where in the tile vector `round` of this thread begins: along the own dim, and along k.
  std::pair<Value, Value> getPlace(const Operand &operand, int64_t round);
  /// The same of copy `round`, as what this thread's copies begin with, and what is known.
  struct Place {
    Value own, k;
    int64_t ownOffset = 0, kOffset = 0;
  };
  Place getCopyPlace(const Operand &operand, int64_t round);
  Value offsetBy(Value pointer, Value elements);
  Value getSource(Operand &operand, const Place &place, Value own, Value k);
  Value isCopyInside(const Operand &operand, const Place &place, Value own, Value k, Value isStep);
  /// Starts copy `round` of tile `step` into buffer `slot`.
  void startCopy(Operand &operand, int64_t round, Value step, Value steps, Value slot);
  /// Waits for the oldest but `stages` - 2 of the copies that were started, in all threads.
  void awaitTile();
  SmallVector<Value> loadTile(const Operand &operand, Value k);
  void storeTile(const Operand &operand, ArrayRef<Value> values, Value bufferNumber);
  SmallVector<Value> loadFragment(const Operand &operand, Value bufferNumber, int64_t k,
                                  Value position, int64_t count);
  /// The operands of this thread's rows and columns at k of a tile.
  SmallVector<Value> loadFragments(Value bufferNumber, int64_t k);
  /// Adds to `sums` the products of one k.
  void multiply(ArrayRef<Value> fragments, MutableArrayRef<Value> sums);
  /// The sums over all steps: of tiles that pass through registers, and of such that are copied.
  SmallVector<Value> sumLoaded(SmallVector<Value> sums);
  SmallVector<Value> sumCopied(SmallVector<Value> sums);
  /// Stores vector `number` of this thread's sums.
  void emitOutputs(Value number, Value sums);
  void emitOutputs(ArrayRef<Value> sums);
  /// Adds up the sums of the cluster's blocks, and stores this one's share of them.
  void shareOutputs(ArrayRef<Value> sums);
  /// How many blocks are to fit on a multiprocessor.
  int64_t getFewestBlocks();

  bool isCopied() const { return config.getStages() > 2; }
  int64_t getGroup() const { return std::min<int64_t>(config.getThreadN(), 4); }
  int64_t getRowLength(const Operand &operand) const {
    return getFMARowLength(operand.own, getElementBytes(contraction.accumulatorType));
  }

  const Contraction &contraction;
  MatmulFMAAttr config;
  int64_t threads;
  const Target &target;
  KernelFrame frame;
  PointEmitter &points;
  IndexBuilder &index;
  MatmulTile tile;
  Value thread, threadRow, threadColumn;
  Value rank;     // of this block among those that share the tile
  Value exchange; // where the sums of this block's share arrive from all of them
  SmallVector<Operand, 2> operands;
};

} // namespace

FMAEmitter::Operand FMAEmitter::makeOperand(const Contraction::Side &side, int64_t own,
                                            Value start) {
  Operand operand{side, own, start};
  int64_t elements = own * config.getTileK();
  Type elementType = getElementTypeOrSelf(side.operand->get());
  int64_t limit =
      std::min<int64_t>({kVectorBytes / getElementBytes(elementType), elements / threads,
                         side.isKContiguous ? config.getTileK() : own});
  // A copy writes neighbours, which those along k are not in shared memory; of a vector, as
  // aligned as its length.
  if (isCopied() && (side.isKContiguous || side.getCopySource().getAlignment() < kVectorBytes))
    limit = 1;
  operand.width = tile.getVectorWidth(side, llvm::bit_floor<uint64_t>(limit));
  // Vectors that make up lines, and an equal number of them for each thread.
  while (elements % (threads * operand.width) != 0 ||
         (side.isKContiguous ? config.getTileK() : own) % operand.width != 0)
    operand.width /= 2;
  operand.rounds = elements / (threads * operand.width);
  operand.buffer = frame.allocateShared(
      contraction.accumulatorType, config.getStages() * config.getTileK() * getRowLength(operand));
  return operand;
}

std::pair<Value, Value> FMAEmitter::getPlace(const Operand &operand, int64_t round) {
  int64_t contiguous = operand.side.isKContiguous ? config.getTileK() : operand.own;
  int64_t perLine = contiguous / operand.width;
  Value number = index.add(thread, round * threads);
  Value line = index.div(number, perLine);
  Value along = index.mul(index.rem(number, perLine), operand.width);
  return operand.side.isKContiguous ? std::pair(line, along) : std::pair(along, line);
}

SmallVector<Value> FMAEmitter::loadTile(const Operand &operand, Value k) {
  SmallVector<Value> values;
  for (int64_t round = 0; round < operand.rounds; ++round) {
    auto [ownOffset, kOffset] = getPlace(operand, round);
    Value own = index.add(operand.start, ownOffset), at = index.add(k, kOffset);
    Value inside = tile.isInside(operand.side, own, at, operand.own, config.getTileK());
    values.push_back(tile.emitFactors(operand.side, own, at, operand.width, inside, /*cast=*/true));
  }
  return values;
}

void FMAEmitter::storeTile(const Operand &operand, ArrayRef<Value> values, Value bufferNumber) {
  OpBuilder &builder = points.builder;
  int64_t row = getRowLength(operand);
  Value base = index.mul(bufferNumber, config.getTileK() * row);
  for (auto [round, value] : llvm::enumerate(values)) {
    auto [own, k] = getPlace(operand, round);
    Value position = index.add(base, index.add(index.mul(k, row), own));
    if (operand.width > 1 && !operand.side.isKContiguous) {
      int64_t bytes = operand.width * getElementBytes(contraction.accumulatorType);
      vector::StoreOp::create(builder, points.loc, value, operand.buffer, position,
                              /*nontemporal=*/false,
                              llvm::MaybeAlign(std::min(kVectorBytes, bytes)));
      continue;
    }
    for (int64_t lane = 0; lane < operand.width; ++lane)
      memref::StoreOp::create(builder, points.loc, getLane(builder, points.loc, value, lane),
                              operand.buffer, index.add(position, lane * row));
  }
}

SmallVector<Value> FMAEmitter::loadFragment(const Operand &operand, Value bufferNumber, int64_t k,
                                            Value position, int64_t count) {
  int64_t row = getRowLength(operand), group = std::min<int64_t>(count, 4);
  int64_t distance = operand.own / (count / group);
  int64_t bytes = group * getElementBytes(contraction.accumulatorType);
  Value line = index.add(index.mul(bufferNumber, config.getTileK() * row), k * row);
  SmallVector<Value> values;
  for (int64_t i = 0; i < count / group; ++i) {
    Value at = index.add(line, index.add(index.mul(position, group), i * distance));
    values.push_back(vector::LoadOp::create(
        points.builder, points.loc, VectorType::get(group, contraction.accumulatorType),
        operand.buffer, at,
        /*nontemporal=*/false, llvm::MaybeAlign(std::min(kVectorBytes, bytes))));
  }
  return values;
}

SmallVector<Value> FMAEmitter::loadFragments(Value bufferNumber, int64_t k) {
  SmallVector<Value> fragments =
      loadFragment(operands[0], bufferNumber, k, threadRow, config.getThreadM());
  llvm::append_range(fragments,
                     loadFragment(operands[1], bufferNumber, k, threadColumn, config.getThreadN()));
  return fragments;
}

/// A multiply-add reads three registers of two banks, each of which has room for one read a cycle;
/// of three reads one is that of the operation before. So rows are passed to and fro: where the row
/// changes, the column stays. A sum mostly lies in the bank of its column's operand, as both are
/// parts of vectors, and such pairs of reads keep up only while banks alternate: odd rows ascend
/// and even ones descend, which puts the operand of the next row into the bank that is not busy. So
/// it was measured on sm_90; where ptxas spills registers in that order, rows all ascend.
void FMAEmitter::multiply(ArrayRef<Value> fragments, MutableArrayRef<Value> sums) {
  OpBuilder &builder = points.builder;
  Location loc = points.loc;
  SmallVector<Value> factors;
  for (Value fragment : fragments)
    for (int64_t lane = 0; lane < countLanes(fragment); ++lane)
      factors.push_back(getLane(builder, loc, fragment, lane));
  int64_t rows = config.getThreadM(), columns = config.getThreadN();
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t step = 0; step < columns; ++step) {
      int64_t j = target.takesBankOrder && i % 2 == 0 ? columns - 1 - step : step;
      Value a = factors[i], b = factors[rows + j], &sum = sums[i * columns + j];
      if (isa<FloatType>(contraction.accumulatorType))
        sum = math::FmaOp::create(builder, loc, a, b, sum);
      else
        sum = arith::AddIOp::create(builder, loc, arith::MulIOp::create(builder, loc, a, b), sum);
    }
}

/// A warp's threads lie in as square a patch as there is. Shared memory serves a warp's vectors
/// half a warp at a time, in one cycle where these are no more than 128 bytes and lanes one apart,
/// or two, read the same: neighbours lie in one row of the patch, next neighbours in one column.
void FMAEmitter::placeThread() {
  int64_t across = config.getTileN() / config.getThreadN();
  int64_t down = config.getTileM() / config.getThreadM();
  if (across % kPatchColumns != 0 || down % kPatchRows != 0) {
    threadRow = index.div(thread, across);
    threadColumn = index.rem(thread, across);
    return;
  }
  int64_t patches = across / kPatchColumns;
  Value lane = index.rem(thread, kPatchRows * kPatchColumns);
  Value patch = index.div(thread, kPatchRows * kPatchColumns);
  auto getBits = [&](int64_t lowest, int64_t count) {
    Value shifted = lowest == 0 ? lane : index.div(lane, int64_t(1) << lowest);
    return index.rem(shifted, int64_t(1) << count);
  };
  Value row = index.add(getBits(1, 1), index.mul(getBits(4, 1), 2));
  Value column = index.add(getBits(0, 1), index.mul(getBits(2, 2), 2));
  threadRow = index.add(index.mul(index.div(patch, patches), kPatchRows), row);
  threadColumn = index.add(index.mul(index.rem(patch, patches), kPatchColumns), column);
}

FMAEmitter::Place FMAEmitter::getCopyPlace(const Operand &operand, int64_t round) {
  if (!operand.side.isKContiguous) {
    int64_t perLine = operand.own / operand.width, lines = threads / perLine;
    if (threads % perLine == 0)
      return {index.mul(index.rem(thread, perLine), operand.width), index.div(thread, perLine), 0,
              round * lines};
  } else if (threads % (kCopiedLines * kCopiedK) == 0 && config.getTileK() % kCopiedK == 0 &&
             operand.own % kCopiedLines == 0) {
    int64_t across = config.getTileK() / kCopiedK, warps = threads / (kCopiedLines * kCopiedK);
    Value lane = index.rem(thread, kCopiedLines * kCopiedK);
    Value patch = index.div(thread, kCopiedLines * kCopiedK);
    Value line = index.div(lane, kCopiedK), along = index.rem(lane, kCopiedK);
    if (warps % across == 0)
      return {index.add(index.mul(index.div(patch, across), kCopiedLines), line),
              index.add(index.mul(index.rem(patch, across), kCopiedK), along),
              round * (warps / across) * kCopiedLines, 0};
    if (across % warps == 0)
      return {line, index.add(index.mul(patch, kCopiedK), along),
              round * warps / across * kCopiedLines, round * warps % across * kCopiedK};
  }
  auto [own, k] = getPlace(operand, round);
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
  bool isWalked = isApart && (place.ownOffset == 0 || ownStride) && (place.kOffset == 0 || kStride);
  auto getDistance = [&](int64_t alongOwn, int64_t alongK) {
    Value distance = alongOwn == 0 ? index.constant(0) : index.mul(ownStride, alongOwn);
    return alongK == 0 ? distance : index.add(distance, index.mul(kStride, alongK));
  };
  Value from;
  if (isWalked) {
    Value distance =
        getDistance(place.ownOffset - operand.ownOffset, place.kOffset - operand.kOffset);
    from = offsetBy(operand.source, distance);
    if (!getConstantIntValue(distance))
      from = tile.hideOrigin(from);
  } else {
    Value source = points.getMemory(operand.side.getCopySource());
    Value position =
        tile.getPosition(operand.side, index.add(own, place.ownOffset), index.add(k, place.kOffset))
            .first;
    from = tile.hideOrigin(tile.getPointer(source, position));
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

void FMAEmitter::startCopy(Operand &operand, int64_t round, Value step, Value steps, Value slot) {
  OpBuilder &builder = points.builder;
  Location loc = points.loc;
  Place place = getCopyPlace(operand, round);
  Value own = index.add(operand.start, place.own);
  Value k = index.add(index.mul(step, config.getTileK()), place.k);
  // A copy of no bytes reads nothing, wherever its source points.
  Value inside = isCopyInside(operand, place, own, k, index.isLess(step, steps));
  int64_t row = getRowLength(operand);
  Value from = getSource(operand, place, own, k);
  Value first = index.add(index.mul(slot, config.getTileK() * row),
                          index.add(index.mul(place.k, row), place.own));
  Value to = offsetBy(tile.getPointer(operand.buffer, first),
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
    for (int64_t round = 0; round < operand.rounds; ++round)
      copies.push_back({&operand, round});
  Value steps = tile.getSteps(config.getTileK()), none = index.constant(0), firstStep = none;
  if (rank) {
    Value share = index.ceilDiv(steps, index.constant(config.getSplit()));
    firstStep = index.mul(rank, share);
    steps = index.min(steps, index.add(firstStep, share));
  }
  int64_t last = config.getStages() - 1;
  for (int64_t step = 0; step < last; ++step) {
    for (auto [operand, round] : copies)
      startCopy(*operand, round, index.add(firstStep, step), steps, index.constant(step));
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
      for (auto [operand, round] : left.take_front(now))
        startCopy(*operand, round, copied, steps, before);
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

/// Left to itself, ptxas keeps an address for each copy of unaligned rows: 228 registers, and one
/// block on a multiprocessor. No more are asked for than there is room for otherwise.
int64_t FMAEmitter::getFewestBlocks() {
  int64_t bytes = getElementBytes(contraction.accumulatorType), words = llvm::divideCeil(bytes, 4);
  if (!isCopied() || config.getThreadM() * config.getThreadN() * words > kFewSums)
    return 1;
  BlockNeeds needs;
  needs.threads = threads;
  needs.registers = kFewRegisters;
  needs.sharedBytes = getSharedBytes(toPlan(config), bytes);
  return std::max(1u, computeOccupancy(target, needs).blocks);
}

SmallVector<Value> FMAEmitter::sumLoaded(SmallVector<Value> sums) {
  for (const Operand &operand : operands)
    storeTile(operand, loadTile(operand, index.constant(0)), index.constant(0));
  frame.barrier();

  Value one = index.constant(1);
  Value steps = tile.getSteps(config.getTileK());
  return points.emitLoop(index.constant(0), steps, one, sums, [&](Value step, ValueRange carried) {
    Value next = index.add(step, one);
    SmallVector<Value> loaded = points.emitIfOrZeros(index.isLess(next, steps), [&] {
      SmallVector<Value> values;
      for (const Operand &operand : operands)
        llvm::append_range(values, loadTile(operand, index.mul(next, config.getTileK())));
      return values;
    });
    SmallVector<Value> result(carried);
    Value bufferNumber = index.rem(step, 2);
    for (int64_t k = 0; k < config.getTileK(); ++k)
      multiply(loadFragments(bufferNumber, k), result);
    ArrayRef<Value> values = loaded;
    for (const Operand &operand : operands) {
      storeTile(operand, values.take_front(operand.rounds), index.rem(next, 2));
      values = values.drop_front(operand.rounds);
    }
    frame.barrier();
    return result;
  });
}

void FMAEmitter::emitOutputs(Value number, Value sums) {
  int64_t group = getGroup(), columnGroups = config.getThreadN() / group,
          rowGroup = std::min<int64_t>(config.getThreadM(), 4);
  Value row = index.div(number, columnGroups), column = index.rem(number, columnGroups);
  // Known distances come last: they become offsets of addresses then.
  Value firstRow = index.add(tile.startM, index.mul(threadRow, rowGroup)),
        firstColumn = index.add(tile.startN, index.mul(threadColumn, group));
  Value rowOffset = index.add(
      index.mul(index.div(row, rowGroup), config.getTileM() / (config.getThreadM() / rowGroup)),
      index.rem(row, rowGroup));
  tile.emitOutputs(index.add(firstRow, rowOffset),
                   index.add(firstColumn, index.mul(column, config.getTileN() / columnGroups)),
                   sums);
}

void FMAEmitter::emitOutputs(ArrayRef<Value> sums) {
  if (rank)
    return shareOutputs(sums);
  int64_t group = getGroup();
  for (int64_t number = 0; number < static_cast<int64_t>(sums.size()) / group; ++number)
    emitOutputs(index.constant(number),
                fromLanes(points.builder, points.loc, sums.slice(number * group, group)));
}

/// Each block sends every other one the sums of that one's share; a warp's go to neighbours. They
/// are added up in the order of the blocks.
void FMAEmitter::shareOutputs(ArrayRef<Value> sums) {
  OpBuilder &builder = points.builder;
  Location loc = points.loc;
  int64_t share = static_cast<int64_t>(sums.size()) / config.getSplit(), group = getGroup();
  auto getPlace = [&](Value block, int64_t number) {
    return index.add(index.mul(index.add(index.mul(block, share), number), threads), thread);
  };
  tile::WaitBlocksOp::create(builder, loc);
  for (auto [number, sum] : llvm::enumerate(sums))
    tile::StoreInOp::create(builder, loc, sum, exchange, getPlace(rank, number % share),
                            index.constant(number / share));
  tile::ArriveBlocksOp::create(builder, loc);
  tile::WaitBlocksOp::create(builder, loc);
  for (int64_t vector = 0; vector < share / group; ++vector) {
    SmallVector<Value> totals;
    for (int64_t number = vector * group; number < (vector + 1) * group; ++number) {
      Value total;
      for (int64_t block = 0; block < config.getSplit(); ++block) {
        Value part =
            memref::LoadOp::create(builder, loc, exchange, getPlace(index.constant(block), number));
        if (!total)
          total = part;
        else if (isa<FloatType>(contraction.accumulatorType))
          total = arith::AddFOp::create(builder, loc, total, part);
        else
          total = arith::AddIOp::create(builder, loc, total, part);
      }
      totals.push_back(total);
    }
    emitOutputs(index.add(index.mul(rank, share / group), vector), fromLanes(builder, loc, totals));
  }
}

LogicalResult FMAEmitter::run() {
  frame.setFewestBlocks(getFewestBlocks());
  tile.placeAtBlock(config.getSplit());
  if (config.getSplit() > 1) {
    rank = index.rem(frame.getBlockId(), config.getSplit());
    tile::ArriveBlocksOp::create(points.builder, points.loc);
  }
  thread = frame.getThreadId();
  placeThread();
  operands.push_back(makeOperand(contraction.a, config.getTileM(), tile.startM));
  operands.push_back(makeOperand(contraction.b, config.getTileN(), tile.startN));
  // All of shared memory is known before what is left of it is filled up.
  if (rank)
    exchange =
        frame.allocateShared(contraction.accumulatorType, config.getTileM() * config.getTileN());
  frame.spreadBlocks(index.mul(tile.countTiles(), config.getSplit()));
  SmallVector<Value> sums(config.getThreadM() * config.getThreadN(),
                          points.zero(contraction.accumulatorType));
  emitOutputs(isCopied() ? sumCopied(sums) : sumLoaded(sums));
  return tile.finish(config.getSplit());
}

namespace {

struct EmitMatmulFMA final : impl::EmitMatmulFMABase<EmitMatmulFMA> {
  void getDependentDialects(DialectRegistry &registry) const override {
    EmitMatmulFMABase::getDependentDialects(registry);
    registry.insert<LLVM::LLVMDialect, NVVM::NVVMDialect, tile::TileDialect>();
  }

  void runOnOperation() override {
    auto config = getOperation()->getAttrOfType<MatmulFMAAttr>(plan::kConfigAttr);
    if (!config)
      return;
    FailureOr<KernelInfo> kernel = analyzeKernel(getOperation());
    if (failed(kernel))
      return signalPassFailure();
    FailureOr<Contraction> contraction = requireContraction(*kernel, config);
    if (failed(contraction))
      return signalPassFailure();
    if (config.getStages() > 2 &&
        !(kernel->target->hasAsyncCopy && contraction->hasCopiedFactors())) {
      getOperation().emitOpError("expected operands in memory that are multiplied as they are, and "
                                 "sm_80 or later for ")
          << config << ", got " << getElementTypeOrSelf(contraction->a.operand->get()) << " on "
          << kernel->target->arch;
      return signalPassFailure();
    }
    if (config.getSplit() > 1 && !kernel->target->hasClusters()) {
      getOperation().emitOpError("expected sm_90 or later for ")
          << config << ", got " << kernel->target->arch;
      return signalPassFailure();
    }
    if (failed(FMAEmitter(*kernel, *contraction, config).run()))
      signalPassFailure();
  }
};

} // namespace

} // namespace xc::cuda
