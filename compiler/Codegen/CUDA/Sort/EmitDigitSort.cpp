//===- EmitDigitSort.cpp - Sorting by one digit ---------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A block looks after a tile. To count, its threads add to one counter for each digit in shared
// memory. To sort, a warp takes 32 neighbouring elements at a time, in order: eight votes, one for
// each bit, tell a thread which others of the warp hold the same digit, and the number of those in
// front of it, and of what the warp had before, is the element's rank among the warp's of that
// digit. Then a thread for each digit adds up what the warps have, and the running totals of all
// digits are places in the tile. In the order of those, neighbouring threads write neighbouring
// elements of a digit to neighbouring places. Nothing depends on which thread comes first.
//
// Where a line has few tiles, that thread adds up the counts of its digit in all of them, too.
//
// Behind the end of a line there are thought to be elements with the last digit: they come behind
// all others of the tile, and are not written.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Common/KernelFrame.h"
#include "compiler/Codegen/CUDA/Common/LaneOps.h"
#include "compiler/Codegen/CUDA/Common/LineShape.h"
#include "compiler/Codegen/CUDA/IR/CUDAConfig.h"
#include "compiler/Codegen/CUDA/Passes.h"
#include "compiler/Dialect/Kernel/IR/Order.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace xc::cuda {

#define GEN_PASS_DEF_EMITDIGITSORT
#include "compiler/Codegen/CUDA/Passes.h.inc"

static constexpr int64_t kWarp = 32;
/// Bytes of counts that a thread loads at once.
static constexpr int64_t kCountBytes = 16;

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

namespace {

/// A block's tile, and the digits of what it holds.
template <typename OpTy> class DigitFrame {
protected:
  DigitFrame(const KernelInfo &kernel, const LineKernel &lines, int64_t threads, int64_t items)
      : op(cast<OpTy>(lines.op)), threads(threads), items(items), frame(kernel, threads),
        points(frame.points), index(points.index), builder(points.builder), loc(points.loc),
        shape(getLineShape(op, points)), word(builder.getI32Type()), thread(frame.getThreadId()) {
    tiles = index.ceilDiv(shape.length, index.constant(op.getTile()));
    Value block = frame.getBlockId();
    line = index.div(block, tiles);
    number = index.rem(block, tiles);
    first = index.mul(number, op.getTile());
    count = index.min(index.constant(op.getTile()), index.sub(shape.length, first));
    std::optional<int64_t> length = getConstantIntValue(shape.length);
    isWhole = length && *length % op.getTile() == 0;
    if (threads > kernel::kOrderDigits)
      hasDigit = index.isLess(thread, index.constant(kernel::kOrderDigits));
  }

  /// Fails unless a tile is what the threads take.
  LogicalResult checkTile(Attribute config);
  Value constant(Type type, int64_t value) {
    return points.constant(builder.getIntegerAttr(type, value));
  }
  /// The elements of the input at `places` of the tile; some other one for what is behind the end.
  SmallVector<Value> loadElements(Value tensor, ArrayRef<Value> places);
  /// i1; null where it is true of all places.
  Value isInside(Value place) { return isWhole ? Value() : index.isLess(place, count); }
  Value getDigit(Value element) {
    return kernel::buildOrderDigit(builder, loc, element, op.getUnsignedElements(),
                                   op.getDescending(), op.getDigit());
  }
  Value toIndex(Value number) {
    return arith::IndexCastOp::create(builder, loc, builder.getIndexType(), number);
  }
  /// Where the counts of digit `digit` in the line's first tile are, row-major.
  Value locateCounts(Value digit) {
    return index.mul(index.add(index.mul(line, kernel::kOrderDigits), digit), tiles);
  }
  LogicalResult finish() { return frame.finish(index.mul(shape.outer, tiles)); }

  OpTy op;
  int64_t threads, items;
  KernelFrame frame;
  PointEmitter &points;
  IndexBuilder &index;
  OpBuilder &builder;
  Location loc;
  LineShape shape;
  Type word;
  Value thread;
  /// The tile's line and number, where it begins in the line, and how many elements it has.
  Value tiles, line, number, first, count;
  bool isWhole;
  /// i1: whether the thread looks after the digit of its number; null where all do.
  Value hasDigit;
};

} // namespace

template <typename OpTy> LogicalResult DigitFrame<OpTy>::checkTile(Attribute config) {
  int64_t tile = op.getTile();
  if (tile == threads * items)
    return success();
  return op.emitOpError("expected tiles of ")
         << threads * items << " elements for " << config << ", got " << tile;
}

template <typename OpTy>
SmallVector<Value> DigitFrame<OpTy>::loadElements(Value tensor, ArrayRef<Value> places) {
  Value start = index.add(index.mul(line, shape.length), first);
  Value last = index.sub(count, index.constant(1));
  return llvm::map_to_vector(places, [&](Value place) {
    Value source = index.add(start, isWhole ? place : index.min(place, last));
    return points.emit(tensor, Point{{}, Coord::uniform(source), 1, {}});
  });
}

//===----------------------------------------------------------------------===//
// Counting
//===----------------------------------------------------------------------===//

namespace {

class CountEmitter final : DigitFrame<kernel::CountDigitsOp> {
public:
  CountEmitter(const KernelInfo &kernel, const LineKernel &lines, CountDigitsAttr config)
      : DigitFrame(kernel, lines, config.getThreads(), config.getItems()), config(config),
        counts(lines.results.front()) {}

  LogicalResult run();

private:
  void addOne(Value counter);

  CountDigitsAttr config;
  plan::BindingOp counts;
  Value counters; // in shared memory
};

} // namespace

/// Adds one to what may be many threads' counter. Sums of integers do not depend on the order.
void CountEmitter::addOne(Value counter) {
  auto type = LLVM::LLVMPointerType::get(builder.getContext(), /*addressSpace=*/3);
  // Folds away when memrefs become pointers.
  Value base =
      UnrealizedConversionCastOp::create(builder, loc, TypeRange(type), counters).getResult(0);
  Value offset = arith::IndexCastOp::create(builder, loc, builder.getI64Type(), counter);
  Value pointer =
      LLVM::GEPOp::create(builder, loc, type, word, base, ArrayRef<LLVM::GEPArg>{offset});
  LLVM::AtomicRMWOp::create(builder, loc, LLVM::AtomicBinOp::add, pointer, constant(word, 1),
                            LLVM::AtomicOrdering::monotonic, "block");
}

LogicalResult CountEmitter::run() {
  if (failed(checkTile(config)))
    return failure();
  counters = frame.allocateShared(word, kernel::kOrderDigits);
  SmallVector<Value> places;
  for (int64_t item = 0; item < items; ++item)
    places.push_back(index.add(thread, item * threads));
  SmallVector<Value> elements = loadElements(op.getKeys(), places);
  points.emitIf(hasDigit, [&] {
    memref::StoreOp::create(builder, loc, constant(word, 0), counters, thread);
  });
  frame.barrier();
  for (auto [place, element] : llvm::zip_equal(places, elements)) {
    Value counter = toIndex(getDigit(element));
    points.emitIf(isInside(place), [&] { addOne(counter); });
  }
  frame.barrier();
  points.emitIf(hasDigit, [&] {
    Type type = cast<ShapedType>(op.getCounts().getType()).getElementType();
    Value counted = memref::LoadOp::create(builder, loc, counters, thread);
    if (counted.getType() != type)
      counted = arith::ExtUIOp::create(builder, loc, type, counted);
    points.store(counts, Coord::uniform(index.add(locateCounts(thread), number)), counted, 1);
  });
  return finish();
}

//===----------------------------------------------------------------------===//
// Sorting
//===----------------------------------------------------------------------===//

namespace {

class SortDigitEmitter final : DigitFrame<kernel::SortDigitOp> {
public:
  SortDigitEmitter(const KernelInfo &kernel, const LineKernel &lines, SortDigitAttr config)
      : DigitFrame(kernel, lines, config.getThreads(), config.getItems()), config(config),
        warps(threads / kWarp), values(lines.results.front()),
        indices(op.getIndices() ? lines.results.back() : plan::BindingOp()),
        countType(cast<ShapedType>(op.getEnds().getType()).getElementType()),
        lane(index.rem(thread, kWarp)), warp(index.div(thread, kWarp)) {}

  LogicalResult run();

private:
  /// What the line's counts say of a digit.
  struct Ends {
    Value before, all; // in the tiles before this one, and in the line
  };
  /// Where an element goes within those of its warp with its digit: the digit above 16 bits of
  /// rank.
  SmallVector<Value> rankElements(ArrayRef<Value> elements);
  Value findPeers(Value digit);
  Ends loadEnds();
  Ends addCounts();
  Value addUpWarp(Value own);
  void placeDigits(const Ends &ends);
  SmallVector<Value> loadCarried(ArrayRef<Value> places);
  /// Brings the elements, and what belongs to them, to their places of the tile.
  SmallVector<Value> fillTile(ArrayRef<Value> elements, ArrayRef<Value> carried,
                              ArrayRef<Value> ranks);
  Coord storeElement(Value place);
  void storeCarried(Value place, const Coord &target);
  void storeTile();
  void storeTileAndCarried(ArrayRef<Value> carried, ArrayRef<Value> slots);
  Value getPlace(int64_t item) { return index.add(thread, item * threads); }
  Value locateCounter(Value ofWarp, Value digit) {
    return index.add(index.mul(ofWarp, kernel::kOrderDigits), digit);
  }
  void syncWarp() { NVVM::SyncWarpOp::create(builder, loc, constant(word, -1)); }

  SortDigitAttr config;
  int64_t warps;
  plan::BindingOp values, indices;
  Type countType;
  Value lane, warp;
  Value counters, warpTotals, warpEnds, starts, tile, carriedTile; // in shared memory
};

} // namespace

/// The mask of those threads of the warp that hold the same digit.
Value SortDigitEmitter::findPeers(Value digit) {
  Value all = constant(word, -1), none = constant(word, 0), peers;
  for (int64_t bit = 1; bit < kernel::kOrderDigits; bit *= 2) {
    Value masked = arith::AndIOp::create(builder, loc, digit, constant(word, bit));
    Value isSet = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, masked, none);
    Value others =
        NVVM::VoteSyncOp::create(builder, loc, word, all, isSet, NVVM::VoteSyncKind::ballot);
    Value flipped = arith::SelectOp::create(builder, loc, isSet, none, all);
    others = arith::XOrIOp::create(builder, loc, others, flipped);
    peers = peers ? arith::AndIOp::create(builder, loc, peers, others).getResult() : others;
  }
  return peers;
}

SmallVector<Value> SortDigitEmitter::rankElements(ArrayRef<Value> elements) {
  Value bit = arith::ShLIOp::create(builder, loc, constant(word, 1),
                                    arith::IndexCastOp::create(builder, loc, word, lane));
  Value lower = arith::SubIOp::create(builder, loc, bit, constant(word, 1));
  SmallVector<Value> ranks;
  for (auto [item, element] : llvm::enumerate(elements)) {
    Value digit = getDigit(element);
    if (Value isThere =
            isInside(index.add(index.mul(warp, kWarp * items), index.add(lane, item * kWarp))))
      digit = arith::SelectOp::create(builder, loc, isThere, digit,
                                      constant(word, kernel::kOrderDigits - 1));
    Value peers = findPeers(digit);
    Value inFront = math::CtPopOp::create(
        builder, loc, arith::AndIOp::create(builder, loc, peers, lower).getResult());
    Value counter = locateCounter(warp, toIndex(digit));
    Value before = memref::LoadOp::create(builder, loc, counters, counter);
    syncWarp();
    Value isFirst =
        arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, inFront, constant(word, 0));
    points.emitIf(isFirst, [&] {
      Value more = math::CtPopOp::create(builder, loc, peers);
      memref::StoreOp::create(builder, loc,
                              arith::AddIOp::create(builder, loc, before, more).getResult(),
                              counters, counter);
    });
    // Behind the last element, the whole block meets.
    if (item + 1 < elements.size())
      syncWarp();
    Value rank = arith::AddIOp::create(builder, loc, before, inFront);
    Value high = arith::ShLIOp::create(builder, loc, digit, constant(word, 16));
    ranks.push_back(arith::OrIOp::create(builder, loc, high, rank));
  }
  return ranks;
}

SortDigitEmitter::Ends SortDigitEmitter::loadEnds() {
  Value digit = hasDigit ? index.min(thread, index.constant(kernel::kOrderDigits - 1)) : thread;
  Value start = locateCounts(digit), none = constant(countType, 0);
  auto load = [&](Value place) {
    return points.emit(op.getEnds(), Point{{}, Coord::uniform(index.add(start, place)), 1, {}});
  };
  Value one = index.constant(1);
  Value before = load(index.max(index.sub(number, one), index.constant(0)));
  before = arith::SelectOp::create(builder, loc, index.isLess(number, one), none, before);
  Value all = load(index.sub(tiles, one));
  if (hasDigit)
    all = arith::SelectOp::create(builder, loc, hasDigit, all, none);
  return {before, all};
}

/// The same of counts that nobody has added up yet.
SortDigitEmitter::Ends SortDigitEmitter::addCounts() {
  Value digit = hasDigit ? index.min(thread, index.constant(kernel::kOrderDigits - 1)) : thread;
  Value start = locateCounts(digit), none = constant(countType, 0);
  int64_t number = *getConstantIntValue(tiles), lanes = kCountBytes / getElementBytes(countType);
  while (number % lanes != 0)
    lanes /= 2;
  // All loads first, so that they are under way together.
  SmallVector<Value> counts;
  for (int64_t tile = 0; tile < number; tile += lanes) {
    Value place = index.add(start, tile);
    Coord coord = lanes == 1 ? Coord::uniform(place) : Coord::consecutive(place);
    counts.push_back(points.emit(op.getEnds(), Point{{}, coord, lanes, {}}));
  }
  Ends ends{none, none};
  for (int64_t tile = 0; tile < number; ++tile) {
    Value counted = getLane(builder, loc, counts[tile / lanes], tile % lanes);
    Value isBefore = index.isLess(index.constant(tile), this->number);
    Value before = arith::SelectOp::create(builder, loc, isBefore, counted, none);
    ends.before = arith::AddIOp::create(builder, loc, ends.before, before);
    ends.all = arith::AddIOp::create(builder, loc, ends.all, counted);
  }
  if (hasDigit)
    ends.all = arith::SelectOp::create(builder, loc, hasDigit, ends.all, none);
  return ends;
}

/// The sum of what the threads of the warp up to this one have.
Value SortDigitEmitter::addUpWarp(Value own) {
  Value sum = own, none = constant(own.getType(), 0);
  for (int64_t distance = 1; distance < kWarp; distance *= 2) {
    Value before = frame.shuffleUp(sum, distance);
    Value isThere = index.isAtLeast(lane, index.constant(distance));
    sum = arith::AddIOp::create(
        builder, loc, sum,
        arith::SelectOp::create(builder, loc, isThere, before, none).getResult());
  }
  return sum;
}

/// Turns what each warp has of a digit into places of the tile, and finds out where in the line the
/// digit's elements of the tile begin, less their first place. A thread does so for its digit.
void SortDigitEmitter::placeDigits(const Ends &ends) {
  Value none = constant(word, 0), total = none;
  SmallVector<Value> before;
  Value digit = hasDigit ? index.min(thread, index.constant(kernel::kOrderDigits - 1)) : thread;
  for (int64_t other = 0; other < warps; ++other) {
    before.push_back(total);
    Value counted =
        memref::LoadOp::create(builder, loc, counters, locateCounter(index.constant(other), digit));
    total = arith::AddIOp::create(builder, loc, total, counted);
  }
  if (hasDigit)
    total = arith::SelectOp::create(builder, loc, hasDigit, total, none);

  Value upTo = addUpWarp(total), endOf = addUpWarp(ends.all);
  points.emitIf(index.isEqual(lane, index.constant(kWarp - 1)), [&] {
    memref::StoreOp::create(builder, loc, upTo, warpTotals, warp);
    memref::StoreOp::create(builder, loc, endOf, warpEnds, warp);
  });
  frame.barrier();
  Value place = arith::SubIOp::create(builder, loc, upTo, total),
        start = arith::SubIOp::create(builder, loc, endOf, ends.all);
  for (int64_t other = 0; other + 1 < kernel::kOrderDigits / kWarp; ++other) {
    Value at = index.constant(other), isBefore = index.isLess(at, warp);
    auto addTo = [&](Value &sum, Value totals) {
      Value added = memref::LoadOp::create(builder, loc, totals, at);
      Value kept =
          arith::SelectOp::create(builder, loc, isBefore, added, constant(added.getType(), 0));
      sum = arith::AddIOp::create(builder, loc, sum, kept);
    };
    addTo(place, warpTotals);
    addTo(start, warpEnds);
  }
  points.emitIf(hasDigit, [&] {
    for (int64_t other = 0; other < warps; ++other)
      memref::StoreOp::create(builder, loc,
                              arith::AddIOp::create(builder, loc, place, before[other]).getResult(),
                              counters, locateCounter(index.constant(other), digit));
    Value wide = place;
    if (countType != word)
      wide = arith::ExtUIOp::create(builder, loc, countType, place);
    Value shifted = arith::SubIOp::create(
        builder, loc, arith::AddIOp::create(builder, loc, start, ends.before).getResult(), wide);
    memref::StoreOp::create(builder, loc, shifted, starts, digit);
  });
  frame.barrier();
}

/// What belongs to the elements at `places`.
SmallVector<Value> SortDigitEmitter::loadCarried(ArrayRef<Value> places) {
  if (!op.getIndices())
    return {};
  if (op.getPayload())
    return loadElements(op.getPayload(), places);
  Type type = cast<ShapedType>(op.getIndices().getType()).getElementType();
  return llvm::map_to_vector(places, [&](Value place) -> Value {
    return arith::IndexCastOp::create(builder, loc, type, index.add(first, place));
  });
}

/// Writes the element at `place` of the tile, which is in order. Returns where it goes.
Coord SortDigitEmitter::storeElement(Value place) {
  Value element = memref::LoadOp::create(builder, loc, tile, place);
  Value from = memref::LoadOp::create(builder, loc, starts, toIndex(getDigit(element)));
  Value position = arith::AddIOp::create(
      builder, loc, from, arith::IndexCastOp::create(builder, loc, countType, place).getResult());
  Value start = index.mul(line, shape.length);
  Coord target = Coord::uniform(index.add(start, toIndex(position)));
  points.store(values, target, element, 1, isInside(place));
  return target;
}

/// Writes what belongs to that element.
void SortDigitEmitter::storeCarried(Value place, const Coord &target) {
  Value carried = memref::LoadOp::create(builder, loc, carriedTile, place);
  Type type = cast<ShapedType>(op.getIndices().getType()).getElementType();
  if (carried.getType() != type)
    carried = arith::ExtSIOp::create(builder, loc, type, carried);
  points.store(indices, target, carried, 1, isInside(place));
}

void SortDigitEmitter::storeTile() {
  for (int64_t item = 0; item < items; ++item) {
    Coord target = storeElement(getPlace(item));
    if (indices)
      storeCarried(getPlace(item), target);
  }
}

/// As `storeTile`, where what belongs to the elements follows them through their memory.
void SortDigitEmitter::storeTileAndCarried(ArrayRef<Value> carried, ArrayRef<Value> slots) {
  SmallVector<Coord> targets;
  for (int64_t item = 0; item < items; ++item)
    targets.push_back(storeElement(getPlace(item)));
  frame.barrier();
  for (auto [value, slot] : llvm::zip_equal(carried, slots))
    memref::StoreOp::create(builder, loc, value, carriedTile, slot);
  frame.barrier();
  for (auto [item, target] : llvm::enumerate(targets))
    storeCarried(getPlace(item), target);
}

SmallVector<Value> SortDigitEmitter::fillTile(ArrayRef<Value> elements, ArrayRef<Value> carried,
                                              ArrayRef<Value> ranks) {
  SmallVector<Value> slots;
  for (auto [item, rank] : llvm::enumerate(ranks)) {
    Value digit = arith::ShRUIOp::create(builder, loc, rank, constant(word, 16));
    Value within = arith::AndIOp::create(builder, loc, rank, constant(word, 0xffff));
    Value base =
        memref::LoadOp::create(builder, loc, counters, locateCounter(warp, toIndex(digit)));
    slots.push_back(toIndex(arith::AddIOp::create(builder, loc, base, within)));
    memref::StoreOp::create(builder, loc, elements[item], tile, slots.back());
    if (!carried.empty())
      memref::StoreOp::create(builder, loc, carried[item], carriedTile, slots.back());
  }
  return slots;
}

LogicalResult SortDigitEmitter::run() {
  if (failed(checkTile(config)))
    return failure();
  if (op.getAddsCounts() && !getConstantIntValue(tiles))
    return op.emitOpError("expected a known number of tiles whose counts are to be added up");
  counters = frame.allocateShared(word, warps * kernel::kOrderDigits);
  warpTotals = frame.allocateShared(word, warps);
  warpEnds = frame.allocateShared(countType, warps);
  starts = frame.allocateShared(countType, kernel::kOrderDigits);
  SmallVector<Value> places;
  for (int64_t item = 0; item < items; ++item)
    places.push_back(index.add(index.mul(warp, kWarp * items), index.add(lane, item * kWarp)));
  SmallVector<Value> elements = loadElements(op.getKeys(), places);
  Ends ends = op.getAddsCounts() ? addCounts() : loadEnds();
  tile = frame.allocateShared(elements.front().getType(), op.getTile());
  for (int64_t digit = 0; digit < kernel::kOrderDigits; digit += kWarp)
    memref::StoreOp::create(builder, loc, constant(word, 0), counters,
                            locateCounter(warp, index.add(lane, digit)));
  syncWarp();
  SmallVector<Value> ranks = rankElements(elements);
  SmallVector<Value> carried = loadCarried(places);
  bool byTurns = false;
  if (indices) {
    // A tile of each is faster, and more than the memory of some targets.
    Type type = carried.front().getType();
    byTurns = !frame.fitsShared(op.getTile() * getElementBytes(type));
    carriedTile = byTurns ? frame.reuseShared(tile, type, op.getTile())
                          : frame.allocateShared(type, op.getTile());
  }
  frame.barrier();
  placeDigits(ends);
  SmallVector<Value> slots = fillTile(elements, byTurns ? ArrayRef<Value>() : carried, ranks);
  frame.barrier();
  if (byTurns)
    storeTileAndCarried(carried, slots);
  else
    storeTile();
  return finish();
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {

struct EmitDigitSort final : impl::EmitDigitSortBase<EmitDigitSort> {
  /// Beside those of all passes of its kind.
  void getDependentDialects(DialectRegistry &registry) const override {
    EmitDigitSortBase::getDependentDialects(registry);
    registry.insert<LLVM::LLVMDialect, math::MathDialect, NVVM::NVVMDialect>();
  }

  void runOnOperation() override {
    Attribute config = getOperation()->getAttr(plan::kConfigAttr);
    auto count = dyn_cast_or_null<CountDigitsAttr>(config);
    auto sort = dyn_cast_or_null<SortDigitAttr>(config);
    if (!count && !sort)
      return;
    FailureOr<KernelInfo> kernel = analyzeKernel(getOperation());
    if (failed(kernel))
      return signalPassFailure();
    FailureOr<LineKernel> lines =
        count ? requireLineKernel<kernel::CountDigitsOp>(*kernel, config, "one output, the result")
              : requireLineKernel<kernel::SortDigitOp>(*kernel, config, "outputs, the results");
    if (failed(lines))
      return signalPassFailure();
    LogicalResult done = count ? CountEmitter(*kernel, *lines, count).run()
                               : SortDigitEmitter(*kernel, *lines, sort).run();
    if (failed(done))
      signalPassFailure();
  }
};

} // namespace

} // namespace xc::cuda
