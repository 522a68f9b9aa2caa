//===- EmitMatmulFMA.cpp - Matrix products on ordinary arithmetic ---------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A block of (tile_m / thread_m) x (tile_n / thread_n) threads computes a tile of the product:
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
// Both tiles lie in shared memory with k as the slow dim, so that a thread reads its rows of A and
// its columns of B by vectors. A thread's rows (and columns) come in groups of 4, the groups tile_m
// / (thread_m / 4) apart: neighbouring threads then read neighbouring vectors. Rows in shared
// memory are 4 elements longer than the tile, so that stores of a k-contiguous operand, which turn
// it around, fall into different banks.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Emit/LaneOps.h"
#include "compiler/Codegen/CUDA/Emit/MatmulTile.h"
#include "compiler/Codegen/CUDA/IR/CUDAConfig.h"
#include "compiler/Codegen/CUDA/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/bit.h"

using namespace mlir;

namespace xc::cuda {

#define GEN_PASS_DEF_EMITMATMULFMA
#include "compiler/Codegen/CUDA/Passes.h.inc"

/// What lies between two lines in shared memory: elements, but a whole vector where they are small.
static constexpr int64_t kPadding = 4, kVectorBytes = 16;
/// How the threads of a warp lie.
static constexpr int64_t kPatchRows = 4, kPatchColumns = 8;

namespace {

class FMAEmitter {
public:
  FMAEmitter(const KernelInfo &kernel, const Contraction &contraction, MatmulFMAAttr config)
      : contraction(contraction), config(config), threads(getThreads(config)),
        frame(kernel, threads), points(frame.points), index(points.index),
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
  };
  Operand makeOperand(const Contraction::Side &side, int64_t own, Value start);
  void placeThread();
  /// Where in the tile vector `round` of this thread begins: along the own dim, and along k.
  std::pair<Value, Value> getPlace(const Operand &operand, int64_t round);
  SmallVector<Value> loadTile(const Operand &operand, Value k);
  void storeTile(const Operand &operand, ArrayRef<Value> values, Value bufferNumber);
  SmallVector<Value> loadFragment(const Operand &operand, Value bufferNumber, int64_t k,
                                  Value position, int64_t count);
  SmallVector<Value> multiply(Value bufferNumber, ArrayRef<Value> accumulators);

  int64_t getRowLength(const Operand &operand) const {
    return operand.own +
           std::max(kPadding, kVectorBytes / getElementBytes(contraction.accumulatorType));
  }

  const Contraction &contraction;
  MatmulFMAAttr config;
  int64_t threads;
  KernelFrame frame;
  PointEmitter &points;
  IndexBuilder &index;
  MatmulTile tile;
  Value thread, threadRow, threadColumn;
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
  operand.width = tile.getVectorWidth(side, llvm::bit_floor<uint64_t>(limit));
  // Vectors that make up lines, and an equal number of them for each thread.
  while (elements % (threads * operand.width) != 0 ||
         (side.isKContiguous ? config.getTileK() : own) % operand.width != 0)
    operand.width /= 2;
  operand.rounds = elements / (threads * operand.width);
  operand.buffer = frame.allocateShared(contraction.accumulatorType,
                                        2 * config.getTileK() * getRowLength(operand));
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

SmallVector<Value> FMAEmitter::multiply(Value bufferNumber, ArrayRef<Value> accumulators) {
  OpBuilder &builder = points.builder;
  Location loc = points.loc;
  SmallVector<Value> sums(accumulators);
  for (int64_t k = 0; k < config.getTileK(); ++k) {
    SmallVector<Value> rows =
        loadFragment(operands[0], bufferNumber, k, threadRow, config.getThreadM());
    SmallVector<Value> columns =
        loadFragment(operands[1], bufferNumber, k, threadColumn, config.getThreadN());
    int64_t group = countLanes(rows.front());
    for (int64_t i = 0; i < config.getThreadM(); ++i) {
      Value factor = getLane(builder, loc, rows[i / group], i % group);
      for (auto [j, column] : llvm::enumerate(columns)) {
        Value &sum = sums[i * columns.size() + j];
        Value splat = splatTo(builder, loc, factor, countLanes(column));
        if (isa<FloatType>(contraction.accumulatorType))
          sum = math::FmaOp::create(builder, loc, splat, column, sum);
        else
          sum = arith::AddIOp::create(builder, loc,
                                      arith::MulIOp::create(builder, loc, splat, column), sum);
      }
    }
  }
  return sums;
}

/// A warp's threads lie in as square a patch as there is: shared memory then serves a warp's
/// vectors of either operand in one cycle each, since few of them differ.
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
  threadRow =
      index.add(index.mul(index.div(patch, patches), kPatchRows), index.div(lane, kPatchColumns));
  threadColumn = index.add(index.mul(index.rem(patch, patches), kPatchColumns),
                           index.rem(lane, kPatchColumns));
}

LogicalResult FMAEmitter::run() {
  frame.setFewestBlocks(1);
  tile.placeAtBlock();
  thread = frame.getThreadId();
  placeThread();
  operands.push_back(makeOperand(contraction.a, config.getTileM(), tile.startM));
  operands.push_back(makeOperand(contraction.b, config.getTileN(), tile.startN));

  for (const Operand &operand : operands)
    storeTile(operand, loadTile(operand, index.constant(0)), index.constant(0));
  frame.barrier();

  int64_t group = std::min<int64_t>(config.getThreadN(), 4);
  auto vectorType = VectorType::get(group, contraction.accumulatorType);
  SmallVector<Value> sums(config.getThreadM() * config.getThreadN() / group,
                          points.zero(vectorType));
  Value one = index.constant(1);
  Value steps = tile.getSteps(config.getTileK());
  sums = points.emitLoop(index.constant(0), steps, one, sums, [&](Value step, ValueRange carried) {
    Value next = index.add(step, one);
    SmallVector<Value> loaded = points.emitIfOrZeros(index.isLess(next, steps), [&] {
      SmallVector<Value> values;
      for (const Operand &operand : operands)
        llvm::append_range(values, loadTile(operand, index.mul(next, config.getTileK())));
      return values;
    });
    SmallVector<Value> result = multiply(index.rem(step, 2), SmallVector<Value>(carried));
    ArrayRef<Value> values = loaded;
    for (const Operand &operand : operands) {
      storeTile(operand, values.take_front(operand.rounds), index.rem(next, 2));
      values = values.drop_front(operand.rounds);
    }
    frame.barrier();
    return result;
  });

  int64_t columnGroups = config.getThreadN() / group,
          rowGroup = std::min<int64_t>(config.getThreadM(), 4);
  for (int64_t i = 0; i < config.getThreadM(); ++i)
    for (int64_t j = 0; j < columnGroups; ++j) {
      int64_t rowOffset =
          i / rowGroup * (config.getTileM() / (config.getThreadM() / rowGroup)) + i % rowGroup;
      Value row = index.add(tile.startM, index.add(index.mul(threadRow, rowGroup), rowOffset));
      Value column = index.add(tile.startN, index.add(index.mul(threadColumn, group),
                                                      j * (config.getTileN() / columnGroups)));
      tile.emitOutputs(row, column, sums[i * columnGroups + j]);
    }
  return tile.finish();
}

namespace {

struct EmitMatmulFMA final : impl::EmitMatmulFMABase<EmitMatmulFMA> {
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
    if (failed(FMAEmitter(*kernel, *contraction, config).run()))
      signalPassFailure();
  }
};

} // namespace

} // namespace xc::cuda
