//===- EmitRowReduction.cpp - Rows reduced by many threads ----------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Common/LaneOps.h"
#include "compiler/Codegen/CUDA/Common/ReductionEmitter.h"
#include "compiler/Codegen/CUDA/Common/WorkLimits.h"
#include "compiler/Codegen/CUDA/Passes.h"
#include "compiler/Dialect/Tile/IR/TileOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace xc::cuda {

#define GEN_PASS_DEF_EMITROWREDUCTION
#include "compiler/Codegen/CUDA/Passes.h.inc"

/// Chunks that a thread brings to shared memory at a time, and of what it reads only once.
static constexpr int64_t kFillUnroll = 4, kStreamUnroll = 8;

/// Elements that a thread computes with at a time where shared memory holds them, beside those of
/// other inputs: more where blocks of at most so many threads leave it more registers.
static constexpr int64_t kSharedElements = 8, kMoreSharedElements = 16, kFewThreads = 512;

/// Values that a thread of larger blocks has registers for beside addresses.
static constexpr int64_t kLargeBlockValues = 48;

/// Bytes of the next row that a thread has under way while it works on one.
static constexpr int64_t kEarlyBytes = 64;

/// Elements of rows, and of vectors that are the same for all rows, that a thread loads at once.
/// Blocks of so many threads have registers for as many; of larger ones each thread has fewer.
static constexpr int64_t kEarlyValues = 64, kEarlyThreads = 256;

/// Bytes of shared memory by which teams combine what they have summed up.
static constexpr int64_t kTeamBytes = 64 << 10;

/// Threads of blocks of clusters that a multiprocessor has registers for, and of blocks of shifted
/// rows of which a thread holds more than this.
static constexpr int64_t kClusterBlockThreads = 1024, kShiftedThreads = 512, kShiftedValues = 48;

namespace {

class RowEmitter final : public ReductionEmitter {
public:
  RowEmitter(const KernelInfo &kernel, const ReductionGroup &group, RowReductionAttr config)
      : ReductionEmitter(kernel, group, config.getThreads() * config.getRows(), config.getVector()),
        config(config), across(config.getThreads() * config.getCluster()) {}

  LogicalResult run();

protected:
  SmallVector<Value> visitShare(ValueRange inits, Visitor body) override;
  MemberValues combineThreads(Members members, MemberValues partials) override;
  /// Whether the assembler has to be told to leave threads of shifted rows registers enough: what
  /// they hold counts twice, with its masks, and what all rows share, as it is in memory, half.
  bool needsRegisters() const {
    int64_t values = config.getChunks() * lanes, vectors = group.vectors.size();
    return config.getShifted() && group.reusesRows() &&
           (config.getShared() > 0 || values * 2 + values * vectors / 2 >= kShiftedValues);
  }
  /// Loops over memory would have more inputs to load at a time than there are registers for.
  bool reducesTogether() const override {
    return config.getChunks() > 0 && config.getShared() == 0;
  }
  Place getReducedPlace() override {
    return makePlace(Coord::uniform(row), Coord::uniform(index.constant(0)), rowMask);
  }
  int64_t getReducedLanes() override { return 1; }
  Value isStoringThread() override { return index.isEqual(lane, index.constant(0)); }

private:
  /// Everything that is computed from `row`, whose elements in registers may be loaded already.
  void emitRow(ValueRange loaded = {});
  void emitZeroRow();
  void makeChunks();

  // A barrier may let in what other threads wrote, so nothing that is loaded before it would still
  // be known behind it: a row that is needed again is loaded by hand.
  bool holdsInputs() const;
  SmallVector<Value> loadInputs();
  void provideInputs();
  /// Loads what is the same for all rows before the first exchange, rather than behind the last.
  void provideVectors();
  Place makeChunk(Value chunk);
  Place makeShiftedChunk(Value chunk);
  SmallVector<Value> combineLanes(const Combiner &combiner, ArrayRef<Value> partial);
  SmallVector<Value> combineWarp(const Combiner &combiner, SmallVector<Value> values,
                                 int64_t width);
  /// Leaves what each warp holds at its number in `buffers`, in those of all blocks of a cluster.
  void exchange(const MemberValues &values, const MemberValues &buffers);
  /// Waits for all threads of the row: those of another one may be elsewhere.
  void meetRow();

  // The part of a row that registers do not hold: shared memory does, unless it is visited only
  // once. Each thread reads what it wrote itself.
  Value getSharedPosition(Value chunk) {
    return index.mul(index.add(ownLane, index.mul(chunk, config.getThreads())), lanes);
  }
  /// Calls `body` for all chunks of it, several at a time.
  using SharedVisitor = llvm::function_ref<SmallVector<Value>(ArrayRef<Value>, ValueRange)>;
  SmallVector<Value> forSharedChunks(int64_t unroll, ValueRange inits, SharedVisitor body);
  void fillShared();
  SmallVector<Value> visitShared(Value chunk, ValueRange inits, Visitor body);
  SmallVector<Value> visitOnce(ArrayRef<Value> several, ValueRange inits, Visitor body);
  SmallVector<Value> visitLooped(ValueRange inits, Visitor body);
  /// True if elements are needed again after a first reduction.

  // Groups with partials: a block walks over all rows that its part sums up.
  LogicalResult runWalk();
  /// The part whose rows this block, or those of this cluster, sum up.
  Value getPart() { return index.div(frame.getBlockId(), config.getCluster()); }
  /// The row of this team in the round: those of a part are `parts` apart.
  Value getRowOfRound(Value round);
  SmallVector<Value> emitRounds(Value from, Value to, bool mayLack, ValueRange carried,
                                size_t numSums);
  bool loadsEarly() const;
  SmallVector<Value> accumulatePartials(SmallVector<Value> carried);
  /// Sums are those of the first chunk, one for each result of each partial, then of the next one.
  void combineTeams(MutableArrayRef<Value> sums);
  void combineTeams(MutableArrayRef<Value> sums, ArrayRef<Value> buffers);
  void storePartials(const Place &chunk, ArrayRef<Value> sums);

  RowReductionAttr config;
  int64_t across; // threads of a row
  // The number of this thread among those of its row, and of those in its block.
  Value row, rowMask, lane, ownLane, team, count;
  bool hasMetBlocks = false;       // those of the cluster are known to have begun
  int64_t numExchanges = 0;        // between the warps of a row, since it began
  SmallVector<Place> chunks;       // in registers
  SmallVector<Value> held;         // of each input, what `chunks` hold, if loaded by hand
  SmallVector<Value> inputBuffers; // for each input of the group, what shared memory holds
};

} // namespace

//===----------------------------------------------------------------------===//
// One row
//===----------------------------------------------------------------------===//

/// Vectors begin at multiples of their length in memory. The first one of a row, and those from its
/// end on, are of other rows in part: nobody reads those parts. Registers hold them; what shared
/// memory holds lies between.
Place RowEmitter::makeShiftedChunk(Value chunk) {
  OpBuilder &builder = points.builder;
  Location loc = points.loc;
  std::optional<int64_t> length = getConstantIntValue(count), held = getConstantIntValue(chunk);
  bool isShared = !held || *held >= config.getChunks();
  Value number = isShared ? index.add(index.sub(chunk, index.constant(config.getChunks())), 1)
                          : index.constant(*held == 0 ? 0 : *held + config.getShared());
  Place start = makePlace(Coord::uniform(row), Coord::uniform(index.constant(0)), {});
  Value first = index.constant(0);
  if (!group.inputs.empty())
    first = getFlat(group.inputs.front(), start).first();
  Value vector = index.add(index.div(first, lanes), index.add(lane, index.mul(number, across)));
  Value column = index.sub(index.mul(vector, lanes), first);
  std::optional<int64_t> known = getConstantIntValue(number);
  if (isShared || (known && *known > 0 && length && (*known + 1) * across * lanes <= *length))
    return makePlace(Coord::uniform(row), makeCoord(column, /*consecutive=*/true), rowMask);

  Value last = index.sub(count, index.constant(1));
  Coord clamped{Coord::Kind::PerLane, {}};
  SmallVector<Value> inside;
  for (int64_t i = 0; i < lanes; ++i) {
    Value position = index.add(column, i);
    clamped.values.push_back(index.min(index.max(position, index.constant(0)), last));
    Value isInside =
        arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, position, count);
    inside.push_back(index.both(isInside, rowMask));
  }
  Value mask = vector::FromElementsOp::create(builder, loc,
                                              VectorType::get(lanes, builder.getI1Type()), inside);
  Place place = makePlace(Coord::uniform(row), clamped, mask);
  place.loadMask = {};
  place.whole = index.both(inside.front(), inside.back());
  place.wholeCoords =
      makePlace(Coord::uniform(row), makeCoord(column, /*consecutive=*/true), {}).coords;
  return place;
}

Place RowEmitter::makeChunk(Value chunk) {
  int64_t perChunk = across * lanes;
  std::optional<int64_t> length = getConstantIntValue(count), number = getConstantIntValue(chunk);
  if (config.getShifted())
    return makeShiftedChunk(chunk);
  Value column = index.add(index.mul(lane, lanes), index.mul(chunk, perChunk)), inside;
  if (!length || (number ? (*number + 1) * perChunk > *length : *length % perChunk != 0)) {
    // Threads beyond the row's end repeat its last vector, which counts for nothing: that spares a
    // branch at each load.
    inside = index.isLess(column, count);
    column = index.min(column, index.sub(count, index.constant(lanes)));
  }
  return makePlace(Coord::uniform(row), makeCoord(column, /*consecutive=*/true),
                   index.both(inside, rowMask));
}

SmallVector<Value> RowEmitter::forSharedChunks(int64_t unroll, ValueRange inits,
                                               SharedVisitor body) {
  int64_t shared = config.getShared(), looped = shared / unroll * unroll;
  auto visit = [&](Value first, int64_t number, ValueRange values) {
    SmallVector<Value> several;
    for (int64_t i = 0; i < number; ++i)
      several.push_back(index.add(first, i));
    return body(several, values);
  };
  // A loop keeps the assembler from loading more of them at a time than it has registers for.
  SmallVector<Value> carried =
      points.emitLoop(index.constant(0), index.constant(looped), index.constant(unroll), inits,
                      [&](Value first, ValueRange values) { return visit(first, unroll, values); });
  return looped == shared ? carried : visit(index.constant(looped), shared - looped, carried);
}

void RowEmitter::fillShared() {
  for (const ReductionGroup::Input &input : group.inputs)
    inputBuffers.push_back(frame.allocateShared(input.getMemoryType().getElementType(),
                                                config.getShared() * config.getThreads() * lanes));
  for (auto [input, buffer] : llvm::zip_equal(group.inputs, inputBuffers)) {
    auto fill = [&, source = &input, to = buffer](ArrayRef<Value> several,
                                                  ValueRange) -> SmallVector<Value> {
      // All loads first, so that they are under way together.
      SmallVector<Value> values;
      for (Value chunk : several)
        values.push_back(loadElements(*source, makeChunk(index.add(chunk, config.getChunks()))));
      for (auto [chunk, value] : llvm::zip_equal(several, values))
        storeShared(to, getSharedPosition(chunk), value);
      return {};
    };
    forSharedChunks(kFillUnroll, {}, fill);
  }
}

SmallVector<Value> RowEmitter::visitShared(Value chunk, ValueRange inits, Visitor body) {
  Place place = makeChunk(index.add(chunk, config.getChunks()));
  Value position = getSharedPosition(chunk);
  // What is computed from shared memory is computed again at the next visit, rather than kept.
  PointEmitter::Scope scope(points);
  for (auto [input, buffer] : llvm::zip_equal(group.inputs, inputBuffers)) {
    Type element = input.getMemoryType().getElementType();
    Type type = lanes == 1 ? element : VectorType::get(lanes, element);
    provideInput(input, place,
                 [=, from = buffer](size_t) { return loadShared(from, position, type); });
  }
  SmallVector<Value> carried = body(place, inits);
  for (const ReductionGroup::Input &input : group.inputs)
    points.withdraw(input.tensor);
  return carried;
}

SmallVector<Value> RowEmitter::visitOnce(ArrayRef<Value> several, ValueRange inits, Visitor body) {
  SmallVector<Place> places = llvm::map_to_vector(
      several, [&](Value chunk) { return makeChunk(index.add(chunk, config.getChunks())); });
  PointEmitter::Scope scope(points);
  for (const ReductionGroup::Input &input : group.inputs) {
    // All loads first, so that they are under way together.
    SmallVector<Value> values =
        llvm::map_to_vector(places, [&](const Place &place) { return loadElements(input, place); });
    provideInput(input, places, [values](size_t number) { return values[number]; });
  }
  SmallVector<Value> carried(inits);
  for (const Place &place : places)
    carried = body(place, carried);
  for (const ReductionGroup::Input &input : group.inputs)
    points.withdraw(input.tensor);
  return carried;
}

SmallVector<Value> RowEmitter::visitLooped(ValueRange inits, Visitor body) {
  int64_t elements = config.getThreads() <= kFewThreads ? kMoreSharedElements : kSharedElements;
  int64_t inputs = std::max<size_t>(1, group.inputs.size());
  int64_t held = config.getChunks() * lanes * inputs,
          ofElement = inputs + static_cast<int64_t>(group.vectors.size());
  while (config.getThreads() > kFewThreads && elements > lanes &&
         held + elements * ofElement > kLargeBlockValues)
    elements /= 2;
  int64_t unroll =
      std::max<int64_t>(1, group.reusesRows() ? elements / lanes : kStreamUnroll / inputs);
  // A loop of one round is none, and all of it would be under way beside shifted rows of clusters.
  if (config.getShifted() && config.getCluster() > 1 && config.getShared() < 2 * unroll)
    unroll = 1;
  SmallVector<Value> carried =
      forSharedChunks(unroll, inits, [&](ArrayRef<Value> several, ValueRange values) {
        if (!group.reusesRows())
          return visitOnce(several, values, body);
        SmallVector<Value> current(values);
        for (Value chunk : several)
          current = visitShared(chunk, current, body);
        return current;
      });
  provideInputs();
  return carried;
}

bool RowEmitter::holdsInputs() const {
  if (config.getShifted())
    return true;
  // Beside shared memory registers hold little, and have nothing to spare.
  return group.reusesRows() && config.getThreads() > 32 && config.getShared() == 0;
}

SmallVector<Value> RowEmitter::loadInputs() {
  SmallVector<Value> values;
  for (const ReductionGroup::Input &input : group.inputs)
    for (const Place &chunk : chunks)
      values.push_back(loadElements(input, chunk));
  return values;
}

void RowEmitter::provideInputs() {
  if (held.empty())
    return;
  for (auto [number, input] : llvm::enumerate(group.inputs)) {
    SmallVector<Value> own(ArrayRef(held).slice(number * chunks.size(), chunks.size()));
    provideInput(input, chunks, [own = std::move(own)](size_t chunk) { return own[chunk]; });
  }
}

void RowEmitter::provideVectors() {
  int64_t values =
      static_cast<int64_t>(group.inputs.size()) * static_cast<int64_t>(chunks.size()) * lanes;
  if (config.getThreads() <= 32 || config.getShared() > 0 || config.getCluster() > 1 ||
      !group.partials.empty() || group.vectors.empty())
    return;
  // Of as many chunks as there are registers for: large blocks load those of all, or none.
  int64_t most = std::min(kEarlyValues, kEarlyValues * kEarlyThreads / config.getThreads());
  int64_t ofChunk = static_cast<int64_t>(group.vectors.size()) * lanes;
  int64_t number = std::min<int64_t>(chunks.size(), (most - values) / ofChunk);
  bool isAll = number == static_cast<int64_t>(chunks.size());
  if (number <= 0 || (!isAll && config.getThreads() > kEarlyThreads))
    return;
  ArrayRef<Place> early = ArrayRef(chunks).take_front(number);
  for (const ReductionGroup::Input &input : group.vectors) {
    SmallVector<Value> own =
        llvm::map_to_vector(early, [&](const Place &chunk) { return loadElements(input, chunk); });
    provideInput(input, early, [own = std::move(own)](size_t chunk) { return own[chunk]; });
  }
}

SmallVector<Value> RowEmitter::visitShare(ValueRange inits, Visitor body) {
  SmallVector<Value> carried(inits);
  if (config.getChunks() > 0) {
    // What registers are to hold is on its way while a loop reads the rest.
    bool isLoopFirst = config.getShared() > 0 && !group.reusesRows();
    if (isLoopFirst)
      carried = visitLooped(carried, body);
    for (const Place &chunk : chunks)
      carried = body(chunk, carried);
    return isLoopFirst || config.getShared() == 0 ? carried : visitLooped(carried, body);
  }
  return visitByLoops(index.mul(lane, lanes), count, across * lanes, config.getUnroll(), inits,
                      [&](Value position, ValueRange values) {
                        return body(makePlace(Coord::uniform(row),
                                              makeCoord(position, /*consecutive=*/true), rowMask),
                                    values);
                      });
}

SmallVector<Value> RowEmitter::combineLanes(const Combiner &combiner, ArrayRef<Value> partial) {
  auto getLanes = [&](int64_t i) {
    return llvm::map_to_vector(
        partial, [&](Value value) { return getLane(points.builder, points.loc, value, i); });
  };
  SmallVector<SmallVector<Value>> terms;
  for (int64_t i = 0; i < lanes; ++i)
    terms.push_back(getLanes(i));
  // A tree: its depth is the latency.
  for (size_t width = terms.size() / 2; width > 0; width /= 2)
    for (size_t i = 0; i < width; ++i)
      terms[i] = combiner.combine(points.builder, points.loc, terms[i], terms[i + width]);
  return terms.front();
}

SmallVector<Value> RowEmitter::combineWarp(const Combiner &combiner, SmallVector<Value> values,
                                           int64_t width) {
  for (int64_t distance = width / 2; distance > 0; distance /= 2) {
    SmallVector<Value> others =
        llvm::map_to_vector(values, [&](Value value) { return frame.shuffleXor(value, distance); });
    values = combiner.combine(points.builder, points.loc, values, others);
  }
  return values;
}

RowEmitter::MemberValues RowEmitter::combineThreads(Members members, MemberValues values) {
  OpBuilder &builder = points.builder;
  Location loc = points.loc;
  int64_t threads = config.getThreads();
  for (auto [member, own] : llvm::zip_equal(members, values))
    own = combineWarp(member.combiner, combineLanes(member.combiner, own),
                      std::min<int64_t>(threads, 32));
  if (threads <= 32)
    return values;
  // Every warp leaves its results in shared memory, and every warp of the row combines them all.
  int64_t warps = across / 32, width = std::min<int64_t>(warps, 32);
  MemberValues buffers(members.size());
  for (auto [own, to] : llvm::zip_equal(values, buffers))
    for (Value value : own)
      to.push_back(frame.allocateShared(value.getType(), warps * config.getRows()));
  exchange(values, buffers);
  Value first = index.add(index.mul(team, warps), index.rem(lane, width));
  auto load = [&](ArrayRef<Value> memory, int64_t number) {
    Value from = index.add(first, number);
    return llvm::map_to_vector(memory, [&](Value buffer) -> Value {
      return memref::LoadOp::create(builder, loc, buffer, from);
    });
  };
  for (auto [member, own, memory] : llvm::zip_equal(members, values, buffers)) {
    own = load(memory, 0);
    for (int64_t number = width; number < warps; number += width)
      own = member.combiner.combine(builder, loc, own, load(memory, number));
    own = combineWarp(member.combiner, own, width);
  }
  return values;
}

void RowEmitter::meetRow() {
  if (config.getCluster() > 1) {
    tile::ArriveBlocksOp::create(points.builder, points.loc);
    tile::WaitBlocksOp::create(points.builder, points.loc);
    return;
  }
  bool hasTeams = config.getRows() > 1 && config.getRows() <= KernelFrame::kMostTeams;
  if (hasTeams)
    frame.barrier(team, config.getThreads());
  else
    frame.barrier();
}

void RowEmitter::exchange(const MemberValues &values, const MemberValues &buffers) {
  ++numExchanges;
  OpBuilder &builder = points.builder;
  Location loc = points.loc;
  int64_t cluster = config.getCluster();
  Value place = index.add(index.mul(team, across / 32), index.div(lane, 32));
  Value inWarp = index.rem(ownLane, 32);
  auto store = [&](llvm::function_ref<void(Value, Value)> emitStore) {
    for (auto [own, memory] : llvm::zip_equal(values, buffers))
      for (auto [value, buffer] : llvm::zip_equal(own, memory))
        emitStore(value, buffer);
  };
  if (cluster == 1) {
    points.emitIf(index.isEqual(inWarp, index.constant(0)), [&] {
      store([&](Value value, Value buffer) {
        memref::StoreOp::create(builder, loc, value, buffer, place);
      });
    });
    return meetRow();
  }
  if (!hasMetBlocks)
    tile::WaitBlocksOp::create(builder, loc);
  hasMetBlocks = true;
  // What loops compute ahead of this condition has to be known of every thread.
  Value rank = group.partials.empty() ? inWarp : index.rem(inWarp, cluster);
  points.emitIf(index.isLess(inWarp, index.constant(cluster)), [&] {
    store([&](Value value, Value buffer) {
      tile::StoreInOp::create(builder, loc, value, buffer, place, rank);
    });
  });
  meetRow();
}

void RowEmitter::makeChunks() {
  chunks.clear();
  for (int64_t chunk = 0; chunk < config.getChunks(); ++chunk)
    chunks.push_back(makeChunk(index.constant(chunk)));
}

void RowEmitter::emitRow(ValueRange loaded) {
  makeChunks();
  held.assign(loaded.begin(), loaded.end());
  if (config.getShared() > 0 && group.reusesRows())
    fillShared();
  if (held.empty() && holdsInputs())
    held = loadInputs();
  provideInputs();
  provideVectors();
  emitMembers();
  emitResults();
}

void RowEmitter::emitZeroRow() {
  makeChunks();
  emitZeros();
}

LogicalResult RowEmitter::run() {
  count = index.product(reductionSizes);
  std::optional<int64_t> length = getConstantIntValue(count);
  int64_t shared = config.getShared();
  if (config.getShifted() && shared > 0 && (!length || *length < (shared + 1) * across * lanes))
    return group.getRoot()->emitOpError("expected shifted rows of which shared memory holds none "
                                        "of the last vectors, got ")
           << config;
  int64_t perBlock = config.getRows(), cluster = config.getCluster();
  Value thread = frame.getThreadId(), block = frame.getBlockId();
  team = perBlock == 1 ? index.constant(0) : index.div(thread, config.getThreads());
  ownLane = perBlock == 1 ? thread : index.rem(thread, config.getThreads());
  lane = cluster == 1
             ? ownLane
             : index.add(index.mul(index.rem(block, cluster), config.getThreads()), thread);
  if (!group.partials.empty())
    return runWalk();
  Value rows = index.product(parallelSizes);
  Value firstRow = index.mul(index.div(block, cluster), perBlock);
  row = index.add(firstRow, team);
  if (cluster > 1) {
    // While the threads of one block wait for other blocks, those of another one do not.
    int64_t threads = config.getShifted() ? kShiftedThreads : kClusterBlockThreads;
    frame.setFewestBlocks(std::max<int64_t>(1, threads / config.getThreads()));
    tile::ArriveBlocksOp::create(points.builder, points.loc);
  }
  if (cluster == 1 && needsRegisters())
    frame.setFewestBlocks(std::max<int64_t>(1, kShiftedThreads / config.getThreads()));
  // Blocks that share a row meet whether it is needed or not.
  Value needed = cluster == 1 ? isNeeded(firstRow, perBlock, rows) : Value();
  auto emitRows = [&] { emitIfNeeded(points, needed, [&] { emitRow(); }, [&] { emitZeroRow(); }); };
  std::optional<int64_t> number = getConstantIntValue(rows);
  if (perBlock == 1 || (number && *number % perBlock == 0)) {
    emitRows();
  } else if (config.getThreads() == 32) {
    // A warp without a row has nothing to do, and nobody waits for it.
    points.emitIf(index.isLess(row, rows), emitRows);
  } else {
    rowMask = index.isLess(row, rows);
    row = index.min(row, index.sub(rows, index.constant(1)));
    emitRows();
  }
  return frame.finish(index.mul(index.ceilDiv(rows, index.constant(perBlock)), cluster), cluster);
}

//===----------------------------------------------------------------------===//
// Rows whose elements are also summed up over several rows
//===----------------------------------------------------------------------===//

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

/// Gives the first team what all teams have summed up; the others get what nobody asks for.
void RowEmitter::combineTeams(MutableArrayRef<Value> sums, ArrayRef<Value> buffers) {
  // The upper half of the teams leaves its values, the lower half takes them over, and so on.
  auto position = [&](Value of) {
    return index.mul(index.add(index.mul(of, config.getThreads()), lane), lanes);
  };
  for (int64_t half = config.getRows() / 2; half > 0; half /= 2) {
    frame.barrier();
    Value isUpper = index.both(index.isAtLeast(team, index.constant(half)),
                               index.isLess(team, index.constant(2 * half)));
    points.emitIf(isUpper, [&] {
      for (auto [value, buffer] : llvm::zip_equal(sums, buffers))
        storeShared(buffer, position(index.sub(team, index.constant(half))), value);
    });
    frame.barrier();
    Value from = position(index.rem(team, half));
    SmallVector<Value> others;
    for (auto [value, buffer] : llvm::zip_equal(sums, buffers))
      others.push_back(loadShared(buffer, from, value.getType()));
    ArrayRef<Value> taken = others;
    for (MutableArrayRef<Value> rest = sums; !rest.empty();)
      for (const ReductionGroup::Member &member : group.partials) {
        unsigned number = member.combiner.getNumResults();
        llvm::copy(member.combiner.combine(points.builder, points.loc, rest.take_front(number),
                                           taken.take_front(number)),
                   rest.begin());
        rest = rest.drop_front(number);
        taken = taken.drop_front(number);
      }
  }
}

void RowEmitter::combineTeams(MutableArrayRef<Value> sums) {
  if (config.getRows() == 1)
    return;
  // As many chunks at a time as there is room for: the teams wait for each other once for all.
  size_t perChunk = sums.size() / chunks.size();
  int64_t count = config.getRows() / 2 * config.getThreads() * lanes, bytes = 0;
  for (Value value : sums.take_front(perChunk))
    bytes += count * getElementBytes(getElementTypeOrSelf(value));
  size_t atOnce = perChunk * std::clamp<size_t>(kTeamBytes / bytes, 1, chunks.size());
  SmallVector<Value> buffers;
  for (Value value : sums.take_front(atOnce))
    buffers.push_back(frame.allocateShared(getElementTypeOrSelf(value), count));
  for (; !sums.empty(); sums = sums.drop_front(atOnce)) {
    atOnce = std::min(atOnce, sums.size());
    combineTeams(sums.take_front(atOnce), ArrayRef(buffers).take_front(atOnce));
  }
}

void RowEmitter::storePartials(const Place &chunk, ArrayRef<Value> sums) {
  Place stored = chunk;
  Value isFirst = config.getRows() == 1 ? Value() : index.isEqual(team, index.constant(0));
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
  return holdsInputs() && bytes * config.getChunks() * lanes <= kEarlyBytes;
}

Value RowEmitter::getRowOfRound(Value round) {
  Value turn = index.add(index.mul(round, config.getRows()), team);
  return index.add(getPart(), index.mul(turn, group.parts));
}

/// Adds up rounds [from, to), of which the last rows may be missing if `mayLack`. `carried` is what
/// was summed up, and what of the first row has been loaded.
SmallVector<Value> RowEmitter::emitRounds(Value from, Value to, bool mayLack, ValueRange carried,
                                          size_t numSums) {
  Value rows = index.product(parallelSizes), last = index.sub(rows, index.constant(1));
  int64_t unroll = mayLack ? 1 : config.getUnroll();
  bool isEarly = carried.size() > numSums;
  auto setRow = [&](Value round, bool isMasked) {
    Value own = getRowOfRound(round);
    rowMask = isMasked ? index.isLess(own, rows) : Value();
    row = isMasked ? index.min(own, last) : own;
  };
  SmallVector<Value> result = points.emitLoop(
      from, to, index.constant(unroll), carried, [&](Value round, ValueRange values) {
        SmallVector<Value> sums(values.take_front(numSums)), next;
        if (isEarly) {
          // Behind the last row it is loaded once more, unless others may have written it.
          setRow(index.add(round, 1), /*isMasked=*/true);
          makeChunks();
          next = loadInputs();
        }
        numExchanges = 0;
        for (int64_t i = 0; i < unroll; ++i) {
          setRow(index.add(round, i), mayLack);
          emitRow(values.drop_front(numSums));
          sums = accumulatePartials(sums);
        }
        // What the warps left for each other must have been read before the next round writes. Of
        // two exchanges each waits for the other's readers.
        if (config.getThreads() > 32 && numExchanges == 1)
          meetRow();
        llvm::append_range(sums, next);
        return sums;
      });
  rowMask = {};
  return result;
}

LogicalResult RowEmitter::runWalk() {
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
  // Every team makes the same number of rounds, so that all of them meet at the barriers: first
  // those that no team lacks a row in, several at a time.
  int64_t perRound = group.parts * config.getRows(), unroll = config.getUnroll();
  Value rounds = index.ceilDiv(rows, index.constant(perRound));
  Value full = index.mul(index.div(rows, perRound * unroll), unroll);
  // Where threads wait for each other, the next row is on its way meanwhile.
  size_t numSums = carried.size();
  if (unroll == 1 && loadsEarly()) {
    Value own = getRowOfRound(none);
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
  carried = emitRounds(none, full, /*mayLack=*/false, carried, numSums);
  if (std::optional<int64_t> number = getConstantIntValue(rows);
      !number || *number % (perRound * unroll) != 0)
    carried = emitRounds(full, rounds, /*mayLack=*/true, carried, numSums);
  for (const ReductionGroup::Input &input : group.inputs)
    points.withdraw(input.tensor);
  MutableArrayRef<Value> sums = MutableArrayRef(carried).take_front(numSums);
  row = getPart();
  makeChunks();
  combineTeams(sums);
  for (auto [number, chunk] : llvm::enumerate(chunks)) {
    size_t perChunk = numSums / chunks.size();
    storePartials(chunk, sums.slice(number * perChunk, perChunk));
  }
  int64_t cluster = config.getCluster();
  return frame.finish(index.constant(group.parts * cluster), cluster);
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {

struct EmitRowReduction final : impl::EmitRowReductionBase<EmitRowReduction> {
  /// Barriers of a part of a block are NVVM's.
  void getDependentDialects(DialectRegistry &registry) const override {
    EmitRowReductionBase::getDependentDialects(registry);
    registry.insert<NVVM::NVVMDialect>();
  }

  void runOnOperation() override {
    if (failed(emitReduction<RowEmitter, RowReductionAttr>(getOperation())))
      signalPassFailure();
  }
};

} // namespace

} // namespace xc::cuda
