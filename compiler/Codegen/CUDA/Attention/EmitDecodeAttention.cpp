//===- EmitDecodeAttention.cpp - Attention of few queries on mma.sync -----===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A warp goes over blocks of 16 keys, alone: keys and values go from memory to the registers that
// the products take them from, 16 bytes a load, and nobody waits for others until the end.
//
// The products are in DecodeProducts.cpp. What takes time is reading: a warp has 16 keys and values
// under way, 8 KB of vectors of 128 elements of 16 bits. Longer ones come by parts of 8 KB.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Attention/AttentionProblem.h"
#include "compiler/Codegen/CUDA/Attention/DecodeEmitter.h"
#include "compiler/Codegen/CUDA/Attention/DecodeModel.h"
#include "compiler/Codegen/CUDA/Attention/FloatOps.h"
#include "compiler/Codegen/CUDA/Common/LaneOps.h"

#include "compiler/Dialect/Tile/IR/TileOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/SmallVectorExtras.h"
#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace mlir;

namespace xc::cuda {

/// Blocks of keys by which the first one of a head is behind that of the head before.
static constexpr int64_t kShift = 7;
/// Bytes of a key, of a value, or of both that a warp has under way: of 16 of them each thread
/// holds 64 words.
static constexpr int64_t kMostBytes = 512;
/// Threads that load a key at a time, and a value.
static constexpr int64_t kKeyThreads = 4, kValueThreads = 8;
/// Steps along vectors that are under way at a time.
static constexpr int64_t kKeySteps = kMostBytes / (kKeyThreads * kDecodeChunkBytes),
                         kValueSteps = kMostBytes / (kValueThreads * kDecodeChunkBytes);

//===----------------------------------------------------------------------===//
// Where things are
//===----------------------------------------------------------------------===//

DecodeEmitter::DecodeEmitter(const KernelInfo &kernel, kernel::AttentionDecodeOp op,
                             AttentionDecodeAttr config)
    : kernel(kernel), op(op), config(config), frame(kernel, 32 * config.getWarps()),
      points(frame.points), index(points.index), builder(points.builder), loc(points.loc),
      math{builder, loc}, rank(op.getQueryType().getRank()), group(op.getGroupSize()),
      queries(op.getQueryType().getDimSize(rank - 2)), rows(op.getRows()),
      vector(op.getQueryType().getShape().back()), columns(op.getValueType().getShape().back()),
      blockRows(getDecodeSizes(op).blockRows), halves(blockRows / 8),
      splits(std::max<int64_t>(op.getSplits(), config.getCluster())),
      element(op.getQueryType().getElementType()), isExact(element.isF32() && !mayRoundToTF32(op)),
      chunk(kDecodeChunkBytes * 8 / element.getIntOrFloatBitWidth()),
      result(llvm::alignTo(columns, chunk)), keyStep(kKeyThreads * chunk),
      valueStep(kValueThreads * chunk), keySteps(llvm::divideCeil(vector, keyStep)),
      valueSteps(llvm::divideCeil(result, valueStep)), tilesOfStep(chunk / 2) {}

/// What this thread, its warp and its block are for.
void DecodeEmitter::locate() {
  thread = frame.getThreadId();
  lane = index.rem(thread, 32);
  warp = index.div(thread, 32);
  inQuad = index.rem(lane, 4);
  quad = index.div(lane, 4);
  Value block = frame.getBlockId();
  int64_t tiles = llvm::divideCeil(rows, blockRows);
  part = index.rem(block, splits);
  Value rest = index.div(block, splits);
  rowTile = index.rem(rest, tiles);
  firstRow = index.mul(rowTile, blockRows);
  head = index.div(rest, tiles);
  SmallVector<Value> heads = points.getSizes(op.getQuery());
  heads.resize(rank - 2);
  heads.back() = index.constant(op.getQueryType().getDimSize(rank - 3) / group);
  sharedPlace = index.delinearize(head, heads);
}

Value DecodeEmitter::loadWhole(Value tensor, ArrayRef<Value> place) {
  Point point;
  for (Value position : place)
    point.coords.push_back(Coord::uniform(position));
  if (place.empty())
    point.flat = Coord::uniform(index.constant(0));
  Type i64 = builder.getI64Type();
  Value stored = points.emit(tensor, point);
  return stored.getType() == i64 ? stored
                                 : arith::ExtSIOp::create(builder, loc, i64, stored).getResult();
}

/// The blocks of keys that this part has: an equal share of those that some query sees.
void DecodeEmitter::findKeys() {
  Type indexType = builder.getIndexType(), i64 = builder.getI64Type();
  SmallVector<Value> sizes = points.getSizes(op.getKey());
  keys = sizes[rank - 2];
  if (op.isPaged()) {
    pageSize = keys;
    keys = index.mul(points.getSizes(op.getTable())[1], pageSize);
  }
  Value zero = index.constant(0), first = zero;
  int64_t window = static_cast<int64_t>(op.getWindow().value_or(0));
  end = keys;
  if (op.isBounded()) {
    // Between what hides all keys and what hides none, so that sums fit.
    auto clamp = [&](Value stored, Value least, Value most) {
      stored = arith::MinSIOp::create(builder, loc, stored,
                                      arith::IndexCastOp::create(builder, loc, i64, most));
      stored = arith::MaxSIOp::create(builder, loc, stored,
                                      arith::IndexCastOp::create(builder, loc, i64, least));
      return arith::IndexCastOp::create(builder, loc, indexType, stored).getResult();
    };
    if (op.isPaged())
      offset = index.sub(clamp(loadWhole(op.getLengths(), sharedPlace.front()), zero,
                               index.add(keys, index.constant(queries))),
                         index.constant(queries));
    else if (op.getOffset())
      offset = clamp(loadWhole(op.getOffset(), {}), index.constant(-queries),
                     index.add(keys, index.constant(window)));
    else
      offset = index.sub(keys, index.constant(queries));
    end = index.min(index.max(index.add(offset, index.constant(queries)), zero), keys);
    if (window > 0)
      first = index.min(index.max(index.sub(offset, index.constant(window - 1)), zero), end);
  }
  Value begin = index.div(first, kDecodeKeys),
        count = index.sub(index.ceilDiv(end, index.constant(kDecodeKeys)), begin);
  Value share = index.ceilDiv(count, index.constant(splits));
  firstBlock = index.min(index.mul(part, share), count);
  lastBlock = index.add(begin, index.min(index.add(firstBlock, share), count));
  firstBlock = index.add(begin, firstBlock);
  // Pages lie anywhere, and a warp with one step has no order.
  if (!op.isPaged() && !hasOneStep())
    shift = index.rem(index.mul(head, kShift),
                      index.max(index.sub(lastBlock, firstBlock), index.constant(1)));
}

/// The block of keys that this part takes at its step `block`: each head begins elsewhere. Where
/// caches are a power of two apart, heads that ran side by side would ask the same channels of
/// memory: 64 x 32 heads of 1024 keys took 275 us, and 243 in pages that lie anywhere.
Value DecodeEmitter::rotate(Value block) {
  if (!shift)
    return block;
  Value shifted = index.add(block, shift);
  Value isBefore = index.isLess(shifted, lastBlock);
  return arith::SelectOp::create(builder, loc, isBefore, shifted,
                                 index.sub(shifted, index.sub(lastBlock, firstBlock)));
}

DecodeEmitter::Row DecodeEmitter::makeRow(Value number) {
  Row row;
  row.number = number;
  Value ownHead = queries == 1 ? number : index.div(number, queries);
  row.query = queries == 1 ? index.constant(0) : index.rem(number, queries);
  row.head = index.add(index.mul(sharedPlace.back(), group), ownHead);
  return row;
}

DecodeEmitter::Values DecodeEmitter::placeOf(const Row &row) {
  Values place(ArrayRef(sharedPlace).drop_back());
  place.append({row.head, row.query});
  return place;
}

//===----------------------------------------------------------------------===//
// Loads
//===----------------------------------------------------------------------===//

/// Where a key is, or the last one that is seen if that is before it: places behind it may hold
/// anything.
DecodeEmitter::Values DecodeEmitter::placeKey(const Key &key) {
  Value last = index.sub(end, index.constant(1));
  Value four = index.add(key.first, key.four);
  Value position = index.min(index.add(four, key.within), last);
  Values place(sharedPlace);
  if (!op.isPaged()) {
    place.push_back(position);
    return place;
  }
  // Neighbouring keys are in one page where its size allows: its number is loaded once for them.
  std::optional<int64_t> size = getConstantIntValue(pageSize);
  int64_t together = size ? std::gcd(*size, kDecodeKeys) : 1;
  Value base = together == kDecodeKeys ? key.first
               : together >= 4         ? index.min(four, last)
                                       : position;
  Value number = index.div(base, pageSize);
  Type i64 = builder.getI64Type();
  Value pages = points.getSizes(op.getKey()).front();
  Value page = loadWhole(op.getTable(), {sharedPlace.front(), number});
  Value most = arith::IndexCastOp::create(builder, loc, i64, index.sub(pages, index.constant(1))),
        least = arith::ConstantOp::create(builder, loc, builder.getI64IntegerAttr(0));
  page =
      arith::MaxSIOp::create(builder, loc, arith::MinSIOp::create(builder, loc, page, most), least);
  place.front() = arith::IndexCastOp::create(builder, loc, builder.getIndexType(), page);
  place.push_back(index.sub(position, index.mul(number, pageSize)));
  return place;
}

/// The 16 bytes `place` of a vector of `size` elements. Behind its end, the last ones again. Where
/// the vector is not whole pieces of 16 bytes, the last one overlaps the one before.
DecodeEmitter::Values DecodeEmitter::loadChunk(Value tensor, const Key &key, Value place,
                                               int64_t size) {
  Point point;
  for (Value position : placeKey(key))
    point.coords.push_back(Coord::uniform(position));
  point.coords.push_back(Coord::consecutive(placeChunk(place, size)));
  point.lanes = chunk;
  return splitWords(points.emit(tensor, point));
}

/// The first element of the 16 bytes `place`, or of the last ones. Said so that loads know how far
/// it is aligned.
Value DecodeEmitter::placeChunk(Value place, int64_t size) {
  int64_t step = size % chunk == 0 ? chunk : kDecodeVectorStep;
  Value own = index.min(index.mul(place, chunk / step), index.constant((size - chunk) / step));
  return index.mul(own, step);
}

/// Column g of either product of 8 keys: chunks t, t + 4, ... of its key.
SmallVector<DecodeEmitter::Values> DecodeEmitter::loadKeys(Value firstKey, Range steps) {
  Value four = index.mul(index.div(quad, 2), 4), within = index.rem(quad, 2);
  SmallVector<Values> loaded;
  for (int64_t product = 0; product < 2; ++product)
    for (int64_t step = steps.first; step < steps.last; ++step)
      loaded.push_back(loadChunk(op.getKey(), {firstKey, four, index.add(within, product * 2)},
                                 index.add(inQuad, step * kKeyThreads), vector));
  return loaded;
}

/// Of keys 4 t to 4 t + 3, chunks g, g + 8, ...
SmallVector<DecodeEmitter::Values> DecodeEmitter::loadValues(Value firstKey, Range steps) {
  Value four = index.mul(inQuad, 4);
  SmallVector<Values> loaded;
  for (int64_t step = steps.first; step < steps.last; ++step)
    for (int64_t key = 0; key < 4; ++key)
      loaded.push_back(loadChunk(op.getValue(), {firstKey, four, index.constant(key)},
                                 index.add(quad, step * kValueThreads), columns));
  return loaded;
}

//===----------------------------------------------------------------------===//
// Scores
//===----------------------------------------------------------------------===//

Value DecodeEmitter::loadMask(const Row &row, Value key) {
  SmallVector<Value> place = placeOf(row), sizes = points.getSizes(op.getMask());
  place.push_back(key);
  Point point;
  for (auto [position, size] : llvm::zip_equal(ArrayRef(place).take_back(sizes.size()), sizes)) {
    bool isOne = getConstantIntValue(size) == std::optional<int64_t>(1);
    Value last = index.sub(size, index.constant(1));
    point.coords.push_back(Coord::uniform(isOne ? index.constant(0) : index.min(position, last)));
  }
  if (sizes.empty())
    point.flat = Coord::uniform(index.constant(0));
  return points.emit(op.getMask(), point);
}

/// The scaled score, as an exponent of 2; minus infinity where `row` does not see the key.
Value DecodeEmitter::hide(Value score, const Row &row, Value key) {
  Value hidden = math.f32(-std::numeric_limits<double>::infinity());
  double scale = op.getScale().convertToDouble();
  if (op.getSoftcap()) {
    double cap = op.getSoftcap()->convertToDouble();
    score = makeTanh(builder, loc, score, scale / cap, /*isExact=*/element.isF32());
    scale = cap;
  }
  score = math.mul(score, math.f32(scale * kLog2E));
  if (op.getMask()) {
    Value stored = loadMask(row, key);
    if (isa<FloatType>(stored.getType())) {
      if (!stored.getType().isF32())
        stored = arith::ExtFOp::create(builder, loc, builder.getF32Type(), stored);
      score = math::FmaOp::create(builder, loc, stored, math.f32(kLog2E), score);
    } else {
      Value zero = points.zero(stored.getType());
      Value isSeen = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, stored, zero);
      score = math.select(isSeen, score, hidden);
    }
  }
  Value isSeen = index.isLess(key, end);
  if (offset && queries > 1)
    isSeen = index.both(isSeen, index.isLess(key, index.add(index.add(row.query, offset), 1)));
  if (op.getWindow()) {
    Value window = index.constant(static_cast<int64_t>(*op.getWindow()));
    Value before = index.sub(index.add(row.query, offset), window);
    isSeen = index.both(isSeen, index.isLess(before, key));
  }
  return math.select(isSeen, score, hidden);
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

/// Nothing seen but sinks, which the first warp of the first part counts.
DecodeEmitter::State DecodeEmitter::begin() {
  State state;
  Value lowest = math.f32(-std::numeric_limits<double>::infinity()), zero = math.f32(0);
  state.outputs.assign(valueSteps * tilesOfStep * halves * 4, zero);
  state.maxima.assign(halves, lowest);
  state.sums.assign(halves, zero);
  if (!op.getSinks())
    return state;
  Value isFirst =
      index.both(index.isEqual(warp, index.constant(0)), index.isEqual(part, index.constant(0)));
  Value counts = index.both(isFirst, index.isEqual(inQuad, index.constant(0)));
  for (int64_t half = 0; half < halves; ++half) {
    Value number = index.add(index.add(firstRow, quad), half * 8);
    Row row = makeRow(index.min(number, index.constant(rows - 1)));
    Value sink = points.emit(op.getSinks(), Point{{Coord::uniform(row.head)}, {}, 1, {}});
    if (!sink.getType().isF32())
      sink = arith::ExtFOp::create(builder, loc, builder.getF32Type(), sink);
    state.maxima[half] = math.select(isFirst, math.mul(sink, math.f32(kLog2E)), lowest);
    state.sums[half] = math.select(counts, math.f32(1), zero);
  }
  return state;
}

/// Whether registers hold a step's keys and values, so that all of them are under way at once.
bool DecodeEmitter::loadsTogether() const {
  return (vector + result) * kDecodeChunkBytes <= kMostBytes * chunk;
}

/// What a step reads before it multiplies.
DecodeEmitter::Loaded DecodeEmitter::load(Value firstKey) {
  Loaded loaded{loadKeys(firstKey, {0, std::min(keySteps, kKeySteps)}), {}};
  if (loadsTogether())
    loaded.values = loadValues(firstKey, {0, valueSteps});
  return loaded;
}

/// Of rows g and, 8 further, the scores of keys 4 t to 4 t + 3: four each.
DecodeEmitter::Values DecodeEmitter::getScores(Value firstKey, const Loaded &loaded) {
  Products sums[] = {makeProducts(), makeProducts()};
  for (int64_t first = 0; first < keySteps; first += kKeySteps) {
    Range steps{first, std::min(keySteps, first + kKeySteps)};
    addScores(first == 0 ? loaded.keys : loadKeys(firstKey, steps), steps, sums);
  }
  Values finished[] = {addUp(sums[0]), addUp(sums[1])}, scores;
  for (int64_t half = 0; half < halves; ++half)
    for (const Values &product : finished)
      llvm::append_range(scores, ArrayRef(product).slice(half * 2, 2));
  return scores;
}

/// Operand B of the products with values.
DecodeEmitter::Values DecodeEmitter::makeWeights(ArrayRef<Value> scores) {
  auto word = VectorType::get(1, builder.getI32Type());
  int64_t together = 32 / element.getIntOrFloatBitWidth();
  Values words;
  for (size_t first = 0; first < scores.size(); first += together) {
    Value lanes = vector::FromElementsOp::create(builder, loc,
                                                 VectorType::get(together, builder.getF32Type()),
                                                 scores.slice(first, together));
    if (!element.isF32())
      lanes = arith::TruncFOp::create(builder, loc, VectorType::get(together, element), lanes);
    words.push_back(vector::ExtractOp::create(
        builder, loc, vector::BitCastOp::create(builder, loc, word, lanes), ArrayRef<int64_t>{0}));
  }
  return words;
}

DecodeEmitter::State DecodeEmitter::step(Value firstKey, Loaded loaded, const State &state) {
  Values scores = getScores(firstKey, loaded);
  State next = state;
  SmallVector<Values> weights(halves);
  for (int64_t half = 0; half < halves; ++half) {
    Value number = index.add(index.add(firstRow, quad), half * 8);
    Row row = makeRow(index.min(number, index.constant(rows - 1)));
    Value maximum = state.maxima[half];
    MutableArrayRef<Value> own = MutableArrayRef(scores).slice(half * 4, 4);
    for (auto [i, score] : llvm::enumerate(own)) {
      score = hide(score, row, index.add(index.add(firstKey, index.mul(inQuad, 4)), i));
      maximum = math.max(maximum, score);
    }
    for (int64_t distance : {1, 2})
      maximum = math.max(maximum, frame.shuffleXor(maximum, distance));
    Value base = math.finite(maximum);
    Value rescale = math.exp2(math.sub(state.maxima[half], base));
    Value sum = math.mul(state.sums[half], rescale);
    for (Value &score : own) {
      score = math.exp2(math.sub(score, base));
      sum = math.add(sum, score);
    }
    weights[half] = makeWeights(own);
    next.maxima[half] = maximum;
    next.sums[half] = sum;
    // Sums of values are of rows 2 t and 2 t + 1.
    Value firstLane =
        arith::IndexCastOp::create(builder, loc, builder.getI32Type(), index.mul(inQuad, 8));
    Value nextLane = arith::AddIOp::create(
        builder, loc, firstLane,
        arith::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(4)));
    Value scales[] = {frame.shuffleFrom(rescale, firstLane), frame.shuffleFrom(rescale, nextLane)};
    for (size_t place = half * 4; place < next.outputs.size(); place += halves * 4)
      for (size_t i = 0; i < 4; ++i)
        next.outputs[place + i] = math.mul(next.outputs[place + i], scales[i % 2]);
  }
  if (loadsTogether()) {
    addValues(loaded.values, {0, valueSteps}, weights, next.outputs);
    return next;
  }
  for (int64_t first = 0; first < valueSteps; first += kValueSteps) {
    Range steps{first, std::min(valueSteps, first + kValueSteps)};
    addValues(loadValues(firstKey, steps), steps, weights, next.outputs);
  }
  return next;
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

/// The number of blocks.
Value DecodeEmitter::countBlocks() {
  SmallVector<Value> querySizes = points.getSizes(op.getQuery());
  Value heads = index.product(ArrayRef(querySizes).take_front(rank - 3));
  int64_t groups = op.getQueryType().getDimSize(rank - 3) / group;
  return index.mul(heads, groups * llvm::divideCeil(rows, blockRows) * splits);
}

/// Waits for the kernel before: see AllowDependentLaunch.cpp.
void DecodeEmitter::awaitBefore() {
  if (!getConstantIntValue(countBlocks()) || !kernel.target->hasClusters())
    return;
  if (hasOneStep())
    letNextBegin();
  NVVM::GriddepcontrolOp::create(builder, loc, NVVM::GridDepActionKind::wait);
  kernel.getFunction()->setAttr(kProgrammaticAttr, builder.getUnitAttr());
}

/// Lets the kernel behind begin: before this one reads, or once it has read what it does. While
/// blocks read for long, those of the next kernel would only hold places: 32 x 12 heads of 1024
/// keys took 29.6 us, and 25.9.
void DecodeEmitter::letNextBegin() {
  NVVM::GriddepcontrolOp::create(builder, loc, NVVM::GridDepActionKind::launch_dependents);
}

/// Whether each warp has one step at most.
bool DecodeEmitter::hasOneStep() {
  std::optional<int64_t> known = getConstantIntValue(points.getSizes(op.getKey())[rank - 2]);
  return known && !op.isPaged() &&
         *known <= kDecodeKeys * splits * static_cast<int64_t>(config.getWarps());
}

/// Whether each warp has one step, and none has less, of keys and values that no kernel in front
/// writes. They are under way then while the kernel waits: a token of GPT-2's shape has 12 such
/// kernels.
bool DecodeEmitter::loadsAhead() {
  std::optional<int64_t> known = getConstantIntValue(points.getSizes(op.getKey())[rank - 2]);
  auto isFixed = [&](Value tensor) {
    plan::BindingOp binding = getSourceBinding(tensor);
    return binding && kernel.isFixed(binding);
  };
  return known && !op.isPaged() && !op.isBounded() && loadsTogether() && isFixed(op.getKey()) &&
         isFixed(op.getValue()) &&
         *known == kDecodeKeys * splits * static_cast<int64_t>(config.getWarps());
}

/// Whether queries are taken from shared memory. Their first keys are loaded behind a barrier then,
/// so that a warp would wait twice where it has one step. There are no sums from before beside
/// that, and registers for queries, unless a loop may skip the step.
bool DecodeEmitter::sharesQueries() {
  DecodeSizes sizes = getDecodeSizes(op);
  if (keepsQueriesShared(sizes, config.getWarps(), config.getBlocks()))
    return true;
  return runsOutOfRegisters(*kernel.target, sizes) && (!hasOneStep() || op.isBounded());
}

/// LLVM sees no memory in what waits for other kernels, and would move loads to where they are
/// used.
void DecodeEmitter::keepHere(Loaded &loaded) {
  auto dialect = LLVM::AsmDialectAttr::get(builder.getContext(), LLVM::AsmDialect::AD_ATT);
  for (SmallVector<Values> *all : {&loaded.keys, &loaded.values})
    for (Values &words : *all)
      for (Value &word : words)
        word = LLVM::InlineAsmOp::create(builder, loc, word.getType(), word, "", "=r,0",
                                         /*has_side_effects=*/true, /*is_align_stack=*/false,
                                         LLVM::TailCallKind::None, dialect,
                                         /*operand_attrs=*/ArrayAttr())
                   .getResult(0);
}

LogicalResult DecodeEmitter::run() {
  if (config.getCluster() > 1)
    tile::ArriveBlocksOp::create(builder, loc, /*relaxed=*/true);
  locate();
  Loaded ahead;
  if (loadsAhead()) {
    if (kernel.isFixedInput(getSourceBinding(op.getKey())) ||
        kernel.isFixedInput(getSourceBinding(op.getValue())))
      kernel.getFunction()->setAttr(kReadsInputsEarlyAttr, builder.getUnitAttr());
    findKeys();
    ahead = load(index.mul(index.add(firstBlock, warp), kDecodeKeys));
    keepHere(ahead);
  }
  awaitBefore();
  if (ahead.keys.empty())
    findKeys();
  loadQueries();
  if (sharesQueries())
    shareQueries();
  State state = begin();
  auto pack = [](const State &from) {
    Values all(from.maxima);
    llvm::append_range(all, from.sums);
    llvm::append_range(all, from.outputs);
    return all;
  };
  auto unpack = [&](ValueRange all) {
    return State{Values(all.take_front(halves)), Values(all.slice(halves, halves)),
                 Values(all.drop_front(2 * halves))};
  };
  Value first = index.add(firstBlock, warp);
  if (!ahead.keys.empty())
    state = step(index.mul(first, kDecodeKeys), ahead, state);
  else
    state = unpack(points.emitLoop(first, lastBlock, index.constant(config.getWarps()), pack(state),
                                   [&](Value block, ValueRange carried) {
                                     Value firstKey = index.mul(rotate(block), kDecodeKeys);
                                     return pack(step(firstKey, load(firstKey), unpack(carried)));
                                   }));
  if (kernel.getFunction()->hasAttr(kProgrammaticAttr) && !hasOneStep())
    letNextBegin();
  leaveWarp(state);
  frame.barrier();
  joinWarps();
  if (config.getCluster() > 1)
    joinBlocks();
  // Of blocks that crowd, several share what one of them could read: 96 heads of 1024 keys took 4.9
  // us, and 3.3 with one on each multiprocessor.
  Value count = countBlocks();
  std::optional<int64_t> number = getConstantIntValue(count);
  if (number && *number <= int64_t(kernel.target->multiprocessors))
    frame.spreadBlocks(count);
  if (failed(frame.finish(count, config.getCluster())))
    return failure();
  // However wide indices are.
  frame.setFewestBlocks(config.getBlocks());
  return success();
}

LogicalResult emitDecodeAttention(const KernelInfo &kernel, kernel::AttentionDecodeOp op,
                                  AttentionDecodeAttr config) {
  DecodeSizes sizes = getDecodeSizes(op);
  std::optional<int64_t> window;
  if (op.getWindow())
    window = static_cast<int64_t>(*op.getWindow());
  if (!hasDecodeKernel(sizes, window, kernel.target))
    return op.emitOpError("expected vectors of a multiple of 8 up to 256 elements, some keys and "
                          "sm_80 or newer for ")
           << config;
  if (config.getCluster() > 1 && (op.getSplits() > 1 || !kernel.target->hasClusters()))
    return op.emitOpError("expected results that are no parts, and clusters of blocks, for ")
           << config;
  return DecodeEmitter(kernel, op, config).run();
}

} // namespace xc::cuda
