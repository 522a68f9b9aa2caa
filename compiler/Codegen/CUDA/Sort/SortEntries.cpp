//===- SortEntries.cpp - What sorts compare and move ----------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CUDA/Sort/SortEntries.h"

#include "compiler/Dialect/Kernel/IR/Order.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace xc::cuda {

//===----------------------------------------------------------------------===//
// Entries
//===----------------------------------------------------------------------===//

EntryBuilder::EntryBuilder(KernelFrame &frame, Type element, unsigned positionBits)
    : frame(frame), builder(frame.points.builder), loc(frame.points.loc),
      keyType(kernel::getOrderKeyType(element)), positionBits(positionBits) {
  if (element.getIntOrFloatBitWidth() + positionBits <= 32) {
    types = {builder.getI32Type()};
    return;
  }
  types = {builder.getI64Type()};
  if (keyType.getIntOrFloatBitWidth() == 64)
    types.push_back(builder.getI32Type());
}

Value EntryBuilder::constant(Type type, int64_t value) {
  return frame.points.constant(builder.getIntegerAttr(type, value));
}

Value EntryBuilder::getLastKey() { return constant(keyType, -1); }

EntryBuilder::Entry EntryBuilder::make(Value key, Value position) {
  if (types.size() == 2)
    return {key, position};
  Type type = types.front();
  unsigned shift = positionBits;
  if (type != keyType) {
    key = arith::ExtUIOp::create(builder, loc, type, key);
    position = arith::ExtUIOp::create(builder, loc, type, position);
    shift = 32;
  }
  Value high = arith::ShLIOp::create(builder, loc, key, constant(type, shift));
  return {arith::OrIOp::create(builder, loc, high, position)};
}

Value EntryBuilder::getPosition(const Entry &entry) {
  if (types.size() == 2)
    return entry[1];
  if (types.front().isInteger(64))
    return arith::TruncIOp::create(builder, loc, builder.getI32Type(), entry[0]);
  Value mask = constant(types.front(), (int64_t(1) << positionBits) - 1);
  return arith::AndIOp::create(builder, loc, entry[0], mask);
}

Value EntryBuilder::isBefore(const Entry &first, const Entry &second) {
  if (types.size() == 2)
    return kernel::buildComesBefore(builder, loc, first[0], first[1], second[0], second[1]);
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, first[0], second[0]);
}

EntryBuilder::Entry EntryBuilder::select(Value condition, const Entry &first, const Entry &second) {
  Entry result;
  for (auto [a, b] : llvm::zip_equal(first, second))
    result.push_back(arith::SelectOp::create(builder, loc, condition, a, b));
  return result;
}

EntryBuilder::Entry EntryBuilder::first(const Entry &left, const Entry &right) {
  if (types.size() == 1 && types.front().isInteger(32))
    return {arith::MinUIOp::create(builder, loc, left[0], right[0])};
  return select(isBefore(right, left), right, left);
}

void EntryBuilder::order(Entry &first, Entry &second) {
  // Minima and maxima of words are instructions.
  if (types.size() == 1 && types.front().isInteger(32)) {
    Value low = arith::MinUIOp::create(builder, loc, first[0], second[0]),
          high = arith::MaxUIOp::create(builder, loc, first[0], second[0]);
    first = {low};
    second = {high};
    return;
  }
  Value isWrong = isBefore(second, first);
  Entry low = select(isWrong, second, first), high = select(isWrong, first, second);
  first = low;
  second = high;
}

EntryBuilder::Entry EntryBuilder::shuffleXor(const Entry &entry, int64_t mask) {
  Entry result;
  for (Value word : entry)
    result.push_back(frame.shuffleXor(word, mask));
  return result;
}

EntryBuilder::Buffers EntryBuilder::allocate(int64_t count) {
  Buffers buffers;
  for (Type type : types)
    buffers.push_back(frame.allocateShared(type, count));
  return buffers;
}

EntryBuilder::Entry EntryBuilder::load(const Buffers &buffers, Value place) {
  Entry entry;
  for (Value buffer : buffers)
    entry.push_back(memref::LoadOp::create(builder, loc, buffer, place));
  return entry;
}

void EntryBuilder::store(const Entry &entry, const Buffers &buffers, Value place) {
  for (auto [word, buffer] : llvm::zip_equal(entry, buffers))
    memref::StoreOp::create(builder, loc, word, buffer, place);
}

//===----------------------------------------------------------------------===//
// Banks
//===----------------------------------------------------------------------===//

/// log2 of the elements that fill one row of the banks, which is 128 bytes.
static unsigned getRowBits(Type type) { return type.getIntOrFloatBitWidth() == 64 ? 4 : 5; }

static Value shiftRight(PointEmitter &points, Value value, int64_t bits) {
  return arith::ShRUIOp::create(points.builder, points.loc, value, points.index.constant(bits));
}

Value padPlace(PointEmitter &points, Value place, Type type) {
  return points.index.add(place, shiftRight(points, place, getRowBits(type)));
}

int64_t padCount(int64_t count, Type type) { return count + (count >> getRowBits(type)); }

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

TileSorter::TileSorter(EntryBuilder &entries, KernelFrame &frame, int64_t tile, int64_t groupSize,
                       Value thread, int64_t slots, Value slot)
    : entries(entries), frame(frame), points(frame.points), index(points.index),
      builder(points.builder), loc(points.loc), tile(tile), items(tile / groupSize),
      itemBits(llvm::Log2_64(items)), thread(thread) {
  int64_t bytes = 0;
  for (unsigned word = 0; word < entries.countWords(); ++word) {
    Type type = entries.getType(word);
    bytes += slots * padCount(tile, type) * type.getIntOrFloatBitWidth() / 8;
  }
  isPadded = frame.fitsShared(bytes);
  for (unsigned word = 0; word < entries.countWords(); ++word) {
    Type type = entries.getType(word);
    int64_t size = isPadded ? padCount(tile, type) : tile;
    buffers.push_back(frame.allocateShared(type, slots * size));
    bases.push_back(index.mul(slot, size));
  }
}

Value TileSorter::getAddress(Value place, unsigned word) {
  if (isPadded)
    place = padPlace(points, place, entries.getType(word));
  return index.add(bases[word], place);
}

EntryBuilder::Entry TileSorter::load(Value place) {
  EntryBuilder::Entry entry;
  for (auto [word, buffer] : llvm::enumerate(buffers))
    entry.push_back(memref::LoadOp::create(builder, loc, buffer, getAddress(place, word)));
  return entry;
}

void TileSorter::store(const EntryBuilder::Entry &entry, Value place) {
  for (auto [word, buffer] : llvm::enumerate(buffers))
    memref::StoreOp::create(builder, loc, entry[word], buffer, getAddress(place, word));
}

void TileSorter::inRegisters(ArrayRef<Value> places, function_ref<void(Registers &)> body) {
  Registers registers;
  for (Value place : places)
    registers.push_back(load(place));
  body(registers);
  for (auto [place, entry] : llvm::zip_equal(places, registers))
    store(entry, place);
  frame.barrier();
}

void TileSorter::compareAtDistance(Registers &registers, int64_t distance) {
  for (int64_t number = 0; number < items; ++number)
    if ((number & distance) == 0)
      entries.order(registers[number], registers[number + distance]);
}

/// Neighbouring places become runs of `items`, by Batcher's odd-even merge sort.
void TileSorter::sortRegisters() {
  Value from = index.mul(thread, items);
  SmallVector<Value> places;
  for (int64_t number = 0; number < items; ++number)
    places.push_back(index.add(from, number));
  inRegisters(places, [&](Registers &registers) {
    for (int64_t run = 1; run < items; run *= 2)
      for (int64_t distance = run; distance >= 1; distance /= 2)
        for (int64_t start = distance % run; start + distance < items; start += 2 * distance)
          for (int64_t number = start; number < start + distance; ++number)
            if (number + distance < items && number / (2 * run) == (number + distance) / (2 * run))
              entries.order(registers[number], registers[number + distance]);
  });
}

/// The first distances of the stage that merges runs of 2^(stage - 1) places: what mirrors each
/// other, and then itemBits - 1 more. A thread has half of its entries on either side of the
/// mirror.
void TileSorter::mergeMirrored(Value stage) {
  Value one = index.constant(1);
  Value bits = index.sub(stage, index.constant(itemBits));
  Value step = arith::ShLIOp::create(builder, loc, one, bits);
  Value mask = index.sub(step, one);
  Value low = arith::AndIOp::create(builder, loc, thread, mask);
  Value high = arith::ShLIOp::create(
      builder, loc, arith::ShRUIOp::create(builder, loc, thread, bits).getResult(), stage);
  Value mirrored = arith::XOrIOp::create(builder, loc, low, mask);
  SmallVector<Value> places;
  for (int64_t number = 0; number < items; ++number) {
    Value within = index.add(index.mul(step, number), number < items / 2 ? low : mirrored);
    places.push_back(index.add(high, within));
  }
  inRegisters(places, [&](Registers &registers) {
    for (int64_t number = 0; number < items / 2; ++number)
      entries.order(registers[number], registers[items - 1 - number]);
    for (int64_t distance = items / 4; distance >= 1; distance /= 2)
      compareAtDistance(registers, distance);
  });
}

/// The stage's other distances, the largest of which is 2^(stage - itemBits - 1).
void TileSorter::mergeRest(Value stage) {
  Type type = builder.getIndexType();
  Value one = index.constant(1), zero = index.constant(0);
  Value left = index.sub(stage, index.constant(itemBits));
  auto loop = scf::WhileOp::create(builder, loc, TypeRange(type), ValueRange(left));
  OpBuilder::InsertionGuard guard(builder);
  Block *before = builder.createBlock(&loop.getBefore(), {}, TypeRange(type), loc);
  {
    PointEmitter::Scope scope(points);
    Value bits = before->getArgument(0);
    scf::ConditionOp::create(builder, loc, index.isLess(zero, bits), bits);
  }
  Block *after = builder.createBlock(&loop.getAfter(), {}, TypeRange(type), loc);
  PointEmitter::Scope scope(points);
  // Distances of 2^(bits - 1) and less are left; this iteration begins with them and ends with
  // 2^end.
  Value bits = after->getArgument(0);
  Value end = index.max(index.sub(bits, index.constant(itemBits)), zero);
  Value step = arith::ShLIOp::create(builder, loc, one, end);
  Value low = arith::AndIOp::create(builder, loc, thread, index.sub(step, one));
  Value base =
      index.add(index.mul(index.sub(thread, low), items), low); // threads below each other: `step`
  SmallVector<Value> places;
  for (int64_t number = 0; number < items; ++number)
    places.push_back(index.add(base, index.mul(step, number)));
  Value count = index.sub(bits, end);
  inRegisters(places, [&](Registers &registers) {
    for (int64_t bit = itemBits - 1; bit >= 0; --bit) {
      auto compare = [&] {
        Registers ordered = registers;
        compareAtDistance(ordered, int64_t(1) << bit);
        SmallVector<Value> words;
        for (const EntryBuilder::Entry &entry : ordered)
          llvm::append_range(words, entry);
        return words;
      };
      SmallVector<Value> words;
      for (const EntryBuilder::Entry &entry : registers)
        llvm::append_range(words, entry);
      auto branch =
          scf::IfOp::create(builder, loc, TypeRange(ValueRange(words)),
                            index.isLess(index.constant(bit), count), /*withElseRegion=*/true);
      OpBuilder::InsertionGuard branchGuard(builder);
      builder.setInsertionPointToStart(branch.thenBlock());
      {
        PointEmitter::Scope branchScope(points);
        scf::YieldOp::create(builder, loc, compare());
      }
      builder.setInsertionPointToStart(branch.elseBlock());
      scf::YieldOp::create(builder, loc, words);
      ValueRange results = branch.getResults();
      for (EntryBuilder::Entry &entry : registers) {
        entry.assign(results.begin(), results.begin() + entry.size());
        results = results.drop_front(entry.size());
      }
    }
  });
  scf::YieldOp::create(builder, loc, end);
}

void TileSorter::sort() {
  sortRegisters();
  int64_t stages = llvm::Log2_64(tile);
  if (stages == itemBits)
    return;
  points.emitLoop(index.constant(itemBits + 1), index.constant(stages + 1), index.constant(1), {},
                  [&](Value stage, ValueRange) -> SmallVector<Value> {
                    mergeMirrored(stage);
                    mergeRest(stage);
                    return {};
                  });
}

} // namespace xc::cuda
