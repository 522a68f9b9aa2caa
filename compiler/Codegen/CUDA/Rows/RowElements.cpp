//===- RowElements.cpp - Where a row's elements are held ----------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A row is cut into chunks: one vector of each of its threads. The first `chunks` of them are held
// in registers, the next `shared` in shared memory, or nowhere if no element is needed again. With
// `chunks = 0` every reduction loops over memory. A thread reads only what it brought itself, so
// that no barrier is needed between filling shared memory and reading it.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Rows/RowEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace xc::cuda {

//===----------------------------------------------------------------------===//
// Registers
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

void RowEmitter::makeChunks() {
  chunks.clear();
  for (int64_t chunk = 0; chunk < config.getChunks(); ++chunk)
    chunks.push_back(makeChunk(index.constant(chunk)));
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
  int64_t most = std::min(RowLimits::kEarlyValues,
                          RowLimits::kEarlyValues * RowLimits::kEarlyThreads / config.getThreads());
  int64_t ofChunk = static_cast<int64_t>(group.vectors.size()) * lanes;
  int64_t number = std::min<int64_t>(chunks.size(), (most - values) / ofChunk);
  bool isAll = number == static_cast<int64_t>(chunks.size());
  if (number <= 0 || (!isAll && config.getThreads() > RowLimits::kEarlyThreads))
    return;
  ArrayRef<Place> early = ArrayRef(chunks).take_front(number);
  for (const ReductionGroup::Input &input : group.vectors) {
    SmallVector<Value> own =
        llvm::map_to_vector(early, [&](const Place &chunk) { return loadElements(input, chunk); });
    provideInput(input, early, [own = std::move(own)](size_t chunk) { return own[chunk]; });
  }
}

void RowEmitter::provideReducedInputs() {
  // Behind a barrier, the thread that stores may do so to what the others have loaded here.
  if (config.getThreads() <= 32 || config.getCluster() > 1 || !group.partials.empty() ||
      group.reducedInputs.size() > RowLimits::kReducedInputs)
    return;
  Place place = getOwnReducedPlace();
  for (const ReductionGroup::Input &input : group.reducedInputs) {
    Point point{{}, {}, /*lanes=*/1, {}};
    for (AffineExpr expr : input.coords)
      point.coords.push_back(points.apply(expr, place.coords, /*lanes=*/1));
    Coord flat = points.getFlat(point, input.tensor);
    Value loaded = points.load(input.binding, flat, /*lanes=*/1, place.loadMask);
    points.provide(input.tensor, [=, source = &input](const Point &asked) {
      Point other = asked;
      Coord there = points.getFlat(other, source->tensor);
      bool isSame = there.isUniform() && there.first() == flat.first();
      return isSame ? loaded : points.load(source->binding, there, asked.lanes, asked.mask);
    });
  }
}

//===----------------------------------------------------------------------===//
// Shared memory, and beyond
//===----------------------------------------------------------------------===//

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
    forSharedChunks(RowLimits::kFillUnroll, {}, fill);
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
  int64_t elements = config.getThreads() <= RowLimits::kFewThreads ? RowLimits::kMoreSharedElements
                                                                   : RowLimits::kSharedElements;
  int64_t inputs = std::max<size_t>(1, group.inputs.size());
  int64_t held = config.getChunks() * lanes * inputs,
          ofElement = inputs + static_cast<int64_t>(group.vectors.size());
  while (config.getThreads() > RowLimits::kFewThreads && elements > lanes &&
         held + elements * ofElement > RowLimits::kLargeBlockValues)
    elements /= 2;
  int64_t unroll = std::max<int64_t>(1, group.reusesRows() ? elements / lanes
                                                           : RowLimits::kStreamUnroll / inputs);
  // A loop of one iteration is none, and all of it would be under way beside shifted rows of
  // clusters.
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

} // namespace xc::cuda
