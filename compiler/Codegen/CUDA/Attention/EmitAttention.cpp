//===- EmitAttention.cpp - Attention in one kernel on wgmma ---------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A block stays on its multiprocessor and goes over tiles of queries:
//
//   one warpgroup loads:             each other one, 64 queries of the tile:
//     for each tile                    for each tile
//       its queries                      scores of the first block of keys; their softmax
//       for each block of keys           for each next block
//         keys, then the values            start scores of it; start sums of values of the one
//         before of the block before              softmax of the scores, beside those sums
//                                          scale the sums
//                                        sums of values of the last block; store
//
// Scores and weights stay in registers. Ping-pong warpgroups: one starts its products when
// the one before it has, so that the softmax of one runs beside the products of the other.
//
// Blocks of keys are gone over from the last one that a query of the tile sees down to the first:
// blocks before and behind are not loaded. In the first blocks, and with a window in the last ones,
// some keys are hidden from some queries; those between need no such test. Where tiles have unequal
// numbers of blocks, those with the most come first.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Attention/AttentionEmitter.h"
#include "compiler/Codegen/CUDA/Attention/AttentionGradient.h"
#include "compiler/Codegen/CUDA/Attention/AttentionProblem.h"
#include "compiler/Codegen/CUDA/Attention/AttentionRows.h"
#include "compiler/Codegen/CUDA/Attention/DecodeAttention.h"
#include "compiler/Codegen/CUDA/Matmul/MatmulModel.h"
#include "compiler/Codegen/CUDA/Passes.h"
#include "compiler/Codegen/CUDA/SelectStrategy.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace xc::cuda {

#define GEN_PASS_DEF_EMITATTENTION
#include "compiler/Codegen/CUDA/Passes.h.inc"

/// Stages and phases of three rings.
static constexpr unsigned kRingValues = 6;

AttentionEmitter::AttentionEmitter(const KernelInfo &kernel, kernel::AttentionOp op,
                                   AttentionShape config)
    : AttentionTiles(kernel, config), op(op), dim(op.getQueryType().getRank() - 2),
      vector(op.getQueryType().getShape().back()),
      outputVector(op.getValueType().getShape().back()) {
  scoreScale = getScoreScale(op);
  scalesFirst = op.getMask() || !(scoreScale > 0);
  factor = scalesFirst ? 1 : scoreScale * 1.4426950408889634;
  int64_t length = op.getKeyLength();
  hidesPlaces = op.isBounded() || ShapedType::isDynamic(length) || length % config.getKeys() != 0;
  hidesLastKeys = scalesFirst || hidesPlaces;
  MLIRContext *context = op.getContext();
  Type sum = builder.getF32Type(), element = op.getQueryType().getElementType();
  scoreType = makeSums(config.getKeys());
  outputType = makeSums(outputVector);
  weightType = makeWeights(config.getKeys(), element);
  tf32 = mayRoundToTF32(op);
  rowsType = tile::RowsType::get(context, sum, /*partial=*/false);
  partsType = tile::RowsType::get(context, sum, /*partial=*/true);
}

//===----------------------------------------------------------------------===//
// Tiles and blocks
//===----------------------------------------------------------------------===//

SmallVector<Value>
AttentionEmitter::emitTiles(ValueRange inits,
                            llvm::function_ref<SmallVector<Value>(const Tile &, ValueRange)> body) {
  int64_t tileQueries = config.getWarpgroups() * tile::kWarpgroupRows;
  SmallVector<Value> sizes = points.getSizes(op.getQuery());
  Value count = index.product(ArrayRef(sizes).take_front(dim));
  Value tiles = index.ceilDiv(queries, index.constant(tileQueries * config.getCluster()));
  auto loop = tile::PersistentOp::create(builder, loc, inits.getTypes(), count, tiles,
                                         index.constant(1), config.getRaster(),
                                         /*share=*/config.getCluster(), /*first=*/Value(),
                                         /*every=*/1, inits, config.getSerpentine() != 0);
  SmallVector<Type> arguments(3, builder.getIndexType());
  llvm::append_range(arguments, inits.getTypes());
  fill(loop.getBody(), arguments, [&](Block &block) {
    Tile tile;
    tile.head = block.getArgument(0);
    tile.sharedHead = index.div(tile.head, op.getGroupSize());
    if (op.isPaged()) {
      tile.sequence = index.div(tile.head, heads);
      tile.sharedHead = index.div(index.rem(tile.head, heads), op.getGroupSize());
      findOffset(tile);
    }
    Value number = block.getArgument(1);
    // Later queries see more keys.
    if (op.isBounded())
      number = index.sub(index.sub(tiles, index.constant(1)), number);
    // Blocks of a cluster are neighbours.
    if (config.getCluster() > 1)
      number = index.add(index.mul(number, config.getCluster()), rank);
    tile.firstQuery = index.mul(number, tileQueries);
    tile.endQuery = index.min(index.add(tile.firstQuery, tileQueries), queries);
    tile::YieldOp::create(builder, loc, body(tile, ValueRange(block.getArguments()).drop_front(3)));
  });
  return SmallVector<Value>(loop.getResults());
}

AttentionEmitter::Blocks AttentionEmitter::findBlocks(const Tile &tile) {
  Value zero = index.constant(0), size = index.constant(config.getKeys());
  auto notNegative = [&](Value value) { return index.max(value, zero); };
  Value end = keys, whole = keys, first = zero, firstWhole = zero;
  if (op.isBounded()) {
    // The last query sees the latest key; all see those that the first one does.
    end = index.min(notNegative(index.add(tile.endQuery, offset)), keys);
    whole = index.min(notNegative(index.add(index.add(tile.firstQuery, offset), 1)), keys);
  }
  if (op.getWindow()) {
    Value window = index.constant(static_cast<int64_t>(*op.getWindow()) - 1);
    first = notNegative(index.sub(index.add(tile.firstQuery, offset), window));
    firstWhole = notNegative(
        index.sub(index.sub(index.add(tile.endQuery, offset), index.constant(1)), window));
  }
  Blocks blocks;
  blocks.last = index.ceilDiv(end, size);
  blocks.count = notNegative(index.sub(blocks.last, index.div(first, size)));
  auto clamp = [&](Value value, Value least) {
    return index.min(index.max(value, least), blocks.count);
  };
  blocks.open =
      scalesFirst ? blocks.count : clamp(index.sub(blocks.last, index.div(whole, size)), zero);
  blocks.closed = op.getWindow()
                      ? clamp(index.sub(blocks.last, index.ceilDiv(firstWhole, size)), blocks.open)
                      : blocks.count;
  return blocks;
}

//===----------------------------------------------------------------------===//
// Loading
//===----------------------------------------------------------------------===//

/// Queries have a ring of few stages, keys and values a ring each: keys of a block are needed, and
/// given back, before its values.
void AttentionEmitter::makeSources() {
  querySource = makeSource(op.getQuery(), config.getWarpgroups() * tile::kWarpgroupRows,
                           config.getQueryStages(), /*sharers=*/1);
  keySource = makeSource(op.getKey(), config.getKeys(), config.getStages(), config.getCluster());
  valueSource =
      makeSource(op.getValue(), config.getKeys(), config.getStages(), config.getCluster());
  if (config.getMaskStages())
    makeMaskSource();
}

SmallVector<Value> AttentionEmitter::emitLoads(const Tile &tile, ValueRange states) {
  Blocks blocks = findBlocks(tile);
  Value one = index.constant(1);
  auto rowOf = [&](Value number) {
    return index.mul(index.sub(index.sub(blocks.last, one), number), config.getKeys());
  };
  RingState query{states[0], states[1]}, key{states[2], states[3]};
  fetch(querySource, query, tile.head, tile.firstQuery);
  fetch(keySource, key, tile.sharedHead, rowOf(index.constant(0)));
  fetchMasks(tile, key, rowOf(index.constant(0)));
  RingState nextKey = advance(key, config.getStages());
  SmallVector<Value> carried{nextKey.stage, nextKey.phase, states[4], states[5]};
  carried = points.emitLoop(
      one, blocks.count, one, carried, [&](Value number, ValueRange inner) -> SmallVector<Value> {
        RingState key{inner[0], inner[1]}, value{inner[2], inner[3]};
        fetch(keySource, key, tile.sharedHead, rowOf(number));
        fetchMasks(tile, key, rowOf(number));
        fetch(valueSource, value, tile.sharedHead, rowOf(index.sub(number, one)));
        RingState nextKey = advance(key, config.getStages()),
                  nextValue = advance(value, config.getStages());
        return {nextKey.stage, nextKey.phase, nextValue.stage, nextValue.phase};
      });
  RingState value{carried[2], carried[3]};
  fetch(valueSource, value, tile.sharedHead, rowOf(index.sub(blocks.count, one)));
  RingState nextValue = advance(value, config.getStages());
  RingState nextQuery = advance(query, config.getQueryStages());
  return {nextQuery.stage, nextQuery.phase, carried[0],
          carried[1],      nextValue.stage, nextValue.phase};
}

void AttentionEmitter::emitLoader() {
  SmallVector<Value> states(kRingValues, index.constant(0));
  emitTiles(states, [&](const Tile &tile, ValueRange states) {
    Value isAny = index.isLess(index.constant(0), findBlocks(tile).count);
    return points.emitIfOrKeep(isAny, states, [&] { return emitLoads(tile, states); });
  });
}

//===----------------------------------------------------------------------===//
// Computing
//===----------------------------------------------------------------------===//

/// Warpgroups in a circle have a barrier each, of its threads and those of the one before it.
void AttentionEmitter::waitPingPong() {
  if (config.getPingPong())
    tile::BarrierSyncOp::create(builder, loc, index.add(warpgroup, 1), 2 * tile::kWarpgroupThreads);
}

void AttentionEmitter::arrivePingPong() {
  if (!config.getPingPong())
    return;
  Value next = index.rem(index.add(warpgroup, 1), config.getWarpgroups());
  tile::BarrierArriveOp::create(builder, loc, index.add(next, 1), 2 * tile::kWarpgroupThreads);
}

/// Scores and softmax of the first block, and sums of nothing.
AttentionEmitter::State AttentionEmitter::beginBlocks(const Tile &tile, const Blocks &blocks,
                                                      RingState keyState, RingState valueState) {
  State state;
  Value least = f32(-std::numeric_limits<double>::infinity());
  if (op.getSinks()) {
    Value head = index.rem(tile.head, heads);
    least = points.emit(op.getSinks(), Point{{}, Coord::uniform(head), 1, {}});
    if (!least.getType().isF32())
      least = arith::ExtFOp::create(builder, loc, builder.getF32Type(), least);
    least = arith::MulFOp::create(builder, loc, least, f32(1.4426950408889634 / factor));
  }
  state.softmax.maximum = tile::SplatOp::create(builder, loc, rowsType, least);
  state.softmax.sum = tile::SplatOp::create(builder, loc, partsType, f32(0));
  state.output = tile::SplatOp::create(builder, loc, outputType, f32(0));
  state.values = valueState;
  if (!blocks.count)
    return state;
  waitFull(keySource, keyState);
  auto [started, token] = startScores(getSlot(keySource, keyState));
  Value block = index.sub(blocks.last, index.constant(1));
  Value masks = loadMasksEarly(tile, block, keyState);
  Value scores = capScores(op, tile::AwaitOp::create(builder, loc, started, token));
  release(keySource, keyState, token);
  if (hidesLastKeys)
    scores = hideKeys(scores, tile, block, masks, keyState);
  Value rescale;
  Value weights = emitSoftmax(scores, state.softmax, rescale);
  state.weights = tile::ConvertLayoutOp::create(builder, loc, weightType, weights);
  state.keys = advance(keyState, config.getStages());
  return state;
}

AttentionEmitter::State AttentionEmitter::emitBlock(const Tile &tile, Value block,
                                                    const State &state, bool hidesKeys) {
  State next = state;
  waitPingPong();
  waitFull(keySource, state.keys);
  auto [startedScores, scoreToken] = startScores(getSlot(keySource, state.keys));
  waitFull(valueSource, state.values);
  auto [startedOutput, outputToken] =
      startOutput(state.weights, state.output, getSlot(valueSource, state.values));
  arrivePingPong();
  Value masks = loadMasksEarly(tile, block, state.keys);
  release(keySource, state.keys, scoreToken);
  Value scores = capScores(op, tile::AwaitOp::create(builder, loc, startedScores, scoreToken));
  if (hidesKeys)
    scores = hideKeys(scores, tile, block, masks, state.keys);
  Value rescale;
  Value weights = emitSoftmax(scores, next.softmax, rescale);
  next.weights = tile::ConvertLayoutOp::create(builder, loc, weightType, weights);
  release(valueSource, state.values, outputToken);
  Value output = tile::AwaitOp::create(builder, loc, startedOutput, outputToken);
  next.output = map(outputType, {output, rescale}, [&](ValueRange arguments) {
    return arith::MulFOp::create(builder, loc, arguments[0], arguments[1]).getResult();
  });
  next.keys = advance(state.keys, config.getStages());
  next.values = advance(state.values, config.getStages());
  return next;
}

AttentionEmitter::State AttentionEmitter::loopOverBlocks(const Tile &tile, const Blocks &blocks,
                                                         State state, Value from, Value to,
                                                         bool hidesKeys) {
  auto pack = [](const State &s) -> SmallVector<Value> {
    return {s.output,     s.weights,    s.softmax.maximum, s.softmax.sum,
            s.keys.stage, s.keys.phase, s.values.stage,    s.values.phase};
  };
  auto unpack = [](ValueRange v) -> State {
    return {v[0], v[1], {v[2], v[3]}, {v[4], v[5]}, {v[6], v[7]}};
  };
  return unpack(points.emitLoop(
      from, to, index.constant(1), pack(state), [&](Value number, ValueRange carried) {
        Value block = index.sub(index.sub(blocks.last, index.constant(1)), number);
        return pack(emitBlock(tile, block, unpack(carried), hidesKeys));
      }));
}

AttentionEmitter::State AttentionEmitter::endBlocks(const State &state) {
  State next = state;
  waitFull(valueSource, state.values);
  auto [started, token] =
      startOutput(state.weights, state.output, getSlot(valueSource, state.values));
  release(valueSource, state.values, token);
  next.output = tile::AwaitOp::create(builder, loc, started, token);
  next.values = advance(state.values, config.getStages());
  return next;
}

/// The tile's results; returns the rings' states behind it.
SmallVector<Value> AttentionEmitter::emitTile(const Tile &tile, ValueRange states) {
  RingState query{states[0], states[1]}, key{states[2], states[3]}, value{states[4], states[5]};
  Blocks blocks = findBlocks(tile);
  State none = beginBlocks(tile, Blocks(), key, value);
  SmallVector<Value> inits{none.output, none.softmax.maximum, none.softmax.sum};
  llvm::append_range(inits, states);
  Value one = index.constant(1);
  SmallVector<Value> results = points.emitIfOrKeep(
      index.isLess(index.constant(0), blocks.count), inits, [&]() -> SmallVector<Value> {
        waitFull(querySource, query);
        queryTile = getSlot(querySource, query);
        State state = beginBlocks(tile, blocks, key, value);
        Value open = index.max(blocks.open, one), closed = index.max(blocks.closed, open);
        if (op.getCausal() || scalesFirst)
          state = loopOverBlocks(tile, blocks, state, one, open, /*hidesKeys=*/true);
        if (!scalesFirst)
          state = loopOverBlocks(tile, blocks, state, open, closed, /*hidesKeys=*/false);
        if (op.getWindow() && !scalesFirst)
          state = loopOverBlocks(tile, blocks, state, closed, blocks.count, /*hidesKeys=*/true);
        release(querySource, query, Value());
        state = endBlocks(state);
        RingState nextQuery = advance(query, config.getQueryStages());
        return {state.output,     state.softmax.maximum, state.softmax.sum,
                nextQuery.stage,  nextQuery.phase,       state.keys.stage,
                state.keys.phase, state.values.stage,    state.values.phase};
      });
  emitOutput(tile, results[0], {results[1], results[2]});
  return SmallVector<Value>(ArrayRef(results).drop_front(3));
}

void AttentionEmitter::emitConsumer() {
  // The last warpgroup arrives once before its first wait: nobody else lets the first one begin.
  if (config.getPingPong())
    points.emitIf(index.isEqual(warpgroup, index.constant(config.getWarpgroups() - 1)),
                  [&] { arrivePingPong(); });
  SmallVector<Value> states(kRingValues, index.constant(0));
  emitTiles(states, [&](const Tile &tile, ValueRange states) { return emitTile(tile, states); });
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

/// What a causal attention's queries see beyond their own position.
void AttentionEmitter::findOffset() {
  if (op.getCausal())
    offset = loadOffset(op.getOffset(), op.getWindow() ? static_cast<int64_t>(*op.getWindow()) : 0);
}

void AttentionEmitter::findOffset(const Tile &tile) {
  Value stored = points.emit(op.getLengths(), Point{{Coord::uniform(tile.sequence)}, {}, 1, {}});
  Type i64 = builder.getI64Type();
  if (stored.getType() != i64)
    stored = arith::ExtSIOp::create(builder, loc, i64, stored);
  // Between what hides all keys and what hides none, so that sums fit.
  Value most = arith::IndexCastOp::create(builder, loc, i64, index.add(keys, queries)),
        least = arith::ConstantOp::create(builder, loc, builder.getI64IntegerAttr(0));
  stored = arith::MinSIOp::create(builder, loc, stored, most);
  stored = arith::MaxSIOp::create(builder, loc, stored, least);
  offset =
      index.sub(arith::IndexCastOp::create(builder, loc, builder.getIndexType(), stored), queries);
}

LogicalResult AttentionEmitter::run() {
  frame.setFewestBlocks(1);
  SmallVector<Value> sizes = points.getSizes(op.getQuery());
  queries = sizes[dim];
  heads = sizes[dim - 1];
  keys = points.getSizes(op.getKey())[dim];
  if (op.isPaged())
    keys = index.mul(keys, points.getSizes(op.getTable())[1]);
  if (!config.isSynchronous())
    return emitWithRoles();
  findOffset();
  return frame.finish(emitSynchronous());
}

LogicalResult AttentionEmitter::emitWithRoles() {
  kernel.getFunction()->setAttr(kProgrammaticAttr, builder.getUnitAttr());
  int64_t cluster = config.getCluster();
  if (cluster > 1)
    rank = index.rem(frame.getBlockId(), cluster);
  makeSources();
  // Up to here nothing that the kernel before it may have written is read.
  NVVM::GriddepcontrolOp::create(builder, loc, NVVM::GridDepActionKind::wait);
  if (cluster > 1)
    tile::SyncBlocksOp::create(builder, loc);
  else
    frame.barrier();
  NVVM::GriddepcontrolOp::create(builder, loc, NVVM::GridDepActionKind::launch_dependents);
  findOffset();
  constexpr int64_t middle = 128;
  emitRoles([&] { emitLoader(); }, [&] { emitConsumer(); },
            /*needsMost=*/std::max(vector, outputVector) > middle);
  // No more blocks than stay on the device at a time.
  SmallVector<Value> sizes = points.getSizes(op.getQuery());
  Value tiles = index.mul(index.product(ArrayRef(sizes).take_front(dim)),
                          index.ceilDiv(queries, index.constant(config.getWarpgroups() *
                                                                tile::kWarpgroupRows * cluster)));
  int64_t resident = getClusterRoom(*kernel.target, cluster);
  std::optional<int64_t> known = getConstantIntValue(tiles);
  return frame.finish(index.constant(known ? std::min(*known * cluster, resident) : resident),
                      cluster);
}

namespace {

struct EmitAttention final : impl::EmitAttentionBase<EmitAttention> {
  void runOnOperation() override {
    Attribute config = getOperation()->getAttr(plan::kConfigAttr);
    if (!isa_and_nonnull<AttentionAttr, AttentionMMAAttr, AttentionRowsAttr, AttentionCombineAttr,
                         AttentionDecodeAttr>(config))
      return;
    FailureOr<KernelInfo> kernel = analyzeKernel(getOperation());
    if (failed(kernel))
      return signalPassFailure();
    if (isa<AttentionCombineAttr, AttentionDecodeAttr>(config)) {
      if (failed(emitFew(*kernel, config)))
        signalPassFailure();
      return;
    }
    if (kernel::AttentionGradientOp op = matchAttentionGradient(*kernel)) {
      auto rows = dyn_cast<AttentionRowsAttr>(config);
      if (failed(rows ? emitGradientRows(*kernel, op, rows)
                      : emitAttentionGradient(*kernel, op, config)))
        signalPassFailure();
      return;
    }
    kernel::AttentionOp op = matchAttention(*kernel);
    if (!op) {
      getOperation().emitOpError("expected the results of kernel.attention or its gradient for ")
          << config;
      return signalPassFailure();
    }
    if (failed(emit(*kernel, op, config)))
      signalPassFailure();
  }

private:
  static LogicalResult emitFew(const KernelInfo &kernel, Attribute config) {
    Operation *op =
        kernel.outputs.empty() ? nullptr : kernel.outputs.front().tensor.getDefiningOp();
    auto decode = dyn_cast_or_null<kernel::AttentionDecodeOp>(op);
    auto combine = dyn_cast_or_null<kernel::AttentionCombineOp>(op);
    if (auto own = dyn_cast<AttentionDecodeAttr>(config); own && decode)
      return emitDecodeAttention(kernel, decode, own);
    if (auto own = dyn_cast<AttentionCombineAttr>(config); own && combine)
      return emitCombineAttention(kernel, combine, own);
    return kernel.getFunction().emitOpError(
               "expected the results of kernel.attention_decode or kernel.attention_combine for ")
           << config;
  }
  static LogicalResult emit(const KernelInfo &kernel, kernel::AttentionOp op, Attribute config) {
    if (auto rows = dyn_cast<AttentionRowsAttr>(config))
      return emitAttentionRows(kernel, op, rows);
    auto mma = dyn_cast<AttentionMMAAttr>(config);
    if (mma ? !hasMMAAttention(op, kernel.target) : !hasWGMMAAttention(op, kernel.target))
      return op.emitOpError("expected vectors of a multiple of 8 up to 256 elements and ")
             << (mma ? "sm_80 or later" : "sm_90a") << " for " << config;
    KernelSizes sizes = makeSizes(kernel);
    std::string wrong = mma ? MMAAttentionChooser{op, *kernel.target}.check(mma)
                            : AttentionChooser{op, *kernel.target, hasCopiedMask(op, sizes)}.check(
                                  cast<AttentionAttr>(config));
    if (!wrong.empty())
      return op.emitOpError("cannot take ") << config << ": " << wrong;
    if (!llvm::all_of(ArrayRef<Value>{op.getQuery(), op.getKey(), op.getValue()},
                      [&](Value tensor) { return matchAttentionOperand(tensor, sizes); }))
      return op.emitOpError("expected queries, keys and values that boxes can be copied of for ")
             << config;
    if (mma)
      return AttentionEmitter(kernel, op, mma).run();
    return AttentionEmitter(kernel, op, cast<AttentionAttr>(config)).run();
  }
};

} // namespace

} // namespace xc::cuda
