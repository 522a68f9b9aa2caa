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
// Squares of distances from what the sum of the same elements gives need no second visit: a thread
// adds up distances from means of its own (Moments.h), and moves them once the sum is known.
//
// ReductionEmitter, the base class, drives the loop over the reductions of a kernel, as it does for
// rows (EmitRowReduction.cpp). Other kernels are left alone.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Columns/Moments.h"
#include "compiler/Codegen/CUDA/Common/LaneOps.h"
#include "compiler/Codegen/CUDA/Common/ReductionEmitter.h"
#include "compiler/Codegen/CUDA/Common/SplitDependentReductions.h"
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

/// Elements of a column that a thread adds up by a mean of their own, at most, and their bytes: so
/// many loads are under way.
static constexpr int64_t kMostTogether = 8, kTogetherBytes = 128;

/// Blocks of this many threads are at least so many to a multiprocessor where elements are held
/// narrow, or are loaded many at a time: some load while others bring their sums together.
static constexpr int64_t kManyThreads = 256, kFewestBlocks = 3, kWideBytes = 4;

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
  bool emitDependent(const ReductionGroup::Member &first,
                     const ReductionGroup::Member &second) override;
  Place getReducedPlace() override {
    return makePlace(makeCoord(column, /*consecutive=*/true), Coord::uniform(part), columnMask);
  }
  int64_t getReducedLanes() override { return lanes; }
  Value isStoringThread() override {
    return config.getRows() == 1 ? Value() : index.isEqual(down, index.constant(0));
  }

private:
  int64_t countBytes() const;
  int64_t getUnroll() const;
  int64_t countTogether() const;
  std::optional<int64_t> countOwn() const;
  Moments visitMoments(const ReductionGroup::Member &sum);
  Value emitCenter(const ReductionGroup::Member &second, const DependentPair::Shift &shift);
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

/// Bytes of all inputs at one place of a thread.
int64_t ColumnEmitter::countBytes() const {
  int64_t bytes = 0;
  for (const ReductionGroup::Input &input : group.inputs)
    bytes += lanes * getElementBytes(input.getMemoryType().getElementType());
  return bytes;
}

int64_t ColumnEmitter::getUnroll() const {
  std::optional<int64_t> length = getConstantIntValue(count);
  int64_t bytes = countBytes();
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
  bool areNarrow = llvm::all_of(group.inputs, [](const ReductionGroup::Input &input) {
    return getElementBytes(getElementTypeOrSelf(input.tensor)) < kWideBytes;
  });
  if (areNarrow && config.getThreads() * config.getRows() == kManyThreads)
    frame.setFewestBlocks(kFewestBlocks);
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

int64_t ColumnEmitter::countTogether() const {
  int64_t bytes = std::max<int64_t>(1, countBytes());
  return std::clamp<int64_t>(kTogetherBytes / bytes, 1, kMostTogether);
}

/// The elements of each thread's share, where all have as many.
std::optional<int64_t> ColumnEmitter::countOwn() const {
  std::optional<int64_t> length = getConstantIntValue(count);
  int64_t shares = parts * config.getRows();
  if (!length || *length % shares != 0 || *length == 0)
    return std::nullopt;
  return *length / shares;
}

/// The moments of this thread's share of what `sum` adds up, some elements at a time.
Moments ColumnEmitter::visitMoments(const ReductionGroup::Member &sum) {
  OpBuilder &builder = points.builder;
  Location loc = points.loc;
  auto getMoments = [&](ArrayRef<Place> places) {
    return makeMoments(builder, loc, llvm::map_to_vector(places, [&](const Place &place) {
                         return CountedElement{emitLeaves(sum, place).front(), place.mask};
                       }));
  };
  if (!held.empty())
    return getMoments(held);
  int64_t step = parts * config.getRows(), together = countTogether(), wide = step * together;
  auto join = [&](ValueRange carried, Value position, bool isRest) -> SmallVector<Value> {
    SmallVector<Place> places;
    for (int64_t i = 0; i < together; ++i) {
      Value own = index.add(position, i * step), mask = columnMask;
      if (isRest) {
        // Behind the end, the last element is repeated, and counts for nothing.
        mask = index.both(mask, index.isLess(own, count));
        own = index.min(own, index.sub(count, index.constant(1)));
      }
      places.push_back(makeElement(own, mask));
    }
    Moments all{carried[0], carried[1], carried[2]};
    Moments joined = joinMoments(builder, loc, all, getMoments(places));
    return {joined.count, joined.sum, joined.squares};
  };
  Type element = getElementTypeOrSelf(sum.combiner.getOp()->getResult(0).getType());
  Moments none =
      makeNoMoments(builder, loc, splatTo(builder, loc, points.zero(element), lanes).getType());
  Value first = parts == 1 ? down : index.add(part, index.mul(down, parts));
  Value lastStart = index.sub(count, index.constant(wide - step));
  SmallVector<Value> carried = points.emitLoop(
      first, lastStart, index.constant(wide), {none.count, none.sum, none.squares},
      [&](Value position, ValueRange values) { return join(values, position, /*isRest=*/false); });
  if (std::optional<int64_t> own = countOwn(); !own || *own % together != 0) {
    Value distance = index.max(index.sub(lastStart, first), index.constant(0));
    Value rest = index.add(first, index.mul(index.ceilDiv(distance, index.constant(wide)), wide));
    carried = points.emitIfOrKeep(index.isLess(rest, count), carried,
                                  [&] { return join(carried, rest, /*isRest=*/true); });
  }
  return {carried[0], carried[1], carried[2]};
}

/// What `second` adds up distances from, once that is known.
Value ColumnEmitter::emitCenter(const ReductionGroup::Member &second,
                                const DependentPair::Shift &shift) {
  linalg::LinalgOp op = second.combiner.getOp();
  Place place = getOwnReducedPlace();
  SmallVector<Coord> loops = llvm::map_to_vector(
      second.loops, [&](AffineExpr expr) { return points.apply(expr, place.coords, lanes); });
  IRMapping mapping;
  for (OpOperand *input : shift.inputs) {
    Point point{{}, {}, lanes, place.loadMask};
    for (AffineExpr expr : op.getMatchingIndexingMap(input).getResults())
      point.coords.push_back(points.apply(expr, loops, lanes));
    if (point.coords.empty())
      point.flat = Coord::uniform(index.constant(0));
    mapping.map(op.getMatchingBlockArgument(input), points.emit(input->get(), point));
  }
  for (Operation *step : shift.steps)
    cloneOnLanes(points.builder, step, mapping);
  Value center = mapping.lookupOrDefault(Value(arith::SubFOp(shift.distance).getRhs()));
  return splatTo(points.builder, points.loc, center, lanes);
}

bool ColumnEmitter::emitDependent(const ReductionGroup::Member &first,
                                  const ReductionGroup::Member &second) {
  auto op = dyn_cast<linalg::GenericOp>(second.combiner.getOp().getOperation());
  std::optional<DependentPair> pair = op ? findDependentPair(op) : std::nullopt;
  if (!pair || pair->first != first.combiner.getOp() ||
      pair->shift.form != DependentPair::Shift::Form::Square)
    return false;
  if (held.empty() && config.getThreads() * config.getRows() == kManyThreads)
    frame.setFewestBlocks(kFewestBlocks);
  Moments moments = visitMoments(first);
  finishMember(first, moments.sum);
  Value center = emitCenter(second, pair->shift);
  finishMember(second, makeSquaresAbout(points.builder, points.loc, moments, center, countOwn()));
  return true;
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
