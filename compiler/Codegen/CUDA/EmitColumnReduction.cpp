//===- EmitColumnReduction.cpp - Columns reduced by many threads ----------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Emit/LaneOps.h"
#include "compiler/Codegen/CUDA/Emit/ReductionEmitter.h"
#include "compiler/Codegen/CUDA/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace xc::cuda {

#define GEN_PASS_DEF_EMITCOLUMNREDUCTION
#include "compiler/Codegen/CUDA/Passes.h.inc"

/// A thread has this many loads of one input in flight where it walks down a column, and more of
/// narrow ones that so many divide its way: up to that many bytes.
static constexpr int64_t kLoopUnroll = 4, kMostLoopUnroll = 16, kLoopBytes = 32;

/// Bytes of shared memory that a thread accesses at once.
static constexpr int64_t kVectorBytes = 16;

namespace {

class ColumnEmitter final : public ReductionEmitter {
public:
  ColumnEmitter(const KernelInfo &kernel, const ReductionGroup &group, ColumnReductionAttr config)
      : ReductionEmitter(kernel, group, config.getThreads() * config.getRows(), config.getVector()),
        config(config), parts(std::max<int64_t>(1, group.parts)) {}

  LogicalResult run();

protected:
  SmallVector<Value> visitShare(ValueRange inits, Visitor body) override;
  MemberValues combineThreads(Members members, MemberValues partials) override;
  Place getReducedPlace() override {
    return makePlace(makeCoord(column, /*consecutive=*/true), Coord::uniform(part), columnMask);
  }
  int64_t getReducedLanes() override { return lanes; }
  Value isStoringThread() override {
    return config.getRows() == 1 ? Value() : index.isEqual(down, index.constant(0));
  }

private:
  int64_t getUnroll() const;

  ColumnReductionAttr config;
  // Of several parts that take turns, the one of this block, and their number.
  Value part;
  int64_t parts;
  Value column, columnMask, across, down, count;
};

} // namespace

int64_t ColumnEmitter::getUnroll() const {
  std::optional<int64_t> length = getConstantIntValue(count);
  int64_t bytes = 0;
  for (const ReductionGroup::Input &input : group.inputs)
    bytes += lanes * getElementBytes(input.getMemoryType().getElementType());
  int64_t unroll = kLoopUnroll;
  while (length && bytes > 0 && unroll < kMostLoopUnroll && unroll * 2 * bytes <= kLoopBytes &&
         *length % (parts * config.getRows() * unroll * 2) == 0)
    unroll *= 2;
  return unroll;
}

SmallVector<Value> ColumnEmitter::visitShare(ValueRange inits, Visitor body) {
  Value first = parts == 1 ? down : index.add(part, index.mul(down, parts));
  return visitByLoops(first, count, parts * config.getRows(), getUnroll(), inits,
                      [&](Value position, ValueRange carried) {
                        return body(makePlace(makeCoord(column, /*consecutive=*/true),
                                              Coord::uniform(position), columnMask),
                                    carried);
                      });
}

ColumnEmitter::MemberValues ColumnEmitter::combineThreads(Members members, MemberValues partials) {
  if (config.getRows() == 1)
    return partials;
  OpBuilder &builder = points.builder;
  Location loc = points.loc;
  int64_t width = config.getThreads() * lanes;
  MemberValues buffers(members.size());
  for (auto [partial, own] : llvm::zip_equal(partials, buffers))
    for (Value value : partial)
      own.push_back(frame.allocateShared(getElementTypeOrSelf(value), config.getRows() * width));
  // What a thread accesses at once lies beside what its neighbours do: further pieces of a thread's
  // own would put every other one of them at the same banks.
  auto getPiece = [&](Value buffer) {
    return std::min(lanes, kVectorBytes / getElementBytes(getElementTypeOrSelf(buffer.getType())));
  };
  auto getPlace = [&](Value rowOfThreads, int64_t lane, int64_t piece) {
    Value first = index.add(index.mul(rowOfThreads, width), index.mul(across, piece));
    return index.add(first, lane * config.getThreads());
  };
  auto store = [&](size_t member, ValueRange values) {
    for (auto [value, buffer] : llvm::zip_equal(values, buffers[member])) {
      int64_t piece = getPiece(buffer);
      for (int64_t lane = 0; lane < lanes; lane += piece) {
        SmallVector<Value> own;
        for (int64_t i = lane; i < lane + piece; ++i)
          own.push_back(getLane(builder, loc, value, i));
        storeShared(buffer, getPlace(down, lane, piece),
                    piece == lanes ? value : fromLanes(builder, loc, own));
      }
    }
  };
  auto load = [&](size_t member, Value rowOfThreads) {
    SmallVector<Value> values;
    for (auto [value, buffer] : llvm::zip_equal(partials[member], buffers[member])) {
      int64_t piece = getPiece(buffer);
      Type element = getElementTypeOrSelf(value);
      Type type = piece == 1 ? element : VectorType::get(piece, element);
      SmallVector<Value> own;
      for (int64_t lane = 0; lane < lanes; lane += piece) {
        Value part = loadShared(buffer, getPlace(rowOfThreads, lane, piece), type);
        for (int64_t i = 0; piece < lanes && i < piece; ++i)
          own.push_back(getLane(builder, loc, part, i));
        if (piece == lanes)
          values.push_back(part);
      }
      if (piece < lanes)
        values.push_back(fromLanes(builder, loc, own));
    }
    return values;
  };
  // The upper half of the rows of threads leaves its results, the lower half takes them over, and
  // so on.
  for (auto [member, partial] : llvm::enumerate(partials))
    store(member, partial);
  for (int64_t half = config.getRows() / 2; half > 0; half /= 2) {
    frame.barrier();
    points.emitIf(index.isLess(down, index.constant(half)), [&] {
      for (size_t member = 0; member < members.size(); ++member)
        store(member,
              members[member].combiner.combine(points.builder, points.loc, load(member, down),
                                               load(member, index.add(down, half))));
    });
  }
  frame.barrier();
  MemberValues totals;
  for (size_t member = 0; member < members.size(); ++member)
    totals.push_back(load(member, index.constant(0)));
  return totals;
}

LogicalResult ColumnEmitter::run() {
  Value columns = index.product(parallelSizes);
  count = index.product(reductionSizes);
  int64_t perBlock = config.getThreads() * lanes;
  Value thread = frame.getThreadId();
  across = index.rem(thread, config.getThreads());
  down = config.getRows() == 1 ? index.constant(0) : index.div(thread, config.getThreads());
  Value blocks = index.ceilDiv(columns, index.constant(perBlock)), block = frame.getBlockId();
  part = parts == 1 ? index.constant(0) : index.div(block, blocks);
  Value group = parts == 1 ? block : index.rem(block, blocks);
  column = index.add(index.mul(group, perBlock), index.mul(across, lanes));
  std::optional<int64_t> number = getConstantIntValue(columns);
  if (!number || *number % perBlock != 0) {
    // Threads beyond the last column repeat its vector, and store nothing: that spares a branch at
    // each load.
    columnMask = index.isLess(column, columns);
    column = index.min(column, index.sub(columns, index.constant(lanes)));
  }
  emitMembers();
  emitResults();
  return frame.finish(index.mul(blocks, parts));
}

namespace {

struct EmitColumnReduction final : impl::EmitColumnReductionBase<EmitColumnReduction> {
  void runOnOperation() override {
    if (failed(emitReduction<ColumnEmitter, ColumnReductionAttr>(getOperation())))
      signalPassFailure();
  }
};

} // namespace

} // namespace xc::cuda
