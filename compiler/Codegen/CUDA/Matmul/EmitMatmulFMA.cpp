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
// FMACopies.cpp says more of these copies.
//
// With `split` > 1 a cluster of blocks shares a tile: each does its part of the steps, sends its
// sums to the shared memory of the blocks that store them, and stores its own share of all.
//
// Both tiles lie in shared memory with k as the slow dim, so that a thread reads its rows of A and
// its columns of B by vectors. A thread's rows (and columns) come in groups of 4, the groups tile_m
// / (thread_m / 4) apart: neighbouring threads then read neighbouring vectors. Rows in shared
// memory are 4 elements longer than the tile, so that stores of a k-contiguous operand, which
// transpose it, fall into different banks; so do copies, of which a warp makes 4 rows by 8 k
// at a time.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Common/LaneOps.h"
#include "compiler/Codegen/CUDA/Common/Occupancy.h"
#include "compiler/Codegen/CUDA/Matmul/FMAEmitter.h"
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

static constexpr int64_t kCopyBytes = 16;
/// How the threads of a warp lie.
static constexpr int64_t kPatchRows = 4, kPatchColumns = 8;
/// As many registers of a thread as do for so many words of sums.
static constexpr int64_t kFewRegisters = 128, kFewSums = 64;

FMAEmitter::Operand FMAEmitter::makeOperand(const Contraction::Side &side, int64_t own,
                                            Value start) {
  Operand operand{side, own, start};
  int64_t elements = own * config.getTileK();
  Type elementType = getElementTypeOrSelf(side.operand->get());
  int64_t limit = std::min<int64_t>({kCopyBytes / getElementBytes(elementType), elements / threads,
                                     side.isKContiguous ? config.getTileK() : own});
  // A copy writes neighbours, which those along k are not in shared memory; of a vector, as
  // aligned as its length.
  if (isCopied() && (side.isKContiguous || side.getCopySource().getAlignment() < kCopyBytes))
    limit = 1;
  operand.width = tile.getVectorWidth(side, llvm::bit_floor<uint64_t>(limit));
  // Vectors that make up lines, and an equal number of them for each thread.
  while (elements % (threads * operand.width) != 0 ||
         (side.isKContiguous ? config.getTileK() : own) % operand.width != 0)
    operand.width /= 2;
  operand.iterations = elements / (threads * operand.width);
  operand.buffer = frame.allocateShared(
      contraction.accumulatorType, config.getStages() * config.getTileK() * getRowLength(operand));
  return operand;
}

std::pair<Value, Value> FMAEmitter::getPlace(const Operand &operand, int64_t iteration) {
  int64_t contiguous = operand.side.isKContiguous ? config.getTileK() : operand.own;
  int64_t perLine = contiguous / operand.width;
  Value number = index.add(thread, iteration * threads);
  Value line = index.div(number, perLine);
  Value along = index.mul(index.rem(number, perLine), operand.width);
  return operand.side.isKContiguous ? std::pair(line, along) : std::pair(along, line);
}

SmallVector<Value> FMAEmitter::loadTile(const Operand &operand, Value k) {
  SmallVector<Value> values;
  for (int64_t iteration = 0; iteration < operand.iterations; ++iteration) {
    auto [ownOffset, kOffset] = getPlace(operand, iteration);
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
  for (auto [iteration, value] : llvm::enumerate(values)) {
    auto [own, k] = getPlace(operand, iteration);
    Value position = index.add(base, index.add(index.mul(k, row), own));
    if (operand.width > 1 && !operand.side.isKContiguous) {
      int64_t bytes = operand.width * getElementBytes(contraction.accumulatorType);
      vector::StoreOp::create(builder, points.loc, value, operand.buffer, position,
                              /*nontemporal=*/false, llvm::MaybeAlign(std::min(kCopyBytes, bytes)));
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
        /*nontemporal=*/false, llvm::MaybeAlign(std::min(kCopyBytes, bytes))));
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
      storeTile(operand, values.take_front(operand.iterations), index.rem(next, 2));
      values = values.drop_front(operand.iterations);
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
  tile::ArriveBlocksOp::create(builder, loc, /*relaxed=*/false);
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
    tile::ArriveBlocksOp::create(points.builder, points.loc, /*relaxed=*/true);
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
