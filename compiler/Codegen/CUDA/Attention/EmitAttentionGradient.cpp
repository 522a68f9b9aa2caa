//===- EmitAttentionGradient.cpp - Attention's gradient on wgmma ----------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two kernels of one text, so that each sum is added up in registers and in a fixed order. The one
// of queries has tiles of queries and goes over blocks of keys; that of keys and values has tiles
// of keys and goes over blocks of queries, of all heads that share them. A tile's own operands are
// queries and cotangents, or keys and values; the others are the streamed ones. A block stays on
// its multiprocessor; one warpgroup loads, and each other one has 64 rows of the tile:
//
//   for each tile
//     for each block of the streamed operands
//       start scores: own queries or keys times streamed ones
//       start what flows to weights: own cotangents or values times streamed ones
//       weights p = exp(scores - logsumexp), beside that product
//       of keys and values: start sums of values, p times streamed cotangents
//       s = p * (what flows to them - delta), beside that product
//       start sums of queries or keys, s times streamed keys or queries
//     store
//
// Scores and weights are transposed in the kernel of keys and values: rows are keys, and what
// belongs to queries, logsumexp and delta, are numbers of columns.
//
// Where vectors are long, the sums of keys and those of values do not fit the registers together:
// they have a kernel each, and that of values needs no values.
//
// Blocks that no row of the tile sees, or is seen by, are left out; between the first ones and the
// last ones, in which some are hidden, nothing needs a test.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Attention/AttentionGradient.h"
#include "compiler/Codegen/CUDA/Attention/AttentionGradientEmitter.h"
#include "compiler/Codegen/CUDA/Attention/FloatOps.h"
#include "compiler/Codegen/CUDA/Common/Accesses.h"
#include "compiler/Codegen/CUDA/Common/LaneOps.h"
#include "compiler/Codegen/CUDA/SelectStrategy.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace xc::cuda {

/// Stages and phases of the rings of own operands, and of streamed ones.
static constexpr unsigned kGradientRingValues = 4;

AttentionGradientEmitter::AttentionGradientEmitter(const KernelInfo &kernel,
                                                   kernel::AttentionGradientOp op,
                                                   AttentionShape config)
    : AttentionTiles(kernel, config), op(op), ofKeys(op.isOfKeys()),
      dim(op.getQueryType().getRank() - 2),
      widths{op.getQueryType().getShape().back(), op.getValueType().getShape().back()},
      wanted(op.getWanted()), group(op.getGroupSize()),
      window(op.getWindow() ? static_cast<int64_t>(*op.getWindow()) : 0) {
  int64_t length = (ofKeys ? op.getQueryType() : op.getKeyType()).getDimSize(dim);
  bool isUneven = ShapedType::isDynamic(length) || length % config.getKeys() != 0;
  hidesFirst = ofKeys ? op.getCausal() : window > 0;
  hidesLast = isUneven || (ofKeys ? window > 0 : op.getCausal());
  scoreType = makeSums(config.getKeys());
  weightType = makeWeights(config.getKeys(), op.getQueryType().getElementType());
  tf32 = mayRoundToTF32(op);
  auto rowSums = tile::RowsType::get(op.getContext(), Float32Type::get(op.getContext()), true);
  for (unsigned operand : wanted)
    sumTypes.push_back(isOfKeyMask()  ? Type(rowSums)
                       : operand == 3 ? scoreType
                                      : makeSums(widths[operand / 2]));
}

//===----------------------------------------------------------------------===//
// Tiles and blocks
//===----------------------------------------------------------------------===//

SmallVector<Value> AttentionGradientEmitter::emitTiles(
    ValueRange inits, llvm::function_ref<SmallVector<Value>(const Tile &, ValueRange)> body) {
  int64_t rows = config.getWarpgroups() * tile::kWarpgroupRows;
  SmallVector<Value> sizes = points.getSizes(getTiled());
  Value heads = index.product(ArrayRef(sizes).take_front(dim)),
        tiles = index.ceilDiv(ownLength, index.constant(rows));
  auto loop = tile::PersistentOp::create(builder, loc, inits.getTypes(), heads, tiles,
                                         index.constant(1), config.getRaster(), /*share=*/1,
                                         /*first=*/Value(), /*every=*/1, inits,
                                         config.getSerpentine() != 0);
  SmallVector<Type> arguments(3, builder.getIndexType());
  llvm::append_range(arguments, inits.getTypes());
  fill(loop.getBody(), arguments, [&](Block &block) {
    Value number = block.getArgument(1);
    // The most work first: of the last queries, or of the first keys.
    if (op.getCausal() && !ofKeys)
      number = index.sub(index.sub(tiles, index.constant(1)), number);
    Tile tile;
    tile.head = block.getArgument(0);
    tile.first = index.mul(number, rows);
    tile.end = index.min(index.add(tile.first, rows), ownLength);
    tile::YieldOp::create(builder, loc, body(tile, ValueRange(block.getArguments()).drop_front(3)));
  });
  return SmallVector<Value>(loop.getResults());
}

/// Query i sees key j if i + offset - window < j <= i + offset.
AttentionGradientEmitter::Blocks AttentionGradientEmitter::findBlocks(const Tile &tile) {
  Value zero = index.constant(0), size = index.constant(config.getKeys());
  auto clamp = [&](Value value) { return index.min(index.max(value, zero), streamedLength); };
  Value last = index.sub(tile.end, index.constant(1));
  Value begin = zero, end = streamedLength, wholeBegin = begin, wholeEnd = end;
  if (op.getCausal() && ofKeys) {
    begin = clamp(index.sub(tile.first, offset));
    wholeBegin = clamp(index.sub(last, offset));
  } else if (op.getCausal()) {
    end = clamp(index.add(tile.end, offset));
    wholeEnd = clamp(index.add(index.add(tile.first, offset), 1));
  }
  if (window && ofKeys) {
    end = clamp(index.add(index.sub(last, offset), window));
    wholeEnd = clamp(index.add(index.sub(tile.first, offset), window));
  } else if (window) {
    Value distance = index.sub(offset, index.constant(window - 1));
    begin = clamp(index.add(tile.first, distance));
    wholeBegin = clamp(index.add(last, distance));
  }
  Blocks blocks;
  blocks.first = index.div(begin, size);
  blocks.last = index.max(index.ceilDiv(end, size), blocks.first);
  blocks.open = index.min(index.max(index.ceilDiv(wholeBegin, size), blocks.first), blocks.last);
  blocks.closed = index.min(index.max(index.div(wholeEnd, size), blocks.open), blocks.last);
  return blocks;
}

SmallVector<Value> AttentionGradientEmitter::forEachHead(
    const Tile &tile, ValueRange inits,
    llvm::function_ref<SmallVector<Value>(Value, ValueRange)> body) {
  if (!ofKeys || group == 1 || isOfKeyMask())
    return body(tile.head, inits);
  Value first = index.mul(tile.head, group);
  return points.emitLoop(
      index.constant(0), index.constant(group), index.constant(1), inits,
      [&](Value number, ValueRange carried) { return body(index.add(first, number), carried); });
}

//===----------------------------------------------------------------------===//
// Loading
//===----------------------------------------------------------------------===//

SmallVector<Value> AttentionGradientEmitter::emitLoads(const Tile &tile, ValueRange states) {
  Blocks blocks = findBlocks(tile);
  RingState ownState{states[0], states[1]};
  for (const Source &source : own)
    fetch(source, ownState, getOwnHead(tile), tile.first);
  SmallVector<Value> carried = forEachHead(
      tile, states.drop_front(2), [&](Value head, ValueRange carried) -> SmallVector<Value> {
        Value streamedHead = ofKeys ? head : index.div(head, group);
        return points.emitLoop(blocks.first, blocks.last, index.constant(1), carried,
                               [&](Value block, ValueRange inner) -> SmallVector<Value> {
                                 RingState state{inner[0], inner[1]};
                                 Value row = index.mul(block, config.getKeys());
                                 for (const Source &source : streamed)
                                   fetch(source, state, streamedHead, row);
                                 state = advance(state, config.getStages());
                                 return {state.stage, state.phase};
                               });
      });
  ownState = advance(ownState, config.getQueryStages());
  return {ownState.stage, ownState.phase, carried[0], carried[1]};
}

//===----------------------------------------------------------------------===//
// Weights
//===----------------------------------------------------------------------===//

/// What `tensor` has for 64 rows, or for a block's columns, from query `first` on. Places outside
/// are those of the last query. Of columns for each score by itself, that of neighbours together.
Value AttentionGradientEmitter::loadNumber(Type type, Value tensor, Value head, Value first,
                                           llvm::function_ref<Value(Value)> change) {
  bool isRows = isa<tile::RowsType>(type), isSpread = isa<tile::RegisterType>(type);
  int64_t width = isSpread && knownDivisor(queries) % 2 == 0 ? 2 : 1;
  Value zero = index.constant(0), last = index.sub(queries, index.constant(width));
  return mapAt(
      type, {}, isRows ? first : zero, isRows ? zero : first,
      [&](ValueRange place) {
        Value query = place[isRows ? 0 : 1];
        if (width > 1) // Said so that loads know it.
          query = index.mul(index.div(query, width), width);
        Value at = index.add(index.mul(head, queries), index.min(query, last));
        Coord coord = width > 1 ? Coord::consecutive(at) : Coord::uniform(at);
        Value stored = points.emit(tensor, Point{{}, coord, width, {}});
        if (width == 1)
          return change(stored);
        SmallVector<Value> lanes;
        for (int64_t lane = 0; lane < width; ++lane)
          lanes.push_back(change(getLane(builder, loc, stored, lane)));
        return fromLanes(builder, loc, lanes);
      },
      width);
}

Value AttentionGradientEmitter::loadLogsumexp(Type type, Value head, Value first) {
  return loadNumber(type, op.getLogsumexp(), head, first, [&](Value stored) -> Value {
    // Minus infinity of a query that sees no key: all its weights are hidden.
    Value lowest = f32(-std::numeric_limits<double>::infinity());
    Value isNone = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OEQ, stored, lowest);
    Value scaled = arith::MulFOp::create(builder, loc, stored, f32(kLog2E));
    return arith::SelectOp::create(builder, loc, isNone, f32(0), scaled);
  });
}

/// Null where nothing flows to scores.
Value AttentionGradientEmitter::loadDelta(Type type, Value head, Value first) {
  if (!needsFlow())
    return {};
  return loadNumber(type, op.getDelta(), head, first, [](Value stored) { return stored; });
}

AttentionGradientEmitter::Numbers AttentionGradientEmitter::loadNumbers(Type type, Value head,
                                                                        Value first) {
  return {loadLogsumexp(type, head, first), loadDelta(type, head, first)};
}

/// How many neighbours of a row of scores a mask is read for at a time: only of keys, and where no
/// pair has one behind the last.
int64_t AttentionGradientEmitter::getMaskWidth() {
  return ofKeys || !op.getMask() ? 1 : countMaskNeighbours(op.getMask());
}

/// What the mask has for the place at `row` and `column`, or for as many as are read at a time.
Value AttentionGradientEmitter::loadMaskAt(Value head, Value row, Value column) {
  return loadMask(op.getMask(), op.getQuery(), head, ofKeys ? column : row, ofKeys ? row : column,
                  getMaskWidth());
}

/// i1: whether the query and the key are there, and see each other. `row` is inside, or nobody
/// looks at what is made of it. `stored` is what a mask of truth values has, if there is one.
Value AttentionGradientEmitter::isVisible(Value row, Value column, Value stored) {
  Value visible = index.isLess(column, streamedLength);
  Value query = ofKeys ? column : row, key = ofKeys ? row : column;
  if (op.getCausal()) {
    Value latest = index.add(query, offset);
    visible = index.both(visible, index.isAtLeast(latest, key));
    if (window)
      visible = index.both(visible, index.isLess(index.sub(latest, index.constant(window)), key));
  }
  if (!stored)
    return visible;
  Value zero = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(stored.getType()));
  return index.both(visible,
                    arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, stored, zero));
}

Value AttentionGradientEmitter::addMask(const Tile &tile, Value head, Value scores, Value first) {
  double factor = getScoreScale(op) * kLog2E;
  int64_t width = getMaskWidth();
  auto constant = [&](double value) { return splatTo(builder, loc, f32(value), width); };
  return mapAt(
      scoreType, scores, firstRow(tile), first,
      [&](ValueRange arguments) -> Value {
        Value stored = loadMaskAt(head, arguments[1], arguments[2]), given = arguments[0];
        if (stored.getType() != given.getType())
          stored = arith::ExtFOp::create(builder, loc, given.getType(), stored);
        Value score = arith::MulFOp::create(builder, loc, given, constant(factor));
        return math::FmaOp::create(builder, loc, stored, constant(kLog2E), score);
      },
      width);
}

/// `weights`, and 0 where a query does not see a key.
Value AttentionGradientEmitter::hideWeights(const Tile &tile, Value head, Value weights,
                                            Value first) {
  int64_t width = hidesAnywhere() ? getMaskWidth() : 1;
  return mapAt(
      scoreType, weights, firstRow(tile), first,
      [&](ValueRange arguments) -> Value {
        Value stored = hidesAnywhere() ? loadMaskAt(head, arguments[1], arguments[2]) : Value();
        SmallVector<Value> lanes;
        for (int64_t lane = 0; lane < width; ++lane) {
          Value visible = isVisible(arguments[1], index.add(arguments[2], lane),
                                    stored ? getLane(builder, loc, stored, lane) : Value());
          lanes.push_back(arith::SelectOp::create(
              builder, loc, visible, getLane(builder, loc, arguments[0], lane), f32(0)));
        }
        return fromLanes(builder, loc, lanes);
      },
      width);
}

Value AttentionGradientEmitter::emitWeights(const Tile &tile, Value head, Value scores,
                                            Value logsumexp, Value first, Value hides) {
  double factor = isMaskAdded() ? 1 : getScoreScale(op) * kLog2E;
  if (isMaskAdded())
    scores = addMask(tile, head, scores, first);
  Value weights = map(scoreType, {scores, logsumexp}, [&](ValueRange arguments) {
    Value negated = arith::NegFOp::create(builder, loc, arguments[1]);
    return exp2(math::FmaOp::create(builder, loc, arguments[0], f32(factor), negated));
  });
  auto hide = [&] { return SmallVector<Value>{hideWeights(tile, head, weights, first)}; };
  if (hidesAnywhere())
    return hide().front();
  return hides ? points.emitIfOrKeep(hides, weights, hide).front() : weights;
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// Own rows times those of a streamed tile: of queries and keys, or of cotangents and values.
std::pair<Value, Value> AttentionGradientEmitter::startScores(unsigned operand, Value tile) {
  return startProduct(scoreType, ownSlots[operand], index.mul(warpgroup, tile::kWarpgroupRows),
                      tile, /*sums=*/Value(),
                      alignToStep(widths[operand], op.getQueryType().getElementType()),
                      /*transposed=*/false);
}

std::pair<Value, Value> AttentionGradientEmitter::startSum(Value weights, Value tile, Value sums) {
  Value narrow = tile::ConvertLayoutOp::create(builder, loc, weightType, weights);
  return startProduct(cast<tile::RegisterType>(sums.getType()), narrow, /*row=*/Value(), tile, sums,
                      config.getKeys(), /*transposed=*/true);
}

Value AttentionGradientEmitter::makeFlow(Value weights, Value flow, Value delta, Value scores) {
  SmallVector<Value> inputs{weights, flow, delta};
  // A mask is added behind what limits scores.
  if (op.getSoftcap() && !isOfKeyMask())
    inputs.push_back(scores);
  return map(scoreType, inputs, [&](ValueRange arguments) {
    Value change = arith::SubFOp::create(builder, loc, arguments[1], arguments[2]);
    Value toScore = arith::MulFOp::create(builder, loc, arguments[0], change);
    if (arguments.size() == 3)
      return toScore;
    Value negated = arith::NegFOp::create(builder, loc, arguments[3]);
    Value slope = math::FmaOp::create(builder, loc, negated, arguments[3], f32(1));
    return arith::MulFOp::create(builder, loc, toScore, slope).getResult();
  });
}

SmallVector<Value> AttentionGradientEmitter::emitBlock(const Tile &tile, Value head, Value block,
                                                       ValueRange sums, Value hides,
                                                       Streamed tiles) {
  Value first = index.mul(block, config.getKeys());
  auto columns =
      tile::ColumnsType::get(builder.getContext(), config.getKeys(), builder.getF32Type());
  // Before the products, beside which they come; those for each score take registers, and come
  // beside the products before their use.
  bool loadsColumns = config.getColumnLoads();
  Numbers numbers = rowNumbers;
  if (ofKeys && !loadsColumns)
    numbers = loadNumbers(columns, head, first);
  Value streamedTiles[2] = {tiles.wait(0), Value()};
  auto [startedScores, scoresDone] = startScores(0, streamedTiles[0]);
  streamedTiles[1] = tiles.wait(1);
  if (!needsFlow()) {
    tiles.release(0, scoresDone);
    if (loadsColumns)
      numbers.logsumexp = loadLogsumexp(scoreType, head, first);
    Value scores = capScores(op, tile::AwaitOp::create(builder, loc, startedScores, scoresDone));
    Value weights = emitWeights(tile, head, scores, numbers.logsumexp, first, hides);
    auto [startedValues, valuesDone] = startSum(weights, streamedTiles[1], sums[0]);
    tiles.release(1, valuesDone);
    return {tile::AwaitOp::create(builder, loc, startedValues, valuesDone)};
  }
  auto [startedFlow, flowDone] = startScores(1, streamedTiles[1]);
  if (loadsColumns)
    numbers.logsumexp = loadLogsumexp(scoreType, head, first);
  Value scores = capScores(op, tile::AwaitOp::create(builder, loc, startedScores, scoresDone));
  Value weights = emitWeights(tile, head, scores, numbers.logsumexp, first, hides);
  Value startedValues, valuesDone = flowDone;
  if (wantsValues())
    std::tie(startedValues, valuesDone) = startSum(weights, streamedTiles[1], sums[1]);
  if (loadsColumns)
    numbers.delta = loadDelta(scoreType, head, first);
  Value flow = tile::AwaitOp::create(builder, loc, startedFlow, flowDone);
  Value toScores = makeFlow(weights, flow, numbers.delta, scores);
  if (isOfKeyMask()) {
    tiles.release(0, scoresDone);
    tiles.release(1, flowDone);
    return {tile::ReduceRowsOp::create(builder, loc, tile::Combine::Add, toScores, sums[0])};
  }
  auto [startedSums, sumsDone] = startSum(toScores, streamedTiles[0], sums[0]);
  tiles.release(1, valuesDone);
  tiles.release(0, sumsDone);
  SmallVector<Value> results{tile::AwaitOp::create(builder, loc, startedSums, sumsDone)};
  if (wantsValues())
    results.push_back(tile::AwaitOp::create(builder, loc, startedValues, valuesDone));
  return results;
}

Value AttentionGradientEmitter::mayHide(const Blocks &blocks, Value block) {
  Value hides;
  if (hidesFirst)
    hides = index.isLess(block, blocks.open);
  if (hidesLast) {
    Value isLast = index.isAtLeast(block, blocks.closed);
    hides = hides ? arith::OrIOp::create(builder, loc, hides, isLast).getResult() : isLast;
  }
  return hides;
}

/// One loop for all blocks, so that sums stay where they are: a branch is all that those take that
/// hide nothing.
AttentionGradientEmitter::State AttentionGradientEmitter::emitBlocks(const Tile &tile, Value head,
                                                                     const Blocks &blocks,
                                                                     State state) {
  return unpack(points.emitLoop(blocks.first, blocks.last, index.constant(1), pack(state),
                                [&](Value block, ValueRange carried) {
                                  State given = unpack(carried);
                                  auto wait = [&](unsigned operand) {
                                    waitFull(streamed[operand], given.streamed);
                                    return getSlot(streamed[operand], given.streamed);
                                  };
                                  auto giveBack = [&](unsigned operand, Value token) {
                                    release(streamed[operand], given.streamed, token);
                                  };
                                  SmallVector<Value> sums =
                                      emitBlock(tile, head, block, given.sums,
                                                mayHide(blocks, block), {wait, giveBack});
                                  return pack({sums, advance(given.streamed, config.getStages())});
                                }));
}

/// The tile's results; returns the rings' states behind it.
SmallVector<Value> AttentionGradientEmitter::emitTile(const Tile &tile, ValueRange states) {
  RingState ownState{states[0], states[1]};
  Blocks blocks = findBlocks(tile);
  SmallVector<Value> inits;
  for (Type type : sumTypes)
    inits.push_back(tile::SplatOp::create(builder, loc, type, f32(0)));
  State start{inits, {states[2], states[3]}};
  llvm::append_range(inits, states);
  SmallVector<Value> results = points.emitIfOrKeep(
      index.isLess(blocks.first, blocks.last), inits, [&]() -> SmallVector<Value> {
        auto rows = tile::RowsType::get(builder.getContext(), builder.getF32Type(), false);
        if (!ofKeys)
          rowNumbers = loadNumbers(rows, tile.head, firstRow(tile));
        for (auto [source, slot] : llvm::zip(own, ownSlots)) {
          waitFull(source, ownState);
          slot = getSlot(source, ownState);
        }
        State state = unpack(forEachHead(tile, pack(start), [&](Value head, ValueRange carried) {
          return pack(emitBlocks(tile, head, blocks, unpack(carried)));
        }));
        for (const Source &source : own)
          release(source, ownState, Value());
        RingState next = advance(ownState, config.getQueryStages());
        SmallVector<Value> values(state.sums);
        values.append({next.stage, next.phase, state.streamed.stage, state.streamed.phase});
        return values;
      });
  store(tile, ArrayRef(results).take_front(sumTypes.size()));
  return SmallVector<Value>(ArrayRef(results).drop_front(sumTypes.size()));
}

/// The number of each key, in a line for each head.
void AttentionGradientEmitter::storeKeyMask(const Tile &tile, Value sums) {
  auto rows = tile::RowsType::get(builder.getContext(), builder.getF32Type(), false);
  Value whole = tile::CombineRowsOp::create(builder, loc, rows, tile::Combine::Add, sums);
  plan::BindingOp binding = kernel.outputs.front().binding;
  Type element = cast<MemRefType>(binding.getMemory().getType()).getElementType();
  auto each = tile::EachOp::create(builder, loc, whole, firstRow(tile), index.constant(0));
  fill(each.getBody(), {builder.getF32Type(), builder.getIndexType()}, [&](Block &block) {
    Value row = block.getArgument(1);
    points.emitIf(index.isLess(row, ownLength), [&] {
      Value sum = block.getArgument(0);
      if (!element.isF32())
        sum = arith::TruncFOp::create(builder, loc, element, sum);
      Value place = index.add(index.mul(tile.head, ownLength), row);
      points.store(binding, Coord::uniform(place), sum, 1);
    });
    tile::YieldOp::create(builder, loc, ValueRange());
  });
}

void AttentionGradientEmitter::store(const Tile &tile, ValueRange sums) {
  if (isOfKeyMask())
    return storeKeyMask(tile, sums.front());
  for (const KernelOutput &output : kernel.outputs) {
    SmallVector<unsigned> order;
    unsigned number = cast<OpResult>(getPermuted(output.tensor, order)).getResultNumber();
    Value sum = sums[number];
    // Values are not scaled.
    if (wanted[number] != 2)
      sum = map(sumTypes[number], sum, [&](ValueRange arguments) {
        Value scale = f32(op.getScale().convertToDouble());
        return arith::MulFOp::create(builder, loc, arguments[0], scale).getResult();
      });
    storeHead(output, sum, points.getSizes(getTiled()), tile.head, firstRow(tile));
  }
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

Value AttentionGradientEmitter::countTiles() {
  SmallVector<Value> sizes = points.getSizes(getTiled());
  int64_t rows = config.getWarpgroups() * tile::kWarpgroupRows;
  return index.mul(index.product(ArrayRef(sizes).take_front(dim)),
                   index.ceilDiv(ownLength, index.constant(rows)));
}

LogicalResult AttentionGradientEmitter::run() {
  frame.setFewestBlocks(1);
  queries = points.getSizes(op.getQuery())[dim];
  keys = points.getSizes(op.getKey())[dim];
  ownLength = ofKeys ? keys : queries;
  streamedLength = ofKeys ? queries : keys;
  if (isOfMask())
    findMaskHeads();
  return frame.finish(config.isSynchronous() ? emitSynchronous() : emitWithRoles());
}

SmallVector<Value> AttentionGradientEmitter::getOwnOperands() {
  if (!ofKeys)
    return {op.getQuery(), op.getCotangent()};
  if (!needsFlow())
    return {op.getKey()};
  return {op.getKey(), op.getValue()};
}

SmallVector<Value> AttentionGradientEmitter::getStreamedOperands() {
  if (ofKeys)
    return {op.getQuery(), op.getCotangent()};
  return {op.getKey(), op.getValue()};
}

Value AttentionGradientEmitter::emitWithRoles() {
  kernel.getFunction()->setAttr(kProgrammaticAttr, builder.getUnitAttr());
  SmallVector<Value> ownOperands = getOwnOperands();
  for (auto [operand, tensor] : llvm::enumerate(getStreamedOperands())) {
    if (operand < ownOperands.size())
      own.push_back(makeSource(ownOperands[operand], config.getWarpgroups() * tile::kWarpgroupRows,
                               config.getQueryStages(), /*sharers=*/1));
    streamed.push_back(makeSource(tensor, config.getKeys(), config.getStages(), /*sharers=*/1));
  }
  // Up to here nothing that the kernel before it may have written is read.
  NVVM::GriddepcontrolOp::create(builder, loc, NVVM::GridDepActionKind::wait);
  frame.barrier();
  NVVM::GriddepcontrolOp::create(builder, loc, NVVM::GridDepActionKind::launch_dependents);
  if (op.getCausal())
    offset = loadOffset(op.getOffset(), window);
  SmallVector<Value> states(kGradientRingValues, index.constant(0));
  int64_t resident = kernel.target->multiprocessors;
  if (isOfMask()) {
    auto load = [&](const MaskTile &tile, ValueRange states) {
      return emitMaskLoads(tile, states);
    };
    auto compute = [&](const MaskTile &tile, ValueRange states) {
      return emitMaskTile(tile, states);
    };
    emitRoles([&] { emitMaskTiles(states, load); }, [&] { emitMaskTiles(states, compute); },
              /*needsMost=*/false);
    std::optional<int64_t> known = getConstantIntValue(countMaskTiles());
    return index.constant(known ? std::min(*known, resident) : resident);
  }
  auto load = [&](const Tile &tile, ValueRange states) {
    Blocks blocks = findBlocks(tile);
    return points.emitIfOrKeep(index.isLess(blocks.first, blocks.last), states,
                               [&] { return emitLoads(tile, states); });
  };
  auto compute = [&](const Tile &tile, ValueRange states) { return emitTile(tile, states); };
  constexpr int64_t middle = 96, wide = 128;
  int64_t vector = std::max(widths[0], widths[1]);
  emitRoles([&] { emitTiles(states, load); }, [&] { emitTiles(states, compute); },
            /*needsMost=*/vector > (ofKeys ? middle : wide));
  // No more blocks than stay on the device at a time.
  std::optional<int64_t> known = getConstantIntValue(countTiles());
  return index.constant(known ? std::min(*known, resident) : resident);
}

LogicalResult emitAttentionGradient(const KernelInfo &kernel, kernel::AttentionGradientOp op,
                                    Attribute config) {
  auto mma = dyn_cast<AttentionMMAAttr>(config);
  if (op.isWhole() || !hasAttentionKernel(op, kernel.target, /*wgmma=*/!mma) ||
      (!mma && !kernel.target->hasWGMMA))
    return op.emitOpError("expected one gradient or two of vectors of a multiple of 8 up to 256 "
                          "elements and ")
           << (mma ? "sm_80 or later" : "sm_90a") << " for " << config;
  if (op.getDests().size() == 2 && !hasKernelOfKeysAndValues(op))
    return op.emitOpError(
        "expected vectors of up to 128 elements, of f32 64, for keys and values together");
  AttentionGradientChooser chooser{op, *kernel.target};
  if (std::string wrong = chooser.check(config); !wrong.empty())
    return op.emitOpError("cannot take ") << config << ": " << wrong;
  KernelSizes sizes = makeSizes(kernel);
  if (!llvm::all_of(ArrayRef<Value>{op.getQuery(), op.getKey(), op.getValue(), op.getCotangent()},
                    [&](Value tensor) { return matchAttentionOperand(tensor, sizes); }))
    return op.emitOpError("expected operands that boxes can be copied of for ") << config;
  if (mma)
    return AttentionGradientEmitter(kernel, op, mma).run();
  return AttentionGradientEmitter(kernel, op, cast<AttentionAttr>(config)).run();
}

} // namespace xc::cuda
