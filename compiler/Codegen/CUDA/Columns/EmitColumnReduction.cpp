//===- EmitColumnReduction.cpp - Columns reduced by many threads ----------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A thread owns a vector of neighbouring columns and loops down the rows that are its own; rows of
// threads share the columns of a block. Each thread combines its rows in registers. Then rows of
// threads combine through shared memory, a few at a time and in a fixed order.
//
// ReductionEmitter, the base class, drives the loop over the reductions of a kernel, as it does for
// rows (EmitRowReduction.cpp). Other kernels are left alone.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Common/LaneOps.h"
#include "compiler/Codegen/CUDA/Common/ReductionEmitter.h"
#include "compiler/Codegen/CUDA/Passes.h"

#include "compiler/Codegen/CUDA/Common/CombineResults.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace xc::cuda {

#define GEN_PASS_DEF_EMITCOLUMNREDUCTION
#include "compiler/Codegen/CUDA/Passes.h.inc"

/// A thread has this many loads of one input in flight where it loops down a column, and more of
/// narrow ones that so many divide its way: up to that many bytes; twice as many in tall blocks of
/// threads that have registers for them.
static constexpr int64_t kLoopUnroll = 4, kMostLoopUnroll = 16, kLoopBytes = 32, kTallRows = 16,
                         kFewThreads = 512;

/// Rows of threads whose results one of them combines at a time, at most, and the elements that it
/// has registers for, in blocks of few threads and others. More would be fewer meetings of the
/// block.
static constexpr int64_t kFanIn = 8, kFanElements = 32, kFanElementsOfMany = 16;

/// Bytes of shared memory that a thread accesses at once.
static constexpr int64_t kAccessBytes = 16;

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
  /// The place of this thread's column at `position` of the reduced elements.
  Place makeElement(Value position, Value mask) {
    return makePlace(makeCoord(column, /*consecutive=*/true), Coord::uniform(position), mask);
  }
  void holdShare();

  ColumnReductionAttr config;
  // Of partial sums over interleaved rows, the one of this block, and their number.
  Value part;
  int64_t parts;
  Value column, columnMask, across, down, count;
  SmallVector<Place> held; // places of this thread's share, where registers hold it
};

} // namespace

int64_t ColumnEmitter::getUnroll() const {
  std::optional<int64_t> length = getConstantIntValue(count);
  int64_t bytes = 0;
  for (const ReductionGroup::Input &input : group.inputs)
    bytes += lanes * getElementBytes(input.getMemoryType().getElementType());
  bool isTall =
      config.getRows() >= kTallRows && config.getThreads() * config.getRows() <= kFewThreads;
  int64_t unroll = kLoopUnroll, most = isTall ? 2 * kLoopBytes : kLoopBytes;
  while (length && bytes > 0 && unroll < kMostLoopUnroll && unroll * 2 * bytes <= most &&
         *length % (parts * config.getRows() * unroll * 2) == 0)
    unroll *= 2;
  return unroll;
}

/// Loads all of this thread's share at once. A barrier may let in what other threads wrote, so what
/// is loaded before it would not be known behind it.
void ColumnEmitter::holdShare() {
  Value last = index.sub(count, index.constant(1));
  int64_t step = parts * config.getRows();
  Value first = index.add(part, index.mul(down, parts));
  for (int64_t i = 0; i < config.getHeld(); ++i) {
    Value position = index.add(first, i * step), mask = columnMask;
    if (std::optional<int64_t> length = getConstantIntValue(count);
        !length || (i + 1) * step > *length) {
      // Behind the end, the last element is repeated, and counts for nothing.
      mask = index.both(mask, index.isLess(position, count));
      position = index.min(position, last);
    }
    held.push_back(makeElement(position, mask));
  }
  for (const ReductionGroup::Input &input : group.inputs) {
    SmallVector<Value> values =
        llvm::map_to_vector(held, [&](const Place &place) { return loadElements(input, place); });
    provideInput(input, held,
                 [values = std::move(values)](size_t number) { return values[number]; });
  }
  // Narrow elements are held wide, and ptxas leaves room for two blocks then. With a third one some
  // load while others bring their sums together; elements are widened twice for it.
  constexpr int64_t manyThreads = 256, fewestBlocks = 3, wideBytes = 4;
  bool areNarrow = llvm::all_of(group.inputs, [](const ReductionGroup::Input &input) {
    return getElementBytes(getElementTypeOrSelf(input.tensor)) < wideBytes;
  });
  if (areNarrow && config.getThreads() * config.getRows() == manyThreads)
    frame.setFewestBlocks(fewestBlocks);
}

SmallVector<Value> ColumnEmitter::visitShare(ValueRange inits, Visitor body) {
  if (!held.empty()) {
    SmallVector<Value> carried(inits);
    for (const Place &place : held)
      carried = body(place, carried);
    return carried;
  }
  Value first = parts == 1 ? down : index.add(part, index.mul(down, parts));
  return visitByLoops(first, count, parts * config.getRows(), getUnroll(), inits,
                      [&](Value position, ValueRange carried) {
                        return body(makeElement(position, columnMask), carried);
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
    return std::min(lanes, kAccessBytes / getElementBytes(getElementTypeOrSelf(buffer.getType())));
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
  // All rows of threads leave their results; the first few of them take over those of several each,
  // and so on.
  for (auto [member, partial] : llvm::enumerate(partials))
    store(member, partial);
  bool hasFew = config.getThreads() * config.getRows() <= kFewThreads;
  int64_t fanIn =
      std::clamp<int64_t>((hasFew ? kFanElements : kFanElementsOfMany) / lanes, 2, kFanIn);
  for (int64_t left = config.getRows(), next; left > 1; left = next) {
    next = left / std::min(left, fanIn);
    frame.barrier();
    points.emitIf(index.isLess(down, index.constant(next)), [&] {
      for (auto [number, member] : llvm::enumerate(members)) {
        SmallVector<Value> values = load(number, down);
        for (int64_t other = next; other < left; other += next)
          values = combineResults(points.builder, points.loc, member.combiner, values,
                                  load(number, index.add(down, other)));
        store(number, values);
      }
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
  if (int64_t most = config.getHeld() * config.getRows() * parts; most > 0)
    if (std::optional<int64_t> length = getConstantIntValue(count); !length || *length > most)
      return group.getRoot().emitOpError("expected columns of at most ")
             << most << " elements for " << config << ", got "
             << (length ? std::to_string(*length) : "a symbolic number");
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
  if (config.getHeld() > 0)
    holdShare();
  // Each part has a block or few: registers for rows of any number are worth more than others.
  if (parts > 1 && !getConstantIntValue(count))
    frame.setFewestBlocks(1);
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
