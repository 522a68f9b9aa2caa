//===- SortOp.cpp - kernel.sort -------------------------------------------===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Dialect/Kernel/IR/KernelOpSupport.h"
#include "compiler/Dialect/Kernel/IR/Order.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;

namespace xc::kernel {

SmallVector<int64_t> SortOp::getLineDims() {
  return llvm::to_vector(llvm::seq<int64_t>(0, getRank() - 1));
}

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

/// The size of the destinations along the last dim.
static int64_t getSortedSize(SortOp op, int64_t size) {
  int64_t keep = op.getKeep(), segment = op.getSegment();
  if (keep == 0 || ShapedType::isDynamic(size))
    return keep != 0 && segment == 0 ? keep : size;
  if (segment == 0)
    return keep;
  int64_t whole = size / segment;
  return whole * std::min(keep, segment) + size % segment;
}

LogicalResult SortOp::verify() {
  auto keys = cast<ShapedType>(getKeys().getType()),
       values = cast<ShapedType>(getValues().getType()),
       indices = cast<ShapedType>(getIndices().getType());
  if (!keys.hasRank() || !values.hasRank() || !indices.hasRank() || keys.getRank() == 0)
    return emitOpError("expected ranked operands of rank 1 or more, got ")
           << keys << ", " << values << " and " << indices;
  Type element = keys.getElementType();
  if (element != values.getElementType() || !element.isSignlessIntOrFloat())
    return emitOpError("expected keys and values of one signless integer or float type, got ")
           << element << " and " << values.getElementType();
  Type count = indices.getElementType();
  if (!count.isSignlessInteger(32) && !count.isSignlessInteger(64))
    return emitOpError("expected indices of i32 or i64, got ") << count;
  int64_t keep = getKeep(), segment = getSegment();
  if (keep < 0 || segment < 0)
    return emitOpError("expected keep and segment that are not negative, got ")
           << keep << " and " << segment;
  if (getPayload()) {
    auto payload = cast<ShapedType>(getPayload().getType());
    if (!payload.hasRank() || !llvm::equal(payload.getShape(), keys.getShape(), agree) ||
        payload.getElementType() != count)
      return emitOpError("expected a payload of ")
             << count << " and the keys' shape, got " << payload;
  }
  SmallVector<int64_t> expected(keys.getShape());
  expected.back() = getSortedSize(*this, expected.back());
  if (!llvm::equal(expected, values.getShape(), agree) ||
      !llvm::equal(expected, indices.getShape(), agree))
    return emitOpError("expected values and indices of shape [")
           << expected << "], got [" << values.getShape() << "] and [" << indices.getShape() << "]";
  return verifyTensorsOrMemrefs(*this);
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

namespace {

/// An element: its value, and the position in the line that makes equal ones different.
struct Entry {
  Value value, position;
};

/// Sorts one segment of one line by a heap in the destinations, whose root is the last of the
/// elements kept so far. Needs no memory beside them, and since positions break all ties, the
/// result is that of a stable sort.
class HeapSort {
public:
  HeapSort(SortOp op, OpBuilder &b, Location loc, ValueRange line)
      : op(op), b(b), loc(loc), line(line), zero(constant(0)), one(constant(1)), two(constant(2)),
        indexType(cast<ShapedType>(op.getIndices().getType()).getElementType()) {}

  /// Of the elements [from, from + length), the first `count` go to `first` and behind.
  void build(Value from, Value length, Value first, Value count);
  Value constant(int64_t value) { return arith::ConstantIndexOp::create(b, loc, value); }
  Value add(Value x, Value y) { return arith::AddIOp::create(b, loc, x, y); }
  Value sub(Value x, Value y) { return arith::SubIOp::create(b, loc, x, y); }
  Value less(Value x, Value y) {
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, x, y);
  }
  void loop(Value from, Value to, function_ref<void(Value)> body);

private:
  SmallVector<Value> at(Value position) {
    SmallVector<Value> coords(line);
    coords.push_back(position);
    return coords;
  }
  Entry loadInput(Value position);
  Entry load(Value slot);
  void store(Value slot, Entry entry);
  Value isBefore(Entry x, Entry y);
  void siftDown(Entry entry, Value slot, Value count);
  void translate(Value count);

  SortOp op;
  OpBuilder &b;
  Location loc;
  ValueRange line;
  Value zero, one, two, first;
  Type indexType;
};

} // namespace

void HeapSort::loop(Value from, Value to, function_ref<void(Value)> body) {
  auto loop = scf::ForOp::create(b, loc, from, to, one);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  body(loop.getInductionVar());
}

Entry HeapSort::loadInput(Value position) {
  Value value = memref::LoadOp::create(b, loc, op.getKeys(), at(position));
  return {value, arith::IndexCastOp::create(b, loc, indexType, position)};
}

Entry HeapSort::load(Value slot) {
  SmallVector<Value> coords = at(add(first, slot));
  Value value = memref::LoadOp::create(b, loc, op.getValues(), coords);
  return {value, memref::LoadOp::create(b, loc, op.getIndices(), coords)};
}

void HeapSort::store(Value slot, Entry entry) {
  SmallVector<Value> coords = at(add(first, slot));
  memref::StoreOp::create(b, loc, entry.value, op.getValues(), coords);
  memref::StoreOp::create(b, loc, entry.position, op.getIndices(), coords);
}

Value HeapSort::isBefore(Entry x, Entry y) {
  auto key = [&](Entry entry) {
    return buildOrderKey(b, loc, entry.value, op.getUnsignedElements(), op.getDescending());
  };
  return buildComesBefore(b, loc, key(x), x.position, key(y), y.position);
}

/// Puts `entry` into the heap of `count` slots, from `slot` down: children that come behind it move
/// up.
void HeapSort::siftDown(Entry entry, Value slot, Value count) {
  auto whileOp = scf::WhileOp::create(b, loc, TypeRange(b.getIndexType()), ValueRange(slot));
  OpBuilder::InsertionGuard guard(b);
  // Before: is there a child that comes behind the entry? It is the second one of the condition's
  // operands; the first is where the entry is.
  Block *before = b.createBlock(&whileOp.getBefore(), {}, TypeRange(b.getIndexType()), loc);
  Value here = before->getArgument(0);
  Value left = add(arith::MulIOp::create(b, loc, here, two), one);
  auto hasChild = scf::IfOp::create(b, loc, TypeRange{b.getI1Type(), b.getIndexType()},
                                    less(left, count), /*withElseRegion=*/true);
  {
    OpBuilder::InsertionGuard inner(b);
    b.setInsertionPointToStart(hasChild.thenBlock());
    Value right = add(left, one);
    // Where there is no right child, the left one stands for it.
    Value isRight = less(right, count);
    Value other = arith::SelectOp::create(b, loc, isRight, right, left);
    Entry leftEntry = load(left), otherEntry = load(other);
    Value takesOther = isBefore(leftEntry, otherEntry);
    Value child = arith::SelectOp::create(b, loc, takesOther, other, left);
    Entry childEntry{
        arith::SelectOp::create(b, loc, takesOther, otherEntry.value, leftEntry.value),
        arith::SelectOp::create(b, loc, takesOther, otherEntry.position, leftEntry.position)};
    Value moves = isBefore(entry, childEntry);
    auto move = scf::IfOp::create(b, loc, moves, /*withElseRegion=*/false);
    b.setInsertionPointToStart(move.thenBlock());
    store(here, childEntry);
    b.setInsertionPointAfter(move);
    Value next = arith::SelectOp::create(b, loc, moves, child, here);
    scf::YieldOp::create(b, loc, ValueRange{moves, next});
    b.setInsertionPointToStart(hasChild.elseBlock());
    Value no = arith::ConstantOp::create(b, loc, b.getBoolAttr(false));
    scf::YieldOp::create(b, loc, ValueRange{no, here});
  }
  scf::ConditionOp::create(b, loc, hasChild.getResult(0), hasChild.getResult(1));
  Block *after = b.createBlock(&whileOp.getAfter(), {}, TypeRange(b.getIndexType()), loc);
  scf::YieldOp::create(b, loc, after->getArgument(0));
  b.setInsertionPointAfter(whileOp);
  store(whileOp.getResult(0), entry);
}

/// Replaces positions by what the payload holds there.
void HeapSort::translate(Value count) {
  if (!op.getPayload())
    return;
  loop(zero, count, [&](Value slot) {
    SmallVector<Value> coords = at(add(first, slot));
    Value position = memref::LoadOp::create(b, loc, op.getIndices(), coords);
    Value source = arith::IndexCastOp::create(b, loc, b.getIndexType(), position);
    Value payload = memref::LoadOp::create(b, loc, op.getPayload(), at(source));
    memref::StoreOp::create(b, loc, payload, op.getIndices(), coords);
  });
}

void HeapSort::build(Value from, Value length, Value firstSlot, Value count) {
  first = firstSlot;
  loop(zero, count, [&](Value slot) { store(slot, loadInput(add(from, slot))); });
  Value parents = arith::DivUIOp::create(b, loc, count, two);
  loop(zero, parents, [&](Value step) {
    Value slot = sub(sub(parents, one), step);
    siftDown(load(slot), slot, count);
  });
  loop(count, length, [&](Value offset) {
    Entry entry = loadInput(add(from, offset));
    Value isAny = less(zero, count);
    auto hasRoot = scf::IfOp::create(b, loc, isAny, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(hasRoot.thenBlock());
    auto better = scf::IfOp::create(b, loc, isBefore(entry, load(zero)), /*withElseRegion=*/false);
    b.setInsertionPointToStart(better.thenBlock());
    siftDown(entry, zero, count);
  });
  loop(one, count, [&](Value step) {
    Value end = sub(count, step);
    Entry entry = load(end);
    store(end, load(zero));
    siftDown(entry, zero, end);
  });
  translate(count);
}

void SortOp::buildLoopNest(OpBuilder &builder) {
  int64_t last = getRank() - 1, keep = getKeep(), segment = getSegment();
  loopOverDims(
      builder, getLoc(), getKeys(), getLineDims(),
      [&](OpBuilder &b, Location loc, ValueRange line) {
        HeapSort sort(*this, b, loc, line);
        Value size = sizeValueOf(b, loc, getKeys(), last), zero = sort.constant(0);
        auto kept = [&](Value length) -> Value {
          return keep == 0
                     ? length
                     : arith::MinSIOp::create(b, loc, length, sort.constant(keep)).getResult();
        };
        if (segment != 0) {
          Value length = sort.constant(segment);
          Value segments = arith::CeilDivSIOp::create(b, loc, size, length);
          sort.loop(zero, segments, [&](Value number) {
            Value from = arith::MulIOp::create(b, loc, number, length);
            Value left = arith::MinSIOp::create(b, loc, sort.sub(size, from), length);
            Value slot = arith::MulIOp::create(b, loc, number, kept(length));
            // A shorter segment keeps all of its elements.
            Value isWhole = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, left, length);
            Value count = arith::SelectOp::create(b, loc, isWhole, kept(length), left);
            sort.build(from, left, slot, count);
          });
          return;
        }
        Value count = kept(size);
        sort.build(zero, size, zero, count);
        if (keep == 0 ||
            !ShapedType::isDynamic(cast<ShapedType>(getKeys().getType()).getDimSize(last)))
          return;
        sort.loop(count, sort.constant(keep), [&](Value slot) {
          for (Value memory : {getValues(), getIndices()}) {
            Type element = cast<MemRefType>(memory.getType()).getElementType();
            TypedAttr filler = memory == getIndices() ? TypedAttr(b.getIntegerAttr(element, -1))
                                                      : cast<TypedAttr>(b.getZeroAttr(element));
            SmallVector<Value> coords(line);
            coords.push_back(slot);
            Value value = arith::ConstantOp::create(b, loc, filler);
            memref::StoreOp::create(b, loc, value, memory, coords);
          }
        });
      });
}

} // namespace xc::kernel
