//===- EmitSelect.cpp - The first elements of the order, without a sort ---===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A block goes through a line in pieces that its threads hold in registers. The elements of a piece
// form groups. Of the groups' first elements, the k-th in order is a limit: k elements come up to
// it, so none behind it is among the k first of the piece. Groups that begin behind the limit have
// none before it, so that at most k groups have; of random elements, some more than k come through.
// Those, and what earlier pieces left, are candidates. Which place a candidate gets follows from
// counting those before it, or, where many came through, from sorting them.
//
// Entries are pairs of key and position, of which no two are equal, so all that is exact, and the
// result that of a stable sort.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/IR/CUDAConfig.h"
#include "compiler/Codegen/CUDA/Passes.h"
#include "compiler/Codegen/CUDA/Sort/SortEntries.h"
#include "compiler/Codegen/CUDA/Sort/SortFrame.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace xc::cuda {

#define GEN_PASS_DEF_EMITSELECT
#include "compiler/Codegen/CUDA/Passes.h.inc"

static constexpr int64_t kLanes = 32;

namespace {

class SelectEmitter final : SortFrame {
public:
  SelectEmitter(const KernelInfo &kernel, const LineKernel &lines, SelectAttr config)
      : SortFrame(kernel, lines, config.getThreads()), config(config), threads(config.getThreads()),
        piece(threads * config.getItems()), keep(op.getKeep()), isOnePiece(hasOnePiece()),
        thread(frame.getThreadId()), entries(frame, elementType, /*positionBits=*/31),
        candidates(entries, frame, countPlaces(), std::min(threads, countPlaces() / 2), thread, 1,
                   index.constant(0)) {}

  LogicalResult run();

private:
  using Entry = EntryBuilder::Entry;
  /// What a thread holds of a piece.
  struct Held {
    SmallVector<Value> keys, positions;
  };

  bool hasOnePiece() {
    std::optional<int64_t> most = getConstantIntValue(shape.segment);
    return most && *most <= piece;
  }
  /// Candidates of a piece, at most, and those of the pieces before it.
  int64_t countPlaces() {
    int64_t most = keep * (piece / config.getGroups()) + (isOnePiece ? 0 : keep);
    return llvm::PowerOf2Ceil(std::max<int64_t>(most, 2));
  }

  Held loadPiece(Value from);
  Entry getFirst(const Held &held);
  void storeGroups(Entry first);
  /// How many of `count` entries come before `mine`; `load` fetches one.
  Value countBefore(const Entry &mine, Value count, int64_t unroll,
                    function_ref<Entry(Value)> load);
  void storeLimit();
  Entry loadLimit();
  Value appendCandidates(const Held &held, const Entry &limit);
  std::pair<Value, Value> countUpTo(Value own);
  void keepFirst(Value count);
  void selectFrom(Value from);
  void clearKept();
  void storeSelected();

  SelectAttr config;
  int64_t threads, piece, keep;
  bool isOnePiece;
  Value thread;
  EntryBuilder entries;
  TileSorter candidates;
  EntryBuilder::Buffers groups, limits, kept;
  Value warpCounts;
  SortLine line;
};

} // namespace

SelectEmitter::Held SelectEmitter::loadPiece(Value from) {
  int64_t vector = config.getVector();
  SmallVector<Value> places;
  Value first = index.add(from, index.mul(thread, vector));
  for (int64_t number = 0; number < config.getItems(); number += vector)
    places.push_back(index.add(first, number * threads));
  std::optional<int64_t> length = getConstantIntValue(shape.length),
                         segment = getConstantIntValue(shape.segment);
  bool isWhole = length && segment && *length % *segment == 0 && *segment % piece == 0;
  Held held{loadKeys(line, places, vector, isWhole), {}};
  for (auto [number, key] : llvm::enumerate(held.keys)) {
    Value position = index.add(places[number / vector], number % vector);
    held.positions.push_back(toWord(position));
    // What is behind the end has a position that no element has.
    if (!isWhole)
      key = arith::SelectOp::create(builder, loc, index.isLess(position, line.length), key,
                                    entries.getLastKey());
  }
  return held;
}

/// The first in order of what the thread holds.
SelectEmitter::Entry SelectEmitter::getFirst(const Held &held) {
  Value key = held.keys.front(), position = held.positions.front();
  // Positions ascend, so of equal keys the first one stays.
  for (size_t number = 1; number < held.keys.size(); ++number) {
    Value isLess =
        arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, held.keys[number], key);
    key = arith::SelectOp::create(builder, loc, isLess, held.keys[number], key);
    position = arith::SelectOp::create(builder, loc, isLess, held.positions[number], position);
  }
  return entries.make(key, position);
}

/// Neighbouring threads make a group.
void SelectEmitter::storeGroups(Entry first) {
  int64_t members = threads / config.getGroups();
  for (int64_t mask = members / 2; mask >= 1; mask /= 2)
    first = entries.first(first, entries.shuffleXor(first, mask));
  Value isLeader = index.isEqual(index.rem(thread, members), index.constant(0));
  points.emitIf(isLeader, [&] { entries.store(first, groups, index.div(thread, members)); });
}

Value SelectEmitter::countBefore(const Entry &mine, Value count, int64_t unroll,
                                 function_ref<Entry(Value)> load) {
  Type word = builder.getI32Type();
  Value none = points.constant(builder.getI32IntegerAttr(0));
  return points.emitLoop(index.constant(0), count, index.constant(unroll), {none},
                         [&](Value number, ValueRange sum) -> SmallVector<Value> {
                           Value total = sum.front();
                           for (int64_t step = 0; step < unroll; ++step) {
                             Value isBefore = entries.isBefore(load(index.add(number, step)), mine);
                             total = arith::AddIOp::create(
                                 builder, loc, total,
                                 arith::ExtUIOp::create(builder, loc, word, isBefore).getResult());
                           }
                           return {total};
                         })[0];
}

/// Finds the k-th of the groups' first elements.
void SelectEmitter::storeLimit() {
  Value count = index.constant(config.getGroups());
  points.emitIf(index.isLess(thread, count), [&] {
    Entry mine = entries.load(groups, thread);
    Value before = countBefore(mine, count, /*unroll=*/8,
                               [&](Value number) { return entries.load(groups, number); });
    Value last = points.constant(builder.getI32IntegerAttr(keep - 1));
    Value isLimit = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, before, last);
    points.emitIf(isLimit, [&] { entries.store(mine, limits, index.constant(0)); });
  });
}

SelectEmitter::Entry SelectEmitter::loadLimit() {
  Entry limit = entries.load(limits, index.constant(0));
  if (isOnePiece)
    return limit;
  return entries.first(limit, entries.load(kept, index.constant(keep - 1)));
}

/// The sum of what the threads up to this one have, and of what all have.
std::pair<Value, Value> SelectEmitter::countUpTo(Value own) {
  Value lane = toWord(index.rem(thread, kLanes)), sum = own;
  Value none = points.constant(builder.getI32IntegerAttr(0));
  for (int64_t distance = 1; distance < kLanes; distance *= 2) {
    Value before = frame.shuffleUp(sum, distance);
    Value isThere = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::uge, lane,
                                          points.constant(builder.getI32IntegerAttr(distance)));
    Value added = arith::SelectOp::create(builder, loc, isThere, before, none);
    sum = arith::AddIOp::create(builder, loc, sum, added);
  }
  Value warp = index.div(thread, kLanes);
  points.emitIf(index.isEqual(index.rem(thread, kLanes), index.constant(kLanes - 1)),
                [&] { memref::StoreOp::create(builder, loc, sum, warpCounts, warp); });
  frame.barrier();
  Value all = none, before = none;
  for (int64_t number = 0; number < threads / kLanes; ++number) {
    Value place = index.constant(number);
    Value count = memref::LoadOp::create(builder, loc, warpCounts, place);
    Value isBefore = index.isLess(place, warp);
    Value added = arith::SelectOp::create(builder, loc, isBefore, count, none);
    before = arith::AddIOp::create(builder, loc, before, added);
    all = arith::AddIOp::create(builder, loc, all, count);
  }
  return {arith::AddIOp::create(builder, loc, before, sum), all};
}

/// Stores what comes up to the limit; returns the number of candidates.
Value SelectEmitter::appendCandidates(const Held &held, const Entry &limit) {
  Type word = builder.getI32Type();
  Value own = points.constant(builder.getI32IntegerAttr(0));
  SmallVector<Value> taken;
  for (auto [key, position] : llvm::zip_equal(held.keys, held.positions)) {
    Value isBehind = entries.isBefore(limit, entries.make(key, position));
    Value yes = points.constant(builder.getBoolAttr(true));
    taken.push_back(arith::XOrIOp::create(builder, loc, isBehind, yes));
    own = arith::AddIOp::create(builder, loc, own,
                                arith::ExtUIOp::create(builder, loc, word, taken.back()));
  }
  auto [end, all] = countUpTo(own);
  Value first = index.constant(isOnePiece ? 0 : keep);
  Value place = index.add(first, toIndex(arith::SubIOp::create(builder, loc, end, own)));
  Value isAny = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, own,
                                      points.constant(builder.getI32IntegerAttr(0)));
  points.emitIf(isAny, [&] {
    Value next = place;
    for (size_t number = 0; number < taken.size(); ++number) {
      points.emitIf(taken[number], [&] {
        candidates.store(entries.make(held.keys[number], held.positions[number]), next);
      });
      next = arith::SelectOp::create(builder, loc, taken[number], index.add(next, 1), next);
    }
  });
  return index.add(first, toIndex(all));
}

/// Brings the first of `count` candidates to `kept`, in order.
void SelectEmitter::keepFirst(Value count) {
  Value most = index.constant(threads), wanted = index.constant(keep);
  Value isMany = index.isLess(most, count), isFew = index.isAtLeast(most, count);
  points.emitIf(isFew, [&] {
    points.emitIf(index.isLess(thread, count), [&] {
      Entry mine = candidates.load(thread);
      Value rank = toIndex(countBefore(mine, count, /*unroll=*/1,
                                       [&](Value number) { return candidates.load(number); }));
      points.emitIf(index.isLess(rank, wanted), [&] { entries.store(mine, kept, rank); });
    });
  });
  if (countPlaces() <= threads)
    return;
  points.emitIf(isMany, [&] {
    Value places = index.constant(countPlaces());
    loop(index.add(count, thread), places, threads, [&](Value place) {
      Value position = arith::SubIOp::create(
          builder, loc, points.constant(builder.getI32IntegerAttr(INT32_MAX)), toWord(place));
      candidates.store(entries.make(entries.getLastKey(), position), place);
    });
    frame.barrier();
    candidates.sort();
    points.emitIf(index.isLess(thread, wanted),
                  [&] { entries.store(candidates.load(thread), kept, thread); });
  });
}

/// What the piece from `from` on and those before it have to offer.
void SelectEmitter::selectFrom(Value from) {
  Held held = loadPiece(from);
  storeGroups(getFirst(held));
  if (!isOnePiece)
    points.emitIf(index.isLess(thread, index.constant(keep)),
                  [&] { candidates.store(entries.load(kept, thread), thread); });
  frame.barrier();
  storeLimit();
  frame.barrier();
  Value count = appendCandidates(held, loadLimit());
  frame.barrier();
  keepFirst(count);
  frame.barrier();
}

/// Before the first piece, nothing is kept: entries behind all others. Each is the candidate of the
/// thread that puts it down, and others read it only when threads have met.
void SelectEmitter::clearKept() {
  points.emitIf(index.isLess(thread, index.constant(keep)), [&] {
    Value position = arith::SubIOp::create(
        builder, loc, points.constant(builder.getI32IntegerAttr(INT32_MAX)), toWord(thread));
    entries.store(entries.make(entries.getLastKey(), position), kept, thread);
  });
}

void SelectEmitter::storeSelected() {
  auto storeKept = [&] {
    loop(thread, index.constant(keep), threads, [&](Value place) {
      storeResults(line, place, entries.getPosition(entries.load(kept, place)));
    });
  };
  if (op.getSegment() == 0)
    return storeKept();
  // A shorter segment keeps all that it has, as it comes.
  points.emitIf(index.isLess(line.length, shape.segment), [&] {
    SmallVector<Value> places, positions;
    int64_t segment = op.getSegment();
    for (int64_t first = 0; first < segment; first += threads) {
      places.push_back(index.add(thread, first));
      positions.push_back(toWord(places.back()));
    }
    storeResults(line, places, positions);
  });
  points.emitIf(index.isAtLeast(line.length, shape.segment), storeKept);
}

LogicalResult SelectEmitter::run() {
  int64_t groupCount = config.getGroups();
  if (keep < 1 || keep > groupCount)
    return op.emitOpError("expected 1 to ")
           << groupCount << " elements to be kept for " << config << ", got " << keep;
  groups = entries.allocate(groupCount);
  limits = entries.allocate(1);
  kept = entries.allocate(keep);
  warpCounts = frame.allocateShared(builder.getI32Type(), threads / kLanes);
  line = getLine(frame.getBlockId());
  Value zero = index.constant(0);
  if (isOnePiece) {
    selectFrom(zero);
  } else {
    clearKept();
    loop(zero, line.length, piece, [&](Value from) { selectFrom(from); });
  }
  storeSelected();
  return frame.finish(countLines());
}

namespace {

struct EmitSelect final : impl::EmitSelectBase<EmitSelect> {
  void runOnOperation() override {
    auto config = getOperation()->getAttrOfType<SelectAttr>(plan::kConfigAttr);
    if (!config)
      return;
    FailureOr<KernelInfo> kernel = analyzeKernel(getOperation());
    if (failed(kernel))
      return signalPassFailure();
    FailureOr<LineKernel> lines =
        requireLineKernel<kernel::SortOp>(*kernel, config, "two outputs, the results");
    if (failed(lines))
      return signalPassFailure();
    if (failed(SelectEmitter(*kernel, *lines, config).run()))
      signalPassFailure();
  }
};

} // namespace

} // namespace xc::cuda
